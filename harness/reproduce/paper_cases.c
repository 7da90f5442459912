/* The cases of a paper: what is run. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/audit/rules.h"
#include "harness/names.h"
#include "harness/reproduce/paper.h"
#include "problems/notation/untrusted.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/scene_impl.h"

/* ---- settings -------------------------------------------------------------------------------- */

/* What the cases of a section share; 0: not set. */
typedef struct settings {
  int64_t frames, repeat, threads, embed;
  double timeout, memory, seconds;
  bool may_fail, examine;
  unsigned may_break; /* 1 << eb_rule each */
  const char *scene;  /* parameters; owned by the paper */
  eb_paper_dependencies dependencies;
} settings;

/* Of full runs, and what quick ones have in their place. */
enum { FULL, QUICK, KINDS_OF_RUNS };

/* A setting by its name, what it is, its range, and whether it has a value of quick runs. */
typedef enum setting_type { WHOLE, REAL, YES, GAIN, RULES, PARAMETERS, TIE } setting_type;
static const struct setting {
  const char *name;
  setting_type type;
  size_t offset;
  int64_t most;
  bool full, quick;
} all_settings[] = {
    {"frames", WHOLE, offsetof(settings, frames), 1000000000, true, true},
    {"seconds", REAL, offsetof(settings, seconds), 0, true, true},
    {"repeat", WHOLE, offsetof(settings, repeat), 1000, true, true},
    {"threads", WHOLE, offsetof(settings, threads), 1024, true, false},
    {"timeout", REAL, offsetof(settings, timeout), 0, true, true},
    {"memory", REAL, offsetof(settings, memory), 0, true, false},
    {"may-fail", YES, offsetof(settings, may_fail), 0, true, false},
    {"may-gain", GAIN, offsetof(settings, may_break), 0, true, false},
    {"may-break", RULES, offsetof(settings, may_break), 0, true, false},
    {"examine", YES, offsetof(settings, examine), 0, true, false},
    {"embed", WHOLE, offsetof(settings, embed), 1000000, true, false},
    {"scene", PARAMETERS, offsetof(settings, scene), 0, false, true},
    {"from", TIE, offsetof(settings, dependencies[EB_DEPENDENCY_FROM]), 0, true, true},
    {"stride", TIE, offsetof(settings, dependencies[EB_DEPENDENCY_STRIDE]), 0, true, true},
    {"samples", TIE, offsetof(settings, dependencies[EB_DEPENDENCY_SAMPLES]), 0, true, true},
    {"sweep", TIE, offsetof(settings, dependencies[EB_DEPENDENCY_SWEEP]), 0, true, true},
    {"checkpoints", TIE, offsetof(settings, dependencies[EB_DEPENDENCY_CHECKPOINTS]), 0, true,
     true}};
enum {
  SETTINGS = sizeof all_settings / sizeof *all_settings,
  FIRST_TIE = SETTINGS - EB_PAPER_DEPENDENCIES
};

eb_error eb_paper_dependencies_read(const eb_paper_dependencies dependencies,
                                    eb_dependencies *out) {
  bool known;
  *out = (eb_dependencies){0};
  for (int k = 0; k < EB_PAPER_DEPENDENCIES; k++)
    if (dependencies[k])
      EB_TRY(eb_dependencies_set(out, all_settings[FIRST_TIE + k].name, dependencies[k], &known));
  if (out->axis_count > 0)
    return EB_ERROR(EB_ERR_USAGE, "sweep: a case of a paper has one value of an option; it wants "
                                  "OPTION:LOW..HIGH step S stable, or a case for each value");
  return eb_dependencies_finish(out);
}

static eb_error parse_yes(const char *key, const char *value, bool *out) {
  *out = strcmp(value, "yes") == 0;
  return *out || strcmp(value, "no") == 0
             ? EB_OK
             : EB_ERROR(EB_ERR_FORMAT, "%s is yes or no, not '%s'", key, value);
}

