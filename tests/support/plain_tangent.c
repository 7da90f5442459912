#include "tests/support/plain_tangent.h"

#include <float.h>
#include <math.h>

#include "harness/audit/reference.h"
#include "problems/base/vector3.h"

/* ---- terms -------------------------------------------------------------------------------------
 * */

typedef struct term {
  double value, first, second;
} term;

typedef struct lame {
  double mu, lambda; /* Pa */
} lame;

static lame lame_of(const eb_material *material) {
  double E = material->young, nu = material->poisson;
  return (lame){E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))};
}

static lame coefficients(const eb_material *material) {
  lame plain = lame_of(material);
  if (material->kind != EB_STABLE_NEO_HOOKEAN) return plain;
  return (lame){4. / 3 * plain.mu, plain.lambda + 5. / 6 * plain.mu};
}

/* h(J) = -mu ln J + lambda/2 ln^2 J; below J0 = 0.7 its Taylor polynomial of second order about J0,
 * so that inverted
 * elements have an energy too. */
static term logarithmic(lame of, double J) {
  const double J0 = 0.7;
  double at = fmax(J, J0), d = J - at, log_at = log(at);
  double h = -of.mu * log_at + 0.5 * of.lambda * log_at * log_at;
  double first = (of.lambda * log_at - of.mu) / at;
  double second = (of.lambda * (1 - log_at) + of.mu) / (at * at);
  return (term){h + first * d + 0.5 * second * d * d, first + second * d, second};
}

/* stiffness/2 (J - 1)^2 - pressure (J - 1). */
static term quadratic(double stiffness, double pressure, double J) {
  double d = J - 1;
  return (term){d * (0.5 * stiffness * d - pressure), stiffness * d - pressure, stiffness};
}

/* lambda/2 (J - a)^2, less its value at rest. */
static term shifted(lame of, double J) {
  double a = 1 + of.mu / of.lambda - of.mu / (4 * of.lambda), d = J - a;
  return (term){0.5 * of.lambda * (d * d - (1 - a) * (1 - a)), of.lambda * d, of.lambda};
}

static term volume_term(eb_material_kind kind, lame of, double J) {
  switch (kind) {
  case EB_FIXED_COROTATIONAL:
    return quadratic(of.lambda, 0, J);
  case EB_NEO_HOOKEAN:
    return logarithmic(of, J);
  case EB_STABLE_NEO_HOOKEAN:
    return shifted(of, J);
  case EB_MOONEY_RIVLIN: /* C10 = 3/8 mu, C01 = 1/8 mu */
    return quadratic(of.lambda + 0.75 * of.mu, 1.25 * of.mu, J);
  default:
    return (term){0};
  }
}

static term fibre_term(const eb_material *material, double I5) {
  double d = I5 - 1, k = material->fibre_stiffness, k2 = material->fibre_exponent;
  if (material->fibre == EB_FIBRE_ASTVK) return (term){0.5 * k * d * d, k * d, k};
  double k1 = material->activation * k, grown = exp(k2 * d * d);
  return (term){k1 / (2 * k2) * (grown - 1), k1 * d * grown, k1 * grown * (1 + 2 * k2 * d * d)};
}

/* ---- 3 x 3 matrices ----------------------------------------------------------------------------
 * */

