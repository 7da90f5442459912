/* Which surface nodes of one body lie inside another, how deep and which way out. */
#ifndef EB_OVERLAPS_H
#define EB_OVERLAPS_H

#include "problems/collision/bodies.h"

/* A node in a tetrahedron of another body. Its place is sum_k weight_k x[corner_k]. */
typedef struct eb_overlap {
  int32_t node, body; /* the body it is in */
  int32_t corner[4];
  double weight[4]; /* barycentric */
  double depth;     /* below the surface of that body, in its rest shape, m; > 0 */
  double normal[3]; /* unit, out of that body, as it is deformed */
} eb_overlap;

typedef struct eb_overlaps eb_overlaps;

/* For tetrahedra only: EB_ERR_UNSUPPORTED otherwise. `surface` is that of the mesh; the bodies must
 * outlive the overlaps. Computes the depth of every node at rest and a tree of boxes over the
 * tetrahedra of every body. */
EB_MUST eb_error eb_overlaps_create(const eb_mesh *mesh, const eb_surface *surface,
                                    const eb_bodies *bodies, eb_overlaps **out);
void eb_overlaps_destroy(eb_overlaps *overlaps);

/* Finds the overlaps at positions x, sorted by the node's own body, node, and body it is in; of
 * many bodies that a node is in, the four with the lowest numbers. A tetrahedron that is inverted
 * or squeezed to less than a twentieth of its volume has no inside. Allocates nothing; the same for
 * any number of threads. Returns their number; *found is valid until the next call. */
int32_t eb_overlaps_find(eb_overlaps *overlaps, const double *x, const eb_overlap **found);

#endif
