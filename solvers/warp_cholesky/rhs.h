/* The right-hand side of a step, in the frame that it is solved in; see warp.h. Internal to
 * solvers/warp_cholesky/. */
#ifndef EB_WARP_RHS_H
#define EB_WARP_RHS_H

#include "solvers/warp_cholesky/warp.h"

/* Finds u of the frame (phase RHS). Returns v0 - u, valid until the right-hand side is formed. */
const double *eb_warp_enter_frame(eb_warp *warp, const eb_state *state, eb_step_log *log);
/* implicit.rhs = R_n^T (b - A_exact u), scripted nodes eliminated (phase RHS). False when it is not
 * finite. */
bool eb_warp_right_hand_side(eb_warp *warp, const eb_state *state, double dt, eb_step_log *log);
/* implicit.unknown += u */
void eb_warp_leave_frame(eb_warp *warp);

#endif
