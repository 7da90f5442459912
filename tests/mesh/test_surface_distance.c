/* Signed distance of closed surfaces: against brute force and analytic shapes, sign near defects,
 * stuffing, bad input. */
#include "problems/mesh/generate.h"
#include "problems/mesh/stuffing.h"
#include "tests/tap.h"
#include "tests/support/mesh_quality.h"

/* ---- surfaces -------------------------------------------------------------------------------- */

static eb_surface *box_surface(void) {
  eb_grid grid = {.cubes = {5, 3, 4}, .origin = {-1, -0.6, -0.4}, .size = {2, 1.2, 0.8}};
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "a box");
  tap_require(eb_mesh_surface(mesh, &surface), "its surface");
  eb_mesh_destroy(mesh);
  return surface;
}

/* A torus of the given resolution, corners on the true surface. */
static eb_surface *torus_surface(int32_t around, int32_t across) {
  eb_surface *surface = NULL;
  tap_require(eb_surface_create(around * across, 2 * around * across, &surface), "a torus");
  const double turn = 2 * 3.14159265358979323846;
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < across; j++) {
      double u = turn * i / around, v = turn * j / across, r = 1 + 0.4 * cos(v);
      double *X = surface->X + 3 * (size_t)(i * across + j);
      X[0] = r * cos(u);
      X[1] = r * sin(u);
      X[2] = 0.4 * sin(v);
      int32_t a = i * across + j, b = (i + 1) % around * across + j;
      int32_t c = (i + 1) % around * across + (j + 1) % across, d = i * across + (j + 1) % across;
      int32_t two[6] = {a, b, c, a, c, d};
      memcpy(surface->triangles + 6 * (size_t)(i * across + j), two, sizeof two);
    }
  return surface;
}

/* ---- brute force ----------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Distance to a segment. */
static double segment(const double *a, const double *b, const double *p) {
  double ab[3], ap[3], square = 0;
  for (int d = 0; d < 3; d++) ab[d] = b[d] - a[d], ap[d] = p[d] - a[d];
  double t = fmin(fmax(dot(ab, ap) / dot(ab, ab), 0), 1);
  for (int d = 0; d < 3; d++) square += (ap[d] - t * ab[d]) * (ap[d] - t * ab[d]);
  return sqrt(square);
}

/* Distance to a triangle: to its plane when the foot lies inside, else to its edges. */
static double triangle(const double *a, const double *b, const double *c, const double *p) {
  double best = fmin(segment(a, b, p), fmin(segment(b, c, p), segment(c, a, p)));
  double u[3], v[3], n[3], w[3];
  for (int d = 0; d < 3; d++) u[d] = b[d] - a[d], v[d] = c[d] - a[d], w[d] = p[d] - a[d];
  for (int d = 0; d < 3; d++)
    n[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
  double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), wu = dot(w, u), wv = dot(w, v);
  double scale = uu * vv - uv * uv, s = (vv * wu - uv * wv) / scale,
         t = (uu * wv - uv * wu) / scale;
  if (s >= 0 && t >= 0 && s + t <= 1) best = fmin(best, fabs(dot(n, w)) / sqrt(dot(n, n)));
  return best;
}

static double brute_force(const eb_surface *surface, const double p[3]) {
  double best = INFINITY;
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * (size_t)t;
    const double *X = surface->X;
    best = fmin(best, triangle(X + 3 * (size_t)corner[0], X + 3 * (size_t)corner[1],
                               X + 3 * (size_t)corner[2], p));
  }
  return best;
}

