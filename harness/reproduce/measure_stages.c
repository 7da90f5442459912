/* Measures on the stages of a step: where its time goes, and what a second thread gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"

/* ---- phases ----------------------------------------------------------------------------------- */

/* Phases that were asked for and took no time. */
static eb_error missing_phases(const eb_evidence *e, int case_, const eb_strings *words,
                               eb_finding *finding, int *missing) {
  for (int i = 1; i < words->count; i++) {
    char statistic[EB_STAGE_TEXT];
    double seconds;
    eb_stage_statistic(words->items[i], statistic);
    EB_TRY(eb_evidence_statistic(e, case_, statistic, 0, &seconds));
    if (seconds > 0) continue;
    ++*missing;
    EB_TRY(eb_say(finding, "%s does not time '%s'", words->items[0], words->items[i]));
  }
  return EB_OK;
}

/* The share of the step that no phase accounts for, or that is counted twice. */
static eb_error judge_case(const eb_evidence *e, const eb_strings *words, eb_finding *finding,
                           double *worst, int *missing, bool *usable) {
  double sum, whole;
  int found = eb_paper_case_find(e->paper, words->items[0], strlen(words->items[0]));
  EB_TRY(eb_usable(e, found, finding, usable));
  if (!*usable) return EB_OK;
  EB_TRY(missing_phases(e, found, words, finding, missing));
  EB_TRY(eb_evidence_statistic(e, found, "phase.sum", 0, &sum));
  EB_TRY(eb_evidence_statistic(e, found, "frame.mean", 0, &whole));
  double gap = fabs(1 - sum / whole);
  *worst = gap > *worst || isnan(gap) ? gap : *worst;
  return eb_say(finding, "%s: stages are %.2f %% of the step", words->items[0], 100 * sum / whole);
}

static eb_error judge_phases(const eb_evidence *e, const eb_paper_claim *claim,
                             eb_finding *finding) {
  double worst = 0, most = eb_claim_number(claim, "most", 0.02);
  int missing = 0;
  bool all = true;
  const char *stages;
  for (int at = 0; (stages = eb_section_next(claim->arguments, "stages", &at));) {
    bool usable = true;
    eb_strings words = {0};
    eb_error error = eb_words(stages, " ", &words);
    if (!error) error = judge_case(e, &words, finding, &worst, &missing, &usable);
    eb_strings_clear(&words);
    EB_TRY(error);
    all = all && usable;
  }
  if (!all) return EB_OK;
  finding->ours = worst;
  if (missing) return eb_rule(finding, EB_NOT_REPRODUCED, "%d stages are not timed", missing);
  if (!(worst <= most))
    return eb_rule(finding, EB_NOT_REPRODUCED, "the gap of %.2f %% is above %g %%", 100 * worst,
                   100 * most);
  return eb_rule(finding, EB_REPRODUCED, "every stage is timed and the gap is at most %g %%",
                 100 * most);
}

const eb_measure eb_measure_phases = {
    "phases", "every stage is timed and the stages add up to the step",
    (const eb_argument[]){
        {"stages", EB_ARGUMENT_STAGES, true, "a case and its phases; a|b: either"},
        {"most", EB_ARGUMENT_NUMBER, false, "relative gap (0.02)"},
        {0}},
    judge_phases};

/* ---- threads ---------------------------------------------------------------------------------- */

/* What two independent threads of this machine gave at the start of the run; NaN when it was not measured. */
static double machine_speedup(const eb_results *results) {
  double one = strtod(eb_results_environment(results, "dgemm_flop_per_second"), NULL);
  double all = strtod(eb_results_environment(results, "dgemm_all_flop_per_second"), NULL);
  return one > 0 && all > 0 ? all / one : NAN;
}

typedef struct speedups {
  int one, two; /* cases */
  double share; /* of the paper's speed-up that has to be there */
  double most;  /* claimed */
  int broken, count;
} speedups;

static eb_error judge_stage(const eb_evidence *e, const char *value, speedups *s,
                            eb_finding *finding) {
  char statistic[200];
  double one, two, paper = strtod(value + strcspn(value, " "), NULL);
  const int both[2] = {s->one, s->two};
  int64_t frames = eb_evidence_common(e, both, 2);
  snprintf(statistic, sizeof statistic, "%.*s", (int)strcspn(value, " "), value);
  EB_TRY(eb_evidence_statistic(e, s->one, statistic, frames, &one));
  EB_TRY(eb_evidence_statistic(e, s->two, statistic, frames, &two));
  double ours = one / two;
  if (s->count++ == 0) {
    finding->ours = ours;
    finding->paper = paper;
  }
  s->most = fmax(s->most, paper);
  s->broken += !(ours >= s->share * paper);
  return eb_say(finding, "%s: %.2fx (paper %.2gx)", statistic, ours, paper);
}

static eb_error rule_threads(const eb_evidence *e, const speedups *s, eb_finding *finding) {
  double machine = machine_speedup(e->results);
  if (isfinite(machine))
    EB_TRY(eb_say(finding, "two independent threads of this machine: %.2fx", machine));
  if (!s->broken)
    return eb_rule(finding, EB_REPRODUCED, "every stage has at least %g of the paper's speed-up",
                   s->share);
  if (machine < s->most)
    return eb_rule(finding, EB_NOT_COMPARABLE,
                   "the machine did not give the second core that %.2gx would need", s->most);
  return eb_rule(finding, EB_NOT_REPRODUCED, "%d of %d stages have less than %g of it", s->broken,
                 s->count, s->share);
}

static eb_error judge_threads(const eb_evidence *e, const eb_paper_claim *claim,
                              eb_finding *finding) {
  eb_named one[EB_NAMED], two[EB_NAMED];
  int count;
  bool usable;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "one", ""), one, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "two", ""), two, &count));
  const eb_named both[2] = {one[0], two[0]};
  EB_TRY(eb_all_usable(e, both, 2, finding, &usable));
  if (!usable) return EB_OK;
  speedups s = {
      .one = one[0].case_, .two = two[0].case_, .share = eb_claim_number(claim, "share", 1)};
  const char *stage;
  for (int at = 0; (stage = eb_section_next(claim->arguments, "speedup", &at));)
    EB_TRY(judge_stage(e, stage, &s, finding));
  return rule_threads(e, &s, finding);
}

const eb_measure eb_measure_threads = {
    "threads", "stages that are faster on two threads than on one",
    (const eb_argument[]){{"one", EB_ARGUMENT_CASES, true, "the case on one thread"},
                          {"two", EB_ARGUMENT_CASES, true, "the same on two"},
                          {"speedup", EB_ARGUMENT_BOUND, true, "a stage and the paper's speed-up"},
                          {"share", EB_ARGUMENT_NUMBER, false, "of that which must be there (1)"},
                          {0}},
    judge_threads};
