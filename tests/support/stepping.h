/* A solver at work on a scene, stepped as the harness does. */
#ifndef EB_TESTS_STEPPING_H
#define EB_TESTS_STEPPING_H

#include "problems/scene_impl.h"
#include "solvers/stepper.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

/* Whose scene is its own. */
typedef eb_stepper run;

static inline void finish(run *s) {
  eb_scene *scene = s->scene;
  eb_stepper_clear(s);
  eb_scene_destroy(scene);
}
OWNED(run, finish)

/* Takes the scene over. */
static inline run start_on(eb_scene *scene, const char *solver, const char *options) {
  run s;
  tap_require(eb_stepper_create(eb_solver_find(solver), options, scene, 1, 1, 1024, &s), options);
  return s;
}

/* Returns false at a negative outcome. */
static inline bool go(run *s, int64_t steps) {
  tap_require(eb_stepper_run(s, steps), "steps");
  return s->reason > 0;
}

/* The same for a run in which every step has to go well. */
static inline void go_well(run *s, int64_t steps) {
  bool well = go(s, steps);
  tap_require(well ? EB_OK : EB_ERROR(EB_ERR_INVALID, "%s", eb_reason_name(s->reason)), "step");
}

#endif
