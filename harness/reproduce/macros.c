#include "harness/reproduce/macros.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/notation/untrusted.h"
#include "problems/base/memory.h"

/* How deep and how large an expression may become: names of names of names grow by powers. */
enum { DEEPEST = 200, MOST_NODES = 20000, MOST_PARAMETERS = 8 };

/* What a tree is written out with. */
typedef struct writer {
  const eb_definitions *known;
  const eb_definition *of;         /* whose body it is, or NULL */
  eb_expression *const *arguments; /* of `of`, written out */
  const eb_scope *words;           /* its parameters, as words within names */
  const eb_scope *variables;       /* of the loops around, the innermost first */
  const eb_strings *parameters; /* of a definition that is read: its loops have other variables */
  int depth;
  int *nodes;
} writer;

static eb_error write_out(const writer *w, const eb_expression *e, eb_expression **out);

static const eb_definition *find(const eb_definitions *known, const char *name) {
  int at = eb_find(known->items, known->count, sizeof *known->items, name, strlen(name));
  return at < 0 ? NULL : &known->items[at];
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* The parameter that is all of a name, with or without braces, or -1. */
static int whole_parameter(const eb_definition *of, const char *text) {
  size_t length = strlen(text);
  bool braced = length > 2 && *text == '{' && text[length - 1] == '}';
  return of ? eb_word_find(&of->parameters, text + braced, length - 2 * braced) : -1;
}

/* Whether something holds for a node of a tree. */
static bool any_node(const eb_expression *e,
                     bool (*holds)(const eb_expression *node, const char *word), const char *word) {
  if (!e) return false;
  if (holds(e, word)) return true;
  for (int i = 0; i < e->count; i++)
    if (any_node(e->items[i], holds, word)) return true;
  return any_node(e->from.call, holds, word) || any_node(e->to.call, holds, word);
}

static bool mentions(const eb_expression *e, const char *braced) {
  bool there = e->text && strstr(e->text, braced);
  for (int l = 0; l < e->loop_count; l++)
    for (int word = 0; word < e->loops[l].words.count; word++)
      there = there || strstr(e->loops[l].words.items[word], braced);
  return there;
}

/* A name with words in the place of parameters; variables of loops stand in braces. */
static eb_error put_words(const writer *w, const char *text, char **out) {
  char *replaced;
  eb_text braced = {0};
  EB_TRY(eb_scope_expand(w->words, text, false, &replaced));
  size_t head = strcspn(replaced, ".");
  if (!eb_scope_find(w->variables, replaced, head)) {
    *out = replaced;
    return EB_OK;
  }
  eb_error error = eb_text_printf(&braced, "{%.*s}%s", (int)head, replaced, replaced + head);
  free(replaced);
  *out = braced.data;
  return error;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static eb_error copy_items(const writer *w, const eb_expression *e, int from, int to,
                           eb_expression *out) {
  for (int i = from; i < to; i++) {
    EB_TRY(write_out(w, e->items[i], &out->items[i]));
    out->count = i + 1;
  }
  return EB_OK;
}

/* A loop of a definition must not take a variable of who uses it for its own. */
static eb_error copy_loop(const writer *w, const eb_loop *loop, eb_loop *out) {
  char braced[64];
  EB_TRY(eb_copy(loop->variable, &out->variable));
  snprintf(braced, sizeof braced, "{%s}", loop->variable);
  for (int a = 0; w->of && a < w->of->parameters.count; a++)
    if (any_node(w->arguments[a], mentions, braced))
      return EB_ERROR(EB_ERR_FORMAT,
                      "%s is given %s, and has a loop over a '%s' of its own: one of them wants "
                      "another letter",
                      w->of->name, braced, loop->variable);
  if (w->parameters && eb_word_find(w->parameters, loop->variable, strlen(loop->variable)) >= 0)
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is a parameter already, and cannot be a loop's variable",
                    loop->variable);
  for (int i = 0; i < loop->words.count; i++) {
    char *word;
    EB_TRY(put_words(w, loop->words.items[i], &word));
    eb_error error = eb_strings_add(&out->words, word);
    free(word);
    EB_TRY(error);
  }
  return EB_OK;
}

static eb_error copy_node(const writer *w, const eb_expression *e, eb_expression *out) {
  out->op = e->op;
  out->number = e->number;
  out->looped = e->looped;
  out->from = (eb_window_end){.unit = e->from.unit, .number = e->from.number};
  out->to = (eb_window_end){.unit = e->to.unit, .number = e->to.number};
  EB_TRY(EB_NEW(out->items, e->count));
  if (e->from.call) EB_TRY(write_out(w, e->from.call, &out->from.call));
  if (e->to.call) EB_TRY(write_out(w, e->to.call, &out->to.call));
  if (e->op == EB_OP_NAME) return put_words(w, e->text, &out->text);
  if (e->text) EB_TRY(eb_copy(e->text, &out->text));
  if (e->comparisons) {
    EB_TRY(EB_NEW(out->comparisons, e->count));
    memcpy(out->comparisons, e->comparisons, (size_t)(e->count - 1) * sizeof *e->comparisons);
  }
  /* Words of a loop see the loops before it, and the arguments under `for` see all of them. */
  eb_scope own[EB_MOST_LOOPS];
  writer inner = *w;
  EB_TRY(EB_NEW(out->loops, e->loop_count));
  for (int l = 0; l < e->loop_count; l++) {
    out->loop_count = l + 1;
    EB_TRY(copy_loop(&inner, &e->loops[l], &out->loops[l]));
    own[l] = (eb_scope){e->loops[l].variable, NULL, inner.variables};
    inner.variables = &own[l];
  }
  EB_TRY(copy_items(&inner, e, 0, e->looped, out));
  return copy_items(w, e, e->looped, e->count, out);
}

/* ---- names written out ---------------------------------------------------------------------- */

static bool is_part_of_name(const eb_expression *e, const char *parameter) {
  char braced[64];
  snprintf(braced, sizeof braced, "{%s}", parameter);
  size_t length = strlen(parameter);
  if (e->op != EB_OP_NAME || strcmp(e->text, parameter) == 0 || strcmp(e->text, braced) == 0)
    return false;
  return strstr(e->text, braced) ||
         (strncmp(e->text, parameter, length) == 0 && e->text[length] == '.');
}

/* The body with the arguments, which are written out already, in the place of parameters from
 * `p` on. Within names an argument is a word: a name or a number, "" for a calculation. */
static eb_error bind(writer *inner, int p, const eb_expression *body, eb_expression **out) {
  const eb_definition *of = inner->of;
  if (p == of->parameters.count) return write_out(inner, body, out);
  const eb_expression *argument = inner->arguments[p];
  eb_text word = {0};
  const eb_scope *outer = inner->words;
  EB_TRY(argument->op == EB_OP_NUMBER
             ? eb_text_printf(&word, "%.12g", argument->number)
             : eb_text_printf(&word, "%s", argument->op == EB_OP_NAME ? argument->text : ""));
  const eb_scope scope = {of->parameters.items[p], word.data, outer};
  inner->words = &scope;
  eb_error error = EB_OK;
  if (!*word.data && any_node(body, is_part_of_name, scope.variable))
    error = EB_ERROR(EB_ERR_FORMAT, "%s wants a name for '%s', not a calculation", of->name,
                     scope.variable);
  if (!error) error = bind(inner, p + 1, body, out);
  inner->words = outer;
  eb_text_clear(&word);
  return error;
}

static eb_error use(const writer *w, const eb_definition *of, const eb_expression *e,
                    eb_expression **out) {
  eb_expression arguments = {0};
  if (e->loop_count || e->count != of->parameters.count)
    return EB_ERROR(EB_ERR_FORMAT, "%s = .. wants %d argument%s, and no 'for', not %d",
                    of->entry->key, of->parameters.count, of->parameters.count == 1 ? "" : "s",
                    e->count);
  EB_TRY(EB_NEW(arguments.items, e->count));
  eb_error error = copy_items(w, e, 0, e->count, &arguments);
  writer inner = {.known = w->known,
                  .of = of,
                  .arguments = arguments.items,
                  .variables = w->variables,
                  .depth = w->depth,
                  .nodes = w->nodes};
  if (!error) error = bind(&inner, 0, of->body, out);
  for (int i = 0; i < arguments.count; i++) eb_expression_destroy(arguments.items[i]);
  free(arguments.items);
  return error;
}

/* *out is destroyed by the caller also after a failure. */
static eb_error write_out(const writer *w, const eb_expression *e, eb_expression **out) {
  writer inner = *w;
  const eb_definition *of = NULL;
  int parameter = e->op == EB_OP_NAME ? whole_parameter(w->of, e->text) : -1;
  *out = NULL;
  if (++inner.depth > DEEPEST || ++*inner.nodes > MOST_NODES)
    return EB_ERROR(EB_ERR_FORMAT, "with its names written out, the expression is too large");
  if (parameter >= 0) { /* the argument in its place, which has none of its own */
    const eb_definitions none = {0};
    const writer plain = {.known = &none, .depth = inner.depth, .nodes = w->nodes};
    return write_out(&plain, w->arguments[parameter], out);
  }
  if (e->op == EB_OP_CALL) of = find(w->known, e->text);
  if (e->op == EB_OP_NAME && !eb_scope_find(w->variables, e->text, strlen(e->text)))
    of = find(w->known, e->text);
  if (of && (e->op == EB_OP_CALL || of->parameters.count == 0)) return use(&inner, of, e, out);
  EB_TRY(EB_NEW(*out, 1));
  eb_error error = copy_node(&inner, e, *out);
  if (error) eb_expression_destroy(*out);
  if (error) *out = NULL;
  return error;
}

/* `parameters` are left as they are, in braces. */
static eb_error parse(const eb_definitions *known, const eb_strings *parameters, const char *text,
                      eb_expression **out) {
  eb_expression *written;
  eb_scope own[MOST_PARAMETERS];
  int nodes = 0;
  writer w = {.known = known, .parameters = parameters, .nodes = &nodes};
  *out = NULL;
  for (int p = 0; parameters && p < parameters->count; p++) {
    own[p] = (eb_scope){parameters->items[p], NULL, w.variables};
    w.variables = &own[p];
  }
  EB_TRY(eb_expression_parse(text, &written));
  eb_error error = write_out(&w, written, out);
  if (!error) error = eb_ask_evaluations(known->asked, nodes);
  eb_expression_destroy(written);
  return error;
}

eb_error eb_definitions_parse(const eb_definitions *definitions, const char *text,
                              eb_expression **out) {
  return parse(definitions, NULL, text, out);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_word(const char *text) {
  size_t length = strlen(text);
  return eb_is_word(text) && isalpha((unsigned char)*text) && length < 60 &&
         text[length - 1] != '-';
}

/* "NAME" or "NAME(PARAMETER, ..)" */
static eb_error read_head(const eb_entry *entry, eb_definition *out) {
  const char *key = entry->key, *open = strchr(key, '('), *close = strchr(key, ')');
  bool good = open ? close && !close[1] : !close;
  out->entry = entry;
  EB_TRY(eb_copy_part(key, open ? (size_t)(open - key) : strlen(key), &out->name));
  if (good && open) EB_TRY(eb_words(open, "(, )", &out->parameters));
  good = good && is_word(out->name) && (!open || out->parameters.count) &&
         out->parameters.count <= MOST_PARAMETERS;
  for (int p = 0; p < out->parameters.count; p++) {
    const char *parameter = out->parameters.items[p];
    good = good && is_word(parameter) &&
           eb_word_find(&out->parameters, parameter, strlen(parameter)) == p;
  }
  return good ? EB_OK
              : EB_ERROR(EB_ERR_FORMAT, "this is neither 'NAME = ..' nor 'NAME(X, Y) = ..'");
}

/* The first of the entries that a node of the body names, or NULL: the definition is not among the
 * known ones yet, nor are those below it. */
static const eb_entry *find_used(const eb_expression *e, const eb_entry *from,
                                 const eb_entry *end) {
  const eb_entry *found = NULL;
  if (!e) return NULL;
  size_t length = e->op == EB_OP_CALL || e->op == EB_OP_NAME ? strlen(e->text) : 0;
  for (const eb_entry *at = from; length && at < end; at++)
    if (strncmp(at->key, e->text, length) == 0 && strchr("(", at->key[length])) return at;
  for (int i = 0; i < e->count && !found; i++) found = find_used(e->items[i], from, end);
  if (!found) found = find_used(e->from.call, from, end);
  return found ? found : find_used(e->to.call, from, end);
}

/* The body with the names above written out; parameters, and their words within names, are left.
 * It uses none of those that the section defines here or below. */
static eb_error read_body(const eb_definitions *above, const eb_section *section,
                          const eb_entry *entry, eb_definition *out) {
  if (find(above, out->name)) return EB_ERROR(EB_ERR_FORMAT, "it is there twice");
  EB_TRY(parse(above, &out->parameters, entry->value, &out->body));
  const eb_entry *used = find_used(out->body, entry, section->entries + section->count);
  if (used == entry) return EB_ERROR(EB_ERR_FORMAT, "it is defined by way of itself");
  return used ? EB_ERROR(EB_ERR_FORMAT,
                         "it uses '%.*s', which stands below it: a definition uses those above it",
                         (int)strcspn(used->key, "("), used->key)
              : EB_OK;
}

eb_error eb_definitions_read(const eb_section *section, double *asked, eb_definitions *out) {
  *out = (eb_definitions){.asked = asked};
  for (int i = 0; section && i < section->count; i++) {
    const eb_entry *entry = &section->entries[i];
    EB_TRY(EB_APPEND(out->items, out->count));
    eb_definition *read = &out->items[i];
    eb_error error = read_head(entry, read);
    if (!error) error = read_body(&(eb_definitions){out->items, i, asked}, section, entry, read);
    EB_TRY(eb_section_locate(section, entry, error));
  }
  return EB_OK;
}

void eb_definitions_clear(eb_definitions *definitions) {
  for (int i = 0; i < definitions->count; i++) {
    free(definitions->items[i].name);
    eb_strings_clear(&definitions->items[i].parameters);
    eb_expression_destroy(definitions->items[i].body);
  }
  free(definitions->items);
  *definitions = (eb_definitions){0};
}

/* ---- who is used ---------------------------------------------------------------------------- */

/* Whether a name stands in a text, and not within another one. */
static bool stands_in(const char *text, const char *name) {
  size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += length) {
    char before = at == text ? ' ' : at[-1], behind = at[length];
    if (!isalnum((unsigned char)before) && !strchr("_-./:", before) &&
        !isalnum((unsigned char)behind) && (!behind || !strchr("_-./:", behind)))
      return true;
  }
  return false;
}

/* A definition uses those above it. */
void eb_definitions_mark(const eb_definitions *definitions, const char *text, bool *used) {
  for (int i = definitions->count - 1; i >= 0; i--) {
    if (used[i] || !stands_in(text, definitions->items[i].name)) continue;
    used[i] = true;
    eb_definitions_mark(definitions, definitions->items[i].entry->value, used);
  }
}
