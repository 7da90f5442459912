/* Axis-aligned boxes in single precision, rounded outward: (lo, *, -hi, *), so that one minimum
 * encloses and one comparison tells whether two of them meet. Inside problems/collision only. */
#ifndef EB_COLLISION_BOUNDS_H
#define EB_COLLISION_BOUNDS_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "problems/base/shuffle.h"

typedef float eb_bounds __attribute__((vector_size(32)));
typedef int32_t eb_bounds_mask __attribute__((vector_size(32)));

/* Largest coordinate, m, that boxes hold. */
static const double eb_bounds_limit = 1e30;

/* What encloses nothing: the neutral element of joining. */
static inline eb_bounds eb_bounds_nothing(void) {
  return (eb_bounds){FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
}

/* Lane by lane; in larger functions compilers make sixteen instructions of the loop. */
static inline eb_bounds eb_bounds_join(eb_bounds a, eb_bounds b) {
#ifdef __AVX__
  return __builtin_ia32_minps256(a, b);
#else
  eb_bounds out;
  for (int k = 0; k < 8; k++) out[k] = a[k] < b[k] ? a[k] : b[k];
  return out;
#endif
}

static inline bool eb_bounds_any(eb_bounds_mask mask) {
#ifdef __AVX__
  return __builtin_ia32_movmskps256((eb_bounds)mask) != 0;
#else
  int32_t any = 0;
  for (int k = 0; k < 8; k++) any |= mask[k];
  return any != 0;
#endif
}

/* Touching counts. */
static inline bool eb_bounds_meet(eb_bounds a, eb_bounds b) {
  return !eb_bounds_any(a > -EB_SHUFFLE(eb_bounds_mask, b, b, 4, 5, 6, 7, 0, 1, 2, 3));
}

static inline bool eb_bounds_contain(eb_bounds outer, eb_bounds inner) {
  return !eb_bounds_any(outer > inner);
}

/* How far the boxes are apart in the coordinate where they are farthest, m; 0 where they meet. What
 * rounding takes from it is less than the boxes were rounded outward by. */
static inline float eb_bounds_gap(eb_bounds a, eb_bounds b) {
  eb_bounds apart = a + EB_SHUFFLE(eb_bounds_mask, b, b, 4, 5, 6, 7, 0, 1, 2, 3);
#ifdef __AVX__
  apart = __builtin_ia32_maxps256(apart, (eb_bounds){0});
  apart = __builtin_ia32_maxps256(apart,
                                  EB_SHUFFLE(eb_bounds_mask, apart, apart, 4, 5, 6, 7, 0, 1, 2, 3));
  apart = __builtin_ia32_maxps256(apart,
                                  EB_SHUFFLE(eb_bounds_mask, apart, apart, 2, 3, 0, 1, 6, 7, 4, 5));
  return apart[0] > apart[1] ? apart[0] : apart[1];
#else
  float most = 0;
  for (int k = 0; k < 8; k++) most = apart[k] > most ? apart[k] : most;
  return most;
#endif
}

/* Encloses lo .. hi (m, within the limit) with a margin far above the rounding errors of what gave
 * them: 2^-22 of the `size` of the numbers that entered, and the smallest float. */
static inline eb_bounds eb_bounds_of(const double lo[3], const double hi[3], const double size[3]) {
  eb_bounds box = {0};
  for (int d = 0; d < 3; d++) {
    double margin = 0x1p-22 * size[d] + (double)FLT_MIN;
    box[d] = (float)(lo[d] - margin);
    box[4 + d] = (float)(-hi[d] - margin);
  }
  return box;
}

/* In a register; fmin and fmax are calls. */
static inline double eb_smaller(double a, double b) {
  return a < b ? a : b;
}

static inline double eb_larger(double a, double b) {
  return a > b ? a : b;
}

#endif
