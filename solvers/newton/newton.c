/* Newton's method on the incremental potential: implicit Euler to a tolerance, or equilibrium.
 *
 *   minimize W(x) = 1/2 |x - xt|^2_M / h^2 + E(x) - f_ext . x   over the free nodes,
 *   A p = -grad W,  A = M/h^2 + H (made positive definite),  x <- x + a p,  v1 = (x1 - x0) / h
 *
 * Reference: Nocedal and Wright 2006, Sections 3.1 and 3.4; for the incremental potential Ortiz and
 * Stainier 1999, Gast et al. 2015; for the element-wise projection Teran et al. 2005. Converged
 * when |grad W|_2 over the free nodes <= max(rtol F, atol), F = |f_ext| + |M (x - xt) / h^2| +
 * |dE/dx| over the free nodes + the forces of the elements at scripted nodes, all 2-norms: the last
 * term keeps F a sensible scale where all forces balance. What cannot get there because x itself is
 * rounded ends as EB_CONVERGED_STAGNATED.
 * Needs: energy, gradient, Hessian. The gradient comes with the assembly of the matrix; a gradient
 * alone is evaluated only where the iteration is expected to end. W is evaluated once a guess and
 * once a line-search point.
 * Workspace: eb_implicit, four more vectors, the list of elements at supports.
 * Fails: EB_DIVERGED_MAX_IT and EB_DIVERGED_LINE_SEARCH leave the best iterate in the state;
 * EB_DIVERGED_NAN, EB_NOT_POSITIVE_DEFINITE and failures of the linear solver leave it as it was.
 */
#include "solvers/newton/newton.h"

#include "problems/base/memory.h"
#include "solvers/registry.h"

#include <math.h>
#include <string.h>

/* linear_rtol: an inexact Newton step gains about that factor, so four digits an iteration. */
static const eb_option options[] = {
    {.name = "rtol",
     .type = EB_OPTION_REAL,
     .fallback = "1e-8",
     .min = 0,
     .max = 0.9,
     .unit = "",
     .doc = "stop when |grad W| <= rtol (|external| + |inertial| + |elastic| forces)"},
    {.name = "atol",
     .type = EB_OPTION_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e300,
     .unit = "N",
     .doc = "or when |grad W| <= atol"},
    {.name = "max_iterations",
     .type = EB_OPTION_INT,
     .fallback = "100",
     .min = 1,
     .max = 1e6,
     .unit = "",
     .doc = "linear systems a step"},
    {.name = "static",
     .type = EB_OPTION_BOOL,
     .fallback = "false",
     .unit = "",
     .doc = "find the equilibrium under f_ext: no inertia, v = 0 after each step"},
    {.name = "project",
     .type = EB_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|always|never",
     .unit = "",
     .doc = "elements' Hessians semi-definite: where needed, always, or shift by M instead"},
    EB_LINEAR_OPTIONS("cholesky", "block-jacobi", "1e-4"),
    {0}};

/* ---- life ---- */

static eb_projection projection_named(const char *name) {
  if (!strcmp(name, "always")) return EB_PROJECT_ALWAYS;
  return strcmp(name, "never") ? EB_PROJECT_AUTO : EB_PROJECT_NEVER;
}

static void release(eb_newton *newton) {
  eb_support_layer_clear(&newton->layer);
  eb_implicit_clear(&newton->work);
  free(newton->x);
  free(newton->trial);
  free(newton->predicted);
  free(newton->descent);
  free(newton);
}

static eb_error allocate(eb_newton *newton, const eb_solver *solver) {
  EB_TRY(eb_implicit_create(solver, &newton->work));
  EB_TRY(eb_support_layer_create(solver->scene, &newton->layer));
  EB_TRY(EB_NEW(newton->x, newton->work.size));
  EB_TRY(EB_NEW(newton->trial, newton->work.size));
  EB_TRY(EB_NEW(newton->predicted, newton->work.size));
  EB_TRY(EB_NEW(newton->descent, newton->work.size));
  return EB_OK;
}

