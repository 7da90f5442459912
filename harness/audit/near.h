/* Features of different solids that are so near each other at the end of a step that a contact has
 * to be between them, and is not reported. */
#ifndef EB_AUDIT_NEAR_H
#define EB_AUDIT_NEAR_H

#include "harness/audit/intersections.h"
#include "solvers/contact/record.h"

/* Pairs of triangles of different solids (not of two obstacles) that are nearer than `distance` (m)
 * without crossing, while no contact of the record (NULL: there is none) joins a vertex of the one
 * with a vertex of the other. The boxes of `intersections` must have been fitted to x by
 * eb_intersections_count. Allocates nothing. */
int64_t eb_near_unrecorded(const eb_intersections *intersections, eb_team *team, const double *x,
                           double distance, const eb_contact_record *record);

#endif
