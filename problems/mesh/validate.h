/* The parts of surface validation. */
#ifndef EB_MESH_VALIDATE_H
#define EB_MESH_VALIDATE_H

#include "problems/mesh/mesh.h"

/* Fails with EB_ERR_INVALID, naming the lowest triangle whose corners are out of range, repeated or
 * not finite, or the edge of the lowest triangle by which the surface is open: every edge is run
 * through as often forwards as backwards. */
EB_MUST eb_error eb_surface_check_closed(const eb_surface *surface);

#endif
