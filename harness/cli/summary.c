#include "harness/cli/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/doc/doc.h"
#include "harness/names.h"
#include "harness/predict/prediction_doc.h"
#include "harness/print.h"
#include "harness/results/accuracy.h"
#include "harness/results/explained.h"
#include "harness/results/json.h"
#include "harness/results/sample.h"
#include "harness/results/sweeps.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

enum { SHOWN = 200 /* cases of a grid; of more only their number is told */ };

/* ---- the plan -------------------------------------------------------------------------------- */

/* "RUN@STEPS", or "". */
static void describe_origin(const eb_origin *from, char *out, size_t bytes) {
  char steps[80];
  *out = '\0';
  if (!from->run) return;
  eb_range_print(from->steps, !from->samples, steps, sizeof steps);
  snprintf(out, bytes, "%s@%s", from->run, steps);
}

static json_t *case_json(const eb_case *work, const eb_prediction *expected) {
  char from[260];
  describe_origin(&work->from, from, sizeof from);
  return eb_json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:f, s:f, s:o, s:o}", "id", work->id,
      "from", from, "scene", work->scene->name, "parameters", work->all_parameters, "solver",
      work->solver->name, "options", work->all_options, "ranks", work->ranks, "threads",
      work->threads, "repetition", work->repetition, "steps", (json_int_t)work->steps, "seed",
      (json_int_t)work->seed, "timeout", work->timeout, "memory", work->memory, "predicted_memory",
      expected->memory.known ? json_real(expected->memory.peak) : json_null(), "prediction",
      eb_prediction_json(expected));
}

static void print_case(const eb_case *work, const eb_prediction *expected, FILE *out) {
  char solver[256], memory[96] = "", ranks[32] = "";
  const double peak = expected->memory.peak;
  bool over = work->memory > 0 && peak > work->memory;
  snprintf(solver, sizeof solver, "%s%s%s", work->solver->name, work->options ? ":" : "",
           work->options ? work->options : "");
  if (expected->memory.known)
    snprintf(memory, sizeof memory, "  about %.0f MB%s", 1e-6 * peak,
             over ? ", over --memory" : "");
  char from[260];
  describe_origin(&work->from, from, sizeof from);
  if (work->ranks > 1) snprintf(ranks, sizeof ranks, "ranks %d  ", work->ranks);
  eb_print(out, "%-28s %-32s %sthreads %d  r%d  %lld steps%s%s%s%s%s\n", work->scene->name, solver,
           ranks, work->threads, work->repetition, (long long)work->steps, memory,
           work->parameters ? "  " : "", work->parameters ? work->parameters : "",
           *from ? "  from " : "", from);
  eb_prediction_print(expected, out);
}

/* Into `cases`, or as words where that is NULL. */
static void show_case(const eb_case *work, eb_predictor *predictor, json_t *cases, FILE *out) {
  eb_prediction expected;
  eb_predict_case(predictor, work, &expected);
  if (cases)
    json_array_append_new(cases, case_json(work, &expected));
  else
    print_case(work, &expected, out);
}

/* The cases of a grid in this shard when they are few enough to be read, else how many. */
static eb_error show_grid(const eb_product *grid, eb_predictor *predictor, json_t *cases,
                          json_t *grids, FILE *out) {
  int64_t count = eb_product_count(grid);
  eb_text axes = {0};
  for (int64_t i = 0; i < count && count <= SHOWN; i++) {
    eb_case work;
    EB_TRY(eb_product_case(grid, i, &work));
    show_case(&work, predictor, cases, out);
    predictor->last = NULL; /* it goes */
    eb_case_clear(&work);
  }
  eb_error error = EB_OK;
  for (int a = 0; a < grid->axis_count && !error; a++) {
    if (a) error = eb_text_printf(&axes, " x ");
    if (!error) error = eb_axis_describe(&grid->axes[a], &axes);
  }
  const char *scene = grid->solvers[0].scene->name;
  if (!error && grids)
    json_array_append_new(
        grids, eb_json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "name", grid->label, "scene", scene,
                            "axes", axes.data, "points", (json_int_t)grid->points, "cases",
                            (json_int_t)grid->count, "cases_here", (json_int_t)count));
  else if (!error)
    eb_print(out, "%-28s sweep of %s: %lld points, %lld cases, %lld of them here\n", scene,
             axes.data, (long long)grid->points, (long long)grid->count, (long long)count);
  eb_text_clear(&axes);
  return error;
}

