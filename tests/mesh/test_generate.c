/* Generated meshes: counts, conformity, orientation, sizes, node sets, joining. */
#include "problems/mesh/generate.h"
#include "tests/tap.h"
#include "tests/support/mesh_quality.h"

typedef eb_error (*generator)(const eb_grid *grid, eb_mesh **out);

static eb_grid grid_of(int32_t nx, int32_t ny, int32_t nz, double x, double y, double z) {
  return (eb_grid){.cubes = {nx, ny, nz}, .origin = {-0.5, 0.25, 1}, .size = {x, y, z}};
}

/* Counts, validity (which covers conformity: a face that does not match its neighbour is on the
 * surface) and volume. */
static void check_mesh(generator make, eb_grid grid, int32_t nodes, int32_t elements,
                       int32_t surface_triangles, const char *name) {
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  tap_require(make(&grid, &mesh), name);
  tap_ok(mesh->node_count == nodes, "%s has %d nodes", name, nodes);
  tap_ok(mesh->element_count == elements, "%s has %d elements", name, elements);
  tap_succeeds(eb_mesh_validate(mesh), name);
  tap_require(eb_mesh_surface(mesh, &surface), name);
  tap_ok(surface->triangle_count == surface_triangles, "%s conforms: %d surface triangles", name,
         surface_triangles);
  eb_mesh_quality quality;
  eb_mesh_measure(mesh, mesh->X, &quality);
  double volume = grid.size[0] * grid.size[1] * (mesh->type == EB_TRIANGLE ? 1 : grid.size[2]);
  tap_near(quality.total_volume, volume, 1e-11 * volume, "the elements fill the box to rounding");
  tap_ok(quality.inverted == 0, "%s is positively oriented", name);
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  bool exact = true;
  for (int d = 0; d < (mesh->type == EB_TRIANGLE ? 2 : 3); d++)
    exact = exact && lo[d] == grid.origin[d] && hi[d] == grid.origin[d] + grid.size[d];
  tap_ok(exact, "%s has exactly the asked size", name);
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
}

static int32_t skin(int32_t nx, int32_t ny, int32_t nz) {
  return 4 * (nx * ny + ny * nz + nz * nx);
}

static void test_counts(void) {
  check_mesh(eb_generate_tets6, grid_of(20, 6, 6, 1, .3, .3), 1029, 4320, skin(20, 6, 6),
             "the twisted bar");
  check_mesh(eb_generate_tets6, grid_of(40, 8, 8, 1, .2, .2), 3321, 15360, skin(40, 8, 8),
             "the bench beam");
  check_mesh(eb_generate_tets5, grid_of(12, 12, 12, 1, 1, 1), 2197, 8640, skin(12, 12, 12),
             "the five-tetrahedra cube");
  check_mesh(eb_generate_tets5, grid_of(3, 4, 5, 1, 2, 3), 120, 300, skin(3, 4, 5),
             "an odd five-tetrahedra bar");
  check_mesh(eb_generate_tets6, grid_of(50, 50, 1, 1, 1, 1e-4), 5202, 15000, skin(50, 50, 1),
             "the cloth");
  check_mesh(eb_generate_hexahedra, grid_of(4, 3, 2, 1, 1, 1), 60, 24, skin(4, 3, 2),
             "a hexahedral block");
  check_mesh(eb_generate_triangles, grid_of(7, 5, 0, 2, 1, 0), 48, 70, 70, "a planar sheet");
  check_mesh(eb_generate_tets5, grid_of(1, 1, 1, 1, 1, 1), 8, 5, 12, "one cube of five");
}

static void test_numbering_and_sets(void) {
  eb_grid grid = grid_of(3, 2, 4, 3, 2, 4);
  eb_mesh *mesh = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "a small grid");
  const double *node = mesh->X + 3 * (size_t)(2 + 4 * (1 + 3 * 3));
  tap_ok(node[0] == 1.5 && node[1] == 1.25 && node[2] == 4,
         "node (2, 1, 3) stands where the numbering says");
  static const char *const names[] = {"x0", "x1", "y0", "y1", "z0", "z1"};
  static const int32_t counts[] = {15, 15, 20, 20, 12, 12};
  for (int s = 0; s < 6; s++) {
    const eb_node_set *set = eb_mesh_set(mesh, names[s]);
    bool flat = set && set->count == counts[s];
    double at = grid.origin[s / 2] + (s % 2 ? grid.size[s / 2] : 0);
    for (int32_t i = 0; flat && i < set->count; i++)
      flat = mesh->X[3 * (size_t)set->nodes[i] + (size_t)(s / 2)] == at;
    tap_ok(flat, "set %s holds its face", names[s]);
  }
  eb_mesh_destroy(mesh);
  tap_require(eb_generate_triangles(&grid, &mesh), "a small sheet");
  tap_ok(mesh->set_count == 4 && eb_mesh_set(mesh, "y1")->count == 4, "a sheet has four edge sets");
  eb_mesh_destroy(mesh);
}

