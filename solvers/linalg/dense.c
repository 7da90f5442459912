/* The dense kernels with vectors of 32 bytes (AVX2 where the program is compiled for it), and the
 * choice between them and those of dense_wide.c by the processor at hand. */
#include <math.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "solvers/linalg/dense.h"

#define VECTOR_BYTES 32
#define VECTORS      2

#define REAL                          double
#define INTEGER                       int64_t
#define SQRT                          sqrt
#define NAME(x)                       eb_base_##x##_d
#define MASKED_LOAD(mask, from)       _mm256_maskload_pd(from, (__m256i)(mask))
#define MASKED_STORE(mask, to, value) _mm256_maskstore_pd(to, (__m256i)(mask), value)
#include "solvers/linalg/dense_body.h"

#define REAL                          float
#define INTEGER                       int32_t
#define SQRT                          sqrtf
#define NAME(x)                       eb_base_##x##_s
#define MASKED_LOAD(mask, from)       _mm256_maskload_ps(from, (__m256i)(mask))
#define MASKED_STORE(mask, to, value) _mm256_maskstore_ps(to, (__m256i)(mask), value)
#include "solvers/linalg/dense_body.h"

/* The choice is one branch a call, on what CPUID said when the program started. A call on a
 * front lasts some tenths of a microsecond at least, so that it costs nothing beside it. The
 * kernels alone are compiled twice, not the program: its other loops wait for memory, and wider
 * vectors would not make them faster. */
#if EB_DENSE_WIDE
#define CHOOSE(name, ...)                                                                          \
  (__builtin_cpu_supports("avx512f") ? eb_wide_##name(__VA_ARGS__) : eb_base_##name(__VA_ARGS__))
#else
#define CHOOSE(name, ...) eb_base_##name(__VA_ARGS__)
#endif

const char *eb_dense_kernels(void) {
#if EB_DENSE_WIDE
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
#endif
#ifdef __AVX2__
  return "AVX2";
#else
  return "generic";
#endif
}

#define DEFINE(type, REAL)                                                                         \
  int64_t eb_potrf_##type(int64_t n, REAL *A, int64_t lda, const REAL *floor) {                    \
    return CHOOSE(potrf_##type, n, A, lda, floor);                                                 \
  }                                                                                                \
  void eb_trsm_##type(int64_t m, int64_t n, const REAL *L, int64_t ldl, REAL *B, int64_t ldb) {    \
    CHOOSE(trsm_##type, m, n, L, ldl, B, ldb);                                                     \
  }                                                                                                \
  void eb_syrk_##type(int64_t n, int64_t k, const REAL *A, int64_t lda, REAL *C, int64_t ldc,      \
                      bool accumulate) {                                                           \
    CHOOSE(syrk_##type, n, k, A, lda, C, ldc, accumulate);                                         \
  }                                                                                                \
  void eb_gemm_##type(int64_t m, int64_t n, int64_t k, const REAL *A, int64_t lda, const REAL *B,  \
                      int64_t ldb, REAL *C, int64_t ldc, bool accumulate) {                        \
    CHOOSE(gemm_##type, m, n, k, A, lda, B, ldb, C, ldc, accumulate);                              \
  }                                                                                                \
  void eb_forward_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X, \
                         int64_t ldx, REAL *Y, int64_t ldy) {                                      \
    CHOOSE(forward_##type, n, m, L, ldl, count, X, ldx, Y, ldy);                                   \
  }                                                                                                \
  void eb_backward_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count,         \
                          REAL *X, int64_t ldx, const REAL *Y, int64_t ldy) {                      \
    CHOOSE(backward_##type, n, m, L, ldl, count, X, ldx, Y, ldy);                                  \
  }                                                                                                \
  void eb_subtract_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count,         \
                          const REAL *X, int64_t ldx, REAL *Y, int64_t ldy) {                      \
    CHOOSE(subtract_##type, n, m, L, ldl, count, X, ldx, Y, ldy);                                  \
  }                                                                                                \
  void eb_gather_##type(int64_t n, int64_t m, const REAL *L, int64_t ldl, int64_t count, REAL *X,  \
                        int64_t ldx, const REAL *Y, int64_t ldy) {                                 \
    CHOOSE(gather_##type, n, m, L, ldl, count, X, ldx, Y, ldy);                                    \
  }

DEFINE(d, double)
DEFINE(s, float)
