/* Kernels of problems/elasticity: SVD, gradient, assembled matrices. Meshes are twisted bars, so
 * that every element is deformed and the projection has work to do: 124 800 tetrahedra, whose
 * matrix is far larger than a second-level cache, and the 15 360 of bench/beam. */
#include <math.h>

#include "harness/bench/bench.h"
#include "problems/base/memory.h"
#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/svd3.h"
#include "problems/mesh/generate.h"

/* ---- SVD ------------------------------------------------------------------------------------- */

enum { BATCHES = 8192, CHUNK = 64 };

typedef eb_v4 batch9[9];
typedef eb_v4 batch3[3];

typedef struct svd_context {
  batch9 *F, *U, *V;
  batch3 *s;
} svd_context;

static void clear_svd(void *context) {
  svd_context *c = context;
  if (!c) return;
  free(c->F);
  free(c->U);
  free(c->V);
  free(c->s);
  free(c);
}

static eb_error fill_svd(svd_context *c) {
  EB_TRY(EB_NEW(c->F, BATCHES));
  EB_TRY(EB_NEW(c->U, BATCHES));
  EB_TRY(EB_NEW(c->V, BATCHES));
  EB_TRY(EB_NEW(c->s, BATCHES));
  uint32_t random = 1;
  for (int b = 0; b < BATCHES; b++)
    for (int i = 0; i < 9 * EB_LANES; i++) {
      random = random * 1664525u + 1013904223u;
      c->F[b][i / EB_LANES][i % EB_LANES] = (double)random * 0x1p-31 - 1;
    }
  return EB_OK;
}

static eb_error setup_svd(void **context, double *work) {
  svd_context *c;
  EB_TRY(EB_NEW(c, 1));
  eb_error error = fill_svd(c);
  if (error) {
    clear_svd(c);
    return error;
  }
  *context = c;
  *work = (double)BATCHES * EB_LANES;
  return EB_OK;
}

static void run_svd(void *context) {
  svd_context *c = context;
#pragma omp parallel for schedule(static)
  for (int b = 0; b < BATCHES; b += CHUNK)
    eb_svd3(CHUNK, (const batch9 *)c->F + b, c->U + b, c->s + b, c->V + b);
}

/* ---- assembly -------------------------------------------------------------------------------- */

typedef struct assembly_context {
  eb_mesh *mesh;
  eb_elasticity *elasticity;
  eb_block_matrix *matrix;
  double *x, *g, *rotations;
} assembly_context;

static void clear_assembly(void *context) {
  assembly_context *c = context;
  if (!c) return;
  eb_block_matrix_destroy(c->matrix);
  eb_elasticity_destroy(c->elasticity);
  eb_mesh_destroy(c->mesh);
  free(c->x);
  free(c->g);
  free(c->rotations);
  free(c);
}

/* A turn of 120 degrees along the bar and a wave across it. */
static void twist(const eb_mesh *mesh, double length, double *x) {
  for (int64_t n = 0; n < mesh->node_count; n++) {
    const double *X = mesh->X + 3 * n;
    double angle = 2.1 * X[0] / length, c = cos(angle), s = sin(angle);
    double bulge = 1 + 0.2 * sin(9 * X[0] / length) * cos(40 * X[1] / length);
    x[3 * n] = X[0] * (1 + 0.1 * sin(50 * X[2] / length));
    x[3 * n + 1] = bulge * (c * X[1] - s * X[2]);
    x[3 * n + 2] = bulge * (s * X[1] + c * X[2]);
  }
}

static eb_error fill_assembly(assembly_context *c, const eb_grid *grid, eb_material_kind kind,
                              bool hexahedra) {
  const eb_material material = {.kind = kind, .young = 1e6, .poisson = 0.45, .density = 1000};
  EB_TRY(hexahedra ? eb_generate_hexahedra(grid, &c->mesh) : eb_generate_tets6(grid, &c->mesh));
  EB_TRY(eb_elasticity_create(c->mesh, &material, &c->elasticity));
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(c->elasticity), &c->matrix));
  EB_TRY(EB_NEW(c->x, 3 * (size_t)c->mesh->node_count));
  EB_TRY(EB_NEW(c->g, 3 * (size_t)c->mesh->node_count));
  EB_TRY(EB_NEW(c->rotations, 9 * (size_t)c->mesh->element_count));
  twist(c->mesh, grid->size[0], c->x);
  return EB_OK;
}

