/* Assembly and projection of the subspace solvers, on functions at random: their cost does not
 * depend on the values. */
#include "harness/bench/bench.h"
#include "harness/bench/bench_matrix.h"
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/subspace/points.h"

typedef struct kernel_of {
  int modes, points;
  bool mixed;
} kernel_of;

typedef struct kernel {
  eb_mesh *mesh;
  eb_basis basis;
  eb_cubature cubature;
  eb_points *points;
  double *weight, *u, *x, *stiffness;
} kernel;

static void clear_kernel(void *context) {
  kernel *k = context;
  eb_points_destroy(k->points);
  eb_cubature_clear(&k->cubature);
  eb_basis_clear(&k->basis);
  eb_mesh_destroy(k->mesh);
  free(k->weight);
  free(k->u);
  free(k->x);
  free(k->stiffness);
}

/* Points in every element of a grid until there are enough. */
static eb_error fill_points(kernel *k, const kernel_of *what) {
  static const eb_material rubber = {
      .kind = EB_FIXED_COROTATIONAL, .young = 1e5, .poisson = 0.45, .density = 1000};
  k->cubature.count = what->points;
  EB_TRY(EB_NEW(k->cubature.element, what->points));
  EB_TRY(EB_NEW(k->cubature.weight, what->points));
  for (int c = 0; c < what->points; c++) {
    k->cubature.element[c] = c;
    k->cubature.weight[c] = eb_mesh_element_volume(k->mesh, k->mesh->X, c);
  }
  return eb_points_create(k->mesh, &rubber, &k->basis, &k->cubature, what->mixed, &k->points);
}

static eb_error set_up_stiffness(void *context, const void *of, double *work) {
  kernel *k = context;
  const kernel_of *what = of;
  const eb_grid grid = {.cubes = {6, 6, 6}, .size = {1, 1, 1}};
  EB_TRY(eb_generate_tets6(&grid, &k->mesh));
  const int32_t nodes = k->mesh->node_count;
  size_t weights = (size_t)what->modes * (size_t)nodes;
  EB_TRY(EB_NEW(k->weight, weights));
  EB_TRY(EB_NEW(k->x, nodes));
  eb_bench_fill_sides((int64_t)weights, k->weight);
  for (int32_t i = 0; i < nodes; i++) k->x[i] = 1;
  EB_TRY(eb_basis_skinning(nodes, k->mesh->X, k->x, what->modes, k->weight, &k->basis));
  EB_TRY(fill_points(k, what));
  size_t n = 3 * (size_t)k->basis.size;
  EB_TRY(EB_NEW(k->u, 3 * n));
  EB_TRY(EB_NEW(k->stiffness, n * n));
  eb_points_linearize(k->points, k->u, k->u + n, k->u + 2 * n);
  *work = eb_points_stiffness_flops(k->points);
  return EB_OK;
}

static void run_stiffness(void *context, int which) {
  kernel *k = context;
  (void)which;
  eb_points_stiffness(k->points, k->stiffness);
}

/* 80 000 nodes and 16 modes: 45 MB, above the usual last-level cache. Bytes: Phi and X once, x
 * once. */
static eb_error set_up_prolong(void *context, const void *of, double *work) {
  enum { NODES = 80000 };
  kernel *k = context;
  const kernel_of *what = of;
  eb_basis *b = &k->basis;
  b->nodes = NODES;
  b->size = b->stride = 4 * what->modes;
  EB_TRY(EB_NEW(b->phi, (size_t)NODES * (size_t)b->stride));
  EB_TRY(EB_NEW(b->X, 3 * (size_t)NODES));
  EB_TRY(EB_NEW(k->x, 3 * (size_t)NODES));
  EB_TRY(EB_NEW(k->u, 3 * (size_t)b->size));
  eb_bench_fill_sides((int64_t)NODES * b->stride, b->phi);
  eb_bench_fill_sides(3 * b->size, k->u);
  *work = (8.0 * b->stride + 48.0) * NODES;
  return EB_OK;
}

static void run_prolong(void *context, int which) {
  kernel *k = context;
  (void)which;
  eb_basis_prolong(&k->basis, k->u, true, k->x);
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define STIFFNESS(points_)                                                                         \
  {                                                                                                \
    .name = "subspace/stiffness/16-" #points_, .unit = "flops", .measure = EB_BENCH_FLOPS,         \
    .target = 0.5, .scales_with = "dgemm", .bytes = sizeof(kernel),                                \
    .of = &(const kernel_of){16, points_, true}, .setup = set_up_stiffness, .run = run_stiffness,  \
    .clear = clear_kernel                                                                          \
  }

const eb_bench_case eb_bench_subspace[] = {STIFFNESS(342),
                                           STIFFNESS(581),
                                           {.name = "subspace/prolong",
                                            .unit = "products",
                                            .measure = EB_BENCH_BANDWIDTH,
                                            .target = 0.6,
                                            .scales_with = "triad",
                                            .bytes = sizeof(kernel),
                                            .of = &(const kernel_of){.modes = 16},
                                            .setup = set_up_prolong,
                                            .run = run_prolong,
                                            .clear = clear_kernel},
                                           {0}};
