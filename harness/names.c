#include "harness/names.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "problems/scene_impl.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/notation/words.h"

eb_error eb_solver_names(const eb_plugins *plugins, eb_strings *out) {
  for (const eb_solver_ops *const *ops = eb_solvers(); *ops; ops++)
    EB_TRY(eb_strings_add(out, (*ops)->name));
  for (int i = 0; plugins && i < plugins->count; i++)
    EB_TRY(eb_strings_add(out, plugins->items[i].solver->name));
  return EB_OK;
}

eb_error eb_scene_names(eb_strings *out) {
  for (const eb_scene_ops *const *ops = eb_scenes(); *ops; ops++)
    EB_TRY(eb_strings_add(out, (*ops)->name));
  return EB_OK;
}

eb_error eb_unknown_name(const char *kind, const char *name, const eb_strings *valid) {
  return eb_unknown(EB_ERR_USAGE, name, (const char *const *)valid->items, (size_t)valid->count,
                    "there is no %s", kind);
}

eb_error eb_unknown_entry(const char *kind, const char *name, const void *items, int count,
                          size_t size) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < count && !error; i++) {
    const char *own;
    memcpy(&own, (const char *)items + (size_t)i * size, sizeof own);
    error = eb_strings_add(&names, own);
  }
  if (!error) error = eb_unknown_name(kind, name, &names);
  eb_strings_clear(&names);
  return error;
}

static const char scene_file[] = ".ini";
enum { ENDING = sizeof scene_file - 1 };

bool eb_same_scene(const eb_scene_ops *a, const eb_scene_ops *b) {
  if (a == b) return true;
  if (strcmp(a->name, b->name) != 0 || !a->source != !b->source) return false;
  return !a->source || eb_digest_same(a->source->digest, b->source->digest);
}

const char *eb_scene_path(const eb_scene_ops *scene) {
  return scene->source ? scene->source->path : NULL;
}

const char *eb_scene_given(const eb_scene_ops *scene) {
  return eb_scene_path(scene) ? eb_scene_path(scene) : scene->name;
}

/* Into what is before the colon, which may be NULL, and what is behind it. */
static eb_error split_at(const char *spec, const char *colon, char **name, char **assignments) {
  *assignments = NULL;
  *name = colon ? strndup(spec, (size_t)(colon - spec)) : strdup(spec);
  if (*name && colon) *assignments = strdup(colon + 1);
  if (*name && (!colon || *assignments)) return EB_OK;
  free(*name);
  *name = NULL;
  return EB_ERROR(EB_ERR_MEMORY, "cannot read '%s'", spec);
}

eb_error eb_split_spec(const char *spec, char **name, char **assignments) {
  return split_at(spec, strchr(spec, ':'), name, assignments);
}

eb_error eb_split_scene(const char *spec, char **name, char **assignments) {
  for (const char *at = spec; (at = strstr(at, scene_file)); at += ENDING)
    if (!at[ENDING] || at[ENDING] == ':')
      return split_at(spec, at[ENDING] ? at + ENDING : NULL, name, assignments);
  return eb_split_spec(spec, name, assignments);
}

eb_error eb_open_scene(const char *name, const eb_plugins *plugins, const eb_scene_ops **out) {
  const eb_plugged_list materials = eb_plugins_materials(plugins);
  return eb_scene_open(name, &materials, out);
}

eb_error eb_open_scene_spec(const char *spec, const eb_plugins *plugins, const eb_scene_ops **out,
                            char **assignments) {
  char *name;
  *out = NULL;
  EB_TRY(eb_split_scene(spec, &name, assignments));
  eb_error error = eb_open_scene(name, plugins, out);
  free(name);
  if (!error) return EB_OK;
  free(*assignments);
  *assignments = NULL;
  return error;
}

size_t eb_assigned_value(const char *assignments, const char *name, size_t length,
                         const char **value) {
  for (const char *at = assignments; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (strncmp(at, name, length) == 0 && at[length] == '=') {
      *value = at + length + 1;
      return strcspn(*value, ",");
    }
  *value = "";
  return 0;
}

eb_error eb_parse_whole(const char *what, const char *text, int64_t min, int64_t max,
                        int64_t *out) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno)
    return EB_ERROR(EB_ERR_USAGE, "%s wants a whole number, not '%s'", what, text);
  if (value < min || value > max)
    return EB_ERROR(EB_ERR_USAGE, "%s = %lld is outside %lld to %lld", what, value, (long long)min,
                    (long long)max);
  *out = value;
  return EB_OK;
}

eb_error eb_parse_real(const char *what, const char *text, double min, double max, double *out) {
  char *end = NULL;
  double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value))
    return EB_ERROR(EB_ERR_USAGE, "%s wants a number, not '%s'", what, text);
  if (value < min || value > max)
    return EB_ERROR(EB_ERR_USAGE, "%s = %g is outside %g to %g", what, value, min, max);
  *out = value;
  return EB_OK;
}

eb_error eb_scene_spec_over(const char *spec, const char *parameters, char **out) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  EB_OWNED(eb_strings_clear) eb_strings own = {0}, given = {0};
  EB_FREED char *name = NULL, *assignments = NULL;
  EB_TRY(eb_split_scene(spec, &name, &assignments));
  if (assignments) EB_TRY(eb_words(assignments, ",", &own));
  EB_TRY(eb_words(parameters, ",", &given));
  EB_TRY(eb_text_printf(&text, "%s", name));
  char separator = ':';
  for (int a = 0; a < own.count + given.count; a++) {
    const char *one = a < own.count ? own.items[a] : given.items[a - own.count];
    bool replaced = false;
    for (int g = 0; g < given.count && a < own.count; g++)
      replaced = replaced || strncmp(given.items[g], one, strcspn(one, "=") + 1) == 0;
    if (replaced) continue;
    EB_TRY(eb_text_printf(&text, "%c%s", separator, one));
    separator = ',';
  }
  return eb_string_set(out, text.data);
}
