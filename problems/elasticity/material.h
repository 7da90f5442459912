/* Materials: energy density psi(F) per rest volume (J/m^3) and its derivatives.
 *
 * Every material is an isotropic base and an optional fibre term along the element's unit fibre a.
 * Matrices are row-major; a 9-vector vec(F) lists F's rows; dP/dF is 9 x 9 with entry
 * (3i+k, 3j+l) = dP_ik / dF_jl. Lame parameters: mu = E / (2 (1 + nu)),
 * lambda = E nu / ((1 + nu) (1 - 2 nu)). Sources are named at each material in materials.c. */
#ifndef EB_MATERIAL_H
#define EB_MATERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"

typedef enum eb_material_kind {
  EB_LINEAR,             /* "linear": Cauchy strain about the rest state */
  EB_COROTATIONAL,       /* "corotational": R_e K_e R_e^T, R frozen in the tangent (Mueller and
                            Gross 2004; Hecht et al. 2012); psi is the corotated linear energy */
  EB_COROTATED,          /* "corotated": the same energy with its exact derivatives */
  EB_FIXED_COROTATIONAL, /* "fixed-corotational" (Stomakhin et al. 2012) */
  EB_STVK,               /* "stvk" */
  EB_NEO_HOOKEAN,        /* "neo-hookean": mu/2 (Ic - 3) - mu ln J + lambda/2 ln^2 J, the terms in J
                            extrapolated to second order below J = 0.7 (Stomakhin et al. 2012) */
  EB_STABLE_NEO_HOOKEAN, /* "stable-neo-hookean" (Smith et al. 2018) */
  EB_MOONEY_RIVLIN,      /* "mooney-rivlin": mu split 3:1 between C10 and C01, volumetric
                            lambda/2 (J-1)^2 completed by terms in J - 1 and (J-1)^2 that leave no
                            rest stress and the moduli of Lame; defined for every F */
  EB_MATERIAL_KINDS
} eb_material_kind;

typedef enum eb_fibre_kind {
  EB_FIBRE_NONE,
  EB_FIBRE_ASTVK, /* mu_f/2 (I5 - 1)^2, I5 = |F a|^2 */
  EB_FIBRE_FUNG   /* activation k1 / (2 k2) (exp(k2 (I5 - 1)^2) - 1) */
} eb_fibre_kind;

typedef struct eb_material {
  eb_material_kind kind;
  double young;   /* Pa, > 0 */
  double poisson; /* -1 < nu < 0.5 */
  double density; /* kg/m^3, > 0 */
  eb_fibre_kind fibre;
  double fibre_stiffness; /* mu_f or k1, Pa */
  double fibre_exponent;  /* k2 */
  double activation;      /* 0 .. 1, scales k1 */
  double thickness;       /* of planar triangles, m; 0: 1 m. Ignored by solids */
} eb_material;

typedef struct eb_material_info {
  const char *name, *summary, *citation;
} eb_material_info;

/* Of planar triangles, m. */
static inline double eb_material_thickness(const eb_material *material) {
  return material->thickness > 0 ? material->thickness : 1;
}

const eb_material_info *eb_material_describe(eb_material_kind kind);
/* The kind of that name, or -1. */
int eb_material_find(const char *name);
EB_MUST eb_error eb_material_validate(const eb_material *material);

/* One deformation gradient, for tests and audits of single elements; assembly uses batched kernels of
 * the same formulas. `fibre` may be NULL when the material has none.
 * For EB_COROTATIONAL, tangent is with the rotation frozen (symmetric, positive semi-definite). */
double eb_material_energy(const eb_material *material, const double F[9], const double fibre[3]);
void eb_material_stress(const eb_material *material, const double F[9], const double fibre[3],
                        double P[9]);
/* dP/dF; with `project`, its nearest (eigenvalue-clamped) positive semi-definite matrix. Base and fibre
 * term are clamped each by itself: their sum is positive semi-definite. The twist modes of the corotated
 * energies grow as 1 / (s1 + s2), two smallest singular values with sign, which is cut off at 1e8. */
void eb_material_tangent(const eb_material *material, const double F[9], const double fibre[3],
                         bool project, double dPdF[81]);

#endif
