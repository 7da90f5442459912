/* What names in expressions mean: figures of runs and their scenes, and of the machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "problems/base/memory.h"

/* ---- kinds of figures ------------------------------------------------------------------------ */

/* Where in a run a figure stands. */
typedef enum place {
  COLUMN, /* steps/, phases/ or counters/: a series of steps */
  /* Of the residuals that a solver logs in a step: the first, the last, their number, how often the
   * problem was made anew between them (rounds), and how often the next one was then larger
   * (peaks): a series. */
  RESIDUAL,
  SETUP,     /* setup/: a number */
  ATTRIBUTE, /* of the run: a number or a text */
  PARAMETER, /* of the scene, as a number */
  SCENE      /* what the scene is made of: a number or a text */
} place;

typedef struct figure {
  place place;
  bool timed;
  char path[100]; /* of a column; of the set-up, below setup/ */
  /* of residuals: first, last, count, rounds, peaks; a parameter's name; of a scene */
  const char *of;
  const eb_field *field; /* of an attribute */
} figure;

static const char *const residuals[] = {"residuals/first", "residuals/last", "residuals/count",
                                        "residuals/rounds", "residuals/peaks"};
enum { RESIDUALS = sizeof residuals / sizeof *residuals };
static const char *const scene_names[] = {"material", "joints", "carried", "dimensions", "dynamic"};
enum { SCENE_NAMES = sizeof scene_names / sizeof *scene_names };
static const char parameter_prefix[] = "parameters/";

static bool is_time(const char *name) {
  size_t length = strlen(name);
  return strcmp(name, "first_step_at") == 0 ||
         (length > 7 && strcmp(name + length - 7, "seconds") == 0);
}

/* Whether a table of the steps is meant; columns go by their name alone. */
static bool find_table(const char *name, figure *out) {
  for (int t = 0; t < EB_STEP_TABLES; t++) {
    eb_step_table table = eb_results_table_info(t);
    bool column = strcmp(table.group, "steps") == 0;
    snprintf(out->path, sizeof out->path, "%s/%s", table.group, table.name);
    if (strcmp(column ? table.name : out->path, name) != 0) continue;
    out->place = COLUMN;
    out->timed = strcmp(table.group, "phases") == 0 ||
                 (column && (strcmp(name, "wall") == 0 || strcmp(name, "cpu") == 0));
    return true;
  }
  return false;
}

static bool find_setup(const char *name, figure *out) {
  snprintf(out->path, sizeof out->path, "%s", name + (strncmp(name, "setup/", 6) == 0 ? 6 : 0));
  out->place = SETUP;
  for (int k = 0; k < EB_MEMORY_KINDS; k++)
    if (strncmp(name, "memory/", 7) == 0 &&
        strcmp(eb_memory_name((eb_memory_kind)k), name + 7) == 0)
      return true;
  for (int p = 0; p < EB_PHASE_COUNT; p++)
    if (strncmp(name, "setup/", 6) == 0 && strcmp(eb_phase_name((eb_phase)p), name + 6) == 0)
      return out->timed = true;
  for (int c = 0; c < EB_COUNTERS; c++)
    if (strncmp(name, "setup/", 6) == 0 && strcmp(eb_counter_name((eb_counter)c), name + 6) == 0)
      return true;
  return false;
}

static bool find_figure(const char *name, figure *out) {
  *out = (figure){0};
  if (find_table(name, out) || find_setup(name, out)) return true;
  for (int r = 0; r < RESIDUALS; r++)
    if (strcmp(residuals[r], name) == 0) {
      *out = (figure){.place = RESIDUAL, .of = strchr(name, '/') + 1};
      return true;
    }
  if (strncmp(name, parameter_prefix, strlen(parameter_prefix)) == 0) {
    *out = (figure){.place = PARAMETER, .of = name + strlen(parameter_prefix)};
    return true;
  }
  for (int s = 0; s < SCENE_NAMES; s++)
    if (strcmp(scene_names[s], name) == 0) {
      *out = (figure){.place = SCENE, .of = scene_names[s]};
      return true;
    }
  for (const eb_field *field = eb_run_fields; field->name; field++)
    if (strcmp(field->name, name) == 0) {
      *out = (figure){.place = ATTRIBUTE, .field = field, .timed = is_time(name)};
      return true;
    }
  return false;
}

static eb_error add_names(eb_strings *out) {
  char name[100];
  for (int t = 0; t < EB_STEP_TABLES; t++) {
    eb_step_table table = eb_results_table_info(t);
    bool column = strcmp(table.group, "steps") == 0;
    snprintf(name, sizeof name, "%s%s%s", column ? "" : table.group, column ? "" : "/", table.name);
    EB_TRY(eb_strings_add(out, name));
  }
  for (int r = 0; r < RESIDUALS; r++) EB_TRY(eb_strings_add(out, residuals[r]));
  for (int s = 0; s < SCENE_NAMES; s++) EB_TRY(eb_strings_add(out, scene_names[s]));
  for (int k = 0; k < EB_MEMORY_KINDS; k++) {
    snprintf(name, sizeof name, "memory/%s", eb_memory_name((eb_memory_kind)k));
    EB_TRY(eb_strings_add(out, name));
  }
  for (const eb_field *field = eb_run_fields; field->name; field++)
    if (field->type != EB_FIELD_TEXT) EB_TRY(eb_strings_add(out, field->name));
  return EB_OK;
}

