#include "harness/audit/reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double determinant(const double F[9]) {
  return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
         F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* dJ/dF: the cofactor matrix. */
static void cofactor(const double F[9], double C[9]) {
  C[0] = F[4] * F[8] - F[5] * F[7];
  C[1] = F[5] * F[6] - F[3] * F[8];
  C[2] = F[3] * F[7] - F[4] * F[6];
  C[3] = F[2] * F[7] - F[1] * F[8];
  C[4] = F[0] * F[8] - F[2] * F[6];
  C[5] = F[1] * F[6] - F[0] * F[7];
  C[6] = F[1] * F[5] - F[2] * F[4];
  C[7] = F[2] * F[3] - F[0] * F[5];
  C[8] = F[0] * F[4] - F[1] * F[3];
}

static double squared_norm(const double A[9]) {
  double sum = 0;
  for (int i = 0; i < 9; i++) sum += A[i] * A[i];
  return sum;
}

/* One Jacobi rotation that makes columns p and q of A orthogonal, applied to V too. Returns whether
 * they were not already. */
static int orthogonalize(double A[9], double V[9], int p, int q) {
  double pp = 0, qq = 0, pq = 0;
  for (int i = 0; i < 3; i++) {
    pp += A[3 * i + p] * A[3 * i + p];
    qq += A[3 * i + q] * A[3 * i + q];
    pq += A[3 * i + p] * A[3 * i + q];
  }
  if (fabs(pq) <= 0.5 * DBL_EPSILON * sqrt(pp * qq) || pq == 0) return 0;
  double zeta = (qq - pp) / (2 * pq);
  double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  double c = 1 / sqrt(1 + t * t), s = c * t;
  for (int i = 0; i < 3; i++) {
    double ap = A[3 * i + p], vp = V[3 * i + p];
    A[3 * i + p] = c * ap - s * A[3 * i + q];
    A[3 * i + q] = s * ap + c * A[3 * i + q];
    V[3 * i + p] = c * vp - s * V[3 * i + q];
    V[3 * i + q] = s * vp + c * V[3 * i + q];
  }
  return 1;
}

static void swap_columns(double A[9], int p, int q) {
  for (int i = 0; i < 3; i++) {
    double keep = A[3 * i + p];
    A[3 * i + p] = A[3 * i + q];
    A[3 * i + q] = keep;
  }
}

static double column_norm(const double A[9], int c) {
  return sqrt(A[c] * A[c] + A[3 + c] * A[3 + c] + A[6 + c] * A[6 + c]);
}

/* Swaps so that column norms descend; a swap in A and V leaves A V^T unchanged. */
static void sort_columns(double A[9], double V[9], double s[3]) {
  for (int c = 0; c < 3; c++) s[c] = column_norm(A, c);
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c + 1 < 3 - pass; c++)
      if (s[c] < s[c + 1]) {
        double keep = s[c];
        s[c] = s[c + 1];
        s[c + 1] = keep;
        swap_columns(A, c, c + 1);
        swap_columns(V, c, c + 1);
      }
}

static void cross_column(double A[9], int out, int a, int b) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    A[3 * i + out] = A[3 * j + a] * A[3 * k + b] - A[3 * k + a] * A[3 * j + b];
  }
}

/* Makes column c a unit vector orthogonal to column 0 when the matrix has lost that rank. */
static void complete_column(double U[9], int c) {
  int axis = fabs(U[0]) < 0.6 ? 0 : 1;
  double along = U[3 * axis];
  for (int i = 0; i < 3; i++) U[3 * i + c] = (i == axis) - along * U[3 * i];
  double length = column_norm(U, c);
  for (int i = 0; i < 3; i++) U[3 * i + c] /= length;
}

void eb_reference_svd(const double F[9], double U[9], double s[3], double V[9]) {
  enum { SWEEPS = 16 };
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(U, F, 9 * sizeof *U);
  memcpy(V, identity, sizeof identity);
  for (int sweep = 0, changed = 1; changed && sweep < SWEEPS; sweep++)
    changed = orthogonalize(U, V, 0, 1) + orthogonalize(U, V, 0, 2) + orthogonalize(U, V, 1, 2);
  sort_columns(U, V, s);
  if (determinant(V) < 0) /* turning the sign of column 2 in both leaves A V^T unchanged */
    for (int i = 0; i < 3; i++) {
      V[3 * i + 2] = -V[3 * i + 2];
      U[3 * i + 2] = -U[3 * i + 2];
    }
  double sign = determinant(F) < 0 ? -1 : 1;
  if (s[0] == 0) {
    memcpy(U, identity, sizeof identity);
    return;
  }
  for (int i = 0; i < 3; i++) U[3 * i] /= s[0];
  if (s[1] > DBL_EPSILON * s[0])
    for (int i = 0; i < 3; i++) U[3 * i + 1] /= s[1];
  else
    complete_column(U, 1);
  cross_column(U, 2, 0, 1);
  s[2] *= sign;
}

/* What the formulas below share, from one F. */
typedef struct kinematics {
  const double *F;
  double R[9], cof[9], J, mu, lambda;
} kinematics;

