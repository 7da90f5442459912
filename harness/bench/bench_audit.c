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
#include "harness/bench/bench.h"
#include "harness/case/auditor.h"
#include "problems/base/clock.h"

enum { STEPS = 10 };
enum { AUDITED, PLAIN, SIDES };

typedef struct pair {
  eb_bench_start start;
  eb_bench_stepper sides[SIDES];
  eb_auditor auditor;
  eb_state *before;
  double charged;            /* s: of the steps of the last run */
  double auditing, stepping; /* s: audits of all audited runs, and their steps */
  const char *fault;         /* of an audit that could not be made; NULL: none */
} pair;

static void clear(void *context) {
  pair *p = context;
  eb_state_destroy(p->before);
  eb_auditor_clear(&p->auditor);
  for (int k = 0; k < SIDES; k++) eb_bench_stepper_clear(&p->sides[k]);
  eb_bench_start_clear(&p->start);
}

static double charged(void *context) {
  return ((pair *)context)->charged;
}

static void audit(pair *p, eb_reason reason) {
  double row[EB_COL_COUNT] = {0}, began = eb_wall_seconds();
  bool finite = false;
  const eb_bench_stepper *s = &p->sides[AUDITED];
  eb_error error = eb_auditor_step(&p->auditor, p->before, s->state,
                                   eb_solver_update(s->solver->ops, s->solver->options), s->log,
                                   reason, row, &finite);
  if (error || !finite) p->fault = "an audit failed";
  eb_error_free(error);
  p->auditing += eb_wall_seconds() - began;
}

static void run(void *context, int which) {
  pair *p = context;
  eb_bench_stepper *s = &p->sides[which];
  eb_state_copy(p->start.state, s->state);
  for (int i = 0; i <= STEPS; i++) {
    if (i <= 1) p->charged = 0;
    eb_state_copy(s->state, p->before);
    eb_reason reason = eb_bench_step_on(s);
    p->charged += s->seconds;
    s->state->step++;
    s->state->time += p->start.scene->dt;
    if (which == AUDITED) audit(p, reason);
  }
  if (which == AUDITED) p->stepping += p->charged * (STEPS + 1) / STEPS;
}

/* What is compared: `walk` steps of the solver lead to the state. */
typedef struct audit_of {
  const char *scene, *parameters, *solver;
  int walk;
} audit_of;

static eb_error set_up(void *context, const void *of, double *work) {
  pair *p = context;
  const audit_of *what = of;
  char parameters[40];
  *work = STEPS;
  snprintf(parameters, sizeof parameters, "%s", what->parameters);
  eb_case audited = {.scene = eb_scene_find(what->scene), .parameters = parameters};
  EB_TRY(eb_bench_start_create(what->scene, what->parameters, &p->start));
  for (int k = 0; k < SIDES; k++)
    EB_TRY(eb_bench_stepper_create(&p->start, what->solver, "", &p->sides[k]));
  EB_TRY(eb_state_create(p->start.scene, &p->before));
  EB_TRY(eb_bench_start_advance(&p->start, p->sides[AUDITED].solver, what->walk));
  return eb_auditor_create(&audited, NULL, &p->auditor);
}

static void describe(void *context, char *text, size_t bytes) {
  const pair *p = context;
  snprintf(text, bytes, "%s, which take %.0f %% of the time that steps take",
           p->fault ? p->fault : "audits on all cores after each step",
           100 * p->auditing / p->stepping);
}

/* Two per cent is what the same steps differ by between quiet runs of one program. */
static const eb_bench_peer without[] = {{"unaudited", 0.98, run, PLAIN}, {0}};

#define AUDITED_STEPS(name_, ...)                                                                  \
  {                                                                                                \
    .name = "audited-steps/" name_, .unit = "step", .measure = EB_BENCH_TIME,                      \
    .bytes = sizeof(pair), .of = &(const audit_of){__VA_ARGS__}, .setup = set_up, .run = run,      \
    .which = AUDITED, .charged = charged, .clear = clear, .peers = without, .describe = describe   \
  }

const eb_bench_case eb_bench_audit[] = {
    AUDITED_STEPS("rings", "verschoor2019/rings", "bodies=20", "contact-al", 450),
    AUDITED_STEPS("beam", "bench/beam", "", "semi-implicit", 5),
    {0}};
