/* Motions as they are compared: positions and velocities of all nodes at a few times, in doubles,
 * from the checkpoints of runs (harness/results/checkpoints.h). */
#ifndef EB_PRECISION_TRAJECTORY_H
#define EB_PRECISION_TRAJECTORY_H

#include "harness/results/read.h"
#include "problems/scene_impl.h"

typedef struct eb_trajectory {
  int times;
  int32_t nodes;
  double *x, *v; /* times x nodes x 3, m and m/s */
} eb_trajectory;

/* The states after `stride`, 2 stride, .. `times` stride steps. EB_ERR_FORMAT when the run keeps
 * others or its scene is another; the caller clears *out. */
EB_MUST eb_error eb_trajectory_read(const eb_results *results, int run, const eb_scene *scene,
                                    int64_t stride, int times, eb_trajectory *out);
void eb_trajectory_clear(eb_trajectory *trajectory);

/* How motions are measured: context of an eb_distance_of (extrapolation.h). */
typedef struct eb_measure {
  int times;
  int32_t nodes;
  const double *mass; /* nodes, kg */
} eb_measure;

/* max over the times of sqrt(sum m |a - b|^2 / sum m). NAN when one of them is no number. */
double eb_motion_distance(const void *measure, const double *a, const double *b);

#endif
