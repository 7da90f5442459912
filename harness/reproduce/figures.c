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
  DATASET, /* what harness/results/schema.h has, by its path: a series or a number */
  /* Of the residuals that a solver logs in a step: the first, the last, their number, how often the
   * problem was made anew between them (rounds), and by how many decades they rise at most in such
   * steps: to their peak from where the problem was made anew (jump), and behind a peak (rise): a
   * series. */
  RESIDUAL,
  SCENE,     /* what the scene is made of: a number or a text */
  ATTRIBUTE, /* of the run: a number or a text */
  PARAMETER  /* of the scene, as a number */
} place;

typedef struct figure {
  place place;
  eb_value_kind kind;
  bool timed;
  char path[160];        /* of a dataset */
  eb_schema_entry entry; /* that it is of */
  const char *of;        /* of the residuals or the scene; a parameter */
  const eb_field *field; /* of an attribute */
} figure;

static const char *const residuals[] = {"first", "last", "count", "rounds", "jump", "rise", NULL};
static const char *const scene_names[] = {"material",   "joints",  "carried",
                                          "dimensions", "dynamic", NULL};
static const char residual_prefix[] = "residuals/", parameter_prefix[] = "parameters/",
                  part_prefix[] = EB_PARTS_GROUP "/", column_prefix[] = "steps/",
                  memory_prefix[] = "memory/";

