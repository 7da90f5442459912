/* Singular values and eigenvalues of four 3x3 matrices at a time (one a lane), row-major.
 *
 * Fixed operations for every input: no failure, no allocation. A lane that holds NaN or infinity
 * gives NaN in that lane only. Internal to problems/ and solvers/. */
#ifndef EB_SVD3_H
#define EB_SVD3_H

#include "problems/elasticity/simd.h"

/* F = U diag(s) V^T with det U = det V = +1 and s[0] >= s[1] >= |s[2]|: the sign of det F is on the
 * smallest singular value (Irving et al. 2004). Backward error of a few units in the last place of
 * s[0], for any rank, multiplicity and scale. */
void eb_svd3(const eb_v4 F[9], eb_v4 U[9], eb_v4 s[3], eb_v4 V[9]);

/* R = U V^T of the same decomposition: the rotation nearest to F. */
void eb_polar3(const eb_v4 F[9], eb_v4 R[9]);

/* S = Q diag(w) Q^T, det Q = +1, w in no particular order. S lists 00, 11, 22, 12, 02, 01. */
void eb_eigen3(const eb_v4 S[6], eb_v4 w[3], eb_v4 Q[9]);

#endif
