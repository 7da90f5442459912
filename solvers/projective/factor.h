/* Factors of symmetric positive definite matrices with one row a node, and solves with three
 * right-hand sides: the coordinates of all nodes at once, in the lanes of a vector (the fourth is
 * carried along). */
#ifndef EB_PROJECTIVE_FACTOR_H
#define EB_PROJECTIVE_FACTOR_H

#include "problems/elasticity/block_matrix.h"
#include "problems/elasticity/simd.h"
#include "solvers/solver.h"

typedef struct eb_scalar_factor eb_scalar_factor;

/* Orders and analyzes for the pattern, of which one entry a block is meant (phases ORDER and
 * ANALYZE). With `updates` the factor is one whose diagonal can be changed. */
EB_MUST eb_error eb_scalar_factor_create(const eb_block_matrix *pattern, bool updates,
                                         eb_step_log *log, eb_scalar_factor **out);
void eb_scalar_factor_destroy(eb_scalar_factor *factor);

/* Factors the matrix with entries value[b], b the blocks of the pattern, and extra[i] (or NULL)
 * added to the diagonal. *reason: EB_NOT_POSITIVE_DEFINITE or EB_CONVERGED_DIRECT. Counts a
 * factorization. */
EB_MUST eb_error eb_scalar_factor_set(eb_scalar_factor *factor, const double *value,
                                      const double *extra, eb_step_log *log, eb_reason *reason);
/* Adds change[i] to the diagonal of every row i by updates of rank one. Returns how many in
 * *changed. Only with `updates`. */
EB_MUST eb_error eb_scalar_factor_update(eb_scalar_factor *factor, const double *change,
                                         int32_t *changed, eb_reason *reason);

/* Solves A x = b for the lanes of rows entries; b and x may be the same. */
void eb_scalar_factor_solve(eb_scalar_factor *factor, const eb_v4 *b, eb_v4 *x);

/* Entries of L, as stored. */
int64_t eb_scalar_factor_entries(const eb_scalar_factor *factor);

#endif
