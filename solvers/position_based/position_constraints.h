/* Constraints of elements with one point, four elements at a time (one a lane), and what their
 * projections move.
 *
 * A constraint C(F) of the deformation gradient F = sum_a x_a g_a^T has dC/dx_a = P g_a, P = dC/dF.
 * A step t along -w_a P g_a changes F by -t P M with M = sum_a w_a g_a g_a^T, and C at first by
 * -t (P : P M), where
 *
 *   P : P M = sum_a w_a |P g_a|^2 = sum_a |w_a^(1/2) dC/dx_a|^2,
 *
 * the denominator of Mueller et al. 2007, Eq. 8, and Lewin 2016, Eq. 5.22: t = C / (P : P M). Since
 * the g_a sum to nought, so do the momenta m_a dx_a; since P F^T is symmetric where C does not
 * change as the body turns, so do their moments. Hourglass modes likewise, with
 *
 *   G_i = sum_a gamma_ia x_a,   N_ij = sum_a w_a gamma_ia gamma_ja
 *
 * in the place of F and M.
 *
 * With the slopes s_a of shape functions in the element's own coordinates, J = sum_a X_a s_a^T,
 * g_a = inv(J)^T s_a. Of a hexahedron at its centre s_a = (xi, eta, zeta)_a / 4 with the signs of
 * the corner, and (Eq. 4.33)
 *
 *   gamma_i = (H_i - sum_d (H_i . X_d) b_d) / 8,   H_1 = eta zeta, H_2 = zeta xi, H_3 = xi eta,
 *   H_4 = xi eta zeta,   b_d = dN/dX_d.
 *
 * All of these are sums of corners with signs: the eight modes of a quantity at the corners - its
 * sum, along xi, eta, zeta, H_1 .. H_4 -, which 24 additions make (Walsh and Hadamard), and which
 * 24 take back. The products of signs are signs again, H_1 H_2 = H_3, so that M and N are read off
 * the modes of w. An element needs inv(J) and the skew c_i = H_i . X alone, which is 0 in
 * parallelepipeds. Internal to solvers/position_based. */
#ifndef EB_POSITION_BASED_POSITION_CONSTRAINTS_H
#define EB_POSITION_BASED_POSITION_CONSTRAINTS_H

#include "solvers/position_based/batches.h"

enum { EB_HOURGLASSES = 4, EB_CORNERS = 8 };

/* The elements of a batch. mode[k] (of hexahedra): the modes of x, in the order above. */
typedef struct eb_batch {
  const int32_t *node;
  const eb_v4 *frame, *skew; /* skew: NULL where it is 0 */
  eb_v4 x[EB_CORNERS][4], mode[EB_CORNERS][4];
} eb_batch;

/* ---- elements -------------------------------------------------------------------------------- */

/* Sums and differences along xi, eta and zeta. Forth and back: back(forth(x)) = 8 x. */
EB_INLINE void eb_corner_modes(eb_v4 v[EB_CORNERS]) {
  /* corners by the signs of zeta, eta, xi: 0 1 3 2, 4 5 7 6; modes: sum, xi, eta, xi eta, ... */
  static const int at[8] = {0, 1, 3, 2, 4, 5, 7, 6}, to[8] = {0, 1, 2, 6, 3, 5, 4, 7};
  eb_v4 u[8];
  for (int k = 0; k < 8; k++) u[k] = v[at[k]];
  for (int half = 1; half < 8; half *= 2)
    for (int k = 0; k < 8; k++) {
      if (k & half) continue;
      eb_v4 low = u[k], high = u[k + half];
      u[k] = high + low;
      u[k + half] = high - low;
    }
  for (int k = 0; k < 8; k++) v[to[k]] = u[k];
}

/* Values at the corners of modes. */
EB_INLINE void eb_corners_of_modes(eb_v4 v[EB_CORNERS]) {
  static const int at[8] = {0, 1, 3, 2, 4, 5, 7, 6}, to[8] = {0, 1, 2, 6, 3, 5, 4, 7};
  eb_v4 u[8];
  for (int k = 0; k < 8; k++) u[k] = v[to[k]];
  for (int half = 1; half < 8; half *= 2)
    for (int k = 0; k < 8; k++) {
      if (k & half) continue;
      eb_v4 sum = u[k], along = u[k + half];
      u[k] = sum - along;
      u[k + half] = sum + along;
    }
  for (int k = 0; k < 8; k++) v[at[k]] = u[k];
}

EB_INLINE void eb_load(int nodes, const eb_batches *batches, int64_t b,
                       const eb_particle *particles, eb_batch *e) {
  e->node = batches->node + b * nodes * EB_LANES;
  e->frame = batches->frame + 9 * b;
  e->skew = batches->skew ? batches->skew + 12 * b : NULL;
  for (int a = 0; a < nodes; a++) {
    const int32_t *node = e->node + EB_LANES * a;
    const eb_v4 rows[4] = {particles[node[0]], particles[node[1]], particles[node[2]],
                           particles[node[3]]};
    eb_v4_transpose(rows, e->x[a]);
  }
  for (int d = 0; nodes == EB_CORNERS && d < 4; d++) {
    eb_v4 v[EB_CORNERS];
    for (int a = 0; a < EB_CORNERS; a++) v[a] = e->x[a][d];
    eb_corner_modes(v);
    for (int k = 0; k < EB_CORNERS; k++) e->mode[k][d] = v[k];
  }
}

