/* Materials: the formulas of each, one section a material, evaluated for four deformation gradients
 * at a time; the catalogue; and one deformation gradient, as one of four.
 *
 * s: singular values with sign, J = s0 s1 s2 = det F, Ic = |F|^2, IIc = (Ic^2 - |F^T F|^2) / 2 =
 * |cof F|^2, e = (F^T F - I) / 2, R = U V^T; mu and lambda are the parameters of Lame, mu_L and
 * lambda_L where the energy has others. All energies vanish at F = I.
 *
 * Tangents are given by derivatives in the singular values: psi_k, psi_kl, and for each pair the
 * quotients
 *   flip  = (psi_k - psi_l) / (s_k - s_l)  (symmetric part of X),
 *   twist = (psi_k + psi_l) / (s_k + s_l)  (skew part),
 * each worked out by hand so that nothing cancels when s_k = s_l. */
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/option.h"
#include "problems/elasticity/law.h"
#include "problems/elasticity/material.h"
#include "problems/elasticity/nearest_volume.h"
#include "problems/elasticity/plugged.h"
#include "problems/elasticity/svd3.h"

/* ---- what a material is ---------------------------------------------------------------------- */

/* A function h(J) and its derivatives. */
typedef struct volumetric {
  eb_v4 h, h1, h2;
} volumetric;

/* What energies and stresses are written with; R where the material `rotates`. */
typedef struct deformation {
  const eb_v4 *F, *R;
} deformation;

/* psi_k, psi_kl (00 11 22 12 02 01) and the quotients; entry k belongs to the pair of the two
 * others. */
typedef struct stretch_terms {
  eb_v4 slope[3], scaling[6], flip[3], twist[3];
} stretch_terms;

/* What eb_law_node is given, with u = F g and gg = |g|^2. */
typedef struct node_motion {
  const eb_v4 *F, *g;
  eb_v4 u[3], gg;
} node_motion;

struct eb_formulas {
  /* Sets the coefficients of the energy, which are those of Lame so far. NULL: they stay. */
  void (*coefficients)(eb_law *law);
  eb_v4 (*energy)(const eb_law *law, const deformation *d);
  void (*stress)(const eb_law *law, const deformation *d, eb_v4 P[9]);
  /* The terms in J of energy and stress, for the tangent. NULL: none. */
  volumetric (*volume)(const eb_law *law, eb_v4 J);
  /* Adds the derivatives of the others in the singular values. NULL: the tangent is that of
   * linear elasticity in the frame R where the material `rotates`, or I. */
  void (*stretch)(const eb_law *law, const eb_v4 s[3], stretch_terms *t);
  /* Sets the terms of a node but for those of `volume`. NULL: they take a decomposition. */
  void (*node)(const eb_law *law, const node_motion *at, eb_node_terms *out);
  bool rotates; /* the energy needs R */
};
typedef struct eb_formulas formulas;

/* ---- parts ----------------------------------------------------------------------------------- */

