/* Positions of runs compared with each other and with the rest shape. */
#ifndef EB_REPRODUCE_MOTION_H
#define EB_REPRODUCE_MOTION_H

#include "harness/reproduce/evidence.h"

/* How far apart two runs of one scene are at a frame, over the diagonal of the scene's rest box. */
typedef struct eb_distance {
  double rms, max;
} eb_distance;

/* How far apart two runs get. */
typedef struct eb_parting {
  eb_distance largest; /* over the frames looked at; NaN when there are none */
  size_t frames;
  bool bounced; /* the first bounce ended in them: contact began, then ended */
} eb_parting;

/* Over the frames that both have stored or, `until_bounce`, over those up to the end of the first bounce of `against`. EB_ERR_INVALID
 * when they are not of one scene. */
EB_MUST eb_error eb_motion_parting(const eb_evidence *evidence, int of, int against,
                                   bool until_bounce, eb_parting *out);

/* How far the last frame of a run is from a shape, once the rigid motion between them is taken out: from the last frame of `other`,
 * or with -1 from the rest shape. */
EB_MUST eb_error eb_motion_shape(const eb_evidence *evidence, int case_, int other,
                                 eb_distance *out);

/* `x` (count x 3) moved onto `y` by the rigid motion that makes the sum of squared distances least (Horn 1987): the
 * distances that remain, over `length`. */
void eb_rigid_distance(const double *x, const double *y, int64_t count, double length,
                       eb_distance *out);

#endif
