/* Small kernels on 3x3 blocks, row-major. Inside solvers/linalg only. */
#ifndef EB_LINALG_BLOCK3_H
#define EB_LINALG_BLOCK3_H

#include <math.h>
#include <stdbool.h>

/* y -= a x */
static inline void eb_block3_subtract(const double a[9], const double x[3], double y[3]) {
  y[0] -= a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
  y[1] -= a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
  y[2] -= a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
}

/* y -= a^T x */
static inline void eb_block3_subtract_transposed(const double a[9], const double x[3],
                                                 double y[3]) {
  y[0] -= a[0] * x[0] + a[3] * x[1] + a[6] * x[2];
  y[1] -= a[1] * x[0] + a[4] * x[1] + a[7] * x[2];
  y[2] -= a[2] * x[0] + a[5] * x[1] + a[8] * x[2];
}

/* c -= a b^T */
static inline void eb_block3_subtract_product(const double a[9], const double b[9], double c[9]) {
  for (int r = 0; r < 3; r++)
    for (int s = 0; s < 3; s++)
      c[3 * r + s] -=
          a[3 * r] * b[3 * s] + a[3 * r + 1] * b[3 * s + 1] + a[3 * r + 2] * b[3 * s + 2];
}

/* inverse = inv(L), lower triangular, where a = L L^T (lower triangle of a is read). False when a pivot
 * is not above `floor` times its diagonal entry. */
static inline bool eb_block3_inverse_factor(const double a[9], const double diagonal[3],
                                            double floor, double inverse[9]) {
  double p0 = a[0];
  if (!(p0 > floor * diagonal[0])) return false;
  double l00 = sqrt(p0), l10 = a[3] / l00, l20 = a[6] / l00;
  double p1 = a[4] - l10 * l10;
  if (!(p1 > floor * diagonal[1])) return false;
  double l11 = sqrt(p1), l21 = (a[7] - l20 * l10) / l11;
  double p2 = a[8] - l20 * l20 - l21 * l21;
  if (!(p2 > floor * diagonal[2])) return false;
  double l22 = sqrt(p2);
  inverse[0] = 1 / l00;
  inverse[4] = 1 / l11;
  inverse[8] = 1 / l22;
  inverse[3] = -l10 / (l00 * l11);
  inverse[6] = (l10 * l21 - l11 * l20) / (l00 * l11 * l22);
  inverse[7] = -l21 / (l11 * l22);
  inverse[1] = inverse[2] = inverse[5] = 0;
  return true;
}

/* y = a x for lower triangular a */
static inline void eb_block3_lower(const double a[9], const double x[3], double y[3]) {
  double x0 = x[0], x1 = x[1], x2 = x[2];
  y[0] = a[0] * x0;
  y[1] = a[3] * x0 + a[4] * x1;
  y[2] = a[6] * x0 + a[7] * x1 + a[8] * x2;
}

/* y = a^T x for lower triangular a */
static inline void eb_block3_lower_transposed(const double a[9], const double x[3], double y[3]) {
  double x0 = x[0], x1 = x[1], x2 = x[2];
  y[0] = a[0] * x0 + a[3] * x1 + a[6] * x2;
  y[1] = a[4] * x1 + a[7] * x2;
  y[2] = a[8] * x2;
}

#endif
