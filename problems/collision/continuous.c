/* Continuous collision of a vertex and a triangle, or of two edges, without misses (continuous.h).
 *
 * Of the four points only differences matter: the edges e1 and e2 of the triangle, or of the pair,
 * and the reach r from the first corner to the vertex, or from the first edge to the second. On a
 * part [t0, t1] of the time all three are linear, and three tests may prove that there is no
 * contact:
 * - f = det[e1, e2, r], a cubic. When its four Bernstein coefficients have one sign, so has f,
 *   and contact needs f = 0. Else their convex hull tells a part of the time outside of which f
 *   has no root (Bezier clipping; Sederberg and Nishita 1990).
 * - Projected along a coordinate axis a point of the triangle still is one, so the areas of the
 *   three triangles that it makes with the edges have no opposite signs; and edges that meet
 *   have ends on both sides of each other. The areas are quadratics, again in Bernstein form.
 *   These decide what happens within the plane, also when f = 0 throughout.
 * - A fixed axis n: when at t0 and at t1 all of one feature is above all of the other, then also
 *   between, for the heights are linear. The first time at which two heights meet is a step of
 *   conservative advancement (Mirtich 1996). The axis is that of the closest points.
 * A part that none excludes is clipped or halved, earlier half first; one that is `shortest` counts
 * as contact, as does what is left after BUDGET tests (some tens of microseconds). So *time is the
 * start of a part, with everything before excluded.
 *
 * Errors. Let u = 2^-53 and m the largest absolute component of a vector at t = 0 and 1. A
 * difference of coordinates is good to u m, at a time within to 4 u m more, altogether 5 u m.
 * - f: 6 products of three components, with errors 15 u m1 m2 mr of the factors and 8 u of each
 *   operation in turn: 138 u m1 m2 mr.
 * - area of X and Y, sums of two vectors, mX the sum of their m: 2 products, 12 u of the
 *   factors, 4 u in turn: 32 u mX mY.
 * - height over n, exact as it stands: 8 u |n|_1 m for each vector.
 * The bounds taken are about twice these; a tiny constant stands for underflow. So an exclusion is
 * a proof. Features on both sides of a fixed plane are told apart at 1e-9 of the differences;
 * triangles that get flat as they meet the vertex were seen to count as contact at 2e-9 of them.
 * The search is of vectors scaled by a power of two to size 1. No workspace, cannot fail. */
#include "problems/collision/continuous.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "problems/base/vector3.h"

/* ---- closest points -------------------------------------------------------------------------- */

/* Closest points of a vertex and a triangle, or of two edges.
 *
 * The distance is convex in the weights, so the closest points are either those of the plane or the
 * lines (normal equations, solved by cross products with N = e1 x e2) when these lie within the
 * features, or they are those of a vertex and an edge. All these are tried and the best is taken:
 * flat triangles, parallel edges and edges without length need no case of their own, for a vertex
 * and an edge have closest points always. Every candidate is a pair of points of the features, so
 * rounding never gives a distance that is too short but by rounding of the difference itself. No
 * workspace, cannot fail. */

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

/* A vertex of one feature against an edge of the other: the corners of each such pair. A face has
 * three edges, and the first one once more. */
enum { TRIED = 4 };
static const int8_t vertex_of[2][TRIED] = {{0, 0, 0, 0}, {0, 1, 2, 3}},
                    from_of[2][TRIED] = {{1, 2, 3, 1}, {2, 2, 0, 0}},
                    to_of[2][TRIED] = {{2, 3, 1, 2}, {3, 3, 1, 1}};

/* All at once, without branches, which compilers make vectors of: this is most of what bodies at
 * rest upon each other cost, whose features are near and are measured in every step. */
