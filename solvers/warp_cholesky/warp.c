/* A step of warp-cancelling corotation, and what it works on; see warp.h for the equation.
 *
 * The right-hand side is formed with the exact forces of the present, whatever the matrix is worth:
 * an out-of-date A changes how far a step goes, not where it comes to rest. What is approximated is
 * A alone (relinearize.c). Needs, workspace and failures are those of warp_cholesky.c. */
#include "solvers/warp_cholesky/warp.h"

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>
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

static double length(const double u[3]) {
  return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

/* The smallest height is 3 V / A with the area A of the largest face, as V = A height / 3 for each.
 */
static bool is_flat(const eb_mesh *mesh, int32_t e) {
  static const double flatness = 0.05;
  const double *p[4];
  double edge = 0, face = 0;
  for (int a = 0; a < 4; a++) p[a] = mesh->X + 3 * (int64_t)mesh->elements[4 * (int64_t)e + a];
  for (int a = 0; a < 4; a++) {
    const double *q = p[(a + 1) % 4];
    double u[3], v[3], normal[3];
    for (int d = 0; d < 3; d++) {
      u[d] = p[(a + 2) % 4][d] - q[d];
      v[d] = p[(a + 3) % 4][d] - q[d];
    }
    eb_cross3(u, v, normal);
    face = fmax(face, 0.5 * length(normal));
    for (int b = 0; b < a; b++) {
      const double side[3] = {p[a][0] - p[b][0], p[a][1] - p[b][1], p[a][2] - p[b][2]};
      edge = fmax(edge, length(side));
    }
  }
  return 3 * eb_mesh_element_volume(mesh, mesh->X, e) < flatness * edge * face;
}

bool eb_mesh_is_thin(const eb_mesh *mesh) {
  int64_t flat = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) flat += is_flat(mesh, e);
  return mesh->element_count > 0 && 2 * flat >= mesh->element_count;
}

/* With scripted nodes there are two matrices: A as it is summed over the elements, from which
 * stale ones are subtracted and whose columns of scripted nodes go to the right-hand side, and
 * its copy with Dirichlet rows, which is what is factored. */
static eb_error create_factor(eb_warp *w, const eb_solver *solver) {
  const eb_warp_settings *settings = &w->settings;
  const eb_multifrontal_settings wanted = {.keep_updates = settings->keep_updates,
                                           .single_precision = settings->single_precision,
                                           .threads = solver->threads};
  w->constrained = w->implicit.matrix;
  if (solver->scene->ops->boundary)
    EB_TRY(eb_block_matrix_like(w->implicit.matrix, &w->constrained));
  EB_TRY(eb_multifrontal_create(&wanted, w->implicit.matrix, solver->setup_log, &w->factor));
  if (settings->follow != EB_FOLLOW_RANKS) return EB_OK;
  return eb_updown_create(w->factor, solver->setup_log, &w->updown);
}

static eb_error build(eb_warp *w, const eb_solver *solver) {
  const double flops_an_entry = 40; /* cleared, gathered and moved: some twenty multiply-adds */
  const eb_warp_settings *settings = &w->settings;
  const eb_scene *scene = solver->scene;
  const eb_mesh *mesh = scene->mesh;
  EB_TRY(eb_implicit_create(solver, &w->implicit));
  EB_TRY(eb_corotation_create(mesh, scene->materials, &w->corotation));
  EB_TRY(create_factor(w, solver));
  const eb_supernodes *tree = eb_multifrontal_supernodes(w->factor);
  EB_TRY(EB_NEW(w->error, mesh->element_count));
  EB_TRY(EB_NEW(w->refresh, mesh->element_count));
  EB_TRY(EB_NEW(w->only, mesh->element_count));
  EB_TRY(EB_NEW(w->touched, mesh->node_count));
  EB_TRY(EB_NEW(w->badness, tree->count));
  EB_TRY(EB_NEW(w->cost, tree->count));
  EB_TRY(EB_NEW(w->work, tree->count));
  EB_TRY(EB_NEW(w->heap, mesh->element_count > tree->count ? mesh->element_count : tree->count));
  EB_TRY(EB_NEW(w->marked, tree->count));
  EB_TRY(EB_NEW(w->fixed, mesh->node_count));
  EB_TRY(eb_element_map_create(mesh, tree, &w->elements));
  if (settings->frame != EB_FRAME_WORLD) EB_TRY(eb_moving_frame_create(mesh, &w->frame));
  if (settings->correct > 0) EB_TRY(eb_correction_create(mesh, &w->correction));
  if (settings->damping > 0) EB_TRY(eb_damping_create(scene, &w->damping));
  for (int32_t s = 0; s < tree->count; s++) {
    double rows = 3. * tree->rows[s];
    w->work[s] = tree->flops[s] + flops_an_entry * 0.5 * rows * rows;
    w->cost[s] = settings->measured_costs ? 0 : w->work[s];
  }
  w->turns_nodes = settings->nodes == EB_NODES_HORN ||
                   (settings->nodes == EB_NODES_AUTO && !eb_mesh_is_thin(mesh));
  eb_corotation_freeze_nodes(w->corotation);
  const eb_block_matrix *A = w->implicit.matrix;
  double blocks = A->start[A->rows], values = 9 * sizeof *A->values * blocks;
  double pattern = sizeof *A->column * blocks + 2 * sizeof *A->start * (double)A->rows;
  eb_log_memory(solver->setup_log, EB_MEMORY_MATRIX,
                pattern + values * (w->constrained == A ? 1 : 2));
  eb_log_memory(solver->setup_log, EB_MEMORY_ELEMENTS, (double)eb_corotation_bytes(w->corotation));
  return EB_OK;
}

