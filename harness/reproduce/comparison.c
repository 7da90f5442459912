/* Comparisons of two sides, over what competitors have in common, and of times by how sure they
 * are. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/evaluate.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- two sides ------------------------------------------------------------------------------- */

/* Competitors of which one was cut are read up to where the first of them ends. */
static eb_error find_limits(const eb_evaluation *e, const bool *named, double *limits) {
  const eb_paper *paper = e->paper;
  for (int g = 0; g < paper->sections.count; g++) limits[g] = NAN;
  for (int c = 0; c < paper->case_count; c++)
    if (named[c] && e->evidence->cases[c].status == EB_RUN_CUT)
      limits[paper->cases[c].group] = INFINITY;
  for (int c = 0; c < paper->case_count; c++) {
    double *limit = &limits[paper->cases[c].group], *time;
    size_t count;
    int run;
    eb_knowledge knowledge;
    eb_evaluation quiet = *e;
    quiet.why = NULL;
    if (!named[c] || isnan(*limit)) continue;
    EB_TRY(eb_evaluation_run(&quiet, c, &run, &knowledge));
    if (run < 0) continue;
    EB_TRY(eb_results_steps(e->evidence->results, run, EB_COL_TIME, &time, &count));
    if (count && time[count - 1] < *limit) *limit = time[count - 1];
    free(time);
  }
  return EB_OK;
}

/* What is compared, the cases that it names, and room for where their series end. */
typedef struct sides {
  const eb_comparing *what;
  const bool *named; /* NULL: there are no runs */
  double *limits;
} sides;

static eb_error read_sides(eb_evaluation *e, const sides *of, eb_value *a, eb_value *b) {
  const eb_comparing *what = of->what;
  double *outer = e->limits;
  eb_error error = of->limits ? find_limits(e, of->named, of->limits) : EB_OK;
  if (of->limits) e->limits = of->limits;
  if (!error) error = eb_evaluate(e, what->a, what->a_scope, a);
  if (!error) error = eb_evaluate(e, what->b, what->b_scope, b);
  if (!error && b->kind == EB_VALUE_NUMBER) b->number *= what->factor;
  e->limits = outer;
  return error;
}

/* ---- intervals ------------------------------------------------------------------------------- */

enum { MOST_REPETITIONS = 64 };

/* Decides by an interval of d, which is log(a / b) or a - b. */
static void decide_by(double mean, double half, bool ratio, eb_comparison comparison,
                      eb_compared *out) {
  bool low = eb_compare_numbers(mean - half, comparison, 0),
       high = eb_compare_numbers(mean + half, comparison, 0);
  out->truth = low != high ? EB_UNDECIDED : low ? EB_TRUE : EB_FALSE;
  out->a = ratio ? out->b * exp(mean) : out->b + mean;
  out->low = ratio ? out->b * exp(mean - half) : out->b + mean - half;
  out->high = ratio ? out->b * exp(mean + half) : out->b + mean + half;
}

/* By the interval of d = log(a / b) or, unless both are positive throughout, of a - b, of all
 * repetitions (a[0], b[0]) and without one after the other (a[r], b[r]). The jackknife's pseudo
 * values, n d - (n - 1) d_r, vary as single repetitions do (Tukey 1958); of a mean they would be
 * these. */
static void decide(const double *a, const double *b, int count, eb_comparison comparison,
                   eb_compared *out) {
  bool ratio = true;
  double d[MOST_REPETITIONS + 1], pseudo[MOST_REPETITIONS], mean, half;
  for (int r = 0; r <= count; r++) ratio = ratio && a[r] > 0 && b[r] > 0;
  for (int r = 0; r <= count; r++) d[r] = ratio ? log(a[r] / b[r]) : a[r] - b[r];
  for (int r = 0; r < count; r++) pseudo[r] = count * d[0] - (count - 1) * d[r + 1];
  eb_sample_interval(pseudo, (size_t)count, &mean, &half);
  out->b = b[0];
  decide_by(d[0], half, ratio, comparison, out);
}

/* ---- times of one repetition or two ---------------------------------------------------------- */

/* How much log(a / b) varies, when times do as they do in all cases with repetitions: the pace of a
 * run, and how a stage fares beside it. A stage moves the steps that hold it, too, so that of a
 * share of nearly all of a run little remains. The cheapest and the dearest frame, which a least or
 * a largest time is, may each be off by itself as a run may. For small changes, each independent of
 * the others: the sum of the squares of (d log(a / b) / d log t) sigma_t over the changes. */
