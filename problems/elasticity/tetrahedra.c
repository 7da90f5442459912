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

static double energy(const eb_elasticity *e, int32_t begin, int32_t end, const double *x) {
  return sweep_energy(NODES, POINTS, e, begin, end, x);
}

static void gradient(const eb_elasticity *e, int32_t begin, int32_t end, const double *x,
                     double *g) {
  sweep_gradient(NODES, POINTS, e, begin, end, x, g);
}

static void matrix(const eb_elasticity *e, int32_t begin, int32_t end, const eb_matrix_job *job) {
  sweep_matrix(NODES, POINTS, e, begin, end, job);
}

static void rotations(const eb_elasticity *e, int32_t begin, int32_t end, const double *x,
                      double *R) {
  sweep_rotations(NODES, POINTS, e, begin, end, x, R);
}

const eb_kernels eb_tetrahedron_kernels = {.nodes = NODES,
                                           .points = POINTS,
                                           .measure = measure,
                                           .energy = energy,
                                           .gradient = gradient,
                                           .matrix = matrix,
                                           .rotations = rotations};
