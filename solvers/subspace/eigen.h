/* The lowest eigenpairs of A w = gamma M w, M diagonal. */
#ifndef EB_SUBSPACE_EIGEN_H
#define EB_SUBSPACE_EIGEN_H

#include "problems/elasticity/block_matrix.h"
#include "solvers/solver.h"

typedef struct eb_eigenproblem {
  const char *what;              /* "skinning modes": what messages call them */
  const eb_block_matrix *matrix; /* positive semi-definite */
  const double *root; /* 3 rows: square roots of the masses; 0 where the unknown is held at zero */
  double shift;       /* > 0: a first guess at a hundredth of the lowest eigenvalue that is not 0 */
  int32_t count;
  int threads;
} eb_eigenproblem;

typedef struct eb_eigenpairs {
  int64_t unknowns; /* 3 rows */
  int32_t count;
  double *vector;  /* count x unknowns, M-orthonormal, the lowest first; largest entry positive */
  double *value;   /* count */
  double residual; /* largest |A w - gamma M w| / (gamma + shift), in the norm of inv(M) */
} eb_eigenpairs;

/* By SLEPc's Krylov-Schur on the inverse of A + shift M, which the project's Cholesky factors; all
 * copies of a multiple eigenvalue. The same bits for any number of threads. EB_ERR_USAGE for more
 * than there are free unknowns; EB_ERR_LIBRARY when a pair does not reach a residual of 1e-8. The
 * caller frees vector and value, which are NULL on failure. */
EB_MUST eb_error eb_lowest_eigenpairs(const eb_eigenproblem *problem, eb_step_log *log,
                                      eb_eigenpairs *out);

#endif
