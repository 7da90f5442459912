#include "tests/support/sparse_factor.h"

#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/sanitizer.h"
#include "problems/mesh/generate.h"
#include "tests/support/block_systems.h"

static void require(eb_error error) {
  if (!error) return;
  printf("Bail out! %s\n", eb_error_message(error));
  exit(1);
}

/* ---- matrices -------------------------------------------------------------------------------- */

eb_block_matrix *eb_test_islands(int nx, int ny, int nz, int copies, int alone, uint64_t seed) {
  eb_grid grid = {.cubes = {nx, ny, nz}, .size = {nx, ny, nz}};
  eb_mesh *mesh;
  eb_block_matrix *A;
  int32_t *elements;
  require(eb_generate_tets6(&grid, &mesh));
  int32_t count = mesh->element_count;
  require(EB_NEW(elements, 4 * (size_t)(count * copies)));
  for (int32_t c = 0; c < copies; c++)
    for (int32_t k = 0; k < 4 * count; k++)
      elements[4 * c * count + k] = mesh->elements[k] + c * mesh->node_count;
  require(
      eb_block_matrix_create(copies * mesh->node_count + alone, elements, copies * count, 4, &A));
  eb_mesh_destroy(mesh);
  free(elements);
  for (int64_t k = 0; k < 9 * (int64_t)A->start[A->rows]; k++) A->values[k] = eb_test_random(&seed);
  eb_test_make_dominant(A);
  return A;
}

eb_block_matrix *eb_test_grid(int nx, int ny, int nz, uint64_t seed) {
  return eb_test_islands(nx, ny, nz, 1, 0, seed);
}

eb_block_matrix *eb_test_solid(int edge, uint64_t seed) {
#if EB_SANITIZER
  edge = edge * 2 / 3; /* operations grow with edge^6 */
#endif
  return eb_test_grid(edge, edge, edge, seed);
}

eb_block_matrix *eb_test_arrow(int32_t root, int32_t leaf, int32_t leaves, uint64_t seed) {
  int32_t nodes = root + leaves * leaf, count = 0, *edges;
  eb_block_matrix *A;
  require(EB_NEW(edges, (size_t)nodes * (size_t)nodes));
  for (int32_t i = 0; i < nodes; i++)
    for (int32_t j = 0; j < i; j++) {
      if (j >= root && (i - root) / leaf != (j - root) / leaf) continue;
      edges[count++] = i;
      edges[count++] = j;
    }
  require(eb_block_matrix_create(nodes, edges, count / 2, 2, &A));
  free(edges);
  for (int64_t k = 0; k < 9 * (int64_t)A->start[nodes]; k++) A->values[k] = eb_test_random(&seed);
  eb_test_make_dominant(A);
  return A;
}

/* ---- factors --------------------------------------------------------------------------------- */

static void allocate(eb_test_factor *factor, int32_t columns, int64_t entries) {
  factor->columns = columns;
  require(EB_NEW(factor->start, (size_t)columns + 1));
  require(EB_NEW(factor->row, entries));
  require(EB_NEW(factor->value, entries));
}

void eb_test_factor_clear(eb_test_factor *factor) {
  free(factor->start);
  free(factor->row);
  free(factor->value);
  *factor = (eb_test_factor){0};
}

eb_multifrontal *eb_test_factored(const eb_multifrontal_settings *settings,
                                  const eb_block_matrix *A) {
  eb_multifrontal *factor = NULL;
  eb_reason reason = EB_RUNNING;
  require(eb_multifrontal_create(settings, A, NULL, &factor));
  require(eb_multifrontal_factor(factor, A, NULL, &reason));
  if (reason < 0) {
    printf("Bail out! a definite matrix is refused: %s\n", eb_reason_name(reason));
    exit(1);
  }
  return factor;
}

eb_test_factor eb_test_export(const eb_multifrontal *factor) {
  eb_test_factor out;
  allocate(&out, 3 * eb_multifrontal_supernodes(factor)->nodes, eb_multifrontal_entries(factor));
  eb_multifrontal_export(factor, out.start, out.row, out.value);
  return out;
}

/* The lower triangle of A, scalar row 3 k + axis for the node order[k]. */
static cholmod_triplet *lower_triangle(const eb_block_matrix *A, const eb_supernodes *tree,
                                       cholmod_common *common) {
  size_t n = 3 * (size_t)A->rows, most = 9 * (size_t)A->start[A->rows];
  cholmod_triplet *T = cholmod_allocate_triplet(n, n, most, -1, CHOLMOD_REAL, common);
  int *i = T->i, *j = T->j;
  double *x = T->x;
  for (int32_t row = 0; row < A->rows; row++)
    for (int32_t b = A->start[row]; b < A->start[row + 1]; b++)
      for (int e = 0; e < 9; e++) {
        int at = 3 * tree->position[row] + e / 3, column = 3 * tree->position[A->column[b]] + e % 3;
        if (at < column) continue;
        i[T->nnz] = at;
        j[T->nnz] = column;
        x[T->nnz++] = A->values[9 * (int64_t)b + e];
      }
  return T;
}

