/* Sweeps of position-based solvers: shape, hourglass and volume of hexahedra, shape and volume of
 * tetrahedra, from a body in disorder; the time of the phase LOCAL alone. One thread but for
 * scaling. Estimates of rotations, of which a step has one, stand beside.
 *
 * PositionBasedDynamics takes 1.75 ms for a sweep over the 15 360 tetrahedra of bench/beam. Cost
 * should not grow faster than the body: from 10^4 to 10^6 hexahedra, whose data leave the caches.
 */
#include <omp.h>
#include <stdio.h>

#include "harness/bench/bench.h"
#include "harness/bench/bench_step.h"
#include "harness/check/block.h"

enum { LOCAL = EB_PHASE_LOCAL, ROTATIONS = EB_PHASE_ROTATIONS };

typedef struct sweeping {
  eb_bench_start start;
  eb_bench_stepper stepper;
  double seconds; /* of the last run, in its phase */
} sweeping;

static void clear(void *context) {
  sweeping *s = context;
  eb_bench_stepper_clear(&s->stepper);
  eb_bench_start_clear(&s->start);
}

/* Phases that are not `phase` are not charged. */
static void run(void *context, int phase) {
  sweeping *s = context;
  s->stepper.solver->threads = omp_get_max_threads();
  eb_bench_step(&s->stepper);
  s->seconds = s->stepper.log->phase_seconds[phase];
}

static double charged(void *context) {
  return ((sweeping *)context)->seconds;
}

typedef struct sweeping_of {
  const char *scene, *parameters, *solver, *options; /* scene NULL: a block */
} sweeping_of;

static eb_error set_up(void *context, const void *of, double *work) {
  sweeping *s = context;
  const sweeping_of *what = of;
  if (what->scene) {
    EB_TRY(eb_bench_start_create(what->scene, what->parameters, &s->start));
  } else {
    EB_TRY(eb_block_create(&s->start.scene, "%s", what->parameters));
    EB_TRY(eb_state_create(s->start.scene, &s->start.state));
  }
  EB_TRY(eb_bench_stepper_create(&s->start, what->solver, what->options, &s->stepper));
  eb_bench_step(&s->stepper);
  *work = (double)s->stepper.log->iterations * s->start.scene->mesh->element_count;
  return EB_OK;
}

/* *work: sweeps. */
static eb_error set_up_sweeps(void *context, const void *of, double *work) {
  EB_TRY(set_up(context, of, work));
  *work = (double)((sweeping *)context)->stepper.log->iterations;
  return EB_OK;
}

/* *work: elements, as rotations are found once a step. */
static eb_error set_up_rotations(void *context, const void *of, double *work) {
  EB_TRY(set_up(context, of, work));
  *work = ((sweeping *)context)->start.scene->mesh->element_count;
  return EB_OK;
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define HEXAHEDRA(size_, n_)                                                                       \
  {                                                                                                \
    .name = "pbfe/hexahedra-" size_, .unit = "hexahedra", .measure = EB_BENCH_RATE, .target = 3e6, \
    .scales_with = "dgemm", .bytes = sizeof(sweeping),                                             \
    .of =                                                                                          \
        &(const sweeping_of){NULL, "element=hexahedra,initial=random,nx=" n_ ",ny=" n_ ",nz=" n_,  \
                             "pbfe", ""},                                                          \
    .setup = set_up, .run = run, .which = LOCAL, .charged = charged, .clear = clear                \
  }
#define BEAM(name_, target_, parameters_, solver_, options_)                                       \
  {                                                                                                \
    .name = name_, .unit = "sweep", .measure = EB_BENCH_TIME, .target = target_,                   \
    .scales_with = "dgemm", .bytes = sizeof(sweeping),                                             \
    .of = &(const sweeping_of){"bench/beam", parameters_, solver_, options_},                      \
    .setup = set_up_sweeps, .run = run, .which = LOCAL, .charged = charged, .clear = clear         \
  }
#define ESTIMATE(name_)                                                                            \
  {                                                                                                \
    .name = "pbfe/rotations-" name_, .unit = "hexahedron", .measure = EB_BENCH_TIME,               \
    .scales_with = "dgemm", .bytes = sizeof(sweeping),                                             \
    .of = &(const sweeping_of){NULL, "element=hexahedra,initial=random,nx=32,ny=32,nz=32", "pbfe", \
                               "iterations=1,rotation=" name_},                                    \
    .setup = set_up_rotations, .run = run, .which = ROTATIONS, .charged = charged, .clear = clear  \
  }

const eb_bench_case eb_bench_position_based[] = {
    BEAM("pbfe/beam", 0.9e-3, "", "pbfe", ""),
    HEXAHEDRA("1e4", "22"),
    HEXAHEDRA("1e5", "46"),
    HEXAHEDRA("1e6", "100"),
    ESTIMATE("spin"),
    ESTIMATE("svd"),
    BEAM("xpbd/beam", 0, "material=projective", "xpbd", "iterations=10,substeps=1"),
    {0}};
