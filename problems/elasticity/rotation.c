/* Estimators of an element's rotation; see rotation.h for the interface. p0_a are the rest
 * positions of its nodes off their mean, x_a where they are, F its mean deformation gradient.
 *
 * svd (McAdams et al. 2011; Irving et al. 2004): F = U diag(s) V^T with det U = det V = 1, R = U
 * V^T.
 *
 * diagonalization (Rivers and James 2007; Hauth and Etzmuss 2001): S^2 = F^T F by Jacobi rotations
 * that start from the last eigenvectors, R = F S^-1.
 *
 * spin (Lewin 2016, Section 3.4): R makes sum (R p0) x p vanish. In the frame of the last R, with
 * y_a = R^T x_a, a turn by the small vector r changes sum exp(r) p0 x y by
 *   sum (r x p0) x y = -J r,   J = tr(N) I - N,   N = sum p0 y^T = M R,   M = sum p0 x^T,
 * and the sum itself is the axial vector s of N, s_i = e_ijk N_jk. Since the p0 add up to zero, x
 * may be off any point: off node 0, one node less is to be added. One Newton step is r = inv(J) s,
 * R <- R exp(r); q <- q (1, r/2) over its length takes the turn 2 atan(|r|/2) for |r|. At rest J is
 * J0 = sum |p0|^2 I - p0 p0^T: spin takes that for J and spin-full J itself (Equation 3.10). This
 * is Algorithm 1, which turns s to the frame of the world, omega = R inv(J0) R^T s, and multiplies
 * by it: there (1, omega/2) stands on the left of q, not on the right as it is printed. What one
 * update of spin gains of a small missing turn about an axis, where the second moments at rest are
 * alike, is (si + sj)/2 for stretches si, sj across it: J = m (tr(S) I - S) of F = R S, J0 = 2 m I.
 * It converges for 0 < si + sj < 4, inverted elements among them. J is singular where s_i + s_j =
 * 0. With the adjugate, (1, inv(J) s / 2) is (det J, adj(J) s / 2) but for its length: no division,
 * and half a turn where J is singular.
 *
 * edges (Michels et al. 2014, Equation 3.1): e1, e2, e3 from node 0,
 *   n1 = sum e_i / |e_i|,   n2 = n1 x e1,   n3 = n1 x n2,   each over its length;
 * the product of all R^t of Equation 3.2 is N(x) N(X)^T. A frame of that making is right-handed
 * whatever the edges are, so that R is never a reflection, but under inversion it is no rotation
 * near any of the others either. Where n1 or n2 vanishes R = I. */
#include "problems/elasticity/rotation.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/element_kernels.h"

const eb_rotation_info eb_rotations[EB_ROTATION_METHODS] = {
    [EB_ROTATION_SVD] = {"svd", EB_ROTATION_OF_GRADIENT, true, true, false},
    [EB_ROTATION_DIAGONALIZATION] = {"diagonalization", EB_ROTATION_OF_GRADIENT, false, false,
                                     true},
    [EB_ROTATION_SPIN] = {"spin", EB_ROTATION_OF_MOMENTS, true, true, true},
    [EB_ROTATION_SPIN_FULL] = {"spin-full", EB_ROTATION_OF_MOMENTS, true, true, true},
    [EB_ROTATION_EDGES] = {"edges", EB_ROTATION_OF_POSITIONS, true, false, false}};

eb_rotation_method eb_rotation_find(const char *name) {
  int method = 0;
  while (method + 1 < EB_ROTATION_METHODS && strcmp(eb_rotations[method].name, name) != 0) method++;
  return (eb_rotation_method)method;
}

/* ---- spin ------------------------------------------------------------------------------------ */

EB_INLINE void set_unit_matrix(const eb_v4 q[4], eb_v4 R[9]) {
  eb_quaternion_matrix(q, eb_v4_set(2), R);
}

