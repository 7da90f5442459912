/* Stretches and their frame, and the stretches of volume 1 that are nearest to them. */
#include <float.h>

#include "harness/audit/reference.h"
#include "harness/audit/reference_terms.h"

/* ---- symmetric matrices ---------------------------------------------------------------------- */

/* Turns rows and columns p and q of A so that A_pq becomes 0, and columns of Q with them; k is the
 * third index. Returns whether it was not already, in any lane.
 * Entries are at most 1 (eb_reference_diagonalize): what is below 1e-150 is 0, so that no square
 * underflows that is divided by. */
static inline bool jacobi_rotation(eb_symmetric *A, eb_four Q[9], int k) {
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

/* By Jacobi's rotations of A over the sum of its entries' sizes. */
void eb_reference_diagonalize(eb_symmetric A, eb_four Q[9], eb_four w[3]) {
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

/* ---- stretches ------------------------------------------------------------------------------- */

/* U = R V from F = R S, S = V diag(s) V^T: cheaper than singular vectors
 * where F is close to R. */
void eb_reference_frame(const eb_four F[9], eb_four U[9], eb_four s[3], eb_four V[9]) {
  eb_four R[9];
  eb_symmetric S;
  eb_reference_polar(F, R);
  for (int k = 0; k < 3; k++) { /* symmetric but for rounding */
    int p = (k + 1) % 3, q = (k + 2) % 3;
    S.diagonal[k] = R[k] * F[k] + R[3 + k] * F[3 + k] + R[6 + k] * F[6 + k];
    S.off[k] = 0.5 * (R[p] * F[q] + R[3 + p] * F[3 + q] + R[6 + p] * F[6 + q] + R[q] * F[p] +
                      R[3 + q] * F[3 + p] + R[6 + q] * F[6 + p]);
  }
  eb_reference_diagonalize(S, V, s);
  for (int i = 0; i < 9; i++)
    U[i] =
        R[i - i % 3] * V[i % 3] + R[i - i % 3 + 1] * V[3 + i % 3] + R[i - i % 3 + 2] * V[6 + i % 3];
}

/* |s - d|^2, and d with its logarithms moved by (c0, c1 - c0, -c1): the product stays. */
static double move(const double s[3], const double d[3], const double c[2], double out[3]) {
  const double by[3] = {c[0], c[1] - c[0], -c[1]};
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    out[k] = d[k] * exp(by[k]);
    sum += (s[k] - out[k]) * (s[k] - out[k]);
  }
  return sum;
}

/* Newton's step in those coordinates from d, or that of Gauss and Newton where the distance is not
 * convex; no logarithm moves by much more than 1. Returns the largest move. */
static double newton_step(const double s[3], const double d[3], double c[2]) {
  double slope[3], bend[3];
  for (int k = 0; k < 3; k++) {
    slope[k] = (d[k] - s[k]) * d[k];
    bend[k] = d[k] * d[k] + slope[k];
  }
  double first = bend[0] + bend[1], second = bend[1] + bend[2];
  if (!(first > 0 && first * second > bend[1] * bend[1]))
    for (int k = 0; k < 3; k++) bend[k] = d[k] * d[k];
  first = bend[0] + bend[1];
  second = bend[1] + bend[2];
  double determinant = first * second - bend[1] * bend[1];
  double p = slope[1] - slope[0], q = slope[2] - slope[1];
  c[0] = (second * p + bend[1] * q) / determinant;
  c[1] = (bend[1] * p + first * q) / determinant;
  double most = fmax(fabs(c[0]), fabs(c[1])), shorten = fmax(1, most);
  c[0] /= shorten;
  c[1] /= shorten;
  return most;
}

/* Goes down from d; returns |s - d|^2. */
static double descend(const double s[3], double d[3]) {
  enum { STEPS = 200 };
  static const double close = 1e-7; /* the next move would be of its square */
  double c[2], next[3], still[2] = {0, 0}, distance = move(s, d, still, next), most = INFINITY;
  for (int i = 0; i < STEPS && most > close; i++) {
    most = newton_step(s, d, c);
    double there = move(s, d, c, next);
    for (double a = 0.5; a > 1e-9 && most > close && !(there < distance); a *= 0.5) {
      const double part[2] = {a * c[0], a * c[1]};
      there = move(s, d, part, next);
    }
    distance = there;
    for (int k = 0; k < 3; k++) d[k] = next[k];
  }
  return distance;
}

/* Where all stretches are large, the nearest may be one small and two large ones: a second start
 * finds them. */
void eb_reference_nearest_volume(const eb_four s[3], eb_four d[3]) {
  for (int l = 0; l < EB_FOUR; l++) {
    const double at[3] = {s[0][l], s[1][l], s[2][l]};
    double near[3] = {1, 1, 1}, split[3];
    int least = at[0] <= at[1] && at[0] <= at[2] ? 0 : at[1] <= at[2] ? 1 : 2;
    double distance = descend(at, near), product = 1;
    for (int k = 0; k < 3; k++) product *= split[k] = k == least ? 1 : at[k];
    split[least] = 1 / product;
    bool other = at[least] > 1 && descend(at, split) < distance;
    for (int k = 0; k < 3; k++) d[k][l] = other ? split[k] : near[k];
  }
}
