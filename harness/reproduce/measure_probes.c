/* Measures on what probes have found. */
#include <math.h>

#include "harness/reproduce/measure.h"
#include "harness/reproduce/probe.h"

static double real_of(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The scene, and what stands in for its geometry. */
static eb_error say_scene(const json_t *result, eb_finding *finding) {
  const char *scene = json_string_value(json_object_get(result, "scene")),
             *stand_in = json_string_value(json_object_get(result, "stand_in"));
  if (!scene) return EB_OK;
  bool stands_in = stand_in && *stand_in;
  return eb_say(finding, "%s, %.0f elements%s%s", scene, real_of(result, "scene_elements"),
                stands_in ? ", stand-in geometry: " : "", stands_in ? stand_in : "");
}

/* Loads the probe that a claim names; *out stays NULL, and the reason says so, when there is no result. */
static eb_error load(const eb_evidence *e, const eb_paper_claim *claim, eb_finding *finding,
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
  double updown = real_of(trial, "updown_s"), refactor = real_of(trial, "refactor_s"),
         incremental = real_of(trial, "incremental_s"), done = real_of(trial, "updown_done");
  *broken += !(updown > refactor) || !(updown > incremental);
  if (isnan(finding->ours)) finding->ours = updown / refactor;
  EB_TRY(eb_say(finding, "%.0f elements (rank %.0f): low-rank update %.3g s",
                real_of(trial, "elements"), real_of(trial, "rank"), updown));
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
  EB_TRY(load(e, claim, finding, &result));
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
  double most = eb_claim_number(claim, "most", 0), steps = real_of(result, "steps"),
         wanted = real_of(result, "steps_wanted");
  finding->ours = real_of(result, "difference");
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
  EB_TRY(load(e, claim, finding, &result));
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
