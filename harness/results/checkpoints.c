#include "harness/results/checkpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/table.h"
#include "problems/base/memory.h"

enum {
  STEP_AT,
  TIME_AT,
  BEGAN_AT,
  NODES_AT,
  POSITIONS_AT,
  VELOCITIES_AT,
  ANGLES_AT,
  RATES_AT,
  POSES_AT,
  TWISTS_AT,
  TABLES
};

/* A dataset of the group. */
typedef struct column {
  const char *name, *unit, *meaning;
  bool whole;
} column;
static const column columns[TABLES] = {
    [STEP_AT] = {"checkpoints/step", "1", "the state is that after this step; 0: before any", true},
    [TIME_AT] = {"checkpoints/time", "s", "simulated time of the state", false},
    [BEGAN_AT] = {"checkpoints/began", "s", "when the step began that ended there", false},
    [NODES_AT] = {"checkpoints/node_count", "1", "nodes of the mesh there; rows behind are 0",
                  true},
    [POSITIONS_AT] = {"checkpoints/positions", "m", "of the nodes", false},
    [VELOCITIES_AT] = {"checkpoints/velocities", "m/s", "of the nodes", false},
    [ANGLES_AT] = {"checkpoints/angles", "rad", "of the joints", false},
    [RATES_AT] = {"checkpoints/rates", "rad/s", "of the joints", false},
    [POSES_AT] = {"checkpoints/body_pose", "m, 1", "as frames/body_pose", false},
    [TWISTS_AT] = {"checkpoints/body_twist", "m/s, rad/s", "as frames/body_twist", false}};

/* ---- writing --------------------------------------------------------------------------------- */

struct eb_checkpoint_writer {
  hid_t run;
  int32_t nodes;
  double *vectors; /* nodes x 3 */
  eb_table tables[TABLES];
};

static eb_error open_table(eb_checkpoint_writer *writer, int at, eb_h5_shape row) {
  static const hsize_t of_numbers = 256;
  const column *c = &columns[at];
  eb_table *table = &writer->tables[at];
  EB_TRY(eb_table_open(writer->run, c->name, c->whole ? H5T_STD_I64LE : H5T_IEEE_F64LE,
                       H5T_NATIVE_DOUBLE, row, row.rank ? 1 : of_numbers, c->unit, table));
  return eb_h5_put_text(table->set, "meaning", c->meaning);
}

static eb_error open_tables(eb_checkpoint_writer *writer, const eb_scene *scene) {
  hid_t group;
  const eb_h5_shape single = {0}, nodes = {2, {(hsize_t)writer->nodes, 3}};
  EB_TRY(eb_h5_group(writer->run, "checkpoints", &group));
  H5Gclose(group);
  for (int at = STEP_AT; at <= NODES_AT; at++) EB_TRY(open_table(writer, at, single));
  EB_TRY(open_table(writer, POSITIONS_AT, nodes));
  EB_TRY(open_table(writer, VELOCITIES_AT, nodes));
  if (scene->articulation) {
    eb_h5_shape joints = {1, {(hsize_t)eb_articulation_joints(scene->articulation)}};
    EB_TRY(open_table(writer, ANGLES_AT, joints));
    EB_TRY(open_table(writer, RATES_AT, joints));
  }
  if (!scene->free_bodies) return EB_OK;
  hsize_t bodies = (hsize_t)scene->free_bodies->count;
  EB_TRY(open_table(writer, POSES_AT, (eb_h5_shape){2, {bodies, 7}}));
  return open_table(writer, TWISTS_AT, (eb_h5_shape){2, {bodies, 6}});
}

eb_error eb_checkpoint_writer_create(hid_t run, const eb_scene *scene, int32_t nodes,
                                     eb_checkpoint_writer **out) {
  eb_checkpoint_writer *writer;
  *out = NULL;
  EB_TRY(EB_NEW(writer, 1));
  writer->run = run;
  writer->nodes = nodes;
  for (int i = 0; i < TABLES; i++) writer->tables[i].set = -1;
  eb_error error = EB_NEW(writer->vectors, 3 * (size_t)nodes);
  if (!error) error = open_tables(writer, scene);
  if (error)
    eb_checkpoint_writer_destroy(writer);
  else
    *out = writer;
  return error;
}

