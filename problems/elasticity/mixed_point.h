/* One batch of four points of the mixed form (mixed.h): the stretch of a deformation gradient, its
 * derivative, and energies of stretches. Internal to problems/ and solvers/subspace/.
 *
 * Symmetric matrices are 6-vectors in Mandel's order, (00 11 22) and sqrt 2 (12 02 01), so that the
 * dot product is that of the matrices and a change of frame is orthogonal. With F = U diag(s) V^T,
 * Sbar = V diag(s) V^T. From Sbar^2 = F^T F, with X = U^T dF V,
 *   (V^T dSbar V)_ij = (s_i X_ij + s_j X_ji) / (s_i + s_j),
 * which needs no system to be solved. So row p of dF, along a gradient h = V^T g, moves three of
 * the six entries: p by h_p, and (p, j) by s_p / (s_p + s_j) h_j.
 *
 * H has in the frame Q of S (its own eigenvectors, not V) the tangent of an isotropic law for
 * symmetric dF: 3 x 3 for the diagonal entries, the flip modes for the others (law.h); the twist
 * modes, which make FEM's tangent indefinite under compression, have no part in it. */
#ifndef EB_MIXED_POINT_H
#define EB_MIXED_POINT_H

#include "problems/elasticity/law.h"
#include "problems/elasticity/svd3.h"

enum { MANDEL = 6, PACKED = 21 };

static const double ROOT2 = 1.41421356237309504880;
/* s_i + s_j is kept above this: where it vanishes the rotation is not unique, and J infinite. */
static const double SMALLEST_PAIR = 1e-3;

/* What one batch of points keeps between the sweeps of an iteration, 4 lanes each. */
typedef struct mixed_point {
  eb_v4 S[6], dS[6];    /* 00 11 22 12 02 01 */
  eb_v4 lambda[MANDEL]; /* before expand: dpsi/dS + H (Sbar - S) in the frame V; after: lambda */
  eb_v4 U[9], V[9], s[3];
  eb_v4 H[PACKED]; /* in the frame V, rows of the upper triangle */
} mixed_point;

/* ---- symmetric matrices ---- */

static const int ENTRY[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};

EB_INLINE void expand(const eb_v4 S[6], eb_v4 out[9]) {
  for (int i = 0; i < 9; i++) out[i] = S[ENTRY[i]];
}

/* V diag V^T for a Mandel vector d in the frame V, as 00 11 22 12 02 01. */
EB_INLINE void to_world(const eb_v4 V[9], const eb_v4 d[MANDEL], eb_v4 out[6]) {
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  eb_v4 full[9], T[9];
  for (int i = 0; i < 9; i++) full[i] = ENTRY[i] < 3 ? d[ENTRY[i]] : d[ENTRY[i]] / ROOT2;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) T[3 * i + k] = eb_v4_dot3(V + 3 * i, full + 3 * k);
  for (int m = 0; m < 6; m++) out[m] = eb_v4_dot3(T + 3 * row[m], V + 3 * column[m]);
}

/* V^T S V, 00 11 22 12 02 01. */
EB_INLINE void to_frame(const eb_v4 V[9], const eb_v4 S[6], eb_v4 out[6]) {
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  eb_v4 full[9], T[9];
  expand(S, full);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      T[3 * i + k] = full[3 * i] * V[k] + full[3 * i + 1] * V[3 + k] + full[3 * i + 2] * V[6 + k];
  for (int m = 0; m < 6; m++) {
    const eb_v4 *left = V + row[m], *right = T + column[m];
    out[m] = left[0] * right[0] + left[3] * right[3] + left[6] * right[6];
  }
}

EB_INLINE eb_v4 dot6(const eb_v4 a[MANDEL], const eb_v4 b[MANDEL]) {
  return eb_v4_dot3(a, b) + eb_v4_dot3(a + 3, b + 3);
}

EB_INLINE int packed(int i, int j) {
  int low = i < j ? i : j, high = i < j ? j : i;
  return low * MANDEL - low * (low - 1) / 2 + high - low;
}

EB_INLINE void multiply6(const eb_v4 H[PACKED], const eb_v4 d[MANDEL], eb_v4 out[MANDEL]) {
#pragma GCC unroll 6
  for (int i = 0; i < MANDEL; i++) {
    out[i] = H[packed(i, 0)] * d[0];
#pragma GCC unroll 6
    for (int j = 1; j < MANDEL; j++) out[i] += H[packed(i, j)] * d[j];
  }
}

