/* What tests of elements share: irregular meshes of every type, positions, and what every element
 * owes: sweeps that are differences of each other, and the patch test. */
#ifndef EB_TESTS_ELASTIC_H
#define EB_TESTS_ELASTIC_H

#include "problems/elasticity/elasticity.h"
#include "problems/mesh/generate.h"
#include "tests/support/dense.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/tap.h"

/* The larger; NaN counts as infinite. */
static inline double worse(double a, double b) {
  return isfinite(a) && isfinite(b) ? fmax(a, b) : INFINITY;
}

static inline double largest(int64_t n, const double *a) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = worse(most, fabs(a[i]));
  return most;
}

static inline double distance(int64_t n, const double *a, const double *b) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = worse(most, fabs(a[i] - b[i]));
  return most;
}

/* ---- meshes and positions -------------------------------------------------------------------- */

static inline const char *type_name(eb_element_type type) {
  return type == EB_TRIANGLE ? "triangles" : type == EB_TETRAHEDRON ? "tetrahedra" : "hexahedra";
}

static inline int axes_of(eb_element_type type) {
  return type == EB_TRIANGLE ? 2 : 3;
}

/* nx x ny x nz cubes (nx x ny squares in the plane) of edge 0.1, five or six tetrahedra each, nodes
 * moved by up to `shift`, m. */
static inline eb_mesh *irregular_mesh(eb_element_type type, int tets, int nx, int ny, int nz,
                                      double shift, random_state *random) {
  const eb_grid grid = {.cubes = {nx, ny, nz}, .size = {0.1 * nx, 0.1 * ny, 0.1 * nz}};
  eb_mesh *mesh;
  tap_require(type == EB_TRIANGLE     ? eb_generate_triangles(&grid, &mesh)
              : type == EB_HEXAHEDRON ? eb_generate_hexahedra(&grid, &mesh)
              : tets == 5             ? eb_generate_tets5(&grid, &mesh)
                                      : eb_generate_tets6(&grid, &mesh),
              "generator");
  for (int i = 0; i < 3 * mesh->node_count; i++)
    if (i % 3 < axes_of(type)) mesh->X[i] += random_uniform(random, -shift, shift);
  return mesh;
}

/* Two regions in no order. */
static inline void mix_regions(eb_mesh *mesh, random_state *random) {
  const char *const names[] = {"soft", "stiff"};
  tap_require(eb_mesh_name_regions(mesh, 2, names), "regions");
  for (int e = 0; e < mesh->element_count; e++) mesh->region[e] = random_word(random) % 3 == 0;
}

/* Such a mesh with two regions and fibres. */
static inline eb_mesh *mixed_mesh(eb_element_type type, int tets, int nx, int ny, int nz) {
  random_state random = random_seed(77);
  eb_mesh *mesh = irregular_mesh(type, tets, nx, ny, nz, 0.01, &random);
  mix_regions(mesh, &random);
  free(mesh->fibre);
  mesh->fibre = zeros(double, 3 * mesh->element_count);
  for (int e = 0; e < mesh->element_count; e++) random_direction(&random, 3, mesh->fibre + 3 * e);
  return mesh;
}

/* A X + b, shaken. free() it. */
static inline double *affine_positions(const eb_mesh *mesh, const double A[9], double shake) {
  random_state random = random_seed(5);
  double *x = zeros(double, 3 * mesh->node_count);
  for (int n = 0; n < mesh->node_count; n++)
    for (int i = 0; i < 3; i++) {
      x[3 * n + i] = 0.2 * i + random_uniform(&random, -shake, shake);
      for (int j = 0; j < 3; j++) x[3 * n + i] += A[3 * i + j] * mesh->X[3 * n + j];
    }
  return x;
}

/* ---- what every element owes ----------------------------------------------------------------- */

/* Entry (i, j) of H as differences of gradients see it: triangles have no forces along z, but the
 * mean of x and y in the matrix. */
static inline double slope_entry(eb_element_type type, int n, const double *H, int i, int j) {
  double entry = H[n * i + j];
  if (type != EB_TRIANGLE || i % 3 < 2 || j % 3 < 2) return entry;
  return entry - 0.5 * (H[n * (i - 2) + j - 2] + H[n * (i - 1) + j - 1]);
}

