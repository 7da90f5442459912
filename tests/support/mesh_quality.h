/* How good the elements of a mesh are. */
#ifndef EB_TESTS_MESH_QUALITY_H
#define EB_TESTS_MESH_QUALITY_H

#include "problems/mesh/mesh.h"

typedef struct eb_mesh_quality {
  double min_dihedral, max_dihedral; /* degrees (tetrahedra; corner angles for the others) */
  double min_volume, max_volume, total_volume; /* m^3 */
  double max_aspect; /* longest edge over smallest height, regular tetrahedron = 1.2247 */
  int32_t inverted;  /* elements of non-positive volume */
} eb_mesh_quality;

void eb_mesh_measure(const eb_mesh *mesh, const double *x, eb_mesh_quality *out);

#endif
