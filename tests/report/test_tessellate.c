/* Triangles of colliders against their own signed distance: on the surface, facing outward, closed
 * where the solid is. */
#include "harness/report/tessellate.h"

#include "tests/tap.h"

static const double lo[3] = {-2, -1, -0.5}, hi[3] = {1, 3, 2.5};
static const double third = 0.57735026918962576451;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static const double *corner(const eb_tessellation *surface, int32_t t, int k) {
  return surface->X + 3 * surface->triangles[3 * t + k];
}

/* The cross product of two sides: its length is twice the area. */
static void area_vector(const eb_tessellation *surface, int32_t t, double out[3]) {
  double u[3], v[3];
  for (int d = 0; d < 3; d++) {
    u[d] = corner(surface, t, 1)[d] - corner(surface, t, 0)[d];
    v[d] = corner(surface, t, 2)[d] - corner(surface, t, 0)[d];
  }
  for (int d = 0; d < 3; d++)
    out[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
}

static void centroid(const eb_tessellation *surface, int32_t t, double out[3]) {
  for (int d = 0; d < 3; d++)
    out[d] = (corner(surface, t, 0)[d] + corner(surface, t, 1)[d] + corner(surface, t, 2)[d]) / 3;
}

static double total_area(const eb_tessellation *surface) {
  double area = 0, n[3];
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    area_vector(surface, t, n);
    area += 0.5 * sqrt(dot(n, n));
  }
  return area;
}

/* By the divergence theorem: right only for a closed surface that faces outward everywhere. */
static double volume(const eb_tessellation *surface) {
  double sum = 0, n[3];
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    area_vector(surface, t, n);
    sum += dot(n, corner(surface, t, 0)) / 6;
  }
  return sum;
}

static double distance(const eb_collider *collider, const double p[3], double normal[3]) {
  double velocity[3];
  return eb_collider_distance(collider, 0, p, normal, velocity);
}

static double farthest_vertex(const eb_collider *collider, const eb_tessellation *surface) {
  double most = 0, normal[3];
  for (int32_t i = 0; i < surface->vertex_count; i++)
    most = fmax(most, fabs(distance(collider, surface->X + 3 * i, normal)));
  return most;
}

/* The least cosine between a triangle and the collider's normal at its middle. */
static double worst_facing(const eb_collider *collider, const eb_tessellation *surface) {
  double worst = 1, n[3], normal[3], middle[3];
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    area_vector(surface, t, n);
    centroid(surface, t, middle);
    distance(collider, middle, normal);
    worst = fmin(worst, dot(n, normal) / sqrt(dot(n, n)));
  }
  return worst;
}

/* Rounding at coordinates of a few metres; chords turn by at most half a span, 2.5 degrees, in each
 * direction. */
static const double rounding = 4e-15, turned = 0.996;

static eb_tessellation tessellate(const eb_collider *collider) {
  eb_tessellation surface;
  tap_require(eb_tessellate(collider, lo, hi, &surface), "tessellation");
  return surface;
}

static void test_sphere(void) {
  const eb_collider sphere = {EB_SPHERE, .origin = {0.3, 1, -0.2}, .axis = {third, third, third},
                              .radius = 0.7};
  eb_tessellation surface = tessellate(&sphere);
  tap_below(farthest_vertex(&sphere, &surface), rounding, "sphere: vertices on it");
  tap_ok(worst_facing(&sphere, &surface) > turned, "sphere: faces outward");
  /* Chords lose O(span^2): 0.4 % of the area and volume here. */
  tap_near(total_area(&surface) / (4 * M_PI * 0.49), 1, 6e-3, "sphere: area");
  tap_near(volume(&surface) / (4 * M_PI * 0.343 / 3), 1, 6e-3, "sphere: closed");
  tap_ok(surface.vertex_count - surface.triangle_count / 2 == 2,
         "sphere: Euler's V - F/2 = 2, so poles and seam are joined");
  eb_tessellation_clear(&surface);
}

static void test_piston(void) {
  const eb_collider piston = {EB_CAPPED_CYLINDER, .origin = {-1, 0.4, 0.5}, .axis = {0, 0.6, 0.8},
                              .radius = 0.4, .half_length = 0.25};
  eb_tessellation surface = tessellate(&piston);
  tap_below(farthest_vertex(&piston, &surface), rounding, "piston: vertices on it");
  tap_ok(worst_facing(&piston, &surface) > turned, "piston: faces outward");
  tap_near(volume(&surface) / (M_PI * 0.16 * 0.5), 1, 6e-3, "piston: closed");
  eb_tessellation_clear(&surface);
}

