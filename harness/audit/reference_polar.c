/* Decompositions of the plain materials.
 *
 * Rotation without singular vectors: l = tr S of F = R S grows along R, R = dl/dF, and tr^2 S =
 * |F|^2 + 2 tr cof S, tr^2 cof S = |cof F|^2 + 2 J tr S make l the largest root of
 *   p(l) = (l^2 - |F|^2)^2 - 8 J l - 4 |cof F|^2,
 * the others being s0 - s1 - s2, s1 - s2 - s0 and s2 - s0 - s1. Newton's method comes down to it
 * from sqrt(3) |F|, which no trace exceeds and which rotations meet. Implicit differentiation gives
 *   R = ((l^2 + |F|^2) F + 2 l cof F - 2 F F^T F) / D,
 *   D = l (l^2 - |F|^2) - 2 J = 2 (s0 + s1) (s1 + s2) (s2 + s0),
 * whose rounding is some 1e-16 l^3 / D. That is 1e-16 27/16 for rotations, and without end where R
 * is not unique, s1 + s2 = 0. */
#include "harness/audit/reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "harness/audit/reference_terms.h"

static double determinant(const double F[9]) {
  return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
         F[2] * (F[3] * F[7] - F[4] * F[6]);
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

/* R = U V^T, in one lane. */
static void polar_by_svd(const eb_four F[9], int lane, eb_four R[9]) {
  double one[9], U[9], s[3], V[9];
  for (int i = 0; i < 9; i++) one[i] = F[i][lane];
  eb_reference_svd(one, U, s, V);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      R[3 * i + j][lane] =
          U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
}

/* The trace of S, given |F|^2, |cof F|^2 and J. */
static eb_four stretch_trace(eb_four F2, eb_four C2, eb_four J) {
  enum { MOST_STEPS = 12 };
  eb_four l = eb_four_sqrt(3 * F2), step = l;
  for (int i = 0; i < MOST_STEPS; i++) {
    eb_four_mask on = (eb_four_mask)(step > 1e-8 * l); /* the step after that: 1e-16 l */
    if (!eb_four_any(on)) break;
    eb_four rest = l * l - F2;
    eb_four next = (rest * rest - 8 * J * l - 4 * C2) / (4 * (l * rest - 2 * J));
    step = eb_four_where(on, next, eb_four_of(0));
    l -= step;
  }
  return l;
}

void eb_reference_polar(const eb_four F[9], eb_four R[9]) {
  /* D is 16/27 l^3 for rotations, and below this for singular values of 1, 0.08, 0.08 or 1, 1,
   * -0.6. */
  static const double least_share = 0.25;
  eb_four C[9], N[9], F2 = eb_norm2(F);
  eb_cofactor(F, C);
  eb_four J = eb_four_dot3(F, C), l = stretch_trace(F2, eb_norm2(C), J);
  eb_four l2 = l * l, D = l * (l2 - F2) - 2 * J, inverse = 1 / D;
  eb_four_mask in_range =
      (eb_four_mask)(F2 > 1e-60) & (eb_four_mask)(F2 < 1e60); /* of its fourth powers */
  eb_four_mask plain = in_range & (eb_four_mask)(D >= least_share * l2 * l);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      N[3 * i + j] = -2 * eb_four_dot3(F + 3 * i, F + 3 * j);
      if (i == j) N[3 * i + j] += l2 + F2;
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      R[3 * i + j] = inverse * (N[3 * i] * F[j] + N[3 * i + 1] * F[3 + j] +
                                N[3 * i + 2] * F[6 + j] + 2 * l * C[3 * i + j]);
  for (int lane = 0; eb_four_any(~plain) && lane < EB_FOUR; lane++)
    if (!plain[lane]) polar_by_svd(F, lane, R);
}
