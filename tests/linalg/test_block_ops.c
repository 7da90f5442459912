/* Product, Dirichlet rows and reductions of 3x3-block matrices. */
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/symmetric.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/dense.h"
#include "tests/tap.h"

static double largest_difference(int64_t n, const double *x, const double *y) {
  double largest = 0;
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, fabs(x[k] - y[k]));
  return largest;
}

static void dense_product(int64_t n, const double *dense, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) {
    y[i] = 0;
    for (int64_t j = 0; j < n; j++) y[i] += dense[i * n + j] * x[j];
  }
}

/* Rows of some tens of entries of size 1: rounding stays below 1e-13. */
static void test_product(void) {
  uint64_t seed = 11;
  for (int32_t rows = 2; rows < 90; rows += 29) {
    owned(eb_block_matrix) *A = eb_test_random_matrix(rows, 5 + (uint64_t)rows);
    int64_t n = 3 * (int64_t)rows;
    /* Off the diagonal blocks need not mirror each other for a product. */
    for (int64_t k = 0; k < 9 * (int64_t)A->start[rows]; k++) A->values[k] = eb_test_random(&seed);
    owned(double) *dense = dense_of_blocks(A), *x = eb_test_random_vector(n, &seed);
    owned(double) *y = eb_test_random_vector(n, &seed), *want = eb_test_random_vector(n, &seed);
    eb_block_multiply(A, x, y);
    dense_product(n, dense, x, want);
    tap_below(largest_difference(n, y, want), 1e-13, "product equals the dense one");
  }
}

/* The product of a row must not see values outside its blocks. */
static void test_product_locality(void) {
  uint64_t seed = 3;
  owned(eb_block_matrix) *A = eb_test_bar(3, 2, 2, 0.1, 0.3, NULL);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *x = eb_test_random_vector(n, &seed), *y = eb_test_random_vector(n, &seed);
  x[n - 1] = NAN;
  eb_block_multiply(A, x, y);
  int wrong = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    bool reached = eb_block_matrix_find(A, i, A->rows - 1) >= 0;
    for (int r = 0; r < 3; r++) wrong += (isnan(y[3 * i + r]) != 0) != reached;
  }
  tap_ok(wrong == 0, "a NaN reaches exactly the rows that multiply it");
}

static bool same_bits(const void *a, const void *b, size_t bytes) {
  return memcmp(a, b, bytes) == 0;
}

static void test_threads(void) {
  uint64_t seed = 3;
  eb_block_matrix *A = eb_test_bar(50, 12, 12, 0.1, 0.3, NULL); /* enough blocks for a team */
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *x = eb_test_random_vector(n, &seed), *y = eb_test_random_vector(n, &seed);
  owned(double) *z = eb_test_random_vector(n, &seed);
  int before = omp_get_max_threads();
  omp_set_num_threads(1);
  eb_block_multiply(A, x, y);
  double dot = eb_dot(n, x, y), norm = eb_norm(n, x);
  for (int threads = 2; threads <= 3; threads++) {
    omp_set_num_threads(threads);
    eb_block_multiply(A, x, z);
    double again = eb_dot(n, x, z), norm_again = eb_norm(n, x);
    tap_ok(same_bits(y, z, (size_t)n * sizeof *y), "product: same bits with %d threads", threads);
    tap_ok(same_bits(&dot, &again, sizeof dot) && same_bits(&norm, &norm_again, sizeof norm),
           "dot and norm of %lld entries: same bits with %d threads", (long long)n, threads);
  }
  omp_set_num_threads(before);
  eb_block_matrix_destroy(A);
}

/* Against sums in extended precision; pairs of random signs, so relative to the sum of sizes. */
static void test_dot(void) {
  static const int64_t lengths[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 100003};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    int64_t n = lengths[l];
    uint64_t seed = 17 + l;
    owned(double) *x = eb_test_random_vector(n, &seed), *y = eb_test_random_vector(n, &seed);
    long double dot = 0, square = 0;
    for (int64_t k = 0; k < n; k++) {
      dot += (long double)x[k] * y[k];
      square += (long double)x[k] * x[k];
    }
    tap_near(eb_dot(n, x, y), (double)dot, 1e-15 * (double)(n + 1), "dot product");
    tap_near(eb_norm(n, x), sqrt((double)square), 1e-14 * sqrt((double)n + 1), "norm");
  }
}