static void consider_vertex_edges(eb_pair_kind kind, double y[4][3], closest *best) {
  double vertex[3][TRIED], from[3][TRIED], to[3][TRIED], distance[TRIED];
  double sign[TRIED], w_from[TRIED], w_to[TRIED];
  for (int d = 0; d < 3; d++)
    for (int l = 0; l < TRIED; l++) {
      vertex[d][l] = y[vertex_of[kind][l]][d];
      from[d][l] = y[from_of[kind][l]][d];
      to[d][l] = y[to_of[kind][l]][d];
    }
  /* The vertex is of the first feature (sign 1) or of the second (-1). */
  for (int l = 0; l < TRIED; l++) sign[l] = vertex_of[kind][l] < 2 ? 1 : -1;
  for (int l = 0; l < TRIED; l++) {
    double along = 0, squared = 0;
    for (int d = 0; d < 3; d++) {
      double edge = to[d][l] - from[d][l];
      along += (vertex[d][l] - from[d][l]) * edge;
      squared += edge * edge;
    }
    double s = along / squared;
    s = along >= squared ? 1 : s;
    s = along > 0 ? s : 0;
    w_from[l] = -sign[l] * (1 - s);
    w_to[l] = -sign[l] * s;
    distance[l] = 0;
    for (int d = 0; d < 3; d++) {
      double difference = sign[l] * vertex[d][l] + w_from[l] * from[d][l] + w_to[l] * to[d][l];
      distance[l] += difference * difference;
    }
  }
  for (int l = 0; l < TRIED; l++) {
    if (!(distance[l] < best->squared)) continue;
    *best = (closest){.squared = distance[l]};
    best->weight[vertex_of[kind][l]] = sign[l];
    best->weight[from_of[kind][l]] = w_from[l];
    best->weight[to_of[kind][l]] = w_to[l];
  }
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
  /* Of edges with a small sine both places are known to u / sine alone, the one to the other much
   * better: on the second edge the one that is closest to s on the first is taken. */
  if (edges) r = fmin(fmax((s * eb_dot3(e1, e2) - eb_dot3(reach, e2)) / eb_dot3(e2, e2), 0), 1);
  double of_edges[4] = {1 - s, s, -(1 - r), -r}, of_face[4] = {1, -(1 - s - r), -s, -r};
  consider(y, edges ? of_edges : of_face, best);
}

double eb_closest_points(eb_pair_kind kind, const double x[4][3], double weight[4]) {
  double y[4][3];
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) y[i][d] = x[i][d] - x[1][d];
  closest best = {INFINITY, {0}};
  consider_vertex_edges(kind, y, &best);
  consider_interior(kind, y, &best);
  for (int i = 0; i < 4; i++) weight[i] = best.weight[i];
  return sqrt(best.squared);
}

/* ---- the motion ------------------------------------------------------------------------------ */

/* Every part that waits is at most half of the one below it and longer than `shortest` / 2: 37 at
 * most. */
enum { EDGE1, EDGE2, REACH, BUDGET = 512, DEPTH = 40 };

static const double volume_error = 256 * (DBL_EPSILON / 2), area_error = 64 * (DBL_EPSILON / 2),
                    height_error = 16 * (DBL_EPSILON / 2), underflow = 1e-290;
/* Shortest part: the features move by 1e-10 of their size at most. Margin of quotients that end up
 * in times. */
static const double shortest = 0x1p-36, below_one = 1 - 64 * DBL_EPSILON;

/* e1, e2 and r at the start and the end, and the largest component of each. */
typedef struct motion {
  eb_pair_kind kind;
  double v[2][3][3], size[3];
} motion;

static inline bool one_sign(const double *c, int count, double bound) {
  bool above = true, below = true;
  for (int k = 0; k < count; k++) {
    above &= c[k] > bound;
    below &= c[k] < -bound;
  }
  return above || below;
}

/* ---- what most candidates need ---- */

static inline bool boxes_apart(int first, const double x0[4][3], const double x1[4][3]) {
  for (int d = 0; d < 3; d++) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
      int f = i >= first;
      double least = x0[i][d] < x1[i][d] ? x0[i][d] : x1[i][d];
      double most = x0[i][d] > x1[i][d] ? x0[i][d] : x1[i][d];
      low[f] = least < low[f] ? least : low[f];
      high[f] = most > high[f] ? most : high[f];
    }
    if (high[0] < low[1] || high[1] < low[0]) return true;
  }
  return false;
}

