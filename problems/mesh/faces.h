/* Element faces: which ones meet, which ones bound the mesh. */
#ifndef EB_MESH_FACES_H
#define EB_MESH_FACES_H

#include "problems/mesh/mesh.h"

/* The faces of one element type: local nodes, counter-clockwise seen from outside a positively
 * oriented element. The faces of a planar triangle are its edges. */
typedef struct eb_face_table {
  int32_t count, nodes;
  int32_t local[6][4];
} eb_face_table;

const eb_face_table *eb_face_table_of(eb_element_type type);

/* Face f of element e has the index table->count * e + f. mate[face] is the face of another element
 * with the same nodes, or -1 on the boundary. When more than two faces coincide, *crowded is the
 * lowest face from the third on (-1 otherwise) and its mate is not meaningful. Element indices must be
 * valid. The caller frees *mate. */
EB_MUST eb_error eb_mesh_face_mates(const eb_mesh *mesh, int32_t **mate, int32_t *crowded);

#endif
