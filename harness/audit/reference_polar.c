/* Decompositions of the plain materials. */
#include "harness/audit/reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

void eb_reference_polar(const double F[9], double R[9]) {
  double U[9], s[3], V[9];
  eb_reference_svd(F, U, s, V);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) R[3 * i + j] += U[3 * i + k] * V[3 * j + k];
    }
}
