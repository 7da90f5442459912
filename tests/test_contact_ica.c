/* Iterative Constraint Anticipation against dense answers and against the contact law itself; the one-contact solution it is built on. */
#include "solvers/contact/coulomb.h"
#include "solvers/contact/ica.h"
#include "tests/contact_methods.h"

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 2, ONE_CONTACTS = 2000 };
#else
enum { SEEDS = 8, ONE_CONTACTS = 20000 };
#endif

static const eb_option OPTIONS[] = {EB_CONTACT_ICA_OPTIONS, {0}};

static contact_run open_run(const contact_case *c, const char *options) {
  return contact_run_open(&eb_contact_ica, OPTIONS, options, c->A->rows, c->problem->count);
}

/* ---- one contact ---- */

/* 1 + G G^T of a random G. */
static void random_W(random_state *random, double W[9]) {
  double G[9];
  for (int k = 0; k < 9; k++) G[k] = random_uniform(random, -1, 1);
  for (int k = 0; k < 9; k++) {
    W[k] = k % 4 == 0;
    for (int d = 0; d < 3; d++) W[k] += G[3 * (k / 3) + d] * G[3 * (k % 3) + d];
  }
}

/* Solves one contact from r = 0, again and again as sweeps do; returns how far it is from the law, relative to |q|. */
static double one_contact_error(random_state *random, double mu) {
  eb_coulomb contact;
  double W[9], q[3], u[3], r[3] = {0}, change[3];
  random_W(random, W);
  for (int d = 0; d < 3; d++) q[d] = random_uniform(random, -1, 1);
  eb_coulomb_set(&contact, W, mu);
  for (int visit = 0; visit < 200; visit++) {
    for (int d = 0; d < 3; d++)
      u[d] = q[d] + W[3 * d] * r[0] + W[3 * d + 1] * r[1] + W[3 * d + 2] * r[2];
    eb_coulomb_solve(&contact, u, r, change);
  }
  for (int d = 0; d < 3; d++)
    u[d] = q[d] + W[3 * d] * r[0] + W[3 * d + 1] * r[1] + W[3 * d + 2] * r[2];
  double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]), slip = hypot(u[1], u[2]);
  double friction = hypot(r[1], r[2]), error = fmax(-u[0], r[0] > 0 ? u[0] : 0);
  bool slides = friction >= (1 - 1e-9) * mu * r[0];
  if (r[0] > 0 && !slides) error = fmax(error, slip);
  if (r[0] > 0 && slides && mu > 0) /* |u_t| + u_t . r_t / |r_t| = 0 */
    error = fmax(error, slip + (u[1] * r[1] + u[2] * r[2]) / friction);
  return fmax(error / size, fmax(-r[0], friction - mu * r[0]));
}

/* With mu up to 0.5 and these W; the direction converges linearly, and the measure is quadratic in it. */
static void test_one_contact(void) {
  random_state random = random_seed(7);
  static const double MU[] = {0, 0.1, 0.3, 0.5};
  for (int m = 0; m < 4; m++) {
    double worst = 0;
    for (int i = 0; i < ONE_CONTACTS; i++) worst = fmax(worst, one_contact_error(&random, MU[m]));
    char name[80];
    snprintf(name, sizeof name, "one contact obeys the law, mu = %g", MU[m]);
    tap_below(worst, 1e-6, name);
  }
}

static void test_states(void) {
  const double r[] = {0, 0, 0, 2, 0.5, 0, 2, 0.6, 0.8, 1, 0, 0}, mu[] = {1, 1, 0.5, 0};
  uint8_t state[4] = {EB_COULOMB_SLIDES, EB_COULOMB_STICKS, EB_COULOMB_SLIDES, EB_COULOMB_SLIDES};
  tap_ok(eb_coulomb_changes(4, r, mu, state) == 1 && state[0] == EB_COULOMB_APART,
         "the one state that has changed is counted");
  tap_ok(eb_coulomb_changes(4, r, mu, state) == 0, "and is then known");
}

/* ---- without friction ---- */

/* |A (v - v*)| <= eps1 + what eps2 lets normal forces err; masses are 1e-4 kg at least, u = 1e-3 v. */
static void test_enumerated(void) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    contact_case c =
        contact_open(&(contact_recipe){.seed = seed, .bodies = 3, .side = 2, .contacts = 8});
    contact_run run = open_run(&c, "");
    double *want = eb_test_random_vector(3 * (int64_t)run.rows, &seed);
    contact_enumerate(c.problem, want);
    tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "no friction: converges");
    tap_below(contact_difference(3 * (int64_t)run.rows, run.v, want), 2e-5,
              "and agrees with enumeration");
    free(want);
    contact_run_close(&run);
    contact_close(&c);
  }
}

/* Without contacts it is a linear system. */
static void test_no_contacts(void) {
  contact_case c = contact_open(&(contact_recipe){.seed = 3, .bodies = 2, .side = 3});
  contact_run run = open_run(&c, "");
  double *want;
  tap_require(EB_NEW(want, 3 * (size_t)run.rows), "want");
  contact_dense_solve(c.A, c.b, want);
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "no contacts: converges");
  tap_below(contact_difference(3 * (int64_t)run.rows, run.v, want), 2e-5,
            "and solves the linear system");
  free(want);
  contact_run_close(&run);
  contact_close(&c);
}

/* ---- with friction ---- */

