/* bench [FILTER] [--format json|table] [--seconds S]: every kernel beside the machine's limits.
 *
 * FILTER keeps the cases whose name contains it. A complete run ends with 0 whatever it measured: a
 * missed target is data. 2 is wrong usage, 3 a case that could not be set up. */
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/runner.h"
#include "harness/bench/bench.h"
#include "problems/base/memory.h"

#define ADDRESS(table) eb_bench_##table,
static const eb_bench_case *const tables[] = {EB_BENCH_TABLES(ADDRESS)};
enum { TABLES = sizeof tables / sizeof *tables, THREADS = 2 };

typedef struct arguments {
  const char *filter;
  bool json;
  double seconds; /* a case and part */
} arguments;

static eb_error parse(int argc, char **argv, arguments *out) {
  *out = (arguments){.seconds = 1};
  for (int k = 1; k < argc; k++) {
    const char *word = argv[k], *value = k + 1 < argc ? argv[k + 1] : NULL;
    if (strcmp(word, "--format") == 0) {
      if (!value || (strcmp(value, "json") != 0 && strcmp(value, "table") != 0))
        return EB_ERROR(EB_ERR_USAGE, "--format wants json or table");
      out->json = strcmp(argv[++k], "json") == 0;
    } else if (strcmp(word, "--seconds") == 0) {
      char *end = NULL;
      out->seconds = value ? strtod(value, &end) : NAN;
      if (!(out->seconds > 0 && out->seconds <= 3600) || *end)
        return EB_ERROR(EB_ERR_USAGE, "--seconds wants a number above 0 and at most 3600");
      k++;
    } else if (word[0] == '-' || out->filter) {
      return EB_ERROR(EB_ERR_USAGE,
                      "unexpected '%s'; usage: bench [FILTER] [--format json|table] [--seconds S]",
                      word);
    } else {
      out->filter = word;
    }
  }
  return EB_OK;
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
  if (!chosen->json) eb_bench_print_head(stdout, width);
  for (size_t k = 0; k < count; k++) {
    const eb_bench_case *of = nth_case(chosen, k);
    if (progress) fprintf(stderr, "%s ...\r", of->name);
    EB_TRY(eb_bench_run(of, machine, chosen->seconds, &results[k]));
    if (progress) fprintf(stderr, "%*s\r", (int)strlen(of->name) + 4, "");
    if (!chosen->json) eb_bench_print(stdout, width, &results[k]);
  }
  return chosen->json ? eb_bench_print_json(stdout, results, count) : EB_OK;
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
  fprintf(stderr, "bench: %s\n", eb_error_message(error));
  eb_error_free(error);
  return status;
}
