/* Step times in google-benchmark's shape: a benchmark is a work, a run is a repetition of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/benchmark.h"
#include "harness/results/export.h"
#include "harness/results/json.h"
#include "harness/results/repetitions.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

bool eb_export_timed(const eb_run *run) {
  return eb_outcome_find(run->outcome) == EB_OUTCOME_COMPLETED && run->steps_done > 0 &&
         strcmp(run->audit, "failed") != 0;
}

/* What stands beside the times. */
typedef enum counter {
  FIRST_STEP,
  SETUP,
  ITERATIONS_PER_STEP,
  ERROR_OF_RUN,
  PEAK_BYTES,
  COUNTERS
} counter;
static const char *const counter_names[COUNTERS] = {"first_step_seconds", "setup_seconds",
                                                    "iterations_per_step", "error", "peak_bytes"};

/* Room for one work: entries by repetition, of which a file has no more than runs. */
typedef struct room {
  double *real, *cpu, *values[COUNTERS];
  int64_t *iterations;
} room;

static eb_error take_room(int runs, room *r) {
  EB_TRY(EB_NEW(r->real, runs));
  EB_TRY(EB_NEW(r->cpu, runs));
  EB_TRY(EB_NEW(r->iterations, runs));
  for (int c = 0; c < COUNTERS; c++) EB_TRY(EB_NEW(r->values[c], runs));
  return EB_OK;
}

static void leave_room(room *r) {
  free(r->real);
  free(r->cpu);
  free(r->iterations);
  for (int c = 0; c < COUNTERS; c++) free(r->values[c]);
}

typedef double (*statistic)(const double *values, size_t count, size_t skip);

static eb_error read_figure(const eb_results *results, int run, eb_column column, statistic of,
                            double *out, size_t *count) {
  double *values;
  EB_TRY(eb_results_steps(results, run, column, &values, count));
  *out = of(values, *count, EB_WARM_UP);
  free(values);
  return EB_OK;
}

static double first_of(const double *values, size_t count, size_t skip) {
  (void)skip;
  return count ? values[0] : NAN;
}

static eb_error fill_repetition(const eb_results *results, int run, room *r, int at) {
  const eb_run *attributes = eb_results_run(results, run);
  size_t steps;
  EB_TRY(read_figure(results, run, EB_COL_CPU, eb_median, &r->cpu[at], &steps));
  EB_TRY(read_figure(results, run, EB_COL_WALL, first_of, &r->values[FIRST_STEP][at], &steps));
  EB_TRY(read_figure(results, run, EB_COL_ITERATIONS, eb_mean, &r->values[ITERATIONS_PER_STEP][at],
                     &steps));
  EB_TRY(read_figure(results, run, EB_COL_WALL, eb_median, &r->real[at], &steps));
  r->iterations[at] = (int64_t)(steps - eb_sample_warmup(steps, EB_WARM_UP));
  r->values[SETUP][at] = attributes->setup_seconds;
  r->values[ERROR_OF_RUN][at] = attributes->error;
  r->values[PEAK_BYTES][at] = attributes->peak_rss;
  return EB_OK;
}

static eb_error add_work(const eb_results *results, const eb_repetitions *works, int work, room *r,
                         json_t *benchmarks) {
  eb_benchmark_counter counters[COUNTERS];
  eb_benchmark b = {.name = works->names.items[work],
                    .real = r->real,
                    .cpu = r->cpu,
                    .iterations = r->iterations,
                    .counters = counters,
                    .counter_count = COUNTERS};
  for (int c = 0; c < COUNTERS; c++)
    counters[c] = (eb_benchmark_counter){counter_names[c], r->values[c]};
  for (int i = 0; i < eb_results_count(results); i++) {
    if (works->of[i] != work) continue;
    b.threads = (int)eb_results_run(results, i)->threads;
    EB_TRY(fill_repetition(results, i, r, b.repetitions++));
  }
  return eb_benchmark_append(benchmarks, &b);
}

static json_t *context_json(const eb_results *results) {
  static const char *const facts[][2] = {{"date", "started"},    {"host_name", "host"},
                                         {"cpu", "cpu"},         {"compiler", "compiler"},
                                         {"flags", "flags"},     {"commit", "commit"},
                                         {"version", "version"}, {"command_line", "command_line"}};
  json_t *json = eb_json_pack("{s:s, s:s, s:i}", "executable", eb_results_path(results),
                              "real_time", "median wall time of a step, the first one left out",
                              "num_cpus", atoi(eb_results_environment(results, "cores")));
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    json_object_set_new(json, facts[i][0],
                        eb_json_text(eb_results_environment(results, facts[i][1])));
  return json;
}

static eb_error add_works(const eb_results *results, const eb_repetitions *works,
                          json_t *benchmarks) {
  room r = {0};
  eb_error error = take_room(eb_results_count(results), &r);
  for (int w = 0; w < works->names.count && !error; w++)
    error = add_work(results, works, w, &r, benchmarks);
  leave_room(&r);
  return error;
}

eb_error eb_export_benchmark(const eb_results *results, const eb_strings *ids, FILE *out) {
  eb_repetitions works = {0};
  json_t *benchmarks = json_array();
  eb_error error = eb_repetitions_gather(results, ids, eb_export_timed, &works);
  if (!error) error = add_works(results, &works, benchmarks);
  eb_repetitions_clear(&works);
  if (!error) return eb_benchmark_print(context_json(results), benchmarks, out);
  json_decref(benchmarks);
  return error;
}
