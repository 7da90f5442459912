/* Timed steps with audits between them, beside the same steps without: what auditing does to the
 * clock that it stands still for. Caches that it fills, cores that it heats and threads that it
 * wakes would show here.
 *
 * Two solvers of one kind take the same steps from one state, one with the harness's own audit
 * after each, on all cores. Only the steps are charged, but for the first one of a run, which finds
 * the caches as the benchmark of the machine has left them. The peer is the side without audits: a
 * ratio of 1 says that the clock shows nothing. */
#include <stdio.h>

#include "harness/bench/bench_step.h"
#include "harness/bench/tables.h"
#include "harness/case/witness.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

enum { STEPS = 10 };

typedef struct pair {
  eb_bench_start start;
  eb_bench_stepper audited, plain;
  eb_witness witness;
  eb_state *before;
  double charged;            /* s: of the steps of the last run */
  double auditing, stepping; /* s: audits of all audited runs, and their steps */
  const char *fault;         /* of an audit that could not be made; NULL: none */
} pair;

static void clear(void *context) {
  pair *p = context;
  eb_state_destroy(p->before);
  eb_witness_clear(&p->witness);
  eb_bench_stepper_clear(&p->audited);
  eb_bench_stepper_clear(&p->plain);
  eb_bench_start_clear(&p->start);
  free(p);
}

static double charged(void *context) {
  return ((pair *)context)->charged;
}

/* One step of a stepper from where it is; *reason is its outcome. */
static void take_step(pair *p, eb_bench_stepper *s, eb_reason *reason) {
  eb_step_log_reset(s->log);
  double began = eb_wall_seconds();
  eb_error_free(s->solver->ops->step(s->solver, s->state, p->start.scene->dt, s->log, reason));
  p->charged += eb_wall_seconds() - began;
  s->state->step++;
  s->state->time += p->start.scene->dt;
}

static void audit(pair *p, eb_reason reason) {
  double row[EB_COL_COUNT] = {0}, began = eb_wall_seconds();
  bool finite = false;
  const eb_bench_stepper *s = &p->audited;
  eb_error error = eb_witness_step(&p->witness, p->before, s->state, s->solver->ops, s->log, reason,
                                   row, &finite);
  if (error || !finite) p->fault = "an audit failed";
  eb_error_free(error);
  p->auditing += eb_wall_seconds() - began;
}

static void run_steps(pair *p, eb_bench_stepper *s) {
  eb_state_copy(p->start.state, s->state);
  for (int i = 0; i <= STEPS; i++) {
    eb_reason reason = EB_RUNNING;
    if (i <= 1) p->charged = 0;
    eb_state_copy(s->state, p->before);
    take_step(p, s, &reason);
    if (s == &p->audited) audit(p, reason);
  }
}

static void run_plain(void *context) {
  run_steps(context, &((pair *)context)->plain);
}

static void run_audited(void *context) {
  pair *p = context;
  run_steps(p, &p->audited);
  p->stepping += p->charged * (STEPS + 1) / STEPS;
}

/* What is compared: `walk` steps of the solver lead to the state. */
typedef struct side {
  const char *scene, *parameters, *solver;
  int walk;
} side;

static eb_error prepare(pair *p, const side *of) {
  char parameters[40];
  snprintf(parameters, sizeof parameters, "%s", of->parameters);
  eb_case work = {.scene = eb_scene_find(of->scene), .parameters = parameters};
  EB_TRY(eb_bench_start_create(of->scene, of->parameters, &p->start));
  EB_TRY(eb_bench_stepper_create(&p->start, of->solver, "", &p->audited));
  EB_TRY(eb_bench_stepper_create(&p->start, of->solver, "", &p->plain));
  EB_TRY(eb_state_create(p->start.scene, &p->before));
  EB_TRY(eb_bench_start_advance(&p->start, p->audited.solver, of->walk));
  return eb_witness_create(&work, &p->witness);
}

static eb_error set_up(const side *of, void **context, double *work) {
  pair *p = NULL;
  EB_TRY(EB_NEW(p, 1));
  eb_error error = prepare(p, of);
  if (error) {
    clear(p);
    return error;
  }
  *work = STEPS;
  *context = p;
  return EB_OK;
}

static eb_error set_up_rings(void **context, double *work) {
  static const side rings = {"verschoor2019/rings", "bodies=20", "contact-cr", 450};
  return set_up(&rings, context, work);
}

static eb_error set_up_beam(void **context, double *work) {
  static const side beam = {"bench/beam", "", "semi-implicit", 5};
  return set_up(&beam, context, work);
}

static void describe(void *context, char *text, size_t bytes) {
  const pair *p = context;
  snprintf(text, bytes, "%s, which take %.0f %% of the time that steps take",
           p->fault ? p->fault : "audits on all cores after each step",
           100 * p->auditing / p->stepping);
}

/* Two per cent is what the same steps differ by between quiet runs of one program. */
static const eb_bench_peer without[] = {{"unaudited", 0.98, run_plain}, {0}};

const eb_bench_case eb_bench_audit[] = {{.name = "audited-steps/rings",
                                         .unit = "step",
                                         .measure = EB_BENCH_TIME,
                                         .setup = set_up_rings,
                                         .run = run_audited,
                                         .charged = charged,
                                         .clear = clear,
                                         .peers = without,
                                         .describe = describe},
                                        {.name = "audited-steps/beam",
                                         .unit = "step",
                                         .measure = EB_BENCH_TIME,
                                         .setup = set_up_beam,
                                         .run = run_audited,
                                         .charged = charged,
                                         .clear = clear,
                                         .peers = without,
                                         .describe = describe},
                                        {0}};