/* C = cof F = dJ/dF; returns J. */
EB_INLINE eb_v4 cofactor(const eb_v4 F[9], eb_v4 C[9]) {
  eb_v4_cross3(F + 3, F + 6, C);
  eb_v4_cross3(F + 6, F, C + 3);
  eb_v4_cross3(F, F + 3, C + 6);
  return eb_v4_dot3(F, C);
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

/* Sum of the entries of F * R, less 3: tr(R^T F - I). */
EB_INLINE eb_v4 stretch_trace(const eb_v4 F[9], const eb_v4 R[9]) {
  return eb_v4_dot3(F, R) + eb_v4_dot3(F + 3, R + 3) + eb_v4_dot3(F + 6, R + 6) - 3;
}

EB_INLINE eb_v4 distance_squared(const eb_v4 F[9], const eb_v4 R[9]) {
  eb_v4 d[9];
  for (int i = 0; i < 9; i++) d[i] = F[i] - R[i];
  return norm_squared(d);
}

/* s_k + s_l is kept above this: at zero the rotation is undefined and the twist mode infinite. */
static const double SMALLEST_SUM = 1e-8;

/* mu |F - R|^2 = mu sum_k (s_k - 1)^2 gives flip = 2 mu and twist = 2 mu - pull / (s_k + s_l) with
 * pull = 4 mu; what else of psi_k is the same for all k lessens the pull. */
EB_INLINE void add_distance(const eb_law *law, const eb_v4 s[3], eb_v4 pull,
                            stretch_terms *restrict t) {
  for (int k = 0; k < 3; k++) {
    eb_v4 sum = eb_v4_max(s[(k + 1) % 3] + s[(k + 2) % 3], eb_v4_set(SMALLEST_SUM));
    t->slope[k] += 2 * law->mu * (s[k] - 1);
    t->scaling[k] += 2 * law->mu;
    t->flip[k] += 2 * law->mu;
    t->twist[k] += 2 * law->mu - pull / sum;
  }
}

/* f(Ic) with derivatives f1 and f2. */
EB_INLINE void add_first_invariant(const eb_v4 s[3], eb_v4 f1, eb_v4 f2,
                                   stretch_terms *restrict t) {
  for (int k = 0; k < 3; k++) {
    t->slope[k] += 2 * f1 * s[k];
    t->scaling[k] += 2 * f1 + 4 * f2 * s[k] * s[k];
    t->scaling[3 + k] += 4 * f2 * s[(k + 1) % 3] * s[(k + 2) % 3];
    t->flip[k] += 2 * f1;
    t->twist[k] += 2 * f1;
  }
}

/* Sets block = a I + b v v^T. */
EB_INLINE void set_block(eb_v4 a, eb_v4 b, const eb_v4 v[3], eb_v4 block[6]) {
  for (int k = 0; k < 3; k++) {
    block[k] = a + b * v[k] * v[k];
    block[3 + k] = b * v[(k + 1) % 3] * v[(k + 2) % 3];
  }
}

/* f(Ic) at one node, with f1 >= 0 and f2 >= 0: dIc = 2 u . dx, d2Ic = 2 gg |dx|^2. */
EB_INLINE void set_first_invariant(const node_motion *at, eb_v4 f1, eb_v4 f2, eb_node_terms *out) {
  for (int i = 0; i < 3; i++) out->pull[i] = 2 * f1 * at->u[i];
  set_block(2 * f1 * at->gg, 4 * f2, at->u, out->block);
}

/* block += scale F F^T */
EB_INLINE void add_left_square(const eb_v4 F[9], eb_v4 scale, eb_v4 block[6]) {
  for (int k = 0; k < 3; k++) {
    block[k] += scale * eb_v4_dot3(F + 3 * k, F + 3 * k);
    block[3 + k] += scale * eb_v4_dot3(F + 3 * ((k + 1) % 3), F + 3 * ((k + 2) % 3));
  }
}

/* out = F^T v */
EB_INLINE void turned_times(const eb_v4 F[9], const eb_v4 v[3], eb_v4 out[3]) {
  for (int k = 0; k < 3; k++) out[k] = F[k] * v[0] + F[3 + k] * v[1] + F[6 + k] * v[2];
}

/* volume/2 (J - 1)^2 - pressure (J - 1) */
EB_INLINE volumetric quadratic(const eb_law *law, eb_v4 J) {
  eb_v4 d = J - 1;
  return (volumetric){d * (0.5 * law->volume * d - law->pressure), law->volume * d - law->pressure,
                      eb_v4_set(law->volume)};
}

/* ---- linear: mu |eps|^2 + lambda/2 tr^2 eps, eps = (F + F^T)/2 - I --------------------------- */

static eb_v4 linear_energy(const eb_law *law, const deformation *d) {
  const eb_v4 *F = d->F;
  eb_v4 x = F[0] - 1, y = F[4] - 1, z = F[8] - 1;
  eb_v4 a = F[1] + F[3], b = F[2] + F[6], c = F[5] + F[7], t = x + y + z;
  return law->mu * (x * x + y * y + z * z + 0.5 * (a * a + b * b + c * c)) +
         0.5 * law->lambda * t * t;
}

static void linear_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  const eb_v4 *F = d->F;
  eb_v4 t = law->lambda * (F[0] + F[4] + F[8] - 3) - 2 * law->mu;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P[3 * i + j] = law->mu * (F[3 * i + j] + F[3 * j + i]);
  for (int i = 0; i < 3; i++) P[4 * i] += t;
}

static const formulas EB_LINEAR_formulas = {.energy = linear_energy, .stress = linear_stress};

/* ---- corotational and corotated: mu |F - R|^2 + lambda/2 tr^2 (R^T F - I) -------------------- */

/* One energy (Mueller and Gross 2004; as an energy: Chao et al. 2010), whose tangent is taken with
 * R frozen, or exactly. */
static eb_v4 corotated_energy(const eb_law *law, const deformation *d) {
  eb_v4 t = stretch_trace(d->F, d->R);
  return law->mu * distance_squared(d->F, d->R) + 0.5 * law->lambda * t * t;
}

static void corotated_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 t = law->lambda * stretch_trace(d->F, d->R) - 2 * law->mu;
  for (int i = 0; i < 9; i++) P[i] = 2 * law->mu * d->F[i] + t * d->R[i];
}

