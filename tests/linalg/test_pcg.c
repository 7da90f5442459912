/* Preconditioned conjugate gradients. */
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "tests/support/owned.h"
#include "tests/support/block_systems.h"
#include "tests/support/dense.h"
#include "tests/support/linear_check.h"
#include "tests/tap.h"

static const char *const preconditioners[] = {"none", "jacobi", "block-jacobi", "ic"};
enum { PRECONDITIONERS = 4 };

static eb_linear_settings settings_for(const char *preconditioner) {
  return (eb_linear_settings){.kind = "cg",
                              .preconditioner = preconditioner,
                              .rtol = 1e-13,
                              .max_iterations = 5000,
                              .threads = 1};
}

/* A system with its solution by LAPACK. */
typedef struct fixture {
  eb_block_matrix *A;
  double *b, *x, *want;
  int64_t n;
} fixture;

static fixture make_fixture(eb_block_matrix *A) {
  uint64_t seed = 31;
  fixture f = {.A = A, .n = 3 * (int64_t)A->rows};
  f.b = eb_test_random_vector(f.n, &seed);
  f.x = eb_test_random_vector(f.n, &seed);
  f.want = eb_test_random_vector(f.n, &seed);
  eb_test_reference(A, f.b, f.want);
  memset(f.x, 0, (size_t)f.n * sizeof *f.x);
  return f;
}

static void clear_fixture(fixture *f) {
  eb_block_matrix_destroy(f->A);
  free(f->b);
  free(f->x);
  free(f->want);
}
OWNED(fixture, clear_fixture)

static void zero_guess(fixture *f) {
  memset(f->x, 0, (size_t)f->n * sizeof *f->x);
}

/* |x - want| <= cond(A) rtol |x|; 1e-10 for rtol = 1e-13 and condition numbers below 1e5. */
static void test_solutions(eb_block_matrix *A, const char *name) {
  owned(fixture) f = make_fixture(A);
  for (int k = 0; k < PRECONDITIONERS; k++) {
    eb_linear_settings s = settings_for(preconditioners[k]);
    zero_guess(&f);
    eb_linear_result result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
    tap_ok(result.reason == EB_CONVERGED_RTOL, "%s, %s: converged", name, preconditioners[k]);
    tap_below(eb_test_distance(f.n, f.x, f.want), 1e-10, "its solution is LAPACK's");
    tap_below(result.residual, 1e-13 * eb_norm(f.n, f.b), "its residual meets the tolerance");
  }
}

/* A stiff slender bar, where the preconditioner matters. */
static void test_iteration_counts(void) {
  int64_t iterations[PRECONDITIONERS];
  owned(fixture) f = make_fixture(eb_test_bar(20, 4, 4, 0.025, 0.45, NULL));
  for (int k = 0; k < PRECONDITIONERS; k++) {
    eb_linear_settings s = settings_for(preconditioners[k]);
    zero_guess(&f);
    iterations[k] = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL).iterations;
  }
  tap_ok(iterations[1] <= iterations[0], "jacobi (%d) needs no more iterations than none (%d)",
         (int)iterations[1], (int)iterations[0]);
  tap_ok(iterations[2] < iterations[1], "block-jacobi (%d) needs fewer than jacobi",
         (int)iterations[2]);
  tap_ok(3 * iterations[3] < iterations[1], "ic (%d) needs less than a third of jacobi's",
         (int)iterations[3]);
}

/* b - A x */
static double residual_of(const eb_block_matrix *A, const double *b, const double *x) {
  const int64_t n = 3 * (int64_t)A->rows;
  uint64_t seed = 1;
  owned(double) *r = eb_test_random_vector(n, &seed);
  eb_block_multiply(A, x, r);
  for (int64_t i = 0; i < n; i++) r[i] = b[i] - r[i];
  return eb_norm(n, r);
}

