/* contact-al's method: its law against finite differences, its system against dense algebra, its
 * solutions by eb_contact_measure. */
#include "problems/base/vector3.h"
#include "solvers/contact/al_system.h"
#include "solvers/contact/method.h"
#include "tests/support/owned.h"
#include "tests/support/contact_problems.h"

OWNED(eb_al_system, eb_al_system_clear)

enum { CASES = 9 };

static const eb_option METHOD_OPTIONS[] = {{.name = "preconditioner",
                                            .type = EB_OPTION_CHOICE,
                                            .fallback = "full",
                                            .choices = "full|diag",
                                            .unit = "",
                                            .doc = "of conjugate residuals"},
                                           {0}};

typedef struct solution {
  double *v, *r, *work;
  eb_contact_outcome outcome;
  eb_contact_error error;
} solution;

static void release(solution *s) {
  free(s->v);
  free(s->r);
  free(s->work);
}
OWNED(solution, release)

static eb_error run_method(const contact_case *c, const char *options, int threads,
                           const eb_contact_tolerance *tolerance, solution *s) {
  eb_values *values;
  eb_step_log *log;
  void *method;
  tap_require(eb_values_create("contact-al", METHOD_OPTIONS, options, &values), "options");
  tap_require(eb_step_log_create(1000, &log), "a log");
  eb_solver solver = {.options = values, .threads = threads};
  tap_require(eb_contact_al.create(&solver, c->A, &method), "the method");
  eb_error error = eb_contact_al.solve(method, c->problem, tolerance, s->v, s->r, log, &s->outcome);
  eb_contact_measure_anew(c->problem, s->v, s->r, tolerance->eps2, s->work, &s->error);
  eb_contact_al.destroy(method);
  eb_step_log_destroy(log);
  eb_values_destroy(values);
  return error;
}

/* From a guess of zeros. */
static solution solve_on(const contact_case *c, const char *options, int threads,
                         const eb_contact_tolerance *tolerance) {
  solution s = {0};
  size_t rows = 3 * (size_t)c->A->rows, contacts = 3 * (size_t)c->problem->count;
  tap_require(EB_NEW(s.v, rows), "v");
  tap_require(EB_NEW(s.r, contacts), "r");
  tap_require(EB_NEW(s.work, rows + contacts), "work");
  tap_require(run_method(c, options, threads, tolerance, &s), "a solve");
  return s;
}

static solution solve_case(const contact_case *c, const char *options,
                           const eb_contact_tolerance *tolerance) {
  return solve_on(c, options, 1, tolerance);
}

/* ---- the law --------------------------------------------------------------------------------- */

/* D = -dr/du at random points of all states. The law is smooth but on the borders of states, which
 * random points miss by more than the step. */
static void law_is_differentiated(void) {
  random_state random = random_seed(7);
  double compliance = 2e-4, anchor[3], bound, worst = 0;
  eb_al_law law = {.compliance = &compliance, .anchor = anchor, .bound = &bound};
  int seen[4] = {0};
  for (int i = 0; i < 2000; i++) {
    double u[3], D[9], r[3];
    for (int d = 0; d < 3; d++) {
      anchor[d] = random_uniform(&random, -1, 1);
      u[d] = compliance * random_uniform(&random, -1, 1);
    }
    bound = i % 4 ? random_uniform(&random, 0, 1) : 0;
    seen[eb_al_force(&law, 0, u, r)]++;
    eb_al_stiffness(&law, 0, u, D);
    for (int d = 0; d < 3; d++) {
      double step = 1e-6 * compliance, high[3], low[3], at[3] = {u[0], u[1], u[2]};
      at[d] = u[d] + step;
      eb_al_force(&law, 0, at, high);
      at[d] = u[d] - step;
      eb_al_force(&law, 0, at, low);
      for (int e = 0; e < 3; e++)
        worst = fmax(worst, fabs(D[3 * e + d] + (high[e] - low[e]) / (2 * step)) * compliance);
    }
  }
  tap_below(worst, 1e-6,
            "D is -dr/du: second order differences of a step of 1e-6 over curvatures of 1/s");
  tap_ok(seen[0] && seen[1] && seen[2] && seen[3], "points in all four states");
}