/* ---- one point ---- */

/* dpsi/dS as a Mandel vector in the frame that S is given in: the stress of the law at F = S, whose
 * rotation is none. */
EB_INLINE void stretch_stress(const eb_law *law, const eb_v4 S[6], eb_v4 out[MANDEL]) {
  static const eb_v4 identity[9] = {{1, 1, 1, 1}, {0}, {0}, {0},         {1, 1, 1, 1},
                                    {0},          {0}, {0}, {1, 1, 1, 1}};
  static const int where[6] = {0, 4, 8, 5, 2, 1};
  eb_v4 F[9], P[9];
  expand(S, F);
  eb_law_stress(law, F, identity, NULL, P);
  for (int m = 0; m < 6; m++) out[m] = m < 3 ? P[where[m]] : ROOT2 * P[where[m]];
}

EB_INLINE eb_v4 stretch_energy(const eb_law *law, const eb_v4 S[6]) {
  static const eb_v4 identity[9] = {{1, 1, 1, 1}, {0}, {0}, {0},         {1, 1, 1, 1},
                                    {0},          {0}, {0}, {1, 1, 1, 1}};
  eb_v4 F[9], psi;
  expand(S, F);
  eb_law_energy(law, F, identity, NULL, &psi);
  return psi;
}

/* d2psi/dS2 in the frame that S is given in, M S's own. The mode k < 3 of that is m_k m_k^T, and
 * mode 3 + k (m_i m_j^T + m_j m_i^T) / sqrt 2. */
EB_INLINE void stretch_hessian(const eb_law *law, const eb_v4 S[6], eb_v4 H[PACKED]) {
  eb_v4 w[3], M[9], mode[MANDEL][MANDEL], scaled[MANDEL][MANDEL];
  eb_principal_tangent t;
  eb_eigen3(S, w, M);
  eb_law_tangent(law, w, true, &t);
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
      int r = (i + 1) % 3, c = (i + 2) % 3;
      mode[k][i] = M[3 * i + k] * M[3 * i + k];
      mode[k][3 + i] = ROOT2 * M[3 * r + k] * M[3 * c + k];
      mode[3 + k][i] = ROOT2 * M[3 * i + l] * M[3 * i + m];
      mode[3 + k][3 + i] = M[3 * r + l] * M[3 * c + m] + M[3 * r + m] * M[3 * c + l];
    }
  }
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3, m = (k + 2) % 3;
    eb_v4 flip = t.direct[k] + t.cross[k];
#pragma GCC unroll 6
    for (int i = 0; i < MANDEL; i++) {
      scaled[k][i] =
          t.scaling[k] * mode[k][i] + t.scaling[3 + m] * mode[l][i] + t.scaling[3 + l] * mode[m][i];
      scaled[3 + k][i] = flip * mode[3 + k][i];
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < MANDEL; i++)
#pragma GCC unroll 6
    for (int j = i; j < MANDEL; j++) {
      eb_v4 sum = scaled[0][i] * mode[0][j];
#pragma GCC unroll 5
      for (int k = 1; k < MANDEL; k++) sum += scaled[k][i] * mode[k][j];
      H[packed(i, j)] = sum;
    }
}

/* slope[p][j] = s_p / (s_p + s_j): how much of row p's motion along j changes the stretch. */
EB_INLINE void stretch_slopes(const eb_v4 s[3], eb_v4 slope[9]) {
  for (int p = 0; p < 3; p++)
    for (int j = 0; j < 3; j++)
      slope[3 * p + j] =
          p == j ? eb_v4_set(1) : s[p] / eb_v4_max(s[p] + s[j], eb_v4_set(SMALLEST_PAIR));
}

/* The stretch of the decomposition, 00 11 22 12 02 01. */
EB_INLINE void stretch_of(const eb_v4 V[9], const eb_v4 s[3], eb_v4 out[6]) {
  const eb_v4 d[MANDEL] = {s[0], s[1], s[2], {0}, {0}, {0}};
  to_world(V, d, out);
}

/* The stress P = U P' V^T whose work on dF is a : dSbar: P'_pj = slope_pj a_pj (twice, as (p, j) is
 * two entries of the matrix). */
