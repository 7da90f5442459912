/* Isotropic energies are functions of the stretches, the singular values s of F = U diag(s) V^T.
 * With dF = U X V^T and dP = U Y V^T, the sum over l of
 *   Y_kk = psi_kl X_ll,
 *   Y_kl + Y_lk = (psi_k - psi_l) / (s_k - s_l) (X_kl + X_lk),
 *   Y_kl - Y_lk = (psi_k + psi_l) / (s_k + s_l) (X_kl - X_lk):
 * the eigenvalues of the tangent are those of the 3x3 matrix psi_kl and the quotients, the flips
 * and twists of pairs (Smith, de Goes and Kim 2019).
 *
 * Each energy here is a sum of functions of one invariant of the stretches each, and so are its
 * derivatives. With (k, l, m) all different, the invariants have
 *                    d/ds_k               d2/ds_k2           d2/ds_k ds_l
 *   tr S = sum s_k   1                    0                  0
 *   Ic = sum s_k^2   2 s_k                2                  0
 *   IIc = |cof F|^2  2 s_k (s_l^2+s_m^2)  2 (s_l^2 + s_m^2)  4 s_k s_l
 *   J                s_l s_m              0                  s_m
 *
 *                    flip of (k, l)       twist
 *   tr S             0                    2 / (s_k + s_l)
 *   Ic               2                    2
 *   IIc              2 (s_m^2 - s_k s_l)  2 (s_m^2 + s_k s_l)
 *   J                -s_m                 s_m
 * and flips have their limits for s_k = s_l. */
#include "harness/audit/tangent.h"

#include "harness/audit/reference.h"
#include "harness/audit/reference_terms.h"

/* ---- symmetric matrices ---------------------------------------------------------------------- */

/* Sylvester's criterion. */
static eb_four_mask is_positive(const eb_symmetric *A) {
  const eb_four *d = A->diagonal, *off = A->off;
  eb_four minor = d[0] * d[1] - off[2] * off[2];
  eb_four det = off[1] * (off[2] * off[0] - d[1] * off[1]) -
                off[0] * (d[0] * off[0] - off[2] * off[1]) + d[2] * minor;
  return (eb_four_mask)(d[0] > 0) & (eb_four_mask)(minor > 0) & (eb_four_mask)(det > 0);
}

/* Sets the negative eigenvalues of A to 0. */
static void clamp_eigenvalues(eb_symmetric *A) {
  eb_four Q[9], w[3];
  eb_four_mask positive = is_positive(A);
  if (!eb_four_any(~positive)) return;
  eb_reference_diagonalize(*A, Q, w);
  for (int k = 0; k < 3; k++) w[k] = eb_four_at_least(w[k], 0);
  for (int m = 0; m < 3; m++) {
    int k = (m + 1) % 3, l = (m + 2) % 3;
    eb_four diagonal = eb_four_of(0), off = eb_four_of(0);
    for (int i = 0; i < 3; i++) {
      diagonal += w[i] * Q[3 * m + i] * Q[3 * m + i];
      off += w[i] * Q[3 * k + i] * Q[3 * l + i];
    }
    A->diagonal[m] = eb_four_where(positive, A->diagonal[m], diagonal);
    A->off[m] = eb_four_where(positive, A->off[m], off);
  }
}

/* ---- stretches ------------------------------------------------------------------------------- */

/* First and second derivatives of psi by the invariants; IIc enters linearly everywhere. */
typedef struct invariant_slopes {
  eb_four trace, square, square2, volume, volume2;
  double trace2, cofactor;
} invariant_slopes;

