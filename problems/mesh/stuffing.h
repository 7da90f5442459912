/* Isosurface stuffing (Labelle and Shewchuk 2007): tetrahedra from signed distance, with bounded
 * dihedral angles, on a uniform body-centred cubic lattice. Deterministic. */
#ifndef EB_MESH_STUFFING_H
#define EB_MESH_STUFFING_H

#include "problems/mesh/sdf.h"

/* Every dihedral angle lies within these bounds, degrees: the extremes over all stencils, warps and
 * cut points (tests/mesh/test_stencil.c enumerates them; the paper states 10.7 and 164.8 for the
 * uniform method). */
#define EB_STUFFING_MIN_DIHEDRAL 10.784
#define EB_STUFFING_MAX_DIHEDRAL 164.738

/* Pieces that hang together by faces are kept when they have at least this share of the elements of
 * the largest piece. */
#define EB_STUFFING_KEEP_FRACTION 0.05

/* Fills the solid with a lattice of the given spacing (m). The mesh has the solid's regions, told
 * at the elements' centroids. EB_ERR_USAGE for a spacing that is not positive; EB_ERR_INVALID when
 * nothing is inside, when the solid leaves its box or when its distance is not finite; EB_ERR_LIMIT
 * when the spacing is too small. Parts thinner than about half a spacing are lost, and where parts
 * touch, four surface triangles may meet in one edge. Uses OpenMP; the result is the same for any
 * number of threads. */
EB_MUST eb_error eb_stuff(const eb_solid *solid, double spacing, eb_mesh **out);
/* Searches the spacing so that the element count is as near `target` as the lattice allows. Stops
 * within 0.2 %, or after six tries near the target within `tolerance` (relative), and fails with
 * EB_ERR_INVALID when the nearest count found is off by more than that. Usually costs two to six
 * calls of eb_stuff, up to 40 where the count jumps (thin or very symmetric solids, few elements),
 * and then the lattice is shifted. *out is NULL on failure. */
EB_MUST eb_error eb_stuff_to_count(const eb_solid *solid, int32_t target, double tolerance,
                                   eb_mesh **out);

#endif