EB_INLINE void stretch_to_stress(const mixed_point *point, const eb_v4 slope[9],
                                 const eb_v4 a[MANDEL], eb_v4 P[9]) {
  eb_v4 inner[9], T[9];
  for (int p = 0; p < 3; p++)
    for (int j = 0; j < 3; j++)
      inner[3 * p + j] = p == j ? a[p] : ROOT2 * slope[3 * p + j] * a[ENTRY[3 * p + j]];
  for (int p = 0; p < 3; p++)
    for (int k = 0; k < 3; k++) T[3 * p + k] = eb_v4_dot3(inner + 3 * p, point->V + 3 * k);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      const eb_v4 *u = point->U + 3 * i;
      P[3 * i + k] = u[0] * T[k] + u[1] * T[3 + k] + u[2] * T[6 + k];
    }
}

/* Sbar - S as a Mandel vector in the frame V, given S in that frame: there Sbar is diagonal. */
EB_INLINE void stretch_gap(const eb_v4 s[3], const eb_v4 S[6], eb_v4 gap[MANDEL]) {
  for (int k = 0; k < 3; k++) {
    gap[k] = s[k] - S[k];
    gap[3 + k] = -ROOT2 * S[3 + k];
  }
}

/* Prepares a point at S: H and dpsi/dS + H (Sbar - S), both in the frame V. S is taken there first,
 * where it is near its own frame, so that few rotations find that. */
EB_INLINE void linearize(const eb_law *law, mixed_point *point) {
  eb_v4 S[6], stress[MANDEL], gap[MANDEL], push[MANDEL];
  to_frame(point->V, point->S, S);
  stretch_gap(point->s, S, gap);
  stretch_hessian(law, S, point->H);
  stretch_stress(law, S, stress);
  multiply6(point->H, gap, push);
  for (int m = 0; m < MANDEL; m++) point->lambda[m] = stress[m] + push[m];
}

/* Sums over points: of the Lagrangian, of the sizes of its terms, of the decrease to expect. */
typedef struct point_sum {
  eb_v4 value, magnitude, decrease;
} point_sum;

EB_INLINE void add_energy(eb_v4 psi, eb_v4 work, eb_v4 weight, point_sum *sum) {
  sum->value += weight * (psi + work);
  sum->magnitude += weight * (eb_v4_abs(psi) + eb_v4_abs(work));
}

/* The Lagrangian's terms at another stretch `Sbar` of x, and at S + a dS. */
EB_INLINE void add_trial_energy(const eb_law *law, const mixed_point *point, const eb_v4 Sbar[6],
                                double a, eb_v4 weight, point_sum *sum) {
  eb_v4 S[6], gap[6];
  for (int m = 0; m < 6; m++) {
    S[m] = point->S[m] + a * point->dS[m];
    gap[m] = Sbar[m] - S[m];
  }
  eb_v4 work = eb_v4_dot3(point->lambda, gap) + 2 * eb_v4_dot3(point->lambda + 3, gap + 3);
  add_energy(stretch_energy(law, S), work, weight, sum);
}

/* dS and lambda of a point for the change dF of its deformation gradient, given what linearize has
 * left; adds the decrease to expect and the Lagrangian as it is with this lambda. */
EB_INLINE void expand_point(const eb_law *law, const eb_v4 dF[9], eb_v4 weight, mixed_point *point,
                            point_sum *sum) {
  eb_v4 T[9], X[9], slope[9], S[6], gap[MANDEL], d[MANDEL], pushed[MANDEL];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      const eb_v4 *V = point->V + k, *row = dF + 3 * i;
      T[3 * i + k] = row[0] * V[0] + row[1] * V[3] + row[2] * V[6];
    }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      X[3 * i + k] = point->U[i] * T[k] + point->U[3 + i] * T[3 + k] + point->U[6 + i] * T[6 + k];
  stretch_slopes(point->s, slope);
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    d[k] = X[4 * k];
    d[3 + k] = ROOT2 * (slope[3 * i + j] * X[3 * i + j] + slope[3 * j + i] * X[3 * j + i]);
  }
  multiply6(point->H, d, pushed);
  for (int m = 0; m < MANDEL; m++) pushed[m] += point->lambda[m];
  to_frame(point->V, point->S, S);
  stretch_gap(point->s, S, gap);
  add_energy(stretch_energy(law, S), dot6(pushed, gap), weight, sum);
  to_world(point->V, pushed, point->lambda);
  /* dS : H dS with dS = gap + J p */
  for (int m = 0; m < MANDEL; m++) gap[m] += d[m];
  multiply6(point->H, gap, d);
  sum->decrease += weight * dot6(gap, d);
  to_world(point->V, gap, point->dS);
}

#endif
