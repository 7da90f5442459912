/* Linear solvers for symmetric positive definite 3x3-block systems, behind one table.
 *
 * Life: create (options) -> set_matrix (same pattern every time; factors, or builds the
 * preconditioner) -> solve any number of times -> destroy. The first set_matrix orders and
 * analyzes. */
#ifndef EB_LINALG_LINEAR_H
#define EB_LINALG_LINEAR_H

#include "problems/elasticity/block_matrix.h"
#include "solvers/solver.h"

struct eb_subdomain;

typedef struct eb_linear eb_linear;

/* Options of PETSc for elasticity of any size, on any number of ranks (petsc.c says why). */
#define EB_PETSC_MULTIGRID                                                                         \
  "-ksp_type cg -pc_type gamg -pc_gamg_agg_nsmooths 1 -pc_gamg_aggressive_coarsening 1 "           \
  "-pc_gamg_coarse_eq_limit 1000 -pc_gamg_reuse_interpolation true"

typedef struct eb_linear_settings {
  const char *kind;           /* "cg", "cholesky", "cholesky-single", "cholmod", "petsc" */
  const char *preconditioner; /* cg: "none", "jacobi", "block-jacobi", "ic" */
  const char *petsc_options;  /* petsc: "-ksp_type cg -pc_type gamg" */
  const double *positions;    /* petsc: rows x 3, m, for the rigid motions as near-null space of
                                 multigrid; or NULL. Read by create only */
  const struct eb_subdomain *part; /* petsc: whose rows these are, when ranks share the matrix: rows
                                 of owned nodes count, columns are local nodes, all calls are
                                 collective; NULL: the matrix is whole. Outlives the solver */
  double rtol, atol;               /* cg, petsc: |r| <= max(rtol |b|, atol) */
  int64_t max_iterations;          /* cg, petsc */
  int threads;                     /* cg, cholesky; cholmod and petsc run fastest on one */
  bool spends_matrix; /* petsc, which copies it: set_matrix may leave zeros for A's values,
                         and serves one solve: so that the larger memory of both is the
                         system's again while it is not needed */
} eb_linear_settings;

/* Result of one solve. */
typedef struct eb_linear_result {
  eb_reason reason;
  int64_t iterations; /* 0 for a direct method */
  double residual;    /* |b - A x| as the method sees it; -1 when it did not compute one */
} eb_linear_result;

/* Orders, analyzes and allocates for the pattern of A (whose values are not read). Phases ORDER and
 * ANALYZE go to `log` (may be NULL). */
EB_MUST eb_error eb_linear_create(const eb_linear_settings *settings,
                                  const eb_block_matrix *pattern, eb_step_log *log,
                                  eb_linear **out);
/* Takes the values of A (kept by reference until the next call): numeric factorization or
 * preconditioner. Phase FACTOR. *reason is EB_NOT_POSITIVE_DEFINITE when a pivot is not positive,
 * EB_DIVERGED_NAN when an entry is not finite, else positive; a solve after a negative one only
 * returns it again. EB_ERR_USAGE, on the first call, for petsc options that nothing has read. */
EB_MUST eb_error eb_linear_set_matrix(eb_linear *linear, const eb_block_matrix *A, eb_step_log *log,
                                      eb_reason *reason);
/* Solves A x = b; x holds the initial guess on entry for iterative methods. Iterative methods log
 * each residual when `log_residuals`. Phase SOLVE. */
EB_MUST eb_error eb_linear_solve(eb_linear *linear, const double *b, double *x, eb_step_log *log,
                                 bool log_residuals, eb_linear_result *result);
void eb_linear_destroy(eb_linear *linear);

#endif
