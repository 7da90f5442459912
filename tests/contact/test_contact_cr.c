/* contact-cr's method: its system and preconditioners against dense algebra, its states on problems
 * made for them, its solutions by enumeration and beside contact-al's. */
#include <malloc.h>

#include "solvers/contact/saddle.h"
#include "tests/support/owned.h"
#include "tests/support/contact_methods.h"

void dgesv_(const int *n, const int *columns, double *a, const int *lda, int *pivot, double *b,
            const int *ldb, int *info);

static const eb_option OPTIONS[] = {EB_CONTACT_CR_OPTIONS, {0}};
static const eb_option AL_OPTIONS[] = {EB_CONTACT_AL_OPTIONS, {0}};
static const contact_subject CR = {&eb_contact_cr, OPTIONS}, AL = {&eb_contact_al, AL_OPTIONS};
static const char *const PRECONDITIONERS[] = {"preconditioner=full", "preconditioner=diag"};

/* ---- the system ---- */

/* Some rows active of a random problem, near repeats among them, and B of it densely: rows that are
 * not active have 0 and, for LAPACK, 1 on the diagonal. */
typedef struct fixed_states {
  contact_case c;
  eb_saddle saddle;
  eb_saddle_cr cr;
  int n, size;
  double *d, *dense; /* dense: column-major, symmetric */
} fixed_states;

static fixed_states states_open(bool full, int32_t duplicates) {
  fixed_states s = {
      .c = contact_open(&(contact_recipe){
          .seed = 12, .bodies = 4, .side = 2, .contacts = 8, .duplicates = duplicates})};
  const eb_contact_problem *p = s.c.problem;
  s.n = 3 * s.c.A->rows;
  s.size = s.n + 3 * p->count;
  for (int32_t k = 0; k < p->count; k++) s.c.problem->similar[k] = 1 + 0.5 * (k % 3);
  tap_require(eb_saddle_create(s.c.A, full, &s.saddle), "a system");
  tap_require(eb_saddle_begin(&s.saddle, p), "a problem");
  tap_require(eb_saddle_cr_reserve(&s.cr, s.n, s.size - s.n, true), "room");
  tap_require(EB_NEW(s.d, (size_t)s.size), "d");
  tap_require(EB_NEW(s.dense, (size_t)s.size * (size_t)s.size), "B");
  for (int k = 0; k < s.size - s.n; k++) s.saddle.active[k] = k % 3 ? k / 3 % 2 : k / 3 % 4 != 3;
  owned(double) *A = dense_of_blocks(s.c.A);
  for (int i = 0; i < s.n; i++)
    for (int j = 0; j < s.n; j++) s.dense[i * s.size + j] = A[i * s.n + j];
  for (int k = 0; k < s.size - s.n; k++) {
    int at = s.n + k;
    s.d[at] = s.saddle.active[k] ? p->c[k] : 0;
    if (!s.saddle.active[k]) s.dense[at * s.size + at] = 1;
    for (int32_t e = p->start[k / 3]; s.saddle.active[k] && e < p->start[k / 3 + 1]; e++)
      for (int d = 0; d < 3; d++) {
        int j = 3 * p->block[e] + d;
        s.dense[at * s.size + j] = s.dense[j * s.size + at] = p->H[9 * e + 3 * (k % 3) + d];
      }
  }
  memcpy(s.d, s.c.b, (size_t)s.n * sizeof *s.d);
  return s;
}

static void states_close(fixed_states *s) {
  eb_saddle_clear(&s->saddle);
  eb_saddle_cr_clear(&s->cr);
  free(s->d);
  free(s->dense);
  contact_close(&s->c);
}
OWNED(fixed_states, states_close)

static double *new_vector(int size) {
  double *x = zeros(double, (size_t)size);
  return x;
}

static void product_is_dense(void) {
  owned(fixed_states) s = states_open(true, 0);
  uint64_t seed = 5;
  owned(double) *y = eb_test_random_vector(s.size, &seed), *By = new_vector(s.size),
                *Ay = new_vector(s.n);
  double off = 0;
  for (int k = 0; k < s.size - s.n; k++)
    if (!s.saddle.active[k]) y[s.n + k] = 0;
  eb_saddle_multiply(&s.saddle, y, Ay, By);
  for (int i = 0; i < s.size; i++) {
    double sum = 0;
    for (int j = 0; j < s.size; j++) sum += s.dense[i * s.size + j] * y[j];
    off = fmax(off, fabs(sum - By[i]));
  }
  tap_below(off, 1e-14, "B y, of some 0.1 in size, is that of a dense matrix to rounding");
}

