/* Cyclic Jacobi on F^T F finds V; a rank-revealing QR of F V with one exact rotation in the plane
 * of the two small singular values restores the digits that squaring lost.
 *
 * Angles follow McAdams et al. 2011 ("Computing the singular value decomposition of 3x3 matrices
 * with minimal branching"), who replace the exact Jacobi angle by a cheap one. With rho = a_pq /
 * (a_pp - a_qq), tan 2 theta = 2 rho, they take tan(theta/2) = rho/2; we take the next term of the
 * series as well,
 *   tan(theta/2) = rho/2 (1 - 5/4 rho^2 + ...) ~ rho / (2 (1 + 5/4 rho^2)),
 * which leaves an off-diagonal of order rho^5 and still needs one division and no square root. When
 * rho is large theta is near pi/4 and exactly that is taken: it leaves |a_pp - a_qq| / 2 off the
 * diagonal. */
#include "problems/elasticity/svd3.h"

#include "problems/elasticity/quaternion.h"

enum { MAX_SWEEPS = 8, PAIR = 2 };

/* |a_pp - a_qq| below this multiple of |a_pq| is rotated by pi/4: contraction at least 0.6. */
static const double LARGE_ANGLE = 1.2;
static const double OFF_DIAGONAL = 3e-16; /* relative to the trace: rounding of the sweep itself */
static const double COS_PI_8 = 0.92387953251128675613, SIN_PI_8 = 0.38268343236508977173;

typedef struct jacobi {
  eb_v4 diagonal[3], off[3]; /* off[k] is the entry of the two other indices */
  eb_v4 q[4];                /* accumulated rotation, unnormalized quaternion (w, x, y, z) */
} jacobi;

/* Rotates in the plane (p, q) about axis r, (p, q, r) cyclic; by no angle in the lanes that are
 * done. */
EB_INLINE void rotate(jacobi *j, int p, int q, int r, eb_m4 done) {
  eb_v4 app = j->diagonal[p], aqq = j->diagonal[q], apq = j->off[r], apr = j->off[q],
        aqr = j->off[p];
  eb_v4 d = app - aqq, dd = d * d, oo = apq * apq;
  /* The floor keeps the squares below from underflowing; entries that small do not matter. */
  eb_m4 small = dd > eb_v4_max(LARGE_ANGLE * LARGE_ANGLE * oo, eb_v4_set(1e-140));
  eb_v4 ch = eb_v4_select(small, 2 * dd + 2.5 * oo, eb_v4_set(COS_PI_8));
  eb_v4 sh = eb_v4_select(small, apq * d, eb_v4_set(SIN_PI_8));
  /* c may come out as 1 - eps/2 in the lanes that are done; 1 + c below is 2 all the same. */
  sh = (eb_v4)((eb_m4)sh & ~done);
  eb_v4 cc = ch * ch, inverse = 1 / (cc + sh * sh);
  eb_v4 c = (cc - sh * sh) * inverse, s = (ch + ch) * sh * inverse;

  /* app' = c^2 app + 2 c s apq + s^2 aqq and its like, as corrections. */
  eb_v4 apq2 = apq + apq, u = s * d - c * apq2, v = s * apq2 + c * d;
  j->diagonal[p] = app - s * u;
  j->diagonal[q] = aqq + s * u;
  j->off[r] = apq - s * v;
  j->off[q] = c * apr + s * aqr;
  j->off[p] = c * aqr - s * apr;

  /* Quaternion of the rotation by theta about r: (cos theta/2, sin theta/2 e_r) is parallel to
   * (1 + c, s e_r), whose length stays between 1.8 and 2. */
  eb_v4 w = 1 + c, q0 = j->q[0], qx = j->q[1 + p], qy = j->q[1 + q], qz = j->q[1 + r];
  j->q[0] = w * q0 - s * qz;
  j->q[1 + p] = w * qx + s * qy;
  j->q[1 + q] = w * qy - s * qx;
  j->q[1 + r] = w * qz + s * q0;
}

/* Diagonalizes n = 1 or 2 batches, interleaved: one rotation is a chain of dependent operations
 * that leaves most of the processor idle. */
