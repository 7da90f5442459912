/* Materials once more, written plainly for the audit: one deformation gradient at a time, in the published form, with decompositions of its own (one-sided Jacobi;
 * rotations in closed form). Shares no code with problems/elasticity. */
#ifndef EB_AUDIT_REFERENCE_H
#define EB_AUDIT_REFERENCE_H

#include "problems/elasticity/material.h"

/* F = U diag(s) V^T with det U = det V = 1; |s[0]| >= |s[1]| >= |s[2]|, only s[2] can be negative. Row-major. */
void eb_reference_svd(const double F[9], double U[9], double s[3], double V[9]);
/* R = U V^T of it, the rotation nearest to F. Errs by some 1e-15 |F| / (s[1] + s[2]), as a rounding of F would; without singular vectors but where that is large. */
void eb_reference_polar(const double F[9], double R[9]);

/* Energy density psi(F), J/m^3, and first Piola-Kirchhoff stress P = dpsi/dF, Pa. `fibre` is the unit rest direction or NULL. */
double eb_reference_material(const eb_material *material, const double F[9], const double *fibre,
                             double P[9]);

#endif
