/* The stand-in models, each a table of parts (shape.h). */
#include <string.h>

#include "problems/mesh/models/shape.h"

/* ---- armadillo ------------------------------------------------------------------------------- */

/* An upright armadillo with raised hands, about 10 units tall; it looks along x, its left is y. */

static const eb_primitive armadillo_parts[] = {
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

static const eb_shape shape_armadillo = {EB_SHAPE_PARTS(armadillo_parts), .scale = 0.03};

/* ---- bear ------------------------------------------------------------------------------------ */

/* A sitting teddy bear, about 10 units tall; it looks along x, its left is y. */

static const eb_primitive bear_parts[] = {
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

static const eb_shape shape_bear = {EB_SHAPE_PARTS(bear_parts), .scale = 0.0235};

/* ---- bunny ----------------------------------------------------------------------------------- */

/* A crouching rabbit, about 12 units tall; it looks along x, its left is y. */

static const eb_primitive bunny_parts[] = {
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

static const eb_shape shape_bunny = {EB_SHAPE_PARTS(bunny_parts), .scale = 0.01};

/* ---- dragon ---------------------------------------------------------------------------------- */

/* A Chinese dragon, 15 units long; it looks along x, its left is y. The spine is a Catmull-Rom
 * curve through twenty points, tail to head, cut into round cones. */

enum { BODY, UPPER_JAW, LOWER_JAW, LEGS };

static const char *const dragon_regions[] = {"body", "upper-jaw", "lower-jaw", "legs", NULL};

#define SPINE(...)     EB_CONE(__VA_ARGS__, .blend = 0.2, .region = BODY)
#define SPIKE(...)     EB_CONE(__VA_ARGS__, .blend = 0.12, .region = BODY)
#define PAIR(...)      EB_CONE(__VA_ARGS__, .blend = 0.1, .region = BODY, .mirrored = true)
#define LIMB(...)      EB_CONE(__VA_ARGS__, .blend = 0.15, .region = LEGS)
#define JAW(jaw, ...)  EB_CONE(__VA_ARGS__, .blend = 0.15, .region = jaw)
#define FANG(jaw, ...) EB_CONE(__VA_ARGS__, .blend = 0.05, .region = jaw, .mirrored = true)
/* Three toes and a heel around the ankle. */
#define FOOT(x, y)                                                                                 \
  LIMB(x, y, 0.42, 0.34, (x) + 0.75, (y) + 0.5, 0.22, 0.2),                                        \
      LIMB(x, y, 0.42, 0.34, (x) + 0.95, y, 0.22, 0.2),                                            \
      LIMB(x, y, 0.42, 0.34, (x) + 0.75, (y)-0.5, 0.22, 0.2),                                      \
      LIMB(x, y, 0.42, 0.34, (x)-0.5, y, 0.22, 0.2)

static const eb_primitive dragon_parts[] = {
    /* spine */
    SPINE(-4.50, 0.90, 7.50, 0.14, -4.94, 0.92, 7.86, 0.18),
    SPINE(-4.94, 0.92, 7.86, 0.18, -5.40, 0.90, 8.10, 0.22),
    SPINE(-5.40, 0.90, 8.10, 0.22, -5.98, 0.78, 8.01, 0.27),
    SPINE(-5.98, 0.78, 8.01, 0.27, -6.50, 0.60, 7.70, 0.32),
    SPINE(-6.50, 0.60, 7.70, 0.32, -6.82, 0.40, 7.15, 0.37),
    SPINE(-6.82, 0.40, 7.15, 0.37, -6.90, 0.20, 6.50, 0.42),
    SPINE(-6.90, 0.20, 6.50, 0.42, -6.56, 0.04, 5.90, 0.47),
    SPINE(-6.56, 0.04, 5.90, 0.47, -6.10, -0.10, 5.30, 0.52),
    SPINE(-6.10, -0.10, 5.30, 0.52, -5.77, -0.21, 4.71, 0.58),
    SPINE(-5.77, -0.21, 4.71, 0.58, -5.60, -0.30, 4.10, 0.64),
    SPINE(-5.60, -0.30, 4.10, 0.64, -5.82, -0.37, 3.45, 0.70),
    SPINE(-5.82, -0.37, 3.45, 0.70, -6.00, -0.40, 2.80, 0.76),
    SPINE(-6.00, -0.40, 2.80, 0.76, -5.71, -0.37, 2.14, 0.82),
    SPINE(-5.71, -0.37, 2.14, 0.82, -5.20, -0.30, 1.65, 0.88),
    SPINE(-5.20, -0.30, 1.65, 0.88, -4.51, -0.21, 1.53, 0.93),
    SPINE(-4.51, -0.21, 1.53, 0.93, -3.80, -0.10, 1.70, 0.97),
    SPINE(-3.80, -0.10, 1.70, 0.97, -3.26, 0.05, 2.22, 0.99),
    SPINE(-3.26, 0.05, 2.22, 0.99, -2.80, 0.20, 2.90, 1.00),
    SPINE(-2.80, 0.20, 2.90, 1.00, -2.42, 0.32, 3.64, 1.00),
    SPINE(-2.42, 0.32, 3.64, 1.00, -2.00, 0.40, 4.30, 1.00),
    SPINE(-2.00, 0.40, 4.30, 1.00, -1.37, 0.42, 4.74, 1.01),
    SPINE(-1.37, 0.42, 4.74, 1.01, -0.70, 0.40, 4.90, 1.02),
    SPINE(-0.70, 0.40, 4.90, 1.02, -0.11, 0.32, 4.62, 1.02),
    SPINE(-0.11, 0.32, 4.62, 1.02, 0.40, 0.20, 4.10, 1.02),
    SPINE(0.40, 0.20, 4.10, 1.02, 0.74, 0.04, 3.45, 1.02),
    SPINE(0.74, 0.04, 3.45, 1.02, 1.10, -0.10, 2.80, 1.02),
    SPINE(1.10, -0.10, 2.80, 1.02, 1.66, -0.18, 2.26, 1.02),
    SPINE(1.66, -0.18, 2.26, 1.02, 2.30, -0.20, 1.95, 1.02),
    SPINE(2.30, -0.20, 1.95, 1.02, 2.99, -0.16, 2.09, 1.00),
    SPINE(2.99, -0.16, 2.09, 1.00, 3.60, -0.10, 2.50, 0.97),
    SPINE(3.60, -0.10, 2.50, 0.97, 3.96, -0.05, 3.10, 0.92),
    SPINE(3.96, -0.05, 3.10, 0.92, 4.10, 0.00, 3.80, 0.87),
    SPINE(4.10, 0.00, 3.80, 0.87, 3.91, 0.03, 4.46, 0.82),
    SPINE(3.91, 0.03, 4.46, 0.82, 3.70, 0.05, 5.10, 0.78),
    SPINE(3.70, 0.05, 5.10, 0.78, 3.78, 0.06, 5.69, 0.75),
    SPINE(3.78, 0.06, 5.69, 0.75, 4.00, 0.05, 6.20, 0.74),
    SPINE(4.00, 0.05, 6.20, 0.74, 4.37, 0.03, 6.58, 0.74),
    SPINE(4.37, 0.03, 6.58, 0.74, 4.80, 0.00, 6.90, 0.74),
    /* crest */
    SPIKE(-6.32, 0.60, 7.52, 0.26, -5.63, 0.70, 7.30, 0.15),
    SPIKE(-6.54, 0.40, 7.06, 0.27, -5.79, 0.51, 7.16, 0.15),
    SPIKE(-6.57, 0.20, 6.57, 0.28, -5.95, 0.30, 7.06, 0.15),
    SPIKE(-6.24, 0.04, 6.11, 0.29, -5.84, 0.12, 6.83, 0.15),
    SPIKE(-5.75, -0.10, 5.53, 0.30, -5.33, -0.03, 6.28, 0.15),
    SPIKE(-5.35, -0.21, 4.88, 0.32, -4.77, -0.15, 5.58, 0.15),
    SPIKE(-5.09, -0.30, 4.08, 0.33, -4.24, -0.24, 4.50, 0.15),
    SPIKE(-5.17, -0.37, 2.52, 0.36, -4.69, -0.41, 3.47, 0.15),
    SPIKE(-2.58, 0.40, 4.85, 0.36, -3.73, 0.36, 5.16, 0.15),
    SPIKE(-1.71, 0.42, 5.47, 0.36, -2.67, 0.42, 6.18, 0.15),
    SPIKE(-0.62, 0.40, 5.71, 0.36, -1.10, 0.45, 6.81, 0.15),
    SPIKE(0.37, 0.32, 5.28, 0.36, 0.52, 0.40, 6.46, 0.15),
    SPIKE(1.06, 0.20, 4.58, 0.36, 1.56, 0.31, 5.66, 0.15),
    SPIKE(3.19, 0.06, 5.85, 0.35, 2.19, 0.06, 5.61, 0.15),
    SPIKE(3.51, 0.05, 6.53, 0.35, 2.50, 0.06, 6.62, 0.15),
    /* skull, brows, horns, mane */
    EB_ELLIPSOID(5.1, 0, 7.05, 1.0, 0.8, 0.78, .blend = 0.2, .region = BODY),
    EB_BALL(5.6, 0.45, 7.6, 0.3, .blend = 0.1, .mirrored = true, .region = BODY),
    PAIR(4.9, 0.4, 7.6, 0.33, 4.1, 0.8, 8.7, 0.28),
    PAIR(4.1, 0.8, 8.7, 0.28, 2.8, 1.0, 9.3, 0.18),
    PAIR(4.5, 0.6, 7.1, 0.36, 3.3, 1.5, 7.5, 0.17),
    PAIR(4.5, 0.6, 6.6, 0.36, 3.7, 1.6, 6.1, 0.17),
    /* jaws and fangs */
    JAW(UPPER_JAW, 5.5, 0, 7.15, 0.62, 7.0, 0, 7.25, 0.46),
    JAW(UPPER_JAW, 6.6, 0, 7.2, 0.4, 7.3, 0, 7.3, 0.4),
    EB_BALL(7.25, 0.25, 7.62, 0.22, .blend = 0.1, .mirrored = true, .region = UPPER_JAW),
    FANG(UPPER_JAW, 7.05, 0.28, 7.1, 0.24, 7.15, 0.32, 6.6, 0.15),
    JAW(LOWER_JAW, 5.1, 0, 6.4, 0.45, 6.5, 0, 5.2, 0.34),
    JAW(LOWER_JAW, 6.35, 0, 5.2, 0.3, 6.1, 0, 4.3, 0.17),
    /* fore legs, hind legs */
    LIMB(2.3, 0.5, 1.9, 0.7, 2.9, 1.6, 1.9, 0.5),
    LIMB(2.9, 1.6, 1.9, 0.5, 3.4, 1.9, 0.42, 0.34),
    FOOT(3.4, 1.9),
    LIMB(2.3, -0.9, 1.9, 0.7, 2.0, -1.9, 1.9, 0.5),
    LIMB(2.0, -1.9, 1.9, 0.5, 2.4, -2.2, 0.42, 0.34),
    FOOT(2.4, -2.2),
    LIMB(-4.3, 0.5, 1.7, 0.75, -3.7, 1.6, 1.9, 0.55),
    LIMB(-3.7, 1.6, 1.9, 0.55, -4.2, 2.0, 0.42, 0.36),
    FOOT(-4.2, 2.0),
    LIMB(-4.3, -0.8, 1.7, 0.75, -4.6, -1.8, 1.9, 0.55),
    LIMB(-4.6, -1.8, 1.9, 0.55, -5.1, -2.2, 0.42, 0.36),
    FOOT(-5.1, -2.2),
};

static const eb_shape shape_dragon = {EB_SHAPE_PARTS(dragon_parts), .scale = 0.01};

/* ---- sculpture ------------------------------------------------------------------------------- */

/* An openwork sphere of radius 1: three strands from pole to pole, turning 165 degrees on their
 * way, thicker in the middle. Their axes, kept a strand's radius inside the sphere, are cut into
 * round cones. */

#define STRAND(...) EB_CONE(__VA_ARGS__, .blend = 0)

static const eb_primitive sculpture_parts[] = {
    STRAND(0.000, 0.000, -0.780, 0.220, 0.046, -0.144, -0.759, 0.226),
    STRAND(0.046, -0.144, -0.759, 0.226, 0.139, -0.259, -0.710, 0.231),
    STRAND(0.139, -0.259, -0.710, 0.231, 0.264, -0.332, -0.635, 0.237),
    STRAND(0.264, -0.332, -0.635, 0.237, 0.403, -0.354, -0.537, 0.241),
    STRAND(0.403, -0.354, -0.537, 0.241, 0.538, -0.323, -0.419, 0.245),
    STRAND(0.538, -0.323, -0.419, 0.245, 0.650, -0.245, -0.288, 0.248),
    STRAND(0.650, -0.245, -0.288, 0.248, 0.724, -0.132, -0.146, 0.249),
    STRAND(0.724, -0.132, -0.146, 0.249, 0.750, 0.000, 0.000, 0.250),
    STRAND(0.750, 0.000, 0.000, 0.250, 0.724, 0.132, 0.146, 0.249),
    STRAND(0.724, 0.132, 0.146, 0.249, 0.650, 0.245, 0.288, 0.248),
    STRAND(0.650, 0.245, 0.288, 0.248, 0.538, 0.323, 0.419, 0.245),
    STRAND(0.538, 0.323, 0.419, 0.245, 0.403, 0.354, 0.537, 0.241),
    STRAND(0.403, 0.354, 0.537, 0.241, 0.264, 0.332, 0.635, 0.237),
    STRAND(0.264, 0.332, 0.635, 0.237, 0.139, 0.259, 0.710, 0.231),
    STRAND(0.139, 0.259, 0.710, 0.231, 0.046, 0.144, 0.759, 0.226),
    STRAND(0.046, 0.144, 0.759, 0.226, 0.000, 0.000, 0.780, 0.220),
    STRAND(0.000, 0.000, -0.780, 0.220, 0.101, 0.112, -0.759, 0.226),
    STRAND(0.101, 0.112, -0.759, 0.226, 0.155, 0.250, -0.710, 0.231),
    STRAND(0.155, 0.250, -0.710, 0.231, 0.156, 0.394, -0.635, 0.237),
    STRAND(0.156, 0.394, -0.635, 0.237, 0.105, 0.526, -0.537, 0.241),
    STRAND(0.105, 0.526, -0.537, 0.241, 0.010, 0.628, -0.419, 0.245),
    STRAND(0.010, 0.628, -0.419, 0.245, -0.113, 0.686, -0.288, 0.248),
    STRAND(-0.113, 0.686, -0.288, 0.248, -0.248, 0.693, -0.146, 0.249),
    STRAND(-0.248, 0.693, -0.146, 0.249, -0.375, 0.650, 0.000, 0.250),
    STRAND(-0.375, 0.650, 0.000, 0.250, -0.476, 0.561, 0.146, 0.249),
    STRAND(-0.476, 0.561, 0.146, 0.249, -0.537, 0.441, 0.288, 0.248),
    STRAND(-0.537, 0.441, 0.288, 0.248, -0.549, 0.305, 0.419, 0.245),
    STRAND(-0.549, 0.305, 0.419, 0.245, -0.508, 0.172, 0.537, 0.241),
    STRAND(-0.508, 0.172, 0.537, 0.241, -0.419, 0.062, 0.635, 0.237),
    STRAND(-0.419, 0.062, 0.635, 0.237, -0.294, -0.010, 0.710, 0.231),
    STRAND(-0.294, -0.010, 0.710, 0.231, -0.148, -0.032, 0.759, 0.226),
    STRAND(-0.148, -0.032, 0.759, 0.226, 0.000, 0.000, 0.780, 0.220),
    STRAND(0.000, 0.000, -0.780, 0.220, -0.148, 0.032, -0.759, 0.226),
    STRAND(-0.148, 0.032, -0.759, 0.226, -0.294, 0.010, -0.710, 0.231),
    STRAND(-0.294, 0.010, -0.710, 0.231, -0.419, -0.062, -0.635, 0.237),
    STRAND(-0.419, -0.062, -0.635, 0.237, -0.508, -0.172, -0.537, 0.241),
    STRAND(-0.508, -0.172, -0.537, 0.241, -0.549, -0.305, -0.419, 0.245),
    STRAND(-0.549, -0.305, -0.419, 0.245, -0.537, -0.441, -0.288, 0.248),
    STRAND(-0.537, -0.441, -0.288, 0.248, -0.476, -0.561, -0.146, 0.249),
    STRAND(-0.476, -0.561, -0.146, 0.249, -0.375, -0.650, 0.000, 0.250),
    STRAND(-0.375, -0.650, 0.000, 0.250, -0.248, -0.693, 0.146, 0.249),
    STRAND(-0.248, -0.693, 0.146, 0.249, -0.113, -0.686, 0.288, 0.248),
    STRAND(-0.113, -0.686, 0.288, 0.248, 0.010, -0.628, 0.419, 0.245),
    STRAND(0.010, -0.628, 0.419, 0.245, 0.105, -0.526, 0.537, 0.241),
    STRAND(0.105, -0.526, 0.537, 0.241, 0.156, -0.394, 0.635, 0.237),
    STRAND(0.156, -0.394, 0.635, 0.237, 0.155, -0.250, 0.710, 0.231),
    STRAND(0.155, -0.250, 0.710, 0.231, 0.101, -0.112, 0.759, 0.226),
    STRAND(0.101, -0.112, 0.759, 0.226, 0.000, 0.000, 0.780, 0.220),
    /* poles */
    EB_BALL(0, 0, 0.68, 0.3, .blend = 0.15),
    EB_BALL(0, 0, -0.68, 0.3, .blend = 0.15),
};

static const eb_shape shape_sculpture = {EB_SHAPE_PARTS(sculpture_parts), .scale = 0.8};

/* ---- spider ---------------------------------------------------------------------------------- */

/* A toy spider that hangs on a thread, looking along x; joints and thread are soft. */

enum { STIFF, SOFT };

static const char *const spider_regions[] = {"stiff", "soft", NULL};

/* A leg from the hip h over knee k and ankle a to the tip t, left and right. */
#define BONE(...) EB_CONE(__VA_ARGS__, .blend = 0.1, .mirrored = true, .region = STIFF)
#define JOINT(x, y, z)                                                                             \
  EB_BALL(x, y, z, 0.41, .blend = 0.1, .mirrored = true, .owns = true, .region = SOFT)
#define LEG(hx, hy, hz, kx, ky, kz, ax, ay, az, tx, ty, tz)                                        \
  BONE(hx, hy, hz, 0.26, kx, ky, kz, 0.26), BONE(kx, ky, kz, 0.26, ax, ay, az, 0.26),              \
      BONE(ax, ay, az, 0.26, tx, ty, tz, 0.26), JOINT(hx, hy, hz), JOINT(kx, ky, kz),              \
      JOINT(ax, ay, az)

static const eb_primitive spider_parts[] = {
    EB_ELLIPSOID(0.55, 0, 0, 1.4, 0.8, 0.6, .region = STIFF),
    EB_ELLIPSOID(-2.35, 0, 0.3, 1.65, 1.05, 1.05, .blend = 0.5, .region = STIFF),
    EB_BALL(1.8, 0.3, 0.25, 0.26, .blend = 0.1, .mirrored = true, .region = STIFF),
    LEG(1.7, 0.65, 0.0, 3.2, 2.3, 1.1, 4.5, 3.7, -1.0, 5.0, 4.2, -2.8),
    LEG(0.9, 0.85, 0.0, 1.5, 3.0, 1.3, 2.0, 4.9, -1.0, 2.2, 5.6, -3.0),
    LEG(0.1, 0.85, 0.0, -0.3, 3.0, 1.3, -0.7, 5.0, -1.0, -0.8, 5.7, -3.0),
    LEG(-0.6, 0.7, 0.0, -1.6, 2.9, 1.1, -2.6, 4.6, -1.0, -3.0, 5.2, -2.8),
    EB_CONE(-0.3, 0, 0.4, 0.27, -0.3, 0, 7, 0.27, .blend = 0.2, .region = SOFT),
};

static const eb_shape shape_spider = {EB_SHAPE_PARTS(spider_parts), .scale = 0.025};

/* ---- three-torus ----------------------------------------------------------------------------- */

/* Three rings around the z axis, each grown together with the other two: genus 3. The centres lie
 * 1.12 from the axis, so that the gap in the middle is filled and adds no hole. */

#define RING(x, y) EB_TORUS(x, y, 0, 1, 0.21, 0, 0, 1, .blend = 0.2)

static const eb_primitive three_torus_parts[] = {
    RING(1.12, 0),
    RING(-0.56, 0.969948),
    RING(-0.56, -0.969948),
};

static const eb_shape shape_three_torus = {EB_SHAPE_PARTS(three_torus_parts), .scale = 0.11};

/* ---- crab ------------------------------------------------------------------------------------ */

/* A crab, 10 units wide; it looks along x, its left is y. Hard parts are joined by soft balls,
 * which own what is inside them. */

enum { SHELL, CRAB_JOINT };

static const char *const crab_regions[] = {"shell", "joints", NULL};

#define HARD(...) EB_CONE(__VA_ARGS__, .blend = 0.12, .region = SHELL, .mirrored = true)
#define KNUCKLE(x, y, z, r)                                                                        \
  EB_BALL(x, y, z, r, .blend = 0.12, .region = CRAB_JOINT, .owns = true, .mirrored = true)
/* Hip a, knee b, ankle c, tip d. */
#define CRAB_LEG(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)                                   \
  HARD(ax, ay, az, 0.46, bx, by, bz, 0.4), HARD(bx, by, bz, 0.38, cx, cy, cz, 0.32),               \
      HARD(cx, cy, cz, 0.3, dx, dy, dz, 0.14), KNUCKLE(ax, ay, az, 0.537),                         \
      KNUCKLE(bx, by, bz, 0.45), KNUCKLE(cx, cy, cz, 0.37)

static const eb_primitive crab_parts[] = {
    EB_ELLIPSOID(-0.6, 0, 2.3, 2.1, 2.6, 1.0, .blend = 0, .region = SHELL),
    EB_ELLIPSOID(-0.4, 0, 2.0, 1.7, 2.2, 0.9, .blend = 0.3, .region = SHELL),
    EB_CONE(1.2, 0.5, 2.6, 0.22, 1.6, 0.6, 3.3, 0.26, .blend = 0.1, .region = SHELL,
            .mirrored = true),
    CRAB_LEG(0.3, 2.2, 2.1, 0.9, 3.5, 3.1, 1.5, 4.5, 2.0, 1.7, 4.9, 0.2),
    CRAB_LEG(-0.5, 2.4, 2.1, -0.4, 3.7, 3.2, -0.3, 4.6, 2.0, -0.2, 4.9, 0.2),
    CRAB_LEG(-1.3, 2.2, 2.1, -1.9, 3.4, 3.1, -2.4, 4.3, 1.9, -2.6, 4.6, 0.2),
    CRAB_LEG(-2.0, 1.6, 2.1, -3.0, 2.5, 2.9, -3.7, 3.3, 1.7, -4.0, 3.6, 0.1),
    /* claws: arm, wrist, palm, two fingers */
    HARD(1.1, 1.7, 2.1, 0.5, 2.4, 2.9, 2.5, 0.45),
    HARD(2.4, 2.9, 2.5, 0.5, 3.4, 2.3, 2.6, 0.6),
    EB_TURNED_ELLIPSOID(3.9, 1.9, 2.6, 0.95, 0.5, 0.75, 1, -0.6, 0, .blend = 0.2, .region = SHELL,
                        .mirrored = true),
    HARD(4.2, 1.7, 3.0, 0.3, 4.8, 0.8, 3.0, 0.14),
    HARD(4.2, 1.7, 2.2, 0.28, 4.8, 0.8, 2.3, 0.12),
    KNUCKLE(1.1, 1.7, 2.1, 0.6),
    KNUCKLE(2.4, 2.9, 2.5, 0.58),
    KNUCKLE(3.3, 2.35, 2.6, 0.55),
};

static const eb_shape shape_crab = {EB_SHAPE_PARTS(crab_parts), .scale = 0.1};

/* ---- gatorman -------------------------------------------------------------------------------- */

/* An upright alligator that swings a broad sword, 10 units tall without it; it looks along x. */

enum { GATOR_BODY, SWORD };

static const char *const gatorman_regions[] = {"body", "sword", NULL};

#define SOFT_CONE(...) EB_CONE(__VA_ARGS__, .blend = 0.3, .region = GATOR_BODY)
#define SOFT_PAIR(...) EB_CONE(__VA_ARGS__, .blend = 0.3, .region = GATOR_BODY, .mirrored = true)

static const eb_primitive gatorman_parts[] = {
    /* belly, chest, neck, head, snout, eyes */
    EB_ELLIPSOID(0, 0, 4.0, 1.25, 1.4, 1.6, .blend = 0, .region = GATOR_BODY),
    EB_ELLIPSOID(0.1, 0, 5.9, 1.05, 1.5, 1.3, .blend = 0.5, .region = GATOR_BODY),
    SOFT_CONE(0.1, 0, 6.9, 0.75, 0.3, 0, 7.9, 0.7),
    EB_BALL(0.5, 0, 8.4, 0.95, .blend = 0.4, .region = GATOR_BODY),
    SOFT_CONE(1.0, 0, 8.4, 0.7, 3.0, 0, 8.0, 0.42),
    EB_BALL(0.8, 0.5, 9.2, 0.3, .blend = 0.15, .region = GATOR_BODY, .mirrored = true),
    /* legs, feet, tail */
    SOFT_PAIR(0, 0.8, 3.0, 0.8, 0.3, 1.0, 1.6, 0.6),
    SOFT_PAIR(0.3, 1.0, 1.6, 0.6, 0, 1.0, 0.5, 0.5),
    SOFT_PAIR(0, 1.0, 0.4, 0.4, 1.2, 1.1, 0.35, 0.35),
    SOFT_CONE(-0.9, 0, 3.3, 0.85, -2.6, 0, 2.2, 0.6),
    SOFT_CONE(-2.6, 0, 2.2, 0.6, -4.2, 0, 1.8, 0.3),
    /* the left arm hangs, the right one holds the sword before the body */
    SOFT_CONE(0.1, 1.5, 6.5, 0.55, 0.4, 2.3, 5.2, 0.45),
    SOFT_CONE(0.4, 2.3, 5.2, 0.42, 1.2, 2.2, 4.3, 0.38),
    SOFT_CONE(0.1, -1.5, 6.5, 0.55, 1.0, -2.3, 5.6, 0.45),
    SOFT_CONE(1.0, -2.3, 5.6, 0.42, 2.3, -2.0, 5.8, 0.42),
    EB_CONE(2.5, -2.0, 5.2, 0.3, 2.5, -2.0, 6.6, 0.3, .blend = 0.1, .region = SWORD, .owns = true),
    EB_BOX(2.5, -2.0, 6.8, 1.1, 0.36, 0.28, 0.1, .blend = 0.1, .region = SWORD, .owns = true),
    EB_BOX(2.5, -2.0, 9.6, 0.9, 0.378, 2.8, 0.15, .blend = 0.1, .region = SWORD, .owns = true),
    EB_CONE(2.5, -2.0, 12.4, 0.25, 2.5, -2.0, 13.0, 0.16, .blend = 0.1, .region = SWORD,
            .owns = true),
};

static const eb_shape shape_gatorman = {EB_SHAPE_PARTS(gatorman_parts), .scale = 0.1};

/* ---- mammoth --------------------------------------------------------------------------------- */

/* A mammoth, 10 units long; it looks along x, its left is y. Bones run inside the muscle and own
 * what is inside them; joints, which come last, cut the bones into pieces. */

enum { MUSCLE, BONE, MAMMOTH_JOINT };

static const char *const mammoth_regions[] = {"muscle", "bone", "joints", NULL};

#define FLESH(...)   EB_CONE(__VA_ARGS__, .blend = 0.4, .region = MUSCLE)
#define FLESHES(...) EB_CONE(__VA_ARGS__, .blend = 0.4, .region = MUSCLE, .mirrored = true)
#define BONES(...)   EB_CONE(__VA_ARGS__, .region = BONE, .owns = true, .mirrored = true)
#define SPINAL(...)  EB_CONE(__VA_ARGS__, .region = BONE, .owns = true)
#define LINK(x, y, z, r)                                                                           \
  EB_BALL(x, y, z, r, .blend = 0, .region = MAMMOTH_JOINT, .owns = true, .mirrored = true)

static const eb_primitive mammoth_parts[] = {
    /* trunk of the body, hump, head, dome, ears */
    EB_ELLIPSOID(-0.6, 0, 4.2, 2.9, 1.6, 1.7, .blend = 0, .region = MUSCLE),
    EB_ELLIPSOID(0.9, 0, 5.2, 1.6, 1.3, 1.4, .blend = 0.6, .region = MUSCLE),
    FLESH(1.4, 0, 5.0, 1.0, 2.9, 0, 5.5, 1.0),
    EB_ELLIPSOID(3.1, 0, 6.0, 1.0, 1.0, 1.2, .blend = 0.4, .region = MUSCLE),
    EB_TURNED_ELLIPSOID(2.5, 1.2, 5.7, 0.5, 0.22, 0.75, 1, 0.6, 0, .blend = 0.2, .region = MUSCLE,
                        .mirrored = true),
    /* the trunk */
    FLESH(3.8, 0, 5.3, 0.6, 4.5, 0, 4.0, 0.48),
    FLESH(4.5, 0, 4.0, 0.48, 4.7, 0, 2.7, 0.38),
    FLESH(4.7, 0, 2.7, 0.38, 4.9, 0, 1.6, 0.3),
    FLESH(4.9, 0, 1.6, 0.3, 5.4, 0, 1.1, 0.26),
    /* legs */
    FLESHES(1.2, 1.0, 3.6, 0.85, 1.3, 1.1, 1.9, 0.62),
    FLESHES(1.3, 1.1, 1.9, 0.6, 1.2, 1.1, 0.6, 0.6),
    FLESHES(-2.4, 1.0, 3.6, 0.95, -2.2, 1.1, 1.9, 0.62),
    FLESHES(-2.2, 1.1, 1.9, 0.6, -2.4, 1.1, 0.6, 0.6),
    /* tail, tusks */
    FLESH(-3.3, 0, 4.4, 0.35, -3.9, 0, 3.0, 0.22),
    BONES(3.6, 0.6, 4.9, 0.3, 4.6, 1.0, 3.6, 0.26),
    BONES(4.6, 1.0, 3.6, 0.26, 5.8, 0.9, 3.6, 0.22),
    BONES(5.8, 0.9, 3.6, 0.22, 6.3, 0.6, 4.4, 0.15),
    /* spine and skull */
    SPINAL(-3.1, 0, 4.9, 0.3, -1.7, 0, 5.2, 0.36),
    SPINAL(-1.7, 0, 5.2, 0.36, -0.3, 0, 5.3, 0.36),
    SPINAL(-0.3, 0, 5.3, 0.36, 1.0, 0, 5.6, 0.36),
    SPINAL(1.0, 0, 5.6, 0.36, 2.4, 0, 5.7, 0.36),
    EB_ELLIPSOID(3.1, 0, 6.0, 0.75, 0.72, 0.9, .blend = 0, .region = BONE, .owns = true),
    /* upper and lower legs */
    BONES(1.1, 0.95, 4.1, 0.34, 1.3, 1.1, 2.1, 0.3),
    BONES(1.3, 1.1, 1.8, 0.3, 1.2, 1.1, 0.5, 0.3),
    BONES(-2.3, 0.95, 4.2, 0.36, -2.2, 1.1, 2.1, 0.3),
    BONES(-2.2, 1.1, 1.8, 0.3, -2.4, 1.1, 0.5, 0.3),
    /* joints: shoulders, hips, knees, between the vertebrae, the neck */
    LINK(1.1, 0.9, 4.3, 0.5),
    LINK(-2.3, 0.9, 4.4, 0.52),
    LINK(1.3, 1.1, 1.95, 0.42),
    LINK(-2.2, 1.1, 1.95, 0.42),
    LINK(-1.7, 0, 5.2, 0.42),
    LINK(-0.3, 0, 5.3, 0.42),
    LINK(1.0, 0, 5.6, 0.42),
    LINK(2.3, 0, 5.7, 0.48),
};

static const eb_shape shape_mammoth = {EB_SHAPE_PARTS(mammoth_parts), .scale = 0.1};

/* ---- octobot --------------------------------------------------------------------------------- */

/* An eight-armed soft robot, 10 units across, about the z axis: a head with a stiff core, arms
 * whose middle pieces are stiff. Arms come in pairs, left and right of the x axis. */

enum { OCTO_SOFT, OCTO_STIFF };

static const char *const octobot_regions[] = {"soft", "stiff", NULL};

/* An arm in the direction (c, s). */
#define ARM_PIECE(c, s, r0, z0, w0, r1, z1, w1, where)                                             \
  EB_CONE((c) * (r0), (s) * (r0), z0, w0, (c) * (r1), (s) * (r1), z1, w1, .blend = 0.2,            \
          .region = where, .mirrored = true)
#define ARM(c, s)                                                                                  \
  ARM_PIECE(c, s, 0.8, 1.4, 0.62, 2.0, 1.2, 0.52, OCTO_SOFT),                                      \
      ARM_PIECE(c, s, 2.0, 1.2, 0.52, 3.0, 0.8, 0.46, OCTO_STIFF),                                 \
      ARM_PIECE(c, s, 3.0, 0.8, 0.46, 3.9, 0.5, 0.38, OCTO_SOFT),                                  \
      ARM_PIECE(c, s, 3.9, 0.5, 0.38, 4.7, 0.6, 0.28, OCTO_SOFT)

static const eb_primitive octobot_parts[] = {
    EB_ELLIPSOID(0, 0, 2.6, 1.4, 1.4, 1.7, .blend = 0, .region = OCTO_SOFT),
    EB_CYLINDER(0, 0, 0.8, 0, 0, 1.9, 1.3, 0.3, .blend = 0.3, .region = OCTO_SOFT),
    EB_BALL(1.1, 0.5, 3.2, 0.35, .blend = 0.1, .region = OCTO_STIFF, .mirrored = true),
    ARM(0.92388, 0.38268),
    ARM(0.38268, 0.92388),
    ARM(-0.38268, 0.92388),
    ARM(-0.92388, 0.38268),
    EB_BALL(0, 0, 2.9, 0.8, .blend = 0, .region = OCTO_STIFF, .owns = true),
};

static const eb_shape shape_octobot = {EB_SHAPE_PARTS(octobot_parts), .scale = 0.1};

/* ---- candy ----------------------------------------------------------------------------------- */

/* A wrapped candy, 10 units long, along x: a hard middle, which owns what is inside it, and at both
 * ends a neck that fans out. */

enum { CANDY_HARD, CANDY_SOFT };

static const char *const candy_regions[] = {"hard", "soft", NULL};

/* The end on the side s = 1 or -1. */
#define CANDY_END(s)                                                                               \
  EB_CONE((s)*1.2, 0, 0, 0.8, (s)*2.0, 0, 0, 0.45, .blend = 0.2, .region = CANDY_SOFT),            \
      EB_CONE((s)*2.0, 0, 0, 0.45, (s)*3.8, 0, 0, 0.45, .blend = 0.1, .region = CANDY_SOFT),       \
      EB_CONE((s)*3.8, 0, 0, 0.45, (s)*4.4, 0, 0, 0.6, .blend = 0.1, .region = CANDY_SOFT),        \
      EB_CYLINDER((s)*4.4, 0, 0, (s)*5, 0, 0, 1.4, 0.25, .blend = 0.3, .region = CANDY_SOFT)

static const eb_primitive candy_parts[] = {
    EB_ELLIPSOID(0, 0, 0, 1.7, 1.5, 1.5, .blend = 0, .region = CANDY_HARD, .owns = true),
    CANDY_END(1),
    CANDY_END(-1),
};

static const eb_shape shape_candy = {EB_SHAPE_PARTS(candy_parts), .scale = 0.1};

/* ---- pendulum -------------------------------------------------------------------------------- */

/* A ball under an upright stem, 29 units tall. The stem is three times as thick and as long as that
 * of the scene, which draws it out: a lattice that would hardly hit a slender stem fills this one.
 */

enum { PENDULUM_BALL, PENDULUM_STEM };

static const char *const pendulum_regions[] = {"ball", "stem", NULL};

static const eb_primitive pendulum_parts[] = {
    EB_CYLINDER(0, 0, 1.5, 0, 0, 29.2, 0.45, 0.05, .blend = 0, .region = PENDULUM_STEM),
    EB_BALL(0, 0, 1.5, 1.5, .blend = 0.1, .region = PENDULUM_BALL, .owns = true),
};

static const eb_shape shape_pendulum = {EB_SHAPE_PARTS(pendulum_parts), .scale = 0.1};

/* ---- snail ----------------------------------------------------------------------------------- */

/* A snail on a flat sole, 10 units long; it looks along x, its left is y. The shell owns what is
 * inside it. */

enum { SNAIL_SHELL, SNAIL_BODY };

static const char *const snail_regions[] = {"shell", "body", NULL};

#define SNAIL_SOFT(...)  EB_CONE(__VA_ARGS__, .blend = 0.3, .region = SNAIL_BODY)
#define SNAIL_WHORL(...) EB_TORUS(__VA_ARGS__, .blend = 0.1, .region = SNAIL_SHELL, .owns = true)

static const eb_primitive snail_parts[] = {
    /* foot and tail, with the sole cut flat; what carries the shell */
    EB_ELLIPSOID(0, 0, 0.3, 4.4, 1.2, 0.9, .blend = 0, .region = SNAIL_BODY),
    SNAIL_SOFT(-2.6, 0, 0.5, 0.8, -5.0, 0, 0.2, 0.4),
    EB_BOX(0, 0, -1, 7, 3, 1, 0.1, .blend = 0.1, .cut = true),
    SNAIL_SOFT(-0.6, 0, 1.2, 1.0, -0.6, 0, 1.8, 1.0),
    /* neck, head, horns with eyes, feelers */
    SNAIL_SOFT(2.8, 0, 1.0, 0.85, 4.1, 0, 2.3, 0.65),
    EB_BALL(4.3, 0, 2.5, 0.78, .blend = 0.3, .region = SNAIL_BODY),
    EB_CONE(4.4, 0.4, 3.0, 0.34, 4.9, 0.8, 4.4, 0.28, .blend = 0.1, .region = SNAIL_BODY,
            .mirrored = true),
    EB_BALL(4.9, 0.8, 4.5, 0.38, .blend = 0.1, .region = SNAIL_BODY, .mirrored = true),
    EB_CONE(4.7, 0.35, 2.3, 0.32, 5.2, 0.5, 1.9, 0.3, .blend = 0.1, .region = SNAIL_BODY,
            .mirrored = true),
    /* whorls, ever smaller towards both sides */
    EB_BALL(-0.6, 0, 3.5, 1.5, .blend = 0.1, .region = SNAIL_SHELL, .owns = true),
    SNAIL_WHORL(-0.6, 0, 3.5, 1.45, 0.95, 0, 1, 0),
    EB_TORUS(-0.6, 0.75, 3.6, 0.85, 0.6, 0, 1, 0, .blend = 0.1, .region = SNAIL_SHELL, .owns = true,
             .mirrored = true),
    EB_BALL(-0.6, 1.2, 3.65, 0.55, .blend = 0.1, .region = SNAIL_SHELL, .owns = true,
            .mirrored = true),
};

static const eb_shape shape_snail = {EB_SHAPE_PARTS(snail_parts), .scale = 0.1};

/* ---- the table ------------------------------------------------------------------------------- */

#define SOLID(shape, names, x0, y0, z0, x1, y1, z1)                                                \
  {                                                                                                \
    .distance = eb_shape_distance, .region = eb_shape_region, .region_names = (names),             \
    .context = &(shape), .lo = {x0, y0, z0}, .hi = {                                               \
      x1,                                                                                          \
      y1,                                                                                          \
      z1                                                                                           \
    }                                                                                              \
  }

const eb_model *eb_models(void) {
  static const eb_model models[] = {
      {.name = "armadillo",
       .summary = "an upright armadillo with raised hands, 0.3 m tall",
       .solid = SOLID(shape_armadillo, NULL, -0.115, -0.12, -0.01, 0.08, 0.12, 0.32)},
      {.name = "bear",
       .summary = "a sitting teddy bear, 0.2 m tall",
       .solid = SOLID(shape_bear, NULL, -0.08, -0.1, -0.01, 0.12, 0.1, 0.22)},
      {.name = "bunny",
       .summary = "a crouching rabbit with long ears, 0.12 m tall",
       .solid = SOLID(shape_bunny, NULL, -0.065, -0.04, -0.01, 0.07, 0.04, 0.13)},
      {.name = "candy",
       .summary = "a wrapped candy, hard with soft ends, 1 m long",
       .solid = SOLID(shape_candy, candy_regions, -0.55, -0.2, -0.2, 0.55, 0.2, 0.2)},
      {.name = "crab",
       .summary = "a crab of hard pieces with soft joints, 1 m wide",
       .solid = SOLID(shape_crab, crab_regions, -0.45, -0.55, -0.02, 0.52, 0.55, 0.4)},
      {.name = "dragon",
       .summary = "a Chinese dragon with open jaws, 0.15 m long",
       .solid = SOLID(shape_dragon, dragon_regions, -0.08, -0.04, -0.01, 0.08, 0.04, 0.1)},
      {.name = "gatorman",
       .summary = "an upright alligator with a broad sword, 1.3 m tall",
       .solid = SOLID(shape_gatorman, gatorman_regions, -0.5, -0.3, -0.02, 0.4, 0.3, 1.34)},
      {.name = "mammoth",
       .summary = "a mammoth with bones and joints inside, 1 m long",
       .solid = SOLID(shape_mammoth, mammoth_regions, -0.46, -0.25, -0.02, 0.68, 0.25, 0.76)},
      {.name = "octobot",
       .summary = "an eight-armed soft robot with stiff pieces, 1 m across",
       .solid = SOLID(shape_octobot, octobot_regions, -0.55, -0.55, -0.02, 0.55, 0.55, 0.46)},
      {.name = "pendulum",
       .summary = "a ball of 0.3 m under a stem, 2.9 m tall",
       .solid = SOLID(shape_pendulum, pendulum_regions, -0.2, -0.2, -0.05, 0.2, 0.2, 2.97)},
      {.name = "sculpture",
       .summary = "an openwork sphere of three twisted strands, radius 0.8 m",
       .solid = SOLID(shape_sculpture, NULL, -0.85, -0.85, -0.85, 0.85, 0.85, 0.85)},
      {.name = "snail",
       .summary = "a snail with a shell, 1 m long",
       .solid = SOLID(shape_snail, snail_regions, -0.6, -0.25, -0.05, 0.62, 0.25, 0.65)},
      {.name = "spider",
       .summary = "a toy spider with jointed legs hanging on a thread, 0.25 m tall",
       .solid = SOLID(shape_spider, spider_regions, -0.13, -0.16, -0.095, 0.145, 0.16, 0.2)},
      {.name = "three-torus",
       .summary = "three rings grown together, genus 3, 0.45 m across",
       .solid = SOLID(shape_three_torus, NULL, -0.3, -0.3, -0.07, 0.3, 0.3, 0.07)},
      {.name = NULL},
  };
  return models;
}

const eb_model *eb_model_find(const char *name) {
  for (const eb_model *model = eb_models(); model->name; model++)
    if (strcmp(model->name, name) == 0) return model;
  return NULL;
}
