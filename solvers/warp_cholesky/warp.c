/* A step of warp-cancelling corotation, and what it works on; see warp.h for the equation. */
#include "solvers/warp_cholesky/warp.h"

#include "problems/base/memory.h"
#include "solvers/warp_cholesky/constrained.h"
#include "solvers/warp_cholesky/renew.h"
#include "solvers/warp_cholesky/rhs.h"
#include "solvers/warp_cholesky/thin_mesh.h"

#include <string.h>

eb_warp_settings eb_warp_common_settings(const eb_values *options) {
  const char *nodes = eb_values_text(options, "node_rotations");
  const char *frame = eb_values_text(options, "frame");
  return (eb_warp_settings){.frame = !strcmp(frame, "world")  ? EB_FRAME_WORLD
                                     : !strcmp(frame, "body") ? EB_FRAME_BODY
                                                              : EB_FRAME_TRANSLATION,
                            .nodes = !strcmp(nodes, "horn")       ? EB_NODES_HORN
                                     : !strcmp(nodes, "identity") ? EB_NODES_IDENTITY
                                                                  : EB_NODES_AUTO,
                            .damping = eb_values_real(options, "damping"),
                            .damp_above = eb_values_real(options, "damp_above"),
                            .mass_damping = eb_values_real(options, "mass_damping"),
                            .stiffness_damping = eb_values_real(options, "stiffness_damping")};
}

/* ---- life ------------------------------------------------------------------------------------ */

static eb_error allocate(eb_warp *w, int32_t nodes, int32_t elements, int32_t supernodes) {
  EB_TRY(EB_NEW(w->error, elements));
  EB_TRY(EB_NEW(w->refresh, elements));
  EB_TRY(EB_NEW(w->only, elements));
  EB_TRY(EB_NEW(w->touched, nodes));
  EB_TRY(EB_NEW(w->badness, supernodes));
  EB_TRY(EB_NEW(w->cost, supernodes));
  EB_TRY(EB_NEW(w->work, supernodes));
  EB_TRY(EB_NEW(w->heap, supernodes));
  EB_TRY(EB_NEW(w->marked, supernodes));
  return EB_NEW(w->fixed, nodes);
}

static eb_error create_factor(eb_warp *w, const eb_solver *solver) {
  const eb_warp_settings *settings = &w->settings;
  eb_multifrontal_settings wanted = {.keep_updates = settings->follow == EB_FOLLOW_PARTS,
                                     .single_precision = settings->single_precision,
                                     .threads = solver->threads};
  EB_TRY(eb_multifrontal_create(&wanted, w->implicit.matrix, solver->setup_log, &w->factor));
  if (settings->follow != EB_FOLLOW_RANKS) return EB_OK;
  return eb_updown_create(w->factor, solver->setup_log, &w->updown);
}

/* What a front costs beside its arithmetic, in flops: an entry is cleared, gathered and moved in
 * the time of some twenty multiply-adds. */
static void estimate_work(eb_warp *w, const eb_supernodes *tree) {
  const double flops_an_entry = 40;
  for (int32_t s = 0; s < tree->count; s++) {
    double rows = 3. * tree->rows[s];
    w->work[s] = tree->flops[s] + flops_an_entry * 0.5 * rows * rows;
    w->cost[s] = w->settings.measured_costs ? 0 : w->work[s];
  }
}

static eb_error constrain(eb_warp *w) {
  w->constrained = w->implicit.matrix;
  if (!w->implicit.scene->ops->boundary) return EB_OK;
  return eb_block_matrix_like(w->implicit.matrix, &w->constrained);
}

static void log_memory(const eb_warp *w, eb_step_log *log) {
  const eb_block_matrix *A = w->implicit.matrix;
  double blocks = A->start[A->rows], values = 9 * sizeof *A->values * blocks;
  double pattern = sizeof *A->column * blocks + 2 * sizeof *A->start * (double)A->rows;
  eb_log_memory(log, EB_MEMORY_MATRIX, pattern + values * (w->constrained == A ? 1 : 2));
  eb_log_memory(log, EB_MEMORY_ELEMENTS, (double)eb_corotation_bytes(w->corotation));
}

static eb_error build(eb_warp *w, const eb_solver *solver) {
  const eb_scene *scene = solver->scene;
  EB_TRY(eb_implicit_create(solver, &w->implicit));
  EB_TRY(eb_corotation_create(scene->mesh, scene->materials, &w->corotation));
  EB_TRY(constrain(w));
  EB_TRY(create_factor(w, solver));
  const eb_supernodes *tree = eb_multifrontal_supernodes(w->factor);
  EB_TRY(allocate(w, scene->mesh->node_count, scene->mesh->element_count, tree->count));
  EB_TRY(eb_element_map_create(scene->mesh, tree, &w->elements));
  if (w->settings.count > 0) EB_TRY(eb_worst_create(scene->mesh->element_count, &w->worst));
  if (w->settings.frame != EB_FRAME_WORLD) EB_TRY(eb_moving_frame_create(scene->mesh, &w->frame));
  if (w->settings.damping > 0) EB_TRY(eb_damping_create(scene, &w->damping));
  estimate_work(w, tree);
  w->turns_nodes = w->settings.nodes == EB_NODES_HORN ||
                   (w->settings.nodes == EB_NODES_AUTO && !eb_mesh_is_thin(scene->mesh));
  eb_corotation_freeze_nodes(w->corotation);
  log_memory(w, solver->setup_log);
  return EB_OK;
}

