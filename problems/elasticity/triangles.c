/* Planar triangles in z = 0: a tetrahedron's kernels with gradients that lie in the plane, one point, plane strain. */
#include "problems/elasticity/element_kernels.h"

enum { NODES = 3, POINTS = 1 };

/* The rows of inv(Dm), Dm = [X1-X0, X2-X0] in the plane, are the gradients of the shape functions 1 and 2. The volume is that of 1 m of
 * thickness. */
static bool measure(const double *X, double *geometry, double *share) {
  const double p[2] = {X[3] - X[0], X[4] - X[1]}, q[2] = {X[6] - X[0], X[7] - X[1]};
  double determinant = p[0] * q[1] - p[1] * q[0];
  if (!(determinant > 0)) return false;
  const double rows[6] = {q[1], -q[0], 0, -p[1], p[0], 0};
  for (int i = 0; i < 6; i++) geometry[i] = rows[i] / determinant;
  geometry[6] = determinant / 2;
  for (int a = 0; a < NODES; a++) share[a] = determinant / 6;
  return true;
}

EB_ELEMENT_KERNELS(eb_triangle_kernels, NODES, POINTS);
