/* Elements: patch test, rigid motions, rotations, rank and quadrature of single elements, bad
 * input. */
#include "problems/base/memory.h"
#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/elements.h"
#include "tests/support/owned.h"
#include "tests/support/elastic.h"
#include "tests/support/elements.h"
#include "tests/support/lapack.h"
#include "tests/tap.h"

static const double YOUNG = 1e5;

static eb_material make_material(eb_material_kind kind) {
  return (eb_material){.kind = kind, .young = YOUNG, .poisson = 0.35, .density = 1000};
}

static const int CUBES[3] = {4, 3, 3};

/* Of edge 0.1, nodes moved by up to a fifth of that. */
static eb_mesh *make_mesh(eb_element_type type) {
  random_state random = random_seed(2);
  return irregular_mesh(type, 5, CUBES[0], CUBES[1], CUBES[2], 0.02, &random);
}

static eb_elasticity *make_elasticity(const eb_mesh *mesh, const eb_material *m) {
  eb_elasticity *elasticity;
  tap_require(eb_elasticity_create(mesh, m, &elasticity), "elasticity");
  return elasticity;
}

/* About z for triangles. */
static void make_rotation(eb_element_type type, random_state *random, double R[9]) {
  random_rotation(random, R);
  if (type != EB_TRIANGLE) return;
  double angle = random_uniform(random, -3, 3);
  const double turn[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
  memcpy(R, turn, sizeof turn);
}

static void test_patch(eb_element_type type, eb_material_kind kind) {
  eb_material m = make_material(kind);
  owned(eb_mesh) *mesh = make_mesh(type);
  owned(eb_elasticity) *elasticity = make_elasticity(mesh, &m);
  passes_patch_test(mesh, CUBES, elasticity, &m, type_name(type));
}

/* ---- rigid motions --------------------------------------------------------------------------- */

static void net_load(const double *x, const double *g, int nodes, double force[3],
                     double torque[3]) {
  for (int i = 0; i < 3; i++) force[i] = torque[i] = 0;
  for (int n = 0; n < nodes; n++)
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      force[i] += g[3 * n + i];
      torque[i] += x[3 * n + j] * g[3 * n + k] - x[3 * n + k] * g[3 * n + j];
    }
}

/* That energies do not turn with a body, and forces do, is a check of the program's
 * (harness/check/check_materials.c, "invariance"). */
static void test_rigid(eb_element_type type, eb_material_kind kind) {
  const char *name = eb_material_describe(kind)->name;
  eb_material m = make_material(kind);
  owned(eb_mesh) *mesh = make_mesh(type);
  int n = mesh->node_count;
  owned(eb_elasticity) *elasticity = make_elasticity(mesh, &m);
  random_state random = random_seed(8);
  double R[9], force[3], torque[3];
  make_rotation(type, &random, R);
  owned(double) *x = affine_positions(mesh, R, 0), *g = zeros(double, 3 * n);
  eb_elasticity_gradient(elasticity, x, g);
  /* Forces are stress times area: 1e-16 E of rounding on faces of 0.01 m^2, or 0.1 m by 1 m of
   * thickness. */
  tap_ok(largest(3 * n, g) <= 1e-14 * YOUNG * (type == EB_TRIANGLE ? 0.1 : 0.01) &&
             fabs(eb_elasticity_energy(elasticity, x)) <= 1e-14 * YOUNG,
         "%s, %s: a rigid motion costs nothing", type_name(type), name);
  for (int i = 0; i < 3 * n; i++)
    x[i] = i % 3 < axes_of(type) ? mesh->X[i] + random_uniform(&random, -0.05, 0.05) : 0;
  eb_elasticity_gradient(elasticity, x, g);
  net_load(x, g, n, force, torque);
  double most = largest(3 * n, g);
  tap_ok(largest(3, force) <= 1e-13 * most * n && largest(3, torque) <= 1e-12 * most * n,
         "%s, %s: no net force, no net torque", type_name(type), name);
}

