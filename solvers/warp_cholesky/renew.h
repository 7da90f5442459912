/* A and its factor follow the rotations, as far as the settings want. Internal to
 * solvers/warp_cholesky/. */
#ifndef EB_WARP_RENEW_H
#define EB_WARP_RENEW_H

#include "solvers/warp_cholesky/warp.h"

/* With the rotations of the present taken: everything anew where scripted nodes, step length or
 * damping have changed, or where nearly everything would be; else errors are estimated for the
 * velocities v (nodes x 3), supernodes are chosen and followed. On return warp->refresh says which
 * elements are of the present and, where the others matter, warp->error how wrong they are. A
 * negative reason is that of a whole factorization: there is no factor then. */
EB_MUST eb_error eb_warp_renew(eb_warp *warp, const double *v, double mass_scale,
                               double stiffness_scale, eb_step_log *log, eb_reason *reason);

/* Refreshes the elements of warp->refresh in A and in warp->updown, one by one. */
EB_MUST eb_error eb_warp_renew_by_ranks(eb_warp *warp, eb_step_log *log, eb_reason *reason);

#endif
