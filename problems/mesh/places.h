/* Nodes and elements in the order of their places at rest: the same order however a mesh is
 * numbered, for choices that must not depend on numbers. */
#ifndef EB_MESH_PLACES_H
#define EB_MESH_PLACES_H

#include "problems/mesh/mesh.h"

/* Negative, 0 or positive as a comes before b: by z, then y, then x, in which generated grids are
 * numbered. */
int eb_place_compare(const double a[3], const double b[3]);

/* order (node_count): the nodes by the places X; those at one place by number. */
EB_MUST eb_error eb_mesh_nodes_by_place(const eb_mesh *mesh, int32_t *order);
/* order (element_count): the elements by the places of their nodes, from the first of these on,
 * whatever the order of the nodes within an element. */
EB_MUST eb_error eb_mesh_elements_by_place(const eb_mesh *mesh, int32_t *order);

#endif
