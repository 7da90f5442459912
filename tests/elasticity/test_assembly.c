/* Assembly of energy, gradient and matrix against a plain reference and finite differences; pattern
 * of the matrix; the same bits for any number of threads. */
#include <omp.h>

#include "problems/base/memory.h"
#include "problems/elasticity/masses.h"
#include "tests/support/owned.h"
#include "tests/support/elastic.h"
#include "tests/support/elements.h"
#include "tests/support/lapack.h"
#include "tests/tap.h"

static const double YOUNG = 3e4;

static eb_material make_material(eb_material_kind kind, eb_fibre_kind fibre) {
  return (eb_material){.kind = kind,
                       .young = YOUNG,
                       .poisson = 0.4,
                       .density = 900,
                       .fibre = fibre,
                       .fibre_stiffness = 2e4,
                       .fibre_exponent = 0.5,
                       .activation = 0.7};
}

/* Rotated, stretched and shaken; `noise` of 0.03 to 0.05 inverts some elements. */
static double *make_positions(const eb_mesh *mesh, double noise) {
  double R[9];
  random_state random = random_seed(5);
  random_rotation(&random, R);
  for (int i = 0; i < 9; i++) R[i] *= 1 + 0.1 * (i % 3);
  return affine_positions(mesh, R, noise);
}

/* ---- pattern --------------------------------------------------------------------------------- */

static bool share_element(const eb_mesh *mesh, int i, int j) {
  for (int e = 0; e < mesh->element_count; e++) {
    const int32_t *node = mesh->elements + (int)mesh->type * e;
    bool has_i = false, has_j = false;
    for (int a = 0; a < (int)mesh->type; a++) {
      has_i |= node[a] == i;
      has_j |= node[a] == j;
    }
    if (has_i && has_j) return true;
  }
  return false;
}

static void test_pattern(void) {
  owned(eb_mesh) *mesh = mixed_mesh(EB_TETRAHEDRON, 5, 3, 2, 2);
  eb_block_matrix *m;
  owned(eb_block_matrix) *like = NULL;
  tap_require(eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count, 4, &m),
              "pattern");
  tap_require(eb_block_matrix_like(m, &like), "like");
  bool right = true, found = true, diagonal = true;
  for (int i = 0; i < m->rows; i++) {
    int b = m->start[i];
    for (int j = 0; j < m->rows; j++) {
      bool there = b < m->start[i + 1] && m->column[b] == j;
      right &= there == share_element(mesh, i, j);
      found &= eb_block_matrix_find(m, i, j) == (there ? b : -1);
      b += there;
    }
    right &= b == m->start[i + 1];
    diagonal &= m->column[m->diagonal[i]] == i && m->diagonal[i] < m->start[i + 1];
  }
  tap_ok(right, "pattern: exactly the pairs of nodes that share an element, ascending");
  tap_ok(found, "pattern: find gives the block, or -1");
  tap_ok(diagonal, "pattern: the diagonal is indexed");
  tap_ok(like->column == m->column && like->values != m->values &&
             largest(9 * m->start[m->rows], like->values) == 0,
         "pattern: like shares it and starts from zero");
  eb_block_matrix_destroy(m);
  mesh->elements[41] = mesh->node_count;
  tap_fails(eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count, 4, &m),
            EB_ERR_INVALID, "element 10 names node 36", "pattern: a node out of range is named");
  tap_ok(m == NULL, "pattern: nothing is handed out after an error");
  const int32_t lonely[4] = {0, 1, 2, 4};
  tap_require(eb_block_matrix_create(6, lonely, 1, 4, &m), "pattern with unused nodes");
  tap_ok(m->start[6] == 18 && m->column[m->diagonal[3]] == 3 && m->start[6] - m->start[5] == 1,
         "pattern: a node without elements keeps its diagonal");
  eb_block_matrix_destroy(m);
}

/* ---- against the reference ------------------------------------------------------------------- */

typedef struct setting {
  eb_mesh *mesh;
  eb_material materials[2];
  double *x, *g;
  eb_elasticity *elasticity;
  eb_block_matrix *matrix;
} setting;

static setting make_setting(eb_mesh *mesh, const eb_material *soft, const eb_material *stiff,
                            double noise) {
  setting s = {.mesh = mesh, .materials = {*soft, *stiff}, .x = make_positions(mesh, noise)};
  tap_require(EB_NEW(s.g, 3 * mesh->node_count), "gradient");
  tap_require(eb_elasticity_create(mesh, s.materials, &s.elasticity), "elasticity");
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(s.elasticity), &s.matrix), "matrix");
  return s;
}

static void clear_setting(setting *s) {
  eb_block_matrix_destroy(s->matrix);
  eb_elasticity_destroy(s->elasticity);
  eb_mesh_destroy(s->mesh);
  free(s->x);
  free(s->g);
}
OWNED(setting, clear_setting)