void eb_checkpoint_writer_close(eb_checkpoint_writer *writer) {
  for (int i = 0; i < TABLES; i++) eb_table_close(&writer->tables[i]);
}

void eb_checkpoint_writer_destroy(eb_checkpoint_writer *writer) {
  if (!writer) return;
  eb_checkpoint_writer_close(writer);
  for (int i = 0; i < TABLES; i++) free(writer->tables[i].data);
  free(writer->vectors);
  free(writer);
}

static eb_error add_number(eb_checkpoint_writer *writer, int at, double value) {
  return eb_table_add(&writer->tables[at], &value, 1);
}

static eb_error add_vectors(eb_checkpoint_writer *writer, int at, const double *values,
                            int32_t count) {
  size_t used = 3 * (size_t)count, all = 3 * (size_t)writer->nodes;
  memcpy(writer->vectors, values, used * sizeof *values);
  memset(writer->vectors + used, 0, (all - used) * sizeof *values);
  return eb_table_add(&writer->tables[at], writer->vectors, 1);
}

static eb_error add_row(eb_checkpoint_writer *writer, int at, const double *values) {
  return writer->tables[at].set < 0 ? EB_OK : eb_table_add(&writer->tables[at], values, 1);
}

eb_error eb_checkpoint_writer_add(eb_checkpoint_writer *writer, const eb_state *state,
                                  double began) {
  EB_TRY(add_number(writer, STEP_AT, (double)state->step));
  EB_TRY(add_number(writer, TIME_AT, state->time));
  EB_TRY(add_number(writer, BEGAN_AT, began));
  EB_TRY(add_number(writer, NODES_AT, state->node_count));
  EB_TRY(add_vectors(writer, POSITIONS_AT, state->x, state->node_count));
  EB_TRY(add_vectors(writer, VELOCITIES_AT, state->v, state->node_count));
  EB_TRY(add_row(writer, ANGLES_AT, state->q));
  EB_TRY(add_row(writer, RATES_AT, state->u));
  EB_TRY(add_row(writer, POSES_AT, state->pose));
  return add_row(writer, TWISTS_AT, state->twist);
}

size_t eb_checkpoint_writer_waiting(const eb_checkpoint_writer *writer) {
  size_t bytes = 0;
  for (int i = 0; i < TABLES; i++) bytes += writer->tables[i].rows * writer->tables[i].width;
  return bytes;
}

