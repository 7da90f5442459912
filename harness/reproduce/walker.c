#include "harness/reproduce/walker.h"

#include <stdlib.h>

#include "harness/names.h"

eb_error eb_walker_scene(const char *spec, eb_scene **out) {
  char *name, *assignments;
  EB_TRY(eb_split_spec(spec, &name, &assignments));
  const eb_scene_ops *ops = eb_scene_find(name);
  eb_error error = ops ? eb_scene_create(ops, assignments, NULL, NULL, out)
                       : EB_ERROR(EB_ERR_USAGE, "there is no scene '%s'", name);
  free(name);
  free(assignments);
  return error;
}

static eb_error create_solver(const char *spec, int threads, eb_walker *walker) {
  char *name, *options;
  EB_TRY(eb_split_spec(spec, &name, &options));
  const eb_solver_ops *ops = eb_solver_find(name);
  eb_error error = ops ? eb_solver_create(ops, options, walker->scene, threads, 0, &walker->solver)
                       : EB_ERROR(EB_ERR_USAGE, "there is no solver '%s'", name);
  free(name);
  free(options);
  return error;
}

eb_error eb_walker_create(const char *scene, const char *solver, int threads, eb_walker *out) {
  enum { RESIDUALS = 1 << 14 };
  *out = (eb_walker){0};
  EB_TRY(eb_walker_scene(scene, &out->scene));
  EB_TRY(create_solver(solver, threads, out));
  EB_TRY(eb_state_create(out->scene, &out->state));
  return eb_step_log_create(RESIDUALS, &out->log);
}

void eb_walker_clear(eb_walker *walker) {
  eb_step_log_destroy(walker->log);
  eb_state_destroy(walker->state);
  eb_solver_destroy(walker->solver);
  eb_scene_destroy(walker->scene);
  *walker = (eb_walker){0};
}

eb_error eb_walker_advance(eb_walker *walker, bool *changed) {
  eb_step_log_reset(walker->log);
  EB_TRY(eb_scene_advance(walker->scene, walker->state, changed));
  return *changed ? eb_solver_rebuild(walker->solver, walker->state, walker->log) : EB_OK;
}

eb_error eb_walker_step(eb_walker *walker, eb_reason *reason) {
  eb_state *state = walker->state;
  int64_t number = state->step + 1;
  double time = state->time + walker->scene->dt;
  bool changed;
  *reason = EB_RUNNING;
  EB_TRY(eb_walker_advance(walker, &changed));
  EB_TRY(walker->solver->ops->step(walker->solver, state, walker->scene->dt, walker->log, reason));
  state->step = number;
  state->time = time;
  return EB_OK;
}
