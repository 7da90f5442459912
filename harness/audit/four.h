/* Four numbers at a time: what the plain materials compute with. Operators are those of the vector
 * extensions of GCC and clang, which take AVX2 registers where the target has them; what
 * they do not offer is defined here. Lanes never mix, so that a figure does not depend on those
 * beside it. Internal to harness/audit, whose arithmetic is its own. */
#ifndef EB_AUDIT_FOUR_H
#define EB_AUDIT_FOUR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

enum { EB_FOUR = 4 };

typedef double eb_four __attribute__((vector_size(32)));
typedef long long eb_four_mask __attribute__((vector_size(32))); /* 0 or -1 */

#define EB_FOUR_INLINE static inline __attribute__((always_inline, unused))

EB_FOUR_INLINE eb_four eb_four_of(double value) {
  return (eb_four){value, value, value, value};
}

EB_FOUR_INLINE eb_four eb_four_where(eb_four_mask mask, eb_four yes, eb_four no) {
  return (eb_four)((mask & (eb_four_mask)yes) | (~mask & (eb_four_mask)no));
}

/* Like fmax, `least` where a is no number. */
EB_FOUR_INLINE eb_four eb_four_at_least(eb_four a, double least) {
  eb_four bound = eb_four_of(least);
  return eb_four_where((eb_four_mask)(a > bound), a, bound);
}

EB_FOUR_INLINE eb_four eb_four_sqrt(eb_four a) {
  return (eb_four){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
}

EB_FOUR_INLINE eb_four eb_four_log(eb_four a) {
  return (eb_four){log(a[0]), log(a[1]), log(a[2]), log(a[3])};
}

EB_FOUR_INLINE eb_four eb_four_exp(eb_four a) {
  return (eb_four){exp(a[0]), exp(a[1]), exp(a[2]), exp(a[3])};
}

EB_FOUR_INLINE eb_four eb_four_abs(eb_four a) {
  return (eb_four)((eb_four_mask)a & INT64_MAX);
}

/* a, its sign turned where that of b is negative. */
EB_FOUR_INLINE eb_four eb_four_turn_sign(eb_four a, eb_four b) {
  return (eb_four)((eb_four_mask)a ^ ((eb_four_mask)b & INT64_MIN));
}

EB_FOUR_INLINE bool eb_four_any(eb_four_mask mask) {
#ifdef __AVX__
  return _mm256_movemask_pd((__m256d)mask) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

EB_FOUR_INLINE eb_four eb_four_dot3(const eb_four a[3], const eb_four b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* y = A x; y is not x. */
EB_FOUR_INLINE void eb_four_turn3(const eb_four A[9], const eb_four x[3], eb_four y[3]) {
  for (int d = 0; d < 3; d++) y[d] = eb_four_dot3(A + 3 * d, x);
}

#endif