/* Largest difference of the assembled matrix and gradient from the reference, relative to their
 * largest entry. */
static void compare_with_reference(setting *s, bool project, double error[3]) {
  const double mass_scale = 700, hessian_scale = 0.3;
  int64_t n = 3 * s->mesh->node_count;
  reference_sums want = {0};
  tap_require(EB_NEW(want.gradient, n), "reference gradient");
  tap_require(EB_NEW(want.matrix, n * n), "reference matrix");
  for (int e = 0; e < s->mesh->element_count; e++)
    reference_add(s->mesh, s->materials, s->x, e, mass_scale, hessian_scale, project, &want);
  /* Nothing of what was there may remain. */
  for (int64_t i = 0; i < n; i++) s->g[i] = NAN;
  for (int64_t i = 0; i < 9 * (int64_t)s->matrix->start[s->matrix->rows]; i++)
    s->matrix->values[i] = NAN;
  eb_elasticity_matrix(s->elasticity, s->x, mass_scale, hessian_scale, project, s->matrix, s->g);
  owned(double) *got = dense_of_blocks(s->matrix);
  double size = largest(n * n, want.matrix), force = largest(n, want.gradient);
  for (int64_t i = 0; i < n * n; i++) got[i] -= want.matrix[i];
  error[0] = largest(n * n, got) / size;
  for (int64_t i = 0; i < n; i++) want.gradient[i] -= s->g[i];
  error[1] = largest(n, want.gradient) / force;
  error[2] = fabs(eb_elasticity_energy(s->elasticity, s->x) - want.energy) / want.energy;
  free(want.gradient);
  free(want.matrix);
}

static void test_reference(eb_element_type type, eb_material_kind kind, eb_fibre_kind fibre) {
  const char *name = eb_material_describe(kind)->name;
  const char *what = type_name(type);
  eb_material soft = make_material(kind, fibre), stiff = make_material(EB_STVK, EB_FIBRE_NONE);
  eb_mesh *mesh =
      type == EB_HEXAHEDRON ? mixed_mesh(type, 0, 2, 2, 2) : mixed_mesh(type, 6, 3, 2, 2);
  stiff.thickness = 0.3; /* of triangles alone */
  owned(setting) s = make_setting(mesh, &soft, &stiff, 0.04);
  for (int project = 0; project < 2; project++) {
    double error[3];
    compare_with_reference(&s, project, error);
    /* The reference forms F by other sums, and near s1 + s2 = 0 the tangent magnifies that
     * rounding. */
    tap_ok(error[0] <= 1e-11, "%s, %s, fibre %d, project %d: matrix as the reference (%.1e)", what,
           name, fibre, project, error[0]);
    tap_ok(error[1] <= 1e-12 && error[2] <= 1e-12,
           "%s, %s, fibre %d, project %d: gradient and energy as the reference", what, name, fibre,
           project);
  }
}

/* ---- finite differences ---------------------------------------------------------------------- */

static void test_differences(eb_element_type type, eb_material_kind kind) {
  eb_material soft = make_material(kind, EB_FIBRE_ASTVK), stiff = soft;
  stiff.young *= 2;
  owned(setting) s = make_setting(mixed_mesh(type, 5, 2, 1, 1), &soft, &stiff, 0.008);
  sweeps_are_slopes(s.mesh, s.elasticity, s.x, kind != EB_COROTATIONAL, type_name(type),
                    eb_material_describe(kind)->name);
}

/* ---- structure ------------------------------------------------------------------------------- */

static void test_structure(eb_element_type type) {
  const char *what = type_name(type);
  eb_material soft = make_material(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_ASTVK);
  eb_material stiff = make_material(EB_COROTATED, EB_FIBRE_NONE);
  owned(setting) s = make_setting(mixed_mesh(type, 6, 2, 2, 1), &soft, &stiff, 0.08);
  int n = 3 * s.mesh->node_count;
  double w[LAPACK_MAX_SIZE], lowest[2], asymmetry = 0, row_sum = 0;
  for (int project = 0; project < 2; project++) {
    eb_elasticity_matrix(s.elasticity, s.x, 0, 1, project, s.matrix, NULL);
    owned(double) *H = dense_of_blocks(s.matrix);
    double size = largest((int64_t)n * n, H);
    for (int i = 0; i < n; i++) {
      double sum[3] = {0};
      for (int j = 0; j < n; j++) {
        asymmetry = fmax(asymmetry, fabs(H[n * i + j] - H[n * j + i]) / size);
        sum[j % 3] += H[n * i + j];
      }
      row_sum = fmax(row_sum, largest(3, sum) / size);
    }
    if (lapack_eigen(n, H, w) != 0) w[0] = NAN;
    lowest[project] = w[0] / size;
  }
  tap_ok(asymmetry == 0, "%s: the matrix is exactly symmetric", what);
  tap_ok(row_sum <= 1e-14, "%s: translations are in its null space", what);
  tap_ok(lowest[0] < -1e-3, "%s: unprojected, this state is indefinite (%.1e)", what, lowest[0]);
  tap_ok(lowest[1] >= -1e-14, "%s: projected, it is positive semi-definite (%.1e)", what,
         lowest[1]);
}

