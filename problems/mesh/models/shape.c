#include "problems/mesh/models/shape.h"

#include "problems/base/vector3.h"

#include <float.h>
#include <math.h>

static double length(const double a[3]) {
  return sqrt(eb_dot3(a, a));
}

static void subtract(const double a[3], const double b[3], double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = a[d] - b[d];
}

/* Coordinates of p - centre in the part's frame: x along `axis`, y level, z = x cross y. */
static void to_frame(const eb_primitive *part, const double p[3], double q[3]) {
  double r[3];
  subtract(p, part->a, r);
  const double *u = part->axis;
  double norm = length(u), level = sqrt(u[0] * u[0] + u[1] * u[1]);
  if (level == 0) {
    for (int d = 0; d < 3; d++) q[d] = r[d];
    return;
  }
  double y[3] = {-u[1] / level, u[0] / level, 0};
  double x[3] = {u[0] / norm, u[1] / norm, u[2] / norm};
  double z[3] = {-x[2] * y[1], x[2] * y[0], x[0] * y[1] - x[1] * y[0]};
  q[0] = eb_dot3(x, r), q[1] = eb_dot3(y, r), q[2] = eb_dot3(z, r);
}

/* In the half plane (along, across) of the axis, the hull of two discs is bounded by a line that
 * touches both; `slope` is its inclination's sine. Outside the line's strip an end disc is
 * nearest. */
static double cone_distance(const eb_primitive *part, const double p[3]) {
  double axis[3], r[3];
  subtract(part->b, part->a, axis);
  subtract(p, part->a, r);
  double h = length(axis);
  double slope = (part->ra - part->rb) / h, upright = sqrt(1 - slope * slope);
  double along = eb_dot3(axis, r) / h;
  double across = sqrt(fmax(0, eb_dot3(r, r) - along * along));
  double shifted = upright * along - slope * across;
  if (shifted < 0) return sqrt(across * across + along * along) - part->ra;
  if (shifted > upright * h) return sqrt(across * across + (along - h) * (along - h)) - part->rb;
  return across * upright + along * slope - part->ra;
}

/* The nearest point of an ellipsoid to q is x_i = r_i^2 q_i / (t + r_i^2) with t the largest root
 * of
 *   G(t) = sum (r_i q_i / (t + r_i^2))^2 = 1.
 * 1 / sqrt(G) is nearly linear in t, so Newton's method on 1 / sqrt(G) - 1, started where the term
 * of the least radius alone is 1 (a lower bound of the root), settles in a few steps. The unknown
 * is s = t + r_least^2, which keeps its digits where the root is near that pole. */
static double ellipsoid_distance(const double q[3], const double r[3]) {
  enum { STEPS = 24 };
  int least = r[0] < r[1] ? (r[0] < r[2] ? 0 : 2) : (r[1] < r[2] ? 1 : 2);
  double c[3], pole[3], least2 = r[least] * r[least];
  for (int d = 0; d < 3; d++) {
    c[d] = fabs(q[d]);
    pole[d] = d == least ? 0 : r[d] * r[d] - least2;
  }
  /* On the plane across the least radius the root may be the pole itself; a hair beside it is
   * not. */
  c[least] = fmax(c[least], 1e-9 * r[least]);
  double s = r[least] * c[least];
  for (int step = 0; step < STEPS; step++) {
    double g = 0, slope = 0;
    for (int d = 0; d < 3; d++) {
      double w = 1 / (s + pole[d]), term = r[d] * c[d] * w;
      g += term * term;
      slope += term * term * w;
    }
    double change = g * (sqrt(g) - 1) / slope;
    s += change;
    if (fabs(change) <= 1e-14 * s) break;
  }
  double sum = 0, t = s - least2;
  for (int d = 0; d < 3; d++) {
    double gap = c[d] * t / (s + pole[d]);
    sum += gap * gap;
  }
  return t < 0 ? -sqrt(sum) : sqrt(sum);
}

static double box_distance(const double q[3], const double half[3], double rounding) {
  double outside = 0, inside = -DBL_MAX;
  for (int d = 0; d < 3; d++) {
    double gap = fabs(q[d]) - (half[d] - rounding);
    inside = fmax(inside, gap);
    if (gap > 0) outside += gap * gap;
  }
  return (inside > 0 ? sqrt(outside) : inside) - rounding;
}

