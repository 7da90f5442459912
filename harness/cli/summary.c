#include "harness/cli/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/print.h"
#include "harness/results/accuracy.h"
#include "harness/results/json.h"
#include "harness/results/statistics.h"
#include "harness/results/sweeps.h"
#include "harness/suite/estimate.h"
#include "problems/base/memory.h"

/* ---- the plan -------------------------------------------------------------------------------- */

/* What is expected of a case; the counts are those of its scene and serve the cases after it. */
typedef struct outlook {
  const eb_case *work; /* the last one that was counted */
  eb_counts counts;
  double memory; /* bytes; 0: unknown */
} outlook;

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_scene(const eb_case *a, const eb_case *b) {
  return a && a->scene == b->scene && same_text(a->parameters, b->parameters) &&
         same_text(a->mesh_file, b->mesh_file);
}

/* A scene that cannot be built is the run's to complain of: here it only means that nothing is
 * known. */
static void look_ahead(const eb_case *work, outlook *out) {
  if (!same_scene(out->work, work)) {
    eb_error error = eb_estimate_counts(work, &out->counts);
    if (error) out->counts = (eb_counts){0};
    eb_error_free(error);
  }
  out->work = work;
  out->memory = eb_estimate_memory(work, out->counts);
}

/* "RUN@STEPS", or "". */
static void describe_origin(const eb_origin *from, char *out, size_t bytes) {
  char steps[80];
  *out = '\0';
  if (!from->run) return;
  eb_range_print(from->steps, !from->samples, steps, sizeof steps);
  snprintf(out, bytes, "%s@%s", from->run, steps);
}

static json_t *case_json(const eb_case *work, const outlook *expected) {
  char from[260];
  describe_origin(&work->from, from, sizeof from);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:f, s:f, s:o}", "id",
                   work->id, "from", from, "scene", work->scene->name, "parameters",
                   work->all_parameters, "solver", work->solver->name, "options", work->all_options,
                   "threads", work->threads, "repetition", work->repetition, "steps",
                   (json_int_t)work->steps, "seed", (json_int_t)work->seed, "timeout",
                   work->timeout, "memory", work->memory, "predicted_memory",
                   expected->memory > 0 ? json_real(expected->memory) : json_null());
}

static void print_case(const eb_case *work, const outlook *expected, FILE *out) {
  char solver[256], memory[96] = "";
  bool over = work->memory > 0 && expected->memory > work->memory;
  snprintf(solver, sizeof solver, "%s%s%s", work->solver->name, work->options ? ":" : "",
           work->options ? work->options : "");
  if (expected->memory > 0)
    snprintf(memory, sizeof memory, "  about %.0f MB%s", 1e-6 * expected->memory,
             over ? ", over --memory" : "");
  char from[260];
  describe_origin(&work->from, from, sizeof from);
  eb_print(out, "%-28s %-32s threads %d  r%d  %lld steps%s%s%s%s%s\n", work->scene->name, solver,
           work->threads, work->repetition, (long long)work->steps, memory,
           work->parameters ? "  " : "", work->parameters ? work->parameters : "",
           *from ? "  from " : "", from);
}

static void show_cases(const eb_plan *plan, json_t *cases, FILE *out) {
  outlook expected = {0};
  for (int i = 0; i < plan->count; i++) {
    look_ahead(&plan->cases[i], &expected);
    if (cases)
      json_array_append_new(cases, case_json(&plan->cases[i], &expected));
    else
      print_case(&plan->cases[i], &expected, out);
  }
}

static json_t *planned_sweeps(const eb_plan *plan) {
  json_t *all = json_array();
  for (int i = 0; i < plan->sweep_count; i++) {
    const eb_sweep *s = &plan->sweeps[i];
    json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f}", "name", s->name,
                                         "scene", s->trial.scene->name, "solver",
                                         s->trial.solver->name, "option", s->option, "low", s->low,
                                         "high", eb_sweep_value(s, s->count - 1), "step", s->step));
  }
  return all;
}

static void print_planned_sweep(const eb_sweep *s, FILE *out) {
  eb_print(out, "%-28s %-32s sweep of %s from %g to %g in steps of %g\n", s->trial.scene->name,
           s->trial.solver->name, s->option, s->low, eb_sweep_value(s, s->count - 1), s->step);
}

