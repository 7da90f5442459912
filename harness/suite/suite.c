#include "harness/suite/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/embedded.h"
#include "harness/names.h"
#include "problems/notation/sections.h"
#include "problems/notation/untrusted.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

/* ---- settings -------------------------------------------------------------------------------- */

static eb_error add_threads(eb_settings *settings, const char *word) {
  int64_t threads;
  EB_TRY(eb_parse_whole("threads", word, 1, 1024, &threads));
  if (settings->thread_count == EB_MAX_THREAD_COUNTS)
    return EB_ERROR(EB_ERR_USAGE, "threads takes at most %d counts", EB_MAX_THREAD_COUNTS);
  settings->threads[settings->thread_count++] = (int)threads;
  return EB_OK;
}

/* Counts are apart by spaces or commas; there is one at each side of a comma. */
static eb_error set_threads(eb_settings *settings, const char *value) {
  char copy[128], *rest = copy;
  if (snprintf(copy, sizeof copy, "%s", value) >= (int)sizeof copy)
    return EB_ERROR(EB_ERR_USAGE, "threads wants whole numbers, not '%s'", value);
  settings->thread_count = 0;
  for (char *part; (part = strsep(&rest, ","));) {
    char *more = NULL, *word = strtok_r(part, " ", &more);
    EB_TRY(add_threads(settings, word ? word : ""));
    while ((word = strtok_r(NULL, " ", &more))) EB_TRY(add_threads(settings, word));
  }
  return EB_OK;
}

eb_error eb_settings_set(eb_settings *settings, const char *name, const char *value, int *known) {
  *known = 1;
  if (strcmp(name, "repeat") == 0) return eb_parse_whole(name, value, 1, 10000, &settings->repeat);
  if (strcmp(name, "steps") == 0)
    return eb_parse_whole(name, value, 1, 1000000000, &settings->steps);
  if (strcmp(name, "threads") == 0) return set_threads(settings, value);
  if (strcmp(name, "contact-problem") == 0)
    return eb_parse_whole(name, value, 1, 1000000000, &settings->contact_problem);
  if (strcmp(name, "timeout") == 0)
    return eb_parse_real(name, value, 1e-3, 1e9, &settings->timeout);
  if (strcmp(name, "embed") == 0) return eb_parse_whole(name, value, 1, 1000000, &settings->embed);
  if (strcmp(name, "memory") == 0) return eb_parse_real(name, value, 1, 1e9, &settings->memory);
  if (strcmp(name, "frames") == 0) return eb_frames_parse(value, &settings->frames);
  if (strcmp(name, "examine") == 0) {
    settings->examine = strcmp(value, "yes") == 0 ? EB_SETTING_YES : EB_SETTING_NO;
    return strcmp(value, settings->examine == EB_SETTING_YES ? "yes" : "no") == 0
               ? EB_OK
               : EB_ERROR(EB_ERR_USAGE, "examine is yes or no, not '%s'", value);
  }
  if (strcmp(name, "seed") == 0) {
    settings->has_seed = 1;
    return eb_parse_whole(name, value, 0, INT64_C(9000000000000000), &settings->seed);
  }
  *known = 0;
  return EB_OK;
}

