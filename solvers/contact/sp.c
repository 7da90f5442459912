/* Staggered Projections (Kaufman, Sueda, James and Pai 2008; compared with in Verschoor and Jalba 2019, Section 6.2.3).
 *
 * Two convex programs in turn, each with the other's forces frozen (sp_qp.h): normal forces that keep contacts from closing, then friction of discs
 * of radius mu r_n that dissipates the most, until both hold: a fixed point of the two projections is a solution of the contact problem. Nothing makes
 * the two approach it: with strong coupling and large mu they go round in circles. When what friction lets contacts violate stays the same from round
 * to round, as where the normal rows and the sticking ones contradict each other, the friction program's solution is handed out as
 * EB_CONVERGED_STAGNATED: only the normal rows are not met.
 *
 * Published with facets and a dense solver of quadratic programs; here with discs, and conjugate residuals on the
 * sparse system with the diagonal preconditioner, as in the comparison of Verschoor and Jalba.
 *
 * An iteration is one of conjugate residuals, or a new start of them after a change of states: a product with A. Before it is called
 * solved eb_contact_measure is asked. Fails as sp_qp.c does. Workspace: 9 vectors of rows and contact rows, some 20 numbers a contact. */
#include "solvers/contact/sp.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/contact/sp_qp.h"

static const double same_ = 0.05; /* of a violation: less is no change of it */
enum { PATIENCE = 12 /* rounds of both programs without one */ };

static void free_contacts(eb_sp *sp) {
  free(sp->rhs);
  free(sp->r);
  free(sp->frozen);
  free(sp->u);
  free(sp->work);
  free(sp->friction);
  sp->rhs = sp->r = sp->frozen = sp->u = sp->work = NULL;
  sp->friction = NULL;
  sp->room = 0;
}

static void sp_destroy(void *data) {
  eb_sp *sp = data;
  if (!sp) return;
  eb_saddle_clear(&sp->saddle);
  eb_saddle_cr_clear(&sp->cr);
  free_contacts(sp);
  free(sp);
}

static eb_error sp_create(const eb_solver *solver, int32_t rows, void **data) {
  eb_sp *sp;
  *data = NULL;
  EB_TRY(EB_NEW(sp, 1));
  sp->dynamic = !strcmp(eb_values_text(solver->options, "inner"), "2xcr");
  eb_error error = eb_saddle_create(rows, &sp->saddle);
  if (error)
    sp_destroy(sp);
  else
    *data = sp;
  return error;
}

static eb_error grow(eb_sp *sp, int32_t count) {
  if (sp->rhs && count <= sp->room) return EB_OK;
  int32_t room = count + count / 2;
  int64_t m = 3 * (int64_t)room, size = sp->saddle.n + m;
  free_contacts(sp);
  EB_TRY(EB_NEW(sp->rhs, size));
  EB_TRY(EB_NEW(sp->work, size));
  EB_TRY(EB_NEW(sp->r, m));
  EB_TRY(EB_NEW(sp->frozen, m));
  EB_TRY(EB_NEW(sp->u, m));
  EB_TRY(EB_NEW(sp->friction, room));
  sp->room = room;
  return EB_OK;
}

static bool is_solved(eb_sp *sp, double *violation) {
  eb_contact_error error;
  eb_contact_measure(sp->problem, sp->cr.y, sp->r, sp->tolerance->eps2, sp->work, &error);
  *violation = error.violation;
  return eb_contact_solved(&error, sp->tolerance);
}

static bool has_friction(const eb_contact_problem *problem) {
  for (int32_t k = 0; k < problem->count; k++)
    if (problem->mu[k] > 0) return true;
  return false;
}

/* One program after the other; EB_RUNNING when each holds and both together do not. */
static eb_reason solve_both(eb_sp *sp, bool friction, double *violation) {
  eb_reason reason = eb_sp_solve_program(sp, EB_SP_NORMAL);
  if (reason != EB_RUNNING) return reason;
  if (is_solved(sp, violation)) return EB_CONVERGED_ATOL;
  if (!friction) return EB_RUNNING;
  reason = eb_sp_solve_program(sp, EB_SP_FRICTION);
  return reason == EB_RUNNING && is_solved(sp, violation) ? EB_CONVERGED_ATOL : reason;
}

static eb_reason stagger(eb_sp *sp) {
  bool friction = has_friction(sp->problem);
  double violation = 0, level = 0;
  int stagnated = 0;
  eb_sp_begin(sp);
  while (sp->outcome->iterations < sp->tolerance->max_iterations) {
    int64_t before = sp->outcome->iterations;
    eb_reason reason = solve_both(sp, friction, &violation);
    if (reason != EB_RUNNING) return reason;
    bool same = fabs(violation - level) <= same_ * level && violation > sp->tolerance->eps2;
    stagnated = same ? stagnated + 1 : 0;
    if (!same) level = violation;
    if (stagnated == PATIENCE) return EB_CONVERGED_STAGNATED;
    /* Both hold as they are to this share of the tolerance, and together they do not. */
    if (sp->outcome->iterations <= before + 2) sp->share *= 0.5;
  }
  return EB_DIVERGED_MAX_IT;
}

static eb_error solve(eb_sp *sp, double *v, double *r) {
  int64_t n = sp->saddle.n, m = 3 * (int64_t)sp->problem->count;
  EB_TRY(grow(sp, sp->problem->count));
  EB_TRY(eb_saddle_begin(&sp->saddle, sp->problem));
  EB_TRY(eb_saddle_cr_reserve(&sp->cr, n + m));
  memcpy(sp->cr.y, v, (size_t)n * sizeof *v);
  memcpy(sp->r, r, (size_t)m * sizeof *r);
  double violation;
  sp->outcome->reason = is_solved(sp, &violation) ? EB_CONVERGED_ATOL : stagger(sp);
  memcpy(v, sp->cr.y, (size_t)n * sizeof *v);
  memcpy(r, sp->r, (size_t)m * sizeof *r);
  return EB_OK;
}

static eb_error sp_solve(void *data, const eb_contact_problem *problem,
                         const eb_contact_tolerance *tolerance, double *v, double *r,
                         eb_step_log *log, eb_contact_outcome *outcome) {
  eb_sp *sp = data;
  *outcome = (eb_contact_outcome){0};
  sp->problem = problem;
  sp->tolerance = tolerance;
  sp->log = log;
  sp->outcome = outcome;
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error = solve(sp, v, r);
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)outcome->iterations);
  eb_log_end(log, EB_PHASE_SOLVE);
  return error;
}

const eb_contact_method eb_contact_sp = {
    .name = "sp", .create = sp_create, .solve = sp_solve, .destroy = sp_destroy};