/* Residuals logged by the method, against residuals of restarted solves of k iterations. */
static void test_log(void) {
  owned(fixture) f = make_fixture(eb_test_bar(4, 2, 2, 0.025, 0.3, NULL));
  eb_linear_settings s = settings_for("jacobi");
  owned(eb_step_log) *log = new_log(1000);
  eb_linear_result result = eb_test_solve(&s, f.A, f.b, f.x, log, NULL);
  tap_ok(log->residual_count == result.iterations + 1, "first and every later residual is logged");
  tap_ok(log->counters[EB_COUNT_LINEAR_ITERATIONS] == (double)result.iterations &&
             log->counters[EB_COUNT_SOLVES] == 1,
         "iterations and solves are counted");
  tap_ok(log->counters[EB_COUNT_MATVECS] >= (double)result.iterations + 1 &&
             log->counters[EB_COUNT_FLOPS] > 18.0 * f.A->start[f.A->rows],
         "products and operations are counted");
  tap_ok(log->phase_seconds[EB_PHASE_SOLVE] > 0 && log->phase_seconds[EB_PHASE_FACTOR] > 0,
         "phases are timed");
  for (int k = 1; k <= 5; k += 2) {
    s.max_iterations = k;
    zero_guess(&f);
    eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
    tap_near(log->residuals[k], residual_of(f.A, f.b, f.x), 1e-12 * eb_norm(f.n, f.b),
             "a logged residual is that of its iterate");
  }
}

static void test_tolerances(void) {
  owned(fixture) f = make_fixture(eb_test_bar(4, 2, 2, 0.025, 0.3, NULL));
  eb_linear_settings s = settings_for("jacobi");
  s.rtol = 0;
  s.atol = 1e-4;
  eb_linear_result result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason == EB_CONVERGED_ATOL && result.residual <= 1e-4, "absolute tolerance");

  result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason == EB_CONVERGED_ATOL && result.iterations == 0,
         "a good enough guess needs no iteration");

  s.max_iterations = 2;
  zero_guess(&f);
  result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason == EB_DIVERGED_MAX_IT && result.iterations == 2, "iteration limit");

  s = settings_for("block-jacobi");
  s.rtol = 0;
  result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason == EB_CONVERGED_STAGNATED && result.iterations < 5000,
         "a tolerance of 0 ends where doubles end");
  tap_below(result.residual, 1e-14 * eb_norm(f.n, f.b), "with a residual of rounding size");

  s = settings_for("ic");
  for (int64_t k = 0; k < f.n; k++) f.x[k] = f.b[k];
  memset(f.b, 0, (size_t)f.n * sizeof *f.b);
  result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason > 0 && result.iterations == 0 && eb_norm(f.n, f.x) == 0,
         "a zero right-hand side has the solution 0");
}

/* Outcome of solving with one diagonal entry of the bar replaced. */
static eb_linear_result with_entry(fixture *f, const char *preconditioner, double entry) {
  double *a = f->A->values + 9 * (int64_t)f->A->diagonal[f->A->rows / 2], keep = a[0];
  eb_linear_settings s = settings_for(preconditioner);
  a[0] = entry;
  zero_guess(f);
  eb_linear_result result = eb_test_solve(&s, f->A, f->b, f->x, NULL, NULL);
  a[0] = keep;
  return result;
}

static void test_bad_matrices(void) {
  owned(fixture) f = make_fixture(eb_test_bar(4, 2, 2, 0.025, 0.3, NULL));
  tap_ok(with_entry(&f, "none", -1e7).reason == EB_DIVERGED_BREAKDOWN,
         "none: a negative direction is a breakdown");
  for (int k = 1; k < PRECONDITIONERS; k++)
    tap_ok(with_entry(&f, preconditioners[k], -1e7).reason == EB_NOT_POSITIVE_DEFINITE,
           "%s: a negative diagonal shows that the matrix is not definite", preconditioners[k]);
  for (int k = 0; k < PRECONDITIONERS; k++) {
    tap_ok(with_entry(&f, preconditioners[k], NAN).reason == EB_DIVERGED_NAN,
           "%s: a NaN on the diagonal", preconditioners[k]);
    /* Positive diagonal, but far below what its neighbours ask for. */
    eb_reason reason = with_entry(&f, preconditioners[k], 1e-3).reason;
    tap_ok(reason == EB_DIVERGED_BREAKDOWN || reason == EB_NOT_POSITIVE_DEFINITE,
           "%s: indefinite with a positive diagonal (outcome %d)", preconditioners[k], (int)reason);
  }
  f.b[0] = NAN;
  tap_ok(with_entry(&f, "jacobi", 1e3).reason == EB_DIVERGED_NAN, "a NaN on the right-hand side");
  f.b[0] = INFINITY;
  tap_ok(with_entry(&f, "jacobi", 1e3).reason == EB_DIVERGED_NAN, "infinity there");
  f.b[0] = 0;
  f.A->values[9 * (int64_t)f.A->start[f.A->rows / 2] + 1] = NAN;
  tap_ok(with_entry(&f, "jacobi", 1e6).reason == EB_DIVERGED_NAN, "a NaN off the diagonal");
}

