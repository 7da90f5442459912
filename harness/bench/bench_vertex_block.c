/* Sweeps of vertex block descent on bench/beam (15 360 tetrahedra), one thread, from a bent and
 * moving state: all of a step of 20 sweeps over its sweeps. A tetrahedron is visited four times in
 * a sweep. Laws of invariants first, then those that are decomposed at every visit. */
#include <stdio.h>

#include "harness/bench/bench.h"
#include "harness/bench/bench_step.h"

typedef struct sweeping {
  eb_bench_start start;
  eb_bench_stepper stepper;
} sweeping;

static void clear(void *context) {
  sweeping *s = context;
  eb_bench_stepper_clear(&s->stepper);
  eb_bench_start_clear(&s->start);
}

static void run(void *context, int which) {
  (void)which;
  eb_bench_step(&((sweeping *)context)->stepper);
}

/* `of`: parameters of the scene. *work: sweeps of the step. */
static eb_error set_up(void *context, const void *of, double *work) {
  enum { BENDING_STEPS = 6 };
  sweeping *s = context;
  eb_bench_stepper bending = {0};
  EB_TRY(eb_bench_start_create("bench/beam", of, &s->start));
  eb_error error = eb_bench_stepper_create(&s->start, "newton", "", &bending);
  if (!error) error = eb_bench_start_advance(&s->start, bending.solver, BENDING_STEPS);
  eb_bench_stepper_clear(&bending);
  if (error) return error;
  EB_TRY(eb_bench_stepper_create(&s->start, "vbd", "iterations=20", &s->stepper));
  run(s, 0);
  *work = (double)s->stepper.log->iterations;
  return EB_OK;
}

/* Visits of elements by nodes, a second. */
static void describe(void *context, char *text, size_t bytes) {
  const eb_bench_stepper *stepper = &((sweeping *)context)->stepper;
  snprintf(text, bytes, "the last step: %.1f ns a visit of an element by a node",
           1e9 * stepper->log->phase_seconds[EB_PHASE_LOCAL] /
               stepper->log->counters[EB_COUNT_ELEMENT_EVALUATIONS]);
}

#define SWEEP(name_, target_, parameters_)                                                         \
  {                                                                                                \
    .name = "vbd-sweep/" name_, .unit = "sweep", .measure = EB_BENCH_TIME, .target = target_,      \
    .bytes = sizeof(sweeping), .of = parameters_, .setup = set_up, .run = run, .clear = clear,     \
    .describe = describe                                                                           \
  }

const eb_bench_case eb_bench_vertex_block[] = {
    SWEEP("beam", 2.5e-3, ""),
    SWEEP("beam-stvk", 0, "material=stvk"),
    SWEEP("beam-fixed-corotational", 0, "material=fixed-corotational"),
    SWEEP("beam-projective", 0, "material=projective"),
    {0}};
