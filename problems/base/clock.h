/* Clocks, in seconds: monotonic wall time and this process' CPU time over all its threads. */
#ifndef EB_BASE_CLOCK_H
#define EB_BASE_CLOCK_H

#include <time.h>

static inline double eb_seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double eb_wall_seconds(void) {
  return eb_seconds_of(CLOCK_MONOTONIC);
}

static inline double eb_cpu_seconds(void) {
  return eb_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
