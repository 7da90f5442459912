/* Measures on how runs ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"

/* ---- completed -------------------------------------------------------------------------------- */

static eb_error judge_completed(const eb_evidence *e, const eb_paper_claim *claim,
                                eb_finding *finding) {
  eb_named cases[EB_NAMED];
  int count, whole = 0, failed = 0, shortened = 0;
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "cases", ""), cases, &count));
  for (int i = 0; i < count; i++) {
    const eb_case_evidence *found = &e->cases[cases[i].case_];
    whole += found->standing == EB_STANDING_WHOLE;
    failed += found->standing == EB_STANDING_FAILED;
    shortened +=
        e->paper->cases[cases[i].case_].frames < e->paper->cases[cases[i].case_].all_frames;
    if (*found->why) EB_TRY(eb_say(finding, "%s", found->why));
  }
  finding->paper = count;
  finding->ours = whole;
  EB_TRY(eb_say(finding, "%d of %d runs reached their end", whole, count));
  if (failed) finding->ruling = EB_NOT_REPRODUCED;
  if (whole < count) return EB_OK;
  if (shortened) return eb_say(finding, "%d of them were asked for fewer frames", shortened);
  finding->ruling = EB_REPRODUCED;
  return EB_OK;
}

const eb_measure eb_measure_completed = {
    "completed", "runs that reach their end",
    (const eb_argument[]){{"cases", EB_ARGUMENT_CASES, true, "that have to"}, {0}},
    judge_completed};

/* ---- outcomes --------------------------------------------------------------------------------- */

/* Frames with more iterations than there are unknowns, after which conjugate gradients would be done but for rounding. */
static eb_error beyond_unknowns(const eb_evidence *e, int case_, int *out) {
  char path[64];
  double *iterations;
  size_t frames;
  *out = 0;
  snprintf(path, sizeof path, "counters/%s", eb_counter_name(EB_COUNT_LINEAR_ITERATIONS));
  EB_TRY(eb_evidence_series(e, case_, path, &iterations, &frames));
  double unknowns = 3. * (double)eb_evidence_run(e, case_)->nodes *
                    (double)eb_steps_per_frame(eb_evidence_run(e, case_));
  for (size_t f = 0; f < frames; f++) *out += iterations[f] > unknowns;
  free(iterations);
  return EB_OK;
}

/* Whether a solver struggles on a case: it fails, or needs more than `many` iterations a frame. */
static eb_error judge_struggle(const eb_evidence *e, int case_, double many, eb_finding *finding,
                               bool *struggles, int *failures) {
  const eb_case_evidence *found = &e->cases[case_];
  const char *name = e->paper->cases[case_].name;
  double mean, most;
  int beyond;
  EB_TRY(beyond_unknowns(e, case_, &beyond));
  EB_TRY(eb_evidence_statistic(e, case_, "iterations.mean", 0, &mean));
  EB_TRY(eb_evidence_statistic(e, case_, "iterations.max", 0, &most));
  *failures += found->standing == EB_STANDING_FAILED;
  *struggles = found->standing == EB_STANDING_FAILED || mean >= many;
  if (isfinite(mean))
    EB_TRY(eb_say(finding,
                  "%s: %.0f iterations a frame, %.0f at most, in %lld frames, more than there are "
                  "unknowns in %d",
                  name, mean, most, (long long)found->frames, beyond));
  finding->ours = fmax(finding->ours, mean);
  return *found->why ? eb_say(finding, "%s", found->why) : EB_OK;
}

/* The other solver on the same scene: it must have done every frame that the first one tried. */
static eb_error judge_success(const eb_evidence *e, int case_, int other, eb_finding *finding,
                              bool *succeeds) {
  bool usable;
  const eb_run *tried = eb_evidence_run(e, other), *done = eb_evidence_run(e, case_);
  EB_TRY(eb_usable(e, case_, finding, &usable));
  *succeeds = usable && tried && done->steps_done >= tried->steps_done;
  if (*succeeds || !usable || !tried) return EB_OK;
  return eb_say(finding, "%s did %lld steps of the %lld that %s tried", e->paper->cases[case_].name,
                (long long)done->steps_done, (long long)tried->steps_done,
                e->paper->cases[other].name);
}

static eb_error judge_outcomes(const eb_evidence *e, const eb_paper_claim *claim,
                               eb_finding *finding) {
  eb_named weak[EB_NAMED], strong[EB_NAMED];
  int count, others, struggling = 0, succeeding = 0, failures = 0;
  double many = eb_claim_number(claim, "iterations", INFINITY);
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "struggles", ""), weak, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "succeeds", ""), strong, &others));
  if (count != others)
    return EB_ERROR(EB_ERR_FORMAT, "'struggles' and 'succeeds' want as many cases each");
  for (int i = 0; i < count; i++) {
    bool struggles, succeeds;
    if (e->cases[weak[i].case_].standing == EB_STANDING_MISSING)
      return eb_say(finding, "%s", e->cases[weak[i].case_].why);
    EB_TRY(judge_struggle(e, weak[i].case_, many, finding, &struggles, &failures));
    EB_TRY(judge_success(e, strong[i].case_, weak[i].case_, finding, &succeeds));
    if (e->cases[strong[i].case_].standing == EB_STANDING_MISSING) return EB_OK;
    struggling += struggles;
    succeeding += succeeds;
  }
  bool holds = struggling == count && succeeding == count;
  return eb_rule(finding, holds ? EB_REPRODUCED : EB_NOT_REPRODUCED,
                 "%d of %d fail or need at least %g iterations a frame (%d fail); the other "
                 "method does the same frames on %d of %d",
                 struggling, count, many, failures, succeeding, count);
}

const eb_measure eb_measure_outcomes = {
    "outcomes", "a solver fails or needs many iterations where another one succeeds",
    (const eb_argument[]){
        {"struggles", EB_ARGUMENT_CASES, true, "cases of the one"},
        {"succeeds", EB_ARGUMENT_CASES, true, "the same scenes with the other, in that order"},
        {"iterations", EB_ARGUMENT_NUMBER, true, "a frame that are many"},
        {0}},
    judge_outcomes};