static eb_error setup_bar(const eb_grid *grid, eb_material_kind kind, bool hexahedra,
                          void **context, double *work) {
  assembly_context *c;
  EB_TRY(EB_NEW(c, 1));
  eb_error error = fill_assembly(c, grid, kind, hexahedra);
  if (error) {
    clear_assembly(c);
    return error;
  }
  *context = c;
  *work = c->mesh->element_count;
  return EB_OK;
}

static const eb_grid large = {.cubes = {52, 20, 20}, .size = {1.3, 0.5, 0.5}};
static const eb_grid beam = {.cubes = {40, 8, 8}, .size = {1, 0.2, 0.2}};
static const eb_grid blocks = {.cubes = {40, 20, 20}, .size = {1, 0.5, 0.5}};

static eb_error setup_large(void **context, double *work) {
  return setup_bar(&large, EB_STABLE_NEO_HOOKEAN, false, context, work);
}

static eb_error setup_beam(void **context, double *work) {
  return setup_bar(&beam, EB_STABLE_NEO_HOOKEAN, false, context, work);
}

static eb_error setup_corotational(void **context, double *work) {
  return setup_bar(&large, EB_COROTATIONAL, false, context, work);
}

static eb_error setup_hexahedra(void **context, double *work) {
  return setup_bar(&blocks, EB_STABLE_NEO_HOOKEAN, true, context, work);
}

static void run_energy(void *context) {
  assembly_context *c = context;
  c->g[0] = eb_elasticity_energy(c->elasticity, c->x);
}

static void run_gradient(void *context) {
  assembly_context *c = context;
  eb_elasticity_gradient(c->elasticity, c->x, c->g);
}

static void run_rotations(void *context) {
  assembly_context *c = context;
  eb_elasticity_rotations(c->elasticity, c->x, c->rotations);
}

static void run_matrix(void *context) {
  assembly_context *c = context;
  eb_elasticity_matrix(c->elasticity, c->x, 1, 1e-4, true, c->matrix, NULL);
}

static void run_matrix_and_gradient(void *context) {
  assembly_context *c = context;
  eb_elasticity_matrix(c->elasticity, c->x, 1, 1e-4, true, c->matrix, c->g);
}

#define ELASTICITY(name_, unit_, measure_, target_, setup_, run_, clear_)                          \
  {                                                                                                \
    .name = name_, .unit = unit_, .measure = measure_, .target = target_, .scales_with = "dgemm",  \
    .setup = setup_, .run = run_, .clear = clear_                                                  \
  }
#define ASSEMBLY(name_, unit_, target_, setup_, run_)                                              \
  ELASTICITY(name_, unit_, EB_BENCH_RATE, target_, setup_, run_, clear_assembly)

const eb_bench_case eb_bench_elasticity[] = {
    ELASTICITY("svd", "matrix", EB_BENCH_TIME, 60e-9, setup_svd, run_svd, clear_svd),
    ASSEMBLY("energy/stable-neo-hookean", "tets", 0, setup_large, run_energy),
    ASSEMBLY("gradient/stable-neo-hookean", "tets", 6e6, setup_large, run_gradient),
    ASSEMBLY("gradient/corotational", "tets", 0, setup_corotational, run_gradient),
    ASSEMBLY("rotations", "tets", 0, setup_corotational, run_rotations),
    ASSEMBLY("projected-matrix/stable-neo-hookean", "tets", 1e6, setup_large, run_matrix),
    ASSEMBLY("projected-matrix-gradient/beam", "tets", 1e6, setup_beam, run_matrix_and_gradient),
    ASSEMBLY("matrix/corotational", "tets", 3e6, setup_corotational, run_matrix),
    ASSEMBLY("projected-matrix/hexahedra", "hexahedra", 0, setup_hexahedra, run_matrix),
    {0}};
