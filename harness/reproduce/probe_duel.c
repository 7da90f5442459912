/* Several solvers given the same steps, their times interleaved.
 *
 *   setup = SETUP SCENE[:p=v,..] SETTLE SAMPLES STRIDE [[QUICK-SCENE] QUICK-SETTLE QUICK-SAMPLES QUICK-STRIDE]
 *   solver = KEY SOLVER[:o=v,..] [SETUP..]        of these setups; of all when none is named
 *   series = SETUP                                residuals of one of its samples are kept: of that with most rounds of the first solver
 *
 * Of every setup the first solver walks the scene. After SETTLE steps, SAMPLES steps STRIDE apart are given to every solver of the setup: each starts from the walker's
 * state and its result is thrown away; before each sample all of them get the step before it too, unmeasured, so that each has a last step of its own to start from. The
 * order rotates from sample to sample. A solver that does not converge in a sample is counted (failures) and its time is none.
 *
 * Gives rows/SETUP-KEY: NAME_mean, NAME_median and NAME_most of resolution (phases resolve, solve, factor and precondition, s), collision (phase detect, s), total (s),
 * iterations, constraints, rounds (solves after the first of a step, each of constraints made anew), build (phase factor, s) and apply (phase precondition, s);
 * build_share and apply_share of the resolution; peaks: the share of the solves after the first of a step that begin with a larger residual
 * than the one before ended with; samples, failures, reason (of the last failure); objects, elements, faces, dt, young; steps of the walk.
 * Beside rows, stopped: texts that say which walks failed, and where.
 * With series also, beside rows, series/SETUP-KEY (x, y: number and value of every residual that the solver has logged) and series/SETUP-KEY-ends (the last of every
 * solve). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "harness/reproduce/walker.h"
#include "harness/results/json.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/mesh/cut.h"

enum { MOST_SOLVERS = 8, MOST_SAMPLES = 2000, PARTS = 8 };
enum { RESOLUTION, COLLISION, TOTAL, ITERATIONS, CONSTRAINTS, ROUNDS, BUILD, APPLY };
static const char *const part_names[PARTS] = {"resolution",  "collision", "total", "iterations",
                                              "constraints", "rounds",    "build", "apply"};

typedef struct fighter {
  char key[40];
  eb_walker walker;
  double *samples[PARTS];
  int count, failures;
  eb_reason failure;
  int anew,
      peaks; /* solves after the first of a step; those of them that begin with a larger residual */
} fighter;

typedef struct duel {
  eb_probing *probing;
  const char *name, *scene;
  int64_t settle, samples, stride;
  fighter fighters[MOST_SOLVERS];
  int count;
  double began, limit; /* wall clock; s that this setup may take, 0: none */
  bool walk_failed;
  bool kept;  /* series are wanted */
  int rounds; /* of the step whose series are kept; -1: none */
} duel;

/* ---- one step ----------------------------------------------------------------------------------- */

static void note_sample(fighter *f, double wall) {
  const eb_step_log *log = f->walker.log;
  const double *phase = log->phase_seconds;
  double build = phase[EB_PHASE_FACTOR], apply = phase[EB_PHASE_PRECONDITION];
  const double parts[PARTS] = {[RESOLUTION] =
                                   phase[EB_PHASE_RESOLVE] + phase[EB_PHASE_SOLVE] + build + apply,
                               [COLLISION] = phase[EB_PHASE_DETECT],
                               [TOTAL] = wall,
                               [ITERATIONS] = (double)log->iterations,
                               [CONSTRAINTS] = log->counters[EB_COUNT_CONSTRAINTS],
                               [ROUNDS] = log->counters[EB_COUNT_COLLISION_ROUNDS] - 1,
                               [BUILD] = build,
                               [APPLY] = apply};
  for (int p = 0; p < PARTS; p++) f->samples[p][f->count] = parts[p];
  f->count++;
}

