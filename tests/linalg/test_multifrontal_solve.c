/* Solves with the multifrontal factor against CHOLMOD's factor and LAPACK. */
#include <malloc.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/multifrontal.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/linear_check.h"
#include "tests/support/sparse_factor.h"
#include "tests/tap.h"

static const eb_multifrontal_settings plain = {.threads = 1};

static eb_reason solve(eb_multifrontal *factor, int32_t count, const double *b, double *x) {
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_solve(factor, count, b, x, NULL, &reason), "solve");
  return reason;
}

static bool same_bits(int64_t n, const double *x, const double *y) {
  return memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

/* Plain substitution with CHOLMOD's factor in the same order. */
static void reference(const eb_test_factor *L, const eb_supernodes *tree, const double *b,
                      double *x) {
  int32_t n = L->columns;
  owned(double) *y = malloc(sizeof *y * (size_t)(n + 1));
  if (!y) exit(1);
  for (int32_t k = 0; k < n; k++) y[k] = b[3 * tree->order[k / 3] + k % 3];
  for (int32_t k = 0; k < n; k++) {
    y[k] /= L->value[L->start[k]];
    for (int64_t e = L->start[k] + 1; e < L->start[k + 1]; e++) y[L->row[e]] -= L->value[e] * y[k];
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    for (int64_t e = L->start[k] + 1; e < L->start[k + 1]; e++) y[k] -= L->value[e] * y[L->row[e]];
    y[k] /= L->value[L->start[k]];
  }
  for (int32_t k = 0; k < n; k++) x[3 * tree->order[k / 3] + k % 3] = y[k];
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Diagonally dominant matrices and the bar have condition numbers below 1e4, for which 1e-12 is a
 * factor of ten above rounding. */
static void test_cholmod(eb_block_matrix *A, const char *name) {
  static const int32_t counts[] = {1, 2, 3, 7, 64};
  uint64_t seed = 4;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(64 * n, &seed),
                *x = eb_test_random_vector(64 * n, &seed);
  owned(double) *want = eb_test_random_vector(64 * n, &seed);
  double worst = 0;
  owned(eb_multifrontal) *factor = eb_test_factored(&plain, A);
  const eb_supernodes *tree = eb_multifrontal_supernodes(factor);
  owned(eb_test_factor) L = eb_test_cholmod(A, tree);
  bool solved = true;
  for (int32_t r = 0; r < 64; r++) reference(&L, tree, b + r * n, want + r * n);
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    memset(x, 0xff, sizeof *x * (size_t)(64 * n)); /* NaN */
    solved &= solve(factor, counts[k], b, x) == EB_CONVERGED_DIRECT;
    for (int32_t r = 0; r < counts[k]; r++)
      worst = fmax(worst, eb_test_distance(n, x + r * n, want + r * n));
    for (int64_t i = counts[k] * n; i < 64 * n; i++) solved &= isnan(x[i]);
  }
  tap_ok(solved, "%s: solved for 1 to 64 right-hand sides, and nothing else is written", name);
  tap_below(worst, 1e-12, "the solutions are CHOLMOD's");
  memcpy(want, b, sizeof *b * (size_t)(64 * n));
  solve(factor, 64, want, want);
  tap_ok(same_bits(64 * n, x, want), "and the same bits in the place of the right-hand sides");
  eb_block_matrix_destroy(A);
}

static void test_lapack(void) {
  uint64_t seed = 7;
  owned(eb_block_matrix) *A = eb_test_random_matrix(150, 3);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *want = eb_test_random_vector(n, &seed);
  owned(eb_multifrontal) *factor = eb_test_factored(&plain, A);
  eb_test_reference(A, b, want);
  solve(factor, 1, b, x);
  tap_below(eb_test_distance(n, x, want), 1e-12, "a random graph: the solution is LAPACK's");
}

/* One right-hand side, then `count` of them, from a factor of its own; x has room for both. */
static void solve_afresh(const eb_multifrontal_settings *settings, const eb_block_matrix *A,
                         int32_t count, const double *b, double *x) {
  owned(eb_multifrontal) *factor = eb_test_factored(settings, A);
  solve(factor, 1, b, x);
  solve(factor, count, b, x + 3 * (int64_t)A->rows);
}

static void test_threads(eb_block_matrix *A, const char *name, bool single) {
  uint64_t seed = 9;
  int32_t count = single ? 2 : 40;
  int64_t n = 3 * (int64_t)A->rows, all = (count + 1) * n;
  owned(double) *b = eb_test_random_vector(all, &seed), *x = eb_test_random_vector(all, &seed);
  owned(double) *want = eb_test_random_vector(all, &seed);
  eb_multifrontal_settings settings = {.threads = 1, .single_precision = single};
  bool same = true;
  solve_afresh(&settings, A, count, b, want);
  for (int run = 0; run < 6; run++) {
    settings.threads = 2 + run % 3;
    settings.keep_updates = (eb_keep_updates)(run / 2);
    solve_afresh(&settings, A, count, b, x);
    same &= same_bits(all, x, want);
  }
  tap_ok(same, "%s: the same bits on 1 to 4 threads%s", name, single ? ", single precision" : "");
  eb_block_matrix_destroy(A);
}

/* ---- single precision ------------------------------------------------------------------------ */

/* Largest residual in units of |A| |x|, which is not above |b| + |r|. */
static double backward_error(const eb_block_matrix *A, const double *b, const double *x) {
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *r = malloc(sizeof *r * (size_t)(n + 1));
  double off = 0, norm = 0, most = 0;
  if (!r) exit(1);
  eb_block_multiply(A, x, r);
  for (int64_t i = 0; i < n; i++) {
    off = fmax(off, fabs(b[i] - r[i]));
    most = fmax(most, fabs(x[i]));
  }
  for (int32_t i = 0; i < A->rows; i++)
    for (int c = 0; c < 3; c++) {
      double sum = 0;
      for (int32_t k = A->start[i]; k < A->start[i + 1]; k++)
        for (int d = 0; d < 3; d++) sum += fabs(A->values[9 * (int64_t)k + 3 * c + d]);
      norm = fmax(norm, sum);
    }
  return off / (norm * most);
}

static void test_single(eb_block_matrix *A, const char *name) {
  const eb_multifrontal_settings single = {.threads = 1, .single_precision = true};
  const double scales[] = {1, 1e-200, 1e200};
  uint64_t seed = 5;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(3 * n, &seed), *x = eb_test_random_vector(3 * n, &seed);
  owned(double) *want = eb_test_random_vector(3 * n, &seed);
  double worst = 0;
  owned(eb_multifrontal) *in_double = eb_test_factored(&plain, A),
                         *in_float = eb_test_factored(&single, A);
  for (int64_t i = 0; i < 3 * n; i++) b[i] *= scales[i / n];
  bool solved = solve(in_double, 3, b, want) > 0;
  solved &= solve(in_float, 3, b, x) == EB_CONVERGED_DIRECT;
  for (int r = 0; r < 3; r++) worst = fmax(worst, eb_test_distance(n, x + r * n, want + r * n));
  tap_ok(solved, "%s: a factor in float solves, whatever the scale", name);
  tap_below(worst, 1e-12, "to double accuracy");
  memcpy(want, b, sizeof *b * (size_t)(3 * n));
  solve(in_float, 3, want, want);
  tap_ok(same_bits(3 * n, x, want), "also in place");
  memset(b, 0, sizeof *b * (size_t)n);
  bool zero = solve(in_float, 1, b, x) == EB_CONVERGED_DIRECT;
  for (int64_t i = 0; i < n; i++) zero &= x[i] == 0;
  tap_ok(zero, "zero gives zero");
  eb_block_matrix_destroy(A);
}

/* Graph Laplacian of the pattern, three times, plus `shift` on the diagonal: condition number some
 * ten / shift. */
static eb_block_matrix *laplacian(double shift) {
  eb_block_matrix *A = eb_test_grid(6, 6, 6, 1);
  memset(A->values, 0, sizeof *A->values * 9 * (size_t)A->start[A->rows]);
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int c = 0; c < 3; c++)
        A->values[9 * (int64_t)b + 4 * c] =
            A->column[b] == i ? A->start[i + 1] - A->start[i] - 1 + shift : -1;
  return A;
}

