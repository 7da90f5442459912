#include "harness/bench/bench_step.h"
#include "problems/scene_impl.h"

#include <math.h>

#include "problems/base/clock.h"

eb_error eb_bench_start_create(const char *scene, const char *parameters, eb_bench_start *out) {
  *out = (eb_bench_start){0};
  eb_error error = eb_scene_create(eb_scene_find(scene), parameters, NULL, NULL, &out->scene);
  if (!error) error = eb_state_create(out->scene, &out->state);
  if (error) eb_bench_start_clear(out);
  return error;
}

eb_error eb_bench_start_advance(eb_bench_start *start, eb_solver *solver, int steps) {
  eb_step_log *log;
  EB_TRY(eb_step_log_create(0, &log));
  eb_error error = EB_OK;
  eb_reason reason = EB_RUNNING;
  for (int i = 0; i < steps && !error && reason >= 0; i++) {
    eb_step_log_reset(log);
    error = solver->ops->step(solver, start->state, start->scene->dt, log, &reason);
  }
  eb_step_log_destroy(log);
  if (!error && reason <= 0)
    error = EB_ERROR(EB_ERR_INVALID, "solver %s on %s ends with %s", solver->ops->name,
                     start->scene->ops->name, eb_reason_name(reason));
  return error;
}

void eb_bench_start_clear(eb_bench_start *start) {
  if (start->state) eb_state_destroy(start->state);
  if (start->scene) eb_scene_destroy(start->scene);
  *start = (eb_bench_start){0};
}

eb_error eb_bench_stepper_create(const eb_bench_start *start, const char *solver,
                                 const char *options, eb_bench_stepper *out) {
  return eb_bench_stepper_create_on(start, 1, solver, options, out);
}

eb_error eb_bench_stepper_create_on(const eb_bench_start *start, int threads, const char *solver,
                                    const char *options, eb_bench_stepper *out) {
  *out = (eb_bench_stepper){.start = start};
  for (int p = 0; p < EB_PHASE_COUNT; p++) out->least_seconds[p] = INFINITY;
  eb_error error =
      eb_solver_create(eb_solver_find(solver), options, start->scene, threads, 1, &out->solver);
  if (!error) error = eb_step_log_create(0, &out->log);
  if (!error) error = eb_state_create(start->scene, &out->state);
  if (error) eb_bench_stepper_clear(out);
  return error;
}

eb_reason eb_bench_step_on(eb_bench_stepper *stepper) {
  eb_reason reason = EB_DIVERGED_NAN; /* of a step that raises an error */
  eb_solver *solver = stepper->solver;
  eb_step_log_reset(stepper->log);
  double began = eb_wall_seconds();
  eb_error_free(
      solver->ops->step(solver, stepper->state, stepper->start->scene->dt, stepper->log, &reason));
  stepper->seconds = eb_wall_seconds() - began;
  return reason;
}

void eb_bench_step(eb_bench_stepper *stepper) {
  eb_state_copy(stepper->start->state, stepper->state);
  eb_bench_step_on(stepper);
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    stepper->least_seconds[p] = fmin(stepper->least_seconds[p], stepper->log->phase_seconds[p]);
}

void eb_bench_stepper_clear(eb_bench_stepper *stepper) {
  if (stepper->solver) eb_solver_destroy(stepper->solver);
  if (stepper->state) eb_state_destroy(stepper->state);
  eb_step_log_destroy(stepper->log);
  *stepper = (eb_bench_stepper){0};
}
