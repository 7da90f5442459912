/* What a study is made of: scenes and their times, solvers and their trials. */
#include "harness/precision/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

const char *const eb_cost_names[EB_COST_KINDS] = {"cpu", "products", "factorizations"};

const char *eb_trial_state_name(eb_trial_state state) {
  static const char *const names[] = {[EB_TRIAL_VALID] = "stands",
                                      [EB_TRIAL_UNRESOLVED] = "not resolved",
                                      [EB_TRIAL_FAILED] = "failed",
                                      [EB_TRIAL_MISSING] = "not run"};
  return names[state];
}

double eb_precision_level(int k) {
  return pow(10, -1 - 0.5 * k);
}

double eb_study_dt(const eb_study *study, const eb_study_scene *scene, int64_t stride) {
  const eb_study_request *r = study->request;
  return r->same_step ? scene->scene->dt : scene->seconds / (double)(r->times * stride);
}

eb_trial *eb_study_trials(const eb_study *study, int scene, int solver) {
  return study->trials + (scene * study->solver_count + solver) * study->request->budget;
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static const char *mesh_file(const eb_strings *meshes, const char *scene) {
  size_t length = strlen(scene);
  for (int i = 0; i < meshes->count; i++)
    if (strncmp(meshes->items[i], scene, length) == 0 && meshes->items[i][length] == '=')
      return meshes->items[i] + length + 1;
  return NULL;
}

/* The length of a default run, s. */
static double default_seconds(const eb_scene_ops *ops) {
  const eb_option *dt = ops->parameters;
  while (strcmp(dt->name, "dt") != 0) dt++;
  return (double)ops->steps * strtod(dt->fallback, NULL);
}

/* Steps between two times at a step of about dt. */
static int64_t stride_of(const eb_study_request *r, double seconds, double dt) {
  int64_t stride = llround(seconds / (r->times * dt));
  return stride > 1 ? stride : 1;
}

static eb_error make_scene(const eb_study_request *r, eb_study_scene *s) {
  const eb_scene_ops *ops;
  EB_TRY(eb_open_scene(s->name, r->plugins, &ops));
  eb_error error =
      eb_scene_create(ops, s->parameters, mesh_file(r->meshes, s->name), NULL, &s->scene);
  eb_scene_close(ops);
  return eb_error_prefix(error, "%s", s->title);
}

static eb_error fill_scene(const eb_study_request *r, eb_study_scene *s) {
  double lo[3], hi[3];
  EB_TRY(eb_string_format(&s->title, "%s%s%s", s->name, s->parameters ? ":" : "",
                          s->parameters ? s->parameters : ""));
  EB_TRY(make_scene(r, s));
  const eb_mesh *mesh = s->scene->mesh;
  if (s->scene->script.cut_count > 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "%s is cut while it moves: there is no motion of one mesh to compare with",
                    s->name);
  s->ratio = eb_values_real(s->scene->parameters, "nu");
  s->seconds = r->seconds > 0 ? r->seconds : default_seconds(s->scene->ops);
  s->stride = stride_of(r, s->seconds, s->scene->dt);
  /* The same step is the scene's own, bit by bit; else the end is where it was asked for. */
  if (r->same_step) s->seconds = (double)(r->times * s->stride) * s->scene->dt;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  s->diagonal = sqrt(pow(hi[0] - lo[0], 2) + pow(hi[1] - lo[1], 2) + pow(hi[2] - lo[2], 2));
  s->measure = (eb_measure){r->times, mesh->node_count, eb_scene_mass(s->scene)};
  return EB_OK;
}

static eb_error add_scene(eb_study *study, const char *spec, const char *ratio) {
  size_t count = (size_t)study->scene_count;
  EB_TRY(EB_APPEND(study->scenes, study->scene_count));
  eb_study_scene *s = &study->scenes[count];
  EB_TRY(eb_split_scene(spec, &s->name, &s->parameters));
  if (ratio) EB_TRY(eb_assign(&s->parameters, "nu", ratio));
  EB_TRY(fill_scene(study->request, s));
  for (size_t i = 0; i < count; i++)
    if (strcmp(study->scenes[i].title, s->title) == 0)
      return EB_ERROR(EB_ERR_USAGE, "'%s' is named twice", s->title);
  return EB_OK;
}

static eb_error add_scenes(eb_study *study) {
  const eb_study_request *r = study->request;
  if (r->ratios && !*r->ratios)
    return EB_ERROR(EB_ERR_USAGE, "--nu wants Poisson's ratios, as in '0.3|0.49'");
  for (int i = 0; i < r->scenes->count; i++) {
    const char *spec = r->scenes->items[i];
    if (!r->ratios) EB_TRY(add_scene(study, spec, NULL));
    for (const char *at = r->ratios; at && *at; at += strcspn(at, "|"), at += *at == '|') {
      char *ratio = NULL;
      EB_TRY(eb_string_format(&ratio, "%.*s", (int)strcspn(at, "|"), at));
      eb_error error = add_scene(study, spec, ratio);
      free(ratio);
      EB_TRY(error);
    }
  }
  /* A sweep of Poisson's ratio: scenes of one name that differ in it. */
  for (int i = 0; i < study->scene_count; i++)
    for (int k = 0; k < study->scene_count; k++)
      study->scenes[i].control.wanted |=
          strcmp(study->scenes[i].name, study->scenes[k].name) == 0 &&
          study->scenes[i].ratio != study->scenes[k].ratio;
  return EB_OK;
}

/* ---- solvers --------------------------------------------------------------------------------- */

static eb_error describe_knobs(const eb_study_request *r, const eb_accuracy_parameters *knobs,
                               eb_text *out) {
  const char *between = knobs->count ? ", " : "";
  EB_TRY(eb_text_printf(out, "knobs "));
  if (!r->same_step && r->dt_low > 0)
    EB_TRY(eb_text_printf(out, "dt %g..%g s%s", r->dt_low, r->dt_high, between));
  else if (!r->same_step)
    EB_TRY(eb_text_printf(out, "dt (a sixteenth of the scene's to four times it)%s", between));
  EB_TRY(eb_accuracy_parameters_describe(knobs, out));
  return eb_text_printf(out, "%s%s", r->same_step && knobs->count == 0 ? "none" : "",
                        knobs->known ? "" : "; nobody declares others (--knob)");
}

static eb_error fill_solver(const eb_study_request *r, const char *spec, eb_competitor *out) {
  char *name;
  eb_values *values;
  EB_TRY(eb_string_format(&out->spec, "%s", spec));
  EB_TRY(eb_split_spec(spec, &name, &out->options));
  eb_error error = eb_solver_lookup(r->plugins, name, &out->solver, NULL);
  free(name);
  EB_TRY(error);
  out->claims = eb_solver_is_foreign(out->solver);
  EB_TRY(eb_values_create(out->solver->name, out->solver->options, out->options, &values));
  eb_values_destroy(values);
  EB_TRY(eb_accuracy_parameters_create(out->solver, out->options, r->knobs, &out->knobs));
  return describe_knobs(r, &out->knobs, &out->words);
}

/* A knob of a solver that does not take part is a slip. */
static eb_error check_knobs(const eb_study *study) {
  const eb_strings *knobs = study->request->knobs;
  for (int i = 0; i < knobs->count; i++) {
    size_t length = strcspn(knobs->items[i], ":");
    bool found = false;
    for (int s = 0; s < study->solver_count; s++)
      found |= strlen(study->solvers[s].solver->name) == length &&
               strncmp(study->solvers[s].solver->name, knobs->items[i], length) == 0;
    if (!found || !knobs->items[i][length])
      return EB_ERROR(EB_ERR_USAGE,
                      "--knob wants SOLVER:OPTION=LOW..HIGH of a solver that takes part, not '%s'",
                      knobs->items[i]);
  }
  return EB_OK;
}

static eb_error add_solvers(eb_study *study) {
  const eb_strings *specs = study->request->solvers;
  EB_TRY(EB_NEW(study->solvers, specs->count));
  for (int i = 0; i < specs->count; i++) {
    for (int k = 0; k < i; k++)
      if (strcmp(specs->items[i], specs->items[k]) == 0)
        return EB_ERROR(EB_ERR_USAGE, "solver '%s' is named twice", specs->items[i]);
    EB_TRY(fill_solver(study->request, specs->items[i], &study->solvers[study->solver_count++]));
  }
  return check_knobs(study);
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* Of point `index`; 0: the scene's own step and the options as given. */
static eb_error fill_trial(const eb_study *study, const eb_study_scene *scene,
                           const eb_competitor *solver, int64_t index, eb_trial *out) {
  const eb_study_request *r = study->request;
  double u[EB_MOST_ACCURACY_PARAMETERS];
  uint64_t seed = (uint64_t)r->seed;
  out->stride = scene->stride;
  if (solver->options) EB_TRY(eb_string_format(&out->options, "%s", solver->options));
  if (index > 0 && !r->same_step) {
    double low = r->dt_low > 0 ? r->dt_low : scene->scene->dt / 16,
           high = r->dt_high > 0 ? r->dt_high : scene->scene->dt * 4;
    out->stride = stride_of(r, scene->seconds, low * pow(high / low, eb_halton(index, 0, seed)));
  }
  out->dt = eb_study_dt(study, scene, out->stride);
  for (int d = 0; d < solver->knobs.count; d++) u[d] = eb_halton(index, d + 1, seed);
  return index > 0 ? eb_accuracy_parameters_apply(&solver->knobs, u, &out->options) : EB_OK;
}

static bool is_same(const eb_trial *a, const eb_trial *b) {
  return a->stride == b->stride &&
         strcmp(a->options ? a->options : "", b->options ? b->options : "") == 0;
}

static void clear_trial(eb_trial *trial) {
  free(trial->options);
  free(trial->runs);
  free(trial->why);
  *trial = (eb_trial){0};
}

/* As many different trials as the budget has or, where steps and options have few values, as are
 * found among eight times as many points. A solver that cannot serve the scene has one, which says
 * so. */
static eb_error fill_trials(const eb_study *study, int scene, int solver) {
  enum { PATIENCE = 8 };
  const eb_study_request *r = study->request;
  const eb_study_scene *s = &study->scenes[scene];
  const eb_competitor *c = &study->solvers[solver];
  eb_trial *trials = eb_study_trials(study, scene, solver);
  int budget = eb_solver_lacks(c->solver, s->scene) ? 1 : r->budget, count = 0;
  for (int64_t index = 0; count < budget && index < PATIENCE * r->budget; index++) {
    eb_trial *trial = &trials[count];
    EB_TRY(fill_trial(study, s, c, index, trial));
    bool fresh = true;
    for (int i = 0; i < count; i++) fresh &= !is_same(&trials[i], trial);
    if (!fresh) {
      clear_trial(trial);
      continue;
    }
    count++;
    trial->state = EB_TRIAL_MISSING;
    EB_TRY(EB_NEW(trial->runs, r->seeds));
    for (int k = 0; k < r->seeds; k++) trial->runs[k].state = EB_TRIAL_MISSING;
  }
  return EB_OK;
}

/* ---- the study ------------------------------------------------------------------------------- */

eb_error eb_study_create(const eb_study_request *request, eb_study *out) {
  *out = (eb_study){.request = request};
  EB_TRY(add_solvers(out));
  EB_TRY(add_scenes(out));
  EB_TRY(EB_NEW(out->trials, out->scene_count * out->solver_count * request->budget));
  for (int i = 0; i < out->scene_count; i++)
    for (int k = 0; k < out->solver_count; k++) EB_TRY(fill_trials(out, i, k));
  return EB_OK;
}

static void clear_scene(eb_study_scene *s) {
  free(s->name);
  free(s->parameters);
  free(s->title);
  free(s->reference.detail);
  free(s->reference.solver);
  free(s->control.detail);
  eb_trajectory_clear(&s->reference.motion);
  eb_scene_destroy(s->scene);
}

static void clear_profiles(eb_profiles *p, int seeds) {
  free(p->problem);
  free(p->unit);
  for (int k = 0; p->cost && k < seeds; k++) free(p->cost[k]);
  free(p->cost);
}

void eb_study_clear(eb_study *study) {
  int trials =
      study->trials ? study->scene_count * study->solver_count * study->request->budget : 0;
  for (int i = 0; i < trials; i++) clear_trial(&study->trials[i]);
  for (int i = 0; i < study->scene_count; i++) clear_scene(&study->scenes[i]);
  for (int i = 0; i < study->solver_count; i++) {
    free(study->solvers[i].spec);
    free(study->solvers[i].options);
    eb_accuracy_parameters_clear(&study->solvers[i].knobs);
    eb_text_clear(&study->solvers[i].words);
  }
  free(study->trials);
  free(study->scenes);
  free(study->solvers);
  eb_batch_clear(&study->reference_runs);
  eb_batch_clear(&study->trial_runs);
  for (int c = 0; c < EB_COST_KINDS; c++)
    clear_profiles(&study->profiles[c], study->request ? study->request->seeds : 0);
  *study = (eb_study){0};
}

eb_batch_setting eb_study_batch(const eb_study *study, const char *target) {
  const eb_study_request *q = study->request;
  return (eb_batch_setting){.plugins = q->plugins,
                            .meshes = q->meshes,
                            .threads = q->threads,
                            .timeout = q->timeout,
                            .memory = q->memory,
                            .target = target,
                            .command_line = q->command_line};
}