/* Whatever the condition number, the outcome is a refusal or a solution that is as good as doubles
 * give. */
static void test_ill_conditioned(void) {
  const eb_multifrontal_settings single = {.threads = 1, .single_precision = true};
  int solved = 0, refused = 0;
  double worst = 0;
  for (int digits = 0; digits < 13; digits++) {
    owned(eb_block_matrix) *A = laplacian(pow(10, -digits));
    uint64_t seed = 5;
    int64_t n = 3 * (int64_t)A->rows;
    owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
    owned(eb_multifrontal) *factor = NULL;
    eb_reason reason = EB_RUNNING;
    tap_require(eb_multifrontal_create(&single, A, NULL, &factor), "create");
    tap_require(eb_multifrontal_factor(factor, A, NULL, &reason), "factor");
    if (reason > 0) reason = solve(factor, 1, b, x);
    if (reason > 0) worst = fmax(worst, backward_error(A, b, x));
    solved += reason > 0;
    refused += reason == EB_NOT_POSITIVE_DEFINITE || reason == EB_DIVERGED_LINEAR_SOLVE;
  }
  tap_ok(solved >= 4 && refused >= 3 && solved + refused == 13,
         "ill-conditioned systems are solved or refused (%d solved, %d refused)", solved, refused);
  tap_below(worst, 16 * 2.3e-16, "what is solved has a residual of some eps |A| |x|");
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void test_outcomes(bool single) {
  const eb_multifrontal_settings settings = {.threads = 1, .single_precision = single};
  const char *name = single ? "float" : "double";
  uint64_t seed = 8;
  owned(eb_block_matrix) *A = eb_test_grid(4, 4, 4, 2);
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(3 * n, &seed), *x = eb_test_random_vector(3 * n, &seed);
  owned(double) *want = eb_test_random_vector(3 * n, &seed);
  owned(eb_multifrontal) *factor = NULL;
  eb_reason reason = EB_RUNNING;
  tap_require(eb_multifrontal_create(&settings, A, NULL, &factor), "create");
  tap_fails(eb_multifrontal_solve(factor, 1, b, x, NULL, &reason), EB_ERR_USAGE, "no factor",
            "a solve before the first factorization");
  tap_require(eb_multifrontal_factor(factor, A, NULL, &reason), "factor");
  tap_fails(eb_multifrontal_solve(factor, -1, b, x, NULL, &reason), EB_ERR_USAGE, "right-hand",
            "a negative number of right-hand sides");
  tap_fails(eb_multifrontal_solve_rows(factor, 3, 2, b, x, NULL, &reason), EB_ERR_USAGE,
            "right-hand", "rows that are too short");
  memcpy(x, want, sizeof *x * (size_t)(3 * n));
  tap_ok(solve(factor, 0, b, x) == EB_CONVERGED_DIRECT && same_bits(3 * n, x, want),
         "%s: none are solved at once", name);
  solve(factor, 3, b, want);
  for (int k = 0; k < 2; k++) {
    double keep = b[n + 7];
    b[n + 7] = k ? NAN : INFINITY;
    tap_ok(solve(factor, 3, b, x) == EB_DIVERGED_NAN, "%s in the second right-hand side",
           k ? "NaN" : "infinity");
    b[n + 7] = keep;
  }
  tap_ok(solve(factor, 3, b, x) > 0 && same_bits(3 * n, x, want), "does not outlive the solve");
  double *a = A->values + 9 * (int64_t)A->diagonal[A->rows / 2], keep = a[4];
  a[4] = -keep;
  tap_require(eb_multifrontal_factor(factor, A, NULL, &reason), "factor");
  tap_fails(eb_multifrontal_solve(factor, 1, b, x, NULL, &reason), EB_ERR_USAGE, "no factor",
            "a solve after a factorization that failed");
  a[4] = keep;
  tap_require(eb_multifrontal_factor(factor, A, NULL, &reason), "factor");
  tap_ok(solve(factor, 3, b, x) > 0 && same_bits(3 * n, x, want), "one that succeeds mends it");
}

static void test_empty(void) {
  int32_t start[1] = {0}, nothing[1] = {0};
  double value[1] = {0}, b[1] = {5}, x[1] = {7};
  eb_block_matrix A = {.start = start, .column = nothing, .diagonal = nothing, .values = value};
  for (int single = 0; single < 2; single++) {
    eb_multifrontal_settings settings = {.threads = 2, .single_precision = single};
    owned(eb_multifrontal) *factor = eb_test_factored(&settings, &A);
    tap_ok(solve(factor, 2, b, x) == EB_CONVERGED_DIRECT && x[0] == 7, "a matrix without rows");
  }
}

static double in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

static void test_cost(bool single) {
  const eb_multifrontal_settings settings = {.threads = 1, .single_precision = single};
  uint64_t seed = 8;
  eb_block_matrix *A = eb_test_grid(8, 5, 5, 2);
  int64_t n = 3 * (int64_t)A->rows;
  double *b = eb_test_random_vector(5 * n, &seed), *x = eb_test_random_vector(5 * n, &seed);
  eb_reason reason;
  eb_multifrontal *factor = eb_test_factored(&settings, A);
  eb_step_log *log = new_log(1);
  double before = in_use();
  tap_require(eb_multifrontal_solve_rows(factor, 5, 5, b, x, NULL, &reason), "rows");
  tap_require(eb_multifrontal_solve(factor, 5, b, x, log, &reason), "solve");
  tap_ok(in_use() == before, "a solve allocates nothing");
  double passes = log->counters[EB_COUNT_FLOPS] / (4.0 * (double)eb_multifrontal_entries(factor));
  /* Well conditioned: each pass of refinement gains some six digits, so two or three are enough,
   * four at most. */
  tap_ok(single ? passes >= 10 && passes <= 20 : passes == 5, "operations are counted: %g passes",
         passes);
  eb_step_log_destroy(log);
  eb_multifrontal_destroy(factor);
  eb_block_matrix_destroy(A);
  free(b);
  free(x);
}

int main(void) {
  /* Before there are teams, whose threads give memory back whenever they end. */
  test_cost(false);
  test_cost(true);
  eb_test_graphs(test_cholmod);
  test_lapack();
  test_threads(eb_test_solid(14, 4), "solid", false);
  test_threads(eb_test_solid(14, 4), "solid", true);
  test_threads(eb_test_grid(40, 40, 1, 4), "sheet", false);
  test_threads(eb_test_islands(6, 6, 6, 5, 30, 5), "disconnected", false);
  test_single(eb_test_grid(12, 12, 5, 3), "block");
  test_single(eb_test_grid(24, 24, 1, 3), "sheet");
  test_single(eb_test_islands(4, 4, 4, 3, 10, 5), "disconnected");
  test_single(eb_test_random_matrix(1, 1), "one node");
  test_ill_conditioned();
  test_outcomes(false);
  test_outcomes(true);
  test_empty();
  return tap_done();
}
