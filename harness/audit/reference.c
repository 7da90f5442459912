/* Energies and stresses of the plain materials. */
#include "harness/audit/reference.h"

#include <math.h>

#include "harness/audit/reference_terms.h"
#include "problems/base/vector3.h"

/* ---- terms ------------------------------------------------------------------------------------ */

/* h(J) = -mu ln J + lambda/2 ln^2 J; below J0 = 0.7 its Taylor polynomial of second order about J0, so that inverted
 * elements have an energy too. */
static eb_term logarithmic(eb_lame lame, double J) {
  const double J0 = 0.7;
  double at = fmax(J, J0), d = J - at, log_at = log(at);
  double h = -lame.mu * log_at + 0.5 * lame.lambda * log_at * log_at;
  double first = (lame.lambda * log_at - lame.mu) / at;
  double second = (lame.lambda * (1 - log_at) + lame.mu) / (at * at);
  return (eb_term){h + first * d + 0.5 * second * d * d, first + second * d, second};
}

/* stiffness/2 (J - 1)^2 - pressure (J - 1). */
static eb_term quadratic(double stiffness, double pressure, double J) {
  double d = J - 1;
  return (eb_term){d * (0.5 * stiffness * d - pressure), stiffness * d - pressure, stiffness};
}

/* lambda/2 (J - a)^2, less its value at rest. */
static eb_term shifted(eb_lame lame, double J) {
  double a = 1 + lame.mu / lame.lambda - lame.mu / (4 * lame.lambda), d = J - a;
  return (eb_term){0.5 * lame.lambda * (d * d - (1 - a) * (1 - a)), lame.lambda * d, lame.lambda};
}

eb_term eb_reference_volume(eb_material_kind kind, eb_lame lame, double J) {
  switch (kind) {
  case EB_FIXED_COROTATIONAL:
    return quadratic(lame.lambda, 0, J);
  case EB_NEO_HOOKEAN:
    return logarithmic(lame, J);
  case EB_STABLE_NEO_HOOKEAN:
    return shifted(lame, J);
  case EB_MOONEY_RIVLIN: /* C10 = 3/8 mu, C01 = 1/8 mu */
    return quadratic(lame.lambda + 0.75 * lame.mu, 1.25 * lame.mu, J);
  default:
    return (eb_term){0};
  }
}

eb_term eb_reference_fibre(const eb_material *material, double I5) {
  double d = I5 - 1, k = material->fibre_stiffness, k2 = material->fibre_exponent;
  if (material->fibre == EB_FIBRE_ASTVK) return (eb_term){0.5 * k * d * d, k * d, k};
  double k1 = material->activation * k, grown = exp(k2 * d * d);
  return (eb_term){k1 / (2 * k2) * (grown - 1), k1 * d * grown, k1 * grown * (1 + 2 * k2 * d * d)};
}

/* ---- energies and stresses -------------------------------------------------------------------- */

/* What the formulas below share, from one F. */
typedef struct kinematics {
  const double *F;
  double R[9], cof[9], mu, lambda;
  eb_term volume; /* the terms in J */
} kinematics;

static double linear(const kinematics *k, double P[9]) {
  double trace = k->F[0] + k->F[4] + k->F[8] - 3, strain2 = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double strain = 0.5 * (k->F[3 * i + j] + k->F[3 * j + i]) - (i == j);
      strain2 += strain * strain;
      P[3 * i + j] = 2 * k->mu * strain + (i == j) * k->lambda * trace;
    }
  return k->mu * strain2 + 0.5 * k->lambda * trace * trace;
}

static double corotated(const kinematics *k, double P[9]) {
  double trace = -3, distance2 = 0;
  for (int i = 0; i < 9; i++) trace += k->R[i] * k->F[i];
  for (int i = 0; i < 9; i++) {
    double d = k->F[i] - k->R[i];
    distance2 += d * d;
    P[i] = 2 * k->mu * d + k->lambda * trace * k->R[i];
  }
  return k->mu * distance2 + 0.5 * k->lambda * trace * trace;
}

static double fixed_corotational(const kinematics *k, double P[9]) {
  double distance2 = 0;
  for (int i = 0; i < 9; i++) {
    double d = k->F[i] - k->R[i];
    distance2 += d * d;
    P[i] = 2 * k->mu * d + k->volume.first * k->cof[i];
  }
  return k->mu * distance2 + k->volume.value;
}

