/* Four doubles at a time: the lanes of the batched kernels.
 *
 * GCC and clang vector extensions, which use AVX2 registers where the target has them and smaller
 * ones elsewhere. Only what the operators do not offer is defined here. Internal to problems/. */
#ifndef EB_SIMD_H
#define EB_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#include "problems/base/shuffle.h"

enum { EB_LANES = 4 };

typedef double eb_v4 __attribute__((vector_size(32)));
typedef long long eb_m4 __attribute__((vector_size(32))); /* lane masks: 0 or -1 */
typedef double eb_v4_unaligned __attribute__((vector_size(32), aligned(8))); /* in memory only */

#define EB_INLINE static inline __attribute__((always_inline, unused))

EB_INLINE eb_v4 eb_v4_set(double value) {
  return (eb_v4){value, value, value, value};
}

EB_INLINE eb_v4 eb_v4_select(eb_m4 mask, eb_v4 yes, eb_v4 no) {
#ifdef __AVX__
  return (eb_v4)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)mask);
#else
  return (eb_v4)((mask & (eb_m4)yes) | (~mask & (eb_m4)no));
#endif
}

EB_INLINE eb_v4 eb_v4_max(eb_v4 a, eb_v4 b) {
#ifdef __AVX__
  return (eb_v4)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
  return eb_v4_select((eb_m4)(a > b), a, b);
#endif
}

EB_INLINE eb_v4 eb_v4_sqrt(eb_v4 a) {
#ifdef __AVX__
  return (eb_v4)_mm256_sqrt_pd((__m256d)a);
#else
  return (eb_v4){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
#endif
}

EB_INLINE eb_v4 eb_v4_abs(eb_v4 a) {
  return (eb_v4)((eb_m4)a & INT64_MAX);
}

/* |magnitude| with the sign of `sign`. */
EB_INLINE eb_v4 eb_v4_copysign(eb_v4 magnitude, eb_v4 sign) {
  return (eb_v4)(((eb_m4)magnitude & INT64_MAX) | ((eb_m4)sign & INT64_MIN));
}

EB_INLINE bool eb_m4_all(eb_m4 mask) {
#ifdef __AVX__
  return _mm256_movemask_pd((__m256d)mask) == 15;
#else
  return (mask[0] & mask[1] & mask[2] & mask[3]) != 0;
#endif
}

EB_INLINE eb_v4 eb_v4_log(eb_v4 a) {
  return (eb_v4){log(a[0]), log(a[1]), log(a[2]), log(a[3])};
}

EB_INLINE eb_v4 eb_v4_exp(eb_v4 a) {
  return (eb_v4){exp(a[0]), exp(a[1]), exp(a[2]), exp(a[3])};
}

EB_INLINE double eb_v4_sum(eb_v4 a) {
  return (a[0] + a[1]) + (a[2] + a[3]);
}

/* Rows become lanes: out[l][i] = in[i][l]. */
EB_INLINE void eb_v4_transpose(const eb_v4 in[4], eb_v4 out[4]) {
  eb_v4 even01 = EB_SHUFFLE(eb_m4, in[0], in[1], 0, 4, 2, 6);
  eb_v4 odd01 = EB_SHUFFLE(eb_m4, in[0], in[1], 1, 5, 3, 7);
  eb_v4 even23 = EB_SHUFFLE(eb_m4, in[2], in[3], 0, 4, 2, 6);
  eb_v4 odd23 = EB_SHUFFLE(eb_m4, in[2], in[3], 1, 5, 3, 7);
  out[0] = EB_SHUFFLE(eb_m4, even01, even23, 0, 1, 4, 5);
  out[1] = EB_SHUFFLE(eb_m4, odd01, odd23, 0, 1, 4, 5);
  out[2] = EB_SHUFFLE(eb_m4, even01, even23, 2, 3, 6, 7);
  out[3] = EB_SHUFFLE(eb_m4, odd01, odd23, 2, 3, 6, 7);
}

EB_INLINE eb_v4 eb_v4_dot3(const eb_v4 a[3], const eb_v4 b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

EB_INLINE void eb_v4_cross3(const eb_v4 a[3], const eb_v4 b[3], eb_v4 c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

#endif