eb_error eb_summary_plan(const eb_plan *plan, bool json, FILE *out) {
  json_t *cases = json ? json_array() : NULL, *sweeps = json ? json_array() : NULL;
  json_t *grids = json ? json_array() : NULL;
  eb_rates rates = eb_predict_rates();
  eb_predictor predictor = eb_predictor_start(&rates);
  for (int i = 0; i < plan->count; i++) show_case(&plan->cases[i], &predictor, cases, out);
  for (int i = 0; i < plan->grid_count; i++)
    EB_TRY(show_grid(&plan->grids[i], &predictor, cases, grids, out));
  for (int i = 0; i < plan->sweep_count; i++) {
    const eb_sweep *s = &plan->sweeps[i];
    const char *scene = s->trial.scene->name, *solver = s->trial.solver->name;
    double high = eb_axis_value(&s->axis, s->axis.count - 1);
    if (json)
      json_array_append_new(sweeps,
                            eb_json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f}", "name", s->name,
                                         "scene", scene, "solver", solver, "option", s->axis.option,
                                         "low", s->axis.low, "high", high, "step", s->axis.step));
    else
      eb_print(out, "%-28s %-32s sweep of %s from %g to %g in steps of %g\n", scene, solver,
               s->axis.option, s->axis.low, high, s->axis.step);
  }
  if (json)
    return eb_json_print(
        eb_json_pack("{s:o, s:o, s:o}", "cases", cases, "sweeps", sweeps, "grids", grids), out);
  eb_print(out, "%lld cases", (long long)(eb_plan_size(plan) - plan->sweep_count));
  if (plan->sweep_count > 0) eb_print(out, " and %d sweeps", plan->sweep_count);
  eb_print(out, "\n");
  return EB_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

typedef struct row {
  const eb_case *work;
  bool point; /* of a grid, which its parameters tell from others */
  const eb_run *run;
  double first, median, iterations, residual; /* s, s, a step, relative */
  eb_rank rank;                               /* by the median */
  eb_breaches breaches;
  char label[160]; /* the solver, with what the user gave of its options */
} row;

/* The plan's runs that the target has. */
typedef struct table {
  row *rows;
  int count;
  eb_case *points; /* of small grids; rows show them */
  int point_count;
  int64_t runs, skipped, failed, audits; /* of all, those of large grids too, which have no rows */
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
  const char *options = out->work->options;
  out->run = eb_results_run(results, run);
  snprintf(out->label, sizeof out->label, "%s%s%s", out->run->solver, options ? ":" : "",
           options ? options : "");
  EB_TRY(eb_breaches_read(results, run, &out->breaches));
  EB_TRY(fill_cell(results, run, EB_COL_WALL, first_of, &out->first));
  EB_TRY(fill_cell(results, run, EB_COL_WALL, eb_median, &out->median));
  EB_TRY(fill_cell(results, run, EB_COL_ITERATIONS, eb_mean, &out->iterations));
  return fill_cell(results, run, EB_COL_RESIDUAL_RELATIVE, eb_largest, &out->residual);
}

static void count_run(const eb_run *run, table *t) {
  eb_outcome outcome = eb_outcome_find(run->outcome);
  t->runs++;
  t->skipped += outcome == EB_OUTCOME_SKIPPED;
  t->failed += outcome != EB_OUTCOME_SKIPPED && outcome != EB_OUTCOME_COMPLETED;
  t->audits += strcmp(run->audit, "failed") == 0;
}

static eb_error add_row(const eb_results *results, const eb_case *work, table *t) {
  int run = eb_results_find(results, work->identity);
  if (run < 0) return EB_OK;
  count_run(eb_results_run(results, run), t);
  t->rows[t->count].work = work;
  return fill_row(results, run, &t->rows[t->count++]);
}

static eb_error add_points(const eb_results *results, const eb_product *grid, table *t) {
  int64_t count = eb_product_count(grid);
  for (int64_t i = 0; i < count; i++) {
    eb_case work;
    EB_TRY(eb_product_case(grid, i, &work));
    if (count <= SHOWN) {
      t->points[t->point_count] = work;
      int before = t->count;
      EB_TRY(add_row(results, &t->points[t->point_count++], t));
      if (t->count > before) t->rows[before].point = true;
      continue;
    }
    int run = eb_results_find(results, work.identity);
    if (run >= 0) count_run(eb_results_run(results, run), t);
    eb_case_clear(&work);
  }
  return EB_OK;
}

