/* bench [FILTER] [--format table|json|benchmark] [--seconds S] [--record FOLDER]: every kernel
 * beside the machine's limits.
 *
 * FILTER keeps the cases whose name contains it. --record adds what was measured to the history in
 * that folder (`elastobench history`): all cases, each for a second or more, so that one record is
 * measured as the other. A complete run ends with 0 whatever it measured: a missed target is data.
 * 2 is wrong usage, 3 a case that could not be set up. */
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/bench.h"
#include "harness/bench/kernel_record.h"
#include "harness/bench/runner.h"
#include "harness/history/history_record.h"
#include "harness/print.h"
#include "problems/base/memory.h"

#define ADDRESS(table) eb_bench_##table,
static const eb_bench_case *const tables[] = {EB_BENCH_TABLES(ADDRESS)};
enum { TABLES = sizeof tables / sizeof *tables, THREADS = 2 };

typedef enum format { TABLE, JSON, BENCHMARK, FORMATS } format;
static const char *const format_names[FORMATS] = {"table", "json", "benchmark"};

static const double usual_seconds = 1;

typedef struct arguments {
  const char *filter;
  format format;
  double seconds;     /* a case and part */
  const char *record; /* folder of the history; NULL: none */
} arguments;

static eb_error parse_format(const char *word, format *out) {
  for (*out = 0; *out < FORMATS; ++*out)
    if (word && strcmp(format_names[*out], word) == 0) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "--format wants table, json or benchmark");
}

/* What is recorded is measured in one way, and has its place: told before anything is measured. */
static eb_error check_record(const arguments *chosen) {
  eb_host host;
  eb_history_record record;
  if (!chosen->record) return EB_OK;
  if (chosen->filter || chosen->seconds < usual_seconds)
    return EB_ERROR(EB_ERR_USAGE, "--record wants all cases, and --seconds of %g or more",
                    usual_seconds);
  eb_host_describe(&host);
  eb_error error = eb_history_record_begin(&host, &record);
  eb_history_record_clear(&record);
  return error;
}

static eb_error parse(int argc, char **argv, arguments *out) {
  *out = (arguments){.seconds = usual_seconds};
  for (int k = 1; k < argc; k++) {
    const char *word = argv[k], *value = k + 1 < argc ? argv[k + 1] : NULL;
    if (strcmp(word, "--format") == 0) {
      EB_TRY(parse_format(value, &out->format));
      k++;
    } else if (strcmp(word, "--record") == 0) {
      if (!value) return EB_ERROR(EB_ERR_USAGE, "--record wants a folder");
      out->record = value;
      k++;
    } else if (strcmp(word, "--seconds") == 0) {
      char *end = NULL;
      out->seconds = value ? strtod(value, &end) : NAN;
      if (!(out->seconds > 0 && out->seconds <= 3600) || *end)
        return EB_ERROR(EB_ERR_USAGE, "--seconds wants a number above 0 and at most 3600");
      k++;
    } else if (word[0] == '-' || out->filter) {
      return EB_ERROR(EB_ERR_USAGE,
                      "unexpected '%s'; usage: bench [FILTER] [--format table|json|benchmark] "
                      "[--seconds S] [--record FOLDER]",
                      word);
    } else {
      out->filter = word;
    }
  }
  return check_record(out);
}

/* The chosen cases in order; NULL at the end. */
static const eb_bench_case *nth_case(const arguments *chosen, size_t n) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_bench_case *c = tables[t]; c->name; c++)
      if ((!chosen->filter || strstr(c->name, chosen->filter)) && n-- == 0) return c;
  return NULL;
}

static eb_error check_filter(const arguments *chosen) {
  if (nth_case(chosen, 0)) return EB_OK;
  const arguments everything = {0};
  fprintf(stderr, "bench: the cases are:\n");
  for (size_t k = 0; nth_case(&everything, k); k++)
    fprintf(stderr, "  %s\n", nth_case(&everything, k)->name);
  return EB_ERROR(EB_ERR_USAGE, "no case has '%s' in its name", chosen->filter);
}

static eb_error run_all(const arguments *chosen, eb_machine *machine, eb_bench_result *results,
                        size_t count) {
  bool progress = isatty(STDERR_FILENO);
  int width = 0;
  for (size_t k = 0; k < count; k++) {
    int length = (int)strlen(nth_case(chosen, k)->name);
    width = length > width ? length : width;
  }
  if (chosen->format == TABLE) eb_bench_print_head(stdout, width);
  for (size_t k = 0; k < count; k++) {
    const eb_bench_case *of = nth_case(chosen, k);
    if (progress) fprintf(stderr, "%s ...\r", of->name);
    EB_TRY(eb_bench_run(of, machine, chosen->seconds, &results[k]));
    if (progress) fprintf(stderr, "%*s\r", (int)strlen(of->name) + 4, "");
    if (chosen->format == TABLE) eb_bench_print(stdout, width, &results[k]);
  }
  return chosen->format == JSON        ? eb_bench_print_json(stdout, results, count)
         : chosen->format == BENCHMARK ? eb_bench_print_benchmark(stdout, results, count)
                                       : EB_OK;
}

static eb_error record(const char *folder, const eb_bench_result *results, size_t count) {
  char *path;
  eb_host host;
  eb_host_describe(&host);
  EB_TRY(eb_bench_record(folder, &host, results, count, &path));
  fprintf(stderr, "bench: recorded in %s\n", path);
  free(path);
  return EB_OK;
}

static eb_error run(const arguments *chosen) {
  eb_machine *machine = NULL;
  eb_bench_result *results = NULL;
  size_t count = 0;
  EB_TRY(check_filter(chosen));
  while (nth_case(chosen, count)) count++;
  openblas_set_num_threads(1);
  eb_error error = EB_NEW(results, count);
  if (!error) error = eb_machine_create(THREADS, &machine);
  if (!error) error = run_all(chosen, machine, results, count);
  if (!error && chosen->record) error = record(chosen->record, results, count);
  eb_machine_destroy(machine);
  free(results);
  return error;
}

int main(int argc, char **argv) {
  arguments chosen;
  eb_error error = parse(argc, argv, &chosen);
  if (!error) error = run(&chosen);
  if (!error) return 0;
  int status = eb_error_kind(error) == EB_ERR_USAGE ? 2 : 3;
  eb_print(stderr, "bench: %s\n", eb_error_message(error));
  eb_error_free(error);
  return status;
}
