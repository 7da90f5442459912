/* States of a scene: made, copied, told apart. */
#include <stdlib.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/scene_impl.h"

static eb_error fill_state(const eb_scene *scene, eb_state *state) {
  size_t size = 3 * (size_t)scene->mesh->node_count;
  state->node_count = scene->mesh->node_count;
  EB_TRY(EB_NEW(state->x, size));
  EB_TRY(EB_NEW(state->v, size));
  memcpy(state->x, scene->x0, size * sizeof *state->x);
  memcpy(state->v, scene->v0, size * sizeof *state->v);
  /* Joints start at their angles, at rest. */
  if (scene->rigid.articulation) {
    state->joint_count = eb_articulation_joints(scene->rigid.articulation);
    EB_TRY(EB_NEW(state->q, state->joint_count));
    EB_TRY(EB_NEW(state->u, state->joint_count));
    for (int32_t j = 0; j < state->joint_count; j++)
      state->q[j] = eb_articulation_body(scene->rigid.articulation, j)->start;
  }
  /* Bodies start where the initial state has their nodes, and the nodes where their bodies are. */
  const eb_free_bodies *bodies = scene->rigid.free_bodies;
  const double *X = scene->mesh->X;
  if (!bodies) return EB_OK;
  state->body_count = bodies->count;
  EB_TRY(EB_NEW(state->pose, 7 * (size_t)bodies->count));
  EB_TRY(EB_NEW(state->twist, 6 * (size_t)bodies->count));
  EB_TRY(eb_free_bodies_fit(bodies, X, state->x, state->v, state->pose, state->twist));
  eb_free_bodies_place(bodies, X, state->pose, state->twist, state->x, state->v);
  return EB_OK;
}

eb_error eb_state_create(const eb_scene *scene, eb_state **out) {
  *out = NULL;
  eb_state *state;
  EB_TRY(EB_NEW(state, 1));
  eb_error error = fill_state(scene, state);
  if (error) {
    eb_state_destroy(state);
    return error;
  }
  *out = state;
  return EB_OK;
}

void eb_state_destroy(eb_state *state) {
  if (!state) return;
  free(state->twist);
  free(state->pose);
  free(state->u);
  free(state->q);
  free(state->v);
  free(state->x);
  free(state);
}

static void copy_reals(const double *from, size_t count, double *to) {
  if (count > 0) memcpy(to, from, count * sizeof *to);
}

void eb_state_copy(const eb_state *from, eb_state *to) {
  EB_ASSERT(from->node_count == to->node_count);
  EB_ASSERT(from->joint_count == to->joint_count && from->body_count == to->body_count);
  size_t nodes = (size_t)from->node_count, joints = (size_t)from->joint_count,
         bodies = (size_t)from->body_count;
  to->step = from->step;
  to->time = from->time;
  copy_reals(from->x, 3 * nodes, to->x);
  copy_reals(from->v, 3 * nodes, to->v);
  copy_reals(from->q, joints, to->q);
  copy_reals(from->u, joints, to->u);
  copy_reals(from->pose, 7 * bodies, to->pose);
  copy_reals(from->twist, 6 * bodies, to->twist);
}

static uint64_t hash_reals(uint64_t hash, const double *values, size_t count) {
  return eb_hash(hash, values, count * sizeof *values);
}

uint64_t eb_state_hash(const eb_state *state) {
  size_t size = 3 * (size_t)state->node_count;
  uint64_t hash = hash_reals(hash_reals(EB_HASH_SEED, state->x, size), state->v, size);
  size_t joints = (size_t)state->joint_count, bodies = (size_t)state->body_count;
  if (joints > 0) hash = hash_reals(hash_reals(hash, state->q, joints), state->u, joints);
  if (bodies > 0)
    hash = hash_reals(hash_reals(hash, state->pose, 7 * bodies), state->twist, 6 * bodies);
  return hash;
}
