/* The shape: google-benchmark, docs/user_guide.md ("Output Formats") and src/json_reporter.cc;
 * what is read of it: tools/gbench/util.py and report.py there. compare.py sets entries of one name
 * against each other only where their units are the same, and prints no decimals: ns throughout. */
#include "harness/results/benchmark.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/json.h"
#include "harness/results/sample.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"

static const double nanoseconds = 1e9;

/* What the repetitions amount to. */
static double mean(double *values, size_t count) {
  return eb_sample_mean(values, count);
}

static double deviation(double *values, size_t count) {
  return eb_sample_deviation(values, count);
}

static double variation(double *values, size_t count) {
  return eb_sample_deviation(values, count) / eb_sample_mean(values, count);
}

static const struct aggregate {
  const char *name;
  double (*of)(double *values, size_t count);
  bool share; /* of the mean, without a unit */
} aggregates[] = {{"mean", mean, false},
                  {"median", eb_sample_median, false},
                  {"stddev", deviation, false},
                  {"cv", variation, true}};
enum { AGGREGATES = sizeof aggregates / sizeof *aggregates };

/* What entries of both kinds begin with; NULL when out of memory. */
static json_t *entry(const eb_benchmark *b, const char *suffix, const char *type, int family) {
  char *name = NULL;
  eb_error error = eb_string_format(&name, "%s%s", b->name, suffix);
  json_t *json =
      eb_json_pack("{s:s, s:i, s:i, s:s, s:s, s:i, s:i}", "name", name, "family_index", family,
                   "per_family_instance_index", 0, "run_name", b->name, "run_type", type,
                   "repetitions", b->repetitions, "threads", b->threads);
  eb_error_free(error); /* without a name there is no object */
  free(name);
  return json;
}

static void put_times(json_t *json, int64_t iterations, double real, double cpu) {
  json_object_set_new(json, "iterations", json_integer(iterations));
  json_object_set_new(json, "real_time", eb_json_real(real));
  json_object_set_new(json, "cpu_time", eb_json_real(cpu));
  json_object_set_new(json, "time_unit", eb_json_text("ns"));
}

static json_t *repetition_json(const eb_benchmark *b, int r, int family) {
  json_t *json = entry(b, "", "iteration", family);
  json_object_set_new(json, "repetition_index", json_integer(r));
  put_times(json, b->iterations[r], nanoseconds * b->real[r], nanoseconds * b->cpu[r]);
  for (int c = 0; c < b->counter_count; c++)
    json_object_set_new(json, b->counters[c].name, eb_json_real(b->counters[c].values[r]));
  return json;
}

/* Works on a copy: medians are found by sorting. */
static double amount(const struct aggregate *a, const double *values, int count, double *room) {
  memcpy(room, values, (size_t)count * sizeof *room);
  return a->of(room, (size_t)count);
}

static json_t *aggregate_json(const eb_benchmark *b, const struct aggregate *a, int family,
                              double *room) {
  char suffix[32];
  double unit = a->share ? 1 : nanoseconds;
  snprintf(suffix, sizeof suffix, "_%s", a->name);
  json_t *json = entry(b, suffix, "aggregate", family);
  json_object_set_new(json, "aggregate_name", eb_json_text(a->name));
  json_object_set_new(json, "aggregate_unit", eb_json_text(a->share ? "percentage" : "time"));
  put_times(json, b->repetitions, unit * amount(a, b->real, b->repetitions, room),
            unit * amount(a, b->cpu, b->repetitions, room));
  for (int c = 0; c < b->counter_count; c++)
    json_object_set_new(json, b->counters[c].name,
                        eb_json_real(amount(a, b->counters[c].values, b->repetitions, room)));
  return json;
}

/* The number of the family after those that are there. */
static int next_family(const json_t *benchmarks) {
  size_t count = json_array_size(benchmarks);
  const json_t *last = count ? json_array_get(benchmarks, count - 1) : NULL;
  return last ? (int)json_integer_value(json_object_get(last, "family_index")) + 1 : 0;
}

eb_error eb_benchmark_append(json_t *benchmarks, const eb_benchmark *b) {
  int family = next_family(benchmarks), failed = 0;
  double *room;
  EB_TRY(EB_NEW(room, b->repetitions));
  for (int r = 0; r < b->repetitions; r++)
    failed |= json_array_append_new(benchmarks, repetition_json(b, r, family));
  for (int a = 0; a < AGGREGATES && b->repetitions > 1; a++)
    failed |= json_array_append_new(benchmarks, aggregate_json(b, &aggregates[a], family, room));
  free(room);
  return failed ? EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON of '%s'", b->name) : EB_OK;
}

eb_error eb_benchmark_print(json_t *context, json_t *benchmarks, FILE *out) {
  json_object_set_new(context, "library_version", eb_json_text("elastobench"));
  json_object_set_new(context, "library_build_type", eb_json_text("release"));
  json_object_set_new(context, "caches", json_array());
  json_object_set_new(context, "json_schema_version", json_integer(1));
  return eb_json_print(eb_json_pack("{s:o, s:o}", "context", context, "benchmarks", benchmarks),
                       out);
}
