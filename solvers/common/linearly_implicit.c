/* One linearly implicit Euler step; see linearly_implicit.h for the interface.
 *
 * Implicit Euler asks for
 *   M (v1 - v0) / h = f_ext - g(x0 + h v1) - C v1.
 * With one Newton step from x0, that is g(x0 + h v1) ~ g(x0) + h H v1, and C = a M + b H, times h:
 *   ((1 + h a) M + (h^2 + h b) H) v1 = M v0 + h (f_ext - g(x0)).
 * Baraff and Witkin 1998, Equation 6, solve for v1 - v0 instead, which takes h^2 H v0 to the right:
 * the same system where C = 0. What is approximated is the force at the end of the step, by an
 * error of second order in h v1 that H's change along it makes, and f_ext, which is that at the
 * start. Scripted nodes take part with the velocity that takes them to their place.
 *
 * Workspace: eb_implicit. Fails: EB_DIVERGED_NAN when state, forces or solution are not finite,
 * else as the linear solver does. */
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

bool eb_linearly_implicit_open(eb_implicit *work, const eb_state *state, double dt,
                               double mass_scale, double stiffness_scale, bool project,
                               eb_step_log *log, eb_reason *reason) {
  log->residual_norm = EB_NORM_LINEARIZED;
  log->equation = EB_EQUATION_LINEARIZED;
  log->linearization = (eb_linearization){mass_scale, stiffness_scale / (dt * dt),
                                          project ? EB_TANGENT_PROJECTED : EB_TANGENT_EXACT};
  log->iterations = 1;
  *reason = EB_DIVERGED_NAN;
  return eb_implicit_begin(work, state, dt, log);
}

eb_error eb_linearly_implicit_close(eb_implicit *work, eb_state *state, double dt,
                                    double stiffness_scale, eb_step_log *log, eb_reason *reason) {
  /* Implicit penalty contact of the step: finds the touches, adds scale k P to the matrix and to
   * the gradient the penalty's and -scale / dt k P w of moving colliders, so that a right-hand side
   * with -dt gradient has all of implicit_penalty.h: with penetration d at the start and relative
   * velocity P (v1 - w), the penalty at the end is k (d + h P (v1 - w)) to first order, whose part
   * in v1 is scale k P with scale = h^2 and whose part in w goes to the right. */
  if (work->touch_room > 0) {
    eb_implicit_find_touches(work, state, dt, log);
    eb_log_begin(log, EB_PHASE_ASSEMBLE);
    eb_touches_gradient(work->touches, work->touch_count, work->gradient);
    eb_touches_carry(work->touches, work->touch_count, -stiffness_scale / dt, work->gradient);
    eb_touches_matrix(work->touches, work->touch_count, stiffness_scale, work->matrix);
    eb_log_end(log, EB_PHASE_ASSEMBLE);
  }
  /* Springs are linear, so that their force at the end, -k (x0 + h v1 - p), is exact: h^2 k in the
   * matrix whatever the scales of the body, k (x0 - p) in the gradient. */
  eb_springs_gradient(&work->springs, work->fixed, state->x, 1, work->gradient);
  eb_springs_matrix(&work->springs, dt * dt, work->matrix);
  eb_log_begin(log, EB_PHASE_RHS);
  eb_linearly_implicit_rhs(work, state, dt);
  bool finite = eb_implicit_finite(work, work->rhs);
  eb_log_end(log, EB_PHASE_RHS);
  if (!finite) return EB_OK;
  EB_TRY(eb_implicit_solve(work, true, log, reason));
  if (*reason < 0 && *reason != EB_DIVERGED_MAX_IT) return EB_OK;
  if (!eb_implicit_finite(work, work->unknown)) {
    *reason = EB_DIVERGED_NAN;
    return EB_OK;
  }
  /* Friction filters v1 and is no part of the linear system: Coulomb's cone has no derivative to
   * linearize at rest. */
  eb_implicit_friction(work, work->touches, work->touch_count, dt, stiffness_scale, work->unknown,
                       log);
  eb_linearly_implicit_advance(work, state, dt);
  return EB_OK;
}

eb_error eb_linearly_implicit_step(eb_implicit *work, eb_state *state, double dt, double mass_scale,
                                   double stiffness_scale, bool project, eb_step_log *log,
                                   eb_reason *reason) {
  if (!eb_linearly_implicit_open(work, state, dt, mass_scale, stiffness_scale, project, log,
                                 reason))
    return EB_OK;
  eb_implicit_assemble(work, state->x, mass_scale, stiffness_scale, project, log);
  return eb_linearly_implicit_close(work, state, dt, stiffness_scale, log, reason);
}
