/* Signed distances of analytic solids. */
#include "problems/collision/collider.h"

#include <math.h>

#include "problems/base/vector3.h"

/* Unit vector along v, or `otherwise` where v vanishes: there every direction is a normal. Returns
 * |v|. */
static double direction(const double v[3], const double otherwise[3], double unit[3]) {
  double length = sqrt(eb_dot3(v, v));
  for (int d = 0; d < 3; d++) unit[d] = length > 0 ? v[d] / length : otherwise[d];
  return length;
}

/* Some unit vector orthogonal to `axis`. */
static void orthogonal(const double axis[3], double unit[3]) {
  int least = 0;
  for (int d = 1; d < 3; d++)
    if (fabs(axis[d]) < fabs(axis[least])) least = d;
  double v[3] = {0, 0, 0};
  v[least] = 1;
  double along = axis[least];
  for (int d = 0; d < 3; d++) v[d] -= along * axis[d];
  direction(v, axis, unit);
}

/* Splits r = along axis + away radial; returns `away`, the distance from the axis. */
static double split(const double r[3], const double axis[3], double *along, double radial[3]) {
  double rest[3], side[3];
  *along = eb_dot3(r, axis);
  for (int d = 0; d < 3; d++) rest[d] = r[d] - *along * axis[d];
  orthogonal(axis, side);
  return direction(rest, side, radial);
}

/* With q = (away - radius, |along| - half_length): inside the greater component, outside the
 * length of the positive part. */
static double capped_cylinder(const eb_collider *collider, const double r[3], double normal[3]) {
  double along, radial[3];
  double away = split(r, collider->axis, &along, radial);
  double side = away - collider->radius, end = fabs(along) - collider->half_length;
  double sign = along < 0 ? -1 : 1;
  double weight[2] = {side > end, side <= end}, distance = fmax(side, end);
  if (side > 0 && end > 0) {
    distance = sqrt(side * side + end * end);
    weight[0] = side / distance;
    weight[1] = end / distance;
  }
  for (int d = 0; d < 3; d++)
    normal[d] = weight[0] * radial[d] + weight[1] * sign * collider->axis[d];
  return distance;
}

/* The half space below the rim plane without the ball. Above the rim plane the nearest point is on
 * the plane or, over the opening, on the rim circle; in the solid it is on the plane or on the
 * sphere, whichever is nearer. */
static double bowl(const eb_collider *collider, const double r[3], double normal[3]) {
  double along, radial[3], inward[3];
  double away = split(r, collider->axis, &along, radial);
  for (int d = 0; d < 3; d++) inward[d] = -r[d];
  double hollow = collider->radius - direction(inward, collider->axis, normal);
  if (along <= 0 && hollow >= along) return hollow;
  double from_rim = away - collider->radius, to_rim[3];
  for (int d = 0; d < 3; d++) {
    normal[d] = collider->axis[d];
    to_rim[d] = from_rim * radial[d] + along * collider->axis[d];
  }
  return along <= 0 || from_rim >= 0 ? along : direction(to_rim, collider->axis, normal);
}

bool eb_collider_moves(const eb_collider *collider, double t, double offset[3],
                       double velocity[3]) {
  for (int d = 0; d < 3; d++) offset[d] = velocity[d] = 0;
  if (!collider->motion) return false;
  const void *script = collider->script ? collider->script : collider->motion_parameters;
  collider->motion(t, script, offset, velocity);
  return true;
}

double eb_collider_distance(const eb_collider *collider, double t, const double p[3],
                            double normal[3], double velocity[3]) {
  double offset[3], r[3], along;
  (void)eb_collider_moves(collider, t, offset, velocity);
  for (int d = 0; d < 3; d++) r[d] = p[d] - collider->origin[d] - offset[d];
  switch (collider->kind) {
  case EB_PLANE:
    for (int d = 0; d < 3; d++) normal[d] = collider->axis[d];
    return eb_dot3(r, collider->axis);
  case EB_SPHERE:
    return direction(r, (const double[3]){0, 0, 1}, normal) - collider->radius;
  case EB_CYLINDER:
    return split(r, collider->axis, &along, normal) - collider->radius;
  case EB_CAPPED_CYLINDER:
    return capped_cylinder(collider, r, normal);
  case EB_BOWL:
    return bowl(collider, r, normal);
  }
  return INFINITY;
}
