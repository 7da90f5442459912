/* Kernels of the linear algebra, on matrices of meshes of the catalogue's kind: stable neo-Hookean
 * at rest with the mass of a step, one face clamped. */
#include <string.h>

#include "harness/bench/bench_matrix.h"
#include "harness/bench/bench.h"
#include "problems/base/memory.h"
#include "problems/elasticity/elasticity.h"
#include "problems/mesh/generate.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/linear.h"

/* A system; what a case does not need stays NULL. */
typedef struct bench_system {
  eb_elasticity *elasticity;
  eb_block_matrix *A;
  int64_t n; /* 3 rows */
  double *b, *x;
  eb_linear *linear;
  eb_step_log *log;
  double sum; /* keeps results alive */
} bench_system;

static void clear(void *context) {
  bench_system *s = context;
  eb_linear_destroy(s->linear);
  eb_step_log_destroy(s->log);
  eb_block_matrix_destroy(s->A);
  eb_elasticity_destroy(s->elasticity);
  free(s->b);
  free(s->x);
}

/* M / h^2 + H at rest, its nodes at x = 0 clamped. */
static eb_error assemble(bench_system *s, const eb_mesh *mesh) {
  const eb_material rubber = {
      .kind = EB_STABLE_NEO_HOOKEAN, .young = 1e6, .poisson = 0.45, .density = 1000};
  const double per_h2 = 3600;
  const eb_node_set *clamped = eb_mesh_set(mesh, "x0");
  uint8_t *fixed;
  EB_TRY(eb_elasticity_create(mesh, &rubber, &s->elasticity));
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(s->elasticity), &s->A));
  EB_TRY(EB_NEW(fixed, mesh->node_count));
  for (int32_t k = 0; k < clamped->count; k++) fixed[clamped->nodes[k]] = 1;
  eb_elasticity_matrix(s->elasticity, mesh->X, per_h2, 1, true, s->A, NULL);
  eb_block_constrain(s->A, fixed, NULL, NULL);
  free(fixed);
  s->n = 3 * (int64_t)s->A->rows;
  EB_TRY(EB_NEW(s->x, s->n));
  EB_TRY(EB_NEW(s->b, s->n));
  eb_bench_fill_sides(s->n, s->b);
  return EB_OK;
}

/* ---- product and dot ------------------------------------------------------------------------- */

static eb_error create_system(bench_system *s, const int32_t cubes[3]) {
  eb_grid grid = {.cubes = {cubes[0], cubes[1], cubes[2]},
                  .size = {0.025 * cubes[0], 0.025 * cubes[1], 0.025 * cubes[2]}};
  eb_mesh *mesh = NULL;
  EB_TRY(eb_generate_tets6(&grid, &mesh));
  eb_error error = assemble(s, mesh);
  eb_mesh_destroy(mesh);
  return error;
}

/* 68 921 nodes, 384 000 tetrahedra: 76 MB of matrix, above the usual last-level cache. Bytes: the
 * matrix once, x once, y once. */
static eb_error set_up_product(void *context, const void *of, double *work) {
  static const int32_t large[3] = {40, 40, 40};
  bench_system *s = context;
  (void)of;
  EB_TRY(create_system(s, large));
  *work = (9 * 8 + 4) * (double)s->A->start[s->A->rows] + (4 + 24 + 24) * (double)s->A->rows;
  return EB_OK;
}

static void run_product(void *context, int which) {
  bench_system *s = context;
  (void)which;
  eb_block_multiply(s->A, s->b, s->x);
}

/* Vectors of 96 MB together, without a mesh. */
static eb_error set_up_dot(void *context, const void *of, double *work) {
  bench_system *s = context;
  (void)of;
  s->n = 6 << 20;
  EB_TRY(EB_NEW(s->x, s->n));
  EB_TRY(EB_NEW(s->b, s->n));
  for (int64_t k = 0; k < s->n; k++) s->x[k] = s->b[k] = 1e-3 * (double)(k % 1000);
  *work = 16 * (double)s->n;
  return EB_OK;
}

static void run_dot(void *context, int which) {
  bench_system *s = context;
  (void)which;
  s->sum += eb_dot(s->n, s->x, s->b);
}

/* ---- linear solvers -------------------------------------------------------------------------- */

enum { CG_ITERATIONS = 50, FACTOR = 0, SOLVE };

/* On bench/beam of the catalogue, cubes 25 mm wide: 3 321 nodes, 15 360 tetrahedra. `of` is the
 * preconditioner of CG. */
static eb_error set_up_cg(void *context, const void *of, double *work) {
  static const int32_t beam[3] = {40, 8, 8};
  bench_system *s = context;
  const eb_linear_settings settings = {
      .kind = "cg", .preconditioner = of, .max_iterations = CG_ITERATIONS, .threads = 1};
  eb_reason reason;
  EB_TRY(create_system(s, beam));
  EB_TRY(eb_step_log_create(1, &s->log));
  EB_TRY(eb_linear_create(&settings, s->A, s->log, &s->linear));
  EB_TRY(eb_linear_set_matrix(s->linear, s->A, s->log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  *work = CG_ITERATIONS;
  return EB_OK;
}

static eb_error set_up_factor(void *context, const void *of, double *work) {
  EB_TRY(set_up_cg(context, of, work));
  *work = 1;
  return EB_OK;
}

/* Errors cannot occur here that the same calls during set-up did not raise. */
static void run_cg(void *context, int which) {
  bench_system *s = context;
  eb_reason reason;
  eb_linear_result result;
  if (which == FACTOR) {
    eb_error_free(eb_linear_set_matrix(s->linear, s->A, s->log, &reason));
    return;
  }
  memset(s->x, 0, (size_t)s->n * sizeof *s->x);
  eb_error_free(eb_linear_solve(s->linear, s->b, s->x, s->log, false, &result));
}

/* The product's target is that of the project's specification. */
#define VECTORS(name_, target_, setup_, run_)                                                      \
  {                                                                                                \
    .name = name_, .unit = "products", .measure = EB_BENCH_BANDWIDTH, .target = target_,           \
    .scales_with = "triad", .bytes = sizeof(bench_system), .setup = setup_, .run = run_,           \
    .clear = clear                                                                                 \
  }
#define CG(name_, unit_, preconditioner_, setup_, which_)                                          \
  {                                                                                                \
    .name = name_, .unit = unit_, .measure = EB_BENCH_TIME, .bytes = sizeof(bench_system),         \
    .of = preconditioner_, .setup = setup_, .run = run_cg, .which = which_, .clear = clear         \
  }

const eb_bench_case eb_bench_linalg[] = {
    VECTORS("block-multiply", 0.70, set_up_product, run_product),
    VECTORS("dot", 0, set_up_dot, run_dot),
    CG("ic-factor/beam", "factor", "ic", set_up_factor, FACTOR),
    CG("cg-iteration/jacobi", "iteration", "jacobi", set_up_cg, SOLVE),
    CG("cg-iteration/block-jacobi", "iteration", "block-jacobi", set_up_cg, SOLVE),
    CG("cg-iteration/ic", "iteration", "ic", set_up_cg, SOLVE),
    {0}};
