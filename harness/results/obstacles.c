#include "harness/results/obstacles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* ---- writing --------------------------------------------------------------------------------- */

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

static eb_error put(hid_t group, const eb_result_obstacles *all) {
  eb_h5_shape vertices = {2, {(hsize_t)all->vertex_count, 3}};
  eb_h5_shape triangles = {2, {(hsize_t)all->triangle_count, 3}};
  eb_h5_shape owners = {1, {(hsize_t)all->vertex_count}};
  EB_TRY(eb_h5_put(group, "vertices", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, vertices, "m", all->X));
  EB_TRY(eb_h5_put(group, "triangles", H5T_STD_I32LE, H5T_NATIVE_INT32, triangles, "1",
                   all->triangles));
  return eb_h5_put(group, "obstacle", H5T_STD_I32LE, H5T_NATIVE_INT32, owners, "1", all->obstacle);
}

eb_error eb_obstacles_write(hid_t scene_group, const eb_scene *scene) {
  hid_t group;
  eb_result_obstacles all = {0};
  if (scene->obstacle_count == 0) return EB_OK;
  EB_TRY(eb_h5_group(scene_group, "obstacles", &group));
  eb_error error = join(scene, &all);
  if (!error) error = put(group, &all);
  eb_result_obstacles_clear(&all);
  H5Gclose(group);
  return error;
}

void eb_obstacles_poses(const eb_obstacle *obstacles, int32_t count, double t, double *poses) {
  for (int32_t o = 0; o < count; o++, poses += EB_OBSTACLE_POSE_COLUMNS)
    eb_obstacle_pose(&obstacles[o], t, poses, poses + 9);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A dataset of rows of `columns` numbers; *rows < 0 is unknown yet, else to be met. */
static eb_error read_rows(hid_t group, const char *name, hid_t memory, size_t size, hsize_t columns,
                          void **out, int32_t *rows) {
  eb_h5_shape shape;
  EB_TRY(eb_h5_get(group, name, memory, size, out, &shape));
  bool fits = shape.rank == (columns > 1 ? 2 : 1) && (columns == 1 || shape.size[1] == columns) &&
              shape.size[0] <= INT32_MAX / 3;
  if (fits && *rows < 0) *rows = (int32_t)shape.size[0];
  if (fits && shape.size[0] == (hsize_t)*rows) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "%s has an unexpected shape", name);
}

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
  void *X = NULL, *triangles = NULL, *obstacle = NULL;
  out->vertex_count = out->triangle_count = -1;
  eb_error error =
      read_rows(group, "vertices", H5T_NATIVE_DOUBLE, sizeof *out->X, 3, &X, &out->vertex_count);
  if (!error)
    error = read_rows(group, "triangles", H5T_NATIVE_INT32, sizeof *out->triangles, 3, &triangles,
                      &out->triangle_count);
  if (!error)
    error = read_rows(group, "obstacle", H5T_NATIVE_INT32, sizeof *out->obstacle, 1, &obstacle,
                      &out->vertex_count);
  out->X = X;
  out->triangles = triangles;
  out->obstacle = obstacle;
  EB_TRY(error);
  EB_TRY(check(out));
  out->count = out->vertex_count > 0 ? out->obstacle[out->vertex_count - 1] + 1 : 0;
  return EB_OK;
}

static eb_error move(const double *poses, eb_h5_shape shape, size_t frame,
                     eb_result_obstacles *out) {
  if (shape.rank != 3 || shape.size[1] != (hsize_t)out->count ||
      shape.size[2] != EB_OBSTACLE_POSE_COLUMNS)
    return EB_ERROR(EB_ERR_FORMAT, "%s has an unexpected shape", EB_OBSTACLE_POSE);
  if (frame >= shape.size[0])
    return EB_ERROR(EB_ERR_USAGE, "there is no frame %zu; the run has %zu", frame,
                    (size_t)shape.size[0]);
  poses += frame * (size_t)out->count * EB_OBSTACLE_POSE_COLUMNS;
  for (int32_t i = 0; i < out->vertex_count; i++) {
    const double *pose = poses + EB_OBSTACLE_POSE_COLUMNS * (size_t)out->obstacle[i];
    double *X = out->X + 3 * (size_t)i, turned[3];
    eb_turn3(pose, X, turned);
    for (int d = 0; d < 3; d++) X[d] = turned[d] + pose[9 + d];
    if (!isfinite(X[0] + X[1] + X[2]))
      return EB_ERROR(EB_ERR_FORMAT, "vertex %d of obstacle %d is not finite", i, out->obstacle[i]);
  }
  return EB_OK;
}

static eb_error place(hid_t file, const char *run, size_t frame, eb_result_obstacles *out) {
  char path[300];
  eb_h5_shape shape;
  void *poses;
  snprintf(path, sizeof path, "/runs/%s/%s", run, EB_OBSTACLE_POSE);
  EB_TRY(eb_h5_get(file, path, H5T_NATIVE_DOUBLE, sizeof(double), &poses, &shape));
  eb_error error = move(poses, shape, frame, out);
  free(poses);
  return error;
}

static eb_error read_all(const eb_results *results, int run, size_t frame,
                         eb_result_obstacles *out) {
  char path[300];
  hid_t file = eb_results_file(results);
  const eb_run *of = eb_results_run(results, run);
  snprintf(path, sizeof path, "/scenes/%s/obstacles", of->scene_hash);
  if (!*of->scene_hash || !eb_h5_exists(file, path)) return EB_OK;
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = read_at_rest(group, out);
  H5Gclose(group);
  return error ? error : place(file, of->id, frame, out);
}

eb_error eb_results_obstacles(const eb_results *results, int run, size_t frame,
                              eb_result_obstacles *out) {
  *out = (eb_result_obstacles){0};
  eb_error error = read_all(results, run, frame, out);
  if (error) eb_result_obstacles_clear(out);
  return eb_results_locate(results, run, eb_error_prefix(error, "obstacles"));
}

void eb_result_obstacles_clear(eb_result_obstacles *obstacles) {
  free(obstacles->X);
  free(obstacles->triangles);
  free(obstacles->obstacle);
  *obstacles = (eb_result_obstacles){0};
}
