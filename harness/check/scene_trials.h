/* A few steps of solvers on a scene, each in a process of its own, and what the audit says of them.
 */
#ifndef EB_CHECK_SCENE_TRIALS_H
#define EB_CHECK_SCENE_TRIALS_H

#include "harness/check/check.h"
#include "harness/suite/plan.h"

typedef struct eb_scene_trial {
  const char *solver; /* as it was asked for; the request's, or of a table */
  bool named;         /* by the user */
  eb_plan plan;       /* its case */
} eb_scene_trial;

/* Start from {0}. */
typedef struct eb_scene_trials {
  eb_scene_trial *trials;
  int count;
} eb_scene_trials;

/* EB_ERR_USAGE: there is no such solver or option. The caller clears *out also after an error. */
EB_MUST eb_error eb_scene_trials_plan(const eb_scene_check *request, const eb_scene *scene,
                                      eb_scene_trials *out);
/* Runs them one after the other, and emits for each whether it took its steps, which rules of the
 * audit it broke, and its error. A failed audit that is said before a run (harness/case/caveats.h)
 * is a note, of solvers that the user has not named. */
EB_MUST eb_error eb_scene_trials_run(const eb_check *check, const eb_scene_check *request,
                                     eb_scene_trials *trials);
void eb_scene_trials_clear(eb_scene_trials *trials);

#endif
