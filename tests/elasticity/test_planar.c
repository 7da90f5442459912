/* Planar triangles against the same body extruded into solids in plane strain, their z directions,
 * and the activation of fibres. */
#include "problems/base/memory.h"
#include "problems/elasticity/elasticity.h"
#include "problems/mesh/generate.h"
#include "tests/support/owned.h"
#include "tests/support/lapack.h"
#include "tests/support/random.h"
#include "tests/tap.h"

enum { NX = 3, NY = 2 };

static const double THICKNESS = 0.07;

static eb_material make_material(eb_material_kind kind, eb_fibre_kind fibre) {
  return (eb_material){.kind = kind,
                       .young = 2e4,
                       .poisson = 0.35,
                       .density = 800,
                       .fibre = fibre,
                       .fibre_stiffness = 3e4,
                       .fibre_exponent = 0.8,
                       .activation = 0.6,
                       .thickness = THICKNESS};
}

/* 3 x 2 squares of size 0.1 with irregular nodes and fibres in the plane. */
static eb_mesh *make_mesh(void) {
  const eb_grid grid = {.cubes = {NX, NY, 1}, .size = {0.1 * NX, 0.1 * NY, 1}};
  random_state random = random_seed(12);
  eb_mesh *mesh;
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  tap_require(EB_NEW(mesh->fibre, 3 * mesh->element_count), "fibres");
  for (int i = 0; i < 3 * mesh->node_count; i++)
    if (i % 3 < 2) mesh->X[i] += random_uniform(&random, -0.02, 0.02);
  for (int e = 0; e < mesh->element_count; e++) random_direction(&random, 2, mesh->fibre + 3 * e);
  return mesh;
}

/* Every triangle becomes a prism of three tetrahedra between the layers z = 0 and z = thickness.
 * Faces conform, since the diagonals follow the order of the nodes. Node n of the upper layer is n
 * + node_count. */
static eb_mesh *extrude(const eb_mesh *plane) {
  int n = plane->node_count;
  eb_mesh *solid;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 2 * n, 3 * plane->element_count, &solid), "solid");
  tap_require(EB_NEW(solid->fibre, 3 * solid->element_count), "fibres");
  for (int i = 0; i < 6 * n; i++)
    solid->X[i] = i % 3 == 2 ? (i >= 3 * n) * THICKNESS : plane->X[i % (3 * n)];
  for (int t = 0; t < solid->element_count; t++) {
    const int32_t *corner = plane->elements + t / 3 * 3;
    int32_t c[3] = {corner[0], corner[1], corner[2]}, *node = solid->elements + 4 * t;
    for (int i = 0; i < 3; i++)
      for (int j = i + 1; j < 3; j++)
        if (c[j] < c[i]) {
          int32_t kept = c[i];
          c[i] = c[j];
          c[j] = kept;
        }
    for (int a = 0; a < 4; a++) node[a] = a <= t % 3 ? c[a] + n : c[a - 1];
    /* Upper nodes up to the t % 3-th, lower ones from it on: (A a b c), (A B b c), (A B C c). */
    if (eb_mesh_element_volume(solid, solid->X, t) < 0) {
      int32_t kept = node[0];
      node[0] = node[1];
      node[1] = kept;
    }
    memcpy(solid->fibre + 3 * t, plane->fibre + t / 3 * 3, 3 * sizeof(double));
  }
  return solid;
}

/* Turned and shaken in the plane. */
static double *make_positions(const eb_mesh *mesh, double noise) {
  random_state random = random_seed(3);
  double *x = zeros(double, 3 * mesh->node_count);
  for (int n = 0; n < mesh->node_count; n++) {
    x[3 * n] = 0.6 * mesh->X[3 * n] - 0.9 * mesh->X[3 * n + 1];
    x[3 * n + 1] = 0.8 * mesh->X[3 * n] + 0.7 * mesh->X[3 * n + 1];
    for (int i = 0; i < 2; i++) x[3 * n + i] += random_uniform(&random, -noise, noise);
  }
  return x;
}

typedef struct part {
  eb_elasticity *elasticity;
  eb_block_matrix *matrix;
  double energy, *g;
} part;

static part evaluate(const eb_mesh *mesh, const eb_material *material, const double *x,
                     bool project) {
  part p;
  tap_require(eb_elasticity_create(mesh, material, &p.elasticity), "elasticity");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(p.elasticity), &p.matrix), "matrix");
  tap_require(EB_NEW(p.g, 3 * mesh->node_count), "gradient");
  p.energy = eb_elasticity_energy(p.elasticity, x);
  eb_elasticity_matrix(p.elasticity, x, 0, 1, project, p.matrix, p.g);
  return p;
}

