/* Energies and stresses of the plain materials. */
#include "harness/audit/reference.h"

#include <math.h>

#include "harness/audit/reference_terms.h"

/* ---- terms ----------------------------------------------------------------------------------- */

/* h(J) = -mu ln J + lambda/2 ln^2 J; below J0 = 0.7 its Taylor polynomial of second order about J0,
 * so that inverted elements have an energy too. */
static void logarithmic(eb_lame lame, eb_four J, eb_term *out) {
  eb_four at = eb_four_at_least(J, 0.7), d = J - at, log_at = eb_four_log(at);
  eb_four h = -lame.mu * log_at + 0.5 * lame.lambda * log_at * log_at;
  eb_four first = (lame.lambda * log_at - lame.mu) / at;
  eb_four second = (lame.lambda * (1 - log_at) + lame.mu) / (at * at);
  *out = (eb_term){h + first * d + 0.5 * second * d * d, first + second * d, second};
}

/* stiffness/2 (J - 1)^2 - pressure (J - 1). */
static void quadratic(double stiffness, double pressure, eb_four J, eb_term *out) {
  eb_four d = J - 1;
  *out = (eb_term){d * (0.5 * stiffness * d - pressure), stiffness * d - pressure,
                   eb_four_of(stiffness)};
}

/* lambda/2 (J - a)^2, less its value at rest. */
static void shifted(eb_lame lame, eb_four J, eb_term *out) {
  double a = 1 + lame.mu / lame.lambda - lame.mu / (4 * lame.lambda);
  eb_four d = J - a;
  *out = (eb_term){0.5 * lame.lambda * (d * d - (1 - a) * (1 - a)), lame.lambda * d,
                   eb_four_of(lame.lambda)};
}

void eb_reference_volume(eb_material_kind kind, eb_lame lame, const eb_four *J, eb_term *out) {
  switch (kind) {
  case EB_FIXED_COROTATIONAL:
    quadratic(lame.lambda, 0, *J, out);
    break;
  case EB_NEO_HOOKEAN:
    logarithmic(lame, *J, out);
    break;
  case EB_STABLE_NEO_HOOKEAN:
    shifted(lame, *J, out);
    break;
  case EB_MOONEY_RIVLIN: /* C10 = 3/8 mu, C01 = 1/8 mu */
    quadratic(lame.lambda + 0.75 * lame.mu, 1.25 * lame.mu, *J, out);
    break;
  default:
    *out = (eb_term){eb_four_of(0), eb_four_of(0), eb_four_of(0)};
  }
}

void eb_reference_fibre(const eb_material *material, const eb_four *I5, eb_term *out) {
  double k = material->fibre_stiffness, k2 = material->fibre_exponent;
  double k1 = material->activation * k;
  eb_four d = *I5 - 1;
  if (material->fibre == EB_FIBRE_ASTVK) {
    *out = (eb_term){0.5 * k * d * d, k * d, eb_four_of(k)};
    return;
  }
  eb_four grown = eb_four_exp(k2 * d * d);
  *out = (eb_term){k1 / (2 * k2) * (grown - 1), k1 * d * grown, k1 * grown * (1 + 2 * k2 * d * d)};
}

/* ---- energies and stresses ------------------------------------------------------------------- */

/* What the formulas below share, from one F. */
typedef struct kinematics {
  const eb_four *F;
  eb_four R[9], cof[9];
  double mu, lambda;
  eb_term volume; /* the terms in J */
} kinematics;

static void linear(const kinematics *k, eb_four *psi, eb_four P[9]) {
  eb_four trace = k->F[0] + k->F[4] + k->F[8] - 3, strain2 = eb_four_of(0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      eb_four strain = 0.5 * (k->F[3 * i + j] + k->F[3 * j + i]) - (i == j);
      strain2 += strain * strain;
      P[3 * i + j] = 2 * k->mu * strain + (i == j) * k->lambda * trace;
    }
  *psi = k->mu * strain2 + 0.5 * k->lambda * trace * trace;
}

