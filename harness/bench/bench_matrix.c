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

/* ---- sets of elements ---- */

/* What elements are sorted by. */
typedef struct ranked {
  double key;
  int32_t element;
} ranked;

static int by_key(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->element < y->element ? -1 : x->element > y->element;
}

/* Chooses the first `count` in the order of the keys; frees them. */
static eb_error choose_first(const eb_mesh *mesh, ranked *keys, int32_t count, uint8_t *chosen) {
  qsort(keys, (size_t)mesh->element_count, sizeof *keys, by_key);
  memset(chosen, 0, (size_t)mesh->element_count);
  for (int32_t k = 0; k < count && k < mesh->element_count; k++) chosen[keys[k].element] = 1;
  free(keys);
  return EB_OK;
}

/* Squared distance of an element's centre, times the squared number of its nodes. */
static double distance(const eb_mesh *mesh, int32_t element, const double *from) {
  double off[3] = {0, 0, 0};
  for (int a = 0; a < (int)mesh->type; a++) {
    const double *X = mesh->X + 3 * (int64_t)mesh->elements[(int64_t)mesh->type * element + a];
    for (int axis = 0; axis < 3; axis++) off[axis] += X[axis] - from[axis];
  }
  return off[0] * off[0] + off[1] * off[1] + off[2] * off[2];
}

eb_error eb_bench_local(const eb_mesh *mesh, int32_t count, uint8_t *chosen) {
  ranked *keys;
  const double *from = mesh->X;
  for (int64_t i = 1; i < mesh->node_count; i++)
    if (mesh->X[3 * i + 2] < from[2]) from = mesh->X + 3 * i;
  EB_TRY(EB_NEW(keys, mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) keys[e] = (ranked){distance(mesh, e, from), e};
  return choose_first(mesh, keys, count, chosen);
}

eb_error eb_bench_scattered(const eb_mesh *mesh, int32_t count, uint8_t *chosen) {
  ranked *keys;
  uint64_t random = 1;
  EB_TRY(EB_NEW(keys, mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    keys[e] = (ranked){(double)(random >> 11), e};
  }
  return choose_first(mesh, keys, count, chosen);
}