static void differentiate(const eb_material *material, const eb_four s[3], invariant_slopes *d) {
  eb_lame lame = eb_coefficients(material);
  double mu = lame.mu, lambda = lame.lambda;
  eb_four Ic = eb_four_dot3(s, s), J = s[0] * s[1] * s[2];
  eb_term volume;
  eb_reference_volume(material->kind, lame, &J, &volume);
  *d = (invariant_slopes){.volume = volume.first, .volume2 = volume.second};
  switch (material->kind) {
  case EB_COROTATED: /* mu (Ic - 2 tr S + 3) + lambda/2 (tr S - 3)^2 */
    d->trace = lambda * (s[0] + s[1] + s[2] - 3) - 2 * mu;
    d->trace2 = lambda;
    d->square = eb_four_of(mu);
    break;
  case EB_PROJECTIVE:         /* and what add_nearest_volume adds */
  case EB_FIXED_COROTATIONAL: /* mu (Ic - 2 tr S + 3) + h(J) */
    d->trace = eb_four_of(-2 * mu);
    d->square = eb_four_of(mu);
    break;
  case EB_STVK: /* mu/4 (Ic^2 - 2 IIc - 2 Ic + 3) + lambda/8 (Ic - 3)^2 */
    d->square = 0.5 * mu * (Ic - 1) + 0.25 * lambda * (Ic - 3);
    d->square2 = eb_four_of(0.5 * mu + 0.25 * lambda);
    d->cofactor = -0.5 * mu;
    break;
  case EB_STABLE_NEO_HOOKEAN: /* mu/2 (Ic - ln(Ic + 1)) + h(J) */
    d->square = 0.5 * mu * (1 - 1 / (Ic + 1));
    d->square2 = 0.5 * mu / ((Ic + 1) * (Ic + 1));
    break;
  case EB_MOONEY_RIVLIN: /* C10 Ic + C01 IIc + h(J) */
    d->square = eb_four_of(0.375 * mu);
    d->cofactor = 0.125 * mu;
    break;
  default: /* neo-Hookean: mu/2 Ic + h(J) */
    d->square = eb_four_of(0.5 * mu);
  }
}

/* The tangent in the frame of the stretches: one diagonal entry, and the pair that leaves m out. */
static void derive_pair(const invariant_slopes *d, const eb_four s[3], int m, eb_symmetric *along,
                        eb_tangent_at *t) {
  static const double smallest_sum = 1e-8;
  int k = (m + 1) % 3, l = (m + 2) % 3;
  eb_four kl = s[k] * s[l], mm = s[m] * s[m], sum = eb_four_at_least(s[k] + s[l], smallest_sum);
  along->diagonal[m] = d->trace2 + 2 * d->square + 4 * d->square2 * mm +
                       2 * d->cofactor * (s[k] * s[k] + s[l] * s[l]) + d->volume2 * kl * kl;
  along->off[m] =
      d->trace2 + 4 * (d->square2 + d->cofactor) * kl + d->volume2 * kl * mm + d->volume * s[m];
  t->flip[m] = 2 * d->square + 2 * d->cofactor * (mm - kl) - d->volume * s[m];
  t->twist[m] = 2 * d->trace / sum + 2 * d->square + 2 * d->cofactor * (mm + kl) + d->volume * s[m];
}

/* Of 3/2 lambda |s - d|^2 with d the nearest stretches of product 1, which is no function of an
 * invariant. d moves on the surface d0 d1 d2 = 1, whose tangents are Z = (d0, -d1, 0) and (0, d1,
 * -d2): dd = Z inv(B) Z^T ds, B the second derivatives of the distance along them. For a pair,
 * stationarity of the third stretch gives (s_k - s_l) / (d_k - d_l) = 1 - d_m^2 (s_m - d_m). */
