/* Steps of the solvers on bench/beam (15 360 tetrahedra), one thread, from a bent and moving state.
 *
 * Newton's method is counted per iteration: everything a step does, guess and line search included,
 * over its linear systems. Other programs take 162 to 457 ms for that on the same beam. */
#include "harness/bench/tables.h"
#include "problems/base/memory.h"
#include "solvers/solver.h"

#include <string.h>

enum { BENDING_STEPS = 6 };

typedef struct stepping {
  eb_scene *scene;
  eb_solver *solver;
  eb_state *bent, *state;
  eb_step_log *log;
} stepping;

static void clear(void *context) {
  stepping *s = context;
  if (s->solver) eb_solver_destroy(s->solver);
  eb_step_log_destroy(s->log);
  if (s->bent) eb_state_destroy(s->bent);
  if (s->state) eb_state_destroy(s->state);
  if (s->scene) eb_scene_destroy(s->scene);
  free(s);
}

static void step_from(stepping *s, const eb_state *start) {
  size_t bytes = 3 * (size_t)start->node_count * sizeof *start->x;
  eb_reason reason = EB_RUNNING;
  memcpy(s->state->x, start->x, bytes);
  memcpy(s->state->v, start->v, bytes);
  s->state->time = start->time;
  s->state->step = start->step;
  eb_step_log_reset(s->log);
  eb_error_free(s->solver->ops->step(s->solver, s->state, s->scene->dt, s->log, &reason));
}

static void run(void *context) {
  stepping *s = context;
  step_from(s, s->bent);
}

static eb_error bend(stepping *s) {
  for (int i = 0; i < BENDING_STEPS; i++) {
    eb_reason reason = EB_RUNNING;
    eb_step_log_reset(s->log);
    EB_TRY(s->solver->ops->step(s->solver, s->bent, s->scene->dt, s->log, &reason));
    if (reason <= 0)
      return EB_ERROR(EB_ERR_INVALID, "solver %s on bench/beam ends with %s", s->solver->ops->name,
                      eb_reason_name(reason));
  }
  return EB_OK;
}

static eb_error prepare(stepping *s, const char *solver, const char *options,
                        const char *parameters) {
  EB_TRY(eb_scene_create(eb_scene_find("bench/beam"), parameters, NULL, "", &s->scene));
  EB_TRY(eb_solver_create(eb_solver_find(solver), options, s->scene, 1, 1, &s->solver));
  EB_TRY(eb_step_log_create(0, &s->log));
  EB_TRY(eb_state_create(s->scene, &s->bent));
  EB_TRY(eb_state_create(s->scene, &s->state));
  EB_TRY(bend(s));
  run(s);
  return EB_OK;
}

/* *work: linear systems of the step. */
static eb_error set_up(const char *solver, const char *options, const char *parameters,
                       void **context, double *work) {
  stepping *s = NULL;
  EB_TRY(EB_NEW(s, 1));
  eb_error error = prepare(s, solver, options, parameters);
  if (error) {
    clear(s);
    return error;
  }
  *work = (double)s->log->iterations;
  *context = s;
  return EB_OK;
}

static eb_error set_up_newton(void **context, double *work) {
  return set_up("newton", "", "", context, work);
}

static eb_error set_up_newton_projected(void **context, double *work) {
  return set_up("newton", "project=always", "", context, work);
}

static eb_error set_up_semi_implicit(void **context, double *work) {
  return set_up("semi-implicit", "", "", context, work);
}

static eb_error set_up_corotational(const char *options, void **context, double *work) {
  return set_up("corotational", options, "material=corotational", context, work);
}

static eb_error set_up_corotational_cg(void **context, double *work) {
  return set_up_corotational("linear=cg", context, work);
}

static eb_error set_up_corotational_ic(void **context, double *work) {
  return set_up_corotational("linear=cg,preconditioner=ic", context, work);
}

static eb_error set_up_corotational_cholesky(void **context, double *work) {
  return set_up_corotational("linear=cholesky", context, work);
}

#define BEAM_STEP(name_, unit_, target_, setup_)                                                   \
  {                                                                                                \
    .name = name_, .unit = unit_, .measure = EB_BENCH_TIME, .target = target_, .setup = setup_,    \
    .run = run, .clear = clear                                                                     \
  }

const eb_bench_case eb_bench_solvers[] = {
    BEAM_STEP("newton-iteration/beam", "iteration", 80e-3, set_up_newton),
    BEAM_STEP("newton-projected-iteration/beam", "iteration", 80e-3, set_up_newton_projected),
    BEAM_STEP("semi-implicit-step/beam", "step", 0, set_up_semi_implicit),
    BEAM_STEP("corotational-cg-jacobi-step/beam", "step", 0, set_up_corotational_cg),
    BEAM_STEP("corotational-cg-ic-step/beam", "step", 0, set_up_corotational_ic),
    BEAM_STEP("corotational-cholesky-step/beam", "step", 0, set_up_corotational_cholesky),
    {0}};