/* Equation 22 block by block, as the paper writes it, of dense matrices; S_d = Z diag(L A_d^-1
 * L^T).
 */
static double *dense_preconditioner(const fixed_states *s, bool full) {
  int n = s->n, m = s->size - n;
  double *C = new_vector(s->size * s->size);
  owned(double) *G = new_vector(m * n), *S = new_vector(m);
  for (int k = 0; k < m; k++) {
    const double *L = s->dense + (n + k) * s->size;
    for (int j = 0; j < n; j++) S[k] += L[j] * L[j] / s->dense[j * s->size + j];
    S[k] *= s->c.problem->similar[k / 3];
    for (int j = 0; j < n && S[k] > 0; j++) G[k * n + j] = L[j] / s->dense[j * s->size + j] / S[k];
  }
  for (int i = 0; i < n; i++) C[i * s->size + i] = 1 / s->dense[i * s->size + i];
  for (int k = 0; k < m; k++) {
    int at = n + k;
    if (S[k] > 0) C[at * s->size + at] = (full ? -1 : 1) / S[k];
    for (int i = 0; i < n && full; i++) {
      C[i * s->size + at] = C[at * s->size + i] = G[k * n + i];
      for (int j = 0; j < n; j++) C[i * s->size + j] -= G[k * n + i] * S[k] * G[k * n + j];
    }
  }
  return C;
}

static void preconditioner_is_dense(bool full) {
  owned(fixed_states) s = states_open(full, 3);
  uint64_t seed = 6;
  owned(double) *r = eb_test_random_vector(s.size, &seed), *z = new_vector(s.size);
  owned(double) *C = dense_preconditioner(&s, full);
  double off = 0, largest = 0;
  for (int k = 0; k < s.size - s.n; k++)
    if (!s.saddle.active[k]) r[s.n + k] = 0;
  eb_saddle_precondition(&s.saddle, r, z);
  for (int i = 0; i < s.size; i++) {
    double sum = 0;
    for (int j = 0; j < s.size; j++) sum += C[i * s.size + j] * r[j];
    off = fmax(off, fabs(sum - z[i]));
    largest = fmax(largest, fabs(sum));
  }
  tap_below(off, 1e-13 * largest,
            full ? "full is Equation 22 of dense blocks, to rounding"
                 : "diag is the inverse of both diagonals, to rounding");
}

/* Conjugate residuals on fixed states against LAPACK on the same KKT matrix. */
static void states_are_solved(bool full) {
  owned(fixed_states) s = states_open(full, 0);
  owned(double) *want = new_vector(s.size);
  double off = 0;
  int one = 1, info = -1, iterations = 0;
  owned(int) *pivots = zeros(int, (size_t)s.size);
  memcpy(want, s.d, (size_t)s.size * sizeof *want);
  dgesv_(&s.size, &one, s.dense, &s.size, pivots, want, &s.size, &info);
  eb_saddle_cr_start(&s.cr, &s.saddle, s.d);
  while (iterations < 2000 && eb_norm(s.size, s.cr.r) > 1e-13 &&
         eb_saddle_cr_advance(&s.cr, &s.saddle)) {
    eb_saddle_cr_renew(&s.cr, &s.saddle);
    iterations++;
  }
  for (int i = 0; i < s.n; i++) off = fmax(off, fabs(want[i] - s.cr.y[i]));
  /* |A dv| <= |r|, A at least 1e-4 kg; rows of 1e-3 s. */
  tap_ok(info == 0 && off < 1e-8, "%s: the KKT solution by LAPACK (%g m/s off)",
         full ? "full" : "diag", off);
}

/* A restart from the split residual goes on as a start does, for one product instead of two. */
static void restart_is_a_start(void) {
  owned(fixed_states) s = states_open(true, 2);
  owned(double) *r = new_vector(s.size);
  double off = 0;
  owned(eb_step_log) *log = new_log(100);
  eb_saddle_cr_start(&s.cr, &s.saddle, s.d);
  for (int i = 0; i < 5; i++) {
    eb_saddle_cr_advance(&s.cr, &s.saddle);
    eb_saddle_cr_renew(&s.cr, &s.saddle);
  }
  for (int k = 0; k < 6; k++) s.saddle.active[k] = !s.saddle.active[k];
  for (int k = 0; k < 6; k++) s.d[s.n + k] = s.c.problem->c[k];
  s.saddle.log = log;
  eb_saddle_cr_restart(&s.cr, &s.saddle, s.d);
  tap_near(log->counters[EB_COUNT_MATVECS], 1, 0, "a restart costs one product with A");
  memcpy(r, s.cr.r, (size_t)s.size * sizeof *r);
  eb_saddle_cr_start(&s.cr, &s.saddle, s.d);
  tap_near(log->counters[EB_COUNT_MATVECS], 3, 0, "a start two");
  for (int i = 0; i < s.size; i++) off = fmax(off, fabs(r[i] - s.cr.r[i]));
  tap_below(off, 1e-14, "the split residual is the residual, to the rounding of five recurrences");
}

