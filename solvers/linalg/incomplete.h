/* Incomplete Cholesky factorization A ~ L L^T on the 3x3-block pattern of A. Inside solvers/linalg
 * only. */
#ifndef EB_LINALG_INCOMPLETE_H
#define EB_LINALG_INCOMPLETE_H

#include <stdbool.h>

#include "problems/elasticity/block_matrix.h"

typedef struct eb_incomplete eb_incomplete;

EB_MUST eb_error eb_incomplete_create(const eb_block_matrix *pattern, eb_incomplete **out);
/* False when a diagonal entry of A is not positive, so that no shift can help. */
bool eb_incomplete_factor(eb_incomplete *ic, const eb_block_matrix *A);
/* Solves L L^T z = r. */
void eb_incomplete_solve(const eb_incomplete *ic, const double *r, double *z);
void eb_incomplete_destroy(eb_incomplete *ic);

#endif