static void release(eb_warp *w) {
  if (w->constrained != w->implicit.matrix) eb_block_matrix_destroy(w->constrained);
  eb_updown_destroy(w->updown);
  eb_multifrontal_destroy(w->factor);
  eb_element_map_clear(&w->elements);
  eb_damping_clear(&w->damping);
  eb_moving_frame_clear(&w->frame);
  eb_correction_clear(&w->correction);
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

/* ---- frame and right-hand side --------------------------------------------------------------- */

static bool in_world(const eb_warp *w) {
  return w->settings.frame == EB_FRAME_WORLD;
}

/* Finds u of the frame. Returns v0 - u, in implicit.unknown until the right-hand side is formed. */
static const double *enter_frame(eb_warp *w, const eb_state *state, eb_step_log *log) {
  const double *mass = eb_elasticity_mass(w->implicit.scene->elasticity);
  if (in_world(w)) return state->v;
  eb_log_begin(log, EB_PHASE_RHS);
  eb_moving_frame_follow(&w->frame, w->settings.frame, mass, state->x, state->v);
  for (int64_t k = 0; k < w->implicit.size; k++)
    w->implicit.unknown[k] = state->v[k] - w->frame.velocity[k];
  eb_log_end(log, EB_PHASE_RHS);
  return w->implicit.unknown;
}

/* Scripted nodes: their velocities in the frame, turned as the unknowns are, are taken to the
 * right-hand side.
 *
 * Rows of scripted nodes in the factored matrix are the identity times a scale. Turning keeps
 * their values apart from those of others, as R_n acts node by node: prescribed velocities stay
 * prescribed in the turned unknowns. */
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
    double scale = w->constrained->values[9 * (int64_t)w->constrained->diagonal[i]];
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++) work->rhs[k] = scale * turned[k];
  }
}

/* implicit.rhs = R_n^T (b - A_exact u), scripted nodes eliminated. With the rotations of x0 the
 * forces are linear in the positions, so that K u comes with the gradient at moved ones: see
 * warp.h. False when it is not finite.
 *
 * With v1 = u + w the system A v1 = b becomes A w = b - A u, where only the w on the left meets
 * the stale matrix: of the motion u of the frame, which is most of v1 in flight, no error is
 * made. Per element A u = (1 + h a) M u + s K u, s = h^2 + h b, and g(x0 + (s / h) u) = g(x0) +
 * (s / h) K u, so that -h times it has both terms of b - A u in one evaluation. */