static int64_t kept_residuals(const eb_step_log *log) {
  return log->residual_count < log->residual_capacity ? log->residual_count
                                                      : log->residual_capacity;
}

static void count_peaks(fighter *f) {
  const eb_step_log *log = f->walker.log;
  for (int r = 0; r < log->round_count; r++) {
    int64_t at = log->rounds[r];
    f->peaks += at > 0 && at < kept_residuals(log) && log->residuals[at] > log->residuals[at - 1];
  }
  f->anew += log->round_count;
}

/* The step that the walker has before it, from its state. */
static eb_error try_step(fighter *f, const eb_state *from, bool measured) {
  eb_reason reason;
  eb_state_copy(from, f->walker.state);
  eb_step_log_reset(f->walker.log);
  double began = eb_wall_seconds();
  f->walker.log->step_started = began;
  EB_TRY(eb_walker_step(&f->walker, &reason));
  double wall = eb_wall_seconds() - began;
  if (!measured) return EB_OK;
  if (reason > 0) {
    note_sample(f, wall);
    count_peaks(f);
  } else {
    f->failures++;
    f->failure = reason;
  }
  return EB_OK;
}

static eb_error try_all(duel *d, const eb_state *from, int64_t sample, bool measured) {
  for (int i = 0; i < d->count; i++)
    EB_TRY(try_step(&d->fighters[(i + sample) % d->count], from, measured));
  return EB_OK;
}

/* ---- the walk ------------------------------------------------------------------------------------ */

static bool out_of_time(const duel *d) {
  return d->limit > 0 && eb_wall_seconds() - d->began > d->limit;
}

static eb_error note_stop(const duel *d, const eb_walker *walker, eb_reason reason) {
  char text[300];
  snprintf(text, sizeof text, "%s stopped at step %lld: %s", d->name,
           (long long)walker->state->step, eb_reason_name(reason));
  json_array_append_new(json_object_get(d->probing->out, "stopped"), json_string(text));
  return eb_probe_save(d->probing);
}

static eb_error walk(duel *d, eb_walker *walker, int64_t steps) {
  for (int64_t i = 0; i < steps && !d->walk_failed && !out_of_time(d); i++) {
    eb_reason reason;
    EB_TRY(eb_walker_step(walker, &reason));
    d->walk_failed = reason <= 0;
    if (d->walk_failed) EB_TRY(note_stop(d, walker, reason));
  }
  return EB_OK;
}

/* ---- series --------------------------------------------------------------------------------------- */

static void put_point(json_t *series, const eb_step_log *log, int64_t at) {
  json_array_append_new(json_object_get(series, "x"), json_integer(at + 1));
  json_array_append_new(json_object_get(series, "y"), json_real(log->residuals[at]));
}

static json_t *add_series(const duel *d, const fighter *f, const char *suffix) {
  char key[120];
  json_t *series = json_pack("{s:[], s:[]}", "x", "y");
  snprintf(key, sizeof key, "%s-%s%s", d->name, f->key, suffix);
  json_object_set_new(json_object_get(d->probing->out, "series"), key, series);
  return series;
}

/* Of the step that the log holds. */
static void keep_series(const duel *d, fighter *f) {
  const eb_step_log *log = f->walker.log;
  int64_t count = kept_residuals(log);
  json_t *all = add_series(d, f, ""), *ends = add_series(d, f, "-ends");
  for (int64_t i = 0; i < count; i++) put_point(all, log, i);
  for (int r = 0; r < log->round_count; r++)
    if (log->rounds[r] > 0 && log->rounds[r] <= count) put_point(ends, log, log->rounds[r] - 1);
  if (count > 0) put_point(ends, log, count - 1);
}

static void keep_most(duel *d) {
  int rounds = d->fighters[0].walker.log->round_count;
  if (!d->kept || rounds <= d->rounds) return;
  d->rounds = rounds;
  for (int i = 0; i < d->count; i++) keep_series(d, &d->fighters[i]);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static void put(json_t *row, const char *name, const char *what, double value) {
  char key[80];
  snprintf(key, sizeof key, "%s_%s", name, what);
  json_object_set_new(row, key, eb_json_real(value));
}

static double sum_of(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i];
  return sum;
}

