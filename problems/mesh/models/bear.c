/* A sitting teddy bear, about 10 units tall; it looks along x, its left is y. */
#include "problems/mesh/models/shape.h"

static const eb_part parts[] = {
    /* belly, head */
    EB_ELLIPSOID(0, 0, 2.5, 1.9, 2.0, 2.5, .blend = 0),
    EB_BALL(0.3, 0, 6.1, 1.75, .blend = 0.5),
    EB_ELLIPSOID(1.8, 0, 5.7, 0.85, 0.8, 0.62, .blend = 0.3),
    EB_BALL(2.6, 0, 6.0, 0.3, .blend = 0.1),
    /* ears, arms, legs, feet */
    EB_ELLIPSOID(0.1, 1.5, 7.5, 0.4, 0.8, 0.8, .blend = 0.3, .fold = EB_FOLD_Y),
    EB_CONE(0.2, 1.6, 4.2, 0.75, 1.9, 2.7, 2.7, 0.65, .blend = 0.4, .fold = EB_FOLD_Y),
    EB_CONE(0.6, 1.4, 1.0, 1.05, 3.2, 2.0, 0.95, 0.85, .blend = 0.4, .fold = EB_FOLD_Y),
    EB_ELLIPSOID(3.7, 2.1, 1.25, 0.55, 0.95, 1.25, .blend = 0.3, .fold = EB_FOLD_Y),
    EB_BALL(-1.9, 0, 1.1, 0.6, .blend = 0.2),
};

const eb_shape eb_shape_bear = {EB_SHAPE_PARTS(parts), .scale = 0.024};