/* Halton points in the box lo..hi. */
static void sample(int i, const double lo[3], const double hi[3], double p[3]) {
  static const int base[3] = {2, 3, 5};
  for (int d = 0; d < 3; d++) {
    double fraction = 1, value = 0;
    for (int k = i + 1; k > 0; k /= base[d]) {
      fraction /= base[d];
      value += fraction * (k % base[d]);
    }
    p[d] = lo[d] + value * (hi[d] - lo[d]);
  }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void check_distance(const eb_surface *surface, const char *name) {
  static const double lo[3] = {-2, -2, -1.5}, hi[3] = {2, 2, 1.5};
  eb_solid solid;
  tap_require(eb_solid_from_surface(surface, &solid), name);
  double worst = 0;
  for (int i = 0; i < 3000; i++) {
    double p[3];
    sample(i, lo, hi, p);
    double got = solid.distance(solid.context, p);
    worst = fmax(worst, fabs(fabs(got) - brute_force(surface, p)));
  }
  tap_below(worst, 1e-14, "the distance is exact: brute force within rounding");
  eb_solid_clear(&solid);
  tap_ok(solid.context == NULL, "%s: cleared", name);
}

static double box_distance(const double p[3]) {
  static const double half[3] = {1, 0.6, 0.4};
  double outside = 0, inside = -INFINITY;
  for (int d = 0; d < 3; d++) {
    double q = fabs(p[d]) - half[d];
    outside += fmax(q, 0) * fmax(q, 0);
    inside = fmax(inside, q);
  }
  return sqrt(outside) + fmin(inside, 0);
}

static void test_box(void) {
  static const double lo[3] = {-1.5, -1, -0.8}, hi[3] = {1.5, 1, 0.8};
  eb_surface *surface = box_surface();
  check_distance(surface, "box");
  eb_solid solid;
  tap_require(eb_solid_from_surface(surface, &solid), "a box");
  double worst = 0, steepest = 0, p[3], q[3];
  for (int i = 0; i < 5000; i++) {
    sample(i, lo, hi, p);
    worst = fmax(worst, fabs(solid.distance(solid.context, p) - box_distance(p)));
    sample(i + 5000, lo, hi, q);
    for (int d = 0; d < 3; d++) q[d] = p[d] + 0.1 * (q[d] - p[d]);
    double way = sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]) +
                      (q[2] - p[2]) * (q[2] - p[2]));
    steepest = fmax(
        steepest, fabs(solid.distance(solid.context, p) - solid.distance(solid.context, q)) / way);
  }
  tap_below(worst, 1e-15, "a box: sign and distance are the analytic ones");
  tap_below(steepest, 1 + 1e-12, "a box: the distance is Lipschitz with constant 1");
  tap_near(solid.distance(solid.context, (const double[3]){1, 0.2, 0.1}), 0, 0, "0 on the surface");
  tap_ok(solid.lo[0] == -1 && solid.hi[1] == 0.6, "the box of the solid is that of the surface");
  eb_solid_clear(&solid);
  eb_surface_destroy(surface);
}

static void test_torus(void) {
  static const double lo[3] = {-1.6, -1.6, -0.6}, hi[3] = {1.6, 1.6, 0.6};
  eb_surface *surface = torus_surface(60, 24);
  check_distance(surface, "torus");
  eb_solid solid, turned;
  tap_require(eb_solid_from_surface(surface, &solid), "a torus");
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    int32_t swap = surface->triangles[3 * (size_t)t];
    surface->triangles[3 * (size_t)t] = surface->triangles[3 * (size_t)t + 1];
    surface->triangles[3 * (size_t)t + 1] = swap;
  }
  tap_require(eb_solid_from_surface(surface, &turned), "a torus that points inwards");
  double worst = 0, apart = 0, p[3];
  for (int i = 0; i < 5000; i++) {
    sample(i, lo, hi, p);
    double r = sqrt(p[0] * p[0] + p[1] * p[1]) - 1, truth = sqrt(r * r + p[2] * p[2]) - 0.4;
    double got = solid.distance(solid.context, p);
    worst = fmax(worst, fabs(got - truth));
    apart = fmax(apart, fabs(got - turned.distance(turned.context, p)));
  }
  /* Sagitta of the chords: 1.4 (1 - cos(pi/60)) + 0.4 (1 - cos(pi/24)) = 0.0054. */
  tap_below(worst, 0.0054, "a torus: sign and distance within the sagitta of its facets");
  tap_below(apart, 1e-14, "orientation is found from the volume");
  eb_solid_clear(&solid);
  eb_solid_clear(&turned);
  eb_surface_destroy(surface);
}

/* Two boxes in one surface, the second pushed into the first: the winding number is 2 where they
 * overlap, and everything in either is inside. */
