#include "harness/reproduce/sections.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/option.h"

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

void eb_section_clear(eb_section *section) {
  for (int e = 0; e < section->count; e++) {
    free(section->entries[e].key);
    free(section->entries[e].value);
  }
  free(section->entries);
  free(section->kind);
  free(section->label);
  free(section->text);
  *section = (eb_section){0};
}

/* Takes the section, also when it fails. */
static eb_error add_section(eb_sections *sections, eb_section *section) {
  eb_error error = eb_append(&sections->items, &sections->count, sizeof *sections->items);
  if (error)
    eb_section_clear(section);
  else
    sections->items[sections->count - 1] = *section;
  return error;
}

/* The section of "KIND", "KIND LABEL" or "KIND LABEL | TEXT"; made when there is none yet. */
static eb_error open_section(eb_sections *sections, const char *head, size_t length, int line,
                             int *out) {
  eb_section section = {.line = line, .path = sections->path};
  char *own, *name = NULL;
  EB_TRY(eb_copy_part(head, length, &own));
  const char *rest = own;
  eb_error error = eb_part_next(&rest, &name);
  if (!error) {
    size_t kind = strcspn(name, " ");
    error = eb_copy_part(name, kind, &section.kind);
    if (!error) error = eb_copy(name + kind + strspn(name + kind, " "), &section.label);
    if (!error) error = eb_copy(rest ? rest + strspn(rest, " ") : "", &section.text);
  }
  free(name);
  free(own);
  for (*out = 0; !error && *out < sections->count; ++*out) {
    const eb_section *s = &sections->items[*out];
    if (strcmp(s->kind, section.kind) == 0 && strcmp(s->label, section.label) == 0) break;
  }
  if (!error && *out == sections->count) return add_section(sections, &section);
  eb_section_clear(&section);
  return error;
}

static eb_error add_entry(eb_section *section, const char *key, size_t key_length,
                          const char *value, size_t length, int line) {
  EB_TRY(eb_append(&section->entries, &section->count, sizeof *section->entries));
  eb_entry *entry = &section->entries[section->count - 1];
  entry->line = line;
  EB_TRY(eb_copy_part(key, key_length, &entry->key));
  return eb_copy_part(value, length, &entry->value);
}

/* The length of a line without its comment and the blanks before it. */
static size_t content_of(const char *line, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (line[i] == ';' && (i == 0 || is_blank(line[i - 1]))) length = i;
  while (length > 0 && is_blank(line[length - 1])) length--;
  return length;
}

/* One line without its comment; one with blanks before it goes on with the last entry. *at is the
 * section that it belongs to, -1 before the first. */
