/* Solves with the multifrontal factor for right-hand sides with few entries, and for some that are
 * stored by rows. */
#include <string.h>

#include "solvers/linalg/multifrontal.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/linear_check.h"
#include "tests/support/sparse_factor.h"
#include "tests/tap.h"

static const eb_multifrontal_settings plain = {.threads = 1};

enum { SIDES = 45, WIDE = 48 };

/* Columns with entries at no node, at one, at a few beside each other in number, or everywhere. */
static double *sparse_sides(const eb_block_matrix *A, uint64_t *seed) {
  int64_t n = 3 * (int64_t)A->rows;
  double *b = eb_test_random_vector(SIDES * n, seed);
  for (int r = 0; r < SIDES; r++) {
    int64_t kind = r < 24 ? r % 3 : r % 4, few = kind == 0 ? 0 : kind == 1 ? 3 : 15;
    int64_t first = 3 * ((r * 7919) % A->rows), last = first + few;
    for (int64_t i = 0; kind < 3 && i < n; i++)
      if (i < first || i >= last) b[r * n + i] = i % 2 ? 0 : -0.0;
  }
  return b;
}

static eb_reason solve(eb_multifrontal *factor, int32_t count, const double *b, double *x) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_solve(factor, count, b, x, NULL, &reason), "solve");
  return reason;
}

static eb_reason solve_rows(eb_multifrontal *factor, int32_t count, int64_t stride, const double *b,
                            double *x) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_solve_rows(factor, count, stride, b, x, NULL, &reason), "rows");
  return reason;
}

/* The first `count` columns as rows of `stride`, NaN behind them. */
static double *as_rows(int64_t n, int32_t count, int64_t stride, const double *b) {
  double *rows = malloc(sizeof *rows * (size_t)(n * stride + 1));
  if (!rows) exit(1);
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < stride; r++) rows[i * stride + r] = r < count ? b[r * n + i] : NAN;
  return rows;
}

/* Whether rows hold the numbers of these columns, and NaN behind them. */
static bool rows_equal(int64_t n, int32_t count, int64_t stride, const double *rows,
                       const double *x) {
  bool same = true;
  for (int64_t i = 0; i < n; i++)
    for (int64_t r = 0; r < stride; r++)
      same &= r < count ? rows[i * stride + r] == x[r * n + i] : isnan(rows[i * stride + r]);
  return same;
}

/* Every column with seven others that have entries everywhere, so that nothing is left out for
 * it. */
static void solve_in_company(eb_multifrontal *factor, int64_t n, const double *b, double *x) {
  uint64_t seed = 77;
  owned(double) *eight = eb_test_random_vector(8 * n, &seed),
                *y = eb_test_random_vector(8 * n, &seed);
  for (int r = 0; r < SIDES; r++) {
    memcpy(eight, b + r * n, sizeof *b * (size_t)n);
    solve(factor, 8, eight, y);
    memcpy(x + r * n, y, sizeof *x * (size_t)n);
  }
}

/* The solve with the tree that is left out must add the same numbers in the same order; 1e-14
 * leaves room for compilers that contract multiply-adds differently in kernels of different
 * width. */
static void test_sparse(eb_block_matrix *A, const char *name) {
  static const int32_t counts[] = {1, 8, 13, 31, SIDES};
  uint64_t seed = 4;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = sparse_sides(A, &seed), *x = eb_test_random_vector(SIDES * n, &seed);
  owned(double) *want = eb_test_random_vector(SIDES * n, &seed);
  double worst = 0;
  owned(eb_multifrontal) *factor = eb_test_factored(&plain, A);
  solve_in_company(factor, n, b, want);
  bool solved = true, same = true, in_place = true;
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    int64_t stride = counts[k] + 3 * (int64_t)(k % 2);
    owned(double) *rows = as_rows(n, counts[k], stride, b), *y = as_rows(n, 0, stride, b);
    solved &= solve(factor, counts[k], b, x) == EB_CONVERGED_DIRECT;
    for (int32_t r = 0; r < counts[k]; r++)
      worst = fmax(worst, eb_test_distance(n, x + r * n, want + r * n));
    solved &= solve_rows(factor, counts[k], stride, rows, y) == EB_CONVERGED_DIRECT;
    same &= rows_equal(n, counts[k], stride, y, x);
    solve_rows(factor, counts[k], stride, rows, rows);
    in_place &= rows_equal(n, counts[k], stride, rows, x);
  }
  tap_ok(solved, "%s: right-hand sides with few entries are solved", name);
  tap_below(worst, 1e-14, "as beside others that have entries everywhere");
  tap_ok(same && in_place, "stored by rows they give the same bits, in place too");
  eb_block_matrix_destroy(A);
}