typedef struct propagation {
  const eb_evaluation *e;
  const sides *of;
  double log_ratio; /* undisturbed */
  double variance;
} propagation;

static eb_error add_change(propagation *p, eb_disturbance change, double deviation) {
  eb_evaluation disturbed = *p->e;
  eb_value a = {0}, b = {0};
  change.by = 1e-6; /* below what frames differ by, so that the dearest one remains so */
  disturbed.disturbed = &change;
  disturbed.why = NULL;
  eb_error error = read_sides(&disturbed, p->of, &a, &b);
  if (!error) {
    double moved = (log(a.number / b.number) - p->log_ratio) / change.by * deviation;
    p->variance += moved * moved;
  }
  eb_value_clear(&a);
  eb_value_clear(&b);
  return error;
}

/* The first steps of a case's cheapest and dearest frame. */
static eb_error find_extremes(const eb_evaluation *e, int case_, int run, size_t *first) {
  const eb_run *of = eb_results_run(e->evidence->results, run);
  size_t a_frame = (size_t)eb_steps_per_frame(of), count;
  double *wall, least = INFINITY, largest = 0;
  EB_TRY(eb_evaluation_seconds(e, case_, run, "steps/wall", &wall, &count));
  first[0] = first[1] = 0;
  for (size_t s = eb_sample_warmup(count, (size_t)eb_warmup_steps(of)); s + a_frame <= count;
       s += a_frame) {
    double frame = eb_sample_sum(wall + s, a_frame);
    if (frame < least) first[0] = s;
    if (frame > largest) first[1] = s;
    least = fmin(least, frame);
    largest = fmax(largest, frame);
  }
  free(wall);
  return EB_OK;
}

static eb_error add_changes_of_case(propagation *p, int case_) {
  const eb_noise *noise = &p->e->evidence->noise;
  eb_evaluation quiet = *p->e;
  eb_disturbance all = {case_, 0, EB_PHASE_COUNT, 0, SIZE_MAX}, part = all;
  size_t first[2];
  int run;
  eb_knowledge knowledge;
  quiet.why = NULL;
  EB_TRY(add_change(p, all, noise->pace));
  EB_TRY(eb_evaluation_run(&quiet, case_, &run, &knowledge));
  if (run < 0) return EB_OK;
  for (int s = 0; s < EB_PHASE_COUNT; s++) {
    part.stage = (eb_phase)s;
    EB_TRY(add_change(p, part, noise->stage));
  }
  EB_TRY(find_extremes(&quiet, case_, run, first));
  part = all;
  for (int k = 0; k < 2; k++) {
    part.from = first[k];
    part.to = first[k] + (size_t)eb_steps_per_frame(eb_results_run(p->e->evidence->results, run));
    EB_TRY(add_change(p, part, noise->pace));
  }
  return EB_OK;
}

/* By how much times vary in all cases with repetitions: one repetition has no interval of its own,
 * and two have a poor one. What is exactly 0 was never timed, whatever the noise. */
