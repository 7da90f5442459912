/* One contact step, around any method: linearly implicit Euler with contact as constraints on the
 * velocities.
 *
 *   (M + h^2 K(x0)) v1 = M v0 + h f + H^T r,   x1 = x0 + h v1,
 *
 * with the contact law of problems/contact/problem.h; solved, checked for collisions and
 * relinearized until the motion from x0 to x1 is free of them (Verschoor and Jalba 2019, Algorithm
 * 1). */
#ifndef EB_CONTACT_STEP_H
#define EB_CONTACT_STEP_H

#include "solvers/contact/method.h"

/* The options that all contact solvers share. */
#define EB_CONTACT_OPTIONS                                                                         \
  {.name = "eps1",                                                                                 \
   .type = EB_OPTION_REAL,                                                                         \
   .fallback = "5e-5",                                                                             \
   .min = 1e-14,                                                                                   \
   .max = 1,                                                                                       \
   .unit = "",                                                                                     \
   .doc = "tolerance on the residual |b - A v + H^T r|, see tolerance_kind"},                      \
      {.name = "tolerance_kind",                                                                   \
       .type = EB_OPTION_CHOICE,                                                                   \
       .fallback = "absolute",                                                                     \
       .choices = "absolute|relative",                                                             \
       .unit = "",                                                                                 \
       .doc = "eps1 in kg m/s as in the paper, or relative to |b|"},                               \
      {.name = "eps2",                                                                             \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "5e-6",                                                                         \
       .min = 1e-14,                                                                               \
       .max = 1e-2,                                                                                \
       .unit = "m",                                                                                \
       .doc = "tolerance on active constraints"},                                                  \
      {.name = "angle",                                                                            \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "1.2",                                                                          \
       .min = 1e-3,                                                                                \
       .max = 90,                                                                                  \
       .unit = "deg",                                                                              \
       .doc = "tolerance on the angle between friction and sliding"},                              \
      {.name = "gap",                                                                              \
       .type = EB_OPTION_REAL,                                                                     \
       .fallback = "1e-4",                                                                         \
       .min = 1e-9,                                                                                \
       .max = 1e-1,                                                                                \
       .unit = "m",                                                                                \
       .doc = "distance that constraints ask for"},                                                \
      {.name = "max_iterations",                                                                   \
       .type = EB_OPTION_INT,                                                                      \
       .fallback = "20000",                                                                        \
       .min = 1,                                                                                   \
       .max = 1e9,                                                                                 \
       .unit = "",                                                                                 \
       .doc = "give up after so many iterations in one step"},                                     \
  {                                                                                                \
    .name = "max_rounds", .type = EB_OPTION_INT, .fallback = "60", .min = 1, .max = 1e6,           \
    .unit = "",                                                                                    \
    .doc = "give up after so many outer iterations, each a solve and a detection, in one step"     \
  }

/* What the step serves, whatever the method. Not colliders: a scene has contact by constraints or
 * by penalty. */
#define EB_CONTACT_CAPABILITIES                                                                    \
  (EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC |              \
   EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_CONTACT | EB_CAP_FREE_BODIES)

/* For the ops of a contact solver: create with a method, step, destroy. */
EB_MUST eb_error eb_contact_solver_create(eb_solver *solver, const eb_scene *scene,
                                          const eb_contact_method *method);
eb_error eb_contact_solver_step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                                eb_reason *reason);
void eb_contact_solver_destroy(eb_solver *solver);

#endif
