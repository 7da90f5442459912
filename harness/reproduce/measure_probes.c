/* Measures on what probes have found. */
#include <math.h>

#include "harness/reproduce/measure.h"
#include "harness/reproduce/probe.h"

double eb_found_real(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The scene, and what stands in for its geometry. */
static eb_error say_scene(const json_t *result, eb_finding *finding) {
  const char *scene = json_string_value(json_object_get(result, "scene")),
             *stand_in = json_string_value(json_object_get(result, "stand_in"));
  if (!scene) return EB_OK;
  bool stands_in = stand_in && *stand_in;
  return eb_say(finding, "%s, %.0f elements%s%s", scene, eb_found_real(result, "scene_elements"),
                stands_in ? ", stand-in geometry: " : "", stands_in ? stand_in : "");
}

eb_error eb_claim_probe(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding,
                        json_t **out) {
  const char *id = eb_claim_text(claim, "probe", "");
  *out = NULL;
  if (e->folder) EB_TRY(eb_probe_load(e->paper, e->folder, id, out));
  if (!*out) return eb_say(finding, "probe '%s' has left no result", id);
  EB_TRY(say_scene(*out, finding));
  const char *failure = json_string_value(json_object_get(*out, "failure")),
             *trouble = json_string_value(json_object_get(*out, "error"));
  if (failure) return eb_rule(finding, EB_NOT_REPRODUCED, "%s", failure);
  return trouble ? eb_say(finding, "probe '%s': %s", id, trouble) : EB_OK;
}

/* ---- updown ----------------------------------------------------------------------------------- */

/* Low-rank updates of one element set beside a whole factorization and the incremental update. */
static eb_error judge_trial(const json_t *trial, eb_finding *finding, int *broken) {
  double updown = eb_found_real(trial, "updown_s"), refactor = eb_found_real(trial, "refactor_s"),
         incremental = eb_found_real(trial, "incremental_s"),
         done = eb_found_real(trial, "updown_done");
  *broken += !(updown > refactor) || !(updown > incremental);
  if (isnan(finding->ours)) finding->ours = updown / refactor;
  EB_TRY(eb_say(finding, "%.0f elements (rank %.0f): low-rank update %.3g s",
                eb_found_real(trial, "elements"), eb_found_real(trial, "rank"), updown));
  if (done < 1) EB_TRY(eb_say(finding, "stopped after %.2g %% of them, a lower bound", 100 * done));
  return eb_say(finding, "whole factorization %.3g s, incremental update %.3g s", refactor,
                incremental);
}

static eb_error judge_trials(const json_t *result, eb_finding *finding) {
  int broken = 0;
  size_t i;
  json_t *trial, *trials = json_object_get(result, "trials");
  json_array_foreach(trials, i, trial) EB_TRY(judge_trial(trial, finding, &broken));
  if (json_array_size(trials) == 0) return eb_say(finding, "no element set was measured");
  if (broken)
    return eb_rule(finding, EB_NOT_REPRODUCED,
                   "the low-rank update is not the slowest of the three on %d sets", broken);
  if (!json_is_true(json_object_get(result, "complete")))
    return eb_say(finding, "not all element sets were measured");
  return eb_rule(finding, EB_REPRODUCED,
                 "the low-rank update is slower than factoring anew on every set");
}

static eb_error judge_updown(const eb_evidence *e, const eb_paper_claim *claim,
                             eb_finding *finding) {
  json_t *result;
  EB_TRY(eb_claim_probe(e, claim, finding, &result));
  eb_error error = result ? judge_trials(result, finding) : EB_OK;
  json_decref(result);
  return error;
}

const eb_measure eb_measure_updown = {
    "updown", "low-rank updates are slower than factoring anew and than the incremental update",
    (const eb_argument[]){{"probe", EB_ARGUMENT_PROBE, true, "of kind low-rank"}, {0}},
    judge_updown};

/* ---- agreement -------------------------------------------------------------------------------- */

static eb_error judge_difference(const json_t *result, const eb_paper_claim *claim,
                                 eb_finding *finding) {
  double most = eb_claim_number(claim, "most", 0), steps = eb_found_real(result, "steps"),
         wanted = eb_found_real(result, "steps_wanted");
  finding->ours = eb_found_real(result, "difference");
  if (!isfinite(finding->ours)) return EB_OK;
  EB_TRY(eb_say(finding,
                "after %.0f of %.0f steps in one process positions differ by %.3g of the diagonal "
                "at most",
                steps, wanted, finding->ours));
  if (finding->ours > most) return eb_rule(finding, EB_NOT_REPRODUCED, "that is above %.3g", most);
  if (!(steps >= wanted)) return EB_OK;
  return eb_rule(finding, EB_REPRODUCED, "at most %.3g is claimed", most);
}

static eb_error judge_agreement(const eb_evidence *e, const eb_paper_claim *claim,
                                eb_finding *finding) {
  json_t *result;
  EB_TRY(eb_claim_probe(e, claim, finding, &result));
  eb_error error = result ? judge_difference(result, claim, finding) : EB_OK;
  json_decref(result);
  return error;
}

const eb_measure eb_measure_agreement = {
    "agreement", "two solvers give the same motion in double precision",
    (const eb_argument[]){{"probe", EB_ARGUMENT_PROBE, true, "of kind agreement"},
                          {"most", EB_ARGUMENT_NUMBER, true, "difference over the diagonal"},
                          {0}},
    judge_agreement};

/* ---- threshold -------------------------------------------------------------------------------- */

/* The value found for one solver; NaN, with the cause said, when there is none. */
static eb_error threshold_of(const json_t *result, const char *key, eb_finding *finding,
                             double *out) {
  const json_t *one = json_object_get(json_object_get(result, "solvers"), key);
  double unstable = eb_found_real(one, "unstable");
  size_t trials = json_array_size(json_object_get(one, "trials"));
  const char *option = json_string_value(json_object_get(result, "option"));
  *out = eb_found_real(one, "stable");
  if (!one) return eb_say(finding, "%s was not tried", key);
  if (isnan(*out)) return eb_say(finding, "%s: no stable value was found", key);
  EB_TRY(eb_say(finding, "%s: stable at %s = %g and not at %g (%zu runs)", key,
                option ? option : "it", *out, unstable, trials));
  if (*out - unstable > 1.5 * eb_found_real(result, "step"))
    EB_TRY(eb_say(finding, "the search ran out of time"));
  return EB_OK;
}

static eb_error judge_solvers(const json_t *result, const eb_paper_claim *claim,
                              eb_finding *finding) {
  double first, second, least = eb_claim_number(claim, "least", 1),
                        steps = eb_found_real(result, "steps");
  if (steps > 0) EB_TRY(eb_say(finding, "runs of %.0f steps", steps));
  EB_TRY(threshold_of(result, eb_claim_text(claim, "over", ""), finding, &first));
  EB_TRY(threshold_of(result, eb_claim_text(claim, "under", ""), finding, &second));
  finding->ours = first / second;
  if (isnan(finding->ours) || !json_is_true(json_object_get(result, "complete"))) return EB_OK;
  static const double rounding = 1e-9; /* both are multiples of one step */
  return eb_rule(finding,
                 finding->ours >= (1 - rounding) * least ? EB_REPRODUCED : EB_NOT_REPRODUCED,
                 "the ratio is %.3g (at least %.3g)", finding->ours, least);
}

static eb_error judge_threshold(const eb_evidence *e, const eb_paper_claim *claim,
                                eb_finding *finding) {
  json_t *result;
  EB_TRY(eb_claim_probe(e, claim, finding, &result));
  eb_error error = result ? judge_solvers(result, claim, finding) : EB_OK;
  json_decref(result);
  return error;
}

const eb_measure eb_measure_threshold = {
    "threshold", "the smallest stable value of an option, with one solver over that with another",
    (const eb_argument[]){{"probe", EB_ARGUMENT_PROBE, true, "of kind threshold"},
                          {"over", EB_ARGUMENT_TEXT, true, "key of the solver above the line"},
                          {"under", EB_ARGUMENT_TEXT, true, "and of the one below it"},
                          {"least", EB_ARGUMENT_NUMBER, true, "bound of the ratio"},
                          {0}},
    judge_threshold};
