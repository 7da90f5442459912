/* Sheets: meshes for which node rotations do harm. */
#ifndef EB_WARP_THIN_MESH_H
#define EB_WARP_THIN_MESH_H

#include "problems/mesh/mesh.h"

/* Whether at least half of the tetrahedra are flat: their smallest height is below a twentieth of
 * their longest edge. True for sheets of one layer of flat cubes; false for stuffed bodies and for
 * bars with cubes that are up to ten times as long as wide. */
bool eb_mesh_is_thin(const eb_mesh *mesh);

#endif
