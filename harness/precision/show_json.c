/* A study as JSON, and its reference trajectories as a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/precision/precision_doc.h"
#include "harness/results/json.h"

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Reals by name, null where they are none; the list ends with NULL. */
static json_t *json_reals(const char *const *names, const double *values) {
  json_t *json = json_object();
  for (int i = 0; names[i]; i++) json_object_set_new(json, names[i], eb_json_real(values[i]));
  return json;
}

static json_t *json_costs(const double costs[EB_COST_KINDS]) {
  const char *names[EB_COST_KINDS + 1] = {NULL};
  for (int c = 0; c < EB_COST_KINDS; c++) names[c] = eb_cost_names[c];
  return json_reals(names, costs);
}

static json_t *json_trial(const eb_trial *t) {
  json_t *front = json_array();
  for (int c = 0; c < EB_COST_KINDS; c++)
    if (t->front[c]) json_array_append_new(front, eb_json_text(eb_cost_names[c]));
  return eb_json_pack("{s:f, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "dt", t->dt, "options",
                      t->options ? t->options : "", "state", eb_trial_state_name(t->state), "why",
                      t->why ? t->why : "", "error", eb_json_real(t->error), "speed_error",
                      eb_json_real(t->speed_error), "cost", json_costs(t->cost), "least",
                      json_costs(t->least), "most", json_costs(t->most), "front", front);
}

static json_t *json_trials(const eb_study *study, int scene) {
  json_t *solvers = json_array();
  for (int k = 0; k < study->solver_count; k++) {
    const eb_trial *trials = eb_study_trials(study, scene, k);
    json_t *list = json_array();
    for (int i = 0; i < study->request->budget && trials[i].stride > 0; i++)
      json_array_append_new(list, json_trial(&trials[i]));
    json_array_append_new(solvers, eb_json_pack("{s:s, s:b, s:o}", "solver", study->solvers[k].spec,
                                                "counts_are_claims", study->solvers[k].claims,
                                                "trials", list));
  }
  return solvers;
}

static json_t *json_orders(const eb_extrapolation *x) {
  json_t *orders = json_array();
  for (int c = 0; c < x->columns; c++)
    if (!isnan(x->order[c])) json_array_append_new(orders, eb_json_real(x->order[c]));
  return orders;
}

static json_t *json_reference(const eb_study_scene *s) {
  static const char *const states[] = {[EB_REFERENCE_VALID] = "stands",
                                       [EB_REFERENCE_DIVERGES] = "does not converge",
                                       [EB_REFERENCE_FAILED] = "failed",
                                       [EB_REFERENCE_MISSING] = "not run"};
  static const char *const names[] = {"error",  "speed_error", "motion",    "speed", "steps",
                                      "damped", "tolerance",   "finest_dt", NULL};
  const eb_reference *f = &s->reference;
  bool stands = f->state == EB_REFERENCE_VALID;
  const double values[] = {stands ? f->error : NAN,
                           stands ? f->speed_error : NAN,
                           f->moved,
                           f->speed,
                           stands ? f->x.error / f->moved : NAN,
                           stands ? f->damped_x / f->moved : NAN,
                           stands ? f->tolerance_x / f->moved : NAN,
                           s->seconds / (double)f->finest};
  json_t *json = json_reals(names, values);
  json_object_set_new(json, "state", eb_json_text(states[f->state]));
  json_object_set_new(json, "detail", eb_json_text(f->detail ? f->detail : ""));
  json_object_set_new(json, "solver", eb_json_text(f->solver ? f->solver : ""));
  json_object_set_new(json, "levels", json_integer(f->levels));
  json_object_set_new(json, "orders", json_orders(&f->x));
  return json;
}

static json_t *json_control(const eb_study_scene *s) {
  const eb_control *c = &s->control;
  if (!c->wanted) return json_null();
  return eb_json_pack("{s:o, s:o, s:o, s:s}", "nu", eb_json_real(s->ratio), "resolution",
                      eb_json_real(c->resolution), "difference", eb_json_real(c->difference),
                      "detail", c->detail ? c->detail : "");
}

/* The solvers that count nothing of the kind. */
static json_t *json_uncounted(const eb_study *study, eb_cost_kind kind) {
  json_t *list = json_array();
  for (int k = 0; k < study->solver_count; k++)
    if (!eb_study_counts(study, k, kind))
      json_array_append_new(list, eb_json_text(study->solvers[k].spec));
  return list;
}