/* lambda/2 (sum_k s_k - 3)^2 has psi_kl = lambda, no flip, and twist = 2 lambda (sum - 3) / (s_k +
 * s_l). */
static void corotated_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  eb_v4 excess = s[0] + s[1] + s[2] - 3;
  for (int k = 0; k < 3; k++) t->slope[k] += law->lambda * excess;
  for (int k = 0; k < 6; k++) t->scaling[k] += law->lambda;
  eb_v4 pull = 4 * law->mu - 2 * law->lambda * excess;
  add_distance(law, s, pull, t);
}

static const formulas EB_COROTATIONAL_formulas = {
    .energy = corotated_energy, .stress = corotated_stress, .rotates = true};
static const formulas EB_COROTATED_formulas = {.energy = corotated_energy,
                                               .stress = corotated_stress,
                                               .stretch = corotated_stretch,
                                               .rotates = true};

/* ---- fixed corotational: mu |F - R|^2 + lambda/2 (J - 1)^2 (Stomakhin et al. 2012) ----------- */

static eb_v4 fixed_energy(const eb_law *law, const deformation *d) {
  eb_v4 C[9], J = cofactor(d->F, C);
  return law->mu * distance_squared(d->F, d->R) + quadratic(law, J).h;
}

static void fixed_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 C[9], h1 = quadratic(law, cofactor(d->F, C)).h1;
  for (int i = 0; i < 9; i++) P[i] = 2 * law->mu * (d->F[i] - d->R[i]) + h1 * C[i];
}

static void fixed_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  add_distance(law, s, eb_v4_set(4 * law->mu), t);
}

static const formulas EB_FIXED_COROTATIONAL_formulas = {.energy = fixed_energy,
                                                        .stress = fixed_stress,
                                                        .volume = quadratic,
                                                        .stretch = fixed_stretch,
                                                        .rotates = true};

/* ---- Saint Venant-Kirchhoff: mu |e|^2 + lambda/2 tr^2 e -------------------------------------- */

static eb_v4 stvk_energy(const eb_law *law, const deformation *d) {
  eb_v4 e[6];
  green_strain(d->F, e);
  eb_v4 t = e[0] + e[1] + e[2];
  return law->mu * (eb_v4_dot3(e, e) + 2 * eb_v4_dot3(e + 3, e + 3)) + 0.5 * law->lambda * t * t;
}

static void stvk_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 e[6];
  green_strain(d->F, e);
  eb_v4 t = law->lambda * (e[0] + e[1] + e[2]);
  for (int i = 0; i < 6; i++) e[i] = 2 * law->mu * e[i] + (i < 3 ? t : eb_v4_set(0));
  times_symmetric(d->F, e, P);
}

static void stvk_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  eb_v4 e = law->lambda * 0.5 * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3);
  for (int k = 0; k < 3; k++) {
    eb_v4 l = s[(k + 1) % 3], m = s[(k + 2) % 3], lm = l * m, squares = l * l + m * m - 1;
    t->slope[k] += s[k] * (law->mu * (s[k] * s[k] - 1) + e);
    t->scaling[k] += law->mu * (3 * s[k] * s[k] - 1) + e + law->lambda * s[k] * s[k];
    t->scaling[3 + k] += law->lambda * lm;
    t->flip[k] += law->mu * (squares + lm) + e;
    t->twist[k] += law->mu * (squares - lm) + e;
  }
}

/* With S = 2 mu e + lambda tr e I: de = sym(F^T dx g^T), d2e = |dx|^2 g g^T, so that the second
 * derivative is (g . S g) |dx|^2, left out where it is negative, + mu (gg |F^T dx|^2 + (u . dx)^2)
 * + lambda (u . dx)^2. */
static void stvk_node(const eb_law *law, const node_motion *at, eb_node_terms *out) {
  eb_v4 FTu[3], Sg[3], norm = norm_squared(at->F);
  turned_times(at->F, at->u, FTu);
  eb_v4 t = law->lambda * 0.5 * (norm - 3) - law->mu;
  for (int k = 0; k < 3; k++) Sg[k] = law->mu * FTu[k] + t * at->g[k];
  for (int i = 0; i < 3; i++) out->pull[i] = eb_v4_dot3(at->F + 3 * i, Sg);
  eb_v4 along = eb_v4_max(eb_v4_dot3(at->g, Sg), eb_v4_set(0));
  set_block(along, eb_v4_set(law->mu + law->lambda), at->u, out->block);
  add_left_square(at->F, law->mu * at->gg, out->block);
}

static const formulas EB_STVK_formulas = {
    .energy = stvk_energy, .stress = stvk_stress, .stretch = stvk_stretch, .node = stvk_node};

