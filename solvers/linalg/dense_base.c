/* The dense kernels with vectors of 32 bytes: AVX2 where the program is compiled for it. */
#include <math.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "solvers/linalg/dense_targets.h"

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
