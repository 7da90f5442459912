/* All analytic colliders but the plane are surfaces of revolution: a profile of points (r, s), at
 * distance r from the axis and s along it from the origin, is turned about the axis. With the
 * sector's direction t and the profile's direction p, t x p points outward: a profile runs so that
 * the solid lies to its left as seen with r to the right and s up. */
#include "harness/report/tessellate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

enum { SECTORS = 72, ARC = 36 /* spans of half a circle */, MOST_POINTS = ARC + 1 };

static const double pi = 3.14159265358979323846;

/* A point that stands twice is a sharp edge. */
typedef struct profile {
  int32_t count, vertices;
  double r[MOST_POINTS], s[MOST_POINTS];
  int32_t first[MOST_POINTS]; /* vertex of the point's ring, which is one vertex on the axis */
} profile;

static int32_t ring_size(double r) {
  return r > 0 ? SECTORS : 1;
}

static void add_point(profile *p, double r, double s) {
  p->r[p->count] = r;
  p->s[p->count] = s;
  p->first[p->count++] = p->vertices;
  p->vertices += ring_size(r);
}

static void add_edge(profile *p, double r, double s) {
  add_point(p, r, s);
  add_point(p, r, s);
}

/* A circle's points at the angles from, ..., to (in spans) over the rim plane. */
static void add_arc(profile *p, double radius, int from, int to) {
  for (int i = from; i != to; i += to > from ? 1 : -1)
    add_point(p, radius * cos(pi * i / ARC), radius * sin(pi * i / ARC));
}

static void add_cylinder(profile *p, double radius, double low, double high) {
  add_point(p, 0, low);
  add_edge(p, radius, low);
  add_edge(p, radius, high);
  add_point(p, 0, high);
}

/* ---- turning --------------------------------------------------------------------------------- */

/* Unit vectors with side[0] x side[1] = axis. */
static void sides_of(const double axis[3], double side[2][3]) {
  int least = 0;
  for (int d = 1; d < 3; d++)
    if (fabs(axis[d]) < fabs(axis[least])) least = d;
  double unit[3] = {0}, length = 0;
  unit[least] = 1;
  eb_cross3(axis, unit, side[0]);
  for (int d = 0; d < 3; d++) length += side[0][d] * side[0][d];
  for (int d = 0; d < 3; d++) side[0][d] /= sqrt(length);
  eb_cross3(axis, side[0], side[1]);
}

static eb_error allocate(eb_tessellation *out, int32_t vertices, int32_t triangles) {
  *out = (eb_tessellation){0};
  EB_TRY(EB_NEW(out->X, 3 * vertices));
  eb_error error = EB_NEW(out->triangles, 3 * triangles);
  if (error) eb_tessellation_clear(out);
  return error;
}

static void add_triangle(eb_tessellation *out, int32_t a, int32_t b, int32_t c) {
  int32_t *triangle = out->triangles + 3 * out->triangle_count++;
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
}

static int32_t vertex(const profile *p, int32_t point, int32_t sector) {
  return p->first[point] + sector % ring_size(p->r[point]);
}

/* Rings of vertices, one a point, and bands of triangles between each and the next. */
static eb_error turn(const eb_collider *collider, const profile *p, eb_tessellation *out) {
  double side[2][3];
  sides_of(collider->axis, side);
  EB_TRY(allocate(out, p->vertices, 2 * (p->count - 1) * SECTORS));
  for (int32_t i = 0; i < p->count; i++)
    for (int j = 0; j < ring_size(p->r[i]); j++) {
      double angle = 2 * pi * j / SECTORS, *x = out->X + 3 * out->vertex_count++;
      for (int d = 0; d < 3; d++)
        x[d] = collider->origin[d] + p->s[i] * collider->axis[d] +
               p->r[i] * (cos(angle) * side[0][d] + sin(angle) * side[1][d]);
    }
  for (int32_t i = 0; i + 1 < p->count; i++) {
    if (p->r[i] == p->r[i + 1] && p->s[i] == p->s[i + 1]) continue;
    for (int32_t j = 0; j < SECTORS; j++) {
      int32_t low = vertex(p, i, j), high = vertex(p, i + 1, j + 1);
      if (p->r[i] > 0) add_triangle(out, low, vertex(p, i, j + 1), high);
      if (p->r[i + 1] > 0) add_triangle(out, low, high, vertex(p, i + 1, j));
    }
  }
  return EB_OK;
}

