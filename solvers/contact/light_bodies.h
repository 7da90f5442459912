/* What an absolute tolerance on momentum is beside the lightest body of a scene. */
#ifndef EB_CONTACT_LIGHT_BODIES_H
#define EB_CONTACT_LIGHT_BODIES_H

#include "solvers/solver.h"

typedef struct eb_light_body {
  double impulse; /* kg m/s: what gravity gives it in a step; without gravity 1 % of its momentum at
                     the start. INFINITY: no body has any */
  int32_t rows;   /* nodes that a residual may be shared out over; 1 of a rigid body */
  /* kg m/s, a residual |b - A v + H^T r|_2: over the rows of the body it sums up to at most 1 % of
   * the impulse. A tenth of that impulse is what the audit allows to be missing. */
  double eps1;
} eb_light_body;

/* The body with the least eps1. */
EB_MUST eb_error eb_contact_lightest(const eb_scene *scene, eb_light_body *out);

/* Whether these options of this solver, which is to be one of contact as constraints, leave so much
 * of the body's momentum that an audit may miss it. One that holds a factor of the matrix leaves
 * none, whatever its tolerance. */
bool eb_contact_is_coarse(const eb_solver_ops *ops, const eb_values *options,
                          const eb_light_body *body);

#endif
