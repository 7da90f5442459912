#include "problems/notation/sections.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "problems/notation/untrusted.h"
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
  eb_error error = EB_APPEND(sections->items, sections->count);
  if (error)
    eb_section_clear(section);
  else
    sections->items[sections->count - 1] = *section;
  return error;
}

/* "KIND", "KIND LABEL" or "KIND LABEL | TEXT" of a paper. */
static eb_error read_head(const char *head, eb_section *out) {
  char *name;
  EB_TRY(eb_part_next(&head, &name));
  size_t kind = strcspn(name, " ");
  eb_error error = eb_copy_part(name, kind, &out->kind);
  if (!error) error = eb_copy(name + kind + strspn(name + kind, " "), &out->label);
  if (!error) error = eb_copy(head ? head + strspn(head, " ") : "", &out->text);
  free(name);
  return error;
}

static eb_error read_label(const char *head, eb_section *out) {
  EB_TRY(eb_copy("", &out->kind));
  EB_TRY(eb_copy(head, &out->label));
  return eb_copy("", &out->text);
}

/* The section of that head; made when there is none yet. */
static eb_error open_section(eb_sections *sections, const char *head, size_t length, int line,
                             int *out) {
  eb_section section = {.line = line, .path = sections->path, .asked = sections->asked};
  char *whole;
  EB_TRY(eb_copy_part(head, length, &whole));
  eb_error error = sections->of == EB_SECTIONS_OF_PAPER ? read_head(whole, &section)
                                                        : read_label(whole, &section);
  free(whole);
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
  EB_TRY(EB_APPEND(section->entries, section->count));
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

/* A line that goes on with an entry: it is joined to a paper's, and a suite's key has it apart. */
static eb_error go_on(const eb_sections *sections, eb_section *section, const char *line,
                      size_t length, int number) {
  enum { LONGEST = 1 << 16 };
  eb_entry *last = &section->entries[section->count - 1];
  eb_text longer = {0};
  if (sections->of == EB_SECTIONS_OF_SUITE)
    return add_entry(section, last->key, strlen(last->key), line, length, number);
  if (strlen(last->value) > LONGEST)
    return EB_ERROR(EB_ERR_FORMAT, "'%s' has more than %d characters", last->key, LONGEST);
  EB_TRY(
      eb_text_printf(&longer, "%s%s%.*s", last->value, *last->value ? " " : "", (int)length, line));
  free(last->value);
  last->value = longer.data;
  return EB_OK;
}

/* One line without its comment; one with blanks before it goes on with the last entry. *at is the
 * section that it belongs to, -1 before the first. */
static eb_error take(eb_sections *sections, const char *line, size_t length, int number, int *at) {
  size_t blanks = 0;
  while (blanks < length && is_blank(line[blanks])) blanks++;
  if (blanks == length || line[blanks] == '#') return EB_OK;
  eb_section *section = *at < 0 ? NULL : &sections->items[*at];
  if (blanks > 0 && section && section->count > 0)
    return go_on(sections, section, line + blanks, length - blanks, number);
  if (line[blanks] == '[' && line[length - 1] == ']')
    return open_section(sections, line + blanks + 1, length - blanks - 2, number, at);
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
  size_t length = strlen(section->path);
  const char *message = error ? eb_error_message(error) : "";
  if (strncmp(message, section->path, length) == 0 && message[length] == ':') return error;
  return eb_error_prefix(error, "%s:%d: [%s%s%s]%s%s", section->path,
                         entry ? entry->line : section->line, section->kind,
                         *section->kind && *section->label ? " " : "", section->label,
                         entry ? " " : "", entry ? entry->key : "");
}

void eb_sections_clear(eb_sections *sections) {
  for (int i = 0; i < sections->count; i++) eb_section_clear(&sections->items[i]);
  free(sections->items);
  free(sections->path);
  free(sections->asked);
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

const eb_entry *eb_section_entry(const eb_section *section, const char *key) {
  const eb_entry *last = NULL;
  for (int e = 0; section && e < section->count; e++)
    if (strcmp(section->entries[e].key, key) == 0) last = &section->entries[e];
  return last;
}

const char *eb_section_value(const eb_section *section, const char *key) {
  const eb_entry *entry = eb_section_entry(section, key);
  return entry ? entry->value : NULL;
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

static const eb_key *find_key(const eb_key *keys, const char *name) {
  for (; keys->name; keys++)
    if (strcmp(keys->name, name) == 0) return keys;
  return NULL;
}

static eb_error unknown_key(const eb_key *keys, const char *name) {
  const char *names[40];
  size_t count = 0;
  for (; keys[count].name; count++) names[count] = keys[count].name;
  return eb_unknown(EB_ERR_FORMAT, name, names, count, "there is no setting");
}

eb_error eb_section_read(const eb_section *section, const eb_key *keys, void *out) {
  for (int e = 0; section && e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    if (!find_key(keys, entry->key))
      return eb_section_locate(section, entry, unknown_key(keys, entry->key));
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

typedef struct entry_reading {
  const eb_key *key;
  void *context;
} entry_reading;

static eb_error read_entry(void *context, const eb_entry *entry) {
  const entry_reading *r = context;
  return r->key->read(r->context, r->key, entry);
}

eb_error eb_section_each(const eb_section *section, const eb_key *keys, void *context) {
  for (int e = 0; section && e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    entry_reading r = {find_key(keys, entry->key), context};
    if (!r.key || !r.key->read) continue;
    EB_TRY(eb_section_locate(section, entry,
                             r.key->loops ? eb_entry_unroll(section, entry, read_entry, &r)
                                          : read_entry(&r, entry)));
  }
  return EB_OK;
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* The scope holds the words that the loops' variables stand for. */
typedef eb_error (*turn)(void *context, const eb_scope *words);

/* The loops of a text, the first the slowest, in each other. */
enum { MOST_LOOPS = 8, MOST_VARIABLES = 8 };
typedef struct nest {
  struct loop {
    eb_strings list; /* variables, "in" and words */
    int variables;
  } loops[MOST_LOOPS];
  int count;
  double turns;
  turn visit;
  void *context;
} nest;

/* Where the loops of a text begin, or NULL: "for A in ..", outside parentheses, with no '|'
 * behind. */
static const char *find_loops(const char *text) {
  const char *bar = strrchr(text, '|'), *last = NULL; /* "in" */
  int depth = 0;
  for (const char *in = text; (in = strstr(in, " in")); in++)
    if (in[3] == ' ' || !in[3]) last = in;
  for (const char *at = text; last && at < last; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0 && (!bar || at > bar) && strncmp(at, " for ", 5) == 0) return at + 1;
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

static eb_error read_loop(const char *text, size_t length, nest *out) {
  char *own;
  if (out->count == MOST_LOOPS)
    return EB_ERROR(EB_ERR_FORMAT, "there are more than %d loops in each other", MOST_LOOPS);
  struct loop *loop = &out->loops[out->count++];
  EB_TRY(eb_copy_part(text, length, &own));
  eb_error error = eb_words(own, " \t", &loop->list);
  free(own);
  EB_TRY(error);
  int count = loop->list.count, variables = 0;
  while (variables < count && strcmp(loop->list.items[variables], "in") != 0) variables++;
  int words = count - variables - 1;
  if (variables == 0 || variables > MOST_VARIABLES || words <= 0 || words % variables != 0)
    return EB_ERROR(EB_ERR_FORMAT,
                    "a loop is 'for VARIABLE in WORDS', or 'for A B in WORDS' with words for both");
  loop->variables = variables;
  out->turns *= words / variables;
  return EB_OK;
}

static eb_error read_loops(const char *text, nest *out) {
  static const char begin[] = "for ";
  *out = (nest){.turns = 1};
  for (const char *next; text; text = next) {
    text += strlen(begin);
    next = find_loops(text);
    EB_TRY(read_loop(text, next ? (size_t)(next - text) : strlen(text), out));
  }
  return EB_OK;
}

static void clear_loops(nest *n) {
  for (int l = 0; l < n->count; l++) eb_strings_clear(&n->loops[l].list);
}

static eb_error run_loops(const nest *n, int l, const eb_scope *outer);

/* Binds the variables of a loop from `v` on to words from `first` on, in which those of the loops
 * around it are replaced, then runs the loops that follow. */
static eb_error bind(const nest *n, int l, int v, int first, const eb_scope *outer,
                     const eb_scope *bound) {
  const struct loop *loop = &n->loops[l];
  char *word;
  if (v == loop->variables) return run_loops(n, l + 1, bound);
  const char *written = loop->list.items[first + v];
  EB_TRY(put_words(written, strlen(written), outer, &word));
  const eb_scope one = {loop->list.items[v], word, bound};
  eb_error error = bind(n, l, v + 1, first, outer, &one);
  free(word);
  return error;
}

static eb_error run_loops(const nest *n, int l, const eb_scope *outer) {
  if (l == n->count) return n->visit(n->context, outer);
  const struct loop *loop = &n->loops[l];
  for (int first = loop->variables + 1; first < loop->list.count; first += loop->variables)
    EB_TRY(bind(n, l, 0, first, outer, outer));
  return EB_OK;
}

/* Visits every turn of the loops that a text is, each of which asks for so many entries. */
static eb_error unroll(const eb_section *section, const char *loops, int entries, turn visit,
                       void *context) {
  nest n;
  eb_error error = read_loops(loops, &n);
  n.visit = visit;
  n.context = context;
  if (!error) error = eb_ask(section->asked, n.turns * entries, "turns of loops");
  if (!error) error = run_loops(&n, 0, NULL);
  clear_loops(&n);
  return error;
}

/* ---- entries with loops --------------------------------------------------------------------- */

typedef struct unrolling {
  const eb_entry *entry;
  size_t length; /* of its value without the loops */
  eb_entry_visit visit;
  void *context;
} unrolling;

static eb_error copy_entry(const eb_entry *from, size_t length, const eb_scope *words,
                           eb_entry *to) {
  to->line = from->line;
  EB_TRY(put_words(from->key, strlen(from->key), words, &to->key));
  return put_words(from->value, length, words, &to->value);
}

static eb_error visit_entry(void *context, const eb_scope *words) {
  unrolling *u = context;
  eb_entry one = {.of = u->entry};
  eb_error error = copy_entry(u->entry, u->length, words, &one);
  if (!error) error = u->visit(u->context, &one);
  free(one.key);
  free(one.value);
  return error;
}

eb_error eb_entry_unroll(const eb_section *section, const eb_entry *entry, eb_entry_visit visit,
                         void *context) {
  const char *loops = find_loops(entry->value);
  if (!loops) return visit(context, entry);
  unrolling u = {entry, (size_t)(loops - entry->value - 1), visit, context};
  return unroll(section, loops, 1, visit_entry, &u);
}

static eb_error keep_entry(void *context, const eb_entry *entry) {
  return add_entry(context, entry->key, strlen(entry->key), entry->value, strlen(entry->value),
                   entry->line);
}

eb_error eb_section_unroll(const eb_section *section, eb_section *out) {
  *out = (eb_section){0};
  for (int e = 0; section && e < section->count; e++) {
    const eb_entry *entry = &section->entries[e];
    EB_TRY(eb_section_locate(section, entry, eb_entry_unroll(section, entry, keep_entry, out)));
  }
  return EB_OK;
}

/* ---- sections with loops -------------------------------------------------------------------- */

typedef struct spreading {
  const eb_section *section;
  size_t length; /* of its label without the loops */
  eb_sections *out;
} spreading;

static eb_error copy_section(const eb_section *from, size_t length, const eb_scope *words,
                             eb_section *to) {
  *to = (eb_section){.line = from->line, .path = from->path, .asked = from->asked};
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
  eb_error error = copy_section(s->section, s->length, words, &section);
  if (!error) return add_section(s->out, &section);
  eb_section_clear(&section);
  return error;
}

/* Sections with loops in their label, each in the place of the one. */
static eb_error spread(eb_sections *sections) {
  eb_sections all = *sections;
  all.asked = NULL;
  sections->items = NULL;
  sections->count = 0;
  eb_error error = EB_OK;
  for (int i = 0; i < all.count && !error; i++) {
    const eb_section *section = &all.items[i];
    const char *loops = find_loops(section->label);
    spreading s = {section, strlen(section->label), sections};
    if (loops) s.length = (size_t)(loops - section->label - 1);
    error = loops ? unroll(section, loops, 1 + section->count, visit_section, &s)
                  : visit_section(&s, NULL);
    error = eb_section_locate(section, NULL, error);
  }
  all.path = NULL;
  eb_sections_clear(&all);
  return error;
}

eb_error eb_sections_parse(const char *name, const char *text, eb_sections_of of,
                           eb_sections *out) {
  static const char mark[] = "\xef\xbb\xbf"; /* which some editors begin UTF-8 with */
  int number = 0, at = -1;
  *out = (eb_sections){.of = of};
  if (strncmp(text, mark, strlen(mark)) == 0) text += strlen(mark);
  EB_TRY(eb_copy(name, &out->path));
  EB_TRY(EB_NEW(out->asked, 1));
  while (*text) {
    size_t length = strcspn(text, "\n");
    eb_error error = eb_ask(out->asked, 1, "lines");
    if (!error) error = take(out, text, content_of(text, length), ++number, &at);
    EB_TRY(eb_error_prefix(error, "%s:%d", name, number));
    text += length + (text[length] == '\n');
  }
  return spread(out);
}