/* ---- what is infinite ------------------------------------------------------------------------ */

/* Where the box begins and ends along the axis, m from the origin. */
static void span_of_box(const eb_collider *collider, const double lo[3], const double hi[3],
                        double span[2]) {
  span[0] = span[1] = 0;
  for (int d = 0; d < 3; d++) {
    double a = (lo[d] - collider->origin[d]) * collider->axis[d];
    double b = (hi[d] - collider->origin[d]) * collider->axis[d];
    span[0] += fmin(a, b);
    span[1] += fmax(a, b);
  }
}

/* A square about the foot of the box's centre, half as wide as the box's diagonal is long to each
 * side. */
static eb_error plane(const eb_collider *collider, const double lo[3], const double hi[3],
                      eb_tessellation *out) {
  static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  double side[2][3], height = 0, diagonal = 0;
  sides_of(collider->axis, side);
  for (int d = 0; d < 3; d++) {
    height += (0.5 * (lo[d] + hi[d]) - collider->origin[d]) * collider->axis[d];
    diagonal += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  }
  double half = 0.5 * sqrt(diagonal);
  EB_TRY(allocate(out, 4, 2));
  for (int k = 0; k < 4; k++)
    for (int d = 0; d < 3; d++)
      out->X[3 * k + d] = 0.5 * (lo[d] + hi[d]) - height * collider->axis[d] +
                          half * (corner[k][0] * side[0][d] + corner[k][1] * side[1][d]);
  out->vertex_count = 4;
  add_triangle(out, 0, 1, 2);
  add_triangle(out, 0, 2, 3);
  return EB_OK;
}

/* Every triangle has corners of its own: there is no telling which edges are sharp. */
static eb_error facets(const eb_surface *surface, eb_tessellation *out) {
  EB_TRY(allocate(out, 3 * surface->triangle_count, surface->triangle_count));
  for (int32_t k = 0; k < 3 * surface->triangle_count; k++)
    memcpy(out->X + 3 * (size_t)k, surface->X + 3 * (size_t)surface->triangles[k],
           3 * sizeof *out->X);
  out->vertex_count = 3 * surface->triangle_count;
  for (int32_t t = 0; t < surface->triangle_count; t++)
    add_triangle(out, 3 * t, 3 * t + 1, 3 * t + 2);
  return EB_OK;
}

eb_error eb_tessellate(const eb_collider *collider, const double lo[3], const double hi[3],
                       eb_tessellation *out) {
  const double radius = collider->radius, brim = 1.04;
  profile p = {0};
  double span[2];
  *out = (eb_tessellation){0};
  switch (collider->kind) {
  case EB_PLANE:
    return plane(collider, lo, hi, out);
  case EB_MESH:
    return facets(collider->surface, out);
  case EB_CAPSULE:
    add_point(&p, 0, -collider->half_length - radius);
    for (int i = 1 - ARC / 2; i < ARC / 2; i += 2)
      add_point(&p, radius * cos(pi * i / ARC),
                radius * sin(pi * i / ARC) + copysign(collider->half_length, i));
    add_point(&p, 0, collider->half_length + radius);
    break;
  case EB_SPHERE:
    add_point(&p, 0, -radius);
    add_arc(&p, radius, 1 - ARC / 2, ARC / 2);
    add_point(&p, 0, radius);
    break;
  case EB_CYLINDER:
    span_of_box(collider, lo, hi, span);
    add_cylinder(&p, radius, span[0], span[1]);
    break;
  case EB_CAPPED_CYLINDER:
    add_cylinder(&p, radius, -collider->half_length, collider->half_length);
    break;
  case EB_BOWL:
    /* The solid is below and outside, so the profile runs inward: brim, rim, bottom. */
    add_point(&p, brim * radius, 0);
    add_edge(&p, radius, 0);
    add_arc(&p, radius, -1, -ARC / 2);
    add_point(&p, 0, -radius);
    break;
  }
  return turn(collider, &p, out);
}

void eb_tessellation_clear(eb_tessellation *tessellation) {
  free(tessellation->X);
  free(tessellation->triangles);
  *tessellation = (eb_tessellation){0};
}
