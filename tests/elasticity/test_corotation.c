/* Element rotations and forces of corotation: against the elasticity and finite differences; rigid
 * motions; what is refused; the same bits for any number of threads. */
#include <omp.h>

/* The rotations of elements are inside. */
#include "problems/elasticity/corotation.c"
#include "tests/support/owned.h"
#include "tests/support/corotation.h"
#include "tests/support/dense.h"

/* R_e in the order of the mesh. free() it. */
static double *element_rotations(const body *b) {
  const eb_elasticity *e = b->corotation->elasticity;
  double *out = zeros(double, 9 * (size_t)b->mesh->element_count);
  for (int32_t k = 0; k < EB_LANES * e->batch_count; k++) {
    eb_v4 R[9];
    if (e->element[k] < 0) continue;
    unit_matrix(b->corotation->rotation + 4 * (k / EB_LANES), R);
    for (int i = 0; i < 9; i++) out[9 * e->element[k] + i] = R[i][k % EB_LANES];
  }
  return out;
}

static void rotations_are_those_of_the_elasticity(void) {
  random_state random = random_seed(3);
  owned(body) b = body_of(body_mesh(4, 3, 3));
  double worst = 0;
  int inverted = 0;
  owned(double) *want = zeros(double, 9 * (size_t)b.mesh->element_count);
  for (int k = 0; k < 20; k++) {
    body_deform(&b, &random, 0.05);
    inverted += body_inverted(&b);
    eb_corotation_rotate_elements(b.corotation, b.x);
    eb_elasticity_rotations(b.elasticity, b.x, want);
    owned(double) *got = element_rotations(&b);
    worst = worse(worst, distance(9 * b.mesh->element_count, got, want));
  }
  /* A quaternion and back: a few roundings of 1.1e-16. */
  tap_below(worst, 2e-15, "rotations of elements are those of the elasticity");
  tap_ok(inverted > 100, "and there are inverted ones among them (%d)", inverted);
}

static void gradient_is_that_of_the_elasticity(void) {
  random_state random = random_seed(4);
  owned(body) b = body_of(body_mesh(4, 3, 3));
  int64_t n = 3 * b.mesh->node_count;
  double worst = 0;
  owned(double) *want = zeros(double, n), *got = zeros(double, n);
  for (int k = 0; k < 10; k++) {
    body_deform(&b, &random, 0.05);
    eb_corotation_rotate_elements(b.corotation, b.x);
    for (int64_t i = 0; i < n; i++) got[i] = NAN;
    eb_corotation_gradient(b.corotation, b.x, got);
    eb_elasticity_gradient(b.elasticity, b.x, want);
    worst = worse(worst, distance(n, got, want) / largest(n, want));
  }
  /* R is determined to rounding only where s1 + s2 is large; near inversion that magnifies it. */
  tap_below(worst, 1e-12, "the gradient is that of corotational elements, inverted ones too");
}

static void gradient_is_the_slope_of_the_energy(void) {
  const double h = 1e-6;
  random_state random = random_seed(5);
  owned(body) b = body_of(body_mesh(2, 1, 1));
  int64_t n = 3 * b.mesh->node_count;
  double worst = 0;
  owned(double) *g = zeros(double, n);
  body_deform(&b, &random, 0.01);
  eb_corotation_rotate_elements(b.corotation, b.x);
  eb_corotation_gradient(b.corotation, b.x, g);
  for (int64_t i = 0; i < n; i++) {
    double at = b.x[i], energy[2];
    for (int side = 0; side < 2; side++) {
      b.x[i] = side ? at + h : at - h;
      energy[side] = eb_elasticity_energy(b.elasticity, b.x);
    }
    b.x[i] = at;
    worst = worse(worst, fabs((energy[1] - energy[0]) / (2 * h) - g[i]));
  }
  /* Central differences: h^2 times the third derivative, and rounding of the energy over h. */
  tap_below(worst / largest(n, g), 1e-7, "the gradient is the slope of the energy");
}