EB_INLINE void diagonalize(int n, jacobi *j) {
  for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    eb_m4 done[PAIR], all = {-1, -1, -1, -1};
    for (int b = 0; b < n; b++) {
      eb_v4 off = eb_v4_dot3(j[b].off, j[b].off);
      eb_v4 size = OFF_DIAGONAL * (eb_v4_abs(j[b].diagonal[0]) + eb_v4_abs(j[b].diagonal[1]) +
                                   eb_v4_abs(j[b].diagonal[2]));
      done[b] = off <= size * size;
      all &= done[b];
    }
    if (eb_m4_all(all)) break;
    for (int b = 0; b < n; b++) rotate(&j[b], 0, 1, 2, done[b]);
    for (int b = 0; b < n; b++) rotate(&j[b], 1, 2, 0, done[b]);
    for (int b = 0; b < n; b++) rotate(&j[b], 2, 0, 1, done[b]);
  }
}

/* Columns of the rotation matrix of a quaternion of any length. */
EB_INLINE void quaternion_columns(const eb_v4 q[4], eb_v4 column[3][3]) {
  eb_v4 R[9];
  eb_quaternion_matrix(q, 2 / (q[0] * q[0] + eb_v4_dot3(q + 1, q + 1)), R);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) column[k][i] = R[3 * i + k];
}

/* The power of two that brings the largest of n entries into [1, 2), and its inverse. Entries below
 * the normal range are scaled as far as it goes. */
EB_INLINE void power_of_two(const eb_v4 *entries, int n, eb_v4 *scale, eb_v4 *inverse) {
  eb_v4 largest = eb_v4_abs(entries[0]);
  for (int i = 1; i < n; i++) largest = eb_v4_max(largest, eb_v4_abs(entries[i]));
  const long long one = 1LL << 52, exponent = 0x7ffLL << 52;
  eb_m4 bits = (eb_m4)largest & exponent;
  eb_m4 low = bits<one, high = bits> 2045 * one;
  bits = (low & one) | (~low & bits);
  bits = (high & (2045 * one)) | (~high & bits);
  *inverse = (eb_v4)bits;
  *scale = (eb_v4)(2046 * one - bits);
}

/* (a, b) becomes (b, -a) in the lanes of the mask: an exchange that keeps the determinant. */
EB_INLINE void exchange(eb_m4 mask, eb_v4 a[3], eb_v4 b[3]) {
  for (int i = 0; i < 3; i++) {
    eb_v4 kept = a[i];
    a[i] = eb_v4_select(mask, b[i], kept);
    b[i] = eb_v4_select(mask, -kept, b[i]);
  }
}

/* Makes b orthogonal to the unit vector u; returns what it took away. */
EB_INLINE eb_v4 remove_along(const eb_v4 u[3], eb_v4 b[3]) {
  eb_v4 along = eb_v4_dot3(u, b);
  for (int i = 0; i < 3; i++) b[i] -= along * u[i];
  return along;
}

/* out = u / |u| where |u|^2 = `squared` is above the threshold. */
EB_INLINE void normalize(const eb_v4 u[3], eb_v4 squared, double threshold,
                         const eb_v4 otherwise[3], eb_v4 out[3]) {
  eb_m4 found = squared > threshold;
  eb_v4 inverse = 1 / eb_v4_sqrt(eb_v4_select(found, squared, eb_v4_set(1)));
  for (int i = 0; i < 3; i++) out[i] = eb_v4_select(found, u[i] * inverse, otherwise[i]);
}

/* One exact one-sided Jacobi rotation of columns 1 and 2 of B (and V): orthogonal, the longer
 * first. The rotation (c, s) is (m, o) or, to exchange them, (|o|, +-m), over its length. */
