/* The dense kernels with vectors of 64 bytes, for processors that have AVX-512; what the rest of
 * the program is compiled for does not matter here. */
#include "solvers/linalg/dense.h"

#if EB_DENSE_WIDE
#include <immintrin.h>
#include <math.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#endif

#define VECTOR_BYTES 64
#define VECTORS      4

#define REAL                          double
#define SQRT                          sqrt
#define NAME(x)                       eb_wide_##x##_d
#define MASKED_LOAD(mask, from)       _mm512_maskz_loadu_pd((__mmask8)(mask), from)
#define MASKED_STORE(mask, to, value) _mm512_mask_storeu_pd(to, (__mmask8)(mask), value)
#include "solvers/linalg/dense_body.h"

#define REAL                          float
#define SQRT                          sqrtf
#define NAME(x)                       eb_wide_##x##_s
#define MASKED_LOAD(mask, from)       _mm512_maskz_loadu_ps(mask, from)
#define MASKED_STORE(mask, to, value) _mm512_mask_storeu_ps(to, mask, value)
#include "solvers/linalg/dense_body.h"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