/* With the rotations kept, g is linear in x, and its matrix is the corotational one where the nodes
 * are frozen. */
static void gradient_of_kept_rotations_is_linear(void) {
  random_state random = random_seed(6);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  int n = 3 * b.mesh->node_count;
  double off = 0;
  owned(double) *g = zeros(double, n), *moved = zeros(double, n);
  body_deform(&b, &random, 0.05);
  eb_corotation_rotate_elements(b.corotation, b.x);
  eb_corotation_gradient(b.corotation, b.x, g);
  eb_corotation_assemble(b.corotation, eb_elasticity_mass(b.elasticity), 0, 1, b.matrix);
  owned(double) *K = dense_of_blocks(b.matrix);
  for (int i = 0; i < n; i++) b.x[i] += b.v[i];
  eb_corotation_gradient(b.corotation, b.x, moved);
  for (int i = 0; i < n; i++) {
    double sum = g[i] - moved[i];
    for (int j = 0; j < n; j++) sum += K[n * i + j] * b.v[j];
    off = worse(off, fabs(sum));
  }
  /* Sums of some hundred terms, each rounded. */
  tap_below(off / largest(n, moved), 1e-13, "with rotations kept, the gradient is linear in x");
}

/* ---- rigid motions --------------------------------------------------------------------------- */

/* Nodes first .. last - 1 turned by R and moved. */
static void move_rigidly(body *b, const double R[9], double shift, int first, int last) {
  for (int n = first; n < last; n++)
    for (int i = 0; i < 3; i++) {
      b->x[3 * n + i] = shift;
      for (int j = 0; j < 3; j++) b->x[3 * n + i] += R[3 * i + j] * b->mesh->X[3 * n + j];
    }
}

static double rotation_error(const double *rotations, int first, int last, const double R[9]) {
  double worst = 0;
  for (int k = first; k < last; k++) worst = worse(worst, distance(9, rotations + 9 * k, R));
  return worst;
}

/* Everything assembled at rest stays right: the rotations cancel. */
static void check_rigid(body *b, const char *what) {
  int elements = b->mesh->element_count, nodes = b->mesh->node_count;
  random_state random = random_seed(8);
  double R[9], rotations = 0, errors = 0;
  owned(double) *error = zeros(double, elements), *whole = zeros(double, elements);
  eb_corotation_assemble(b->corotation, eb_elasticity_mass(b->elasticity), 1, 1, b->matrix);
  reference_refresh(b, NULL);
  for (int k = 0; k < 10; k++) {
    random_rotation(&random, R);
    move_rigidly(b, R, 5, 0, nodes);
    for (int i = 0; i < 3 * nodes; i++) b->v[i] = random_uniform(&random, -1, 1);
    body_rotate(b);
    owned(double) *own = element_rotations(b);
    rotations = worse(rotations, rotation_error(own, 0, elements, R));
    rotations =
        worse(rotations, rotation_error(eb_corotation_node_rotations(b->corotation), 0, nodes, R));
    reference_errors(b, 1, error, whole);
    eb_corotation_errors(b->corotation, b->v, 1, error);
    for (int e = 0; e < elements; e++) errors = worse(errors, error[e] / whole[e]);
  }
  /* x is near 5 and edges are 0.1: differences of positions carry 1e-14, gradients over flat
   * elements ten times that. */
  tap_ok(rotations <= 1e-12, "%s: a rigid motion is every rotation (%.1e)", what, rotations);
  tap_ok(errors <= 1e-11, "%s: and it leaves no error in the matrices of the rest shape (%.1e)",
         what, errors);
}

static void rigid_motions_cancel(void) {
  body b = body_of(body_mesh(3, 3, 2));
  check_rigid(&b, "block");
  body_close(&b);
  const double corners[12] = {0, 0, 0, 1, 0, 0, 0.2, 1, 0, 0.1, 0.3, 0.7};
  eb_mesh *one;
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 4, 1, &one), "one element");
  memcpy(one->X, corners, sizeof corners);
  for (int a = 0; a < 4; a++) one->elements[a] = 3 - a;
  if (eb_mesh_element_volume(one, one->X, 0) < 0) one->elements[0] = 2, one->elements[1] = 3;
  b = body_of(one);
  check_rigid(&b, "one element");
  body_close(&b);
}

