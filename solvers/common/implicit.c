/* The parts of a step that all implicit solvers share: forces and script, matrix, constraints, the
 * linear solve.
 *
 *   A = r M + s H(x),   A x = b  with x given at scripted nodes
 *
 * Every scheme of this program that is implicit solves such systems, with its own r, s and b: all
 * of implicit Euler for positions (r = 1/h^2, s = 1) or for velocities (r = 1, s = h^2), Rayleigh
 * damping C = a M + b K, which only changes r and s, and the corotational matrices. Scripted nodes
 * are eliminated as Dirichlet rows: their columns go to the right-hand side, their rows become the
 * identity times the mean of the free diagonal, so that A stays symmetric, positive definite when
 * it was, and no worse conditioned by the scale of the new rows.
 *
 * M is lumped, a quarter of a tetrahedron's mass at each corner: total mass and momentum are exact,
 * frequencies to second order in the size of an element.
 *
 * Of a part of a scene, rows of owned nodes are complete: only the mean of the diagonal, the
 * solution at ghosts, and whatever all ranks must decide alike are exchanged.
 *
 * Workspace: one block matrix, six vectors, the linear solver's.
 * Fails as the linear solver does; what is not finite is noticed before anything is assembled. */
#include "solvers/common/implicit.h"

#include "problems/base/memory.h"
#include "problems/ranks/subdomain.h"
#include "solvers/common/scene_force.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static eb_error allocate_vectors(eb_implicit *work) {
  EB_TRY(EB_NEW(work->fixed, work->nodes));
  EB_TRY(EB_NEW(work->target, work->size));
  EB_TRY(EB_NEW(work->force, work->size));
  EB_TRY(EB_NEW(work->gradient, work->size));
  EB_TRY(EB_NEW(work->rhs, work->size));
  EB_TRY(EB_NEW(work->unknown, work->size));
  EB_TRY(EB_NEW(work->prescribed, work->size));
  if (work->touch_room > 0) EB_TRY(EB_NEW(work->touches, work->touch_room));
  if (work->touch_room > 0) EB_TRY(EB_NEW(work->unfiltered, work->size));
  EB_TRY(eb_springs_create(work->scene, &work->springs));
  return eb_clusters_create(work->scene, &work->clusters);
}

/* Solvers with a factor of their own declare no option `linear`: then there is no linear solver.
 * Rotations of a plane out of itself would couple it to the unknowns along z, on which nothing
 * acts: planar scenes give no positions, and multigrid takes the translations alone. */
static eb_error create_linear(eb_implicit *work, const eb_solver *solver) {
  const eb_values *options = solver->options;
  const eb_mesh *mesh = work->scene->mesh;
  if (!eb_values_declares(options, "linear")) return EB_OK;
  const eb_linear_settings settings = {.kind = eb_values_text(options, "linear"),
                                       .preconditioner = eb_values_text(options, "preconditioner"),
                                       .petsc_options = eb_values_text(options, "petsc"),
                                       .positions = mesh->type == EB_TRIANGLE ? NULL : mesh->X,
                                       .part = work->scene->part,
                                       .rtol = eb_values_real(options, "linear_rtol"),
                                       .atol = eb_values_real(options, "linear_atol"),
                                       .max_iterations =
                                           eb_values_int(options, "linear_max_iterations"),
                                       .threads = solver->threads,
                                       .spends_matrix = true};
  return eb_linear_create(&settings, work->matrix, solver->setup_log, &work->linear);
}

eb_error eb_implicit_create_matrixless(const eb_solver *solver, eb_implicit *out) {
  *out = (eb_implicit){.scene = solver->scene,
                       .threads = solver->threads,
                       .nodes = solver->scene->mesh->node_count,
                       .own = eb_scene_own_nodes(solver->scene),
                       .size = 3 * (int64_t)solver->scene->mesh->node_count,
                       .touch_room = eb_implicit_room(solver->scene)};
  eb_error error = eb_ranks_agree(eb_scene_ranks(solver->scene), allocate_vectors(out));
  if (error) eb_implicit_clear(out);
  return error;
}

eb_error eb_implicit_create(const eb_solver *solver, eb_implicit *out) {
  EB_TRY(eb_implicit_create_matrixless(solver, out));
  const eb_block_matrix *pattern = eb_elasticity_pattern(solver->scene->elasticity);
  eb_error error =
      eb_ranks_agree(eb_scene_ranks(solver->scene), eb_block_matrix_like(pattern, &out->matrix));
  if (!error) error = create_linear(out, solver);
  if (error) eb_implicit_clear(out);
  return error;
}