/* ---- rotations ------------------------------------------------------------------------------- */

static void test_rotations(eb_element_type type, double last) {
  double stretch[9] = {1.3, 0.1, 0, 0.1, 0.9, 0, 0, 0, 1};
  stretch[4 * axes_of(type) - 4] = last;
  owned(eb_mesh) *mesh = make_mesh(type);
  eb_material m = make_material(EB_COROTATIONAL);
  owned(eb_elasticity) *elasticity = make_elasticity(mesh, &m);
  double Q[9], A[9], worst = 0;
  random_state random = random_seed(4);
  make_rotation(type, &random, Q);
  for (int i = 0; i < 9; i++) {
    A[i] = 0;
    for (int k = 0; k < 3; k++) A[i] += Q[3 * (i / 3) + k] * stretch[3 * k + i % 3];
  }
  owned(double) *x = affine_positions(mesh, A, 0), *R = zeros(double, 9 * mesh->element_count);
  eb_elasticity_rotations(elasticity, x, R);
  for (int i = 0; i < 9 * mesh->element_count; i++) worst = fmax(worst, fabs(R[i] - Q[i % 9]));
  tap_ok(worst <= 1e-13, "%s: F = Q S has the rotation Q%s (%.1e)", type_name(type),
         last < 0 ? ", also inverted" : "", worst);
}

/* ---- single elements ------------------------------------------------------------------------- */

/* Corners of a distorted hexahedron, or with `skew` only of a parallelepiped; its corners 0, 1, 3
 * and 4 make a tetrahedron, and 0, 1 and 3 in the plane a triangle. */
