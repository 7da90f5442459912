/* The direct kinds of linear solvers: the same promises from each. */
#include <malloc.h>
#include <omp.h>
#include <cblas.h>
#include <string.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/linear_check.h"
#include "tests/tap.h"

/* The kind under test. */
static eb_linear_settings direct = {.threads = 1};

/* Condition numbers below 1e5: 1e-10 leaves a factor of ten over rounding. */
static void test_solution(eb_block_matrix *A, const char *name) {
  uint64_t seed = 5;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *want = eb_test_random_vector(n, &seed);
  eb_reason reason = EB_RUNNING;
  eb_test_reference(A, b, want);
  eb_linear_result result = eb_test_solve(&direct, A, b, x, NULL, &reason);
  tap_ok(reason == EB_CONVERGED_DIRECT && result.reason == EB_CONVERGED_DIRECT &&
             result.iterations == 0,
         "%s: %s solved", direct.kind, name);
  tap_below(eb_test_distance(n, x, want), 1e-10, "its solution is LAPACK's");
  eb_block_matrix_destroy(A);
}

/* Two methods that share no code, where LAPACK would be slow. */
static void test_agrees_with_cg(void) {
  uint64_t seed = 6;
  owned(eb_block_matrix) *A = eb_test_bar(20, 8, 8, 0.025, 0.45, NULL);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *y = eb_test_random_vector(n, &seed);
  eb_test_solve(&direct, A, b, x, NULL, NULL);
  static const eb_linear_settings others[] = {
      {.kind = "cg", .preconditioner = "ic", .rtol = 1e-13, .max_iterations = 3000, .threads = 2},
      {.kind = "cg",
       .preconditioner = "block-jacobi",
       .rtol = 1e-13,
       .max_iterations = 3000,
       .threads = 1}};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    memset(y, 0, (size_t)n * sizeof *y);
    eb_linear_result result = eb_test_solve(&others[k], A, b, y, NULL, NULL);
    tap_ok(result.reason > 0, "cg with %s converged", others[k].preconditioner);
    tap_below(eb_test_distance(n, y, x), 1e-10, "and agrees with the direct solution");
  }
}

/* New values in the same solver must give the very bits of a fresh solver. */
static void test_refactor(void) {
  uint64_t seed = 8;
  owned(eb_block_matrix) *A = eb_test_bar(10, 4, 4, 0.025, 0.3, NULL);
  owned(eb_block_matrix) *B = eb_test_bar(10, 4, 4, 0.025, 0.45, NULL);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *y = eb_test_random_vector(n, &seed);
  owned(eb_linear) *linear = NULL;
  eb_linear_result result;
  eb_reason reason;
  owned(eb_step_log) *log = new_log(10);
  tap_require(eb_linear_create(&direct, A, log, &linear), "create");
  tap_require(eb_linear_set_matrix(linear, A, log, &reason), "set");
  tap_require(eb_linear_solve(linear, b, x, log, true, &result), "solve");
  tap_require(eb_linear_set_matrix(linear, B, log, &reason), "set");
  tap_require(eb_linear_solve(linear, b, x, log, true, &result), "solve");
  eb_test_solve(&direct, B, b, y, NULL, NULL);
  tap_ok(memcmp(x, y, (size_t)n * sizeof *x) == 0, "refactored equals fresh, bit by bit");
  tap_ok(log->counters[EB_COUNT_FACTORIZATIONS] == 2 && log->counters[EB_COUNT_SOLVES] == 2,
         "factorizations and solves are counted");
  tap_ok(log->phase_seconds[EB_PHASE_ORDER] > 0 && log->phase_seconds[EB_PHASE_ANALYZE] > 0 &&
             log->phase_seconds[EB_PHASE_FACTOR] > 0 && log->phase_seconds[EB_PHASE_SOLVE] > 0,
         "phases are timed");
  /* A factor needs at least the operations of its n^(3/2) largest front and at most those of a
   * dense one. */
  tap_ok(log->counters[EB_COUNT_FLOPS] > 1e6 &&
             log->counters[EB_COUNT_FLOPS] < 2.0 / 3 * pow((double)n, 3),
         "operations are counted");
  tap_ok(log->residual_count == 0, "a direct method logs no residuals");
}

static eb_reason outcome(eb_linear *linear, const eb_block_matrix *A) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_linear_set_matrix(linear, A, NULL, &reason), "set");
  return reason;
}

/* Bad matrices are outcomes, a solve repeats them, and the solver works again afterwards. */
static void test_outcomes(void) {
  uint64_t seed = 8;
  owned(eb_block_matrix) *A = eb_test_bar(6, 3, 3, 0.025, 0.3, NULL);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *want = eb_test_random_vector(n, &seed);
  double *a = A->values + 9 * (int64_t)A->diagonal[A->rows / 2], keep = a[4];
  owned(eb_linear) *linear = NULL;
  eb_linear_result result;
  tap_require(eb_linear_create(&direct, A, NULL, &linear), "create");
  a[4] = -keep;
  tap_ok(outcome(linear, A) == EB_NOT_POSITIVE_DEFINITE, "a negative pivot");
  tap_require(eb_linear_solve(linear, b, x, NULL, false, &result), "solve");
  tap_ok(result.reason == EB_NOT_POSITIVE_DEFINITE, "a solve without a factor repeats the outcome");
  a[4] = NAN;
  tap_ok(outcome(linear, A) == EB_DIVERGED_NAN, "a NaN in the matrix");
  a[4] = INFINITY;
  tap_ok(outcome(linear, A) == EB_DIVERGED_NAN, "infinity in the matrix");
  a[4] = keep;
  tap_ok(outcome(linear, A) == EB_CONVERGED_DIRECT, "the solver recovers");
  tap_require(eb_linear_solve(linear, b, x, NULL, false, &result), "solve");
  eb_test_reference(A, b, want);
  tap_below(eb_test_distance(n, x, want), 1e-10, "and solves");
  b[0] = NAN;
  tap_require(eb_linear_solve(linear, b, x, NULL, false, &result), "solve");
  tap_ok(result.reason == EB_DIVERGED_NAN, "a NaN on the right-hand side");
}

