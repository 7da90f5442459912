#include "harness/results/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

enum { STEP, TIME, BEGAN, NODES, POSITIONS, VELOCITIES, ANGLES, RATES, POSES, TWISTS, TABLES };
_Static_assert((int)TABLES == (int)EB_CHECKPOINT_TABLES, "the writer has room for every table");

static const eb_dataset datasets[TABLES] = {
    [STEP] = {"checkpoints/step", "1", EB_WHOLE,
              "the state is that after this step; 0: before any"},
    [TIME] = {"checkpoints/time", "s", EB_REAL, "simulated time of the state"},
    [BEGAN] = {"checkpoints/began", "s", EB_REAL, "when the step began that ended there"},
    [NODES] = {"checkpoints/node_count", "1", EB_WHOLE,
               "nodes of the mesh there; rows behind are 0"},
    [POSITIONS] = {"checkpoints/positions", "m", EB_REAL, "of the nodes"},
    [VELOCITIES] = {"checkpoints/velocities", "m/s", EB_REAL, "of the nodes"},
    [ANGLES] = {"checkpoints/angles", "rad", EB_REAL, "of the joints"},
    [RATES] = {"checkpoints/rates", "rad/s", EB_REAL, "of the joints"},
    [POSES] = {"checkpoints/body_pose", "m, 1", EB_REAL, "as frames/body_pose"},
    [TWISTS] = {"checkpoints/body_twist", "m/s, rad/s", EB_REAL, "as frames/body_twist"}};

/* The shape of a row of each, over so many nodes, joints and bodies. */
typedef struct shapes {
  eb_h5_shape of[TABLES];
} shapes;

static shapes shapes_of(int64_t nodes, int64_t joints, int64_t bodies) {
  const eb_h5_shape vectors = {2, {(hsize_t)nodes, 3}}, angles = {1, {(hsize_t)joints}};
  return (shapes){{[POSITIONS] = vectors,
                   [VELOCITIES] = vectors,
                   [ANGLES] = angles,
                   [RATES] = angles,
                   [POSES] = {2, {(hsize_t)bodies, 7}},
                   [TWISTS] = {2, {(hsize_t)bodies, 6}}}};
}

/* ---- writing --------------------------------------------------------------------------------- */

eb_error eb_checkpoint_writer_open(hid_t run, const eb_scene *scene, int32_t nodes,
                                   eb_checkpoint_writer *writer) {
  static const hsize_t of_numbers = 256;
  hid_t group;
  EB_TRY(EB_NEW(writer->vectors, 3 * (size_t)nodes));
  writer->nodes = nodes;
  EB_TRY(eb_h5_group(run, "checkpoints", &group));
  H5Gclose(group);
  shapes rows =
      shapes_of(nodes, scene->articulation ? eb_articulation_joints(scene->articulation) : 0,
                scene->free_bodies ? scene->free_bodies->count : 0);
  for (int at = 0; at < TABLES; at++) {
    bool there =
        at < ANGLES || (at < POSES ? scene->articulation != NULL : scene->free_bodies != NULL);
    if (there)
      EB_TRY(eb_table_open(run, &datasets[at], rows.of[at], rows.of[at].rank ? 1 : of_numbers,
                           &writer->tables[at]));
  }
  return EB_OK;
}

void eb_checkpoint_writer_clear(eb_checkpoint_writer *writer) {
  eb_tables_clear(writer->tables, TABLES);
  free(writer->vectors);
}