static void test_norm_range(void) {
  double big[3] = {3e200, 0, 4e200}, small[3] = {3e-200, -4e-200, 0};
  double bad[3] = {1, NAN, INFINITY}, infinite[3] = {1, -INFINITY, 0}, zero[3] = {0, 0, 0};
  tap_near(eb_norm(3, big) / 5e200, 1, 1e-15, "norm of entries whose squares overflow");
  tap_near(eb_norm(3, small) / 5e-200, 1, 1e-15, "norm of entries whose squares underflow");
  tap_ok(isnan(eb_norm(3, bad)), "norm of NaN is NaN");
  tap_ok(isinf(eb_norm(3, infinite)), "norm of infinity is infinite");
  tap_ok(eb_norm(3, zero) == 0 && eb_norm(0, zero) == 0, "norm of zeros and of nothing is 0");
}

static double asymmetry(const eb_block_matrix *A) {
  owned(double) *dense = dense_of_blocks(A);
  double largest = 0;
  int64_t n = 3 * (int64_t)A->rows;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++)
      largest = fmax(largest, fabs(dense[i * n + j] - dense[j * n + i]));
  return largest;
}

/* The reduced dense system over the free scalars, solved by LAPACK: want holds value at fixed
 * nodes. */
static void reduced_solution(const double *dense, int64_t n, const uint8_t *fixed,
                             const double *value, const double *rhs, double *want) {
  double *matrix, *b;
  int32_t *free_rows, count = 0;
  tap_require(EB_NEW(matrix, (size_t)(n * n)), "dense");
  tap_require(EB_NEW(b, n), "dense");
  tap_require(EB_NEW(free_rows, n), "dense");
  for (int64_t i = 0; i < n; i++)
    if (!fixed[i / 3]) free_rows[count++] = (int32_t)i;
  for (int32_t p = 0; p < count; p++) {
    const double *row = dense + free_rows[p] * n;
    b[p] = rhs[free_rows[p]];
    for (int64_t j = 0; j < n; j++)
      if (fixed[j / 3]) b[p] -= row[j] * value[j];
    for (int32_t q = 0; q < count; q++) matrix[(int64_t)p * count + q] = row[free_rows[q]];
  }
  int info = eb_test_dense_solve(count, matrix, b);
  tap_ok(info == 0, "LAPACK solves the reduced system");
  memcpy(want, value, (size_t)n * sizeof *want);
  for (int32_t p = 0; p < count; p++) want[free_rows[p]] = b[p];
  free(matrix);
  free(b);
  free(free_rows);
}

static void whole_solution(const eb_block_matrix *A, const double *rhs, double *x) {
  int n = 3 * A->rows;
  owned(double) *dense = dense_of_blocks(A);
  memcpy(x, rhs, (size_t)n * sizeof *x);
  int info = eb_test_dense_solve(n, dense, x);
  tap_ok(info == 0, "the constrained matrix is positive definite");
}

/* 1e-9: condition numbers below 1e5, entries of size 1. */
static void check_constrain(eb_block_matrix *A, const uint8_t *fixed, const char *name) {
  uint64_t seed = 23;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *rhs = eb_test_random_vector(n, &seed), *value = eb_test_random_vector(n, &seed);
  owned(double) *x = eb_test_random_vector(n, &seed), *want = eb_test_random_vector(n, &seed);
  owned(double) *dense = dense_of_blocks(A);
  for (int64_t k = 0; k < n; k++)
    if (!fixed[k / 3]) value[k] = 0;
  for (int64_t k = 0; k < n; k++) rhs[k] *= dense[0];
  reduced_solution(dense, n, fixed, value, rhs, want);
  double before = asymmetry(A); /* rounding of the assembly */
  eb_block_constrain(A, fixed, value, rhs);
  tap_ok(asymmetry(A) <= before, "%s: the matrix stays symmetric", name);
  whole_solution(A, rhs, x);
  tap_below(largest_difference(n, x, want), 1e-9, name);
  int wrong = 0;
  double mean = 0, free_entries = 0;
  for (int64_t k = 0; k < n; k++)
    if (!fixed[k / 3]) mean += dense[k * n + k], free_entries += 1;
  mean = free_entries > 0 ? mean / free_entries : 1;
  for (int64_t k = 0; k < n; k++)
    if (fixed[k / 3]) {
      double diagonal = A->values[9 * (int64_t)A->diagonal[k / 3] + 4 * (k % 3)];
      wrong += !(fabs(diagonal - mean) <= 1e-12 * mean);
    }
  tap_ok(wrong == 0, "%s: fixed rows carry the mean of the free diagonal", name);
}

