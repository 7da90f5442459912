#include "harness/history/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/accuracy.h"
#include "harness/results/export.h"
#include "harness/results/repetitions.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* What is kept of a work. */
static const struct kept {
  const char *name, *unit;
  eb_column column; /* of steps; EB_COL_COUNT: the set-up's seconds */
  double (*of)(const double *values, size_t count, size_t skip);
} kept[] = {{"wall", "s/step", EB_COL_WALL, eb_median},
            {"cpu", "s/step", EB_COL_CPU, eb_median},
            {"set-up", "s", EB_COL_COUNT, NULL},
            {"iterations", "iterations/step", EB_COL_ITERATIONS, eb_mean}};
enum { KEPT = sizeof kept / sizeof *kept };

static eb_error read_value(const eb_results *results, int run, const struct kept *what,
                           double *out) {
  double *values;
  size_t count;
  *out = eb_results_run(results, run)->setup_seconds;
  if (!what->of) return EB_OK;
  EB_TRY(eb_results_steps(results, run, what->column, &values, &count));
  *out = what->of(values, count, EB_WARM_UP);
  free(values);
  return EB_OK;
}

/* One figure of the runs of a work that are of one class with `first`. */
static eb_error add_figure(const eb_results *results, const eb_repetitions *works, int first,
                           const struct kept *what, double *values, eb_history_record *out) {
  eb_class class = eb_class_of(eb_results_run(results, first));
  eb_class_name words = eb_class_describe(class);
  char *name = NULL;
  int count = 0;
  for (int i = first; i < eb_results_count(results); i++) {
    eb_class other = eb_class_of(eb_results_run(results, i));
    if (works->of[i] == works->of[first] && eb_class_compare(class, other) == 0)
      EB_TRY(read_value(results, i, what, &values[count++]));
  }
  EB_TRY(eb_string_format(&name, "%s, %s", works->names.items[works->of[first]], what->name));
  double median = eb_sample_median(values, (size_t)count);
  double quartiles = values[3 * (count - 1) / 4] - values[(count - 1) / 4];
  const eb_history_figure figure = {.name = name,
                                    .unit = (char *)(uintptr_t)what->unit,
                                    .class = words.text,
                                    .value = median,
                                    .relative = NAN,
                                    .spread = count > 3 ? quartiles / median : NAN,
                                    .samples = count};
  eb_error error = median > 0 ? eb_history_record_put(out, &figure) : EB_OK;
  free(name);
  return error;
}

/* Whether no run before this one is of its work and class. */
static bool is_first(const eb_results *results, const eb_repetitions *works, int run) {
  eb_class class = eb_class_of(eb_results_run(results, run));
  for (int i = 0; i < run; i++)
    if (works->of[i] == works->of[run] &&
        eb_class_compare(eb_class_of(eb_results_run(results, i)), class) == 0)
      return false;
  return true;
}

static eb_error add_figures(const eb_results *results, const eb_repetitions *works,
                            eb_history_record *out, int *left_out) {
  double *values;
  EB_TRY(EB_NEW(values, eb_results_count(results)));
  eb_error error = EB_OK;
  for (int i = 0; i < eb_results_count(results); i++) {
    *left_out += works->of[i] < 0;
    if (works->of[i] < 0 || !is_first(results, works, i)) continue;
    for (int k = 0; k < KEPT && !error; k++)
      error = add_figure(results, works, i, &kept[k], values, out);
  }
  free(values);
  return error;
}

/* Of files older than dates of commits, when they were made. */
static const char *date_of(const eb_results *results) {
  const char *date = eb_results_environment(results, "commit_date");
  return *date ? date : eb_results_environment(results, "started");
}

static double rate_of(const eb_results *results, const char *name) {
  double rate = atof(eb_results_environment(results, name));
  return rate > 0 ? rate : NAN;
}

eb_error eb_history_of_results(const eb_results *results, eb_history_record *out, int *left_out) {
  const eb_strings all = {0};
  eb_repetitions works = {0};
  eb_host host = {.cores = atoi(eb_results_environment(results, "cores")),
                  .compiler = eb_results_environment(results, "compiler"),
                  .flags = eb_results_environment(results, "flags"),
                  .commit = eb_results_environment(results, "commit"),
                  .commit_date = date_of(results),
                  .dirty = strcmp(eb_results_environment(results, "dirty"), "0") != 0};
  snprintf(host.cpu, sizeof host.cpu, "%s", eb_results_environment(results, "cpu"));
  *left_out = 0;
  if (eb_h5_exists(eb_results_file(results), "environments"))
    return EB_ERROR(EB_ERR_FORMAT,
                    "%s has runs of several machines, and a record is of one: add the files that "
                    "it was merged from",
                    eb_results_path(results));
  eb_error error = eb_history_record_begin(&host, out);
  out->dgemm = rate_of(results, "dgemm_flop_per_second");
  out->triad = rate_of(results, "triad_byte_per_second");
  if (!error) error = eb_repetitions_gather(results, &all, eb_export_timed, &works);
  if (!error) error = add_figures(results, &works, out, left_out);
  eb_repetitions_clear(&works);
  return eb_error_prefix(error, "%s", eb_results_path(results));
}
