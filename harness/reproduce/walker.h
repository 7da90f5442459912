/* A solver on a scene, stepped by a probe: what the harness does around the steps of a case, without its clocks and its file. */
#ifndef EB_REPRODUCE_WALKER_H
#define EB_REPRODUCE_WALKER_H

#include "solvers/solver.h"

typedef struct eb_walker {
  eb_scene *scene;
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log; /* of the last step */
} eb_walker;

/* "NAME[:p=v,..]", built in. EB_ERR_USAGE when there is none. Clear *out also after a failure. */
EB_MUST eb_error eb_walker_create(const char *scene, const char *solver, int threads,
                                  eb_walker *out);
void eb_walker_clear(eb_walker *walker);
/* The scene alone. The caller destroys *out. */
EB_MUST eb_error eb_walker_scene(const char *spec, eb_scene **out);

/* Makes the cuts that are due before the next step; *changed: there were some, and the state has nodes that it had not. */
EB_MUST eb_error eb_walker_advance(eb_walker *walker, bool *changed);
/* One step, with the cuts that are due before it; *reason is positive when it went well. */
EB_MUST eb_error eb_walker_step(eb_walker *walker, eb_reason *reason);

#endif
