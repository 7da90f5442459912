/* A toy spider that hangs on a thread, looking along x; joints and thread are soft. */
#include "problems/mesh/models/shape.h"

enum { STIFF, SOFT };

const char *const eb_spider_regions[] = {"stiff", "soft", NULL};

/* A leg from the hip h over knee k and ankle a to the tip t, left and right. */
#define BONE(x0, y0, z0, x1, y1, z1)                                                               \
  EB_CONE(x0, y0, z0, 0.23, x1, y1, z1, 0.23, .blend = 0.1, .fold = EB_FOLD_Y, .region = STIFF)
#define JOINT(x, y, z) EB_BALL(x, y, z, 0.31, .blend = 0.1, .fold = EB_FOLD_Y, .region = SOFT)
#define LEG(hx, hy, hz, kx, ky, kz, ax, ay, az, tx, ty, tz)                                        \
  BONE(hx, hy, hz, kx, ky, kz), BONE(kx, ky, kz, ax, ay, az), BONE(ax, ay, az, tx, ty, tz),        \
      JOINT(hx, hy, hz), JOINT(kx, ky, kz), JOINT(ax, ay, az)

static const eb_part parts[] = {
    EB_ELLIPSOID(1.0, 0, 0, 1.2, 0.95, 0.7, .region = STIFF),
    EB_ELLIPSOID(-1.6, 0, 0.3, 1.7, 1.3, 1.2, .blend = 0.3, .region = STIFF),
    EB_BALL(2.1, 0.35, 0.25, 0.25, .blend = 0.1, .fold = EB_FOLD_Y, .region = STIFF),
    LEG(1.6, 0.85, 0.0, 3.1, 2.3, 1.5, 4.2, 3.6, -0.6, 4.6, 4.0, -2.2),
    LEG(1.2, 0.95, 0.0, 1.7, 2.8, 1.7, 2.1, 4.6, -0.6, 2.3, 5.2, -2.4),
    LEG(0.7, 0.95, 0.0, 0.0, 2.9, 1.7, -0.5, 4.7, -0.6, -0.6, 5.3, -2.4),
    LEG(0.2, 0.80, 0.0, -1.6, 2.5, 1.5, -2.9, 4.0, -0.6, -3.4, 4.5, -2.2),
    EB_CONE(-0.3, 0, 0.6, 0.24, -0.3, 0, 7, 0.24, .blend = 0.2, .region = SOFT),
};

const eb_shape eb_shape_spider = {EB_SHAPE_PARTS(parts), .scale = 0.025};
