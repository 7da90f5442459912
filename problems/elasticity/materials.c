/* The catalogue of materials and the one-element interface: one lane of the batched kernels of law.c,
 * where the formulas and their sources are. */
#include "problems/elasticity/material.h"

#include <string.h>

#include "problems/base/option.h"
#include "problems/elasticity/law.h"
#include "problems/elasticity/svd3.h"

static const eb_material_info catalogue[EB_MATERIAL_KINDS] = {
    [EB_LINEAR] = {"linear", "linear elasticity about the rest state", "Cauchy strain"},
    [EB_COROTATIONAL] = {"corotational",
                         "linear elasticity in each element's rotated frame, rotation frozen in "
                         "the tangent",
                         "Mueller and Gross 2004; Hecht et al. 2012"},
    [EB_COROTATED] = {"corotated", "corotated linear energy with its exact derivatives",
                      "Chao et al. 2010"},
    [EB_FIXED_COROTATIONAL] = {"fixed-corotational",
                               "corotated shear energy with a (J - 1)^2 volume term",
                               "Stomakhin et al. 2012"},
    [EB_STVK] = {"stvk", "Saint Venant-Kirchhoff: linear in the Green strain",
                 "Saint Venant; Kirchhoff"},
    [EB_NEO_HOOKEAN] = {"neo-hookean",
                        "neo-Hookean with logarithmic volume term, extrapolated below J = 0.7",
                        "Bonet and Wood 1997; Stomakhin et al. 2012"},
    [EB_STABLE_NEO_HOOKEAN] = {"stable-neo-hookean", "neo-Hookean without singularity at inversion",
                               "Smith et al. 2018"},
    [EB_MOONEY_RIVLIN] = {"mooney-rivlin",
                          "two-invariant rubber, C10 : C01 = 3 : 1, polynomial volume term",
                          "Mooney 1940; Rivlin 1948"},
};

const eb_material_info *eb_material_describe(eb_material_kind kind) {
  return (unsigned)kind < EB_MATERIAL_KINDS ? &catalogue[kind] : NULL;
}

int eb_material_find(const char *name) {
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++)
    if (strcmp(catalogue[kind].name, name) == 0) return kind;
  return -1;
}

static eb_error validate_fibre(const eb_material *m) {
  if ((unsigned)m->fibre > EB_FIBRE_FUNG)
    return EB_ERROR(EB_ERR_INVALID, "unknown fibre kind %d", (int)m->fibre);
  if (m->fibre == EB_FIBRE_NONE) return EB_OK;
  if (!(m->fibre_stiffness >= 0 && isfinite(m->fibre_stiffness)))
    return EB_ERROR(EB_ERR_INVALID, "fibre stiffness is %g Pa; it must be finite and not negative",
                    m->fibre_stiffness);
  if (m->fibre != EB_FIBRE_FUNG) return EB_OK;
  if (!(m->fibre_exponent > 0 && isfinite(m->fibre_exponent)))
    return EB_ERROR(EB_ERR_INVALID, "fibre exponent k2 is %g; it must be finite and positive",
                    m->fibre_exponent);
  if (!(m->activation >= 0 && m->activation <= 1))
    return EB_ERROR(EB_ERR_INVALID, "fibre activation is %g; it must lie between 0 and 1",
                    m->activation);
  return EB_OK;
}

eb_error eb_material_validate(const eb_material *m) {
  if ((unsigned)m->kind >= EB_MATERIAL_KINDS)
    return EB_ERROR(EB_ERR_INVALID, "unknown material kind %d", (int)m->kind);
  if (!(m->young > 0 && isfinite(m->young)))
    return EB_ERROR(EB_ERR_INVALID, "Young's modulus is %g Pa; it must be finite and positive",
                    m->young);
  if (!(m->poisson > -1 && m->poisson < 0.5))
    return EB_ERROR(EB_ERR_INVALID,
                    "Poisson's ratio is %g; it must lie above -1 and below 0.5 (0.5 is "
                    "incompressible: use 0.49)",
                    m->poisson);
  if (!(m->density > 0 && isfinite(m->density)))
    return EB_ERROR(EB_ERR_INVALID, "density is %g kg/m^3; it must be finite and positive",
                    m->density);
  if (!(m->thickness >= 0 && isfinite(m->thickness)))
    return EB_ERROR(EB_ERR_INVALID, "thickness is %g m; it must be finite and positive (0: 1 m)",
                    m->thickness);
  return validate_fibre(m);
}

