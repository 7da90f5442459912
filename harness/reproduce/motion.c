#include "harness/reproduce/motion.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/checkpoints.h"
#include "problems/base/memory.h"
#include "problems/elasticity/svd3.h"

/* ---- reading --------------------------------------------------------------------------------- */

eb_error eb_motion_rest_box(const eb_evidence *e, int case_, double size[3]) {
  eb_mesh *mesh;
  double lo[3], hi[3];
  EB_TRY(eb_results_mesh(e->results, e->cases[case_].run, &mesh));
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) size[d] = hi[d] - lo[d];
  eb_mesh_destroy(mesh);
  return EB_OK;
}

eb_error eb_motion_diagonal(const eb_evidence *e, int case_, double *out) {
  double size[3];
  EB_TRY(eb_motion_rest_box(e, case_, size));
  *out = sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
  return EB_OK;
}

eb_error eb_motion_frame(const eb_evidence *e, int case_, size_t frame, double **out) {
  float *x;
  size_t size = 3 * (size_t)eb_evidence_run(e, case_)->nodes;
  *out = NULL;
  EB_TRY(eb_results_frame(e->results, e->cases[case_].run, frame, &x));
  eb_error error = EB_NEW(*out, size);
  for (size_t i = 0; i < size && !error; i++) (*out)[i] = (double)x[i];
  free(x);
  return error;
}

/* The step that a stored frame shows. */
static eb_error step_of(const eb_evidence *e, int case_, size_t frame, int64_t *out) {
  double *steps;
  size_t count;
  EB_TRY(eb_results_column(e->results, e->cases[case_].run, "frames/step", &steps, &count));
  *out = frame < count ? (int64_t)steps[frame] : -1;
  free(steps);
  return EB_OK;
}

/* What a frame shows as the checkpoint of that step has it; NULL without one, or where its mesh is
 * yet to be cut. */
static eb_error read_checkpoint(const eb_evidence *e, int case_, size_t frame, double **out) {
  eb_checkpoints states;
  int64_t step, row = -1;
  *out = NULL;
  EB_TRY(eb_checkpoints_open(e->results, e->cases[case_].run, &states));
  eb_error error = states.count ? step_of(e, case_, frame, &step) : EB_OK;
  if (!error && states.count) row = eb_checkpoints_find(&states, step);
  if (!error && row >= 0 && states.nodes[row] == (double)eb_evidence_run(e, case_)->nodes)
    error = eb_checkpoints_positions(&states, (size_t)row, out);
  eb_checkpoints_close(&states);
  return error;
}

eb_error eb_motion_frames(const eb_evidence *e, const int cases[2], const size_t frames[2],
                          double *x[2]) {
  x[1] = NULL;
  EB_TRY(read_checkpoint(e, cases[0], frames[0], &x[0]));
  eb_error error = x[0] ? read_checkpoint(e, cases[1], frames[1], &x[1]) : EB_OK;
  if (!error && x[1]) return EB_OK;
  free(x[0]);
  x[0] = NULL;
  for (int k = 0; k < 2 && !error; k++) error = eb_motion_frame(e, cases[k], frames[k], &x[k]);
  if (error) free(x[0]);
  if (error) x[0] = NULL;
  return error;
}

/* ---- distances ------------------------------------------------------------------------------- */

void eb_distance_of(const double *x, const double *y, int64_t nodes, double length,
                    eb_distance *out) {
  double sum = 0, most = 0;
  for (int64_t i = 0; i < nodes; i++) {
    double square = 0;
    for (int d = 0; d < 3; d++) square += pow(x[3 * i + d] - y[3 * i + d], 2);
    sum += square;
    if (!(square <= most)) most = square; /* keeps what is not a number */
  }
  *out = (eb_distance){.rms = sqrt(sum / (double)nodes) / length, .max = sqrt(most) / length};
}

static eb_error compare_frames(const eb_evidence *e, int a, int b, size_t frame, double length,
                               eb_distance *out) {
  double *x[2];
  EB_TRY(eb_motion_frames(e, (const int[]){a, b}, (const size_t[]){frame, frame}, x));
  eb_distance_of(x[0], x[1], eb_evidence_run(e, a)->nodes, length, out);
  free(x[0]);
  free(x[1]);
  return EB_OK;
}

/* ---- bounces --------------------------------------------------------------------------------- */

/* The first step without contact after one with; `steps` when there is none. */
static size_t contact_end(const double *contacts, size_t steps) {
  size_t s = 0;
  while (s < steps && !(contacts[s] > 0)) s++;
  while (s < steps && contacts[s] > 0) s++;
  return s;
}