/* The rules that unconverged steps may break, and steps whose own criterion does not ask for what
 * the rule does; all others are about honesty, and hold for all. */
static eb_error parse_rules(const char *key, const char *value, unsigned *out) {
  static const eb_rule breakable[] = {EB_RULE_ENERGY, EB_RULE_MOMENTUM, EB_RULE_PROGRESS,
                                      EB_RULE_REPLAY, EB_RULE_FRICTION};
  eb_strings words = {0};
  eb_error error = eb_words(value, " ", &words);
  *out = 0;
  for (int w = 0; w < words.count && !error; w++) {
    unsigned before = *out;
    for (size_t r = 0; r < sizeof breakable / sizeof *breakable; r++)
      if (strcmp(eb_rule_name(breakable[r]), words.items[w]) == 0) *out |= 1u << breakable[r];
    if (*out == before)
      error = EB_ERROR(EB_ERR_FORMAT,
                       "%s is some of energy, momentum, progress, replay, friction, each once, "
                       "not '%s'",
                       key, words.items[w]);
  }
  eb_strings_clear(&words);
  return error;
}

/* Sets what `key` names, "quick-KEY" for quick runs; *known is false when it is no setting: then it
 * is a case. The value is kept by the paper. */
static eb_error set(eb_paper *paper, settings s[KINDS_OF_RUNS], const char *key, const char *value,
                    bool *known) {
  bool quick = strcmp(key, "quick") == 0 || strncmp(key, "quick-", 6) == 0;
  const char *name = strcmp(key, "quick") == 0 ? "frames" : key + (quick ? 6 : 0);
  int i = eb_find(all_settings, SETTINGS, sizeof *all_settings, name, strlen(name));
  const struct setting *one = &all_settings[i < 0 ? 0 : i];
  *known = i >= 0 && (quick ? one->quick : one->full);
  if (!*known) return EB_OK;
  void *at = (char *)&s[quick ? QUICK : FULL] + one->offset;
  bool gains;
  /* Of frames and seconds the later one counts, and an inherited one least. */
  for (int k = 0; k < KINDS_OF_RUNS && !quick; k++) {
    if (strcmp(name, "frames") == 0) s[k].seconds = 0;
    if (strcmp(name, "seconds") == 0) s[k].frames = 0;
  }
  switch (one->type) {
  case WHOLE:
    return eb_parse_whole(strcmp(key, "quick-frames") == 0 ? "quick" : key, value, 1, one->most,
                          at);
  case REAL:
    return eb_parse_real(key, value, 1e-3, 1e9, at);
  case YES:
    return parse_yes(key, value, at);
  case GAIN:
    EB_TRY(parse_yes(key, value, &gains));
    *(unsigned *)at = gains ? 1u << EB_RULE_ENERGY : 0;
    return EB_OK;
  case RULES:
    return parse_rules(key, value, at);
  default:
    EB_TRY(eb_strings_add(&paper->texts, value));
    *(const char **)at = paper->texts.items[paper->texts.count - 1];
    return EB_OK;
  }
}

/* "VALUE", or "VALUE | THAT OF QUICK RUNS". */
static eb_error set_both(eb_paper *paper, settings s[KINDS_OF_RUNS], const char *key,
                         const char *value, bool *known) {
  char quick_key[60], *part;
  const char *rest = value;
  EB_TRY(eb_part_next(&rest, &part));
  eb_error error = set(paper, s, key, part, known);
  free(part);
  if (error || !*known || !rest) return error;
  snprintf(quick_key, sizeof quick_key, "quick-%s", key);
  return set(paper, s, quick_key, rest + strspn(rest, " "), known);
}