static void parts_turn_by_themselves(void) {
  eb_mesh *mesh = body_mesh(2, 2, 1);
  owned(eb_mesh) *other = body_mesh(2, 2, 1);
  const double aside[3] = {1, 0, 0};
  int nodes = mesh->node_count, elements = mesh->element_count;
  random_state random = random_seed(9);
  double R[2][9], errors = 0;
  tap_require(eb_mesh_append(mesh, other, aside), "two parts");
  owned(body) b = body_of(mesh);
  owned(double) *error = zeros(double, 2 * elements);
  for (int k = 0; k < 2; k++) {
    random_rotation(&random, R[k]);
    move_rigidly(&b, R[k], k, k * nodes, (k + 1) * nodes);
  }
  for (int i = 0; i < 6 * nodes; i++) b.v[i] = random_uniform(&random, -1, 1);
  body_rotate(&b);
  const double *node_rotation = eb_corotation_node_rotations(b.corotation);
  double off = worse(rotation_error(node_rotation, 0, nodes, R[0]),
                     rotation_error(node_rotation, nodes, 2 * nodes, R[1]));
  tap_below(off, 1e-13, "parts that share no node have rotations of their own");
  eb_corotation_errors(b.corotation, b.v, 1, error);
  for (int e = 0; e < 2 * elements; e++) errors = worse(errors, error[e]);
  /* Forces of an element are E L v = 2e5 x 0.1 x 1. */
  tap_below(errors / 2e4, 1e-12, "and the rest shape's matrices serve both");
}

static void lonely_nodes_do_nothing(void) {
  const double X[15] = {0, 0, 0, 1, 0, 0, 5, 5, 5, 0, 1, 0, 0, 0, 1};
  const int32_t node[4] = {0, 1, 3, 4};
  eb_mesh *mesh;
  random_state random = random_seed(10);
  tap_require(eb_mesh_create(EB_TETRAHEDRON, 5, 1, &mesh), "mesh with an unused node");
  memcpy(mesh->X, X, sizeof X);
  memcpy(mesh->elements, node, sizeof node);
  owned(body) b = body_of(mesh);
  double g[15], identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  body_deform(&b, &random, 0.1);
  body_rotate(&b);
  eb_corotation_gradient(b.corotation, b.x, g);
  eb_corotation_assemble(b.corotation, eb_elasticity_mass(b.elasticity), 1, 1, b.matrix);
  tap_ok(distance(9, eb_corotation_node_rotations(b.corotation) + 18, identity) == 0 &&
             largest(3, g + 6) == 0,
         "a node without elements does not turn and feels no force");
  tap_ok(largest(9, b.matrix->values + 9 * b.matrix->diagonal[2]) == 0, "and has an empty row");
}

static void the_mesh_is_not_kept(void) {
  random_state random = random_seed(13);
  owned(body) b = body_of(body_mesh(3, 2, 2));
  int64_t n = 3 * b.mesh->node_count;
  owned(double) *g = zeros(double, n), *kept = zeros(double, 3 * n);
  body_deform(&b, &random, 0.02);
  body_rotate(&b);
  eb_corotation_gradient(b.corotation, b.x, g);
  memcpy(kept, eb_corotation_node_rotations(b.corotation), 3 * (size_t)n * sizeof *kept);
  for (int64_t i = 0; i < n; i++) b.mesh->X[i] = NAN;
  memset(b.mesh->elements, 0, 4 * (size_t)b.mesh->element_count * sizeof *b.mesh->elements);
  memset(b.materials, 0, sizeof b.materials);
  owned(double) *again = zeros(double, n);
  body_rotate(&b);
  eb_corotation_gradient(b.corotation, b.x, again);
  tap_ok(memcmp(g, again, (size_t)n * sizeof *g) == 0 &&
             distance(3 * n, kept, eb_corotation_node_rotations(b.corotation)) == 0,
         "mesh and materials may change or go after create");
}