static void follow_bounce(const double *contacts, const double *momentum, size_t steps,
                          double *restitution, double *flight) {
  double down = 0, up = 0, free_steps = 0;
  size_t s = 0;
  for (; s < steps && !(contacts[s] > 0); s++) down = fmax(down, -momentum[s]);
  bool touched = s < steps;
  if (touched) down = fmax(down, -momentum[s]);
  for (; s < steps; s++) {
    up = fmax(up, momentum[s]);
    free_steps += !(contacts[s] > 0);
  }
  if (restitution) *restitution = touched ? up / down : NAN;
  if (flight) *flight = touched ? free_steps : NAN;
}

eb_error eb_motion_bounce(const eb_evidence *e, int case_, double *restitution, double *flight,
                          eb_bounce_end *end) {
  enum { CONTACTS, MOMENTUM, TIME, COLUMNS };
  static const eb_column columns[COLUMNS] = {EB_COL_CONTACTS, EB_COL_MOMENTUM_Z, EB_COL_TIME};
  double *values[COLUMNS] = {0};
  size_t steps = 0;
  eb_error error = EB_OK;
  for (int c = 0; c < COLUMNS && !error; c++)
    error = eb_results_steps(e->results, e->cases[case_].run, columns[c], &values[c], &steps);
  if (!error) follow_bounce(values[CONTACTS], values[MOMENTUM], steps, restitution, flight);
  if (!error && end) {
    size_t ends = contact_end(values[CONTACTS], steps);
    end->ended = ends < steps;
    end->time = steps ? values[TIME][end->ended ? ends : steps - 1] : NAN;
  }
  for (int c = 0; c < COLUMNS; c++) free(values[c]);
  return error;
}

/* ---- two runs -------------------------------------------------------------------------------- */

static eb_error common_frames(const eb_evidence *e, int a, int b, size_t *out) {
  size_t frames[2];
  EB_TRY(eb_results_frame_count(e->results, e->cases[a].run, &frames[0]));
  EB_TRY(eb_results_frame_count(e->results, e->cases[b].run, &frames[1]));
  *out = frames[0] < frames[1] ? frames[0] : frames[1];
  return EB_OK;
}

static eb_error same_scene(const eb_evidence *e, int a, int b) {
  if (strcmp(eb_evidence_run(e, a)->scene_hash, eb_evidence_run(e, b)->scene_hash) == 0)
    return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "'%s' and '%s' are not runs of one scene",
                  e->paper->cases[a].name, e->paper->cases[b].name);
}

/* The larger of two, or what is not a number. */
static double larger(double a, double b) {
  return a >= b || isnan(a) ? a : b;
}

eb_error eb_motion_distances(const eb_evidence *e, int a, int b, double **distance, double **time,
                             size_t *count) {
  double length;
  size_t stored;
  *distance = *time = NULL;
  EB_TRY(same_scene(e, a, b));
  EB_TRY(eb_motion_diagonal(e, a, &length));
  EB_TRY(common_frames(e, a, b, count));
  EB_TRY(eb_results_column(e->results, e->cases[a].run, "frames/time", time, &stored));
  EB_TRY(EB_NEW(*distance, *count));
  for (size_t f = 0; f < *count; f++) {
    eb_distance here;
    EB_TRY(compare_frames(e, a, b, f, length, &here));
    (*distance)[f] = here.rms;
  }
  return EB_OK;
}

/* Distances of a run from `against` and of `against` from its first frame, in one frame. */
static eb_error compare_ways(const eb_evidence *e, int of, int against, const double *start,
                             size_t frame, double *apart, double *way) {
  double *x[2];
  eb_distance both, alone;
  int64_t nodes = eb_evidence_run(e, of)->nodes;
  EB_TRY(eb_motion_frames(e, (const int[]){of, against}, (const size_t[]){frame, frame}, x));
  eb_distance_of(x[0], x[1], nodes, 1, &both);
  eb_distance_of(x[1], start, nodes, 1, &alone);
  *apart = larger(both.rms, *apart);
  *way = larger(alone.rms, *way);
  free(x[0]);
  free(x[1]);
  return EB_OK;
}

