/* Steps of the solvers on bench/beam (15 360 tetrahedra), one thread, from a bent and moving state.
 *
 * Newton's method is counted per iteration: everything a step does, guess and line search included,
 * over its linear systems. Other programs take 162 to 457 ms for that on the same beam. */
#include "harness/bench/bench_step.h"
#include "harness/bench/tables.h"
#include "problems/base/memory.h"

enum { BENDING_STEPS = 6 };

typedef struct stepping {
  eb_bench_start bent;
  eb_bench_stepper stepper;
} stepping;

static void clear(void *context) {
  stepping *s = context;
  eb_bench_stepper_clear(&s->stepper);
  eb_bench_start_clear(&s->bent);
  free(s);
}

static void run(void *context) {
  eb_bench_step(&((stepping *)context)->stepper);
}

static eb_error prepare(stepping *s, const char *solver, const char *options,
                        const char *parameters) {
  EB_TRY(eb_bench_start_create("bench/beam", parameters, &s->bent));
  EB_TRY(eb_bench_stepper_create(&s->bent, solver, options, &s->stepper));
  EB_TRY(eb_bench_start_advance(&s->bent, s->stepper.solver, BENDING_STEPS));
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
  *work = (double)s->stepper.log->iterations;
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
