/* The obstacles of a scene in a result file, for those who show or read a run without the program
 * that made it.
 *
 *   /scenes/<hash>/obstacles/    the surfaces of all; absent when the scene has none
 *     vertices (x 3, m)          each in the frame of its obstacle
 *     triangles (x 3)            vertices, outward
 *     obstacle                   of every vertex, from 0, rising
 *   /runs/<id>/frames/
 *     obstacle_pose              frames x obstacles x 12: rotation (row-major) and shift (m) at
 *                                the time of a frame, x = rotation X + shift */
#ifndef EB_RESULTS_OBSTACLES_H
#define EB_RESULTS_OBSTACLES_H

#include "harness/results/read.h"
#include "problems/scene_impl.h"

#define EB_OBSTACLE_POSE "frames/obstacle_pose"
enum { EB_OBSTACLE_POSE_COLUMNS = 12 };

/* Fills the open group `obstacles` of a scene. */
EB_MUST eb_error eb_obstacles_write(hid_t group, const eb_scene *scene);

/* Obstacles of a run. */
typedef struct eb_result_obstacles {
  int32_t count, vertex_count, triangle_count;
  double *X;          /* vertex_count x 3, m, where they are in the frame */
  int32_t *triangles; /* triangle_count x 3, of vertices of one obstacle */
  int32_t *obstacle;  /* vertex_count */
} eb_result_obstacles;

/* The obstacles of a run's scene where they are in one of its frames; none when the file stores
 * none. EB_ERR_USAGE: there is no such frame; EB_ERR_FORMAT: datasets that do not fit together,
 * numbers that are not finite. The caller clears *out. */
EB_MUST eb_error eb_results_obstacles(const eb_results *results, int run, size_t frame,
                                      eb_result_obstacles *out);
void eb_result_obstacles_clear(eb_result_obstacles *obstacles);

#endif
