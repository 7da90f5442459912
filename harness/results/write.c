#include "harness/results/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/checkpoints.h"
#include "harness/results/frames.h"
#include "harness/results/read.h"
#include "harness/results/scene.h"
#include "harness/results/table.h"
#include "problems/base/memory.h"

/* Columns of steps/, phases/ and counters/ in the order of eb_results_table_info, then: */
enum { RESIDUALS = EB_STEP_TABLES, RESIDUAL_SECONDS, OFFSETS, ROUNDS, ROUND_OFFSETS, COLUMNS };
static const eb_dataset residual_columns[] = {{"residuals/values", "see norm", EB_REAL, NULL},
                                              {"residuals/seconds", "s", EB_REAL, NULL},
                                              {"residuals/offsets", "1", EB_WHOLE, NULL},
                                              {"residuals/rounds", "1", EB_WHOLE, NULL},
                                              {"residuals/round_offsets", "1", EB_WHOLE, NULL}};

struct eb_recorder {
  char *path;
  hid_t file, run;
  bool has_tables;
  int64_t residuals, rounds; /* total so far */
  char norm[128];
  int32_t nodes;   /* of the mesh that frames are stored on */
  int32_t *parent; /* nodes: as eb_scene_final_mesh has it; NULL when nothing is cut */
  const eb_scene *scene;
  eb_table columns[COLUMNS];
  eb_frame_writer frames;
  eb_checkpoint_writer checkpoints;
};

static eb_error open_tables(eb_recorder *recorder) {
  static const char *const groups[] = {"setup",    "steps",     "phases",
                                       "counters", "residuals", "frames"};
  static const hsize_t rows_per_chunk = 256;
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    hid_t group;
    EB_TRY(eb_h5_group(recorder->run, groups[i], &group));
    H5Gclose(group);
  }
  for (int i = 0; i < COLUMNS; i++) {
    char path[64];
    eb_dataset column;
    if (i < EB_STEP_TABLES) {
      eb_step_table info = eb_results_table_info(i);
      bool whole = i < EB_COL_COUNT && eb_columns[i].whole;
      snprintf(path, sizeof path, "%s/%s", info.group, info.name);
      column = (eb_dataset){path, info.unit, whole ? EB_WHOLE : EB_REAL, NULL};
    } else {
      column = residual_columns[i - EB_STEP_TABLES];
    }
    EB_TRY(eb_table_open(recorder->run, &column, (eb_h5_shape){0}, rows_per_chunk,
                         &recorder->columns[i]));
  }
  return EB_OK;
}

