/* Estimators of element rotations, from node positions: a block that is twisted by a third of a
 * turn and bulges, 4 096 hexahedra or 4 374 tetrahedra, whose rest fits a second-level cache. What
 * tracks has come to rest where it is, so that its work is that of small steps. Lewin 2016,
 * Section 3.4: 200 ns for spin, 860 ns for the SVD, a hexahedron. Where F is known, spin needs one
 * product. */
#include <math.h>

#include "harness/bench/bench.h"
#include "problems/base/memory.h"
#include "problems/elasticity/rotation.h"
#include "problems/elasticity/svd3.h"
#include "problems/mesh/generate.h"

enum { HEXAHEDRA, TETRAHEDRA, GIVEN = EB_ROTATION_METHODS, SVD_PAIRS = 2 * GIVEN, WARM = 30 };

typedef struct rotation_context {
  eb_mesh *mesh;
  eb_rotation_rests rests;
  double *x;
  eb_v4 (*q)[EB_ROTATION_METHODS][4]; /* of a batch */
  eb_v4 (*F)[9];                      /* of a batch */
  eb_v4 (*R)[9];
} rotation_context;

static void clear(void *context) {
  rotation_context *c = context;
  eb_rotation_rests_clear(&c->rests);
  eb_mesh_destroy(c->mesh);
  free(c->x);
  free(c->q);
  free(c->F);
  free(c->R);
}

static void twist(const eb_mesh *mesh, double *x) {
  for (int64_t n = 0; n < mesh->node_count; n++) {
    const double *X = mesh->X + 3 * n;
    double angle = 2.1 * X[0], c = cos(angle), s = sin(angle), bulge = 1 + 0.2 * sin(9 * X[0]);
    x[3 * n] = X[0] * (1 + 0.1 * sin(20 * X[2]));
    x[3 * n + 1] = bulge * (c * X[1] - s * X[2]);
    x[3 * n + 2] = bulge * (s * X[1] + c * X[2]);
  }
}

static void rotate_all(rotation_context *c, eb_rotation_method method) {
  for (int32_t b = 0; b < c->rests.batches; b++) {
    eb_v4 x[EB_HEXAHEDRON][3];
    eb_rotation_rest rest = eb_rotation_rest_of(&c->rests, b);
    eb_rotation_gather(&c->rests, b, c->x, x);
    eb_rotate4(method, c->rests.nodes, &rest, (const eb_v4(*)[3])x, c->q[b][method], c->R[b]);
  }
}

/* F of a batch of elements of A nodes, a constant where it is called. */
EB_INLINE void gradient_of(const rotation_context *c, int A, int32_t b, eb_v4 F[9]) {
  eb_v4 x[EB_HEXAHEDRON][3];
  const eb_v4 *gradient = eb_rotation_rest_of(&c->rests, b).gradient;
  eb_rotation_gather(&c->rests, b, c->x, x);
  for (int i = 0; i < 9; i++) {
    F[i] = (x[1][i / 3] - x[0][i / 3]) * gradient[i % 3];
    for (int a = 2; a < A; a++) F[i] += (x[a][i / 3] - x[0][i / 3]) * gradient[3 * (a - 1) + i % 3];
  }
}

/* The SVD at its best, two batches at a time: from positions or, of `given`, from F. */
static void rotate_pairs(rotation_context *c, bool given) {
  eb_v4 F[2][9], U[2][9], s[2][3], V[2][9];
  for (int32_t b = 0; b < c->rests.batches; b += 2) {
    int count = b + 1 < c->rests.batches ? 2 : 1;
    for (int k = 0; k < count && !given; k++)
      if (c->rests.nodes == EB_HEXAHEDRON)
        gradient_of(c, EB_HEXAHEDRON, b + k, F[k]);
      else
        gradient_of(c, EB_TETRAHEDRON, b + k, F[k]);
    eb_svd3(count, given ? (const eb_v4(*)[9])c->F + b : (const eb_v4(*)[9])F, U, s, V);
    for (int k = 0; k < count; k++) eb_rotation3(U[k], V[k], c->R[b + k]);
  }
}

