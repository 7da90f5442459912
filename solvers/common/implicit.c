/* The parts of a step that all implicit solvers share. */
#include "solvers/common/implicit.h"

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static eb_linear_settings linear_settings(const eb_solver *solver) {
  const eb_values *options = solver->options;
  return (eb_linear_settings){.kind = eb_values_text(options, "linear"),
                              .preconditioner = eb_values_text(options, "preconditioner"),
                              .petsc_options = eb_values_text(options, "petsc"),
                              .rtol = eb_values_real(options, "linear_rtol"),
                              .atol = eb_values_real(options, "linear_atol"),
                              .max_iterations = eb_values_int(options, "linear_max_iterations"),
                              .threads = solver->threads};
}

static eb_error allocate(eb_implicit *work, const eb_solver *solver) {
  const eb_block_matrix *pattern = eb_elasticity_pattern(work->scene->elasticity);
  EB_TRY(EB_NEW(work->fixed, work->nodes));
  EB_TRY(EB_NEW(work->target, work->size));
  EB_TRY(EB_NEW(work->force, work->size));
  EB_TRY(EB_NEW(work->gradient, work->size));
  EB_TRY(EB_NEW(work->rhs, work->size));
  EB_TRY(EB_NEW(work->unknown, work->size));
  EB_TRY(EB_NEW(work->prescribed, work->size));
  EB_TRY(eb_block_matrix_like(pattern, &work->matrix));
  if (work->touch_room > 0) EB_TRY(EB_NEW(work->touches, work->touch_room));
  if (!eb_values_declares(solver->options, "linear")) return EB_OK;
  eb_linear_settings settings = linear_settings(solver);
  return eb_linear_create(&settings, work->matrix, solver->setup_log, &work->linear);
}

eb_error eb_implicit_create(const eb_solver *solver, eb_implicit *out) {
  *out = (eb_implicit){.scene = solver->scene,
                       .threads = solver->threads,
                       .nodes = solver->scene->mesh->node_count,
                       .size = 3 * (int64_t)solver->scene->mesh->node_count,
                       .touch_room = eb_implicit_room(solver->scene)};
  eb_error error = allocate(out, solver);
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
  *work = (eb_implicit){0};
}

bool eb_all_finite(int64_t n, const double *x) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool forces_and_script(eb_implicit *work, const eb_state *state, double dt) {
  eb_scene_force(work->scene, state->time, state->x, state->v, work->force);
  eb_scene_boundary(work->scene, state->time + dt, work->fixed, work->target);
  work->scripted = 0;
  for (int32_t i = 0; i < work->nodes; i++) work->scripted += work->fixed[i] != 0;
  memset(work->prescribed, 0, (size_t)work->size * sizeof *work->prescribed);
  return eb_all_finite(work->size, work->force) && eb_all_finite(work->size, work->target);
}

bool eb_implicit_begin(eb_implicit *work, const eb_state *state, double dt, eb_step_log *log) {
  omp_set_num_threads(work->threads);
  eb_log_begin(log, EB_PHASE_RHS);
  bool finite = eb_all_finite(work->size, state->x) && eb_all_finite(work->size, state->v);
  if (finite) finite = forces_and_script(work, state, dt);
  eb_log_end(log, EB_PHASE_RHS);
  return finite;
}

void eb_implicit_assemble(eb_implicit *work, const double *x, double mass_scale,
                          double hessian_scale, bool project, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_elasticity_matrix(work->scene->elasticity, x, mass_scale, hessian_scale, project, work->matrix,
                       work->gradient);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, work->scene->mesh->element_count);
}

void eb_implicit_gradient(eb_implicit *work, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_GRADIENT);
  eb_elasticity_gradient(work->scene->elasticity, x, work->gradient);
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

void eb_implicit_add_contact(eb_implicit *work, const eb_state *state, double dt, double scale,
                             eb_step_log *log) {
  if (work->touch_room == 0) return;
  eb_implicit_find_touches(work, state, dt, log);
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_touches_gradient(work->touches, work->touch_count, work->gradient);
  eb_touches_carry(work->touches, work->touch_count, -scale / dt, work->gradient);
  eb_touches_matrix(work->touches, work->touch_count, scale, work->matrix);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
}

void eb_implicit_friction(const eb_implicit *work, double dt, double scale, double *v,
                          eb_step_log *log) {
  if (work->touch_room == 0) return;
  eb_log_begin(log, EB_PHASE_RESOLVE);
  eb_touches_friction(work->touches, work->touch_count, dt, scale,
                      eb_elasticity_mass(work->scene->elasticity), v);
  eb_log_end(log, EB_PHASE_RESOLVE);
}

eb_error eb_implicit_solve(eb_implicit *work, bool log_residuals, eb_step_log *log,
                           eb_reason *reason) {
  eb_log_begin(log, EB_PHASE_RHS);
  eb_block_constrain(work->matrix, work->fixed, work->prescribed, work->rhs);
  eb_log_end(log, EB_PHASE_RHS);
  EB_TRY(eb_linear_set_matrix(work->linear, work->matrix, log, reason));
  if (*reason < 0) return EB_OK;
  eb_linear_result result = {0};
  EB_TRY(eb_linear_solve(work->linear, work->rhs, work->unknown, log, log_residuals, &result));
  *reason = result.reason;
  return EB_OK;
}