static void make_corners(eb_element_type type, double distortion, double X[24]) {
  static const int at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                               {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  static const int tetrahedron[4] = {0, 1, 3, 4};
  const double skew[9] = {1, 0.2, 0.1, 0, 1.1, -0.1, 0.1, 0, 0.9};
  random_state random = random_seed(6);
  for (int a = 0; a < (int)type; a++) {
    const int *corner = at[type == EB_HEXAHEDRON ? a : tetrahedron[a]];
    X[3 * a + 2] = 0;
    for (int i = 0; i < axes_of(type); i++)
      X[3 * a + i] = skew[3 * i] * corner[0] + skew[3 * i + 1] * corner[1] +
                     skew[3 * i + 2] * corner[2] + random_uniform(&random, -distortion, distortion);
  }
}

static eb_mesh *single_element(eb_element_type type, double distortion) {
  eb_mesh *mesh;
  tap_require(eb_mesh_create(type, (int)type, 1, &mesh), "one element");
  make_corners(type, distortion, mesh->X);
  for (int a = 0; a < (int)type; a++) mesh->elements[a] = a;
  return mesh;
}

/* Gradients reproduce linear fields at every point, sum of X_a g_a^T = I; volumes and shares add
 * up. */
static void test_gradients(eb_element_type type) {
  const eb_kernels *kernels = type == EB_TRIANGLE      ? &eb_triangle_kernels
                              : type == EB_TETRAHEDRON ? &eb_tetrahedron_kernels
                                                       : &eb_hexahedron_kernels;
  int stride = 3 * (kernels->nodes - 1) + 1;
  double X[24], geometry[8 * 22], share[8], worst = 0, volume = 0, shares = 0, want = 0;
  make_corners(type, 0.15, X);
  tap_ok(kernels->measure(X, geometry, share), "%s: a good shape is accepted", type_name(type));
  for (int q = 0; q < kernels->points; q++) {
    for (int r = 0; r < 9; r++) {
      double sum = r % 4 == 0 && r / 4 < axes_of(type) ? -1 : 0;
      for (int a = 1; a < kernels->nodes; a++)
        sum += (X[3 * a + r / 3] - X[r / 3]) * geometry[stride * q + 3 * (a - 1) + r % 3];
      worst = fmax(worst, fabs(sum));
    }
    volume += geometry[stride * q + stride - 1];
  }
  for (int a = 0; a < kernels->nodes; a++) shares += share[a];
  tap_ok(worst <= 1e-14, "%s: gradients reproduce linear fields at every point", type_name(type));
  tap_ok(fabs(shares - volume) <= 1e-15 * volume, "%s: the shares of the nodes are the volume",
         type_name(type));
  owned(eb_mesh) *mesh = single_element(type, 0.15);
  reference_point points[REFERENCE_POINTS];
  int count = reference_points(mesh, 0, points);
  for (int q = 0; q < count; q++) want += points[q].volume;
  tap_ok(fabs(volume - want) <= 1e-15 * want, "%s: volume", type_name(type));
  double kept = X[3];
  X[3] = -X[3];
  tap_ok(!kernels->measure(X, geometry, share), "%s: an inverted shape is refused",
         type_name(type));
  X[3] = kept;
}

/* The mean gradient B0 of a parallelepiped does not see the four hourglass patterns: B0 Q^T = 0. */
static void test_hourglass_patterns(void) {
  static const double pattern[4][8] = {{1, -1, 1, -1, 1, -1, 1, -1},
                                       {1, 1, -1, -1, -1, -1, 1, 1},
                                       {1, -1, -1, 1, -1, 1, 1, -1},
                                       {-1, 1, -1, 1, 1, -1, 1, -1}};
  double X[24], geometry[8 * 22], share[8], worst = 0;
  make_corners(EB_HEXAHEDRON, 0, X);
  tap_ok(eb_hexahedron_kernels.measure(X, geometry, share), "hexahedra: a parallelepiped");
  for (int p = 0; p < 4; p++)
    for (int i = 0; i < 3; i++) {
      double sum = 0;
      for (int q = 0; q < 8; q++)
        for (int a = 1; a < 8; a++)
          sum += geometry[22 * q + 21] * geometry[22 * q + 3 * (a - 1) + i] *
                 (pattern[p][a] - pattern[p][0]);
      worst = fmax(worst, fabs(sum));
    }
  tap_below(worst, 1e-15, "hexahedra: B0 Q^T = 0 for the hourglass patterns");
}

/* At rest the only modes without stiffness are the six rigid ones: no hourglass. In the plane they
 * are three, and the shift along z. */
static void test_rank(eb_element_type type) {
  owned(eb_mesh) *mesh = single_element(type, 0.1);
  eb_material m = make_material(EB_STABLE_NEO_HOOKEAN);
  owned(eb_elasticity) *elasticity = NULL;
  int n = 3 * (int)type, zero = 0;
  double dense[24 * 24], w[24];
  tap_require(eb_elasticity_create(mesh, &m, &elasticity), "elasticity");
  owned(eb_block_matrix) *K = new_matrix(elasticity);
  eb_elasticity_matrix(elasticity, mesh->X, 0, 1, false, K, NULL);
  for (int b = 0; b < (int)type * (int)type; b++)
    for (int k = 0; k < 9; k++)
      dense[n * (3 * (b / (int)type) + k / 3) + 3 * (b % (int)type) + k % 3] = K->values[9 * b + k];
  tap_require(lapack_eigen(n, dense, w) == 0 ? EB_OK : EB_ERROR(EB_ERR_LIBRARY, "dsyev"), "dsyev");
  for (int i = 0; i < n; i++) zero += fabs(w[i]) <= 1e-13 * w[n - 1];
  int rigid = type == EB_TRIANGLE ? 4 : 6;
  tap_ok(zero == rigid && w[rigid] > 1e-3 * w[n - 1],
         "%s: %d rigid modes and no others without stiffness", type_name(type), rigid);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void test_bad_input(void) {
  eb_elasticity *e = NULL;
  eb_mesh *mesh = make_mesh(EB_TETRAHEDRON);
  eb_material m = make_material(EB_STVK);
  m.poisson = 0.5;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID,
            "material of region 0 'body': Poisson's ratio", "a bad material names its region");
  m = make_material(EB_STVK);
  m.fibre = EB_FIBRE_ASTVK;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "no fibre directions",
            "fibres without directions");
  tap_require(EB_NEW(mesh->fibre, 3 * mesh->element_count), "fibres");
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "element 0: fibre (0, 0, 0)",
            "a fibre that is no unit vector");
  m.fibre = EB_FIBRE_NONE;
  mesh->region[7] = 1;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "element 7 is in region 1",
            "a region out of range");
  mesh->region[7] = 0;
  int32_t kept = mesh->elements[4 * 9];
  mesh->elements[4 * 9] = mesh->elements[4 * 9 + 1];
  mesh->elements[4 * 9 + 1] = kept;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "element 9 has no positive",
            "an inverted element");
  mesh->elements[4 * 9] = mesh->elements[4 * 9 + 2];
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "element 9 names node",
            "a node named twice");
  mesh->elements[4 * 9] = -1;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "element 9 names node -1",
            "a node out of range");
  mesh->X[10] = NAN;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "node 3: coordinate 1 is",
            "a coordinate that is no number");
  tap_ok(e == NULL, "nothing is handed out after an error");
  eb_mesh_destroy(mesh);
  const eb_grid grid = {.cubes = {2, 2, 1}, .size = {1, 1, 1}};
  tap_require(eb_generate_triangles(&grid, &mesh), "triangles");
  mesh->X[14] = 0.1;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "node 4: z is 0.1",
            "triangles off the plane");
  mesh->X[14] = 0;
  m.thickness = -0.1;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID, "thickness is -0.1",
            "a negative thickness");
  m.thickness = 0;
  kept = mesh->elements[3];
  mesh->elements[3] = mesh->elements[4];
  mesh->elements[4] = kept;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_INVALID,
            "element 1 has no positive rest area", "a clockwise triangle");
  mesh->type = (eb_element_type)5;
  tap_fails(eb_elasticity_create(mesh, &m, &e), EB_ERR_UNSUPPORTED, "elements of 5 nodes",
            "elements that there are not");
  mesh->type = EB_TRIANGLE;
  eb_mesh_destroy(mesh);
}

