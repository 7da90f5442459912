/* A crouching rabbit, about 12 units tall; it looks along x, its left is y. */
#include "problems/mesh/models/shape.h"

static const eb_part parts[] = {
    /* back, chest, haunches */
    EB_ELLIPSOID(-1.3, 0, 3.4, 4.0, 2.9, 3.4, .blend = 0),
    EB_BALL(1.5, 0, 3.2, 2.4, .blend = 1.2),
    EB_ELLIPSOID(-1.8, 2.2, 2.6, 2.3, 1.1, 2.4, .blend = 0.25, .mirrored = true),
    /* hind feet, front feet, tail */
    EB_CONE(-1.8, 2.7, 0.65, 0.65, 1.4, 2.7, 0.5, 0.5, .blend = 0.3, .mirrored = true),
    EB_CONE(2.4, 1.1, 1.7, 0.85, 3.8, 1.1, 0.55, 0.55, .blend = 0.4, .mirrored = true),
    EB_BALL(-5.2, 0, 2.6, 1.15, .blend = 0.3),
    /* head, cheeks, nose, ears */
    EB_TURNED_ELLIPSOID(3.3, 0, 6.6, 2.0, 1.6, 1.6, 1, 0, -0.3, .blend = 0.7),
    EB_BALL(4.2, 0.75, 5.95, 0.8, .blend = 0.5, .mirrored = true),
    EB_BALL(5.0, 0, 6.1, 0.7, .blend = 0.4),
    EB_TURNED_ELLIPSOID(1.6, 1.15, 9.4, 2.7, 0.9, 0.55, -0.6, 0.2, 1, .blend = 0.4,
                        .mirrored = true),
};

const eb_shape eb_shape_bunny = {EB_SHAPE_PARTS(parts), .scale = 0.01};