/* C = A B; C is neither A nor B. */
static void multiply(const double A[9], const double B[9], double C[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static void transpose(const double A[9], double B[9]) {
  for (int i = 0; i < 9; i++) B[i] = A[3 * (i % 3) + i / 3];
}

/* Turns rows and columns p and q of the symmetric A so that A_pq becomes 0, and columns of Q with
 * them. Returns whether it was not already. */
static inline int jacobi_rotation(double A[9], double Q[9], int p, int q) {
  int k = 3 - p - q; /* the third index */
  double off = A[3 * p + q];
  if (!(fabs(off) > 0.5 * DBL_EPSILON * (fabs(A[4 * p]) + fabs(A[4 * q])))) return 0;
  double zeta = (A[4 * q] - A[4 * p]) / (2 * off);
  double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  double c = 1 / sqrt(1 + t * t), s = c * t, kp = A[3 * k + p], kq = A[3 * k + q];
  A[4 * p] -= t * off;
  A[4 * q] += t * off;
  A[3 * p + q] = A[3 * q + p] = 0;
  A[3 * k + p] = A[3 * p + k] = c * kp - s * kq;
  A[3 * k + q] = A[3 * q + k] = s * kp + c * kq;
  for (int i = 0; i < 3; i++) {
    double keep = Q[3 * i + p];
    Q[3 * i + p] = c * keep - s * Q[3 * i + q];
    Q[3 * i + q] = s * keep + c * Q[3 * i + q];
  }
  return 1;
}

/* Turns the symmetric A into diag(w), A = Q diag(w) Q^T, by Jacobi's rotations. */
static void diagonalize(double A[9], double Q[9]) {
  enum { SWEEPS = 16 };
  for (int i = 0; i < 9; i++) Q[i] = i % 4 == 0;
  for (int sweep = 0, changed = 1; changed && sweep < SWEEPS; sweep++)
    changed =
        jacobi_rotation(A, Q, 0, 1) + jacobi_rotation(A, Q, 0, 2) + jacobi_rotation(A, Q, 1, 2);
}

/* Sylvester's criterion. */
static bool is_positive(const double A[9]) {
  double minor = A[0] * A[4] - A[1] * A[3];
  double det = A[2] * (A[3] * A[7] - A[4] * A[6]) - A[5] * (A[0] * A[7] - A[1] * A[6]);
  return A[0] > 0 && minor > 0 && det + A[8] * minor > 0;
}

/* Sets the negative eigenvalues of the symmetric A to 0. */
static void clamp_eigenvalues(double A[9]) {
  double Q[9], w[3];
  if (is_positive(A)) return;
  diagonalize(A, Q);
  for (int k = 0; k < 3; k++) w[k] = fmax(A[4 * k], 0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) A[3 * i + j] += w[k] * Q[3 * i + k] * Q[3 * j + k];
    }
}

/* The rotation of the singular vectors. */
static void polar(const double F[9], double R[9]) {
  double U[9], s[3], V[9], turned[9];
  eb_reference_svd(F, U, s, V);
  transpose(V, turned);
  multiply(U, turned, R);
}

/* ---- stretches ---------------------------------------------------------------------------------
 * */

/* First and second derivatives of psi by the invariants; IIc enters linearly everywhere. */
typedef struct invariant_slopes {
  double trace, trace2, square, square2, cofactor, volume, volume2;
} invariant_slopes;

static invariant_slopes differentiate(const eb_material *material, const double s[3]) {
  lame of = coefficients(material);
  double mu = of.mu, lambda = of.lambda, Ic = eb_dot3(s, s);
  term volume = volume_term(material->kind, of, s[0] * s[1] * s[2]);
  invariant_slopes d = {.volume = volume.first, .volume2 = volume.second};
  switch (material->kind) {
  case EB_COROTATED: /* mu (Ic - 2 tr S + 3) + lambda/2 (tr S - 3)^2 */
    d.trace = lambda * (s[0] + s[1] + s[2] - 3) - 2 * mu;
    d.trace2 = lambda;
    d.square = mu;
    break;
  case EB_PROJECTIVE:         /* and what add_nearest_volume adds */
  case EB_FIXED_COROTATIONAL: /* mu (Ic - 2 tr S + 3) + h(J) */
    d.trace = -2 * mu;
    d.square = mu;
    break;
  case EB_STVK: /* mu/4 (Ic^2 - 2 IIc - 2 Ic + 3) + lambda/8 (Ic - 3)^2 */
    d.square = 0.5 * mu * (Ic - 1) + 0.25 * lambda * (Ic - 3);
    d.square2 = 0.5 * mu + 0.25 * lambda;
    d.cofactor = -0.5 * mu;
    break;
  case EB_STABLE_NEO_HOOKEAN: /* mu/2 (Ic - ln(Ic + 1)) + h(J) */
    d.square = 0.5 * mu * (1 - 1 / (Ic + 1));
    d.square2 = 0.5 * mu / ((Ic + 1) * (Ic + 1));
    break;
  case EB_MOONEY_RIVLIN: /* C10 Ic + C01 IIc + h(J) */
    d.square = 0.375 * mu;
    d.cofactor = 0.125 * mu;
    break;
  default: /* neo-Hookean: mu/2 Ic + h(J) */
    d.square = 0.5 * mu;
  }
  return d;
}

/* The tangent in the frame of the stretches; pairs are named by the index they leave out. */
typedef struct stretch_tangent {
  double along[9], flip[3], twist[3];
} stretch_tangent;

static void derive_pair(const invariant_slopes *d, const double s[3], int m, stretch_tangent *t) {
  static const double smallest_sum = 1e-8;
  int k = (m + 1) % 3, l = (m + 2) % 3;
  double kl = s[k] * s[l], mm = s[m] * s[m], sum = fmax(s[k] + s[l], smallest_sum);
  t->along[4 * m] = d->trace2 + 2 * d->square + 4 * d->square2 * mm +
                    2 * d->cofactor * (s[k] * s[k] + s[l] * s[l]) + d->volume2 * kl * kl;
  t->along[3 * k + l] = t->along[3 * l + k] =
      d->trace2 + 4 * (d->square2 + d->cofactor) * kl + d->volume2 * kl * mm + d->volume * s[m];
  t->flip[m] = 2 * d->square + 2 * d->cofactor * (mm - kl) - d->volume * s[m];
  t->twist[m] = 2 * d->trace / sum + 2 * d->square + 2 * d->cofactor * (mm + kl) + d->volume * s[m];
}

/* The d of product 1 nearest to s, by halving: d_k = (s_k + sqrt(s_k^2 - 4 m)) / 2, but for the
 * smallest, which is t itself, m = t (s - t). For stretches below 1.7. Returns m. */
static double nearest_volume(const double s[3], double d[3]) {
  enum { HALVINGS = 90 };
  int least = s[0] <= s[1] && s[0] <= s[2] ? 0 : s[1] <= s[2] ? 1 : 2;
  double lo = 0, hi = 1, m = 0;
  for (int i = 0; i < HALVINGS; i++) {
    double t = 0.5 * (lo + hi), product = 1;
    m = t * (s[least] - t);
    for (int k = 0; k < 3; k++)
      product *= d[k] = k == least ? t : 0.5 * (s[k] + sqrt(fmax(s[k] * s[k] - 4 * m, 0)));
    *(product > 1 ? &hi : &lo) = t;
  }
  return m;
}

/* Of 3/2 lambda |s - d|^2: with a_k = 1 - m / d_k^2 and n_k = 1 / d_k, a_k dd_k + n_k dm = ds_k and
 * n . dd = 0. */
static void add_nearest_volume(double lambda, const double s[3], stretch_tangent *t) {
  static const double smallest_sum = 1e-8;
  double d[3], a[3], m = nearest_volume(s, d), sum = 0;
  for (int k = 0; k < 3; k++) {
    a[k] = 1 - m / (d[k] * d[k]);
    sum += 1 / (a[k] * d[k] * d[k]);
  }
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++)
      t->along[3 * k + l] +=
          3 * lambda * ((k == l) * (1 - 1 / a[k]) + 1 / (a[k] * d[k] * a[l] * d[l] * sum));
  for (int i = 0; i < 3; i++) {
    int k = (i + 1) % 3, l = (i + 2) % 3;
    t->flip[i] += 3 * lambda * (1 - 1 / (1 - m / (d[k] * d[l])));
    t->twist[i] += 3 * lambda * (1 - (d[k] + d[l]) / fmax(s[k] + s[l], smallest_sum));
  }
}

