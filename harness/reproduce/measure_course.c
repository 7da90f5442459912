/* Measures on courses: a stage's time over a parameter, energy kept after a release, a residual step by step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"

/* ---- line ------------------------------------------------------------------------------------- */

enum { MOST_POINTS = EB_NAMED };

typedef struct line {
  int count;
  double x[MOST_POINTS], y[MOST_POINTS];
  double steady_least, steady_most, steady_sum; /* of the figure that is not to change */
} line;

static eb_error add_point(const eb_evidence *e, const eb_paper_claim *claim, const char *text,
                          line *l, eb_finding *finding, bool *usable) {
  eb_measured_point point;
  double value;
  if (l->count == MOST_POINTS)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d points", MOST_POINTS);
  EB_TRY(eb_point_parse(e->paper, text, &point));
  EB_TRY(eb_usable(e, point.case_, finding, usable));
  if (!*usable) return EB_OK;
  l->x[l->count] = point.x;
  EB_TRY(eb_evidence_statistic(e, point.case_, eb_claim_text(claim, "statistic", ""), 0,
                               &l->y[l->count++]));
  EB_TRY(eb_evidence_statistic(e, point.case_, eb_claim_text(claim, "steady", ""), 0, &value));
  l->steady_least = fmin(l->steady_least, value);
  l->steady_most = fmax(l->steady_most, value);
  l->steady_sum += value;
  return EB_OK;
}

/* R^2 = 1 - |y - a - b x|^2 / |y - mean|^2 of the least-squares line. */
static double fit(const line *l, double *a, double *b) {
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (int i = 0; i < l->count; i++) {
    mx += l->x[i] / l->count;
    my += l->y[i] / l->count;
  }
  for (int i = 0; i < l->count; i++) {
    xx += (l->x[i] - mx) * (l->x[i] - mx);
    xy += (l->x[i] - mx) * (l->y[i] - my);
    yy += (l->y[i] - my) * (l->y[i] - my);
  }
  *b = xy / xx;
  *a = my - *b * mx;
  return xy * xy / (xx * yy);
}

static eb_error rule_line(const eb_paper_claim *claim, const line *l, eb_finding *finding) {
  double a, b, least = eb_claim_number(claim, "least", 1), most = eb_claim_number(claim, "most", 0),
               varies = (l->steady_most - l->steady_least) * l->count / l->steady_sum;
  finding->ours = fit(l, &a, &b);
  EB_TRY(eb_say(finding, "%s = %.3g + %.3g x over %d points, R^2 = %.4f (at least %g)",
                eb_claim_text(claim, "statistic", ""), a, b, l->count, finding->ours, least));
  EB_TRY(eb_say(finding, "%s varies by %.1f %% (at most %g %%)", eb_claim_text(claim, "steady", ""),
                100 * varies, 100 * most));
  if (!isfinite(finding->ours) || !isfinite(varies)) return EB_OK;
  bool straight = finding->ours >= least && b > 0, constant = varies <= most;
  if (straight && constant) return eb_rule(finding, EB_REPRODUCED, "both as claimed");
  return eb_rule(finding, EB_NOT_REPRODUCED, "%s",
                 straight ? "it varies too much" : "that is no rising line");
}

static eb_error judge_line(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding) {
  line l = {.steady_least = INFINITY, .steady_most = -INFINITY};
  bool usable = true;
  const char *text;
  for (int at = 0; usable && (text = eb_section_next(claim->arguments, "point", &at));)
    EB_TRY(add_point(e, claim, text, &l, finding, &usable));
  if (!usable) return EB_OK;
  if (l.count < 3) return eb_say(finding, "%d points show no line", l.count);
  return rule_line(claim, &l, finding);
}

const eb_measure eb_measure_line = {
    "line", "a figure that rises along a straight line while another one stays as it is",
    (const eb_argument[]){{"point", EB_ARGUMENT_POINT, true, "X CASE"},
                          {"statistic", EB_ARGUMENT_STATISTIC, true, "what rises"},
                          {"least", EB_ARGUMENT_NUMBER, true, "R^2"},
                          {"steady", EB_ARGUMENT_STATISTIC, true, "what does not change"},
                          {"most", EB_ARGUMENT_NUMBER, true, "by how much it may: span over mean"},
                          {0}},
    judge_line};

/* ---- lively ----------------------------------------------------------------------------------- */

/* What a run does up to a simulated time. */
typedef struct activity {
  double energy;  /* integral of the kinetic energy from the release on, J s */
  double seconds; /* wall time of all steps, s */
  double until;   /* s, simulated */
} activity;

static eb_error end_of(const eb_evidence *e, int case_, double *out) {
  return eb_evidence_statistic(e, case_, "end.time", 0, out);
}

