/* Performance and data profiles (Dolan and More 2002; More and Wild 2009): counts of problems. */
#include "harness/results/profile.h"

#include <math.h>
#include <stddef.h>

double eb_costs_of(const eb_costs *costs, int problem, int solver) {
  double cost = costs->cost[(size_t)problem * (size_t)costs->solvers + (size_t)solver];
  return cost > 0 ? cost : INFINITY;
}

double eb_costs_best(const eb_costs *costs, int problem) {
  double best = INFINITY;
  for (int s = 0; s < costs->solvers; s++) best = fmin(best, eb_costs_of(costs, problem, s));
  return best;
}

int eb_costs_solved(const eb_costs *costs) {
  int solved = 0;
  for (int p = 0; p < costs->problems; p++) solved += eb_costs_best(costs, p) < INFINITY;
  return solved;
}

static int is_solved_within(const eb_costs *costs, int problem, int solver, double limit) {
  double cost = eb_costs_of(costs, problem, solver);
  return cost < INFINITY && cost <= limit;
}

int eb_profile_within(const eb_costs *costs, int solver, double factor) {
  int within = 0;
  for (int p = 0; p < costs->problems; p++)
    within += is_solved_within(costs, p, solver, factor * eb_costs_best(costs, p));
  return within;
}

int eb_profile_paid(const eb_costs *costs, const double *unit, int solver, double budget) {
  int paid = 0;
  for (int p = 0; p < costs->problems; p++)
    paid += is_solved_within(costs, p, solver, budget * unit[p]);
  return paid;
}
