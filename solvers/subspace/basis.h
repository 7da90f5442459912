/* A linear subspace of displacements, B^T M B = I, of one of two forms:
 *
 *   x = X + B u,   B = I_3 (x) Phi (axes = 1)   or   B = Phi (axes = 3).
 *
 * In the first, the same for the three axes, Phi is nodes x size scalar functions and u 3 x size
 * coefficients, axis by axis. Skinning makes them from weights W: the span of w_j X, w_j Y, w_j Z
 * and w_j (trusty2023, Equation 10). A body whose weights have a constant among them can move
 * affinely, hence turn, exactly. In the second Phi is 3 nodes x size displacements, and u size
 * coefficients. */
#ifndef EB_SUBSPACE_BASIS_H
#define EB_SUBSPACE_BASIS_H

#include "problems/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct eb_basis {
  int32_t nodes, axes; /* axes: 1 or 3, see above */
  int32_t size;        /* functions */
  int32_t stride;      /* size, rounded up to a multiple of 4 */
  double *phi;         /* (axes nodes) x stride, zeros behind `size` */
  double *X;           /* nodes x 3, m */
  double *mass;        /* nodes, kg */
  double *partial;     /* workspace of restrictions: one basis serves one call at a time */
} eb_basis;

/* Orthonormalizes the 4 modes functions of the weights (modes x nodes), in the order of the modes;
 * those that the ones before span but for 1e-9 of their norm are left out. Copies what it is given.
 * The caller clears *out. */
EB_MUST eb_error eb_basis_skinning(int32_t nodes, const double *X, const double *mass,
                                   int32_t modes, const double *weight, eb_basis *out);
/* The same of `count` displacements (count x nodes x 3), axes = 3. */
EB_MUST eb_error eb_basis_displacements(int32_t nodes, const double *X, const double *mass,
                                        int32_t count, const double *displacement, eb_basis *out);
void eb_basis_clear(eb_basis *basis);
/* Entries of u. */
static inline int32_t eb_basis_coefficients(const eb_basis *basis) {
  return basis->axes == 1 ? 3 * basis->size : basis->size;
}

/* u = B^T M (x - X) (offset) or B^T M x; x: nodes x 3. Uses OpenMP; the bits are the same for any
 * number of threads. */
void eb_basis_restrict(const eb_basis *basis, const double *x, bool offset, double *u);
/* u = B^T f, for forces. */
void eb_basis_restrict_force(const eb_basis *basis, const double *f, double *u);
/* x = X + B u (offset) or B u. */
void eb_basis_prolong(const eb_basis *basis, const double *u, bool offset, double *x);

#endif
