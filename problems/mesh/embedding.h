/* Points in the elements of a mesh: their natural coordinates.
 *
 * An element carries the points x = sum_a N_a(xi) X_a. Of tetrahedra xi are the shares of nodes 1
 * to 3, of hexahedra coordinates in [-1, 1]^3 with the trilinear N_a. */
#ifndef EB_EMBEDDING_H
#define EB_EMBEDDING_H

#include "problems/elasticity/simd.h"
#include "problems/mesh/mesh.h"

enum { EB_EMBEDDING_UPDATES = 30 }; /* of Newton's method, at most */

/* xi of four points x, one in each of four elements with those corners (A = 4 or 8, a lane each):
 * of hexahedra by Newton's method from the centre (Lewin 2016, Section 4.3.1) until |x(xi) - x| is
 * 1e-10 of an edge. Returns the number of updates, 1 in tetrahedra; where there is no end to them
 * xi is NaN and the number EB_EMBEDDING_UPDATES + 1. Points outside are extrapolated. */
eb_v4 eb_embed4(int nodes, const eb_v4 (*corner)[3], const eb_v4 x[3], eb_v4 xi[3]);

#endif
