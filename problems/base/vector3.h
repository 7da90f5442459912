/* Vectors and row-major 3 x 3 matrices. */
#ifndef EB_VECTOR3_H
#define EB_VECTOR3_H

static inline double eb_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a x b; c is neither a nor b. */
static inline void eb_cross3(const double a[3], const double b[3], double c[3]) {
  for (int d = 0; d < 3; d++) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    c[d] = a[e] * b[f] - a[f] * b[e];
  }
}

static inline double eb_squared_distance3(const double a[3], const double b[3]) {
  const double r[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return eb_dot3(r, r);
}

/* y += s x */
static inline void eb_add3(double s, const double x[3], double y[3]) {
  for (int d = 0; d < 3; d++) y[d] += s * x[d];
}

/* y = A x; y is not x. */
static inline void eb_turn3(const double A[9], const double x[3], double y[3]) {
  for (int d = 0; d < 3; d++) y[d] = eb_dot3(A + 3 * d, x);
}

/* C = A B; C is neither A nor B. */
static inline void eb_multiply3(const double A[9], const double B[9], double C[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

#endif
