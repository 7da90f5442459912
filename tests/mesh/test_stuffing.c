/* Isosurface stuffing: angle bounds, volume, topology, determinism, element counts, bad input. */
#include <omp.h>

#include "problems/mesh/stuffing.h"
#include "tests/tap.h"
#include "tests/support/mesh_quality.h"

/* ---- solids ---------------------------------------------------------------------------------- */

static double length(double x, double y, double z) {
  return sqrt(x * x + y * y + z * z);
}

static double sphere(const void *context, const double p[3]) {
  return length(p[0], p[1], p[2]) - *(const double *)context;
}

static double torus(const void *context, const double p[3]) {
  (void)context;
  return length(length(p[0], p[1], 0) - 1, p[2], 0) - 0.35;
}

/* A box of half extents b with edges rounded by r. */
static double rounded(const double p[3], const double b[3], double r) {
  double outside[3], inside = -INFINITY;
  for (int d = 0; d < 3; d++) {
    double q = fabs(p[d]) - b[d] + r;
    outside[d] = fmax(q, 0);
    inside = fmax(inside, q);
  }
  return length(outside[0], outside[1], outside[2]) + fmin(inside, 0) - r;
}

static double box(const void *context, const double p[3]) {
  (void)context;
  return rounded(p, (const double[3]){1, 0.6, 0.4}, 0.1);
}

static double sharp_box(const void *context, const double p[3]) {
  (void)context;
  return rounded(p, (const double[3]){1, 0.6, 0.4}, 0);
}

static double plate(const void *context, const double p[3]) {
  (void)context;
  return rounded(p, (const double[3]){1, 1, 0.03}, 0.02);
}

static double cross_union(const void *context, const double p[3]) {
  (void)context;
  double bar = length(p[1], p[2], 0) - 0.15, ball = length(p[0] - 0.7, p[1], p[2]) - 0.4;
  double rod = length(p[0], p[1], 0) - 0.1, cut = length(p[0] - 0.7, p[1] - 0.3, p[2]) - 0.2;
  return fmax(fmax(fmin(fmin(bar, ball), rod), fabs(p[0]) - 1.3), fmax(fabs(p[2]) - 1, -cut));
}

static double two_balls(const void *context, const double p[3]) {
  double large = length(p[0] + 1, p[1], p[2]) - 0.8;
  return fmin(large, length(p[0] - 1, p[1], p[2]) - *(const double *)context);
}

static int32_t half(const void *context, const double p[3]) {
  (void)context;
  return p[0] < 0 ? 0 : 1;
}

static eb_solid solid_of(double (*distance)(const void *, const double[3]), const void *context,
                         double reach) {
  return (eb_solid){.distance = distance,
                    .context = context,
                    .lo = {-reach, -reach, -reach},
                    .hi = {reach, reach, reach}};
}

static const double one = 1;

/* ---- checks ---------------------------------------------------------------------------------- */

static void check_quality(const eb_mesh *mesh, const char *name) {
  eb_mesh_quality q;
  eb_mesh_measure(mesh, mesh->X, &q);
  tap_ok(q.inverted == 0, "%s: %d elements, all positive", name, mesh->element_count);
  tap_succeeds(eb_mesh_validate(mesh), "valid");
  tap_below(EB_STUFFING_MIN_DIHEDRAL, q.min_dihedral, "smallest dihedral angle within its bound");
  tap_below(q.max_dihedral, EB_STUFFING_MAX_DIHEDRAL, "largest dihedral angle within its bound");
}

/* Vertices - edges + faces of the surface: 2 - 2 genus. */
static int32_t euler(const eb_surface *surface) {
  return surface->vertex_count - surface->triangle_count / 2;
}

static void test_sphere(void) {
  eb_solid solid = solid_of(sphere, &one, 1);
  double error[2];
  for (int i = 0; i < 2; i++) {
    eb_mesh *mesh = NULL;
    eb_surface *surface = NULL;
    eb_mesh_quality q;
    tap_require(eb_stuff(&solid, i ? 0.1 : 0.2, &mesh), "a ball");
    check_quality(mesh, i ? "fine ball" : "ball");
    tap_require(eb_mesh_surface(mesh, &surface), "its surface");
    tap_succeeds(eb_surface_validate(surface, true), "its surface is a closed manifold");
    tap_ok(euler(surface) == 2, "without holes");
    double off = 0;
    for (int32_t v = 0; v < surface->vertex_count; v++)
      off = fmax(off, fabs(sphere(&one, surface->X + 3 * (size_t)v)));
    tap_below(off, 2e-7, "surface vertices lie on the sphere within 1e-6 of the spacing");
    eb_mesh_measure(mesh, mesh->X, &q);
    error[i] = 4.18879020478639 - q.total_volume;
    eb_surface_destroy(surface);
    eb_mesh_destroy(mesh);
  }
  tap_ok(error[1] > 0 && error[0] / error[1] > 3, "the volume converges at second order (%g)",
         error[0] / error[1]);
}