static void law_is_the_contact_law(void) {
  double compliance = 1e-4, anchor[3] = {2, 0.6, -0.8}, bound = 1, r[3], zero[3] = {0};
  eb_al_law law = {.compliance = &compliance, .anchor = anchor, .bound = &bound};
  tap_ok(eb_al_force(&law, 0, zero, r) != EB_AL_SLIDES && r[0] == 2 && r[1] == 0.6 && r[2] == -0.8,
         "at rest the force is the anchor");
  double away[3] = {1e-3, 0, 0};
  tap_ok(eb_al_force(&law, 0, away, r) == EB_AL_OPEN_WITH_FRICTION && r[0] == 0,
         "a contact that parts pushes no more");
  double along[3] = {0, 3e-4, 4e-4};
  tap_ok(eb_al_force(&law, 0, along, r) == EB_AL_SLIDES, "a contact that slides is on the cone");
  tap_near(hypot(r[1], r[2]), 1, 1e-15, "with the bound's length, to rounding");
}

/* ---- the system ------------------------------------------------------------------------------ */

static void keep_diagonal_blocks(eb_block_matrix *A) {
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t at = A->start[i]; at < A->start[i + 1]; at++)
      for (int d = 0; d < 9 && at != A->diagonal[i]; d++) A->values[9 * (int64_t)at + d] = 0;
}

/* Linearizes at u and solves for g, at most 400 iterations; how many there were. */
static int64_t run_system(eb_al_system *system, const eb_al_law *law, const double *u,
                          eb_al_solve *cr, const double *g, double target) {
  int64_t iterations = 0;
  int team = eb_al_team(system);
#pragma omp parallel num_threads(team) if (team > 1)
  {
    eb_al_member own = eb_al_join(system);
    eb_al_system_prepare(&own);
    eb_al_system_linearize(&own, law, u);
    int64_t done = eb_al_solve_run(&own, cr, g, target, 400);
    if (own.leads) iterations = done;
  }
  return iterations;
}

/* The residual that conjugate residuals carry along is that of their x, with either preconditioner,
 * and becomes small. */
static void system_is_solved(bool full, bool rigid) {
  contact_recipe recipe = {
      .seed = 11, .bodies = 6, .side = 3, .contacts = 40, .mu = 0.5, .duplicates = 5};
  owned(contact_case) c = contact_open(&recipe);
  int64_t n = 3 * (int64_t)c.A->rows, m = 3 * (int64_t)c.problem->count;
  owned(eb_al_system) system;
  eb_al_solve cr = {0};
  double worst = 0;
  if (rigid) keep_diagonal_blocks(c.A);
  double *zero = zeros(double, m), *compliance = zeros(double, c.problem->count),
         *anchor = zeros(double, m), *bound = zeros(double, c.problem->count),
         *Ax = zeros(double, n), *Hx = zeros(double, m), *Kx = zeros(double, n);
  for (int32_t k = 0; k < c.problem->count; k++) {
    compliance[k] = 1e-3;
    anchor[3 * (int64_t)k] = k % 3 ? 1 : -1;
    anchor[3 * (int64_t)k + 1] = 1;
    bound[k] = 0.5 * (k % 4);
  }
  eb_al_law law = {.compliance = compliance, .anchor = anchor, .bound = bound};
  tap_require(eb_al_system_create(c.A, full, 2, &system), "a system");
  tap_require(eb_al_system_begin(&system, c.problem), "a problem");
  tap_require(eb_al_solve_reserve(&cr, n, m), "room");
  double first = eb_norm(n, c.b);
  int64_t iterations = run_system(&system, &law, zero, &cr, c.b, 1e-9 * first);
  tap_ok(iterations > 0 && iterations <= (system.direct ? 1 : 400) &&
             system.direct == (full && rigid),
         "%s%s: it iterates", full ? "full" : "diag", rigid ? ", rigid" : "");
  /* K x by its definition. */
  eb_block_multiply(c.A, cr.x, Ax);
  memcpy(Kx, Ax, (size_t)n * sizeof *Kx);
  for (int32_t k = 0; k < c.problem->count; k++) {
    double *u = Hx + 3 * (int64_t)k, f[3];
    for (int32_t e = c.problem->start[k]; e < c.problem->start[k + 1]; e++)
      for (int i = 0; i < 9; i++)
        u[i / 3] +=
            c.problem->H[9 * (int64_t)e + i] * cr.x[3 * (int64_t)c.problem->block[e] + i % 3];
    eb_turn3(system.D + 9 * (int64_t)k, u, f);
    for (int32_t e = c.problem->start[k]; e < c.problem->start[k + 1]; e++)
      for (int i = 0; i < 9; i++)
        Kx[3 * (int64_t)c.problem->block[e] + i % 3] += c.problem->H[9 * (int64_t)e + i] * f[i / 3];
  }
  for (int64_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(c.b[i] - Kx[i] - cr.r[i]));
    worst = fmax(worst, fabs(Ax[i] - cr.Ax[i]));
  }
  tap_below(worst, 1e-9 * first,
            "r and A x are carried along: rounding of a few hundred recurrences");
  tap_below(cr.norm, 1e-9 * first, "conjugate residuals reach 1e-9 in 400 iterations");
  double *all[] = {zero, compliance, anchor, bound, Ax, Hx, Kx};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  eb_al_solve_clear(&cr);
}