/* ---- states: one node of 1 kg on a plane, h = 1 ms ---- */

static const double EPS2 = 1e-6, STEP = 1e-3;

/* It would move by `along` and stand by `height` above the plane (m), were there no contact. */
typedef struct node_case {
  eb_block_matrix *A;
  eb_contact_problem *problem;
  double b[3];
} node_case;

static void node_open(double height, double along, double mu, node_case *out) {
  static const int32_t no_pair[2] = {0, 0};
  const double H[9] = {0, 0, STEP, STEP, 0, 0, 0, STEP, 0}, c[3] = {-1e-3, 0, 0};
  const int32_t block = 0;
  tap_require(eb_block_matrix_create(1, no_pair, 0, 2, &out->A), "a matrix");
  tap_require(eb_contact_problem_create(1, &out->problem), "a problem");
  for (int d = 0; d < 3; d++) out->A->values[4 * d] = 1;
  eb_contact_problem_add(out->problem, 1, &block, H, c, mu);
  out->b[0] = along / STEP;
  out->b[1] = 0;
  out->b[2] = (height - 1e-3) / STEP;
  out->problem->A = out->A;
  out->problem->b = out->b;
}

static void node_close(node_case *node) {
  eb_contact_problem_destroy(node->problem);
  eb_block_matrix_destroy(node->A);
}
OWNED(node_case, node_close)

/* From rest, 1 mm above the plane, or from the forces given. */
static contact_run node_solve(const node_case *node, const char *options, const double *r) {
  contact_run run = contact_run_open(&eb_contact_cr, OPTIONS, options, node->A, 1);
  run.tolerance.eps1 = 1e-9;
  run.tolerance.eps2 = EPS2;
  if (r) memcpy(run.r, r, 3 * sizeof *r);
  tap_ok(contact_run_solve(&run, node->problem) == EB_CONVERGED_ATOL, "a node, %s: solved",
         options);
  return run;
}

/* A contact closes when its violation is more than the deadband, and opens when motion and force
 * are. */