/* ---- neo-Hookean: mu/2 (Ic - 3) + h(J) ------------------------------------------------------- */

/* h = -mu ln J + lambda/2 ln^2 J, and below J0 = 0.7 its Taylor polynomial of order two about J0
 * (the idea of Stomakhin et al. 2012, who extrapolate in the principal stretches). */
EB_INLINE volumetric logarithmic(const eb_law *law, eb_v4 J) {
  const eb_v4 j0 = eb_v4_set(0.7);
  eb_m4 inside = J > j0;
  eb_v4 at = eb_v4_select(inside, J, j0), inverse = 1 / at, log_at = eb_v4_log(at), d = J - at;
  eb_v4 h = (0.5 * law->lambda * log_at - law->mu) * log_at;
  eb_v4 h1 = (law->lambda * log_at - law->mu) * inverse;
  eb_v4 h2 = (law->lambda * (1 - log_at) + law->mu) * inverse * inverse;
  return (volumetric){h + d * (h1 + 0.5 * h2 * d), h1 + h2 * d, h2};
}

static eb_v4 neo_hookean_energy(const eb_law *law, const deformation *d) {
  eb_v4 C[9], J = cofactor(d->F, C);
  return 0.5 * law->mu * (norm_squared(d->F) - 3) + logarithmic(law, J).h;
}

static void neo_hookean_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 C[9], h1 = logarithmic(law, cofactor(d->F, C)).h1;
  for (int i = 0; i < 9; i++) P[i] = law->mu * d->F[i] + h1 * C[i];
}

static void neo_hookean_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  add_first_invariant(s, eb_v4_set(0.5 * law->mu), eb_v4_set(0), t);
}

static void neo_hookean_node(const eb_law *law, const node_motion *at, eb_node_terms *out) {
  set_first_invariant(at, eb_v4_set(0.5 * law->mu), eb_v4_set(0), out);
}

static const formulas EB_NEO_HOOKEAN_formulas = {.energy = neo_hookean_energy,
                                                 .node = neo_hookean_node,
                                                 .stress = neo_hookean_stress,
                                                 .volume = logarithmic,
                                                 .stretch = neo_hookean_stretch};

/* ---- stable neo-Hookean: mu/2 (Ic - 3) - mu/2 ln((Ic + 1)/4) + h(J) (Smith et al. 2018) ------ */

/* mu = 4/3 mu_L, lambda = lambda_L + 5/6 mu_L. The volume term lambda/2 (J - a)^2 with a = 1 + 3 mu
 * / (4 lambda) - the third form of a, from the notes' 1 + mu/lambda - mu/(4 lambda) - is, but for a
 * constant, h = lambda/2 (J - 1)^2 - 3/4 mu (J - 1). */
static void stable_coefficients(eb_law *law) {
  law->lambda = law->volume = law->lambda + 5.0 / 6.0 * law->mu;
  law->mu = 4.0 / 3.0 * law->mu;
  law->pressure = 0.75 * law->mu;
}

static eb_v4 stable_energy(const eb_law *law, const deformation *d) {
  eb_v4 C[9], J = cofactor(d->F, C), Ic = norm_squared(d->F);
  return 0.5 * law->mu * (Ic - 3 - eb_v4_log(0.25 * (Ic + 1))) + quadratic(law, J).h;
}

static void stable_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 C[9], h1 = quadratic(law, cofactor(d->F, C)).h1, Ic = norm_squared(d->F);
  eb_v4 f = law->mu * (Ic / (Ic + 1));
  for (int i = 0; i < 9; i++) P[i] = f * d->F[i] + h1 * C[i];
}

static void stable_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  eb_v4 inverse = 1 / (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 1);
  add_first_invariant(s, 0.5 * law->mu * (1 - inverse), 0.5 * law->mu * inverse * inverse, t);
}

static void stable_node(const eb_law *law, const node_motion *at, eb_node_terms *out) {
  eb_v4 inverse = 1 / (norm_squared(at->F) + 1);
  set_first_invariant(at, 0.5 * law->mu * (1 - inverse), 0.5 * law->mu * inverse * inverse, out);
}

static const formulas EB_STABLE_NEO_HOOKEAN_formulas = {.node = stable_node,
                                                        .coefficients = stable_coefficients,
                                                        .energy = stable_energy,
                                                        .stress = stable_stress,
                                                        .volume = quadratic,
                                                        .stretch = stable_stretch};

/* ---- Mooney-Rivlin: C10 (Ic - 3) + C01 (IIc - 3) + h(J) -------------------------------------- */

