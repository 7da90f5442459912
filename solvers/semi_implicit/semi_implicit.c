/* Linearly implicit Euler with any material: one linear solve a step.
 *
 *   (M + beta h^2 H(x0)) v1 = M v0 + h (f_ext - g(x0)),   x1 = x0 + h v1
 *
 * Reference: Baraff and Witkin 1998; Weidner, Kim and Sueda 2020 (ConJac), Equation 10 and
 * Algorithm 2 ("VANILLA"), whose K is -H. beta scales the matrix and not the force: beta = 1 is the
 * first Newton iteration of implicit Euler from the guess x0, larger values damp, smaller ones lose
 * stability. Implicit colliders enter H and g, with the same beta; their friction filters v1
 * (problems/contact/implicit_penalty.h).
 * Needs: mass, dE/dx and H at the start of the step, elements of H positive semi-definite.
 * Workspace: eb_implicit (one block matrix, six vectors, the linear solver).
 * Fails: EB_DIVERGED_NAN when state or forces are not finite; EB_NOT_POSITIVE_DEFINITE when the
 * matrix is not (project=false, or scales beyond double precision); else as the linear solver does.
 * It has no nonlinear tolerance: a step that is too long shows in the audit and in the energy. */
#include "solvers/common/linearly_implicit.h"
#include "solvers/common/step_options.h"
#include "solvers/registry.h"

static const eb_option options[] = {
    {.name = "beta",
     .type = EB_OPTION_REAL,
     .fallback = "1",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "factor of h^2 H in the matrix; 1 is implicit Euler, more damps"},
    {.name = "project",
     .type = EB_OPTION_BOOL,
     .fallback = "true",
     .unit = "",
     .doc = "take each element's Hessian positive semi-definite"},
    EB_RANKS_OPTION,
    EB_LINEAR_OPTIONS(EB_LINEAR_BY_RANKS, "block-jacobi", "1e-10"),
    {0}};

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  double stiffness = eb_values_real(solver->options, "beta") * dt * dt;
  bool project = eb_values_bool(solver->options, "project");
  return eb_linearly_implicit_step(solver->data, state, dt, 1, stiffness, project, log, reason);
}

const eb_solver_ops eb_solver_semi_implicit = {
    .name = "semi-implicit",
    .summary = "linearly implicit Euler, one linear solve a step (ConJac's VANILLA)",
    .citation = "Baraff and Witkin 1998; Weidner, Kim and Sueda 2020, Eq. 10",
    .capabilities = EB_CAP_TRIANGLES | EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT |
                    EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED |
                    EB_CAP_COLLIDERS | EB_CAP_IMPLICIT_PENALTY | EB_CAP_CUTTING | EB_CAP_SPRINGS,
    .options = options,
    .accuracy_options = "",
    .memory = &(const eb_memory_model){.linear = EB_LINEAR_CHOICES, .node = -130},
    .time = &(const eb_time_model){.iterations = 1},
    .create = eb_linearly_implicit_create,
    .step = step,
    .destroy = eb_linearly_implicit_destroy};