/* ---- failures -------------------------------------------------------------------------------- */

static void bad_input_is_refused(void) {
  eb_corotation *c = (void *)1;
  owned(eb_mesh) *mesh = body_mesh(2, 1, 1), *bricks = NULL;
  const eb_grid grid = {.cubes = {1, 1, 1}, .size = {1, 1, 1}};
  const eb_material good = {.kind = EB_COROTATIONAL, .young = 1, .poisson = 0.3, .density = 1};
  eb_material m[2] = {good, good};
  tap_require(eb_generate_hexahedra(&grid, &bricks), "bricks");
  tap_fails(eb_corotation_create(bricks, m, &c), EB_ERR_UNSUPPORTED, "needs tetrahedra",
            "hexahedra are refused");
  tap_ok(c == NULL, "nothing is handed out after an error");
  m[1].kind = EB_STVK;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_UNSUPPORTED,
            "region 1 'stiff' has material stvk", "another material is named with its region");
  m[1] = good;
  m[0].fibre = EB_FIBRE_ASTVK;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_UNSUPPORTED, "corotational with fibres",
            "fibres are refused");
  m[0].fibre = EB_FIBRE_NONE;
  m[0].kind = (eb_material_kind)77;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_INVALID, "unknown material kind 77",
            "an unknown material is refused");
  m[0] = good;
  m[0].poisson = 0.5;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_INVALID, "Poisson's ratio",
            "an incompressible material is refused");
  m[0] = good;
  int32_t kept = mesh->elements[8];
  mesh->elements[8] = mesh->elements[9];
  mesh->elements[9] = kept;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_INVALID, "element 2 has no positive rest",
            "an inverted rest shape is refused");
  mesh->elements[9] = mesh->elements[8];
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_INVALID, "element 2 names node",
            "a degenerate element is refused");
  mesh->elements[9] = mesh->node_count;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_INVALID, "element 2 names node",
            "a node out of range is refused");
  mesh->elements[9] = mesh->elements[8];
  mesh->X[4] = NAN;
  tap_fails(eb_corotation_create(mesh, m, &c), EB_ERR_INVALID, "node 1: coordinate 1 is nan",
            "a rest position that is not finite is refused");
  eb_corotation_destroy(NULL);
}

/* NaN stays with the elements and rings that hold it, and goes when the positions are good
 * again. */
static void nan_stays_where_it_is(void) {
  random_state random = random_seed(11);
  owned(body) b = body_of(body_mesh(6, 2, 2));
  int64_t n = 3 * b.mesh->node_count, values = 9 * (int64_t)b.matrix->start[b.matrix->rows];
  owned(double) *want = zeros(double, values), *g = zeros(double, n), *before = zeros(double, n);
  body_deform(&b, &random, 0.02);
  body_rotate(&b);
  eb_corotation_gradient(b.corotation, b.x, before);
  eb_corotation_assemble(b.corotation, eb_elasticity_mass(b.elasticity), 1, 1, b.matrix);
  memcpy(want, b.matrix->values, (size_t)values * sizeof *want);
  double kept = b.x[0];
  b.x[0] = NAN;
  body_rotate(&b);
  eb_corotation_gradient(b.corotation, b.x, g);
  int64_t far = n - 3;
  tap_ok(isnan(g[0]) && g[far] == before[far], "NaN reaches its neighbours only");
  eb_corotation_assemble(b.corotation, eb_elasticity_mass(b.elasticity), 1, 1, b.matrix);
  b.x[0] = kept;
  body_rotate(&b);
  eb_corotation_gradient(b.corotation, b.x, g);
  eb_corotation_assemble(b.corotation, eb_elasticity_mass(b.elasticity), 1, 1, b.matrix);
  tap_ok(memcmp(g, before, (size_t)n * sizeof *g) == 0 &&
             memcmp(want, b.matrix->values, (size_t)values * sizeof *want) == 0,
         "and leaves nothing behind");
}

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct snapshot {
  double *g, *error, *turned, *values;
  double *node_rotation;
} snapshot;

