/* PETSc behind the front of the linear solvers. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/linear.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/linear_check.h"
#include "tests/tap.h"

/* One system and what is needed to solve it. */
typedef struct fixture {
  eb_block_matrix *A;
  double *positions, *b, *x, *want;
  int64_t n;
  eb_step_log *log;
} fixture;

static eb_linear_settings settings_for(const char *options) {
  return (eb_linear_settings){.kind = "petsc",
                              .petsc_options = options,
                              .rtol = 1e-12,
                              .max_iterations = 2000,
                              .threads = 1};
}

static eb_linear_result solve_with(fixture *f, const eb_linear_settings *settings) {
  eb_step_log_reset(f->log);
  memset(f->x, 0, (size_t)f->n * sizeof *f->x);
  return eb_test_solve(settings, f->A, f->b, f->x, f->log, NULL);
}

/* Every method and matrix format gives LAPACK's solution. |x - want| <= cond(A) rtol |x|: the
 * hundreds of iterations of Jacobi-CG bear witness of a condition number in the thousands, of which
 * the error, spread over all modes, uses little: 1e-10 for rtol = 1e-12. */
static void agrees(fixture *f, const char *options, eb_reason reason) {
  const char *name = options ? options : "no options";
  eb_linear_settings s = settings_for(options);
  s.positions = f->positions;
  eb_linear_result result = solve_with(f, &s);
  tap_ok(result.reason == reason, "%s: outcome %d is %d", name, (int)result.reason, (int)reason);
  tap_below(eb_test_distance(f->n, f->x, f->want), 1e-10, name);
  tap_below(result.residual, 1e-11 * eb_norm(f->n, f->b), "its true residual is reported");
  if (reason != EB_CONVERGED_DIRECT)
    tap_ok(f->log->residual_count == result.iterations + 1 && result.iterations > 0,
           "each of %d residuals is logged", (int)result.iterations + 1);
}

static void test_methods(fixture *f) {
  agrees(f, "-ksp_type cg -pc_type gamg", EB_CONVERGED_RTOL);
  agrees(f, "-pc_type jacobi", EB_CONVERGED_RTOL);
  agrees(f, NULL, EB_CONVERGED_RTOL);
  agrees(f, "-ksp_type cg -pc_type icc -mat_type sbaij", EB_CONVERGED_RTOL);
  agrees(f, "-ksp_type cg -pc_type pbjacobi -mat_type baij", EB_CONVERGED_RTOL);
  agrees(f, "-ksp_type gmres -ksp_gmres_restart 200 -pc_type jacobi", EB_CONVERGED_RTOL);
  agrees(f, "-ksp_type bcgs\t-pc_type ilu", EB_CONVERGED_RTOL);
  agrees(f, "-ksp_type preonly -pc_type cholesky", EB_CONVERGED_DIRECT);
  agrees(f, "-ksp_type preonly -pc_type lu", EB_CONVERGED_DIRECT);
}

enum { SIGNALS = 7 };

/* Handlers of the signals that a watching process reads the cause of an end from. */
static void read_handlers(void (*out[SIGNALS])(int)) {
  static const int signals[SIGNALS] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGINT, SIGTERM, SIGCHLD};
  for (int k = 0; k < SIGNALS; k++) {
    struct sigaction now;
    sigaction(signals[k], NULL, &now);
    out[k] = now.sa_handler;
  }
}

/* On a bar so small that its mass does not matter, multigrid that knows the rigid motions needs
 * fewer iterations. */
static void test_near_null_space(void) {
  uint64_t seed = 9;
  owned(double) *positions = NULL;
  owned(eb_block_matrix) *A = eb_test_bar(24, 6, 6, 1e-3, 0.3, &positions);
  int64_t n = 3 * (int64_t)A->rows, iterations[2];
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  eb_linear_settings s = settings_for("-ksp_type cg -pc_type gamg");
  s.rtol = 1e-8;
  for (int k = 0; k < 2; k++) {
    memset(x, 0, (size_t)n * sizeof *x);
    s.positions = k ? positions : NULL;
    eb_linear_result result = eb_test_solve(&s, A, b, x, NULL, NULL);
    iterations[k] = result.iterations;
    tap_ok(result.reason == EB_CONVERGED_RTOL, "multigrid converges");
  }
  tap_ok(iterations[1] < iterations[0], "rigid motions: %d iterations instead of %d",
         (int)iterations[1], (int)iterations[0]);
}