/* C10 = mu/2 and C01 = `second`: C10 = 3 C01 = 3/8 mu_L. No rest stress asks for h'(1) = -2 C10 -
 * 4 C01, the moduli of Lame for h''(1) = lambda_L + 2 C10. */
static void mooney_coefficients(eb_law *law) {
  law->second = 0.125 * law->mu;
  law->mu = 0.75 * law->mu;
  law->pressure = law->mu + 4 * law->second;
  law->volume = law->lambda + law->mu;
}

static eb_v4 mooney_energy(const eb_law *law, const deformation *d) {
  eb_v4 C[9], J = cofactor(d->F, C), Ic = norm_squared(d->F), IIc = norm_squared(C);
  return 0.5 * law->mu * (Ic - 3) + law->second * (IIc - 3) + quadratic(law, J).h;
}

/* d/dF of C01 IIc = 2 C01 (Ic F - F F^T F). */
static void mooney_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 C[9], S[6], Q[9], Ic = norm_squared(d->F);
  eb_v4 h1 = quadratic(law, cofactor(d->F, C)).h1;
  for (int i = 0; i < 9; i++) P[i] = law->mu * d->F[i] + h1 * C[i];
  green_strain(d->F, S);
  for (int i = 0; i < 6; i++) S[i] = (i < 3 ? Ic - 1 : eb_v4_set(0)) - 2 * S[i];
  times_symmetric(d->F, S, Q);
  for (int i = 0; i < 9; i++) P[i] += 2 * law->second * Q[i];
}

static void mooney_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  double c = law->second;
  for (int k = 0; k < 3; k++) {
    eb_v4 l = s[(k + 1) % 3], m = s[(k + 2) % 3], kk = s[k] * s[k], lm = l * m;
    t->slope[k] += 2 * c * s[k] * (l * l + m * m);
    t->scaling[k] += 2 * c * (l * l + m * m);
    t->scaling[3 + k] += 4 * c * lm;
    t->flip[k] += 2 * c * (kk - lm);
    t->twist[k] += 2 * c * (kk + lm);
  }
  add_first_invariant(s, eb_v4_set(0.5 * law->mu), eb_v4_set(0), t);
}

/* IIc = (Ic^2 - |F^T F|^2) / 2 has the derivative 2 (Ic u - F F^T u) . dx and the second one 2 ((u
 * . dx)^2 + (Ic gg - |u|^2) |dx|^2 - gg |F^T dx|^2), a sum of squares since cof F is linear in dx.
 */
static void mooney_node(const eb_law *law, const node_motion *at, eb_node_terms *out) {
  eb_v4 FTu[3], Ic = norm_squared(at->F), c = eb_v4_set(2 * law->second);
  turned_times(at->F, at->u, FTu);
  for (int i = 0; i < 3; i++)
    out->pull[i] = law->mu * at->u[i] + c * (Ic * at->u[i] - eb_v4_dot3(at->F + 3 * i, FTu));
  set_block(law->mu * at->gg + c * (Ic * at->gg - eb_v4_dot3(at->u, at->u)), c, at->u, out->block);
  add_left_square(at->F, -c * at->gg, out->block);
}

static const formulas EB_MOONEY_RIVLIN_formulas = {.node = mooney_node,
                                                   .coefficients = mooney_coefficients,
                                                   .energy = mooney_energy,
                                                   .stress = mooney_stress,
                                                   .volume = quadratic,
                                                   .stretch = mooney_stretch};

/* ---- projective: mu |F - R|^2 + 3/2 lambda |F - D|^2 (Bouaziz et al. 2014) --------------------
 */

/* D: the matrix of determinant 1 nearest to F. With F = R S, S = Q diag(s) Q^T, it is R Q diag(d)
 * Q^T (nearest_volume.h), for any symmetric S, so that mixed elements can ask with R = I. At small
 * strains e, |F - D|^2 = tr^2 e / 3: hence the 3 of 3/2 lambda. As R and D are nearest points, a
 * change of them changes neither distance to first order: P = 2 mu (F - R) + 3 lambda (F - D). */
static void nearest_unit_volume(const deformation *at, eb_v4 D[9]) {
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  eb_v4 S[6], s[3], d[3], Q[9], T[9];
  const eb_v4 *F = at->F, *R = at->R;
  for (int m = 0; m < 6; m++) { /* symmetric but for rounding */
    const eb_v4 *r = R + row[m], *f = F + column[m];
    S[m] = r[0] * f[0] + r[3] * f[3] + r[6] * f[6];
  }
  eb_eigen3(S, s, Q);
  eb_nearest_volume(s, d);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      T[3 * i + k] = d[k] * (R[3 * i] * Q[k] + R[3 * i + 1] * Q[3 + k] + R[3 * i + 2] * Q[6 + k]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) D[3 * i + j] = eb_v4_dot3(T + 3 * i, Q + 3 * j);
}

