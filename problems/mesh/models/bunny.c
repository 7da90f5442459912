/* A crouching rabbit, about 12 units tall; it looks along x, its left is y. */
#include "problems/mesh/models/shape.h"

static const eb_part parts[] = {
    /* back, chest, haunches */
    EB_ELLIPSOID(-1.0, 0, 3.3, 3.9, 2.8, 3.2, .blend = 0),
    EB_BALL(1.9, 0, 3.3, 2.3, .blend = 1),
    EB_ELLIPSOID(-2.0, 2.0, 2.4, 2.3, 1.2, 2.2, .blend = 0.5, .fold = EB_FOLD_Y),
    /* hind feet, front feet, tail */
    EB_CONE(-2.0, 2.4, 0.6, 0.6, 1.3, 2.4, 0.5, 0.5, .blend = 0.4, .fold = EB_FOLD_Y),
    EB_CONE(2.6, 1.1, 1.9, 0.8, 4.1, 1.1, 0.55, 0.55, .blend = 0.4, .fold = EB_FOLD_Y),
    EB_BALL(-5.0, 0, 2.4, 1.0, .blend = 0.3),
    /* head, snout, ears */
    EB_ELLIPSOID(3.7, 0, 6.6, 2.0, 1.55, 1.6, .blend = 0.8, .axis = {1, 0, -0.3)},
    EB_BALL(5.3, 0, 6.1, 0.95, .blend = 0.6),
    EB_ELLIPSOID(1.9, 1.2, 9.6, 2.5, 0.8, 0.5,
     .blend = 0.4,
     .axis = {-0.5, 0.25, 1),
     .fold = EB_FOLD_Y},
};

const eb_shape eb_shape_bunny = {EB_SHAPE_PARTS(parts), .scale = 0.01};
