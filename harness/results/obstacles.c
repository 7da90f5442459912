#include "harness/results/obstacles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/table.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* The surfaces of all obstacles behind each other, in their own frames. */
static eb_error join(const eb_scene *scene, eb_result_obstacles *out) {
  int32_t vertices = 0, triangles = 0;
  for (int32_t o = 0; o < scene->obstacle_count; o++) {
    vertices += scene->obstacles[o].surface->vertex_count;
    triangles += scene->obstacles[o].surface->triangle_count;
  }
  EB_TRY(EB_NEW(out->X, 3 * (size_t)vertices));
  EB_TRY(EB_NEW(out->obstacle, vertices));
  EB_TRY(EB_NEW(out->triangles, 3 * (size_t)triangles));
  for (int32_t o = 0; o < scene->obstacle_count; o++) {
    const eb_surface *surface = scene->obstacles[o].surface;
    int32_t first = out->vertex_count, *triangle = out->triangles + 3 * (size_t)out->triangle_count;
    memcpy(out->X + 3 * (size_t)first, surface->X,
           3 * (size_t)surface->vertex_count * sizeof *out->X);
    for (int32_t i = 0; i < surface->vertex_count; i++) out->obstacle[first + i] = o;
    for (int32_t k = 0; k < 3 * surface->triangle_count; k++)
      triangle[k] = first + surface->triangles[k];
    out->vertex_count += surface->vertex_count;
    out->triangle_count += surface->triangle_count;
  }
  return EB_OK;
}

eb_error eb_obstacles_write(hid_t group, const eb_scene *scene) {
  eb_result_obstacles all = {0};
  eb_error error = join(scene, &all);
  size_t vertices = (size_t)all.vertex_count, triangles = (size_t)all.triangle_count;
  if (!error) error = eb_rows_put(group, "vertices", EB_REAL, vertices, 3, "m", all.X);
  if (!error) error = eb_rows_put(group, "triangles", EB_INDEX, triangles, 3, "1", all.triangles);
  if (!error) error = eb_rows_put(group, "obstacle", EB_INDEX, vertices, 1, "1", all.obstacle);
  eb_result_obstacles_clear(&all);
  return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

static eb_error check(const eb_result_obstacles *o) {
  for (int32_t i = 0; i < o->vertex_count; i++)
    if (o->obstacle[i] < (i > 0 ? o->obstacle[i - 1] : 0) || o->obstacle[i] >= EB_MAX_OBSTACLES)
      return EB_ERROR(EB_ERR_FORMAT, "vertex %d is of obstacle %d", i, o->obstacle[i]);
  for (int32_t k = 0; k < 3 * o->triangle_count; k++) {
    int32_t first = o->triangles[k - k % 3], v = o->triangles[k];
    bool inside = v >= 0 && v < o->vertex_count && first >= 0 && first < o->vertex_count;
    if (!inside || o->obstacle[v] != o->obstacle[first])
      return EB_ERROR(EB_ERR_FORMAT, "triangle %d names vertex %d", k / 3, v);
  }
  return EB_OK;
}

static eb_error read_at_rest(hid_t group, eb_result_obstacles *out) {
  out->vertex_count = out->triangle_count = -1;
  EB_TRY(eb_rows_get(group, "vertices", EB_REAL, 3, &out->X, &out->vertex_count));
  EB_TRY(eb_rows_get(group, "triangles", EB_INDEX, 3, &out->triangles, &out->triangle_count));
  EB_TRY(eb_rows_get(group, "obstacle", EB_INDEX, 1, &out->obstacle, &out->vertex_count));
  EB_TRY(check(out));
  out->count = out->vertex_count > 0 ? out->obstacle[out->vertex_count - 1] + 1 : 0;
  return EB_OK;
}

/* Moves the obstacles to where they are in a frame. */
static eb_error move(const eb_results *results, int run, size_t frame, eb_result_obstacles *out) {
  eb_h5_shape row = {2, {(hsize_t)out->count, EB_OBSTACLE_POSE_COLUMNS}};
  void *poses;
  EB_TRY(
      eb_results_frame_row(results, run, EB_OBSTACLE_POSE, frame, H5T_NATIVE_DOUBLE, row, &poses));
  eb_error error = EB_OK;
  for (int32_t i = 0; i < out->vertex_count && !error; i++) {
    const double *pose =
        (const double *)poses + EB_OBSTACLE_POSE_COLUMNS * (size_t)out->obstacle[i];
    double *X = out->X + 3 * (size_t)i, turned[3];
    eb_turn3(pose, X, turned);
    for (int d = 0; d < 3; d++) X[d] = turned[d] + pose[9 + d];
    if (!isfinite(X[0] + X[1] + X[2]))
      error =
          EB_ERROR(EB_ERR_FORMAT, "vertex %d of obstacle %d is not finite", i, out->obstacle[i]);
  }
  free(poses);
  return error;
}

eb_error eb_results_obstacles(const eb_results *results, int run, size_t frame,
                              eb_result_obstacles *out) {
  hid_t group;
  *out = (eb_result_obstacles){0};
  eb_error error = eb_results_scene_group(results, run, "obstacles", &group);
  if (!error && group >= 0) {
    error = read_at_rest(group, out);
    H5Gclose(group);
    if (!error) error = move(results, run, frame, out);
  }
  if (error) eb_result_obstacles_clear(out);
  return eb_results_locate(results, run, eb_error_prefix(error, "obstacles"));
}

void eb_result_obstacles_clear(eb_result_obstacles *obstacles) {
  free(obstacles->X);
  free(obstacles->triangles);
  free(obstacles->obstacle);
  *obstacles = (eb_result_obstacles){0};
}
