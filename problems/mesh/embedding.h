/* Points in the elements of a mesh: natural coordinates, and what moves with them.
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
/* N_a of one point, A of them. */
void eb_embedding_shapes(int nodes, const double xi[3], double *N);

typedef struct eb_embedding eb_embedding;

/* Finds the elements (tetrahedra or hexahedra, else EB_ERR_UNSUPPORTED) that hold the points (count
 * x 3) when the mesh has its rest shape. Of several the first, so that shared faces are no
 * question. */
EB_MUST eb_error eb_embedding_create(const eb_mesh *mesh, int32_t count, const double *points,
                                     eb_embedding **out);
void eb_embedding_destroy(eb_embedding *embedding);
/* count: the element of each point, -1 for those in none. */
const int32_t *eb_embedding_elements(const eb_embedding *embedding);
/* out (count x 3): where the points are when nodes are at x (nodes x 3); those in no element stay.
 */
void eb_embedding_move(const eb_embedding *embedding, const double *x, double *out);

#endif
