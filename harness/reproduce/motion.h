/* What is seen in the frames of runs: functions of the language. */
#ifndef EB_REPRODUCE_MOTION_H
#define EB_REPRODUCE_MOTION_H

#include "harness/reproduce/evaluate.h"

/* Ended by a NULL name. */
extern const eb_function eb_motion_functions[];

/* How far apart two shapes are, over a length. */
typedef struct eb_distance {
  double rms, max;
} eb_distance;
/* `x` (count x 3) moved onto `y` by the rigid motion that makes the sum of squared distances least
 * (Horn 1987): the distances that remain, over `length`. */
void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out);

#endif
