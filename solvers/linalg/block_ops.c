/* Product, Dirichlet rows and reductions for matrices of 3x3 blocks.
 *
 * Product: each row is one sum in the order of its columns, so the split over threads changes no
 * bit. Dot: the vector is cut into at most EB_PIECES pieces whose length depends on n alone; each
 * piece is summed in 16 interleaved lanes and the pieces are added in order, whoever summed them.
 */
#include "solvers/linalg/block_ops.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/assert.h"
#include "solvers/linalg/block3.h"

enum {
  LANES = 16,              /* independent sums in a piece: hides the latency of the addition */
  PARALLEL_FROM = 30000,   /* shorter vectors are summed faster than a team wakes up */
  PARALLEL_BLOCKS = 100000 /* as are fewer blocks multiplied: 0.15 ms */
};

static void multiply_rows(const eb_block_matrix *A, int32_t from, int32_t to, size_t ahead,
                          const double *x, double *y) {
  for (int32_t i = from; i < to; i++)
    eb_block3_row(A->values, A->column, A->start[i], A->start[i + 1], x, ahead, y + 3 * (int64_t)i);
}

void eb_block_multiply_rows(const eb_block_matrix *A, int32_t from, int32_t to, const double *x,
                            double *y) {
  EB_ASSERT(0 <= from && from <= to && to <= A->rows);
  EB_ASSERT(x != y);
  const size_t ahead = eb_block3_ahead(A->start[A->rows]);
  if (ahead)
    multiply_rows(A, from, to, ahead, x, y);
  else
    multiply_rows(A, from, to, 0, x, y);
}

void eb_block_multiply(const eb_block_matrix *A, const double *x, double *y) {
#pragma omp parallel if (A->start[A->rows] >= PARALLEL_BLOCKS)
  {
    const int64_t thread = omp_get_thread_num(), team = omp_get_num_threads();
    eb_block_multiply_rows(A, (int32_t)(A->rows * thread / team),
                           (int32_t)(A->rows * (thread + 1) / team), x, y);
  }
}

/* With free nodes f and scripted nodes s, A x = b is A_ff x_f = b_f - A_fs x_s: the lift is the
 * second term on the right.
 *
 * The pattern is symmetric, so the rows that hold a fixed node's column are exactly its own
 * neighbours: only these rows are visited, here and below. */
void eb_block_lift(const eb_block_matrix *A, const uint8_t *fixed, const double *value,
                   double *rhs) {
  EB_ASSERT(fixed && value && rhs);
  for (int32_t j = 0; j < A->rows; j++) {
    if (!fixed[j]) continue;
    const double *v = value + 3 * (int64_t)j;
    for (int32_t k = A->start[j]; k < A->start[j + 1]; k++) {
      int32_t i = A->column[k], b = fixed[i] ? -1 : eb_block_matrix_find(A, i, j);
      if (b < 0) continue;
      const double *a = A->values + 9 * (int64_t)b;
      for (int r = 0; r < 3; r++)
        rhs[3 * (int64_t)i + r] -= a[3 * r] * v[0] + a[3 * r + 1] * v[1] + a[3 * r + 2] * v[2];
    }
  }
}

/* The eigenvalues of the constrained matrix are those of A_ff and, for every fixed row, the
 * diagonal there. The mean of A_ff's diagonal is the mean of its eigenvalues, tr A_ff / n, which
 * lies between the least and the largest: the new rows leave the condition number as it is. Ones in
 * their place would not, in units where the stiffness is 1e9. */
double eb_block_free_diagonal(const eb_block_matrix *A, int32_t own, const uint8_t *fixed,
                              const eb_ranks *ranks) {
  EB_ASSERT(0 <= own && own <= A->rows);
  double sum = 0;
  int64_t free_rows = 0;
  for (int32_t i = 0; i < own; i++) {
    if (fixed[i]) continue;
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    sum += a[0] + a[4] + a[8];
    free_rows += 3;
  }
  eb_ranks_sum(ranks, 1, &sum);
  eb_ranks_sum_whole(ranks, 1, &free_rows);
  double mean = free_rows ? sum / (double)free_rows : 1;
  return mean > 0 && isfinite(mean) ? mean : 1;
}

void eb_block_constrain(eb_block_matrix *A, const uint8_t *fixed, const double *value,
                        double *rhs) {
  eb_block_constrain_to(A, fixed, value, rhs, eb_block_free_diagonal(A, A->rows, fixed, NULL));
}

