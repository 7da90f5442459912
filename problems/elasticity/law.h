/* A material prepared for evaluation, and its batched kernels: four deformation gradients at a
 * time.
 *
 * Isotropic tangents are given in the frame of the singular vectors F = U diag(s) V^T (Smith et al.
 * 2019, "Analytic eigensystems for isotropic distortion energies"): with dF = U X V^T and dP = U Y
 * V^T,
 *   Y_kk = sum_l scaling_kl X_ll,      Y_kl = direct_kl X_kl + cross_kl X_lk  (k != l).
 * Internal to problems/. */
#ifndef EB_LAW_H
#define EB_LAW_H

#include "problems/elasticity/material.h"
#include "problems/elasticity/material_ops.h"
#include "problems/elasticity/simd.h"

typedef struct eb_law {
  const struct eb_formulas *formulas; /* of its material */
  bool rotates;                       /* energy, stress and tangent need R = U V^T */
  bool linear;             /* the tangent is that of linear elasticity, in the frame R or I */
  double mu, lambda;       /* coefficients of the energy, Pa (not always those of Lame) */
  double second;           /* coefficient of the second invariant (Mooney-Rivlin), Pa */
  double pressure, volume; /* h(J) = volume/2 (J-1)^2 - pressure (J-1), where polynomial, Pa */
  eb_fibre_kind fibre;
  double fibre_stiffness, fibre_exponent;     /* activation included */
  double fibre_full;                          /* fibre_stiffness at activation 1 */
  const eb_material_ops *plugged;             /* of a plug-in, else NULL */
  double p[EB_FIRST_OWN + EB_OWN_PARAMETERS]; /* what its functions are given */
} eb_law;

/* dP/dF in the frame of F = U diag(s) V^T. */
typedef struct eb_principal_tangent {
  eb_v4 scaling[6];          /* 00 11 22 12 02 01 */
  eb_v4 direct[3], cross[3]; /* entry k belongs to the pair of the two other indices */
  eb_v4 slope[3];            /* P = U diag(slope) V^T; not set when the law is linear */
} eb_principal_tangent;

/* How an energy depends on one node of an element, whose rest gradient is g, while the others stay:
 * F + x g^T. `pull` = P g is its derivative in x, `block` (00 11 22 12 02 01) the second one. */
typedef struct eb_node_terms {
  eb_v4 pull[3], block[6];
} eb_node_terms;

/* Of a material that eb_material_validate accepts. */
eb_law eb_law_make(const eb_material *material);
/* Sets the activation of the fibre; only Fung's has one. */
void eb_law_activate(eb_law *law, double activation);

static inline bool eb_law_needs_rotation(const eb_law *law) {
  return law->rotates;
}
/* Whether the tangent needs U, s, V or R. */
static inline bool eb_law_needs_frame(const eb_law *law) {
  return law->rotates || !law->linear;
}

/* psi and P. R is read only when the law `rotates`, `fibre` (3) only when law->fibre. */
void eb_law_energy(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], const eb_v4 fibre[3],
                   eb_v4 *psi);
void eb_law_stress(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], const eb_v4 fibre[3],
                   eb_v4 P[9]);

/* dP/dF of the isotropic part in the frame of F = U diag(s) V^T. s is not read when
 * the law is linear. With `project`, the nearest positive semi-definite tangent. */
void eb_law_tangent(const eb_law *law, const eb_v4 s[3], bool project,
                    eb_principal_tangent *tangent);

/* Whether eb_law_node serves the law: its isotropic part is a function of invariants, so that one
 * node's terms ask for no decomposition of F. */
bool eb_law_serves_node(const eb_law *law);
/* Terms of the isotropic part, the block without what would make it indefinite: J and cof F are
 * linear in x, and |F|^2 and |cof F|^2 are convex, so that most laws lose nothing. */
void eb_law_node(const eb_law *law, const eb_v4 F[9], const eb_v4 g[3], eb_node_terms *out);

/* The fibre's dP_ik / dF_jl = M_ij a_k a_l; M is symmetric: 00 11 22 12 02 01. */
void eb_law_fibre_tangent(const eb_law *law, const eb_v4 F[9], const eb_v4 fibre[3], bool project,
                          eb_v4 M[6]);

#endif