eb_error eb_summary_plan(const eb_plan *plan, bool json, FILE *out) {
  json_t *cases = json ? json_array() : NULL;
  show_cases(plan, cases, out);
  if (json)
    return eb_json_print(json_pack("{s:o, s:o}", "cases", cases, "sweeps", planned_sweeps(plan)),
                         out);
  for (int i = 0; i < plan->sweep_count; i++) print_planned_sweep(&plan->sweeps[i], out);
  eb_print(out, "%d cases\n", plan->count);
  return EB_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

typedef struct row {
  const eb_case *work;
  const eb_run *run;
  double first, median, iterations, residual; /* s, s, a step, relative */
  eb_rank rank;                               /* by the median */
} row;

/* The plan's runs that the target has. */
typedef struct table {
  row *rows;
  int count;
} table;

typedef double (*statistic)(const double *values, size_t count, size_t skip);

static double first_of(const double *values, size_t count, size_t skip) {
  (void)skip;
  return count > 0 ? values[0] : NAN;
}

static eb_error fill_cell(const eb_results *results, int run, eb_column column, statistic of,
                          double *out) {
  double *values;
  size_t count;
  EB_TRY(eb_results_steps(results, run, column, &values, &count));
  *out = of(values, count, EB_WARM_UP);
  free(values);
  return EB_OK;
}

static eb_error fill_row(const eb_results *results, int run, row *out) {
  out->run = eb_results_run(results, run);
  EB_TRY(fill_cell(results, run, EB_COL_WALL, first_of, &out->first));
  EB_TRY(fill_cell(results, run, EB_COL_WALL, eb_median, &out->median));
  EB_TRY(fill_cell(results, run, EB_COL_ITERATIONS, eb_mean, &out->iterations));
  return fill_cell(results, run, EB_COL_RESIDUAL_RELATIVE, eb_largest, &out->residual);
}

static eb_error rank_rows(table *t) {
  const eb_run **runs;
  double *costs;
  EB_TRY(EB_NEW(runs, t->count));
  eb_error error = EB_NEW(costs, t->count);
  for (int r = 0; r < t->count && !error; r++) {
    runs[r] = t->rows[r].run;
    costs[r] = t->rows[r].median;
  }
  for (int r = 0; r < t->count && !error; r++)
    t->rows[r].rank = eb_run_rank(runs, costs, t->count, r);
  free(runs);
  free(costs);
  return error;
}

static eb_error fill_table(const eb_plan *plan, const eb_results *results, table *t) {
  EB_TRY(EB_NEW(t->rows, plan->count));
  for (int i = 0; i < plan->count; i++) {
    int run = eb_results_find(results, plan->cases[i].identity);
    if (run < 0) continue;
    t->rows[t->count].work = &plan->cases[i];
    EB_TRY(fill_row(results, run, &t->rows[t->count++]));
  }
  return rank_rows(t);
}

static json_t *row_json(const row *r) {
  json_t *json = eb_json_run(r->run);
  eb_class class = eb_class_of(r->run);
  json_object_set_new(json, "first_step_seconds", eb_json_real(r->first));
  json_object_set_new(json, "median_step_seconds", eb_json_real(r->median));
  json_object_set_new(json, "iterations_per_step", eb_json_real(r->iterations));
  json_object_set_new(json, "largest_relative_residual", eb_json_real(r->residual));
  json_object_set_new(json, "class", json_string(eb_class_words(class).text));
  json_object_set_new(json, "ranked", json_boolean(eb_run_ranked(r->run)));
  json_object_set_new(json, "over_fastest", eb_json_real(r->rank.over));
  return json;
}

static void print_number(FILE *out, const char *format, double value) {
  if (isfinite(value))
    eb_print(out, format, value);
  else
    eb_print(out, "%10s ", "-");
}

static void print_header(FILE *out) {
  eb_print(out, "%-26s %-30s %2s %-13s %6s %10s %10s %10s %10s %8s %6s  %s\n", "scene", "solver",
           "T", "outcome", "steps", "first ms", "median ms", "iterations", "error", "MB", "rank",
           "class");
}

/* Its place among how many of its class. */
static void print_standing(const row *r, FILE *out) {
  char place[32] = "-";
  eb_class class = eb_class_of(r->run);
  if (r->rank.place > 0) snprintf(place, sizeof place, "%d/%d", r->rank.place, r->rank.of);
  eb_print(out, " %6s  %s\n", place,
           class.band == EB_BAND_UNKNOWN ? "-" : eb_class_words(class).text);
}

/* What went wrong, below its row. */
static void print_trouble(const eb_run *run, FILE *out) {
  if (*run->detail) eb_print(out, "  %s\n", run->detail);
  if (*run->audit_rules) eb_print(out, "  broken rules: %s\n", run->audit_rules);
  if (*run->audit_detail) eb_print(out, "  %s\n", run->audit_detail);
}

/* The options the user gave, which are not stored as such: those of the plan. */
static void print_row(const row *r, FILE *out) {
  char solver[128];
  const eb_run *run = r->run;
  const char *options = r->work->options;
  bool known = eb_class_of(run).band != EB_BAND_UNKNOWN;
  snprintf(solver, sizeof solver, "%s%s%s", run->solver, options ? ":" : "",
           options ? options : "");
  eb_print(out, "%-26s %-30s %2lld %-13s %6lld ", run->scene, solver, (long long)run->threads,
           strcmp(run->audit, "failed") == 0 ? "audit failed" : run->outcome,
           (long long)run->steps_done);
  print_number(out, "%10.3f ", 1e3 * r->first);
  print_number(out, "%10.3f ", 1e3 * r->median);
  print_number(out, "%10.1f ", r->iterations);
  print_number(out, "%10.2e ", known ? run->error : NAN);
  eb_print(out, "%8.0f", 1e-6 * run->peak_rss);
  print_standing(r, out);
  print_trouble(run, out);
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

static int code_of(const table *shown) {
  tally t = {0};
  for (int r = 0; r < shown->count; r++) count_run(&t, shown->rows[r].run);
  if (t.failed) return EB_EXIT_SOLVER_FAILED;
  if (t.audits) return EB_EXIT_AUDIT_FAILED;
  return t.runs > 0 && t.skipped == t.runs ? EB_EXIT_NOTHING : EB_EXIT_GOOD;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static json_t *sweep_json(const eb_sweep_record *s) {
  json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "name", s->name, "scene",
                           s->scene, "solver", s->solver, "option", s->option, "found", s->found,
                           "detail", s->detail, "audit", s->audit, "trials", s->count);
  json_object_set_new(json, "least_stable", eb_json_real(s->least_stable));
  json_object_set_new(json, "greatest_unstable", eb_json_real(s->greatest_unstable));
  return json;
}

static void print_sweep(const eb_sweep_record *s, FILE *out) {
  eb_print(out, "sweep %s: %s %s, ", s->name, s->solver, s->option);
  if (isfinite(s->least_stable)) eb_print(out, "least stable %g", s->least_stable);
  if (isfinite(s->least_stable) && isfinite(s->greatest_unstable)) eb_print(out, ", ");
  if (isfinite(s->greatest_unstable)) eb_print(out, "greatest unstable %g", s->greatest_unstable);
  eb_print(out, " (%d trials)%s%s%s\n", s->count, *s->detail ? ": " : "", s->detail,
           strcmp(s->audit, "failed") == 0 ? "; a stable trial has failed its audit" : "");
}

/* Those of the plan that the target has. */
static eb_error show_sweeps(const eb_plan *plan, const eb_results *results, json_t *all,
                            FILE *out) {
  for (int i = 0; i < plan->sweep_count; i++) {
    char *identity;
    bool there;
    eb_sweep_record record = {0};
    EB_TRY(eb_sweep_identity(&plan->sweeps[i], &identity));
    eb_error error = eb_sweeps_find(results, identity, &there, &record);
    if (!error && there && all) json_array_append_new(all, sweep_json(&record));
    if (!error && there && !all) print_sweep(&record, out);
    eb_sweep_record_clear(&record);
    free(identity);
    EB_TRY(error);
  }
  return EB_OK;
}

static eb_error print_json(const table *t, const char *target, json_t *sweeps, FILE *out) {
  json_t *rows = json_array();
  for (int r = 0; r < t->count; r++) json_array_append_new(rows, row_json(&t->rows[r]));
  return eb_json_print(json_pack("{s:s, s:o, s:o}", "file", target, "runs", rows, "sweeps", sweeps),
                       out);
}

static void print_text(const table *t, FILE *out) {
  print_header(out);
  for (int r = 0; r < t->count; r++) print_row(&t->rows[r], out);
}

eb_error eb_summary_print(const eb_plan *plan, const char *target, bool json, FILE *out,
                          int *code) {
  eb_results *results;
  table t = {.count = 0};
  EB_TRY(eb_results_open(target, &results));
  eb_error error = fill_table(plan, results, &t);
  if (!error) *code = code_of(&t);
  json_t *sweeps = json ? json_array() : NULL;
  if (!error && !json && t.count > 0) print_text(&t, out);
  if (!error) error = show_sweeps(plan, results, sweeps, out);
  if (!error && json) error = print_json(&t, target, json_incref(sweeps), out);
  json_decref(sweeps);
  free(t.rows);
  eb_results_close(results);
  return error;
}