static double stvk(const kinematics *k, double P[9]) {
  double E[9], S[9], trace = 0, strain2 = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double C = 0;
      for (int m = 0; m < 3; m++) C += k->F[3 * m + i] * k->F[3 * m + j];
      E[3 * i + j] = 0.5 * (C - (i == j));
      strain2 += E[3 * i + j] * E[3 * i + j];
    }
  trace = E[0] + E[4] + E[8];
  for (int i = 0; i < 9; i++) S[i] = 2 * k->mu * E[i] + (i % 4 == 0) * k->lambda * trace;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      P[3 * i + j] = 0;
      for (int m = 0; m < 3; m++) P[3 * i + j] += k->F[3 * i + m] * S[3 * m + j];
    }
  return k->mu * strain2 + 0.5 * k->lambda * trace * trace;
}

/* Smith et al. 2018, Eq. 14, and the constant that makes it vanish at rest. */
static double stable_neo_hookean(const kinematics *k, double P[9]) {
  double Ic = eb_norm2(k->F);
  for (int i = 0; i < 9; i++)
    P[i] = k->mu * (1 - 1 / (Ic + 1)) * k->F[i] + k->volume.first * k->cof[i];
  return 0.5 * k->mu * (Ic - 3 - log((Ic + 1) / 4)) + k->volume.value;
}

/* mu/2 (Ic - 3) + h(J) */
static double neo_hookean(const kinematics *k, double P[9]) {
  for (int i = 0; i < 9; i++) P[i] = k->mu * k->F[i] + k->volume.first * k->cof[i];
  return 0.5 * k->mu * (eb_norm2(k->F) - 3) + k->volume.value;
}

/* C10 (Ic - 3) + C01 (IIc - 3) + h(J) with C10 = 3 C01 and 2 (C10 + C01) = mu; h is the quadratic that gives
 * no stress at rest and Lame's lambda for small strain: h'(1) = -2 C10 - 4 C01, h'' = lambda + 2 C10.
 * IIc = |cof F|^2, dIIc/dF = 2 (Ic F - F F^T F). */
static double mooney_rivlin(const kinematics *k, double P[9]) {
  const double *F = k->F;
  double C10 = 0.375 * k->mu, C01 = 0.125 * k->mu, Ic = eb_norm2(F);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double FFtF = 0;
      for (int m = 0; m < 3; m++)
        for (int l = 0; l < 3; l++) FFtF += F[3 * i + m] * F[3 * l + m] * F[3 * l + j];
      P[3 * i + j] = 2 * C10 * F[3 * i + j] + 2 * C01 * (Ic * F[3 * i + j] - FFtF) +
                     k->volume.first * k->cof[3 * i + j];
    }
  return C10 * (Ic - 3) + C01 * (eb_norm2(k->cof) - 3) + k->volume.value;
}

/* psi_f(I5), I5 = |F a|^2: adds its stress 2 psi_f' F a a^T to P. */
static double fibre_term(const eb_material *material, const double F[9], const double a[3],
                         double P[9]) {
  double Fa[3];
  eb_turn3(F, a, Fa);
  eb_term fibre = eb_reference_fibre(material, eb_dot3(Fa, Fa));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P[3 * i + j] += 2 * fibre.first * Fa[i] * a[j];
  return fibre.value;
}

static double base_term(const eb_material *material, const kinematics *k, double P[9]) {
  switch (material->kind) {
  case EB_LINEAR:
    return linear(k, P);
  case EB_COROTATIONAL:
  case EB_COROTATED:
    return corotated(k, P);
  case EB_FIXED_COROTATIONAL:
    return fixed_corotational(k, P);
  case EB_STVK:
    return stvk(k, P);
  case EB_NEO_HOOKEAN:
    return neo_hookean(k, P);
  case EB_STABLE_NEO_HOOKEAN:
    return stable_neo_hookean(k, P);
  case EB_MOONEY_RIVLIN:
    return mooney_rivlin(k, P);
  case EB_MATERIAL_KINDS:
    break;
  }
  return NAN;
}

static bool wants_rotation(eb_material_kind kind) {
  return kind == EB_COROTATIONAL || kind == EB_COROTATED || kind == EB_FIXED_COROTATIONAL;
}

double eb_reference_material(const eb_material *material, const double F[9], const double *fibre,
                             double P[9]) {
  eb_lame lame = eb_coefficients(material);
  kinematics k = {.F = F, .mu = lame.mu, .lambda = lame.lambda};
  eb_cofactor(F, k.cof);
  k.volume = eb_reference_volume(material->kind, lame, eb_dot3(F, k.cof));
  if (wants_rotation(material->kind)) eb_reference_polar(F, k.R);
  double psi = base_term(material, &k, P);
  if (material->fibre != EB_FIBRE_NONE && fibre) psi += fibre_term(material, F, fibre, P);
  return psi;
}
