/* Weights, normal and demand of a constraint from the geometry of its pair.
 *
 * Between the inside of the two features the normal is that of the face, or the cross product of the edges: it does not depend on how close they are. On the rim of a
 * feature, and for edges that are nearly parallel, it is the direction between the closest points: at x when the features are apart there, a little before a hit, or at x0, where
 * their distance is never 0; that direction separates the features, which are convex, at the time it is taken. */
#include "solvers/contact/constraints.h"

#include "problems/base/vector3.h"

#include <math.h>
#include <string.h>

/* A closest point so near the rim, in barycentric coordinates, counts as on it. */
static const double rim = 1e-6;
/* Edges whose directions have a smaller sine count as parallel. */
static const double parallel_sine = 0.05;
/* Part of what lacks to the gap that a step makes good. */
static const double recovery = 0.25;

double eb_constraint_demand(double distance, double gap) {
  return distance < gap ? distance + recovery * (gap - distance) : gap;
}

bool eb_constraint_acts(const eb_pair *pair, const eb_contact_surface *surface,
                        const eb_contact_system *system) {
  for (int i = 0; i < 4; i++)
    if (eb_contact_surface_yields(surface, system, pair->vertex[i])) return true;
  return false;
}

static void combine(const double weight[4], const double x[4][3], double sum[3]) {
  memset(sum, 0, 3 * sizeof *sum);
  for (int i = 0; i < 4; i++) eb_add3(weight[i], x[i], sum);
}

static bool normalize(double a[3]) {
  double length = sqrt(eb_dot3(a, a));
  for (int d = 0; d < 3; d++) a[d] /= length;
  return length > 0 && isfinite(length);
}

static bool on_rim(int32_t kind, const double weight[4]) {
  for (int i = kind == EB_VERTEX_FACE; i < 4; i++)
    if (fabs(weight[i]) < rim) return true;
  return false;
}

bool eb_pair_inside(const eb_pair *pair, const double x[4][3]) {
  double weight[4];
  eb_closest_points((eb_pair_kind)pair->kind, x, weight);
  return !on_rim(pair->kind, weight);
}

/* The normal of the plane that the features span; false where there is none. */
static bool plane_normal(int32_t kind, const double x[4][3], double n[3]) {
  int from = kind == EB_VERTEX_FACE ? 1 : 0;
  double a[3], b[3];
  for (int d = 0; d < 3; d++) {
    a[d] = from ? x[2][d] - x[1][d] : x[1][d] - x[0][d];
    b[d] = from ? x[3][d] - x[1][d] : x[3][d] - x[2][d];
  }
  eb_cross3(a, b, n);
  double sine = kind == EB_VERTEX_FACE ? 0 : parallel_sine;
  return eb_dot3(n, n) > sine * sine * eb_dot3(a, a) * eb_dot3(b, b) && normalize(n);
}

/* Turns n towards `side`; false when it is not `least` of it along n. */
static bool orient(const double side[3], double least, double n[3]) {
  double along = eb_dot3(n, side);
  if (along < 0)
    for (int d = 0; d < 3; d++) n[d] = -n[d];
  return fabs(along) > least * sqrt(eb_dot3(side, side));
}

static void separation(int32_t kind, const double x[4][3], double n[3]) {
  double weight[4];
  eb_closest_points((eb_pair_kind)kind, x, weight);
  combine(weight, x, n);
}

/* A sixteenth of the way from x0 to the hit before it, where the features are still apart. */
static void before_hit(const double x0[4][3], const double x[4][3], double out[4][3]) {
  static const double back = 1. / 16;
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) out[i][d] = x[i][d] + back * (x0[i][d] - x[i][d]);
}

/* Edges that come at each other within one plane, as those around two faces side by side do, have a cross product at right angles to that plane, which is no normal of their
 * contact: just before they hit, an end of one is what is closest. */
static bool has_plane(int32_t kind, const double weight[4], const double near[4][3]) {
  const eb_pair pair = {.kind = kind};
  return !on_rim(kind, weight) && (kind == EB_VERTEX_FACE || eb_pair_inside(&pair, near));
}

static void find_normal(int32_t kind, const double weight[4], const double x0[4][3],
                        const double x[4][3], bool touching, double n[3]) {
  static const double along =
      1e-3; /* least part of the separation that is along a plane's normal */
  double side[3], near[4][3];
  if (touching)
    before_hit(x0, x, near);
  else
    memcpy(near, x, sizeof near);
  combine(weight, touching ? x0 : x, side);
  if (has_plane(kind, weight, (eb_points)near) && plane_normal(kind, x, n) &&
      orient(side, along, n))
    return;
  separation(kind, (eb_points)near, n);
  if (!normalize(n)) {
    separation(kind, x0, n);
    normalize(n);
  }
}

/* Tangents that follow from the normal alone. */
static void set_frame(const double n[3], double frame[9]) {
  int least = 0;
  for (int d = 1; d < 3; d++)
    if (fabs(n[d]) < fabs(n[least])) least = d;
  double axis[3] = {0};
  axis[least] = 1;
  memcpy(frame, n, 3 * sizeof *frame);
  eb_cross3(n, axis, frame + 3);
  normalize(frame + 3);
  eb_cross3(n, frame + 3, frame + 6);
}

void eb_constraint_linearize(eb_constraint *constraint, const double x0[4][3], const double x[4][3],
                             bool touching) {
  double n[3], force[3] = {0};
  for (int k = 0; k < 3; k++) eb_add3(constraint->r[k], constraint->frame + 3 * k, force);
  eb_closest_points((eb_pair_kind)constraint->pair.kind, x, constraint->weight);
  find_normal(constraint->pair.kind, constraint->weight, x0, x, touching, n);
  set_frame(n, constraint->frame);
  bool pushes = eb_dot3(n, force) > 0;
  for (int k = 0; k < 3; k++)
    constraint->r[k] = pushes ? eb_dot3(constraint->frame + 3 * k, force) : 0;
}
