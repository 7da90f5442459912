/* The catalogue of materials and the one-element interface: one lane of the batched kernels of
 * law.c, where the formulas and their sources are. */
#include <string.h>

#include "problems/base/option.h"
#include "problems/elasticity/law.h"
#include "problems/elasticity/material.h"
#include "problems/elasticity/svd3.h"

/* ---- batches of four ------------------------------------------------------------------------- */

/* Formulas of the materials. s: singular values with sign, J = s0 s1 s2 = det F, Ic = |F|^2,
 * IIc = (Ic^2 - |F^T F|^2) / 2, e = (F^T F - I) / 2, R = U V^T. mu_L, lambda_L: parameters of Lame.
 *
 *   linear              mu |eps|^2 + lambda/2 tr^2 eps,  eps = (F + F^T)/2 - I
 *   corotational        mu |F - R|^2 + lambda/2 tr^2 (R^T F - I); tangent with R frozen
 *   corotated           the same energy (Mueller and Gross 2004, as an energy: Chao et al. 2010)
 *   fixed corotational  mu |F - R|^2 + h(J),  h = lambda/2 (J - 1)^2        (Stomakhin et al. 2012)
 *   StVK                mu |e|^2 + lambda/2 tr^2 e
 *   neo-Hookean         mu/2 (Ic - 3) + h(J),  h = -mu ln J + lambda/2 ln^2 J, and below J0 = 0.7
 *                       the Taylor polynomial of h of order two about J0 (the idea of Stomakhin et
 *                       al. 2012, who extrapolate in the principal stretches)
 *   stable neo-Hookean  mu/2 (Ic - 3) - mu/2 ln((Ic + 1)/4) + h(J)       (Smith et al. 2018)
 *                       mu = 4/3 mu_L, lambda = lambda_L + 5/6 mu_L; lambda/2 (J - a)^2 with
 *                       a = 1 + 3 mu / (4 lambda) is, but for a constant,
 *                       h = lambda/2 (J-1)^2 - 3/4 mu (J-1)
 *   Mooney-Rivlin       C10 (Ic - 3) + C01 (IIc - 3) + h(J),  C10 = 3 C01 = 3/8 mu_L. No rest
 *                       stress asks for h'(1) = -2 C10 - 4 C01, the moduli of Lame for
 *                       h''(1) = lambda_L + 2 C10
 *
 * (The third form of a follows from the notes' 1 + mu/lambda - mu/(4 lambda).) All vanish at F = I.
 *
 * Derivatives in the singular values: psi_k, psi_kl, and for each pair the quotients
 *   flip  = (psi_k - psi_l) / (s_k - s_l)  (symmetric part of X),
 *   twist = (psi_k + psi_l) / (s_k + s_l)  (skew part),
 * each worked out by hand so that nothing cancels when s_k = s_l. A function h(J) contributes, with
 * m the third index and J_k = s_l s_m: psi_kk = h'' J_k^2, psi_kl = h'' J_k J_l + h' s_m, flip =
 * -h' s_m, twist = h' s_m. |F - R|^2 gives flip = 2, twist = 2 - 4 / (s_k + s_l). */

static const double EXTRAPOLATE_BELOW = 0.7;
/* s_k + s_l is kept above this: at zero the rotation is undefined and the twist mode infinite. */
static const double SMALLEST_SUM = 1e-8;

eb_law eb_law_make(const eb_material *m) {
  double mu = m->young / (2 * (1 + m->poisson));
  double lambda = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
  eb_law law = {.kind = m->kind, .mu = mu, .lambda = lambda, .volume = lambda, .fibre = m->fibre};
  if (m->kind == EB_STABLE_NEO_HOOKEAN) {
    law.mu = 4.0 / 3.0 * mu;
    law.lambda = law.volume = lambda + 5.0 / 6.0 * mu;
    law.pressure = 0.75 * law.mu;
  } else if (m->kind == EB_MOONEY_RIVLIN) {
    law.mu = 0.75 * mu; /* C10 = mu/2 */
    law.second = 0.125 * mu;
    law.pressure = law.mu + 4 * law.second;
    law.volume = lambda + law.mu;
  }
  law.fibre_stiffness = law.fibre_full = m->fibre_stiffness;
  law.fibre_exponent = m->fibre_exponent;
  eb_law_activate(&law, m->activation);
  return law;
}

void eb_law_activate(eb_law *law, double activation) {
  if (law->fibre == EB_FIBRE_FUNG) law->fibre_stiffness = activation * law->fibre_full;
}

/* ---- parts ----------------------------------------------------------------------------------- */