static inline void difference(int end, int vector, const double from[3], const double to[3],
                              motion *m) {
  for (int d = 0; d < 3; d++) {
    double value = to[d] - from[d], magnitude = fabs(value);
    m->v[end][vector][d] = value;
    m->size[vector] = magnitude > m->size[vector] ? magnitude : m->size[vector];
  }
}

static inline void differences(int end, const double x[4][3], motion *m) {
  bool face = m->kind == EB_VERTEX_FACE;
  difference(end, EDGE1, x[face ? 1 : 0], x[face ? 2 : 1], m);
  difference(end, EDGE2, x[face ? 1 : 2], x[3], m);
  difference(end, REACH, x[face ? 1 : 0], x[face ? 0 : 2], m);
}

static inline void volume(const motion *m, double f[4]) {
  const double(*a)[3] = m->v[0], (*b)[3] = m->v[1];
  double start[3], mixed[3], other[3], end[3];
  eb_cross3(a[EDGE1], a[EDGE2], start);
  eb_cross3(a[EDGE1], b[EDGE2], mixed);
  eb_cross3(b[EDGE1], a[EDGE2], other);
  eb_cross3(b[EDGE1], b[EDGE2], end);
  eb_add3(1, other, mixed);
  f[0] = eb_dot3(a[REACH], start);
  f[1] = (eb_dot3(b[REACH], start) + eb_dot3(a[REACH], mixed)) / 3;
  f[2] = (eb_dot3(b[REACH], mixed) + eb_dot3(a[REACH], end)) / 3;
  f[3] = eb_dot3(b[REACH], end);
}

static inline double volume_bound(const double size[3]) {
  return volume_error * size[EDGE1] * size[EDGE2] * size[REACH] +
         underflow * (1 + size[EDGE1] + size[EDGE2] + size[REACH]);
}

/* ---- the plane ---- */

/* A linear vector in a coordinate plane. */
typedef struct flat {
  double v[2][2], size;
} flat;

static flat flat_sum(const flat *a, double s, const flat *b) {
  flat sum = {.size = a->size + b->size};
  for (int end = 0; end < 2; end++)
    for (int d = 0; d < 2; d++) sum.v[end][d] = a->v[end][d] + s * b->v[end][d];
  return sum;
}

static double flat_cross(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

/* The sign of a x b throughout, 0 when it has no one sign for sure. */
static int area_sign(const flat *a, const flat *b) {
  double c[3] = {flat_cross(a->v[0], b->v[0]),
                 (flat_cross(a->v[0], b->v[1]) + flat_cross(a->v[1], b->v[0])) / 2,
                 flat_cross(a->v[1], b->v[1])};
  if (!one_sign(c, 3, area_error * a->size * b->size + underflow)) return 0;
  return c[0] > 0 ? 1 : -1;
}

/* Whether the features are apart as seen along a coordinate axis. Where they are in contact their
 * points are in a plane whose normal is along each of the cross products that is not 0: of the
 * largest one halfway, the axis of the largest component is taken. */
static bool apart_in_view(const motion *m) {
  double half[3][3], best[3] = {0, 0, 1}, largest = 0;
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++) half[k][d] = m->v[0][k][d] + m->v[1][k][d];
  for (int k = 0; k < 3; k++) {
    double normal[3];
    eb_cross3(half[k], half[(k + 1) % 3], normal);
    double squared = eb_dot3(normal, normal);
    if (squared <= largest) continue;
    largest = squared;
    for (int d = 0; d < 3; d++) best[d] = fabs(normal[d]);
  }
  int axis = best[1] > best[0];
  if (best[2] > best[axis]) axis = 2;
  flat v[3];
  for (int k = 0; k < 3; k++) {
    v[k].size = m->size[k];
    for (int end = 0; end < 2; end++)
      for (int d = 0; d < 2; d++) v[k].v[end][d] = m->v[end][k][(axis + 1 + d) % 3];
  }
  flat back = flat_sum(&v[REACH], -1, &v[EDGE1]);
  if (m->kind == EB_VERTEX_FACE) {
    flat third = flat_sum(&v[EDGE2], -1, &v[EDGE1]);
    int a = area_sign(&third, &back), b = area_sign(&v[REACH], &v[EDGE2]),
        c = area_sign(&v[EDGE1], &v[REACH]);
    return (a > 0 || b > 0 || c > 0) && (a < 0 || b < 0 || c < 0);
  }
  flat end = flat_sum(&v[REACH], 1, &v[EDGE2]);
  return area_sign(&v[EDGE1], &v[REACH]) * area_sign(&v[EDGE1], &end) > 0 ||
         area_sign(&v[EDGE2], &v[REACH]) * area_sign(&v[EDGE2], &back) > 0;
}