static void add_nearest_volume(double lambda, const eb_four s[3], eb_symmetric *along,
                               eb_tangent_at *t) {
  static const double smallest = 1e-8;
  eb_four d[3], bend[3], zero = eb_four_of(0);
  eb_reference_nearest_volume(s, d);
  for (int k = 0; k < 3; k++) bend[k] = 2 * d[k] * d[k] - s[k] * d[k];
  eb_four first = bend[0] + bend[1], second = bend[1] + bend[2];
  eb_four determinant = first * second - bend[1] * bend[1];
  const eb_four Z[3][2] = {{d[0], zero}, {-d[1], d[1]}, {zero, -d[2]}};
  for (int m = 0; m < 3; m++) {
    int k = (m + 1) % 3, l = (m + 2) % 3;
    for (int pair = 0; pair < 2; pair++) {
      const eb_four *a = Z[pair ? k : m], *b = Z[pair ? l : m];
      eb_four moved =
          (a[0] * second * b[0] + bend[1] * (a[0] * b[1] + a[1] * b[0]) + a[1] * first * b[1]) /
          determinant;
      *(pair ? &along->off[m] : &along->diagonal[m]) += 3 * lambda * (!pair - moved);
    }
    eb_four apart = eb_four_at_least(1 - d[m] * d[m] * (s[m] - d[m]), smallest);
    t->flip[m] += 3 * lambda * (1 - 1 / apart);
    t->twist[m] += 3 * lambda * (1 - (d[k] + d[l]) / eb_four_at_least(s[k] + s[l], smallest));
  }
}

/* Of a plug-in's own tangent at diag(s), its entries at dP = e_i e_k^T, dF = e_j e_l^T. */
static void derive_plugged(const eb_material *material, const eb_four s[3], eb_symmetric *along,
                           eb_tangent_at *t) {
  double p[EB_PLUGGED_NUMBERS];
  eb_reference_numbers(material, p);
  for (int lane = 0; lane < EB_FOUR; lane++) {
    const double F[9] = {s[0][lane], 0, 0, 0, s[1][lane], 0, 0, 0, s[2][lane]};
    double T[9][9];
    material->plugged->ops->tangent(p, F, &T[0][0]);
    for (int m = 0; m < 3; m++) {
      int k = (m + 1) % 3, l = (m + 2) % 3, kl = 3 * k + l, lk = 3 * l + k;
      along->diagonal[m][lane] = T[4 * m][4 * m];
      along->off[m][lane] = T[4 * k][4 * l];
      t->flip[m][lane] = T[kl][kl] + T[kl][lk];
      t->twist[m][lane] = T[kl][kl] - T[kl][lk];
    }
  }
}

static void derive_invariants(const eb_material *material, const eb_four s[3], eb_symmetric *along,
                              eb_tangent_at *t) {
  invariant_slopes slopes;
  differentiate(material, s, &slopes);
  for (int m = 0; m < 3; m++) derive_pair(&slopes, s, m, along, t);
  if (material->kind == EB_PROJECTIVE) add_nearest_volume(eb_lame_of(material).lambda, s, along, t);
}

static void derive_stretches(const eb_material *material, const eb_four s[3], bool project,
                             eb_tangent_at *t) {
  eb_symmetric along;
  (material->kind == EB_PLUGGED ? derive_plugged : derive_invariants)(material, s, &along, t);
  if (project) clamp_eigenvalues(&along);
  for (int m = 0; m < 3; m++) {
    t->along[m] = along.diagonal[m];
    t->across[m] = along.off[m];
    if (!project) continue;
    t->flip[m] = eb_four_at_least(t->flip[m], 0);
    t->twist[m] = eb_four_at_least(t->twist[m], 0);
  }
}

/* ---- parts of the tangent -------------------------------------------------------------------- */

/* In the frame U = R, V = I the stress 2 mu sym X + lambda tr X I has no twist. */
static void rotate(const eb_material *material, const eb_four F[9], eb_tangent_at *t) {
  eb_lame lame = eb_lame_of(material);
  for (int i = 0; i < 9; i++) t->U[i] = t->V[i] = eb_four_of(i % 4 == 0);
  if (material->kind != EB_LINEAR) eb_reference_polar(F, t->U);
  for (int m = 0; m < 3; m++) {
    t->along[m] = eb_four_of(2 * lame.mu + lame.lambda);
    t->across[m] = eb_four_of(lame.lambda);
    t->flip[m] = eb_four_of(2 * lame.mu);
    t->twist[m] = eb_four_of(0);
  }
}