static eb_error unknown_setting(const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < SETTINGS && !error; i++)
    error = eb_strings_add(&names, all_settings[i].full ? all_settings[i].name : "quick-scene");
  if (!error) error = eb_unknown_name("setting of cases", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* "KEY VALUE, KEY VALUE | QUICK, .." */
static eb_error set_several(eb_paper *paper, settings s[KINDS_OF_RUNS], const char *list) {
  while (*(list += strspn(list, ", "))) {
    const char *end = strstr(list, ", ");
    size_t length = end ? (size_t)(end - list) : strlen(list), key = strcspn(list, " ,");
    if (key > length) key = length;
    size_t value = key < length ? key + 1 : length;
    bool known = false;
    char *name, *text = NULL;
    EB_TRY(eb_copy_part(list, key, &name));
    eb_error error = eb_copy_part(list + value, length - value, &text);
    if (!error) error = set_both(paper, s, name, text, &known);
    if (!error && !known) error = unknown_setting(name);
    free(name);
    free(text);
    EB_TRY(error);
    list += length;
  }
  return EB_OK;
}

int eb_paper_case_find(const eb_paper *paper, const char *name) {
  return eb_find(paper->cases, paper->case_count, sizeof *paper->cases, name, strlen(name));
}

/* ---- a case ---------------------------------------------------------------------------------- */

/* The mesh files that a scene's file names are of the paper's folder as well. A file that is not
 * there is told of where it is read. */
static eb_error check_meshes(const eb_paper *paper, const char *name, const char *path) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  EB_OWNED(eb_strings_clear) eb_strings files = {0};
  const char *slash = strrchr(name, '/');
  int folder = slash ? (int)(slash + 1 - name) : 0;
  if (access(path, F_OK)) return EB_OK;
  EB_TRY(eb_text_read(path, "scene file", &text));
  if (text.data) EB_TRY(eb_scene_file_meshes(path, text.data, &files));
  for (int i = 0; i < files.count; i++) {
    EB_FREED char *mesh = NULL, *place = NULL;
    if (files.items[i][0] == '/')
      return EB_ERROR(EB_ERR_FORMAT,
                      "%s: '%s' leads out of the paper's folder: name it from the scene's file on",
                      path, files.items[i]);
    EB_TRY(eb_string_format(&mesh, "%.*s%s", folder, name, files.items[i]));
    EB_TRY(eb_error_prefix(eb_paper_place(paper, mesh, &place), "%s", path));
  }
  return EB_OK;
}

/* A scene's file is one of the paper's folder. */
static eb_error read_scene(const eb_paper *paper, const char *spec, char **out) {
  char *name, *assignments, *path = NULL;
  EB_TRY(eb_split_scene(spec, &name, &assignments));
  eb_error error;
  if (eb_scene_file_named(name)) {
    error = eb_paper_place(paper, name, &path);
    if (!error) error = check_meshes(paper, name, path);
    if (!error)
      error = eb_string_format(out, "%s%s%s", path, assignments ? ":" : "",
                               assignments ? assignments : "");
  } else {
    error = eb_copy(spec, out);
  }
  free(path);
  free(name);
  free(assignments);
  return error;
}

/* "NAME = SCENE LABEL [THREADS]" */
static eb_error read_case(const eb_paper *paper, const eb_entry *entry, const eb_strings *words,
                          eb_paper_case *out) {
  const eb_section *solvers = &paper->solvers;
  if (words->count < 2 || words->count > 3)
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'SCENE[:p=v,..] SOLVER-LABEL [THREADS]'",
                    entry->value);
  const char *solver = eb_section_value(solvers, words->items[1]);
  if (!solver)
    return eb_unknown_entry("label in [solvers]", words->items[1], solvers->entries, solvers->count,
                            sizeof *solvers->entries);
  if (words->count == 3) EB_TRY(eb_parse_whole("threads", words->items[2], 1, 1024, &out->threads));
  EB_TRY(read_scene(paper, words->items[0], &out->scene));
  return eb_copy(solver, &out->solver);
}

/* Where the cases of a section go. */
typedef struct gathering {
  eb_paper *paper;
  int group;
} gathering;

