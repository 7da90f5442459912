/* Every free node gets
 *
 *   v += 2 h |g| e + 0.05 V e',   V the root of the mean square of the velocities,
 *
 * e and e' unit vectors that the hash of the last state chooses, the same for all nodes: a push
 * that no collision, no element and no held node objects to, and that is larger than what the rules
 * on momentum and residuals let pass. A step of implicit Euler answers to it; one that was computed
 * before, or elsewhere, does not. Statics do not know velocities: there is no such test of them. */
#include <math.h>

#include "harness/case/job.h"
#include "problems/base/random.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"

static void unit_vector(uint64_t *seed, double out[3]) {
  double length2 = 0;
  while (length2 < 1e-2 || length2 > 1) {
    for (int d = 0; d < 3; d++) out[d] = eb_random_uniform(seed, -1, 1);
    length2 = eb_dot3(out, out);
  }
  for (int d = 0; d < 3; d++) out[d] /= sqrt(length2);
}

/* Nodes that ride on bodies keep their velocities: those are the bodies'. */
static void push(const eb_scene *scene, uint64_t seed, eb_state *state) {
  double along[3], across[3], sums[2] = {0}; /* of squares, and nodes */
  for (size_t k = 0; k < 3 * (size_t)eb_scene_own_nodes(scene); k++)
    sums[0] += state->v[k] * state->v[k];
  sums[1] = eb_scene_own_nodes(scene);
  eb_ranks_sum(eb_scene_ranks(scene), 2, sums);
  double speed = sqrt(sums[0] / (sums[1] > 0 ? sums[1] : 1));
  double gravity = sqrt(eb_dot3(scene->gravity, scene->gravity));
  double fall = 2 * scene->dt * gravity, share = 0.05 * speed;
  unit_vector(&seed, along);
  unit_vector(&seed, across);
  if (scene->mesh->type == EB_TRIANGLE) along[2] = across[2] = 0;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    if (scene->rigid.free_bodies && scene->rigid.free_bodies->of_node[i] >= 0) continue;
    eb_add3(fall, along, state->v + 3 * i);
    eb_add3(share, across, state->v + 3 * i);
  }
}

/* Of the state that the run has left; of several ranks, what rank 0 has of it. */
static uint64_t seed_of(const eb_job *j) {
  int64_t seed = eb_ranks_self(j->ranks) == 0 ? (int64_t)eb_state_hash(j->stepper.state) : 0;
  eb_ranks_sum_whole(j->ranks, 1, &seed);
  return (uint64_t)seed;
}

eb_error eb_job_test_replay(eb_job *j) {
  const eb_scene *scene = j->auditor.scene;
  char words[200];
  if (j->stepper.log->equation == EB_EQUATION_STATIC || j->scene->rigid.articulation) return EB_OK;
  eb_state_copy(j->stepper.state, j->before);
  push(scene, seed_of(j), j->before);
  eb_state_copy(j->before, j->stepper.state);
  EB_TRY(eb_auditor_advance(&j->auditor, j->before));
  EB_TRY(eb_stepper_advance(&j->stepper));
  if (j->stepper.cut) return EB_OK;
  /* A solver that gives up does not claim to have answered. */
  j->integrity.state = *j->stepper.state;
  eb_error failure = eb_stepper_take(&j->stepper, scene->dt);
  eb_reason reason = j->stepper.reason;
  eb_state_change change = eb_integrity_state(&j->integrity, j->stepper.state, words, sizeof words);
  bool answered = eb_ranks_all(j->ranks, !failure && change == EB_STATE_SAME && reason > 0);
  eb_error_free(failure);
  if (change == EB_STATE_ARRAYS) j->stepper.state = NULL; /* nobody knows whose they are */
  if (!answered) return EB_OK;
  j->stepper.state->step = j->before->step + 1;
  j->stepper.state->time = j->before->time + scene->dt;
  eb_auditor_synchronize(&j->auditor, j->stepper.state, &reason);
  return eb_auditor_test_replay(&j->auditor, j->before, j->stepper.state, j->stepper.solver->update,
                                j->stepper.log, reason);
}
