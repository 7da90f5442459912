/* The nearest matrix of determinant 1: what projections onto a preserved volume are made of.
 *
 * Of F = U diag(s) V^T (svd3.h) it is D = U diag(d) V^T, where d minimizes |s - d|^2 over d0 d1 d2
 * = 1: det D = 1 for inverted F too. Internal to problems/ and solvers/. */
#ifndef EB_NEAREST_VOLUME_H
#define EB_NEAREST_VOLUME_H

#include "problems/elasticity/simd.h"

/* d of four s, in the order of s, which is any; returns the multiplier m of s_k = d_k + m / d_k, by
 * which d depends on s: p_k = d_k^2 - m, N = p0 p1 + p1 p2 + p2 p0 >= 0,
 *   dd_k/ds_k = d_k^2 (p_i + p_j) / N,   dd_k/ds_l = -d_k d_l p_m / N   (k, l, m all different).
 * Where several d are nearest (s0 = s1 = s2 > 1.89 for one), one of them. A lane of NaN or infinity
 * gives NaN in that lane; the bits of a lane do not depend on the others. */
eb_v4 eb_nearest_volume(const eb_v4 s[3], eb_v4 d[3]);

#endif