/* ---- an axis ---- */

/* Edges that seem at right angles to the axis are made so, because the direction between points
 * that nearly touch is inexact: without this features could not be told apart by less than sqrt(u)
 * of their length. Two such edges make the axis their normal. */
static void square_up(double e[][3], int edges, double axis[3]) {
  double normal[3], length = eb_dot3(axis, axis);
  int right = 0;
  for (int k = 0; k < edges; k++) {
    double along = eb_dot3(axis, e[k]), squared = eb_dot3(e[k], e[k]);
    if (squared == 0 || along * along > 1e-12 * length * squared) continue;
    right++;
    eb_add3(-along / squared, e[k], axis);
  }
  if (right < 2) return;
  eb_cross3(e[0], e[1], normal);
  double side = eb_dot3(normal, axis);
  if (eb_dot3(normal, normal) <= 1e-10 * eb_dot3(e[0], e[0]) * eb_dot3(e[1], e[1])) return;
  for (int d = 0; d < 3; d++) axis[d] = side < 0 ? -normal[d] : normal[d];
}

/* Of the closest points at share t of the part, as it is and squared up: an edge may really lean by
 * that little. */
static double closest_axes(const motion *m, double t, double axes[2][3]) {
  double e[3][3], x[4][3], weight[4];
  bool face = m->kind == EB_VERTEX_FACE;
  for (int d = 0; d < 3; d++) {
    for (int k = 0; k < 3; k++) e[k][d] = (1 - t) * m->v[0][k][d] + t * m->v[1][k][d];
    x[face ? 1 : 0][d] = 0;
    x[face ? 2 : 1][d] = e[EDGE1][d];
    x[face ? 0 : 2][d] = e[REACH][d];
    x[3][d] = face ? e[EDGE2][d] : e[REACH][d] + e[EDGE2][d];
  }
  double distance = eb_closest_points(m->kind, (const double(*)[3])x, weight);
  for (int d = 0; d < 3; d++) {
    axes[0][d] = 0;
    for (int i = 0; i < 4; i++) axes[0][d] += weight[i] * x[i][d];
    axes[1][d] = axes[0][d];
    if (face) e[REACH][d] = e[EDGE2][d] - e[EDGE1][d];
  }
  square_up(e, face ? 3 : 2, axes[1]);
  return distance;
}

static void heights(const motion *m, int end, const double axis[3], double h[4]) {
  double e1 = eb_dot3(axis, m->v[end][EDGE1]), e2 = eb_dot3(axis, m->v[end][EDGE2]),
         r = eb_dot3(axis, m->v[end][REACH]);
  bool face = m->kind == EB_VERTEX_FACE;
  h[0] = face ? r : 0;
  h[1] = face ? 0 : e1;
  h[2] = face ? e1 : r;
  h[3] = face ? e2 : r + e2;
}

/* Up to which share of the part the first feature is above the second for sure. */
static double apart_until(const motion *m, const double axis[3]) {
  double h0[4], h1[4], until = 1;
  heights(m, 0, axis, h0);
  heights(m, 1, axis, h1);
  double bound = height_error * (fabs(axis[0]) + fabs(axis[1]) + fabs(axis[2])) *
                     (m->size[EDGE1] + m->size[EDGE2] + m->size[REACH]) +
                 underflow;
  int first = m->kind == EB_VERTEX_FACE ? 1 : 2;
  for (int i = 0; i < first; i++)
    for (int j = first; j < 4; j++) {
      double start = h0[i] - h0[j] - bound, end = h1[i] - h1[j] - bound;
      if (!(start > 0)) return 0;
      if (!(end > 0)) until = fmin(until, start / (start - end) * below_one);
    }
  return until;
}

