/* Surfaces of simple solids: closed, outward, of the volume and the box that the shape has; bad
 * sizes. */
#include <math.h>

#include "problems/mesh/generate.h"
#include "tests/tap.h"

static const double pi = 3.14159265358979323846;

/* Of the divergence theorem: positive when triangles point outwards. */
static double volume(const eb_surface *surface) {
  double sum = 0;
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const double *a = surface->X + 3 * surface->triangles[3 * t];
    const double *b = surface->X + 3 * surface->triangles[3 * t + 1];
    const double *c = surface->X + 3 * surface->triangles[3 * t + 2];
    sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
            a[2] * (b[0] * c[1] - b[1] * c[0])) /
           6;
  }
  return sum;
}

/* Takes the surface. */
static void is_shape(eb_surface *surface, const char *name, int32_t genus, double expected,
                     const double lo[3], const double hi[3]) {
  double from[3], to[3], off = 0;
  tap_succeeds(eb_surface_validate(surface, true), name);
  int32_t characteristic = surface->vertex_count - surface->triangle_count / 2;
  tap_ok(characteristic == 2 - 2 * genus, "%s: genus %d", name, genus);
  tap_near(volume(surface) / expected, 1, 1e-12, name); /* rounding */
  eb_mesh_bounds(surface->X, surface->vertex_count, from, to);
  for (int d = 0; d < 3; d++) off = fmax(off, fmax(fabs(from[d] - lo[d]), fabs(to[d] - hi[d])));
  tap_below(off, 1e-15, name);
  eb_surface_destroy(surface);
}

static void test_boxes(void) {
  eb_surface *surface;
  const double half[3] = {0.1, 0.2, 0.3};
  tap_require(eb_surface_box(half, &surface), "box");
  is_shape(surface, "box", 0, 8 * 0.1 * 0.2 * 0.3, (const double[3]){-0.1, -0.2, -0.3}, half);
  tap_require(eb_surface_cup(half, 0.5, 0.05, &surface), "cup");
  is_shape(surface, "cup", 0, 4 * (0.15 * 0.25 * 0.55 - 0.1 * 0.2 * 0.5),
           (const double[3]){-0.15, -0.25, -0.05}, (const double[3]){0.15, 0.25, 0.5});
}

/* The regular polygon that is inscribed in a circle of radius r has this area. */
static double polygon(int n, double r) {
  return 0.5 * n * r * r * sin(2 * pi / n);
}

/* A section of area A whose centroid is at c, turned in n flat steps: each is a prismatoid with the
 * cross area growing with r, so that the volume is A c n sin(2 pi / n). */
static void test_round(void) {
  eb_surface *surface;
  const double r = 0.2, h = 0.3;
  tap_require(eb_surface_cylinder(r, h, 12, &surface), "cylinder");
  is_shape(surface, "cylinder", 0, 2 * h * polygon(12, r), (const double[3]){-r, -r, -h},
           (const double[3]){r, r, h});
  double circle[8][2];
  for (int k = 0; k < 8; k++) {
    circle[k][0] = 0.5 + r * cos(pi * k / 4);
    circle[k][1] = r * sin(pi * k / 4);
  }
  tap_require(eb_surface_revolve((const double(*)[2])circle, 8, 16, &surface), "torus");
  is_shape(surface, "torus", 1, polygon(8, r) * 0.5 * 16 * sin(2 * pi / 16),
           (const double[3]){-0.7, -0.7, -r}, (const double[3]){0.7, 0.7, r});
  tap_require(eb_surface_sphere(r, 2, 4, &surface), "octahedron");
  is_shape(surface, "sphere", 0, 4 * r * r * r / 3, (const double[3]){-r, -r, -r},
           (const double[3]){r, r, r});
  tap_require(eb_surface_sphere(r, 60, 120, &surface), "sphere");
  tap_succeeds(eb_surface_validate(surface, true), "a fine sphere");
  /* Inscribed: short by the order of the squared angle of a face, (pi / 60)^2. */
  tap_near(volume(surface) / (4 * pi * r * r * r / 3), 1, 3e-3, "has the volume of a sphere");
  eb_surface_destroy(surface);
}

static void test_move(void) {
  eb_surface *surface;
  tap_require(eb_surface_box((const double[3]){1, 2, 3}, &surface), "box");
  const double quarter[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, shift[3] = {10, 20, 30};
  eb_surface_move(surface, quarter, shift);
  eb_surface_move(surface, NULL, (const double[3]){-10, -20, -30});
  is_shape(surface, "a turned box", 0, 48, (const double[3]){-2, -1, -3},
           (const double[3]){2, 1, 3});
}

static void test_bad_sizes(void) {
  eb_surface *none;
  const double flat[3] = {1, 0, 1}, fine[3] = {1, 1, 1};
  const double crossing[3][2] = {{0, 0}, {1, 0}, {1, 1}}, ring[3][2] = {{1, 0}, {2, 0}, {1, 1}},
               across[3][2] = {{-1, 0}, {2, 0}, {1, 1}};
  tap_fails(eb_surface_box(flat, &none), EB_ERR_USAGE, "half size", "a flat box");
  tap_fails(eb_surface_cup(fine, -1, 1, &none), EB_ERR_USAGE, "height", "a cup upside down");
  tap_fails(eb_surface_cup(fine, 1, NAN, &none), EB_ERR_USAGE, "wall", "a wall of nothing");
  tap_fails(eb_surface_cylinder(INFINITY, 1, 8, &none), EB_ERR_USAGE, "radius", "a plane");
  tap_fails(eb_surface_sphere(1, 1, 8, &none), EB_ERR_USAGE, "rows", "a sphere of one row");
  tap_fails(eb_surface_revolve(across, 3, 8, &none), EB_ERR_USAGE, "axis", "a ring with no hole");
  tap_fails(eb_surface_revolve(crossing, 3, 8, &none), EB_ERR_USAGE, "point 0", "one end off");
  tap_fails(eb_surface_revolve(ring, 3, 2, &none), EB_ERR_USAGE, "3 or more", "two steps");
  tap_ok(none == NULL, "nothing is returned");
}

int main(void) {
  test_boxes();
  test_round();
  test_move();
  test_bad_sizes();
  return tap_done();
}