EB_INLINE void separate(eb_v4 B[3][3], eb_v4 V[3][3]) {
  eb_v4 d = eb_v4_dot3(B[1], B[1]) - eb_v4_dot3(B[2], B[2]), o = 2 * eb_v4_dot3(B[1], B[2]);
  eb_v4 m = eb_v4_sqrt(d * d + o * o) + eb_v4_abs(d), squared = m * m + o * o;
  eb_m4 usable = squared > 1e-300, ordered = (d >= 0) | ~usable;
  eb_v4 inverse = 1 / eb_v4_sqrt(eb_v4_select(usable, squared, eb_v4_set(1)));
  m = eb_v4_select(usable, m * inverse, eb_v4_set(1));
  o = (eb_v4)((eb_m4)(o * inverse) & usable);
  eb_v4 c = eb_v4_select(ordered, m, eb_v4_abs(o));
  eb_v4 s = eb_v4_select(ordered, o, eb_v4_copysign(m, o));
  for (int i = 0; i < 3; i++) {
    eb_v4 b = B[1][i], v = V[1][i];
    B[1][i] = c * b + s * B[2][i];
    B[2][i] = c * B[2][i] - s * b;
    V[1][i] = c * v + s * V[2][i];
    V[2][i] = c * V[2][i] - s * v;
  }
}

/* Some unit vector orthogonal to the unit vector u. */
EB_INLINE void orthogonal(const eb_v4 u[3], eb_v4 v[3]) {
  const eb_v4 zero = {0};
  eb_m4 x_small = eb_v4_abs(u[0]) < 0.6;
  v[0] = eb_v4_select(x_small, zero, -u[2]);
  v[1] = eb_v4_select(x_small, u[2], zero);
  v[2] = eb_v4_select(x_small, -u[1], u[0]);
  eb_v4 inverse = 1 / eb_v4_sqrt(eb_v4_dot3(v, v));
  for (int i = 0; i < 3; i++) v[i] *= inverse;
}

/* Normalizing a short b1 into u1 magnified what rounding had left of it along u0. What is taken
 * away now changes the length of u1 only where it is large, and where b1 was nothing but rounding
 * any direction will do. */
EB_INLINE void restore_orthogonality(const eb_v4 u0[3], eb_v4 u1[3]) {
  eb_m4 fine = eb_v4_abs(remove_along(u0, u1)) < 1e-9;
  if (eb_m4_all(fine)) return;
  eb_v4 other[3], unit[3];
  orthogonal(u0, other);
  normalize(u1, eb_v4_dot3(u1, u1), 0.25, other, unit);
  remove_along(u0, unit);
  for (int i = 0; i < 3; i++) u1[i] = eb_v4_select(fine, u1[i], unit[i]);
}

/* From V diagonalizing F^T F to rounding, and B = F V (columns): U, s and the final V. The
 * columns of B are orthogonal within a few eps s0^2, so b1 and b2 may be dropped along u0 at an
 * error of eps s0, but b1 and b2 may be far from orthogonal to each other when both are below
 * sqrt(eps) s0. */
EB_INLINE void complete(eb_v4 B[3][3], eb_v4 V[3][3], eb_v4 U[3][3], eb_v4 s[3]) {
  const eb_v4 first[3] = {eb_v4_set(1), {0}, {0}};
  eb_v4 longest = eb_v4_dot3(B[0], B[0]);
  for (int k = 1; k < 3; k++) {
    eb_v4 squared = eb_v4_dot3(B[k], B[k]);
    eb_m4 longer = squared > longest;
    longest = eb_v4_select(longer, squared, longest);
    exchange(longer, B[0], B[k]);
    exchange(longer, V[0], V[k]);
  }
  normalize(B[0], longest, 0, first, U[0]);
  remove_along(U[0], B[1]);
  remove_along(U[0], B[2]);
  separate(B, V);
  normalize(B[1], eb_v4_dot3(B[1], B[1]), 1e-300, U[0], U[1]);
  restore_orthogonality(U[0], U[1]);
  eb_v4_cross3(U[0], U[1], U[2]);
  for (int k = 0; k < 3; k++) s[k] = eb_v4_dot3(U[k], B[k]);
}

/* The entries of A^T A, from the first frame on. */
EB_INLINE void begin(const eb_v4 A[9], jacobi *j) {
  for (int k = 0; k < 3; k++) {
    int p = (k + 1) % 3, q = (k + 2) % 3;
    j->diagonal[k] = A[k] * A[k] + A[3 + k] * A[3 + k] + A[6 + k] * A[6 + k];
    j->off[k] = A[p] * A[q] + A[3 + p] * A[3 + q] + A[6 + p] * A[6 + q];
  }
}

