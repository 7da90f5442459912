/* The stencils of isosurface stuffing (Labelle and Shewchuk 2007, section 3.3): how one tetrahedron
 * of the lattice is cut by the surface. */
#ifndef EB_MESH_STENCIL_H
#define EB_MESH_STENCIL_H

#include <stdint.h>

/* A lattice tetrahedron has the corners 0 to 3; 0-1 and 2-3 are its two long edges, the other four
 * edges are short. The cut point of edge i-j has the local number EB_STENCIL_CUT[i][j] = 4 to 9. */
extern const int8_t EB_STENCIL_CUT[4][4];

/* Cut points nearer to a lattice point than these fractions of a long or short edge attract it.
 * They maximize the smallest dihedral angle that any stencil can get. */
#define EB_STENCIL_WARP_LONG  0.28511
#define EB_STENCIL_WARP_SHORT 0.39882

/* sign: +1 inside, 0 on the surface, -1 outside. Writes up to three tetrahedra in local numbers,
 * positively oriented when the lattice tetrahedron is, and returns how many.
 *
 * Neighbours agree on the diagonals of their common quadrilaterals when the caller orders the
 * corners by the parity rule: 0-1 joins integer lattice points, 2-3 the centres between them, and
 * the vector from corner 0 to corner 2 has an even number of negative components. */
int eb_stencil(const int8_t sign[4], int8_t out[3][4]);

#endif
