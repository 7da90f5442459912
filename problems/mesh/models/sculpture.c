/* A cage on the sphere of radius 1: the twelve edges of a cube as struts that bulge outwards, standing
 * on a corner. */
#include "problems/mesh/models/shape.h"

/* Axes lie on the sphere of radius 0.755: corners at (C C C), middles of edges at (0 M M). */
#define C              0.435899
#define M              0.533866
#define TUBE           0.245
#define STRUT(x, y, z) EB_CONE(C, C, C, TUBE, x, y, z, TUBE, .blend = 0.08, .fold = EB_FOLD_XYZ)

static const eb_part parts[] = {STRUT(0, M, M), STRUT(M, 0, M), STRUT(M, M, 0)};

/* Takes (1 1 1) to the vertical. */
static const double turn[3][3] = {
    {0.707106781186547, 0.408248290463863, 0.577350269189626},
    {-0.707106781186547, 0.408248290463863, 0.577350269189626},
    {0, -0.816496580927726, 0.577350269189626},
};

const eb_shape eb_shape_sculpture = {EB_SHAPE_PARTS(parts), .scale = 0.8, .turn = turn};