EB_INLINE void cofactor(const eb_v4 F[9], eb_v4 C[9]) {
  eb_v4_cross3(F + 3, F + 6, C);
  eb_v4_cross3(F + 6, F, C + 3);
  eb_v4_cross3(F, F + 3, C + 6);
}

EB_INLINE eb_v4 norm_squared(const eb_v4 F[9]) {
  return eb_v4_dot3(F, F) + eb_v4_dot3(F + 3, F + 3) + eb_v4_dot3(F + 6, F + 6);
}

/* e and its trace: 00 11 22 12 02 01. */
EB_INLINE void green_strain(const eb_v4 F[9], eb_v4 e[6]) {
  for (int k = 0; k < 3; k++) {
    int m = (k + 1) % 3, n = (k + 2) % 3;
    e[k] = 0.5 * (F[k] * F[k] + F[3 + k] * F[3 + k] + F[6 + k] * F[6 + k] - 1);
    e[3 + k] = 0.5 * (F[m] * F[n] + F[3 + m] * F[3 + n] + F[6 + m] * F[6 + n]);
  }
}

/* out = F S, S symmetric. */
EB_INLINE void times_symmetric(const eb_v4 F[9], const eb_v4 S[6], eb_v4 out[9]) {
  const eb_v4 full[9] = {S[0], S[5], S[4], S[5], S[1], S[3], S[4], S[3], S[2]};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) out[3 * i + k] = eb_v4_dot3(F + 3 * i, full + 3 * k);
}

typedef struct volumetric {
  eb_v4 h, h1, h2;
} volumetric;

EB_INLINE volumetric logarithmic(const eb_law *law, eb_v4 J) {
  const eb_v4 j0 = eb_v4_set(EXTRAPOLATE_BELOW);
  eb_m4 inside = J > j0;
  eb_v4 at = eb_v4_select(inside, J, j0), inverse = 1 / at, log_at = eb_v4_log(at), d = J - at;
  eb_v4 h = (0.5 * law->lambda * log_at - law->mu) * log_at;
  eb_v4 h1 = (law->lambda * log_at - law->mu) * inverse;
  eb_v4 h2 = (law->lambda * (1 - log_at) + law->mu) * inverse * inverse;
  return (volumetric){h + d * (h1 + 0.5 * h2 * d), h1 + h2 * d, h2};
}

EB_INLINE volumetric volumetric_part(const eb_law *law, eb_v4 J) {
  if (law->kind == EB_NEO_HOOKEAN) return logarithmic(law, J);
  eb_v4 d = J - 1;
  return (volumetric){d * (0.5 * law->volume * d - law->pressure), law->volume * d - law->pressure,
                      eb_v4_set(law->volume)};
}

/* Sum of the entries of F * R, less 3: tr(R^T F - I). */
EB_INLINE eb_v4 stretch_trace(const eb_v4 F[9], const eb_v4 R[9]) {
  return eb_v4_dot3(F, R) + eb_v4_dot3(F + 3, R + 3) + eb_v4_dot3(F + 6, R + 6) - 3;
}

/* ---- energy ---------------------------------------------------------------------------------- */

EB_INLINE eb_v4 linear_energy(const eb_law *law, const eb_v4 F[9]) {
  eb_v4 x = F[0] - 1, y = F[4] - 1, z = F[8] - 1;
  eb_v4 a = F[1] + F[3], b = F[2] + F[6], c = F[5] + F[7], t = x + y + z;
  return law->mu * (x * x + y * y + z * z + 0.5 * (a * a + b * b + c * c)) +
         0.5 * law->lambda * t * t;
}

EB_INLINE eb_v4 distance_squared(const eb_v4 F[9], const eb_v4 R[9]) {
  eb_v4 d[9];
  for (int i = 0; i < 9; i++) d[i] = F[i] - R[i];
  return norm_squared(d);
}

EB_INLINE eb_v4 second_invariant(const eb_v4 C[9]) {
  return norm_squared(C); /* |cof F|^2 = IIc */
}

