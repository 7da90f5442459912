/* Steps of the condensation beside linearly implicit ones of the same dragon (10 456 nodes), one
 * thread, same factorization: what 3 columns a dynamic node cost, solved with the factor that
 * either needs. The jaws and the trunk have been let go, so that every dynamic node is one. */
#include <stdio.h>

#include "harness/bench/bench_step.h"
#include "harness/bench/tables.h"
#include "problems/base/memory.h"

/* Pulled for four steps, then let go. */
static const char script[] = "release=0.02,pull=0.02";
enum { STEPS = 8 };

typedef struct pair {
  eb_bench_start pulled;
  eb_bench_stepper conjac, semi_implicit;
} pair;

static void clear(void *context) {
  pair *p = context;
  eb_bench_stepper_clear(&p->conjac);
  eb_bench_stepper_clear(&p->semi_implicit);
  eb_bench_start_clear(&p->pulled);
  free(p);
}

static void run(void *context) {
  eb_bench_step(&((pair *)context)->conjac);
}

static void run_semi_implicit(void *context) {
  eb_bench_step(&((pair *)context)->semi_implicit);
}

static eb_error prepare(pair *p, int nodes) {
  char options[32];
  snprintf(options, sizeof options, "dynamic=%d", nodes);
  EB_TRY(eb_bench_start_create("conjac2020/dragon", script, &p->pulled));
  EB_TRY(eb_bench_stepper_create(&p->pulled, "semi-implicit", "beta=4", &p->semi_implicit));
  EB_TRY(eb_bench_start_advance(&p->pulled, p->semi_implicit.solver, STEPS));
  EB_TRY(eb_bench_stepper_create(&p->pulled, "conjac", options, &p->conjac));
  run(p);
  double unknowns = p->conjac.log->counters[EB_COUNT_REDUCED_UNKNOWNS];
  if (unknowns != 3 * nodes)
    return EB_ERROR(EB_ERR_INVALID, "%g unknowns for %d dynamic nodes", unknowns, nodes);
  return EB_OK;
}

static eb_error set_up(int nodes, void **context, double *work) {
  pair *p = NULL;
  EB_TRY(EB_NEW(p, 1));
  eb_error error = prepare(p, nodes);
  if (error) {
    clear(p);
    return error;
  }
  *work = 1;
  *context = p;
  return EB_OK;
}

static eb_error set_up_0(void **context, double *work) {
  return set_up(0, context, work);
}

static eb_error set_up_4(void **context, double *work) {
  return set_up(4, context, work);
}

static eb_error set_up_10(void **context, double *work) {
  return set_up(10, context, work);
}

/* The shortest of every phase, of conjac and of semi-implicit. */
static void describe(void *context, char *text, size_t bytes) {
  const pair *p = context;
  size_t length = (size_t)snprintf(text, bytes, "ms, conjac / semi-implicit:");
  for (int k = 0; k < EB_PHASE_COUNT; k++) {
    double ours = p->conjac.least_seconds[k], theirs = p->semi_implicit.least_seconds[k];
    if ((ours > 0 || theirs > 0) && length < bytes)
      length += (size_t)snprintf(text + length, bytes - length, " %s %.1f/%.1f",
                                 eb_phase_name((eb_phase)k), 1e3 * ours, 1e3 * theirs);
  }
}

/* The paper's figures: a fifth more than semi-implicit with 4 nodes, two fifths with 10. */
static const eb_bench_peer beside_0[] = {{"semi-implicit", 0, run_semi_implicit}, {0}};
static const eb_bench_peer beside_4[] = {{"semi-implicit", 1 / 1.2, run_semi_implicit}, {0}};
static const eb_bench_peer beside_10[] = {{"semi-implicit", 1 / 1.4, run_semi_implicit}, {0}};

#define DRAGON_STEP(nodes_)                                                                        \
  {                                                                                                \
    .name = "conjac-step/dragon-" #nodes_, .unit = "step", .measure = EB_BENCH_TIME,               \
    .setup = set_up_##nodes_, .run = run, .clear = clear, .peers = beside_##nodes_,                \
    .describe = describe                                                                           \
  }

const eb_bench_case eb_bench_conjac[] = {DRAGON_STEP(0), DRAGON_STEP(4), DRAGON_STEP(10), {0}};