EB_INLINE void eb_store(int nodes, eb_batch *e, eb_particle *particles) {
  for (int a = 0; a < nodes; a++) {
    eb_v4 rows[4];
    eb_v4_transpose(e->x[a], rows);
    for (int l = 0; l < EB_LANES; l++) particles[e->node[EB_LANES * a + l]] = rows[l];
  }
}

/* F, row-major. */
EB_INLINE void eb_deformation(int nodes, const eb_batch *e, eb_v4 F[9]) {
  for (int i = 0; i < 3; i++) {
    eb_v4 along[3];
    for (int j = 0; j < 3; j++)
      along[j] = nodes == EB_CORNERS ? 0.25 * e->mode[j + 1][i] : e->x[j + 1][i] - e->x[0][i];
    for (int k = 0; k < 3; k++)
      F[3 * i + k] =
          along[0] * e->frame[k] + along[1] * e->frame[3 + k] + along[2] * e->frame[6 + k];
  }
}

/* G_i of hexahedra. */
EB_INLINE void eb_hourglass_modes(const eb_batch *e, const eb_v4 F[9], eb_v4 G[EB_HOURGLASSES][3]) {
  for (int i = 0; i < EB_HOURGLASSES; i++)
    for (int d = 0; d < 3; d++) {
      eb_v4 beyond = e->mode[4 + i][d];
      if (e->skew) beyond -= eb_v4_dot3(F + 3 * d, e->skew + 3 * i);
      G[i][d] = 0.125 * beyond;
    }
}

/* A_jk = sum_a w_a s_ja s_ka: diagonal, then 12 02 01. */
EB_INLINE void eb_local_mobility(int nodes, const eb_batch *e, eb_v4 A[6]) {
  for (int j = 0; j < 3; j++) {
    A[j] = nodes == EB_CORNERS ? 0.0625 * e->mode[0][3] : e->x[0][3] + e->x[j + 1][3];
    A[3 + j] = nodes == EB_CORNERS ? 0.0625 * e->mode[4 + j][3] : e->x[0][3];
  }
}

/* B = T A for the columns of three A, T m x 3. */
EB_INLINE void eb_times_symmetric(int rows, const eb_v4 *T, const eb_v4 A[6], eb_v4 *B) {
  for (int i = 0; i < 3 * rows; i += 3) {
    B[i] = T[i] * A[0] + T[i + 1] * A[5] + T[i + 2] * A[4];
    B[i + 1] = T[i] * A[5] + T[i + 1] * A[1] + T[i + 2] * A[3];
    B[i + 2] = T[i] * A[4] + T[i + 1] * A[3] + T[i + 2] * A[2];
  }
}

/* M = inv(J)^T A inv(J): 00 11 22 12 02 01. */
EB_INLINE void eb_mobility(int nodes, const eb_batch *e, eb_v4 M[6]) {
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  eb_v4 A[6], T[9], TA[9];
  eb_local_mobility(nodes, e, A);
  for (int i = 0; i < 9; i++) T[i] = e->frame[3 * (i % 3) + i / 3];
  eb_times_symmetric(3, T, A, TA);
  for (int k = 0; k < 6; k++) M[k] = eb_v4_dot3(TA + 3 * row[k], T + 3 * column[k]);
}

/* N of hexahedra. With e_i = inv(J) c_i, gamma_ia = (H_ia - e_i . s_a) / 8. */
EB_INLINE void eb_hourglass_mobility(const eb_batch *e, eb_v4 N[EB_HOURGLASSES][EB_HOURGLASSES]) {
  /* the modes of w that H_i H_j, and H_i times the sign along axis j, are */
  static const int square[4][4] = {{0, 6, 5, 1}, {6, 0, 4, 2}, {5, 4, 0, 3}, {1, 2, 3, 0}};
  static const int along[4][3] = {{7, 3, 2}, {3, 7, 1}, {2, 1, 7}, {4, 5, 6}};
  eb_v4 E[12], A[6], EA[12];
  if (e->skew) {
    eb_local_mobility(EB_CORNERS, e, A);
    for (int i = 0; i < 12; i++) E[i] = eb_v4_dot3(e->frame + 3 * (i % 3), e->skew + 3 * (i / 3));
    eb_times_symmetric(4, E, A, EA);
  }
  for (int i = 0; i < EB_HOURGLASSES; i++)
    for (int j = i; j < EB_HOURGLASSES; j++) {
      eb_v4 sum = e->mode[square[i][j]][3];
      if (e->skew) {
        sum += eb_v4_dot3(EA + 3 * i, E + 3 * j);
        for (int k = 0; k < 3; k++)
          sum -= 0.25 *
                 (e->mode[along[i][k]][3] * E[3 * j + k] + e->mode[along[j][k]][3] * E[3 * i + k]);
      }
      N[i][j] = N[j][i] = 0.015625 * sum;
    }
}

