#include "solvers/stepper.h"

#include "problems/scene_impl.h"

eb_error eb_stepper_create(const eb_solver_ops *ops, const char *options, eb_scene *scene,
                           int threads, uint64_t seed, int64_t residuals, eb_stepper *out) {
  *out = (eb_stepper){.scene = scene};
  eb_error error = eb_stepper_start(out, ops, options, threads, seed);
  if (!error) error = eb_state_create(scene, &out->state);
  if (!error) error = eb_step_log_create(residuals, &out->log);
  if (error) eb_stepper_clear(out);
  return error;
}

void eb_stepper_clear(eb_stepper *stepper) {
  eb_solver_destroy(stepper->solver);
  eb_state_destroy(stepper->state);
  eb_step_log_destroy(stepper->log);
  *stepper = (eb_stepper){0};
}

eb_error eb_stepper_start(eb_stepper *stepper, const eb_solver_ops *ops, const char *options,
                          int threads, uint64_t seed) {
  eb_solver_destroy(stepper->solver);
  stepper->solver = NULL;
  stepper->cut = false;
  return eb_solver_create(ops, options, stepper->scene, threads, seed, &stepper->solver);
}

eb_error eb_stepper_advance(eb_stepper *stepper) {
  bool changed = false;
  EB_TRY(eb_scene_advance(stepper->scene, stepper->state, &changed));
  stepper->cut |= changed;
  stepper->cuts += changed;
  return EB_OK;
}

eb_error eb_stepper_rebuild(eb_stepper *stepper) {
  if (!stepper->cut) return EB_OK;
  stepper->cut = false;
  return eb_solver_rebuild(stepper->solver, stepper->state, stepper->log);
}

eb_error eb_stepper_take(eb_stepper *stepper, double dt) {
  eb_solver *solver = stepper->solver;
  eb_step_log_reset(stepper->log);
  stepper->reason = EB_RUNNING;
  EB_TRY(eb_stepper_rebuild(stepper));
  return solver->ops->step(solver, stepper->state, dt, stepper->log, &stepper->reason);
}

eb_error eb_stepper_step(eb_stepper *stepper) {
  EB_TRY(eb_stepper_advance(stepper));
  return eb_stepper_take(stepper, stepper->scene->dt);
}

eb_error eb_stepper_run(eb_stepper *stepper, int64_t steps) {
  for (int64_t k = 0; k < steps; k++) {
    EB_TRY(eb_stepper_step(stepper));
    if (stepper->reason <= 0) break;
  }
  return EB_OK;
}