static eb_error add_number(eb_recorder *recorder, int at, double value) {
  return eb_table_add(&recorder->columns[at], &value, 1);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* The scene with the mesh that frames are stored on. */
static eb_error write_scene(eb_recorder *recorder, const eb_run *run, const eb_scene *scene) {
  eb_mesh *cut = NULL;
  eb_surface *surface = NULL;
  hid_t scenes;
  EB_TRY(eb_h5_group(recorder->file, "scenes", &scenes));
  eb_error error = EB_OK;
  if (scene->cut_count > 0) {
    error = eb_scene_final_mesh(scene, &cut, &recorder->parent);
    if (!error) error = eb_mesh_surface(cut, &surface);
  }
  if (!error) {
    const eb_mesh *mesh = cut ? cut : scene->mesh;
    recorder->nodes = mesh->node_count;
    error = eb_scene_write(scenes, run, scene, mesh, surface ? surface : scene->surface,
                           recorder->parent);
  }
  eb_surface_destroy(surface);
  eb_mesh_destroy(cut);
  H5Gclose(scenes);
  return error;
}

/* The group of the run, with its attributes and their units: attributes have no attributes of their
 * own in HDF5, so these are attributes of the group `units`, by the same names. */
static eb_error create_run(eb_recorder *recorder, const eb_run *run) {
  hid_t group;
  EB_TRY(eb_h5_group(recorder->file, "runs", &group));
  eb_error error = eb_h5_group(group, run->id, &recorder->run);
  H5Gclose(group);
  EB_TRY(error);
  EB_TRY(eb_run_write(recorder->run, run));
  EB_TRY(eb_h5_group(recorder->run, "units", &group));
  for (const eb_field *field = eb_run_fields; field->name && !error; field++)
    if (field->type != EB_FIELD_TEXT) error = eb_h5_put_text(group, field->name, field->unit);
  H5Gclose(group);
  return error;
}

static eb_error fill(eb_recorder *recorder, hid_t environment, const eb_run *run,
                     const eb_scene *scene) {
  EB_TRY(eb_schema_write(recorder->file));
  if (environment >= 0 &&
      H5Ocopy(environment, ".", recorder->file, "environment", H5P_DEFAULT, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot copy", "environment");
  hid_t scenes;
  EB_TRY(eb_h5_group(recorder->file, "scenes", &scenes));
  H5Gclose(scenes);
  EB_TRY(create_run(recorder, run));
  if (!scene) return EB_OK;
  EB_TRY(write_scene(recorder, run, scene));
  bool wide = run->frames && strcmp(run->frames, eb_frames_name(EB_FRAMES_ALL)) == 0;
  recorder->has_tables = true;
  recorder->scene = scene;
  EB_TRY(open_tables(recorder));
  EB_TRY(eb_frame_writer_open(recorder->run, scene, recorder->nodes, recorder->parent, wide,
                              &recorder->frames));
  EB_TRY(add_number(recorder, OFFSETS, 0));
  EB_TRY(add_number(recorder, ROUND_OFFSETS, 0));
  return eb_recorder_commit(recorder);
}

eb_error eb_recorder_create(const char *path, hid_t environment, const eb_run *run,
                            const eb_scene *scene, eb_recorder **out) {
  eb_recorder *recorder;
  *out = NULL;
  EB_TRY(EB_NEW(recorder, 1));
  recorder->file = recorder->run = -1;
  eb_tables_start(recorder->columns, COLUMNS);
  eb_tables_start(recorder->frames.tables, EB_FRAME_TABLES);
  eb_tables_start(recorder->checkpoints.tables, EB_CHECKPOINT_TABLES);
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

static eb_error put_setup(hid_t setup, const eb_step_log *log) {
  hid_t group;
  const eb_tree_log *tree = &log->tree;
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    EB_TRY(eb_scalar_put(setup, eb_phase_name((eb_phase)i), "s", log->phase_seconds[i]));
  for (int i = 0; i < EB_COUNTERS; i++)
    EB_TRY(eb_scalar_put(setup, eb_counter_name((eb_counter)i), "1", log->counters[i]));
  for (int i = 0; i < EB_MEMORY_KINDS; i++) {
    if (!(log->memory_bytes[i] > 0)) continue;
    EB_TRY(eb_h5_group(setup, "memory", &group));
    eb_error error =
        eb_scalar_put(group, eb_memory_name((eb_memory_kind)i), "byte", log->memory_bytes[i]);
    H5Gclose(group);
    EB_TRY(error);
  }
  if (tree->count == 0) return EB_OK;
  size_t rows = (size_t)tree->count;
  EB_TRY(eb_h5_group(setup, "supernodes", &group));
  eb_error error = eb_rows_put(group, "parent", EB_INDEX, rows, 1, "1", tree->parent);
  if (!error) error = eb_rows_put(group, "pivots", EB_INDEX, rows, 1, "1", tree->pivots);
  if (!error) error = eb_rows_put(group, "rows", EB_INDEX, rows, 1, "1", tree->rows);
  if (!error) error = eb_rows_put(group, "flops", EB_REAL, rows, 1, "flop", tree->flops);
  H5Gclose(group);
  return error;
}

eb_error eb_recorder_setup(eb_recorder *recorder, const eb_step_log *log) {
  hid_t group;
  EB_TRY(eb_h5_group(recorder->run, "setup", &group));
  eb_error error = put_setup(group, log);
  H5Gclose(group);
  return error;
}

eb_error eb_recorder_step(eb_recorder *recorder, const double row[EB_COL_COUNT],
                          const eb_step_log *log) {
  int at = 0;
  for (int i = 0; i < EB_COL_COUNT; i++) EB_TRY(add_number(recorder, at++, row[i]));
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    EB_TRY(add_number(recorder, at++, log->phase_seconds[i]));
  for (int i = 0; i < EB_COUNTERS; i++) EB_TRY(add_number(recorder, at++, log->counters[i]));
  int64_t kept =
      log->residual_count < log->residual_capacity ? log->residual_count : log->residual_capacity;
  EB_TRY(eb_table_add(&recorder->columns[RESIDUALS], log->residuals, (size_t)kept));
  EB_TRY(eb_table_add(&recorder->columns[RESIDUAL_SECONDS], log->residual_seconds, (size_t)kept));
  recorder->residuals += kept;
  for (int r = 0; r < log->round_count; r++)
    EB_TRY(add_number(recorder, ROUNDS, (double)log->rounds[r]));
  recorder->rounds += log->round_count;
  EB_TRY(add_number(recorder, ROUND_OFFSETS, (double)recorder->rounds));
  if (log->residual_norm) snprintf(recorder->norm, sizeof recorder->norm, "%s", log->residual_norm);
  return add_number(recorder, OFFSETS, (double)recorder->residuals);
}

/* Frames of all steps of a large scene would fill the memory between two commits. */
static eb_error commit_when_large(eb_recorder *recorder) {
  static const size_t most = 16 << 20; /* bytes */
  size_t waiting = eb_tables_waiting(recorder->frames.tables, EB_FRAME_TABLES) +
                   eb_tables_waiting(recorder->checkpoints.tables, EB_CHECKPOINT_TABLES);
  return waiting > most ? eb_recorder_commit(recorder) : EB_OK;
}

eb_error eb_recorder_frame(eb_recorder *recorder, const eb_frame *frame) {
  EB_TRY(eb_frame_writer_add(&recorder->frames, frame));
  return commit_when_large(recorder);
}

eb_error eb_recorder_checkpoint(eb_recorder *recorder, const eb_state *state, double began) {
  if (!recorder->checkpoints.vectors)
    EB_TRY(eb_checkpoint_writer_open(recorder->run, recorder->scene, recorder->nodes,
                                     &recorder->checkpoints));
  EB_TRY(eb_checkpoint_writer_add(&recorder->checkpoints, state, began));
  return commit_when_large(recorder);
}

hid_t eb_recorder_run(const eb_recorder *recorder) {
  return recorder->run;
}

eb_error eb_recorder_commit(eb_recorder *recorder) {
  EB_TRY(eb_tables_commit(recorder->columns, COLUMNS));
  if (recorder->has_tables) EB_TRY(eb_frame_writer_commit(&recorder->frames));
  EB_TRY(eb_tables_commit(recorder->checkpoints.tables, EB_CHECKPOINT_TABLES));
  if (H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) < 0)
    return eb_h5_error("cannot write", recorder->path);
  return EB_OK;
}

/* Closes every object first, so that closing the file writes all of it. */
static void close_objects(eb_recorder *recorder) {
  eb_tables_close(recorder->columns, COLUMNS);
  eb_tables_close(recorder->frames.tables, EB_FRAME_TABLES);
  eb_tables_close(recorder->checkpoints.tables, EB_CHECKPOINT_TABLES);
  if (recorder->run >= 0) H5Gclose(recorder->run);
  recorder->run = -1;
}

eb_error eb_recorder_finish(eb_recorder *recorder, const eb_run *run) {
  EB_TRY(eb_run_write(recorder->run, run));
  if (recorder->has_tables) {
    hid_t group;
    EB_TRY(eb_h5_group(recorder->run, "residuals", &group));
    eb_error error = eb_h5_put_text(group, "norm", recorder->norm);
    H5Gclose(group);
    EB_TRY(error);
  }
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
  eb_tables_clear(recorder->columns, COLUMNS);
  eb_frame_writer_clear(&recorder->frames);
  eb_checkpoint_writer_clear(&recorder->checkpoints);
  free(recorder->parent);
  free(recorder->path);
  free(recorder);
}
