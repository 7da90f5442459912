/* A factor that follows changes of elements by rank updates and downdates: the alternative to
 * refactoring parts.
 *
 *   A + sum_e D_e = L' D' L'^T,   D_e = sum_k lambda_k u_k u_k^T,   of rank 12 at most
 *
 * Eigenvectors of positive eigenvalues are added as columns sqrt(lambda) u, those of negative ones
 * are taken away. Reference: Davis and Hager 2009, "Dynamic supernodes in sparse Cholesky
 * update/downdate and triangular solves", ACM TOMS 35(4), in CHOLMOD (cholmod_updown). The factor
 * starts as a copy of a multifrontal one, with the same order. Workspace: L again (12 bytes an
 * entry), and what CHOLMOD allocates for its first update. */
#ifndef EB_WARP_UPDOWN_H
#define EB_WARP_UPDOWN_H

#include "solvers/linalg/multifrontal.h"

typedef struct eb_updown eb_updown;

/* `factor` is kept by reference. Memory goes to `log` (may be NULL). EB_ERR_LIMIT when L has more
 * entries than CHOLMOD's 32-bit indices reach. */
EB_MUST eb_error eb_updown_create(const eb_multifrontal *factor, eb_step_log *log, eb_updown **out);
void eb_updown_destroy(eb_updown *updown);

/* Starts over from the multifrontal factor. */
EB_MUST eb_error eb_updown_take(eb_updown *updown);
/* A changes by `difference` (12 x 12, symmetric) at four nodes. Applied now or by the next
 * flush. */
EB_MUST eb_error eb_updown_change(eb_updown *updown, const int32_t node[4],
                                  const double difference[144]);
/* Applies what is left. *reason is EB_NOT_POSITIVE_DEFINITE when a pivot has not stayed positive,
 * EB_DIVERGED_NAN when one is not finite, else EB_CONVERGED_DIRECT. */
EB_MUST eb_error eb_updown_flush(eb_updown *updown, eb_reason *reason);
/* Solves A x = b (3 nodes rows in the nodes' own order); b and x may be the same. *reason:
 * EB_DIVERGED_NAN when x is not finite, else EB_CONVERGED_DIRECT. */
EB_MUST eb_error eb_updown_solve(eb_updown *updown, const double *b, double *x, eb_reason *reason);

#endif