/* q <- q (w, v) over its length, where that has one. */
EB_INLINE void turn_by(eb_v4 w, const eb_v4 v[3], eb_v4 q[4]) {
  const eb_v4 turn[4] = {w, v[0], v[1], v[2]};
  eb_v4 to[4];
  eb_quaternion_product(q, turn, to);
  eb_v4 squared = to[0] * to[0] + eb_v4_dot3(to + 1, to + 1);
  eb_m4 usable = (squared > 1e-300) & (squared < 1e300);
  eb_v4 inverse = 1 / eb_v4_sqrt(squared);
  for (int k = 0; k < 4; k++) q[k] = eb_v4_select(usable, to[k] * inverse, q[k]);
}

/* M = sum p0 (x - x_0)^T. */
EB_INLINE void moments(int A, const eb_v4 *p0, const eb_v4 (*x)[3], eb_v4 M[9]) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      eb_v4 sum = p0[3 + i] * (x[1][k] - x[0][k]);
      for (int a = 2; a < A; a++) sum += p0[3 * a + i] * (x[a][k] - x[0][k]);
      M[3 * i + k] = sum;
    }
}

/* Entry (j, k) of N = M R. */
EB_INLINE eb_v4 turned_moment(const eb_v4 M[9], const eb_v4 R[9], int j, int k) {
  return M[3 * j] * R[k] + M[3 * j + 1] * R[3 + k] + M[3 * j + 2] * R[6 + k];
}

EB_INLINE void spin(const eb_v4 M[9], const eb_v4 inverse[6], eb_v4 q[4], eb_v4 R[9]) {
  eb_v4 s[3], half[3];
  set_unit_matrix(q, R);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    s[i] = 0.5 * (turned_moment(M, R, j, k) - turned_moment(M, R, k, j));
  }
  half[0] = inverse[0] * s[0] + inverse[5] * s[1] + inverse[4] * s[2];
  half[1] = inverse[5] * s[0] + inverse[1] * s[1] + inverse[3] * s[2];
  half[2] = inverse[4] * s[0] + inverse[3] * s[1] + inverse[2] * s[2];
  turn_by(eb_v4_set(1), half, q);
  set_unit_matrix(q, R);
}

/* Cramer's rule with the columns of J. */
EB_INLINE void spin_full(const eb_v4 M[9], eb_v4 q[4], eb_v4 R[9]) {
  eb_v4 N[9], column[3][3], s[3], cross[3], half[3];
  set_unit_matrix(q, R);
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++) N[3 * j + k] = turned_moment(M, R, j, k);
  eb_v4 trace = N[0] + N[4] + N[8];
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) column[k][j] = j == k ? trace - N[4 * k] : -N[3 * j + k];
    int i = (k + 1) % 3, l = (k + 2) % 3;
    s[k] = N[3 * i + l] - N[3 * l + i];
  }
  for (int k = 0; k < 3; k++) {
    eb_v4_cross3(column[(k + 1) % 3], column[(k + 2) % 3], cross);
    half[k] = 0.5 * eb_v4_dot3(s, cross);
  }
  /* cross is column 0 x column 1 */
  turn_by(eb_v4_dot3(column[2], cross), half, q);
  set_unit_matrix(q, R);
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* v over its length; zero where it has none. */
EB_INLINE void make_unit(eb_v4 v[3]) {
  eb_v4 squared = eb_v4_dot3(v, v);
  eb_v4 inverse = eb_v4_select(squared > 1e-300, 1 / eb_v4_sqrt(squared), eb_v4_set(0));
  for (int i = 0; i < 3; i++) v[i] *= inverse;
}

/* The frame of three nodes about node 0. */
EB_INLINE void edge_frame(int A, const eb_v4 (*x)[3], eb_v4 n[3][3]) {
  const int other[3] = {1, A == EB_TETRAHEDRON ? 2 : 3, A == EB_TETRAHEDRON ? 3 : 4};
  eb_v4 first[3];
  for (int i = 0; i < 3; i++) n[0][i] = eb_v4_set(0);
  for (int k = 2; k >= 0; k--) {
    for (int i = 0; i < 3; i++) first[i] = x[other[k]][i] - x[0][i];
    make_unit(first);
    for (int i = 0; i < 3; i++) n[0][i] += first[i];
  }
  make_unit(n[0]);
  eb_v4_cross3(n[0], first, n[1]);
  make_unit(n[1]);
  eb_v4_cross3(n[0], n[1], n[2]);
}

