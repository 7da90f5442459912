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

/* y += s x */
static inline void eb_add3(double s, const double x[3], double y[3]) {
  for (int d = 0; d < 3; d++) y[d] += s * x[d];
}

/* y = A x; y is not x. */
static inline void eb_turn3(const double A[9], const double x[3], double y[3]) {
  for (int d = 0; d < 3; d++) y[d] = eb_dot3(A + 3 * d, x);
}

#endif
