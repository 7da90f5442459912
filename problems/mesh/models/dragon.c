/* A Chinese dragon, 15 units long; it looks along x, its left is y. */
#include "problems/mesh/models/shape.h"

enum { BODY, UPPER_JAW, LOWER_JAW, LEGS };

const char *const eb_dragon_regions[] = {"body", "upper-jaw", "lower-jaw", "legs", NULL};

#define SPINE(...) EB_CONE(__VA_ARGS__, .blend = 0.3, .region = BODY)
#define LIMB(...)  EB_CONE(__VA_ARGS__, .blend = 0.2, .region = LEGS)
#define SPIKE(x, y, z, l)                                                                          \
  EB_CONE(x, y, z, 0.3, (x)-0.35 * (l), y, (z) + (l), 0.1, .blend = 0.2, .region = BODY)
/* Three toes from the ankle. */
#define FOOT(x, y)                                                                                 \
  LIMB(x, y, 0.4, 0.36, (x) + 0.85, (y) + 0.45, 0.22, 0.2),                                        \
      LIMB(x, y, 0.4, 0.36, (x) + 1.0, y, 0.22, 0.2),                                              \
      LIMB(x, y, 0.4, 0.36, (x) + 0.85, (y)-0.45, 0.22, 0.2)

static const eb_part parts[] = {
    SPINE(-7.2, 0.9, 1.9, 0.2, -6.3, 1.5, 1.0, 0.38),
    SPINE(-6.3, 1.5, 1.0, 0.38, -5.2, 1.3, 0.8, 0.58),
    SPINE(-5.2, 1.3, 0.8, 0.58, -4.2, 0.4, 1.2, 0.8),
    SPINE(-4.2, 0.4, 1.2, 0.8, -3.3, -0.6, 1.9, 1.0),
    SPINE(-3.3, -0.6, 1.9, 1.0, -2.2, -1.0, 2.6, 1.15),
    SPINE(-2.2, -1.0, 2.6, 1.15, -1.0, -0.6, 2.8, 1.2),
    SPINE(-1.0, -0.6, 2.8, 1.2, 0.0, 0.3, 2.5, 1.2),
    SPINE(0.0, 0.3, 2.5, 1.2, 1.0, 0.9, 2.2, 1.2),
    SPINE(1.0, 0.9, 2.2, 1.2, 2.1, 0.8, 2.4, 1.15),
    SPINE(2.1, 0.8, 2.4, 1.15, 3.0, 0.2, 3.1, 1.0),
    SPINE(3.0, 0.2, 3.1, 1.0, 3.6, -0.2, 4.1, 0.85),
    SPINE(3.6, -0.2, 4.1, 0.85, 4.1, -0.2, 5.1, 0.75),
    SPINE(4.1, -0.2, 5.1, 0.75, 4.8, 0.0, 5.8, 0.8),
    /* head, brows, horns, mane */
    EB_ELLIPSOID(5.2, 0, 6.0, 1.0, 0.85, 0.75, .blend = 0.3, .region = BODY),
    EB_BALL(5.8, 0.45, 6.55, 0.28, .blend = 0.1, .fold = EB_FOLD_Y, .region = BODY),
    EB_CONE(5.0, 0.45, 6.6, 0.28, 3.6, 0.95, 7.7, 0.12, .blend = 0.1, .fold = EB_FOLD_Y,
            .region = BODY),
    EB_CONE(4.9, 0.7, 5.8, 0.32, 3.8, 1.5, 5.7, 0.12, .blend = 0.1, .fold = EB_FOLD_Y,
            .region = BODY),
    /* jaws */
    EB_CONE(5.7, 0, 6.1, 0.62, 7.3, 0, 6.35, 0.4, .blend = 0.2, .region = UPPER_JAW),
    EB_BALL(7.3, 0.22, 6.65, 0.22, .blend = 0.1, .fold = EB_FOLD_Y, .region = UPPER_JAW),
    EB_CONE(5.4, 0, 5.5, 0.45, 6.9, 0, 4.8, 0.28, .blend = 0.1, .region = LOWER_JAW),
    /* legs */
    LIMB(1.9, 1.5, 2.2, 0.7, 2.4, 2.4, 1.6, 0.5),
    LIMB(2.4, 2.4, 1.6, 0.5, 2.0, 2.5, 0.4, 0.4),
    FOOT(2.0, 2.5),
    LIMB(2.1, -0.2, 2.1, 0.7, 2.6, -1.3, 1.6, 0.5),
    LIMB(2.6, -1.3, 1.6, 0.5, 2.3, -1.5, 0.4, 0.4),
    FOOT(2.3, -1.5),
    LIMB(-2.2, 0.0, 2.2, 0.75, -2.2, 1.1, 1.6, 0.55),
    LIMB(-2.2, 1.1, 1.6, 0.55, -2.7, 1.2, 0.4, 0.4),
    FOOT(-2.7, 1.2),
    LIMB(-2.4, -1.8, 2.3, 0.75, -2.1, -2.7, 1.5, 0.55),
    LIMB(-2.1, -2.7, 1.5, 0.55, -2.6, -2.8, 0.4, 0.4),
    FOOT(-2.6, -2.8),
    /* crest */
    SPIKE(-4.6, 0.8, 1.7, 0.7),
    SPIKE(-3.5, -0.3, 2.6, 0.8),
    SPIKE(-2.2, -1.0, 3.5, 0.9),
    SPIKE(-1.0, -0.6, 3.8, 0.9),
    SPIKE(0.0, 0.3, 3.5, 0.9),
    SPIKE(1.0, 0.9, 3.2, 0.9),
    SPIKE(2.0, 0.8, 3.4, 0.9),
    SPIKE(2.6, 0.2, 4.2, 0.8),
    SPIKE(3.1, -0.2, 5.1, 0.8),
};

const eb_shape eb_shape_dragon = {EB_SHAPE_PARTS(parts), .scale = 0.01};
