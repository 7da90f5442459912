/* When the audit contradicts a solver.
 *
 * A step fails the audit when its solver reports a positive reason and
 *   - the state holds something that is not a number, or
 *   - the solver stopped by tolerance (EB_CONVERGED_RTOL, EB_CONVERGED_ATOL), its residuals are in the norm that the audit measures
 *     (residual_norm begins with EB_AUDITED_NORM), and the audited residual is above
 *         100 times its last residual + 1e-9 times the force scale (eb_audit_step),
 *     where the second term is what rounding may leave.
 * Solvers of a linearized step, and those whose matrix is out of date on purpose (warp-cholesky), report other norms and are not
 * judged by this: their distance from implicit Euler is a result, not a lie. Inverted elements and penetration are data, not failures. */
#ifndef EB_CASE_VERDICT_H
#define EB_CASE_VERDICT_H

#include "harness/audit/audit.h"

/* The 2-norm of grad W over the free nodes, N. */
#define EB_AUDITED_NORM "|grad W|_2"

typedef struct eb_verdict {
  int64_t steps, failures;
  char detail[256]; /* the first failure */
} eb_verdict;

void eb_verdict_step(eb_verdict *verdict, const eb_audit_row *row, const eb_step_log *log,
                     eb_reason reason, int64_t step);
/* "passed", "failed", "none" without steps. */
const char *eb_verdict_word(const eb_verdict *verdict);

#endif
