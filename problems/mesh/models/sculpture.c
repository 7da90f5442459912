/* The thirty edges of a dodecahedron as struts: an openwork sphere of radius 1. */
#include "problems/mesh/models/shape.h"

#define STRUT(x0, y0, z0, x1, y1, z1)                                                              \
  EB_CONE(x0, y0, z0, 0.15, x1, y1, z1, 0.15, .blend = 0.06, .fold = EB_FOLD_XYZ)
/* Vertices of a dodecahedron on the sphere of radius 0.85: (U U U), (0 S L) and cyclic. */
#define U 0.490748
#define S 0.303299
#define L 0.794047

static const eb_part parts[] = {
    STRUT(U, U, U, 0, S, L), STRUT(U, U, U, S, L, 0), STRUT(U, U, U, L, 0, S),
    STRUT(0, 0, L, 0, S, L), STRUT(0, L, 0, S, L, 0), STRUT(L, 0, 0, L, 0, S),
};

const eb_shape eb_shape_sculpture = {EB_SHAPE_PARTS(parts), .scale = 0.8};