EB_INLINE eb_v4 base_energy(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9]) {
  eb_v4 C[9], e[6], t;
  switch (law->kind) {
  case EB_LINEAR:
    return linear_energy(law, F);
  case EB_COROTATIONAL:
  case EB_COROTATED:
    t = stretch_trace(F, R);
    return law->mu * distance_squared(F, R) + 0.5 * law->lambda * t * t;
  case EB_STVK:
    green_strain(F, e);
    t = e[0] + e[1] + e[2];
    return law->mu * (eb_v4_dot3(e, e) + 2 * eb_v4_dot3(e + 3, e + 3)) + 0.5 * law->lambda * t * t;
  default:
    break;
  }
  cofactor(F, C);
  eb_v4 h = volumetric_part(law, eb_v4_dot3(F, C)).h, Ic = norm_squared(F);
  switch (law->kind) {
  case EB_FIXED_COROTATIONAL:
    return law->mu * distance_squared(F, R) + h;
  case EB_STABLE_NEO_HOOKEAN:
    return 0.5 * law->mu * (Ic - 3 - eb_v4_log(0.25 * (Ic + 1))) + h;
  case EB_MOONEY_RIVLIN:
    return 0.5 * law->mu * (Ic - 3) + law->second * (second_invariant(C) - 3) + h;
  default:
    return 0.5 * law->mu * (Ic - 3) + h;
  }
}

/* psi_f(I5) and its first two derivatives. */
typedef struct fibre_part {
  eb_v4 Fa[3], I5, psi, psi1, psi2;
} fibre_part;

static fibre_part fibre_terms(const eb_law *law, const eb_v4 F[9], const eb_v4 a[3]) {
  fibre_part f;
  for (int i = 0; i < 3; i++) f.Fa[i] = eb_v4_dot3(F + 3 * i, a);
  f.I5 = eb_v4_dot3(f.Fa, f.Fa);
  eb_v4 d = f.I5 - 1;
  double k = law->fibre_stiffness, k2 = law->fibre_exponent;
  if (law->fibre == EB_FIBRE_ASTVK) {
    f.psi = 0.5 * k * d * d;
    f.psi1 = k * d;
    f.psi2 = eb_v4_set(k);
  } else {
    eb_v4 e = eb_v4_exp(k2 * d * d);
    f.psi = 0.5 * k / k2 * (e - 1);
    f.psi1 = k * d * e;
    f.psi2 = k * e * (1 + 2 * k2 * d * d);
  }
  return f;
}

void eb_law_energy(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], const eb_v4 fibre[3],
                   eb_v4 *psi) {
  *psi = base_energy(law, F, R);
  if (law->fibre) *psi += fibre_terms(law, F, fibre).psi;
}

/* ---- stress ---------------------------------------------------------------------------------- */

static void linear_stress(const eb_law *law, const eb_v4 F[9], eb_v4 P[9]) {
  eb_v4 t = law->lambda * (F[0] + F[4] + F[8] - 3) - 2 * law->mu;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) P[3 * i + k] = law->mu * (F[3 * i + k] + F[3 * k + i]);
  for (int k = 0; k < 3; k++) P[4 * k] += t;
}

static void corotated_stress(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], eb_v4 P[9]) {
  eb_v4 t = law->lambda * stretch_trace(F, R) - 2 * law->mu;
  for (int i = 0; i < 9; i++) P[i] = 2 * law->mu * F[i] + t * R[i];
}

static void stvk_stress(const eb_law *law, const eb_v4 F[9], eb_v4 P[9]) {
  eb_v4 e[6];
  green_strain(F, e);
  eb_v4 t = law->lambda * (e[0] + e[1] + e[2]);
  for (int k = 0; k < 6; k++) e[k] = 2 * law->mu * e[k] + (k < 3 ? t : eb_v4_set(0));
  times_symmetric(F, e, P);
}

/* d/dF of C01 IIc = C01 (Ic F - F F^T F) * 2. */
static void add_second_invariant(const eb_law *law, const eb_v4 F[9], eb_v4 Ic, eb_v4 P[9]) {
  eb_v4 S[6], Q[9];
  green_strain(F, S);
  for (int k = 0; k < 6; k++) S[k] = (k < 3 ? Ic - 1 : eb_v4_set(0)) - 2 * S[k];
  times_symmetric(F, S, Q);
  for (int i = 0; i < 9; i++) P[i] += 2 * law->second * Q[i];
}

static void base_stress(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], eb_v4 P[9]) {
  switch (law->kind) {
  case EB_LINEAR:
    linear_stress(law, F, P);
    return;
  case EB_COROTATIONAL:
  case EB_COROTATED:
    corotated_stress(law, F, R, P);
    return;
  case EB_STVK:
    stvk_stress(law, F, P);
    return;
  default:
    break;
  }
  eb_v4 C[9];
  cofactor(F, C);
  eb_v4 h1 = volumetric_part(law, eb_v4_dot3(F, C)).h1, Ic = norm_squared(F);
  eb_v4 f = eb_v4_set(law->mu);
  if (law->kind == EB_STABLE_NEO_HOOKEAN) f = law->mu * (Ic / (Ic + 1));
  if (law->kind == EB_FIXED_COROTATIONAL) {
    for (int i = 0; i < 9; i++) P[i] = 2 * law->mu * (F[i] - R[i]) + h1 * C[i];
  } else {
    for (int i = 0; i < 9; i++) P[i] = f * F[i] + h1 * C[i];
  }
  if (law->kind == EB_MOONEY_RIVLIN) add_second_invariant(law, F, Ic, P);
}