static eb_test_factor copy_factor(const cholmod_factor *L) {
  eb_test_factor out;
  const int *start = L->p, *row = L->i;
  const double *value = L->x;
  allocate(&out, (int32_t)L->n, start[L->n]);
  for (size_t k = 0; k <= L->n; k++) out.start[k] = start[k];
  memcpy(out.row, row, (size_t)start[L->n] * sizeof *row);
  memcpy(out.value, value, (size_t)start[L->n] * sizeof *value);
  return out;
}

eb_test_factor eb_test_cholmod(const eb_block_matrix *A, const eb_supernodes *tree) {
  cholmod_common common;
  cholmod_start(&common);
  common.supernodal = CHOLMOD_SUPERNODAL;
  common.nmethods = 1;
  common.method[0].ordering = CHOLMOD_NATURAL;
  common.postorder = false;
  cholmod_triplet *T = lower_triangle(A, tree, &common);
  cholmod_sparse *S = cholmod_triplet_to_sparse(T, 0, &common);
  cholmod_factor *L = cholmod_analyze(S, &common);
  cholmod_factorize(S, L, &common);
  if (common.status != CHOLMOD_OK) {
    printf("Bail out! CHOLMOD: status %d\n", common.status);
    exit(1);
  }
  const int to_ll = true, to_super = false, packed = true, monotonic = true;
  cholmod_change_factor(CHOLMOD_REAL, to_ll, to_super, packed, monotonic, L, &common);
  eb_test_factor out = copy_factor(L);
  cholmod_free_factor(&L, &common);
  cholmod_free_sparse(&S, &common);
  cholmod_free_triplet(&T, &common);
  cholmod_finish(&common);
  return out;
}

/* The largest difference in column k of b from the column in `dense`, which is 0 again
 * afterwards. */
static double column_distance(const eb_test_factor *a, const eb_test_factor *b, int32_t k,
                              double *dense) {
  double norm = 0, worst = 0;
  for (int64_t e = a->start[k]; e < a->start[k + 1]; e++) {
    dense[a->row[e]] = a->value[e];
    norm += a->value[e] * a->value[e];
  }
  for (int64_t e = b->start[k]; e < b->start[k + 1]; e++) dense[b->row[e]] -= b->value[e];
  for (int side = 0; side < 2; side++) {
    const eb_test_factor *from = side ? b : a;
    for (int64_t e = from->start[k]; e < from->start[k + 1]; e++) {
      double difference = fabs(dense[from->row[e]]);
      if (!(difference <= worst)) worst = difference;
      dense[from->row[e]] = 0;
    }
  }
  return worst / sqrt(norm);
}

double eb_test_factor_distance(const eb_test_factor *a, const eb_test_factor *b) {
  double worst = 0, *dense;
  if (a->columns != b->columns) return INFINITY;
  require(EB_NEW(dense, a->columns));
  for (int32_t k = 0; k < a->columns; k++) {
    double distance = column_distance(a, b, k, dense);
    if (!(distance <= worst)) worst = distance;
  }
  free(dense);
  return worst;
}

bool eb_test_factor_same(const eb_test_factor *a, const eb_test_factor *b) {
  if (a->columns != b->columns || a->start[a->columns] != b->start[b->columns]) return false;
  size_t entries = (size_t)a->start[a->columns];
  return memcmp(a->start, b->start, ((size_t)a->columns + 1) * sizeof *a->start) == 0 &&
         memcmp(a->row, b->row, entries * sizeof *a->row) == 0 &&
         memcmp(a->value, b->value, entries * sizeof *a->value) == 0;
}

void eb_test_graphs(void (*test)(eb_block_matrix *A, const char *name)) {
  test(eb_test_random_matrix(120, 1), "random graph");
  test(eb_test_random_matrix(1, 1), "one node");
  test(eb_test_random_matrix(2, 1), "two nodes");
  test(eb_test_grid(24, 24, 1, 2), "sheet");
  test(eb_test_grid(30, 4, 4, 3), "bar");
  test(eb_test_solid(13, 4), "solid");
  test(eb_test_islands(5, 5, 5, 4, 30, 5), "disconnected");
  test(eb_test_islands(1, 1, 1, 0, 50, 6), "diagonal");
  test(eb_test_bar(12, 4, 4, 0.025, 0.45, NULL), "elastic bar");
}
