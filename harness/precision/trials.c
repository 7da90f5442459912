/* Trials: run, measured against the reference, judged over their seeds, and put into profiles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/precision/study.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- cases ----------------------------------------------------------------------------------- */

typedef struct label {
  char text[48];
} label;

static label name_trial(int scene, int solver, int trial, int seed) {
  label name;
  snprintf(name.text, sizeof name.text, "%d.%d.%d.%d", scene, solver, trial, seed);
  return name;
}

static eb_error add_trial(eb_study *study, int scene, int solver, int trial, int seed) {
  const eb_study_scene *s = &study->scenes[scene];
  const eb_competitor *c = &study->solvers[solver];
  const eb_trial *t = &eb_study_trials(study, scene, solver)[trial];
  const label name = name_trial(scene, solver, trial, seed);
  char number[40], *parameters = NULL, *spec = NULL, *method = NULL;
  if (t->stride == 0) return EB_OK;
  snprintf(number, sizeof number, "%.17g", t->dt);
  eb_error error = s->parameters ? eb_string_format(&parameters, "%s", s->parameters) : EB_OK;
  if (!error) error = eb_assign(&parameters, "dt", number);
  if (!error) error = eb_string_format(&spec, "%s:%s", s->name, parameters);
  if (!error)
    error = eb_string_format(&method, "%s%s%s", c->solver->name, t->options ? ":" : "",
                             t->options ? t->options : "");
  const eb_batch_case one = {.label = name.text,
                             .scene = spec,
                             .solver = method,
                             .group = s->title,
                             .stride = t->stride,
                             .times = study->request->times,
                             .seed = study->request->seed + seed};
  if (!error) error = eb_batch_add(&study->trial_runs, &one);
  free(parameters);
  free(spec);
  free(method);
  return error;
}