/* x_s = value is said by rows d I x_s = d value. */
void eb_block_constrain_to(eb_block_matrix *A, const uint8_t *fixed, const double *value,
                           double *rhs, double diagonal) {
  EB_ASSERT(A->values && fixed);
  EB_ASSERT(diagonal > 0);
  if (rhs && value) eb_block_lift(A, fixed, value, rhs);
  for (int32_t i = 0; i < A->rows; i++) {
    if (!fixed[i]) continue;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      memset(A->values + 9 * (int64_t)b, 0, 9 * sizeof *A->values);
      int32_t mirror = fixed[j] ? -1 : eb_block_matrix_find(A, j, i);
      if (mirror >= 0) memset(A->values + 9 * (int64_t)mirror, 0, 9 * sizeof *A->values);
    }
    double *block = A->values + 9 * (int64_t)A->diagonal[i];
    block[0] = block[4] = block[8] = diagonal;
    if (!rhs) continue;
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3; k++)
      rhs[k] = value ? diagonal * value[k] : 0;
  }
}

/* Four vectors of sums, as an addition waits some four cycles for the one before it. The error is
 * that of sums of n / (16 pieces) terms, smaller than that of one long sum. */
double eb_dot_piece(int64_t n, const double *x, const double *y) {
  eb_block3_lanes sum[LANES / 4] = {{0}};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES / 4; k++)
      sum[k] += eb_block3_load(x + i + 4 * k) * eb_block3_load(y + i + 4 * k);
  double tail = 0;
  for (; i < n; i++) tail += x[i] * y[i];
  eb_block3_lanes all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return (all[0] + all[1]) + (all[2] + all[3]) + tail;
}

/* n alone decides where the pieces end: with as many pieces as threads the sum would change with
 * their number. */
eb_pieces eb_pieces_of(int64_t n) {
  EB_ASSERT(n >= 0);
  const int64_t whole = 3 * LANES; /* of nodes and of lanes */
  int64_t length = (n + EB_PIECES - 1) / EB_PIECES;
  length = (length + whole - 1) / whole * whole;
  return (eb_pieces){.length = length, .count = length ? (int)((n + length - 1) / length) : 0};
}

/* One chain of at most EB_PIECES additions: together with a piece's n / (16 EB_PIECES) a term goes
 * through few enough of them that the error stays below (n / 4096 + 260) eps |x|.|y|. */
double eb_pieces_sum(eb_pieces pieces, const double *piece) {
  EB_ASSERT(0 <= pieces.count && pieces.count <= EB_PIECES);
  double sum = 0;
  for (int c = 0; c < pieces.count; c++) sum += piece[c];
  return sum;
}

double eb_dot(int64_t n, const double *x, const double *y) {
  double piece[EB_PIECES];
  const eb_pieces pieces = eb_pieces_of(n);
#pragma omp parallel for schedule(static) if (n >= PARALLEL_FROM)
  for (int c = 0; c < pieces.count; c++) {
    int64_t from = c * pieces.length, left = n - from;
    piece[c] = eb_dot_piece(left < pieces.length ? left : pieces.length, x + from, y + from);
  }
  return eb_pieces_sum(pieces, piece);
}

/* The norm of x / scale, for entries whose squares leave the range of doubles.
 *
 * Every x_i / largest is within [-1, 1]: no square overflows, and one that underflows is below
 * 1e-300 of the largest, which is 1. What is infinite or NaN comes back as such, so that the
 * caller's test of the norm sees it. */
static double scaled_norm(int64_t n, const double *x) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i])) return NAN;
    largest = fmax(largest, fabs(x[i]));
  }
  if (largest == 0 || isinf(largest)) return largest;
  for (int64_t i = 0; i < n; i++) sum += (x[i] / largest) * (x[i] / largest);
  return largest * sqrt(sum);
}

double eb_norm_from(double square, int64_t n, const double *x) {
  EB_ASSERT(!(square < 0));
  const double smallest_safe = 1e-290; /* below, squares of entries lose digits to underflow */
  return square > smallest_safe && isfinite(square) ? sqrt(square) : scaled_norm(n, x);
}

double eb_norm(int64_t n, const double *x) {
  return eb_norm_from(eb_dot(n, x, x), n, x);
}
