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

#include <float.h>

#include "harness/audit/reference.h"
#include "harness/audit/reference_terms.h"

/* ---- symmetric matrices ---------------------------------------------------------------------- */

/* A 3 x 3 matrix; off[k] is the entry of the pair that leaves k out. */
typedef struct symmetric {
  eb_four diagonal[3], off[3];
} symmetric;

/* Turns rows and columns p and q of A so that A_pq becomes 0, and columns of Q with them; k is the
 * third index. Returns whether it was not already, in any lane.
 * Entries are at most 1 (diagonalize): what is below 1e-150 is 0, so that no square underflows that
 * is divided by. */
static inline bool jacobi_rotation(symmetric *A, eb_four Q[9], int k) {
  static const double nought = 1e-150;
  int p = (k + 1) % 3, q = (k + 2) % 3;
  eb_four off = A->off[k], kp = A->off[q], kq = A->off[p];
  eb_four small = 0.5 * DBL_EPSILON * (eb_four_abs(A->diagonal[p]) + eb_four_abs(A->diagonal[q]));
  eb_four_mask turns = (eb_four_mask)(eb_four_abs(off) > small + nought);
  if (!eb_four_any(turns)) return false;
  eb_four apart = A->diagonal[q] - A->diagonal[p];
  eb_four twice = eb_four_turn_sign(2 * off, apart); /* tan of twice the angle: twice / |apart| */
  eb_four base = eb_four_abs(apart) + eb_four_sqrt(apart * apart + twice * twice);
  eb_four inverse = 1 / eb_four_sqrt(base * base + twice * twice);
  eb_four moved = eb_four_where(turns, off * twice / base, eb_four_of(0));
  eb_four c = eb_four_where(turns, base * inverse, eb_four_of(1));
  eb_four s = eb_four_where(turns, twice * inverse, eb_four_of(0));
  A->diagonal[p] -= moved;
  A->diagonal[q] += moved;
  A->off[k] = eb_four_where(turns, eb_four_of(0), off);
  A->off[q] = c * kp - s * kq;
  A->off[p] = s * kp + c * kq;
  for (int i = 0; i < 3; i++) {
    eb_four keep = Q[3 * i + p];
    Q[3 * i + p] = c * keep - s * Q[3 * i + q];
    Q[3 * i + q] = s * keep + c * Q[3 * i + q];
  }
  return true;
}

/* A = Q diag(w) Q^T, by Jacobi's rotations of A over the sum of its entries' sizes. */
static void diagonalize(symmetric A, eb_four Q[9], eb_four w[3]) {
  enum { SWEEPS = 16 };
  static const double least = 1e-300; /* matrices below it are 0 */
  eb_four size = eb_four_of(0);
  for (int k = 0; k < 3; k++) size += eb_four_abs(A.diagonal[k]) + eb_four_abs(A.off[k]);
  eb_four shrink = eb_four_where((eb_four_mask)(size > least), 1 / size, eb_four_of(0));
  for (int k = 0; k < 3; k++) {
    A.diagonal[k] *= shrink;
    A.off[k] *= shrink;
  }
  for (int i = 0; i < 9; i++) Q[i] = eb_four_of(i % 4 == 0);
  bool changed = true;
  for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
    changed = jacobi_rotation(&A, Q, 2);
    changed |= jacobi_rotation(&A, Q, 1);
    changed |= jacobi_rotation(&A, Q, 0);
  }
  for (int k = 0; k < 3; k++) w[k] = size * A.diagonal[k];
}

/* Sylvester's criterion. */
static eb_four_mask is_positive(const symmetric *A) {
  const eb_four *d = A->diagonal, *off = A->off;
  eb_four minor = d[0] * d[1] - off[2] * off[2];
  eb_four det = off[1] * (off[2] * off[0] - d[1] * off[1]) -
                off[0] * (d[0] * off[0] - off[2] * off[1]) + d[2] * minor;
  return (eb_four_mask)(d[0] > 0) & (eb_four_mask)(minor > 0) & (eb_four_mask)(det > 0);
}

/* Sets the negative eigenvalues of A to 0. */
static void clamp_eigenvalues(symmetric *A) {
  eb_four Q[9], w[3];
  eb_four_mask positive = is_positive(A);
  if (!eb_four_any(~positive)) return;
  diagonalize(*A, Q, w);
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
static void derive_pair(const invariant_slopes *d, const eb_four s[3], int m, symmetric *along,
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

static void derive_stretches(const eb_material *material, const eb_four s[3], bool project,
                             eb_tangent_at *t) {
  invariant_slopes slopes;
  symmetric along;
  differentiate(material, s, &slopes);
  for (int m = 0; m < 3; m++) derive_pair(&slopes, s, m, &along, t);
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

/* F = U diag(s) V^T with U = R V from F = R S, S = V diag(s) V^T: cheaper than singular vectors
 * where F is close to R. */
static void find_frame(const eb_four F[9], eb_four U[9], eb_four s[3], eb_four V[9]) {
  eb_four R[9];
  symmetric S;
  eb_reference_polar(F, R);
  for (int k = 0; k < 3; k++) { /* symmetric but for rounding */
    int p = (k + 1) % 3, q = (k + 2) % 3;
    S.diagonal[k] = R[k] * F[k] + R[3 + k] * F[3 + k] + R[6 + k] * F[6 + k];
    S.off[k] = 0.5 * (R[p] * F[q] + R[3 + p] * F[3 + q] + R[6 + p] * F[6 + q] + R[q] * F[p] +
                      R[3 + q] * F[3 + p] + R[6 + q] * F[6 + p]);
  }
  diagonalize(S, V, s);
  for (int i = 0; i < 9; i++)
    U[i] =
        R[i - i % 3] * V[i % 3] + R[i - i % 3 + 1] * V[3 + i % 3] + R[i - i % 3 + 2] * V[6 + i % 3];
}

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
    find_frame(F, out->U, s, out->V);
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
