/* A mesh in other numbers, and in a mirror: the same body. */
#include "problems/mesh/renumber.h"

#include <math.h>
#include <stdlib.h>

#include "problems/mesh/generate.h"
#include "tests/tap.h"

typedef eb_error (*generator)(const eb_grid *grid, eb_mesh **out);

static eb_mesh *make(generator generate) {
  const eb_grid grid = {.cubes = {3, 2, 2}, .size = {3, 2, 2}};
  eb_mesh *mesh;
  tap_require(generate(&grid, &mesh), "a grid");
  /* Of hexahedra whose faces are bent, the volume depends on where the list begins. */
  if (mesh->type == EB_TETRAHEDRON) eb_generate_jitter(&grid, 0.1, mesh);
  for (int32_t e = 0; e < mesh->element_count; e++) mesh->region[e] = e % 2;
  static const char *const names[] = {"even", "odd"};
  tap_require(eb_mesh_name_regions(mesh, 2, names), "two regions");
  tap_require(eb_mesh_add_set(mesh, "some", (const int32_t[]){1, 4, 7}, 3), "a set");
  return mesh;
}

/* Of what does not depend on numbers: volume of a region, and moments of a set and of all nodes. */
typedef struct sums {
  double volume[2], least, set, all;
} sums;

static sums sums_of(const eb_mesh *mesh, double side) {
  sums s = {.least = INFINITY};
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double volume = eb_mesh_element_volume(mesh, mesh->X, e);
    s.volume[mesh->region[e]] += volume;
    s.least = fmin(s.least, volume);
  }
  for (int k = 0; k < mesh->sets[0].count; k++) {
    const double *X = mesh->X + 3 * mesh->sets[0].nodes[k];
    s.set += X[0] + 3 * side * X[1] + 7 * X[2] + side * X[0] * X[1];
  }
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    s.all += X[0] * X[0] * X[2] + side * X[1] * X[0] + X[1] * X[1];
  }
  return s;
}

static bool same(const sums *a, const sums *b) {
  const double tolerance = 1e-12; /* sums of some tens of numbers of order one */
  return fabs(a->volume[0] - b->volume[0]) < tolerance &&
         fabs(a->volume[1] - b->volume[1]) < tolerance && fabs(a->set - b->set) < tolerance &&
         fabs(a->all - b->all) < tolerance && b->least > 0;
}

static void test(generator generate, const char *name) {
  eb_mesh *mesh = make(generate), *again = make(generate);
  const sums before = sums_of(mesh, 1);
  uint64_t hash = eb_mesh_hash(mesh);
  tap_require(eb_mesh_renumber(mesh, 7), "renumber");
  tap_require(eb_mesh_renumber(again, 7), "renumber");
  const sums renumbered = sums_of(mesh, 1);
  tap_ok(same(&before, &renumbered), "%s: renumbered, the body is the same", name);
  tap_ok(eb_mesh_hash(mesh) != hash, "%s: its numbers are others", name);
  tap_ok(eb_mesh_hash(mesh) == eb_mesh_hash(again), "%s: which the seed tells", name);
  tap_require(eb_mesh_validate(mesh), "a valid mesh");
  eb_mesh_mirror(mesh);
  const sums mirrored = sums_of(mesh, -1);
  tap_ok(same(&before, &mirrored), "%s: mirrored, the body is the same in the mirror", name);
  tap_require(eb_mesh_validate(mesh), "a valid mesh");
  eb_mesh_destroy(mesh);
  eb_mesh_destroy(again);
}

int main(void) {
  test(eb_generate_tets6, "tetrahedra");
  test(eb_generate_hexahedra, "hexahedra");
  return tap_done();
}