static void configure(eb_newton *newton, const eb_solver *solver) {
  const eb_values *values = solver->options;
  bool asked = eb_scene_needs(solver->scene) & EB_CAP_STATICS;
  newton->rtol = eb_values_real(values, "rtol");
  newton->atol = eb_values_real(values, "atol");
  newton->max_iterations = eb_values_int(values, "max_iterations");
  newton->statics =
      eb_values_bool(values, "static") || (asked && !eb_values_given(values, "static"));
  newton->projection = projection_named(eb_values_text(values, "project"));
  newton->exact = newton->projection == EB_PROJECT_NEVER;
  newton->patience = 1;
  newton->potential = (eb_potential){
      .elasticity = solver->scene->elasticity,
      .nodes = newton->work.nodes,
      .elastic_scale = eb_potential_elastic_scale(solver->scene->mesh, solver->scene->materials),
      .fixed = newton->work.fixed,
      .force = newton->work.force,
      .predicted = newton->predicted};
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  eb_newton *newton = NULL;
  EB_TRY(EB_NEW(newton, 1));
  eb_error error = allocate(newton, solver);
  if (error) {
    release(newton);
    return error;
  }
  configure(newton, solver);
  solver->data = newton;
  return EB_OK;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- a step ---- */

/* Whether the iteration ends at the present residual; logs it. The residual before the scripted
 * nodes are in place is none of W's. */
static bool finished(const eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  double norm = newton->residual.norm;
  if (!isfinite(norm)) *reason = EB_DIVERGED_NAN;
  if (newton->lifting) return *reason < 0;
  eb_log_residual(log, norm);
  if (*reason < 0) return true;
  if (norm <= newton->rtol * newton->residual.scale)
    *reason = EB_CONVERGED_RTOL;
  else if (norm <= newton->atol)
    *reason = EB_CONVERGED_ATOL;
  else if (norm <= newton->floor)
    *reason = EB_CONVERGED_STAGNATED;
  return *reason != EB_RUNNING;
}

/* Residual and matrix at x; the residual alone where it is likely to be the last. */
static bool evaluate(eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  if (newton->expects_end && !newton->has_gradient) {
    eb_implicit_gradient(&newton->work, newton->x, log);
    eb_newton_residual(newton, newton->x);
  }
  bool known = newton->has_gradient;
  if (known && finished(newton, log, reason)) return false;
  eb_newton_assemble(newton, log);
  if (known) return true;
  eb_newton_residual(newton, newton->x);
  return !finished(newton, log, reason);
}

static eb_error iterate(eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  *reason = EB_RUNNING;
  while (evaluate(newton, log, reason)) {
    if (log->iterations >= newton->max_iterations) {
      *reason = EB_DIVERGED_MAX_IT;
      return EB_OK;
    }
    log->iterations++;
    eb_reason linear = EB_RUNNING;
    EB_TRY(eb_newton_direction(newton, log, &linear));
    if (linear < 0) {
      *reason = linear;
      return EB_OK;
    }
    eb_newton_search(newton, log, reason);
    if (*reason != EB_RUNNING) return EB_OK;
  }
  return EB_OK;
}

static void advance(const eb_newton *newton, eb_state *state, double dt) {
  for (int64_t k = 0; k < newton->work.size; k++) {
    state->v[k] = newton->statics ? 0 : (newton->x[k] - state->x[k]) / dt;
    state->x[k] = newton->x[k];
  }
  state->time += dt;
  state->step++;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  eb_newton *newton = solver->data;
  log->residual_norm = "|grad W|_2 over the free nodes, N";
  log->equation = newton->statics ? EB_EQUATION_STATIC : EB_EQUATION_IMPLICIT_EULER;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&newton->work, state, dt, log)) return EB_OK;
  eb_support_layer_update(&newton->layer, newton->work.fixed);
  newton->potential.inertia = newton->statics ? 0 : 1 / (dt * dt);
  newton->potential.origin = state->x;
  newton->has_gradient = newton->expects_end = false;
  newton->previous_norm = newton->shift = newton->floor = 0;
  eb_newton_guess(newton, state, dt, log);
  EB_TRY(iterate(newton, log, reason));
  if (*reason > 0 || *reason == EB_DIVERGED_MAX_IT || *reason == EB_DIVERGED_LINE_SEARCH)
    advance(newton, state, dt);
  return EB_OK;
}

const eb_solver_ops eb_solver_newton = {
    .name = "newton",
    .summary = "Newton's method on the incremental potential, with line search; statics too",
    .citation = "Nocedal and Wright 2006; Ortiz and Stainier 1999; Teran et al. 2005",
    .capabilities = EB_CAP_TRIANGLES | EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_CUTTING | EB_CAP_STATICS,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
