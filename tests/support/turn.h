/* Rotations by axis and angle (Rodrigues), row-major. */
#ifndef EB_TESTS_TURN_H
#define EB_TESTS_TURN_H

#include <math.h>

/* R turns by `angle` (rad) about the unit vector `axis`. */
static inline void turn_about(const double axis[3], double angle, double R[9]) {
  double c = cos(angle), s = sin(angle);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[3 * i + j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
  R[1] -= s * axis[2];
  R[2] += s * axis[1];
  R[5] -= s * axis[0];
  R[3] += s * axis[2];
  R[6] -= s * axis[1];
  R[7] += s * axis[0];
}

#endif