static void test_ring(void) {
  eb_mesh *ring = NULL;
  eb_surface *surface = NULL;
  tap_require(eb_generate_ring(18, 0.1, 0.04, &ring), "the ring");
  tap_ok(ring->node_count == 72 && ring->element_count == 108, "the ring: 72 nodes, 108 elements");
  tap_succeeds(eb_mesh_validate(ring), "the ring is valid");
  tap_require(eb_mesh_surface(ring, &surface), "the surface of the ring");
  tap_ok(surface->triangle_count == 144, "the ring: 144 surface triangles");
  tap_succeeds(eb_surface_validate(surface, true), "the surface of the ring is closed");
  eb_mesh_quality quality;
  eb_mesh_measure(ring, ring->X, &quality);
  double half = 3.14159265358979323846 / 18;
  tap_near(quality.total_volume, 36 * sin(half) * cos(half) * 0.1 * 0.04 * 0.04, 1e-15,
           "its volume is that of 18 trapezoidal prisms");
  eb_surface_destroy(surface);
  eb_mesh_destroy(ring);
  tap_require(eb_generate_ring(3, 1, 0.5, &ring), "the coarsest ring");
  tap_succeeds(eb_mesh_validate(ring), "the coarsest ring is valid");
  eb_mesh_destroy(ring);
}

static void test_append(void) {
  eb_grid grid = grid_of(2, 2, 2, 1, 1, 1);
  eb_mesh *mesh = NULL, *extra = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "first block");
  tap_require(eb_generate_tets6(&grid, &extra), "second block");
  tap_require(eb_mesh_name_regions(extra, 2, (const char *const[]){"stiff", "body"}), "regions");
  for (int32_t e = 0; e < extra->element_count; e++) extra->region[e] = e % 2;
  tap_require(eb_mesh_add_set(extra, "tip", (const int32_t[]){26}, 1), "set");
  extra->fibre = calloc(3 * (size_t)extra->element_count, sizeof(double));
  for (int32_t e = 0; e < extra->element_count; e++) extra->fibre[3 * (size_t)e] = 1;
  tap_succeeds(eb_mesh_append(mesh, extra, (const double[3]){5, 0, 0}), "two blocks join");
  tap_ok(mesh->node_count == 54 && mesh->element_count == 96, "the counts add up");
  tap_succeeds(eb_mesh_validate(mesh), "the joined mesh is valid");
  tap_near(mesh->X[3 * 27], grid.origin[0] + 5, 0, "the second block is shifted");
  tap_ok(mesh->region_count == 2 && eb_mesh_region(mesh, "body") == 0 && mesh->region[48] == 1 &&
             mesh->region[49] == 0,
         "regions of equal name are one");
  tap_ok(mesh->fibre && mesh->fibre[0] == 0 && mesh->fibre[3 * 48] == 1,
         "fibres are kept, and zero where there were none");
  const eb_node_set *face = eb_mesh_set(mesh, "x0"), *tip = eb_mesh_set(mesh, "tip");
  bool ascending = face && face->count == 18;
  for (int32_t i = 1; ascending && i < face->count; i++)
    ascending = face->nodes[i - 1] < face->nodes[i];
  tap_ok(ascending, "sets of equal name are one, ascending");
  tap_ok(tip && tip->count == 1 && tip->nodes[0] == 53, "a new set keeps its shifted nodes");
  tap_succeeds(eb_mesh_append(mesh, mesh, (const double[3]){0, 9, 0}), "a mesh joins itself");
  tap_ok(mesh->element_count == 192 && !eb_mesh_validate(mesh), "the doubled mesh is valid");
  eb_mesh_destroy(extra);
  tap_require(eb_generate_hexahedra(&grid, &extra), "hexahedra");
  tap_fails(eb_mesh_append(mesh, extra, (const double[3]){0}), EB_ERR_INVALID, "8 nodes",
            "hexahedra do not join tetrahedra");
  tap_ok(mesh->element_count == 192, "a failed join leaves the mesh as it was");
  eb_mesh_destroy(extra);
  eb_mesh_destroy(mesh);
}

static void test_bad_input(void) {
  eb_mesh *mesh = NULL;
  eb_grid grid = grid_of(2, 0, 2, 1, 1, 1);
  tap_fails(eb_generate_tets6(&grid, &mesh), EB_ERR_USAGE, "along y", "no cubes along y");
  grid = grid_of(2, 2, -1, 1, 1, 1);
  tap_fails(eb_generate_hexahedra(&grid, &mesh), EB_ERR_USAGE, "along z", "negative cubes");
  grid = grid_of(2, 2, 2, 1, 1, NAN);
  tap_fails(eb_generate_tets5(&grid, &mesh), EB_ERR_USAGE, "along z",
            "a size that is not a number");
  grid = grid_of(2, 2, 2, 0, 1, 1);
  tap_fails(eb_generate_triangles(&grid, &mesh), EB_ERR_USAGE, "along x", "a size of zero");
  grid = grid_of(2, 2, 2, 1, 1, 1);
  grid.origin[1] = INFINITY;
  tap_fails(eb_generate_tets6(&grid, &mesh), EB_ERR_USAGE, "origin", "an infinite origin");
  grid = grid_of(100000, 100000, 100000, 1, 1, 1);
  tap_fails(eb_generate_tets6(&grid, &mesh), EB_ERR_LIMIT, "too large", "a grid beyond all counts");
  tap_fails(eb_generate_ring(2, 1, 0.1, &mesh), EB_ERR_USAGE, "3 to", "a ring of two cubes");
  tap_fails(eb_generate_ring(18, 0.1, 0.3, &mesh), EB_ERR_USAGE, "no hole", "a ring with no hole");
  tap_fails(eb_generate_ring(18, 0.1, NAN, &mesh), EB_ERR_USAGE, "no hole",
            "a ring of NaN section");
  tap_ok(mesh == NULL, "failures give no mesh");
}

int main(void) {
  test_counts();
  test_numbering_and_sets();
  test_ring();
  test_append();
  test_bad_input();
  return tap_done();
}
