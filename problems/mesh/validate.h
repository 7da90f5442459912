/* The parts of surface validation. */
#ifndef EB_MESH_VALIDATE_H
#define EB_MESH_VALIDATE_H

#include "problems/mesh/mesh.h"

/* Fails with EB_ERR_INVALID, naming the lowest triangle whose corners are out of range, repeated or
 * not finite. */
EB_MUST eb_error eb_surface_check_corners(const eb_surface *surface);
/* Fails with EB_ERR_INVALID, naming the edge of the lowest triangle, unless the surface is closed:
 * every edge is run through as often forwards as backwards. With `manifold`, it must be run through
 * exactly once each way. Indices must be valid. */
EB_MUST eb_error eb_surface_check_edges(const eb_surface *surface, bool manifold);

#endif
