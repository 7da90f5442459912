/* Positions of runs compared with each other and with the rest shape. */
#ifndef EB_REPRODUCE_MOTION_H
#define EB_REPRODUCE_MOTION_H

#include "harness/reproduce/evidence.h"

/* How far apart two runs of one scene are at a frame, over the diagonal of the scene's rest box. */
typedef struct eb_distance {
  double rms, max;
} eb_distance;

/* The distances at the frames that both have stored, first to last; *count of them. EB_ERR_INVALID when they are not of one
 * scene. The caller frees *out. */
EB_MUST eb_error eb_motion_distances(const eb_evidence *evidence, int a, int b, eb_distance **out,
                                     size_t *count);

/* The last stored frame before the end of a run's first bounce: contact begins, then ends. *ended is false when the run
 * has no such end; the frame is then the last. */
EB_MUST eb_error eb_motion_bounce(const eb_evidence *evidence, int case_, size_t *frame,
                                  bool *ended);

/* How far the last frame of a run is from a shape, once the rigid motion between them is taken out: from the last frame of `other`,
 * or with -1 from the rest shape. */
EB_MUST eb_error eb_motion_shape(const eb_evidence *evidence, int case_, int other,
                                 eb_distance *out);

/* `x` (count x 3) moved onto `y` by the rigid motion that makes the sum of squared distances least (Horn 1987): the
 * distances that remain, over `length`. */
void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out);

#endif