void eb_implicit_clear(eb_implicit *work) {
  eb_linear_destroy(work->linear);
  eb_block_matrix_destroy(work->matrix);
  free(work->fixed);
  free(work->target);
  free(work->force);
  free(work->gradient);
  free(work->rhs);
  free(work->unknown);
  free(work->prescribed);
  free(work->touches);
  free(work->unfiltered);
  eb_springs_clear(&work->springs);
  eb_clusters_clear(&work->clusters);
  *work = (eb_implicit){0};
}

bool eb_all_finite(int64_t n, const double *x) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

bool eb_implicit_finite(const eb_implicit *work, const double *x) {
  return eb_ranks_all(eb_scene_ranks(work->scene), eb_all_finite(3 * (int64_t)work->own, x));
}

bool eb_implicit_begin(eb_implicit *work, const eb_state *state, double dt, eb_step_log *log) {
  omp_set_num_threads(work->threads);
  eb_log_begin(log, EB_PHASE_RHS);
  bool finite = eb_implicit_finite(work, state->x) && eb_implicit_finite(work, state->v);
  if (finite) { /* a force would be asked at positions that are none */
    eb_logged_scene_force(work->scene, state->time, state->x, state->v, work->force, log);
    eb_scene_boundary(work->scene, state->time + dt, work->fixed, work->target);
    eb_springs_set(&work->springs, work->scene, state->time + dt);
    work->scripted = 0;
    for (int32_t i = 0; i < work->own; i++) work->scripted += work->fixed[i] != 0;
    eb_ranks_sum_whole(eb_scene_ranks(work->scene), 1, &work->scripted);
    memset(work->prescribed, 0, (size_t)work->size * sizeof *work->prescribed);
    finite = eb_implicit_finite(work, work->force) && eb_implicit_finite(work, work->target);
  }
  eb_log_end(log, EB_PHASE_RHS);
  return finite;
}

void eb_implicit_assemble(eb_implicit *work, const double *x, double mass_scale,
                          double hessian_scale, bool project, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_elasticity_matrix(work->scene->elasticity, x, mass_scale, hessian_scale, project, work->matrix,
                       work->gradient);
  eb_clusters_matrix(&work->clusters, x, hessian_scale, project, work->matrix);
  eb_clusters_gradient(&work->clusters, x, work->gradient);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, work->scene->mesh->element_count);
}

void eb_implicit_gradient(eb_implicit *work, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_GRADIENT);
  eb_elasticity_gradient(work->scene->elasticity, x, work->gradient);
  eb_clusters_gradient(&work->clusters, x, work->gradient);
  eb_log_end(log, EB_PHASE_GRADIENT);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, work->scene->mesh->element_count);
}

void eb_implicit_find_touches(eb_implicit *work, const eb_state *state, double dt,
                              eb_step_log *log) {
  if (work->touch_room == 0) return;
  eb_log_begin(log, EB_PHASE_DETECT);
  work->touch_count = eb_implicit_step_touches(work->scene, state->time, dt, state->x, state->v,
                                               work->touch_room, work->touches);
  eb_log_end(log, EB_PHASE_DETECT);
}

void eb_implicit_friction(eb_implicit *work, const eb_touch *touches, int32_t count, double dt,
                          double scale, double *v, eb_step_log *log) {
  if (work->touch_room == 0) return;
  eb_log_begin(log, EB_PHASE_RESOLVE);
  memcpy(work->unfiltered, v, (size_t)work->size * sizeof *v);
  eb_touches_friction(touches, count, dt, scale, eb_elasticity_mass(work->scene->elasticity), v);
  log->friction = EB_FRICTION_FILTERED;
  log->unfiltered = work->unfiltered;
  eb_log_end(log, EB_PHASE_RESOLVE);
}

eb_error eb_implicit_solve(eb_implicit *work, bool log_residuals, eb_step_log *log,
                           eb_reason *reason) {
  eb_log_begin(log, EB_PHASE_RHS);
  double diagonal =
      eb_block_free_diagonal(work->matrix, work->own, work->fixed, eb_scene_ranks(work->scene));
  eb_block_constrain_to(work->matrix, work->fixed, work->prescribed, work->rhs, diagonal);
  eb_log_end(log, EB_PHASE_RHS);
  EB_TRY(eb_linear_set_matrix(work->linear, work->matrix, log, reason));
  if (*reason < 0) return EB_OK;
  eb_linear_result result = {0};
  EB_TRY(eb_linear_solve(work->linear, work->rhs, work->unknown, log, log_residuals, &result));
  if (work->scene->part) eb_subdomain_update(work->scene->part, 3, work->unknown);
  *reason = result.reason;
  return EB_OK;
}