static void test_shapes(void) {
  static const struct {
    const char *name;
    double (*distance)(const void *, const double[3]);
    double spacing;
  } shapes[] = {{"torus", torus, 0.11},         {"fine torus", torus, 0.053},
                {"rounded box", box, 0.07},     {"sharp box", sharp_box, 0.083},
                {"thin plate", plate, 0.05},    {"plate thinner than the lattice", plate, 0.09},
                {"union", cross_union, 0.0613}, {"coarse union", cross_union, 0.137}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    eb_solid solid = solid_of(shapes[i].distance, NULL, 1.5);
    eb_mesh *mesh = NULL;
    tap_require(eb_stuff(&solid, shapes[i].spacing, &mesh), shapes[i].name);
    check_quality(mesh, shapes[i].name);
    eb_mesh_destroy(mesh);
  }
}

/* Many random lattices against one shape: no position of the surface breaks the bounds. */
static void test_many_positions(void) {
  eb_mesh_quality worst = {.min_dihedral = 180};
  int32_t elements = 0;
  for (int i = 0; i < 60; i++) {
    double radius = 0.3 + 0.017 * i;
    eb_solid solid = i % 2 ? solid_of(sphere, &radius, 1.5) : solid_of(cross_union, NULL, 1.5);
    for (int d = 0; d < 3; d++) solid.hi[d] += 0.0137 * i * (d + 1);
    eb_mesh *mesh = NULL;
    eb_mesh_quality q;
    tap_require(eb_stuff(&solid, 0.2 - 0.002 * i, &mesh), "a shifted solid");
    eb_mesh_measure(mesh, mesh->X, &q);
    worst.min_dihedral = fmin(worst.min_dihedral, q.min_dihedral);
    worst.max_dihedral = fmax(worst.max_dihedral, q.max_dihedral);
    worst.inverted += q.inverted;
    elements += mesh->element_count;
    eb_mesh_destroy(mesh);
  }
  tap_ok(worst.inverted == 0, "%d elements of sixty lattices are positive", elements);
  tap_below(EB_STUFFING_MIN_DIHEDRAL, worst.min_dihedral, "smallest angle of sixty lattices");
  tap_below(worst.max_dihedral, EB_STUFFING_MAX_DIHEDRAL, "largest angle of sixty lattices");
}

static void test_torus_topology(void) {
  eb_solid solid = solid_of(torus, NULL, 1.5);
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  tap_require(eb_stuff(&solid, 0.1, &mesh), "a torus");
  tap_require(eb_mesh_surface(mesh, &surface), "its surface");
  tap_ok(euler(surface) == 0, "a torus has one hole");
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
}

static int32_t count_left(const eb_mesh *mesh, bool left) {
  int32_t count = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) count += (mesh->X[3 * (size_t)i] < 0) == left;
  return count;
}

static void test_components(void) {
  double radius = 0.7;
  eb_solid solid = solid_of(two_balls, &radius, 2);
  static const char *const names[] = {"left", "right", NULL};
  solid.region = half;
  solid.region_names = names;
  eb_mesh *mesh = NULL;
  tap_require(eb_stuff(&solid, 0.15, &mesh), "two balls");
  tap_ok(count_left(mesh, false) > 0, "two pieces of like size are both kept");
  bool right = mesh->region_count == 2;
  for (int32_t e = 0; right && e < mesh->element_count; e++)
    right = mesh->region[e] == (mesh->X[3 * (size_t)mesh->elements[4 * (size_t)e]] < 0 ? 0 : 1);
  tap_ok(right, "regions are told at the centroids");
  eb_mesh_destroy(mesh);
  radius = 0.2;
  tap_require(eb_stuff(&solid, 0.15, &mesh), "a ball and a crumb");
  tap_ok(count_left(mesh, false) == 0 && count_left(mesh, true) > 0, "a crumb is dropped");
  check_quality(mesh, "without the crumb");
  eb_mesh_destroy(mesh);
}

static void test_determinism(void) {
  eb_solid solid = solid_of(cross_union, NULL, 1.5);
  uint64_t hash[2];
  int threads = omp_get_max_threads();
  for (int i = 0; i < 2; i++) {
    eb_mesh *mesh = NULL;
    omp_set_num_threads(i ? 3 : 1);
    tap_require(eb_stuff(&solid, 0.05, &mesh), "a union");
    hash[i] = eb_mesh_hash(mesh);
    eb_mesh_destroy(mesh);
  }
  omp_set_num_threads(threads);
  tap_ok(hash[0] == hash[1], "one and three threads give the same bits");
}

