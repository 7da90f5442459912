#include "harness/bench/bench_matrix.h"

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/linalg/block_ops.h"

#include <string.h>

#define CUBES_OF_25_MM(...) .cubes = {__VA_ARGS__}, .edges = {0.025, 0.025, 0.025}

const eb_bench_body eb_body_sculpture = {.scene = "hecht2012/sculpture-medium"};
const eb_bench_body eb_body_dragon = {.scene = "conjac2020/dragon"};
const eb_bench_body eb_body_beam = {CUBES_OF_25_MM(40, 8, 8)};
const eb_bench_body eb_body_bar = {CUBES_OF_25_MM(12, 12, 34)};
const eb_bench_body eb_body_block = {CUBES_OF_25_MM(28, 28, 28)};
const eb_bench_body eb_body_sheet = {.cubes = {50, 50, 1}, .edges = {0.02, 0.02, 1e-4}};
const eb_bench_body eb_body_clamped_beam = {CUBES_OF_25_MM(40, 8, 8), .clamped = true};
const eb_bench_body eb_body_clamped_block = {CUBES_OF_25_MM(40, 40, 40), .clamped = true};

void eb_bench_matrix_clear(eb_bench_matrix *matrix) {
  eb_block_matrix_destroy(matrix->A);
  eb_elasticity_destroy(matrix->elasticity);
  eb_mesh_destroy(matrix->generated);
  if (matrix->scene) eb_scene_destroy(matrix->scene);
  *matrix = (eb_bench_matrix){0};
}

static eb_error clamp(const eb_mesh *mesh, eb_block_matrix *A) {
  const eb_node_set *clamped = eb_mesh_set(mesh, "x0");
  uint8_t *fixed;
  EB_TRY(EB_NEW(fixed, mesh->node_count));
  for (int32_t k = 0; k < clamped->count; k++) fixed[clamped->nodes[k]] = 1;
  eb_block_constrain(A, fixed, NULL, NULL);
  free(fixed);
  return EB_OK;
}

static eb_error assemble(const eb_bench_body *body, eb_bench_matrix *m) {
  const double step = 1.0 / 30, clamped_per_h2 = 3600;
  const eb_material rubber = {.kind = body->clamped ? EB_STABLE_NEO_HOOKEAN : EB_COROTATIONAL,
                              .young = 1e6,
                              .poisson = 0.45,
                              .density = 1000};
  const eb_elasticity *elasticity;
  if (body->scene) {
    EB_TRY(eb_scene_create(eb_scene_find(body->scene), NULL, NULL, NULL, &m->scene));
    m->mesh = m->scene->mesh;
    elasticity = m->scene->elasticity;
  } else {
    eb_grid grid = {.cubes = {body->cubes[0], body->cubes[1], body->cubes[2]}};
    for (int axis = 0; axis < 3; axis++) grid.size[axis] = body->edges[axis] * body->cubes[axis];
    EB_TRY(eb_generate_tets6(&grid, &m->generated));
    m->mesh = m->generated;
    EB_TRY(eb_elasticity_create(m->mesh, &rubber, &m->elasticity));
    elasticity = m->elasticity;
  }
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(elasticity), &m->A));
  m->n = 3 * (int64_t)m->A->rows;
  eb_elasticity_matrix(elasticity, m->mesh->X, body->clamped ? clamped_per_h2 : 1,
                       body->clamped ? 1 : step * step, body->clamped, m->A, NULL);
  return body->clamped ? clamp(m->mesh, m->A) : EB_OK;
}

eb_error eb_bench_matrix_create(const eb_bench_body *body, eb_bench_matrix *out) {
  *out = (eb_bench_matrix){0};
  eb_error error = assemble(body, out);
  if (error) eb_bench_matrix_clear(out);
  return error;
}

eb_error eb_bench_matrix_factor(const eb_bench_matrix *matrix,
                                const eb_multifrontal_settings *settings, eb_multifrontal **out) {
  eb_reason reason;
  EB_TRY(eb_multifrontal_create(settings, matrix->A, NULL, out));
  EB_TRY(eb_multifrontal_factor(*out, matrix->A, NULL, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID, "the matrix was refused: %s", eb_reason_name(reason));
  return EB_OK;
}

void eb_bench_fill_sides(int64_t entries, double *b) {
  for (int64_t k = 0; k < entries; k++) b[k] = (double)((k * 7919) % 1009) - 504;
}
