#include "harness/reproduce/sections.h"

#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/option.h"

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct reader {
  eb_sections *out;
  eb_error error; /* the first; libinih then tells its line */
} reader;

static eb_error copy_text(const char *text, size_t length, char **out) {
  *out = strndup(text, length);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a text of %zu bytes", length);
}

static bool is_section(const eb_section *section, const char *name) {
  size_t kind = strlen(section->kind);
  if (strncmp(name, section->kind, kind) != 0) return false;
  return *section->label ? name[kind] == ' ' && strcmp(name + kind + 1, section->label) == 0
                         : name[kind] == '\0';
}

static eb_error add_section(eb_sections *sections, const char *name) {
  enum { NAME_CUT = 49 }; /* libinih keeps no more of a section's name */
  if (strlen(name) >= NAME_CUT)
    return EB_ERROR(EB_ERR_FORMAT, "the name [%s...] is too long", name);
  size_t count = (size_t)sections->count, kind = strcspn(name, " ");
  eb_section *grown = eb_recalloc(sections->items, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep section [%s]", name);
  sections->items = grown;
  eb_section *section = &grown[sections->count++];
  EB_TRY(copy_text(name, kind, &section->kind));
  name += kind + strspn(name + kind, " ");
  return copy_text(name, strlen(name), &section->label);
}

static eb_error add_entry(eb_section *section, const char *key, const char *value) {
  size_t count = (size_t)section->count;
  eb_entry *grown = eb_recalloc(section->entries, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep '%s'", key);
  section->entries = grown;
  eb_entry *entry = &grown[section->count++];
  EB_TRY(copy_text(key, strlen(key), &entry->key));
  return copy_text(value, strlen(value), &entry->value);
}

static eb_error take(eb_sections *sections, const char *name, const char *key, const char *value) {
  if (!*name) return EB_ERROR(EB_ERR_FORMAT, "'%s' stands before the first [section]", key);
  for (int i = 0; i < sections->count; i++)
    if (is_section(&sections->items[i], name)) return add_entry(&sections->items[i], key, value);
  EB_TRY(add_section(sections, name));
  return add_entry(&sections->items[sections->count - 1], key, value);
}

static int on_value(void *context, const char *section, const char *key, const char *value) {
  reader *r = context;
  if (!r->error) r->error = take(r->out, section, key, value);
  return r->error == EB_OK;
}

eb_error eb_sections_parse(const char *name, const char *text, eb_sections *out) {
  *out = (eb_sections){0};
  reader r = {.out = out};
  int line = ini_parse_string(text, on_value, &r);
  if (r.error) return eb_error_prefix(r.error, "%s:%d", name, line);
  if (line > 0)
    return EB_ERROR(EB_ERR_FORMAT,
                    "%s:%d: this is neither '[section]' nor 'name = value', or longer than 198 "
                    "characters",
                    name, line);
  return line < 0 ? EB_ERROR(EB_ERR_MEMORY, "cannot read '%s'", name) : EB_OK;
}

void eb_sections_clear(eb_sections *sections) {
  for (int i = 0; i < sections->count; i++) {
    eb_section *section = &sections->items[i];
    for (int e = 0; e < section->count; e++) {
      free(section->entries[e].key);
      free(section->entries[e].value);
    }
    free(section->entries);
    free(section->kind);
    free(section->label);
  }
  free(sections->items);
  *sections = (eb_sections){0};
}

/* ---- looking up ------------------------------------------------------------------------------- */

const eb_section *eb_sections_find(const eb_sections *sections, const char *kind,
                                   const char *label) {
  for (int i = 0; i < sections->count; i++)
    if (strcmp(sections->items[i].kind, kind) == 0 && strcmp(sections->items[i].label, label) == 0)
      return &sections->items[i];
  return NULL;
}

const char *eb_section_next(const eb_section *section, const char *key, int *at) {
  while (*at < section->count) {
    const eb_entry *entry = &section->entries[(*at)++];
    if (strcmp(entry->key, key) == 0) return entry->value;
  }
  return NULL;
}

const char *eb_section_value(const eb_section *section, const char *key) {
  const char *value = NULL;
  for (int e = 0; section && e < section->count; e++)
    if (strcmp(section->entries[e].key, key) == 0) value = section->entries[e].value;
  return value;
}

eb_error eb_section_joined(const eb_section *section, const char *key, char **out) {
  eb_text text = {0};
  eb_error error = eb_text_append(&text, "", 0);
  for (int e = 0; section && e < section->count && !error; e++)
    if (strcmp(section->entries[e].key, key) == 0)
      error = eb_text_printf(&text, "%s%s", text.length ? " " : "", section->entries[e].value);
  *out = text.data;
  if (!error) return EB_OK;
  eb_text_clear(&text);
  *out = NULL;
  return error;
}

static bool is_in(const char *word, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i], word) == 0) return true;
  return false;
}

eb_error eb_section_expect(const eb_section *section, const char *const *keys) {
  size_t count = 0;
  while (keys[count]) count++;
  for (int e = 0; e < section->count; e++) {
    const char *key = section->entries[e].key;
    if (is_in(key, keys, count)) continue;
    char list[400];
    const char *near = eb_nearest(key, keys, count);
    eb_text_join(list, sizeof list, keys, count, ", ");
    return EB_ERROR(EB_ERR_FORMAT, "[%s%s%s] has no setting '%s'%s%s%s; there are: %s",
                    section->kind, *section->label ? " " : "", section->label, key,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", list);
  }
  return EB_OK;
}

eb_error eb_words(const char *text, const char *separators, eb_strings *out) {
  while (*(text += strspn(text, separators))) {
    size_t length = strcspn(text, separators);
    EB_TRY(eb_strings_add_part(out, text, length));
    text += length;
  }
  return EB_OK;
}
