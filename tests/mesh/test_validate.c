/* Validation names the first offending element; quality against shapes known by hand. */
#include "problems/mesh/generate.h"
#include "tests/tap.h"
#include "tests/support/mesh_quality.h"

static eb_mesh *block(void) {
  eb_grid grid = {.cubes = {2, 2, 2}, .size = {1, 1, 1}};
  eb_mesh *mesh = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "a block");
  return mesh;
}

/* A damaged block must be refused with a message that holds `fragment`. */
static void refuse(eb_mesh *mesh, const char *fragment, const char *name) {
  tap_fails(eb_mesh_validate(mesh), EB_ERR_INVALID, fragment, name);
  eb_mesh_destroy(mesh);
}

static void swap_nodes(int32_t *a, int32_t *b) {
  int32_t old = *a;
  *a = *b;
  *b = old;
}

static void test_elements(void) {
  eb_mesh *mesh = block();
  tap_succeeds(eb_mesh_validate(mesh), "a sound block passes");
  mesh->elements[4 * 7 + 2] = 27;
  mesh->elements[4 * 9] = -1;
  refuse(mesh, "element 7: corner 2 is node 27, but nodes are 0 to 26",
         "an index beyond the nodes");
  mesh = block();
  mesh->elements[4 * 5 + 1] = -3;
  refuse(mesh, "element 5: corner 1 is node -3", "a negative index");
  mesh = block();
  mesh->elements[4 * 3 + 3] = mesh->elements[4 * 3 + 1];
  refuse(mesh, "element 3: corners 1 and 3 are both node", "a repeated node");
  mesh = block();
  mesh->X[3 * 13 + 1] = NAN;
  refuse(mesh, "coordinate y of node 13 is nan", "a coordinate that is not a number");
  mesh = block();
  mesh->X[3 * 26 + 2] = INFINITY;
  refuse(mesh, "coordinate z of node 26 is inf", "an infinite coordinate");
  mesh = block();
  swap_nodes(&mesh->elements[4 * 11], &mesh->elements[4 * 11 + 1]);
  refuse(mesh, "element 11 is inverted", "an inverted element");
  mesh = block();
  for (int d = 0; d < 3; d++)
    mesh->X[d] = (mesh->X[3 * (size_t)mesh->elements[2] + (size_t)d] +
                  mesh->X[3 * (size_t)mesh->elements[3] + (size_t)d]) /
                 2;
  refuse(mesh, "element 0 is flat", "an element of no volume");
  mesh = block();
  mesh->region[6] = 1;
  refuse(mesh, "element 6 is in region 1", "an unknown region");
}

static void test_scales(void) {
  eb_mesh *mesh = block();
  for (int32_t i = 0; i < 3 * mesh->node_count; i++) mesh->X[i] *= 1e-6;
  tap_succeeds(eb_mesh_validate(mesh), "a block of a micrometre is not flat");
  for (int32_t i = 0; i < mesh->node_count; i++) mesh->X[3 * (size_t)i] *= 1e-4;
  tap_succeeds(eb_mesh_validate(mesh), "a sheet 1e4 times thinner than wide is not flat");
  eb_mesh_destroy(mesh);
}

static void test_topology(void) {
  eb_mesh *mesh = block();
  memcpy(mesh->elements + 4 * 20, mesh->elements + 4 * 4, 4 * sizeof(int32_t));
  refuse(mesh, "element 20 has the same nodes as element 4", "a duplicate element");
  mesh = block();
  eb_mesh *extra = NULL;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 1, 0, &extra), "a lone node");
  tap_require(eb_mesh_append(mesh, extra, (const double[3]){0}), "a lone node");
  eb_mesh_destroy(extra);
  refuse(mesh, "node 27 belongs to no element", "an unused node");
  static const double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 1, 1, 1};
  static const int32_t tets[] = {0, 1, 2, 3, 0, 2, 1, 4, 0, 1, 2, 5};
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 6, 3, &mesh), "three tetrahedra");
  memcpy(mesh->X, X, sizeof X);
  memcpy(mesh->elements, tets, sizeof tets);
  refuse(mesh, "element 2: its face", "a face of three elements");
  static const int32_t folded[] = {0, 1, 2, 3, 0, 1, 2, 4};
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 5, 2, &mesh), "two tetrahedra");
  memcpy(mesh->X, X, 15 * sizeof(double));
  mesh->X[14] = 2;
  memcpy(mesh->elements, folded, sizeof folded);
  refuse(mesh, "element 1 overlaps element 0", "two elements on the same side of a face");
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 0, 0, &mesh), "no elements");
  refuse(mesh, "no elements", "an empty mesh");
}

static void test_other_elements(void) {
  eb_grid grid = {.cubes = {3, 2, 2}, .size = {1, 1, 1}};
  eb_mesh *mesh = NULL;
  tap_require(eb_generate_hexahedra(&grid, &mesh), "hexahedra");
  tap_succeeds(eb_mesh_validate(mesh), "hexahedra pass");
  for (int i = 0; i < 4; i++) swap_nodes(&mesh->elements[16 + i], &mesh->elements[20 + i]);
  refuse(mesh, "element 2 is inverted", "an inverted hexahedron");
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  tap_succeeds(eb_mesh_validate(mesh), "triangles pass");
  swap_nodes(&mesh->elements[3], &mesh->elements[4]);
  refuse(mesh, "element 1 is inverted: its area", "a clockwise triangle");
}

