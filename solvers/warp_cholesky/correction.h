/* Conjugate gradients on the exact matrix, preconditioned by the factor that is out of date.
 *
 *   (r M + s K(x0)) v1 = b,   preconditioner R_n L^-T L^-1 R_n^T,
 *
 * which Hecht, Lee, Shewchuk and O'Brien 2012 (Section 6) found to be excellent as such and slower
 * than either method alone. It goes on from the solution of the approximate system. */
#ifndef EB_WARP_CORRECTION_H
#define EB_WARP_CORRECTION_H

#include "problems/elasticity/corotation.h"
#include "solvers/common/implicit.h"
#include "solvers/linalg/multifrontal.h"

typedef struct eb_correction {
  double *b;             /* right-hand side as it is before anything is turned, kg m/s */
  double *r, *z, *p, *q; /* residual, preconditioned, direction, its product; all nodes x 3 */
} eb_correction;

/* Room for the nodes of the mesh. The caller clears *out, also after failure. */
EB_MUST eb_error eb_correction_create(const eb_mesh *mesh, eb_correction *out);
void eb_correction_clear(eb_correction *correction);

/* Improves work->unknown until |b - A v|_2 <= tolerance over the nodes that are not scripted. Wants
 * work->gradient of x, with the rotations of which corotation is. *reason: EB_DIVERGED_MAX_IT after
 * 1000 iterations, EB_DIVERGED_NAN, or as the factor's solve has it. */
EB_MUST eb_error eb_correction_apply(eb_correction *correction, eb_implicit *work,
                                     const eb_corotation *corotation, eb_multifrontal *factor,
                                     const double *x, double mass_scale, double stiffness_scale,
                                     double tolerance, eb_step_log *log, eb_reason *reason);

#endif
