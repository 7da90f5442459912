/* Dense kernels of the fronts: column-major, lower triangles, leading dimensions in elements.
 *
 * What BLAS and LAPACK do, tuned for the sizes that sparse fronts have: thousands of fronts of 3 to
 * 100 rows, where a library call costs more than its arithmetic, and a few of thousands, where it
 * is bandwidth that must be saved. Every function runs on the calling thread, allocates nothing,
 * touches only the entries it names and gives the same bits whatever thread calls it.
 *
 * The suffix d is double, s is float. */
#ifndef EB_LINALG_DENSE_H
#define EB_LINALG_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A := its Cholesky factor (n x n, lower triangle only). Returns -1, or the first column whose
 * pivot is not above floor[column] (a square, as the diagonal of A): then columns before it are
 * factored and the rest is undefined. */
int64_t eb_potrf_d(int64_t n, double *A, int64_t lda, const double *floor);
int64_t eb_potrf_s(int64_t n, float *A, int64_t lda, const float *floor);

/* B := B L^-T; B is m x n, L n x n lower. */
void eb_trsm_d(int64_t m, int64_t n, const double *L, int64_t ldl, double *B, int64_t ldb);
void eb_trsm_s(int64_t m, int64_t n, const float *L, int64_t ldl, float *B, int64_t ldb);

/* Lower triangle of C (n x n) -= A A^T, A n x k; or := -A A^T when not `accumulate`. */
void eb_syrk_d(int64_t n, int64_t k, const double *A, int64_t lda, double *C, int64_t ldc,
               bool accumulate);
void eb_syrk_s(int64_t n, int64_t k, const float *A, int64_t lda, float *C, int64_t ldc,
               bool accumulate);

/* C (m x n) -= A B^T, A m x k, B n x k; or := -A B^T when not `accumulate`. */
void eb_gemm_d(int64_t m, int64_t n, int64_t k, const double *A, int64_t lda, const double *B,
               int64_t ldb, double *C, int64_t ldc, bool accumulate);
void eb_gemm_s(int64_t m, int64_t n, int64_t k, const float *A, int64_t lda, const float *B,
               int64_t ldb, float *C, int64_t ldc, bool accumulate);

/* One panel of the triangular solves: L = [L11; L21], n pivots, m rows below, leading dimension
 * ldl, for `count` right-hand sides. Forward: x := L11^-1 x, y := y - L21 x. Backward: x := L11^-T
 * (x - L21^T y). A pivot's or row's entries of all right-hand sides are neighbours: x is count x n
 * with leading dimension ldx, y is count x m with ldy; a single right-hand side is a plain vector
 * when they are 1, and then L is read at the speed of memory. */
void eb_forward_d(int64_t n, int64_t m, const double *L, int64_t ldl, int64_t count, double *x,
                  int64_t ldx, double *y, int64_t ldy);
void eb_backward_d(int64_t n, int64_t m, const double *L, int64_t ldl, int64_t count, double *x,
                   int64_t ldx, const double *y, int64_t ldy);
void eb_forward_s(int64_t n, int64_t m, const float *L, int64_t ldl, int64_t count, float *x,
                  int64_t ldx, float *y, int64_t ldy);
void eb_backward_s(int64_t n, int64_t m, const float *L, int64_t ldl, int64_t count, float *x,
                   int64_t ldx, const float *y, int64_t ldy);
/* The parts of a large panel: y := y - L x (subtract) and x := x - L^T y (gather) for any m x n
 * block L. */
void eb_subtract_d(int64_t n, int64_t m, const double *L, int64_t ldl, int64_t count,
                   const double *x, int64_t ldx, double *y, int64_t ldy);
void eb_gather_d(int64_t n, int64_t m, const double *L, int64_t ldl, int64_t count, double *x,
                 int64_t ldx, const double *y, int64_t ldy);
void eb_subtract_s(int64_t n, int64_t m, const float *L, int64_t ldl, int64_t count, const float *x,
                   int64_t ldx, float *y, int64_t ldy);
void eb_gather_s(int64_t n, int64_t m, const float *L, int64_t ldl, int64_t count, float *x,
                 int64_t ldx, const float *y, int64_t ldy);

/* The kernels as they are compiled: `base` for what the whole program is compiled for, `wide` for
 * AVX-512, which needs a processor that has it. dense.c chooses; tests
 * compare. */
#define EB_DENSE_DECLARE(target, type, REAL)                                                       \
  int64_t eb_##target##_potrf_##type(int64_t n, REAL *A, int64_t lda, const REAL *floor);          \
  void eb_##target##_trsm_##type(int64_t m, int64_t n, const REAL *L, int64_t ldl, REAL *B,        \
                                 int64_t ldb);                                                     \
  void eb_##target##_syrk_##type(int64_t n, int64_t k, const REAL *A, int64_t lda, REAL *C,        \
                                 int64_t ldc, bool accumulate);                                    \
  void eb_##target##_gemm_##type(int64_t m, int64_t n, int64_t k, const REAL *A, int64_t lda,      \
                                 const REAL *B, int64_t ldb, REAL *C, int64_t ldc,                 \
                                 bool accumulate);                                                 \
  void eb_##target##_forward_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl,              \
                                    int64_t count, REAL *X, int64_t ldx, REAL *Y, int64_t ldy);    \
  void eb_##target##_backward_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl,             \
                                     int64_t count, REAL *X, int64_t ldx, const REAL *Y,           \
                                     int64_t ldy);                                                 \
  void eb_##target##_subtract_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl,             \
                                     int64_t count, const REAL *X, int64_t ldx, REAL *Y,           \
                                     int64_t ldy);                                                 \
  void eb_##target##_gather_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl,               \
                                   int64_t count, REAL *X, int64_t ldx, const REAL *Y,             \
                                   int64_t ldy)

/* Those that run on this processor: "AVX-512", "AVX2" or "generic". */
const char *eb_dense_kernels(void);

EB_DENSE_DECLARE(base, d, double);
EB_DENSE_DECLARE(base, s, float);

#ifdef __x86_64__
#define EB_DENSE_WIDE 1
EB_DENSE_DECLARE(wide, d, double);
EB_DENSE_DECLARE(wide, s, float);
#else
#define EB_DENSE_WIDE 0
#endif

#endif
