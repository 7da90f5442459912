/* Profiles of solvers over a set of problems, from the cost that each needed for each.
 *
 * Performance profile (Dolan and More 2002, "Benchmarking optimization software with performance
 * profiles"): the share of problems that a solver solves within `factor` times the least cost of
 * all solvers. Data profile (More and Wild 2009, "Benchmarking derivative-free optimization
 * algorithms"): the share that it solves within `budget` units of cost, of which each problem has
 * its own. A failure costs infinity: a profile that does not come to 1 shows it. Both functions
 * count; what the share is of, all problems or those that any solver solves, the caller chooses and
 * says. */
#ifndef EB_RESULTS_PROFILE_H
#define EB_RESULTS_PROFILE_H

typedef struct eb_costs {
  int problems, solvers;
  const double *cost; /* problems x solvers; not solved: infinite, not a number, or not positive */
} eb_costs;

/* The cost of one solver for one problem; INFINITY where it has not solved it. */
double eb_costs_of(const eb_costs *costs, int problem, int solver);
/* The least cost of a problem; INFINITY when no solver has solved it. */
double eb_costs_best(const eb_costs *costs, int problem);
/* Problems that one solver at least has solved. */
int eb_costs_solved(const eb_costs *costs);
/* Problems that the solver has solved within factor >= 1 times the least cost; INFINITY: at all. */
int eb_profile_within(const eb_costs *costs, int solver, double factor);
/* Problems that it has solved within budget * unit[problem]. */
int eb_profile_paid(const eb_costs *costs, const double *unit, int solver, double budget);

#endif
