/* Tangents of the plain materials (reference.h): what a linearized step takes for the derivative of
 * the forces, at four deformation gradients. Shares no code with
 * problems/elasticity. */
#ifndef EB_AUDIT_TANGENT_H
#define EB_AUDIT_TANGENT_H

#include "harness/audit/four.h"
#include "problems/elasticity/material.h"
#include "problems/step.h"

/* The tangent dP/dF at four F. With dF = U X V^T and dP = U Y V^T, Y_kk = sum_l psi_kl X_ll, and
 * off the diagonal `flip` and `twist` take the even and the odd part of X;
 * entries of pairs (k, l) are named by the index they leave out. */
typedef struct eb_tangent_at {
  eb_four U[9], V[9];
  eb_four along[3], across[3]; /* psi_kk and psi_kl, Pa */
  eb_four flip[3], twist[3];   /* Pa */
  bool has_fibre;              /* dP += (stiff dF a + grown (F a . dF a) F a) a^T */
  eb_four a[3], Fa[3], stiff, grown;
} eb_tangent_at;

/* `fibre` is the unit rest direction (x 3) or NULL. Of planar elements F is [F2 0; 0 1] and the
 * first two rows of dP count.
 *
 *   EB_TANGENT_EXACT      d2psi/dF2 : dF. Where the twist modes of corotated energies are
 *                         infinite, for s1 + s2 = 0, s1 + s2 counts as 1e-8
 *   EB_TANGENT_PROJECTED  the same with negative eigenvalues set to 0, at each point by itself;
 *                         those of the isotropic part and those of the fibre's apart
 *   EB_TANGENT_ROTATED    R (2 mu sym(R^T dF) + lambda tr(R^T dF) I), R the rotation nearest to
 *                         F, mu and lambda Lame's; the fibre's as in EB_TANGENT_EXACT
 *
 * EB_COROTATIONAL is the material whose tangent leaves the rotation as it is, hence
 * EB_TANGENT_ROTATED whatever is asked for; EB_LINEAR has R = I. */
void eb_reference_tangent(const eb_material *material, eb_tangent tangent, const eb_four F[9],
                          const eb_four *fibre, eb_tangent_at *out);
/* dP = dP/dF : dF, Pa. */
void eb_tangent_apply(const eb_tangent_at *at, const eb_four dF[9], eb_four dP[9]);

#endif
