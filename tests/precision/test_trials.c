/* Trials of a solver over their seeds: states, errors, costs; the front that they make; profiles of
 * what they cost to come within an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/precision/precision_doc.h"
#include "tests/tap.h"

enum { SEEDS = 3 };

/* A trial whose runs have this error, and CPU times around this cost. */
static eb_trial trial_of(double error, double cost, eb_trial_state state, eb_measured *runs) {
  static const double spread[SEEDS] = {1, 0.5, 3};
  for (int k = 0; k < SEEDS; k++)
    runs[k] = (eb_measured){state, error, error, {cost * spread[k], cost, 2 * cost}};
  return (eb_trial){.stride = 1, .runs = runs};
}

static void test_front(void) {
  static const struct {
    double error, cost;
    eb_trial_state state;
    bool front;
    const char *what;
  } wanted[] = {{1e-1, 1, EB_TRIAL_VALID, true, "the cheapest"},
                {1e-2, 4, EB_TRIAL_VALID, true, "a more accurate one for more"},
                {2e-2, 5, EB_TRIAL_VALID, false, "one that is beaten in both"},
                {1e-2, 8, EB_TRIAL_VALID, false, "one as accurate for more"},
                {1e-2, 4, EB_TRIAL_VALID, false, "the second of two that are equal"},
                {1e-3, 9, EB_TRIAL_VALID, true, "the most accurate"},
                {1e-6, 2, EB_TRIAL_UNRESOLVED, false, "one that is not resolved"},
                {NAN, 0.1, EB_TRIAL_FAILED, false, "one that has failed"},
                {NAN, 0, EB_TRIAL_MISSING, false, "one that was not run"}};
  enum { COUNT = sizeof wanted / sizeof *wanted };
  eb_measured runs[COUNT][SEEDS];
  eb_trial trials[COUNT];
  for (int i = 0; i < COUNT; i++)
    trials[i] = trial_of(wanted[i].error, wanted[i].cost, wanted[i].state, runs[i]);
  tap_require(eb_trials_judge(trials, COUNT, SEEDS), "trials");
  for (int i = 0; i < COUNT; i++)
    tap_ok(trials[i].front[EB_COST_CPU] == wanted[i].front, "%s is %son the front", wanted[i].what,
           wanted[i].front ? "" : "not ");
}

static void test_seeds(void) {
  eb_measured runs[SEEDS];
  eb_trial trial = trial_of(1e-2, 4, EB_TRIAL_VALID, runs);
  runs[1].error = 3e-2;
  tap_require(eb_trials_judge(&trial, 1, SEEDS), "a trial");
  tap_ok(trial.error == 3e-2, "the error is the worst of the seeds");
  tap_ok(trial.cost[EB_COST_CPU] == 4 && trial.least[EB_COST_CPU] == 2 &&
             trial.most[EB_COST_CPU] == 12,
         "the cost their median, beside the extremes");
  runs[2].state = EB_TRIAL_FAILED;
  runs[2].error = NAN;
  tap_require(eb_trials_judge(&trial, 1, SEEDS), "a trial");
  tap_ok(trial.state == EB_TRIAL_FAILED && isnan(trial.error) && !trial.front[EB_COST_CPU],
         "a trial of which one seed fails has failed");
}

static const eb_profile_of by_cpu = {EB_COST_CPU, false}, by_paid = {EB_COST_CPU, true};

static void clear_profiles(eb_study *study) {
  for (int c = 0; c < EB_COST_KINDS; c++) {
    free(study->profiles[c].problem);
    free(study->profiles[c].unit);
    for (int k = 0; k < SEEDS; k++) free(study->profiles[c].cost[k]);
    free(study->profiles[c].cost);
    study->profiles[c] = (eb_profiles){0};
  }
}

