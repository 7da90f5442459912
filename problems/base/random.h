/* Reproducible pseudo-random numbers: splitmix64 (Steele, Lea and Flood 2014). Every seed gives a
 * sequence of its own, the same on every machine. */
#ifndef EB_BASE_RANDOM_H
#define EB_BASE_RANDOM_H

#include <stdint.h>

/* The next word of the sequence; *state is the seed at first. */
static inline uint64_t eb_random_word(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Uniform in [lo, hi). */
static inline double eb_random_uniform(uint64_t *state, double lo, double hi) {
  return lo + (hi - lo) * (double)(eb_random_word(state) >> 11) * 0x1p-53;
}

#endif
