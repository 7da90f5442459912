/* A study in words, as text and JSON; shares of profiles; reference trajectories as a file. */
#include "harness/precision/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "harness/results/json.h"
#include "harness/results/profile.h"

/* ---- shares ---------------------------------------------------------------------------------- */

static eb_costs costs_of(const eb_study *study, eb_cost_kind kind, int seed) {
  const eb_profiles *p = &study->profiles[kind];
  return (eb_costs){p->problems, study->solver_count, p->cost[seed]};
}

eb_share eb_study_share(const eb_study *study, eb_profile_of of, int solver, double at) {
  const eb_profiles *p = &study->profiles[of.kind];
  eb_share share = {0, INFINITY, 0};
  for (int k = 0; k < study->request->seeds; k++) {
    const eb_costs costs = costs_of(study, of.kind, k);
    int count = of.paid ? eb_profile_paid(&costs, p->unit, solver, at)
                        : eb_profile_within(&costs, solver, at);
    double part = p->problems ? (double)count / p->problems : 0;
    share.mean += part / study->request->seeds;
    share.least = fmin(share.least, part);
    share.most = fmax(share.most, part);
  }
  return share;
}

void eb_study_changes(const eb_study *study, eb_profile_of of, double *first, double *last) {
  const eb_profiles *p = &study->profiles[of.kind];
  *first = INFINITY;
  *last = 0;
  for (int k = 0; k < study->request->seeds; k++) {
    const eb_costs costs = costs_of(study, of.kind, k);
    for (int i = 0; i < p->problems; i++)
      for (int s = 0; s < study->solver_count; s++) {
        double at = eb_costs_of(&costs, i, s) / (of.paid ? p->unit[i] : eb_costs_best(&costs, i));
        if (!isfinite(at)) continue;
        *first = fmin(*first, at);
        *last = fmax(*last, at);
      }
  }
}

/* ---- words ----------------------------------------------------------------------------------- */

static eb_error stated_words(const eb_extrapolation *x, double damped, double tolerance,
                             double size, eb_text *out) {
  EB_TRY(eb_text_printf(out, "%.2g (", (x->error + damped + tolerance) / size));
  if (x->levels)
    EB_TRY(eb_text_printf(out, "steps %.2g, damped modes %.2g, ", x->error / size, damped / size));
  EB_TRY(eb_text_printf(out, "tolerance %.2g", tolerance / size));
  for (int c = 0; c < x->columns; c++)
    if (!isnan(x->order[c]))
      EB_TRY(eb_text_printf(out, "%s%.2f", c ? ", " : "; observed orders ", x->order[c]));
  return eb_text_printf(out, ")");
}

eb_error eb_reference_words(const eb_study *study, const eb_study_scene *scene, eb_text *out) {
  const eb_reference *f = &scene->reference;
  bool same = study->request->same_step;
  if (f->state == EB_REFERENCE_MISSING) return eb_text_printf(out, "no reference: not run");
  if (f->state != EB_REFERENCE_STANDS) {
    EB_TRY(eb_text_printf(out, "no reference, so nothing is judged: %s", f->detail));
    if (f->state != EB_REFERENCE_DIVERGES) return EB_OK;
    return eb_text_printf(
        out,
        " (%d levels down to dt = %.3g s; the last two differ by %.2g of the motion, observed "
        "order %.2f)",
        f->levels, scene->seconds / (double)f->finest, f->x.last[0] / f->moved, f->x.order[0]);
  }
  EB_TRY(eb_text_printf(out, "reference %s to t = %.4g s, ", f->solver, scene->seconds));
  EB_TRY(same ? eb_text_printf(out, "of the same step dt = %.3g s: ", scene->scene->dt)
              : eb_text_printf(out, "%d levels down to dt = %.3g s: ", f->levels,
                               scene->seconds / (double)f->finest));
  EB_TRY(eb_text_printf(out, "error of positions "));
  EB_TRY(stated_words(&f->x, f->damped_x, f->tolerance_x, f->moved, out));
  EB_TRY(eb_text_printf(out, " of the motion of %.3g m (%.2g of the diagonal); of velocities ",
                        f->moved, f->moved / scene->diagonal));
  if (!isfinite(f->speed_error)) return eb_text_printf(out, "unknown: they do not converge");
  EB_TRY(stated_words(&f->v, f->damped_v, f->tolerance_v, f->speed, out));
  return eb_text_printf(out, " of the speed of %.3g m/s", f->speed);
}