static eb_error take(eb_sections *sections, const char *line, size_t length, int number, int *at) {
  size_t blanks = 0;
  while (blanks < length && is_blank(line[blanks])) blanks++;
  if (blanks == length || line[0] == '#') return EB_OK;
  eb_section *section = *at < 0 ? NULL : &sections->items[*at];
  if (blanks > 0 && section && section->count > 0) {
    eb_entry *last = &section->entries[section->count - 1];
    eb_text longer = {0};
    eb_error error = eb_text_printf(&longer, "%s%s%.*s", last->value, *last->value ? " " : "",
                                    (int)(length - blanks), line + blanks);
    if (error) return error;
    free(last->value);
    last->value = longer.data;
    return EB_OK;
  }
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

eb_error eb_section_locate(const eb_section *section, const eb_entry *entry, eb_error error) {
  return eb_error_prefix(error, "%s:%d: [%s%s%s]%s%s", section->path,
                         entry ? entry->line : section->line, section->kind,
                         *section->label ? " " : "", section->label, entry ? " " : "",
                         entry ? entry->key : "");
}

void eb_sections_clear(eb_sections *sections) {
  for (int i = 0; i < sections->count; i++) eb_section_clear(&sections->items[i]);
  free(sections->items);
  free(sections->path);
  *sections = (eb_sections){0};
}

/* ---- looking up ----------------------------------------------------------------------------- */

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

/* All values of a key joined by spaces; "" when there are none. */
static eb_error join_values(const eb_section *section, const char *key, char **out) {
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

eb_error eb_section_read(const eb_section *section, const eb_key *keys, void *out) {
  const char *names[24];
  size_t count = 0;
  for (; keys[count].name; count++) names[count] = keys[count].name;
  for (int e = 0; section && e < section->count; e++) {
    const char *key = section->entries[e].key;
    if (eb_find(names, (int)count, sizeof *names, key, strlen(key)) >= 0) continue;
    return eb_unknown(EB_ERR_FORMAT, key, names, count, "[%s%s%s] has no setting", section->kind,
                      *section->label ? " " : "", section->label);
  }
  for (const eb_key *key = keys; key->name; key++) {
    void *at = (char *)out + key->offset;
    const char *last = eb_section_value(section, key->name);
    if (!last) last = key->fallback;
    if (key->type == EB_KEY_JOINED) EB_TRY(join_values(section, key->name, at));
    if (key->type == EB_KEY_LAST) memcpy(at, &last, sizeof last);
  }
  return EB_OK;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* The scope holds the words that the loops' variables stand for. */
typedef eb_error (*turn)(void *context, const eb_scope *words);

/* Where the loops of a text begin, or NULL: "for A in ..", outside parentheses, with no '|'
 * behind. */
static const char *find_loops(const char *text) {
  int depth = 0;
  for (const char *at = text; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth != 0 || strncmp(at, " for ", 5) != 0 || strchr(at, '|')) continue;
    for (const char *in = at; (in = strstr(in, " in")); in++)
      if (in[3] == ' ' || !in[3]) return at + 1;
  }
  return NULL;
}

/* A copy of the first bytes of a text with words in the place of variables. */
static eb_error put_words(const char *text, size_t length, const eb_scope *words, char **out) {
  eb_text put = {0};
  eb_error error = eb_scope_put(words, text, length, false, &put);
  if (error) eb_text_clear(&put);
  *out = put.data;
  return error;
}

static eb_error run_loops(const char *loops, const eb_scope *outer, turn visit, void *context);

/* Binds the variables from `v` on to words from `first` on, then runs the loops that follow. */
static eb_error bind(const eb_strings *list, int v, int variables, int first, const char *next,
                     const eb_scope *outer, turn visit, void *context) {
  const eb_scope one = {list->items[v], list->items[first + v], outer};
  return v + 1 < variables ? bind(list, v + 1, variables, first, next, &one, visit, context)
         : next            ? run_loops(next, &one, visit, context)
                           : visit(context, &one);
}

/* `list` holds variables, "in" and words. */
static eb_error run_loop(const eb_strings *list, const char *next, const eb_scope *outer,
                         turn visit, void *context) {
  int variables = 0;
  while (variables < list->count && strcmp(list->items[variables], "in") != 0) variables++;
  int words = list->count - variables - 1;
  if (variables == 0 || words <= 0 || words % variables != 0)
    return EB_ERROR(EB_ERR_FORMAT,
                    "a loop is 'for VARIABLE in WORDS', or 'for A B in WORDS' with words for both");
  for (int first = variables + 1; first < list->count; first += variables)
    EB_TRY(bind(list, 0, variables, first, next, outer, visit, context));
  return EB_OK;
}

static eb_error run_loops(const char *loops, const eb_scope *outer, turn visit, void *context) {
  const char *next = find_loops(loops);
  char *own;
  eb_strings list = {0};
  size_t skip = strlen("for "), length = next ? (size_t)(next - loops) : strlen(loops);
  EB_TRY(put_words(loops + skip, length - skip, outer, &own));
  eb_error error = eb_words(own, " \t", &list);
  if (!error) error = run_loop(&list, next, outer, visit, context);
  eb_strings_clear(&list);
  free(own);
  return error;
}

enum { MOST = 10000 };
static eb_error count_turn(int *count) {
  return ++*count > MOST ? EB_ERROR(EB_ERR_FORMAT, "its loops have more than %d turns", MOST)
                         : EB_OK;
}

/* ---- entries with loops --------------------------------------------------------------------- */

typedef struct unrolling {
  const eb_entry *entry;
  size_t length; /* of its value without the loops */
  eb_entry_visit visit;
  void *context;
  int count;
} unrolling;

static eb_error copy_entry(const eb_entry *from, size_t length, const eb_scope *words,
                           eb_entry *to) {
  to->line = from->line;
  EB_TRY(put_words(from->key, strlen(from->key), words, &to->key));
  return put_words(from->value, length, words, &to->value);
}

static eb_error visit_entry(void *context, const eb_scope *words) {
  unrolling *u = context;
  eb_entry one = {0};
  eb_error error = count_turn(&u->count);
  if (!error) error = copy_entry(u->entry, u->length, words, &one);
  if (!error) error = u->visit(u->context, &one);
  free(one.key);
  free(one.value);
  return error;
}

eb_error eb_entry_unroll(const eb_entry *entry, eb_entry_visit visit, void *context) {
  const char *loops = find_loops(entry->value);
  if (!loops) return visit(context, entry);
  unrolling u = {entry, (size_t)(loops - entry->value - 1), visit, context, 0};
  return run_loops(loops, NULL, visit_entry, &u);
}

static eb_error keep_entry(void *context, const eb_entry *entry) {
  return add_entry(context, entry->key, strlen(entry->key), entry->value, strlen(entry->value),
                   entry->line);
}

eb_error eb_section_unroll(const eb_section *section, eb_section *out) {
  *out = (eb_section){0};
  for (int e = 0; section && e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    EB_TRY(eb_section_locate(section, entry, eb_entry_unroll(entry, keep_entry, out)));
  }
  return EB_OK;
}

/* ---- sections with loops -------------------------------------------------------------------- */

typedef struct spreading {
  const eb_section *section;
  size_t length; /* of its label without the loops */
  eb_sections *out;
  int count;
} spreading;

static eb_error copy_section(const eb_section *from, size_t length, const eb_scope *words,
                             eb_section *to) {
  *to = (eb_section){.line = from->line, .path = from->path};
  EB_TRY(eb_copy(from->kind, &to->kind));
  EB_TRY(put_words(from->label, length, words, &to->label));
  EB_TRY(put_words(from->text, strlen(from->text), words, &to->text));
  EB_TRY(EB_NEW(to->entries, from->count));
  for (int e = 0; e < from->count; e++) {
    to->count = e + 1;
    EB_TRY(copy_entry(&from->entries[e], strlen(from->entries[e].value), words, &to->entries[e]));
  }
  return EB_OK;
}

static eb_error visit_section(void *context, const eb_scope *words) {
  spreading *s = context;
  eb_section section = {0};
  EB_TRY(count_turn(&s->count));
  eb_error error = copy_section(s->section, s->length, words, &section);
  if (!error) return add_section(s->out, &section);
  eb_section_clear(&section);
  return error;
}

/* Sections with loops in their label, each in the place of the one. */
static eb_error spread(eb_sections *sections) {
  eb_sections all = *sections;
  sections->items = NULL;
  sections->count = 0;
  eb_error error = EB_OK;
  for (int i = 0; i < all.count && !error; i++) {
    const eb_section *section = &all.items[i];
    const char *loops = find_loops(section->label);
    spreading s = {section, strlen(section->label), sections, 0};
    if (loops) s.length = (size_t)(loops - section->label - 1);
    error = loops ? run_loops(loops, NULL, visit_section, &s) : visit_section(&s, NULL);
    error = eb_section_locate(section, NULL, error);
  }
  all.path = NULL;
  eb_sections_clear(&all);
  return error;
}

eb_error eb_sections_parse(const char *name, const char *text, eb_sections *out) {
  int number = 0, at = -1;
  *out = (eb_sections){0};
  EB_TRY(eb_copy(name, &out->path));
  while (*text) {
    size_t length = strcspn(text, "\n");
    eb_error error = take(out, text, content_of(text, length), ++number, &at);
    EB_TRY(eb_error_prefix(error, "%s:%d", name, number));
    text += length + (text[length] == '\n');
  }
  return spread(out);
}