eb_error eb_checkpoint_writer_add(eb_checkpoint_writer *writer, const eb_state *state,
                                  double began) {
  double step = (double)state->step, nodes = state->node_count;
  const double *const rows[TABLES] = {
      [STEP] = &step,         [TIME] = &state->time,   [BEGAN] = &began,    [NODES] = &nodes,
      [POSITIONS] = state->x, [VELOCITIES] = state->v, [ANGLES] = state->q, [RATES] = state->u,
      [POSES] = state->pose,  [TWISTS] = state->twist};
  for (int at = 0; at < TABLES; at++) {
    const double *row = rows[at];
    if (writer->tables[at].set < 0) continue;
    if (at == POSITIONS || at == VELOCITIES) { /* of the nodes there are */
      size_t used = 3 * (size_t)state->node_count, all = 3 * (size_t)writer->nodes;
      memcpy(writer->vectors, row, used * sizeof *row);
      memset(writer->vectors + used, 0, (all - used) * sizeof *row);
      row = writer->vectors;
    }
    EB_TRY(eb_table_add(&writer->tables[at], row, 1));
  }
  return EB_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

eb_error eb_checkpoints_open(const eb_results *results, int run, eb_checkpoints *out) {
  size_t steps, times, counts;
  *out = (eb_checkpoints){.results = results, .run = run};
  if (!eb_results_has(results, run, datasets[STEP].name)) return EB_OK;
  eb_error error = eb_results_column(results, run, datasets[STEP].name, &out->step, &steps);
  if (!error) error = eb_results_column(results, run, datasets[BEGAN].name, &out->began, &times);
  if (!error) error = eb_results_column(results, run, datasets[NODES].name, &out->nodes, &counts);
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
  void *data;
  if (count == 0) return EB_OK;
  EB_TRY(eb_results_frame_row(c->results, c->run, datasets[at].name, row, H5T_NATIVE_DOUBLE, shape,
                              &data));
  memcpy(values, data, count * sizeof *values);
  free(data);
  return EB_OK;
}

static eb_error read_state(const eb_checkpoints *c, size_t row, eb_state *state) {
  int64_t stored = eb_results_run(c->results, c->run)->nodes;
  size_t nodes = (size_t)state->node_count, joints = (size_t)state->joint_count,
         bodies = (size_t)state->body_count;
  shapes rows = shapes_of(stored, state->joint_count, state->body_count);
  const struct {
    int at;
    size_t count;
    double *values;
  } parts[] = {{TIME, 1, &state->time},           {POSITIONS, 3 * nodes, state->x},
               {VELOCITIES, 3 * nodes, state->v}, {ANGLES, joints, state->q},
               {RATES, joints, state->u},         {POSES, 7 * bodies, state->pose},
               {TWISTS, 6 * bodies, state->twist}};
  if ((double)state->node_count != c->nodes[row] || state->node_count > stored)
    return EB_ERROR(EB_ERR_FORMAT, "a checkpoint has %.0f nodes where the mesh has %d",
                    c->nodes[row], state->node_count);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    EB_TRY(read_values(c, parts[i].at, row, rows.of[parts[i].at], parts[i].count, parts[i].values));
  state->step = (int64_t)c->step[row];
  return EB_OK;
}

eb_error eb_checkpoints_read(const eb_checkpoints *checkpoints, size_t row, eb_state *state) {
  return eb_results_locate(checkpoints->results, checkpoints->run,
                           read_state(checkpoints, row, state));
}

eb_error eb_checkpoints_positions(const eb_checkpoints *c, size_t row, double **out) {
  int64_t stored = eb_results_run(c->results, c->run)->nodes;
  *out = NULL;
  if (!(c->nodes[row] >= 0) || c->nodes[row] > (double)stored)
    return eb_results_locate(c->results, c->run,
                             EB_ERROR(EB_ERR_FORMAT,
                                      "a checkpoint has %.0f nodes where the mesh has %lld",
                                      c->nodes[row], (long long)stored));
  size_t count = 3 * (size_t)c->nodes[row];
  EB_TRY(EB_NEW(*out, count));
  eb_error error =
      read_values(c, POSITIONS, row, shapes_of(stored, 0, 0).of[POSITIONS], count, *out);
  if (!error) return EB_OK;
  free(*out);
  *out = NULL;
  return eb_results_locate(c->results, c->run, error);
}
