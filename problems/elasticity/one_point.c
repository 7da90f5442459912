/* Trilinear hexahedra of one point, and what controls their hourglass modes.
 *
 * The point has the mean gradients
 *
 *   b_a = 1/V integral of grad N_a dX,   V = the element's exact volume,
 *
 * which the eight Gauss points integrate exactly: the cofactors of D and the slopes of N_a make
 * polynomials of degree 2 in each coordinate. Of a parallelepiped they are the gradients at the
 * centre. Of other shapes those (Lewin 2016, Equation 4.28) are not, and fail the patch test: the
 * sum of 8 det D(0) over a patch depends on where its inner node lies, the sum of V does not
 * (Flanagan and Belytschko 1981). The lumped mass stays the integral of N_a.
 *
 * Hourglass modes are what b does not see. With the patterns H_k = xi_d xi_e and xi_1 xi_2 xi_3 at
 * the corners (Lewin's Equation 4.32, where row 1, column 8 must be 1),
 *
 *   gamma_k = 1/8 (H_k - sum_j (H_k . X_j) b_j)                                   (Equation 4.33)
 *
 * vanishes on constants and on linear fields, since b_j . X_l is 1 for j = l and else 0: gamma_k x
 * is the amplitude of pattern k in x - F X. Both controls are sums of squares of these,
 *
 *   E = sum_k s_k |gamma_k x|^2,   K = 2 sum_k s_k gamma_k gamma_k^T,
 *
 * which are objective as they are: rotations are linear fields, and turn gamma_k x.
 *
 * Perturbation (Equation 4.34, made dimensionless): s_k = hourglass mu V^(1/3).
 *
 * Staggered grid (McAdams et al. 2011): mu |F|^2 is integrated with the derivative along xi_d where
 * it is staggered, at the four edges along d, everything else at the centre. In a parallelepiped
 * F = sum_d x,d n_d^T with n_d = grad xi_d of the centre, and x,d = dx/dxi_d at the four edges is
 * its mean, the centre's, plus what the patterns add: c_de xi_e + c_df xi_f + c_123 xi_e xi_f, c_k
 * = gamma_k x. Products of derivatives along two directions meet at the centre alone. So it is the
 * energy of one point, plus mu V sum_d |n_d|^2 times the variance of x,d over its edges, which is
 * |c_de|^2 + |c_df|^2 + |c_123|^2 since the patterns are orthogonal on four corners:
 *
 *   s_de = mu V (|n_d|^2 + |n_e|^2),   s_123 = mu V (|n_1|^2 + |n_2|^2 + |n_3|^2).
 *
 * The same, with the n_d of the centre, is our definition for other shapes, which McAdams et al. do
 * not have: the variance is that of x - F X, and linear fields cost nothing. Of a cube it is
 * perturbation with 8 for the first three patterns and 12 for the last, Gauss points on mu |F|^2
 * would give 8/3 and 4/3, and shape matching is perturbation with 4
 * (tests/elasticity/test_hexahedra.c). */
#include <string.h>

#include "problems/base/vector3.h"
#include "problems/elasticity/element_kernels.h"

enum { POINTS = 8, STRIDE = 3 * (EB_HEXAHEDRON - 1) + 1, AXES = 3 };

/* Corner signs. */
static const double corner[EB_HEXAHEDRON][AXES] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1},
                                                   {-1, 1, -1},  {-1, -1, 1}, {1, -1, 1},
                                                   {1, 1, 1},    {-1, 1, 1}};

static bool one_point_hexahedron_measure(const double *X, double *geometry, double *share) {
  double all[POINTS * STRIDE], V = 0;
  if (!eb_hexahedron_kernels.measure(X, all, share)) return false;
  memset(geometry, 0, STRIDE * sizeof *geometry);
  for (int q = 0; q < POINTS; q++) {
    const double *point = all + q * STRIDE, w = point[STRIDE - 1];
    for (int i = 0; i < STRIDE - 1; i++) geometry[i] += w * point[i];
    V += w;
  }
  for (int i = 0; i < STRIDE - 1; i++) geometry[i] /= V;
  geometry[STRIDE - 1] = V;
  return true;
}

/* Pattern k at corner a: xi_e xi_f of the two axes other than k, then the product of all. */
static double pattern(int k, int a) {
  double all = corner[a][0] * corner[a][1] * corner[a][2];
  return k < AXES ? all * corner[a][k] : all;
}

void eb_hourglass_vectors(const double *X, const double *b,
                          double gamma[EB_HOURGLASS_MODES][EB_HEXAHEDRON]) {
  for (int k = 0; k < EB_HOURGLASS_MODES; k++) {
    double along[3] = {0}; /* H_k . X_j */
    for (int a = 0; a < EB_HEXAHEDRON; a++)
      for (int j = 0; j < 3; j++) along[j] += pattern(k, a) * X[3 * a + j];
    gamma[k][0] = 0;
    for (int a = 1; a < EB_HEXAHEDRON; a++) {
      const double *slope = b + 3 * (a - 1);
      gamma[k][a] = 0.125 * (pattern(k, a) - eb_dot3(along, slope));
      gamma[k][0] -= gamma[k][a];
    }
  }
}

/* |grad xi_d|^2 at the centre. */
static void reference_slopes(const double *X, double squared[AXES]) {
  double D[AXES][3] = {{0}}, C[3]; /* D[d] = dX/dxi_d */
  for (int a = 0; a < EB_HEXAHEDRON; a++)
    for (int d = 0; d < AXES; d++) eb_add3(0.125 * corner[a][d], X + 3 * a, D[d]);
  for (int d = 0; d < AXES; d++) {
    eb_cross3(D[(d + 1) % 3], D[(d + 2) % 3], C);
    double determinant = eb_dot3(D[d], C);
    squared[d] = eb_dot3(C, C) / (determinant * determinant);
  }
}

static void hourglass_stiffness(const double *X, const eb_material *material, double V,
                                double s[EB_HOURGLASS_MODES]) {
  double mu = material->young / (2 * (1 + material->poisson)), n2[AXES];
  if (material->integration == EB_INTEGRATION_ONE_POINT) {
    for (int k = 0; k < EB_HOURGLASS_MODES; k++) s[k] = material->hourglass * mu * cbrt(V);
    return;
  }
  reference_slopes(X, n2);
  double sum = n2[0] + n2[1] + n2[2];
  for (int k = 0; k < EB_HOURGLASS_MODES; k++) s[k] = mu * V * (k < AXES ? sum - n2[k] : sum);
}

static void control_hourglass(const double *X, const double *geometry, const eb_material *material,
                              double *K) {
  double gamma[EB_HOURGLASS_MODES][EB_HEXAHEDRON], s[EB_HOURGLASS_MODES];
  eb_hourglass_vectors(X, geometry, gamma);
  hourglass_stiffness(X, material, geometry[STRIDE - 1], s);
  for (int a = 0; a < EB_HEXAHEDRON; a++)
    for (int b = 0; b < EB_HEXAHEDRON; b++) {
      double sum = 0;
      for (int k = 0; k < EB_HOURGLASS_MODES; k++) sum += s[k] * (gamma[k][a] * gamma[k][b]);
      K[EB_HEXAHEDRON * a + b] = 2 * sum;
    }
}

EB_ELEMENT_KERNELS(one_point_hexahedron, EB_HEXAHEDRON, 1, control_hourglass);
