/* With g(x) = n . sum_i w_i x_i and the demand d = c_n + g(x0):
 *
 *   u_n = g(x1) - d,   u_t = (t1, t2) . sum_i w_i (x1_i - x0_i),
 *   0 <= u_n  perp  r_n >= 0,   |r_t| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / |u_t|
 *
 * (Verschoor and Jalba 2019, Equations 7 and 14; the principle of maximum dissipation). The record
 * gives weights, frame, demand and force; positions and mu are the harness's own. A normal is no
 * better than its linearization: the true distance of the features that push each other is measured
 * beside. */
#include "harness/audit/contact_law.h"

#include <math.h>
#include <string.h>

/* Rounding that weights and frames may have. */
static const double rounding = 1e-9;
/* Friction below this part of its limit sticks. */
static const double sticking = 1 - 1e-6;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* NaN stays. */
static void raise_at(double value, int32_t k, double *most, int32_t *at) {
  if (!(value > *most || isnan(value))) return;
  *most = value;
  *at = k;
}

/* ---- distances ------------------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int d = 0; d < 3; d++)
    out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* The shortest way found so far from the second feature to the first. */
typedef struct separation {
  double along[3], length2;
} separation;

static void offer(const double along[3], double sign, separation *shortest) {
  double length2 = dot(along, along);
  if (!(length2 < shortest->length2)) return;
  shortest->length2 = length2;
  for (int d = 0; d < 3; d++) shortest->along[d] = sign * along[d];
}

/* From the segment (a, b) to p, or with sign -1 back. */
static void offer_segment(const double p[3], const double a[3], const double b[3], double sign,
                          separation *shortest) {
  double along[3], from[3];
  for (int d = 0; d < 3; d++) {
    along[d] = b[d] - a[d];
    from[d] = p[d] - a[d];
  }
  double length = dot(along, along), t = length > 0 ? dot(from, along) / length : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  for (int d = 0; d < 3; d++) from[d] -= t * along[d];
  offer(from, sign, shortest);
}

/* (a x b) . n */
static double triple(const double a[3], const double b[3], const double n[3]) {
  double c[3];
  cross(a, b, c);
  return dot(c, n);
}

/* The least of the ways from the edges of a face, or at the ends of two edges; and across the plane
 * of normal n, by the part of `from` along it, where p is above the inside of the face, or the
 * lines are closest inside both edges. */
static separation shortest_way(int32_t kind, const double x[4][3]) {
  separation shortest = {.length2 = INFINITY};
  double u[3], v[3], from[3], n[3], way[3];
  bool face = kind == EB_VERTEX_FACE, inside;
  for (int i = 1; face && i < 4; i++) offer_segment(x[0], x[i], x[i % 3 + 1], 1, &shortest);
  for (int i = 0; !face && i < 2; i++) {
    offer_segment(x[i], x[2], x[3], 1, &shortest);
    offer_segment(x[2 + i], x[0], x[1], -1, &shortest);
  }
  for (int d = 0; d < 3; d++) {
    u[d] = face ? x[2][d] - x[1][d] : x[1][d] - x[0][d];
    v[d] = x[3][d] - x[face ? 1 : 2][d];
    from[d] = x[0][d] - x[face ? 1 : 2][d];
  }
  cross(u, v, n);
  double size2 = dot(n, n);
  if (face) {
    double s = triple(u, from, n), t = triple(from, v, n);
    inside = s >= 0 && t >= 0 && s + t <= size2;
  } else {
    double s = triple(v, from, n), t = triple(u, from, n);
    inside = s >= 0 && s <= size2 && t >= 0 && t <= size2;
  }
  if (!(size2 > 0) || !inside) return shortest;
  double share = dot(from, n) / size2;
  for (int d = 0; d < 3; d++) way[d] = share * n[d];
  offer(way, 1, &shortest);
  return shortest;
}

double eb_contact_law_distance(int32_t kind, const double x[4][3]) {
  return sqrt(shortest_way(kind, x).length2);
}

bool eb_contact_record_is_whole(const eb_contact_record *record, int32_t nodes) {
  bool arrays = record->pair && record->weight && record->frame && record->c && record->r;
  return record->count >= 0 && record->nodes == nodes && (arrays || record->count == 0);
}

/* ---- one contact ----------------------------------------------------------------------------- */

typedef struct contact {
  const double *w, *frame, *r;
  int32_t kind;
  double x0[4][3], x1[4][3];
  double start;               /* n . sum_i w_i x0_i, m */
  double demand, u[3], slack; /* m */
} contact;

/* Fills *out; returns whether the record's numbers are those of a contact: weights of a point of
 * each feature, the first summing to 1 and the second to -1, and a frame that is orthonormal and
 * right-handed. */
