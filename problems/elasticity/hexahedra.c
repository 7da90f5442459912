/* Trilinear hexahedra, 2 x 2 x 2 Gauss points.
 *
 * On [-1, 1]^3, N_a = (1 + c_a xi)(1 + c_a eta)(1 + c_a zeta) / 8 with the corner signs c_a; points at
 * +-1/sqrt(3), weight 1. With the Jacobian D = dX/dxi, g_a = inv(D)^T dN_a/dxi and the volume is det D. The
 * lumped mass of a node is the integral of its shape function. */
#include <string.h>

#include "problems/elasticity/element_kernels.h"

enum { NODES = 8, POINTS = 8, STRIDE = 3 * (NODES - 1) + 1 };

static const double corner[NODES][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                        {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

static double shape(int a, const double xi[3], double slope[3]) {
  double f[3];
  for (int i = 0; i < 3; i++) f[i] = 1 + corner[a][i] * xi[i];
  for (int i = 0; i < 3; i++) slope[i] = 0.125 * corner[a][i] * f[(i + 1) % 3] * f[(i + 2) % 3];
  return 0.125 * f[0] * f[1] * f[2];
}

static bool measure_point(const double *X, const double xi[3], double *geometry, double *share) {
  double N[NODES], slope[NODES][3], D[3][3] = {{0}}, C[3][3];
  for (int a = 0; a < NODES; a++) {
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
  for (int a = 1; a < NODES; a++)
    for (int i = 0; i < 3; i++)
      geometry[3 * (a - 1) + i] =
          (C[i][0] * slope[a][0] + C[i][1] * slope[a][1] + C[i][2] * slope[a][2]) / determinant;
  geometry[STRIDE - 1] = determinant;
  for (int a = 0; a < NODES; a++) share[a] += N[a] * determinant;
  return true;
}

static bool measure(const double *X, double *geometry, double *share) {
  const double at = 0.57735026918962576451;
  memset(share, 0, sizeof *share * NODES);
  for (int q = 0; q < POINTS; q++) {
    const double xi[3] = {at * corner[q][0], at * corner[q][1], at * corner[q][2]};
    if (!measure_point(X, xi, geometry + q * STRIDE, share)) return false;
  }
  return true;
}

EB_ELEMENT_KERNELS(eb_hexahedron_kernels, NODES, POINTS);
