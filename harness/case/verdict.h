/* When the audit contradicts a solver.
 *
 * A step fails the audit when its solver reports a positive reason and
 *   - the state holds something that is not a number, or
 *   - the solver stopped by tolerance (EB_CONVERGED_RTOL, EB_CONVERGED_ATOL), its residuals are in the norm that the audit measures
 *     (residual_norm begins with EB_AUDITED_NORM), and the audited residual is above
 *         100 times its last residual + 1e-9 times the force scale (eb_audit_step),
 *     where the second term is what rounding may leave.
 * or, with contact as constraints (audit/judge.h),
 *   - surfaces meet or bodies lie inside each other at the end of the step,
 *   - a reported contact is none, or is closer than demanded, or pushes off its demanded distance, by more than 10 eps2,
 *   - the momentum of a body is not explained to 10 times what eps1 leaves,
 *   - and unless the solver only claims stagnation: a contact slips inside Coulomb's cone by more than 10 eps2, friction is outside of the cone by 10 times the
 *     tolerance, or off the direction that opposes the slip by twice the tolerance.
 * The tolerances are the record's, but at most EB_MOST_EPS2, EB_MOST_CONE and EB_MOST_ANGLE, so that a claim of nothing is none.
 * Solvers of a linearized step, and those whose matrix is out of date on purpose (warp-cholesky), report other norms and are not
 * judged by this: their distance from implicit Euler is a result, not a lie. Inverted elements and penetration are data, not failures. */
#ifndef EB_CASE_VERDICT_H
#define EB_CASE_VERDICT_H

#include "harness/audit/judge.h"

/* The 2-norm of grad W over the free nodes, N. */
#define EB_AUDITED_NORM "|grad W|_2"

#define EB_MOST_EPS2  1e-3 /* m */
#define EB_MOST_CONE  1e-2
#define EB_MOST_ANGLE 10. /* degrees */

typedef struct eb_verdict {
  int64_t steps, failures;
  char detail[256]; /* the first failure */
} eb_verdict;

void eb_verdict_step(eb_verdict *verdict, const eb_audit_row *row, const eb_step_log *log,
                     eb_reason reason, int64_t step);
/* Of a step with contact as constraints, after eb_verdict_step. */
void eb_verdict_contact(eb_verdict *verdict, const eb_judgement *judgement, eb_reason reason,
                        int64_t step);
/* "passed", "failed", "none" without steps. */
const char *eb_verdict_word(const eb_verdict *verdict);

#endif
