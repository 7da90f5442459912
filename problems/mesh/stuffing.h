/* Isosurface stuffing (Labelle and Shewchuk 2007): tetrahedra from signed distance, with bounded
 * dihedral angles, on a uniform body-centred cubic lattice. Deterministic. */
#ifndef EB_MESH_STUFFING_H
#define EB_MESH_STUFFING_H

#include "problems/mesh/sdf.h"

/* Dihedral angles of the uniform method lie within these bounds, degrees (Labelle and Shewchuk 2007,
 * Table 1, the warp thresholds that bound the smallest angle best). */
#define EB_STUFFING_MIN_DIHEDRAL 10.7843
#define EB_STUFFING_MAX_DIHEDRAL 164.7352

/* Fills the solid with a lattice of the given spacing (m). Only the largest face-connected component
 * and components of at least `keep_fraction` of its elements are kept. The mesh has the solid's
 * regions. EB_ERR_INVALID when nothing is inside. */
EB_MUST eb_error eb_stuff(const eb_solid *solid, double spacing, eb_mesh **out);
/* Searches the spacing so that the element count is as near `target` as the lattice allows; returns
 * the nearest found and fails (EB_ERR_INVALID) when that is off by more than `tolerance` (relative). */
EB_MUST eb_error eb_stuff_to_count(const eb_solid *solid, int32_t target, double tolerance,
                                   eb_mesh **out);

#endif
