/* A solver at work on a scene: the one loop that runs, checks, comparisons and tests step by.
 *
 *   eb_stepper s;
 *   EB_TRY(eb_stepper_create(ops, "rtol=1e-6", scene, 1, 0, 100, &s));
 *   eb_error error = eb_stepper_run(&s, 50);    // s.state, s.log, s.reason
 *   eb_stepper_clear(&s);
 *
 * A step begins with the cuts that are due at the state's time (eb_stepper_advance): they change
 * mesh and state. The solver follows them and takes the step (eb_stepper_take). Who looks at what
 * is between - a reference scene to be cut too, a copy of the state, a clock - calls the two; all
 * others eb_stepper_step. */
#ifndef EB_STEPPER_H
#define EB_STEPPER_H

#include "solvers/solver.h"

#pragma GCC visibility push(default) /* exported */

typedef struct eb_stepper {
  eb_scene *scene; /* the caller's, which cuts change; outlives the stepper */
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log; /* of the last step; of a step that was cut, with the rebuild */
  eb_reason reason; /* of the last step; EB_RUNNING: there was none */
  bool cut;         /* there are cuts that the solver has not followed yet */
  int cuts;         /* times that the mesh has changed */
} eb_stepper;

/* The scene's initial state, a log with room for so many residuals a step, and the solver, as
 * eb_solver_create makes it. eb_stepper_clear releases all; after an error there is nothing. */
EB_MUST eb_error eb_stepper_create(const eb_solver_ops *ops, const char *options, eb_scene *scene,
                                   int threads, uint64_t seed, int64_t residuals, eb_stepper *out);
/* The scene stays. {0} is fine. */
void eb_stepper_clear(eb_stepper *stepper);
/* A new solver in the place of the one that there is, if any: it knows the scene as it is cut. */
EB_MUST eb_error eb_stepper_start(eb_stepper *stepper, const eb_solver_ops *ops,
                                  const char *options, int threads, uint64_t seed);

/* Makes the cuts that are due at the state's time. */
EB_MUST eb_error eb_stepper_advance(eb_stepper *stepper);
/* The solver follows cuts that it has not followed, if there are any; the log has what that took.
 */
EB_MUST eb_error eb_stepper_rebuild(eb_stepper *stepper);
/* A step of dt of the advanced state: clears the log, rebuilds, steps. That the method has given up
 * is no error but a reason. */
EB_MUST eb_error eb_stepper_take(eb_stepper *stepper, double dt);

/* The two, by the scene's dt. */
EB_MUST eb_error eb_stepper_step(eb_stepper *stepper);
/* Steps, until one ends with no positive reason. */
EB_MUST eb_error eb_stepper_run(eb_stepper *stepper, int64_t steps);

#pragma GCC visibility pop

#endif
