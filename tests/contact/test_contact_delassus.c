/* The reduced form: its operator, the local problem, both solvers against enumeration of active
 * sets and by the contact law. */
#include "problems/base/sanitizer.h"
#include "solvers/contact/delassus.h"
#include "tests/support/owned.h"
#include "tests/support/contact_methods.h"
#include "tests/support/block_systems.h"
#include "tests/support/dense.h"
#include "tests/support/lapack.h"

static const eb_option OPTIONS[] = {EB_CONTACT_DELASSUS_OPTIONS, {0}};
static const char *const SOLVERS[2] = {"delassus_solver=pgs", "delassus_solver=newton"};

/* Forces are of 0.1 N, momenta of 1e-3 kg m/s, motions in a step of 1e-4 m. */
static const eb_contact_tolerance STRICT = {1e-12, 1e-10, 1e-8, 1e-4, 20000};

/* Contacts that say nearly the same differ by 1e-5 of a motion of 1e-4 m, and by the square of 1e-5
 * in W: which of them bears the force is decided below 1e-8 m. */
static const eb_contact_tolerance NEAR = {1e-12, 1e-7, 1e-8, 1e-1, 20000};

static contact_run solve(const contact_case *c, int solver, const eb_contact_tolerance *tolerance) {
  contact_run run =
      contact_run_open(&eb_contact_delassus, OPTIONS, SOLVERS[solver], c->A, c->problem->count);
  run.tolerance = *tolerance;
  contact_run_solve(&run, c->problem);
  return run;
}

static void check_solved(const contact_recipe *recipe, const eb_contact_tolerance *tolerance,
                         const char *what) {
  for (int solver = 0; solver < 2; solver++) {
    owned(contact_case) c = contact_open(recipe);
    owned(contact_run) s = solve(&c, solver, tolerance);
    bool solved = s.outcome.reason == EB_CONVERGED_ATOL && eb_contact_solved(&s.error, tolerance);
    if (!tap_ok(solved, "%s, %s, seed %d", what, SOLVERS[solver], (int)recipe->seed))
      printf(
          "#   %s after %d: residual %g, violation %g, active %g, sliding %g, cone %g, angle %g\n",
          eb_reason_name(s.outcome.reason), (int)s.outcome.iterations, s.error.residual,
          s.error.violation, s.error.active, s.error.sliding, s.error.cone, s.error.angle);
  }
}

/* ---- the local problem ---- */

static void random_operator(random_state *random, double W[9]) {
  double A[9];
  for (int k = 0; k < 9; k++) A[k] = random_normal(random);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      W[3 * i + j] = A[3 * i] * A[3 * j] + A[3 * i + 1] * A[3 * j + 1] +
                     A[3 * i + 2] * A[3 * j + 2] + 1e-3 * (i == j);
}

/* Operators of condition up to 1e4 or so: u is off by 1e-16 x 1e4, angles by that over |u_t|. */
static void test_local(void) {
  random_state random = random_seed(4);
  eb_contact_error worst = {0};
  int kinds[3] = {0};
  for (int i = 0; i < 3000; i++) {
    double W[9], q[3], r[3], u[3], mu = 0.5 * (i % 4);
    eb_contact_error e = {0};
    random_operator(&random, W);
    for (int d = 0; d < 3; d++) q[d] = random_normal(&random);
    eb_contact_solve_local(W, q, mu, r);
    for (int d = 0; d < 3; d++)
      u[d] = q[d] + W[3 * d] * r[0] + W[3 * d + 1] * r[1] + W[3 * d + 2] * r[2];
    eb_contact_measure_law(1, u, r, &mu, 1e-6, &e);
    worst.violation = fmax(worst.violation, fmax(e.violation, e.active));
    worst.sliding = fmax(worst.sliding, e.sliding);
    worst.cone = fmax(worst.cone, e.cone);
    worst.angle = fmax(worst.angle, e.angle);
    kinds[r[0] > 0 ? 1 + (hypot(u[1], u[2]) > 1e-6) : 0]++;
  }
  tap_below(worst.violation, 1e-10, "a single contact does not penetrate or pull");
  tap_below(worst.sliding, 1e-10, "sticks inside its cone");
  tap_below(worst.cone, 1e-12, "which its force never leaves");
  tap_below(worst.angle, 1e-4, "and slides against its friction");
  tap_ok(kinds[0] > 200 && kinds[1] > 200 && kinds[2] > 200,
         "open, sticking, sliding: all were met");
}

/* ---- W ---- */

