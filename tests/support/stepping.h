/* A solver at work on a scene, stepped as the harness does. */
#ifndef EB_TESTS_STEPPING_H
#define EB_TESTS_STEPPING_H

#include "solvers/solver.h"
#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

typedef struct run {
  eb_scene *scene;
  eb_state *state;
  eb_solver *solver;
  eb_step_log *log;
  eb_reason reason;
  int changes; /* of the mesh */
} run;

/* Takes the scene over. */
__attribute__((unused)) static run start_on(eb_scene *scene, const char *solver,
                                            const char *options) {
  run r = {.scene = scene};
  tap_require(eb_state_create(r.scene, &r.state), "a state");
  tap_require(eb_step_log_create(1024, &r.log), "a log");
  tap_require(eb_solver_create(eb_solver_find(solver), options, r.scene, 1, 1, &r.solver), options);
  return r;
}

static void finish(run *r) {
  eb_step_log_destroy(r->log);
  eb_solver_destroy(r->solver);
  eb_state_destroy(r->state);
  eb_scene_destroy(r->scene);
}
OWNED(run, finish)

/* Returns false at a negative outcome. */
__attribute__((unused)) static bool go(run *r, int64_t steps) {
  for (int64_t s = 0; s < steps; s++) {
    bool changed;
    tap_require(eb_scene_advance(r->scene, r->state, &changed), "advance");
    eb_step_log_reset(r->log);
    if (changed) tap_require(eb_solver_rebuild(r->solver, r->state, r->log), "rebuild");
    r->changes += changed;
    r->reason = EB_RUNNING;
    tap_require(r->solver->ops->step(r->solver, r->state, r->scene->dt, r->log, &r->reason),
                "step");
    if (r->reason <= 0) return false;
  }
  return true;
}

/* The same for a run in which every step has to go well. */
__attribute__((unused)) static void go_well(run *r, int64_t steps) {
  bool well = go(r, steps);
  tap_require(well ? EB_OK : EB_ERROR(EB_ERR_INVALID, "%s", eb_reason_name(r->reason)), "step");
}

#endif
