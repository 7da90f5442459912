/* Corotational linear elasticity, linearly implicit Euler: the exact method that approximate
 * factorizations are measured against.
 *
 *   (M + h C + h^2 K) v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1
 *   K = sum_e R_e K_e R_e^T with the rotations R_e(x0) frozen,   C = a M + b K
 *
 * Reference: Mueller and Gross 2004; Hecht, Lee, Shewchuk and O'Brien 2012, Section 3.1, Equations
 * 2 and 3. The forces g are the exact corotational ones. K is positive semi-definite by
 * construction, so nothing is projected. Rayleigh damping folds into the two scales of the
 * assembled matrix: (1 + h a) M + (h^2 + h b) K. Implicit colliders enter K and g; their friction
 * filters v1 (problems/contact/implicit_penalty.h).
 * Needs: every material of kind EB_COROTATIONAL; element rotations that survive inversion (Irving
 * et al. 2004), found within the assembly, so their time is part of the phase "assemble".
 * Workspace: eb_implicit (one block matrix, six vectors, the linear solver).
 * Fails: EB_DIVERGED_NAN when state or forces are not finite, else as the linear solver does. */
#include "solvers/common/linearly_implicit.h"
#include "solvers/registry.h"

/* linear_rtol: Hecht et al. ran conjugate gradients to a residual of 1e-4. */
static const eb_option options[] = {
    EB_RAYLEIGH_OPTIONS, EB_LINEAR_OPTIONS("cholesky", "jacobi", "1e-4"), {0}};

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  double mass = 1 + dt * eb_values_real(solver->options, "mass_damping");
  double stiffness = dt * (dt + eb_values_real(solver->options, "stiffness_damping"));
  return eb_linearly_implicit_step(solver->data, state, dt, mass, stiffness, true, log, reason);
}

const eb_solver_ops eb_solver_corotational = {
    .name = "corotational",
    .summary = "exact corotational elasticity, one linear solve a step (Hecht's baselines)",
    .citation = "Mueller and Gross 2004; Hecht et al. 2012, Section 3.1",
    .capabilities = EB_CAP_TRIANGLES | EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_SCRIPTED | EB_CAP_COLLIDERS | EB_CAP_IMPLICIT_PENALTY | EB_CAP_CUTTING |
                    EB_CAP_SPRINGS,
    .options = options,
    .create = eb_linearly_implicit_create,
    .step = step,
    .destroy = eb_linearly_implicit_destroy};