static void contacts_close_and_open(void) {
  static const double pushes[3] = {1, 0, 0};
  static const struct {
    double height; /* in EPS2 */
    const double *r;
    const char *options;
    int sign; /* of r_n at the end */
  } cases[] = {{-0.9, NULL, "", 0},
               {-1.1, NULL, "", 1},
               {-0.9, NULL, "deadband=0", 1},
               {-1.1, NULL, "deadband=2", 0},
               {0.9, pushes, "", -1},
               {1.1, pushes, "", 0},
               {0.9, pushes, "deadband=0", 0},
               {-100, pushes, "", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    owned(node_case) node;
    node_open(cases[i].height * EPS2, 0, 0, &node);
    owned(contact_run) run = node_solve(&node, cases[i].options, cases[i].r);
    tap_ok((run.r[0] > 0) - (run.r[0] < 0) == cases[i].sign, "%g eps2 %s %s: r_n = %g",
           cases[i].height, cases[i].r ? "opening" : "closing", cases[i].options, run.r[0]);
  }
}

/* 0.5 mm into the plane r_n = 500 N; S = 1e-6 m/N. Sliding friction mu r_n S = 0.25 mm holds 0.2
 * mm back, and leaves 0.75 of 1 mm. */
static void contacts_stick_and_slide(void) {
  node_case node;
  node_open(-5e-4, 2e-4, 0.5, &node);
  contact_run run = node_solve(&node, "", NULL);
  tap_near(run.r[1], -200, 1e-3, "sticks: the force that holds it, eps1 / h");
  tap_near(run.v[0] * STEP, 0, EPS2, "and it stays");
  contact_run_close(&run);
  node_close(&node);
  node_open(-5e-4, 1e-3, 0.5, &node);
  run = node_solve(&node, "", NULL);
  tap_near(run.v[0] * STEP, 7.5e-4, EPS2, "slides, right to the deadband eps2");
  tap_near(run.r[1], -250, 1, "friction to eps2 / S = 1 N");
  contact_run_close(&run);
  node_close(&node);
}

/* A guess that slides the wrong way comes to static friction, too strong, at once; where it must
 * stay in it its force leaves the cone. */
static void contacts_freeze(void) {
  const double wrong[3] = {500, 250, 0};
  owned(node_case) node;
  node_open(-5e-4, 1e-3, 0.5, &node);
  contact_run run = node_solve(&node, "freeze=1", wrong);
  tap_near(run.v[0] * STEP, 0, EPS2, "frozen: it does not move");
  tap_near(run.error.cone, 1.5, 1e-3, "and sticks at 1000 N where 250 N are allowed, of 500");
  contact_run_close(&run);
  const char *free_options[] = {"freeze=2", "freeze=0"};
  for (int i = 0; i < 2; i++) {
    run = node_solve(&node, free_options[i], wrong);
    tap_near(run.v[0] * STEP, 7.5e-4, EPS2, free_options[i]);
    contact_run_close(&run);
  }
  run = node_solve(&node, "freeze=1,polish=true", wrong);
  tap_ok(eb_contact_solved(&run.error, &run.tolerance), "polished it meets every tolerance");
  contact_run_close(&run);
}

/* 5 mm into the plane r_n = 5000 N, whose friction holds back 2.5 mm of a motion of 2.506 mm: what
 * is left turns some 400 times as far as the friction that turns. Guesses whose friction is 3
 * degrees off; S = 1e-6 m/N. */
static void directions_settle(void) {
  const double off = 0.05235987755982988, slip = 6e-6,
               guess[3] = {5000, -2500 * cos(off), 2500 * sin(off)};
  owned(node_case) node;
  node_open(-5e-3, 2.5e-3 + slip, 0.5, &node);
  contact_run run = node_solve(&node, "", guess);
  tap_near(run.v[0] * STEP, slip, 2 * EPS2, "it slips, to eps2 of either");
  tap_near(run.v[1] * STEP, 0, 2 * EPS2, "along the motion");
  contact_run_close(&run);
  run = contact_run_open(&eb_contact_cr, OPTIONS, "freeze=0", node.A, 1);
  run.tolerance.eps1 = 1e-9;
  run.tolerance.eps2 = EPS2;
  run.tolerance.max_iterations = 2000;
  memcpy(run.r, guess, sizeof guess);
  tap_ok(contact_run_solve(&run, node.problem) == EB_DIVERGED_MAX_IT,
         "where alpha_theta stays as it is, its direction goes to and fro");
  contact_run_close(&run);
}

/* States change before convergence only at intervals. */
static void states_wait(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 2, .bodies = 10, .side = 3, .contacts = 50});
  const char *options[] = {"interval=1,least_squares=0", "interval=9,least_squares=0"};
  for (int i = 0; i < 2; i++) {
    owned(contact_run) run = contact_run_for(&CR, options[i], &c);
    /* A tolerance for which log2(|r| / eps1) / 3 is below 1 from the start; eps2 is not met. */
    run.tolerance.eps1 = 1e3;
    run.tolerance.max_iterations = 8;
    contact_run_solve(&run, c.problem);
    tap_ok((run.outcome.active_set_changes > 0) == !i, "%s: %lld changes in 8 iterations",
           options[i], (long long)run.outcome.active_set_changes);
  }
  /* log2(|r| / eps1) / 3 > 8 for eps1 = 1e-9: not before, whatever the least interval. */
  owned(contact_run) run = contact_run_for(&CR, "interval=1", &c);
  run.tolerance.max_iterations = 5;
  contact_run_solve(&run, c.problem);
  tap_ok(run.outcome.active_set_changes == 0, "far from convergence, rarely");
}

/* ---- solutions ---- */

/* Both leave the angle between friction and motion within the tolerance theta: a friction force
 * turned by it is off by theta of itself, and moves what it moved, at most some 1 m/s, by as much
 * less. The rest is eps1 and eps2. */
