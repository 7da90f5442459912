/* y = A x with A = A^T, each block read once for itself and for its mirror image:
 *
 *   y_i += A_ij x_j,   y_j += A_ij^T x_i   for j > i
 *
 * so that memory gives little more than half of A; it is what a product of tens of megabytes waits
 * for (Gkountouvas et al. 2013, "Improving the performance of the symmetric sparse matrix-vector
 * multiplication in multicore", IPDPS, on what follows from the second line: two threads may meet
 * in y_j). Here blocks are mirrored within a part of the rows, which one thread has; those that
 * cross from part to part are stored on both sides and serve their own row. A body numbered along
 * its length or by refinement has 0.05 to 0.16 of its blocks cross between 8 parts, so that 0.58 to
 * 0.62 of A is stored. Parts depend on A alone: the sums, and so the bits, on nothing else.
 *
 * The mirror images gather in y_j's place of `mirrored`, complete when row j's turn comes, as rows
 * ascend; it then takes them and leaves zeros. That window is as long as the band of A is wide: it
 * stays in the core's own cache.
 *
 * Needs A_ij = A_ji^T. Memory: 0.6 of A, 4 numbers a row. */
#include "solvers/linalg/symmetric.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block3.h"

/* From some 6 MB on, half of A pays for the second sum that each block then takes part in. */
enum { HALF_BLOCKS = 80000 };

struct eb_symmetric {
  int32_t rows;
  int32_t *start;   /* rows + 1 */
  int32_t *mirrors; /* rows: blocks from here to the row's end serve row and column */
  int32_t *column;
  int32_t *source;  /* in A */
  double *values;   /* 9 a block, and one more that the last load of four reads */
  double *mirrored; /* 4 a row, the last of no meaning */
};

void eb_symmetric_destroy(eb_symmetric *s) {
  if (!s) return;
  free(s->start);
  free(s->mirrors);
  free(s->column);
  free(s->source);
  free(s->values);
  free(s->mirrored);
  free(s);
}

/* Row i of a part that ends before row `end`: the blocks of its own first, then those with mirror
 * images. */
static void list_row(const eb_block_matrix *A, int32_t i, int32_t begin, int32_t end,
                     int32_t *count, eb_symmetric *s) {
  for (int mirrors = 0; mirrors < 2; mirrors++) {
    if (mirrors) s->mirrors[i] = *count;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      const int32_t j = A->column[b];
      const bool inside = j >= begin && j < end;
      if (mirrors ? !(inside && j > i) : inside && j != i) continue;
      s->column[*count] = j;
      s->source[(*count)++] = b;
    }
  }
  s->start[i + 1] = *count;
}

static eb_error fill(const eb_block_matrix *A, const int32_t *part, eb_symmetric *s) {
  int32_t count = 0;
  EB_TRY(EB_NEW(s->start, (size_t)A->rows + 1));
  EB_TRY(EB_NEW(s->mirrors, A->rows));
  EB_TRY(EB_NEW(s->mirrored, 4 * (size_t)A->rows));
  EB_TRY(EB_NEW(s->column, A->start[A->rows]));
  EB_TRY(EB_NEW(s->source, A->start[A->rows]));
  for (int k = 0; k < EB_SYMMETRIC_PARTS; k++)
    for (int32_t i = part[k]; i < part[k + 1]; i++) list_row(A, i, part[k], part[k + 1], &count, s);
  return EB_NEW(s->values, 9 * (size_t)count + 1);
}

eb_error eb_symmetric_create(const eb_block_matrix *pattern,
                             const int32_t part[EB_SYMMETRIC_PARTS + 1], eb_symmetric **out) {
  EB_ASSERT(part[0] == 0 && part[EB_SYMMETRIC_PARTS] == pattern->rows);
  eb_symmetric *s;
  *out = NULL;
  EB_TRY(EB_NEW(s, 1));
  s->rows = pattern->rows;
  eb_error error = fill(pattern, part, s);
  if (error)
    eb_symmetric_destroy(s);
  else
    *out = s;
  return error;
}

eb_error eb_symmetric_create_large(const eb_block_matrix *pattern, eb_pieces pieces,
                                   eb_symmetric **out) {
  int32_t part[EB_SYMMETRIC_PARTS + 1];
  *out = NULL;
  if (pattern->start[pattern->rows] < HALF_BLOCKS) return EB_OK;
  for (int k = 0; k <= EB_SYMMETRIC_PARTS; k++) {
    int64_t row = eb_symmetric_piece(pieces, k) * pieces.length / 3;
    part[k] = row < pattern->rows ? (int32_t)row : pattern->rows;
  }
  return eb_symmetric_create(pattern, part, out);
}

void eb_symmetric_share(const eb_symmetric *half, const eb_spin_member *member, eb_pieces pieces,
                        int *first, int *last) {
  int64_t from, to;
  eb_spin_team_share(member, 0, half ? EB_SYMMETRIC_PARTS : pieces.count, &from, &to);
  *first = half ? eb_symmetric_piece(pieces, from) : (int)from;
  *last = half ? eb_symmetric_piece(pieces, to) : (int)to;
}

void eb_symmetric_set(eb_symmetric *s, const eb_block_matrix *A) {
  EB_ASSERT(A->rows == s->rows && A->values);
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < s->rows; i++)
    for (int32_t b = s->start[i]; b < s->start[i + 1]; b++)
      memcpy(s->values + 9 * (int64_t)b, A->values + 9 * (int64_t)s->source[b],
             9 * sizeof *s->values);
}

/* place += a^T x, where x_r fills lanes r. */
static inline void add_mirrored(const double *a, const eb_block3_lanes x[3], double *place) {
  eb_block3_lanes sum = eb_block3_load(place);
  for (int r = 0; r < 3; r++) sum += eb_block3_load(a + 3 * r) * x[r];
  memcpy(place, &sum, sizeof sum);
}

void eb_symmetric_multiply_rows(eb_symmetric *s, int32_t from, int32_t to, const double *x,
                                double *y) {
  EB_ASSERT(0 <= from && from <= to && to <= s->rows);
  EB_ASSERT(x != y);
  const size_t ahead = eb_block3_ahead(s->start[s->rows]);
  const double *values = s->values;
  const int32_t *column = s->column;
  double *mirrored = s->mirrored;
  for (int32_t i = from; i < to; i++) {
    const double *v = x + 3 * (int64_t)i;
    double *own = mirrored + 4 * (int64_t)i, sum[3];
    eb_block3_lanes spread[3];
    for (int r = 0; r < 3; r++) spread[r] = (eb_block3_lanes){v[r], v[r], v[r], v[r]};
    eb_block3_sums sums = {0};
    for (int32_t b = s->start[i]; b < s->mirrors[i]; b++)
      eb_block3_add(values + 9 * (int64_t)b, x + 3 * (int64_t)column[b], ahead, &sums);
    for (int32_t b = s->mirrors[i]; b < s->start[i + 1]; b++) {
      const double *a = values + 9 * (int64_t)b;
      eb_block3_add(a, x + 3 * (int64_t)column[b], ahead, &sums);
      add_mirrored(a, spread, mirrored + 4 * (int64_t)column[b]);
    }
    eb_block3_finish(&sums, sum);
    for (int r = 0; r < 3; r++) y[3 * (int64_t)i + r] = sum[r] + own[r];
    memset(own, 0, 4 * sizeof *own);
  }
}
