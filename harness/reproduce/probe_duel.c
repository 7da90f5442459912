/* Several solvers given the same steps, their times interleaved.
 *
 *   setup = SETUP SCENE[:p=v,..] SETTLE SAMPLES STRIDE [QUICK-SETTLE QUICK-SAMPLES QUICK-STRIDE]
 *   solver = KEY SOLVER[:o=v,..] [SETUP..]        of these setups; of all when none is named
 *
 * Of every setup the first solver walks the scene. After SETTLE steps, SAMPLES steps STRIDE apart are given to every solver of the setup: each starts from the walker's
 * state and its result is thrown away; before each sample all of them get the step before it too, unmeasured, so that each has a last step of its own to start from. The
 * order rotates from sample to sample. A solver that does not converge in a sample is counted (failures) and its time is none.
 *
 * Gives rows/SETUP-KEY: NAME_mean and NAME_median of resolution (phases resolve, solve and factor, s), collision (phase detect, s), total (s), iterations, constraints and
 * rounds; samples, failures, reason (of the last failure), build_share (phase factor over resolution), objects, elements, faces, dt, young; steps and walk_failed of the walk. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "harness/reproduce/walker.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/mesh/cut.h"

enum { MOST_SOLVERS = 8, MOST_SAMPLES = 2000, PARTS = 7 };
enum { RESOLUTION, COLLISION, TOTAL, ITERATIONS, CONSTRAINTS, ROUNDS, BUILD };
static const char *const part_names[PARTS] = {"resolution",  "collision", "total", "iterations",
                                              "constraints", "rounds",    "build"};

typedef struct fighter {
  char key[40];
  eb_walker walker;
  double *samples[PARTS];
  int count, failures;
  eb_reason failure;
} fighter;

typedef struct duel {
  eb_probing *probing;
  const char *name, *scene;
  int64_t settle, samples, stride;
  fighter fighters[MOST_SOLVERS];
  int count;
  double began, limit; /* wall clock; s that this setup may take, 0: none */
  bool walk_failed;
} duel;

/* ---- one step ----------------------------------------------------------------------------------- */

static void note_sample(fighter *f, double wall) {
  const eb_step_log *log = f->walker.log;
  const double *phase = log->phase_seconds;
  double build = phase[EB_PHASE_FACTOR];
  const double parts[PARTS] = {[RESOLUTION] =
                                   phase[EB_PHASE_RESOLVE] + phase[EB_PHASE_SOLVE] + build,
                               [COLLISION] = phase[EB_PHASE_DETECT],
                               [TOTAL] = wall,
                               [ITERATIONS] = (double)log->iterations,
                               [CONSTRAINTS] = log->counters[EB_COUNT_CONSTRAINTS],
                               [ROUNDS] = log->counters[EB_COUNT_RELINEARIZATIONS],
                               [BUILD] = build};
  for (int p = 0; p < PARTS; p++) f->samples[p][f->count] = parts[p];
  f->count++;
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

static eb_error walk(duel *d, eb_walker *walker, int64_t steps) {
  for (int64_t i = 0; i < steps && !d->walk_failed && !out_of_time(d); i++) {
    eb_reason reason;
    EB_TRY(eb_walker_step(walker, &reason));
    d->walk_failed = reason <= 0;
  }
  return EB_OK;
}

/* ---- figures ------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static void put(json_t *row, const char *name, const char *what, double value) {
  char key[80];
  snprintf(key, sizeof key, "%s_%s", name, what);
  json_object_set_new(row, key, isfinite(value) ? json_real(value) : json_null());
}

static double sum_of(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i];
  return sum;
}

static void put_figures(const fighter *f, json_t *row) {
  double build = sum_of(f->samples[BUILD], f->count),
         resolution = sum_of(f->samples[RESOLUTION], f->count);
  for (int p = 0; p < PARTS && f->count > 0; p++) {
    double *values = f->samples[p];
    put(row, part_names[p], "mean", sum_of(values, f->count) / f->count);
    qsort(values, (size_t)f->count, sizeof *values, ascending);
    put(row, part_names[p], "median", 0.5 * (values[(f->count - 1) / 2] + values[f->count / 2]));
  }
  if (f->count > 0) put(row, "build", "share", build / resolution);
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
    json_object_set_new(row, "walk_failed", json_integer(d->walk_failed));
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
  int at = quick && words->count == 8 ? 5 : 2;
  if (words->count != 5 && words->count != 8)
    return EB_ERROR(
        EB_ERR_FORMAT,
        "it is not 'SETUP SCENE SETTLE SAMPLES STRIDE [QUICK-SETTLE QUICK-SAMPLES QUICK-STRIDE]'");
  d->name = words->items[0];
  d->scene = words->items[1];
  EB_TRY(eb_parse_whole("settle", words->items[at], 0, 1000000, &d->settle));
  EB_TRY(eb_parse_whole("samples", words->items[at + 1], 1, MOST_SAMPLES, &d->samples));
  return eb_parse_whole("stride", words->items[at + 2], 1, 1000000, &d->stride);
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
  int setups = count_setups(p->arguments);
  for (int at = 0; (text = eb_section_next(p->arguments, "setup", &at));) {
    eb_strings words = {0};
    duel d = {.probing = p, .limit = p->time_limit / setups};
    eb_error error = eb_words(text, " ", &words);
    if (!error) error = eb_error_prefix(parse_setup(&words, p->quick, &d), "setup: '%s'", text);
    if (!error) error = fight(&d);
    eb_strings_clear(&words);
    EB_TRY(error);
  }
  return EB_OK;
}

const eb_probe eb_probe_duel = {"duel", "several solvers given the same steps of a scene",
                                (const char *const[]){"setup", "solver", NULL}, run};
