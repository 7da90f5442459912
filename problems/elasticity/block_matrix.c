/* Pattern of the node graph, row by row: the nodes of a row's elements, sorted, without
 * repetition. */
#include "problems/elasticity/block_matrix.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"

typedef struct builder {
  const int32_t *elements;
  int32_t rows, count, arity;
  int64_t *incident_start; /* rows + 1 */
  int32_t *incident;       /* elements around each node */
  int32_t *mark;           /* rows: the last row that met this node, plus 1 */
  int32_t *row;            /* rows: the columns of one row */
} builder;

static int compare_indices(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static eb_error check_elements(const builder *b) {
  for (int64_t i = 0; i < (int64_t)b->count * b->arity; i++)
    if (b->elements[i] < 0 || b->elements[i] >= b->rows)
      return EB_ERROR(EB_ERR_INVALID, "element %lld names node %d; nodes are 0 to %d",
                      (long long)(i / b->arity), (int)b->elements[i], (int)b->rows - 1);
  return EB_OK;
}

static eb_error find_incidence(builder *b) {
  int64_t entries = (int64_t)b->count * b->arity;
  EB_TRY(EB_NEW(b->incident_start, (size_t)b->rows + 1));
  EB_TRY(EB_NEW(b->incident, entries));
  EB_TRY(EB_NEW(b->mark, b->rows));
  EB_TRY(EB_NEW(b->row, b->rows));
  for (int64_t i = 0; i < entries; i++) b->incident_start[b->elements[i] + 1]++;
  for (int32_t i = 0; i < b->rows; i++) b->incident_start[i + 1] += b->incident_start[i];
  for (int64_t i = entries - 1; i >= 0; i--) {
    int32_t node = b->elements[i];
    b->incident[--b->incident_start[node + 1]] = (int32_t)(i / b->arity);
  }
  /* Filling from the back moved each start to its own row: shift back. */
  for (int32_t i = 0; i < b->rows; i++) b->incident_start[i] = b->incident_start[i + 1];
  b->incident_start[b->rows] = entries;
  return EB_OK;
}

/* Gathers the unsorted columns of row i into b->row; returns their number. */
static int32_t gather_row(builder *b, int32_t i) {
  int32_t found = 1;
  b->row[0] = i;
  b->mark[i] = i + 1;
  for (int64_t at = b->incident_start[i]; at < b->incident_start[i + 1]; at++)
    for (int k = 0; k < b->arity; k++) {
      int32_t node = b->elements[(int64_t)b->incident[at] * b->arity + k];
      if (b->mark[node] == i + 1) continue;
      b->mark[node] = i + 1;
      b->row[found++] = node;
    }
  return found;
}

static eb_error fill(builder *b, eb_block_matrix *m) {
  EB_TRY(check_elements(b));
  EB_TRY(find_incidence(b));
  EB_TRY(EB_NEW(m->start, (size_t)b->rows + 1));
  EB_TRY(EB_NEW(m->diagonal, b->rows));
  int64_t blocks = 0;
  for (int32_t i = 0; i < b->rows; i++) {
    blocks += gather_row(b, i);
    if (blocks > INT32_MAX)
      return EB_ERROR(EB_ERR_LIMIT, "the matrix has more than %d blocks; use a coarser mesh",
                      INT32_MAX);
    m->start[i + 1] = (int32_t)blocks;
  }
  memset(b->mark, 0, sizeof *b->mark * (size_t)b->rows);
  EB_TRY(EB_NEW(m->column, blocks));
  for (int32_t i = 0; i < b->rows; i++) {
    int32_t found = gather_row(b, i);
    qsort(b->row, (size_t)found, sizeof *b->row, compare_indices);
    memcpy(m->column + m->start[i], b->row, sizeof *b->row * (size_t)found);
    m->diagonal[i] = eb_block_matrix_find(m, i, i);
  }
  return EB_OK;
}

eb_error eb_block_matrix_pattern(int32_t rows, const int32_t *elements, int32_t count, int arity,
                                 eb_block_matrix **out) {
  EB_ASSERT(rows >= 0 && count >= 0 && arity > 0);
  eb_block_matrix *m;
  *out = NULL;
  EB_TRY(EB_NEW(m, 1));
  m->rows = rows;
  builder b = {.elements = elements, .rows = rows, .count = count, .arity = arity};
  eb_error error = fill(&b, m);
  free(b.incident_start);
  free(b.incident);
  free(b.mark);
  free(b.row);
  if (error) {
    eb_block_matrix_destroy(m);
    return error;
  }
  *out = m;
  return EB_OK;
}

eb_error eb_block_matrix_create(int32_t rows, const int32_t *elements, int32_t count, int arity,
                                eb_block_matrix **out) {
  EB_TRY(eb_block_matrix_pattern(rows, elements, count, arity, out));
  eb_block_matrix *m = *out;
  eb_error error = EB_NEW(m->values, 9 * (size_t)m->start[rows]);
  if (!error) return EB_OK;
  eb_block_matrix_destroy(m);
  *out = NULL;
  return error;
}

eb_error eb_block_matrix_like(const eb_block_matrix *pattern, eb_block_matrix **out) {
  eb_block_matrix *m;
  *out = NULL;
  EB_TRY(EB_NEW(m, 1));
  *m = *pattern;
  m->shares_pattern = 1;
  eb_error error = EB_NEW(m->values, 9 * (size_t)pattern->start[pattern->rows]);
  if (error) {
    free(m);
    return error;
  }
  *out = m;
  return EB_OK;
}

void eb_block_matrix_destroy(eb_block_matrix *m) {
  if (!m) return;
  if (!m->shares_pattern) {
    free(m->start);
    free(m->column);
    free(m->diagonal);
  }
  free(m->values);
  free(m);
}

int32_t eb_block_matrix_find(const eb_block_matrix *m, int32_t row, int32_t column) {
  EB_ASSERT(row >= 0 && row < m->rows);
  EB_ASSERT(column >= 0);
  int32_t low = m->start[row], high = m->start[row + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (m->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->start[row + 1] && m->column[low] == column ? low : -1;
}