static void agrees_with_al(const char *options, const contact_recipe *recipe) {
  owned(contact_case) c = contact_open(recipe);
  owned(contact_run) cr = contact_run_for(&CR, options, &c), al = contact_run_for(&AL, "", &c);
  static const double theta = 0.05;
  double bound = CONTACT_SAME_VELOCITY + (recipe->mu > 0 ? theta * acos(-1) / 180 : 0);
  cr.tolerance.angle = al.tolerance.angle = theta;
  tap_ok(contact_run_solve(&cr, c.problem) == EB_CONVERGED_ATOL &&
             contact_run_solve(&al, c.problem) == EB_CONVERGED_ATOL,
         "%s: seed %d: solved", options, (int)recipe->seed);
  double off = contact_difference(3 * (int64_t)cr.rows, cr.v, al.v);
  tap_ok(off < bound, "%s: seed %d, mu = %g: the same velocities (%g m/s)", options,
         (int)recipe->seed, recipe->mu, off);
}

/* ---- cost ---- */

static void is_counted(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 8, .side = 3, .pile = true, .mu = 0.5});
  owned(contact_run) run = contact_run_for(&CR, "", &c);
  owned(eb_step_log) *log = new_log(100);
  tap_require(
      run.method->solve(run.data, c.problem, &run.tolerance, run.v, run.r, log, &run.outcome),
      "a solve");
  double products = log->counters[EB_COUNT_MATVECS], iterations = (double)run.outcome.iterations;
  tap_near(log->counters[EB_COUNT_LINEAR_ITERATIONS], iterations, 0, "iterations are logged");
  /* One an iteration, whether states change or not; two for the first residual, two for the last,
   * and one for each time that states changed at convergence, which they do but a few times. */
  tap_ok(products >= iterations + 4 && products <= 1.1 * iterations + 10,
         "%g products in %g iterations", products, iterations);
  tap_ok(log->counters[EB_COUNT_CONTACT_VISITS] > products, "visits to contacts are logged");
}

static void allocates_once(void) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 8, .side = 3, .pile = true, .mu = 0.5});
  contact_run run = contact_run_for(&CR, "polish=true", &c);
  contact_run_solve(&run, c.problem);
  memset(run.v, 0, 3 * (size_t)run.rows * sizeof *run.v);
  memset(run.r, 0, 3 * (size_t)run.room * sizeof *run.r);
  size_t used = mallinfo2().uordblks + mallinfo2().hblkhd;
  contact_run_solve(&run, c.problem);
  tap_ok(mallinfo2().uordblks + mallinfo2().hblkhd == used, "a second solve allocates nothing");
  contact_run_close(&run);
  contact_close(&c);
}

/* ---- outcomes ---- */

static void refuses_indefinite(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 2, .side = 2, .contacts = 4});
  owned(contact_run) run = contact_run_for(&CR, "", &c);
  memset(c.A->values + 9 * (int64_t)c.A->diagonal[3], 0, 9 * sizeof *c.A->values);
  tap_fails(
      run.method->solve(run.data, c.problem, &run.tolerance, run.v, run.r, NULL, &run.outcome),
      EB_ERR_INVALID, "row 3", "a diagonal block of zeros");
}

int main(void) {
  product_is_dense();
  preconditioner_is_dense(true);
  preconditioner_is_dense(false);
  states_are_solved(true);
  states_are_solved(false);
  restart_is_a_start();
  contacts_close_and_open();
  contacts_stick_and_slide();
  contacts_freeze();
  directions_settle();
  states_wait();
  for (int p = 0; p < 2; p++) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
      contact_check_enumerated(&CR, PRECONDITIONERS[p], seed);
      agrees_with_al(PRECONDITIONERS[p],
                     &(contact_recipe){.seed = seed, .bodies = 8, .side = 3, .contacts = 40});
      agrees_with_al(
          PRECONDITIONERS[p],
          &(contact_recipe){.seed = seed, .bodies = 4, .side = 3, .contacts = 12, .mu = 0.5});
    }
    contact_check_no_contacts(&CR, PRECONDITIONERS[p]);
    contact_check_frictionless(&CR, PRECONDITIONERS[p]);
    contact_check_outcomes(&CR, PRECONDITIONERS[p]);
    contact_check_contradiction(&CR, PRECONDITIONERS[p], EB_CONVERGED_STAGNATED);
    contact_check_immovable(&CR, PRECONDITIONERS[p]);
    contact_check_growth(&CR, PRECONDITIONERS[p]);
  }
  for (uint64_t seed = 1; seed <= 4; seed++)
    contact_check_recipe(
        &CR, "polish=true",
        &(contact_recipe){.seed = seed, .bodies = 4, .side = 3, .mu = 0.5, .pile = true}, 20000,
        "polished pile");
  is_counted();
  allocates_once();
  refuses_indefinite();
  return tap_done();
}
