/* The smallest value of an option with which a solver is stable on a scene, by bisection on a grid.
 *
 *   solver = KEY SOLVER[:o=v,..]       option, step, most: values step, 2 step, .., most are tried
 *
 * A run is stable when every step of it ends with a positive reason and finite positions, and when its kinetic and elastic energy together never exceed
 * `energy` (2) times the most that the same solver reaches with the option at `most`, which has to be stable itself. Stability is taken to be monotone in
 * the option. steps (quick-steps): length of a run; without it the scene's own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/audit/audit.h"
#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "harness/reproduce/walker.h"
#include "problems/base/clock.h"

typedef struct search {
  eb_probing *probing;
  const char *scene, *solver, *option;
  double step, limit, began; /* grid; J (INFINITY: none yet); wall clock */
  int64_t most, steps;       /* last number on the grid; 0: the scene's own */
  json_t *trials;
} search;

typedef struct trial {
  double energy; /* most, J */
  int64_t steps;
  eb_reason reason; /* of the last step */
  bool stable;
} trial;

/* ---- one run ---------------------------------------------------------------------------------- */

/* After a cut everything that is kept of the mesh is made anew. */
static eb_error follow_mesh(const eb_walker *walker, eb_audit **audit, eb_state **before) {
  eb_audit_destroy(*audit);
  eb_state_destroy(*before);
  *audit = NULL;
  *before = NULL;
  EB_TRY(eb_audit_create(walker->scene, audit));
  return eb_state_create(walker->scene, before);
}

static eb_error walk_step(const search *s, eb_walker *walker, eb_audit **audit, eb_state **before,
                          trial *out) {
  bool changed;
  eb_audit_row row;
  /* The cuts of the step come first, so that the state before it has the nodes of the one after. */
  EB_TRY(eb_walker_advance(walker, &changed));
  if (changed) EB_TRY(follow_mesh(walker, audit, before));
  eb_state_copy(walker->state, *before);
  EB_TRY(eb_walker_step(walker, &out->reason));
  EB_TRY(eb_audit_step(*audit, *before, walker->state, walker->scene->dt, walker->log->equation,
                       &row));
  out->steps = walker->state->step;
  double energy = row.kinetic + row.elastic;
  if (!(energy <= out->energy)) out->energy = energy;
  out->stable = out->reason > 0 && row.finite && energy <= s->limit;
  return EB_OK;
}

static eb_error walk(const search *s, eb_walker *walker, trial *out) {
  eb_audit *audit = NULL;
  eb_state *before = NULL;
  int64_t steps = s->steps ? s->steps : walker->scene->ops->steps;
  eb_error error = follow_mesh(walker, &audit, &before);
  out->stable = true;
  while (!error && out->stable && walker->state->step < steps)
    error = walk_step(s, walker, &audit, &before, out);
  eb_state_destroy(before);
  eb_audit_destroy(audit);
  return error;
}

static eb_error note_trial(const search *s, double value, const trial *t) {
  json_array_append_new(s->trials, json_pack("{s:f, s:b, s:I, s:s}", "value", value, "stable",
                                             t->stable, "steps", (json_int_t)t->steps, "reason",
                                             eb_reason_name(t->reason)));
  json_t *last = json_array_get(s->trials, json_array_size(s->trials) - 1);
  json_object_set_new(last, "energy_J", isfinite(t->energy) ? json_real(t->energy) : json_null());
  return eb_probe_save(s->probing);
}

static eb_error try_value(const search *s, int64_t number, trial *out) {
  char solver[500];
  eb_walker walker;
  double value = s->step * (double)number;
  *out = (trial){0};
  snprintf(solver, sizeof solver, "%s%s%s=%.12g", s->solver, strchr(s->solver, ':') ? "," : ":",
           s->option, value);
  eb_error error = eb_walker_create(s->scene, solver, s->probing->threads, &walker);
  if (!error && !json_object_get(s->probing->out, "scene"))
    eb_probe_note_scene(s->probing, s->scene, walker.scene);
  if (!error) error = walk(s, &walker, out);
  eb_walker_clear(&walker);
  EB_TRY(error);
  return note_trial(s, value, out);
}