static void clear_part(part *p) {
  eb_elasticity_destroy(p->elasticity);
  eb_block_matrix_destroy(p->matrix);
  free(p->g);
}
OWNED(part, clear_part)

static double entry(const eb_block_matrix *m, int i, int j) {
  int32_t b = eb_block_matrix_find(m, i / 3, j / 3);
  return b < 0 ? 0 : m->values[9 * b + 3 * (i % 3) + j % 3];
}

/* Nodes of both layers move alike and nothing moves along z: F = [F2 0; 0 1] in all three
 * tetrahedra of a prism, so that energies agree and so do forces and matrices summed over the
 * layers (virtual displacements that keep the layers together). */
static void test_extruded(eb_material_kind kind, eb_fibre_kind fibre, bool project) {
  const char *name = eb_material_describe(kind)->name;
  owned(eb_mesh) *plane = make_mesh(), *solid = extrude(plane);
  int n = plane->node_count;
  eb_material material = make_material(kind, fibre);
  owned(double) *flat = make_positions(plane, 0.02);
  double force = 0, force_error = 0, size = 0, error = 0;
  owned(double) *x = zeros(double, 6 * n);
  for (int i = 0; i < 6 * n; i++) x[i] = i % 3 == 2 ? solid->X[i] : flat[i % (3 * n)];
  owned(part) two = evaluate(plane, &material, flat, project),
              three = evaluate(solid, &material, x, project);
  for (int i = 0; i < 3 * n; i++) {
    if (i % 3 == 2) continue;
    force = fmax(force, fabs(two.g[i]));
    force_error = fmax(force_error, fabs(two.g[i] - three.g[i] - three.g[3 * n + i]));
    for (int j = 0; j < 3 * n; j++) {
      if (j % 3 == 2) continue;
      double sum = 0;
      for (int k = 0; k < 4; k++) sum += entry(three.matrix, i + k / 2 * 3 * n, j + k % 2 * 3 * n);
      size = fmax(size, fabs(sum));
      error = fmax(error, fabs(entry(two.matrix, i, j) - sum));
    }
  }
  /* Sums of some ten terms in another order. */
  tap_ok(fabs(two.energy - three.energy) <= 1e-12 * two.energy, "extruded, %s: energy", name);
  tap_ok(force_error <= 1e-12 * force, "extruded, %s: forces (%.1e)", name, force_error / force);
  tap_ok(error <= 1e-11 * size, "extruded, %s%s: matrix (%.1e)", name, project ? ", projected" : "",
         error / size);
}

/* One brick of two triangles in a uniform state, where the trilinear element is exact as well. */
static void test_hexahedron(void) {
  const eb_grid grid = {.cubes = {1, 1, 1}, .size = {0.2, 0.1, THICKNESS}};
  eb_material material = make_material(EB_NEO_HOOKEAN, EB_FIBRE_NONE);
  owned(eb_mesh) *plane = NULL, *solid = NULL;
  double x[12], y[24];
  tap_require(eb_generate_triangles(&grid, &plane), "triangles");
  tap_require(eb_generate_hexahedra(&grid, &solid), "hexahedron");
  for (int n = 0; n < 8; n++) {
    const double *X = solid->X + 3 * n;
    y[3 * n] = 1.2 * X[0] + 0.3 * X[1];
    y[3 * n + 1] = -0.2 * X[0] + 0.8 * X[1];
    y[3 * n + 2] = X[2];
    if (n < 4) memcpy(x + 3 * n, y + 3 * n, 3 * sizeof *x);
  }
  owned(part) two = evaluate(plane, &material, x, true),
              three = evaluate(solid, &material, y, true);
  double force = 0, error = 0;
  for (int i = 0; i < 12; i++) {
    if (i % 3 == 2) continue;
    force = fmax(force, fabs(two.g[i]));
    error = fmax(error, fabs(two.g[i] - three.g[i] - three.g[12 + i]));
  }
  tap_ok(fabs(two.energy - three.energy) <= 1e-13 * two.energy, "hexahedron, uniform: energy");
  tap_ok(error <= 1e-13 * force, "hexahedron, uniform: forces");
}

/* ---- along z --------------------------------------------------------------------------------- */

/* With nodes of one side held, the projected matrix is definite, and its z part lies between the
 * extremes of the plane's. */
