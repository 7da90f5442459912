/* Preconditioners of the conjugate gradients: none, diagonal, diagonal blocks, incomplete Cholesky.
 *
 *   jacobi         M = diag(A)
 *   block-jacobi   M = diag(A_ii), each block as L L^T (Saad 2003, 4.1 and 12.2)
 *   ic             M = L L^T without fill, IC(0), on 3x3 blocks:
 *     L_ik = (A_ik - sum_{j<k} L_ij L_kj^T) inv(L_kk)^T
 *     L_ii L_ii^T = A_ii - sum_{j<i} L_ij L_ij^T
 * for blocks (i, k) of A's lower triangle only. Meijerink and van der Vorst 1977; when a pivot
 * block is not positive definite, the factorization starts again on A + shift diag(A) with a
 * growing shift (Manteuffel 1980), which is diagonally dominant, hence factorable, in the end.
 *
 * IC's two triangular solves are made row sums, their chain from row to row as short as it can be,
 * by scaling with W_i = inv(L_ii) beforehand:
 *   L y = r:    y_i = W_i r_i   - sum_{k<i} (W_i L_ik) y_k
 *   L^T z = y:  z_i = W_i^T y_i - sum_{k>i} (W_i^T L_ki^T) z_k
 * so after the factorization L's blocks are replaced by the first products, and the second ones are
 * stored by rows of the upper triangle.
 *
 * Memory: 3 or 9 numbers a row; IC: as much as A. IC's row i is factored after all rows it refers
 * to, in order, on the calling thread; so are its solves.
 * Fails (as an outcome) when a diagonal entry or block is not positive definite: no shift helps. */
#include "solvers/linalg/preconditioner.h"

#include <stdint.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/option.h"
#include "problems/base/text.h"
#include "solvers/linalg/block3.h"

/* ---- incomplete Cholesky --------------------------------------------------------------------- */

static const double first_shift =
    1e-3; /* growing by 2: the smallest that works, within a factor 2 */
static const double largest_shift = 1e6; /* A + 1e6 diag(A) is dominant for any row of 1e6 blocks */
static const double pivot_floor = 1e-8;  /* of the diagonal entry: smaller pivots make L useless */

/* Blocks by rows; block b of row i in column column[b] comes from block source[b] of another
 * matrix. */
typedef struct triangle {
  int32_t *start;  /* rows + 1 */
  int32_t *column; /* ascending */
  int32_t *source;
  double *values; /* 9 a block */
} triangle;

typedef struct incomplete {
  int32_t rows;
  triangle lower; /* source: in A; the last block of row i is (i, i) and ends as W_i */
  triangle upper; /* source: in lower, transposed; without the diagonal */
  int32_t *slot;  /* rows: block of the row at work with this column, or -1 */
} incomplete;

static eb_error allocate_triangle(triangle *t, int32_t rows, size_t blocks) {
  EB_TRY(EB_NEW(t->start, (size_t)rows + 1));
  EB_TRY(EB_NEW(t->column, blocks));
  EB_TRY(EB_NEW(t->source, blocks));
  return EB_NEW(t->values, 9 * blocks);
}

static void free_triangle(triangle *t) {
  free(t->start);
  free(t->column);
  free(t->source);
  free(t->values);
}

static void destroy_incomplete(incomplete *ic) {
  if (!ic) return;
  free_triangle(&ic->lower);
  free_triangle(&ic->upper);
  free(ic->slot);
  free(ic);
}

static void fill_lower(triangle *lower, const eb_block_matrix *A) {
  int32_t count = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    for (int32_t b = A->start[i]; b <= A->diagonal[i]; b++) {
      lower->column[count] = A->column[b];
      lower->source[count++] = b;
    }
    lower->start[i + 1] = count;
  }
}

/* Transposes the strict lower triangle; next: rows of workspace. */
static void fill_upper(triangle *upper, const triangle *lower, int32_t rows, int32_t *next) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t b = lower->start[i]; b < lower->start[i + 1] - 1; b++)
      upper->start[lower->column[b] + 1]++;
  for (int32_t i = 0; i < rows; i++) {
    next[i] = upper->start[i];
    upper->start[i + 1] += upper->start[i];
  }
  for (int32_t i = 0; i < rows; i++)
    for (int32_t b = lower->start[i]; b < lower->start[i + 1] - 1; b++) {
      int32_t at = next[lower->column[b]]++;
      upper->column[at] = i;
      upper->source[at] = b;
    }
}

static eb_error create_incomplete(const eb_block_matrix *pattern, incomplete **out) {
  incomplete *ic;
  int32_t rows = pattern->rows;
  size_t strict = ((size_t)pattern->start[rows] - (size_t)rows) / 2;
  EB_TRY(EB_NEW(ic, 1));
  ic->rows = rows;
  eb_error error = allocate_triangle(&ic->lower, rows, strict + (size_t)rows);
  if (!error) error = allocate_triangle(&ic->upper, rows, strict);
  if (!error) error = EB_NEW(ic->slot, rows);
  if (error) {
    destroy_incomplete(ic);
    return error;
  }
  fill_lower(&ic->lower, pattern);
  fill_upper(&ic->upper, &ic->lower, rows, ic->slot);
  for (int32_t i = 0; i < rows; i++) ic->slot[i] = -1;
  *out = ic;
  return EB_OK;
}