/* Along z from the box's lowest to its highest; the flat ends are cuts through the solid. */
static void test_cylinder(void) {
  const eb_collider cylinder = {EB_CYLINDER, .origin = {0.1, 0.2, 7}, .axis = {0, 0, -1},
                                .radius = 0.3};
  eb_tessellation surface = tessellate(&cylinder);
  double low = INFINITY, high = -INFINITY, off = 0, inside = -INFINITY, facing = 1;
  for (int32_t i = 0; i < surface.vertex_count; i++) {
    double normal[3], z = surface.X[3 * i + 2], d = distance(&cylinder, surface.X + 3 * i, normal);
    bool on_cut = fmin(fabs(z - lo[2]), fabs(z - hi[2])) < rounding;
    inside = fmax(inside, d);
    if (!on_cut) off = fmax(off, fabs(d));
    low = fmin(low, z);
    high = fmax(high, z);
  }
  for (int32_t t = 0; t < surface.triangle_count; t++) {
    double n[3], normal[3], middle[3];
    area_vector(&surface, t, n);
    centroid(&surface, t, middle);
    distance(&cylinder, middle, normal);
    if (fabs(n[2]) > 0.5 * sqrt(dot(n, n))) /* an end: outward is away from the box's middle */
      for (int d = 0; d < 3; d++) normal[d] = d < 2 ? 0 : middle[2] > 1 ? 1 : -1;
    facing = fmin(facing, dot(n, normal) / sqrt(dot(n, n)));
  }
  tap_near(low, lo[2], rounding, "cylinder: begins where the box does");
  tap_near(high, hi[2], rounding, "cylinder: and ends with it");
  tap_below(inside, rounding, "cylinder: no vertex outside");
  tap_below(off, rounding, "cylinder: its side is on it");
  tap_ok(facing > turned, "cylinder: faces outward");
  tap_near(volume(&surface) / (M_PI * 0.09 * 3), 1, 6e-3, "cylinder: closed");
  eb_tessellation_clear(&surface);
}

static void test_bowl(void) {
  const eb_collider bowl = {EB_BOWL, .origin = {0, 0, 0.7}, .axis = {0, 0, 1}, .radius = 1.7};
  eb_tessellation surface = tessellate(&bowl);
  double highest = -INFINITY, lowest = INFINITY;
  tap_below(farthest_vertex(&bowl, &surface), rounding, "bowl: vertices on it");
  tap_ok(worst_facing(&bowl, &surface) > turned, "bowl: faces its hollow, the brim upward");
  for (int32_t i = 0; i < surface.vertex_count; i++) {
    highest = fmax(highest, surface.X[3 * i + 2]);
    lowest = fmin(lowest, surface.X[3 * i + 2]);
  }
  tap_near(highest, 0.7, rounding, "bowl: nothing above the rim plane");
  tap_near(lowest, -1, rounding, "bowl: down to its bottom");
  tap_ok(total_area(&surface) > 2 * M_PI * 1.7 * 1.7, "bowl: half a sphere and a brim");
  eb_tessellation_clear(&surface);
}

static void test_plane(void) {
  const eb_collider plane = {EB_PLANE, .origin = {5, -4, 0.3}, .axis = {third, -third, third}};
  eb_tessellation surface = tessellate(&plane);
  double foot[3], normal[3], centre[3] = {-0.5, 1, 1}, middle[3] = {0};
  double above = distance(&plane, centre, normal);
  tap_below(farthest_vertex(&plane, &surface), 2 * rounding, "plane: vertices on it");
  tap_ok(worst_facing(&plane, &surface) > 1 - rounding, "plane: faces outward");
  for (int32_t i = 0; i < 12; i++) middle[i % 3] += surface.X[i] / 4;
  for (int d = 0; d < 3; d++) foot[d] = centre[d] - above * normal[d] - middle[d];
  tap_below(sqrt(dot(foot, foot)), 2 * rounding, "plane: below the middle of the box");
  eb_tessellation_clear(&surface);
}

static void test_point(void) {
  const eb_collider point = {EB_SPHERE, .axis = {0, 0, 1}};
  eb_tessellation surface = tessellate(&point);
  tap_ok(surface.triangle_count == 0, "a sphere without size has no triangles");
  eb_tessellation_clear(&surface);
}

int main(void) {
  test_sphere();
  test_piston();
  test_cylinder();
  test_bowl();
  test_plane();
  test_point();
  return tap_done();
}
