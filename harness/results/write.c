#include "harness/results/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/colliders.h"
#include "harness/results/obstacles.h"
#include "harness/results/table.h"
#include "harness/results/write_scene.h"
#include "harness/results/write_setup.h"
#include "problems/base/memory.h"

enum {
  PHASES_AT = EB_COL_COUNT,
  COUNTERS_AT = PHASES_AT + EB_PHASE_COUNT,
  RESIDUALS_AT = COUNTERS_AT + EB_COUNTERS,
  RESIDUAL_SECONDS_AT,
  OFFSETS_AT,
  FRAMES_AT,
  FRAME_TIME_AT,
  FRAME_STEP_AT,
  COLLIDER_OFFSET_AT,
  OBSTACLE_POSE_AT,
  UPDATES_AT,
  BONES_AT,
  JOINTS_AT,
  COLUMNS
};

struct eb_recorder {
  char *path;
  hid_t file, run;
  int has_tables;
  int32_t nodes, elements;
  int64_t residuals; /* total so far */
  hsize_t frames_before_updates;
  char norm[128];
  float *frame;    /* nodes x 3 */
  int32_t *parent; /* nodes: as eb_scene_final_mesh has it; NULL when nothing is cut */
  const eb_articulation *articulation;
  int32_t collider_count;
  eb_collider colliders[EB_MAX_COLLIDERS];
  int32_t obstacle_count;
  const eb_obstacle *obstacles;
  eb_table columns[COLUMNS];
};

/* ---- columns ---------------------------------------------------------------------------------- */

static eb_error open_column(eb_recorder *recorder, int at, const char *name, hid_t stored,
                            hid_t memory, eb_h5_shape row, hsize_t chunk, const char *unit) {
  return eb_table_open(recorder->run, name, stored, memory, row, chunk, unit,
                       &recorder->columns[at]);
}

enum { ROWS_PER_CHUNK = 256 };

static eb_error open_number(eb_recorder *recorder, int at, const char *group, const char *name,
                            bool whole, const char *unit) {
  char path[64];
  snprintf(path, sizeof path, "%s/%s", group, name);
  return open_column(recorder, at, path, whole ? H5T_STD_I64LE : H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                     (eb_h5_shape){0}, ROWS_PER_CHUNK, unit);
}

static eb_error make_groups(hid_t run) {
  static const char *const names[] = {"setup",    "steps",     "phases",
                                      "counters", "residuals", "frames"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hid_t group;
    EB_TRY(eb_h5_group(run, names[i], &group));
    H5Gclose(group);
  }
  return EB_OK;
}

static eb_error open_step_tables(eb_recorder *recorder) {
  for (int i = 0; i < EB_COL_COUNT; i++)
    EB_TRY(open_number(recorder, i, "steps", eb_columns[i].name, eb_columns[i].whole,
                       eb_columns[i].unit));
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    EB_TRY(open_number(recorder, PHASES_AT + i, "phases", eb_phase_name((eb_phase)i), false, "s"));
  for (int i = 0; i < EB_COUNTERS; i++)
    EB_TRY(open_number(recorder, COUNTERS_AT + i, "counters", eb_counter_name((eb_counter)i), false,
                       "1"));
  EB_TRY(open_number(recorder, RESIDUALS_AT, "residuals", "values", false, "see norm"));
  EB_TRY(open_number(recorder, RESIDUAL_SECONDS_AT, "residuals", "seconds", false, "s"));
  return open_number(recorder, OFFSETS_AT, "residuals", "offsets", true, "1");
}

static eb_error open_collider_offsets(eb_recorder *recorder) {
  eb_h5_shape row = {2, {(hsize_t)recorder->collider_count, 3}};
  return open_column(recorder, COLLIDER_OFFSET_AT, EB_COLLIDER_OFFSET, H5T_IEEE_F64LE,
                     H5T_NATIVE_DOUBLE, row, ROWS_PER_CHUNK, "m");
}

static eb_error open_obstacle_poses(eb_recorder *recorder) {
  eb_h5_shape row = {2, {(hsize_t)recorder->obstacle_count, EB_OBSTACLE_POSE_COLUMNS}};
  return open_column(recorder, OBSTACLE_POSE_AT, EB_OBSTACLE_POSE, H5T_IEEE_F64LE,
                     H5T_NATIVE_DOUBLE, row, ROWS_PER_CHUNK, "1, m");
}