eb_settings eb_settings_over(eb_settings base, eb_settings over) {
  if (over.repeat) base.repeat = over.repeat;
  if (over.steps) base.steps = over.steps;
  if (over.contact_problem) base.contact_problem = over.contact_problem;
  if (over.frames) base.frames = over.frames;
  if (over.examine) base.examine = over.examine;
  if (over.embed) base.embed = over.embed;
  if (over.timeout > 0) base.timeout = over.timeout;
  if (over.memory > 0) base.memory = over.memory;
  if (over.has_seed) {
    base.seed = over.seed;
    base.has_seed = 1;
  }
  if (over.thread_count) {
    base.thread_count = over.thread_count;
    memcpy(base.threads, over.threads, sizeof base.threads);
  }
  return base;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What a section may say, then what [suite] may say for all of them, too, then what it alone may.
 */
static const char *const keys[] = {"scene",       "solver",  "from",    "stride", "samples",
                                   "checkpoints", "group",   "sweep",   "repeat", "steps",
                                   "threads",     "seed",    "timeout", "memory", "contact-problem",
                                   "frames",      "examine", "embed",   "summary"};
enum { KEYS = sizeof keys / sizeof *keys, FIRST_SETTING = 8 };

static eb_error read_common(const eb_entry *entry, eb_suite *suite, eb_settings *common) {
  int known;
  if (strcmp(entry->key, "summary") == 0) return eb_string_set(&suite->summary, entry->value);
  EB_TRY(eb_settings_set(common, entry->key, entry->value, &known));
  return known ? EB_OK
               : eb_unknown(EB_ERR_FORMAT, entry->key, keys + FIRST_SETTING, KEYS - FIRST_SETTING,
                            "[suite] has no setting");
}

static eb_error read_entry(const eb_entry *entry, eb_suite_section *section) {
  const char *key = entry->key, *value = entry->value;
  int known;
  bool dependencies;
  if (strcmp(key, "scene") == 0) return eb_strings_add(&section->scenes, value);
  if (strcmp(key, "solver") == 0) return eb_strings_add(&section->solvers, value);
  EB_TRY(eb_dependencies_set(&section->dependencies, key, value, &dependencies));
  if (dependencies) return EB_OK;
  EB_TRY(eb_settings_set(&section->settings, key, value, &known));
  return known ? EB_OK
               : eb_unknown(EB_ERR_FORMAT, key, keys, KEYS - 1, "[%s] has no setting",
                            section->label);
}

/* A section without entries says nothing, and is none. */
static eb_error read_section(const eb_section *from, eb_suite *suite, eb_settings *common) {
  bool of_all = strcmp(from->label, "suite") == 0;
  eb_suite_section *to = of_all || from->count == 0 ? NULL : &suite->sections[suite->count++];
  if (to) EB_TRY(eb_string_set(&to->label, from->label));
  for (int e = 0; e < from->count; e++) {
    const eb_entry *entry = &from->entries[e];
    EB_TRY(eb_error_prefix(to ? read_entry(entry, to) : read_common(entry, suite, common), "%s:%d",
                           from->path, entry->line));
  }
  return EB_OK;
}

/* Words with blanks between; a label that is a scene is looked for among these. */
static eb_error check_label(const char *label) {
  char *joined = NULL;
  EB_TRY(eb_string_format(&joined, "%s", label));
  for (char *c = joined; *c; c++)
    if (*c == ' ') *c = '-';
  eb_error error = eb_check_word("section", joined);
  free(joined);
  return error;
}

static eb_error read_suite(const char *name, const eb_sections *sections, eb_suite *suite) {
  eb_settings common = {0};
  EB_TRY(eb_string_set(&suite->name, name));
  EB_TRY(EB_NEW(suite->sections, sections->count));
  for (int i = 0; i < sections->count; i++)
    EB_TRY(read_section(&sections->items[i], suite, &common));
  if (suite->count == 0)
    return EB_ERROR(EB_ERR_FORMAT, "suite '%s' has no section that names a scene", name);
  for (int i = 0; i < suite->count; i++) {
    eb_suite_section *section = &suite->sections[i];
    section->settings = eb_settings_over(common, section->settings);
    EB_TRY(eb_error_prefix(eb_dependencies_finish(&section->dependencies), "%s: [%s]", name,
                           section->label));
    if (section->scenes.count > 0)
      EB_TRY(eb_error_prefix(check_label(section->label), "%s", name));
    else
      EB_TRY(eb_strings_add(&section->scenes, section->label));
  }
  return EB_OK;
}

eb_error eb_suite_parse(const char *name, const char *text, eb_suite **out) {
  eb_sections sections;
  *out = NULL;
  eb_suite *suite;
  EB_TRY(EB_NEW(suite, 1));
  eb_error error = eb_sections_parse(name, text, EB_SECTIONS_OF_SUITE, &sections);
  if (!error) error = read_suite(name, &sections, suite);
  eb_sections_clear(&sections);
  if (error)
    eb_suite_destroy(suite);
  else
    *out = suite;
  return error;
}

void eb_suite_clear(eb_suite *suite) {
  for (int i = 0; i < suite->count; i++) {
    eb_suite_section *section = &suite->sections[i];
    free(section->label);
    eb_strings_clear(&section->scenes);
    eb_strings_clear(&section->solvers);
    eb_dependencies_clear(&section->dependencies);
  }
  free(suite->sections);
  free(suite->name);
  free(suite->summary);
  *suite = (eb_suite){0};
}

void eb_suite_destroy(eb_suite *suite) {
  if (suite) eb_suite_clear(suite);
  free(suite);
}

/* ---- finding --------------------------------------------------------------------------------- */

static const char prefix[] = "suites/", suffix[] = ".ini";

static bool ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length > size && strcmp(text + length - size, ending) == 0;
}

