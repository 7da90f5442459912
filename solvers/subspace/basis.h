/* A linear subspace of displacements, the same for the three axes:
 *
 *   x = X + B u,   B = I_3 (x) Phi,   Phi^T M_w Phi = I,
 *
 * Phi: nodes x size scalar functions, u: 3 x size coefficients, axis by axis. Skinning makes them
 * from weights W: the span of w_j X, w_j Y, w_j Z and w_j (trusty2023, Equation 10). A body whose
 * weights have a constant among them can move affinely, hence turn, exactly. */
#ifndef EB_SUBSPACE_BASIS_H
#define EB_SUBSPACE_BASIS_H

#include "problems/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct eb_basis {
  int32_t nodes, size; /* size: scalar functions; 3 size coefficients */
  int32_t stride;      /* size, rounded up to a multiple of 4 */
  double *phi;         /* nodes x stride, zeros behind `size` */
  double *X;           /* nodes x 3, m */
  double *mass;        /* nodes, kg */
} eb_basis;

/* Orthonormalizes the 4 modes functions of the weights (modes x nodes), in the order of the modes;
 * those that the ones before span but for 1e-9 of their norm are left out. Copies what it is given.
 * The caller clears *out. */
EB_MUST eb_error eb_basis_skinning(int32_t nodes, const double *X, const double *mass,
                                   int32_t modes, const double *weight, eb_basis *out);
void eb_basis_clear(eb_basis *basis);

/* u = B^T M (x - X) (offset) or B^T M x; x: nodes x 3. Uses OpenMP; the bits are the same for any
 * number of threads. */
void eb_basis_restrict(const eb_basis *basis, const double *x, bool offset, double *u);
/* u = B^T f, for forces. */
void eb_basis_restrict_force(const eb_basis *basis, const double *f, double *u);
/* x = X + B u (offset) or B u. */
void eb_basis_prolong(const eb_basis *basis, const double *u, bool offset, double *x);

#endif
