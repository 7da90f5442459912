/* What the tests of solvers share: a scene with its state and log, and one call that steps it. */
#ifndef EB_TESTS_SOLVER_FIXTURE_H
#define EB_TESTS_SOLVER_FIXTURE_H

#include "harness/check/block.h"
#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/tap.h"

typedef struct fixture {
  eb_scene *scene;
  eb_state *state;
  eb_step_log *log;
  eb_reason reason;
} fixture;

/* A block scene (harness/check/block.c) in its initial state. */
static fixture fixture_open(const char *parameters) {
  fixture f = {0};
  tap_require(eb_block_create(&f.scene, "%s", parameters), parameters);
  tap_require(eb_state_create(f.scene, &f.state), "create a state");
  tap_require(eb_step_log_create(4096, &f.log), "create a log");
  return f;
}

static void fixture_close(fixture *f) {
  eb_step_log_destroy(f->log);
  eb_state_destroy(f->state);
  eb_scene_destroy(f->scene);
}
OWNED(fixture, fixture_close)

/* Steps the state with a fresh solver; returns the last outcome. */
static eb_reason fixture_step(fixture *f, const char *solver, const char *options, int64_t steps) {
  tap_require(eb_block_advance(f->scene, eb_solver_find(solver), options, 1, steps, f->log,
                               f->state, &f->reason),
              options);
  return f->reason;
}

__attribute__((unused)) static bool all_finite(const eb_state *state) {
  for (int64_t k = 0; k < 3 * (int64_t)state->node_count; k++)
    if (!isfinite(state->x[k]) || !isfinite(state->v[k])) return false;
  return true;
}

/* Kinetic and elastic energy, J. */
__attribute__((unused)) static double fixture_energy(const fixture *f) {
  const double *mass = eb_elasticity_mass(f->scene->elasticity);
  double energy = eb_elasticity_energy(f->scene->elasticity, f->state->x);
  for (int64_t k = 0; k < 3 * (int64_t)f->state->node_count; k++)
    energy += 0.5 * mass[k / 3] * f->state->v[k] * f->state->v[k];
  return energy;
}

/* A state with a NaN is refused and left as it was; called for every solver. */
__attribute__((unused)) static void nan_is_an_outcome(const char *solver, const char *material) {
  char parameters[128];
  snprintf(parameters, sizeof parameters, "nx=2,support=x0,gz=-9.8,material=%s", material);
  for (int where = 0; where < 2; where++) {
    fixture f = fixture_open(parameters);
    (where ? f.state->v : f.state->x)[17] = NAN;
    double kept = f.state->x[20];
    tap_ok(fixture_step(&f, solver, "", 1) == EB_DIVERGED_NAN, "%s: NaN in %s is an outcome",
           solver, where ? "velocities" : "positions");
    tap_ok(f.state->x[20] == kept && f.state->step == 0, "%s: and leaves the state alone", solver);
    fixture_close(&f);
  }
}

/* Scales at which arithmetic breaks down end in an outcome, whatever it is. */
__attribute__((unused)) static void extremes_are_outcomes(const char *solver,
                                                          const char *material) {
  static const char *const extremes[] = {"E=1e-300",
                                         "E=1e300",
                                         "E=1e16",
                                         "dt=1e-12",
                                         "dt=1e6",
                                         "rho=1e-9",
                                         "rho=1e9",
                                         "lx=1e-6,ly=1e-6,lz=1e-6",
                                         "lx=1e6,ly=1e6,lz=1e6",
                                         "gz=-1e12",
                                         "nu=0.4999",
                                         "nu=-0.99"};
  for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
    char parameters[160];
    snprintf(parameters, sizeof parameters, "nx=2,support=x0,material=%s,%s%s", material,
             extremes[i], strstr(extremes[i], "gz") ? "" : ",gz=-9.8");
    fixture f = fixture_open(parameters);
    eb_reason reason = fixture_step(&f, solver, "", 3);
    tap_ok(reason != EB_RUNNING && (reason < 0 || all_finite(f.state)), "%s: %s ends with %s",
           solver, extremes[i], eb_reason_name(reason));
    fixture_close(&f);
  }
}

#endif