static bool read_contact(const eb_contact_record *record, int32_t k, int32_t vertices,
                         const double *x0, const double *x1, const double *bent, contact *out) {
  const eb_pair *pair = &record->pair[k];
  const double *w = record->weight + 4 * (size_t)k, *frame = record->frame + 9 * (size_t)k;
  *out = (contact){.w = w, .frame = frame, .r = record->r + 3 * (size_t)k, .kind = pair->kind};
  if (pair->kind != EB_VERTEX_FACE && pair->kind != EB_EDGE_EDGE) return false;
  int first = pair->kind == EB_VERTEX_FACE ? 1 : 2;
  double sum = 0, third[3];
  for (int i = 0; i < 4; i++) {
    if (pair->vertex[i] < 0 || pair->vertex[i] >= vertices) return false;
    memcpy(out->x0[i], x0 + 3 * (size_t)pair->vertex[i], sizeof out->x0[i]);
    memcpy(out->x1[i], x1 + 3 * (size_t)pair->vertex[i], sizeof out->x1[i]);
    if (bent) out->slack += fabs(w[i]) * bent[pair->vertex[i]];
    if (!isfinite(w[i]) || !(i < first ? w[i] >= -rounding : w[i] <= rounding)) return false;
    if (i < first) sum += w[i];
  }
  if (!(fabs(sum - 1) <= rounding && fabs(w[0] + w[1] + w[2] + w[3]) <= rounding)) return false;
  for (int i = 0; i < 3; i++) {
    if (!isfinite(out->r[i])) return false;
    for (int j = 0; j < 3; j++)
      if (!(fabs(dot(frame + 3 * i, frame + 3 * j) - (i == j)) <= rounding)) return false;
  }
  cross(frame, frame + 3, third);
  return dot(third, frame + 6) > 0;
}

/* Fills u; returns whether the demand is one that a contact may have. */
static bool move_contact(const eb_contact_record *record, int32_t k, double gap, contact *c) {
  double at[3] = {0}, way[3] = {0};
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) {
      at[d] += c->w[i] * c->x0[i][d];
      way[d] += c->w[i] * (c->x1[i][d] - c->x0[i][d]);
    }
  c->demand = record->c[3 * (size_t)k] + dot(c->frame, at);
  for (int d = 0; d < 3; d++) c->u[d] = dot(c->frame + 3 * d, way);
  c->u[0] -= record->c[3 * (size_t)k];
  return c->demand > 0 && c->demand <= gap * (1 + 1e-6);
}

/* ---- its normal ------------------------------------------------------------------------------ */

/* 180 where b has no direction, so that it agrees with nothing. */
static double degrees_between(const double a[3], const double b[3]) {
  double c[3];
  if (!(dot(b, b) > 0)) return 180;
  cross(a, b, c);
  return atan2(sqrt(dot(c, c)), dot(a, b)) * (180 / acos(-1));
}

/* The normal of the face, or across both edges; 0 where those are parallel but for rounding. */
static void across(const contact *c, const double x[4][3], double out[3]) {
  double a[3], b[3];
  bool face = c->kind == EB_VERTEX_FACE;
  for (int d = 0; d < 3; d++) {
    a[d] = face ? x[2][d] - x[1][d] : x[1][d] - x[0][d];
    b[d] = x[3][d] - x[face ? 1 : 2][d];
  }
  cross(a, b, out);
  if (!(dot(out, out) > rounding * rounding * dot(a, a) * dot(b, b)))
    memset(out, 0, 3 * sizeof *out);
}

/* Where a contact is on its way, and the shortest way between its features there. */
typedef struct place {
  double t, along[3];
} place;

/* Lowers `least` to the angle between the normal and the geometry at that part of the way: where
 * the features are closest there, and across them, on the side of the start. */
static place look_at(const contact *c, const double start[3], double t, double *least) {
  double x[4][3], plane[3];
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) x[i][d] = c->x0[i][d] + t * (c->x1[i][d] - c->x0[i][d]);
  separation closest = shortest_way(c->kind, (const double(*)[3])x);
  across(c, (const double(*)[3])x, plane);
  double side = dot(plane, start) < 0 ? -1 : 1;
  for (int d = 0; d < 3; d++) plane[d] *= side;
  *least = fmin(*least,
                fmin(degrees_between(c->frame, closest.along), degrees_between(c->frame, plane)));
  return (place){t, {closest.along[0], closest.along[1], closest.along[2]}};
}

/* Directions turn fast where features pass each other closely: places are taken between two until
 * they turn by little from one to the next. */
