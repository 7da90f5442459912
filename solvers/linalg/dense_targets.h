/* The dense kernels as they are compiled: `base` for what the whole program is compiled for, `wide`
 * for AVX-512. dense.c chooses; tests compare. Signatures are those of dense.h. */
#ifndef EB_LINALG_DENSE_TARGETS_H
#define EB_LINALG_DENSE_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

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

EB_DENSE_DECLARE(base, d, double);
EB_DENSE_DECLARE(base, s, float);

/* AVX-512 needs a processor that has it: ask eb_dense_wide(). */
#ifdef __x86_64__
#define EB_DENSE_WIDE 1
EB_DENSE_DECLARE(wide, d, double);
EB_DENSE_DECLARE(wide, s, float);
#else
#define EB_DENSE_WIDE 0
#endif
bool eb_dense_wide(void);

#endif
