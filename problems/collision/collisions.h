/* Collision detection between triangle surfaces: what a motion from x0 to x1 would make pass
 * through each other.
 *
 * A collision mesh joins the surfaces of deformable bodies, free rigid bodies and obstacles. Its
 * triangles form patches of neighbours, whose boxes, grown by the reach of their vertices, stand in
 * a tree. That gives lists of candidates, pairs of features, which serve for some steps; any number
 * of motions that stay within the reach of a step are tested continuously against them (Verschoor
 * and Jalba 2019, Section 5: boxes grown by 3 h v). Parallel where there is enough to do;
 * hits and their order follow from mesh, reach and motion alone: they are the same for any number
 * of threads and whatever was detected before. */
#ifndef EB_COLLISIONS_H
#define EB_COLLISIONS_H

#include <stdint.h>

#include "problems/base/error.h"
#include "problems/collision/continuous.h"

/* Vertices of one group belong to one body. Two features are never tested when they share a vertex,
 * when both are of obstacles, or when both are of the same group and that group is rigid.
 * Deformable groups are tested against themselves. */
typedef struct eb_collision_mesh {
  int32_t vertex_count, triangle_count, edge_count, group_count;
  int32_t *triangles; /* triangle_count x 3, outward */
  int32_t *edges;     /* edge_count x 2, a < b, ascending */
  int32_t *group;     /* vertex_count */
  uint8_t *rigid;     /* group_count */
  uint8_t *obstacle;  /* group_count: an obstacle (rigid too) */
} eb_collision_mesh;

/* Copies triangles and groups, finds the edges. Groups of obstacles become rigid. EB_ERR_INVALID
 * when a triangle's vertices are out of range, repeated or of different groups. Vertices of no
 * triangle may be there: they take no part. */
EB_MUST eb_error eb_collision_mesh_create(int32_t vertices, int32_t triangle_count,
                                          const int32_t *triangles, const int32_t *group,
                                          int32_t group_count, const uint8_t *rigid,
                                          const uint8_t *obstacle, eb_collision_mesh **out);
void eb_collision_mesh_destroy(eb_collision_mesh *mesh);

/* Vertices of pairs are those of the collision mesh; a face is as in `triangles`, edges are as in
 * `edges`, the lower edge first. */
typedef struct eb_hit {
  eb_pair pair;
  double time; /* in [0, 1], see continuous.h */
} eb_hit;

typedef struct eb_near {
  eb_pair pair;
  double distance; /* m */
} eb_near;

typedef struct eb_collisions eb_collisions;

/* The mesh must outlive it. */
EB_MUST eb_error eb_collisions_create(const eb_collision_mesh *mesh, eb_collisions **out);
void eb_collisions_destroy(eb_collisions *collisions);
/* Starts a step at x0 (vertex_count x 3, m): vertex i may be up to reach[i] (m) off the box between
 * x0 and x0 + way (vertex_count x 3, m; NULL: 0), in every coordinate. Forms patches of
 * neighbouring triangles (at the first call, and anew when they have torn) and lists the candidates
 * of this step and some more, so that the next steps of a motion that goes on need not. Grows its
 * own arrays when it must. EB_ERR_INVALID for positions, ways and reaches that are not finite or
 * beyond 1e30. */
EB_MUST eb_error eb_collisions_begin(eb_collisions *collisions, const double *x0, const double *way,
                                     const double *reach);
/* Brings the lists up to date for vertices that x1 puts outside their reach, by raising it for them
 * to half as much again as they are off; returns in *repaired how many there were. EB_ERR_INVALID
 * before `begin` and for positions that are not finite. */
EB_MUST eb_error eb_collisions_cover(eb_collisions *collisions, const double *x1,
                                     int32_t *repaired);
/* All candidates that collide on the way from the x0 of `begin` to x1, sorted by kind, then
 * vertices; the array is owned by `collisions` and good until the next call. EB_ERR_INVALID before
 * `begin` and when a vertex of x1 is not within reach. */
EB_MUST eb_error eb_collisions_find(eb_collisions *collisions, const double *x1,
                                    const eb_hit **hits, int32_t *count);
/* All candidates that are less than distance[kind] (m, by eb_pair_kind) apart at x, in a fixed
 * order; complete when reaches have half of the larger one to spare. The array is as that of
 * `find`. Vertices of x must be within reach. */
EB_MUST eb_error eb_collisions_near(eb_collisions *collisions, const double *x,
                                    const double distance[2], const eb_near **near, int32_t *count);
/* Pairs of features in the present lists whose boxes meet. */
int64_t eb_collisions_candidates(const eb_collisions *collisions);

#endif