/* One scene, whose reference is off by 1e-3; two solvers of two trials. */
static void test_profiles(void) {
  const eb_study_request request = {.budget = 2, .seeds = SEEDS};
  eb_measured runs[4][SEEDS];
  eb_trial trials[4];
  eb_study_scene scene = {.reference = {.state = EB_REFERENCE_VALID, .error = 1e-3, .unit = 2}};
  eb_competitor solvers[2] = {{0}};
  eb_study study = {.request = &request,
                    .scene_count = 1,
                    .solver_count = 2,
                    .scenes = &scene,
                    .solvers = solvers,
                    .trials = trials};
  trials[0] = trial_of(5e-2, 1, EB_TRIAL_VALID, runs[0]);
  trials[1] = trial_of(1e-9, 6, EB_TRIAL_FAILED, runs[1]);
  trials[2] = trial_of(8e-2, 2, EB_TRIAL_VALID, runs[2]);
  trials[3] = trial_of(9.5e-3, 10, EB_TRIAL_VALID, runs[3]);
  runs[2][1].cost[EB_COST_CPU] = 0.1; /* cheaper than the other solver, for one seed */
  runs[3][2].state = EB_TRIAL_FAILED;
  for (int t = 0; t < 4; t++)
    for (int k = 0; k < SEEDS; k++) {
      runs[t][k].cost[EB_COST_PRODUCTS] = t == 2 && k < 2 ? 70 : 0;
      runs[t][k].cost[EB_COST_FACTORIZATIONS] = 0;
    }
  tap_require(eb_study_profile(&study), "profiles");
  const eb_profiles *p = &study.profiles[EB_COST_CPU];
  /* 1e-1: both; 3.2e-2: the second, 1e-2: 9.5e-3 + 1e-3 is beyond; down to 5e-3 are resolved. */
  tap_ok(p->problems == 2 && p->unsolved == 1 && p->unresolved == 4,
         "problems that are solved, solved by none, and finer than the reference: %d, %d, %d",
         p->problems, p->unsolved, p->unresolved);
  tap_ok(p->cost[0][0] == 1 && p->cost[0][1] == 2, "costs of the cheapest trial that gets there");
  tap_ok(isinf(p->cost[0][2]) && p->cost[0][3] == 10, "  and infinity for a trial that failed");
  tap_ok(isinf(p->cost[2][3]), "  with that seed");
  eb_share first = eb_study_share(&study, by_cpu, 0, 1),
           second = eb_study_share(&study, by_cpu, 1, 1);
  tap_near(first.mean, 1. / 3, 1e-15, "the first solver is the cheapest for one, for two seeds");
  tap_ok(first.least == 0 && first.most == 0.5, "  and for none for the third");
  tap_near(second.mean, (0.5 + 1 + 0) / 3, 1e-15, "the second for the other, or both, or none");
  eb_share paid = eb_study_share(&study, by_paid, 1, 2.5);
  /* In units of 2 s: seed 0 has costs 2 and 10, seed 1 has 0.1 and 5, seed 2 has 6. */
  tap_near(paid.mean, (0.5 + 1 + 0) / 3, 1e-15, "and solves these for 5 s");
  double from, to;
  eb_study_changes(&study, by_paid, &from, &to);
  tap_ok(from == 0.05 && to == 5, "where shares change");
  /* Only the first trial of the second solver counts products, and in the last seed none does. */
  const eb_profiles *products = &study.profiles[EB_COST_PRODUCTS];
  tap_ok(!eb_study_counts(&study, 0, EB_COST_PRODUCTS) &&
             eb_study_counts(&study, 1, EB_COST_PRODUCTS) &&
             !eb_study_counts(&study, 1, EB_COST_FACTORIZATIONS),
         "who counts products is told");
  tap_ok(products->problems == 1 && products->unsolved == 2 && products->unresolved == 4,
         "by products there is what trials that count them solve");
  tap_ok(isinf(products->cost[0][0]) && products->cost[0][1] == 70 && isinf(products->cost[2][1]),
         "  for what they count");
  tap_ok(study.profiles[EB_COST_FACTORIZATIONS].problems == 0, "and where nobody counts, nothing");
  solvers[1].claims = true;
  clear_profiles(&study);
  tap_require(eb_study_profile(&study), "profiles once more");
  tap_ok(!eb_study_counts(&study, 1, EB_COST_PRODUCTS) &&
             study.profiles[EB_COST_PRODUCTS].problems == 0,
         "what is the solver's own word is in no profile");
  tap_ok(eb_study_counts(&study, 1, EB_COST_CPU) && study.profiles[EB_COST_CPU].problems == 2,
         "  and its time, which the harness has measured, is");
  clear_profiles(&study);
}

int main(void) {
  test_front();
  test_seeds();
  test_profiles();
  return tap_done();
}
