/* Kernels of the linear algebra, on matrices of meshes of the catalogue's kind: stable neo-Hookean
 * at rest with the mass of a step, one face clamped. */
#include <string.h>

#include "harness/bench/tables.h"
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

/* bench/beam of the catalogue, cubes 25 mm wide: 3 321 nodes, 15 360 tetrahedra. */
static const int32_t beam[3] = {40, 8, 8};
/* 68 921 nodes, 384 000 tetrahedra: 76 MB of matrix, above the usual last-level cache. */
static const int32_t large[3] = {40, 40, 40};

static void clear(void *context) {
  bench_system *s = context;
  if (!s) return;
  eb_linear_destroy(s->linear);
  eb_step_log_destroy(s->log);
  eb_block_matrix_destroy(s->A);
  eb_elasticity_destroy(s->elasticity);
  free(s->b);
  free(s->x);
  free(s);
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
  for (int64_t k = 0; k < s->n; k++) s->b[k] = (double)((k * 7919) % 1009) - 504;
  return EB_OK;
}

static eb_error create_system(const int32_t cubes[3], bench_system **out) {
  eb_grid grid = {.cubes = {cubes[0], cubes[1], cubes[2]},
                  .size = {0.025 * cubes[0], 0.025 * cubes[1], 0.025 * cubes[2]}};
  bench_system *s;
  eb_mesh *mesh = NULL;
  EB_TRY(EB_NEW(s, 1));
  eb_error error = eb_generate_tets6(&grid, &mesh);
  if (!error) error = assemble(s, mesh);
  eb_mesh_destroy(mesh);
  if (error)
    clear(s);
  else
    *out = s;
  return error;
}

/* ---- product and dot ------------------------------------------------------------------------- */

/* Bytes: the matrix once, x once, y once. */
static eb_error setup_product(void **context, double *work) {
  bench_system *s;
  EB_TRY(create_system(large, &s));
  *context = s;
  *work = (9 * 8 + 4) * (double)s->A->start[s->A->rows] + (4 + 24 + 24) * (double)s->A->rows;
  return EB_OK;
}

static void run_product(void *context) {
  bench_system *s = context;
  eb_block_multiply(s->A, s->b, s->x);
}

/* Vectors of 96 MB together, without a mesh. */
static eb_error setup_dot(void **context, double *work) {
  bench_system *s;
  EB_TRY(EB_NEW(s, 1));
  s->n = 6 << 20;
  eb_error error = EB_NEW(s->x, s->n);
  if (!error) error = EB_NEW(s->b, s->n);
  if (error) {
    clear(s);
    return error;
  }
  for (int64_t k = 0; k < s->n; k++) s->x[k] = s->b[k] = 1e-3 * (double)(k % 1000);
  *context = s;
  *work = 16 * (double)s->n;
  return EB_OK;
}

static void run_dot(void *context) {
  bench_system *s = context;
  s->sum += eb_dot(s->n, s->x, s->b);
}

/* ---- linear solvers -------------------------------------------------------------------------- */

enum { CG_ITERATIONS = 50 };

static eb_linear_settings cg_with(const char *preconditioner) {
  return (eb_linear_settings){.kind = "cg",
                              .preconditioner = preconditioner,
                              .max_iterations = CG_ITERATIONS,
                              .threads = 1};
}

static eb_error prepare_linear(bench_system *s, const eb_linear_settings *settings) {
  eb_reason reason;
  EB_TRY(eb_step_log_create(1, &s->log));
  EB_TRY(eb_linear_create(settings, s->A, s->log, &s->linear));
  EB_TRY(eb_linear_set_matrix(s->linear, s->A, s->log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

static eb_error create_linear(const int32_t cubes[3], const eb_linear_settings *settings,
                              bench_system **out) {
  EB_TRY(create_system(cubes, out));
  eb_error error = prepare_linear(*out, settings);
  if (error) clear(*out);
  return error;
}

static eb_error setup_cg(const char *preconditioner, double runs, void **context, double *work) {
  bench_system *s;
  eb_linear_settings settings = cg_with(preconditioner);
  EB_TRY(create_linear(beam, &settings, &s));
  *context = s;
  *work = runs;
  return EB_OK;
}

static eb_error setup_ic(void **context, double *work) {
  return setup_cg("ic", 1, context, work);
}

static eb_error setup_ic_cg(void **context, double *work) {
  return setup_cg("ic", CG_ITERATIONS, context, work);
}

static eb_error setup_jacobi_cg(void **context, double *work) {
  return setup_cg("jacobi", CG_ITERATIONS, context, work);
}

static eb_error setup_block_jacobi_cg(void **context, double *work) {
  return setup_cg("block-jacobi", CG_ITERATIONS, context, work);
}

/* Errors cannot occur here that the same calls during set-up did not raise. */
static void run_factor(void *context) {
  bench_system *s = context;
  eb_reason reason;
  eb_error_free(eb_linear_set_matrix(s->linear, s->A, s->log, &reason));
}

static void run_solve(void *context) {
  bench_system *s = context;
  eb_linear_result result;
  memset(s->x, 0, (size_t)s->n * sizeof *s->x);
  eb_error_free(eb_linear_solve(s->linear, s->b, s->x, s->log, false, &result));
}

/* The product's target as the project's specification has it. */
const eb_bench_case eb_bench_linalg[] = {{.name = "block-multiply",
                                          .unit = "products",
                                          .measure = EB_BENCH_BANDWIDTH,
                                          .target = 0.70,
                                          .scales_with = "triad",
                                          .setup = setup_product,
                                          .run = run_product,
                                          .clear = clear},
                                         {.name = "dot",
                                          .unit = "products",
                                          .measure = EB_BENCH_BANDWIDTH,
                                          .scales_with = "triad",
                                          .setup = setup_dot,
                                          .run = run_dot,
                                          .clear = clear},
                                         {.name = "ic-factor/beam",
                                          .unit = "factor",
                                          .measure = EB_BENCH_TIME,
                                          .setup = setup_ic,
                                          .run = run_factor,
                                          .clear = clear},
                                         {.name = "cg-iteration/jacobi",
                                          .unit = "iteration",
                                          .measure = EB_BENCH_TIME,
                                          .setup = setup_jacobi_cg,
                                          .run = run_solve,
                                          .clear = clear},
                                         {.name = "cg-iteration/block-jacobi",
                                          .unit = "iteration",
                                          .measure = EB_BENCH_TIME,
                                          .setup = setup_block_jacobi_cg,
                                          .run = run_solve,
                                          .clear = clear},
                                         {.name = "cg-iteration/ic",
                                          .unit = "iteration",
                                          .measure = EB_BENCH_TIME,
                                          .setup = setup_ic_cg,
                                          .run = run_solve,
                                          .clear = clear},
                                         {.name = NULL}};