/* The gradient is the slope of the energy and, where it is `exact`, the matrix that of the
 * gradient: central differences at h = 1e-6 of edges of 0.1 m, relative errors h^2 = 1e-10 of the
 * third derivative, rounding of 1e-16 / 1e-5. */
static inline void sweeps_are_slopes(const eb_mesh *mesh, const eb_elasticity *elasticity,
                                     double *x, bool exact, const char *what, const char *name) {
  const double h = 1e-6;
  int n = 3 * mesh->node_count;
  double force_error = 0, matrix_error = 0;
  owned(double) *g = zeros(double, n), *ahead = zeros(double, n), *behind = zeros(double, n);
  owned(eb_block_matrix) *K = new_matrix(elasticity);
  eb_elasticity_gradient(elasticity, x, g);
  eb_elasticity_matrix(elasticity, x, 0, 1, false, K, behind);
  tap_ok(distance(n, g, behind) <= 1e-13 * largest(n, g),
         "%s, %s: the gradient beside the matrix is the gradient", what, name);
  owned(double) *H = dense_of_blocks(K);
  for (int j = 0; j < n; j++) {
    double at = x[j];
    x[j] = at + h;
    double energy = eb_elasticity_energy(elasticity, x);
    eb_elasticity_gradient(elasticity, x, ahead);
    x[j] = at - h;
    energy -= eb_elasticity_energy(elasticity, x);
    eb_elasticity_gradient(elasticity, x, behind);
    x[j] = at;
    force_error = worse(force_error, fabs(energy / (2 * h) - g[j]));
    for (int i = 0; i < n; i++)
      matrix_error = worse(matrix_error, fabs((ahead[i] - behind[i]) / (2 * h) -
                                              slope_entry(mesh->type, n, H, i, j)));
  }
  force_error /= largest(n, g);
  matrix_error /= largest((int64_t)n * n, H);
  tap_ok(force_error <= 1e-6, "%s, %s: gradient is the slope of the energy (%.1e)", what, name,
         force_error);
  if (exact)
    tap_ok(matrix_error <= 1e-6, "%s, %s: matrix is the slope of the gradient (%.1e)", what, name,
           matrix_error);
}

static const double PATCH_STRETCH[9] = {1.2, 0.1, 0, -0.05, 0.9, 0.15, 0.1, 0.05, 1.1};

/* x = A X + b: stress is the same everywhere, so inner nodes of a grid of so many cubes are in
 * balance and the energy is V psi(A). */
static inline void passes_patch_test(const eb_mesh *mesh, const int cubes[3],
                                     const eb_elasticity *elasticity, const eb_material *m,
                                     const char *what) {
  const double *A = PATCH_STRETCH, plane[9] = {A[0], A[1], 0, A[3], A[4], 0, 0, 0, 1};
  const char *name = eb_material_describe(m->kind)->name;
  owned(double) *x = affine_positions(mesh, A, 0), *g = zeros(double, 3 * mesh->node_count);
  double inner = 0, volume = 0;
  int found = 0;
  eb_elasticity_gradient(elasticity, x, g);
  for (int n = 0; n < mesh->node_count; n++) {
    bool inside = true;
    for (int i = 0, at = n; i < axes_of(mesh->type); at /= cubes[i] + 1, i++)
      inside &= at % (cubes[i] + 1) > 0 && at % (cubes[i] + 1) < cubes[i];
    if (inside) inner = worse(inner, largest(3, g + 3 * n));
    found += inside;
    volume += eb_elasticity_mass(elasticity)[n] / m->density;
  }
  tap_ok(found > 0 && inner <= 1e-13 * largest(3 * mesh->node_count, g),
         "patch test, %s, %s: inner nodes balance", what, name);
  double want = volume * eb_material_energy(m, mesh->type == EB_TRIANGLE ? plane : A, NULL);
  tap_ok(fabs(eb_elasticity_energy(elasticity, x) - want) <= 1e-13 * want,
         "patch test, %s, %s: energy is V psi", what, name);
}

#endif