static stretch_tangent derive_stretches(const eb_material *material, const double s[3],
                                        bool project) {
  invariant_slopes slopes = differentiate(material, s);
  stretch_tangent t;
  for (int m = 0; m < 3; m++) derive_pair(&slopes, s, m, &t);
  if (material->kind == EB_PROJECTIVE) add_nearest_volume(lame_of(material).lambda, s, &t);
  if (!project) return t;
  clamp_eigenvalues(t.along);
  for (int m = 0; m < 3; m++) {
    t.flip[m] = fmax(t.flip[m], 0);
    t.twist[m] = fmax(t.twist[m], 0);
  }
  return t;
}

/* ---- parts of the tangent -------------------------------------------------------------------- */

/* F = U diag(s) V^T with U = R V from F = R S, S = V diag(s) V^T: cheaper than singular vectors
 * where F is close to R. */
static void find_frame(const double F[9], double U[9], double s[3], double V[9]) {
  double R[9], turned[9], S[9];
  polar(F, R);
  transpose(R, turned);
  multiply(turned, F, S);
  for (int i = 0; i < 3; i++) /* but for rounding */
    for (int j = 0; j < i; j++) S[3 * i + j] = S[3 * j + i] = 0.5 * (S[3 * i + j] + S[3 * j + i]);
  diagonalize(S, V);
  for (int k = 0; k < 3; k++) s[k] = S[4 * k];
  multiply(R, V, U);
}