static void test_mass(eb_element_type type) {
  const char *what = type_name(type);
  eb_material soft = make_material(EB_LINEAR, EB_FIBRE_NONE), stiff = soft;
  stiff.density = 4000;
  owned(setting) s = make_setting(mixed_mesh(type, 6, 3, 3, 2), &soft, &stiff, 0);
  double want = 0, got = 0, least = INFINITY;
  for (int e = 0; e < s.mesh->element_count; e++) {
    reference_point points[REFERENCE_POINTS];
    int count = reference_points(s.mesh, e, points);
    for (int q = 0; q < count; q++)
      want += points[q].volume * s.materials[s.mesh->region[e]].density;
  }
  for (int n = 0; n < s.mesh->node_count; n++) {
    got += eb_elasticity_mass(s.elasticity)[n];
    least = fmin(least, eb_elasticity_mass(s.elasticity)[n]);
  }
  tap_ok(fabs(got - want) <= 1e-13 * want && least > 0,
         "%s: nodal masses are positive and sum to density x volume", what);
  tap_ok(eb_elasticity_pattern(s.elasticity)->rows == s.mesh->node_count, "%s: node count", what);
  owned(eb_elasticity) *alone = NULL;
  tap_require(eb_elasticity_create_masses(s.mesh, s.materials, s.mesh->element_count, &alone),
              "masses");
  tap_ok(!eb_elasticity_sweeps(alone) && eb_elasticity_sweeps(s.elasticity) &&
             memcmp(eb_elasticity_mass(alone), eb_elasticity_mass(s.elasticity),
                    (size_t)s.mesh->node_count * sizeof(double)) == 0,
         "%s: masses without sweeps have the same bits", what);
  eb_elasticity_activate(alone, 0.5);
}

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct snapshot {
  double energy, *g, *own_g, *values, *rotations;
} snapshot;

static snapshot take_snapshot(setting *s, int threads) {
  snapshot t;
  size_t n = 3 * (size_t)s->mesh->node_count, m = 9 * (size_t)s->matrix->start[s->matrix->rows];
  tap_require(EB_NEW(t.g, n), "gradient");
  tap_require(EB_NEW(t.own_g, n), "gradient");
  tap_require(EB_NEW(t.values, m), "values");
  tap_require(EB_NEW(t.rotations, 9 * s->mesh->element_count), "rotations");
  omp_set_num_threads(threads);
  t.energy = eb_elasticity_energy(s->elasticity, s->x);
  eb_elasticity_gradient(s->elasticity, s->x, t.g);
  eb_elasticity_matrix(s->elasticity, s->x, 3, 2, true, s->matrix, t.own_g);
  eb_elasticity_rotations(s->elasticity, s->x, t.rotations);
  memcpy(t.values, s->matrix->values, m * sizeof *t.values);
  return t;
}

static void clear_snapshot(snapshot *t) {
  free(t->g);
  free(t->own_g);
  free(t->values);
  free(t->rotations);
}
OWNED(snapshot, clear_snapshot)

static void test_bits(eb_element_type type, int nx) {
  const char *what = type_name(type);
  eb_material soft = make_material(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_FUNG);
  eb_material stiff = make_material(EB_FIXED_COROTATIONAL, EB_FIBRE_NONE);
  owned(setting) s = make_setting(mixed_mesh(type, 6, nx, 9, 8), &soft, &stiff, 0.03);
  int before = omp_get_max_threads();
  owned(snapshot) one = take_snapshot(&s, 1);
  size_t n = 3 * (size_t)s.mesh->node_count, m = 9 * (size_t)s.matrix->start[s.matrix->rows];
  double apart = 0;
  for (size_t i = 0; i < n; i++) apart = fmax(apart, fabs(one.g[i] - one.own_g[i]));
  /* The same operations, but the compiler may contract them otherwise. */
  tap_ok(apart <= 1e-14 * largest((int64_t)n, one.g),
         "%s: the gradient beside the matrix is the gradient", what);
  const int threads[] = {1, 2, 4, 7};
  for (int i = 0; i < 4; i++) {
    owned(snapshot) many = take_snapshot(&s, threads[i]);
    bool same = memcmp(&one.energy, &many.energy, sizeof one.energy) == 0 &&
                memcmp(one.g, many.g, n * sizeof *one.g) == 0 &&
                memcmp(one.own_g, many.own_g, n * sizeof *one.g) == 0 &&
                memcmp(one.values, many.values, m * sizeof *one.values) == 0 &&
                memcmp(one.rotations, many.rotations,
                       9 * (size_t)s.mesh->element_count * sizeof *one.g) == 0;
    tap_ok(same, "%s: the same bits from %d thread(s)", what, threads[i]);
  }
  omp_set_num_threads(before);
}