static eb_surface *tetrahedron_surface(void) {
  static const double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const int32_t triangles[] = {1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1};
  eb_surface *surface = NULL;
  tap_require(eb_surface_create(4, 4, &surface), "a closed surface");
  memcpy(surface->X, X, sizeof X);
  memcpy(surface->triangles, triangles, sizeof triangles);
  return surface;
}

static void refuse_surface(eb_surface *surface, bool closed, const char *fragment,
                           const char *name) {
  tap_fails(eb_surface_validate(surface, closed), EB_ERR_INVALID, fragment, name);
  eb_surface_destroy(surface);
}

static void test_surfaces(void) {
  eb_surface *surface = tetrahedron_surface();
  tap_succeeds(eb_surface_validate(surface, true), "a closed surface passes");
  surface->triangle_count = 3;
  tap_succeeds(eb_surface_validate(surface, false), "an open one passes when it may be open");
  refuse_surface(surface, true, "open: edge 1-2 of triangle 0", "the first open edge is named");
  surface = tetrahedron_surface();
  swap_nodes(&surface->triangles[9], &surface->triangles[10]);
  refuse_surface(surface, true, "not consistently oriented", "a triangle turned around");
  surface = tetrahedron_surface();
  surface->triangles[4] = 4;
  refuse_surface(surface, false, "triangle 1: corner 1 is node 4", "an index beyond the vertices");
  surface = tetrahedron_surface();
  surface->X[7] = NAN;
  refuse_surface(surface, false, "coordinate y of node 2 is nan", "NaN in a surface");
  surface = tetrahedron_surface();
  for (int d = 0; d < 3; d++) surface->X[9 + d] = 2 * surface->X[3 + d] - surface->X[6 + d];
  refuse_surface(surface, false, "triangle 0 is degenerate", "three corners in line");
  surface = tetrahedron_surface();
  surface->triangles[2] = 1;
  refuse_surface(surface, false, "triangle 0: corners 0 and 2 are both", "a repeated corner");
}

static void test_non_manifold(void) {
  eb_surface *one = tetrahedron_surface(), *two = NULL;
  tap_require(eb_surface_create(6, 8, &two), "two tetrahedra with a common edge");
  memcpy(two->X, one->X, 12 * sizeof(double));
  static const double more[] = {1, 0, -1, 0, 0, -1};
  static const int32_t map[] = {0, 1, 4, 5};
  memcpy(two->X + 12, more, sizeof more);
  memcpy(two->triangles, one->triangles, 12 * sizeof(int32_t));
  for (int i = 0; i < 12; i++) two->triangles[12 + i] = map[one->triangles[i]];
  refuse_surface(two, true, "edge 0-1 of triangle 2 is not manifold: 4 triangles",
                 "an edge of four triangles");
  eb_surface_destroy(one);
}

static void set_tetrahedron(eb_mesh *mesh, const double X[12]) {
  memcpy(mesh->X, X, 12 * sizeof(double));
  for (int i = 0; i < 4; i++) mesh->elements[i] = i;
}

static void test_quality(void) {
  static const double regular[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
  static const double corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  eb_mesh *mesh = NULL;
  eb_mesh_quality quality;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 4, 1, &mesh), "one tetrahedron");
  set_tetrahedron(mesh, regular);
  eb_mesh_measure(mesh, mesh->X, &quality);
  double degrees = 180 / 3.14159265358979323846;
  tap_near(quality.min_dihedral, degrees * acos(1.0 / 3), 1e-12, "the regular dihedral angle");
  tap_near(quality.max_dihedral, degrees * acos(1.0 / 3), 1e-12, "all six are equal");
  tap_near(quality.max_aspect, sqrt(1.5), 1e-14, "the regular aspect");
  tap_near(fabs(quality.total_volume), 8.0 / 3, 1e-15, "the regular volume");
  set_tetrahedron(mesh, corner);
  eb_mesh_measure(mesh, mesh->X, &quality);
  tap_near(quality.max_dihedral, 90, 1e-13, "a cube's corner has right angles");
  tap_near(quality.min_dihedral, degrees * acos(1 / sqrt(3.0)), 1e-12, "and 54.7 degrees");
  swap_nodes(&mesh->elements[0], &mesh->elements[1]);
  eb_mesh_measure(mesh, mesh->X, &quality);
  tap_ok(quality.inverted == 1 && quality.min_volume < 0, "an inverted element is counted");
  eb_mesh_destroy(mesh);
  eb_grid grid = {.cubes = {2, 2, 2}, .size = {2, 2, 6}};
  tap_require(eb_generate_hexahedra(&grid, &mesh), "hexahedra");
  eb_mesh_measure(mesh, mesh->X, &quality);
  tap_near(quality.min_dihedral, 90, 1e-13, "corners of a box are square");
  tap_near(quality.max_aspect, 3, 1e-14, "the aspect of a box");
  eb_mesh_destroy(mesh);
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  eb_mesh_measure(mesh, mesh->X, &quality);
  tap_near(quality.min_dihedral, 45, 1e-13, "corner angles of a half square");
  tap_near(quality.max_aspect, 2, 1e-14, "the aspect of a half square");
  eb_mesh_destroy(mesh);
}

int main(void) {
  test_elements();
  test_scales();
  test_topology();
  test_other_elements();
  test_surfaces();
  test_non_manifold();
  test_quality();
  return tap_done();
}