eb_error eb_checkpoint_writer_commit(eb_checkpoint_writer *writer) {
  for (int i = 0; i < TABLES; i++)
    if (writer->tables[i].set >= 0) EB_TRY(eb_table_commit(&writer->tables[i]));
  return EB_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static eb_error read_numbers(const eb_checkpoints *c, int at, double **out, size_t *count) {
  return eb_results_column(c->results, c->run, columns[at].name, out, count);
}

static void path_of(const eb_checkpoints *c, const char *name, char *out, size_t bytes) {
  snprintf(out, bytes, "/runs/%s/%s", eb_results_run(c->results, c->run)->id, name);
}

eb_error eb_checkpoints_open(const eb_results *results, int run, eb_checkpoints *out) {
  char path[400];
  size_t steps, times, counts;
  *out = (eb_checkpoints){.results = results, .run = run};
  path_of(out, columns[STEP_AT].name, path, sizeof path);
  if (!eb_h5_exists(eb_results_file(results), path)) return EB_OK;
  eb_error error = read_numbers(out, STEP_AT, &out->step, &steps);
  if (!error) error = read_numbers(out, BEGAN_AT, &out->began, &times);
  if (!error) error = read_numbers(out, NODES_AT, &out->nodes, &counts);
  if (!error && (times != steps || counts != steps))
    error = eb_results_locate(
        results, run, EB_ERROR(EB_ERR_FORMAT, "the tables of checkpoints differ in length"));
  if (error)
    eb_checkpoints_close(out);
  else
    out->count = steps;
  return error;
}

void eb_checkpoints_close(eb_checkpoints *checkpoints) {
  free(checkpoints->step);
  free(checkpoints->began);
  free(checkpoints->nodes);
  *checkpoints = (eb_checkpoints){0};
}

int64_t eb_checkpoints_find(const eb_checkpoints *checkpoints, int64_t step) {
  for (size_t i = 0; i < checkpoints->count; i++)
    if (checkpoints->step[i] == (double)step) return (int64_t)i;
  return -1;
}

/* The first `count` numbers of a row; nothing is read where none are wanted. */
static eb_error read_values(const eb_checkpoints *c, int at, size_t row, eb_h5_shape shape,
                            size_t count, double *values) {
  char path[400];
  void *data = NULL;
  if (count == 0) return EB_OK;
  path_of(c, columns[at].name, path, sizeof path);
  hid_t set = H5Dopen2(eb_results_file(c->results), path, H5P_DEFAULT);
  if (set < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_h5_get_row(set, columns[at].name, row, H5T_NATIVE_DOUBLE, shape, &data);
  H5Dclose(set);
  if (!error) memcpy(values, data, count * sizeof *values);
  free(data);
  return error;
}

static eb_error read_state(const eb_checkpoints *c, size_t row, eb_state *state) {
  double time[1];
  size_t nodes = 3 * (size_t)state->node_count, joints = (size_t)state->joint_count,
         bodies = (size_t)state->body_count;
  const eb_h5_shape over_nodes = {2, {(hsize_t)eb_results_run(c->results, c->run)->nodes, 3}},
                    over_joints = {1, {(hsize_t)joints}}, poses = {2, {(hsize_t)bodies, 7}},
                    twists = {2, {(hsize_t)bodies, 6}}, single = {0};
  if ((double)state->node_count != c->nodes[row] || state->node_count > (int32_t)over_nodes.size[0])
    return EB_ERROR(EB_ERR_FORMAT, "a checkpoint has %.0f nodes where the mesh has %d",
                    c->nodes[row], state->node_count);
  EB_TRY(read_values(c, TIME_AT, row, single, 1, time));
  EB_TRY(read_values(c, POSITIONS_AT, row, over_nodes, nodes, state->x));
  EB_TRY(read_values(c, VELOCITIES_AT, row, over_nodes, nodes, state->v));
  EB_TRY(read_values(c, ANGLES_AT, row, over_joints, joints, state->q));
  EB_TRY(read_values(c, RATES_AT, row, over_joints, joints, state->u));
  EB_TRY(read_values(c, POSES_AT, row, poses, 7 * bodies, state->pose));
  EB_TRY(read_values(c, TWISTS_AT, row, twists, 6 * bodies, state->twist));
  state->time = time[0];
  state->step = (int64_t)c->step[row];
  return EB_OK;
}

eb_error eb_checkpoints_read(const eb_checkpoints *checkpoints, size_t row, eb_state *state) {
  return eb_results_locate(checkpoints->results, checkpoints->run,
                           read_state(checkpoints, row, state));
}

eb_error eb_checkpoints_positions(const eb_checkpoints *c, size_t row, double **out) {
  const eb_h5_shape over_nodes = {2, {(hsize_t)eb_results_run(c->results, c->run)->nodes, 3}};
  *out = NULL;
  if (!(c->nodes[row] >= 0) || c->nodes[row] > (double)over_nodes.size[0])
    return eb_results_locate(c->results, c->run,
                             EB_ERROR(EB_ERR_FORMAT,
                                      "a checkpoint has %.0f nodes where the mesh "
                                      "has %.0f",
                                      c->nodes[row], (double)over_nodes.size[0]));
  size_t count = 3 * (size_t)c->nodes[row];
  EB_TRY(EB_NEW(*out, count));
  eb_error error = read_values(c, POSITIONS_AT, row, over_nodes, count, *out);
  if (!error) return EB_OK;
  free(*out);
  *out = NULL;
  return eb_results_locate(c->results, c->run, error);
}
