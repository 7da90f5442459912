/* A toy spider that hangs on a thread, looking along x; joints and thread are soft. */
#include "problems/mesh/models/shape.h"

enum { STIFF, SOFT };

const char *const eb_spider_regions[] = {"stiff", "soft", NULL};

/* A leg from the hip h over knee k and ankle a to the tip t, left and right. */
#define BONE(...) EB_CONE(__VA_ARGS__, .blend = 0.1, .mirrored = true, .region = STIFF)
#define JOINT(x, y, z)                                                                             \
  EB_BALL(x, y, z, 0.41, .blend = 0.1, .mirrored = true, .owns = true, .region = SOFT)
#define LEG(hx, hy, hz, kx, ky, kz, ax, ay, az, tx, ty, tz)                                        \
  BONE(hx, hy, hz, 0.26, kx, ky, kz, 0.26), BONE(kx, ky, kz, 0.26, ax, ay, az, 0.26),              \
      BONE(ax, ay, az, 0.26, tx, ty, tz, 0.26), JOINT(hx, hy, hz), JOINT(kx, ky, kz),              \
      JOINT(ax, ay, az)

static const eb_part parts[] = {
    EB_ELLIPSOID(0.55, 0, 0, 1.4, 0.8, 0.6, .region = STIFF),
    EB_ELLIPSOID(-2.35, 0, 0.3, 1.65, 1.05, 1.05, .blend = 0.5, .region = STIFF),
    EB_BALL(1.8, 0.3, 0.25, 0.26, .blend = 0.1, .mirrored = true, .region = STIFF),
    LEG(1.7, 0.65, 0.0, 3.2, 2.3, 1.1, 4.5, 3.7, -1.0, 5.0, 4.2, -2.8),
    LEG(0.9, 0.85, 0.0, 1.5, 3.0, 1.3, 2.0, 4.9, -1.0, 2.2, 5.6, -3.0),
    LEG(0.1, 0.85, 0.0, -0.3, 3.0, 1.3, -0.7, 5.0, -1.0, -0.8, 5.7, -3.0),
    LEG(-0.6, 0.7, 0.0, -1.6, 2.9, 1.1, -2.6, 4.6, -1.0, -3.0, 5.2, -2.8),
    EB_CONE(-0.3, 0, 0.4, 0.27, -0.3, 0, 7, 0.27, .blend = 0.2, .region = SOFT),
};

const eb_shape eb_shape_spider = {EB_SHAPE_PARTS(parts), .scale = 0.025};