static eb_error add_case(void *context, const eb_entry *entry) {
  const gathering *g = context;
  eb_paper *paper = g->paper;
  const char *name = entry->key;
  eb_strings words = {0};
  EB_TRY(eb_check_word("case", name));
  if (eb_paper_case_find(paper, name) >= 0)
    return EB_ERROR(EB_ERR_FORMAT, "there are two cases '%s'", name);
  char *copy;
  EB_TRY(eb_copy(name, &copy));
  eb_error error = EB_APPEND(paper->cases, paper->case_count);
  if (error) {
    free(copy);
    return error;
  }
  eb_paper_case *added = &paper->cases[paper->case_count - 1];
  added->name = copy;
  added->group = g->group;
  added->source_run = -1;
  error = eb_words(entry->value, " ", &words);
  if (!error) error = read_case(paper, entry, &words, added);
  eb_strings_clear(&words);
  return error;
}

/* Frames that a simulated time takes on a scene with its parameters; 1 where this build lacks it,
 * which planning says. */
static eb_error frames_in(const char *spec, double seconds, int64_t *frames) {
  char *assignments = NULL;
  eb_values *values = NULL;
  const eb_scene_ops *ops;
  *frames = 1;
  eb_error error = eb_open_scene_spec(spec, NULL, &ops, &assignments);
  if (!error) error = eb_values_create(ops->name, ops->parameters, assignments, &values);
  if (values) {
    int64_t a_frame = ops->steps_per_frame > 0 ? ops->steps_per_frame : 1;
    *frames = llround(ceil(seconds / (eb_values_real(values, "dt") * (double)a_frame) - 1e-6));
  }
  eb_values_destroy(values);
  eb_scene_close(ops);
  free(assignments);
  if (error && eb_error_kind(error) != EB_ERR_USAGE) return error;
  eb_error_free(error);
  return EB_OK;
}

static eb_error reduce(const char *parameters, eb_paper_case *out) {
  EB_TRY(eb_scene_spec_over(out->scene, parameters, &out->scene));
  out->reduced = parameters;
  return EB_OK;
}

/* How many samples there are; 0 for what is none. */
static eb_error count_samples(const eb_paper_dependencies dependencies, int64_t *out) {
  eb_dependencies read;
  eb_error error = eb_paper_dependencies_read(dependencies, &read);
  if (!error && read.file)
    error = EB_ERROR(EB_ERR_FORMAT, "from: '%s' is a file, and a paper's cases start from its own",
                     read.file);
  *out = !error && read.tied && !read.single ? eb_range_count(read.steps) : 0;
  eb_dependencies_clear(&read);
  return error;
}

/* What a section says of a case. Ties of both kinds of runs are read, so that a mistake in either
 * is found at once. */
static eb_error apply(const settings s[KINDS_OF_RUNS], bool quick, eb_paper_case *out) {
  const settings *full = &s[FULL], *less = &s[QUICK];
  int64_t all = full->frames, fewer = less->frames, samples[KINDS_OF_RUNS];
  eb_paper_dependencies dependencies;
  if (quick && less->scene) EB_TRY(reduce(less->scene, out));
  if (full->seconds > 0) EB_TRY(frames_in(out->scene, full->seconds, &all));
  if (less->seconds > 0) EB_TRY(frames_in(out->scene, less->seconds, &fewer));
  out->all_frames = all;
  out->frames = quick && fewer && fewer < all ? fewer : all;
  out->repeat = quick && less->repeat ? less->repeat : full->repeat;
  out->timeout = quick && less->timeout > 0 ? less->timeout : full->timeout;
  if (!out->threads) out->threads = full->threads;
  out->memory = full->memory;
  out->may_fail = full->may_fail;
  out->may_break = full->may_break;
  out->examine = full->examine;
  out->embed = full->embed;
  for (int k = 0; k < EB_PAPER_DEPENDENCIES; k++)
    dependencies[k] = less->dependencies[k] ? less->dependencies[k] : full->dependencies[k];
  memcpy(out->dependencies, quick ? dependencies : full->dependencies, sizeof out->dependencies);
  EB_TRY(count_samples(full->dependencies, &samples[FULL]));
  EB_TRY(eb_error_prefix(count_samples(dependencies, &samples[QUICK]), "quick"));
  out->samples = samples[quick ? QUICK : FULL] > 0;
  if (!out->samples) return EB_OK;
  out->all_frames = samples[FULL];
  out->frames = samples[quick ? QUICK : FULL];
  return EB_OK;
}

