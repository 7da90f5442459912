#include "harness/results/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/checkpoints.h"
#include "harness/results/table.h"
#include "harness/results/write_frames.h"
#include "harness/results/write_scene.h"
#include "harness/results/write_setup.h"
#include "problems/base/memory.h"

enum {
  PHASES_AT = EB_COL_COUNT,
  COUNTERS_AT = PHASES_AT + EB_PHASE_COUNT,
  RESIDUALS_AT = COUNTERS_AT + EB_COUNTERS,
  RESIDUAL_SECONDS_AT,
  OFFSETS_AT,
  ROUNDS_AT,
  ROUND_OFFSETS_AT,
  COLUMNS
};

struct eb_recorder {
  char *path;
  hid_t file, run;
  int64_t residuals, rounds; /* total so far */
  char norm[128];
  int32_t nodes;           /* of the mesh that frames are stored on */
  int32_t *parent;         /* nodes: as eb_scene_final_mesh has it; NULL when nothing is cut */
  eb_frame_writer *frames; /* NULL when there are no tables */
  const eb_scene *scene;
  eb_checkpoint_writer *checkpoints; /* NULL until the first is kept */
  eb_table columns[COLUMNS];
};

/* ---- columns --------------------------------------------------------------------------------- */

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
  EB_TRY(open_number(recorder, OFFSETS_AT, "residuals", "offsets", true, "1"));
  EB_TRY(open_number(recorder, ROUNDS_AT, "residuals", "rounds", true, "1"));
  return open_number(recorder, ROUND_OFFSETS_AT, "residuals", "round_offsets", true, "1");
}

static eb_error add_number(eb_recorder *recorder, int at, double value) {
  return eb_table_add(&recorder->columns[at], &value, 1);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* The scene with the mesh that frames are stored on. */
static eb_error write_scene(eb_recorder *recorder, hid_t scenes, const eb_run *run,
                            const eb_scene *scene) {
  eb_mesh *mesh;
  eb_surface *surface;
  recorder->nodes = scene->mesh->node_count;
  if (scene->cut_count == 0)
    return eb_scene_write(scenes, run, scene, scene->mesh, scene->surface, NULL);
  EB_TRY(eb_scene_final_mesh(scene, &mesh, &recorder->parent));
  recorder->nodes = mesh->node_count;
  eb_error error = eb_mesh_surface(mesh, &surface);
  if (!error) {
    error = eb_scene_write(scenes, run, scene, mesh, surface, recorder->parent);
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

/* Units of the run's attributes, which in HDF5 have no attributes of their own: attributes of the
 * group `units`, by the same names. */
static eb_error put_units(hid_t run) {
  hid_t group;
  eb_error error = EB_OK;
  EB_TRY(eb_h5_group(run, "units", &group));
  for (const eb_field *field = eb_run_fields; field->name && !error; field++)
    if (field->type != EB_FIELD_TEXT) error = eb_h5_put_text(group, field->name, field->unit);
  H5Gclose(group);
  return error;
}

static eb_frames stored_frames(const eb_run *run) {
  bool all = run->frames && strcmp(run->frames, eb_frames_name(EB_FRAMES_ALL)) == 0;
  return all ? EB_FRAMES_ALL : EB_FRAMES_INTERVAL;
}

static eb_error fill(eb_recorder *recorder, hid_t environment, const eb_run *run,
                     const eb_scene *scene) {
  EB_TRY(eb_schema_write(recorder->file));
  if (environment >= 0 &&
      H5Ocopy(environment, ".", recorder->file, "environment", H5P_DEFAULT, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot copy", "environment");
  EB_TRY(create_run(recorder, run, scene));
  EB_TRY(eb_run_write(recorder->run, run));
  EB_TRY(put_units(recorder->run));
  if (!scene) return EB_OK;
  recorder->scene = scene;
  EB_TRY(make_groups(recorder->run));
  EB_TRY(open_step_tables(recorder));
  EB_TRY(eb_frame_writer_create(recorder->run, scene, recorder->nodes, recorder->parent,
                                stored_frames(run), &recorder->frames));
  EB_TRY(add_number(recorder, OFFSETS_AT, 0));
  EB_TRY(add_number(recorder, ROUND_OFFSETS_AT, 0));
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
  for (int r = 0; r < log->round_count; r++)
    EB_TRY(add_number(recorder, ROUNDS_AT, (double)log->rounds[r]));
  recorder->rounds += log->round_count;
  EB_TRY(add_number(recorder, ROUND_OFFSETS_AT, (double)recorder->rounds));
  if (log->residual_norm) snprintf(recorder->norm, sizeof recorder->norm, "%s", log->residual_norm);
  return add_number(recorder, OFFSETS_AT, (double)recorder->residuals);
}

/* Frames of all steps of a large scene would fill the memory between two commits. */
static bool waits_too_long(const eb_recorder *recorder) {
  static const size_t most = 16 << 20; /* bytes */
  size_t kept = recorder->checkpoints ? eb_checkpoint_writer_waiting(recorder->checkpoints) : 0;
  return kept + eb_frame_writer_waiting(recorder->frames) > most;
}

eb_error eb_recorder_frame(eb_recorder *recorder, const eb_frame *frame) {
  EB_TRY(eb_frame_writer_add(recorder->frames, frame));
  return waits_too_long(recorder) ? eb_recorder_commit(recorder) : EB_OK;
}

eb_error eb_recorder_checkpoint(eb_recorder *recorder, const eb_state *state, double began) {
  if (!recorder->checkpoints)
    EB_TRY(eb_checkpoint_writer_create(recorder->run, recorder->scene, recorder->nodes,
                                       &recorder->checkpoints));
  EB_TRY(eb_checkpoint_writer_add(recorder->checkpoints, state, began));
  return waits_too_long(recorder) ? eb_recorder_commit(recorder) : EB_OK;
}

hid_t eb_recorder_run(const eb_recorder *recorder) {
  return recorder->run;
}

eb_error eb_recorder_commit(eb_recorder *recorder) {
  for (int i = 0; i < COLUMNS && recorder->frames; i++)
    EB_TRY(eb_table_commit(&recorder->columns[i]));
  if (recorder->frames) EB_TRY(eb_frame_writer_commit(recorder->frames));
  if (recorder->checkpoints) EB_TRY(eb_checkpoint_writer_commit(recorder->checkpoints));
  if (H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) < 0)
    return eb_h5_error("cannot write", recorder->path);
  return EB_OK;
}

/* Closes every object first, so that closing the file writes all of it. */
static void close_objects(eb_recorder *recorder) {
  for (int i = 0; i < COLUMNS; i++) eb_table_close(&recorder->columns[i]);
  if (recorder->frames) eb_frame_writer_close(recorder->frames);
  if (recorder->checkpoints) eb_checkpoint_writer_close(recorder->checkpoints);
  if (recorder->run >= 0) H5Gclose(recorder->run);
  recorder->run = -1;
}

static eb_error put_norm(eb_recorder *recorder) {
  if (!recorder->frames) return EB_OK;
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
  eb_frame_writer_destroy(recorder->frames);
  eb_checkpoint_writer_destroy(recorder->checkpoints);
  free(recorder->parent);
  free(recorder->path);
  free(recorder);
}