void eb_law_stress(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], const eb_v4 fibre[3],
                   eb_v4 P[9]) {
  base_stress(law, F, R, P);
  if (!law->fibre) return;
  fibre_part f = fibre_terms(law, F, fibre);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) P[3 * i + k] += 2 * f.psi1 * f.Fa[i] * fibre[k];
}

/* ---- tangent --------------------------------------------------------------------------------- */

/* psi_kl and the quotients. */
typedef struct stretch_terms {
  eb_v4 scaling[6], flip[3], twist[3];
} stretch_terms;

/* Contribution of coefficient * sum_k (s_k - 1)^2 and coefficient_trace/2 (sum_k s_k - 3)^2. */
static void add_corotated(const eb_law *law, const eb_v4 s[3], bool trace, stretch_terms *t) {
  eb_v4 pull = eb_v4_set(4 * law->mu);
  if (trace) {
    pull -= 2 * law->lambda * (s[0] + s[1] + s[2] - 3);
    for (int k = 0; k < 6; k++) t->scaling[k] += law->lambda;
  }
  for (int k = 0; k < 3; k++) {
    eb_v4 sum = eb_v4_max(s[(k + 1) % 3] + s[(k + 2) % 3], eb_v4_set(SMALLEST_SUM));
    t->scaling[k] += 2 * law->mu;
    t->flip[k] += 2 * law->mu;
    t->twist[k] += 2 * law->mu - pull / sum;
  }
}

static void add_stvk(const eb_law *law, const eb_v4 s[3], stretch_terms *t) {
  eb_v4 e = law->lambda * 0.5 * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3);
  for (int k = 0; k < 3; k++) {
    eb_v4 l = s[(k + 1) % 3], m = s[(k + 2) % 3], lm = l * m, squares = l * l + m * m - 1;
    t->scaling[k] += law->mu * (3 * s[k] * s[k] - 1) + e + law->lambda * s[k] * s[k];
    t->scaling[3 + k] += law->lambda * lm;
    t->flip[k] += law->mu * (squares + lm) + e;
    t->twist[k] += law->mu * (squares - lm) + e;
  }
}

/* f(Ic) with derivatives f1 and f2. */
static void add_first_invariant(const eb_v4 s[3], eb_v4 f1, eb_v4 f2, stretch_terms *t) {
  for (int k = 0; k < 3; k++) {
    t->scaling[k] += 2 * f1 + 4 * f2 * s[k] * s[k];
    t->scaling[3 + k] += 4 * f2 * s[(k + 1) % 3] * s[(k + 2) % 3];
    t->flip[k] += 2 * f1;
    t->twist[k] += 2 * f1;
  }
}

static void add_second_invariant_tangent(const eb_v4 s[3], double c, stretch_terms *t) {
  for (int k = 0; k < 3; k++) {
    eb_v4 l = s[(k + 1) % 3], m = s[(k + 2) % 3], kk = s[k] * s[k], lm = l * m;
    t->scaling[k] += 2 * c * (l * l + m * m);
    t->scaling[3 + k] += 4 * c * lm;
    t->flip[k] += 2 * c * (kk - lm);
    t->twist[k] += 2 * c * (kk + lm);
  }
}

