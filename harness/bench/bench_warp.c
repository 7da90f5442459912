/* Steps of warp-cholesky on Hecht et al.'s dropped sculpture, E = 5e8 Pa, beside what the paper
 * compares it with: conjugate gradients with Jacobi's preconditioner to an absolute residual of
 * 1e-4, and a Cholesky factorization a step.
 *
 * At rest and in free fall nothing turns and nothing is updated, so the steps are those from the
 * impact on, where most is: every solver has a trajectory of its own, a run is its next few steps,
 * and rounds compare the same steps. Whole drops are what `elastobench reproduce hecht2012`
 * measures. Free fall before them is exact without a solver: implicit Euler gives v = -n h g, x =
 * x0 - n (n + 1) / 2 h^2 g after n steps. */
#include "harness/bench/bench_step.h"
#include "harness/bench/bench.h"

#include <math.h>
#include <stdio.h>

enum { WARP, CG, CHOLESKY, SOLVERS };

static const char *const names[SOLVERS] = {"warp-cholesky", "corotational", "corotational"};
static const char *const options[SOLVERS] = {
    "", "linear=cg,linear_rtol=0,linear_atol=1e-4,linear_max_iterations=100000", "linear=cholesky"};

typedef struct drop {
  eb_bench_start impact;
  eb_bench_stepper solvers[SOLVERS];
  int steps_a_run;
  double steps[SOLVERS], iterations,
      updated; /* steps taken; of CG and warp-cholesky, all steps together */
} drop;

static void clear(void *context) {
  drop *d = context;
  for (int k = 0; k < SOLVERS; k++) eb_bench_stepper_clear(&d->solvers[k]);
  eb_bench_start_clear(&d->impact);
}

/* A solver that fails goes on from where it got. */
static void run(void *context, int which) {
  drop *d = context;
  const eb_step_log *log = d->solvers[which].log;
  for (int k = 0; k < d->steps_a_run; k++) {
    eb_bench_step_on(&d->solvers[which]);
    d->steps[which]++;
    if (which == CG) d->iterations += log->counters[EB_COUNT_LINEAR_ITERATIONS];
    if (which == WARP) d->updated += log->counters[EB_COUNT_UPDATED_ELEMENTS];
  }
}

static void describe(void *context, char *text, size_t bytes) {
  const drop *d = context;
  snprintf(text, bytes,
           "%.0f steps from the impact: %.0f CG iterations a step; %.3g %% of the elements updated",
           d->steps[WARP], d->iterations / d->steps[CG],
           100 * d->updated / d->steps[WARP] / d->impact.scene->mesh->element_count);
}

/* The last state before the ground, z = 0, is reached. */
static void fall(const eb_scene *scene, eb_state *state) {
  double h = scene->dt, g = -scene->gravity[2], height = INFINITY, n = 0;
  for (int64_t i = 0; i < state->node_count; i++) height = fmin(height, scene->x0[3 * i + 2]);
  while ((n + 1) * (n + 2) / 2 * h * h * g < height) n++;
  for (int64_t i = 0; i < state->node_count; i++) {
    state->x[3 * i + 2] -= n * (n + 1) / 2 * h * h * g;
    state->v[3 * i + 2] -= n * h * g;
  }
  state->time = n * h;
  state->step = (int64_t)n;
}

typedef struct drop_of {
  const char *scene;
  int steps; /* a run */
} drop_of;

static eb_error set_up(void *context, const void *of, double *work) {
  drop *d = context;
  const drop_of *what = of;
  *work = d->steps_a_run = what->steps;
  EB_TRY(eb_bench_start_create(what->scene, "E=5e8,height=0.5", &d->impact));
  fall(d->impact.scene, d->impact.state);
  for (int k = 0; k < SOLVERS; k++) {
    EB_TRY(eb_bench_stepper_create(&d->impact, names[k], options[k], &d->solvers[k]));
    eb_state_copy(d->impact.state, d->solvers[k].state);
  }
  return EB_OK;
}

/* ---- cases ---- */

/* Conjugate gradients take thousands of iterations here: four steps of the large sculpture are some
 * two minutes. */
static const eb_bench_peer large[] = {
    {"CG", 5, run, CG}, {"Cholesky, every step", 0.95, run, CHOLESKY}, {0}};
static const eb_bench_peer medium[] = {
    {"CG", 0, run, CG}, {"Cholesky, every step", 0.95, run, CHOLESKY}, {0}};

#define DROP(size_, steps_)                                                                        \
  {                                                                                                \
    .name = "warp-step/sculpture-" #size_, .unit = "step", .measure = EB_BENCH_TIME,               \
    .bytes = sizeof(drop), .of = &(const drop_of){"hecht2012/sculpture-" #size_, steps_},          \
    .setup = set_up, .run = run, .which = WARP, .clear = clear, .peers = size_,                    \
    .describe = describe                                                                           \
  }

const eb_bench_case eb_bench_warp[] = {DROP(medium, 2), DROP(large, 1), {0}};