static eb_error unknown_figure(const char *name) {
  eb_strings names = {0};
  eb_error error = add_names(&names);
  if (!error) error = eb_unknown_name("figure of a run", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether the residual behind a new beginning, the one of that number in the step, is larger than
 * the one before it. */
static bool is_peak(const eb_residuals *all, int64_t from, int64_t to, int64_t number) {
  int64_t at = from + number;
  return number > 0 && at < to && all->values[at] > all->values[at - 1];
}

static double count_rounds(const eb_residuals *all, size_t step, bool peaks) {
  double count = 0;
  if (!all->rounds) return NAN;
  for (int64_t r = all->round_offsets[step]; r < all->round_offsets[step + 1]; r++)
    count += !peaks || is_peak(all, all->offsets[step], all->offsets[step + 1], all->rounds[r]);
  return count;
}

static double residual_of(const eb_residuals *all, size_t step, const char *of) {
  if (step >= all->steps) return strcmp(of, "count") == 0 ? 0 : NAN;
  int64_t from = all->offsets[step], to = all->offsets[step + 1];
  if (strcmp(of, "count") == 0) return (double)(to - from);
  if (strcmp(of, "rounds") == 0 || strcmp(of, "peaks") == 0)
    return count_rounds(all, step, *of == 'p');
  if (from == to) return NAN;
  return strcmp(of, "first") == 0 ? all->values[from] : all->values[to - 1];
}

static eb_error read_residuals(const eb_results *results, int run, const char *of, eb_value *out) {
  eb_residuals all;
  EB_TRY(eb_results_residuals(results, run, &all));
  for (size_t s = 0; s < out->count; s++) out->y[s] = residual_of(&all, s, of);
  eb_residuals_clear(&all);
  return EB_OK;
}

static eb_error read_steps(const eb_results *results, int run, const figure *f, eb_value *out) {
  size_t count;
  *out = (eb_value){.kind = EB_VALUE_SERIES, .first = 1};
  out->a_frame = (size_t)eb_steps_per_frame(eb_results_run(results, run));
  EB_TRY(eb_results_steps(results, run, EB_COL_TIME, &out->time, &out->count));
  if (out->count && *eb_results_run(results, run)->from)
    out->start = out->time[0] - eb_results_run(results, run)->dt;
  if (f->place == COLUMN) return eb_results_column(results, run, f->path, &out->y, &count);
  EB_TRY(EB_NEW(out->y, out->count));
  return read_residuals(results, run, f->of, out);
}

/* The first frame holds the first whole factorization and cold caches. */
static void warm_up(const figure *f, const eb_run *run, eb_value *series) {
  size_t steps = (size_t)eb_warmup_steps(run);
  series->timed = f->timed;
  series->warmup = f->timed && series->count > steps ? steps : 0;
}

static eb_error read_attribute(const eb_run *run, const eb_field *field, eb_value *out) {
  const char *at = (const char *)run + field->offset;
  if (field->type == EB_FIELD_TEXT) return eb_value_text(*(char *const *)(const void *)at, out);
  *out = eb_value_number(field->type == EB_FIELD_INT ? (double)*(const int64_t *)(const void *)at
                                                     : *(const double *)(const void *)at);
  return EB_OK;
}

/* The number of that name in "E=1e5,dt=5e-3", where every parameter is; NaN when it is none or is
 * not told. */
static eb_error read_parameter(eb_evaluation *e, const eb_run *run, const char *name,
                               eb_value *out) {
  size_t length = strlen(name);
  const char *at = run->parameters;
  while (*at && !(strncmp(at, name, length) == 0 && at[length] == '=')) {
    at += strcspn(at, ",");
    at += *at == ',';
  }
  char *end = NULL;
  *out = eb_value_number(*at ? strtod(at + length + 1, &end) : NAN);
  if (*at && end > at + length + 1 && (!*end || *end == ',')) return EB_OK;
  *out = eb_value_number(NAN);
  return eb_evaluation_say(e, "%s has no number as parameter '%s'", run->scene, name);
}

/* Dynamic nodes are those that are carried and those behind the unknowns of the reduced system that
 * are no joints. */
static eb_error count_dynamic(const eb_results *results, int run, const eb_result_scene *scene,
                              eb_value *out) {
  double *unknowns;
  size_t count;
  EB_TRY(eb_results_counter(results, run, EB_COUNT_REDUCED_UNKNOWNS, &unknowns, &count));
  *out = eb_value_number(count ? (double)scene->carried +
                                     (unknowns[0] - (double)scene->joints) / scene->dimensions
                               : NAN);
  free(unknowns);
  return EB_OK;
}

static eb_error read_scene(eb_evaluation *e, int run, const char *of, eb_value *out) {
  const eb_results *results = e->evidence->results;
  eb_result_scene scene;
  EB_TRY(eb_results_scene(results, run, &scene));
  if (!scene.told) {
    out->knowledge = EB_UNKNOWN;
    return eb_evaluation_say(e, "the result file does not tell what %s is made of: %s",
                             eb_results_run(results, run)->scene, of);
  }
  if (strcmp(of, "material") == 0) return eb_value_text(scene.material, out);
  if (strcmp(of, "dynamic") == 0) return count_dynamic(results, run, &scene, out);
  *out = eb_value_number(strcmp(of, "joints") == 0    ? (double)scene.joints
                         : strcmp(of, "carried") == 0 ? (double)scene.carried
                                                      : scene.dimensions);
  return EB_OK;
}

static eb_error read_run(eb_evaluation *e, int case_, int run, const figure *f, eb_value *out) {
  double number;
  const eb_results *results = e->evidence->results;
  switch (f->place) {
  case ATTRIBUTE:
    EB_TRY(read_attribute(eb_results_run(results, run), f->field, out));
    out->timed = f->timed;
    return EB_OK;
  case PARAMETER:
    return read_parameter(e, eb_results_run(results, run), f->of, out);
  case SCENE:
    return read_scene(e, run, f->of, out);
  case SETUP:
    EB_TRY(eb_results_setup(results, run, f->path, &number));
    *out = eb_value_number(number);
    out->timed = f->timed;
    return EB_OK;
  default:
    EB_TRY(read_steps(results, run, f, out));
    out->cut = eb_evaluation_cut(e, case_);
    warm_up(f, eb_results_run(results, run), out);
    if (e->limits && !isnan(e->limits[e->paper->cases[case_].group]))
      eb_value_clip(out, e->limits[e->paper->cases[case_].group]);
    return EB_OK;
  }
}

static eb_value kind_of(const figure *f) {
  bool text = (f->place == ATTRIBUTE && f->field->type == EB_FIELD_TEXT) ||
              (f->place == SCENE && f->of == scene_names[0]);
  return (eb_value){.kind = f->place < SETUP ? EB_VALUE_SERIES
                            : text           ? EB_VALUE_TEXT
                                             : EB_VALUE_NUMBER};
}

/* Whether the case's scene has a parameter of that name; scenes that this build lacks are not
 * asked. */
static eb_error check_parameter(const eb_paper_case *work, const char *name) {
  char scene[200];
  eb_strings names = {0};
  eb_error error = EB_OK;
  snprintf(scene, sizeof scene, "%.*s", (int)strcspn(work->scene, ":"), work->scene);
  const eb_scene_ops *ops = eb_scene_find(scene);
  for (const eb_option *p = ops ? ops->parameters : NULL; p && p->name && !error; p++) {
    if (strcmp(p->name, name) == 0) ops = NULL;
    error = eb_strings_add(&names, p->name);
  }
  if (!error && ops) error = eb_unknown_name("parameter", name, &names);
  eb_strings_clear(&names);
  return eb_error_prefix(error, "%s", scene);
}

static eb_error read_case(eb_evaluation *e, const char *name, const char *what, eb_value *out) {
  figure f;
  int case_, run;
  eb_knowledge knowledge;
  EB_TRY(eb_evaluation_case(e, name, &case_));
  if (!find_figure(what, &f)) return unknown_figure(what);
  if (f.place == PARAMETER) EB_TRY(check_parameter(&e->paper->cases[case_], f.of));
  *out = kind_of(&f);
  EB_TRY(eb_evaluation_run(e, case_, &run, &knowledge));
  out->knowledge = knowledge;
  return run < 0 ? EB_OK : read_run(e, case_, run, &f, out);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static eb_error read_machine(eb_evaluation *e, const char *what, eb_value *out) {
  char *end;
  const char *text = e->evidence && e->evidence->results && !e->own
                         ? eb_results_environment(e->evidence->results, what)
                         : "";
  double number = strtod(text, &end);
  *out = eb_value_number(*text && !*end ? number : NAN);
  if (*text || !e->evidence) return EB_OK;
  return eb_evaluation_say(e, "the result file says nothing of '%s'", what);
}

/* ---- names ----------------------------------------------------------------------------------- */

static eb_error read_parts(eb_evaluation *e, const char *name, eb_value *out) {
  char head[100];
  size_t length = strcspn(name, ".");
  if (length >= sizeof head) return EB_ERROR(EB_ERR_FORMAT, "'%.60s..' is too long", name);
  snprintf(head, sizeof head, "%.*s", (int)length, name);
  if (name[length] != '.')
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is no figure: that is CASE.FIGURE or machine.FACT", name);
  if (strcmp(head, "machine") == 0) return read_machine(e, name + length + 1, out);
  return read_case(e, head, name + length + 1, out);
}

eb_error eb_figure_read(eb_evaluation *e, const char *name, eb_value *out) {
  *out = (eb_value){0};
  eb_error error = read_parts(e, name, out);
  if (error && strpbrk(name, "-/") && eb_error_kind(error) != EB_ERR_IO)
    error = eb_error_prefix(error,
                            "'%s' is one name, since the operators - and / stand between "
                            "blanks",
                            name);
  return error;
}