static void look_between(const contact *c, const double start[3], const place *from,
                         const place *to, double *least) {
  static const double little = 2, shortest = 1. / 65536;
  if (to->t - from->t < shortest || degrees_between(from->along, to->along) < little) return;
  place middle = look_at(c, start, 0.5 * (from->t + to->t), least);
  look_between(c, start, from, &middle, least);
  look_between(c, start, &middle, to, least);
}

/* A normal was taken somewhere on the way: the least angle there. One that points from the first
 * feature to the second is off by more than 90 degrees. */
static double normal_off(const contact *c) {
  enum { PLACES = 8 };
  double least = 180, start[3];
  for (int d = 0; d < 3; d++) { /* from the second feature's point to the first's */
    start[d] = 0;
    for (int i = 0; i < 4; i++) start[d] += c->w[i] * c->x0[i][d];
  }
  place from = look_at(c, start, 0, &least);
  for (int p = 1; p <= PLACES; p++) {
    place to = look_at(c, start, (double)p / PLACES, &least);
    look_between(c, start, &from, &to, &least);
    from = to;
  }
  return least;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* The largest push of sound contacts, or where none pushes the largest force. */
static double largest_force(const eb_contact_record *record, int32_t vertices, const double *x0,
                            const double *x1, double gap) {
  double push = 0, size = 0;
  for (int32_t k = 0; k < record->count; k++) {
    contact c;
    if (!read_contact(record, k, vertices, x0, x1, NULL, &c) || !move_contact(record, k, gap, &c))
      continue;
    push = fmax(push, c.r[0]);
    size = fmax(size, sqrt(dot(c.r, c.r)));
  }
  return push > 0 ? push : size;
}

/* From which slip (m) and by which angle to what opposes it (degrees) friction has a direction, and
 * the least limit (N) that it is compared with. */
typedef struct friction_bounds {
  double slip, angle, limit;
} friction_bounds;

static void measure_friction(const contact *c, int32_t k, double mu, const friction_bounds *bounds,
                             eb_contact_law *law) {
  double slide = hypot(c->u[1], c->u[2]), motion = slide - c->slack;
  double friction = hypot(c->r[1], c->r[2]), limit = mu * fmax(c->r[0], 0);
  double off = fmax(fmax(-c->r[0], friction - limit), 0), angle = 0;
  bool slips = motion > bounds->slip, inside = friction < sticking * limit;
  if (off > 0) raise_at(off / fmax(limit, bounds->limit), k, &law->cone, &law->at.cone);
  if (inside) raise_at(motion, k, &law->sliding, &law->at.sliding);
  if (slips && !inside && limit > 0) {
    double along = -(c->r[1] * c->u[1] + c->r[2] * c->u[2]);
    double across = c->r[1] * c->u[2] - c->r[2] * c->u[1];
    angle = atan2(fabs(across), along) * (180 / acos(-1));
    raise_at(angle, k, &law->angle, &law->at.angle);
  }
  if (slips && (inside || angle > bounds->angle))
    off = fmax(off, hypot(c->r[1] + limit * c->u[1] / slide, c->r[2] + limit * c->u[2] / slide));
  law->off = hypot(law->off, off);
}

void eb_contact_law_measure(const eb_contact_record *record, int32_t vertices, const double *x0,
                            const double *x1, const double *bent, const eb_friction_law *friction,
                            const eb_contact_bounds *bounds, double slack, eb_contact_law *law) {
  const friction_bounds allowed = {.slip = slack * bounds->distance / 10,
                                   .angle = slack * bounds->angle,
                                   .limit =
                                       0.2 * largest_force(record, vertices, x0, x1, bounds->gap)};
  *law = (eb_contact_law){.count = record->count};
  for (int32_t k = 0; k < record->count; k++) {
    contact c;
    if (!read_contact(record, k, vertices, x0, x1, bent, &c) ||
        !move_contact(record, k, bounds->gap, &c)) {
      law->unsound++;
      law->at.unsound = k;
      continue;
    }
    raise_at(-c.u[0] - c.slack, k, &law->violation, &law->at.violation);
    law->size = hypot(law->size, sqrt(dot(c.r, c.r)));
    measure_friction(&c, k, eb_friction_of(friction, &record->pair[k]), &allowed, law);
    if (c.r[0] > 0) {
      double apart = sqrt(shortest_way(c.kind, (const double(*)[3])c.x1).length2);
      law->active++;
      raise_at(fabs(c.u[0]) - c.slack, k, &law->open, &law->at.open);
      law->apart = apart > law->apart || isnan(apart) ? apart : law->apart;
      raise_at(fabs(apart - c.demand) - c.slack - hypot(c.u[1], c.u[2]), k, &law->true_gap,
               &law->at.true_gap);
      raise_at(normal_off(&c), k, &law->normal, &law->at.normal);
    }
  }
}
