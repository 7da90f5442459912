#include "harness/results/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

eb_error eb_checkpoints_open(const eb_results *results, int run, eb_checkpoints *out) {
  size_t steps, times, counts;
  *out = (eb_checkpoints){.results = results, .run = run};
  if (!eb_results_has(results, run, "checkpoints/step")) return EB_OK;
  eb_error error = eb_results_read(results, run, "checkpoints/step", &out->step, &steps);
  if (!error) error = eb_results_read(results, run, "checkpoints/began", &out->began, &times);
  if (!error) error = eb_results_read(results, run, "checkpoints/node_count", &out->nodes, &counts);
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
static eb_error read_values(const eb_checkpoints *c, const char *name, size_t row,
                            eb_h5_shape shape, size_t count, double *values) {
  void *data;
  if (count == 0) return EB_OK;
  EB_TRY(eb_results_frame_row(c->results, c->run, name, row, H5T_NATIVE_DOUBLE, shape, &data));
  memcpy(values, data, count * sizeof *values);
  free(data);
  return EB_OK;
}

static eb_error read_state(const eb_checkpoints *c, size_t row, eb_state *state) {
  int64_t stored = eb_results_run(c->results, c->run)->nodes;
  size_t nodes = (size_t)state->node_count, joints = (size_t)state->joint_count,
         bodies = (size_t)state->body_count;
  const hsize_t n = (hsize_t)stored;
  const struct {
    const char *name;
    eb_h5_shape row;
    size_t count;
    double *values;
  } parts[] = {{"checkpoints/time", {0}, 1, &state->time},
               {"checkpoints/positions", {2, {n, 3}}, 3 * nodes, state->x},
               {"checkpoints/velocities", {2, {n, 3}}, 3 * nodes, state->v},
               {"checkpoints/angles", {1, {joints}}, joints, state->q},
               {"checkpoints/rates", {1, {joints}}, joints, state->u},
               {"checkpoints/body_pose", {2, {bodies, 7}}, 7 * bodies, state->pose},
               {"checkpoints/body_twist", {2, {bodies, 6}}, 6 * bodies, state->twist}};
  if ((double)state->node_count != c->nodes[row] || state->node_count > stored)
    return EB_ERROR(EB_ERR_FORMAT, "a checkpoint has %.0f nodes where the mesh has %d",
                    c->nodes[row], state->node_count);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    EB_TRY(read_values(c, parts[i].name, row, parts[i].row, parts[i].count, parts[i].values));
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
  eb_error error = read_values(c, "checkpoints/positions", row,
                               (eb_h5_shape){2, {(hsize_t)stored, 3}}, count, *out);
  if (!error) return EB_OK;
  free(*out);
  *out = NULL;
  return eb_results_locate(c->results, c->run, error);
}
