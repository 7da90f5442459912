/* The LAPACK routines that serve as references, straight from the BLAS library (no LAPACKE needed).
 * Matrices are column-major. */
#ifndef EB_TESTS_LAPACK_H
#define EB_TESTS_LAPACK_H

#include <math.h>
#include <stddef.h>
#include <string.h>

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info, size_t, size_t);
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b,
            const int *ldb, int *info);
/* OpenBLAS gives even 9x9 products to a team of threads, which costs more than everything else
 * here. */
void openblas_set_num_threads(int threads);

enum { LAPACK_MAX_SIZE = 96 };

/* A (n x n, symmetric) becomes its eigenvectors, one a column; w ascending. Returns 0 on
 * success. */
static inline int lapack_eigen(int n, double *A, double *w) {
  double work[34 * LAPACK_MAX_SIZE];
  int lwork = 34 * LAPACK_MAX_SIZE, info = -1;
  openblas_set_num_threads(1);
  dsyev_("V", "U", &n, A, &n, w, work, &lwork, &info, 1, 1);
  return info;
}

/* The nearest positive semi-definite matrix to the symmetric T (9 x 9), its eigenvalues below 0 set
 * to 0; the least of them and the size of the largest. */
static inline void lapack_clamp9(const double T[81], double clamped[81], double *least,
                                 double *size) {
  double Q[81], w[9];
  memcpy(Q, T, sizeof Q);
  if (lapack_eigen(9, Q, w) != 0) w[0] = NAN;
  *least = w[0];
  *size = fmax(fabs(w[0]), fabs(w[8]));
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++) {
      double sum = 0;
      for (int k = 0; k < 9; k++) sum += fmax(w[k], 0) * Q[9 * k + i] * Q[9 * k + j];
      clamped[9 * i + j] = sum;
    }
}

/* Solves A x = b (A n x n, symmetric or column-major, destroyed; b becomes x; pivots: n). Returns 0
 * on success. */
static inline int lapack_solve(int n, double *A, double *b, int *pivots) {
  int one = 1, info = -1;
  openblas_set_num_threads(1);
  dgesv_(&n, &one, A, &n, pivots, b, &n, &info);
  return info;
}

/* A = U diag(s) Vt of a 3x3 matrix (destroyed), s descending. Returns 0 on success. */
static inline int lapack_svd3(double A[9], double s[3], double U[9], double Vt[9]) {
  double work[64];
  int n = 3, lwork = 64, info = -1;
  openblas_set_num_threads(1);
  dgesvd_("A", "A", &n, &n, A, &n, s, U, &n, Vt, &n, work, &lwork, &info, 1, 1);
  return info;
}

/* Singular values, descending, of a 3x3 matrix (destroyed). Returns 0 on success. */
static inline int lapack_singular_values3(double A[9], double s[3]) {
  double U[9], Vt[9];
  return lapack_svd3(A, s, U, Vt);
}

#endif
