/* The functions of the language that are not about frames: how runs ended, series and lists, fits,
 * and the paper's tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- how runs ended -------------------------------------------------------------------------- */

/* What was measured of a call's case, or NULL. */
static const eb_case_evidence *measured(const eb_call *c) {
  return c->e->evidence && !c->e->own ? &c->e->evidence->cases[c->cases[0]] : NULL;
}

/* 1 or 0; a run that was cut may still do either. What the audit contradicts has done neither. */
static eb_error ended(const eb_call *c, eb_value *out) {
  bool wanted = strcmp(c->self->name, "failed") == 0;
  const eb_case_evidence *found = measured(c);
  const eb_paper_case *work = &c->e->paper->cases[c->cases[0]];
  *out = (eb_value){.kind = EB_VALUE_TRUTH, .truth = EB_UNDECIDED, .knowledge = EB_UNKNOWN};
  if (!found) return EB_OK;
  bool failed = found->status == EB_RUN_FAILED,
       whole = found->status == EB_RUN_WHOLE && !eb_evaluation_cut(c->e, c->cases[0]);
  if (failed || whole) *out = eb_value_truth(failed == wanted ? EB_TRUE : EB_FALSE);
  if (*found->why) return eb_evaluation_say(c->e, "%s", found->why);
  return failed || whole
             ? EB_OK
             : eb_evaluation_say(c->e, "%s was asked for %lld of %lld frames", work->name,
                                 (long long)work->frames, (long long)work->all_frames);
}

/* Of a failed run too. */
static eb_error count_steps(const eb_call *c, eb_value *out) {
  const eb_case_evidence *found = measured(c);
  const eb_run *run = found ? eb_evidence_run(c->e->evidence, c->cases[0]) : NULL;
  *out = eb_value_number(run ? (double)run->steps_done : NAN);
  return run || !found ? EB_OK : eb_evaluation_say(c->e, "%s", found->why);
}

static eb_error count_solved(const eb_call *c, eb_value *out) {
  const eb_case_evidence *found = measured(c);
  *out = eb_value_number(NAN);
  if (!found || found->run < 0) return found ? eb_evaluation_say(c->e, "%s", found->why) : EB_OK;
  double *reason, solved = 0;
  size_t count;
  EB_TRY(eb_results_steps(c->e->evidence->results, found->run, EB_COL_REASON, &reason, &count));
  for (size_t s = 0; s < count; s++) solved += reason[s] > 0;
  free(reason);
  *out = eb_value_number(solved);
  return *found->why ? eb_evaluation_say(c->e, "%s", found->why) : EB_OK;
}

/* What a step had taken that was cut off counts: the whole is then a lower bound. */
static eb_error add_up_spent(const eb_call *c, eb_value *out) {
  int run;
  eb_knowledge knowledge;
  EB_TRY(eb_evaluation_run(c->e, c->cases[0], &run, &knowledge));
  *out = eb_value_number(NAN);
  out->knowledge = knowledge;
  const eb_case_evidence *found = measured(c);
  if (found && found->cut_first) run = found->runs[0];
  if (run < 0) return EB_OK;
  const eb_results *results = c->e->evidence->results;
  double *wall,
      sum = eb_evaluation_time(c->e, c->cases[0], eb_results_run(results, run)->cut_step_seconds);
  size_t count;
  EB_TRY(eb_evaluation_seconds(c->e, c->cases[0], run, "steps/wall", &wall, &count));
  for (size_t i = 0; i < count; i++) sum += wall[i];
  free(wall);
  *out = eb_value_number(sum > 0 ? sum : NAN);
  out->timed = true;
  out->bound = out->may_rise = eb_evaluation_cut(c->e, c->cases[0]);
  return EB_OK;
}

/* Of a grid that is stable throughout the least value may be lower. */
static eb_error find_least_stable(const eb_call *c, eb_value *out) {
  const eb_paper_case *work = &c->e->paper->cases[c->cases[0]];
  const eb_case_evidence *found = measured(c);
  if (!work->dependencies[EB_DEPENDENCY_SWEEP])
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is no sweep", work->name);
  *out = eb_value_number(NAN);
  if (!found) return EB_OK;
  if (found->status == EB_RUN_WHOLE) *out = eb_value_number(found->least_stable);
  out->may_fall = found->below;
  return *found->why ? eb_evaluation_say(c->e, "%s", found->why) : EB_OK;
}

/* Of a bisection a value above it was taken to be stable; of a grid that is stable throughout there
 * is none, which may lie below the grid. */
static eb_error find_greatest_unstable(const eb_call *c, eb_value *out) {
  const eb_case_evidence *found = measured(c);
  EB_TRY(find_least_stable(c, out));
  if (found && found->status == EB_RUN_WHOLE) *out = eb_value_number(found->greatest_unstable);
  out->may_fall = false;
  return EB_OK;
}

/* ---- rates of convergence -------------------------------------------------------------------- */

/* Below that share of a step's first residual there is rounding, and no rate. */
static const double rounding_share = 1e-12;

