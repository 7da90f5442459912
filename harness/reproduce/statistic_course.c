/* Statistics of a run's whole course. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/reproduce/motion.h"
#include "harness/reproduce/statistic.h"

/* ---- columns and counters --------------------------------------------------------------------- */

static int column_named(const char *of) {
  for (int c = 0; c < EB_COL_COUNT; c++)
    if (strcmp(eb_columns[c].name, of) == 0) return c;
  return -1;
}

bool eb_statistic_is_column(const char *of) {
  return column_named(of) >= 0;
}

static eb_error read_column(const eb_evidence *e, int case_, eb_column column, double **values,
                            size_t *steps) {
  return eb_results_steps(e->results, e->cases[case_].run, column, values, steps);
}

eb_error eb_statistic_end(const eb_evidence *e, int case_, const char *of, int64_t frames,
                          double *out) {
  double *values;
  size_t steps;
  (void)frames;
  EB_TRY(read_column(e, case_, (eb_column)column_named(of), &values, &steps));
  *out = steps ? values[steps - 1] : NAN;
  free(values);
  return EB_OK;
}

/* The largest of sign * value from that share of the steps on, times sign; what is not a number wins. */
static eb_error extreme(const eb_evidence *e, int case_, const char *of, double sign, double from,
                        double *out) {
  double *values;
  size_t steps;
  EB_TRY(read_column(e, case_, (eb_column)column_named(of), &values, &steps));
  size_t first = (size_t)(from * (double)steps);
  *out = steps ? values[first] : NAN;
  for (size_t s = first + 1; s < steps && !isnan(*out); s++)
    if (!(sign * values[s] <= sign * *out)) *out = values[s];
  free(values);
  return EB_OK;
}

eb_error eb_statistic_most(const eb_evidence *e, int case_, const char *of, int64_t frames,
                           double *out) {
  (void)frames;
  return extreme(e, case_, of, 1, 0, out);
}

eb_error eb_statistic_least(const eb_evidence *e, int case_, const char *of, int64_t frames,
                            double *out) {
  (void)frames;
  return extreme(e, case_, of, -1, 0, out);
}

eb_error eb_statistic_late(const eb_evidence *e, int case_, const char *of, int64_t frames,
                           double *out) {
  (void)frames;
  return extreme(e, case_, of, 1, 0.5, out);
}

eb_error eb_statistic_gain(const eb_evidence *e, int case_, const char *of, int64_t frames,
                           double *out) {
  double *values;
  size_t steps;
  (void)frames;
  EB_TRY(read_column(e, case_, (eb_column)column_named(of), &values, &steps));
  *out = steps > 1 ? values[steps - 1] - values[steps / 2 - 1] : NAN;
  free(values);
  return EB_OK;
}

eb_error eb_statistic_sum(const eb_evidence *e, int case_, const char *of, int64_t frames,
                          double *out) {
  double *values;
  size_t steps;
  (void)frames;
  EB_TRY(read_column(e, case_, (eb_column)column_named(of), &values, &steps));
  *out = steps ? 0 : NAN;
  for (size_t s = 0; s < steps; s++) *out += values[s];
  free(values);
  return EB_OK;
}

eb_error eb_statistic_last(const eb_evidence *e, int case_, const char *of, int64_t frames,
                           double *out) {
  double *values;
  size_t steps;
  int counter = 0;
  (void)frames;
  while (strcmp(eb_counter_name((eb_counter)counter), of) != 0) counter++;
  EB_TRY(eb_results_counter(e->results, e->cases[case_].run, (eb_counter)counter, &values, &steps));
  *out = steps ? values[steps - 1] : NAN;
  free(values);
  return EB_OK;
}

/* ---- the rest shape --------------------------------------------------------------------------- */

eb_error eb_statistic_rest(const eb_evidence *e, int case_, const char *of, int64_t frames,
                           double *out) {
  double size[3];
  (void)frames;
  EB_TRY(eb_motion_rest_box(e, case_, size));
  *out = strcmp(of, "height") == 0
             ? size[2]
             : sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
  return EB_OK;
}

/* ---- bounces ---------------------------------------------------------------------------------- */

/* The body falls along -z. restitution: the largest upward momentum after its first touch over the largest downward one until
 * then; flight: steps without contact after the first touch. */
