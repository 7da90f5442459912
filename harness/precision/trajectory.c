/* Motions at a few times, and how far apart they are. */
#include "harness/precision/trajectory.h"

#include <math.h>
#include <string.h>

#include "harness/results/checkpoints.h"
#include "problems/base/memory.h"

static eb_error read_states(const eb_checkpoints *states, int64_t stride, eb_state *state,
                            eb_trajectory *out) {
  size_t size = 3 * (size_t)out->nodes;
  for (int k = 0; k < out->times; k++) {
    int64_t row = eb_checkpoints_find(states, (k + 1) * stride);
    if (row < 0)
      return eb_results_locate(states->results, states->run,
                               EB_ERROR(EB_ERR_FORMAT, "there is no checkpoint of step %lld",
                                        (long long)((k + 1) * stride)));
    EB_TRY(eb_checkpoints_read(states, (size_t)row, state));
    memcpy(out->x + (size_t)k * size, state->x, size * sizeof *out->x);
    memcpy(out->v + (size_t)k * size, state->v, size * sizeof *out->v);
  }
  return EB_OK;
}

eb_error eb_trajectory_read(const eb_results *results, int run, const eb_scene *scene,
                            int64_t stride, int times, eb_trajectory *out) {
  eb_state *state = NULL;
  eb_checkpoints states;
  *out = (eb_trajectory){.times = times, .nodes = scene->mesh->node_count};
  size_t size = 3 * (size_t)out->nodes * (size_t)times;
  EB_TRY(eb_checkpoints_open(results, run, &states));
  eb_error error = eb_state_create(scene, &state);
  if (!error) error = EB_NEW(out->x, size);
  if (!error) error = EB_NEW(out->v, size);
  if (!error) error = read_states(&states, stride, state, out);
  eb_state_destroy(state);
  eb_checkpoints_close(&states);
  return error;
}

void eb_trajectory_clear(eb_trajectory *trajectory) {
  free(trajectory->x);
  free(trajectory->v);
  *trajectory = (eb_trajectory){0};
}

double eb_motion_distance(const void *measure, const double *a, const double *b) {
  const eb_measure *m = measure;
  double most = 0;
  for (int k = 0; k < m->times; k++) {
    double sum = 0, mass = 0;
    for (int32_t i = 0; i < m->nodes; i++, a += 3, b += 3) {
      double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
      sum += m->mass[i] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      mass += m->mass[i];
    }
    double distance = sqrt(sum / mass);
    if (!(distance <= most)) most = distance; /* keeps what is not a number */
  }
  return most;
}
