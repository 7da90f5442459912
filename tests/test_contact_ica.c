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

static const contact_subject ICA = {&eb_contact_ica, OPTIONS};

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

/* ---- problems ---- */

static void test_friction(void) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    contact_recipe random = {.seed = seed, .bodies = 4, .side = 3, .contacts = 30, .mu = -1};
    contact_check_recipe(&ICA, "", &random, 2000, "random contacts");
    random.duplicates = random.near = 10;
    contact_check_recipe(&ICA, "", &random, 2000, "contacts that repeat");
    contact_check_recipe(&ICA, "inner_sweeps=1", &random, 4000, "one inner sweep");
    contact_recipe pile = {.seed = seed, .bodies = 4, .side = 3, .mu = 0.5, .pile = true};
    contact_check_recipe(&ICA, "", &pile, 2000, "a pile");
  }
}

/* A bar, 60 times as stiff as its mass over h^2 asks for, held on one face; on every other node a contact in a random direction, mu = 1. */
static void test_stiff(void) {
  const double h = 1.0 / 60;
  uint64_t seed = 3;
  random_state random = random_seed(5);
  eb_block_matrix *A = eb_test_bar(12, 4, 1, 0.05, 0.4, NULL);
  double *b = eb_test_random_vector(3 * (int64_t)A->rows, &seed);
  eb_contact_problem *problem;
  tap_require(eb_contact_problem_create(A->rows, &problem), "a contact problem");
  for (int64_t k = 0; k < 9 * (int64_t)A->start[A->rows]; k++) A->values[k] *= 3 * h * h;
  for (int32_t i = 0; i < A->rows; i++) {
    double H[9], c[3] = {-2e-4 * (i % 3), 0, 0};
    random_rotation(&random, H);
    for (int k = 0; k < 9; k++) H[k] *= h;
    for (int d = 0; d < 3; d++) b[3 * i + d] *= i % 13 ? 0.04 : 0;
    if (i % 13) eb_contact_problem_add(problem, 1, &i, H, c, 1);
  }
  problem->A = A;
  problem->b = b;
  contact_run run = contact_run_open(ICA.method, ICA.table, "", A->rows, problem->count);
  run.tolerance.eps1 = 1e-7;
  run.tolerance.eps2 = 1e-7;
  tap_ok(contact_run_solve(&run, problem) == EB_CONVERGED_ATOL && run.outcome.iterations < 5000,
         "a stiff bar that grips everywhere");
  contact_run_close(&run);
  eb_contact_problem_destroy(problem);
  eb_block_matrix_destroy(A);
  free(b);
}

static void test_not_definite(void) {
  contact_case c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 2, .side = 2, .contacts = 4});
  contact_run run = contact_run_for(&ICA, "", &c);
  c.A->values[9 * (int64_t)c.A->diagonal[2]] = -1;
  tap_ok(contact_run_solve(&run, c.problem) == EB_NOT_POSITIVE_DEFINITE,
         "a diagonal block that is not positive definite is an outcome");
  contact_run_close(&run);
  contact_close(&c);
}

int main(void) {
  test_one_contact();
  test_states();
  for (uint64_t seed = 1; seed <= SEEDS; seed++) contact_check_enumerated(&ICA, "", seed);
  test_friction();
  test_stiff();
  test_not_definite();
  contact_check_no_contacts(&ICA, "");
  contact_check_frictionless(&ICA, "");
  contact_check_outcomes(&ICA, "");
  contact_check_contradiction(&ICA, "", EB_DIVERGED_MAX_IT);
  contact_check_immovable(&ICA, "");
  contact_check_growth(&ICA, "");
  return tap_done();
}
