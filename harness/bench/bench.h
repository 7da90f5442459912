/* Kernel benchmarks: `make bench`.
 *
 * A case prepares its data once, then its run function is timed many times, interleaved with the
 * machine's DGEMM and triad in the same process, so that every figure stands beside what the machine
 * could do at that moment. Each bench_*.c exports one table, named in harness/bench/main.c. */
#ifndef EB_BENCH_H
#define EB_BENCH_H

#include "problems/base/error.h"

typedef enum eb_bench_measure {
  EB_BENCH_RATE,      /* work / second, target is a lower bound */
  EB_BENCH_TIME,      /* seconds per unit of work, target is an upper bound */
  EB_BENCH_BANDWIDTH, /* work is bytes: fraction of triad bandwidth, target is a lower bound */
  EB_BENCH_FLOPS      /* work is flops: fraction of the DGEMM rate, target is a lower bound */
} eb_bench_measure;

typedef struct eb_bench_case {
  const char *name;
  const char *unit; /* of the work: "tets", "matrices", ... */
  eb_bench_measure measure;
  double target;           /* on one thread, in SI (tets/s, s, fraction); 0: none */
  const char *scales_with; /* "dgemm" or "triad": with 2 threads the speed-up is judged against
                              0.85 of that kernel's in the same run; NULL: one thread only */
  /* *work: units of work in one run. */
  eb_error (*setup)(void **context, double *work);
  void (*run)(void *context);
  void (*clear)(void *context);
} eb_bench_case;

#endif