EB_INLINE void edges(int A, const eb_v4 *p0, const eb_v4 (*x)[3], eb_v4 R[9]) {
  eb_v4 at[3][3], rest[3][3];
  edge_frame(A, x, at);
  edge_frame(A, (const eb_v4(*)[3])p0, rest);
  eb_m4 framed = eb_v4_dot3(at[1], at[1]) > 0.5;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      eb_v4 sum = at[0][i] * rest[0][k] + at[1][i] * rest[1][k] + at[2][i] * rest[2][k];
      R[3 * i + k] = eb_v4_select(framed, sum, eb_v4_set(i == k));
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

EB_INLINE void mean_gradient(int A, const eb_v4 *gradient, const eb_v4 (*x)[3], eb_v4 F[9]) {
  eb_v4 edge[EB_MAX_INNER][3];
  for (int a = 1; a < A; a++)
    for (int i = 0; i < 3; i++) edge[a - 1][i] = x[a][i] - x[0][i];
  deformation(A, edge, gradient, F);
}

EB_INLINE void rotate_of(eb_rotation_method method, const eb_v4 M_or_F[9],
                         const eb_v4 inverse_inertia[6], eb_v4 q[4], eb_v4 R[9]) {
  if (method == EB_ROTATION_SPIN)
    spin(M_or_F, inverse_inertia, q, R);
  else if (method == EB_ROTATION_SPIN_FULL)
    spin_full(M_or_F, q, R);
  else if (method == EB_ROTATION_DIAGONALIZATION)
    eb_orthogonal3(M_or_F, q, R);
  else
    eb_polar3(M_or_F, R);
}

void eb_rotate_of4(eb_rotation_method method, const eb_v4 M_or_F[9], const eb_v4 inverse_inertia[6],
                   eb_v4 q[4], eb_v4 R[9]) {
  rotate_of(method, M_or_F, inverse_inertia, q, R);
}

EB_INLINE void estimate(int A, eb_rotation_method method, const eb_rotation_rest *rest,
                        const eb_v4 (*x)[3], eb_v4 q[4], eb_v4 R[9]) {
  eb_v4 M_or_F[9];
  if (method == EB_ROTATION_EDGES) {
    edges(A, rest->p0, x, R);
    return;
  }
  if (eb_rotations[method].input == EB_ROTATION_OF_MOMENTS)
    moments(A, rest->p0, x, M_or_F);
  else
    mean_gradient(A, rest->gradient, x, M_or_F);
  rotate_of(method, M_or_F, rest->inverse_inertia, q, R);
}

void eb_rotate4(eb_rotation_method method, int nodes, const eb_rotation_rest *rest,
                const eb_v4 (*x)[3], eb_v4 q[4], eb_v4 R[9]) {
  EB_ASSERT(nodes == EB_TETRAHEDRON || nodes == EB_HEXAHEDRON);
  if (nodes == EB_TETRAHEDRON)
    estimate(EB_TETRAHEDRON, method, rest, x, q, R);
  else
    estimate(EB_HEXAHEDRON, method, rest, x, q, R);
}

/* ---- at rest --------------------------------------------------------------------------------- */

/* p0 (A x 3) and inv J0 (6), and the mean gradients (A - 1 x 3) of one element with corners X. */
static bool measure_rest(const eb_kernels *kernels, const double *X, double *out,
                         double *gradient) {
  enum { POINTS = 8, INNER = 3 * EB_MAX_INNER };
  const int A = kernels->nodes, stride = 3 * (A - 1) + 1;
  double geometry[POINTS * (INNER + 1)], share[EB_MAX_NODES], mean[3] = {0}, J[9] = {0};
  double *inverse = out + 3 * A, volume = 0;
  if (!kernels->measure(X, geometry, share)) return false;
  for (int i = 0; i < 3 * A; i++) mean[i % 3] += X[i] / A;
  for (int i = 0; i < 3 * A; i++) out[i] = X[i] - mean[i % 3];
  for (int q = 0; q < kernels->points; q++) volume += geometry[(q + 1) * stride - 1];
  for (int i = 0; i < stride - 1; i++) {
    gradient[i] = 0;
    for (int q = 0; q < kernels->points; q++)
      gradient[i] += geometry[q * stride + i] * geometry[(q + 1) * stride - 1] / volume;
  }
  for (int a = 0; a < A; a++)
    for (int i = 0; i < 9; i++) {
      const double *p = out + 3 * a;
      J[i] -= p[i / 3] * p[i % 3];
      if (i % 4 == 0) J[i] += p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    }
  /* The cofactors 00 11 22 12 02 01: of (i, j), that of the rows and columns behind them. */
  static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
  for (int n = 0; n < 6; n++) {
    int i = (row[n] + 1) % 3, j = (row[n] + 2) % 3, k = (column[n] + 1) % 3,
        l = (column[n] + 2) % 3;
    inverse[n] = J[3 * i + k] * J[3 * j + l] - J[3 * i + l] * J[3 * j + k];
  }
  double determinant = J[0] * inverse[0] + J[1] * inverse[5] + J[2] * inverse[4];
  for (int n = 0; n < 6; n++) inverse[n] /= determinant;
  return true;
}

static eb_error fill_rests(const eb_mesh *mesh, const int32_t *element, eb_rotation_rests *rests) {
  const eb_kernels *kernels =
      mesh->type == EB_TETRAHEDRON ? &eb_tetrahedron_kernels : &eb_hexahedron_kernels;
  const int A = rests->nodes, spins = 3 * A + 6, slopes = 3 * (A - 1);
  double X[3 * EB_MAX_NODES], lane[3 * EB_MAX_NODES + 6], gradient[3 * EB_MAX_INNER];
  for (int32_t k = 0; k < rests->batches * EB_LANES; k++) {
    int32_t first = k - k % EB_LANES, e = element ? element[k] : k;
    if (!element && e >= mesh->element_count) e = -1;
    if (e < 0) e = element ? element[first] : first;
    for (int a = 0; a < A; a++) {
      int32_t node = mesh->elements[(int64_t)e * A + a];
      rests->node[((int64_t)(k / EB_LANES) * A + a) * EB_LANES + k % EB_LANES] = node;
      for (int i = 0; i < 3; i++) X[3 * a + i] = mesh->X[3 * (int64_t)node + i];
    }
    if (!measure_rest(kernels, X, lane, gradient))
      return EB_ERROR(EB_ERR_INVALID,
                      "element %d has no positive volume at rest; check the mesh with "
                      "eb_mesh_validate",
                      (int)e);
    for (int i = 0; i < spins; i++)
      rests->spin[(int64_t)(k / EB_LANES) * spins + i][k % EB_LANES] = lane[i];
    for (int i = 0; i < slopes; i++)
      rests->gradient[(int64_t)(k / EB_LANES) * slopes + i][k % EB_LANES] = gradient[i];
  }
  return EB_OK;
}

eb_error eb_rotation_rests_create(const eb_mesh *mesh, int32_t batches, const int32_t *element,
                                  eb_rotation_rests *out) {
  *out = (eb_rotation_rests){.nodes = (int)mesh->type, .batches = batches};
  if (mesh->type != EB_TETRAHEDRON && mesh->type != EB_HEXAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "rotations are estimated of tetrahedra and hexahedra; the mesh has elements of "
                    "%d nodes",
                    (int)mesh->type);
  if (!element) out->batches = (mesh->element_count + EB_LANES - 1) / EB_LANES;
  EB_TRY(EB_NEW(out->spin, (int64_t)out->batches * (3 * out->nodes + 6)));
  eb_error error = EB_NEW(out->gradient, (int64_t)out->batches * 3 * (out->nodes - 1));
  if (!error) error = EB_NEW(out->node, (int64_t)out->batches * out->nodes * EB_LANES);
  if (!error) error = fill_rests(mesh, element, out);
  if (error) eb_rotation_rests_clear(out);
  return error;
}

void eb_rotation_rests_clear(eb_rotation_rests *rests) {
  free(rests->spin);
  free(rests->gradient);
  free(rests->node);
  *rests = (eb_rotation_rests){0};
}
