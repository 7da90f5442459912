/* Preconditioners z = inv(M) r of the conjugate gradients. Inside solvers/linalg only.
 *
 * All are symmetric positive definite when apply may be called, and give the same bits for any
 * number of threads. */
#ifndef EB_LINALG_PRECONDITIONER_H
#define EB_LINALG_PRECONDITIONER_H

#include <stdbool.h>

#include "problems/elasticity/block_matrix.h"

typedef struct eb_preconditioner eb_preconditioner;

/* name: "none", "jacobi", "block-jacobi" (inverse 3x3 diagonal blocks) or "ic" (incomplete Cholesky
 * without fill on the block pattern). */
EB_MUST eb_error eb_preconditioner_create(const char *name, const eb_block_matrix *pattern,
                                          eb_preconditioner **out);
/* Takes the values of A. *definite is false when the diagonal shows that A is not positive
 * definite. */
void eb_preconditioner_set_matrix(eb_preconditioner *p, const eb_block_matrix *A, bool *definite);
/* z = inv(M) r, 3 rows each. */
void eb_preconditioner_apply(eb_preconditioner *p, const double *r, double *z);
/* Floating-point operations of one application. */
double eb_preconditioner_flops(const eb_preconditioner *p);
void eb_preconditioner_destroy(eb_preconditioner *p);

#endif