/* Rows of WIDE and one column by itself. */
static void test_sparse_threads(eb_block_matrix *A, const char *name, bool single) {
  uint64_t seed = 9;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = sparse_sides(A, &seed), *rows = as_rows(n, SIDES, WIDE, b);
  owned(double) *x = as_rows(n, 0, WIDE, b), *want = as_rows(n, 0, WIDE, b);
  eb_multifrontal_settings settings = {.threads = 1, .single_precision = single};
  bool same = true, solved = true;
  for (int run = 0; run < 5; run++) {
    settings.threads = 1 + run % 4;
    owned(eb_multifrontal) *factor = eb_test_factored(&settings, A);
    double *to = run == 0 ? want : x;
    solved &= solve_rows(factor, SIDES, WIDE, rows, to) == EB_CONVERGED_DIRECT;
    same &= memcmp(to, want, sizeof *to * (size_t)(n * WIDE)) == 0;
  }
  tap_ok(solved && same, "%s: few entries, the same bits on 1 to 4 threads%s", name,
         single ? ", single precision" : "");
  eb_block_matrix_destroy(A);
}

static double flops_of(eb_multifrontal *factor, int32_t count, const double *b, double *x) {
  eb_reason reason;
  owned(eb_step_log) *log = new_log(1);
  tap_require(eb_multifrontal_solve(factor, count, b, x, log, &reason), "solve");
  return log->counters[EB_COUNT_FLOPS];
}

/* Of eight columns with one entry at the same node only the paths to the root are worked on, which
 * in a solid of 14^3 cubes are less than three quarters of the factor; without entries nothing is
 * done going up, and all of it going down. */
static void test_sparse_cost(void) {
  uint64_t seed = 3;
  owned(eb_block_matrix) *A = eb_test_grid(14, 14, 14, 4);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = calloc((size_t)(8 * n), sizeof *b), *x = eb_test_random_vector(8 * n, &seed);
  if (!b) exit(1);
  owned(eb_multifrontal) *factor = eb_test_factored(&plain, A);
  double pass = 16 * (double)eb_multifrontal_entries(factor), zero = 0;
  double none = flops_of(factor, 8, b, x);
  for (int64_t i = 0; i < 8 * n; i++) zero += fabs(x[i]);
  const eb_supernodes *tree = eb_multifrontal_supernodes(factor);
  for (int r = 0; r < 8; r++) b[r * n + 3 * tree->order[0]] = 1 + r;
  double one = flops_of(factor, 8, b, x);
  for (int r = 0; r < 8; r++) b[r * n + 3 * tree->order[0]] = NAN;
  tap_ok(none == pass && zero == 0, "empty right-hand sides go down the tree only");
  tap_ok(one > pass && one < 1.75 * pass, "one entry: %.2f of the work going up", one / pass - 1);
  tap_ok(solve(factor, 8, b, x) == EB_DIVERGED_NAN, "an entry that is no number is one");
}

int main(void) {
  eb_test_graphs(test_sparse);
  test_sparse_threads(eb_test_solid(14, 4), "solid", false);
  test_sparse_threads(eb_test_grid(40, 40, 1, 4), "sheet", false);
  test_sparse_threads(eb_test_islands(6, 6, 6, 5, 30, 5), "disconnected", false);
  test_sparse_threads(eb_test_grid(9, 9, 9, 4), "block", true);
  test_sparse_cost();
  return tap_done();
}
