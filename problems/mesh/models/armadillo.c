/* An upright armadillo with raised hands, about 10 units tall; it looks along x, its left is y. */
#include "problems/mesh/models/shape.h"

static const eb_part parts[] = {
    /* torso, shell, neck, head, snout, ears */
    EB_ELLIPSOID(0, 0, 4.6, 1.3, 1.5, 2.1, .blend = 0),
    EB_BALL(-0.4, 0, 4.8, 1.4, .blend = 0.4),
    EB_CONE(0, 0, 6.2, 0.8, 0.2, 0, 7.2, 0.75, .blend = 0.4),
    EB_BALL(0.3, 0, 7.6, 1.0, .blend = 0.5),
    EB_CONE(0.9, 0, 7.5, 0.55, 1.8, 0, 7.2, 0.35, .blend = 0.3),
    EB_TURNED_ELLIPSOID(0, 0.8, 8.8, 0.9, 0.45, 0.3, -0.2, 0.4, 1, .blend = 0.3, .mirrored = true),
    /* upper arms, forearms, hands */
    EB_CONE(0, 1.3, 5.9, 0.55, 0.3, 2.6, 5.0, 0.42, .blend = 0.3, .mirrored = true),
    EB_CONE(0.3, 2.6, 5.0, 0.42, 1.2, 2.9, 6.0, 0.4, .blend = 0.2, .mirrored = true),
    EB_BALL(1.35, 2.95, 6.2, 0.5, .blend = 0.2, .mirrored = true),
    /* thighs, shins, feet, tail */
    EB_CONE(0, 0.9, 3.2, 0.85, 0.1, 1.2, 1.9, 0.7, .blend = 0.35, .mirrored = true),
    EB_CONE(0.1, 1.2, 1.9, 0.65, 0, 1.2, 0.7, 0.55, .blend = 0.2, .mirrored = true),
    EB_CONE(0, 1.2, 0.5, 0.5, 0.8, 1.3, 0.4, 0.4, .blend = 0.2, .mirrored = true),
    EB_CONE(-1.0, 0, 3.2, 0.7, -2.4, 0, 2.2, 0.45, .blend = 0.4),
    EB_CONE(-2.4, 0, 2.2, 0.45, -3.2, 0, 2.6, 0.25, .blend = 0.2),
};

const eb_shape eb_shape_armadillo = {EB_SHAPE_PARTS(parts), .scale = 0.03};
