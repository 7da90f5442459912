/* Conjugate gradients for matrices with one row a node and three right-hand sides at once. */
#ifndef EB_PROJECTIVE_PCG_H
#define EB_PROJECTIVE_PCG_H

#include "problems/elasticity/block_matrix.h"
#include "problems/elasticity/simd.h"
#include "solvers/solver.h"

/* One entry a block of the pattern, and what is added to the diagonal. */
typedef struct eb_scalar_matrix3 {
  const eb_block_matrix *pattern;
  const double *value; /* start[rows] */
  const double *extra; /* rows */
} eb_scalar_matrix3;

/* y = A x in all lanes. */
void eb_scalar_product(const eb_scalar_matrix3 *A, const eb_v4 *x, eb_v4 *y);
/* Over all lanes, in one order. */
double eb_lanes_dot(int32_t rows, const eb_v4 *x, const eb_v4 *y);

/* IC(0): L with the pattern of A's lower triangle. */
typedef struct eb_incomplete {
  const eb_block_matrix *pattern;
  double *value;   /* start[rows]; those up to the diagonal are L's */
  double *inverse; /* rows: 1 over the diagonal of L */
} eb_incomplete;
/* The pattern outlives it. The caller clears *out, also after failure; likewise below. */
EB_MUST eb_error eb_incomplete_create(const eb_block_matrix *pattern, eb_incomplete *out);
void eb_incomplete_clear(eb_incomplete *L);
/* False when no shift of the diagonal makes pivots positive. */
bool eb_incomplete_factor(eb_incomplete *L, const eb_scalar_matrix3 *A);
/* L L^T x = b; b and x may be the same. */
void eb_incomplete_solve(const eb_incomplete *L, const eb_v4 *b, eb_v4 *x);

/* z = inv(M) r. */
typedef void eb_precondition(void *context, const eb_v4 *r, eb_v4 *z);

typedef struct eb_pcg {
  int32_t rows;
  eb_precondition *precondition; /* NULL: none */
  void *context;
  eb_v4 *r, *z, *p, *q; /* rows */
} eb_pcg;
EB_MUST eb_error eb_pcg_create(int32_t rows, eb_pcg *out);
void eb_pcg_clear(eb_pcg *cg);
/* Solves A x = b from x = 0 until |b - A x| <= tolerance. *iterations: products with A, less the
 * ones that nothing follows. */
eb_reason eb_pcg_solve(const eb_pcg *cg, const eb_scalar_matrix3 *A, const eb_v4 *b,
                       double tolerance, int64_t most, eb_v4 *x, int64_t *iterations);

#endif