/* r_(k+1) = c r_k^p: p from the last three residuals of a step that fall; NaN where there are none.
 */
static double order_of(const double *r, int64_t count) {
  while (count > 0 && !(r[count - 1] > rounding_share * r[0])) count--;
  if (count < 3) return NAN;
  double before = log(r[count - 2] / r[count - 3]), last = log(r[count - 1] / r[count - 2]);
  return before < 0 && last < 0 ? last / before : NAN;
}

/* The factor of an iteration over the second half of a step, when what is easy has gone. */
static double contraction_of(const double *r, int64_t count) {
  while (count > 0 && !(r[count - 1] > rounding_share * r[0])) count--;
  int64_t half = count / 2;
  return count < 3 ? NAN : pow(r[count - 1] / r[half], 1.0 / (double)(count - 1 - half));
}

/* The median over the steps that have a rate. */
static eb_error find_rate(const eb_call *c, eb_value *out) {
  bool order = strcmp(c->self->name, "convergence_order") == 0;
  int run;
  eb_knowledge knowledge;
  eb_residuals all;
  EB_FREED double *rates = NULL;
  size_t count = 0;
  EB_TRY(eb_evaluation_run(c->e, c->cases[0], &run, &knowledge));
  *out = eb_value_number(NAN);
  if (run < 0) out->knowledge = knowledge;
  if (run < 0) return EB_OK;
  EB_TRY(eb_results_residuals(c->e->evidence->results, run, &all));
  eb_error error = EB_NEW(rates, all.steps);
  for (size_t s = 0; s < all.steps && !error; s++) {
    const double *r = all.values + all.offsets[s];
    int64_t logged = all.offsets[s + 1] - all.offsets[s];
    double rate = order ? order_of(r, logged) : contraction_of(r, logged);
    if (isfinite(rate)) rates[count++] = rate;
  }
  eb_residuals_clear(&all);
  EB_TRY(error);
  if (count) *out = eb_value_number(eb_sample_median(rates, count));
  return count ? EB_OK
               : eb_evaluation_say(c->e, "%s logs no three residuals in any step",
                                   c->e->paper->cases[c->cases[0]].name);
}

/* ---- series and lists ------------------------------------------------------------------------ */

static eb_error sum_frames(const eb_call *c, eb_value *out) {
  return eb_value_frames(&c->arguments[0], out);
}

static eb_error integrate(const eb_call *c, eb_value *out) {
  const eb_value *series = &c->arguments[0];
  *out = eb_value_number(series->time && series->count ? eb_value_integral(series) : NAN);
  out->may_rise = out->may_fall = series->cut;
  eb_value_taint(out, series);
  return EB_OK;
}

/* Of a number, or of every value of a series. */
static eb_error each(const eb_call *c, eb_value *out) {
  const eb_value one = eb_value_number(1), *a = c->arguments;
  double (*of)(double) = c->self->of;
  EB_TRY(eb_value_combine(EB_OP_MULTIPLY, a, &one, out));
  out->number = of(out->number);
  if (!isfinite(out->number) && out->kind == EB_VALUE_NUMBER && !out->knowledge)
    out->knowledge = EB_UNKNOWN;
  for (size_t i = 0; i < out->count; i++) out->y[i] = eb_finite_or_nan(of(out->y[i]));
  if (of == fabs) out->may_rise = out->may_fall = a->may_rise || a->may_fall;
  return EB_OK;
}

static eb_error fit(const eb_call *c, eb_value *out) {
  const eb_value *x = &c->arguments[0], *y = &c->arguments[1];
  double slope, r2;
  eb_sample_line(x->y, y->y, x->count < y->count ? x->count : y->count, &slope, &r2);
  *out = eb_value_number(strcmp(c->self->name, "fit_r2") == 0 ? r2 : slope);
  out->may_rise = out->may_fall = x->cut || y->cut || y->may_rise || y->may_fall;
  eb_value_taint(out, x);
  eb_value_taint(out, y);
  return EB_OK;
}

/* Twice the mean time from one crossing of zero to the next, each found on the line between two
 * steps; NaN with fewer than two. */
static double period_of(const eb_value *series) {
  const double *t = series->time, *y = series->y;
  double from = NAN, to = NAN, between = -1;
  for (size_t i = 1; i < series->count; i++) {
    if (!isfinite(y[i - 1]) || !isfinite(y[i]) || (y[i - 1] < 0) == (y[i] < 0)) continue;
    to = t[i - 1] + (t[i] - t[i - 1]) * y[i - 1] / (y[i - 1] - y[i]);
    if (isnan(from)) from = to;
    between++;
  }
  return between > 0 ? 2 * (to - from) / between : NAN;
}

static eb_error find_period(const eb_call *c, eb_value *out) {
  const eb_value *series = &c->arguments[0];
  *out = eb_value_number(series->time ? period_of(series) : NAN);
  if (isnan(out->number) && !series->knowledge) out->knowledge = EB_UNKNOWN;
  out->may_rise = out->may_fall = series->cut || series->may_rise || series->may_fall;
  eb_value_taint(out, series);
  return EB_OK;
}

