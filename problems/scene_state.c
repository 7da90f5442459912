/* States: what a run changes. */
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scene.h"

static eb_error fill_state(const eb_scene *scene, eb_state *state) {
  size_t size = 3 * (size_t)scene->mesh->node_count;
  state->node_count = scene->mesh->node_count;
  EB_TRY(EB_NEW(state->x, size));
  EB_TRY(EB_NEW(state->v, size));
  memcpy(state->x, scene->x0, size * sizeof *state->x);
  memcpy(state->v, scene->v0, size * sizeof *state->v);
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
  free(state->v);
  free(state->x);
  free(state);
}
