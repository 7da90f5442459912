/* Measures on positions: how far two runs are apart, and whether a body is back in its shape. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/measure.h"
#include "harness/reproduce/motion.h"

static double by_norm(const eb_paper_claim *claim, const eb_distance *distance) {
  return strcmp(eb_claim_text(claim, "norm", "rms"), "max") == 0 ? distance->max : distance->rms;
}

static eb_error check_norm(const eb_paper_claim *claim) {
  const char *norm = eb_claim_text(claim, "norm", "rms");
  if (strcmp(norm, "rms") == 0 || strcmp(norm, "max") == 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "norm is rms or max, not '%s'", norm);
}

static eb_error rule_distance(const eb_paper_claim *claim, eb_finding *finding) {
  double most = eb_claim_number(claim, "most", 0);
  if (finding->ours <= most)
    return eb_rule(finding, EB_REPRODUCED, "at most %.3g is claimed", most);
  return eb_rule(finding, EB_NOT_REPRODUCED, "that is above %.3g", most);
}

/* ---- trajectory ------------------------------------------------------------------------------- */

static eb_error judge_parting(const eb_evidence *e, const eb_paper_claim *claim, int of,
                              int against, eb_finding *finding) {
  eb_parting parting;
  bool bounce = strcmp(eb_claim_text(claim, "until", "end"), "bounce") == 0;
  EB_TRY(eb_motion_parting(e, of, against, bounce, &parting));
  finding->ours = by_norm(claim, &parting.largest);
  EB_TRY(eb_say(finding, "%s and %s are at most %.3g of the diagonal apart (%s) over %zu frames%s",
                e->paper->cases[of].name, e->paper->cases[against].name, finding->ours,
                eb_claim_text(claim, "norm", "rms"), parting.frames,
                !bounce           ? ""
                : parting.bounced ? ", up to the end of the first bounce"
                                  : ", in which the first bounce does not end"));
  /* Too few frames show only that the runs have not parted yet. */
  bool seen = parting.frames > 0 && (!bounce || parting.bounced);
  return seen || finding->ours > eb_claim_number(claim, "most", 0) ? rule_distance(claim, finding)
                                                                   : EB_OK;
}

static eb_error judge_trajectory(const eb_evidence *e, const eb_paper_claim *claim,
                                 eb_finding *finding) {
  eb_named of[EB_NAMED], against[EB_NAMED];
  int count;
  bool usable;
  EB_TRY(check_norm(claim));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "of", ""), of, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "against", ""), against, &count));
  const eb_named both[2] = {of[0], against[0]};
  EB_TRY(eb_all_usable(e, both, 2, finding, &usable));
  return usable ? judge_parting(e, claim, of[0].case_, against[0].case_, finding) : EB_OK;
}

#define NORM                                                                                       \
  { "norm", EB_ARGUMENT_TEXT, false, "rms or max over the nodes (rms)" }

const eb_measure eb_measure_trajectory = {
    "trajectory", "two runs of a scene stay together",
    (const eb_argument[]){
        {"of", EB_ARGUMENT_CASES, true, "the run that is judged"},
        {"against", EB_ARGUMENT_CASES, true, "the one that it has to follow"},
        {"most", EB_ARGUMENT_NUMBER, true, "distance over the diagonal of the rest box"},
        {"until", EB_ARGUMENT_TEXT, false, "end or bounce: which frames (end)"},
        NORM,
        {0}},
    judge_trajectory};

/* ---- shape ------------------------------------------------------------------------------------ */

static eb_error most_inverted(const eb_evidence *e, int case_, double *out) {
  double *inverted;
  size_t steps;
  EB_TRY(eb_results_steps(e->results, e->cases[case_].run, EB_COL_INVERTED, &inverted, &steps));
  *out = 0;
  for (size_t s = 0; s < steps; s++) *out = fmax(*out, inverted[s]);
  free(inverted);
  return EB_OK;
}

static eb_error judge_one_shape(const eb_evidence *e, const eb_paper_claim *claim, int of,
                                int against, eb_finding *finding) {
  eb_distance distance;
  double inverted, wanted = eb_claim_number(claim, "inverted", 0);
  EB_TRY(most_inverted(e, of, &inverted));
  EB_TRY(eb_motion_shape(e, of, against, &distance));
  finding->ours = by_norm(claim, &distance);
  EB_TRY(eb_say(finding,
                "up to %.0f elements are inverted; the last shape is %.3g of the diagonal (%s) "
                "from %s",
                inverted, finding->ours, eb_claim_text(claim, "norm", "rms"),
                against < 0 ? "the rest shape" : e->paper->cases[against].name));
  if (e->cases[of].standing == EB_STANDING_CUT) return EB_OK;
  EB_TRY(rule_distance(claim, finding));
  if (inverted >= wanted) return EB_OK;
  return eb_rule(finding, EB_NOT_REPRODUCED, "at least %g inverted elements are claimed", wanted);
}

static eb_error judge_shape(const eb_evidence *e, const eb_paper_claim *claim,
                            eb_finding *finding) {
  eb_named of[EB_NAMED], against[EB_NAMED];
  int count, others;
  bool usable;
  EB_TRY(check_norm(claim));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "of", ""), of, &count));
  EB_TRY(eb_claim_cases(e, eb_claim_text(claim, "against", ""), against, &others));
  EB_TRY(eb_all_usable(e, of, 1, finding, &usable));
  if (usable && others) EB_TRY(eb_all_usable(e, against, 1, finding, &usable));
  if (!usable) return EB_OK;
  int64_t frames = e->paper->cases[of[0].case_].frames,
          all = e->paper->cases[of[0].case_].all_frames;
  if (frames < all)
    return eb_say(finding, "the run stops after %lld of the %lld frames that end at rest",
                  (long long)frames, (long long)all);
  return judge_one_shape(e, claim, of[0].case_, others ? against[0].case_ : -1, finding);
}

const eb_measure eb_measure_shape = {
    "shape", "elements invert, and the body is back in its shape at the end",
    (const eb_argument[]){
        {"of", EB_ARGUMENT_CASES, true, "the run"},
        {"against", EB_ARGUMENT_CASES, false, "whose last shape is meant (the rest shape)"},
        {"most", EB_ARGUMENT_NUMBER, true, "distance over the diagonal of the rest box"},
        {"inverted", EB_ARGUMENT_NUMBER, false, "elements at the worst step, at least (0)"},
        NORM,
        {0}},
    judge_shape};