/* A free elastic body: K alone has six rigid motions in its kernel. */
static void test_singular(void) {
  owned(fixture) f = make_fixture(eb_test_random_matrix(30, 8));
  /* Graph Laplacian kron I: singular, positive semi-definite; b is not in its range. */
  for (int32_t i = 0; i < f.A->rows; i++)
    for (int32_t b = f.A->start[i]; b < f.A->start[i + 1]; b++) {
      double *a = f.A->values + 9 * (int64_t)b;
      memset(a, 0, 9 * sizeof *a);
      double entry = b == f.A->diagonal[i] ? f.A->start[i + 1] - f.A->start[i] - 1 : -1;
      a[0] = a[4] = a[8] = entry;
    }
  for (int k = 0; k < PRECONDITIONERS; k++) {
    eb_linear_settings s = settings_for(preconditioners[k]);
    s.max_iterations = 500;
    zero_guess(&f);
    eb_linear_result result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
    tap_ok(result.reason < 0 || result.residual > 1e-8,
           "%s: an inconsistent singular system is not called solved (outcome %d)",
           preconditioners[k], (int)result.reason);
  }
}

/* IC(0) breaks down on this matrix (Kershaw 1978), positive definite though it is; as 1x1 entries
 * times the identity. The shifted factorization must still lead to the solution. */