/* Two solvers at once keep their own options. */
static void test_side_by_side(fixture *f) {
  owned(eb_linear) *one = NULL, *two = NULL;
  eb_reason reason = EB_RUNNING;
  eb_linear_result a = {.reason = EB_RUNNING}, b = a;
  eb_linear_settings s = settings_for("-ksp_type preonly -pc_type lu");
  tap_require(eb_linear_create(&s, f->A, NULL, &one), "create");
  s.petsc_options = "-ksp_type cg -pc_type none -ksp_max_it 1";
  tap_require(eb_linear_create(&s, f->A, NULL, &two), "create");
  tap_require(eb_linear_set_matrix(one, f->A, NULL, &reason), "set");
  tap_require(eb_linear_set_matrix(two, f->A, NULL, &reason), "set");
  tap_require(eb_linear_solve(one, f->b, f->x, NULL, true, &a), "solve");
  memset(f->x, 0, (size_t)f->n * sizeof *f->x);
  tap_require(eb_linear_solve(two, f->b, f->x, NULL, true, &b), "solve");
  tap_ok(a.reason == EB_CONVERGED_DIRECT && b.reason == EB_DIVERGED_MAX_IT && b.iterations == 1,
         "solvers side by side keep their own options");
}

/* A second matrix of the same pattern: twice the first, so half the solution. */
static void test_new_values(fixture *f) {
  owned(eb_linear) *linear = NULL;
  eb_reason reason = EB_RUNNING;
  eb_linear_result result = {.reason = EB_RUNNING};
  owned(eb_block_matrix) *twice = NULL;
  eb_linear_settings s = settings_for("-ksp_type preonly -pc_type cholesky");
  tap_require(eb_block_matrix_like(f->A, &twice), "like");
  for (int64_t k = 0; k < 9 * (int64_t)f->A->start[f->A->rows]; k++)
    twice->values[k] = 2 * f->A->values[k];
  tap_require(eb_linear_create(&s, f->A, NULL, &linear), "create");
  tap_require(eb_linear_set_matrix(linear, f->A, NULL, &reason), "set");
  tap_require(eb_linear_set_matrix(linear, twice, NULL, &reason), "set again");
  tap_require(eb_linear_solve(linear, f->b, f->x, NULL, false, &result), "solve");
  for (int64_t k = 0; k < f->n; k++) f->x[k] *= 2;
  tap_below(eb_test_distance(f->n, f->x, f->want), 1e-10, "a second matrix replaces the first");
}

static bool is_zero(int64_t n, const double *x) {
  for (int64_t k = 0; k < n; k++)
    if (x[k] != 0) return false;
  return true;
}

/* Of a matrix that is large enough, whose values are written anew before each of two solves. */
static void test_spent(bool spends) {
  owned(eb_block_matrix) *A = eb_test_bar(45, 20, 18, 1e-3, 0.3, NULL), *kept = NULL;
  const int64_t n = 3 * (int64_t)A->rows, entries = 9 * (int64_t)A->start[A->rows];
  enum { PAGE = 4096 / sizeof(double) }; /* may be left at either end */
  uint64_t seed = 11;
  owned(eb_linear) *linear = NULL;
  eb_reason reason = EB_RUNNING;
  eb_linear_result result;
  eb_linear_settings s = settings_for("-ksp_type cg -pc_type jacobi");
  s.rtol = 1e-3;
  s.spends_matrix = spends;
  owned(double) *b = eb_test_random_vector(n, &seed), *x = eb_test_random_vector(n, &seed);
  owned(double) *r = eb_test_random_vector(n, &seed);
  tap_require(eb_block_matrix_like(A, &kept), "like");
  memcpy(kept->values, A->values, (size_t)entries * sizeof *A->values);
  tap_require(eb_linear_create(&s, A, NULL, &linear), "create");
  for (int round = 1; round <= 2; round++) {
    for (int64_t k = 0; k < entries; k++) A->values[k] = round * kept->values[k];
    memset(x, 0, (size_t)n * sizeof *x);
    tap_require(eb_linear_set_matrix(linear, A, NULL, &reason), "set");
    tap_ok(is_zero(entries - 2 * PAGE, A->values + PAGE) == spends, "values that %s",
           spends ? "may be spent are given back" : "may not are kept");
    tap_require(eb_linear_solve(linear, b, x, NULL, false, &result), "solve");
    eb_block_multiply(kept, x, r);
    for (int64_t k = 0; k < n; k++) r[k] = b[k] - round * r[k];
    tap_ok(result.reason == EB_CONVERGED_RTOL && eb_norm(n, r) <= 1.01e-3 * eb_norm(n, b),
           "and round %d is solved", round);
  }
}