eb_error eb_motion_error(const eb_evidence *e, int of, int against, double *out) {
  size_t frames;
  double *start, apart = 0, way = 0;
  *out = NAN;
  EB_TRY(same_scene(e, of, against));
  EB_TRY(common_frames(e, of, against, &frames));
  if (frames == 0) return EB_OK;
  EB_TRY(eb_motion_frame(e, against, 0, &start));
  eb_error error = EB_OK;
  for (size_t f = 1; f < frames && !error; f++)
    error = compare_ways(e, of, against, start, f, &apart, &way);
  free(start);
  *out = way > 0 ? apart / way : NAN;
  return error;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void centre_of(const double *x, int64_t count, double out[3]) {
  for (int d = 0; d < 3; d++) {
    out[d] = 0;
    for (int64_t i = 0; i < count; i++) out[d] += x[3 * i + d] / (double)count;
  }
}

/* The rotation nearest to S = sum (y - cy) (x - cx)^T: it takes x onto y best. */
static void best_rotation(const double *x, const double *y, int64_t count, const double cx[3],
                          const double cy[3], double out[9]) {
  double S[9] = {0};
  for (int64_t i = 0; i < count; i++)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) S[3 * r + c] += (y[3 * i + r] - cy[r]) * (x[3 * i + c] - cx[c]);
  eb_v4 F[9], R[9];
  for (int k = 0; k < 9; k++) F[k] = (eb_v4){S[k], S[k], S[k], S[k]};
  eb_polar3(F, R);
  for (int k = 0; k < 9; k++) out[k] = R[k][0];
}

void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out) {
  double cx[3], cy[3], R[9], sum = 0, most = 0;
  centre_of(x, count, cx);
  centre_of(y, count, cy);
  best_rotation(x, y, count, cx, cy, R);
  for (int64_t i = 0; i < count; i++) {
    double square = 0;
    for (int r = 0; r < 3; r++) {
      double moved = cy[r];
      for (int c = 0; c < 3; c++) moved += R[3 * r + c] * (x[3 * i + c] - cx[c]);
      square += pow(moved - y[3 * i + r], 2);
    }
    sum += square;
    if (!(square <= most)) most = square;
  }
  *out = (eb_distance){.rms = sqrt(sum / (double)count) / length, .max = sqrt(most) / length};
}

static eb_error last_frame(const eb_evidence *e, int case_, size_t *out) {
  EB_TRY(eb_results_frame_count(e->results, e->cases[case_].run, out));
  if (*out == 0)
    return EB_ERROR(EB_ERR_INVALID, "'%s' stored no frames", e->paper->cases[case_].name);
  --*out;
  return EB_OK;
}

eb_error eb_motion_last(const eb_evidence *e, int case_, double **out) {
  size_t frame;
  EB_TRY(last_frame(e, case_, &frame));
  return eb_motion_frame(e, case_, frame, out);
}

eb_error eb_motion_ends(const eb_evidence *e, int a, int b, double *x[2]) {
  size_t frames[2];
  EB_TRY(last_frame(e, a, &frames[0]));
  EB_TRY(last_frame(e, b, &frames[1]));
  return eb_motion_frames(e, (const int[]){a, b}, frames, x);
}

static eb_error rest_shape(const eb_evidence *e, int case_, double **out) {
  eb_mesh *mesh;
  EB_TRY(eb_results_mesh(e->results, e->cases[case_].run, &mesh));
  eb_error error = EB_NEW(*out, 3 * (size_t)mesh->node_count);
  if (!error) memcpy(*out, mesh->X, 3 * (size_t)mesh->node_count * sizeof **out);
  eb_mesh_destroy(mesh);
  return error;
}

eb_error eb_motion_same_nodes(const eb_evidence *e, int a, int b) {
  if (eb_evidence_run(e, a)->nodes == eb_evidence_run(e, b)->nodes) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "'%s' and '%s' do not have the same nodes",
                  e->paper->cases[a].name, e->paper->cases[b].name);
}

eb_error eb_motion_shape(const eb_evidence *e, int case_, int other, double *out) {
  eb_distance distance;
  double *x[2] = {NULL, NULL}, length;
  if (other >= 0) EB_TRY(eb_motion_same_nodes(e, case_, other));
  EB_TRY(eb_motion_diagonal(e, case_, &length));
  eb_error error = other < 0 ? rest_shape(e, case_, &x[1]) : eb_motion_ends(e, case_, other, x);
  if (!error && other < 0) error = eb_motion_last(e, case_, &x[0]);
  if (!error) {
    eb_rigid_distance(x[0], x[1], eb_evidence_run(e, case_)->nodes, length, &distance);
    *out = distance.max;
  }
  free(x[0]);
  free(x[1]);
  return error;
}