static double cylinder_distance(const eb_primitive *part, const double p[3]) {
  double axis[3], r[3];
  subtract(part->b, part->a, axis);
  subtract(p, part->a, r);
  double h = length(axis), along = eb_dot3(axis, r) / h;
  double across = sqrt(fmax(0, eb_dot3(r, r) - along * along)) - (part->ra - part->rb);
  double end = fabs(along - 0.5 * h) - (0.5 * h - part->rb);
  if (across > 0 && end > 0) return sqrt(across * across + end * end) - part->rb;
  return fmax(across, end) - part->rb;
}

static double torus_distance(const eb_primitive *part, const double p[3]) {
  double r[3];
  subtract(p, part->a, r);
  double height = eb_dot3(part->axis, r) / length(part->axis);
  double across = sqrt(fmax(0, eb_dot3(r, r) - height * height)) - part->ra;
  return sqrt(across * across + height * height) - part->rb;
}

static void mirror(const eb_primitive *part, const double p[3], double out[3]) {
  out[0] = p[0], out[1] = part->mirrored ? fabs(p[1]) : p[1], out[2] = p[2];
}

static double measure(const eb_primitive *part, const double p[3]) {
  double q[3];
  switch (part->kind) {
  case EB_PART_BALL:
    subtract(p, part->a, q);
    return length(q) - part->ra;
  case EB_PART_CONE:
    return cone_distance(part, p);
  case EB_PART_ELLIPSOID:
    to_frame(part, p, q);
    return ellipsoid_distance(q, part->b);
  case EB_PART_BOX:
    subtract(p, part->a, q);
    return box_distance(q, part->b, part->ra);
  case EB_PART_CYLINDER:
    return cylinder_distance(part, p);
  case EB_PART_TORUS:
    return torus_distance(part, p);
  }
  return DBL_MAX;
}

double eb_primitive_distance(const eb_primitive *part, const double p[3]) {
  double q[3];
  mirror(part, p, q);
  return measure(part, q);
}

/* A lower bound of the distance to a part without square roots: the largest gap to its box. */
static double lower_bound(const eb_primitive *part, const double q[3]) {
  double gap = -DBL_MAX;
  for (int d = 0; d < 3; d++) {
    double below = part->lo[d] - q[d], above = q[d] - part->hi[d];
    double own = below > above ? below : above;
    gap = own > gap ? own : gap;
  }
  return gap;
}

/* min(a, b) rounded over the width k: differs from it only where |a - b| < k. */
static double smooth_min(double a, double b, double k) {
  double near = k - fabs(a - b);
  return near > 0 ? fmin(a, b) - near * near / (4 * k) : fmin(a, b);
}

double eb_shape_distance(const void *context, const double p[3]) {
  const eb_shape *shape = context;
  double local[3], q[3], distance = DBL_MAX;
  for (int d = 0; d < 3; d++) local[d] = p[d] / shape->scale;
  for (int32_t i = 0; i < shape->count; i++) {
    const eb_primitive *part = &shape->parts[i];
    mirror(part, local, q);
    /* Parts too far to change the smooth minimum (maximum) are passed over: exact, and cheap. */
    if (lower_bound(part, q) >= (part->cut ? part->blend - distance : distance + part->blend))
      continue;
    double own = measure(part, q);
    distance = part->cut ? -smooth_min(-distance, own, part->blend)
                         : smooth_min(distance, own, part->blend);
  }
  return distance * shape->scale;
}

int32_t eb_shape_region(const void *context, const double p[3]) {
  const eb_shape *shape = context;
  double local[3], q[3], nearest = DBL_MAX;
  int32_t region = 0, owner = -1;
  for (int d = 0; d < 3; d++) local[d] = p[d] / shape->scale;
  for (int32_t i = 0; i < shape->count; i++) {
    const eb_primitive *part = &shape->parts[i];
    if (part->cut) continue;
    mirror(part, local, q);
    if (lower_bound(part, q) >= (part->owns ? fmax(nearest, 0) : nearest)) continue;
    double own = measure(part, q);
    if (part->owns && own < 0) owner = part->region;
    if (own < nearest) nearest = own, region = part->region;
  }
  return owner >= 0 ? owner : region;
}