static void put_figures(const fighter *f, json_t *row) {
  double resolution = sum_of(f->samples[RESOLUTION], f->count),
         build = sum_of(f->samples[BUILD], f->count), apply = sum_of(f->samples[APPLY], f->count);
  for (int p = 0; p < PARTS && f->count > 0; p++) {
    double *values = f->samples[p];
    put(row, part_names[p], "mean", sum_of(values, f->count) / f->count);
    qsort(values, (size_t)f->count, sizeof *values, ascending);
    put(row, part_names[p], "median", 0.5 * (values[(f->count - 1) / 2] + values[f->count / 2]));
    put(row, part_names[p], "most", values[f->count - 1]);
  }
  put(row, "build", "share", build / resolution);
  put(row, "apply", "share", apply / resolution);
  json_object_set_new(row, "peaks", eb_json_real((double)f->peaks / f->anew));
  json_object_set_new(row, "samples", json_integer(f->count + f->failures));
  json_object_set_new(row, "failures", json_integer(f->failures));
  if (f->failures) json_object_set_new(row, "reason", json_string(eb_reason_name(f->failure)));
}

static eb_error put_scene(const eb_scene *scene, json_t *row) {
  int32_t *part;
  EB_TRY(EB_NEW(part, scene->mesh->node_count));
  json_object_set_new(row, "objects", json_integer(eb_mesh_components(scene->mesh, part)));
  free(part);
  json_object_set_new(row, "elements", json_integer(scene->mesh->element_count));
  json_object_set_new(row, "faces", json_integer(scene->surface->triangle_count));
  json_object_set_new(row, "dt", json_real(scene->dt));
  json_object_set_new(row, "young", json_real(eb_values_real(scene->parameters, "E")));
  return EB_OK;
}

/* Rows of a finished setup; sorts the samples. */
static eb_error record(const duel *d, const eb_walker *walker) {
  json_t *rows = json_object_get(d->probing->out, "rows");
  for (int i = 0; i < d->count; i++) {
    char key[100];
    json_t *row = json_object();
    snprintf(key, sizeof key, "%s-%s", d->name, d->fighters[i].key);
    json_object_set_new(rows, key, row);
    put_figures(&d->fighters[i], row);
    EB_TRY(put_scene(walker->scene, row));
    json_object_set_new(row, "steps", json_integer(walker->state->step));
  }
  return eb_probe_save(d->probing);
}

/* ---- one setup ----------------------------------------------------------------------------------- */

static eb_error add_fighter(duel *d, const char *key, const char *solver) {
  if (d->count == MOST_SOLVERS)
    return EB_ERROR(EB_ERR_FORMAT, "more than %d solvers in setup '%s'", MOST_SOLVERS, d->name);
  fighter *f = &d->fighters[d->count++];
  snprintf(f->key, sizeof f->key, "%s", key);
  for (int p = 0; p < PARTS; p++) EB_TRY(EB_NEW(f->samples[p], d->samples));
  return eb_walker_create(d->scene, solver, d->probing->threads, &f->walker);
}

static bool is_named(const eb_strings *words, const char *setup) {
  for (int i = 2; i < words->count; i++)
    if (strcmp(words->items[i], setup) == 0) return true;
  return words->count == 2;
}

/* The first solver of the setup twice: as the walker and among those that are measured. */
static eb_error add_fighters(duel *d, eb_walker *walker) {
  const char *text;
  for (int at = 0; (text = eb_section_next(d->probing->arguments, "solver", &at));) {
    eb_strings words = {0};
    eb_error error = eb_words(text, " ", &words);
    if (!error && words.count < 2)
      error = EB_ERROR(EB_ERR_FORMAT, "solver: '%s' is not 'KEY SOLVER [SETUP..]'", text);
    bool wanted = !error && is_named(&words, d->name);
    if (wanted && d->count == 0)
      error = eb_walker_create(d->scene, words.items[1], d->probing->threads, walker);
    if (wanted && !error) error = add_fighter(d, words.items[0], words.items[1]);
    eb_strings_clear(&words);
    EB_TRY(error);
  }
  return d->count ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "no solver for setup '%s'", d->name);
}