static bool right_hand_side(eb_warp *w, const eb_state *state, double dt, eb_step_log *log) {
  eb_implicit *work = &w->implicit;
  const double *mass = eb_elasticity_mass(work->scene->elasticity), *x = state->x;
  eb_log_begin(log, EB_PHASE_RHS);
  if (!in_world(w)) { /* g(x0 + (s / h) u) */
    for (int64_t k = 0; k < work->size; k++)
      work->unknown[k] = state->x[k] + w->stiffness_scale / dt * w->frame.velocity[k];
    x = work->unknown;
  }
  eb_corotation_gradient(w->corotation, x, work->gradient);
  eb_linearly_implicit_rhs(work, state, dt);
  for (int64_t k = 0; k < work->size && !in_world(w); k++)
    work->rhs[k] -= w->mass_scale * mass[k / 3] * w->frame.velocity[k];
  if (w->settings.correct > 0)
    memcpy(w->correction.b, work->rhs, (size_t)work->size * sizeof *work->rhs);
  eb_corotation_turn(w->corotation, true, work->rhs, work->rhs);
  prescribe(w);
  bool finite = eb_all_finite(work->size, work->rhs);
  eb_log_end(log, EB_PHASE_RHS);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, w->elements.elements);
  return finite;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* The unknowns of the turned system are R_n^T (v1 - u): they are turned back, and u is added. */
static eb_error solve(eb_warp *w, const double *x, eb_step_log *log, eb_reason *reason) {
  eb_implicit *work = &w->implicit;
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error = w->updown
                       ? eb_updown_solve(w->updown, work->rhs, work->unknown, reason)
                       : eb_multifrontal_solve(w->factor, 1, work->rhs, work->unknown, log, reason);
  if (!error && *reason > 0) {
    eb_corotation_turn(w->corotation, false, work->unknown, work->unknown);
    for (int64_t k = 0; k < work->size && !in_world(w); k++)
      work->unknown[k] += w->frame.velocity[k];
  }
  if (!error && *reason > 0 && w->settings.correct > 0)
    error = eb_correction_apply(&w->correction, work, w->corotation, w->factor, x, w->mass_scale,
                                w->stiffness_scale, w->settings.correct, log, reason);
  eb_log_end(log, EB_PHASE_SOLVE);
  return error;
}

eb_error eb_warp_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                      eb_reason *reason) {
  eb_warp *w = solver->data;
  double mass_scale = 1 + dt * w->settings.mass_damping;
  double stiffness_scale = dt * (dt + w->settings.stiffness_damping);
  log->residual_norm = EB_NORM_ELEMENT;
  log->equation = EB_EQUATION_LINEARIZED;
  log->linearization =
      (eb_linearization){mass_scale, stiffness_scale / (dt * dt), EB_TANGENT_ROTATED};
  log->iterations = 1;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&w->implicit, state, dt, log)) return EB_OK;
  /* Rotations of the elements by polar decomposition, of the nodes by Horn's quaternion of the
   * nodes around (corotation.h): both of x0, the only place where the step's geometry enters. */
  eb_log_begin(log, EB_PHASE_ROTATIONS);
  eb_corotation_rotate_elements(w->corotation, state->x);
  eb_log_end(log, EB_PHASE_ROTATIONS);
  if (w->turns_nodes) {
    eb_log_begin(log, EB_PHASE_NODE_ROTATIONS);
    eb_corotation_rotate_nodes(w->corotation, state->x);
    eb_log_end(log, EB_PHASE_NODE_ROTATIONS);
  }
  const double *relative = enter_frame(w, state, log);
  EB_TRY(eb_warp_relinearize(w, relative, mass_scale, stiffness_scale, log, reason));
  if (*reason < 0) return EB_OK;
  *reason = EB_DIVERGED_NAN;
  if (!right_hand_side(w, state, dt, log)) return EB_OK;
  EB_TRY(solve(w, state->x, log, reason));
  if (*reason < 0) return EB_OK;
  if (w->settings.damping > 0) {
    eb_log_begin(log, EB_PHASE_PROJECT);
    int32_t count =
        eb_damping_apply(&w->damping, w->settings.damping, w->settings.damp_above, w->error,
                         w->refresh, w->implicit.fixed, state->x, dt, w->implicit.unknown);
    eb_log_end(log, EB_PHASE_PROJECT);
    eb_log_count(log, EB_COUNT_DAMPED_ELEMENTS, count);
  }
  eb_log_begin(log, EB_PHASE_SOLVE);
  bool finite = eb_all_finite(w->implicit.size, w->implicit.unknown);
  if (finite) eb_linearly_implicit_advance(&w->implicit, state, dt);
  eb_log_end(log, EB_PHASE_SOLVE);
  /* The matrix is out of date on purpose: no tolerance of the equation is met, also by a direct
   * solve. */
  *reason = finite ? EB_CONVERGED_ITS : EB_DIVERGED_NAN;
  return EB_OK;
}
