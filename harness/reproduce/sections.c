#include "harness/reproduce/sections.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/option.h"

/* ---- reading ---------------------------------------------------------------------------------- */

static eb_error copy_text(const char *text, size_t length, char **out) {
  *out = strndup(text, length);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a text of %zu bytes", length);
}

/* The section of that name; made when there is none yet. */
static eb_error open_section(eb_sections *sections, const char *name, size_t length, int line,
                             int *out) {
  size_t kind = strcspn(name, " ]"), skip, count = (size_t)sections->count;
  if (kind > length) kind = length;
  skip = kind + strspn(name + kind, " ");
  const char *label = name + (skip < length ? skip : length);
  size_t rest = length - (size_t)(label - name);
  for (*out = 0; *out < sections->count; ++*out) {
    const eb_section *s = &sections->items[*out];
    if (strlen(s->kind) == kind && strncmp(s->kind, name, kind) == 0 && strlen(s->label) == rest &&
        strncmp(s->label, label, rest) == 0)
      return EB_OK;
  }
  eb_section *grown = eb_recalloc(sections->items, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep section [%.*s]", (int)length, name);
  sections->items = grown;
  eb_section *section = &grown[sections->count++];
  section->line = line;
  section->path = sections->path;
  EB_TRY(copy_text(name, kind, &section->kind));
  return copy_text(label, rest, &section->label);
}

static eb_error add_entry(eb_section *section, const char *key, size_t key_length,
                          const char *value, size_t length, int line) {
  size_t count = (size_t)section->count;
  eb_entry *grown = eb_recalloc(section->entries, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep '%.*s'", (int)key_length, key);
  section->entries = grown;
  eb_entry *entry = &grown[section->count++];
  entry->line = line;
  EB_TRY(copy_text(key, key_length, &entry->key));
  return copy_text(value, length, &entry->value);
}

/* The last entry goes on. */
static eb_error extend(eb_section *section, const char *text, size_t length) {
  eb_entry *entry = &section->entries[section->count - 1];
  size_t had = strlen(entry->value);
  char *grown = eb_recalloc(entry->value, had, had + length + 2, 1);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep '%s'", entry->key);
  grown[had] = ' ';
  memcpy(grown + had + (had > 0), text, length);
  grown[had + (had > 0) + length] = '\0';
  entry->value = grown;
  return EB_OK;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* The length of a line without its comment and the blanks before it. */
static size_t content_of(const char *line, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (line[i] == ';' && (i == 0 || is_blank(line[i - 1]))) length = i;
  while (length > 0 && is_blank(line[length - 1])) length--;
  return length;
}

/* One line without its comment; *at is the section that it belongs to, -1 before the first. */
static eb_error take(eb_sections *sections, const char *line, size_t length, int number, int *at) {
  size_t blanks = 0;
  while (blanks < length && is_blank(line[blanks])) blanks++;
  if (blanks == length || line[0] == '#') return EB_OK;
  eb_section *section = *at < 0 ? NULL : &sections->items[*at];
  if (blanks > 0 && section && section->count > 0)
    return extend(section, line + blanks, length - blanks);
  if (line[0] == '[' && line[length - 1] == ']')
    return open_section(sections, line + 1, length - 2, number, at);
  const char *equals = memchr(line, '=', length);
  if (!equals || equals == line + blanks)
    return EB_ERROR(EB_ERR_FORMAT, "this is neither '[section]' nor 'name = value'");
  size_t key = (size_t)(equals - line), value = key + 1;
  while (key > blanks && is_blank(line[key - 1])) key--;
  while (value < length && is_blank(line[value])) value++;
  if (!section)
    return EB_ERROR(EB_ERR_FORMAT, "'%.*s' stands before the first [section]", (int)(key - blanks),
                    line + blanks);
  return add_entry(section, line + blanks, key - blanks, line + value, length - value, number);
}

eb_error eb_sections_parse(const char *name, const char *text, eb_sections *out) {
  int number = 0, at = -1;
  *out = (eb_sections){0};
  EB_TRY(copy_text(name, strlen(name), &out->path));
  while (*text) {
    size_t length = strcspn(text, "\n");
    eb_error error = take(out, text, content_of(text, length), ++number, &at);
    EB_TRY(eb_error_prefix(error, "%s:%d", name, number));
    text += length + (text[length] == '\n');
  }
  return EB_OK;
}

eb_error eb_section_locate(const eb_section *section, const eb_entry *entry, eb_error error) {
  return eb_error_prefix(error, "%s:%d: [%s%s%s]%s%s", section->path,
                         entry ? entry->line : section->line, section->kind,
                         *section->label ? " " : "", section->label, entry ? " " : "",
                         entry ? entry->key : "");
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
  free(sections->path);
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
