/* Times in the shape of google-benchmark's JSON, which its compare.py and the services that draw
 * histories of benchmarks read. */
#ifndef EB_RESULTS_BENCHMARK_H
#define EB_RESULTS_BENCHMARK_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "problems/base/error.h"

typedef struct eb_benchmark_counter {
  const char *name;     /* none of google-benchmark's own: "iterations", "real_time", ... */
  const double *values; /* one a repetition; not finite: null */
} eb_benchmark_counter;

/* One benchmark and its repetitions, at least one. The arrays have an entry a repetition. */
typedef struct eb_benchmark {
  const char *name;
  int threads, repetitions;
  const double *real, *cpu;  /* s an iteration */
  const int64_t *iterations; /* that these are of */
  const eb_benchmark_counter *counters;
  int counter_count;
} eb_benchmark;

/* Appends an entry a repetition and, of two repetitions or more, mean, median, stddev and cv of all
 * of them, times in ns. */
EB_MUST eb_error eb_benchmark_append(json_t *benchmarks, const eb_benchmark *benchmark);

/* Prints {"context", "benchmarks"} and releases both; `context` has what the caller can say of
 * machine and build, "date", "host_name", "num_cpus" among it, and gets what all files have. */
EB_MUST eb_error eb_benchmark_print(json_t *context, json_t *benchmarks, FILE *out);

#endif
