/* Steps of a solver, timed from one and the same state of a scene. */
#ifndef EB_BENCH_STEP_H
#define EB_BENCH_STEP_H

#include "problems/scene_impl.h"
#include "solvers/solver.h"

/* Where stepping begins: a state some steps into a scene's motion. */
typedef struct eb_bench_start {
  eb_scene *scene;
  eb_state *state;
} eb_bench_start;

/* A solver at work from there. */
typedef struct eb_bench_stepper {
  const eb_bench_start *start;
  eb_solver *solver;
  eb_state *state;
  eb_step_log *log;                     /* of the last step */
  double seconds;                       /* of the last step, by the clock */
  double least_seconds[EB_PHASE_COUNT]; /* a phase in any step */
} eb_bench_stepper;

/* `parameters` of the scene may be NULL. The clears take what is zeroed or half made, too. */
EB_MUST eb_error eb_bench_start_create(const char *scene, const char *parameters,
                                       eb_bench_start *out);
/* Moves the start on by some steps of a solver. */
EB_MUST eb_error eb_bench_start_advance(eb_bench_start *start, eb_solver *solver, int steps);
void eb_bench_start_clear(eb_bench_start *start);

/* Creates a solver for one thread, and a state as the scene begins. */
EB_MUST eb_error eb_bench_stepper_create(const eb_bench_start *start, const char *solver,
                                         const char *options, eb_bench_stepper *out);
/* The same for so many threads. */
EB_MUST eb_error eb_bench_stepper_create_on(const eb_bench_start *start, int threads,
                                            const char *solver, const char *options,
                                            eb_bench_stepper *out);
/* One step from where the stepper is; a negative reason is a failure. */
eb_reason eb_bench_step_on(eb_bench_stepper *stepper);
/* One step from the start. */
void eb_bench_step(eb_bench_stepper *stepper);
void eb_bench_stepper_clear(eb_bench_stepper *stepper);

#endif
