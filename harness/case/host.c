#include "harness/case/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void eb_host_open(eb_host *host) {
  host->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
}

void eb_host_close(eb_host *host) {
  if (host->stat >= 0) close(host->stat);
  host->stat = -1;
}

double eb_host_steal(const eb_host *host) {
  char text[512] = "";
  unsigned long long steal = 0;
  if (host->stat < 0 || pread(host->stat, text, sizeof text - 1, 0) <= 0) return 0;
  if (sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1) return 0;
  return (double)steal / (double)sysconf(_SC_CLK_TCK);
}

/* Not getrusage: its maximum outlives exec and would be that of the parent. */
double eb_host_peak_memory(void) {
  char line[128];
  long long kilobytes = 0;
  FILE *status = fopen("/proc/self/status", "r");
  if (!status) return 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %lld kB", &kilobytes) == 1) break;
  fclose(status);
  return 1024.0 * (double)kilobytes;
}
