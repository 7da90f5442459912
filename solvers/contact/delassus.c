/* The reduced form as a method: W = H A^-1 H^T is made, the contact forces are found on it, the velocities follow.
 *
 * The usual way for rigid bodies and the baseline that methods without W are compared with (Acary, Bremond and Huber 2018, "On solving contact problems with Coulomb
 * friction: formulations and numerical comparisons"). Option delassus_solver: delassus_pgs.c or delassus_newton.c, whose iterations count. Phase FACTOR: the factorization of A and making W; SOLVE: the
 * rest. Residuals: the largest of violation, active and sliding, m. The factor is kept while A stays the same. Memory: (3 contacts)^2 numbers, twice with Newton. Half of the
 * tolerance is asked of the forces, so that rounding in v does not undo it.
 *
 * Fails, as outcomes: what the factorization says; EB_DIVERGED_MAX_IT, also when the constraints are inconsistent, whose forces grow without end;
 * EB_DIVERGED_LINEAR_SOLVE when the forces are solved for but the solves with A are not accurate enough for eps1. */
#include "solvers/contact/delassus.h"

#include <string.h>

#include "problems/base/memory.h"

typedef struct method {
  eb_delassus operator;
  eb_reduced reduced;
  bool newton;
  double *work; /* of eb_contact_measure */
  int64_t room; /* of work */
} method;

static eb_error create(const eb_solver *solver, int32_t rows, void **data) {
  (void)rows;
  method *m;
  *data = NULL;
  EB_TRY(EB_NEW(m, 1));
  m->operator.threads = solver->threads;
  m->newton = strcmp(eb_values_text(solver->options, "delassus_solver"), "newton") == 0;
  *data = m;
  return EB_OK;
}

static void destroy(void *data) {
  method *m = data;
  if (!m) return;
  eb_delassus_clear(&m->operator);
  eb_reduced_clear(&m->reduced);
  free(m->work);
  free(m);
}

static eb_error reserve(method *m, const eb_contact_problem *problem) {
  int64_t needed = 3 * ((int64_t)problem->A->rows + problem->count);
  EB_TRY(eb_reduced_reserve(&m->reduced, problem->count, problem->mu));
  if (needed <= m->room) return EB_OK;
  free(m->work);
  m->room = 0;
  EB_TRY(EB_NEW(m->work, needed));
  m->room = needed;
  return EB_OK;
}

static eb_error reduce(method *m, const eb_contact_problem *problem, eb_step_log *log,
                       eb_reason *reason) {
  EB_TRY(eb_delassus_factor(&m->operator, problem->A, log, reason));
  return *reason > 0 ? eb_delassus_reduce(&m->operator, problem, &m->reduced, log, reason) : EB_OK;
}

static eb_error find_forces(method *m, const eb_contact_tolerance *tolerance, double *r,
                            eb_step_log *log, eb_contact_outcome *outcome) {
  eb_contact_tolerance half = *tolerance;
  size_t bytes = 3 * (size_t)m->reduced.count * sizeof *r;
  half.eps2 *= 0.5;
  half.cone *= 0.5;
  half.angle *= 0.5;
  memcpy(m->reduced.r, r, bytes);
  if (m->newton)
    EB_TRY(eb_reduced_newton(&m->reduced, &half, log, outcome));
  else
    eb_reduced_gauss_seidel(&m->reduced, &half, log, outcome);
  memcpy(r, m->reduced.r, bytes);
  return EB_OK;
}

static eb_error solve_reduced(method *m, const eb_contact_problem *problem,
                              const eb_contact_tolerance *tolerance, double *v, double *r,
                              eb_step_log *log, eb_contact_outcome *outcome) {
  eb_reason reason;
  eb_contact_error error;
  EB_TRY(find_forces(m, tolerance, r, log, outcome));
  EB_TRY(eb_delassus_expand(&m->operator, problem, r, v, log, &reason));
  eb_contact_measure(problem, v, r, tolerance->eps2, m->work, &error);
  if (reason <= 0)
    outcome->reason = reason;
  else if (outcome->reason > 0 && !eb_contact_solved(&error, tolerance))
    outcome->reason = EB_DIVERGED_LINEAR_SOLVE;
  return EB_OK;
}

static eb_error solve(void *data, const eb_contact_problem *problem,
                      const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                      eb_contact_outcome *outcome) {
  method *m = data;
  *outcome = (eb_contact_outcome){.reason = EB_RUNNING};
  EB_TRY(reserve(m, problem));
  eb_log_begin(log, EB_PHASE_FACTOR);
  eb_error error = reduce(m, problem, log, &outcome->reason);
  eb_log_end(log, EB_PHASE_FACTOR);
  if (error || outcome->reason <= 0) return error;
  eb_log_begin(log, EB_PHASE_SOLVE);
  error = solve_reduced(m, problem, tolerance, v, r, log, outcome);
  eb_log_end(log, EB_PHASE_SOLVE);
  return error;
}

const eb_contact_method eb_contact_delassus = {
    .name = "delassus", .create = create, .solve = solve, .destroy = destroy};
