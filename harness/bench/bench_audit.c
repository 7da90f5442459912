/* Timed steps with audits between them, beside the same steps without: what auditing does to the
 * clock that it stands still for. Caches that it fills, cores that it heats and threads that it
 * wakes would show here.
 *
 * Two solvers of one kind take the same steps from one state, one with the harness's own audit
 * after each, on all cores. Only the steps are charged, but for the first one of a run, which finds
 * the caches as the benchmark of the machine has left them. The peer is the side without audits: a
 * ratio of 1 says that the clock shows nothing. */
#include <stdio.h>

#include "harness/bench/bench_race.h"
#include "harness/case/auditor.h"
#include "problems/base/clock.h"

enum { STEPS = 10, AUDITED = 0 };

typedef struct audited {
  eb_bench_race race;
  eb_auditor auditor;
  eb_state *before;
  double auditing, stepping; /* s: audits of all audited runs, and their steps */
  const char *fault;         /* of an audit that could not be made; NULL: none */
} audited;

static void clear(void *context) {
  audited *a = context;
  eb_state_destroy(a->before);
  eb_auditor_clear(&a->auditor);
  eb_bench_race_clear(&a->race);
}

static void audit(audited *a, const eb_bench_side *side, eb_reason reason) {
  double row[EB_COL_COUNT] = {0}, began = eb_wall_seconds();
  bool finite = false;
  eb_error error = eb_auditor_step(&a->auditor, a->before, side->state,
                                   eb_solver_update(side->solver->ops, side->solver->options),
                                   side->log, reason, row, &finite);
  if (error || !finite) a->fault = "an audit failed";
  eb_error_free(error);
  a->auditing += eb_wall_seconds() - began;
}

static void run(void *context, int which) {
  audited *a = context;
  eb_bench_side *side = &a->race.sides[which];
  a->race.last = which;
  eb_bench_side_begin(side);
  for (int i = 0; i <= STEPS; i++) {
    if (i <= 1) side->seconds = 0;
    eb_state_copy(side->state, a->before);
    eb_reason reason = eb_bench_side_step(side);
    if (which == AUDITED) audit(a, side, reason);
  }
  if (which == AUDITED) a->stepping += side->seconds * (STEPS + 1) / STEPS;
}

static eb_error set_up(void *context, const void *of, double *work) {
  audited *a = context;
  char parameters[40];
  EB_TRY(eb_bench_race_set_up(&a->race, of, work));
  *work = STEPS;
  snprintf(parameters, sizeof parameters, "%s", a->race.of->parameters);
  eb_case kept = {.scene = a->race.start.scene->ops, .parameters = parameters};
  EB_TRY(eb_state_create(a->race.start.scene, &a->before));
  return eb_auditor_create(&kept, NULL, &a->auditor);
}

static void describe(void *context, char *text, size_t bytes) {
  const audited *a = context;
  snprintf(text, bytes, "%s, which take %.0f %% of the time that steps take",
           a->fault ? a->fault : "audits on all cores after each step",
           100 * a->auditing / a->stepping);
}

/* `walk_` steps of the solver lead to the state. Two per cent is what the same steps differ by
 * between quiet runs of one program. */
#define AUDITED_STEPS(name_, scene_, parameters_, solver_, walk_)                                  \
  {                                                                                                \
    .name = "audited-steps/" name_, .unit = "step", .measure = EB_BENCH_TIME,                      \
    .bytes = sizeof(audited),                                                                      \
    .of = &(                                                                                       \
        const eb_bench_race_of){.scene = scene_,                                                   \
                                .parameters = parameters_,                                         \
                                .sides = {EB_SIDE_ON(1, solver_, ""), EB_SIDE_ON(1, solver_, "")}, \
                                .walk = walk_},                                                    \
    .setup = set_up, .run = run, .charged = eb_bench_race_steps, .clear = clear,                   \
    .describe = describe, EB_BESIDE(EB_PEER("unaudited", 0.98))                                    \
  }

const eb_bench_case eb_bench_audit[] = {
    AUDITED_STEPS("rings", "verschoor2019/rings", "bodies=20", "contact-al", 450),
    AUDITED_STEPS("beam", "bench/beam", "", "semi-implicit", 5),
    {0}};
