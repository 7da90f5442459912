#include "harness/bench/bench_race.h"

#include <math.h>
#include <omp.h>

#include "harness/check/block.h"
#include "problems/base/clock.h"

/* ---- steps ----------------------------------------------------------------------------------- */

static void tally_step(eb_bench_side *side, eb_reason reason) {
  eb_bench_tally *t = &side->tally;
  const eb_step_log *log = side->log;
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    side->least_seconds[p] = fmin(side->least_seconds[p], log->phase_seconds[p]);
  if (reason <= 0) {
    t->failures++;
    return;
  }
  t->steps++;
  t->iterations += (double)log->iterations;
  for (int c = 0; c < EB_COUNTERS; c++) t->counters[c] += log->counters[c];
  for (int p = 0; p < EB_PHASE_COUNT; p++) t->phase_seconds[p] += log->phase_seconds[p];
}

void eb_bench_side_begin(eb_bench_side *side) {
  eb_state_copy(side->start->state, side->state);
  side->tally = (eb_bench_tally){0};
}

eb_reason eb_bench_side_step(eb_bench_side *side) {
  eb_reason reason = EB_DIVERGED_NAN; /* of a step that raises an error */
  eb_solver *solver = side->solver;
  if (side->follows) solver->threads = omp_get_max_threads();
  eb_step_log_reset(side->log);
  double began = eb_wall_seconds();
  eb_error_free(solver->ops->step(solver, side->state, side->start->scene->dt, side->log, &reason));
  side->seconds += eb_wall_seconds() - began;
  tally_step(side, reason);
  return reason;
}

void eb_bench_race_run(void *context, int which) {
  eb_bench_race *race = context;
  const eb_bench_race_of *of = race->of;
  race->last = which == 0 && omp_get_max_threads() > 1 ? of->on_two : which;
  eb_bench_side *side = &race->sides[race->last];
  if (!of->goes_on) eb_bench_side_begin(side);
  side->seconds = 0;
  for (int i = 0; i < of->steps || i == 0; i++) eb_bench_side_step(side);
}

double eb_bench_race_steps(void *context) {
  const eb_bench_race *race = context;
  return race->sides[race->last].seconds;
}

double eb_bench_race_phase(void *context) {
  const eb_bench_race *race = context;
  return race->sides[race->last].log->phase_seconds[race->of->phase];
}

double eb_bench_race_others(void *context) {
  return eb_bench_race_steps(context) - eb_bench_race_phase(context);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error open_start(const char *scene, const char *parameters, eb_bench_start *out) {
  EB_TRY(scene ? eb_scene_create(eb_scene_find(scene), parameters, NULL, NULL, &out->scene)
               : eb_block_create(&out->scene, "%s", parameters));
  return eb_state_create(out->scene, &out->state);
}

static void close_start(eb_bench_start *start) {
  eb_state_destroy(start->state);
  eb_scene_destroy(start->scene);
}

static eb_error open_side(const eb_bench_race_of *race, const eb_bench_side_of *of,
                          const eb_bench_start *start, eb_bench_side *out) {
  out->start = start;
  out->follows = of->threads == 0;
  if (of->parameters) {
    out->start = &out->own;
    EB_TRY(open_start(race->scene, of->parameters, &out->own));
  }
  EB_TRY(eb_solver_create(eb_solver_find(of->solver), of->options, out->start->scene,
                          of->threads ? of->threads : 1, 1, &out->solver));
  EB_TRY(eb_step_log_create(0, &out->log));
  EB_TRY(eb_state_create(out->start->scene, &out->state));
  return EB_OK;
}

static void close_side(eb_bench_side *side) {
  eb_solver_destroy(side->solver);
  eb_state_destroy(side->state);
  eb_step_log_destroy(side->log);
  close_start(&side->own);
}

/* Moves the start of a side on by its steps. */
static eb_error walk(eb_bench_side *side, int steps) {
  const eb_bench_start *start = side->start;
  for (int i = 0; i < steps; i++) {
    eb_reason reason = eb_bench_side_step(side);
    if (reason <= 0)
      return EB_ERROR(EB_ERR_INVALID, "solver %s on %s ends with %s", side->solver->ops->name,
                      start->scene->ops->name, eb_reason_name(reason));
  }
  eb_state_copy(side->state, start->state);
  return EB_OK;
}

static eb_error walk_to_start(eb_bench_race *race) {
  const eb_bench_race_of *of = race->of;
  if (of->place) of->place(race->start.scene, race->start.state);
  if (of->walker.solver) {
    eb_bench_side walker = {0};
    eb_error error = open_side(of, &of->walker, &race->start, &walker);
    if (!error) error = walk(&walker, of->walk);
    close_side(&walker);
    EB_TRY(error);
  }
  for (int k = 0; k < race->count && !of->walker.solver; k++)
    if (of->walk && (of->sides[k].parameters || k == of->walking_side))
      EB_TRY(walk(&race->sides[k], of->walk));
  for (eb_bench_side *side = race->sides; side < race->sides + race->count; side++) {
    eb_bench_side_begin(side);
    for (int i = 0; i < of->own_walk; i++) eb_bench_side_step(side);
    for (int p = 0; p < EB_PHASE_COUNT; p++) side->least_seconds[p] = INFINITY;
  }
  if (of->own_walk > 0) eb_state_copy(race->sides[0].state, race->start.state);
  return EB_OK;
}

static double work_of(const eb_bench_race *race) {
  double iterations = (double)race->sides[0].log->iterations;
  double elements = race->sides[0].start->scene->mesh->element_count;
  switch (race->of->work) {
  case EB_WORK_ITERATIONS:
    return iterations;
  case EB_WORK_ITERATIONS_SHARE:
    return iterations / (double)race->sides[1].log->iterations;
  case EB_WORK_SWEPT_ELEMENTS:
    return iterations * elements;
  case EB_WORK_ELEMENTS:
    return elements;
  default:
    return race->of->steps ? race->of->steps : 1;
  }
}

eb_error eb_bench_race_set_up(void *context, const void *of, double *work) {
  eb_bench_race *race = context;
  race->of = of;
  if (!race->of->sides[0].parameters)
    EB_TRY(open_start(race->of->scene, race->of->parameters, &race->start));
  for (; race->count < EB_BENCH_SIDES && race->of->sides[race->count].solver; race->count++)
    EB_TRY(open_side(race->of, &race->of->sides[race->count], &race->start,
                     &race->sides[race->count]));
  EB_TRY(walk_to_start(race));
  if (race->of->check || race->of->work != EB_WORK_STEPS)
    for (int k = 0; k < race->count; k++) eb_bench_race_run(race, k);
  *work = work_of(race);
  return race->of->check ? race->of->check(race) : EB_OK;
}

void eb_bench_race_clear(void *context) {
  eb_bench_race *race = context;
  for (int k = 0; k < EB_BENCH_SIDES; k++) close_side(&race->sides[k]);
  close_start(&race->start);
}
