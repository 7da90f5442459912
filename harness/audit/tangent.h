/* Tangents of the plain materials (reference.h): what a linearized step takes for the derivative of the forces, one deformation gradient at a time. Shares no code
 * with problems/elasticity. */
#ifndef EB_AUDIT_TANGENT_H
#define EB_AUDIT_TANGENT_H

#include "problems/elasticity/material.h"
#include "solvers/solver.h"

/* dP, Pa, is the tangent at F applied to the increment dF. `fibre` is the unit rest direction or NULL. Of planar elements F is [F2 0; 0 1] and the first two rows of dP count.
 *
 *   EB_TANGENT_EXACT      d2psi/dF2 : dF. Where the twist modes of corotated energies are infinite, for s1 + s2 = 0, s1 + s2 counts as 1e-8
 *   EB_TANGENT_PROJECTED  the same with negative eigenvalues set to 0, at each point by itself; those of the isotropic part and those of the fibre's apart
 *   EB_TANGENT_ROTATED    R (2 mu sym(R^T dF) + lambda tr(R^T dF) I), R the rotation nearest to F, mu and lambda Lame's; the fibre's as in EB_TANGENT_EXACT
 *
 * EB_COROTATIONAL is the material whose tangent leaves the rotation as it is, hence EB_TANGENT_ROTATED whatever is asked for; EB_LINEAR has R = I. */
void eb_reference_tangent(const eb_material *material, eb_tangent tangent, const double F[9],
                          const double *fibre, const double dF[9], double dP[9]);

#endif