/* NaN in the positions must reach the results and nothing else. */
static void test_nan(void) {
  owned(eb_mesh) *mesh = make_mesh(EB_TETRAHEDRON);
  eb_material m = make_material(EB_COROTATED);
  owned(eb_elasticity) *elasticity = NULL;
  tap_require(eb_elasticity_create(mesh, &m, &elasticity), "elasticity");
  owned(eb_block_matrix) *K = new_matrix(elasticity);
  owned(double) *g = zeros(double, 3 * mesh->node_count);
  mesh->X[4] = NAN;
  eb_elasticity_matrix(elasticity, mesh->X, 1, 1, true, K, g);
  bool confined = true;
  for (int n = 0; n < mesh->node_count; n++)
    confined &= isnan(g[3 * n]) == (eb_block_matrix_find(K, 1, n) >= 0);
  tap_ok(isnan(eb_elasticity_energy(elasticity, mesh->X)), "NaN positions give a NaN energy");
  tap_ok(confined, "and a NaN gradient at the neighbours alone");
}

int main(void) {
  const eb_element_type types[] = {EB_TRIANGLE, EB_TETRAHEDRON, EB_HEXAHEDRON};
  for (int t = 0; t < 3; t++) {
    for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
      test_patch(types[t], (eb_material_kind)kind);
      if (kind != EB_LINEAR) test_rigid(types[t], (eb_material_kind)kind);
    }
    test_rotations(types[t], 0.8);
    test_rotations(types[t], -0.6);
    test_gradients(types[t]);
    test_rank(types[t]);
  }
  test_hourglass_patterns();
  test_bad_input();
  test_nan();
  return tap_done();
}
