/* Methods that solve the contact problem of a step (problems/contact/problem.h). The step around them (step.h) is one for all: same matrix, same
 * contacts, same tolerances, same warm start. */
#ifndef EB_CONTACT_METHOD_H
#define EB_CONTACT_METHOD_H

#include "problems/contact/problem.h"
#include "solvers/solver.h"

/* What a solution must meet, the same for every method: residual <= eps1, violation, active and sliding <= eps2, cone <= cone_tolerance, angle <= angle_tolerance
 * of eb_contact_measure. */
typedef struct eb_contact_tolerance {
  double eps1;  /* absolute, units of b */
  double eps2;  /* m */
  double cone;  /* of the largest r_n; 1e-3 */
  double angle; /* degrees: 1.2 in the paper */
  int64_t max_iterations;
} eb_contact_tolerance;

bool eb_contact_solved(const eb_contact_error *error, const eb_contact_tolerance *tolerance);

typedef struct eb_contact_outcome {
  eb_reason
      reason; /* EB_CONVERGED_ATOL; EB_CONVERGED_STAGNATED: the gradient B C^-1 r vanishes, the residual does not (inconsistent constraints); negative */
  int64_t iterations;    /* what the method counts: its file says what one is */
  int64_t state_changes; /* evaluations at which a contact has changed its state */
} eb_contact_outcome;

typedef struct eb_contact_method {
  const char *name;
  /* Room for systems of `rows` blocks; contacts may grow from solve to solve. Options are the solver's. */
  eb_error (*create)(const eb_solver *solver, int32_t rows, void **data);
  /* Solves from the guess (v, r), r of contacts that are new being 0, to the tolerance; (v, r) are the result also when it fails. May grow its own arrays when there are
   * more contacts than ever. Logs phases SOLVE or FACTOR inside RESOLVE, residuals and counters. */
  eb_error (*solve)(void *data, const eb_contact_problem *problem,
                    const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                    eb_contact_outcome *outcome);
  void (*destroy)(void *data);
} eb_contact_method;

extern const eb_contact_method eb_contact_cr, eb_contact_ica, eb_contact_sp, eb_contact_delassus;

#endif
