/* A mesh told otherwise: the same body in other numbers, or in a mirror. */
#ifndef EB_RENUMBER_H
#define EB_RENUMBER_H

#include "problems/mesh/mesh.h"

/* Numbers nodes and elements anew, by a permutation of each that the seed makes, and begins the
 * elements' lists of nodes elsewhere, so that their orientation stays. Regions, fibres and sets
 * follow. */
EB_MUST eb_error eb_mesh_renumber(eb_mesh *mesh, uint64_t seed);

/* Mirrors it in y = 0: of each element two nodes, or two rows of nodes, change places, so that its
 * volume stays positive. Fibres are mirrored too. */
void eb_mesh_mirror(eb_mesh *mesh);

#endif