/* ---- sections -------------------------------------------------------------------------------- */

static eb_error read_section(eb_paper *paper, int group, settings s[KINDS_OF_RUNS]) {
  const eb_section *section = &paper->sections.items[group];
  gathering cases = {paper, group};
  int first = paper->case_count;
  EB_TRY(eb_section_locate(section, NULL, set_several(paper, s, section->text)));
  for (int e = 0; e < section->count; e++) {
    bool known = true;
    const eb_entry *entry = &section->entries[e];
    eb_error error = strcmp(entry->key, "settings") == 0
                         ? set_several(paper, s, entry->value)
                         : set_both(paper, s, entry->key, entry->value, &known);
    if (!error && !known) error = eb_entry_unroll(section, entry, add_case, &cases);
    EB_TRY(eb_section_locate(section, entry, error));
  }
  bool counted = s->frames || s->seconds > 0 || s->dependencies[EB_DEPENDENCY_FROM] ||
                 s->dependencies[EB_DEPENDENCY_SWEEP] || first == paper->case_count;
  eb_error error = counted ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "'frames' is missing");
  for (int c = first; c < paper->case_count && !error; c++)
    error = apply(s, paper->quick, &paper->cases[c]);
  return eb_section_locate(section, NULL, error);
}

static eb_error find_source_run(const eb_paper *paper, eb_paper_case *work) {
  eb_dependencies dependencies;
  eb_error error = eb_paper_dependencies_read(work->dependencies, &dependencies);
  if (!error && dependencies.tied) {
    work->source_run = eb_paper_case_find(paper, dependencies.source_run);
    if (work->source_run < 0)
      error = eb_error_prefix(eb_unknown_entry("case", dependencies.source_run, paper->cases,
                                               paper->case_count, sizeof *paper->cases),
                              "from");
  }
  eb_dependencies_clear(&dependencies);
  return error;
}

/* [cases] without a label comes first: what it sets holds for the other sections too. */
eb_error eb_paper_read_cases(eb_paper *paper) {
  settings common[KINDS_OF_RUNS] = {{.repeat = 1, .threads = 1}}, own[KINDS_OF_RUNS];
  const eb_section *sections = paper->sections.items;
  EB_TRY(eb_section_unroll(eb_sections_find(&paper->sections, "solvers", ""), &paper->solvers));
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < paper->sections.count; i++) {
      if (strcmp(sections[i].kind, "cases") != 0 || !*sections[i].label != (pass == 0)) continue;
      memcpy(own, common, sizeof own);
      EB_TRY(read_section(paper, i, own));
      if (pass == 0) memcpy(common, own, sizeof own);
    }
  for (int c = 0; c < paper->case_count; c++)
    EB_TRY(eb_section_locate(&sections[paper->cases[c].group], NULL,
                             find_source_run(paper, &paper->cases[c])));
  /* Whoever comes back to no beginning is in a circle, or starts from one. */
  for (int c = 0; c < paper->case_count; c++) {
    int at = c;
    for (int i = 0; i < paper->case_count && at >= 0; i++) at = paper->cases[at].source_run;
    if (at >= 0)
      return eb_section_locate(&sections[paper->cases[c].group], NULL,
                               EB_ERROR(EB_ERR_FORMAT,
                                        "from: '%s' starts from cases that start from each other",
                                        paper->cases[c].name));
  }
  return EB_OK;
}

void eb_paper_clear_cases(eb_paper *paper) {
  eb_section_clear(&paper->solvers);
  for (int c = 0; c < paper->case_count; c++) {
    free(paper->cases[c].name);
    free(paper->cases[c].scene);
    free(paper->cases[c].solver);
  }
  free(paper->cases);
}
