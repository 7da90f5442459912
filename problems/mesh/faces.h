/* Element faces: which ones meet, which ones bound the mesh. */
#ifndef EB_MESH_FACES_H
#define EB_MESH_FACES_H

#include "problems/mesh/mesh.h"
#include <stdint.h>
#include "problems/base/error.h"

/* The faces of one element type: local nodes, counter-clockwise seen from outside a positively
 * oriented element. The faces of a planar triangle are its edges. */
typedef struct eb_face_table {
  int32_t count, nodes;
  int32_t local[6][4];
} eb_face_table;

const eb_face_table *eb_face_table_of(eb_element_type type);
/* The nodes of face f of element e, whose index is face = table->count * e + f. */
void eb_face_nodes(const eb_mesh *mesh, int32_t face, int32_t *nodes);

/* mate[face] is the face of another element with the same nodes, or -1 on the boundary. When more
 * than two faces coincide, *crowded is the lowest face from the third on (-1 otherwise) and its
 * mate is not meaningful. Element indices must be valid. The caller frees *mate. */
EB_MUST eb_error eb_mesh_face_mates(const eb_mesh *mesh, int32_t **mate, int32_t *crowded);

/* The first face whose element lies on the same side of it as that of its mate: a face that both
 * run around the same way. -1 when there is none. */
int32_t eb_mesh_overlap(const eb_mesh *mesh, const int32_t *mate);

/* The element behind each of `count` triangles of nodes: one of those around its first corner that
 * has the other two as well, or -1. Indices must be valid. The caller frees *element. */
EB_MUST eb_error eb_mesh_elements_behind(const eb_mesh *mesh, const int32_t *triangles,
                                         int32_t count, int32_t **element);

/* Drops the triangles of a mesh's surface (surface->node is there) that have none of the first
 * `nodes` nodes of the mesh, and the vertices that are then left over. */
EB_MUST eb_error eb_surface_keep(eb_surface *surface, int32_t nodes);

/* ---- tuples ---------------------------------------------------------------------------------- */

/* Index tuples (edges, faces, elements) in lexicographic order, in linear time. */

enum { EB_TUPLE_WIDTH = 8 }; /* the widest tuple: a hexahedron */

/* Sorts the entries of one tuple, ascending. */
void eb_tuple_sort(int32_t *tuple, int32_t width);
/* < 0, 0 or > 0 as a stands before, equals or stands behind b. */
int eb_tuple_compare(const int32_t *a, const int32_t *b, int32_t width);

/* The order in which `count` tuples of `width` entries in 0 .. bound - 1 ascend; equal tuples keep
 * their order. One counting sort a column, O(width (count + bound)). The caller frees *order. */
EB_MUST eb_error eb_tuples_order(const int32_t *tuples, int32_t width, int32_t count, int32_t bound,
                                 int32_t **order);

#endif
