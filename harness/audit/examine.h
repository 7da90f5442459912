/* What can be said of a declared subspace (problems/subspace_record.h) beside whether its steps are
 * right, for runs that ask for it: with B of the record, X the rest shape, M the lumped masses,
 *
 *   decrement      sqrt(g . inv(H) g) of a step: g its reduced residual by the declared points,
 *                  H = B^T M B / h^2 (0 in statics) + sum_c w_c J_c^T C_c J_c + sum_s k_s B_s^T
 *                  B_s (springs), C_c the exact tangent of the point's element with negative
 *                  eigenvalues set to 0: at the end of the step, and where it starts, the part of
 *                  x0 - X that is in the span. It is Newton's decrement, and whoever asks for the
 *                  residual in another norm asks a question of stiffness, too: a residual of stiff
 *                  parts is large where the state is hardly wrong
 *   null           the dimension of what the points do not see: eigenvalues below 1e-6 of K_points
 *                  v = l K_full v at rest, in the span and orthogonal to the rigid motions in it.
 *                  With moduli 1e10 apart and more, rounding hides what is null among the softest
 *   start_outside  |y - B B^T M y|_M / |y|_M of y = x0 - X, the state that a run starts from
 *   variance       of a region: how much the skinning weights vary within its connected pieces
 *                  (eb_parts_variance); constants do not count
 *   density        of a region: its share of the points over its share of the volume
 *
 * Tangents are the audit's own (tangent.h), dense algebra LAPACK's on one thread. */
#ifndef EB_EXAMINE_H
#define EB_EXAMINE_H

#include "harness/audit/parts.h"

/* At the start of the step and at its end, J^1/2; NaN where H is not positive definite: motions
 * without inertia that no point resists. The declaration has been found sound, the step has been
 * audited. */
EB_MUST eb_error eb_subspace_decrement(eb_audit *audit, const eb_state *before,
                                       const eb_state *after, double dt, bool statics,
                                       const eb_subspace_record *subspace, double out[2]);

/* Whether what is declared can be: subspace.c. */
bool eb_subspace_sound(const eb_audit *audit, const eb_subspace_record *subspace);

typedef struct eb_subspace_figures {
  int32_t coefficients, points; /* coefficients: entries of u */
  double null;                  /* NaN when K_full is not positive definite on the rest */
  double start_outside;         /* 0 where x0 = X */
  /* By part; NaN for those that are no regions, and of variance without weights. 1/kg; 1. */
  double variance[EB_MAX_REGIONS + EB_MAX_GRIPS], density[EB_MAX_REGIONS + EB_MAX_GRIPS];
} eb_subspace_figures;
/* Of a sound one; `x0`: nodes x 3. Workspace: four matrices of coefficients squared. */
EB_MUST eb_error eb_subspace_examine(const eb_audit *audit, const eb_parts *parts,
                                     const eb_subspace_record *subspace, const double *x0,
                                     eb_subspace_figures *out);

#endif