static json_t *json_profile(const eb_study *study, eb_cost_kind kind) {
  const eb_profiles *p = &study->profiles[kind];
  json_t *problems = json_array(), *costs = json_array();
  for (int i = 0; i < p->problems; i++)
    json_array_append_new(
        problems, eb_json_pack("{s:s, s:f, s:o}", "scene", study->scenes[p->problem[i].scene].title,
                               "error", p->problem[i].error, "unit", eb_json_real(p->unit[i])));
  for (int seed = 0; seed < study->request->seeds; seed++) {
    json_t *solvers = json_object();
    const eb_costs of = eb_study_costs(study, kind, seed);
    for (int k = 0; k < study->solver_count; k++) {
      json_t *list = json_array();
      for (int i = 0; i < p->problems; i++)
        json_array_append_new(list, eb_json_real(eb_costs_of(&of, i, k)));
      eb_json_set(solvers, study->solvers[k].spec, list);
    }
    json_array_append_new(costs, solvers);
  }
  return eb_json_pack("{s:o, s:o, s:i, s:i, s:o}", "problems", problems, "cost", costs,
                      "solved_by_none", p->unsolved, "not_resolved", p->unresolved, "uncounted",
                      json_uncounted(study, kind));
}

/* By CPU time, and inside of that by the others. */
static json_t *json_profiles(const eb_study *study) {
  json_t *json = json_profile(study, EB_COST_CPU);
  for (int c = EB_COST_CPU + 1; c < EB_COST_KINDS; c++)
    json_object_set_new(json, eb_cost_names[c], json_profile(study, (eb_cost_kind)c));
  return json;
}

static json_t *json_solvers(const eb_study *study) {
  json_t *solvers = json_array();
  for (int k = 0; k < study->solver_count; k++)
    json_array_append_new(solvers, eb_json_pack("{s:s, s:s}", "solver", study->solvers[k].spec,
                                                "knobs", study->solvers[k].words.data));
  return solvers;
}

eb_error eb_study_json(const eb_study *study, json_t **out) {
  const eb_study_request *r = study->request;
  json_t *scenes = json_array();
  for (int i = 0; i < study->scene_count; i++) {
    const eb_study_scene *s = &study->scenes[i];
    json_array_append_new(
        scenes, eb_json_pack("{s:s, s:s, s:f, s:f, s:o, s:o, s:o}", "scene", s->name, "parameters",
                             s->parameters ? s->parameters : "", "seconds", s->seconds, "diagonal",
                             s->diagonal, "reference", json_reference(s), "locking",
                             json_control(s), "solvers", json_trials(study, i)));
  }
  *out = eb_json_pack("{s:s, s:i, s:i, s:I, s:i, s:o, s:o, s:o}", "against",
                      r->same_step ? "step" : "time", "budget", r->budget, "seeds", r->seeds,
                      "seed", (json_int_t)r->seed, "times", r->times, "competitors",
                      json_solvers(study), "scenes", scenes, "profiles", json_profiles(study));
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
}

/* ---- trajectories ---------------------------------------------------------------------------- */

static eb_error write_motion(hid_t group, const eb_study_scene *s) {
  const eb_trajectory *motion = &s->reference.motion;
  const hsize_t times = (hsize_t)motion->times, nodes = (hsize_t)motion->nodes;
  const eb_h5_shape shape = {3, {times, nodes, 3}};
  double time[EB_MOST_TIMES];
  for (int k = 0; k < motion->times; k++) time[k] = s->seconds * (k + 1) / motion->times;
  EB_TRY(eb_h5_put_text(group, "scene", s->name));
  EB_TRY(eb_h5_put_text(group, "parameters", s->parameters ? s->parameters : ""));
  EB_TRY(eb_h5_put_real(group, "error", s->reference.error));
  EB_TRY(eb_h5_put_real(group, "speed_error", s->reference.speed_error));
  EB_TRY(eb_h5_put(group, "time", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (eb_h5_shape){1, {times}}, "s",
                   time));
  EB_TRY(eb_h5_put(group, "positions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, "m", motion->x));
  return eb_h5_put(group, "velocities", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, "m/s", motion->v);
}

static eb_error write_motions(hid_t file, const void *content) {
  const eb_study *study = content;
  for (int i = 0; i < study->scene_count; i++) {
    char name[16];
    hid_t group;
    if (study->scenes[i].reference.state != EB_REFERENCE_VALID) continue;
    snprintf(name, sizeof name, "%d", i);
    EB_TRY(eb_h5_group(file, name, &group));
    eb_error error = write_motion(group, &study->scenes[i]);
    H5Gclose(group);
    EB_TRY(error);
  }
  return EB_OK;
}

eb_error eb_study_write_trajectories(const eb_study *study, const char *path) {
  return eb_h5_write_file(path, write_motions, study);
}
