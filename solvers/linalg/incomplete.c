/* Incomplete Cholesky without fill, IC(0), on 3x3 blocks.
 *
 *   L_ik = (A_ik - sum_{j<k} L_ij L_kj^T) inv(L_kk)^T,   L_ii L_ii^T = A_ii - sum_{j<i} L_ij L_ij^T
 * for blocks (i, k) of A's lower triangle only. Meijerink and van der Vorst 1977; when a pivot block is
 * not positive definite, the factorization starts again on A + shift diag(A) with a growing shift
 * (Manteuffel 1980), which is diagonally dominant, hence factorable, in the end.
 *
 * L is stored by rows, the inverse of L_ii in place of L_ii. Workspace: one index a row. Row i is
 * factored after all rows it refers to, in order, on the calling thread. */
#include "solvers/linalg/incomplete.h"

#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block3.h"

static const double first_shift =
    1e-3; /* growing by 2: the smallest that works, within a factor 2 */
static const double largest_shift = 1e6; /* A + 1e6 diag(A) is dominant for any row of 1e6 blocks */
static const double pivot_floor = 1e-8;  /* of the diagonal entry: smaller pivots make L useless */

struct eb_incomplete {
  int32_t rows;
  int32_t *start;  /* rows + 1 */
  int32_t *column; /* ascending; the last of row i is i */
  int32_t *source; /* block of A */
  double *values;  /* 9 a block */
  int32_t *slot;   /* rows: block of the row at work with this column, or -1 */
  double shift;
};

eb_error eb_incomplete_create(const eb_block_matrix *pattern, eb_incomplete **out) {
  eb_incomplete *ic;
  int32_t rows = pattern->rows;
  size_t blocks = ((size_t)pattern->start[rows] - (size_t)rows) / 2 + (size_t)rows;
  EB_TRY(EB_NEW(ic, 1));
  ic->rows = rows;
  eb_error error = EB_NEW(ic->start, (size_t)rows + 1);
  if (!error) error = EB_NEW(ic->column, blocks);
  if (!error) error = EB_NEW(ic->source, blocks);
  if (!error) error = EB_NEW(ic->values, 9 * blocks);
  if (!error) error = EB_NEW(ic->slot, rows);
  if (error) {
    eb_incomplete_destroy(ic);
    return error;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i++) {
    ic->slot[i] = -1;
    for (int32_t b = pattern->start[i]; b <= pattern->diagonal[i]; b++) {
      ic->column[count] = pattern->column[b];
      ic->source[count++] = b;
    }
    ic->start[i + 1] = count;
  }
  *out = ic;
  return EB_OK;
}

/* Row i of L from the rows above it; false when its pivot block is not positive definite. */
static bool factor_row(eb_incomplete *ic, int32_t i, const double diagonal[3]) {
  int32_t first = ic->start[i], last = ic->start[i + 1] - 1;
  double *pivot = ic->values + 9 * (int64_t)last, inverse[9];
  for (int32_t b = first; b < last; b++) ic->slot[ic->column[b]] = b;
  for (int32_t b = first; b < last; b++) {
    int32_t k = ic->column[b], end = ic->start[k + 1] - 1;
    double *value = ic->values + 9 * (int64_t)b, scaled[9];
    for (int32_t c = ic->start[k]; c < end; c++) {
      int32_t match = ic->slot[ic->column[c]];
      if (match < 0) continue;
      eb_block3_subtract_product(ic->values + 9 * (int64_t)match, ic->values + 9 * (int64_t)c,
                                 value);
    }
    const double *w = ic->values + 9 * (int64_t)end; /* inv(L_kk): value inv(L_kk)^T = value w^T */
    memset(scaled, 0, sizeof scaled);
    eb_block3_subtract_product(value, w, scaled);
    for (int e = 0; e < 9; e++) value[e] = -scaled[e];
    eb_block3_subtract_product(value, value, pivot);
  }
  for (int32_t b = first; b < last; b++) ic->slot[ic->column[b]] = -1;
  if (!eb_block3_inverse_factor(pivot, diagonal, pivot_floor, inverse)) return false;
  memcpy(pivot, inverse, sizeof inverse);
  return true;
}

static bool factor_shifted(eb_incomplete *ic, const eb_block_matrix *A, double shift) {
  for (int32_t i = 0; i < ic->rows; i++) {
    for (int32_t b = ic->start[i]; b < ic->start[i + 1]; b++)
      memcpy(ic->values + 9 * (int64_t)b, A->values + 9 * (int64_t)ic->source[b],
             9 * sizeof *ic->values);
    double *pivot = ic->values + 9 * (int64_t)(ic->start[i + 1] - 1);
    double diagonal[3] = {pivot[0], pivot[4], pivot[8]};
    for (int r = 0; r < 3; r++) pivot[4 * r] += shift * diagonal[r];
    if (!factor_row(ic, i, diagonal)) return false;
  }
  return true;
}

bool eb_incomplete_factor(eb_incomplete *ic, const eb_block_matrix *A) {
  for (int32_t i = 0; i < ic->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    if (!(a[0] > 0 && a[4] > 0 && a[8] > 0)) return false;
  }
  for (double shift = 0; shift <= largest_shift; shift = shift > 0 ? 2 * shift : first_shift) {
    ic->shift = shift;
    if (factor_shifted(ic, A, shift)) return true;
  }
  return false;
}

void eb_incomplete_solve(const eb_incomplete *ic, const double *r, double *z) {
  const int32_t *start = ic->start, *column = ic->column;
  for (int32_t i = 0; i < ic->rows; i++) {
    double sum[3] = {r[3 * (int64_t)i], r[3 * (int64_t)i + 1], r[3 * (int64_t)i + 2]};
    int32_t last = start[i + 1] - 1;
    for (int32_t b = start[i]; b < last; b++)
      eb_block3_subtract(ic->values + 9 * (int64_t)b, z + 3 * (int64_t)column[b], sum);
    eb_block3_lower(ic->values + 9 * (int64_t)last, sum, z + 3 * (int64_t)i);
  }
  for (int32_t i = ic->rows - 1; i >= 0; i--) {
    double *zi = z + 3 * (int64_t)i;
    int32_t last = start[i + 1] - 1;
    eb_block3_lower_transposed(ic->values + 9 * (int64_t)last, zi, zi);
    for (int32_t b = start[i]; b < last; b++)
      eb_block3_subtract_transposed(ic->values + 9 * (int64_t)b, zi, z + 3 * (int64_t)column[b]);
  }
}

double eb_incomplete_shift(const eb_incomplete *ic) {
  return ic->shift;
}

void eb_incomplete_destroy(eb_incomplete *ic) {
  if (!ic) return;
  free(ic->start);
  free(ic->column);
  free(ic->source);
  free(ic->values);
  free(ic->slot);
  free(ic);
}