/* ---- the search ------------------------------------------------------------------------------- */

static bool out_of_time(const search *s) {
  double limit = s->probing->time_limit;
  return limit > 0 && eb_wall_seconds() - s->began > limit;
}

/* Between `low`, which is not stable or 0, and `high`, which is. */
static eb_error bisect(const search *s, int64_t *low, int64_t *high) {
  while (*high - *low > 1 && !out_of_time(s)) {
    trial t;
    int64_t middle = (*low + *high) / 2;
    EB_TRY(try_value(s, middle, &t));
    *(t.stable ? high : low) = middle;
  }
  return EB_OK;
}

static eb_error search_one(search *s, const char *key, double factor, json_t *found) {
  trial t;
  int64_t low = 0, high = s->most;
  json_t *one = json_object();
  json_object_set_new(found, key, one);
  json_object_set_new(one, "solver", json_string(s->solver));
  s->trials = json_array();
  json_object_set_new(one, "trials", s->trials);
  s->limit = INFINITY;
  EB_TRY(try_value(s, s->most, &t));
  if (!t.stable) return EB_OK;
  s->limit = factor * t.energy;
  EB_TRY(bisect(s, &low, &high));
  json_object_set_new(one, "limit_J", json_real(s->limit));
  json_object_set_new(one, "unstable", json_real(s->step * (double)low));
  json_object_set_new(one, "stable", json_real(s->step * (double)high));
  return eb_probe_save(s->probing);
}

static eb_error search_text(search *s, const char *text, double factor, json_t *found) {
  eb_strings words = {0};
  eb_error error = eb_words(text, " ", &words);
  if (!error && words.count != 2)
    error = EB_ERROR(EB_ERR_FORMAT, "solver: '%s' is not 'KEY SOLVER'", text);
  if (!error) {
    s->solver = words.items[1];
    error = search_one(s, words.items[0], factor, found);
  }
  eb_strings_clear(&words);
  return error;
}

static eb_error real_argument(const eb_probing *p, const char *name, double fallback, double *out) {
  const char *text = eb_section_value(p->arguments, name);
  *out = fallback;
  return text ? eb_parse_real(name, text, 1e-12, 1e9, out) : EB_OK;
}

static eb_error prepare(eb_probing *p, search *s, double *factor) {
  double most, steps;
  *s = (search){.probing = p,
                .scene = eb_section_value(p->arguments, "scene"),
                .option = eb_section_value(p->arguments, "option"),
                .began = eb_wall_seconds()};
  if (!s->scene || !s->option) return EB_ERROR(EB_ERR_FORMAT, "'scene' or 'option' is missing");
  EB_TRY(real_argument(p, "step", 0.1, &s->step));
  EB_TRY(real_argument(p, "most", 4, &most));
  EB_TRY(real_argument(p, "energy", 2, factor));
  EB_TRY(real_argument(p, "steps", 0, &steps));
  if (p->quick) EB_TRY(real_argument(p, "quick-steps", steps, &steps));
  s->most = llround(most / s->step);
  s->steps = llround(steps);
  json_object_set_new(p->out, "option", json_string(s->option));
  json_object_set_new(p->out, "step", json_real(s->step));
  json_object_set_new(p->out, "steps", json_integer(s->steps));
  return s->most >= 1 ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "'most' is below one step");
}

static eb_error run(eb_probing *p) {
  search s;
  double factor;
  const char *text;
  json_t *found = json_object();
  json_object_set_new(p->out, "solvers", found);
  EB_TRY(prepare(p, &s, &factor));
  for (int at = 0; (text = eb_section_next(p->arguments, "solver", &at));)
    EB_TRY(search_text(&s, text, factor, found));
  return EB_OK;
}

const eb_probe eb_probe_threshold = {
    "threshold", "the smallest stable value of an option, by bisection",
    (const char *const[]){"scene", "solver", "option", "step", "most", "energy", "steps",
                          "quick-steps", NULL},
    run};