static eb_v4 projective_energy(const eb_law *law, const deformation *d) {
  eb_v4 D[9];
  nearest_unit_volume(d, D);
  return law->mu * distance_squared(d->F, d->R) + 1.5 * law->lambda * distance_squared(d->F, D);
}

static void projective_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  eb_v4 D[9];
  nearest_unit_volume(d, D);
  for (int i = 0; i < 9; i++)
    P[i] = 2 * law->mu * (d->F[i] - d->R[i]) + 3 * law->lambda * (d->F[i] - D[i]);
}

/* Of 3/2 lambda sum_k (s_k - d_k)^2, psi_kl = 3 lambda (delta_kl - dd_k / ds_l), and from s_k = d_k
 * + m / d_k for a pair (d_k - d_l) / (s_k - s_l) = d_k d_l / (d_k d_l - m): not negative, as d is
 * in the order of s, and infinite where d is not unique. */
static void projective_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  eb_v4 d[3], p[3], m = eb_nearest_volume(s, d), stiff = eb_v4_set(3 * law->lambda);
  const eb_v4 least = eb_v4_set(SMALLEST_SUM);
  for (int k = 0; k < 3; k++) p[k] = d[k] * d[k] - m;
  eb_v4 scale = stiff / eb_v4_max(p[0] * p[1] + p[1] * p[2] + p[2] * p[0], eb_v4_set(1e-300));
  for (int k = 0; k < 3; k++) {
    eb_v4 i = d[(k + 1) % 3], j = d[(k + 2) % 3], ij = i * j;
    eb_v4 sum = eb_v4_max(s[(k + 1) % 3] + s[(k + 2) % 3], least);
    t->slope[k] += 2 * law->mu * (s[k] - 1) + stiff * (s[k] - d[k]);
    t->scaling[k] += 2 * law->mu + stiff - scale * d[k] * d[k] * (p[(k + 1) % 3] + p[(k + 2) % 3]);
    t->scaling[3 + k] += scale * ij * p[k];
    t->flip[k] += 2 * law->mu + stiff * (1 - ij / eb_v4_max(ij - m, least));
    t->twist[k] += 2 * law->mu + stiff - (4 * law->mu + stiff * (i + j)) / sum;
  }
}

static const formulas EB_PROJECTIVE_formulas = {.energy = projective_energy,
                                                .stress = projective_stress,
                                                .stretch = projective_stretch,
                                                .rotates = true};

/* ---- of a plug-in: its own functions, one deformation gradient after the other --------------- */

/* Whether the lane has a point: what fills a batch up has F = 0 and volume 0, and an energy that is
 * infinite there would be no number behind it. */
static bool take_lane(const eb_v4 from[9], int lane, double F[9]) {
  bool filled = false;
  for (int i = 0; i < 9; i++) {
    F[i] = from[i][lane];
    filled |= F[i] != 0;
  }
  return filled;
}

static eb_v4 plugged_energy(const eb_law *law, const deformation *d) {
  eb_v4 psi = {0};
  for (int lane = 0; lane < EB_LANES; lane++) {
    double F[9];
    if (take_lane(d->F, lane, F)) psi[lane] = law->plugged->energy(law->p, F);
  }
  return psi;
}

static void plugged_stress(const eb_law *law, const deformation *d, eb_v4 P[9]) {
  for (int lane = 0; lane < EB_LANES; lane++) {
    double F[9], own[9] = {0};
    if (take_lane(d->F, lane, F)) law->plugged->stress(law->p, F, own);
    for (int i = 0; i < 9; i++) P[i][lane] = own[i];
  }
}

/* The tangent T at F = diag(s), which is that at F in the frame U, V: psi_kl = T_kk,ll, and of a
 * pair flip and twist are T_kl,kl with and without T_kl,lk. */
static void plugged_stretch(const eb_law *law, const eb_v4 s[3], stretch_terms *restrict t) {
  for (int lane = 0; lane < EB_LANES; lane++) {
    double F[9] = {s[0][lane], 0, 0, 0, s[1][lane], 0, 0, 0, s[2][lane]}, P[9], T[81];
    if (F[0] == 0 && F[4] == 0 && F[8] == 0) continue; /* as in take_lane */
    law->plugged->stress(law->p, F, P);
    law->plugged->tangent(law->p, F, T);
    for (int k = 0; k < 3; k++) {
      int m = (k + 1) % 3, n = (k + 2) % 3, mn = 3 * m + n, nm = 3 * n + m;
      t->slope[k][lane] += P[4 * k];
      t->scaling[k][lane] += T[9 * 4 * k + 4 * k];
      t->scaling[3 + k][lane] += T[9 * 4 * m + 4 * n];
      t->flip[k][lane] += T[9 * mn + mn] + T[9 * mn + nm];
      t->twist[k][lane] += T[9 * mn + mn] - T[9 * mn + nm];
    }
  }
}