/* A^-1 of the columns of B, dense: n x columns, column-major, by LAPACK. */
static void dense_inverse_product(const eb_block_matrix *A, int columns, double *B) {
  int n = 3 * A->rows, info = -1;
  owned(int) *pivots = malloc((size_t)n * sizeof *pivots);
  owned(double) *dense = dense_of_blocks(A);
  openblas_set_num_threads(1);
  dgesv_(&n, &columns, dense, &n, pivots, B, &n, &info);
  if (info) printf("Bail out! dgesv: %d\n", info), exit(1);
}

typedef struct reduced_oracle {
  int m;     /* rows: 3 a contact */
  double *W; /* m x m */
  double *q; /* m */
} reduced_oracle;

static reduced_oracle oracle_open(const contact_case *c) {
  const eb_contact_problem *p = c->problem;
  int n = 3 * c->A->rows, m = 3 * p->count;
  reduced_oracle o = {.m = m};
  o.W = eb_calloc((size_t)m * (size_t)m, sizeof *o.W);
  o.q = eb_calloc((size_t)m, sizeof *o.q);
  double *X = eb_calloc((size_t)n * ((size_t)m + 1), sizeof *X); /* A^-1 [H^T b], column-major */
  double *H = eb_calloc((size_t)n * (size_t)m, sizeof *H);
  for (int i = 0; i < m; i++) {
    owned(double) *unit = eb_calloc((size_t)m, sizeof *unit);
    unit[i] = 1;
    eb_contact_force_add(p, unit, H + (size_t)i * (size_t)n);
  }
  memcpy(X, H, sizeof *H * (size_t)n * (size_t)m);
  memcpy(X + (size_t)n * (size_t)m, c->b, sizeof *H * (size_t)n);
  dense_inverse_product(c->A, m + 1, X);
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= m; j++)
      for (int k = 0; k < n; k++)
        *(j < m ? o.W + i * m + j : o.q + i) += H[i * n + k] * X[j * n + k];
  for (int i = 0; i < m; i++) o.q[i] -= p->c[i];
  free(H), free(X);
  return o;
}

static void oracle_close(reduced_oracle *o) {
  free(o->W), free(o->q);
}

/* W is h^2 / mass, 1e-6 / 1e-3, with condition 100 of A: 1e-3 x 1e-16 x 100. */
static void test_operator(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 8, .bodies = 3, .side = 3, .contacts = 21, .mu = 0.5});
  reduced_oracle o = oracle_open(&c);
  eb_delassus delassus = {.threads = 2};
  eb_reduced reduced = {0};
  eb_reason reason;
  double off = 0, skew = 0, off_q = 0;
  tap_require(eb_reduced_reserve(&reduced, c.problem->count, c.problem->mu), "room");
  tap_require(eb_delassus_factor(&delassus, c.A, NULL, &reason), "factor");
  tap_require(eb_delassus_reduce(&delassus, c.problem, &reduced, NULL, &reason), "reduce");
  for (int i = 0; i < o.m; i++)
    for (int j = 0; j < o.m; j++) {
      off = fmax(off, fabs(reduced.W[i * o.m + j] - o.W[i * o.m + j]));
      skew = fmax(skew, fabs(reduced.W[i * o.m + j] - reduced.W[j * o.m + i]));
    }
  for (int i = 0; i < o.m; i++) off_q = fmax(off_q, fabs(reduced.q[i] - o.q[i]));
  tap_below(off, 1e-16, "W is H A^-1 H^T");
  tap_near(skew, 0, 0, "symmetric to the bit");
  tap_below(off_q, 1e-16, "q is H A^-1 b - c");
  eb_reduced_clear(&reduced);
  eb_delassus_clear(&delassus);
  oracle_close(&o);
}

/* v is of 1 m/s; solutions to 1e-10 m in 1 ms are 1e-7 m/s off. */
static void test_enumeration(uint64_t seed) {
  owned(contact_case) c = contact_open(&(contact_recipe){
      .seed = seed, .bodies = 2, .side = 2, .contacts = 9, .mu = 0, .loose = true});
  int64_t n = 3 * (int64_t)c.A->rows;
  owned(double) *v = eb_calloc((size_t)n, sizeof *v);
  contact_enumerate(c.problem, v);
  for (int solver = 0; solver < 2; solver++) {
    owned(contact_run) s = solve(&c, solver, &STRICT);
    int active = 0;
    for (int k = 0; k < c.problem->count; k++) active += s.r[3 * k] > 0;
    tap_ok(active > 0 && active < c.problem->count, "seed %d: some contacts are active", (int)seed);
    tap_below(contact_difference(n, v, s.v), 2e-7, SOLVERS[solver]);
  }
}

/* ---- outcomes ---- */

