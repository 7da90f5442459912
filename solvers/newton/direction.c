/* The Newton direction: A p = -grad W with A = M/h^2 + H made positive definite.
 *
 * Three treatments, from the fastest to the safest:
 *  - exact: H as it is. Converges quadratically where A is positive definite, which M/h^2 makes
 *    true near most solutions. The factorization itself is the test.
 *  - projected: every element's part of H positive semi-definite (Teran et al. 2005). Always a
 *    descent direction, linear convergence where elements are indefinite at the solution.
 *  - shifted: a multiple of M added as well (Levenberg), for equilibria without supports.
 * The automatic choice takes the exact Hessian after full steps and goes on with what worked in the
 * step before. After a refusal it waits for 1, 2, 4, 8 iterations before it tries again, so that
 * few factorizations are lost where H stays indefinite. */
#include "solvers/linalg/block_ops.h"
#include "solvers/newton/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double first_shift = 1e-8, shift_growth = 100, last_shift = 1e4;
static const int64_t longest_wait = 8;

/* Rounding x_i to double changes grad W by up to A_ii eps/2 |x_i|: below the norm of that, no
 * residual can be told from zero. */
static void measure_diagonal(eb_newton *newton) {
  const eb_block_matrix *A = newton->work.matrix;
  const double *mass = eb_elasticity_mass(newton->potential.elasticity);
  double square = 0, trace = 0, total_mass = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    const double *block = A->values + 9 * (int64_t)A->diagonal[i];
    total_mass += 3 * mass[i];
    for (int k = 0; k < 3; k++) {
      double change = block[4 * k] * newton->x[3 * (int64_t)i + k];
      trace += block[4 * k];
      if (!newton->work.fixed[i]) square += change * change;
    }
  }
  double inertia = newton->potential.inertia + newton->shift * newton->shift_unit;
  newton->floor = 0.5 * DBL_EPSILON * sqrt(square);
  newton->shift_unit = fmax(trace / total_mass - inertia, DBL_MIN);
}

static void assemble(eb_newton *newton, eb_step_log *log) {
  double mass_scale = newton->potential.inertia + newton->shift * newton->shift_unit;
  eb_implicit_assemble(&newton->work, newton->x, mass_scale, 1, !newton->exact, log);
  measure_diagonal(newton);
}

void eb_newton_assemble(eb_newton *newton, eb_step_log *log) {
  assemble(newton, log);
  bool unsupported = newton->statics && newton->work.scripted == 0;
  if (!unsupported || newton->shift > 0) return;
  newton->shift = first_shift;
  assemble(newton, log);
}

void eb_newton_residual(eb_newton *newton, const double *x) {
  newton->residual =
      eb_potential_descent(&newton->potential, x, newton->work.gradient, newton->descent);
  newton->residual.scale += eb_support_layer_force(&newton->layer, newton->work.fixed, x);
  newton->has_gradient = true;
}

/* Chooses the next safer matrix; false when there is none left. */
static bool retreat(eb_newton *newton) {
  if (newton->exact && newton->projection == EB_PROJECT_AUTO) {
    newton->exact = false;
    newton->wait = newton->patience;
    newton->patience = newton->patience < longest_wait ? 2 * newton->patience : longest_wait;
    return true;
  }
  newton->shift = newton->shift > 0 ? shift_growth * newton->shift : first_shift;
  return newton->shift <= last_shift;
}

/* Scripted nodes move exactly as prescribed, whatever an iterative solve left there. */
static void impose_prescribed(eb_implicit *work) {
  for (int32_t i = 0; i < work->nodes; i++)
    if (work->fixed[i])
      memcpy(work->unknown + 3 * (int64_t)i, work->prescribed + 3 * (int64_t)i, 3 * sizeof(double));
}

/* One attempt with the assembled matrix. A truncated iterative solve is still a descent direction.
 */
static eb_error attempt(eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  eb_implicit *work = &newton->work;
  size_t bytes = (size_t)work->size * sizeof(double);
  memcpy(work->rhs, newton->descent, bytes);
  memcpy(work->unknown, work->prescribed, bytes);
  EB_TRY(eb_implicit_solve(work, false, log, reason));
  if (*reason == EB_DIVERGED_MAX_IT) *reason = EB_CONVERGED_ITS;
  if (*reason < 0) return EB_OK;
  impose_prescribed(work);
  double slope = -eb_dot(work->size, newton->descent, work->unknown);
  if (!isfinite(slope))
    *reason = EB_DIVERGED_NAN;
  else if (!newton->lifting && slope >= 0)
    *reason = EB_DIVERGED_BREAKDOWN;
  return EB_OK;
}

eb_error eb_newton_direction(eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  EB_TRY(attempt(newton, log, reason));
  while (*reason < 0 && *reason != EB_DIVERGED_LIBRARY && retreat(newton)) {
    assemble(newton, log);
    EB_TRY(attempt(newton, log, reason));
  }
  return EB_OK;
}