static void add_volumetric(const eb_law *law, const eb_v4 s[3], stretch_terms *t) {
  const eb_v4 Jk[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
  volumetric v = volumetric_part(law, Jk[0] * s[0]);
  for (int k = 0; k < 3; k++) {
    eb_v4 shear = v.h1 * s[k];
    t->scaling[k] += v.h2 * Jk[k] * Jk[k];
    t->scaling[3 + k] += v.h2 * Jk[(k + 1) % 3] * Jk[(k + 2) % 3] + shear;
    t->flip[k] -= shear;
    t->twist[k] += shear;
  }
}

static void stretch_derivatives(const eb_law *law, const eb_v4 s[3], stretch_terms *t) {
  *t = (stretch_terms){0};
  switch (law->kind) {
  case EB_COROTATED:
    add_corotated(law, s, true, t);
    return;
  case EB_STVK:
    add_stvk(law, s, t);
    return;
  case EB_FIXED_COROTATIONAL:
    add_corotated(law, s, false, t);
    break;
  case EB_STABLE_NEO_HOOKEAN: {
    eb_v4 inverse = 1 / (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 1);
    add_first_invariant(s, 0.5 * law->mu * (1 - inverse), 0.5 * law->mu * inverse * inverse, t);
    break;
  }
  case EB_MOONEY_RIVLIN:
    add_second_invariant_tangent(s, law->second, t); /* fall through */
  default:
    add_first_invariant(s, eb_v4_set(0.5 * law->mu), eb_v4_set(0), t);
    break;
  }
  add_volumetric(law, s, t);
}

/* Sylvester's criterion, which most elements meet: nothing to clamp then. */
static eb_m4 positive_definite(const eb_v4 A[6]) {
  eb_v4 minor = A[0] * A[1] - A[5] * A[5];
  eb_v4 determinant =
      A[2] * minor - A[3] * (A[0] * A[3] - A[5] * A[4]) + A[4] * (A[5] * A[3] - A[1] * A[4]);
  return (A[0] > 0) & (minor > 0) & (determinant > 0);
}

/* The nearest positive semi-definite matrix: negative eigenvalues become zero. */
static void clamp_eigenvalues(eb_v4 A[6]) {
  eb_m4 fine = positive_definite(A);
  if (eb_m4_all(fine)) return;
  eb_v4 w[3], Q[9];
  eb_eigen3(A, w, Q);
  for (int k = 0; k < 3; k++) w[k] = eb_v4_max(w[k], eb_v4_set(0));
  for (int k = 0; k < 3; k++) {
    const eb_v4 *own = Q + 3 * k, *m = Q + 3 * ((k + 1) % 3), *n = Q + 3 * ((k + 2) % 3);
    eb_v4 diagonal = {0}, off = {0};
    for (int l = 0; l < 3; l++) {
      diagonal += w[l] * own[l] * own[l];
      off += w[l] * m[l] * n[l];
    }
    A[k] = eb_v4_select(fine, A[k], diagonal);
    A[3 + k] = eb_v4_select(fine, A[3 + k], off);
  }
}

void eb_law_tangent(const eb_law *law, const eb_v4 s[3], bool project, eb_tangent *tangent) {
  const eb_v4 zero = {0};
  if (eb_law_is_linear(law)) {
    for (int k = 0; k < 3; k++) {
      tangent->scaling[k] = eb_v4_set(2 * law->mu + law->lambda);
      tangent->scaling[3 + k] = eb_v4_set(law->lambda);
      tangent->direct[k] = tangent->cross[k] = eb_v4_set(law->mu);
    }
    return;
  }
  stretch_terms t;
  stretch_derivatives(law, s, &t);
  if (project) clamp_eigenvalues(t.scaling);
  for (int k = 0; k < 6; k++) tangent->scaling[k] = t.scaling[k];
  for (int k = 0; k < 3; k++) {
    eb_v4 flip = project ? eb_v4_max(t.flip[k], zero) : t.flip[k];
    eb_v4 twist = project ? eb_v4_max(t.twist[k], zero) : t.twist[k];
    tangent->direct[k] = 0.5 * (flip + twist);
    tangent->cross[k] = 0.5 * (flip - twist);
  }
}

/* M = 2 psi' I + 4 psi'' Fa Fa^T: eigenvalue 2 psi' across Fa, 2 psi' + 4 psi'' I5 along it. */
void eb_law_fibre_tangent(const eb_law *law, const eb_v4 F[9], const eb_v4 fibre[3], bool project,
                          eb_v4 M[6]) {
  const eb_v4 zero = {0};
  fibre_part f = fibre_terms(law, F, fibre);
  eb_v4 across = 2 * f.psi1, along = 4 * f.psi2;
  if (project) {
    eb_v4 kept = eb_v4_max(across, zero), both = eb_v4_max(across + along * f.I5, zero);
    along = (both - kept) / eb_v4_max(f.I5, eb_v4_set(1e-300));
    across = kept;
  }
  for (int k = 0; k < 3; k++) {
    M[k] = across + along * f.Fa[k] * f.Fa[k];
    M[3 + k] = along * f.Fa[(k + 1) % 3] * f.Fa[(k + 2) % 3];
  }
}

/* ---- one deformation gradient ---------------------------------------------------------------- */

#define ENTRY(kind, name, summary, citation) [kind] = {name, summary, citation},
static const eb_material_info catalogue[EB_MATERIAL_KINDS] = {EB_MATERIALS(ENTRY)};
#undef ENTRY

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

/* ---- one deformation gradient ---------------------------------------------------------------- */

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