/* M (dF a) a^T, M = 2 psi' I + 4 psi'' (F a) (F a)^T: eigenvalues 2 psi' across F a and 2 psi' + 4
 * psi'' I5 along it. */
static void derive_fibre(const eb_material *material, bool project, const eb_four F[9],
                         const eb_four a[3], eb_tangent_at *t) {
  eb_term fibre;
  for (int d = 0; d < 3; d++) t->a[d] = a[d];
  eb_four_turn3(F, a, t->Fa);
  eb_four I5 = eb_four_dot3(t->Fa, t->Fa);
  eb_reference_fibre(material, &I5, &fibre);
  eb_four across = 2 * fibre.first, along = across + 4 * fibre.second * I5;
  if (project) {
    across = eb_four_at_least(across, 0);
    along = eb_four_at_least(along, 0);
  }
  t->stiff = across;
  t->grown = eb_four_where((eb_four_mask)(I5 > 0), (along - across) / I5, eb_four_of(0));
}

void eb_reference_tangent(const eb_material *material, eb_tangent tangent, const eb_four F[9],
                          const eb_four *fibre, eb_tangent_at *out) {
  bool project = tangent == EB_TANGENT_PROJECTED;
  if (tangent == EB_TANGENT_ROTATED || material->kind == EB_COROTATIONAL ||
      material->kind == EB_LINEAR) {
    rotate(material, F, out);
  } else {
    eb_four s[3];
    eb_reference_frame(F, out->U, s, out->V);
    derive_stretches(material, s, project, out);
  }
  out->has_fibre = material->fibre != EB_FIBRE_NONE && fibre;
  if (out->has_fibre) derive_fibre(material, project, F, fibre, out);
}

/* ---- its product ----------------------------------------------------------------------------- */

/* C = A B, or A^T B or A B^T; C is neither A nor B. */
static inline void multiply(const eb_four A[9], bool turn_A, const eb_four B[9], bool turn_B,
                            eb_four C[9]) {
  int row = turn_A ? 1 : 3, next = turn_A ? 3 : 1, column = turn_B ? 3 : 1, down = turn_B ? 1 : 3;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[row * i] * B[column * j] + A[row * i + next] * B[column * j + down] +
                     A[row * i + 2 * next] * B[column * j + 2 * down];
}

static void add_fibre(const eb_tangent_at *t, const eb_four dF[9], eb_four dP[9]) {
  eb_four dFa[3];
  eb_four_turn3(dF, t->a, dFa);
  eb_four stretch = t->grown * eb_four_dot3(t->Fa, dFa);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) dP[3 * i + j] += (t->stiff * dFa[i] + stretch * t->Fa[i]) * t->a[j];
}

void eb_tangent_apply(const eb_tangent_at *t, const eb_four dF[9], eb_four dP[9]) {
  eb_four X[9], Y[9];
  multiply(t->U, true, dF, false, Y);
  multiply(Y, false, t->V, false, X);
  for (int m = 0; m < 3; m++) {
    int k = (m + 1) % 3, l = (m + 2) % 3;
    eb_four even = 0.5 * t->flip[m] * (X[3 * k + l] + X[3 * l + k]);
    eb_four odd = 0.5 * t->twist[m] * (X[3 * k + l] - X[3 * l + k]);
    Y[3 * k + l] = even + odd;
    Y[3 * l + k] = even - odd;
    Y[4 * m] = t->along[m] * X[4 * m] + t->across[l] * X[4 * k] + t->across[k] * X[4 * l];
  }
  multiply(t->U, false, Y, false, X);
  multiply(X, false, t->V, true, dP);
  if (t->has_fibre) add_fibre(t, dF, dP);
}
