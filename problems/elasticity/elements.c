/* The element types: rest gradients and volumes of each, and the sweeps of element_kernels.h over
 * it. */
#include <string.h>

#include "problems/elasticity/element_kernels.h"

/* ---- triangles ------------------------------------------------------------------------------- */

/* Planar triangles in z = 0: a tetrahedron's kernels with gradients that lie in the plane, one
 * point, plane strain. */

/* The rows of inv(Dm), Dm = [X1-X0, X2-X0] in the plane, are the gradients of the shape functions 1
 * and 2. The volume is that of 1 m of thickness. */
static bool triangle_measure(const double *X, double *geometry, double *share) {
  const double p[2] = {X[3] - X[0], X[4] - X[1]}, q[2] = {X[6] - X[0], X[7] - X[1]};
  double determinant = p[0] * q[1] - p[1] * q[0];
  if (!(determinant > 0)) return false;
  const double rows[6] = {q[1], -q[0], 0, -p[1], p[0], 0};
  for (int i = 0; i < 6; i++) geometry[i] = rows[i] / determinant;
  geometry[6] = determinant / 2;
  for (int a = 0; a < EB_TRIANGLE; a++) share[a] = determinant / 6;
  return true;
}

EB_ELEMENT_KERNELS(triangle, EB_TRIANGLE, 1, NULL);

/* ---- tetrahedra ------------------------------------------------------------------------------ */

/* Linear tetrahedra: one gradient, one point. */

/* The rows of inv(Dm), Dm = [X1-X0, X2-X0, X3-X0], are the gradients of the shape functions 1 to
 * 3. */
static bool tetrahedron_measure(const double *X, double *geometry, double *share) {
  double d[3][3];
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++) d[a][i] = X[3 * (a + 1) + i] - X[i];
  double determinant = 0;
  for (int a = 0; a < 3; a++) {
    const double *p = d[(a + 1) % 3], *q = d[(a + 2) % 3];
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      geometry[3 * a + i] = p[j] * q[k] - p[k] * q[j];
    }
    if (a == 0)
      for (int i = 0; i < 3; i++) determinant += d[0][i] * geometry[i];
  }
  if (!(determinant > 0)) return false;
  for (int i = 0; i < 9; i++) geometry[i] /= determinant;
  geometry[9] = determinant / 6;
  for (int a = 0; a < EB_TETRAHEDRON; a++) share[a] = determinant / 24;
  return true;
}

EB_ELEMENT_KERNELS(tetrahedron, EB_TETRAHEDRON, 1, NULL);

/* ---- hexahedra ------------------------------------------------------------------------------- */

/* Trilinear hexahedra, 2 x 2 x 2 Gauss points.
 *
 * On [-1, 1]^3, N_a = (1 + c_a xi)(1 + c_a eta)(1 + c_a zeta) / 8 with the corner signs c_a; points
 * at +-1/sqrt(3), weight 1. With the Jacobian D = dX/dxi, g_a = inv(D)^T dN_a/dxi and the volume is
 * det D. The lumped mass of a node is the integral of its shape function. */

enum { HEXAHEDRON_POINTS = 8, HEXAHEDRON_STRIDE = 3 * (EB_HEXAHEDRON - 1) + 1 };

static const double corner[EB_HEXAHEDRON][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                                {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

static double shape(int a, const double xi[3], double slope[3]) {
  double f[3];
  for (int i = 0; i < 3; i++) f[i] = 1 + corner[a][i] * xi[i];
  for (int i = 0; i < 3; i++) slope[i] = 0.125 * corner[a][i] * f[(i + 1) % 3] * f[(i + 2) % 3];
  return 0.125 * f[0] * f[1] * f[2];
}

static bool measure_point(const double *X, const double xi[3], double *geometry, double *share) {
  double N[EB_HEXAHEDRON], slope[EB_HEXAHEDRON][3], D[3][3] = {{0}}, C[3][3];
  for (int a = 0; a < EB_HEXAHEDRON; a++) {
    N[a] = shape(a, xi, slope[a]);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) D[i][j] += X[3 * a + i] * slope[a][j];
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = (i + 1) % 3, l = (i + 2) % 3, m = (j + 1) % 3, n = (j + 2) % 3;
      C[i][j] = D[k][m] * D[l][n] - D[k][n] * D[l][m];
    }
  double determinant = D[0][0] * C[0][0] + D[0][1] * C[0][1] + D[0][2] * C[0][2];
  if (!(determinant > 0)) return false;
  for (int a = 1; a < EB_HEXAHEDRON; a++)
    for (int i = 0; i < 3; i++)
      geometry[3 * (a - 1) + i] =
          (C[i][0] * slope[a][0] + C[i][1] * slope[a][1] + C[i][2] * slope[a][2]) / determinant;
  geometry[HEXAHEDRON_STRIDE - 1] = determinant;
  for (int a = 0; a < EB_HEXAHEDRON; a++) share[a] += N[a] * determinant;
  return true;
}

static bool hexahedron_measure(const double *X, double *geometry, double *share) {
  const double at = 0.57735026918962576451;
  memset(share, 0, sizeof *share * EB_HEXAHEDRON);
  for (int q = 0; q < HEXAHEDRON_POINTS; q++) {
    const double xi[3] = {at * corner[q][0], at * corner[q][1], at * corner[q][2]};
    if (!measure_point(X, xi, geometry + q * HEXAHEDRON_STRIDE, share)) return false;
  }
  return true;
}

EB_ELEMENT_KERNELS(hexahedron, EB_HEXAHEDRON, HEXAHEDRON_POINTS, NULL);
