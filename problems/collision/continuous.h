/* Continuous collision detection of moving points: does a vertex pass through a triangle, or an
 * edge through an edge, while all four points move on straight lines from x0 to x1 in the same
 * time, t in [0, 1]?
 *
 * The four points are coplanar where f(t) = det[b - a, c - a, d - a](t) = 0, a cubic; a collision
 * is a root at which the point lies in the triangle, or the edges meet. Nothing is missed: roots
 * are isolated from the cubic in Bernstein form with outward rounded error bounds, and where the
 * bounds cannot exclude a collision there is one. So an answer `false` is a proof, an answer `true`
 * may be a near miss within the rounding errors. Degenerate cases (flat triangles, parallel edges,
 * motion within the plane: f = 0 throughout) are decided by the distance of the features in
 * conservative steps. Touching counts. */
#ifndef EB_CONTINUOUS_H
#define EB_CONTINUOUS_H

#include <stdbool.h>

#include "problems/collision/pair.h"

/* x0, x1: EB_VERTEX_FACE: the vertex, then the corners of the triangle; EB_EDGE_EDGE: the ends of
 * one edge, then of the other. m. With `true`, *time is a time in [0, 1] not later than the first
 * contact and near it, at which the features have not passed each other (and in (0, 1] unless they
 * touch at x0). */
bool eb_continuous_collision(eb_pair_kind kind, const double x0[4][3], const double x1[4][3],
                             double *time);

/* Closest points of the features: weight[4], signed, sum 0: the difference of the closest points is
 * sum_i weight[i] x[i], from the triangle to the vertex (weights 1, -a, -b, -c) or from the second
 * edge to the first (1-s, s, -(1-r), -r). Returns its length, m. For degenerate features too. */
double eb_closest_points(eb_pair_kind kind, const double x[4][3], double weight[4]);

#endif