/* n = 1 or 2 batches. */
EB_INLINE void decompose(int n, const eb_v4 (*F)[9], eb_v4 (*U)[9], eb_v4 (*s)[3], eb_v4 (*V)[9]) {
  eb_v4 A[PAIR][9], scale[PAIR], unscale[PAIR];
  jacobi j[PAIR];
  for (int b = 0; b < n; b++) {
    power_of_two(F[b], 9, &scale[b], &unscale[b]);
    for (int i = 0; i < 9; i++) A[b][i] = F[b][i] * scale[b];
    j[b] = (jacobi){.q = {eb_v4_set(1)}};
    begin(A[b], &j[b]);
  }
  diagonalize(n, j);
  for (int b = 0; b < n; b++) {
    eb_v4 B[3][3], left[3][3], right[3][3];
    quaternion_columns(j[b].q, right);
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) B[k][i] = eb_v4_dot3(A[b] + 3 * i, right[k]);
    complete(B, right, left, s[b]);
    for (int k = 0; k < 3; k++) {
      s[b][k] *= unscale[b];
      for (int i = 0; i < 3; i++) {
        U[b][3 * i + k] = left[k][i];
        V[b][3 * i + k] = right[k][i];
      }
    }
  }
}

void eb_svd3(int count, const eb_v4 (*F)[9], eb_v4 (*U)[9], eb_v4 (*s)[3], eb_v4 (*V)[9]) {
  int b = 0;
  for (; b + PAIR <= count; b += PAIR) decompose(PAIR, F + b, U + b, s + b, V + b);
  if (b < count) decompose(1, F + b, U + b, s + b, V + b);
}

void eb_polar3(const eb_v4 F[9], eb_v4 R[9]) {
  eb_v4 A[1][9], U[1][9], s[1][3], V[1][9];
  for (int i = 0; i < 9; i++) A[0][i] = F[i];
  decompose(1, (const eb_v4(*)[9])A, U, s, V);
  eb_rotation3(U[0], V[0], R);
}

/* In the frame of q, F V0 takes the place of F: (F V0)^T F V0 is nearly diagonal. */
void eb_orthogonal3(const eb_v4 F[9], eb_v4 q[4], eb_v4 R[9]) {
  eb_v4 A[9], W[9], scale, unscale, B[3][3], right[3][3], left[3][3], s[3];
  jacobi j = {.q = {q[0], q[1], q[2], q[3]}};
  power_of_two(F, 9, &scale, &unscale);
  for (int i = 0; i < 9; i++) A[i] = F[i] * scale;
  quaternion_columns(q, right);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) W[3 * i + k] = eb_v4_dot3(A + 3 * i, right[k]);
  begin(W, &j);
  eb_m4 found = j.diagonal[0] + j.diagonal[1] + j.diagonal[2] >= 0;
  diagonalize(1, &j);
  eb_quaternion_normalize(j.q);
  for (int k = 0; k < 4; k++) q[k] = eb_v4_select(found, j.q[k], q[k]);
  quaternion_columns(q, right);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) B[k][i] = eb_v4_dot3(A + 3 * i, right[k]);
  complete(B, right, left, s);
  eb_v4 sign = eb_v4_copysign(eb_v4_set(1), s[2]);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      R[3 * i + k] =
          left[0][i] * right[0][k] + left[1][i] * right[1][k] + sign * left[2][i] * right[2][k];
}

void eb_eigen3(const eb_v4 S[6], eb_v4 w[3], eb_v4 Q[9]) {
  eb_v4 scale, unscale;
  power_of_two(S, 6, &scale, &unscale);
  jacobi j = {.q = {eb_v4_set(1)}};
  for (int k = 0; k < 3; k++) {
    j.diagonal[k] = S[k] * scale;
    j.off[k] = S[3 + k] * scale;
  }
  diagonalize(1, &j);
  eb_v4 column[3][3];
  quaternion_columns(j.q, column);
  for (int k = 0; k < 3; k++) {
    w[k] = j.diagonal[k] * unscale;
    for (int i = 0; i < 3; i++) Q[3 * i + k] = column[k][i];
  }
}
