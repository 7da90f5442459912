/* Elasticity in mixed form: beside the positions x, every integration point has a symmetric stretch
 * S of its own, which the multiplier lambda ties to the stretch of x (Trusty, Kaufman and Levin
 * 2022; trusty2023, Section 3).
 *
 *   min over x, S  max over lambda   Psi(x) + sum w [ psi(S) + lambda : (Sbar(x) - S) ]
 *
 * with F(x) = R Sbar(x) the polar decomposition, R proper, and w the rest volume of the point. A
 * step of sequential quadratic programming, the constraint's own curvature left out, is
 *
 *   (H_x + K) p = - grad Psi - q,    K = sum w J^T H J,  q = sum w J^T (dpsi/dS + H (Sbar - S)),
 *   dS = Sbar - S + J p,             lambda = dpsi/dS + H dS,
 *
 * J = dSbar/dx at x, H = d2psi/dS2 at S made positive semi-definite. The stretches are condensed
 * out point by point, so that K has the pattern of FEM's own Hessian.
 *
 * Tetrahedra and hexahedra of Gauss points, of any material that is isotropic and
 * frame-indifferent, without fibres. Functions after create allocate nothing, use the OpenMP
 * threads that omp_set_num_threads has set, and give the same bits for any number of them. */
#ifndef EB_MIXED_H
#define EB_MIXED_H

#include "problems/elasticity/elasticity.h"

typedef struct eb_mixed eb_mixed;

/* The elasticity outlives it, and serves no other call while one of these runs. All stretches start
 * as the identity. EB_ERR_UNSUPPORTED for other elements and materials. */
EB_MUST eb_error eb_mixed_create(const eb_elasticity *elasticity, eb_mixed **out);
void eb_mixed_destroy(eb_mixed *mixed);
int64_t eb_mixed_bytes(const eb_mixed *mixed);

/* S = Sbar(x) at every point. x here and below: nodes x 3, m. */
void eb_mixed_project(eb_mixed *mixed, const double *x);
/* One sweep at (x, S): overwrites `matrix` (pattern of eb_elasticity_pattern) with mass_scale M +
 * K, q (nodes x 3, N) as above, and g = dE/dx of FEM at x (nodes x 3, N). */
void eb_mixed_condense(eb_mixed *mixed, const double *x, double mass_scale, eb_block_matrix *matrix,
                       double *q, double *g);
typedef struct eb_mixed_energy {
  double value;     /* sum w [ psi(S) + lambda : (Sbar(x) - S) ], J */
  double magnitude; /* sum of the sizes of its terms */
} eb_mixed_energy;

/* dS and lambda for the direction p (nodes x 3) of the last condensed system. Returns
 * sum w dS : H dS, J: what the elastic part of the Lagrangian falls by, to first order; `before` is
 * that part with the new lambda at (x, S) as they are. */
double eb_mixed_expand(eb_mixed *mixed, const double *p, eb_mixed_energy *before);
/* The same at x and S + a dS. */
eb_mixed_energy eb_mixed_lagrangian(const eb_mixed *mixed, const double *x, double a);
/* S += a dS. */
void eb_mixed_accept(eb_mixed *mixed, double a);
/* S, dS and lambda of every point, each points x 6 as 00 11 22 12 02 01, points of an element in a
 * row, elements in the mesh's order. NULL for what is not wanted; lambda is there after an
 * expansion. */
void eb_mixed_points(const eb_mixed *mixed, double *S, double *dS, double *lambda);

#endif