static void corotated(const kinematics *k, eb_four *psi, eb_four P[9]) {
  eb_four trace = eb_four_of(-3), distance2 = eb_four_of(0);
  for (int i = 0; i < 9; i++) trace += k->R[i] * k->F[i];
  for (int i = 0; i < 9; i++) {
    eb_four d = k->F[i] - k->R[i];
    distance2 += d * d;
    P[i] = 2 * k->mu * d + k->lambda * trace * k->R[i];
  }
  *psi = k->mu * distance2 + 0.5 * k->lambda * trace * trace;
}

static void fixed_corotational(const kinematics *k, eb_four *psi, eb_four P[9]) {
  eb_four distance2 = eb_four_of(0);
  for (int i = 0; i < 9; i++) {
    eb_four d = k->F[i] - k->R[i];
    distance2 += d * d;
    P[i] = 2 * k->mu * d + k->volume.first * k->cof[i];
  }
  *psi = k->mu * distance2 + k->volume.value;
}

static void stvk(const kinematics *k, eb_four *psi, eb_four P[9]) {
  eb_four E[9], S[9], strain2 = eb_four_of(0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      eb_four C = eb_four_of(0);
      for (int m = 0; m < 3; m++) C += k->F[3 * m + i] * k->F[3 * m + j];
      E[3 * i + j] = 0.5 * (C - (i == j));
      strain2 += E[3 * i + j] * E[3 * i + j];
    }
  eb_four trace = E[0] + E[4] + E[8];
  for (int i = 0; i < 9; i++) S[i] = 2 * k->mu * E[i] + (i % 4 == 0) * k->lambda * trace;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      P[3 * i + j] = eb_four_of(0);
      for (int m = 0; m < 3; m++) P[3 * i + j] += k->F[3 * i + m] * S[3 * m + j];
    }
  *psi = k->mu * strain2 + 0.5 * k->lambda * trace * trace;
}

/* Smith et al. 2018, Eq. 14, and the constant that makes it vanish at rest. */
static void stable_neo_hookean(const kinematics *k, eb_four *psi, eb_four P[9]) {
  eb_four Ic = eb_norm2(k->F);
  for (int i = 0; i < 9; i++)
    P[i] = k->mu * (1 - 1 / (Ic + 1)) * k->F[i] + k->volume.first * k->cof[i];
  *psi = 0.5 * k->mu * (Ic - 3 - eb_four_log((Ic + 1) / 4)) + k->volume.value;
}

/* mu/2 (Ic - 3) + h(J) */
static void neo_hookean(const kinematics *k, eb_four *psi, eb_four P[9]) {
  for (int i = 0; i < 9; i++) P[i] = k->mu * k->F[i] + k->volume.first * k->cof[i];
  *psi = 0.5 * k->mu * (eb_norm2(k->F) - 3) + k->volume.value;
}

/* C10 (Ic - 3) + C01 (IIc - 3) + h(J) with C10 = 3 C01 and 2 (C10 + C01) = mu; h is the quadratic
 * that gives no stress at rest and Lame's lambda for small strain: h'(1) = -2 C10 - 4 C01, h'' =
 * lambda + 2 C10. IIc = |cof F|^2, dIIc/dF = 2 (Ic F - F F^T F). */
static void mooney_rivlin(const kinematics *k, eb_four *psi, eb_four P[9]) {
  const eb_four *F = k->F;
  double C10 = 0.375 * k->mu, C01 = 0.125 * k->mu;
  eb_four Ic = eb_norm2(F);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      eb_four FFtF = eb_four_of(0);
      for (int m = 0; m < 3; m++)
        for (int l = 0; l < 3; l++) FFtF += F[3 * i + m] * F[3 * l + m] * F[3 * l + j];
      P[3 * i + j] = 2 * C10 * F[3 * i + j] + 2 * C01 * (Ic * F[3 * i + j] - FFtF) +
                     k->volume.first * k->cof[3 * i + j];
    }
  *psi = C10 * (Ic - 3) + C01 * (eb_norm2(k->cof) - 3) + k->volume.value;
}

