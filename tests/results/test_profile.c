/* Performance and data profiles: small tables by hand, and what the papers prove of any table. */
#include <math.h>

#include "harness/results/profile.h"
#include "tests/support/random.h"
#include "tests/tap.h"

/* Three solvers, five problems; the last is solved by none. */
static const double table[] = {1,        2,        4,        /* ratios 1, 2, 4 */
                               3,        3,        INFINITY, /* a tie */
                               10,       1,        5,        /* 10, 1, 5 */
                               NAN,      -1,       2,        /* failures of other kinds */
                               INFINITY, INFINITY, INFINITY};
static const eb_costs costs = {5, 3, table};

static void test_by_hand(void) {
  static const struct {
    double factor;
    int within[3];
  } wanted[] = {{1, {2, 2, 1}}, {2, {2, 3, 1}},  {4, {2, 3, 2}},
                {5, {2, 3, 3}}, {10, {3, 3, 3}}, {INFINITY, {3, 3, 3}}};
  tap_ok(eb_costs_solved(&costs) == 4, "a problem that nobody solves is not counted as solved");
  tap_ok(eb_costs_best(&costs, 2) == 1 && isinf(eb_costs_best(&costs, 4)), "least costs");
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    for (int s = 0; s < 3; s++)
      tap_ok(eb_profile_within(&costs, s, wanted[k].factor) == wanted[k].within[s],
             "solver %d solves %d within %g times the best", s, wanted[k].within[s],
             wanted[k].factor);
}

static void test_data_profile(void) {
  static const double unit[] = {1, 3, 5, 1, 1};
  static const struct {
    double budget;
    int paid[3];
  } wanted[] = {{0.1, {0, 0, 0}}, {1, {2, 2, 1}}, {2, {3, 3, 2}}, {4, {3, 3, 3}}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    for (int s = 0; s < 3; s++)
      tap_ok(eb_profile_paid(&costs, unit, s, wanted[k].budget) == wanted[k].paid[s],
             "solver %d solves %d for %g units", s, wanted[k].paid[s], wanted[k].budget);
}

/* Of any table: counts rise with the factor; at 1 they are at least as many as problems that are
 * solved, more where there are ties; in the end they are those that each solver has solved. */
static void test_laws(void) {
  enum { PROBLEMS = 40, SOLVERS = 6 };
  double cost[PROBLEMS * SOLVERS];
  random_state state = random_seed(7);
  for (int i = 0; i < PROBLEMS * SOLVERS; i++)
    cost[i] = random_uniform(&state, 0, 1) < 0.3 ? INFINITY : exp(random_uniform(&state, 0, 4));
  const eb_costs random = {PROBLEMS, SOLVERS, cost};
  bool rises = true, ends = true;
  int first = 0;
  for (int s = 0; s < SOLVERS; s++) {
    int solved = 0, before = 0;
    first += eb_profile_within(&random, s, 1);
    for (int p = 0; p < PROBLEMS; p++) solved += isfinite(cost[p * SOLVERS + s]);
    for (double factor = 1; factor < 100; factor *= 1.1) {
      int now = eb_profile_within(&random, s, factor);
      rises &= now >= before;
      before = now;
    }
    ends &= before == solved && eb_profile_within(&random, s, INFINITY) == solved;
  }
  tap_ok(rises, "a profile never falls");
  tap_ok(first == eb_costs_solved(&random), "at 1, without ties, every solved problem counts once");
  tap_ok(ends, "in the end it is the share of the problems that the solver solves");
}

int main(void) {
  test_by_hand();
  test_data_profile();
  test_laws();
  return tap_done();
}
