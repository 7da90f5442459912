/* A measure on how little a figure depends on what runs differ in: the largest over the smallest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/reproduce/measure.h"

typedef struct range {
  double least, most;
} range;

static eb_error range_of(const eb_evidence *e, const char *statistic, const eb_named *cases,
                         int count, range *out) {
  *out = (range){INFINITY, -INFINITY};
  for (int i = 0; i < count; i++) {
    double value;
    EB_TRY(eb_evidence_statistic(e, cases[i].case_, statistic, 0, &value));
    *out =
        isnan(value) ? (range){NAN, NAN} : (range){fmin(out->least, value), fmax(out->most, value)};
    if (isnan(value)) break;
  }
  return EB_OK;
}

/* Sums over runs that were cut, or that last another time, say nothing of each other: within a step of the longest time are all. */
static eb_error same_times(const eb_evidence *e, const eb_named *cases, int count, bool *same) {
  static const double tolerance = 0.01;
  range time;
  EB_TRY(range_of(e, "end.time", cases, count, &time));
  *same = time.most <= (1 + tolerance) * time.least;
  return EB_OK;
}

static eb_error say_values(const eb_evidence *e, const char *statistic, const eb_named *cases,
                           int count, eb_finding *finding) {
  for (int i = 0; i < count; i++) {
    double value;
    EB_TRY(eb_evidence_statistic(e, cases[i].case_, statistic, 0, &value));
    EB_TRY(
        eb_say(finding, "%s: %s = %.4g", e->paper->cases[cases[i].case_].name, statistic, value));
  }
  return EB_OK;
}

static eb_error judge(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding) {
  eb_named cases[EB_NAMED];
  int count;
  bool usable, same;
  range figures;
  const char *statistic = eb_claim_text(claim, "statistic", "");
  double most = eb_claim_number(claim, "most", INFINITY);
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "cases", ""), cases, &count));
  EB_TRY(eb_all_usable(e, cases, count, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(say_values(e, statistic, cases, count, finding));
  EB_TRY(same_times(e, cases, count, &same));
  if (!same) return eb_say(finding, "the runs do not last the same simulated time");
  EB_TRY(range_of(e, statistic, cases, count, &figures));
  finding->ours = figures.most / figures.least;
  if (!(figures.least > 0) || !isfinite(finding->ours))
    return eb_say(finding, "the figures have no ratio");
  return eb_rule(finding, finding->ours <= most ? EB_REPRODUCED : EB_NOT_REPRODUCED,
                 "largest over smallest: %.3g (at most %.3g)", finding->ours, most);
}

const eb_measure eb_measure_spread = {
    "spread", "a figure that differs little between runs of the same simulated time",
    (const eb_argument[]){{"cases", EB_ARGUMENT_CASES, true, "a b c"},
                          {"statistic", EB_ARGUMENT_STATISTIC, true, "what is compared"},
                          {"most", EB_ARGUMENT_NUMBER, true, "largest over smallest"},
                          {0}},
    judge};
