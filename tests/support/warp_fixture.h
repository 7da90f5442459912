/* What the tests of warp-cholesky and damped-warp share: a solver at work on a scene, stepped one
 * by one. */
#ifndef EB_TESTS_WARP_FIXTURE_H
#define EB_TESTS_WARP_FIXTURE_H

#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/support/solver_fixture.h"

typedef struct motion {
  eb_scene *scene;
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log;
  eb_reason reason;
  double total[EB_COUNTERS]; /* over all steps */
} motion;

/* "paper/scene:parameters" of the catalogue, or parameters of the block scene. */
static eb_scene *any_scene(const char *text) {
  eb_scene *scene = NULL;
  char name[64];
  const char *colon = strchr(text, ':');
  if (!colon) {
    tap_require(eb_block_create(&scene, "material=corotational,%s", text), text);
    return scene;
  }
  snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
  tap_require(eb_scene_create(eb_scene_find(name), colon + 1, NULL, "", &scene), text);
  return scene;
}

static motion motion_open_threads(const char *scene, const char *solver, const char *options,
                                  int threads) {
  motion m = {.scene = any_scene(scene)};
  tap_require(eb_solver_create(eb_solver_find(solver), options, m.scene, threads, 1, &m.solver),
              options);
  tap_require(eb_state_create(m.scene, &m.state), "create a state");
  tap_require(eb_step_log_create(64, &m.log), "create a log");
  return m;
}

static motion motion_open(const char *scene, const char *solver, const char *options) {
  return motion_open_threads(scene, solver, options, 1);
}

static void motion_close(motion *m) {
  eb_solver_destroy(m->solver);
  eb_step_log_destroy(m->log);
  eb_state_destroy(m->state);
  eb_scene_destroy(m->scene);
}
OWNED(motion, motion_close)

static eb_reason motion_step(motion *m) {
  eb_step_log_reset(m->log);
  tap_require(m->solver->ops->step(m->solver, m->state, m->scene->dt, m->log, &m->reason), "step");
  for (int c = 0; c < EB_COUNTERS; c++) m->total[c] += m->log->counters[c];
  return m->reason;
}

/* Steps until done or until an outcome is negative; returns the last outcome. */
__attribute__((unused)) static eb_reason motion_run(motion *m, int steps) {
  for (int i = 0; i < steps && (i == 0 || m->reason > 0); i++) motion_step(m);
  return m->reason;
}

/* |a - b|_inf over the way that b has moved from its start. */
__attribute__((unused)) static double motion_difference(const motion *a, const motion *b) {
  double moved = 0;
  for (int64_t k = 0; k < 3 * (int64_t)b->state->node_count; k++)
    moved = fmax(moved, fabs(b->state->x[k] - b->scene->x0[k]));
  return eb_block_distance(a->state, b->state) / moved;
}

__attribute__((unused)) static double motion_energy(const motion *m) {
  fixture f = {.scene = m->scene, .state = m->state};
  return fixture_energy(&f);
}

#endif
