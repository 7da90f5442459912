/* Iterative Constraint Anticipation against dense answers and against the contact law itself. */
#include "problems/base/sanitizer.h"
#include "tests/support/owned.h"
#include "tests/support/contact_methods.h"

#if EB_SANITIZER
enum { SEEDS = 2 };
#else
enum { SEEDS = 8 };
#endif

static const eb_option OPTIONS[] = {EB_CONTACT_ICA_OPTIONS, {0}};

static const contact_subject ICA = {&eb_contact_ica, OPTIONS};

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

/* A bar, 60 times as stiff as its mass over h^2 asks for, held on one face; on every other node a
 * contact in a random direction, mu = 1. */
static void test_stiff(void) {
  const double h = 1.0 / 60;
  uint64_t seed = 3;
  random_state random = random_seed(5);
  owned(eb_block_matrix) *A = eb_test_bar(12, 4, 1, 0.05, 0.4, NULL);
  owned(double) *b = eb_test_random_vector(3 * (int64_t)A->rows, &seed);
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
  owned(contact_run) run = contact_run_open(ICA.method, ICA.table, "", A, problem->count);
  run.tolerance.eps1 = 1e-7;
  run.tolerance.eps2 = 1e-7;
  tap_ok(contact_run_solve(&run, problem) == EB_CONVERGED_ATOL && run.outcome.iterations < 5000,
         "a stiff bar that grips everywhere");
  eb_contact_problem_destroy(problem);
}

static void test_not_definite(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 5, .bodies = 2, .side = 2, .contacts = 4});
  owned(contact_run) run = contact_run_for(&ICA, "", &c);
  c.A->values[9 * (int64_t)c.A->diagonal[2]] = -1;
  tap_ok(contact_run_solve(&run, c.problem) == EB_NOT_POSITIVE_DEFINITE,
         "a diagonal block that is not positive definite is an outcome");
}

int main(void) {
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
