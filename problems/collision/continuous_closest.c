/* Closest points of a vertex and a triangle, or of two edges.
 *
 * The distance is convex in the weights, so the closest points are either those of the plane or the lines (normal equations, solved by
 * cross products with N = e1 x e2) when these lie within the features, or they are those of a vertex and an edge. All these are tried and
 * the best is taken: flat triangles, parallel edges and edges without length need no case of their own, for a vertex and an edge
 * have closest points always. Every candidate is a pair of points of the features, so rounding never gives a distance that is too short but by
 * rounding of the difference itself. No workspace, cannot fail. */
#include "problems/collision/continuous.h"

#include <math.h>

#include "problems/base/vector3.h"

typedef struct closest {
  double squared, weight[4];
} closest;

static void consider(double y[4][3], const double weight[4], closest *best) {
  double difference[3] = {0};
  for (int i = 0; i < 4; i++) eb_add3(weight[i], y[i], difference);
  double squared = eb_dot3(difference, difference);
  if (!(squared < best->squared)) return;
  best->squared = squared;
  for (int i = 0; i < 4; i++) best->weight[i] = weight[i];
}

/* The vertex is of the first feature (sign 1) or of the second (-1). */
static void consider_vertex_edge(double y[4][3], int vertex, int from, int to, double sign,
                                 closest *best) {
  double edge[3], reach[3], weight[4] = {0};
  for (int d = 0; d < 3; d++) {
    edge[d] = y[to][d] - y[from][d];
    reach[d] = y[vertex][d] - y[from][d];
  }
  double along = eb_dot3(reach, edge), squared = eb_dot3(edge, edge);
  double s = !(along > 0) ? 0 : along >= squared ? 1 : along / squared;
  weight[vertex] = sign;
  weight[from] = -sign * (1 - s);
  weight[to] = -sign * s;
  consider(y, weight, best);
}

/* The place on the second edge that is closest to s on the first. Of edges with a small sine both places are known to u / sine alone, the one to the
 * other much better. */
static double beside(const double reach[3], const double e1[3], const double e2[3], double s) {
  double r = (s * eb_dot3(e1, e2) - eb_dot3(reach, e2)) / eb_dot3(e2, e2);
  return fmin(fmax(r, 0), 1);
}

static void consider_interior(eb_pair_kind kind, double y[4][3], closest *best) {
  bool edges = kind == EB_EDGE_EDGE;
  double e1[3], e2[3], reach[3], normal[3], p[3], q[3];
  for (int d = 0; d < 3; d++) {
    e1[d] = edges ? y[1][d] - y[0][d] : y[2][d] - y[1][d];
    e2[d] = edges ? y[3][d] - y[2][d] : y[3][d] - y[1][d];
    reach[d] = edges ? y[2][d] - y[0][d] : y[0][d] - y[1][d];
  }
  eb_cross3(e1, e2, normal);
  eb_cross3(reach, e2, p);
  if (edges)
    eb_cross3(reach, e1, q);
  else
    eb_cross3(e1, reach, q);
  double squared = eb_dot3(normal, normal);
  double s = eb_dot3(p, normal) / squared, r = eb_dot3(q, normal) / squared;
  if (!(s >= 0 && r >= 0 && (edges ? s <= 1 && r <= 1 : s + r <= 1))) return;
  if (edges) r = beside(reach, e1, e2, s);
  double of_edges[4] = {1 - s, s, -(1 - r), -r}, of_face[4] = {1, -(1 - s - r), -s, -r};
  consider(y, edges ? of_edges : of_face, best);
}

double eb_closest_points(eb_pair_kind kind, const double x[4][3], double weight[4]) {
  double y[4][3];
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) y[i][d] = x[i][d] - x[1][d];
  closest best = {INFINITY, {0}};
  if (kind == EB_VERTEX_FACE) {
    consider_vertex_edge(y, 0, 1, 2, 1, &best);
    consider_vertex_edge(y, 0, 2, 3, 1, &best);
    consider_vertex_edge(y, 0, 3, 1, 1, &best);
  } else {
    consider_vertex_edge(y, 0, 2, 3, 1, &best);
    consider_vertex_edge(y, 1, 2, 3, 1, &best);
    consider_vertex_edge(y, 2, 0, 1, -1, &best);
    consider_vertex_edge(y, 3, 0, 1, -1, &best);
  }
  consider_interior(kind, y, &best);
  for (int i = 0; i < 4; i++) weight[i] = best.weight[i];
  return sqrt(best.squared);
}
