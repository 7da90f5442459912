/* Staggered Projections against dense answers, the contact law itself, and two other methods. */
#include "problems/base/sanitizer.h"
#include "solvers/contact/method.h"
#include "tests/support/owned.h"
#include "tests/support/contact_methods.h"

#if EB_SANITIZER
enum { SEEDS = 1 };
#else
enum { SEEDS = 6 };
#endif

static const eb_option SP_OPTIONS[] = {EB_CONTACT_SP_OPTIONS, {0}};
static const eb_option ICA_OPTIONS[] = {EB_CONTACT_ICA_OPTIONS, {0}};
static const eb_option DELASSUS_OPTIONS[] = {EB_CONTACT_DELASSUS_OPTIONS, {0}};
static const contact_subject SP = {&eb_contact_sp, SP_OPTIONS};
static const contact_subject ICA = {&eb_contact_ica, ICA_OPTIONS};
static const contact_subject DELASSUS = {&eb_contact_delassus, DELASSUS_OPTIONS};

static void test_friction(const char *options) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    contact_recipe random = {.seed = seed, .bodies = 4, .side = 3, .contacts = 30, .mu = -1};
    contact_check_recipe(&SP, options, &random, 15000, "random contacts");
    random.duplicates = random.near = 10;
    contact_check_recipe(&SP, options, &random, 15000, "contacts that repeat");
    contact_recipe pile = {.seed = seed, .bodies = 4, .side = 3, .mu = 0.5, .pile = true};
    contact_check_recipe(&SP, options, &pile, 10000, "a pile");
  }
}

/* One problem, three methods: with the angle of friction to 0.002 degrees, velocities of 1 m/s
 * agree to that and the conditioning of A (10 at the least). */
static void test_agreement(const char *options) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    owned(contact_case) c = contact_open(
        &(contact_recipe){.seed = seed, .bodies = 3, .side = 3, .contacts = 15, .mu = 0.3});
    contact_run run[3] = {contact_run_for(&SP, options, &c), contact_run_for(&ICA, "", &c),
                          contact_run_for(&DELASSUS, "", &c)};
    for (int i = 0; i < 3; i++) {
      run[i].tolerance.angle = 2e-3;
      tap_ok(contact_run_solve(run + i, c.problem) == EB_CONVERGED_ATOL, "%s solves the problem",
             run[i].method->name);
      tap_below(contact_difference(3 * (int64_t)run[i].rows, run[i].v, run[0].v), 1e-4,
                "with the same velocity");
    }
    for (int i = 0; i < 3; i++) contact_run_close(run + i);
  }
}

/* Motions below a coarse eps2 move forces by more than cones allow: neither program may take them
 * for an answer. */
static void test_coarse(const char *options) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    owned(contact_case) c = contact_open(
        &(contact_recipe){.seed = seed, .bodies = 4, .side = 3, .mu = 0.5, .pile = true});
    owned(contact_run) run = contact_run_for(&SP, options, &c);
    run.tolerance.eps1 = 1e-5;
    run.tolerance.eps2 = 5e-6;
    tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL && run.outcome.iterations < 1000,
           "sp %s: a pile to a coarse tolerance", options);
  }
}

/* With equations solved to a coarse eps1, forces of contacts that slide turn far before velocities
 * answer, which a tight eps2 calls for: of the first ten seeds four went round without end. */
static void test_turning(const char *options) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    owned(contact_case) c = contact_open(
        &(contact_recipe){.seed = seed, .bodies = 5, .side = 3, .contacts = 60, .mu = -1});
    owned(contact_run) run = contact_run_for(&SP, options, &c);
    run.tolerance.eps1 = 1e-4;
    run.tolerance.eps2 = 1e-6;
    run.tolerance.max_iterations = 15000;
    tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL,
           "sp %s: friction that turns (seed %d)", options, (int)seed);
  }
}

/* States change as the iteration goes on, not only when it has converged. */
static void test_dynamic(void) {
  owned(contact_case) c =
      contact_open(&(contact_recipe){.seed = 1, .bodies = 4, .side = 3, .contacts = 60});
  owned(contact_run) set = contact_run_for(&SP, "", &c),
                     dynamic = contact_run_for(&SP, "inner=2xcr", &c);
  contact_run_solve(&set, c.problem);
  contact_run_solve(&dynamic, c.problem);
  tap_ok(dynamic.outcome.iterations < set.outcome.iterations,
         "2xcr takes fewer iterations than active-set: %d, %d", (int)dynamic.outcome.iterations,
         (int)set.outcome.iterations);
}

/* Bodies that are at rest without any force but are too close: the guess leaves no residual but
 * that of the constraints, and the first direction of conjugate residuals leads nowhere. */
static void test_guess_in_balance(const char *options) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    owned(contact_case) c = contact_open(
        &(contact_recipe){.seed = seed, .bodies = 3, .side = 3, .contacts = 15, .mu = 0.3});
    memset(c.b, 0, 3 * (size_t)c.A->rows * sizeof *c.b);
    for (int32_t k = 0; k < c.problem->count; k++) c.problem->c[3 * (int64_t)k] = 1e-6 * (1 + k);
    owned(contact_run) run = contact_run_for(&SP, options, &c);
    tap_ok(contact_run_solve(&run, c.problem) == EB_CONVERGED_ATOL && run.outcome.iterations > 0,
           "sp %s: from a guess that is in balance", options);
  }
}

int main(void) {
  static const char *const INNER[] = {"inner=active-set", "inner=2xcr"};
  for (int i = 0; i < 2; i++) {
    for (uint64_t seed = 1; seed <= SEEDS; seed++) contact_check_enumerated(&SP, INNER[i], seed);
    test_friction(INNER[i]);
    test_agreement(INNER[i]);
    test_coarse(INNER[i]);
    test_turning(INNER[i]);
    test_guess_in_balance(INNER[i]);
    contact_check_no_contacts(&SP, INNER[i]);
    contact_check_frictionless(&SP, INNER[i]);
    contact_check_outcomes(&SP, INNER[i]);
    contact_check_contradiction(&SP, INNER[i], EB_CONVERGED_STAGNATED);
    contact_check_immovable(&SP, INNER[i]);
    contact_check_growth(&SP, INNER[i]);
  }
  test_dynamic();
  return tap_done();
}