/* Competitors take turns. Where there is no reference nothing could be judged, and nothing runs. */
static eb_error add_trials(eb_study *study) {
  const eb_study_request *r = study->request;
  for (int scene = 0; scene < study->scene_count; scene++)
    for (int seed = 0; seed < r->seeds; seed++)
      for (int trial = 0; trial < r->budget; trial++)
        for (int solver = 0; solver < study->solver_count; solver++)
          if (study->scenes[scene].reference.state == EB_REFERENCE_VALID)
            EB_TRY(add_trial(study, scene, solver, trial, seed));
  return EB_OK;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static eb_error counted(const eb_results *results, int run, eb_counter counter, double *out) {
  double *values, setup;
  size_t count;
  char path[80];
  EB_TRY(eb_results_steps(results, run, EB_STEP_COUNTERS + (int)counter, &values, &count));
  snprintf(path, sizeof path, "setup/%s", eb_counter_name(counter));
  EB_TRY(eb_results_number(results, run, path, &setup));
  *out = isfinite(setup) ? setup : 0;
  for (size_t i = 0; i < count; i++) *out += values[i];
  free(values);
  return EB_OK;
}

static eb_error measure_costs(const eb_results *results, int at, double cost[EB_COST_KINDS]) {
  const eb_run *run = eb_results_run(results, at);
  cost[EB_COST_CPU] = run->setup_cpu_seconds + run->timed_cpu_seconds;
  EB_TRY(counted(results, at, EB_COUNT_MATVECS, &cost[EB_COST_PRODUCTS]));
  return counted(results, at, EB_COUNT_FACTORIZATIONS, &cost[EB_COST_FACTORIZATIONS]);
}

static eb_error measure_errors(const eb_study *study, const eb_study_scene *s, int at,
                               int64_t stride, eb_measured *out) {
  const eb_reference *f = &s->reference;
  eb_trajectory motion;
  eb_error error = eb_trajectory_read(study->trial_runs.results, at, s->scene, stride,
                                      s->measure.times, &motion);
  if (!error) {
    out->error = eb_motion_distance(&s->measure, motion.x, f->motion.x) / f->moved;
    out->speed_error = isfinite(f->speed_error)
                           ? eb_motion_distance(&s->measure, motion.v, f->motion.v) / f->speed
                           : NAN;
    out->state = out->error >= EB_RESOLVED * f->error ? EB_TRIAL_VALID : EB_TRIAL_UNRESOLVED;
    if (isnan(out->error)) out->state = EB_TRIAL_FAILED;
  }
  eb_trajectory_clear(&motion);
  return error;
}

static eb_error measure_run(const eb_study *study, const eb_study_scene *s, label name,
                            eb_trial *trial, eb_measured *out) {
  const eb_batch *batch = &study->trial_runs;
  bool stands;
  int at = eb_batch_find(batch, name.text);
  *out = (eb_measured){.state = EB_TRIAL_MISSING, .error = NAN, .speed_error = NAN};
  if (at < 0) return EB_OK;
  EB_TRY(measure_costs(batch->results, at, out->cost));
  const eb_run *run = eb_results_run(batch->results, at);
  EB_TRY(eb_run_is_valid(run, &stands, &trial->why));
  trial->broken |= strcmp(run->audit, "failed") == 0;
  trial->skipped |= strcmp(run->outcome, eb_outcome_name(EB_OUTCOME_SKIPPED)) == 0;
  out->state = EB_TRIAL_FAILED;
  return stands ? measure_errors(study, s, at, trial->stride, out) : EB_OK;
}

static eb_error measure_trials(eb_study *study, int scene, int solver) {
  const eb_study_request *r = study->request;
  eb_trial *trials = eb_study_trials(study, scene, solver);
  int count = 0;
  for (; count < r->budget && trials[count].stride > 0; count++)
    for (int seed = 0; seed < r->seeds; seed++)
      EB_TRY(measure_run(study, &study->scenes[scene], name_trial(scene, solver, count, seed),
                         &trials[count], &trials[count].runs[seed]));
  EB_TRY(eb_trials_judge(trials, count, r->seeds));
  for (int c = EB_COST_CPU + 1; c < EB_COST_KINDS && study->solvers[solver].claims; c++)
    for (int i = 0; i < count; i++) trials[i].front[c] = false;
  return EB_OK;
}

/* ---- judging --------------------------------------------------------------------------------- */

static double larger(double a, double b) {
  return a >= b || isnan(a) ? a : b; /* keeps what is not a number */
}

static void judge_costs(eb_trial *t, int seeds, double *sample) {
  for (int c = 0; c < EB_COST_KINDS; c++) {
    for (int k = 0; k < seeds; k++) sample[k] = t->runs[k].cost[c];
    t->least[c] = eb_sample_min(sample, (size_t)seeds);
    t->most[c] = eb_sample_max(sample, (size_t)seeds);
    t->cost[c] = eb_sample_median(sample, (size_t)seeds);
  }
}

/* A trial that is not beaten: none of the same solver has an error as small for a cost as small,
 * one of them smaller. */
static bool is_front(const eb_trial *trials, int count, int which, eb_cost_kind c) {
  const eb_trial *own = &trials[which];
  if (own->state != EB_TRIAL_VALID) return false;
  for (int i = 0; i < count; i++) {
    const eb_trial *other = &trials[i];
    if (other->state != EB_TRIAL_VALID || i == which) continue;
    bool as_good = other->error <= own->error && other->cost[c] <= own->cost[c];
    bool better = other->error < own->error || other->cost[c] < own->cost[c] || i < which;
    if (as_good && better) return false;
  }
  return true;
}

eb_error eb_trials_judge(eb_trial *trials, int count, int seeds) {
  double *sample;
  EB_TRY(EB_NEW(sample, seeds));
  for (int i = 0; i < count; i++) {
    eb_trial *t = &trials[i];
    t->state = EB_TRIAL_VALID;
    t->error = t->speed_error = 0;
    for (int k = 0; k < seeds; k++) {
      if (t->runs[k].state > t->state) t->state = t->runs[k].state;
      t->error = larger(t->error, t->runs[k].error);
      t->speed_error = larger(t->speed_error, t->runs[k].speed_error);
    }
    judge_costs(t, seeds, sample);
  }
  for (int i = 0; i < count; i++)
    for (int c = 0; c < EB_COST_KINDS; c++)
      trials[i].front[c] = is_front(trials, count, i, (eb_cost_kind)c);
  free(sample);
  return EB_OK;
}

/* ---- profiles -------------------------------------------------------------------------------- */

static bool is_claim(const eb_study *study, int solver, eb_cost_kind kind) {
  return kind != EB_COST_CPU && study->solvers[solver].claims;
}

bool eb_study_counts(const eb_study *study, int solver, eb_cost_kind kind) {
  if (is_claim(study, solver, kind)) return false;
  for (int scene = 0; scene < study->scene_count; scene++) {
    const eb_trial *trials = eb_study_trials(study, scene, solver);
    for (int i = 0; i < study->request->budget && trials[i].stride > 0; i++)
      for (int seed = 0; seed < study->request->seeds; seed++)
        if (trials[i].runs[seed].cost[kind] > 0) return true;
  }
  return false;
}

/* The least cost of a solver's audited trials, of one seed, whose error and the reference's
 * together are within the level. Of a trial that is not resolved both are, since levels are no
 * finer than 1 + EB_RESOLVED times the reference's. Trials that count nothing of the kind are none.
 */
static double least_cost(const eb_study *study, int scene, int solver, int seed, double level,
                         eb_cost_kind kind) {
  const eb_trial *trials = eb_study_trials(study, scene, solver);
  double least = INFINITY, uncertain = study->scenes[scene].reference.error;
  if (is_claim(study, solver, kind)) return INFINITY;
  for (int i = 0; i < study->request->budget && trials[i].stride > 0; i++) {
    const eb_measured *m = &trials[i].runs[seed];
    if (m->state < EB_TRIAL_FAILED && m->error + uncertain <= level && m->cost[kind] > 0)
      least = fmin(least, m->cost[kind]);
  }
  return least;
}

/* Adds a problem's costs when one of them is finite. */
static bool add_costs(eb_study *study, int scene, double level, eb_cost_kind kind) {
  eb_profiles *p = &study->profiles[kind];
  bool solved = false;
  for (int seed = 0; seed < study->request->seeds; seed++)
    for (int s = 0; s < study->solver_count; s++) {
      double cost = least_cost(study, scene, s, seed, level, kind);
      p->cost[seed][p->problems * study->solver_count + s] = cost;
      solved |= isfinite(cost);
    }
  return solved;
}

static void add_problem(eb_profiles *p, int scene, double level, double unit) {
  p->unit[p->problems] = unit;
  p->problem[p->problems++] = (eb_precision_problem){scene, level};
}

static eb_error profile(eb_study *study, eb_cost_kind kind) {
  eb_profiles *p = &study->profiles[kind];
  int most = study->scene_count * EB_PRECISION_LEVELS, seeds = study->request->seeds;
  EB_TRY(EB_NEW(p->problem, most));
  EB_TRY(EB_NEW(p->unit, most));
  EB_TRY(EB_NEW(p->cost, seeds));
  for (int k = 0; k < seeds; k++) EB_TRY(EB_NEW(p->cost[k], most * study->solver_count));
  for (int i = 0; i < study->scene_count; i++) {
    const eb_reference *f = &study->scenes[i].reference;
    for (int k = 0; k < EB_PRECISION_LEVELS && f->state == EB_REFERENCE_VALID; k++) {
      double level = eb_precision_level(k);
      if (level < (1 + EB_RESOLVED) * f->error)
        p->unresolved++;
      else if (!add_costs(study, i, level, kind))
        p->unsolved++;
      else
        add_problem(p, i, level, f->unit);
    }
  }
  return EB_OK;
}

eb_error eb_study_profile(eb_study *study) {
  for (int c = 0; c < EB_COST_KINDS; c++) EB_TRY(profile(study, (eb_cost_kind)c));
  return EB_OK;
}

/* ---- all trials ------------------------------------------------------------------------------ */

eb_error eb_study_run(eb_study *study) {
  const eb_study_request *q = study->request;
  char *target = NULL;
  EB_TRY(add_trials(study));
  if (study->trial_runs.suite.count > 0 && !study->interrupted) {
    EB_TRY(eb_string_format(&target, "%s/precision.h5", q->folder));
    const eb_batch_setting setting = eb_study_batch(study, target);
    eb_error error = eb_batch_run(&study->trial_runs, &setting, q->existing, &study->interrupted);
    free(target);
    EB_TRY(error);
  }
  for (int i = 0; i < study->scene_count; i++)
    for (int s = 0; s < study->solver_count; s++) EB_TRY(measure_trials(study, i, s));
  return eb_study_profile(study);
}
