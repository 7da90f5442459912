/* Signed distances of solids, and where their scripts put them. */
#include "problems/collision/collider.h"

#include <math.h>
#include <string.h>

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

/* ---- motion ---------------------------------------------------------------------------------- */

bool eb_collider_pose(const eb_collider *collider, double t, eb_pose *out) {
  const void *script = collider->script ? collider->script : collider->motion_parameters;
  *out = (eb_pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (collider->motion) collider->motion(t, script, out->shift, out->velocity);
  if (collider->turn) collider->turn(t, script, out->rotation, out->spin);
  return collider->motion || collider->turn;
}

void eb_pose_velocity(const eb_pose *pose, const double p[3], double velocity[3]) {
  double arm[3] = {p[0] - pose->shift[0], p[1] - pose->shift[1], p[2] - pose->shift[2]};
  eb_cross3(pose->spin, arm, velocity);
  for (int d = 0; d < 3; d++) velocity[d] += pose->velocity[d];
}

/* ---- a surface ------------------------------------------------------------------------------- */

eb_error eb_collider_enclose(eb_collider *collider, eb_surface *surface) {
  collider->kind = EB_MESH;
  collider->surface = surface;
  return eb_solid_from_surface(surface, &collider->solid);
}

void eb_collider_clear(eb_collider *collider) {
  eb_solid_clear(&collider->solid);
  eb_surface_destroy(collider->surface);
  collider->surface = NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Of a point r off its origin, where it does not turn. */
static double distance_at_rest(const eb_collider *collider, double r[3], double normal[3]) {
  double along;
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
  case EB_CAPSULE:
    along = fmax(-collider->half_length, fmin(eb_dot3(r, collider->axis), collider->half_length));
    for (int d = 0; d < 3; d++) r[d] -= along * collider->axis[d];
    return direction(r, (const double[3]){0, 0, 1}, normal) - collider->radius;
  case EB_MESH:
    return eb_solid_distance(&collider->solid, r, normal);
  }
  return INFINITY;
}

double eb_collider_distance(const eb_collider *collider, double t, const double p[3],
                            double normal[3], double velocity[3]) {
  eb_pose pose;
  double r[3];
  (void)eb_collider_pose(collider, t, &pose);
  if (!collider->turn) {
    memcpy(velocity, pose.velocity, sizeof pose.velocity);
    for (int d = 0; d < 3; d++) r[d] = p[d] - collider->origin[d] - pose.shift[d];
    return distance_at_rest(collider, r, normal);
  }
  const double *R = pose.rotation;
  double from[3] = {p[0] - pose.shift[0], p[1] - pose.shift[1], p[2] - pose.shift[2]}, own[3];
  for (int d = 0; d < 3; d++)
    r[d] = R[d] * from[0] + R[3 + d] * from[1] + R[6 + d] * from[2] - collider->origin[d];
  double distance = distance_at_rest(collider, r, own);
  eb_turn3(R, own, normal);
  eb_pose_velocity(&pose, p, velocity);
  return distance;
}
