/* Cutting a mesh along its faces.
 *
 * A cut is a disc in the rest configuration. A face between two elements is parted when their
 * centroids lie on opposite sides of the disc's plane and the face's own centroid is within the
 * radius of the disc's centre (in the plane). Around a node, the elements that are still connected
 * through faces that are not parted keep one node; each further group of them gets a copy. A cut
 * that ends inside the body therefore leaves the nodes at its rim whole.
 *
 * Cuts follow faces and move no node. The parted surface is made of the faces between elements
 * whose centroids lie above the plane and those below it: where the plane lies in a plane of faces,
 * or between it and the centroids of the elements next to it, the cut is that plane; elsewhere it
 * is as jagged as the mesh. Centroids in the plane itself, to 1e-9 of the mesh's extent, count as
 * above it. Nodes of no parted face stay whole, also where elements meet in them alone. */
#ifndef EB_MESH_CUT_H
#define EB_MESH_CUT_H

#include "problems/mesh/mesh.h"

enum { EB_MAX_CUTS = 8 };

typedef struct eb_cut {
  double time; /* s: made at the start of the first step that starts then or later */
  double origin[3], normal[3]; /* rest configuration, m; the normal need not have length 1 */
  double radius;               /* m; INFINITY: through */
} eb_cut;

/* EB_ERR_INVALID with the reason for a cut that is none (no normal, not finite, radius not
 * positive). */
EB_MUST eb_error eb_cut_validate(const eb_cut *cut);

/* Cuts in place. The group with the node's first element keeps the node; copies are appended in the
 * order of nodes and groups, with X, and enter the node sets of their origin. *origin (the caller
 * frees it) has the old node behind each node of the cut mesh. Nothing is changed after a failure,
 * nor where the cut meets no face. */
EB_MUST eb_error eb_mesh_cut(eb_mesh *mesh, const eb_cut *cut, int32_t **origin);

/* Numbers the connected components (through shared nodes) of a mesh from 0, in the order of their
 * first node: part[i] of every node. Returns how many; nodes of no element count as one each.
 * `part` has node_count entries. */
int32_t eb_mesh_components(const eb_mesh *mesh, int32_t *part);

#endif