static void test_along_z(void) {
  owned(eb_mesh) *mesh = make_mesh();
  eb_material material = make_material(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_FUNG);
  owned(double) *x = make_positions(mesh, 0.05);
  double plane[4 * LAPACK_MAX_SIZE], z[LAPACK_MAX_SIZE], xy[24 * 24], zz[12 * 12], apart = 0,
                                                                                   forces = 0;
  int free_nodes[12], n = 0;
  for (int i = 0; i < mesh->node_count; i++)
    if (i % (NX + 1) > 0) free_nodes[n++] = i;
  owned(part) p = evaluate(mesh, &material, x, true);
  for (int i = 0; i < 3 * n; i++)
    for (int j = 0; j < 3 * n; j++) {
      double value = entry(p.matrix, 3 * free_nodes[i / 3] + i % 3, 3 * free_nodes[j / 3] + j % 3);
      if (i % 3 < 2 && j % 3 < 2) xy[2 * n * (i / 3 * 2 + i % 3) + j / 3 * 2 + j % 3] = value;
      if (i % 3 == 2 && j % 3 == 2) zz[n * (i / 3) + j / 3] = value;
      if ((i % 3 == 2) != (j % 3 == 2)) apart = fmax(apart, fabs(value));
    }
  for (int i = 0; i < mesh->node_count; i++) forces = fmax(forces, fabs(p.g[3 * i + 2]));
  bool solved = lapack_eigen(2 * n, xy, plane) == 0 && lapack_eigen(n, zz, z) == 0;
  tap_ok(forces == 0 && apart == 0, "along z: no force and no coupling");
  tap_ok(solved && plane[0] > 0, "along z: the plane problem is definite once a side is held");
  tap_ok(z[0] >= plane[0] && z[n - 1] <= plane[2 * n - 1], "along z: no stiffer, no softer");
  double kept = p.energy;
  for (int i = 0; i < mesh->node_count; i++) x[3 * i + 2] = 0.1 * i;
  tap_ok(eb_elasticity_energy(p.elasticity, x) == kept, "along z: the energy does not see it");
}

/* ---- activation ------------------------------------------------------------------------------ */

/* Activating changes Fung's fibres to those of a material made so, bit for bit, and nothing
 * else. */
static void test_activation(eb_fibre_kind fibre) {
  const char *name = fibre == EB_FIBRE_FUNG ? "Fung" : "aStVK";
  eb_mesh *plane = make_mesh(), *meshes[2] = {extrude(plane), plane};
  for (int k = 0; k < 2; k++) {
    owned(eb_mesh) *mesh = meshes[k];
    owned(double) *x = make_positions(mesh, 0.02);
    int n = 3 * mesh->node_count;
    owned(double) *g = zeros(double, n);
    for (int i = 2; k == 0 && i < n; i += 3) x[i] = mesh->X[i];
    eb_material low = make_material(EB_COROTATED, fibre), high = low;
    high.activation = 0.95;
    owned(part) before = evaluate(mesh, &low, x, true), after = evaluate(mesh, &high, x, true);
    const char *what = k ? "triangles" : "tetrahedra";
    bool differ = before.energy != after.energy;
    tap_ok(differ == (fibre == EB_FIBRE_FUNG), "activation, %s, %s: %s", name, what,
           differ ? "stiffens" : "has no say");
    eb_elasticity_activate(before.elasticity, 0.95);
    eb_elasticity_gradient(before.elasticity, x, g);
    eb_elasticity_matrix(before.elasticity, x, 0, 1, true, before.matrix, before.g);
    size_t values = 9 * (size_t)before.matrix->start[mesh->node_count];
    tap_ok(memcmp(before.g, after.g, (size_t)n * sizeof *g) == 0 &&
               memcmp(before.matrix->values, after.matrix->values, values * sizeof *g) == 0 &&
               eb_elasticity_energy(before.elasticity, x) == after.energy,
           "activation, %s, %s: as a material made so", name, what);
    eb_elasticity_activate(before.elasticity, 0);
    high.activation = 0;
    if (fibre == EB_FIBRE_FUNG) high.fibre = EB_FIBRE_NONE;
    owned(part) none = evaluate(mesh, &high, x, true);
    tap_ok(eb_elasticity_energy(before.elasticity, x) == none.energy,
           "activation, %s, %s: 0 leaves the base", name, what);
  }
}

int main(void) {
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++)
    for (int project = 0; project < 2; project++)
      test_extruded((eb_material_kind)kind, EB_FIBRE_ASTVK, project);
  test_extruded(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_FUNG, true);
  test_hexahedron();
  test_along_z();
  test_activation(EB_FIBRE_ASTVK);
  test_activation(EB_FIBRE_FUNG);
  return tap_done();
}