/* Graph Laplacian kron I: singular by exactly one constant vector a component. */
static void test_singular(void) {
  owned(eb_block_matrix) *A = eb_test_random_matrix(40, 8);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      double *a = A->values + 9 * (int64_t)b;
      memset(a, 0, 9 * sizeof *a);
      a[0] = a[4] = a[8] = b == A->diagonal[i] ? 0.1 * (A->start[i + 1] - A->start[i] - 1) : -0.1;
    }
  owned(eb_linear) *linear = NULL;
  tap_require(eb_linear_create(&direct, A, NULL, &linear), "create");
  tap_ok(outcome(linear, A) == EB_NOT_POSITIVE_DEFINITE,
         "a singular matrix is found, whatever the sign that rounding gives its last pivot");
}

/* A matrix with entries of very different size is no singular one. */
static void test_scales(void) {
  uint64_t seed = 8;
  owned(eb_block_matrix) *A = eb_test_random_matrix(30, 8);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *y = eb_test_random_vector(n, &seed);
  eb_test_solve(&direct, A, b, x, NULL, NULL);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t k = A->start[i]; k < A->start[i + 1]; k++)
      for (int e = 0; e < 9; e++) A->values[9 * k + e] *= ldexp(1, 2 * (i + A->column[k]) - 60);
  for (int64_t k = 0; k < n; k++) b[k] *= ldexp(1, 2 * (int)(k / 3) - 30);
  eb_linear_result result = eb_test_solve(&direct, A, b, y, NULL, NULL);
  for (int64_t k = 0; k < n; k++) y[k] *= ldexp(1, 2 * (int)(k / 3) - 30);
  tap_ok(result.reason == EB_CONVERGED_DIRECT, "rows scaled over 34 decades are factored");
  /* Refinement ends when the residual is small beside the largest rows; entries that belong to
   * others have what digits the float factor gave them, some 7. */
  double bound = strcmp(direct.kind, "cholesky-single") ? 1e-10 : 1e-5;
  tap_below(eb_test_distance(n, y, x), bound, "and solved as well as without the scaling");
}

static void test_settings_restored(void) {
  uint64_t seed = 8;
  owned(eb_block_matrix) *A = eb_test_bar(12, 5, 5, 0.025, 0.3, NULL);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *y = eb_test_random_vector(n, &seed);
  eb_linear_settings two = direct;
  two.threads = 2;
  int threads = omp_get_max_threads(), blas = openblas_get_num_threads();
  int levels = omp_get_max_active_levels();
  openblas_set_num_threads(2);
  omp_set_num_threads(3);
  eb_test_solve(&direct, A, b, x, NULL, NULL);
  eb_test_solve(&two, A, b, y, NULL, NULL);
  tap_ok(omp_get_max_threads() == 3 && omp_get_max_active_levels() == levels &&
             openblas_get_num_threads() == 2,
         "the caller's threads are restored");
  openblas_set_num_threads(blas);
  omp_set_num_threads(threads);
  tap_ok(memcmp(x, y, (size_t)n * sizeof *x) == 0, "same bits with 1 and 2 threads");
}

static void test_no_growth(void) {
  uint64_t seed = 8;
  eb_block_matrix *A = eb_test_bar(12, 5, 5, 0.025, 0.3, NULL);
  int64_t n = 3 * (int64_t)A->rows;
  double *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  eb_linear *linear = NULL;
  eb_linear_result result;
  size_t used[2] = {0, 0};
  tap_require(eb_linear_create(&direct, A, NULL, &linear), "create");
  for (int step = 0; step < 8; step++) {
    outcome(linear, A);
    tap_require(eb_linear_solve(linear, b, x, NULL, false, &result), "solve");
    if (step == 1 || step == 7) used[step == 7] = mallinfo2().uordblks + mallinfo2().hblkhd;
  }
  tap_ok(used[0] == used[1], "memory does not grow with the steps (%zu, %zu)", used[0], used[1]);
  eb_linear_destroy(linear);
  free(b);
  free(x);
  eb_block_matrix_destroy(A);
}

static void test_kind(const char *kind) {
  direct.kind = kind;
  test_solution(eb_test_random_matrix(80, 1), "random");
  test_solution(eb_test_random_matrix(1, 1), "one node");
  test_solution(eb_test_random_matrix(2, 1), "two nodes");
  test_solution(eb_test_bar(7, 3, 3, 0.025, 0.45, NULL), "bar");
  test_agrees_with_cg();
  test_refactor();
  test_outcomes();
  test_singular();
  test_scales();
  test_settings_restored();
  test_no_growth();
}

int main(void) {
  test_kind("cholesky");
  test_kind("cholesky-single");
  test_kind("cholmod");
  return tap_done();
}