/* psi_f(I5), I5 = |F a|^2: adds it, and its stress 2 psi_f' F a a^T to P. */
static void add_fibre(const eb_material *material, const eb_four F[9], const eb_four a[3],
                      eb_four *psi, eb_four P[9]) {
  eb_four Fa[3];
  eb_term fibre;
  eb_four_turn3(F, a, Fa);
  eb_four I5 = eb_four_dot3(Fa, Fa);
  eb_reference_fibre(material, &I5, &fibre);
  *psi += fibre.value;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P[3 * i + j] += 2 * fibre.first * Fa[i] * a[j];
}

/* mu |F - R|^2 + 3/2 lambda |F - D|^2, R the nearest rotation and D the nearest matrix of
 * determinant 1 (Bouaziz et al. 2014, with the weight that makes lambda Lame's). */
static void projective(const kinematics *k, eb_four *psi, eb_four P[9]) {
  eb_four U[9], s[3], V[9], d[3], distance2 = eb_four_of(0), volume2 = eb_four_of(0);
  eb_reference_frame(k->F, U, s, V);
  eb_reference_nearest_volume(s, d);
  for (int i = 0; i < 9; i++) {
    eb_four off = k->F[i] - k->R[i], thick = k->F[i];
    for (int m = 0; m < 3; m++) thick -= U[i - i % 3 + m] * d[m] * V[3 * (i % 3) + m];
    distance2 += off * off;
    volume2 += thick * thick;
    P[i] = 2 * k->mu * off + 3 * k->lambda * thick;
  }
  *psi = k->mu * distance2 + 1.5 * k->lambda * volume2;
}

/* A plug-in's own functions: nobody else knows it. That they agree with each other was seen before
 * the run (problems/elasticity/plugged_rules.h). */
static void plugged(const eb_material *material, const eb_four F[9], eb_four *psi, eb_four P[9]) {
  const eb_material_ops *ops = material->plugged->ops;
  double p[EB_PLUGGED_NUMBERS];
  eb_reference_numbers(material, p);
  for (int lane = 0; lane < EB_FOUR; lane++) {
    double one[9], own[9];
    for (int i = 0; i < 9; i++) one[i] = F[i][lane];
    (*psi)[lane] = ops->energy(p, one);
    ops->stress(p, one, own);
    for (int i = 0; i < 9; i++) P[i][lane] = own[i];
  }
}

static void base_term(const eb_material *material, const kinematics *k, eb_four *psi,
                      eb_four P[9]) {
  switch (material->kind) {
  case EB_LINEAR:
    linear(k, psi, P);
    break;
  case EB_COROTATIONAL:
  case EB_COROTATED:
    corotated(k, psi, P);
    break;
  case EB_FIXED_COROTATIONAL:
    fixed_corotational(k, psi, P);
    break;
  case EB_STVK:
    stvk(k, psi, P);
    break;
  case EB_NEO_HOOKEAN:
    neo_hookean(k, psi, P);
    break;
  case EB_STABLE_NEO_HOOKEAN:
    stable_neo_hookean(k, psi, P);
    break;
  case EB_MOONEY_RIVLIN:
    mooney_rivlin(k, psi, P);
    break;
  case EB_PROJECTIVE:
    projective(k, psi, P);
    break;
  case EB_PLUGGED:
    plugged(material, k->F, psi, P);
  }
}

static bool wants_rotation(eb_material_kind kind) {
  return kind == EB_COROTATIONAL || kind == EB_COROTATED || kind == EB_FIXED_COROTATIONAL ||
         kind == EB_PROJECTIVE;
}

void eb_reference_material(const eb_material *material, const eb_four F[9], const eb_four *fibre,
                           eb_four *psi, eb_four P[9]) {
  eb_lame lame = eb_coefficients(material);
  kinematics k = {.F = F, .mu = lame.mu, .lambda = lame.lambda};
  eb_cofactor(F, k.cof);
  eb_four J = eb_four_dot3(F, k.cof);
  eb_reference_volume(material->kind, lame, &J, &k.volume);
  if (wants_rotation(material->kind)) eb_reference_polar(F, k.R);
  base_term(material, &k, psi, P);
  if (material->fibre != EB_FIBRE_NONE && fibre) add_fibre(material, F, fibre, psi, P);
}
