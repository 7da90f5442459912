/* A step of the condensation; see conjac.h for what is computed. */
#include "solvers/conjac/conjac.h"

#include "solvers/linalg/block_ops.h"

/* ---- positions ---- */

static void place_carried(const eb_conjac *c, eb_state *state) {
  const eb_articulation *bodies = c->part.scene->articulation;
  for (int32_t k = 0; bodies && k < eb_articulation_attached(bodies); k++) {
    int32_t node = eb_articulation_node(bodies, k);
    if (c->part.class[node] == EB_NODE_CARRIED)
      eb_articulation_place(bodies, state->q, k, state->x + 3 * (int64_t)node, NULL);
  }
}

static void advance(const eb_conjac *c, eb_state *state, double dt) {
  const eb_implicit *work = &c->work;
  int32_t joints = c->part.joints;
  for (int64_t k = 0; k < work->size; k++) {
    bool scripted = c->part.class[k / 3] == EB_NODE_SCRIPTED;
    state->v[k] = scripted ? work->prescribed[k] : work->unknown[k];
    state->x[k] = scripted ? work->target[k] : state->x[k] + dt * state->v[k];
  }
  for (int32_t j = 0; j < joints; j++) {
    state->u[j] = c->reduced.y[c->part.unknowns - joints + j];
    state->q[j] += dt * state->u[j];
  }
  place_carried(c, state);
  state->time += dt;
  state->step++;
}

/* ---- the step ---- */

/* v_s, to work.prescribed. */
static void script_velocities(eb_conjac *c, const eb_state *state, double dt) {
  eb_implicit *work = &c->work;
  c->inhomogeneous = false;
  for (int64_t k = 0; k < work->size; k++) {
    if (c->part.class[k / 3] != EB_NODE_SCRIPTED) continue;
    work->prescribed[k] = (work->target[k] - state->x[k]) / dt;
    c->inhomogeneous |= work->prescribed[k] != 0;
  }
}

static bool begin(eb_conjac *c, const eb_state *state, double dt, eb_step_log *log) {
  return eb_implicit_begin(&c->work, state, dt, log) &&
         eb_all_finite(state->joint_count, state->q) && eb_all_finite(state->joint_count, state->u);
}

static eb_reason net_force(eb_conjac *c, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_RHS);
  bool finite = eb_conjac_net_force(c, x);
  if (finite) eb_log_residual(log, eb_conjac_residual(c));
  eb_log_end(log, EB_PHASE_RHS);
  return finite ? EB_RUNNING : EB_DIVERGED_NAN;
}

/* f, and the factor unless it can still serve. */
static eb_error prepare(eb_conjac *c, const eb_state *state, bool fresh, eb_step_log *log,
                        eb_reason *reason) {
  if (fresh)
    eb_implicit_assemble(&c->work, state->x, 0, 1, true, log);
  else
    eb_implicit_gradient(&c->work, state->x, log);
  *reason = net_force(c, state->x, log);
  if (*reason < 0 || !fresh) return EB_OK;
  c->age = 0;
  return eb_conjac_factor(c, true, log, reason);
}

/* Positions and velocities at the end of the step, given v and p. */
static void finish(eb_conjac *c, eb_state *state, double dt, double work_of_p, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_PROJECT);
  advance(c, state, dt);
  eb_log_end(log, EB_PHASE_PROJECT);
  double share = eb_conjac_share(c, state, work_of_p, log);
  eb_log_begin(log, EB_PHASE_PROJECT);
  eb_conjac_add_correction(c, share, state->x);
  eb_log_end(log, EB_PHASE_PROJECT);
}

static eb_error solve_step(eb_conjac *c, eb_state *state, double dt, eb_step_log *log,
                           eb_reason *reason) {
  bool unknown_touches = eb_conjac_find_contact(c, state, dt, log);
  bool fresh = !c->current || unknown_touches || c->age >= c->settings.keep_factor;
  c->current = false;
  EB_TRY(prepare(c, state, fresh, log, reason));
  if (*reason < 0) return EB_OK;
  EB_TRY(eb_conjac_condense(c, fresh, log, reason));
  if (*reason < 0) return EB_OK;
  double work_of_p = eb_conjac_work_of_correction(c);
  eb_conjac_reduce(c, state, dt, fresh, log, reason);
  if (*reason < 0) return EB_OK;
  if (!eb_all_finite(c->work.size, c->work.unknown)) {
    *reason = EB_DIVERGED_NAN;
    return EB_OK;
  }
  finish(c, state, dt, work_of_p, log);
  c->current = true;
  c->age++;
  EB_TRY(eb_conjac_newton_steps(c, state, log, reason));
  /* What friction has made of the velocities, or a factor of an earlier step, does not solve the equation of this one. */
  if (*reason > 0 && (c->work.touch_count > 0 || !fresh)) *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

eb_error eb_conjac_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                        eb_reason *reason) {
  eb_conjac *c = solver->data;
  log->residual_norm = "|f_q|_2 of the net force on quasistatic nodes, N";
  log->equation = EB_EQUATION_REDUCED;
  log->linearization = (eb_linearization){1, c->settings.beta, EB_TANGENT_PROJECTED};
  log->iterations = 1;
  *reason = EB_DIVERGED_NAN;
  if (!begin(c, state, dt, log)) return EB_OK;
  EB_TRY(eb_conjac_classify(c, state, log));
  if (c->settle) {
    EB_TRY(eb_conjac_settle(c, state, log, reason));
    if (*reason < 0) return EB_OK;
    c->settle = false;
    *reason = EB_DIVERGED_NAN;
    if (!begin(c, state, dt, log)) return EB_OK;
  }
  eb_log_begin(log, EB_PHASE_RHS);
  script_velocities(c, state, dt);
  eb_log_end(log, EB_PHASE_RHS);
  return solve_step(c, state, dt, log, reason);
}