/* ---- one deformation gradient ------------------------------------------------------------------- */

typedef struct lane {
  eb_law law;
  eb_v4 F[9], R[9], fibre[3];
} lane;

static lane broadcast(const eb_material *material, const double F[9], const double fibre[3]) {
  lane one = {.law = eb_law_make(material)};
  for (int i = 0; i < 9; i++) one.F[i] = eb_v4_set(F[i]);
  for (int i = 0; i < 3; i++) one.fibre[i] = eb_v4_set(fibre ? fibre[i] : 0);
  if (eb_law_needs_rotation(&one.law)) eb_polar3(one.F, one.R);
  return one;
}

double eb_material_energy(const eb_material *material, const double F[9], const double fibre[3]) {
  lane one = broadcast(material, F, fibre);
  eb_v4 psi;
  eb_law_energy(&one.law, one.F, one.R, one.fibre, &psi);
  return psi[0];
}

void eb_material_stress(const eb_material *material, const double F[9], const double fibre[3],
                        double P[9]) {
  lane one = broadcast(material, F, fibre);
  eb_v4 batch[9];
  eb_law_stress(&one.law, one.F, one.R, one.fibre, batch);
  for (int i = 0; i < 9; i++) P[i] = batch[i][0];
}

/* Column (j, l): dP for dF = e_j e_l^T, through the frame of the singular vectors. */
static void tangent_column(const eb_tangent *t, const eb_v4 U[9], const eb_v4 V[9], int j, int l,
                           double column[9]) {
  double X[9], Y[9];
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++) X[3 * p + q] = U[3 * j + p][0] * V[3 * l + q][0];
  for (int p = 0; p < 3; p++) {
    int q = (p + 1) % 3, r = (p + 2) % 3;
    Y[4 * p] = t->scaling[p][0] * X[4 * p] + t->scaling[3 + r][0] * X[4 * q] +
               t->scaling[3 + q][0] * X[4 * r];
    Y[3 * q + r] = t->direct[p][0] * X[3 * q + r] + t->cross[p][0] * X[3 * r + q];
    Y[3 * r + q] = t->direct[p][0] * X[3 * r + q] + t->cross[p][0] * X[3 * q + r];
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) sum += U[3 * i + p][0] * Y[3 * p + q] * V[3 * k + q][0];
      column[3 * i + k] = sum;
    }
}

static void identity(eb_v4 A[9]) {
  for (int i = 0; i < 9; i++) A[i] = eb_v4_set(i % 4 == 0);
}

void eb_material_tangent(const eb_material *material, const double F[9], const double fibre[3],
                         bool project, double dPdF[81]) {
  lane one = broadcast(material, F, fibre);
  eb_tangent t;
  eb_v4 U[9], V[9], s[3] = {{0}};
  if (eb_law_is_linear(&one.law)) {
    identity(U);
    identity(V);
    if (one.law.kind == EB_COROTATIONAL) memcpy(U, one.R, sizeof U);
  } else {
    eb_svd3(1, (const eb_v4(*)[9]) & one.F, &U, &s, &V);
  }
  eb_law_tangent(&one.law, s, project, &t);
  for (int c = 0; c < 9; c++) {
    double column[9];
    tangent_column(&t, U, V, c / 3, c % 3, column);
    for (int r = 0; r < 9; r++) dPdF[9 * r + c] = column[r];
  }
  if (!one.law.fibre) return;
  eb_v4 M[6];
  eb_law_fibre_tangent(&one.law, one.F, one.fibre, project, M);
  const int entry[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
  for (int r = 0; r < 9; r++)
    for (int c = 0; c < 9; c++)
      dPdF[9 * r + c] += M[entry[3 * (r / 3) + c / 3]][0] * fibre[r % 3] * fibre[c % 3];
}