/* The plan's runs that the target has, and how they rank by the median of their steps. */
static eb_error fill_table(const eb_plan *plan, const eb_results *results, table *t) {
  const eb_run **runs;
  double *costs = NULL;
  int points = 0;
  for (int i = 0; i < plan->grid_count; i++)
    if (eb_product_count(&plan->grids[i]) <= SHOWN) points += SHOWN;
  EB_TRY(EB_NEW(t->rows, plan->count + points));
  EB_TRY(EB_NEW(t->points, points));
  for (int i = 0; i < plan->count; i++) EB_TRY(add_row(results, &plan->cases[i], t));
  for (int i = 0; i < plan->grid_count; i++) EB_TRY(add_points(results, &plan->grids[i], t));
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

static eb_error row_json(const row *r, json_t **out) {
  json_t *json = *out = eb_json_run(r->run), *broken = NULL;
  eb_class class = eb_class_of(r->run);
  json_object_set_new(json, "first_step_seconds", eb_json_real(r->first));
  json_object_set_new(json, "median_step_seconds", eb_json_real(r->median));
  json_object_set_new(json, "iterations_per_step", eb_json_real(r->iterations));
  json_object_set_new(json, "largest_relative_residual", eb_json_real(r->residual));
  json_object_set_new(json, "class", eb_json_text(eb_class_describe(class).text));
  json_object_set_new(json, "ranked", json_boolean(eb_run_ranked(r->run)));
  json_object_set_new(json, "on_front", json_boolean(r->rank.place == 1));
  json_object_set_new(json, "over_fastest", eb_json_real(r->rank.over));
  EB_TRY(eb_breaches_json(&r->breaches, &broken));
  json_object_set_new(json, "broken", broken);
  return EB_OK;
}

static void show_heads(eb_doc *doc) {
  static const char *const heads[] = {"scene",    "solver",    "T",          "outcome", "steps",
                                      "first ms", "median ms", "iterations", "error",   "MB",
                                      "rank",     "class",     NULL};
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
}

/* The options the user gave, which are not stored as such: those of the plan. */
static void show_row(const row *r, eb_doc *doc) {
  const eb_run *run = r->run;
  eb_class class = eb_class_of(run);
  bool known = class.band != EB_BAND_UNKNOWN, failed = strcmp(run->audit, "failed") == 0;
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", run->scene);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", r->label);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", "");
  /* Ranks, and threads of each. */
  if (run->ranks > 1) eb_doc_text(doc, EB_DOC_PLAIN, "%lldx", (long long)run->ranks);
  eb_doc_text(doc, EB_DOC_PLAIN, "%lld", (long long)run->threads);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", failed ? "audit failed" : run->outcome);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)run->steps_done);
  eb_doc_number(doc, EB_DOC_PLAIN, 1e3 * r->first);
  eb_doc_number(doc, EB_DOC_PLAIN, 1e3 * r->median);
  eb_doc_number(doc, EB_DOC_PLAIN, r->iterations);
  eb_doc_number_as(doc, EB_DOC_PLAIN, "%.2e", known ? run->error : NAN);
  eb_doc_number_as(doc, EB_DOC_PLAIN, "%.0f", 1e-6 * run->peak_rss);
  /* Its place among how many of its class; several are the first on a front. */
  if (r->rank.place > 0)
    eb_doc_cell(doc, EB_DOC_PLAIN, "%d/%d", r->rank.place, r->rank.of);
  else
    eb_doc_cell(doc, EB_DOC_PLAIN, "-");
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", known ? eb_class_describe(class).text : "-");
  if (r->point && r->work->parameters) eb_doc_text(doc, EB_DOC_PLAIN, "  %s", r->work->parameters);
  /* What went wrong, below its row. */
  if (*run->detail) eb_doc_verbatim(doc, "%s", run->detail);
  if (*run->audit_rules) eb_doc_verbatim(doc, "broken rules: %s", run->audit_rules);
  /* What is explained below the table is not said twice. */
  if (*run->audit_detail && r->breaches.count == 0) eb_doc_verbatim(doc, "%s", run->audit_detail);
}

static int code_of(const table *t) {
  if (t->failed) return EB_EXIT_SOLVER_FAILED;
  if (t->audits) return EB_EXIT_AUDIT_FAILED;
  return t->runs > 0 && t->skipped == t->runs ? EB_EXIT_NOTHING : EB_EXIT_GOOD;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static json_t *sweep_json(const eb_sweep_record *s) {
  json_t *json = eb_json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "name", s->name, "scene",
                              s->scene, "solver", s->solver, "option", s->option, "found", s->found,
                              "detail", s->detail, "audit", s->audit, "trials", s->count);
  json_object_set_new(json, "least_stable", eb_json_real(s->least_stable));
  json_object_set_new(json, "greatest_unstable", eb_json_real(s->greatest_unstable));
  return json;
}

