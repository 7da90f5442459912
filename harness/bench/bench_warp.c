/* Steps of warp-cholesky on Hecht et al.'s dropped sculpture, E = 5e8 Pa, beside what the paper
 * compares it with: conjugate gradients with Jacobi's preconditioner to an absolute residual of
 * 1e-4, and a Cholesky factorization a step.
 *
 * At rest and in free fall nothing turns and nothing is updated, so the steps are those from the
 * impact on, where most is: every solver has a trajectory of its own, a run is its next few steps,
 * and rounds compare the same steps. Whole drops are what `elastobench reproduce hecht2012`
 * measures. Free fall before them is exact without a solver: implicit Euler gives v = -n h g, x =
 * x0 - n (n + 1) / 2 h^2 g after n steps. */
#include "harness/bench/tables.h"
#include "problems/base/memory.h"
#include "problems/scene_impl.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARP, CG, CHOLESKY, SOLVERS };

static const char *const names[SOLVERS] = {"warp-cholesky", "corotational", "corotational"};
static const char *const options[SOLVERS] = {
    "", "linear=cg,linear_rtol=0,linear_atol=1e-4,linear_max_iterations=100000", "linear=cholesky"};

typedef struct drop {
  eb_scene *scene;
  eb_solver *solvers[SOLVERS];
  eb_state *states[SOLVERS];
  eb_step_log *log;
  int steps_a_run;
  double steps[SOLVERS], iterations,
      updated; /* steps taken; of CG and warp-cholesky, all steps together */
} drop;

static void clear(void *context) {
  drop *d = context;
  for (int k = 0; k < SOLVERS; k++) {
    if (d->solvers[k]) eb_solver_destroy(d->solvers[k]);
    if (d->states[k]) eb_state_destroy(d->states[k]);
  }
  eb_step_log_destroy(d->log);
  if (d->scene) eb_scene_destroy(d->scene);
  free(d);
}

/* ---- what is timed; a solver that fails goes on from where it got ---- */

static void step(drop *d, int which) {
  eb_reason reason = EB_RUNNING;
  eb_step_log_reset(d->log);
  eb_error_free(d->solvers[which]->ops->step(d->solvers[which], d->states[which], d->scene->dt,
                                             d->log, &reason));
  d->steps[which]++;
  if (which == CG) d->iterations += d->log->counters[EB_COUNT_LINEAR_ITERATIONS];
  if (which == WARP) d->updated += d->log->counters[EB_COUNT_UPDATED_ELEMENTS];
}

static void run(drop *d, int which) {
  for (int k = 0; k < d->steps_a_run; k++) step(d, which);
}

static void run_warp(void *context) {
  run(context, WARP);
}

static void run_cg(void *context) {
  run(context, CG);
}

static void run_cholesky(void *context) {
  run(context, CHOLESKY);
}

static void describe(void *context, char *text, size_t bytes) {
  const drop *d = context;
  snprintf(text, bytes,
           "%.0f steps from the impact: %.0f CG iterations a step; %.3g %% of the elements updated",
           d->steps[WARP], d->iterations / d->steps[CG],
           100 * d->updated / d->steps[WARP] / d->scene->mesh->element_count);
}

/* ---- set-ups ---- */

static double lowest(const eb_scene *scene) {
  double z = INFINITY;
  for (int64_t i = 0; i < scene->mesh->node_count; i++) z = fmin(z, scene->x0[3 * i + 2]);
  return z;
}

/* The last state before the ground, z = 0, is reached. */
static void fall(const eb_scene *scene, eb_state *state) {
  double h = scene->dt, g = -scene->gravity[2], height = lowest(scene), n = 0;
  while ((n + 1) * (n + 2) / 2 * h * h * g < height) n++;
  for (int64_t i = 0; i < state->node_count; i++) {
    state->x[3 * i + 2] -= n * (n + 1) / 2 * h * h * g;
    state->v[3 * i + 2] -= n * h * g;
  }
  state->time = n * h;
  state->step = (int64_t)n;
}

static eb_error prepare(drop *d, const char *scene) {
  EB_TRY(eb_scene_create(eb_scene_find(scene), "E=5e8", NULL, NULL, &d->scene));
  EB_TRY(eb_step_log_create(0, &d->log));
  for (int k = 0; k < SOLVERS; k++) {
    EB_TRY(eb_solver_create(eb_solver_find(names[k]), options[k], d->scene, 1, 1, &d->solvers[k]));
    EB_TRY(eb_state_create(d->scene, &d->states[k]));
    fall(d->scene, d->states[k]);
  }
  return EB_OK;
}

static eb_error set_up(const char *scene, int steps, void **context, double *work) {
  drop *d;
  EB_TRY(EB_NEW(d, 1));
  eb_error error = prepare(d, scene);
  if (error) {
    clear(d);
    return error;
  }
  d->steps_a_run = steps;
  *work = steps;
  *context = d;
  return EB_OK;
}

static eb_error set_up_medium(void **context, double *work) {
  return set_up("hecht2012/sculpture-medium", 2, context, work);
}

static eb_error set_up_large(void **context, double *work) {
  return set_up("hecht2012/sculpture-large", 1, context, work);
}

/* ---- cases ---- */

/* Conjugate gradients take thousands of iterations here: four steps of the large sculpture are some
 * two minutes. */
static const eb_bench_peer large[] = {
    {"CG", 5, run_cg}, {"Cholesky, every step", 0.95, run_cholesky}, {0}};
static const eb_bench_peer medium[] = {
    {"CG", 0, run_cg}, {"Cholesky, every step", 0.95, run_cholesky}, {0}};

#define DROP(name_, setup_, peers_)                                                                \
  {                                                                                                \
    .name = "warp-step/" name_, .unit = "step", .measure = EB_BENCH_TIME, .setup = setup_,         \
    .run = run_warp, .clear = clear, .peers = peers_, .describe = describe                         \
  }

const eb_bench_case eb_bench_warp[] = {DROP("sculpture-medium", set_up_medium, medium),
                                       DROP("sculpture-large", set_up_large, large),
                                       {.name = NULL}};
