/* A measure on the residual that a solver logs at every step: where it grows, and where it goes to nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/course.h"
#include "harness/reproduce/measure.h"

/* The largest in [first, last); what is not a number counts as infinite. */
static double largest(const eb_course *course, size_t first, size_t last) {
  double most = 0;
  for (size_t s = first; s < last; s++)
    most = isnan(course->y[s]) ? INFINITY : fmax(most, course->y[s]);
  return most;
}

/* A run without the remedy: it fails, or the residual of its last quarter is so many times that of its first. */
static eb_error judge_growth(const eb_evidence *e, int case_, double factor, eb_finding *finding,
                             bool *grows) {
  eb_course course;
  const eb_case_evidence *found = &e->cases[case_];
  EB_TRY(eb_course_read(e, case_, "residual", &course));
  size_t quarter = course.count / 4;
  double early = largest(&course, 0, quarter),
         late = largest(&course, course.count - quarter, course.count);
  eb_course_clear(&course);
  bool failed = found->standing == EB_STANDING_FAILED;
  /* What was not logged, or no number, from the start on (infinite here) has not grown. */
  *grows = failed || (isfinite(early) && late > 0 && late >= factor * early);
  return eb_say(finding, "%s: %.3g N in the first quarter, %.3g N in the last%s%s",
                e->paper->cases[case_].name, early, late, failed ? ", then " : "",
                failed ? found->why : "");
}

/* A run with it: the residual ends at `rest` of its largest or below. */
static eb_error judge_settling(const eb_evidence *e, int case_, double rest, eb_finding *finding,
                               bool *settles) {
  eb_course course;
  EB_TRY(eb_course_read(e, case_, "residual", &course));
  double most = largest(&course, 0, course.count),
         end = course.count ? course.y[course.count - 1] : NAN;
  eb_course_clear(&course);
  *settles = most > 0 && isfinite(most) && end <= rest * most;
  finding->ours = end / most;
  return eb_say(finding, "%s: at most %.3g N, %.3g of that at the end (at most %.3g)",
                e->paper->cases[case_].name, most, end / most, rest);
}

static eb_error judge_residual(const eb_evidence *e, const eb_paper_claim *claim,
                               eb_finding *finding) {
  eb_named wild[EB_NAMED], tame[EB_NAMED];
  int count;
  bool usable, grows, settles;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "grows", ""), wild, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "settles", ""), tame, &count));
  if (e->cases[wild[0].case_].standing == EB_STANDING_MISSING)
    return eb_say(finding, "%s", e->cases[wild[0].case_].why);
  EB_TRY(eb_all_usable(e, tame, 1, finding, &usable));
  if (!usable) return EB_OK;
  EB_TRY(judge_growth(e, wild[0].case_, eb_claim_number(claim, "factor", 10), finding, &grows));
  EB_TRY(judge_settling(e, tame[0].case_, eb_claim_number(claim, "most", 0), finding, &settles));
  if (grows && settles) return eb_rule(finding, EB_REPRODUCED, "both as claimed");
  if (eb_shortened(e, tame[0].case_) && !settles)
    return eb_say(finding, "the run stops before its end");
  return eb_rule(finding, EB_NOT_REPRODUCED, "%s",
                 grows ? "it does not go to nothing" : "it does not grow");
}

const eb_measure eb_measure_course = {
    "course", "a solver's residual grows in one run and goes to nothing in another",
    (const eb_argument[]){
        {"grows", EB_ARGUMENT_CASES, true, "the run in which it grows, or which fails"},
        {"settles", EB_ARGUMENT_CASES, true, "the run in which it goes to nothing"},
        {"factor", EB_ARGUMENT_NUMBER, false, "largest of the last quarter over the first's (10)"},
        {"most", EB_ARGUMENT_NUMBER, true, "last residual over the largest, where it settles"},
        {0}},
    judge_residual};