static eb_error decide_pooled(eb_evaluation *e, const sides *of, double a, double b, int count,
                              eb_compared *out) {
  const eb_noise *noise = &e->evidence->noise;
  eb_evaluation these = *e;
  these.first = count;
  propagation p = {&these, of, log(a / b), 0};
  eb_comparison comparison = of->what->comparison;
  out->b = b;
  if (a == 0) decide_by(-b, 0, false, comparison, out);
  if (!(a > 0 && b > 0)) return EB_OK;
  for (int c = 0; c < e->paper->case_count; c++)
    if (of->named[c]) EB_TRY(add_changes_of_case(&p, c));
  double half = eb_sample_student((size_t)noise->freedom) * sqrt(p.variance / count);
  decide_by(log(a / b), half, true, comparison, out);
  return eb_evaluation_say(
      e,
      "fewer than 3 repetitions: times are taken to vary by %.2g %%, a stage's share of them by "
      "%.2g %%, as those of all repeated cases do (%d degrees of freedom)",
      100 * noise->pace, 100 * noise->stage, noise->freedom);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Whether all repetitions of the cases are of one machine. */
static eb_error see_machines(const eb_evaluation *e, const bool *named, bool *one) {
  char *first = NULL;
  eb_error error = EB_OK;
  *one = true;
  for (int c = 0; c < e->paper->case_count; c++) {
    const eb_case_evidence *found = &e->evidence->cases[c];
    for (int r = 0; named[c] && r < found->run_count && !error; r++) {
      char *machine;
      error = eb_results_machine(e->evidence->results, found->runs[r], &machine);
      if (!error && first && strcmp(first, machine) != 0) *one = false;
      if (first)
        free(machine);
      else
        first = machine;
    }
  }
  free(first);
  return error;
}

/* The sides by the first `count` repetitions and, if these are two or more, without each of them.
 * *known: all are numbers. */
static eb_error leave_out_each(const eb_evaluation *e, const sides *of, int count, double *a,
                               double *b, bool *known) {
  *known = true;
  for (int r = 0; r <= count && *known && (r == 0 || count > 1); r++) {
    eb_value left = {0}, right = {0};
    eb_evaluation without = *e;
    without.first = count;
    without.left_out = r - 1;
    eb_error error = read_sides(&without, of, &left, &right);
    a[r] = left.number;
    b[r] = right.number;
    *known = !left.knowledge && !right.knowledge && isfinite(a[r]) && isfinite(b[r]);
    eb_value_clear(&left);
    eb_value_clear(&right);
    EB_TRY(error);
  }
  return EB_OK;
}

/* As many repetitions decide as all cases have. */
static eb_error compare_times(eb_evaluation *e, const sides *of, eb_compared *out) {
  enum { ENOUGH = 3, LEAST_FREEDOM = 4 };
  double a[MOST_REPETITIONS + 1], b[MOST_REPETITIONS + 1];
  int count = INT_MAX;
  bool one_machine, known;
  out->truth = EB_UNDECIDED;
  EB_TRY(see_machines(e, of->named, &one_machine));
  if (!one_machine) return eb_evaluation_say(e, "times of several machines are not compared");
  for (int c = 0; c < e->paper->case_count; c++)
    if (of->named[c] && e->evidence->cases[c].run_count < count)
      count = e->evidence->cases[c].run_count;
  if (count == INT_MAX) count = 0;
  if (count > MOST_REPETITIONS) count = MOST_REPETITIONS;
  out->repetitions = count;
  if (count < 1) return EB_OK;
  EB_TRY(leave_out_each(e, of, count, a, b, &known));
  if (!known) return EB_OK;
  if (count < ENOUGH && e->evidence->noise.freedom >= LEAST_FREEDOM)
    EB_TRY(decide_pooled(e, of, a[0], b[0], count, out));
  else if (count > 1)
    decide(a, b, count, of->what->comparison, out);
  else
    return eb_evaluation_say(e, "one repetition of a time decides nothing: 3 are wanted");
  return out->truth == EB_UNDECIDED
             ? eb_evaluation_say(e, "too noisy to say: an interval straddles its bound")
             : EB_OK;
}

eb_error eb_evaluate_comparison(eb_evaluation *e, const eb_comparing *what, eb_compared *out) {
  bool *named = NULL;
  double *limits = NULL;
  eb_value a = {0}, b = {0};
  eb_error error = EB_OK;
  *out = (eb_compared){.a = NAN, .b = NAN, .low = NAN, .high = NAN};
  if (e->evidence && e->evidence->results && !e->own) {
    error = EB_NEW(named, e->paper->case_count);
    if (!error) error = EB_NEW(limits, e->paper->sections.count);
    if (!error) error = eb_expression_cases(e->paper, what->a, what->a_scope, named);
    if (!error) error = eb_expression_cases(e->paper, what->b, what->b_scope, named);
  }
  const sides of = {what, named, limits};
  if (!error) error = read_sides(e, &of, &a, &b);
  if (!error) error = eb_value_compare(&a, what->comparison, &b, &out->truth);
  bool timed = a.timed || b.timed;
  out->knowledge = a.knowledge > b.knowledge ? a.knowledge : b.knowledge;
  out->texts = a.kind == EB_VALUE_TEXT;
  for (int g = 0; limits && g < e->paper->sections.count; g++)
    out->clipped = out->clipped || !isnan(limits[g]);
  out->a = a.knowledge ? NAN : a.number;
  out->b = b.knowledge ? NAN : b.number;
  if (!error && !out->knowledge && out->truth == EB_UNDECIDED && !timed)
    error = eb_evaluation_say(e, "a run stops before the end that this asks for");
  bool open = (a.bound || b.bound) && out->truth == EB_UNDECIDED;
  if (!error && timed && !out->knowledge && e->evidence)
    error = open ? eb_evaluation_say(e, "a step was cut off: its time is a lower bound")
                 : compare_times(e, &of, out);
  eb_value_clear(&a);
  eb_value_clear(&b);
  free(named);
  free(limits);
  return error;
}
