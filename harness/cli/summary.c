#include "harness/cli/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/results/json.h"
#include "harness/results/statistics.h"

/* ---- the plan --------------------------------------------------------------------------------- */

static json_t *case_json(const eb_case *work) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:f, s:f}", "id", work->id,
                   "scene", work->scene->name, "parameters", work->all_parameters, "solver",
                   work->solver->name, "options", work->all_options, "threads", work->threads,
                   "repetition", work->repetition, "steps", (json_int_t)work->steps, "seed",
                   (json_int_t)work->seed, "timeout", work->timeout, "memory", work->memory);
}

static void print_case(const eb_case *work, FILE *out) {
  char solver[256];
  snprintf(solver, sizeof solver, "%s%s%s", work->solver->name, work->options ? ":" : "",
           work->options ? work->options : "");
  fprintf(out, "%-28s %-32s threads %d  r%d  %lld steps%s%s\n", work->scene->name, solver,
          work->threads, work->repetition, (long long)work->steps, work->parameters ? "  " : "",
          work->parameters ? work->parameters : "");
}

eb_error eb_summary_plan(const eb_plan *plan, bool json, FILE *out) {
  if (!json) {
    for (int i = 0; i < plan->count; i++) print_case(&plan->cases[i], out);
    fprintf(out, "%d cases\n", plan->count);
    return EB_OK;
  }
  json_t *cases = json_array();
  for (int i = 0; i < plan->count; i++) json_array_append_new(cases, case_json(&plan->cases[i]));
  return eb_json_print(json_pack("{s:o}", "cases", cases), out);
}

/* ---- the end ---------------------------------------------------------------------------------- */

typedef struct row {
  const eb_run *run;
  double first, median, iterations, residual; /* s, s, a step, relative */
} row;

static eb_error fill_row(const eb_results *results, int run, row *out) {
  out->run = eb_results_run(results, run);
  EB_TRY(eb_statistics_first(results, run, EB_COL_WALL, &out->first));
  EB_TRY(eb_statistics_median(results, run, EB_COL_WALL, &out->median));
  EB_TRY(eb_statistics_mean(results, run, EB_COL_ITERATIONS, &out->iterations));
  return eb_statistics_max(results, run, EB_COL_RESIDUAL_RELATIVE, &out->residual);
}

static json_t *row_json(const row *r) {
  json_t *json = eb_json_run(r->run);
  json_object_set_new(json, "first_step_seconds", eb_json_real(r->first));
  json_object_set_new(json, "median_step_seconds", eb_json_real(r->median));
  json_object_set_new(json, "iterations_per_step", eb_json_real(r->iterations));
  json_object_set_new(json, "largest_relative_residual", eb_json_real(r->residual));
  return json;
}

static void print_number(FILE *out, const char *format, double value) {
  if (isfinite(value))
    fprintf(out, format, value);
  else
    fprintf(out, "%10s", "-");
}

static void print_header(FILE *out) {
  fprintf(out, "%-26s %-30s %2s %-13s %6s %10s %10s %10s %10s %8s\n", "scene", "solver", "T",
          "outcome", "steps", "first ms", "median ms", "iterations", "residual", "MB");
}

/* The options the user gave, which are not stored as such: those of the plan. */
static void print_row(const eb_case *work, const row *r, FILE *out) {
  char solver[128];
  const eb_run *run = r->run;
  snprintf(solver, sizeof solver, "%s%s%s", run->solver, work->options ? ":" : "",
           work->options ? work->options : "");
  fprintf(out, "%-26s %-30s %2lld %-13s %6lld ", run->scene, solver, (long long)run->threads,
          strcmp(run->audit, "failed") == 0 ? "audit failed" : run->outcome,
          (long long)run->steps_done);
  print_number(out, "%10.3f ", 1e3 * r->first);
  print_number(out, "%10.3f ", 1e3 * r->median);
  print_number(out, "%10.1f ", r->iterations);
  print_number(out, "%10.2e ", r->residual);
  fprintf(out, "%8.0f\n", 1e-6 * run->peak_rss);
  if (*run->detail) fprintf(out, "  %s\n", run->detail);
  if (*run->audit_detail) fprintf(out, "  %s\n", run->audit_detail);
}

typedef struct tally {
  int runs, skipped, failed, audits;
} tally;

static void count_run(tally *t, const eb_run *run) {
  eb_outcome outcome = eb_outcome_find(run->outcome);
  t->runs++;
  t->skipped += outcome == EB_OUTCOME_SKIPPED;
  t->failed += outcome != EB_OUTCOME_SKIPPED && outcome != EB_OUTCOME_COMPLETED;
  t->audits += strcmp(run->audit, "failed") == 0;
}

static int code_of(const tally *t) {
  if (t->failed) return EB_EXIT_SOLVER_FAILED;
  if (t->audits) return EB_EXIT_AUDIT_FAILED;
  return t->skipped == t->runs ? EB_EXIT_NOTHING : EB_EXIT_GOOD;
}

static eb_error print_rows(const eb_plan *plan, const eb_results *results, json_t *rows, FILE *out,
                           tally *t) {
  if (!rows) print_header(out);
  for (int i = 0; i < plan->count; i++) {
    row r;
    int run = eb_results_find(results, plan->cases[i].identity);
    if (run < 0) continue;
    EB_TRY(fill_row(results, run, &r));
    count_run(t, r.run);
    if (rows)
      json_array_append_new(rows, row_json(&r));
    else
      print_row(&plan->cases[i], &r, out);
  }
  return EB_OK;
}

eb_error eb_summary_print(const eb_plan *plan, const char *target, bool json, FILE *out,
                          int *code) {
  eb_results *results;
  tally t = {0};
  EB_TRY(eb_results_open(target, &results));
  json_t *rows = json ? json_array() : NULL;
  eb_error error = print_rows(plan, results, rows, out, &t);
  eb_results_close(results);
  if (error) {
    json_decref(rows);
    return error;
  }
  *code = code_of(&t);
  return json ? eb_json_print(json_pack("{s:s, s:o}", "file", target, "runs", rows), out) : EB_OK;
}
