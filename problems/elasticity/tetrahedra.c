/* Linear tetrahedra: one gradient, one point. */
#include "problems/elasticity/element_kernels.h"

enum { NODES = 4, POINTS = 1 };

/* The rows of inv(Dm), Dm = [X1-X0, X2-X0, X3-X0], are the gradients of the shape functions 1 to 3. */
static bool measure(const double *X, double *geometry, double *share) {
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
  for (int a = 0; a < NODES; a++) share[a] = determinant / 24;
  return true;
}

EB_ELEMENT_KERNELS(eb_tetrahedron_kernels, NODES, POINTS);