static void test_outcomes(fixture *f) {
  eb_linear_settings s = settings_for("-ksp_type cg -pc_type none");
  s.max_iterations = 3;
  eb_linear_result result = solve_with(f, &s);
  tap_ok(result.reason == EB_DIVERGED_MAX_IT && result.iterations == 3,
         "too few iterations are EB_DIVERGED_MAX_IT");
  s = settings_for("-ksp_type cg -pc_type none");
  s.rtol = 0;
  s.atol = 1e-3;
  result = solve_with(f, &s);
  tap_ok(result.reason == EB_CONVERGED_ATOL && result.residual <= 1.01e-3,
         "the absolute tolerance is kept");

  double *a = f->A->values + 9 * (int64_t)f->A->diagonal[f->A->rows - 1];
  double keep = a[0];
  a[0] = -1e7;
  s = settings_for("-ksp_type cg -pc_type none");
  result = solve_with(f, &s);
  tap_ok(result.reason == EB_DIVERGED_BREAKDOWN, "an indefinite matrix stops cg by breakdown");
  a[0] = NAN;
  result = solve_with(f, &s);
  tap_ok(result.reason == EB_DIVERGED_NAN, "a NaN in the matrix is EB_DIVERGED_NAN");
  a[0] = keep;
}

static eb_error set_up(fixture *f, const char *options) {
  eb_reason reason = EB_RUNNING;
  eb_linear_result result = {.reason = EB_RUNNING};
  eb_linear_settings s = settings_for(options);
  return eb_test_try_solve(&s, f->A, f->b, f->x, NULL, &reason, &result);
}

static void test_bad_options(fixture *f) {
  tap_fails(set_up(f, "-ksp_tpye cg"), EB_ERR_USAGE, "-ksp_tpye", "a misspelt name is named");
  tap_fails(set_up(f, "-ksp_type cg -pc_type jacobi -pc_gamg_threshold 0.1 -foo"), EB_ERR_USAGE,
            "-pc_gamg_threshold, -foo", "options without effect are named");
  tap_fails(set_up(f, "-ksp_type quick"), EB_ERR_USAGE, "quick", "an unknown method is named");
  tap_fails(set_up(f, "-pc_type magic"), EB_ERR_USAGE, "magic",
            "an unknown preconditioner is named");
  tap_fails(set_up(f, "-ksp_rtol much"), EB_ERR_USAGE, "much", "a malformed number is named");
  tap_fails(set_up(f, "cg"), EB_ERR_USAGE, "'cg'", "a value without a name is refused");
  tap_succeeds(set_up(f, "  -ksp_type cg   -pc_type gamg -mg_levels_ksp_max_it 3 "),
               "options of inner solvers are read");
}

int main(void) {
  void (*before[SIGNALS])(int), (*after[SIGNALS])(int);
  read_handlers(before);
  fixture f = {0};
  uint64_t seed = 7;
  f.A = eb_test_bar(8, 3, 3, 0.025, 0.45, &f.positions);
  f.n = 3 * (int64_t)f.A->rows;
  f.b = eb_test_random_vector(f.n, &seed);
  f.x = eb_test_random_vector(f.n, &seed);
  f.want = eb_test_random_vector(f.n, &seed);
  tap_require(eb_step_log_create(4000, &f.log), "log");
  eb_test_reference(f.A, f.b, f.want);
  test_methods(&f);
  test_side_by_side(&f);
  test_new_values(&f);
  test_spent(false);
  test_spent(true);
  test_outcomes(&f);
  test_bad_options(&f);
  test_near_null_space();
  read_handlers(after);
  tap_ok(memcmp(before, after, sizeof before) == 0,
         "neither PETSc nor MPI leaves signal handlers behind");
  eb_step_log_destroy(f.log);
  eb_block_matrix_destroy(f.A);
  free(f.positions);
  free(f.b);
  free(f.x);
  free(f.want);
  return tap_done();
}
