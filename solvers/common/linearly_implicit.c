/* One linearly implicit Euler step; see linearly_implicit.h for the equation. */
#include "solvers/common/linearly_implicit.h"

#include "problems/base/memory.h"

eb_error eb_linearly_implicit_create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  eb_implicit *work = NULL;
  EB_TRY(EB_NEW(work, 1));
  eb_error error = eb_implicit_create(solver, work);
  if (error) {
    free(work);
    return error;
  }
  solver->data = work;
  return EB_OK;
}

void eb_linearly_implicit_destroy(eb_solver *solver) {
  eb_implicit_clear(solver->data);
  free(solver->data);
}

void eb_linearly_implicit_rhs(eb_implicit *work, const eb_state *state, double dt) {
  const double *mass = eb_elasticity_mass(work->scene->elasticity);
  for (int32_t i = 0; i < work->nodes; i++)
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
      work->rhs[k] = mass[i] * state->v[k] + dt * (work->force[k] - work->gradient[k]);
      if (work->fixed[i]) work->prescribed[k] = (work->target[k] - state->x[k]) / dt;
      work->unknown[k] = work->fixed[i] ? work->prescribed[k] : state->v[k];
    }
}

void eb_linearly_implicit_advance(const eb_implicit *work, eb_state *state, double dt) {
  for (int32_t i = 0; i < work->nodes; i++)
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) {
      state->v[k] = work->fixed[i] ? work->prescribed[k] : work->unknown[k];
      state->x[k] = work->fixed[i] ? work->target[k] : state->x[k] + dt * work->unknown[k];
    }
  state->time += dt;
  state->step++;
}

eb_error eb_linearly_implicit_step(eb_implicit *work, eb_state *state, double dt, double mass_scale,
                                   double stiffness_scale, bool project, eb_step_log *log,
                                   eb_reason *reason) {
  log->residual_norm = "|b - A v|_2, kg m/s";
  log->equation = EB_EQUATION_LINEARIZED;
  log->linearization = (eb_linearization){mass_scale, stiffness_scale / (dt * dt),
                                          project ? EB_TANGENT_PROJECTED : EB_TANGENT_EXACT};
  log->iterations = 1;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(work, state, dt, log)) return EB_OK;
  eb_implicit_assemble(work, state->x, mass_scale, stiffness_scale, project, log);
  eb_implicit_add_contact(work, state, dt, stiffness_scale, log);
  eb_log_begin(log, EB_PHASE_RHS);
  eb_linearly_implicit_rhs(work, state, dt);
  bool finite = eb_all_finite(work->size, work->rhs);
  eb_log_end(log, EB_PHASE_RHS);
  if (!finite) return EB_OK;
  EB_TRY(eb_implicit_solve(work, true, log, reason));
  if (*reason < 0 && *reason != EB_DIVERGED_MAX_IT) return EB_OK;
  if (!eb_all_finite(work->size, work->unknown)) {
    *reason = EB_DIVERGED_NAN;
    return EB_OK;
  }
  eb_implicit_friction(work, dt, stiffness_scale, work->unknown, log);
  /* Friction changes the velocities behind the solve: what they were no longer solves the equation.
   */
  if (work->touch_count > 0) *reason = EB_CONVERGED_ITS;
  eb_linearly_implicit_advance(work, state, dt);
  return EB_OK;
}
