/* One linearly implicit Euler step: a single linear solve for the new velocities (Baraff and Witkin
 * 1998). The semi-implicit and the corotational solver differ only in their coefficients. */
#ifndef EB_COMMON_LINEARLY_IMPLICIT_H
#define EB_COMMON_LINEARLY_IMPLICIT_H

#include "solvers/common/implicit.h"

/* Rayleigh damping C = a M + b K. */
#define EB_RAYLEIGH_OPTIONS                                                                        \
  {.name = "mass_damping",                                                                         \
   .type = EB_OPTION_REAL,                                                                         \
   .fallback = "0",                                                                                \
   .min = 0,                                                                                       \
   .max = 1e6,                                                                                     \
   .unit = "1/s",                                                                                  \
   .doc = "a of the damping matrix C = a M + b K"},                                                \
  {                                                                                                \
    .name = "stiffness_damping", .type = EB_OPTION_REAL, .fallback = "0", .min = 0, .max = 1e6,    \
    .unit = "s", .doc = "b of the damping matrix C = a M + b K"                                    \
  }

/* The create and destroy of such a solver: solver->data is its eb_implicit. */
EB_MUST eb_error eb_linearly_implicit_create(eb_solver *solver, const eb_scene *scene);
void eb_linearly_implicit_destroy(eb_solver *solver);

/* work->rhs = M v0 + h (f_ext - g) from work->force and work->gradient; work->unknown starts at v0,
 * and at scripted nodes at the velocity that takes them to their place, which also goes to
 * work->prescribed. */
void eb_linearly_implicit_rhs(eb_implicit *work, const eb_state *state, double dt);
/* v1 = work->unknown, x1 = x0 + h v1, and on to the next step. Scripted nodes are put exactly where
 * the script wants them, whatever the solve left there. */
void eb_linearly_implicit_advance(const eb_implicit *work, eb_state *state, double dt);

/* Solves (mass_scale M + stiffness_scale H(x0)) v1 = M v0 + h (f_ext - g(x0)) with scripted nodes
 * at the velocity that takes them to their place, then x1 = x0 + h v1. `project` takes each
 * element's part of H positive semi-definite. Implicit colliders add their penalty to H and g, and
 * their friction changes v1 before x1 follows from it. Springs add h^2 k to the matrix and their
 * force at (x0, t1) to f_ext. Iterative methods start from v0 and log their residuals. On a
 * negative reason other than EB_DIVERGED_MAX_IT the state is left as it was. */
EB_MUST eb_error eb_linearly_implicit_step(eb_implicit *work, eb_state *state, double dt,
                                           double mass_scale, double stiffness_scale, bool project,
                                           eb_step_log *log, eb_reason *reason);

/* The same step in two parts, between which the caller assembles mass_scale M + stiffness_scale H
 * into work->matrix and g into work->gradient. `open` declares the equation, and returns false
 * where the step has ended in *reason. */
bool eb_linearly_implicit_open(eb_implicit *work, const eb_state *state, double dt,
                               double mass_scale, double stiffness_scale, bool project,
                               eb_step_log *log, eb_reason *reason);
EB_MUST eb_error eb_linearly_implicit_close(eb_implicit *work, eb_state *state, double dt,
                                            double stiffness_scale, eb_step_log *log,
                                            eb_reason *reason);

#endif