eb_error eb_control_words(const eb_study_scene *scene, eb_text *out) {
  const eb_control *c = &scene->control;
  EB_TRY(eb_text_append(out, "", 0));
  if (!c->wanted) return EB_OK;
  if (c->detail) return eb_text_printf(out, "locking: no control: %s", c->detail);
  if (isnan(c->difference)) return eb_text_printf(out, "locking: no control: not run");
  return eb_text_printf(out,
                        "locking: at nu = %g a mesh of resolution %g moves differently by %.2g %% "
                        "of the displacement; that is of the mesh, and no solver's error",
                        scene->ratio, c->resolution, 100 * c->difference);
}

const char *const eb_cost_words[EB_COST_KINDS] = {"CPU time", "products with the matrix",
                                                  "factorizations"};

eb_error eb_uncounted_words(const eb_study *study, eb_cost_kind kind, eb_text *out) {
  static const char *const why[] = {"; not shown, since they count none: ",
                                    "; not shown, since what they count is their own word: "};
  EB_TRY(eb_text_append(out, "", 0));
  for (int claims = 0; claims < 2; claims++)
    for (int k = 0, left = 0; k < study->solver_count; k++)
      if (study->solvers[k].claims == claims && !eb_study_counts(study, k, kind))
        EB_TRY(eb_text_printf(out, "%s%s", left++ ? ", " : why[claims], study->solvers[k].spec));
  return EB_OK;
}

eb_error eb_profiles_words(const eb_study *study, eb_cost_kind kind, eb_text *out) {
  const eb_profiles *p = &study->profiles[kind];
  EB_TRY(eb_text_printf(out,
                        "shares of %d problems (scene and error) that some solver solves; left "
                        "out: %d that none does, %d finer than a reference resolves",
                        p->problems, p->unsolved, p->unresolved));
  return kind == EB_COST_CPU ? EB_OK : eb_uncounted_words(study, kind, out);
}

eb_error eb_trial_words(const eb_trial *t, eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  if (t->state == EB_TRIAL_STANDS) return EB_OK;
  if (!t->why) return eb_text_printf(out, "%s", eb_trial_state_name(t->state));
  /* Who is skipped has not failed, and says so in its reason. */
  return eb_text_printf(out, "%s%s", t->skipped ? "" : "failed: ", t->why);
}

static eb_error step_words(const eb_study_request *r, eb_text *out) {
  if (r->same_step) return eb_text_append(out, "", 0);
  return r->dt_low > 0 ? eb_text_printf(out, "dt %g..%g s", r->dt_low, r->dt_high)
                       : eb_text_printf(out, "dt (a sixteenth of the scene's to four times it)");
}

eb_error eb_competitor_words(const eb_study *study, const eb_competitor *solver, eb_text *out) {
  eb_text knobs = {0}, step = {0};
  eb_error error = eb_knobs_words(&solver->knobs, &knobs);
  if (!error) error = step_words(study->request, &step);
  if (!error)
    error =
        eb_text_printf(out, "knobs %s%s%s%s", step.data, step.length && knobs.length ? ", " : "",
                       step.length + knobs.length ? knobs.data : "none",
                       solver->knobs.known ? "" : "; nobody declares others (--knob)");
  eb_text_clear(&knobs);
  eb_text_clear(&step);
  return error;
}

/* ---- text ------------------------------------------------------------------------------------ */

static eb_error print_words(FILE *out, const char *indent, eb_error error, eb_text *words) {
  if (!error && words->length) eb_print(out, "%s%s\n", indent, words->data);
  eb_text_clear(words);
  return error;
}

static eb_error print_trial(const eb_trial *t, FILE *out) {
  eb_text words = {0};
  eb_print(out, "    %-9.3g", t->dt);
  if (isfinite(t->error))
    eb_print(out, " %-9.3g", t->error);
  else
    eb_print(out, " %-9s", "-");
  eb_print(out, " %-9.3g %-9.0f %-6.0f %c %s", t->cost[EB_COST_CPU], t->cost[EB_COST_PRODUCTS],
           t->cost[EB_COST_FACTORIZATIONS], t->front[EB_COST_CPU] ? '*' : ' ',
           t->options ? t->options : "");
  eb_error error = eb_trial_words(t, &words);
  if (!error) eb_print(out, "%s%s\n", words.length && t->options ? "; " : "", words.data);
  eb_text_clear(&words);
  return error;
}