static void test_overlap(void) {
  eb_surface *one = box_surface(), *two = NULL;
  int32_t vertices = one->vertex_count, triangles = one->triangle_count;
  tap_require(eb_surface_create(2 * vertices, 2 * triangles, &two), "two boxes");
  for (int32_t i = 0; i < 6 * vertices; i++)
    two->X[i] = one->X[i % (3 * vertices)] + (i >= 3 * vertices && i % 3 == 0 ? 1.3 : 0);
  for (int32_t i = 0; i < 6 * triangles; i++)
    two->triangles[i] = one->triangles[i % (3 * triangles)] + (i >= 3 * triangles ? vertices : 0);
  eb_solid solid;
  tap_require(eb_solid_from_surface(two, &solid), "two boxes that overlap");
  int wrong = 0;
  for (int i = 0; i < 4000; i++) {
    double p[3], shifted[3];
    sample(i, (const double[3]){-1.2, -0.8, -0.6}, (const double[3]){2.5, 0.8, 0.6}, p);
    for (int d = 0; d < 3; d++) shifted[d] = p[d] - (d == 0 ? 1.3 : 0);
    bool inside = box_distance(p) < 0 || box_distance(shifted) < 0;
    wrong += inside != (solid.distance(solid.context, p) < 0);
  }
  tap_ok(wrong == 0, "signs are right where a surface passes through itself");
  eb_solid_clear(&solid);
  eb_surface_destroy(one);
  eb_surface_destroy(two);
}

static void test_stuffing(void) {
  eb_surface *surface = torus_surface(80, 32);
  eb_solid solid;
  eb_mesh *mesh = NULL;
  eb_mesh_quality q;
  tap_require(eb_solid_from_surface(surface, &solid), "a torus");
  tap_require(eb_stuff_to_count(&solid, 12000, 0.01, &mesh), "a stuffed torus");
  tap_succeeds(eb_mesh_validate(mesh), "a stuffed surface is a valid mesh");
  eb_mesh_measure(mesh, mesh->X, &q);
  tap_below(EB_STUFFING_MIN_DIHEDRAL, q.min_dihedral, "smallest dihedral angle within its bound");
  tap_below(q.max_dihedral, EB_STUFFING_MAX_DIHEDRAL, "largest dihedral angle within its bound");
  /* 2 pi^2 R r^2, less the chords and the lattice's: 2 % at 12 000 elements. */
  tap_near(q.total_volume, 3.158273, 0.06, "the volume is that of the torus");
  eb_mesh_destroy(mesh);
  eb_solid_clear(&solid);
  eb_surface_destroy(surface);
}

static void test_degenerate_triangles(void) {
  eb_surface *surface = torus_surface(40, 16);
  /* Vertex 5 onto its neighbour 6: four flat triangles, and the surface is closed as before. */
  for (int d = 0; d < 3; d++) surface->X[15 + d] = surface->X[18 + d];
  eb_solid solid;
  tap_succeeds(eb_solid_from_surface(surface, &solid), "triangles without area are no hindrance");
  double p[3] = {1, 0, 0};
  tap_ok(solid.distance && solid.distance(solid.context, p) < -0.3, "the inside stays inside");
  eb_solid_clear(&solid);
  eb_surface_destroy(surface);
}

static void refuse(eb_surface *surface, const char *fragment, const char *name) {
  eb_solid solid;
  tap_fails(eb_solid_from_surface(surface, &solid), EB_ERR_INVALID, fragment, name);
  tap_ok(solid.context == NULL, "and leaves no solid");
  eb_solid_clear(&solid);
  eb_surface_destroy(surface);
}

static void test_bad_input(void) {
  eb_surface *surface = torus_surface(10, 8);
  surface->triangle_count--;
  refuse(surface, "the surface is open: edge", "an open surface");
  surface = torus_surface(10, 8);
  surface->triangle_count = 0;
  refuse(surface, "no triangles", "an empty surface");
  surface = torus_surface(10, 8);
  surface->X[40] = NAN;
  refuse(surface, "nan", "a coordinate that is no number");
  surface = torus_surface(10, 8);
  surface->triangles[17] = 80;
  refuse(surface, "node 80", "an index beyond the vertices");
  surface = torus_surface(10, 8);
  surface->triangles[0] = 1;
  surface->triangles[1] = 0;
  refuse(surface, "edge", "an inconsistent triangle");
  surface = torus_surface(10, 8);
  for (int32_t v = 0; v < surface->vertex_count; v++) surface->X[3 * (size_t)v + 2] = 0;
  refuse(surface, "no volume", "a flat surface");
}

int main(void) {
  test_box();
  test_torus();
  test_overlap();
  test_stuffing();
  test_degenerate_triangles();
  test_bad_input();
  return tap_done();
}
