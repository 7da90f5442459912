/* What the kernel says of this process and of the machine. */
#ifndef EB_CASE_HOST_H
#define EB_CASE_HOST_H

typedef struct eb_host {
  int stat; /* /proc/stat, or -1 where there is none */
} eb_host;

void eb_host_open(eb_host *host);
void eb_host_close(eb_host *host);
/* Seconds that the hypervisor has taken from all cores since boot; 0 where it is not told. The
 * kernel counts in ticks of 10 ms. */
double eb_host_steal(const eb_host *host);
/* Highest resident memory of this process so far, bytes. */
double eb_host_peak_memory(void);

#endif