static eb_error open_articulation(eb_recorder *recorder) {
  hsize_t joints = (hsize_t)eb_articulation_joints(recorder->articulation);
  eb_h5_shape bones = {3, {joints, 2, 3}}, angles = {2, {joints, 2}};
  EB_TRY(open_column(recorder, BONES_AT, EB_FRAME_BONES, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, bones,
                     ROWS_PER_CHUNK, "m"));
  return open_column(recorder, JOINTS_AT, EB_FRAME_JOINTS, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                     angles, ROWS_PER_CHUNK, "rad, rad/s");
}

static eb_error open_frames(eb_recorder *recorder) {
  eb_h5_shape row = {2, {(hsize_t)recorder->nodes, 3}};
  EB_TRY(open_column(recorder, FRAMES_AT, "frames/positions", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, row,
                     1, "m"));
  EB_TRY(open_number(recorder, FRAME_TIME_AT, "frames", "time", false, "s"));
  EB_TRY(open_number(recorder, FRAME_STEP_AT, "frames", "step", true, "1"));
  if (recorder->collider_count > 0) EB_TRY(open_collider_offsets(recorder));
  if (recorder->obstacle_count > 0) EB_TRY(open_obstacle_poses(recorder));
  if (recorder->articulation) EB_TRY(open_articulation(recorder));
  recorder->columns[UPDATES_AT].width = (size_t)recorder->elements;
  return EB_NEW(recorder->frame, 3 * (size_t)recorder->nodes);
}

/* The first updates make the dataset; the frames before them had none. */
static eb_error open_updates(eb_recorder *recorder) {
  eb_table *c = &recorder->columns[UPDATES_AT];
  if (c->set >= 0 || c->rows == 0) return EB_OK;
  eb_h5_shape row = {1, {(hsize_t)recorder->elements}};
  EB_TRY(open_column(recorder, UPDATES_AT, EB_FRAME_UPDATES, H5T_STD_U8LE, H5T_NATIVE_UINT8, row, 1,
                     "1"));
  return eb_h5_skip(c->set, c->name, recorder->frames_before_updates);
}

static eb_error add_number(eb_recorder *recorder, int at, double value) {
  return eb_table_add(&recorder->columns[at], &value, 1);
}

/* ---- the recorder ----------------------------------------------------------------------------- */

/* The scene with the mesh that frames are stored on. */
static eb_error write_scene(eb_recorder *recorder, hid_t scenes, const eb_run *run,
                            const eb_scene *scene) {
  eb_mesh *mesh;
  eb_surface *surface;
  recorder->nodes = scene->mesh->node_count;
  if (scene->cut_count == 0) return eb_scene_write(scenes, run, scene, scene->mesh, scene->surface);
  EB_TRY(eb_scene_final_mesh(scene, &mesh, &recorder->parent));
  recorder->nodes = mesh->node_count;
  eb_error error = eb_mesh_surface(mesh, &surface);
  if (!error) {
    error = eb_scene_write(scenes, run, scene, mesh, surface);
    eb_surface_destroy(surface);
  }
  eb_mesh_destroy(mesh);
  return error;
}

static eb_error create_run(eb_recorder *recorder, const eb_run *run, const eb_scene *scene) {
  hid_t runs, scenes;
  EB_TRY(eb_h5_group(recorder->file, "runs", &runs));
  eb_error error = eb_h5_group(runs, run->id, &recorder->run);
  H5Gclose(runs);
  if (!error) error = eb_h5_group(recorder->file, "scenes", &scenes);
  if (error) return error;
  if (scene) error = write_scene(recorder, scenes, run, scene);
  H5Gclose(scenes);
  return error;
}