/* ---- the paper's tables ---------------------------------------------------------------------- */

/* The table, and the row and column of it that the call names; -1: all. */
static eb_error find_cell(const eb_call *c, const eb_paper_table **table, int *row, int *column) {
  const eb_value *a = c->arguments;
  const eb_paper_table *t = &c->e->paper->tables[eb_paper_table_find(c->e->paper, a[0].text)];
  *table = t;
  *row = *column = -1;
  if (c->count > 1) {
    *row = eb_word_find(&t->keys, a[1].text, strlen(a[1].text));
    if (*row < 0)
      return eb_error_prefix(eb_unknown_name("row", a[1].text, &t->keys), "table '%s'", t->id);
  }
  if (c->count > 2) {
    *column =
        eb_find(t->columns, t->column_count, sizeof *t->columns, a[2].text, strlen(a[2].text));
    if (*column < 0)
      return eb_error_prefix(eb_unknown_name("column", a[2].text, &t->names), "table '%s'", t->id);
  }
  return EB_OK;
}

static eb_error read_paper(const eb_call *c, eb_value *out) {
  const eb_paper_table *table;
  int row, column;
  EB_TRY(find_cell(c, &table, &row, &column));
  *out = eb_value_number(eb_paper_value(table, row, &table->columns[column]) / table->scale);
  return EB_OK;
}

/* Ours over the paper's of the cells where both are meant to be. */
static eb_error list_ratios(const eb_call *c, eb_value *out) {
  const eb_paper_table *table;
  int row, column;
  EB_TRY(find_cell(c, &table, &row, &column));
  EB_TRY(eb_value_series(0, false, out));
  for (int i = 0; i < table->keys.count * table->column_count; i++) {
    int at_row = i / table->column_count, at_column = i % table->column_count;
    double paper = eb_paper_value(table, at_row, &table->columns[at_column]) / table->scale;
    if ((row >= 0 && at_row != row) || (column >= 0 && at_column != column)) continue;
    if (!table->cells[i] || isnan(paper)) continue;
    eb_value ours = {0};
    eb_error error = eb_evaluate(c->e, table->cells[i], NULL, &ours);
    ours.number /= paper;
    if (!isfinite(ours.number) && !ours.knowledge) ours.knowledge = EB_UNKNOWN;
    ours.may_rise = ours.may_fall = false;
    if (!error) error = eb_value_append(out, &ours);
    eb_value_clear(&ours);
    EB_TRY(error);
  }
  return EB_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

const eb_function eb_functions[] = {
    {"failed", "c", "a: whether the solver failed", .call = ended},
    {"completed", "c", "a: whether the run came to its end", .call = ended},
    {"steps", "c", "a: steps that were done, of a run that failed too", .call = count_steps},
    {"solved", "c", "a: of these, those that its solver says it has solved", .call = count_solved},
    {"spent", "c",
     "a: wall seconds of its steps; where the time limit has cut one off, what it had taken "
     "by then too: a lower bound",
     .call = add_up_spent},
    {"convergence_order", "c",
     "a: order of convergence within a step, of its last three residuals above rounding; median "
     "over the steps",
     .call = find_rate},
    {"convergence_factor", "c",
     "a: factor by which an iteration lessens the residual in the second half of a step; median "
     "over the steps",
     .call = find_rate},
    {"least_stable", "c", "a: the least value of a sweep's option at which the case is stable",
     .call = find_least_stable},
    {"greatest_unstable", "c", "a: the greatest value that a sweep has found to be unstable",
     .call = find_greatest_unstable},
    {"frame", "v", "series: sums over the steps of each frame", .call = sum_frames},
    {"integral", "v", "series: over simulated time", .call = integrate},
    {"period", "v", "series: twice the mean time from one crossing of zero to the next, s",
     .call = find_period},
    {"abs", "a", "of a number or of every value", .call = each, .of = fabs},
    {"sqrt", "a", "of a number or of every value", .call = each, .of = sqrt},
    {"log", "a", "natural, of a number or of every value", .call = each, .of = log},
    {"exp", "a", "of a number or of every value", .call = each, .of = exp},
    {"sin", "a", "of radians: a number or every value", .call = each, .of = sin},
    {"cos", "a", "of radians: a number or every value", .call = each, .of = cos},
    {"tan", "a", "of radians: a number or every value", .call = each, .of = tan},
    {"atan", "a", "radians, of a number or of every value", .call = each, .of = atan},
    {"floor", "a", "the whole number below, of a number or of every value", .call = each,
     .of = floor},
    {"fit_slope", "vv", "x, y: slope of the least-squares line", .call = fit},
    {"fit_r2", "vv", "x, y: R^2 of the least-squares line", .call = fit},
    {"paper", "tww", "table, row, column: the paper's number, in SI units", .call = read_paper},
    {"ratios", "t?w?w", "table, row, column: ours over the paper's, of the cells that both have",
     .call = list_ratios},
    {0}};
