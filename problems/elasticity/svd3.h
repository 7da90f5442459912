/* Singular values and eigenvalues of four 3x3 matrices at a time (one a lane), row-major.
 *
 * Fixed operations for every input: no failure, no allocation. A lane that holds NaN or infinity
 * gives NaN in that lane only, and the bits of a lane do not depend on the other lanes. Internal to
 * problems/ and solvers/. */
#ifndef EB_SVD3_H
#define EB_SVD3_H

#include "problems/elasticity/simd.h"

/* Of each of `count` batches, F = U diag(s) V^T with det U = det V = +1 and s[0] >= s[1] >= |s[2]|:
 * the sign of det F is on the smallest singular value (Irving et al. 2004). Backward error of a few
 * units in the last place of s[0], for any rank, multiplicity and scale. Two batches at a time cost
 * a quarter less than one. */
void eb_svd3(int count, const eb_v4 (*F)[9], eb_v4 (*U)[9], eb_v4 (*s)[3], eb_v4 (*V)[9]);

/* R = U V^T of the same decomposition of one batch: the rotation nearest to F. */
void eb_polar3(const eb_v4 F[9], eb_v4 R[9]);
/* The orthogonal matrix nearest to F of one batch, F S^-1 with S = sqrt(F^T F): a rotation where
 * det F >= 0, a reflection elsewhere. The Jacobi sweeps that diagonalize F^T F start from the frame
 * of the unit quaternion q, which becomes the frame of the eigenvectors: near to it one sweep is
 * left. Of a lane with NaN q stays. */
void eb_orthogonal3(const eb_v4 F[9], eb_v4 q[4], eb_v4 R[9]);
/* The product itself: R = U V^T. */
EB_INLINE void eb_rotation3(const eb_v4 U[9], const eb_v4 V[9], eb_v4 R[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) R[3 * i + j] = eb_v4_dot3(U + 3 * i, V + 3 * j);
}

/* S = Q diag(w) Q^T, det Q = +1, w in no particular order. S lists 00, 11, 22, 12, 02, 01. */
void eb_eigen3(const eb_v4 S[6], eb_v4 w[3], eb_v4 Q[9]);

#endif
