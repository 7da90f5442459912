/* Rotations as quaternions (w, x, y, z), four at a time. q and -q are the same rotation.
 * Internal to problems/. */
#ifndef EB_QUATERNION_H
#define EB_QUATERNION_H

#include "problems/elasticity/simd.h"

/* The rotation matrix of q, row-major, for f = 2 / |q|^2. */
EB_INLINE void eb_quaternion_matrix(const eb_v4 q[4], eb_v4 f, eb_v4 R[9]) {
  eb_v4 w = q[0], x = q[1], y = q[2], z = q[3], fx = f * x, fy = f * y, fz = f * z;
  R[0] = 1 - (fy * y + fz * z);
  R[1] = fx * y - fz * w;
  R[2] = fx * z + fy * w;
  R[3] = fx * y + fz * w;
  R[4] = 1 - (fx * x + fz * z);
  R[5] = fy * z - fx * w;
  R[6] = fx * z - fy * w;
  R[7] = fy * z + fx * w;
  R[8] = 1 - (fx * x + fy * y);
}

/* c = a b: first b, then a. */
EB_INLINE void eb_quaternion_product(const eb_v4 a[4], const eb_v4 b[4], eb_v4 c[4]) {
  eb_v4 w = a[0] * b[0] - eb_v4_dot3(a + 1, b + 1), v[3];
  eb_v4_cross3(a + 1, b + 1, v);
  for (int i = 0; i < 3; i++) c[i + 1] = a[0] * b[i + 1] + b[0] * a[i + 1] + v[i];
  c[0] = w;
}

/* c = a^T b. */
EB_INLINE void eb_quaternion_relative(const eb_v4 a[4], const eb_v4 b[4], eb_v4 c[4]) {
  const eb_v4 back[4] = {a[0], -a[1], -a[2], -a[3]};
  eb_quaternion_product(back, b, c);
}

EB_INLINE void eb_quaternion_normalize(eb_v4 q[4]) {
  eb_v4 inverse = 1 / eb_v4_sqrt(q[0] * q[0] + eb_v4_dot3(q + 1, q + 1));
  for (int k = 0; k < 4; k++) q[k] *= inverse;
}

/* The unit quaternion of a rotation matrix, from the longest row of 4 q q^T: nothing cancels in any
 * rotation. */
EB_INLINE void eb_quaternion_of(const eb_v4 R[9], eb_v4 q[4]) {
  eb_v4 x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
  eb_v4 xy = R[3] + R[1], xz = R[2] + R[6], yz = R[7] + R[5];
  eb_v4 outer[4][4] = {{1 + R[0] + R[4] + R[8], x, y, z},
                       {x, 1 + R[0] - R[4] - R[8], xy, xz},
                       {y, xy, 1 - R[0] + R[4] - R[8], yz},
                       {z, xz, yz, 1 - R[0] - R[4] + R[8]}};
  eb_v4 longest = outer[0][0];
  for (int k = 0; k < 4; k++) q[k] = outer[0][k];
  for (int row = 1; row < 4; row++) {
    eb_m4 longer = outer[row][row] > longest;
    longest = eb_v4_select(longer, outer[row][row], longest);
    for (int k = 0; k < 4; k++) q[k] = eb_v4_select(longer, outer[row][k], q[k]);
  }
  eb_quaternion_normalize(q);
}

#endif