static void release(eb_warp *w) {
  if (w->constrained != w->implicit.matrix) eb_block_matrix_destroy(w->constrained);
  eb_updown_destroy(w->updown);
  eb_multifrontal_destroy(w->factor);
  eb_element_map_clear(&w->elements);
  eb_worst_clear(&w->worst);
  eb_damping_clear(&w->damping);
  eb_moving_frame_clear(&w->frame);
  eb_corotation_destroy(w->corotation);
  eb_implicit_clear(&w->implicit);
  free(w->error);
  free(w->refresh);
  free(w->only);
  free(w->touched);
  free(w->badness);
  free(w->cost);
  free(w->work);
  free(w->heap);
  free(w->marked);
  free(w->fixed);
  free(w);
}

eb_error eb_warp_create(eb_solver *solver, const eb_warp_settings *settings) {
  eb_warp *w;
  EB_TRY(EB_NEW(w, 1));
  w->settings = *settings;
  eb_error error = build(w, solver);
  if (error)
    release(w);
  else
    solver->data = w;
  return error;
}

void eb_warp_destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void rotate(eb_warp *w, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_ROTATIONS);
  eb_corotation_rotate_elements(w->corotation, x);
  eb_log_end(log, EB_PHASE_ROTATIONS);
  if (!w->turns_nodes) return;
  eb_log_begin(log, EB_PHASE_NODE_ROTATIONS);
  eb_corotation_rotate_nodes(w->corotation, x);
  eb_log_end(log, EB_PHASE_NODE_ROTATIONS);
}

static eb_error solve(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  eb_implicit *work = &w->implicit;
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error = w->updown
                       ? eb_updown_solve(w->updown, work->rhs, work->unknown, reason)
                       : eb_multifrontal_solve(w->factor, 1, work->rhs, work->unknown, log, reason);
  if (!error && *reason > 0) {
    eb_corotation_turn(w->corotation, false, work->unknown, work->unknown);
    eb_warp_leave_frame(w);
  }
  eb_log_end(log, EB_PHASE_SOLVE);
  return error;
}

/* Elements that are too far out of date are drawn towards a rigid motion. */
static void damp(eb_warp *w, const double *x, double dt, eb_step_log *log) {
  const eb_warp_settings *settings = &w->settings;
  if (!(settings->damping > 0)) return;
  eb_log_begin(log, EB_PHASE_PROJECT);
  int32_t count = eb_damping_apply(&w->damping, settings->damping, settings->damp_above, w->error,
                                   w->refresh, w->implicit.fixed, x, dt, w->implicit.unknown);
  eb_log_end(log, EB_PHASE_PROJECT);
  eb_log_count(log, EB_COUNT_DAMPED_ELEMENTS, count);
}

static bool advance(eb_warp *w, eb_state *state, double dt, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_SOLVE);
  bool finite = eb_all_finite(w->implicit.size, w->implicit.unknown);
  if (finite) eb_linearly_implicit_advance(&w->implicit, state, dt);
  eb_log_end(log, EB_PHASE_SOLVE);
  return finite;
}

eb_error eb_warp_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                      eb_reason *reason) {
  eb_warp *w = solver->data;
  double mass_scale = 1 + dt * w->settings.mass_damping;
  double stiffness_scale = dt * (dt + w->settings.stiffness_damping);
  log->residual_norm = "largest error of an element, kg m/s: before, after the update";
  log->equation = EB_EQUATION_LINEARIZED;
  log->linearization =
      (eb_linearization){mass_scale, stiffness_scale / (dt * dt), EB_TANGENT_ROTATED};
  log->iterations = 1;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&w->implicit, state, dt, log)) return EB_OK;
  rotate(w, state->x, log);
  const double *relative = eb_warp_enter_frame(w, state, log);
  EB_TRY(eb_warp_renew(w, relative, mass_scale, stiffness_scale, log, reason));
  if (*reason < 0) return EB_OK;
  *reason = EB_DIVERGED_NAN;
  if (!eb_warp_right_hand_side(w, state, dt, log)) return EB_OK;
  EB_TRY(solve(w, log, reason));
  if (*reason < 0) return EB_OK;
  damp(w, state->x, dt, log);
  /* The matrix is out of date on purpose: no tolerance of the equation is met, also by a direct
   * solve. */
  *reason = advance(w, state, dt, log) ? EB_CONVERGED_ITS : EB_DIVERGED_NAN;
  return EB_OK;
}