static const formulas plugged_formulas = {
    .energy = plugged_energy, .stress = plugged_stress, .stretch = plugged_stretch};

/* ---- fibres ---------------------------------------------------------------------------------- */

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

/* ---- any material ---------------------------------------------------------------------------- */

static const struct {
  eb_material_info info;
  const formulas *formulas;
} catalogue[EB_MATERIAL_KINDS] = {
#define ENTRY(kind, name, summary, citation) [kind] = {{name, summary, citation}, &kind##_formulas},
    EB_MATERIALS(ENTRY)
#undef ENTRY
};

eb_law eb_law_make(const eb_material *m) {
  bool plugged = m->kind == EB_PLUGGED;
  EB_ASSERT(plugged ? m->plugged != NULL : (unsigned)m->kind < EB_MATERIAL_KINDS);
  EB_ASSERT(m->young > 0 && m->poisson > -1 && m->poisson < 0.5);
  const formulas *own = plugged ? &plugged_formulas : catalogue[m->kind].formulas;
  double mu = m->young / (2 * (1 + m->poisson));
  double lambda = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
  eb_law law = {.formulas = own,
                .rotates = own->rotates,
                .linear = !own->stretch,
                .mu = mu,
                .lambda = lambda,
                .volume = lambda,
                .fibre = m->fibre,
                .fibre_stiffness = m->fibre_stiffness,
                .fibre_full = m->fibre_stiffness,
                .fibre_exponent = m->fibre_exponent};
  if (own->coefficients) own->coefficients(&law);
  if (plugged) {
    law.plugged = m->plugged->ops;
    eb_plugged_numbers(m, law.p);
  }
  eb_law_activate(&law, m->activation);
  return law;
}

void eb_law_activate(eb_law *law, double activation) {
  if (law->fibre == EB_FIBRE_FUNG) law->fibre_stiffness = activation * law->fibre_full;
}

void eb_law_energy(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], const eb_v4 fibre[3],
                   eb_v4 *psi) {
  *psi = law->formulas->energy(law, &(deformation){F, R});
  if (law->fibre) *psi += fibre_terms(law, F, fibre).psi;
}

void eb_law_stress(const eb_law *law, const eb_v4 F[9], const eb_v4 R[9], const eb_v4 fibre[3],
                   eb_v4 P[9]) {
  law->formulas->stress(law, &(deformation){F, R}, P);
  if (!law->fibre) return;
  fibre_part f = fibre_terms(law, F, fibre);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P[3 * i + j] += 2 * f.psi1 * f.Fa[i] * fibre[j];
}

/* The nearest positive semi-definite matrix: negative eigenvalues become zero. Most elements have
 * none, by Sylvester's criterion. */