static void solve_recipe(const contact_recipe *recipe, const char *options, int64_t most,
                         const char *name) {
  contact_case c = contact_open(recipe);
  contact_run run = open_run(&c, options);
  if (recipe->near)
    run.tolerance.eps2 = 1e-7; /* of motions of 1e-3 m; sweeps over rows that nearly repeat creep */
  bool converged = contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL;
  tap_ok(converged && eb_contact_solved(&run.error, &run.tolerance), "%s: meets the tolerance",
         name);
  tap_ok(run.outcome.iterations > 0 && run.outcome.iterations <= most, "%s: in %lld iterations",
         name, (long long)most);
  tap_ok(run.outcome.state_changes > 0 && run.outcome.state_changes <= run.outcome.iterations,
         "%s: counts changes of states", name);
  if (!converged)
    printf("#   seed %d: %s\n", (int)recipe->seed, eb_reason_name(run.outcome.reason));
  contact_run_solve(&run, c.problem);
  tap_ok(run.outcome.iterations == 0, "%s: a solution needs no iteration", name);
  contact_run_close(&run);
  contact_close(&c);
}

static void test_friction(void) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    contact_recipe random = {.seed = seed, .bodies = 4, .side = 3, .contacts = 30, .mu = -1};
    solve_recipe(&random, "", 2000, "random contacts");
    random.duplicates = random.near = 10;
    solve_recipe(&random, "", 2000, "contacts that repeat");
    solve_recipe(&random, "inner_sweeps=1", 4000, "one inner sweep");
    contact_recipe pile = {.seed = seed, .bodies = 4, .side = 3, .mu = 0.5, .pile = true};
    solve_recipe(&pile, "", 2000, "a pile");
  }
}

/* mu = 0: no friction at all, whatever the guess says. */
static void test_frictionless(void) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 3, .side = 3, .contacts = 20});
  contact_run run = open_run(&c, "");
  for (int32_t k = 0; k < 3 * run.room; k++) run.r[k] = 1;
  double largest = 0;
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "mu = 0: converges");
  for (int32_t k = 0; k < run.room; k++)
    largest = fmax(largest, fmax(fabs(run.r[3 * k + 1]), fabs(run.r[3 * k + 2])));
  tap_near(largest, 0, 0, "and has no friction");
  contact_run_close(&run);
  contact_close(&c);
}

/* ---- outcomes ---- */

static void test_not_converged(void) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 3, .side = 3, .contacts = 20, .mu = 0.5});
  contact_run run = open_run(&c, "");
  run.tolerance.max_iterations = 3;
  tap_ok(contact_run_solve(&run, c.problem) == EB_DIVERGED_MAX_IT && run.outcome.iterations == 3,
         "stops after as many iterations as allowed");
  tap_ok(contact_run_is_finite(&run), "with finite results");
  run.tolerance.max_iterations = 20000;
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "from which it goes on");
  c.b[4] = NAN;
  tap_ok(contact_run_solve(&run, c.problem) == EB_DIVERGED_NAN, "NaN is an outcome");
  c.A->values[9 * (int64_t)c.A->diagonal[2]] = -1;
  tap_ok(contact_run_solve(&run, c.problem) == EB_NOT_POSITIVE_DEFINITE,
         "a diagonal block that is not positive definite is an outcome");
  contact_run_close(&run);
  contact_close(&c);
}

static void test_inconsistent(void) {
  contact_case c = contact_open(
      &(contact_recipe){.seed = 2, .bodies = 2, .side = 2, .contacts = 4, .inconsistent = true});
  contact_run run = open_run(&c, "");
  run.tolerance.max_iterations = 500;
  tap_ok(contact_run_solve(&run, c.problem) == EB_DIVERGED_MAX_IT && contact_run_is_finite(&run),
         "contradicting contacts end with finite results");
  contact_run_close(&run);
  contact_close(&c);
}

/* A contact whose H is 0 (on nodes that are held) is left alone; one that is violated for ever is not solved. */
static void test_immovable(void) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 2, .bodies = 2, .side = 2, .contacts = 4});
  const double H[9] = {0}, c_met[3] = {-1e-5, 0, 0};
  const int32_t block = 1;
  tap_require(eb_contact_problem_reserve(c.problem, c.problem->count + 1), "room");
  eb_contact_problem_add(c.problem, 1, &block, H, c_met, 0.5);
  contact_run run = open_run(&c, "");
  tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL &&
             run.r[3 * (c.problem->count - 1)] == 0,
         "a contact that nothing moves has no force");
  contact_run_close(&run);
  contact_close(&c);
}

/* More contacts than ever, then fewer, with one method. */
static void test_growth(void) {
  static const int32_t COUNTS[] = {0, 5, 60, 3};
  contact_run run = contact_run_open(&eb_contact_ica, OPTIONS, "", 54, 60);
  for (int i = 0; i < 4; i++) {
    contact_case c = contact_open(
        &(contact_recipe){.seed = 4, .bodies = 2, .side = 3, .contacts = COUNTS[i], .mu = 0.5});
    memset(run.r, 0, 3 * (size_t)run.room * sizeof *run.r);
    tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL, "one method, %d contacts",
           (int)COUNTS[i]);
    contact_close(&c);
  }
  contact_run_close(&run);
}

int main(void) {
  test_one_contact();
  test_states();
  test_enumerated();
  test_no_contacts();
  test_friction();
  test_frictionless();
  test_not_converged();
  test_inconsistent();
  test_immovable();
  test_growth();
  return tap_done();
}
