/* Steps of the solvers on bench/beam (15 360 tetrahedra), one thread, from a bent and moving state.
 *
 * Newton's method is counted per iteration: everything a step does, guess and line search included,
 * over its linear systems. Other programs take 162 to 457 ms for that on the same beam.
 *
 * Then steps of the condensation beside linearly implicit ones of the same dragon (10 456 nodes),
 * one thread, same factorization: what 3 columns a dynamic node cost, solved with the factor that
 * either needs. The jaws and the trunk have been let go, so that every dynamic node is one. */
#include <stdio.h>

#include "harness/bench/bench_step.h"
#include "harness/bench/bench.h"

enum { ITSELF, PEER, STEPPERS };

typedef struct stepping {
  eb_bench_start start;
  eb_bench_stepper steppers[STEPPERS]; /* the peer is zeroed where there is none */
} stepping;

static void clear(void *context) {
  stepping *s = context;
  for (int k = 0; k < STEPPERS; k++) eb_bench_stepper_clear(&s->steppers[k]);
  eb_bench_start_clear(&s->start);
}

static void run(void *context, int which) {
  eb_bench_step(&((stepping *)context)->steppers[which]);
}

/* ---- the beam -------------------------------------------------------------------------------- */

typedef struct solver_of {
  const char *solver, *options, *parameters; /* of the scene */
} solver_of;

/* *work: linear systems of the step. */
static eb_error set_up_beam(void *context, const void *of, double *work) {
  enum { BENDING_STEPS = 6 };
  stepping *s = context;
  const solver_of *what = of;
  eb_bench_stepper *stepper = &s->steppers[ITSELF];
  EB_TRY(eb_bench_start_create("bench/beam", what->parameters, &s->start));
  EB_TRY(eb_bench_stepper_create(&s->start, what->solver, what->options, stepper));
  EB_TRY(eb_bench_start_advance(&s->start, stepper->solver, BENDING_STEPS));
  run(s, ITSELF);
  *work = (double)stepper->log->iterations;
  return EB_OK;
}

/* Steps of mfem beside newton's, from where newton has brought the beam. *work: iterations of the
 * one to those of the other, so that the price of a share is that of an iteration. */
static eb_error set_up_mixed(void *context, const void *of, double *work) {
  static const solver_of newton = {"newton", "", ""};
  stepping *s = context;
  const char *options = of;
  double iterations;
  EB_TRY(set_up_beam(s, &newton, &iterations));
  s->steppers[PEER] = s->steppers[ITSELF];
  s->steppers[ITSELF] = (eb_bench_stepper){0};
  EB_TRY(eb_bench_stepper_create(&s->start, "mfem", options, &s->steppers[ITSELF]));
  run(s, ITSELF);
  *work = (double)s->steppers[ITSELF].log->iterations / iterations;
  return EB_OK;
}

static void describe_mixed(void *context, char *text, size_t bytes) {
  const stepping *s = context;
  snprintf(text, bytes, "iterations a step: %d, newton's %d",
           (int)s->steppers[ITSELF].log->iterations, (int)s->steppers[PEER].log->iterations);
}

/* ---- the dragon ------------------------------------------------------------------------------ */

/* Pulled for four steps, then let go. `of`: dynamic nodes. */
static eb_error set_up_dragon(void *context, const void *of, double *work) {
  enum { STEPS = 8 };
  stepping *s = context;
  eb_bench_stepper *conjac = &s->steppers[ITSELF], *semi_implicit = &s->steppers[PEER];
  const int nodes = *(const int *)of;
  char options[32];
  (void)work;
  snprintf(options, sizeof options, "dynamic=%d", nodes);
  EB_TRY(eb_bench_start_create("conjac2020/dragon", "release=0.02,pull=0.02", &s->start));
  EB_TRY(eb_bench_stepper_create(&s->start, "semi-implicit", "beta=4", semi_implicit));
  EB_TRY(eb_bench_start_advance(&s->start, semi_implicit->solver, STEPS));
  EB_TRY(eb_bench_stepper_create(&s->start, "conjac", options, conjac));
  run(s, ITSELF);
  double unknowns = conjac->log->counters[EB_COUNT_REDUCED_UNKNOWNS];
  if (unknowns != 3 * nodes)
    return EB_ERROR(EB_ERR_INVALID, "%g unknowns for %d dynamic nodes", unknowns, nodes);
  return EB_OK;
}

/* The shortest of every phase, of conjac and of semi-implicit. */
static void describe_dragon(void *context, char *text, size_t bytes) {
  const stepping *s = context;
  size_t length = (size_t)snprintf(text, bytes, "ms, conjac / semi-implicit:");
  for (int k = 0; k < EB_PHASE_COUNT; k++) {
    double ours = s->steppers[ITSELF].least_seconds[k], theirs = s->steppers[PEER].least_seconds[k];
    if ((ours > 0 || theirs > 0) && length < bytes)
      length += (size_t)snprintf(text + length, bytes - length, " %s %.1f/%.1f",
                                 eb_phase_name((eb_phase)k), 1e3 * ours, 1e3 * theirs);
  }
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define BEAM_STEP(name_, unit_, target_, ...)                                                      \
  {                                                                                                \
    .name = name_ "/beam", .unit = unit_, .measure = EB_BENCH_TIME, .target = target_,             \
    .bytes = sizeof(stepping), .of = &(const solver_of){__VA_ARGS__}, .setup = set_up_beam,        \
    .run = run, .which = ITSELF, .clear = clear                                                    \
  }
#define COROTATIONAL(name_, linear_)                                                               \
  BEAM_STEP("corotational-" name_ "-step", "step", 0, "corotational", "linear=" linear_,           \
            "material=corotational")
#define DRAGON_STEP(nodes_, target_)                                                               \
  {                                                                                                \
    .name = "conjac-step/dragon-" #nodes_, .unit = "step", .measure = EB_BENCH_TIME,               \
    .bytes = sizeof(stepping), .of = &(const int){nodes_}, .setup = set_up_dragon, .run = run,     \
    .which = ITSELF, .clear = clear, .describe = describe_dragon,                                  \
    .peers = (const eb_bench_peer[]) {                                                             \
      {"semi-implicit", target_, run, PEER}, {                                                     \
        0                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }

/* The condensation's targets are the paper's figures: a fifth more than semi-implicit with 4 nodes,
 * two fifths with 10. */
const eb_bench_case eb_bench_solvers[] = {
    BEAM_STEP("newton-iteration", "iteration", 80e-3, "newton", "", ""),
    BEAM_STEP("newton-projected-iteration", "iteration", 80e-3, "newton", "project=always", ""),
    {.name = "mfem-iteration/beam",
     .unit = "iterations",
     .measure = EB_BENCH_SHARE,
     .target = 1.2,
     .bytes = sizeof(stepping),
     .of = "",
     .setup = set_up_mixed,
     .run = run,
     .which = ITSELF,
     .clear = clear,
     .describe = describe_mixed,
     .peers = (const eb_bench_peer[]){{"newton", 0, run, PEER}, {0}}},
    BEAM_STEP("semi-implicit-step", "step", 0, "semi-implicit", "", ""),
    COROTATIONAL("cg-jacobi", "cg"),
    COROTATIONAL("cg-ic", "cg,preconditioner=ic"),
    COROTATIONAL("cholesky", "cholesky"),
    DRAGON_STEP(0, 0),
    DRAGON_STEP(4, 1 / 1.2),
    DRAGON_STEP(10, 1 / 1.4),
    {0}};
