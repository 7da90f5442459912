/* States: what a run changes. */
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scene.h"

/* Joints start at their angles, at rest. */
static eb_error fill_joints(const eb_scene *scene, eb_state *state) {
  if (!scene->articulation) return EB_OK;
  state->joint_count = eb_articulation_joints(scene->articulation);
  EB_TRY(EB_NEW(state->q, state->joint_count));
  EB_TRY(EB_NEW(state->u, state->joint_count));
  for (int32_t j = 0; j < state->joint_count; j++)
    state->q[j] = eb_articulation_body(scene->articulation, j)->start;
  return EB_OK;
}

static eb_error fill_state(const eb_scene *scene, eb_state *state) {
  size_t size = 3 * (size_t)scene->mesh->node_count;
  state->node_count = scene->mesh->node_count;
  EB_TRY(EB_NEW(state->x, size));
  EB_TRY(EB_NEW(state->v, size));
  memcpy(state->x, scene->x0, size * sizeof *state->x);
  memcpy(state->v, scene->v0, size * sizeof *state->v);
  return fill_joints(scene, state);
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
  free(state->u);
  free(state->q);
  free(state->v);
  free(state->x);
  free(state);
}
