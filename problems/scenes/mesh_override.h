/* A user's geometry in the place of a scene's own (--mesh). */
#ifndef EB_SCENES_MESH_OVERRIDE_H
#define EB_SCENES_MESH_OVERRIDE_H

#include "problems/mesh/mesh.h"

/* Reads `path`, turns it by the rotation (row-major; NULL: not at all) and fits it into the box of
 * `own`: scaled uniformly so that it just fits, centred in x and y, standing on the box's floor. A
 * volume mesh keeps its connectivity; a closed surface is filled with about own->element_count
 * tetrahedra (kept in the cache directory, NULL: not). The caller destroys *out. */
EB_MUST eb_error eb_mesh_override(const char *path, const double *rotation, const eb_mesh *own,
                                  const char *cache_directory, eb_mesh **out);

#endif