/* F of every batch: R S of the SVD's rotations and any symmetric S. */
static void make_gradients(rotation_context *c) {
  rotate_all(c, EB_ROTATION_SVD);
  for (int32_t b = 0; b < c->rests.batches; b++)
    for (int i = 0; i < 9; i++) {
      const eb_v4 *row = c->R[b] + 3 * (i / 3);
      c->F[b][i] = (1 + 0.1 * (i % 3)) * row[i % 3] + 0.05 * (row[0] + row[1] + row[2]);
    }
}

static eb_error set_up(void *context, const void *of, double *work) {
  rotation_context *c = context;
  static const eb_grid hexahedra = {.cubes = {16, 16, 16}, .size = {1, 1, 1}},
                       tetrahedra = {.cubes = {9, 9, 9}, .size = {1, 1, 1}};
  EB_TRY(*(const int *)of == HEXAHEDRA ? eb_generate_hexahedra(&hexahedra, &c->mesh)
                                       : eb_generate_tets6(&tetrahedra, &c->mesh));
  EB_TRY(eb_rotation_rests_create(c->mesh, 0, NULL, &c->rests));
  EB_TRY(EB_NEW(c->x, 3 * (int64_t)c->mesh->node_count));
  EB_TRY(EB_NEW(c->q, c->rests.batches));
  EB_TRY(EB_NEW(c->F, c->rests.batches));
  EB_TRY(EB_NEW(c->R, c->rests.batches));
  twist(c->mesh, c->x);
  for (int32_t b = 0; b < c->rests.batches; b++)
    for (int m = 0; m < EB_ROTATION_METHODS; m++) c->q[b][m][0] = eb_v4_set(1);
  for (int k = 0; k < WARM; k++)
    for (int m = 0; m < EB_ROTATION_METHODS; m++) rotate_all(c, (eb_rotation_method)m);
  make_gradients(c);
  *work = c->mesh->element_count;
  return EB_OK;
}

static void run(void *context, int which) {
  rotation_context *c = context;
  const eb_v4 inverse[6] = {eb_v4_set(0.5), eb_v4_set(0.5), eb_v4_set(0.5)};
  if (which == SVD_PAIRS || which == GIVEN + EB_ROTATION_SVD) {
    rotate_pairs(c, which != SVD_PAIRS);
    return;
  }
  if (which < GIVEN) {
    rotate_all(c, (eb_rotation_method)which);
    return;
  }
  for (int32_t b = 0; b < c->rests.batches; b++) {
    const eb_v4 *F = c->F[b];
    const eb_v4 M[9] = {F[0], F[3], F[6], F[1], F[4], F[7], F[2], F[5], F[8]};
    eb_rotation_method method = (eb_rotation_method)(which - GIVEN);
    eb_rotate_of4(method, method == EB_ROTATION_SPIN ? M : F, inverse, c->q[b][method], c->R[b]);
  }
}

static const int hexahedra = HEXAHEDRA, tetrahedra = TETRAHEDRA;
static const eb_bench_peer from_positions[] = {
    {"svd", 3, run, SVD_PAIRS},
    {"diagonalization, warm", 0, run, EB_ROTATION_DIAGONALIZATION},
    {"spin-full", 0, run, EB_ROTATION_SPIN_FULL},
    {"edges", 0, run, EB_ROTATION_EDGES},
    {0}};
static const eb_bench_peer from_gradients[] = {
    {"svd", 3, run, GIVEN + EB_ROTATION_SVD},
    {"diagonalization", 0, run, GIVEN + EB_ROTATION_DIAGONALIZATION},
    {0}};

#define SPIN(name_, unit_, of_, which_, peers_)                                                    \
  {                                                                                                \
    .name = "rotation/" name_, .unit = unit_, .measure = EB_BENCH_TIME, .target = 25e-9,           \
    .bytes = sizeof(rotation_context), .of = &of_, .setup = set_up, .run = run, .which = which_,   \
    .clear = clear, .peers = peers_                                                                \
  }

const eb_bench_case eb_bench_rotation[] = {
    SPIN("spin/hexahedra", "hexahedron", hexahedra, EB_ROTATION_SPIN, from_positions),
    SPIN("spin/tetrahedra", "tet", tetrahedra, EB_ROTATION_SPIN, from_positions),
    SPIN("spin/given", "matrix", hexahedra, GIVEN + EB_ROTATION_SPIN, from_gradients),
    {0}};
