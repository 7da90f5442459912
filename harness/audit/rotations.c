#include "harness/audit/rotations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/reference.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

struct eb_rotations {
  int32_t elements;
  bool begun;                 /* `last` is where the step begins */
  double *last, *mean, *gain; /* elements x 9, elements x 9, elements: workspace the last two */
};

static const double degree = 57.295779513082320877;

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_rotations_create(const eb_audit *audit, eb_rotations **out) {
  eb_rotations *r;
  *out = NULL;
  EB_TRY(EB_NEW(r, 1));
  r->elements = audit->scene->mesh->element_count;
  r->begun = true;
  eb_error error = EB_NEW(r->last, 9 * (size_t)r->elements);
  if (!error) error = EB_NEW(r->mean, 9 * (size_t)r->elements);
  if (!error) error = EB_NEW(r->gain, r->elements);
  if (error) {
    eb_rotations_destroy(r);
    return error;
  }
  for (size_t k = 0; k < 9 * (size_t)r->elements; k++) r->last[k] = k % 9 % 4 == 0;
  *out = r;
  return EB_OK;
}

void eb_rotations_destroy(eb_rotations *r) {
  if (!r) return;
  free(r->last);
  free(r->mean);
  free(r->gain);
  free(r);
}

void eb_rotations_reset(eb_rotations *r) {
  r->begun = false;
}

/* ---- the harness's own ----------------------------------------------------------------------- */

/* mean := the sum of w F over the points of each element, whose nearest rotation is that of their
 * average. A triangle does not stretch along z. */
static void sum_gradients(const eb_audit *audit, const double *x, double *mean) {
  const eb_mesh *mesh = audit->scene->mesh;
  const int nodes = (int)mesh->type;
  memset(mean, 0, 9 * (size_t)mesh->element_count * sizeof *mean);
  for (size_t b = 0; b < audit->batch_count; b++) {
    const eb_audit_batch *batch = &audit->batches[b];
    const eb_audit_corner *corners = audit->corners + b * mesh->type;
    eb_four F[9] = {{0}}, at[3];
    int32_t element[EB_FOUR];
    for (int k = 0; k < EB_FOUR; k++) {
      int64_t point = batch->first + (k < batch->count ? k : batch->count - 1);
      element[k] = (int32_t)(point / audit->points);
    }
    for (int a = 0; a < nodes; a++) {
      const double *node[EB_FOUR];
      for (int k = 0; k < EB_FOUR; k++)
        node[k] = x + 3 * (size_t)mesh->elements[(int64_t)element[k] * nodes + a];
      for (int i = 0; i < 3; i++) at[i] = (eb_four){node[0][i], node[1][i], node[2][i], node[3][i]};
      for (int i = 0; i < 9; i++) F[i] += at[i / 3] * corners[a].g[i % 3];
    }
    if (mesh->type == EB_TRIANGLE) F[8] = eb_four_of(1);
    for (int k = 0; k < batch->count; k++)
      for (int i = 0; i < 9; i++)
        mean[9 * (size_t)element[k] + (size_t)i] += batch->weight[k] * F[i][k];
  }
}

/* P of elements first .. first + 3, the last one again where there are fewer. */
static void find_polars(const eb_rotations *r, int32_t first, eb_four P[9]) {
  eb_four F[9];
  for (int k = 0; k < EB_FOUR; k++) {
    int32_t e = first + k < r->elements ? first + k : r->elements - 1;
    for (int i = 0; i < 9; i++) F[i][k] = r->mean[9 * (size_t)e + (size_t)i];
  }
  eb_reference_polar(F, P);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static double determinant(const double R[9]) {
  return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
         R[2] * (R[3] * R[7] - R[4] * R[6]);
}

static double chord_angle(const double A[9], const double B[9]) {
  double squares = 0;
  for (int i = 0; i < 9; i++) squares += (A[i] - B[i]) * (A[i] - B[i]);
  double half = sqrt(squares / 8);
  return half >= 1 ? 180 : 2 * degree * asin(half); /* NaN stays NaN */
}

/* log(A B^T) */
static void turn_between(const double A[9], const double B[9], double out[3]) {
  double AB[9] = {0};
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) AB[i] += A[3 * (i / 3) + k] * B[3 * (i % 3) + k];
  eb_audit_rotation_vector(AB, out);
}

/* NaN where it is not asked for. */
static double gain_of(const double R1[9], const double R0[9], const double P[9]) {
  static const double least = 0.01, most = 20; /* deg */
  double missing[3], made[3];
  double angle = chord_angle(P, R0);
  if (!(angle >= least && angle <= most) || !(determinant(R1) > 0) || !(determinant(R0) > 0))
    return NAN;
  turn_between(P, R0, missing);
  turn_between(R1, R0, made);
  return (made[0] * missing[0] + made[1] * missing[1] + made[2] * missing[2]) /
         eb_audit_squared(missing);
}

void eb_rotations_step(eb_rotations *r, const eb_audit *audit, const double *R, const double *x,
                       eb_rotation_row *row) {
  size_t gains = 0;
  eb_four P[9];
  *row = (eb_rotation_row){.det_min = INFINITY};
  sum_gradients(audit, x, r->mean);
  for (int32_t e = 0; e < r->elements; e++) {
    const double *now = R + 9 * (size_t)e, *last = r->last + 9 * (size_t)e;
    double polar[9], det = determinant(now);
    if (e % EB_FOUR == 0) find_polars(r, e, P);
    for (int i = 0; i < 9; i++) polar[i] = P[i][e % EB_FOUR];
    if (!(det >= row->det_min) && !isnan(row->det_min)) row->det_min = det;
    row->reflections += det < 0;
    eb_audit_raise(chord_angle(now, polar), &row->off_svd);
    if (!r->begun) continue;
    eb_audit_raise(chord_angle(now, last), &row->turn_max);
    double gain = gain_of(now, last, polar);
    if (!isnan(gain)) r->gain[gains++] = gain;
  }
  row->gain = gains > 0 ? eb_sample_median(r->gain, gains) : NAN;
  memcpy(r->last, R, 9 * (size_t)r->elements * sizeof *R);
  r->begun = true;
}