static bool starts(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The word of a list that a name is, or NULL. */
static const char *word_of(const char *const *words, const char *name) {
  while (*words && strcmp(*words, name) != 0) words++;
  return *words;
}

/* Columns go by their name alone, and memory without the set-up that it belongs to. */
static const char *name_of(const char *path) {
  const char *memory = strstr(path, memory_prefix);
  if (starts(path, column_prefix)) return path + strlen(column_prefix);
  return memory ? memory : path;
}

static bool find_dataset(const char *name, figure *out) {
  const char *prefix = !strchr(name, '/')            ? column_prefix
                       : starts(name, memory_prefix) ? "setup/"
                                                     : "";
  snprintf(out->path, sizeof out->path, "%s%s", prefix, name);
  if (!eb_schema_find(out->path, &out->entry)) return false;
  out->kind = out->entry.series ? EB_VALUE_SERIES : EB_VALUE_NUMBER;
  out->timed = starts(out->entry.exported, "phases") ||
               starts(out->entry.exported, "setup/phases") ||
               strcmp(out->path, "steps/wall") == 0 || strcmp(out->path, "steps/cpu") == 0;
  return true;
}

static bool find_attribute(const char *name, figure *out) {
  size_t length = strlen(name);
  for (out->field = eb_run_fields; out->field->name; out->field++) {
    if (strcmp(out->field->name, name) != 0) continue;
    out->place = ATTRIBUTE;
    out->kind = out->field->type == EB_FIELD_TEXT ? EB_VALUE_TEXT : EB_VALUE_NUMBER;
    out->timed = strcmp(name, "first_step_at") == 0 ||
                 (length > 7 && strcmp(name + length - 7, "seconds") == 0);
    return true;
  }
  return false;
}

/* Why "parts/NAME/COLUMN" is none: only runs tell which parts there are. */
static eb_error refuse_part(const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  const char *part = name + strlen(part_prefix), *slash = strchr(part, '/');
  if (!slash || slash == part) return EB_ERROR(EB_ERR_USAGE, "'%s' is not parts/NAME/COLUMN", name);
  for (int i = 0; i < EB_PART_COLUMNS && !error; i++)
    error = eb_strings_add(&names, eb_part_columns[i].name);
  if (!error) error = eb_unknown_name("figure of a part", slash + 1, &names);
  eb_strings_clear(&names);
  return error;
}

/* With the names that there are: those of the set-up but memory are left out, as are texts of the
 * run. */
static eb_error refuse(const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  eb_schema_entry entry;
  for (int i = 0; eb_schema_at(i, &entry) && !error; i++)
    if (!strstr(entry.path, "NAME") && !starts(name_of(entry.path), "setup/"))
      error = eb_strings_add(&names, name_of(entry.path));
  for (int i = 0; residuals[i] && !error; i++) {
    char residual[40];
    snprintf(residual, sizeof residual, "%s%s", residual_prefix, residuals[i]);
    error = eb_strings_add(&names, residual);
  }
  for (int i = 0; scene_names[i] && !error; i++) error = eb_strings_add(&names, scene_names[i]);
  for (const eb_field *f = eb_run_fields; f->name && !error; f++)
    if (f->type != EB_FIELD_TEXT) error = eb_strings_add(&names, f->name);
  if (!error) error = eb_unknown_name("figure of a run", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* EB_ERR_USAGE, with the nearest, for what no run has. */
static eb_error find_figure(const char *name, figure *out) {
  *out = (figure){.place = DATASET};
  if (find_dataset(name, out)) return EB_OK;
  *out = (figure){.place = RESIDUAL, .kind = EB_VALUE_SERIES};
  if (starts(name, residual_prefix) &&
      (out->of = word_of(residuals, name + strlen(residual_prefix))))
    return EB_OK;
  out->place = SCENE;
  if ((out->of = word_of(scene_names, name))) {
    out->kind = out->of == scene_names[0] ? EB_VALUE_TEXT : EB_VALUE_NUMBER;
    return EB_OK;
  }
  if (find_attribute(name, out)) return EB_OK;
  *out =
      (figure){.place = PARAMETER, .kind = EB_VALUE_NUMBER, .of = name + strlen(parameter_prefix)};
  if (starts(name, parameter_prefix)) return EB_OK;
  return starts(name, part_prefix) ? refuse_part(name) : refuse(name);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Decades from a residual up to another one; 0 where that is not above it. */
static double decades_up(double from, double to) {
  return to > from && from > 0 ? log10(to / from) : 0;
}

/* Of the residuals begin .. end-1 between one new beginning and the next, the peak of which may be
 * some iterations behind the beginning: how far it is above the residual before (anew), or how far
 * residuals rise behind it. */
static double rise_between(const double *values, int64_t begin, int64_t end, bool anew) {
  int64_t top = begin;
  double rise = 0;
  for (int64_t at = begin; at < end; at++)
    if (values[at] > values[top]) top = at;
  if (anew) return decades_up(values[begin - 1], values[top]);
  for (int64_t at = top + 1, low = top; at < end; at++) {
    rise = fmax(rise, decades_up(values[low], values[at]));
    if (values[at] < values[low]) low = at;
  }
  return rise;
}

/* The largest in a step that was made anew; 0 of other steps. */
static double largest_rise(const eb_residuals *all, size_t step, bool anew) {
  double largest = 0;
  int64_t from = all->offsets[step], to = all->offsets[step + 1], begin = from,
          first = all->round_offsets[step], rounds = all->round_offsets[step + 1];
  for (int64_t r = first; r <= rounds && first < rounds; r++) {
    int64_t end = r < rounds ? from + all->rounds[r] : to;
    if (end > to) end = to;
    if (begin < end && !(anew && begin == from))
      largest = fmax(largest, rise_between(all->values, begin, end, anew));
    begin = end;
  }
  return largest;
}

static double residual_of(const eb_residuals *all, size_t step, const char *of) {
  if (step >= all->steps) return strcmp(of, "count") == 0 ? 0 : NAN;
  int64_t from = all->offsets[step], to = all->offsets[step + 1];
  if (strcmp(of, "count") == 0) return (double)(to - from);
  if (strcmp(of, "first") == 0) return from == to ? NAN : all->values[from];
  if (strcmp(of, "last") == 0) return from == to ? NAN : all->values[to - 1];
  if (!all->rounds) return NAN;
  if (strcmp(of, "rounds") == 0)
    return (double)(all->round_offsets[step + 1] - all->round_offsets[step]);
  return largest_rise(all, step, strcmp(of, "jump") == 0);
}

/* Notes that a run has no such part, and which it has; the value is unknown. */
static eb_error miss_part(eb_evaluation *e, int run, const char *path, eb_value *out) {
  const char *name = strchr(path, '/') + 1,
             *scene = eb_results_run(e->evidence->results, run)->scene;
  char part[100];
  eb_strings names = {0};
  snprintf(part, sizeof part, "%.*s", (int)strcspn(name, "/"), name);
  out->knowledge = EB_UNKNOWN;
  eb_error error = eb_results_members(e->evidence->results, run, EB_PARTS_GROUP, &names),
           said = EB_OK;
  if (!error && names.count == 0)
    error = eb_evaluation_say(e, "the result file does not tell of parts of %s: %s", scene, path);
  else if (!error && (said = eb_unknown_name("part", part, &names)))
    error = eb_evaluation_say(e, "%s: %s", scene, eb_error_message(said));
  eb_error_free(said);
  eb_strings_clear(&names);
  return error;
}

/* The first frame of times holds the first whole factorization and cold caches. */
static eb_error read_series(const eb_evaluation *e, int case_, int run, const figure *f,
                            eb_value *out) {
  const eb_results *results = e->evidence->results;
  const eb_run *of = eb_results_run(results, run);
  size_t count, warmup = (size_t)eb_warmup_steps(of);
  eb_residuals all;
  *out = (eb_value){.kind = EB_VALUE_SERIES, .first = 1, .timed = f->timed};
  out->a_frame = (size_t)eb_steps_per_frame(of);
  EB_TRY(eb_results_steps(results, run, EB_COL_TIME, &out->time, &out->count));
  if (out->count && *of->from) out->start = out->time[0] - of->dt;
  out->warmup = f->timed && out->count > warmup ? warmup : 0;
  if (f->place == DATASET)
    return f->timed ? eb_evaluation_seconds(e, case_, run, f->path, &out->y, &count)
                    : eb_results_read(results, run, f->path, &out->y, &count);
  EB_TRY(EB_NEW(out->y, out->count));
  EB_TRY(eb_results_residuals(results, run, &all));
  for (size_t s = 0; s < out->count; s++) out->y[s] = residual_of(&all, s, f->of);
  eb_residuals_clear(&all);
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
  double number = strcmp(of, "joints") == 0    ? (double)scene.joints
                  : strcmp(of, "carried") == 0 ? (double)scene.carried
                                               : scene.dimensions;
  if (strcmp(of, "dynamic") == 0) {
    double *unknowns;
    size_t count;
    EB_TRY(eb_results_steps(results, run, EB_STEP_COUNTERS + EB_COUNT_REDUCED_UNKNOWNS, &unknowns,
                            &count));
    number = count ? (double)scene.carried + (unknowns[0] - (double)scene.joints) / scene.dimensions
                   : NAN;
    free(unknowns);
  }
  *out = eb_value_number(number);
  return EB_OK;
}

/* A run that does not tell a figure is noted, with what makes it tell. */
static eb_error miss(eb_evaluation *e, int case_, const figure *f) {
  const char *setting = f->entry.setting;
  return eb_evaluation_say(
      e, "%s: the run tells no %s; %s%s?", e->paper->cases[case_].name, f->path,
      setting ? "was it run with " : "does its solver record rotations", setting ? setting : "");
}

static eb_error read_number(eb_evaluation *e, int case_, int run, const figure *f, eb_value *out) {
  double number;
  EB_TRY(eb_results_number(e->evidence->results, run, f->path, &number));
  *out = eb_value_number(number);
  return isnan(number) && f->entry.setting ? miss(e, case_, f) : EB_OK;
}

static eb_error read_attribute(const eb_run *run, const figure *f, eb_value *out) {
  const void *at = (const char *)run + f->field->offset;
  if (f->kind == EB_VALUE_TEXT) return eb_value_text(*(char *const *)at, out);
  *out = eb_value_number(f->field->type == EB_FIELD_INT ? (double)*(const int64_t *)at
                                                        : *(const double *)at);
  return EB_OK;
}

static eb_error read_run(eb_evaluation *e, int case_, int run, const figure *f, eb_value *out) {
  const eb_results *results = e->evidence->results;
  if (f->kind == EB_VALUE_SERIES) {
    bool told = f->entry.absence != EB_ABSENT_GROUP || eb_results_has(results, run, f->path);
    if (!told && starts(f->path, part_prefix)) return miss_part(e, run, f->path, out);
    if (!told) {
      out->knowledge = EB_UNKNOWN;
      return miss(e, case_, f);
    }
    EB_TRY(read_series(e, case_, run, f, out));
    out->cut = eb_evaluation_cut(e, case_);
    if (e->limits && !isnan(e->limits[e->paper->cases[case_].group]))
      eb_value_clip(out, e->limits[e->paper->cases[case_].group]);
    return EB_OK;
  }
  if (f->place == PARAMETER) return read_parameter(e, eb_results_run(results, run), f->of, out);
  if (f->place == SCENE) return read_scene(e, run, f->of, out);
  EB_TRY(f->place == ATTRIBUTE ? read_attribute(eb_results_run(results, run), f, out)
                               : read_number(e, case_, run, f, out));
  out->timed = f->timed;
  return EB_OK;
}

/* Of a time that a run has one of, the least. */
static eb_error read_least(eb_evaluation *e, int case_, int run, const figure *f, eb_value *out) {
  EB_TRY(read_run(e, case_, run, f, out));
  for (int at = 0, other; (other = eb_evaluation_other_run(e, case_, run, &at)) >= 0;) {
    eb_value value;
    EB_TRY(read_run(e, case_, other, f, &value));
    out->number = fmin(out->number, value.number);
  }
  out->number = eb_evaluation_time(e, case_, out->number);
  return EB_OK;
}

/* Whether the case's scene has a parameter of that name; scenes that this build lacks are not
 * asked. */
static eb_error check_parameter(const eb_paper_case *work, const char *name) {
  eb_strings names = {0};
  const eb_scene_ops *ops;
  char *assignments = NULL;
  bool found = false;
  eb_error error = eb_open_scene_spec(work->scene, NULL, &ops, &assignments);
  free(assignments);
  if (error && eb_error_kind(error) == EB_ERR_USAGE) {
    eb_error_free(error);
    return EB_OK;
  }
  EB_TRY(error);
  for (const eb_option *p = ops->parameters; p && p->name && !error; p++) {
    found = found || strcmp(p->name, name) == 0;
    error = eb_strings_add(&names, p->name);
  }
  if (!error && !found) error = eb_unknown_name("parameter", name, &names);
  eb_strings_clear(&names);
  error = eb_error_prefix(error, "%s", ops->name);
  eb_scene_close(ops);
  return error;
}

static eb_error read_case(eb_evaluation *e, const char *name, const char *what, eb_value *out) {
  figure f;
  int case_, run;
  eb_knowledge knowledge;
  EB_TRY(eb_evaluation_case(e, name, &case_));
  EB_TRY(find_figure(what, &f));
  if (f.place == PARAMETER) EB_TRY(check_parameter(&e->paper->cases[case_], f.of));
  *out = (eb_value){.kind = f.kind};
  EB_TRY(eb_evaluation_run(e, case_, &run, &knowledge));
  out->knowledge = knowledge;
  if (run < 0) return EB_OK;
  return f.timed && f.kind != EB_VALUE_SERIES ? read_least(e, case_, run, &f, out)
                                              : read_run(e, case_, run, &f, out);
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

eb_error eb_figure_read(eb_evaluation *e, const char *name, eb_value *out) {
  char head[100];
  size_t length = strcspn(name, ".");
  eb_error error;
  *out = (eb_value){0};
  snprintf(head, sizeof head, "%.*s", (int)length, name);
  if (length >= sizeof head)
    error = EB_ERROR(EB_ERR_FORMAT, "'%.60s..' is too long", name);
  else if (name[length] != '.')
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is no figure: that is CASE.FIGURE or machine.FACT", name);
  else if (strcmp(head, "machine") == 0)
    error = read_machine(e, name + length + 1, out);
  else
    error = read_case(e, head, name + length + 1, out);
  if (error && strpbrk(name, "-/") && eb_error_kind(error) != EB_ERR_IO)
    error = eb_error_prefix(error,
                            "'%s' is one name, since the operators - and / stand between "
                            "blanks",
                            name);
  return error;
}
