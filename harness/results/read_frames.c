#include <stdio.h>
#include <stdlib.h>

#include "harness/results/read.h"
#include "problems/base/memory.h"
#include "problems/rigid/articulation.h"

eb_error eb_results_frame_count(const eb_results *results, int run, size_t *out) {
  double *time;
  EB_TRY(eb_results_column(results, run, "frames/time", &time, out));
  free(time);
  return EB_OK;
}

static eb_error read_frame(const eb_results *results, int run, const char *name, size_t frame,
                           hid_t memory, eb_h5_shape row, void **out) {
  char path[400];
  *out = NULL;
  snprintf(path, sizeof path, "/runs/%s/%s", eb_results_run(results, run)->id, name);
  hid_t set = H5Dopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (set < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_h5_get_row(set, name, frame, memory, row, out);
  H5Dclose(set);
  return eb_results_locate(results, run, error);
}

eb_error eb_results_frame(const eb_results *results, int run, size_t frame, float **out) {
  void *data;
  eb_h5_shape row = {2, {(hsize_t)eb_results_run(results, run)->nodes, 3}};
  eb_error error =
      read_frame(results, run, EB_FRAME_POSITIONS, frame, H5T_NATIVE_FLOAT, row, &data);
  *out = data;
  return error;
}

eb_error eb_results_frame_precision(const eb_results *results, int run, const char *path,
                                    int *bytes) {
  char full[400];
  *bytes = 0;
  snprintf(full, sizeof full, "/runs/%s/%s", eb_results_run(results, run)->id, path);
  if (!eb_h5_exists(eb_results_file(results), full)) return EB_OK;
  hid_t set = H5Dopen2(eb_results_file(results), full, H5P_DEFAULT);
  if (set < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", full));
  hid_t type = H5Dget_type(set);
  *bytes = (int)H5Tget_size(type);
  H5Tclose(type);
  H5Dclose(set);
  return EB_OK;
}

bool eb_results_has_updates(const eb_results *results, int run) {
  char path[400];
  snprintf(path, sizeof path, "/runs/%s/%s", eb_results_run(results, run)->id, EB_FRAME_UPDATES);
  return eb_h5_exists(eb_results_file(results), path);
}

eb_error eb_results_updates(const eb_results *results, int run, size_t frame, uint8_t **out) {
  void *data;
  *out = NULL;
  if (!eb_results_has_updates(results, run)) return EB_OK;
  eb_h5_shape row = {1, {(hsize_t)eb_results_run(results, run)->elements}};
  eb_error error = read_frame(results, run, EB_FRAME_UPDATES, frame, H5T_NATIVE_UINT8, row, &data);
  *out = data;
  return error;
}

static eb_error check_frames(const eb_results *results, int run, const char *name, size_t count,
                             eb_h5_shape row) {
  char path[400];
  snprintf(path, sizeof path, "/runs/%s/%s", eb_results_run(results, run)->id, name);
  hid_t set = H5Dopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (set < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", path));
  hid_t space = H5Dget_space(set);
  eb_error error = eb_h5_check_rows(name, space, count - 1, row);
  H5Sclose(space);
  H5Dclose(set);
  return eb_results_locate(results, run, error);
}

/* ---- rigid bodies ---------------------------------------------------------------------------- */

/* Entries along the second axis of a dataset of frames; 0 when the run has none. */
static eb_error count_bodies(const eb_results *results, int run, const char *name, int32_t *count) {
  char path[400];
  hsize_t size[EB_H5_AXES] = {0};
  *count = 0;
  snprintf(path, sizeof path, "/runs/%s/%s", eb_results_run(results, run)->id, name);
  if (!eb_h5_exists(eb_results_file(results), path)) return EB_OK;
  hid_t set = H5Dopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (set < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", path));
  hid_t space = H5Dget_space(set);
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank > 1 && rank <= EB_H5_AXES) H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  H5Dclose(set);
  if (size[1] == 0 || size[1] > EB_MAX_JOINTS)
    return eb_results_locate(
        results, run, EB_ERROR(EB_ERR_FORMAT, "%s is not of 1 to %d bodies", name, EB_MAX_JOINTS));
  *count = (int32_t)size[1];
  return EB_OK;
}

eb_error eb_results_bones(const eb_results *results, int run, size_t frame, int32_t *count,
                          float **out) {
  void *data;
  *out = NULL;
  EB_TRY(count_bodies(results, run, EB_FRAME_BONES, count));
  if (*count == 0) return EB_OK;
  eb_h5_shape row = {3, {(hsize_t)*count, 2, 3}};
  eb_error error = read_frame(results, run, EB_FRAME_BONES, frame, H5T_NATIVE_FLOAT, row, &data);
  *out = data;
  return error;
}

eb_error eb_results_joints(const eb_results *results, int run, size_t frame, int32_t *count,
                           double **out) {
  void *data;
  *out = NULL;
  EB_TRY(count_bodies(results, run, EB_FRAME_JOINTS, count));
  if (*count == 0) return EB_OK;
  eb_h5_shape row = {2, {(hsize_t)*count, 2}};
  eb_error error = read_frame(results, run, EB_FRAME_JOINTS, frame, H5T_NATIVE_DOUBLE, row, &data);
  *out = data;
  return error;
}

eb_error eb_results_check_frames(const eb_results *results, int run, size_t count) {
  const eb_run *about = eb_results_run(results, run);
  int32_t bones, joints;
  eb_h5_shape positions = {2, {(hsize_t)about->nodes, 3}},
              updates = {1, {(hsize_t)about->elements}};
  int velocities;
  EB_TRY(check_frames(results, run, EB_FRAME_POSITIONS, count, positions));
  EB_TRY(eb_results_frame_precision(results, run, EB_FRAME_VELOCITIES, &velocities));
  if (velocities > 0) EB_TRY(check_frames(results, run, EB_FRAME_VELOCITIES, count, positions));
  if (eb_results_has_updates(results, run))
    EB_TRY(check_frames(results, run, EB_FRAME_UPDATES, count, updates));
  EB_TRY(count_bodies(results, run, EB_FRAME_BONES, &bones));
  EB_TRY(count_bodies(results, run, EB_FRAME_JOINTS, &joints));
  eb_h5_shape of_bones = {3, {(hsize_t)bones, 2, 3}}, of_joints = {2, {(hsize_t)joints, 2}};
  if (bones > 0) EB_TRY(check_frames(results, run, EB_FRAME_BONES, count, of_bones));
  return joints > 0 ? check_frames(results, run, EB_FRAME_JOINTS, count, of_joints) : EB_OK;
}