static snapshot take_snapshot(int threads) {
  snapshot s;
  owned(body) b = body_of(body_mesh(9, 8, 8));
  random_state random = random_seed(12);
  size_t n = 3 * (size_t)b.mesh->node_count, e = (size_t)b.mesh->element_count;
  size_t values = 9 * (size_t)b.matrix->start[b.matrix->rows];
  tap_require(EB_NEW(s.g, n), "gradient");
  tap_require(EB_NEW(s.turned, n), "turned");
  tap_require(EB_NEW(s.error, e), "errors");
  tap_require(EB_NEW(s.values, values), "values");
  tap_require(EB_NEW(s.node_rotation, 3 * n), "rotations");
  owned(uint8_t) *marked = zeros(uint8_t, e);
  omp_set_num_threads(threads);
  body_deform(&b, &random, 0.05);
  body_rotate(&b);
  eb_corotation_assemble(b.corotation, eb_elasticity_mass(b.elasticity), 3, 2, b.matrix);
  for (int k = 0; k < 3; k++) {
    body_deform(&b, &random, 0.05);
    for (size_t i = 0; i < e; i++) marked[i] = random_word(&random) % 3 == 0;
    body_rotate(&b);
    eb_corotation_refresh(b.corotation, marked, 2, b.matrix);
  }
  eb_corotation_gradient(b.corotation, b.x, s.g);
  eb_corotation_errors(b.corotation, b.v, 2, s.error);
  eb_corotation_turn(b.corotation, false, s.g, s.turned);
  memcpy(s.values, b.matrix->values, values * sizeof *s.values);
  memcpy(s.node_rotation, eb_corotation_node_rotations(b.corotation), 3 * n * sizeof(double));
  return s;
}

static void clear_snapshot(snapshot *s) {
  free(s->g);
  free(s->error);
  free(s->turned);
  free(s->values);
  free(s->node_rotation);
}

static void bits_do_not_depend_on_threads(void) {
  owned(body) b = body_of(body_mesh(9, 8, 8));
  size_t n = 3 * (size_t)b.mesh->node_count * sizeof(double);
  size_t e = (size_t)b.mesh->element_count * sizeof(double);
  size_t values = 9 * (size_t)b.matrix->start[b.matrix->rows] * sizeof(double);
  int before = omp_get_max_threads();
  snapshot one = take_snapshot(1);
  const int threads[] = {2, 3, 7};
  for (int i = 0; i < 3; i++) {
    snapshot many = take_snapshot(threads[i]);
    bool same = memcmp(one.g, many.g, n) == 0 && memcmp(one.error, many.error, e) == 0 &&
                memcmp(one.turned, many.turned, n) == 0 &&
                memcmp(one.values, many.values, values) == 0 &&
                memcmp(one.node_rotation, many.node_rotation, 3 * n) == 0;
    tap_ok(same, "the same bits from %d threads", threads[i]);
    clear_snapshot(&many);
  }
  omp_set_num_threads(before);
  clear_snapshot(&one);
  tap_ok(eb_corotation_bytes(b.corotation) > 200 * (int64_t)b.mesh->element_count &&
             eb_corotation_bytes(b.corotation) < 2000 * (int64_t)b.mesh->element_count,
         "the bytes it holds are a few hundred an element");
}

int main(void) {
  rotations_are_those_of_the_elasticity();
  gradient_is_that_of_the_elasticity();
  gradient_is_the_slope_of_the_energy();
  gradient_of_kept_rotations_is_linear();
  rigid_motions_cancel();
  parts_turn_by_themselves();
  lonely_nodes_do_nothing();
  the_mesh_is_not_kept();
  bad_input_is_refused();
  nan_stays_where_it_is();
  bits_do_not_depend_on_threads();
  return tap_done();
}