static double bounce_of(const double *contacts, const double *momentum, size_t steps, bool flight) {
  double down = 0, up = 0, free_steps = 0;
  size_t s = 0;
  for (; s < steps && !(contacts[s] > 0); s++) down = fmax(down, -momentum[s]);
  if (s == steps) return NAN;
  down = fmax(down, -momentum[s]);
  for (; s < steps; s++) {
    up = fmax(up, momentum[s]);
    free_steps += !(contacts[s] > 0);
  }
  return flight ? free_steps : up / down;
}

eb_error eb_statistic_bounce(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  double *contacts, *momentum = NULL;
  size_t steps;
  (void)frames;
  EB_TRY(read_column(e, case_, EB_COL_CONTACTS, &contacts, &steps));
  eb_error error = read_column(e, case_, EB_COL_MOMENTUM_Z, &momentum, &steps);
  if (!error) *out = bounce_of(contacts, momentum, steps, strcmp(of, "flight") == 0);
  free(contacts);
  free(momentum);
  return error;
}

/* ---- joints ----------------------------------------------------------------------------------- */

enum { MOST_JOINTS = EB_MAX_JOINTS };

/* Widens the range of every joint's angle by one frame. */
static eb_error widen(const eb_evidence *e, int case_, size_t frame, double least[MOST_JOINTS],
                      double most[MOST_JOINTS], int32_t *count) {
  double *joints;
  EB_TRY(eb_results_joints(e->results, e->cases[case_].run, frame, count, &joints));
  for (int32_t j = 0; j < *count && j < MOST_JOINTS; j++) {
    least[j] = frame ? fmin(least[j], joints[2 * j]) : joints[2 * j];
    most[j] = frame ? fmax(most[j], joints[2 * j]) : joints[2 * j];
  }
  free(joints);
  return EB_OK;
}

eb_error eb_statistic_joints(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  double least[MOST_JOINTS], most[MOST_JOINTS];
  size_t stored;
  int32_t count = 0;
  (void)of;
  (void)frames;
  *out = NAN;
  EB_TRY(eb_results_frame_count(e->results, e->cases[case_].run, &stored));
  for (size_t f = 0; f < stored; f++) EB_TRY(widen(e, case_, f, least, most, &count));
  for (int32_t j = 0; j < count && j < MOST_JOINTS; j++) *out = fmax(*out, most[j] - least[j]);
  return EB_OK;
}

/* "JOINT@FROM-TO:FROM-TO" */
typedef struct windows {
  int joint;
  double from[2], to[2]; /* s */
} windows;

static bool parse_windows(const char *of, windows *out) {
  int used = 0;
  int read = sscanf(of, "%d@%lf-%lf:%lf-%lf%n", &out->joint, &out->from[0], &out->to[0],
                    &out->from[1], &out->to[1], &used);
  return read == 5 && !of[used] && out->joint >= 0 && out->joint < MOST_JOINTS;
}

bool eb_statistic_is_turned(const char *of) {
  windows w;
  return parse_windows(of, &w);
}

/* Adds the angle of one frame to the windows that it lies in. */
static eb_error add_angle(const eb_evidence *e, int case_, size_t frame, double time,
                          const windows *w, double sum[2], int frames[2]) {
  int32_t count;
  double *joints;
  EB_TRY(eb_results_joints(e->results, e->cases[case_].run, frame, &count, &joints));
  for (int k = 0; k < 2 && w->joint < count; k++) {
    bool inside = time >= w->from[k] && time <= w->to[k];
    sum[k] += inside ? joints[2 * w->joint] : 0;
    frames[k] += inside;
  }
  free(joints);
  return EB_OK;
}

eb_error eb_statistic_turned(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  windows w;
  double *times, sum[2] = {0};
  size_t stored;
  int in[2] = {0};
  (void)frames;
  parse_windows(of, &w);
  EB_TRY(eb_results_column(e->results, e->cases[case_].run, "frames/time", &times, &stored));
  eb_error error = EB_OK;
  for (size_t f = 0; f < stored && !error; f++)
    error = add_angle(e, case_, f, times[f], &w, sum, in);
  *out = in[0] && in[1] ? sum[1] / in[1] - sum[0] / in[0] : NAN;
  free(times);
  return error;
}

/* ---- pieces ----------------------------------------------------------------------------------- */

eb_error eb_statistic_pieces(const eb_evidence *e, int case_, const char *of, int64_t frames,
                             double *out) {
  (void)of;
  (void)frames;
  return eb_motion_unrest(e, case_, out);
}