static void isotropic(const eb_material *material, bool project, const double F[9],
                      const double dF[9], double dP[9]) {
  double U[9], s[3], V[9], turned[9], X[9], Y[9];
  find_frame(F, U, s, V);
  stretch_tangent t = derive_stretches(material, s, project);
  transpose(U, turned);
  multiply(turned, dF, Y);
  multiply(Y, V, X);
  for (int m = 0; m < 3; m++) {
    int k = (m + 1) % 3, l = (m + 2) % 3;
    double even = 0.5 * t.flip[m] * (X[3 * k + l] + X[3 * l + k]);
    double odd = 0.5 * t.twist[m] * (X[3 * k + l] - X[3 * l + k]);
    Y[3 * k + l] = even + odd;
    Y[3 * l + k] = even - odd;
    Y[4 * m] = t.along[3 * m] * X[0] + t.along[3 * m + 1] * X[4] + t.along[3 * m + 2] * X[8];
  }
  transpose(V, turned);
  multiply(U, Y, X);
  multiply(X, turned, dP);
}

static void rotated(const eb_material *material, const double F[9], const double dF[9],
                    double dP[9]) {
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, back[9], strain[9], stress[9];
  lame of = lame_of(material);
  if (material->kind != EB_LINEAR) polar(F, R);
  transpose(R, back);
  multiply(back, dF, strain);
  double trace = strain[0] + strain[4] + strain[8];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      stress[3 * i + j] =
          of.mu * (strain[3 * i + j] + strain[3 * j + i]) + (i == j) * of.lambda * trace;
  multiply(R, stress, dP);
}

/* dP += M (dF a) a^T, M = 2 psi' I + 4 psi'' (F a) (F a)^T: eigenvalues 2 psi' across F a and 2
 * psi' + 4 psi'' I5 along it. */
static void add_fibre(const eb_material *material, bool project, const double F[9],
                      const double a[3], const double dF[9], double dP[9]) {
  double Fa[3], dFa[3];
  eb_turn3(F, a, Fa);
  eb_turn3(dF, a, dFa);
  double I5 = eb_dot3(Fa, Fa);
  term fibre = fibre_term(material, I5);
  double across = 2 * fibre.first, along = across + 4 * fibre.second * I5;
  if (project) {
    across = fmax(across, 0);
    along = fmax(along, 0);
  }
  double stretch = I5 > 0 ? (along - across) / I5 * eb_dot3(Fa, dFa) : 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) dP[3 * i + j] += (across * dFa[i] + stretch * Fa[i]) * a[j];
}

void plain_tangent(const eb_material *material, eb_tangent tangent, const double F[9],
                   const double *fibre, const double dF[9], double dP[9]) {
  bool project = tangent == EB_TANGENT_PROJECTED;
  if (tangent == EB_TANGENT_ROTATED || material->kind == EB_COROTATIONAL ||
      material->kind == EB_LINEAR)
    rotated(material, F, dF, dP);
  else
    isotropic(material, project, F, dF, dP);
  if (material->fibre != EB_FIBRE_NONE && fibre) add_fibre(material, project, F, fibre, dF, dP);
}