eb_error eb_suite_names(eb_strings *out) {
  size_t skip = strlen(prefix), cut = strlen(suffix);
  for (const eb_embedded *file = eb_embedded_files; file->name; file++)
    if (strncmp(file->name, prefix, skip) == 0 && ends_in(file->name, suffix))
      EB_TRY(eb_strings_add_part(out, file->name + skip, strlen(file->name) - skip - cut));
  return EB_OK;
}

/* The text of a built-in suite or of a file. */
static eb_error load_text(const char *name_or_path, bool built_in, eb_text *text) {
  eb_embedded embedded;
  char path[200];
  if (built_in) {
    snprintf(path, sizeof path, "%s%s%s", prefix, name_or_path, suffix);
    EB_TRY(eb_embedded_find(path, &embedded));
    return eb_text_append(text, embedded.data, embedded.size);
  }
  EB_TRY(eb_text_read(name_or_path, "suite", text));
  return text->length ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "'%s' is not a text file", name_or_path);
}

/* Whether a line of the text is [scene], or begins a body. */
static bool has_scene(const char *text) {
  static const char scene[] = "[scene]", body[] = "[body ";
  for (const char *at = text; at; at = strchr(at, '\n')) {
    at += strspn(at, "\n \t");
    if (strncmp(at, scene, strlen(scene)) == 0 || strncmp(at, body, strlen(body)) == 0) return true;
  }
  return false;
}

static bool is_scene_file(const char *path) {
  eb_text text = {0};
  if (!eb_scene_file_named(path)) return false;
  eb_error error = eb_text_read(path, "suite", &text);
  bool found = !error && text.data && has_scene(text.data);
  eb_error_free(error);
  eb_text_clear(&text);
  return found;
}

eb_error eb_suite_is(const char *name, bool *out) {
  eb_strings names = {0};
  eb_error error = eb_suite_names(&names);
  *out = ends_in(name, suffix) && !is_scene_file(name);
  for (int i = 0; i < names.count; i++) *out = *out || strcmp(names.items[i], name) == 0;
  eb_strings_clear(&names);
  return error;
}

/* A scene's file that is named by a path of its own folder is looked for beside the suite's file,
 * and if there is none there, it stays as it is: in the working folder. */
static eb_error place_scene(const char *suite, char **spec) {
  const char *slash = strrchr(suite, '/');
  char *name = NULL, *assignments = NULL, *path = NULL;
  EB_TRY(eb_split_scene(*spec, &name, &assignments));
  eb_error error = EB_OK;
  if (slash && *name != '/' && eb_scene_file_named(name)) {
    error = eb_string_format(&path, "%.*s%s", (int)(slash + 1 - suite), suite, name);
    if (!error && access(path, F_OK) == 0)
      error = eb_string_format(spec, "%s%s%s", path, assignments ? ":" : "",
                               assignments ? assignments : "");
  }
  free(path);
  free(name);
  free(assignments);
  return error;
}

static eb_error place_scenes(const char *path, eb_suite *suite) {
  for (int s = 0; s < suite->count; s++)
    for (int i = 0; i < suite->sections[s].scenes.count; i++)
      EB_TRY(place_scene(path, &suite->sections[s].scenes.items[i]));
  return EB_OK;
}

static eb_error load_file(const char *path, const eb_text *text, eb_suite **out) {
  EB_TRY(eb_suite_parse(path, text->data, out));
  (*out)->foreign = true;
  eb_error error = place_scenes(path, *out);
  if (!error) return EB_OK;
  eb_suite_destroy(*out);
  *out = NULL;
  return error;
}

eb_error eb_suite_load(const char *name_or_path, eb_suite **out) {
  bool known, is_file = ends_in(name_or_path, suffix);
  eb_strings names = {0};
  eb_text text = {0};
  *out = NULL;
  EB_TRY(eb_suite_is(name_or_path, &known));
  if (!known && is_file)
    return EB_ERROR(EB_ERR_USAGE,
                    "'%s' is a scene's file, which has sections [scene] and [body ..]; a suite is "
                    "asked for",
                    name_or_path);
  if (!known) {
    eb_error error = eb_suite_names(&names);
    if (!error) error = eb_unknown_name("suite", name_or_path, &names);
    eb_strings_clear(&names);
    return error;
  }
  eb_error error = load_text(name_or_path, !is_file, &text);
  if (!error)
    error = is_file ? load_file(name_or_path, &text, out)
                    : eb_suite_parse(name_or_path, text.data, out);
  eb_text_clear(&text);
  return error;
}
