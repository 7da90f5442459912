/* A scene's group in a result file: everything that a run of it can be judged by (schema.md has the
 * layout). */
#ifndef EB_RESULTS_SCENE_H
#define EB_RESULTS_SCENE_H

#include "harness/results/read.h"
#include "harness/results/record.h"
#include "problems/scene_impl.h"

/* Writes scenes/<run->scene_hash> with this mesh and its surface; `scenes` is the open group.
 * `parent`: as eb_scene_final_mesh has it, or NULL without cuts. */
EB_MUST eb_error eb_scene_write(hid_t scenes, const eb_run *run, const eb_scene *scene,
                                const eb_mesh *mesh, const eb_surface *surface,
                                const int32_t *parent);

/* The name of the dataset that has elements of that type: "tetrahedra". */
const char *eb_element_set(eb_element_type type);

/* ---- colliders ------------------------------------------------------------------------------- */

/* The rigid colliders of a scene in a result file, for those who show or read a run without the
 * program that made it.
 *
 *   /scenes/<hash>/colliders/    one row a collider; absent when the scene has none
 *     kind                       an enumeration that carries its names: plane, sphere, cylinder,
 *                                capped-cylinder, bowl, capsule, mesh (0 to 6), with the geometry
 * of eb_collider_kind origin (x 3), radius, half_length, margin (m), axis (x 3); stiffness (Pa/m),
 * damping, grip (Pa s/m), friction, isotropy implicit                   whether its penalty is
 * taken at the end of the step surface_vertices (x 3, m), surface_triangles (x 3, vertices),
 * surface_collider (of every vertex, rising)            what the colliders of kind mesh enclose;
 * only where there are any attribute penalty          the law of their forces in words;
 * penalty_rule: where the stiffness of explicit ones is 0 /runs/<id>/frames/ collider_offset frames
 * x colliders x 3, m: at the time of a frame a collider's origin is `origin` + its offset
 *     collider_velocity          frames x colliders x 3, m/s
 *     collider_turn              frames x colliders x 12, only where one turns: rotation
 * (row-major) and spin (rad/s). What is at X at first is at rotation X + offset, and moves at
 * velocity + spin x (x - offset)
 */

#define EB_COLLIDER_OFFSET "frames/collider_offset"
#define EB_COLLIDER_TURN   "frames/collider_turn"
enum { EB_COLLIDER_TURN_COLUMNS = 12 };

/* Colliders of a run; they do not move: `motion` is NULL. */
typedef struct eb_result_colliders {
  int32_t count;
  eb_collider list[EB_MAX_COLLIDERS];
} eb_result_colliders;

/* The colliders of a run's scene where they are in one of its frames; none when the file stores
 * none. EB_ERR_USAGE: there is no such frame; EB_ERR_FORMAT: datasets that do not fit together,
 * lengths that are not finite or negative, an axis that is no unit vector. The caller clears *out.
 */
EB_MUST eb_error eb_results_colliders(const eb_results *results, int run, size_t frame,
                                      eb_result_colliders *out);
void eb_result_colliders_clear(eb_result_colliders *colliders);

/* ---- obstacles ------------------------------------------------------------------------------- */

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

#define EB_OBSTACLE_POSE "frames/obstacle_pose"
enum { EB_OBSTACLE_POSE_COLUMNS = 12 };

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
/* Puts a surface behind those that there are: `of` is its number. */
EB_MUST eb_error eb_result_obstacles_add(eb_result_obstacles *obstacles, const eb_surface *surface,
                                         int32_t of);
void eb_result_obstacles_clear(eb_result_obstacles *obstacles);

#endif