/* Row i of L from the rows above it; false when its pivot block is not positive definite. */
static bool factor_row(incomplete *ic, int32_t i, const double diagonal[3]) {
  const int32_t *start = ic->lower.start, *column = ic->lower.column;
  const int32_t first = start[i], last = start[i + 1] - 1;
  double *values = ic->lower.values, *pivot = values + 9 * (int64_t)last, inverse[9];
  for (int32_t b = first; b < last; b++) ic->slot[column[b]] = b;
  for (int32_t b = first; b < last; b++) {
    const int32_t k = column[b], end = start[k + 1] - 1;
    double *value = values + 9 * (int64_t)b, scaled[9];
    for (int32_t c = start[k]; c < end; c++) {
      int32_t match = ic->slot[column[c]];
      if (match >= 0)
        eb_block3_subtract_product(values + 9 * (int64_t)match, values + 9 * (int64_t)c, value);
    }
    memset(scaled, 0, sizeof scaled);
    eb_block3_subtract_product(value, values + 9 * (int64_t)end, scaled); /* - value W_k^T */
    for (int e = 0; e < 9; e++) value[e] = -scaled[e];
    eb_block3_subtract_product(value, value, pivot);
  }
  for (int32_t b = first; b < last; b++) ic->slot[column[b]] = -1;
  if (!eb_block3_inverse_factor(pivot, diagonal, pivot_floor, inverse)) return false;
  memcpy(pivot, inverse, sizeof inverse);
  return true;
}

static bool factor_shifted(incomplete *ic, const eb_block_matrix *A, double shift) {
  const triangle *lower = &ic->lower;
  for (int32_t i = 0; i < ic->rows; i++) {
    for (int32_t b = lower->start[i]; b < lower->start[i + 1]; b++)
      memcpy(lower->values + 9 * (int64_t)b, A->values + 9 * (int64_t)lower->source[b],
             9 * sizeof *lower->values);
    double *pivot = lower->values + 9 * (int64_t)(lower->start[i + 1] - 1);
    double diagonal[3] = {pivot[0], pivot[4], pivot[8]};
    for (int r = 0; r < 3; r++) pivot[4 * r] += shift * diagonal[r];
    if (!factor_row(ic, i, diagonal)) return false;
  }
  return true;
}

static const double *inverse_pivot(const incomplete *ic, int32_t i) {
  return ic->lower.values + 9 * (int64_t)(ic->lower.start[i + 1] - 1);
}

/* Upper blocks W_i^T L_ki^T = (L_ki W_i)^T, then lower ones W_i L_ik, which overwrite L. */
static void scale_triangles(incomplete *ic) {
  const triangle *lower = &ic->lower, *upper = &ic->upper;
  for (int32_t i = 0; i < ic->rows; i++)
    for (int32_t b = upper->start[i]; b < upper->start[i + 1]; b++)
      eb_block3_product_transposed(lower->values + 9 * (int64_t)upper->source[b],
                                   inverse_pivot(ic, i), upper->values + 9 * (int64_t)b);
  for (int32_t i = 0; i < ic->rows; i++)
    for (int32_t b = lower->start[i]; b < lower->start[i + 1] - 1; b++)
      eb_block3_lower_product(inverse_pivot(ic, i), lower->values + 9 * (int64_t)b);
}

/* False when a diagonal entry of A is not positive, so that no shift can help. */
static bool factor_incomplete(incomplete *ic, const eb_block_matrix *A) {
  for (int32_t i = 0; i < ic->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    if (!(a[0] > 0 && a[4] > 0 && a[8] > 0)) return false;
  }
  for (double shift = 0; shift <= largest_shift; shift = shift > 0 ? 2 * shift : first_shift) {
    if (!factor_shifted(ic, A, shift)) continue;
    scale_triangles(ic);
    return true;
  }
  return false;
}

