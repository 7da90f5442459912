/* Laplacians, and three of their rows in a block.
 *
 * A scalar matrix whose entries are put on the diagonals of 3 x 3 blocks costs nine times the
 * memory and 27 times the operations of its own factor. With three neighbouring nodes in a block
 * instead it costs what a scalar factorization would, but for the blocks' zeros: neighbours in a
 * mesh have nearly the same neighbours, so that few entries are added, and the ordering has a third
 * of the graph to look at. */
#include "solvers/subspace/scalar.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"

#include <math.h>
#include <string.h>

static eb_error allocate(int32_t rows, int64_t entries, eb_scalar_matrix *out) {
  if (entries > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT, "a matrix has more than %d entries; use a coarser mesh",
                    INT32_MAX);
  out->rows = rows;
  EB_TRY(EB_NEW(out->start, (size_t)rows + 1));
  EB_TRY(EB_NEW(out->column, entries));
  return EB_NEW(out->value, entries);
}

void eb_scalar_clear(eb_scalar_matrix *A) {
  free(A->start);
  free(A->column);
  free(A->value);
  *A = (eb_scalar_matrix){0};
}

static eb_error finish(eb_error error, eb_scalar_matrix *out) {
  if (error) eb_scalar_clear(out);
  return error;
}

static eb_error copy_pattern(const eb_block_matrix *pattern, eb_scalar_matrix *out) {
  EB_TRY(allocate(pattern->rows, pattern->start[pattern->rows], out));
  memcpy(out->start, pattern->start, ((size_t)pattern->rows + 1) * sizeof *out->start);
  memcpy(out->column, pattern->column, (size_t)pattern->start[pattern->rows] * sizeof *out->column);
  return EB_OK;
}

eb_error eb_scalar_stiffness(const eb_elasticity *elasticity, const double *X,
                             eb_scalar_matrix *out) {
  eb_block_matrix *H;
  *out = (eb_scalar_matrix){0};
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(elasticity), &H));
  eb_error error = copy_pattern(H, out);
  if (!error) eb_elasticity_matrix(elasticity, X, 0, 1, false, H, NULL);
  for (int32_t b = 0; !error && b < H->start[H->rows]; b++) {
    const double *block = H->values + 9 * (int64_t)b;
    out->value[b] = block[0] + block[4] + block[8];
  }
  eb_block_matrix_destroy(H);
  return finish(error, out);
}

static void add_tetrahedron(const eb_mesh *mesh, int32_t e, double factor,
                            const eb_block_matrix *pattern, double *value) {
  const int32_t *node = mesh->elements + 4 * (int64_t)e;
  double edge[3][3], normal[4][3] = {{0}}, six = 0; /* grad N_a = normal / six; V = six / 6 */
  for (int a = 0; a < 3; a++)
    for (int d = 0; d < 3; d++)
      edge[a][d] = mesh->X[3 * (int64_t)node[a + 1] + d] - mesh->X[3 * (int64_t)node[0] + d];
  for (int a = 0; a < 3; a++)
    for (int d = 0; d < 3; d++) {
      const double *p = edge[(a + 1) % 3], *q = edge[(a + 2) % 3];
      int j = (d + 1) % 3, k = (d + 2) % 3;
      normal[a + 1][d] = p[j] * q[k] - p[k] * q[j];
      normal[0][d] -= normal[a + 1][d];
      if (a == 0) six += edge[0][d] * normal[1][d];
    }
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      double dot = 0;
      for (int d = 0; d < 3; d++) dot += normal[a][d] * normal[b][d];
      value[eb_block_matrix_find(pattern, node[a], node[b])] += factor * dot / (6 * six);
    }
}

eb_error eb_scalar_laplacian(const eb_mesh *mesh, double factor, eb_scalar_matrix *out) {
  eb_block_matrix *pattern;
  *out = (eb_scalar_matrix){0};
  EB_TRY(eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count,
                                (int)mesh->type, &pattern));
  eb_error error = copy_pattern(pattern, out);
  for (int32_t e = 0; !error && e < mesh->element_count; e++)
    add_tetrahedron(mesh, e, factor, pattern, out->value);
  eb_block_matrix_destroy(pattern);
  return finish(error, out);
}

/* ---- L inv(M) L ---- */