/* Colours that are wide enough to be shared, and a matrix that is large enough for a team: of 24
 * bodies; of 160 half of it is read. */
static const contact_recipe LARGE[2] = {
    {.seed = 3, .bodies = 24, .side = 4, .contacts = 600, .mu = 0.5, .duplicates = 20},
    {.seed = 3, .bodies = 160, .side = 4, .contacts = 3000, .mu = 0.5, .duplicates = 20}};

static void system_has_the_same_bits(const contact_recipe *recipe) {
  owned(contact_case) c = contact_open(recipe);
  int64_t n = 3 * (int64_t)c.A->rows, m = 3 * (int64_t)c.problem->count, first = 0;
  bool same = true;
  double *zero = zeros(double, m), *compliance = zeros(double, c.problem->count),
         *anchor = zeros(double, m), *bound = zeros(double, c.problem->count),
         *x = zeros(double, 2 * n);
  for (int32_t k = 0; k < c.problem->count; k++) {
    compliance[k] = 1e-3;
    anchor[3 * (int64_t)k] = k % 5 ? 1 : -1;
    anchor[3 * (int64_t)k + 1] = 1;
    bound[k] = 0.5 * (k % 4);
  }
  eb_al_law law = {.compliance = compliance, .anchor = anchor, .bound = bound};
  for (int threads = 1; threads <= 3; threads++) {
    owned(eb_al_system) system;
    eb_al_solve cr = {0};
    tap_require(eb_al_system_create(c.A, true, threads, &system), "a system");
    tap_require(eb_al_system_begin(&system, c.problem), "a problem");
    tap_require(eb_al_solve_reserve(&cr, n, m), "room");
    int64_t iterations = run_system(&system, &law, zero, &cr, c.b, 1e-6 * eb_norm(n, c.b));
    if (threads == 1) {
      first = iterations;
      memcpy(x, cr.x, (size_t)n * sizeof *x);
      memcpy(x + n, cr.Ax, (size_t)n * sizeof *x);
    } else
      tap_ok(system.colours > 1 && c.problem->count >= 16 * system.colours,
             "%d contacts in %d colours", c.problem->count, system.colours);
    same &= iterations == first && !memcmp(x, cr.x, (size_t)n * sizeof *x) &&
            !memcmp(x + n, cr.Ax, (size_t)n * sizeof *x);
    eb_al_solve_clear(&cr);
  }
  tap_ok(same && first > 3, "one, two and three threads have the same bits after %lld iterations",
         (long long)first);
  double *all[] = {zero, compliance, anchor, bound, x};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Linearizing at one place after another, also of another problem, is linearizing at the last one:
 * contacts there stick, slide, open and close from one to the next. */
static void nothing_stays_of_before(void) {
  enum { CONTACTS = 40, PLACES = 4 };
  contact_case c[2];
  double u[3 * CONTACTS], compliance[CONTACTS], anchor[3 * CONTACTS], bound[CONTACTS];
  random_state random = random_seed(4);
  owned(eb_al_system) kept;
  eb_al_system fresh;
  bool same = true;
  for (uint64_t p = 0; p < 2; p++)
    c[p] = contact_open(
        &(contact_recipe){.seed = 11 + p, .bodies = 6, .side = 3, .contacts = CONTACTS, .mu = 0.5});
  for (int k = 0; k < CONTACTS; k++) {
    compliance[k] = 1e-3;
    bound[k] = 0.5 * (k % 4);
    for (int d = 0; d < 3; d++) anchor[3 * k + d] = random_uniform(&random, -1, 1);
  }
  eb_al_law law = {.compliance = compliance, .anchor = anchor, .bound = bound};
  tap_require(eb_al_system_create(c[0].A, true, 1, &kept), "a system");
  for (int place = 0; place < 2 * PLACES; place++) {
    const eb_contact_problem *problem = c[place / PLACES].problem;
    if (place % PLACES == 0) tap_require(eb_al_system_begin(&kept, problem), "a problem");
    /* At the last place of the first problem and the first of the second they are the same. */
    for (int i = 0; i < 3 * CONTACTS && place != PLACES; i++)
      u[i] = i / 3 % 3 ? random_uniform(&random, -2e-3, 2e-3) : 0;
    eb_al_member own = eb_al_join(&kept);
    if (place % PLACES == 0) eb_al_system_prepare(&own);
    eb_al_system_linearize(&own, &law, u);
    tap_require(eb_al_system_create(c[0].A, true, 1, &fresh), "another");
    tap_require(eb_al_system_begin(&fresh, problem), "the problem");
    own = eb_al_join(&fresh);
    eb_al_system_prepare(&own);
    eb_al_system_linearize(&own, &law, u);
    same &= !memcmp(kept.D, fresh.D, sizeof(double[9 * CONTACTS]));
    for (int32_t k = 0; k < CONTACTS; k++)
      same &= !eb_al_resists(&fresh, k) ||
              !memcmp(kept.inner + 9 * k, fresh.inner + 9 * k, sizeof(double[9]));
    eb_al_system_clear(&fresh);
  }
  tap_ok(same, "linearizing again leaves nothing of before");
  for (int p = 0; p < 2; p++) contact_close(&c[p]);
}

/* ---- solutions ------------------------------------------------------------------------------- */

static const contact_recipe RECIPES[CASES] = {
    {.seed = 1, .bodies = 10, .side = 3, .contacts = 50, .mu = 0},
    {.seed = 2, .bodies = 10, .side = 3, .contacts = 50, .mu = 0.5},
    {.seed = 3, .bodies = 20, .side = 3, .contacts = 300, .mu = -1},
    {.seed = 4, .bodies = 20, .side = 3, .contacts = 200, .mu = 0.5, .duplicates = 80, .near = 80},
    {.seed = 5, .bodies = 8, .side = 3, .pile = true, .mu = 0.5},
    {.seed = 6, .bodies = 8, .side = 3, .pile = true, .mu = 1, .duplicates = 30, .near = 30},
    {.seed = 7, .bodies = 20, .side = 3, .contacts = 100, .mu = -1, .loose = true},
    {.seed = 8, .bodies = 4, .side = 3, .contacts = 0, .mu = 0.5},
    {.seed = 9, .bodies = 40, .side = 3, .pile = true, .mu = 0.5}};

/* Contacts repeated with a turn of 1e-5 contradict each other by that much of a motion of some 0.1
 * mm, 1e-9 m: forces have to go from one to the other until one is open. */
static void cases_are_solved(const char *options) {
  const eb_contact_tolerance tight = {
      .eps1 = 1e-9, .eps2 = 1e-9, .cone = 1e-6, .angle = 0.1, .max_iterations = 20000};
  for (int k = 0; k < CASES; k++) {
    owned(contact_case) c = contact_open(&RECIPES[k]);
    owned(solution) s = solve_case(&c, options, &tight);
    tap_ok(s.outcome.reason == EB_CONVERGED_ATOL && eb_contact_solved(&s.error, &tight),
           "case %d, %s: solved", k, options);
  }
}

/* At the tolerance of the paper a pile takes some tens of iterations; the bound leaves room for
 * other machines' rounding. */
static void few_iterations(const char *options) {
  const eb_contact_tolerance paper = {
      .eps1 = 5e-5, .eps2 = 5e-6, .cone = 1e-3, .angle = 1.2, .max_iterations = 20000};
  owned(contact_case) c = contact_open(&RECIPES[8]);
  owned(solution) s = solve_case(&c, options, &paper);
  tap_ok(eb_contact_solved(&s.error, &paper), "%s: a pile of 40 bodies at the paper's tolerance",
         options);
  tap_below((double)s.outcome.iterations, 300, "in at most 300 iterations");
  int64_t cold = s.outcome.iterations;
  tap_require(run_method(&c, options, 1, &paper, &s), "again");
  tap_below((double)s.outcome.iterations, 0.2 * (double)cold, "a solved problem is solved");
}

static void solution_has_the_same_bits(const contact_recipe *recipe, const char *options) {
  const eb_contact_tolerance paper = {
      .eps1 = 5e-5, .eps2 = 5e-6, .cone = 1e-3, .angle = 1.2, .max_iterations = 20000};
  owned(contact_case) c = contact_open(recipe);
  size_t n = 3 * (size_t)c.A->rows, m = 3 * (size_t)c.problem->count;
  owned(solution) first = solve_on(&c, options, 1, &paper);
  tap_ok(first.outcome.reason == EB_CONVERGED_ATOL && eb_contact_solved(&first.error, &paper),
         "%d bodies, %s: solved by one thread", recipe->bodies, options);
  for (int threads = 2; threads <= 3; threads++) {
    owned(solution) s = solve_on(&c, options, threads, &paper);
    tap_ok(!memcmp(s.v, first.v, n * sizeof *s.v) && !memcmp(s.r, first.r, m * sizeof *s.r) &&
               !memcmp(&s.outcome, &first.outcome, sizeof s.outcome),
           "and by %d, to the bit", threads);
  }
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void contradictions_stagnate(void) {
  const eb_contact_tolerance paper = {
      .eps1 = 5e-5, .eps2 = 5e-6, .cone = 1e-3, .angle = 1.2, .max_iterations = 20000};
  owned(contact_case) c = contact_open(&(contact_recipe){
      .seed = 10, .bodies = 5, .side = 3, .contacts = 20, .mu = 0.5, .inconsistent = true});
  owned(solution) s = solve_case(&c, NULL, &paper);
  tap_ok(s.outcome.reason == EB_CONVERGED_STAGNATED,
         "contradicting contacts: the least-squares exit");
  tap_near(s.error.violation, 1e-5, 1e-6, "half of what they contradict is left to each, 1e-5 m");
}

static void gives_up(void) {
  const eb_contact_tolerance short_ = {
      .eps1 = 1e-9, .eps2 = 1e-9, .cone = 1e-6, .angle = 0.1, .max_iterations = 5};
  owned(contact_case) c = contact_open(&RECIPES[4]);
  solution s = solve_case(&c, NULL, &short_);
  tap_ok(s.outcome.reason == EB_DIVERGED_MAX_IT && s.outcome.iterations <= 5,
         "gives up after max_iterations");
  release(&s);
  c.b[4] = NAN;
  s = solve_case(
      &c, NULL,
      &(eb_contact_tolerance){.eps1 = 1, .eps2 = 1, .cone = 1, .angle = 1, .max_iterations = 50});
  tap_ok(s.outcome.reason < 0, "a right-hand side that is not a number is a negative outcome");
  release(&s);
}

static void refuses_indefinite(void) {
  owned(contact_case) c = contact_open(&RECIPES[4]);
  owned(solution) s = solve_case(
      &c, NULL,
      &(eb_contact_tolerance){.eps1 = 1, .eps2 = 1, .cone = 1, .angle = 90, .max_iterations = 50});
  memset(c.A->values + 9 * (int64_t)c.A->diagonal[3], 0, 9 * sizeof *c.A->values);
  tap_fails(run_method(&c, NULL, 1, &(eb_contact_tolerance){.max_iterations = 5}, &s),
            EB_ERR_INVALID, "row 3", "a diagonal block of zeros");
}

int main(void) {
  law_is_differentiated();
  law_is_the_contact_law();
  for (int rigid = 0; rigid < 2; rigid++) {
    system_is_solved(true, rigid);
    system_is_solved(false, rigid);
  }
  for (int k = 0; k < 2; k++) {
    system_has_the_same_bits(&LARGE[k]);
    solution_has_the_same_bits(&LARGE[k], "preconditioner=full");
    solution_has_the_same_bits(&LARGE[k], "preconditioner=diag");
  }
  nothing_stays_of_before();
  cases_are_solved("preconditioner=full");
  cases_are_solved("preconditioner=diag");
  few_iterations("preconditioner=full");
  few_iterations("preconditioner=diag");
  contradictions_stagnate();
  gives_up();
  refuses_indefinite();
  return tap_done();
}