static void polar(const double F[9], double R[9]) {
  double U[9], s[3], V[9];
  eb_reference_svd(F, U, s, V);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) R[3 * i + j] += U[3 * i + k] * V[3 * j + k];
    }
}

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
  double distance2 = 0, dilation = k->J - 1;
  for (int i = 0; i < 9; i++) {
    double d = k->F[i] - k->R[i];
    distance2 += d * d;
    P[i] = 2 * k->mu * d + k->lambda * dilation * k->cof[i];
  }
  return k->mu * distance2 + 0.5 * k->lambda * dilation * dilation;
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

/* Smith et al. 2018, Eq. 14, with the Lame parameters of linear elasticity converted (Sec. 3.4) and the
 * constant that makes it vanish at rest. */
static double stable_neo_hookean(const kinematics *k, double P[9]) {
  double mu = 4. / 3 * k->mu, lambda = k->lambda + 5. / 6 * k->mu;
  double a = 1 + mu / lambda - mu / (4 * lambda);
  double Ic = squared_norm(k->F), volume = k->J - a;
  for (int i = 0; i < 9; i++)
    P[i] = mu * (1 - 1 / (Ic + 1)) * k->F[i] + lambda * volume * k->cof[i];
  return 0.5 * mu * (Ic - 3 - log((Ic + 1) / 4)) +
         0.5 * lambda * (volume * volume - (1 - a) * (1 - a));
}

/* mu/2 (Ic - 3) + h(J), h = -mu ln J + lambda/2 ln^2 J; below J0 = 0.7 its Taylor polynomial of second
 * order about J0, so that inverted elements have an energy too. */
static double neo_hookean(const kinematics *k, double P[9]) {
  const double J0 = 0.7;
  double at = fmax(k->J, J0), d = k->J - at, log_at = log(at);
  double h = -k->mu * log_at + 0.5 * k->lambda * log_at * log_at;
  double first = (k->lambda * log_at - k->mu) / at;
  double second = (k->lambda * (1 - log_at) + k->mu) / (at * at);
  for (int i = 0; i < 9; i++) P[i] = k->mu * k->F[i] + (first + second * d) * k->cof[i];
  return 0.5 * k->mu * (squared_norm(k->F) - 3) + h + first * d + 0.5 * second * d * d;
}

/* C10 (Ic - 3) + C01 (IIc - 3) + h(J) with C10 = 3 C01 and 2 (C10 + C01) = mu; h is the quadratic that gives
 * no stress at rest and Lame's lambda for small strain. IIc = |cof F|^2, dIIc/dF = 2 (Ic F - F F^T F). */
static double mooney_rivlin(const kinematics *k, double P[9]) {
  const double *F = k->F;
  double C10 = 0.375 * k->mu, C01 = 0.125 * k->mu, Ic = squared_norm(F), dilation = k->J - 1;
  double stiffness = k->lambda + 2 * C10, pressure = 2 * C10 + 4 * C01;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double FFtF = 0;
      for (int m = 0; m < 3; m++)
        for (int l = 0; l < 3; l++) FFtF += F[3 * i + m] * F[3 * l + m] * F[3 * l + j];
      P[3 * i + j] = 2 * C10 * F[3 * i + j] + 2 * C01 * (Ic * F[3 * i + j] - FFtF) +
                     (stiffness * dilation - pressure) * k->cof[3 * i + j];
    }
  return C10 * (Ic - 3) + C01 * (squared_norm(k->cof) - 3) +
         dilation * (0.5 * stiffness * dilation - pressure);
}

/* psi_f(I5), I5 = |F a|^2: adds its stress 2 psi_f' F a a^T to P. */
static double fibre_term(const eb_material *m, const double F[9], const double a[3], double P[9]) {
  double Fa[3], I5 = 0, psi = 0, slope = 0;
  for (int i = 0; i < 3; i++) {
    Fa[i] = F[3 * i] * a[0] + F[3 * i + 1] * a[1] + F[3 * i + 2] * a[2];
    I5 += Fa[i] * Fa[i];
  }
  double d = I5 - 1;
  if (m->fibre == EB_FIBRE_ASTVK) {
    psi = 0.5 * m->fibre_stiffness * d * d;
    slope = m->fibre_stiffness * d;
  } else {
    double k1 = m->activation * m->fibre_stiffness, grown = exp(m->fibre_exponent * d * d);
    psi = k1 / (2 * m->fibre_exponent) * (grown - 1);
    slope = k1 * d * grown;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P[3 * i + j] += 2 * slope * Fa[i] * a[j];
  return psi;
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
  double E = material->young, nu = material->poisson;
  kinematics k = {.F = F,
                  .J = determinant(F),
                  .mu = E / (2 * (1 + nu)),
                  .lambda = E * nu / ((1 + nu) * (1 - 2 * nu))};
  cofactor(F, k.cof);
  if (wants_rotation(material->kind)) polar(F, k.R);
  double psi = base_term(material, &k, P);
  if (material->fibre != EB_FIBRE_NONE && fibre) psi += fibre_term(material, F, fibre, P);
  return psi;
}
