/* A sitting teddy bear, about 10 units tall; it looks along x, its left is y. */
#include "problems/mesh/models/shape.h"

static const eb_part parts[] = {
    /* belly, head, snout, nose */
    EB_ELLIPSOID(0, 0, 2.7, 2.35, 2.5, 2.75, .blend = 0),
    EB_BALL(0.3, 0, 6.3, 1.95, .blend = 0.5),
    EB_ELLIPSOID(1.9, 0, 5.8, 0.9, 0.95, 0.72, .blend = 0.3),
    EB_BALL(2.75, 0, 6.15, 0.38, .blend = 0.1),
    /* ears, arms, legs, feet, tail */
    EB_ELLIPSOID(0.2, 1.65, 7.75, 0.55, 0.85, 0.85, .blend = 0.25, .mirrored = true),
    EB_CONE(0.3, 1.8, 4.3, 0.9, 1.7, 2.9, 2.9, 0.85, .blend = 0.35, .mirrored = true),
    EB_CONE(0.6, 1.5, 1.15, 1.2, 2.8, 2.1, 1.1, 1.05, .blend = 0.35, .mirrored = true),
    EB_ELLIPSOID(3.4, 2.25, 1.4, 0.75, 1.15, 1.4, .blend = 0.25, .mirrored = true),
    EB_BALL(-2.2, 0, 1.2, 0.7, .blend = 0.2),
};

const eb_shape eb_shape_bear = {EB_SHAPE_PARTS(parts), .scale = 0.0235};