/* x_a += w_a (P g_a + sum_i gamma_ia H_i); H is NULL in tetrahedra. */
EB_INLINE void eb_move(int nodes, const eb_v4 P[9], eb_v4 (*H)[3], eb_batch *e) {
  for (int d = 0; d < 3; d++) {
    eb_v4 row[3], push[EB_CORNERS] = {{0}};
    for (int k = 0; k < 3; k++) {
      row[k] = P[3 * d + k];
      for (int i = 0; H && e->skew && i < EB_HOURGLASSES; i++)
        row[k] -= 0.125 * H[i][d] * e->skew[3 * i + k];
    }
    for (int k = 0; k < 3; k++) push[k + 1] = eb_v4_dot3(row, e->frame + 3 * k);
    if (nodes == EB_CORNERS) {
      for (int k = 0; k < 3; k++) push[k + 1] *= 0.25;
      for (int i = 0; H && i < EB_HOURGLASSES; i++) push[4 + i] = 0.125 * H[i][d];
      eb_corners_of_modes(push);
    } else {
      push[0] = -(push[1] + push[2] + push[3]);
    }
    for (int a = 0; a < nodes; a++) e->x[a][d] += e->x[a][3] * push[a];
  }
}

/* ---- products -------------------------------------------------------------------------------- */

EB_INLINE eb_v4 eb_contract9(const eb_v4 A[9], const eb_v4 B[9]) {
  return eb_v4_dot3(A, B) + eb_v4_dot3(A + 3, B + 3) + eb_v4_dot3(A + 6, B + 6);
}

/* H_i = sum_j N_ij G_j */
EB_INLINE void eb_times_hourglass_mobility(eb_v4 (*G)[3], eb_v4 N[EB_HOURGLASSES][EB_HOURGLASSES],
                                           eb_v4 H[EB_HOURGLASSES][3]) {
  for (int i = 0; i < EB_HOURGLASSES; i++)
    for (int d = 0; d < 3; d++)
      H[i][d] = (N[i][0] * G[0][d] + N[i][1] * G[1][d]) + (N[i][2] * G[2][d] + N[i][3] * G[3][d]);
}

EB_INLINE eb_v4 eb_contract_modes(eb_v4 (*A)[3], eb_v4 (*B)[3]) {
  return (eb_v4_dot3(A[0], B[0]) + eb_v4_dot3(A[1], B[1])) +
         (eb_v4_dot3(A[2], B[2]) + eb_v4_dot3(A[3], B[3]));
}

/* ---- constraints ----------------------------------------------------------------------------- */

/* det F, and d(det F)/dF = cof F. */
EB_INLINE eb_v4 eb_determinant(const eb_v4 F[9], eb_v4 cofactors[9]) {
  eb_v4_cross3(F + 3, F + 6, cofactors);
  eb_v4_cross3(F + 6, F, cofactors + 3);
  eb_v4_cross3(F, F + 3, cofactors + 6);
  return eb_v4_dot3(F, cofactors);
}

/* The step along a gradient that is linear in what it shall bring to nought, D with |D|^2 = size2,
 * for a share k of the constraint |D|: t = k |D|^2 / (D : D M). Where held nodes leave D little to
 * move, D : D M goes to 0 before D does, and t beyond all bounds: |D - t D M| is least at t =
 * (D : D M) / |D M|^2 and rises beyond twice that, which `bounded` keeps t to. Elements whose nodes
 * are free reach that bound only where M's eigenvalues are a factor of 6 apart (k = 1; 14 with
 * k = 1/2). */
EB_INLINE eb_v4 eb_linear_step(eb_v4 k, eb_v4 size2, eb_v4 moved, eb_v4 moved2, bool bounded) {
  eb_v4 step = k * size2 / moved;
  if (bounded) {
    eb_v4 most = 2 * moved / moved2;
    step = eb_v4_select((eb_m4)(step > most), most, step);
  }
  return eb_v4_select((eb_m4)(moved > 0), step, eb_v4_set(0));
}

/* The same of a constraint whose value is C and whose gradient is P: t = k C / (P : P M). What P
 * has lost to an element that has collapsed is made up by the length of the step; `bounded` lets F
 * change by no more than 1, which is what unfolds it. */
EB_INLINE eb_v4 eb_newton_step(eb_v4 k, eb_v4 value, eb_v4 moved, eb_v4 moved2, bool bounded) {
  eb_v4 step = k * value / moved;
  if (bounded) {
    eb_v4 most = 1 / eb_v4_sqrt(moved2);
    step = eb_v4_select((eb_m4)(eb_v4_abs(step) > most), eb_v4_copysign(most, step), step);
  }
  return eb_v4_select((eb_m4)(moved > 0), step, eb_v4_set(0));
}

#endif
