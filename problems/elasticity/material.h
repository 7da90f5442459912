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

#pragma GCC visibility push(default) /* exported */

/* The catalogue: constant, name, summary, source. The energies stand in materials.c. */
/* clang-format off */
#define EB_MATERIALS(ENTRY)                                                                        \
  ENTRY(EB_LINEAR, "linear", "linear elasticity about the rest state", "Cauchy strain")            \
  ENTRY(EB_COROTATIONAL, "corotational", /* R_e K_e R_e^T; psi is the corotated linear energy */   \
        "linear elasticity in each element's rotated frame, rotation frozen in the tangent",       \
        "Mueller and Gross 2004; Hecht et al. 2012")                                               \
  ENTRY(EB_COROTATED, "corotated", "corotated linear energy with its exact derivatives",           \
        "Chao et al. 2010")                                                                        \
  ENTRY(EB_FIXED_COROTATIONAL, "fixed-corotational",                                               \
        "corotated shear energy with a (J - 1)^2 volume term", "Stomakhin et al. 2012")            \
  ENTRY(EB_STVK, "stvk", "Saint Venant-Kirchhoff: linear in the Green strain",                     \
        "Saint Venant; Kirchhoff")                                                                 \
  ENTRY(EB_NEO_HOOKEAN, "neo-hookean",                                                             \
        "neo-Hookean with logarithmic volume term, extrapolated below J = 0.7",                    \
        "Bonet and Wood 1997; Stomakhin et al. 2012")                                              \
  ENTRY(EB_STABLE_NEO_HOOKEAN, "stable-neo-hookean",                                               \
        "neo-Hookean without singularity at inversion", "Smith et al. 2018")                       \
  ENTRY(EB_MOONEY_RIVLIN, "mooney-rivlin",                                                         \
        "two-invariant rubber, C10 : C01 = 3 : 1, polynomial volume term",                         \
        "Mooney 1940; Rivlin 1948")                                                                \
  ENTRY(EB_PROJECTIVE, "projective",                                                               \
        "distances to the nearest rotation and to the nearest matrix of volume 1",                 \
        "Bouaziz et al. 2014")
/* clang-format on */

#define EB_MATERIAL_CONSTANT(kind, name, summary, citation) kind,
typedef enum eb_material_kind {
  EB_MATERIALS(EB_MATERIAL_CONSTANT) EB_MATERIAL_KINDS,
  EB_PLUGGED = EB_MATERIAL_KINDS /* of a plug-in (material_ops.h); no kind of the catalogue */
} eb_material_kind;
#undef EB_MATERIAL_CONSTANT

/* The names as the choices of an option, "linear|corotational|...": what follows the first bar. */
#define EB_MATERIAL_CHOICE(kind, name, summary, citation) "|" name
#define EB_MATERIAL_CHOICES                               (&(EB_MATERIALS(EB_MATERIAL_CHOICE))[1])

typedef enum eb_fibre_kind {
  EB_FIBRE_NONE,
  EB_FIBRE_ASTVK, /* mu_f/2 (I5 - 1)^2, I5 = |F a|^2 */
  EB_FIBRE_FUNG   /* activation k1 / (2 k2) (exp(k2 (I5 - 1)^2) - 1) */
} eb_fibre_kind;

/* How hexahedra are integrated, and what resists their hourglass modes (elasticity.h). */
typedef enum eb_integration {
  EB_INTEGRATION_GAUSS,     /* 2 x 2 x 2 points */
  EB_INTEGRATION_ONE_POINT, /* and `hourglass` */
  EB_INTEGRATION_STAGGERED  /* one point, mu |F|^2 at the places of a staggered grid */
} eb_integration;
#define EB_INTEGRATION_CHOICES "gauss|one-point|staggered"

typedef struct eb_material {
  eb_material_kind kind;
  double young;   /* Pa, > 0 */
  double poisson; /* -1 < nu < 0.5 */
  double density; /* kg/m^3, > 0 */
  eb_fibre_kind fibre;
  double fibre_stiffness;     /* mu_f or k1, Pa */
  double fibre_exponent;      /* k2 */
  double activation;          /* 0 .. 1, scales k1 */
  double thickness;           /* of planar triangles, m; 0: 1 m. Ignored by solids */
  eb_integration integration; /* of hexahedra, the same in all regions; others have no choice */
  double hourglass;           /* >= 0: stiffness of the hourglass modes; one-point only */
  const struct eb_plugged *plugged; /* of the kind EB_PLUGGED, else NULL */
  double own[8];                    /* its own parameters (EB_OWN_PARAMETERS), in SI units */
} eb_material;

typedef struct eb_material_info {
  const char *name, *summary, *citation;
} eb_material_info;

/* Of planar triangles, m. */
static inline double eb_material_thickness(const eb_material *material) {
  return material->thickness > 0 ? material->thickness : 1;
}

/* "one-point"; NULL when there is no such integration. */
const char *eb_integration_name(int integration);

/* Of a built-in material; NULL of others. */
const eb_material_info *eb_material_describe(eb_material_kind kind);
/* Of any; NULL when it is none. */
const char *eb_material_name(const eb_material *material);
/* The built-in kind of that name, or -1. */
int eb_material_find(const char *name);
EB_MUST eb_error eb_material_validate(const eb_material *material);

/* Whether its isotropic part is made of squared distances of F to sets of matrices: what projective
 * dynamics takes. No more than mu |F - R|^2 is left of the corotated materials at nu = 0. */
static inline bool eb_material_is_projective(const eb_material *material) {
  if (material->kind == EB_PROJECTIVE) return material->poisson >= 0;
  return material->poisson == 0 &&
         (material->kind == EB_COROTATED || material->kind == EB_FIXED_COROTATIONAL);
}

/* One deformation gradient, for tests and audits of single elements; assembly uses batched kernels
 * of the same formulas. `fibre` may be NULL when the material has none. For EB_COROTATIONAL,
 * tangent is with the rotation frozen (symmetric, positive semi-definite). */
double eb_material_energy(const eb_material *material, const double F[9], const double fibre[3]);
void eb_material_stress(const eb_material *material, const double F[9], const double fibre[3],
                        double P[9]);
/* dP/dF; with `project`, its nearest (eigenvalue-clamped) positive semi-definite matrix. Base and
 * fibre term are clamped each by itself: their sum is positive semi-definite. The twist modes of
 * the corotated and projective energies grow as 1 / (s1 + s2), two smallest singular values with
 * sign, which is cut off at 1e8. */
void eb_material_tangent(const eb_material *material, const double F[9], const double fibre[3],
                         bool project, double dPdF[81]);

#pragma GCC visibility pop

#endif