/* ---- the search ---- */

typedef struct part {
  double start, end;
} part;

/* Share of the time that passes before the hull of the coefficients, `step` 1 forwards or -1
 * backwards, meets 0: where the first of the lines between two of them does. */
static double clip(const double *f, int step, double bound) {
  double sign = copysign(1, f[0]), g[4], until = 1;
  for (int k = 0; k < 4; k++) g[k] = sign * f[k * step] - bound;
  if (!(g[0] > 0)) return 0;
  for (int j = 0; j < 3; j++)
    for (int k = j + 1; k < 4 && g[j] > 0; k++)
      if (!(g[k] > 0)) until = fmin(until, (j + (k - j) * (g[j] / (g[j] - g[k]))) / 3 * below_one);
  return until;
}

/* Narrows the part to where there may be contact; false when nowhere. *touching when the features
 * touch at x0, within rounding. */
static bool narrow(const motion *whole, part *p, bool *touching) {
  motion m = *whole;
  double f[4], axes[2][3], bound = volume_bound(whole->size);
  for (int end = 0; end < 2; end++) {
    double t = end ? p->end : p->start;
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++)
        m.v[end][k][d] = (1 - t) * whole->v[0][k][d] + t * whole->v[1][k][d];
  }
  volume(&m, f);
  if (one_sign(f, 4, bound) || apart_in_view(&m)) return false;
  double distance = closest_axes(&m, p->start > 0 ? 0.5 : 0, axes);
  double from = fmax(apart_until(&m, axes[0]), apart_until(&m, axes[1]));
  if (from == 1) return false;
  *touching = p->start == 0 && distance <= 2 * height_error;
  from = fmax(from, clip(f, 1, bound));
  double to = 1 + 4 * DBL_EPSILON - clip(f + 3, -1, bound), length = p->end - p->start,
         start = p->start;
  if (from > to) return false;
  p->start = fmax(start, (start + from * length) * (1 - 4 * DBL_EPSILON));
  p->end = fmin(p->end, (start + to * length) * (1 + 4 * DBL_EPSILON));
  return true;
}

static bool search(const motion *whole, double *time) {
  part parts[DEPTH];
  int count = 1;
  parts[0] = (part){0, 1};
  for (int tests = 0; count > 0; tests++) {
    part *p = &parts[count - 1];
    double length = p->end - p->start;
    bool touching = false;
    *time = p->start;
    if (tests == BUDGET) return true;
    if (!narrow(whole, p, &touching)) {
      count--;
      continue;
    }
    if (touching) return true;
    *time = p->start;
    if (length <= shortest) return true;
    if (p->end - p->start <= length / 2) continue;
    double half = (p->start + p->end) / 2;
    parts[count++] = (part){p->start, half};
    p->start = half;
  }
  return false;
}

bool eb_continuous_collision(eb_pair_kind kind, const double x0[4][3], const double x1[4][3],
                             double *time) {
  motion m = {.kind = kind};
  double f[4];
  if (kind == EB_VERTEX_FACE ? boxes_apart(1, x0, x1) : boxes_apart(2, x0, x1)) return false;
  differences(0, x0, &m);
  differences(1, x1, &m);
  volume(&m, f);
  if (one_sign(f, 4, volume_bound(m.size))) return false;
  *time = 0;
  /* Scaled to a largest component in [1/2, 1); where it is 0 or not finite, they may collide. */
  double largest = fmax(m.size[EDGE1], fmax(m.size[EDGE2], m.size[REACH]));
  if (!(largest > 0 && largest < INFINITY)) return true;
  int exponent = ilogb(largest) + 1;
  double factor = ldexp(1, exponent < -1000 ? 1000 : -exponent);
  for (int k = 0; k < 3; k++) {
    m.size[k] *= factor;
    for (int end = 0; end < 2; end++)
      for (int d = 0; d < 3; d++) m.v[end][k][d] *= factor;
  }
  return search(&m, time);
}