static int compare_columns(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* The columns of row i of the product, ascending, into `found`; their number. mark: rows, below i +
 * 1 before row i. */
static int32_t product_row(const eb_scalar_matrix *L, int32_t i, int32_t *mark, int32_t *found) {
  int32_t count = 0;
  for (int32_t b = L->start[i]; b < L->start[i + 1]; b++) {
    int32_t k = L->column[b];
    for (int32_t c = L->start[k]; c < L->start[k + 1]; c++) {
      if (mark[L->column[c]] == i + 1) continue;
      mark[L->column[c]] = i + 1;
      found[count++] = L->column[c];
    }
  }
  qsort(found, (size_t)count, sizeof *found, compare_columns);
  return count;
}

static eb_error fill_product(const eb_scalar_matrix *L, const double *mass, eb_scalar_matrix *out,
                             int32_t *mark, int32_t *found, double *sum) {
  int64_t entries = 0;
  for (int32_t i = 0; i < L->rows; i++) entries += product_row(L, i, mark, found);
  EB_TRY(allocate(L->rows, entries, out));
  memset(mark, 0, (size_t)L->rows * sizeof *mark);
  for (int32_t i = 0; i < L->rows; i++) {
    int32_t at = out->start[i], count = product_row(L, i, mark, out->column + at);
    out->start[i + 1] = at + count;
    for (int32_t b = L->start[i]; b < L->start[i + 1]; b++) {
      int32_t k = L->column[b];
      double scaled = L->value[b] / mass[k];
      for (int32_t c = L->start[k]; c < L->start[k + 1]; c++)
        sum[L->column[c]] += scaled * L->value[c];
    }
    for (int32_t c = at; c < at + count; c++) {
      out->value[c] = sum[out->column[c]];
      sum[out->column[c]] = 0;
    }
  }
  return EB_OK;
}

eb_error eb_scalar_biharmonic(const eb_scalar_matrix *L, const double *mass,
                              eb_scalar_matrix *out) {
  int32_t *mark = NULL, *found = NULL;
  double *sum = NULL;
  *out = (eb_scalar_matrix){0};
  eb_error error = EB_NEW(mark, L->rows);
  if (!error) error = EB_NEW(found, L->rows);
  if (!error) error = EB_NEW(sum, L->rows);
  if (!error) error = fill_product(L, mass, out, mark, found, sum);
  free(mark);
  free(found);
  free(sum);
  return finish(error, out);
}

void eb_scalar_multiply(const eb_scalar_matrix *A, const double *x, double *y) {
  EB_ASSERT(x != y);
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) sum += A->value[b] * x[A->column[b]];
    y[i] = sum;
  }
}

/* ---- three rows in a block ---- */

/* The neighbour of i without a block that is coupled to it most, or -1. */
static int32_t partner(const eb_scalar_matrix *A, int32_t i, const int32_t *row) {
  int32_t best = -1;
  double most = -1;
  for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
    int32_t j = A->column[b];
    if (j == i || row[j] >= 0 || !(fabs(A->value[b]) > most)) continue;
    most = fabs(A->value[b]);
    best = j;
  }
  return best;
}

/* Blocks grow from the nodes in their order; returns how many there are. */
static int32_t make_blocks(const eb_scalar_matrix *A, int32_t *row) {
  int32_t blocks = 0;
  for (int32_t i = 0; i < A->rows; i++) row[i] = -1;
  for (int32_t i = 0; i < A->rows; i++) {
    if (row[i] >= 0) continue;
    int32_t member[3] = {i, -1, -1};
    row[i] = 3 * blocks;
    for (int k = 1; k < 3; k++) {
      int32_t next = partner(A, i, row);
      if (next < 0 && k == 2) next = partner(A, member[1], row);
      if (next < 0) break;
      member[k] = next;
      row[next] = 3 * blocks + k;
    }
    blocks++;
  }
  return blocks;
}

static eb_error make_pattern(const eb_scalar_matrix *A, int32_t blocks, const int32_t *row,
                             eb_block_matrix **out) {
  int32_t *pair, count = 0;
  EB_TRY(EB_NEW(pair, 2 * (size_t)A->start[A->rows]));
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t from = row[i] / 3, to = row[A->column[b]] / 3;
      if (from > to) continue;
      pair[2 * (int64_t)count] = from;
      pair[2 * (int64_t)count++ + 1] = to;
    }
  eb_error error = eb_block_matrix_create(blocks, pair, count, 2, out);
  free(pair);
  return error;
}

eb_error eb_scalar_pack(const eb_scalar_matrix *A, eb_block_matrix **out, int32_t **row,
                        int32_t **origin) {
  *out = NULL;
  *row = *origin = NULL;
  eb_error error = EB_NEW(*row, A->rows);
  int32_t blocks = error ? 0 : make_blocks(A, *row);
  if (!error) error = EB_NEW(*origin, 3 * (size_t)blocks);
  if (!error) error = make_pattern(A, blocks, *row, out);
  if (error) {
    free(*row);
    free(*origin);
    *row = *origin = NULL;
    return error;
  }
  for (int32_t r = 0; r < 3 * blocks; r++) (*origin)[r] = -1;
  for (int32_t i = 0; i < A->rows; i++) {
    int32_t r = (*row)[i];
    (*origin)[r] = i;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t c = (*row)[A->column[b]], block = eb_block_matrix_find(*out, r / 3, c / 3);
      (*out)->values[9 * (int64_t)block + 3 * (r % 3) + c % 3] = A->value[b];
    }
  }
  for (int32_t r = 0; r < 3 * blocks; r++)
    if ((*origin)[r] < 0) (*out)->values[9 * (int64_t)(*out)->diagonal[r / 3] + 4 * (r % 3)] = 1;
  return EB_OK;
}