static void clamp_eigenvalues(eb_v4 A[6]) {
  eb_v4 minor = A[0] * A[1] - A[5] * A[5];
  eb_v4 determinant =
      A[2] * minor - A[3] * (A[0] * A[3] - A[5] * A[4]) + A[4] * (A[5] * A[3] - A[1] * A[4]);
  eb_m4 fine = (A[0] > 0) & (minor > 0) & (determinant > 0);
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

/* h(J): with m the third index and J_k = s_l s_m, psi_kk = h'' J_k^2, psi_kl = h'' J_k J_l + h'
 * s_m, flip = -h' s_m, twist = h' s_m. */
static void add_volume(const eb_law *law, const eb_v4 s[3], stretch_terms *t) {
  const eb_v4 Jk[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
  volumetric v = law->formulas->volume(law, Jk[0] * s[0]);
  for (int k = 0; k < 3; k++) {
    eb_v4 shear = v.h1 * s[k];
    t->slope[k] += v.h1 * Jk[k];
    t->scaling[k] += v.h2 * Jk[k] * Jk[k];
    t->scaling[3 + k] += v.h2 * Jk[(k + 1) % 3] * Jk[(k + 2) % 3] + shear;
    t->flip[k] -= shear;
    t->twist[k] += shear;
  }
}

void eb_law_tangent(const eb_law *law, const eb_v4 s[3], bool project,
                    eb_principal_tangent *tangent) {
  const eb_v4 zero = {0};
  if (law->linear) {
    for (int k = 0; k < 3; k++) {
      tangent->scaling[k] = eb_v4_set(2 * law->mu + law->lambda);
      tangent->scaling[3 + k] = eb_v4_set(law->lambda);
      tangent->direct[k] = tangent->cross[k] = eb_v4_set(law->mu);
    }
    return;
  }
  stretch_terms t = {0};
  law->formulas->stretch(law, s, &t);
  if (law->formulas->volume) add_volume(law, s, &t);
  if (project) clamp_eigenvalues(t.scaling);
  for (int k = 0; k < 6; k++) tangent->scaling[k] = t.scaling[k];
  for (int k = 0; k < 3; k++) tangent->slope[k] = t.slope[k];
  for (int k = 0; k < 3; k++) {
    eb_v4 flip = project ? eb_v4_max(t.flip[k], zero) : t.flip[k];
    eb_v4 twist = project ? eb_v4_max(t.twist[k], zero) : t.twist[k];
    tangent->direct[k] = 0.5 * (flip + twist);
    tangent->cross[k] = 0.5 * (flip - twist);
  }
}

bool eb_law_serves_node(const eb_law *law) {
  return law->formulas->node;
}

/* h(J): with c = cof F g, dJ = c . dx and d2J = 0. */
static void add_node_volume(const eb_law *law, const node_motion *at, eb_node_terms *out) {
  eb_v4 C[9], c[3];
  volumetric v = law->formulas->volume(law, cofactor(at->F, C));
  eb_v4 bend = eb_v4_max(v.h2, eb_v4_set(0));
  for (int i = 0; i < 3; i++) c[i] = eb_v4_dot3(C + 3 * i, at->g);
  for (int k = 0; k < 3; k++) {
    out->pull[k] += v.h1 * c[k];
    out->block[k] += bend * c[k] * c[k];
    out->block[3 + k] += bend * c[(k + 1) % 3] * c[(k + 2) % 3];
  }
}

void eb_law_node(const eb_law *law, const eb_v4 F[9], const eb_v4 g[3], eb_node_terms *out) {
  EB_ASSERT(eb_law_serves_node(law));
  node_motion at = {.F = F, .g = g, .gg = eb_v4_dot3(g, g)};
  for (int i = 0; i < 3; i++) at.u[i] = eb_v4_dot3(F + 3 * i, g);
  law->formulas->node(law, &at, out);
  if (law->formulas->volume) add_node_volume(law, &at, out);
}

/* ---- the catalogue --------------------------------------------------------------------------- */

const eb_material_info *eb_material_describe(eb_material_kind kind) {
  return (unsigned)kind < EB_MATERIAL_KINDS ? &catalogue[kind].info : NULL;
}

const char *eb_material_name(const eb_material *material) {
  if (material->kind == EB_PLUGGED && material->plugged) return material->plugged->ops->name;
  const eb_material_info *info = eb_material_describe(material->kind);
  return info ? info->name : NULL;
}

int eb_material_find(const char *name) {
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++)
    if (strcmp(catalogue[kind].info.name, name) == 0) return kind;
  return -1;
}

static const char *const integrations[] = {[EB_INTEGRATION_GAUSS] = "gauss",
                                           [EB_INTEGRATION_ONE_POINT] = "one-point",
                                           [EB_INTEGRATION_STAGGERED] = "staggered"};
enum { INTEGRATIONS = sizeof integrations / sizeof *integrations };

const char *eb_integration_name(int integration) {
  return (unsigned)integration < INTEGRATIONS ? integrations[integration] : NULL;
}

static eb_error validate_integration(const eb_material *m) {
  if (!eb_integration_name((int)m->integration))
    return EB_ERROR(EB_ERR_INVALID, "unknown integration %d", (int)m->integration);
  if (!(m->hourglass >= 0 && isfinite(m->hourglass)))
    return EB_ERROR(EB_ERR_INVALID, "hourglass stiffness is %g; it must be finite and not negative",
                    m->hourglass);
  return EB_OK;
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
  if (!eb_material_name(m))
    return EB_ERROR(EB_ERR_INVALID, "unknown material kind %d", (int)m->kind);
  if (m->kind == EB_PLUGGED) EB_TRY(eb_plugged_validate(m));
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
  EB_TRY(validate_integration(m));
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
  if (one.law.rotates) eb_polar3(one.F, one.R);
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
static void tangent_column(const eb_principal_tangent *t, const eb_v4 U[9], const eb_v4 V[9], int j,
                           int l, double column[9]) {
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
  eb_principal_tangent t;
  eb_v4 U[9], V[9], s[3] = {{0}};
  if (one.law.linear) {
    identity(U);
    identity(V);
    if (one.law.rotates) memcpy(U, one.R, sizeof U);
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