/* L L^T z = r. */
static void solve_incomplete(const incomplete *ic, const double *r, double *z) {
  const triangle *lower = &ic->lower, *upper = &ic->upper;
  double scaled[3], sum[3];
  for (int32_t i = 0; i < ic->rows; i++) {
    double *zi = z + 3 * (int64_t)i;
    eb_block3_lower(inverse_pivot(ic, i), r + 3 * (int64_t)i, scaled);
    eb_block3_row(lower->values, lower->column, lower->start[i], lower->start[i + 1] - 1, z, sum);
    for (int k = 0; k < 3; k++) zi[k] = scaled[k] - sum[k];
  }
  for (int32_t i = ic->rows - 1; i >= 0; i--) {
    double *zi = z + 3 * (int64_t)i;
    eb_block3_lower_transposed(inverse_pivot(ic, i), zi, scaled);
    eb_block3_row(upper->values, upper->column, upper->start[i], upper->start[i + 1], z, sum);
    for (int k = 0; k < 3; k++) zi[k] = scaled[k] - sum[k];
  }
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef enum kind { NONE, JACOBI, BLOCK_JACOBI, INCOMPLETE, KINDS } kind;

static const char *const names[KINDS] = {"none", "jacobi", "block-jacobi", "ic"};

enum { PARALLEL_FROM = 10000 }; /* rows: smaller vectors are done before a team wakes up */

struct eb_preconditioner {
  kind kind;
  int32_t rows, blocks;
  /* JACOBI: 3 a row, 1 / a_kk; BLOCK_JACOBI: 9 a row, inv(L_ii) with A_ii = L L^T */
  double *inverse;
  incomplete *ic;
};

static eb_error find_kind(const char *name, kind *out) {
  for (int k = 0; k < KINDS; k++)
    if (name && strcmp(name, names[k]) == 0) {
      *out = (kind)k;
      return EB_OK;
    }
  char all[96];
  eb_text_join(all, sizeof all, names, KINDS, ", ");
  const char *nearest = name ? eb_nearest(name, names, KINDS) : NULL;
  return EB_ERROR(EB_ERR_USAGE, "unknown preconditioner '%s'; valid: %s%s%s%s", name ? name : "",
                  all, nearest ? " (did you mean '" : "", nearest ? nearest : "",
                  nearest ? "'?)" : "");
}

eb_error eb_preconditioner_create(const char *name, const eb_block_matrix *pattern,
                                  eb_preconditioner **out) {
  eb_preconditioner *p;
  kind which = NONE;
  EB_TRY(find_kind(name, &which));
  EB_TRY(EB_NEW(p, 1));
  p->kind = which;
  p->rows = pattern->rows;
  p->blocks = pattern->start[pattern->rows];
  eb_error error = EB_OK;
  if (which == JACOBI) error = EB_NEW(p->inverse, 3 * (size_t)p->rows);
  if (which == BLOCK_JACOBI) error = EB_NEW(p->inverse, 9 * (size_t)p->rows);
  if (which == INCOMPLETE) error = create_incomplete(pattern, &p->ic);
  if (error)
    eb_preconditioner_destroy(p);
  else
    *out = p;
  return error;
}

void eb_preconditioner_set_matrix(eb_preconditioner *p, const eb_block_matrix *A, bool *definite) {
  int bad = 0;
  if (p->kind == INCOMPLETE) bad = !factor_incomplete(p->ic, A);
  if (p->kind == JACOBI || p->kind == BLOCK_JACOBI) {
    bool blocks = p->kind == BLOCK_JACOBI;
#pragma omp parallel for schedule(static) reduction(| : bad) if (p->rows >= PARALLEL_FROM)
    for (int32_t i = 0; i < p->rows; i++) {
      const double *a = A->values + 9 * (int64_t)A->diagonal[i];
      const double diagonal[3] = {a[0], a[4], a[8]};
      for (int r = 0; r < 3 && !blocks; r++) {
        bad |= !(diagonal[r] > 0);
        p->inverse[3 * (int64_t)i + r] = 1 / diagonal[r];
      }
      if (blocks) bad |= !eb_block3_inverse_factor(a, diagonal, 0, p->inverse + 9 * (int64_t)i);
    }
  }
  *definite = !bad;
}

void eb_preconditioner_apply(eb_preconditioner *p, const double *r, double *z) {
  const int64_t n = 3 * (int64_t)p->rows;
  switch (p->kind) {
  case JACOBI:
#pragma omp parallel for simd schedule(static) if (p->rows >= PARALLEL_FROM)
    for (int64_t k = 0; k < n; k++) z[k] = p->inverse[k] * r[k];
    break;
  case BLOCK_JACOBI:
#pragma omp parallel for schedule(static) if (p->rows >= PARALLEL_FROM)
    for (int32_t i = 0; i < p->rows; i++) {
      const double *w = p->inverse + 9 * (int64_t)i;
      double y[3];
      eb_block3_lower(w, r + 3 * (int64_t)i, y);
      eb_block3_lower_transposed(w, y, z + 3 * (int64_t)i);
    }
    break;
  case INCOMPLETE:
    solve_incomplete(p->ic, r, z);
    break;
  default:
    memcpy(z, r, (size_t)n * sizeof *z);
  }
}

double eb_preconditioner_flops(const eb_preconditioner *p) {
  const double a_row[KINDS] = {0, 3, 21, 36}; /* IC: two inverse pivots; off-diagonal blocks 18 */
  return a_row[p->kind] * p->rows + (p->kind == INCOMPLETE ? 18.0 * (p->blocks - p->rows) : 0);
}

void eb_preconditioner_destroy(eb_preconditioner *p) {
  if (!p) return;
  destroy_incomplete(p->ic);
  free(p->inverse);
  free(p);
}
