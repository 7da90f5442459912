/* Reproducible random numbers for tests: splitmix64. */
#ifndef EB_TESTS_RANDOM_H
#define EB_TESTS_RANDOM_H

#include <math.h>
#include <stdint.h>

typedef struct random_state {
  uint64_t word;
} random_state;

static inline random_state random_seed(uint64_t seed) {
  return (random_state){seed};
}

static inline uint64_t random_word(random_state *random) {
  uint64_t z = random->word += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline double random_uniform(random_state *random, double lo, double hi) {
  return lo + (hi - lo) * (double)(random_word(random) >> 11) * 0x1p-53;
}

/* Sum of twelve uniforms less 6: normal enough for directions. */
static inline double random_normal(random_state *random) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += random_uniform(random, 0, 1);
  return sum;
}

/* A unit vector of n entries. */
static inline void random_direction(random_state *random, int n, double *v) {
  double length = 0;
  for (int i = 0; i < n; i++) {
    v[i] = random_normal(random);
    length += v[i] * v[i];
  }
  for (int i = 0; i < n; i++) v[i] /= sqrt(length);
}

/* A rotation matrix, row-major, from a random quaternion. */
static inline void random_rotation(random_state *random, double R[9]) {
  double q[4];
  random_direction(random, 4, q);
  double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[9] = {
      1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
      2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
      2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 9; i++) R[i] = rows[i];
}

#endif
