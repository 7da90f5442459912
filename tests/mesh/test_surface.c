/* The boundary of volume meshes: closed, outward, deterministic, tied to the volume nodes. */
#include "problems/mesh/generate.h"
#include "tests/tap.h"

static const eb_grid grid = {.cubes = {4, 3, 5}, .origin = {1, 2, 3}, .size = {0.4, 0.3, 0.5}};

/* The volume inside a closed surface, by the divergence theorem: positive when it points
 * outward. */
static double enclosed_volume(const eb_surface *surface) {
  double sum = 0;
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * (size_t)t;
    const double *a = surface->X + 3 * (size_t)corner[0], *b = surface->X + 3 * (size_t)corner[1];
    const double *c = surface->X + 3 * (size_t)corner[2];
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6;
}

static void check_surface(const eb_mesh *mesh, int32_t vertices, double volume, const char *name) {
  eb_surface *surface = NULL;
  tap_require(eb_mesh_surface(mesh, &surface), name);
  tap_succeeds(eb_surface_validate(surface, true), name);
  tap_ok(surface->vertex_count == vertices, "%s: %d vertices", name, vertices);
  tap_near(enclosed_volume(surface), volume, 1e-13, "outward, and encloses the elements");
  bool tied = surface->node != NULL;
  for (int32_t v = 0; tied && v < surface->vertex_count; v++)
    tied = memcmp(surface->X + 3 * (size_t)v, mesh->X + 3 * (size_t)surface->node[v],
                  3 * sizeof(double)) == 0 &&
           (v == 0 || surface->node[v - 1] < surface->node[v]);
  tap_ok(tied, "%s: every vertex names its volume node, ascending", name);
  eb_surface_destroy(surface);
}

static void test_blocks(void) {
  eb_mesh *mesh = NULL;
  int32_t outside = 5 * 4 * 6 - 3 * 2 * 4;
  tap_require(eb_generate_tets6(&grid, &mesh), "tetrahedra");
  check_surface(mesh, outside, 0.06, "six tetrahedra a cube");
  eb_mesh_destroy(mesh);
  tap_require(eb_generate_tets5(&grid, &mesh), "tetrahedra");
  check_surface(mesh, outside, 0.06, "five tetrahedra a cube");
  eb_mesh_destroy(mesh);
  tap_require(eb_generate_hexahedra(&grid, &mesh), "hexahedra");
  check_surface(mesh, outside, 0.06, "hexahedra");
  eb_mesh_destroy(mesh);
}

static void test_planar(void) {
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  tap_require(eb_mesh_surface(mesh, &surface), "planar surface");
  tap_ok(surface->vertex_count == mesh->node_count &&
             memcmp(surface->triangles, mesh->elements,
                    3 * (size_t)mesh->element_count * sizeof(int32_t)) == 0,
         "a planar mesh is its own surface");
  tap_fails(eb_surface_validate(surface, true), EB_ERR_INVALID, "open", "and is open");
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
}

static void test_order(void) {
  eb_mesh *mesh = NULL;
  eb_surface *first = NULL, *second = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "tetrahedra");
  tap_require(eb_mesh_surface(mesh, &first), "surface");
  tap_require(eb_mesh_surface(mesh, &second), "surface again");
  tap_ok(memcmp(first->triangles, second->triangles,
                3 * (size_t)first->triangle_count * sizeof(int32_t)) == 0,
         "the order is the same every time");
  eb_surface_destroy(first);
  eb_surface_destroy(second);
  eb_mesh_destroy(mesh);
}

static void test_crowded_face(void) {
  static const double X[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 1, 1, 1};
  static const int32_t tets[] = {0, 1, 2, 3, 0, 2, 1, 4, 0, 1, 2, 5};
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 6, 3, &mesh), "three tetrahedra");
  memcpy(mesh->X, X, sizeof X);
  memcpy(mesh->elements, tets, sizeof tets);
  tap_fails(eb_mesh_surface(mesh, &surface), EB_ERR_INVALID, "element 2",
            "a face of three elements has no surface");
  tap_ok(surface == NULL, "and gives none");
  eb_mesh_destroy(mesh);
}

int main(void) {
  test_blocks();
  test_planar();
  test_order();
  test_crowded_face();
  return tap_done();
}