static void test_constrain(void) {
  uint8_t fixed[60];
  eb_block_matrix *A = eb_test_random_matrix(60, 4);
  for (int i = 0; i < 60; i++) fixed[i] = i % 7 == 0 || i > 50;
  check_constrain(A, fixed, "scattered fixed nodes");
  eb_block_matrix_destroy(A);

  A = eb_test_bar(4, 2, 2, 0.1, 0.4, NULL);
  for (int i = 0; i < A->rows; i++) fixed[i] = i % 5 == 4;
  check_constrain(A, fixed, "the face of a bar");
  eb_block_matrix_destroy(A);

  A = eb_test_random_matrix(5, 4);
  memset(fixed, 0, sizeof fixed);
  check_constrain(A, fixed, "no fixed node");
  memset(fixed, 1, sizeof fixed);
  check_constrain(A, fixed, "every node fixed");
  eb_block_matrix_destroy(A);
}

/* Two products one after the other, parts in any order: mirror images are taken and cleared. */
static void check_symmetric(const eb_block_matrix *A, const int32_t *part, const char *name) {
  uint64_t seed = 17;
  const int64_t n = 3 * (int64_t)A->rows;
  owned(double) *x = eb_test_random_vector(n, &seed), *y = eb_test_random_vector(n, &seed);
  owned(double) *want = eb_test_random_vector(n, &seed);
  double largest = 0, off = 0;
  eb_symmetric *half = NULL;
  tap_require(eb_symmetric_create(A, part, &half), "create");
  eb_symmetric_set(half, A);
  eb_block_multiply(A, x, want);
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, fabs(want[k]));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = EB_SYMMETRIC_PARTS - 1; k >= 0; k--) {
      int32_t middle = part[k] + (part[k + 1] - part[k]) / 3;
      eb_symmetric_multiply_rows(half, part[k], middle, x, y);
      eb_symmetric_multiply_rows(half, middle, part[k + 1], x, y);
    }
    off = fmax(off, largest_difference(n, y, want));
  }
  tap_below(off, 1e-14 * largest, name); /* a row adds up some 50 terms */
  eb_symmetric_destroy(half);
}

static void test_symmetric(void) {
  enum { PARTS = EB_SYMMETRIC_PARTS };
  owned(eb_block_matrix) *bar = eb_test_bar(9, 5, 4, 0.1, 0.3, NULL),
                         *few = eb_test_random_matrix(5, 3);
  int32_t even[PARTS + 1], whole[PARTS + 1], sparse[PARTS + 1];
  for (int k = 0; k <= PARTS; k++) {
    even[k] = bar->rows * k / PARTS;
    whole[k] = k < 3 ? 0 : bar->rows;
    sparse[k] = few->rows * k / PARTS;
  }
  check_symmetric(bar, even, "half a matrix has the whole one's products");
  check_symmetric(bar, whole, "in one part too");
  check_symmetric(few, sparse, "and with more parts than rows");
  eb_symmetric_destroy(NULL);
}

/* Without values the fixed rows of the right-hand side become 0 and nothing moves to the free
 * rows. */
static void test_constrain_zero(void) {
  uint64_t seed = 2;
  owned(eb_block_matrix) *A = eb_test_random_matrix(20, 4);
  owned(double) *rhs = eb_test_random_vector(60, &seed);
  double copy[60];
  uint8_t fixed[20] = {0, 1, 0, 1};
  memcpy(copy, rhs, sizeof copy);
  eb_block_constrain(A, fixed, NULL, rhs);
  int wrong = 0;
  for (int k = 0; k < 60; k++) wrong += rhs[k] != (fixed[k / 3] ? 0 : copy[k]);
  tap_ok(wrong == 0, "no values mean zeros");
}

int main(void) {
  test_product();
  test_product_locality();
  test_threads();
  test_dot();
  test_norm_range();
  test_constrain();
  test_constrain_zero();
  test_symmetric();
  return tap_done();
}