static void test_no_contacts(void) {
  owned(contact_case) c = contact_open(&(contact_recipe){.seed = 9, .bodies = 2, .side = 2});
  int n = 3 * c.A->rows;
  owned(double) *v = malloc(sizeof *v * (size_t)n);
  double off = 0;
  memcpy(v, c.b, sizeof *v * (size_t)n);
  dense_inverse_product(c.A, 1, v);
  for (int solver = 0; solver < 2; solver++) {
    owned(contact_run) s = solve(&c, solver, &STRICT);
    for (int i = 0; i < n; i++) off = fmax(off, fabs(v[i] - s.v[i]));
    tap_ok(s.outcome.reason == EB_CONVERGED_ATOL && off < 1e-12,
           "without contacts v is A^-1 b (%s)", SOLVERS[solver]);
  }
}

static void check_outcome(const contact_case *c, eb_reason reason, const char *what) {
  eb_contact_tolerance few = STRICT;
  few.max_iterations = 300;
  for (int solver = 0; solver < 2; solver++) {
    owned(contact_run) s = solve(c, solver, &few);
    tap_ok(s.outcome.reason == reason, "%s: %s (%s)", what, eb_reason_name(s.outcome.reason),
           SOLVERS[solver]);
    tap_ok(s.outcome.iterations <= 300, "within its iterations");
  }
}

static void test_outcomes(void) {
  contact_recipe recipe = {.seed = 12, .bodies = 2, .side = 2, .contacts = 5, .mu = 0.5};
  contact_case c = contact_open(&recipe);
  c.b[4] = NAN;
  check_outcome(&c, EB_DIVERGED_NAN, "NaN in b");
  contact_close(&c);
  c = contact_open(&recipe);
  c.A->values[9 * (int64_t)c.A->diagonal[3]] = NAN;
  check_outcome(&c, EB_DIVERGED_NAN, "NaN in A");
  c.A->values[9 * (int64_t)c.A->diagonal[3]] = -1;
  check_outcome(&c, EB_NOT_POSITIVE_DEFINITE, "an indefinite A");
  contact_close(&c);
  recipe.inconsistent = true;
  c = contact_open(&recipe);
  check_outcome(&c, EB_DIVERGED_MAX_IT, "inconsistent constraints");
  contact_close(&c);
}

/* ---- one method from step to step ---- */

static void test_kept(void) {
  owned(contact_case) small =
      contact_open(&(contact_recipe){.seed = 13, .bodies = 2, .side = 3, .contacts = 4, .mu = 0.5});
  owned(contact_case) large = contact_open(
      &(contact_recipe){.seed = 14, .bodies = 3, .side = 3, .contacts = 30, .mu = 0.5});
  const contact_case *cases[4] = {&small, &small, &large, &small};
  owned(contact_run) kept = contact_run_open(&eb_contact_delassus, OPTIONS, "", large.A, 30);
  owned(eb_step_log) *log = new_log(100);
  for (int i = 0; i < 4; i++) {
    size_t n = 3 * (size_t)cases[i]->A->rows;
    memset(kept.r, 0, 90 * sizeof *kept.r);
    tap_require(eb_contact_delassus.solve(kept.data, cases[i]->problem, &STRICT, kept.v, kept.r,
                                          log, &kept.outcome),
                "solve");
    owned(contact_run) fresh = solve(cases[i], 1, &STRICT);
    tap_ok(!memcmp(kept.v, fresh.v, n * sizeof *kept.v),
           "problem %d: a method that is kept gives the bits of a fresh one", i);
  }
  tap_near(log->counters[EB_COUNT_FACTORIZATIONS], 3, 0, "the same A is factored once");
  tap_ok(log->phase_seconds[EB_PHASE_FACTOR] > 0 && log->phase_seconds[EB_PHASE_SOLVE] > 0 &&
             log->residual_count > 0 && log->counters[EB_COUNT_SOLVES] > 3 * 42,
         "phases, residuals and solves are logged");
}

int main(void) {
#if EB_SANITIZER
  enum { SEEDS = 2 };
#else
  enum { SEEDS = 8 };
#endif
  test_local();
  test_operator();
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    test_enumeration(seed);
    check_solved(&(contact_recipe){.seed = seed, .bodies = 3, .side = 3, .contacts = 25, .mu = -1},
                 &STRICT, "friction of three kinds");
    check_solved(
        &(contact_recipe){
            .seed = seed, .bodies = 3, .side = 3, .contacts = 20, .mu = 0.5, .duplicates = 5},
        &STRICT, "duplicates");
    check_solved(
        &(contact_recipe){
            .seed = seed, .bodies = 3, .side = 3, .contacts = 20, .mu = 0.5, .near = 5},
        &NEAR, "near duplicates");
    check_solved(&(contact_recipe){.seed = seed, .bodies = 3, .side = 3, .mu = 0.5, .pile = true},
                 &STRICT, "a pile");
  }
  test_no_contacts();
  test_outcomes();
  test_kept();
  return tap_done();
}
