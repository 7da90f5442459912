/* Modal derivatives (Barbic and James 2005): how linear modes change as the body deforms along
 * another one. Static ones, by the stiffness alone:
 *
 *   K Phi_ij = -(dK/dq_j) phi_i,
 *
 * K at rest and dK/dq_j its derivative along phi_j; Phi_ij = Phi_ji. Of modes that deform: to the
 * second order in a turn, what two rotations would give, a rigid frame is meant to serve there.
 * Where K is singular both sides are taken orthogonal to the motions without strain. */
#ifndef EB_SUBSPACE_DERIVATIVES_H
#define EB_SUBSPACE_DERIVATIVES_H

#include "solvers/subspace/skinning.h"

/* All m (m + 1) / 2 of the m linear modes that deform (Phi_11, Phi_12, Phi_22, ...), each nodes x
 * 3, into *out, which the caller frees. dK/dq_j is a central difference over strains of 1e-4, good
 * to 1e-7 of itself; solves are refined to 1e-10. The same bits for any number of threads.
 * EB_ERR_USAGE when none of the modes deforms. */
EB_MUST eb_error eb_modal_derivatives(const eb_elasticity *elasticity, const double *X,
                                      const uint8_t *pinned, const eb_skinning *linear, int threads,
                                      eb_step_log *log, int32_t *count, double **out);

#endif
