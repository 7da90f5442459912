/* Where surfaces cross and which solids lie inside each other, exactly: the harness's own look at
 * the end of a step, by its own search. Features of different solids that are so near each other
 * that a contact has to be between them are found on the same trees. */
#ifndef EB_AUDIT_INTERSECTIONS_H
#define EB_AUDIT_INTERSECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/audit/team.h"
#include "problems/base/error.h"
#include "problems/contact_record.h"

typedef struct eb_intersections eb_intersections;

/* What a solid is to the others. */
typedef enum eb_solid_kind {
  EB_SOLID_SOFT,    /* may cross itself */
  EB_SOLID_RIGID,   /* keeps its shape: not tested against itself */
  EB_SOLID_OBSTACLE /* rigid, and not tested against other obstacles */
} eb_solid_kind;

/* Triangles of one solid share no vertex with those of others. */
typedef struct eb_solids {
  int32_t vertex_count, triangle_count, count;
  const int32_t *triangles;  /* triangle_count x 3, outward */
  const int32_t *solid;      /* triangle_count, 0 <= solid < count */
  const eb_solid_kind *kind; /* count */
} eb_solids;

typedef struct eb_intersection_counts {
  int64_t between;   /* pairs of triangles of different solids that meet */
  int64_t obstacles; /* those of them with an obstacle */
  int64_t self;      /* of one solid, beyond the corners that they share */
  /* ordered pairs of solids whose surfaces do not meet, a piece of one inside the other */
  int64_t nested;
} eb_intersection_counts;

/* Copies what it needs; trees of boxes are cut by the positions x (vertex_count x 3, m), any the
 * solids have at some time. EB_ERR_INVALID when an index is out of range. */
EB_MUST eb_error eb_intersections_create(const eb_solids *solids, const double *x,
                                         eb_intersections **out);
void eb_intersections_destroy(eb_intersections *intersections);

/* Counts at positions x, which must be finite. A solid whose surface is not closed has no inside.
 * Allocates nothing; `team` may be NULL. */
void eb_intersections_count(eb_intersections *intersections, eb_team *team, const double *x,
                            eb_intersection_counts *counts);

/* Pairs of triangles of different solids (not of two obstacles) that are nearer than `distance` (m)
 * without crossing, while no contact of the record (NULL: there is none) joins a vertex of the one
 * with a vertex of the other. The boxes must have been fitted to x by eb_intersections_count.
 * Allocates nothing. */
int64_t eb_intersections_unrecorded(const eb_intersections *intersections, eb_team *team,
                                    const double *x, double distance,
                                    const eb_contact_record *record);

/* A vertex of each of two triangles that cross or, where none do, of two solids of which one is
 * inside the other, at the positions that were counted last; -1 where there are none. */
void eb_intersections_find(const eb_intersections *intersections, const double *x, int32_t pair[2]);
/* The same of triangles that eb_intersections_unrecorded counts. */
void eb_intersections_find_unrecorded(const eb_intersections *intersections, const double *x,
                                      double distance, const eb_contact_record *record,
                                      int32_t pair[2]);

#endif
