/* A toy spider that hangs on a thread, looking along x; joints and thread are soft. */
#include "problems/mesh/models/shape.h"

enum { STIFF, SOFT };

const char *const eb_spider_regions[] = {"stiff", "soft", NULL};

/* A leg from the hip h over knee k and ankle a to the tip t, left and right. */
#define BONE(...)      EB_CONE(__VA_ARGS__, .blend = 0.1, .fold = EB_FOLD_Y, .region = STIFF)
#define JOINT(x, y, z) EB_BALL(x, y, z, 0.36, .blend = 0.1, .fold = EB_FOLD_Y, .region = SOFT)
#define LEG(hx, hy, hz, kx, ky, kz, ax, ay, az, tx, ty, tz)                                        \
  BONE(hx, hy, hz, 0.26, kx, ky, kz, 0.26), BONE(kx, ky, kz, 0.26, ax, ay, az, 0.26),              \
      BONE(ax, ay, az, 0.26, tx, ty, tz, 0.26), JOINT(hx, hy, hz), JOINT(kx, ky, kz),              \
      JOINT(ax, ay, az)

static const eb_part parts[] = {
    EB_ELLIPSOID(0.7, 0, 0, 1.2, 0.8, 0.6, .region = STIFF),
    EB_ELLIPSOID(-1.7, 0, 0.25, 1.6, 1.2, 1.1, .blend = 0.3, .region = STIFF),
    EB_BALL(1.8, 0.3, 0.25, 0.26, .blend = 0.1, .fold = EB_FOLD_Y, .region = STIFF),
    LEG(1.6, 0.6, 0.0, 3.2, 2.2, 1.6, 4.4, 3.6, -0.8, 4.9, 4.1, -2.6),
    LEG(0.9, 0.75, 0.0, 1.5, 2.9, 1.8, 2.0, 4.8, -0.8, 2.2, 5.5, -2.8),
    LEG(0.15, 0.75, 0.0, -0.3, 2.9, 1.8, -0.7, 4.9, -0.8, -0.8, 5.6, -2.8),
    LEG(-0.6, 0.6, 0.0, -2.2, 2.5, 1.6, -3.4, 4.1, -0.8, -3.9, 4.7, -2.6),
    EB_CONE(-0.3, 0, 0.4, 0.27, -0.3, 0, 7, 0.27, .blend = 0.2, .region = SOFT),
};

const eb_shape eb_shape_spider = {EB_SHAPE_PARTS(parts), .scale = 0.025};