static eb_error sample_all(duel *d, eb_walker *walker) {
  EB_TRY(walk(d, walker, d->settle));
  for (int64_t s = 0; s < d->samples && !d->walk_failed && !out_of_time(d); s++) {
    EB_TRY(walk(d, walker, d->stride > 2 ? d->stride - 2 : 0));
    EB_TRY(try_all(d, walker->state, s, false));
    EB_TRY(walk(d, walker, 1));
    if (!d->walk_failed) EB_TRY(try_all(d, walker->state, s, true));
    if (!d->walk_failed) keep_most(d);
    EB_TRY(walk(d, walker, 1));
  }
  return record(d, walker);
}

static eb_error fight(duel *d) {
  eb_walker walker = {0};
  d->began = eb_wall_seconds();
  eb_error error = add_fighters(d, &walker);
  if (!error) error = sample_all(d, &walker);
  for (int i = 0; i < d->count; i++) {
    eb_walker_clear(&d->fighters[i].walker);
    for (int p = 0; p < PARTS; p++) free(d->fighters[i].samples[p]);
  }
  eb_walker_clear(&walker);
  return error;
}

static eb_error parse_setup(const eb_strings *words, bool quick, duel *d) {
  bool shorter = quick && words->count > 5, smaller = quick && words->count == 9;
  int at = shorter ? words->count - 3 : 2;
  if (words->count != 5 && words->count != 8 && words->count != 9)
    return EB_ERROR(EB_ERR_FORMAT, "it is not 'SETUP SCENE SETTLE SAMPLES STRIDE [[QUICK-SCENE] "
                                   "QUICK-SETTLE QUICK-SAMPLES QUICK-STRIDE]'");
  d->name = words->items[0];
  d->scene = words->items[smaller ? 5 : 1];
  EB_TRY(eb_parse_whole("settle", words->items[at], 0, 1000000, &d->settle));
  EB_TRY(eb_parse_whole("samples", words->items[at + 1], 1, MOST_SAMPLES, &d->samples));
  return eb_parse_whole("stride", words->items[at + 2], 1, 1000000, &d->stride);
}

static bool is_kept(const eb_section *section, const char *setup) {
  const char *named;
  for (int at = 0; (named = eb_section_next(section, "series", &at));)
    if (strcmp(named, setup) == 0) return true;
  return false;
}

static int count_setups(const eb_section *section) {
  int count = 0;
  for (int at = 0; eb_section_next(section, "setup", &at);) count++;
  return count;
}

/* The time limit is shared evenly by the setups. */
static eb_error run(eb_probing *p) {
  const char *text;
  json_object_set_new(p->out, "rows", json_object());
  json_object_set_new(p->out, "series", json_object());
  json_object_set_new(p->out, "stopped", json_array());
  int setups = count_setups(p->arguments);
  for (int at = 0; (text = eb_section_next(p->arguments, "setup", &at));) {
    eb_strings words = {0};
    duel d = {.probing = p, .limit = p->time_limit / setups, .rounds = -1};
    eb_error error = eb_words(text, " ", &words);
    if (!error) error = eb_error_prefix(parse_setup(&words, p->quick, &d), "setup: '%s'", text);
    if (!error) d.kept = is_kept(p->arguments, d.name);
    if (!error) error = fight(&d);
    eb_strings_clear(&words);
    EB_TRY(error);
  }
  return EB_OK;
}

const eb_probe eb_probe_duel = {"duel", "several solvers given the same steps of a scene",
                                (const char *const[]){"setup", "solver", "series", NULL}, run};