static void test_counts(void) {
  static const int32_t targets[] = {300, 1000, 6681, 20000, 60000};
  static const double tolerances[] = {0.05, 0.02, 0.01, 0.005, 0.005};
  eb_solid solids[] = {solid_of(cross_union, NULL, 1.5), solid_of(torus, NULL, 1.5),
                       solid_of(plate, NULL, 1.1)};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 3; k++) {
      if (k == 2 && targets[i] < 20000) continue; /* a thin plate takes some thousands at once */
      eb_mesh *mesh = NULL;
      double tolerance = k == 2 ? 0.03 : tolerances[i];
      if (!tap_succeeds(eb_stuff_to_count(&solids[k], targets[i], tolerance, &mesh), "count"))
        continue;
      double off = fabs((double)mesh->element_count - targets[i]) / targets[i];
      tap_below(off, tolerance, "the element count is within its tolerance");
      eb_mesh_destroy(mesh);
    }
  eb_mesh *mesh = NULL;
  tap_fails(eb_stuff_to_count(&solids[2], 300, 0.05, &mesh), EB_ERR_INVALID, "nearest found",
            "too few elements for a thin plate");
}

static void test_models(void) {
  for (const eb_model *model = eb_models(); model->name; model++) {
    eb_mesh *mesh = NULL;
    if (!tap_succeeds(eb_stuff_to_count(&model->solid, 8000, 0.03, &mesh), model->name)) continue;
    check_quality(mesh, model->name);
    eb_mesh_destroy(mesh);
  }
}

/* ---- bad input ------------------------------------------------------------------------------- */

static double nowhere(const void *context, const double p[3]) {
  (void)context, (void)p;
  return 1;
}

static double broken(const void *context, const double p[3]) {
  return p[0] > 0.3 ? NAN : sphere(context, p);
}

/* Right on the lattice, broken between its points. */
static double holed(const void *context, const double p[3]) {
  double r = sphere(context, p);
  return fabs(r) < 1e-4 ? NAN : r;
}

static void test_bad_input(void) {
  eb_solid solid = solid_of(nowhere, NULL, 1);
  eb_mesh *mesh = NULL;
  tap_fails(eb_stuff(&solid, 0.1, &mesh), EB_ERR_INVALID, "nothing is inside", "an empty solid");
  tap_fails(eb_stuff_to_count(&solid, 1000, 0.1, &mesh), EB_ERR_INVALID, "",
            "an empty solid has no count");
  solid = solid_of(sphere, &one, 1);
  tap_fails(eb_stuff(&solid, 0, &mesh), EB_ERR_USAGE, "spacing", "a spacing of zero");
  tap_fails(eb_stuff(&solid, -1, &mesh), EB_ERR_USAGE, "spacing", "a negative spacing");
  tap_fails(eb_stuff(&solid, NAN, &mesh), EB_ERR_USAGE, "spacing", "a spacing that is no number");
  tap_fails(eb_stuff(&solid, 1e-6, &mesh), EB_ERR_LIMIT, "too many", "a spacing too small");
  tap_fails(eb_stuff(&solid, 50, &mesh), EB_ERR_INVALID, "", "a lattice coarser than the solid");
  tap_fails(eb_stuff_to_count(&solid, 0, 0.1, &mesh), EB_ERR_USAGE, "count", "a count of zero");
  tap_fails(eb_stuff_to_count(&solid, 100, NAN, &mesh), EB_ERR_USAGE, "tolerance",
            "a tolerance that is no number");
  tap_fails(eb_stuff_to_count(&solid, 2, 0.01, &mesh), EB_ERR_INVALID, "nearest found",
            "a count that no lattice has");
  solid.hi[1] = solid.lo[1];
  tap_fails(eb_stuff(&solid, 0.1, &mesh), EB_ERR_INVALID, "along y", "a flat box");
  tap_fails(eb_stuff_to_count(&solid, 100, 0.1, &mesh), EB_ERR_INVALID, "along y", "a flat box");
  solid.hi[1] = 0.5;
  tap_fails(eb_stuff(&solid, 0.1, &mesh), EB_ERR_INVALID, "beyond its box", "a box too small");
  solid = solid_of(broken, &one, 1);
  tap_fails(eb_stuff(&solid, 0.1, &mesh), EB_ERR_INVALID, "nan", "a distance that is no number");
  const double radius = 0.77;
  solid = solid_of(holed, &radius, 1);
  tap_fails(eb_stuff(&solid, 0.25, &mesh), EB_ERR_INVALID, "not finite near",
            "a distance that is no number at the surface");
  tap_ok(mesh == NULL, "failures give no mesh");
}

int main(void) {
  test_sphere();
  test_shapes();
  test_many_positions();
  test_torus_topology();
  test_components();
  test_determinism();
  test_counts();
  test_models();
  test_bad_input();
  return tap_done();
}
