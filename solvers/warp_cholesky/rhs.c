/* Frame and right-hand side; see rhs.h. */
#include "solvers/warp_cholesky/rhs.h"

#include "solvers/linalg/block_ops.h"
#include "solvers/warp_cholesky/constrained.h"

static bool in_world(const eb_warp *w) {
  return w->settings.frame == EB_FRAME_WORLD;
}

/* implicit.unknown serves as workspace until eb_linearly_implicit_rhs sets it. */
const double *eb_warp_enter_frame(eb_warp *w, const eb_state *state, eb_step_log *log) {
  const double *mass = eb_elasticity_mass(w->implicit.scene->elasticity);
  if (in_world(w)) return state->v;
  eb_log_begin(log, EB_PHASE_RHS);
  eb_moving_frame_follow(&w->frame, w->settings.frame, mass, state->x, state->v);
  for (int64_t k = 0; k < w->implicit.size; k++)
    w->implicit.unknown[k] = state->v[k] - w->frame.velocity[k];
  eb_log_end(log, EB_PHASE_RHS);
  return w->implicit.unknown;
}

void eb_warp_leave_frame(eb_warp *w) {
  for (int64_t k = 0; k < w->implicit.size && !in_world(w); k++)
    w->implicit.unknown[k] += w->frame.velocity[k];
}

/* g(x0 + (s / h) u) */
static void gradient(eb_warp *w, const double *x, double dt) {
  double *moved = w->implicit.unknown;
  for (int64_t k = 0; k < w->implicit.size && !in_world(w); k++)
    moved[k] = x[k] + w->stiffness_scale / dt * w->frame.velocity[k];
  eb_corotation_gradient(w->corotation, in_world(w) ? x : moved, w->implicit.gradient);
}

static void subtract_frame(eb_warp *w) {
  const double *mass = eb_elasticity_mass(w->implicit.scene->elasticity);
  for (int64_t k = 0; k < w->implicit.size && !in_world(w); k++)
    w->implicit.rhs[k] -= w->mass_scale * mass[k / 3] * w->frame.velocity[k];
}

/* Scripted nodes: their velocities in the frame, turned as the unknowns are, are taken to the
 * right-hand side. */
static void prescribe(eb_warp *w) {
  eb_implicit *work = &w->implicit;
  double *turned = work->unknown;
  if (work->scripted == 0) return;
  for (int64_t k = 0; k < work->size; k++)
    turned[k] = work->prescribed[k] - (in_world(w) ? 0 : w->frame.velocity[k]);
  eb_corotation_turn(w->corotation, true, turned, turned);
  eb_block_lift(work->matrix, work->fixed, turned, work->rhs);
  for (int32_t i = 0; i < work->nodes; i++) {
    if (!work->fixed[i]) continue;
    double scale = eb_constrained_scale(w->constrained, i);
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) work->rhs[k] = scale * turned[k];
  }
}

bool eb_warp_right_hand_side(eb_warp *w, const eb_state *state, double dt, eb_step_log *log) {
  eb_implicit *work = &w->implicit;
  eb_log_begin(log, EB_PHASE_RHS);
  gradient(w, state->x, dt);
  eb_linearly_implicit_rhs(work, state, dt);
  subtract_frame(w);
  eb_corotation_turn(w->corotation, true, work->rhs, work->rhs);
  prescribe(w);
  bool finite = eb_all_finite(work->size, work->rhs);
  eb_log_end(log, EB_PHASE_RHS);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, w->elements.elements);
  return finite;
}