static eb_error print_scene(const eb_study *study, int scene, FILE *out) {
  const eb_study_scene *s = &study->scenes[scene];
  eb_text words = {0};
  eb_print(out, "%s\n", s->title);
  EB_TRY(print_words(out, "  ", eb_reference_words(study, s, &words), &words));
  EB_TRY(print_words(out, "  ", eb_control_words(s, &words), &words));
  if (s->reference.state != EB_REFERENCE_STANDS) return EB_OK;
  for (int k = 0; k < study->solver_count; k++) {
    const eb_trial *trials = eb_study_trials(study, scene, k);
    eb_print(out,
             "  %s\n    dt        error     cpu s     products  factorizations (* cheapest "
             "of its error%s)\n",
             study->solvers[k].spec,
             study->solvers[k].claims ? "; products and factorizations as it claims" : "");
    for (int i = 0; i < study->request->budget && trials[i].stride > 0; i++)
      EB_TRY(print_trial(&trials[i], out));
  }
  return EB_OK;
}

static eb_error print_profile(const eb_study *study, eb_cost_kind kind, FILE *out) {
  static const double at[] = {1, 2, 4, 10, INFINITY};
  enum { COLUMNS = sizeof at / sizeof *at };
  const eb_profile_of of = {kind, false};
  char head[80];
  eb_text words = {0};
  snprintf(head, sizeof head, "Performance profile by %s: ", eb_cost_words[kind]);
  EB_TRY(print_words(out, head, eb_profiles_words(study, kind, &words), &words));
  if (study->profiles[kind].problems == 0) return EB_OK;
  eb_print(out, "  %-40s", "within so many times the least");
  for (int c = 0; c < COLUMNS - 1; c++) eb_print(out, " %5g", at[c]);
  eb_print(out, "  ever\n");
  for (int k = 0; k < study->solver_count; k++) {
    if (!eb_study_counts(study, k, kind)) continue;
    eb_print(out, "  %-40s", study->solvers[k].spec);
    for (int c = 0; c < COLUMNS; c++)
      eb_print(out, " %5.2f", eb_study_share(study, of, k, at[c]).mean);
    eb_print(out, "\n");
  }
  return EB_OK;
}

eb_error eb_study_print(const eb_study *study, FILE *out) {
  for (int k = 0; k < study->solver_count; k++) {
    eb_text words = {0};
    char indent[200];
    snprintf(indent, sizeof indent, "%.180s: ", study->solvers[k].spec);
    EB_TRY(
        print_words(out, indent, eb_competitor_words(study, &study->solvers[k], &words), &words));
  }
  for (int i = 0; i < study->scene_count; i++) EB_TRY(print_scene(study, i, out));
  for (int c = 0; c < EB_COST_KINDS; c++) EB_TRY(print_profile(study, (eb_cost_kind)c, out));
  return EB_OK;
}

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
  static const char *const states[] = {[EB_REFERENCE_STANDS] = "stands",
                                       [EB_REFERENCE_DIVERGES] = "does not converge",
                                       [EB_REFERENCE_FAILED] = "failed",
                                       [EB_REFERENCE_MISSING] = "not run"};
  static const char *const names[] = {"error",  "speed_error", "motion",    "speed", "steps",
                                      "damped", "tolerance",   "finest_dt", NULL};
  const eb_reference *f = &s->reference;
  bool stands = f->state == EB_REFERENCE_STANDS;
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
    const eb_costs of = costs_of(study, kind, seed);
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

static eb_error json_solvers(const eb_study *study, json_t **out) {
  *out = json_array();
  for (int k = 0; k < study->solver_count; k++) {
    eb_text words = {0};
    eb_error error = eb_competitor_words(study, &study->solvers[k], &words);
    if (!error)
      json_array_append_new(
          *out, eb_json_pack("{s:s, s:s}", "solver", study->solvers[k].spec, "knobs", words.data));
    eb_text_clear(&words);
    EB_TRY(error);
  }
  return EB_OK;
}

eb_error eb_study_json(const eb_study *study, json_t **out) {
  const eb_study_request *r = study->request;
  json_t *scenes = json_array(), *solvers;
  for (int i = 0; i < study->scene_count; i++) {
    const eb_study_scene *s = &study->scenes[i];
    json_array_append_new(
        scenes, eb_json_pack("{s:s, s:s, s:f, s:f, s:o, s:o, s:o}", "scene", s->name, "parameters",
                             s->parameters ? s->parameters : "", "seconds", s->seconds, "diagonal",
                             s->diagonal, "reference", json_reference(s), "locking",
                             json_control(s), "solvers", json_trials(study, i)));
  }
  EB_TRY(json_solvers(study, &solvers));
  *out = eb_json_pack("{s:s, s:i, s:i, s:I, s:i, s:o, s:o, s:o}", "against",
                      r->same_step ? "step" : "time", "budget", r->budget, "seeds", r->seeds,
                      "seed", (json_int_t)r->seed, "times", r->times, "competitors", solvers,
                      "scenes", scenes, "profiles", json_profiles(study));
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
    if (study->scenes[i].reference.state != EB_REFERENCE_STANDS) continue;
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
