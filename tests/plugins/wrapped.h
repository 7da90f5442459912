/* A sound built-in solver inside a plug-in, for plug-ins that do one thing wrong around it. */
#ifndef EB_TESTS_WRAPPED_H
#define EB_TESTS_WRAPPED_H

#include "problems/scene_impl.h"
#include "solvers/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wrapped {
  eb_scene *own;    /* the scene as the wrapped solver sees it, or NULL: the run's */
  eb_solver *inner; /* wrapped */
  eb_state *before; /* the state at the start of the step */
} wrapped;

/* The scene's parameters with the number of `name` times `factor`. The caller frees. */
static inline char *wrapped_parameters(const eb_scene *scene, const char *name, double factor) {
  const char *at = eb_values_canonical(eb_scene_parameters(scene));
  size_t room = strlen(at) + 64, used = 0, length = strlen(name);
  char *out = calloc(room, 1);
  while (out && *at) {
    size_t entry = strcspn(at, ",");
    bool named = strncmp(at, name, length) == 0 && at[length] == '=';
    used += (size_t)(named ? snprintf(out + used, room - used, "%s=%.17g", name,
                                      factor * strtod(at + length + 1, NULL))
                           : snprintf(out + used, room - used, "%.*s", (int)entry, at));
    at += entry;
    if (*at == ',' && used < room) out[used++] = *at++;
  }
  return out;
}

/* A scene like `scene`, but for one parameter ("" for none) that is `factor` times as large. */
static inline eb_error wrapped_scene(const eb_scene *scene, const char *name, double factor,
                                     eb_scene **out) {
  char *parameters = wrapped_parameters(scene, name, factor);
  *out = NULL;
  if (!parameters) return EB_ERROR(EB_ERR_MEMORY, "no memory for the parameters of a scene");
  eb_error error = eb_scene_create(scene->ops, parameters, NULL, NULL, out);
  free(parameters);
  return error;
}

static inline void wrapped_clear(wrapped *w) {
  eb_solver_destroy(w->inner);
  eb_state_destroy(w->before);
  eb_scene_destroy(w->own);
  *w = (wrapped){0};
}

/* w->own is set before, or NULL. On failure the caller clears. */
static inline eb_error wrapped_create(wrapped *w, const eb_solver *outer, const char *name,
                                      const char *options) {
  const eb_solver_ops *ops = eb_solver_find(name);
  if (!ops) return EB_ERROR(EB_ERR_USAGE, "there is no solver '%s' to wrap", name);
  EB_TRY(eb_state_create(outer->scene, &w->before));
  return eb_solver_create(ops, options, w->own ? w->own : outer->scene, outer->threads, outer->seed,
                          &w->inner);
}

/* The sound step. */
static inline eb_error wrapped_step(wrapped *w, eb_state *state, double dt, eb_step_log *log,
                                    eb_reason *reason) {
  eb_state_copy(state, w->before);
  return w->inner->ops->step(w->inner, state, dt, log, reason);
}

#endif