/* A node that no element holds has no mass, no force and an empty row. */
static void test_unused_node(void) {
  eb_mesh *mesh;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 5, 1, &mesh), "mesh with an unused node");
  const double X[15] = {0, 0, 0, 1, 0, 0, 5, 5, 5, 0, 1, 0, 0, 0, 1};
  const int32_t node[4] = {0, 1, 3, 4};
  memcpy(mesh->X, X, sizeof X);
  memcpy(mesh->elements, node, sizeof node);
  eb_material m = make_material(EB_COROTATIONAL, EB_FIBRE_NONE);
  owned(setting) s = make_setting(mesh, &m, &m, 0.1);
  int diagonal = s.matrix->diagonal[2];
  for (int i = 0; i < 3; i++) s.g[6 + i] = NAN;
  for (int k = 0; k < 9; k++) s.matrix->values[9 * diagonal + k] = NAN;
  eb_elasticity_matrix(s.elasticity, s.x, 1, 1, true, s.matrix, s.g);
  tap_ok(largest(9, s.matrix->values + 9 * diagonal) == 0 && largest(3, s.g + 6) == 0 &&
             eb_elasticity_mass(s.elasticity)[2] == 0,
         "a node without elements has an empty row, no force, no mass");
  s.g[7] = NAN;
  eb_elasticity_gradient(s.elasticity, s.x, s.g);
  tap_ok(largest(3, s.g + 6) == 0, "and no force from the gradient alone");
}

/* Seventy bundles of tetrahedra around one edge: more chunks at a node than there are colours in
 * one round. */
static void test_hub(void) {
  enum { FANS = 9000 };
  eb_mesh *mesh;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, FANS + 3, FANS, &mesh), "hub mesh");
  mesh->X[2] = 0.5;
  mesh->X[5] = -0.5;
  for (int k = 0; k <= FANS; k++) {
    double angle = 6.0 * k / FANS;
    mesh->X[3 * (k + 2)] = cos(angle);
    mesh->X[3 * (k + 2) + 1] = sin(angle);
  }
  for (int k = 0; k < FANS; k++) {
    const int32_t node[4] = {1, 0, k + 3, k + 2};
    for (int a = 0; a < 4; a++) mesh->elements[4 * k + a] = node[a];
  }
  eb_material m = make_material(EB_STABLE_NEO_HOOKEAN, EB_FIBRE_NONE);
  if (eb_mesh_element_volume(mesh, mesh->X, 0) < 0)
    for (int k = 0; k < FANS; k++) {
      int32_t kept = mesh->elements[4 * k];
      mesh->elements[4 * k] = mesh->elements[4 * k + 1];
      mesh->elements[4 * k + 1] = kept;
    }
  owned(setting) s = make_setting(mesh, &m, &m, 0.001);
  owned(snapshot) one = take_snapshot(&s, 1), many = take_snapshot(&s, 3);
  double net[3] = {0};
  for (int i = 0; i < 3 * mesh->node_count; i++) net[i % 3] += one.g[i];
  tap_ok(largest(3, net) <= 1e-10 * largest(3 * mesh->node_count, one.g),
         "hub: forces balance with every chunk at one node");
  tap_ok(memcmp(one.g, many.g, 3 * (size_t)mesh->node_count * sizeof *one.g) == 0,
         "hub: the same bits from 3 threads");
}

int main(void) {
  const eb_element_type types[] = {EB_TRIANGLE, EB_TETRAHEDRON, EB_HEXAHEDRON};
  test_pattern();
  for (int t = 0; t < 3; t++) {
    for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
      test_reference(types[t], (eb_material_kind)kind, EB_FIBRE_NONE);
      test_differences(types[t], (eb_material_kind)kind);
    }
    test_reference(types[t], EB_STABLE_NEO_HOOKEAN, EB_FIBRE_ASTVK);
    test_reference(types[t], EB_COROTATIONAL, EB_FIBRE_FUNG);
    test_structure(types[t]);
    test_mass(types[t]);
  }
  test_bits(EB_TRIANGLE, 90);
  test_bits(EB_TETRAHEDRON, 10);
  test_bits(EB_HEXAHEDRON, 20);
  test_unused_node();
  test_hub();
  return tap_done();
}