static void test_shift(void) {
  static const double kershaw[4][4] = {
      {3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  static const int32_t ring[8] = {0, 1, 1, 2, 2, 3, 3, 0};
  eb_block_matrix *A = NULL;
  tap_require(eb_block_matrix_create(4, ring, 4, 2, &A), "pattern");
  for (int32_t i = 0; i < 4; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int r = 0; r < 3; r++) A->values[9 * b + 4 * r] = kershaw[i][A->column[b]];
  owned(fixture) f = make_fixture(A);
  eb_linear_settings s = settings_for("ic");
  eb_linear_result result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason == EB_CONVERGED_RTOL, "ic recovers from a breakdown of the factorization");
  tap_below(eb_test_distance(f.n, f.x, f.want), 1e-10, "and the solution is LAPACK's");
}

/* A path has no fill: its incomplete factorization is the exact one, and the first step the
 * solution. */
static void test_exact_factor(void) {
  enum { NODES = 40 };
  int32_t path[2 * (NODES - 1)];
  uint64_t seed = 12;
  eb_block_matrix *A = NULL;
  for (int32_t e = 0; e < NODES - 1; e++) {
    path[2 * e] = e;
    path[2 * e + 1] = e + 1;
  }
  tap_require(eb_block_matrix_create(NODES, path, NODES - 1, 2, &A), "pattern");
  for (int64_t k = 0; k < 9 * (int64_t)A->start[NODES]; k++) A->values[k] = eb_test_random(&seed);
  eb_test_make_dominant(A);
  owned(fixture) f = make_fixture(A);
  eb_linear_settings s = settings_for("ic");
  s.rtol = 1e-12;
  eb_linear_result result = eb_test_solve(&s, f.A, f.b, f.x, NULL, NULL);
  tap_ok(result.reason == EB_CONVERGED_RTOL && result.iterations == 1,
         "without fill the incomplete factorization is exact (%d iterations)",
         (int)result.iterations);
  tap_below(eb_test_distance(f.n, f.x, f.want), 1e-10, "and the solution is LAPACK's");
}

/* What a solve leaves: its last iterate and every residual. */
typedef struct outcome {
  double *x;
  eb_step_log *log;
  eb_linear_result result;
} outcome;

static outcome solve_on(int threads, const char *preconditioner, int iterations,
                        const eb_block_matrix *A, const double *b) {
  outcome o = {.log = NULL};
  eb_linear_settings s = settings_for(preconditioner);
  uint64_t seed = 1;
  s.max_iterations = iterations;
  s.threads = threads;
  o.x = eb_test_random_vector(3 * (int64_t)A->rows, &seed);
  tap_require(eb_step_log_create(iterations + 2, &o.log), "log");
  memset(o.x, 0, 3 * (size_t)A->rows * sizeof *o.x);
  o.result = eb_test_solve(&s, A, b, o.x, o.log, NULL);
  return o;
}

static void clear_outcome(outcome *o) {
  free(o->x);
  eb_step_log_destroy(o->log);
}
OWNED(outcome, clear_outcome)

static bool same_bits(const outcome *a, const outcome *b, int64_t n) {
  return memcmp(a->x, b->x, (size_t)n * sizeof *a->x) == 0 &&
         a->log->residual_count == b->log->residual_count &&
         memcmp(a->log->residuals, b->log->residuals,
                (size_t)a->log->residual_count * sizeof *a->log->residuals) == 0 &&
         memcmp(&a->result.residual, &b->result.residual, sizeof a->result.residual) == 0;
}

/* Three threads, more than some machines have cores, as well as two: shares that differ, and
 * barriers where members sleep. */
static void threads_agree(const eb_block_matrix *A, const char *name) {
  uint64_t seed = 3;
  int64_t n = 3 * (int64_t)A->rows;
  owned(double) *b = eb_test_random_vector(n, &seed);
  int before = omp_get_max_threads();
  for (int k = 0; k < PRECONDITIONERS; k++) {
    owned(outcome) one = solve_on(1, preconditioners[k], 12, A, b);
    for (int threads = 2; threads <= 3; threads++) {
      owned(outcome) more = solve_on(threads, preconditioners[k], 12, A, b);
      tap_ok(same_bits(&one, &more, n), "%s, %s: same bits with 1 and %d threads", name,
             preconditioners[k], threads);
    }
  }
  tap_ok(omp_get_max_threads() == before, "the caller's number of threads is restored");
}

/* Enough blocks for the iteration to take half of them: its residuals are still those of the whole
 * matrix, which residual_of multiplies with. */
static void test_threads(void) {
  enum { ITERATIONS = 12 };
  owned(eb_block_matrix) *bar = eb_test_bar(30, 18, 18, 0.02, 0.4, NULL);
  uint64_t seed = 3;
  owned(double) *b = eb_test_random_vector(3 * (int64_t)bar->rows, &seed);
  threads_agree(bar, "bar");
  for (int k = 0; k < PRECONDITIONERS; k++) {
    owned(outcome) o = solve_on(2, preconditioners[k], ITERATIONS, bar, b);
    tap_near(o.log->residuals[ITERATIONS], residual_of(bar, b, o.x), 1e-12 * o.log->residuals[0],
             "large: the last residual is that of the iterate");
  }
}

/* A path has a row a level: one thread sweeps for all. */
static void test_narrow(void) {
  enum { NODES = 6000 };
  owned(int32_t) *path = malloc(2 * (NODES - 1) * sizeof *path);
  uint64_t seed = 14;
  owned(eb_block_matrix) *A = NULL;
  for (int32_t e = 0; path && e < NODES - 1; e++) {
    path[2 * e] = e;
    path[2 * e + 1] = e + 1;
  }
  tap_require(path ? eb_block_matrix_create(NODES, path, NODES - 1, 2, &A)
                   : EB_ERROR(EB_ERR_MEMORY, "no memory"),
              "pattern");
  for (int64_t k = 0; k < 9 * (int64_t)A->start[NODES]; k++) A->values[k] = eb_test_random(&seed);
  eb_test_make_dominant(A);
  threads_agree(A, "path");
}

/* Rings of four nodes on which IC(0) breaks down (see test_shift), as many as a team is put to. */
static void test_shift_by_team(void) {
  enum { RINGS = 1000, NODES = 4 * RINGS };
  static const double entries[3] = {3, -2, 2}; /* diagonal, neighbours, and where the ring closes */
  owned(int32_t) *edges = malloc(2 * NODES * sizeof *edges);
  owned(eb_block_matrix) *A = NULL;
  for (int32_t e = 0; edges && e < NODES; e++) {
    edges[2 * e] = e;
    edges[2 * e + 1] = e % 4 == 3 ? e - 3 : e + 1;
  }
  tap_require(edges ? eb_block_matrix_create(NODES, edges, NODES, 2, &A)
                    : EB_ERROR(EB_ERR_MEMORY, "no memory"),
              "pattern");
  for (int32_t i = 0; i < NODES; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t apart = abs(i - A->column[b]);
      double scale = 1 + 1e-3 * (double)(i / 4); /* of the ring: one alone takes four iterations */
      for (int r = 0; r < 3; r++)
        A->values[9 * b + 4 * r] = scale * entries[apart == 3 ? 2 : apart];
    }
  threads_agree(A, "rings");
}

/* ---- against the textbook ---- */

/* Dense, row after row, in the order of the nodes. L L^T approximates A on A's blocks alone, for
 * IC(0); otherwise L is diagonal, or its blocks are. */
static void reference_factor(const eb_block_matrix *A, const char *kind, double *L) {
  const int32_t rows = A->rows, n = 3 * rows;
  const bool ic = strcmp(kind, "ic") == 0, jacobi = strcmp(kind, "jacobi") == 0;
  owned(double) *a = dense_of_blocks(A);
  for (int32_t k = 0; k < n; k++)
    for (int32_t i = k; i < n; i++) {
      bool kept = i / 3 == k / 3 || (ic && eb_block_matrix_find(A, i / 3, k / 3) >= 0);
      if (jacobi) kept = i == k;
      double sum = strcmp(kind, "none") ? a[(int64_t)i * n + k] : i == k;
      for (int32_t j = 0; j < k; j++) sum -= L[(int64_t)i * n + j] * L[(int64_t)k * n + j];
      L[(int64_t)i * n + k] = !kept ? 0 : i > k ? sum / L[(int64_t)k * n + k] : sqrt(sum);
    }
}

static void reference_apply(int32_t n, const double *L, const double *r, double *z) {
  for (int32_t i = 0; i < n; i++) {
    z[i] = r[i];
    for (int32_t j = 0; j < i; j++) z[i] -= L[(int64_t)i * n + j] * z[j];
    z[i] /= L[(int64_t)i * n + i];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    for (int32_t j = i + 1; j < n; j++) z[i] -= L[(int64_t)j * n + i] * z[j];
    z[i] /= L[(int64_t)i * n + i];
  }
}

static double plain_dot(int32_t n, const double *x, const double *y) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* Algorithm 9.1 of Saad 2003 from x = 0, loop by loop; norms of r, the first included. */
static void plain_cg(const double *a, const double *L, int32_t n, const double *b, int iterations,
                     double *norms) {
  uint64_t seed = 1;
  owned(double) *r = eb_test_random_vector(n, &seed), *z = eb_test_random_vector(n, &seed);
  owned(double) *p = eb_test_random_vector(n, &seed), *q = eb_test_random_vector(n, &seed);
  double rz = 0;
  memcpy(r, b, (size_t)n * sizeof *r);
  norms[0] = sqrt(plain_dot(n, r, r));
  for (int k = 0; k < iterations; k++) {
    reference_apply(n, L, r, z);
    double next = plain_dot(n, r, z);
    for (int32_t i = 0; i < n; i++) p[i] = k ? z[i] + next / rz * p[i] : z[i];
    rz = next;
    for (int32_t i = 0; i < n; i++) q[i] = plain_dot(n, a + (int64_t)i * n, p);
    double alpha = rz / plain_dot(n, p, q);
    for (int32_t i = 0; i < n; i++) r[i] -= alpha * q[i];
    norms[k + 1] = sqrt(plain_dot(n, r, r));
  }
}

/* Rounding errors grow with the iterations as directions lose their orthogonality: after 25 the
 * norms still agree to 1e-9 of the first. */
static void test_history(void) {
  enum { ITERATIONS = 25 };
  double norms[ITERATIONS + 1];
  uint64_t seed = 5;
  owned(eb_block_matrix) *A = eb_test_bar(9, 3, 3, 0.025, 0.45, NULL);
  int32_t n = 3 * A->rows;
  owned(double) *a = dense_of_blocks(A), *b = eb_test_random_vector(n, &seed);
  owned(double) *L = eb_test_random_vector((int64_t)n * n, &seed);
  for (int k = 0; k < PRECONDITIONERS; k++) {
    owned(outcome) o = solve_on(1, preconditioners[k], ITERATIONS, A, b);
    double worst = 0;
    memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
    reference_factor(A, preconditioners[k], L);
    plain_cg(a, L, n, b, ITERATIONS, norms);
    for (int m = 0; m <= ITERATIONS && m < o.log->residual_count; m++)
      worst = fmax(worst, fabs(o.log->residuals[m] - norms[m]) / norms[0]);
    tap_ok(o.log->residual_count >= ITERATIONS, "%s: every residual is logged", preconditioners[k]);
    tap_below(worst, 1e-9, "and is that of plain conjugate gradients");
  }
}

static void test_no_allocation(void) {
  fixture f = make_fixture(eb_test_bar(4, 2, 2, 0.025, 0.3, NULL));
  for (int k = 0; k < PRECONDITIONERS; k++) {
    eb_linear_settings s = settings_for(preconditioners[k]);
    eb_linear *linear = NULL;
    eb_reason reason = EB_RUNNING;
    eb_linear_result result;
    size_t used[2] = {0, 0};
    tap_require(eb_linear_create(&s, f.A, NULL, &linear), "create");
    for (int step = 0; step < 6; step++) {
      zero_guess(&f);
      tap_require(eb_linear_set_matrix(linear, f.A, NULL, &reason), "set");
      tap_require(eb_linear_solve(linear, f.b, f.x, NULL, false, &result), "solve");
      if (step == 0 || step == 5) used[step == 5] = mallinfo2().uordblks;
    }
    tap_ok(used[0] == used[1], "%s: memory does not grow with the steps", preconditioners[k]);
    eb_linear_destroy(linear);
  }
  clear_fixture(&f);
}

static void test_usage(void) {
  owned(fixture) f = make_fixture(eb_test_random_matrix(4, 1));
  eb_linear_settings s = settings_for("jacobi");
  owned(eb_linear) *linear = NULL;
  eb_linear_result result;
  eb_reason reason;
  s.kind = "cgs";
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE,
            "cg, cholesky, cholesky-single, cholmod, petsc",
            "an unknown kind lists the valid ones");
  tap_ok(linear == NULL, "and leaves nothing behind");
  s = settings_for("block_jacobi");
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE, "did you mean 'block-jacobi'",
            "an unknown preconditioner names the nearest");
  s = settings_for("jacobi");
  s.rtol = -1;
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE, "rtol", "a negative rtol");
  s.rtol = NAN;
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE, "rtol", "rtol NaN");
  s = settings_for("jacobi");
  s.atol = INFINITY;
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE, "atol", "an infinite atol");
  s = settings_for("jacobi");
  s.max_iterations = 0;
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE, "max_iterations",
            "no iterations");
  s = settings_for("jacobi");
  s.threads = 0;
  tap_fails(eb_linear_create(&s, f.A, NULL, &linear), EB_ERR_USAGE, "threads", "no threads");
  s = settings_for("jacobi");
  tap_require(eb_linear_create(&s, f.A, NULL, &linear), "create");
  tap_fails(eb_linear_solve(linear, f.b, f.x, NULL, false, &result), EB_ERR_INVALID,
            "eb_linear_set_matrix", "a solve before a matrix");
  owned(eb_block_matrix) *other = eb_test_random_matrix(5, 1);
  tap_fails(eb_linear_set_matrix(linear, other, NULL, &reason), EB_ERR_INVALID, "5 rows",
            "a matrix of another pattern");
  eb_linear_destroy(NULL);
}

int main(void) {
  test_solutions(eb_test_random_matrix(70, 2), "random");
  test_solutions(eb_test_random_matrix(1, 2), "one node");
  test_solutions(eb_test_bar(6, 3, 3, 0.025, 0.45, NULL), "bar");
  test_iteration_counts();
  test_log();
  test_tolerances();
  test_bad_matrices();
  test_singular();
  test_shift();
  test_exact_factor();
  test_threads();
  test_narrow();
  test_shift_by_team();
  test_history();
  test_no_allocation();
  test_usage();
  return tap_done();
}
