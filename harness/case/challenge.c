/* Every free node gets
 *
 *   v += 2 h |g| e + 0.05 V e',   V the root of the mean square of the velocities,
 *
 * e and e' unit vectors that the hash of the last state chooses, the same for all nodes: a push
 * that no collision, no element and no held node objects to, and that is larger than what the rules
 * on momentum and residuals let pass. A step of implicit Euler answers to it; one that was computed
 * before, or elsewhere, does not. Statics do not know velocities: there is no such test of them. */
#include "harness/case/challenge.h"

#include <math.h>

#include "harness/case/guard.h"
#include "problems/base/random.h"
#include "problems/base/vector3.h"

static void unit_vector(uint64_t *seed, double out[3]) {
  double length2 = 0;
  while (length2 < 1e-2 || length2 > 1) {
    for (int d = 0; d < 3; d++) out[d] = eb_random_uniform(seed, -1, 1);
    length2 = eb_dot3(out, out);
  }
  for (int d = 0; d < 3; d++) out[d] /= sqrt(length2);
}

static double speed_of(const eb_state *state) {
  double sum = 0;
  for (size_t k = 0; k < 3 * (size_t)state->node_count; k++) sum += state->v[k] * state->v[k];
  return sqrt(sum / (state->node_count > 0 ? state->node_count : 1));
}

/* Nodes that ride on bodies keep their velocities: those are the bodies'. */
static void push(const eb_scene *scene, eb_state *state) {
  double along[3], across[3], gravity = sqrt(eb_dot3(scene->gravity, scene->gravity));
  double fall = 2 * scene->dt * gravity, share = 0.05 * speed_of(state);
  uint64_t seed = eb_state_hash(state);
  unit_vector(&seed, along);
  unit_vector(&seed, across);
  if (scene->mesh->type == EB_TRIANGLE) along[2] = across[2] = 0;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    if (scene->free_bodies && scene->free_bodies->of_node[i] >= 0) continue;
    eb_add3(fall, along, state->v + 3 * i);
    eb_add3(share, across, state->v + 3 * i);
  }
}

/* The state at the end with a push, in j->before and j->after; *ready unless the mesh is to be cut
 * there. */
static eb_error pose(eb_job *j, bool *ready) {
  bool changed;
  eb_state_copy(j->after, j->before);
  push(j->witness.scene, j->before);
  eb_state_copy(j->before, j->after);
  EB_TRY(eb_witness_advance(&j->witness, j->before));
  EB_TRY(eb_scene_advance(j->scene, j->after, &changed));
  *ready = !changed;
  return EB_OK;
}

/* Whether the solver has taken the step and says so; one that gives up does not claim to have
 * answered. */
static bool answered(eb_job *j, eb_reason *reason) {
  char words[200];
  eb_step_log_reset(j->log);
  eb_guard_take(&j->guard, j->after);
  eb_error failure =
      j->solver->ops->step(j->solver, j->after, j->witness.scene->dt, j->log, reason);
  eb_guard_state_change change = eb_guard_state(&j->guard, j->after, words, sizeof words);
  bool good = !failure && change == EB_GUARD_SAME && *reason > 0;
  eb_error_free(failure);
  if (change == EB_GUARD_ARRAYS) j->after = NULL; /* nobody knows whose they are */
  return good;
}

eb_error eb_job_challenge(eb_job *j) {
  eb_reason reason = EB_RUNNING;
  bool ready;
  if (j->log->equation == EB_EQUATION_STATIC || j->scene->articulation) return EB_OK;
  EB_TRY(pose(j, &ready));
  if (!ready || !answered(j, &reason)) return EB_OK;
  j->after->step = j->before->step + 1;
  j->after->time = j->before->time + j->witness.scene->dt;
  return eb_witness_challenge(&j->witness, j->before, j->after, j->work->solver, j->log, reason);
}
