/* Materials once more, written plainly for the audit: in the published form, with decompositions of
 * its own (one-sided Jacobi; rotations in closed form). Shares no code with
 * problems/elasticity. Four deformation gradients at a time (four.h), entry by entry: F[9] are the
 * entries of the four, row-major. What is wrong in one is not seen in the others. */
#ifndef EB_AUDIT_REFERENCE_H
#define EB_AUDIT_REFERENCE_H

#include "harness/audit/four.h"
#include "problems/elasticity/material.h"

/* Of one: F = U diag(s) V^T with det U = det V = 1; |s[0]| >= |s[1]| >= |s[2]|, only s[2] can be
 * negative. */
void eb_reference_svd(const double F[9], double U[9], double s[3], double V[9]);
/* R = U V^T of it, the rotation nearest to F. Errs by some 1e-15 |F| / (s[1] + s[2]), as a rounding
 * of F would; without singular vectors but where that is large. */
void eb_reference_polar(const eb_four F[9], eb_four R[9]);

/* *psi: energy density psi(F), J/m^3; first Piola-Kirchhoff stress P = dpsi/dF, Pa. `fibre` is the
 * unit rest direction (x 3) or NULL. */
void eb_reference_material(const eb_material *material, const eb_four F[9], const eb_four *fibre,
                           eb_four *psi, eb_four P[9]);

#endif