static eb_error fill(eb_recorder *recorder, hid_t environment, const eb_run *run,
                     const eb_scene *scene) {
  EB_TRY(eb_schema_write(recorder->file));
  if (environment >= 0 &&
      H5Ocopy(environment, ".", recorder->file, "environment", H5P_DEFAULT, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot copy", "environment");
  EB_TRY(create_run(recorder, run, scene));
  EB_TRY(eb_run_write(recorder->run, run));
  if (!scene) return EB_OK;
  recorder->articulation = scene->articulation;
  recorder->elements = scene->mesh->element_count;
  recorder->collider_count = scene->collider_count;
  memcpy(recorder->colliders, scene->colliders, sizeof recorder->colliders);
  recorder->obstacle_count = scene->obstacle_count;
  recorder->obstacles = scene->obstacles;
  recorder->has_tables = 1;
  EB_TRY(make_groups(recorder->run));
  EB_TRY(open_step_tables(recorder));
  EB_TRY(open_frames(recorder));
  EB_TRY(add_number(recorder, OFFSETS_AT, 0));
  return eb_recorder_commit(recorder);
}

eb_error eb_recorder_create(const char *path, hid_t environment, const eb_run *run,
                            const eb_scene *scene, eb_recorder **out) {
  eb_recorder *recorder;
  *out = NULL;
  EB_TRY(EB_NEW(recorder, 1));
  recorder->file = recorder->run = -1;
  for (int i = 0; i < COLUMNS; i++) recorder->columns[i].set = -1;
  eb_error error = eb_run_set(&recorder->path, path);
  if (!error) error = eb_h5_create_file(path, &recorder->file);
  if (!error) error = fill(recorder, environment, run, scene);
  if (error) {
    eb_recorder_destroy(recorder);
    return eb_error_prefix(error, "%s", path);
  }
  *out = recorder;
  return EB_OK;
}

eb_error eb_recorder_setup(eb_recorder *recorder, const eb_step_log *log) {
  hid_t group;
  EB_TRY(eb_h5_group(recorder->run, "setup", &group));
  eb_error error = eb_setup_write(group, log);
  H5Gclose(group);
  return error;
}

eb_error eb_recorder_step(eb_recorder *recorder, const double row[EB_COL_COUNT],
                          const eb_step_log *log) {
  for (int i = 0; i < EB_COL_COUNT; i++) EB_TRY(add_number(recorder, i, row[i]));
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    EB_TRY(add_number(recorder, PHASES_AT + i, log->phase_seconds[i]));
  for (int i = 0; i < EB_COUNTERS; i++)
    EB_TRY(add_number(recorder, COUNTERS_AT + i, log->counters[i]));
  int64_t kept =
      log->residual_count < log->residual_capacity ? log->residual_count : log->residual_capacity;
  EB_TRY(eb_table_add(&recorder->columns[RESIDUALS_AT], log->residuals, (size_t)kept));
  EB_TRY(
      eb_table_add(&recorder->columns[RESIDUAL_SECONDS_AT], log->residual_seconds, (size_t)kept));
  recorder->residuals += kept;
  if (log->residual_norm) snprintf(recorder->norm, sizeof recorder->norm, "%s", log->residual_norm);
  return add_number(recorder, OFFSETS_AT, (double)recorder->residuals);
}

static bool any(const uint8_t *updates, int32_t elements) {
  for (int32_t e = 0; updates && e < elements; e++)
    if (updates[e]) return true;
  return false;
}

static eb_error add_updates(eb_recorder *recorder, const uint8_t *updates) {
  eb_table *c = &recorder->columns[UPDATES_AT];
  bool begun = c->set >= 0 || c->rows > 0;
  if (!begun && !any(updates, recorder->elements)) {
    recorder->frames_before_updates++;
    return EB_OK;
  }
  return eb_table_add(c, updates, 1);
}

/* Nodes that are still to be parted are where the node is that they part from. */
static void fill_frame(eb_recorder *recorder, const eb_state *state) {
  float *frame = recorder->frame;
  for (int32_t i = 0; i < 3 * state->node_count; i++) frame[i] = (float)state->x[i];
  for (int32_t i = state->node_count; i < recorder->nodes; i++)
    memcpy(frame + 3 * (size_t)i, frame + 3 * (size_t)recorder->parent[i], 3 * sizeof *frame);
}

static eb_error add_articulation(eb_recorder *recorder, const eb_state *state) {
  float bones[EB_MAX_JOINTS][2][3];
  double joints[EB_MAX_JOINTS][2], pivot[3], tip[3];
  for (int32_t j = 0; j < state->joint_count; j++) {
    eb_articulation_bone(recorder->articulation, state->q, j, pivot, tip);
    for (int d = 0; d < 3; d++) {
      bones[j][0][d] = (float)pivot[d];
      bones[j][1][d] = (float)tip[d];
    }
    joints[j][0] = state->q[j];
    joints[j][1] = state->u[j];
  }
  EB_TRY(eb_table_add(&recorder->columns[BONES_AT], bones, 1));
  return eb_table_add(&recorder->columns[JOINTS_AT], joints, 1);
}

static eb_error add_collider_offsets(eb_recorder *recorder, const eb_state *state) {
  double offsets[3 * EB_MAX_COLLIDERS];
  eb_colliders_offsets(recorder->colliders, recorder->collider_count, state->time, offsets);
  return eb_table_add(&recorder->columns[COLLIDER_OFFSET_AT], offsets, 1);
}

static eb_error add_obstacle_poses(eb_recorder *recorder, const eb_state *state) {
  double poses[EB_OBSTACLE_POSE_COLUMNS * EB_MAX_OBSTACLES];
  eb_obstacles_poses(recorder->obstacles, recorder->obstacle_count, state->time, poses);
  return eb_table_add(&recorder->columns[OBSTACLE_POSE_AT], poses, 1);
}

eb_error eb_recorder_frame(eb_recorder *recorder, const eb_state *state, const uint8_t *updates) {
  fill_frame(recorder, state);
  EB_TRY(eb_table_add(&recorder->columns[FRAMES_AT], recorder->frame, 1));
  EB_TRY(add_number(recorder, FRAME_TIME_AT, state->time));
  EB_TRY(add_number(recorder, FRAME_STEP_AT, (double)state->step));
  EB_TRY(add_updates(recorder, updates));
  if (recorder->articulation) EB_TRY(add_articulation(recorder, state));
  if (recorder->obstacle_count > 0) EB_TRY(add_obstacle_poses(recorder, state));
  return recorder->collider_count > 0 ? add_collider_offsets(recorder, state) : EB_OK;
}

hid_t eb_recorder_run(const eb_recorder *recorder) {
  return recorder->run;
}

eb_error eb_recorder_commit(eb_recorder *recorder) {
  EB_TRY(open_updates(recorder));
  for (int i = 0; i < COLUMNS && recorder->has_tables; i++)
    EB_TRY(eb_table_commit(&recorder->columns[i]));
  if (H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) < 0)
    return eb_h5_error("cannot write", recorder->path);
  return EB_OK;
}

/* Closes every object first, so that closing the file writes all of it. */
static void close_objects(eb_recorder *recorder) {
  for (int i = 0; i < COLUMNS; i++) eb_table_close(&recorder->columns[i]);
  if (recorder->run >= 0) H5Gclose(recorder->run);
  recorder->run = -1;
}

static eb_error put_norm(eb_recorder *recorder) {
  if (!recorder->has_tables) return EB_OK;
  hid_t group;
  EB_TRY(eb_h5_group(recorder->run, "residuals", &group));
  eb_error error = eb_h5_put_text(group, "norm", recorder->norm);
  H5Gclose(group);
  return error;
}

eb_error eb_recorder_finish(eb_recorder *recorder, const eb_run *run) {
  EB_TRY(eb_run_write(recorder->run, run));
  EB_TRY(put_norm(recorder));
  EB_TRY(eb_recorder_commit(recorder));
  close_objects(recorder);
  hid_t file = recorder->file;
  recorder->file = -1;
  return eb_h5_close_file(file, recorder->path);
}

void eb_recorder_destroy(eb_recorder *recorder) {
  if (!recorder) return;
  close_objects(recorder);
  if (recorder->file >= 0) {
    H5Fclose(recorder->file);
    H5Eclear2(H5E_DEFAULT);
  }
  for (int i = 0; i < COLUMNS; i++) free(recorder->columns[i].data);
  free(recorder->frame);
  free(recorder->parent);
  free(recorder->path);
  free(recorder);
}