static void show_sweep(const eb_sweep_record *s, eb_doc *doc) {
  bool stable = isfinite(s->least_stable), unstable = isfinite(s->greatest_unstable);
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "sweep %s: %s %s, ", s->name, s->solver, s->option);
  if (stable) eb_doc_text(doc, EB_DOC_PLAIN, "least stable %g", s->least_stable);
  if (stable && unstable) eb_doc_text(doc, EB_DOC_PLAIN, ", ");
  if (unstable) eb_doc_text(doc, EB_DOC_PLAIN, "greatest unstable %g", s->greatest_unstable);
  eb_doc_text(doc, EB_DOC_PLAIN, " (%d trials)%s%s%s", s->count, *s->detail ? ": " : "", s->detail,
              strcmp(s->audit, "failed") == 0 ? "; a stable trial has failed its audit" : "");
}

/* Those of the plan that the target has. */
static eb_error show_sweeps(const eb_plan *plan, const eb_results *results, json_t *all,
                            eb_doc *doc) {
  for (int i = 0; i < plan->sweep_count; i++) {
    char *identity;
    bool there;
    eb_sweep_record record = {0};
    EB_TRY(eb_sweep_identity(&plan->sweeps[i], &identity));
    eb_error error = eb_sweeps_find(results, identity, &there, &record);
    if (!error && there && all) json_array_append_new(all, sweep_json(&record));
    if (!error && there && !all) show_sweep(&record, doc);
    eb_sweep_record_clear(&record);
    free(identity);
    EB_TRY(error);
  }
  return EB_OK;
}

/* The runs of one scene, or with `first` < 0 of all, as they are explained. */
static int gather(const table *t, int first, eb_explained *out) {
  int count = 0;
  for (int r = 0; r < t->count; r++) {
    const row *of = &t->rows[r];
    if (first >= 0 && !eb_run_same_scene(of->run, t->rows[first].run)) continue;
    out[count++] = (eb_explained){of->run, &of->breaches, of->label};
  }
  return count;
}

/* Whether the row is the first of its scene. */
static bool leads(const table *t, int r) {
  for (int before = 0; before < r; before++)
    if (eb_run_same_scene(t->rows[before].run, t->rows[r].run)) return false;
  return true;
}

static eb_error explain(const table *t, eb_doc *doc) {
  EB_FREED eb_explained *runs = NULL;
  EB_TRY(EB_NEW(runs, t->count));
  int count = gather(t, -1, runs);
  eb_explain_rules(runs, count, false, doc);
  for (int r = 0; r < t->count; r++) {
    if (!leads(t, r)) continue;
    count = gather(t, r, runs);
    eb_explain_unranked(runs, count, doc);
  }
  return EB_OK;
}

static eb_error show_runs(const table *t, eb_doc *doc) {
  if (t->count > 0) show_heads(doc);
  for (int r = 0; r < t->count; r++) show_row(&t->rows[r], doc);
  if (t->count > 0) eb_doc_end(doc);
  EB_TRY(explain(t, doc));
  if (t->runs > t->count)
    eb_doc_paragraph(doc, EB_DOC_PLAIN,
                     "%lld runs without a row: in all %lld skipped, %lld failed, %lld with a "
                     "failed audit",
                     (long long)(t->runs - t->count), (long long)t->skipped, (long long)t->failed,
                     (long long)t->audits);
  return EB_OK;
}

static eb_error print_runs(const table *t, const eb_plan *plan, const eb_results *results,
                           FILE *out) {
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  EB_TRY(show_runs(t, &doc));
  EB_TRY(show_sweeps(plan, results, NULL, &doc));
  return eb_doc_print(&doc, EB_DOC_TEXT, out);
}

static eb_error print_runs_json(const table *t, const eb_plan *plan, const eb_results *results,
                                const char *target, FILE *out) {
  json_t *runs = json_array(), *sweeps = json_array();
  eb_error error = EB_OK;
  for (int r = 0; r < t->count && !error; r++) {
    json_t *run = NULL;
    error = row_json(&t->rows[r], &run);
    json_array_append_new(runs, run);
  }
  if (!error) error = show_sweeps(plan, results, sweeps, NULL);
  if (!error)
    error = eb_json_print(
        eb_json_pack("{s:s, s:O, s:O}", "file", target, "runs", runs, "sweeps", sweeps), out);
  json_decref(runs);
  json_decref(sweeps);
  return error;
}

eb_error eb_summary_print(const eb_plan *plan, const char *target, bool json, FILE *out,
                          int *code) {
  eb_results *results;
  table t = {.count = 0};
  EB_TRY(eb_results_open(target, &results));
  eb_error error = fill_table(plan, results, &t);
  if (!error) *code = code_of(&t);
  if (!error)
    error =
        json ? print_runs_json(&t, plan, results, target, out) : print_runs(&t, plan, results, out);
  for (int r = 0; r < t.count; r++) eb_breaches_clear(&t.rows[r].breaches);
  for (int i = 0; i < t.point_count; i++) eb_case_clear(&t.points[i]);
  free(t.points);
  free(t.rows);
  eb_results_close(results);
  return error;
}