static eb_error add_up(const eb_evidence *e, int case_, double after, activity *out) {
  enum { TIME, KINETIC, WALL, COLUMNS };
  static const eb_column columns[COLUMNS] = {EB_COL_TIME, EB_COL_KINETIC, EB_COL_WALL};
  static const double hair = 1e-9; /* s: times are sums of steps */
  double *values[COLUMNS] = {0}, before = 0;
  size_t steps = 0;
  eb_error error = EB_OK;
  for (int c = 0; c < COLUMNS && !error; c++)
    error = eb_results_steps(e->results, e->cases[case_].run, columns[c], &values[c], &steps);
  out->energy = out->seconds = 0;
  for (size_t s = 0; s < steps && !error && values[TIME][s] <= out->until + hair; s++) {
    double dt = values[TIME][s] - before;
    before = values[TIME][s];
    out->seconds += values[WALL][s];
    if (values[TIME][s] > after + hair) out->energy += dt * values[KINETIC][s];
  }
  for (int c = 0; c < COLUMNS; c++) free(values[c]);
  return error;
}

/* The cheapest of the others that keeps as much; with none the dearest of all, which is then a lower bound. */
static eb_error match(const eb_evidence *e, const eb_named *others, int count, double after,
                      const activity *of, eb_finding *finding, double *ratio, bool *reached) {
  double cheapest = INFINITY, dearest = 0;
  for (int i = 0; i < count; i++) {
    activity other = {.until = of->until};
    EB_TRY(add_up(e, others[i].case_, after, &other));
    double cost = other.seconds / of->seconds;
    EB_TRY(eb_say(finding, "%s keeps %.3g of it in %.3g of its time",
                  e->paper->cases[others[i].case_].name, other.energy / of->energy, cost));
    if (other.energy >= of->energy) cheapest = fmin(cheapest, cost);
    dearest = fmax(dearest, cost);
  }
  *reached = isfinite(cheapest);
  *ratio = *reached ? cheapest : dearest;
  return EB_OK;
}

static eb_error common_end(const eb_evidence *e, int of, const eb_named *others, int count,
                           double *out) {
  EB_TRY(end_of(e, of, out));
  for (int i = 0; i < count; i++) {
    double end;
    EB_TRY(end_of(e, others[i].case_, &end));
    *out = fmin(*out, end);
  }
  return EB_OK;
}

static eb_error rule_lively(const eb_paper_claim *claim, double ratio, bool reached,
                            eb_finding *finding) {
  double least = eb_claim_number(claim, "least", 0);
  finding->ours = ratio;
  if (!reached && ratio >= least)
    return eb_rule(finding, EB_REPRODUCED,
                   "none of them keeps as much: that takes more than %.3g times as long (at least "
                   "%.3g)",
                   ratio, least);
  if (!reached)
    return eb_say(finding, "none of them keeps as much, and the dearest takes %.3g times as long",
                  ratio);
  return eb_rule(finding, ratio >= least ? EB_REPRODUCED : EB_NOT_REPRODUCED,
                 "as lively a run takes %.3g times as long (at least %.3g)", ratio, least);
}

static eb_error judge_lively(const eb_evidence *e, const eb_paper_claim *claim,
                             eb_finding *finding) {
  eb_named of[EB_NAMED], others[EB_NAMED];
  int count;
  bool usable, reached;
  double after = eb_claim_number(claim, "after", 0), ratio;
  activity own;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "of", ""), of, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "against", ""), others, &count));
  EB_TRY(eb_all_usable(e, of, 1, finding, &usable));
  if (usable) EB_TRY(eb_all_usable(e, others, count, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(common_end(e, of[0].case_, others, count, &own.until));
  EB_TRY(add_up(e, of[0].case_, after, &own));
  if (!(own.energy > 0))
    return eb_say(finding, "%s has not moved between %g s and %g s",
                  e->paper->cases[of[0].case_].name, after, own.until);
  EB_TRY(eb_say(finding, "kinetic energy from %g s to %g s: %.3g J s for %s", after, own.until,
                own.energy, e->paper->cases[of[0].case_].name));
  EB_TRY(match(e, others, count, after, &own, finding, &ratio, &reached));
  return rule_lively(claim, ratio, reached, finding);
}

const eb_measure eb_measure_lively = {
    "lively", "a run that keeps as much kinetic energy after a release takes longer",
    (const eb_argument[]){
        {"of", EB_ARGUMENT_CASES, true, "the lively run"},
        {"against", EB_ARGUMENT_CASES, true, "runs of the other method, with other steps"},
        {"after", EB_ARGUMENT_NUMBER, true, "time of the release, s"},
        {"least", EB_ARGUMENT_NUMBER, true, "time of the cheapest that is as lively, over its own"},
        {0}},
    judge_lively};
