#include "problems/notation/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/notation/unit.h"

/* ---- words of the text ----------------------------------------------------------------------- */

enum { DEEPEST = 64, LONGEST = 16384 }; /* parentheses in each other; characters */

/* How tightly operators bind, from "or" on. */
enum {
  RANK_ANY,
  RANK_AND,
  RANK_NOT,
  RANK_COMPARE,
  RANK_SUM,
  RANK_PRODUCT,
  RANK_NEGATE,
  RANK_POWER,
  RANK_WHOLE
};

typedef struct parser {
  const char *text, *at;
  int depth;
} parser;

static void skip_blanks(parser *p) {
  p->at += strspn(p->at, " \t\n");
}

static eb_error expected(const parser *p, const char *what) {
  return EB_ERROR(EB_ERR_FORMAT, "'%s': at character %d %s is expected%s%.40s%s", p->text,
                  (int)(p->at - p->text) + 1, what, *p->at ? ", not '" : ", and the text ends",
                  p->at, *p->at ? "'" : "");
}

static bool is_name_start(char c) {
  return isalpha((unsigned char)c) || c == '{' || c == '_';
}

static bool is_name_part(char c) {
  return is_name_start(c) || isdigit((unsigned char)c) || c == '}' || c == ':';
}

/* Bytes of the name that stands here. A dot, a dash or a slash belongs to it when it goes on behind
 * that. */
static size_t name_length(const char *at) {
  size_t n = 0;
  if (!is_name_start(*at)) return 0;
  while (is_name_part(at[n]) || (at[n] && strchr(".-/", at[n]) && is_name_part(at[n + 1]))) n++;
  return n;
}

/* Bytes of the number that stands here: "1..2" is 1 up to 2. */
static size_t number_length(const char *at) {
  size_t n = strspn(at, "0123456789");
  if (at[n] == '.' && isdigit((unsigned char)at[n + 1]))
    n += 1 + strspn(at + n + 1, "0123456789");
  else if (n == 0)
    return 0;
  size_t e = n + (at[n] == 'e' || at[n] == 'E');
  e += e > n && (at[e] == '+' || at[e] == '-');
  return e > n && isdigit((unsigned char)at[e]) ? e + strspn(at + e, "0123456789") : n;
}

static bool take(parser *p, const char *sign) {
  skip_blanks(p);
  if (strncmp(p->at, sign, strlen(sign)) != 0) return false;
  p->at += strlen(sign);
  return true;
}

/* A word of the language: nothing of a name follows. */
static bool take_word(parser *p, const char *word) {
  skip_blanks(p);
  if (name_length(p->at) != strlen(word) || strncmp(p->at, word, strlen(word)) != 0) return false;
  p->at += strlen(word);
  return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static eb_error make(eb_operator op, eb_expression **out) {
  EB_TRY(EB_NEW(*out, 1));
  (*out)->op = op;
  return EB_OK;
}

/* Takes the item, also when it fails. */
static eb_error add_item(eb_expression *to, eb_expression *item) {
  eb_error error = EB_APPEND(to->items, to->count);
  if (error)
    eb_expression_destroy(item);
  else
    to->items[to->count - 1] = item;
  return error;
}

/* Makes *out the first item of a node that takes its place. */
static eb_error wrap(eb_operator op, eb_expression **out) {
  eb_expression *node;
  EB_TRY(make(op, &node));
  eb_error error = add_item(node, *out);
  *out = node;
  return error;
}

static eb_error parse(parser *p, int rank, eb_expression **out);

/* Parses one more item of *out. */
static eb_error parse_item(parser *p, int rank, eb_expression *out) {
  eb_expression *next = NULL;
  eb_error error = parse(p, rank, &next);
  if (!error) return add_item(out, next);
  eb_expression_destroy(next);
  return error;
}

/* ---- numbers, names, calls ------------------------------------------------------------------- */

static eb_error read_number(parser *p, double *out) {
  char digits[64];
  size_t length = number_length(p->at);
  if (length >= sizeof digits) return expected(p, "a number of fewer digits");
  memcpy(digits, p->at, length);
  digits[length] = '\0';
  *out = strtod(digits, NULL);
  if (!isfinite(*out)) return expected(p, "a finite number");
  p->at += length;
  return EB_OK;
}

static eb_error parse_loop(parser *p, eb_expression *call) {
  if (call->loop_count == EB_MOST_LOOPS)
    return EB_ERROR(EB_ERR_FORMAT, "'%.60s..': more than %d loops", p->text, EB_MOST_LOOPS);
  EB_TRY(EB_APPEND(call->loops, call->loop_count));
  eb_loop *loop = &call->loops[call->loop_count - 1];
  skip_blanks(p);
  size_t length = name_length(p->at);
  if (length == 0 || length > 60 || memchr(p->at, '.', length) || *p->at == '{')
    return expected(p, "a variable behind 'for'");
  EB_TRY(eb_copy_part(p->at, length, &loop->variable));
  p->at += length;
  if (!take_word(p, "in")) return expected(p, "'in'");
  for (;;) { /* up to a comma, a parenthesis or another "for" */
    skip_blanks(p);
    length = strcspn(p->at, " \t\n,()");
    if (length == 0 || (length == 3 && strncmp(p->at, "for", 3) == 0)) break;
    EB_TRY(eb_strings_add_part(&loop->words, p->at, length));
    p->at += length;
  }
  return loop->words.count ? EB_OK : expected(p, "a word of a list");
}

static eb_error parse_arguments(parser *p, eb_expression *call) {
  if (take(p, ")")) return EB_OK;
  do {
    EB_TRY(parse_item(p, RANK_ANY, call));
    bool looped = call->loop_count > 0;
    while (!looped && take_word(p, "for")) {
      EB_TRY(parse_loop(p, call));
      call->looped = call->count;
    }
  } while (take(p, ","));
  return take(p, ")") ? EB_OK : expected(p, "',' or ')'");
}

static eb_error parse_name(parser *p, eb_expression **out) {
  size_t length = name_length(p->at);
  bool call = p->at[length] == '(';
  EB_TRY(make(call ? EB_OP_CALL : EB_OP_NAME, out));
  EB_TRY(eb_copy_part(p->at, length, &(*out)->text));
  p->at += length + call;
  return call ? parse_arguments(p, *out) : EB_OK;
}

/* "30 deg", "30deg": the number is in SI units then. */
static eb_error take_unit(parser *p, double *number) {
  const char *behind = p->at + strspn(p->at, " \t\n");
  const eb_unit *unit = eb_unit_at(behind);
  if (!unit) return is_name_start(*p->at) ? expected(p, "an operator or a unit") : EB_OK;
  *number = eb_unit_value(unit, *number);
  p->at = behind + strlen(unit->name);
  return EB_OK;
}

static eb_error parse_primary(parser *p, eb_expression **out) {
  skip_blanks(p);
  if (name_length(p->at)) return parse_name(p, out);
  if (number_length(p->at)) {
    EB_TRY(make(EB_OP_NUMBER, out));
    EB_TRY(read_number(p, &(*out)->number));
    if (*p->at == '%') (*out)->number /= 100;
    p->at += *p->at == '%';
    return take_unit(p, &(*out)->number);
  }
  if (*p->at == '"') {
    const char *end = strchr(++p->at, '"');
    if (!end) return EB_ERROR(EB_ERR_FORMAT, "'%s': a text lacks its second '\"'", p->text);
    EB_TRY(make(EB_OP_TEXT, out));
    EB_TRY(eb_copy_part(p->at, (size_t)(end - p->at), &(*out)->text));
    p->at = end + 1;
    return EB_OK;
  }
  if (!take(p, "(")) return expected(p, "a number, a name or '('");
  EB_TRY(parse(p, RANK_ANY, out));
  return take(p, ")") ? EB_OK : expected(p, "an operator or ')'");
}

/* ---- windows --------------------------------------------------------------------------------- */

static eb_error parse_end(parser *p, eb_window_end *out) {
  skip_blanks(p);
  if (name_length(p->at)) {
    out->unit = '(';
    EB_TRY(parse_name(p, &out->call));
    return out->call->op == EB_OP_CALL ? EB_OK : expected(p, "'('");
  }
  if (!number_length(p->at)) return EB_OK;
  EB_TRY(read_number(p, &out->number));
  out->unit = *p->at == 's' || *p->at == '%' ? *p->at++ : '1';
  if (out->unit == '%') out->number /= 100;
  return EB_OK;
}

static eb_error parse_windowed(parser *p, eb_expression **out) {
  EB_TRY(parse_primary(p, out));
  while (*p->at == '[') {
    p->at++;
    EB_TRY(wrap(EB_OP_WINDOW, out));
    EB_TRY(parse_end(p, &(*out)->from));
    if (!take(p, "..")) return expected(p, "'..' between steps (10), times (0.5s) or shares (50%)");
    EB_TRY(parse_end(p, &(*out)->to));
    if (!take(p, "]")) return expected(p, "']'");
  }
  return EB_OK;
}

/* ---- operators ------------------------------------------------------------------------------- */

/* How tightly an operator binds, and what stands between its items; of comparisons their sign. */
static const struct {
  int rank;
  const char *between;
} printed[] = {[EB_OP_OR] = {RANK_ANY, " or "},          [EB_OP_AND] = {RANK_AND, " and "},
               [EB_OP_NOT] = {RANK_NOT, NULL},           [EB_OP_COMPARE] = {RANK_COMPARE, NULL},
               [EB_OP_ADD] = {RANK_SUM, " + "},          [EB_OP_SUBTRACT] = {RANK_SUM, " - "},
               [EB_OP_MULTIPLY] = {RANK_PRODUCT, " * "}, [EB_OP_DIVIDE] = {RANK_PRODUCT, " / "},
               [EB_OP_NEGATE] = {RANK_NEGATE, NULL},     [EB_OP_POWER] = {RANK_POWER, "^"},
               [EB_OP_NUMBER] = {RANK_WHOLE, NULL},      [EB_OP_NAME] = {RANK_WHOLE, NULL},
               [EB_OP_TEXT] = {RANK_WHOLE, NULL},        [EB_OP_CALL] = {RANK_WHOLE, NULL},
               [EB_OP_WINDOW] = {RANK_WHOLE, NULL}};

static const char *const signs[] = {"<", "<=", "=", ">=", ">", "!="};

const char *eb_comparison_sign(eb_comparison comparison) {
  return signs[comparison];
}

/* What may stand between items; longer signs come before those that they begin with. */
static const struct {
  const char *sign;
  eb_operator op;
  eb_comparison comparison;
} binary[] = {
    {"or", EB_OP_OR, 0},
    {"and", EB_OP_AND, 0},
    {"<=", EB_OP_COMPARE, EB_LESS_EQUAL},
    {">=", EB_OP_COMPARE, EB_GREATER_EQUAL},
    {"!=", EB_OP_COMPARE, EB_NOT_EQUAL},
    {"<", EB_OP_COMPARE, EB_LESS},
    {">", EB_OP_COMPARE, EB_GREATER},
    {"=", EB_OP_COMPARE, EB_EQUAL},
    {"+", EB_OP_ADD, 0},
    {"-", EB_OP_SUBTRACT, 0},
    {"*", EB_OP_MULTIPLY, 0},
    {"/", EB_OP_DIVIDE, 0},
};
enum { BINARY = sizeof binary / sizeof *binary };

/* What binds at least as tightly as the operators of that rank: a prefix of its own rank, or items
 * of the next with operators of this one between. Those of "or", "and" and comparisons are all in
 * one node; the others take two, from left to right. */
static eb_error parse(parser *p, int rank, eb_expression **out) {
  bool inverts = rank == RANK_NOT && take_word(p, "not"),
       negates = rank == RANK_NEGATE && take(p, "-"), joins = rank < RANK_SUM;
  if ((inverts || negates || rank == RANK_ANY) && ++p->depth > DEEPEST)
    return EB_ERROR(EB_ERR_FORMAT, "'%.60s..' is too deep", p->text);
  if (inverts || negates) {
    EB_TRY(make(inverts ? EB_OP_NOT : EB_OP_NEGATE, out));
    EB_TRY(parse_item(p, rank, *out));
    p->depth--;
    return EB_OK;
  }
  if (rank == RANK_POWER) {
    EB_TRY(parse_windowed(p, out));
    if (!take(p, "^")) return EB_OK;
    EB_TRY(wrap(EB_OP_POWER, out));
    return parse_item(p, RANK_NEGATE, *out);
  }
  EB_TRY(parse(p, rank + 1, out));
  bool first = true;
  for (int i = 0; i < BINARY; i++) {
    const char *sign = binary[i].sign;
    eb_operator op = binary[i].op;
    if (printed[op].rank != rank || !(rank < RANK_NOT ? take_word(p, sign) : take(p, sign)))
      continue;
    if (first || !joins) EB_TRY(wrap(op, out));
    if (op == EB_OP_COMPARE) {
      int before = (*out)->count - 1;
      EB_TRY(EB_APPEND((*out)->comparisons, before));
      (*out)->comparisons[before - 1] = binary[i].comparison;
    }
    EB_TRY(parse_item(p, rank + 1, *out));
    first = false;
    i = -1; /* any of them may follow */
  }
  p->depth -= rank == RANK_ANY;
  return EB_OK;
}

eb_error eb_expression_parse(const char *text, eb_expression **out) {
  parser p = {.text = text, .at = text};
  *out = NULL;
  if (strlen(text) > LONGEST)
    return EB_ERROR(EB_ERR_FORMAT, "'%.60s..' is longer than %d characters", text, LONGEST);
  eb_error error = parse(&p, RANK_ANY, out);
  if (!error) skip_blanks(&p);
  if (!error && *p.at) error = expected(&p, "an operator or the end");
  if (!error) return EB_OK;
  eb_expression_destroy(*out);
  *out = NULL;
  return error;
}

void eb_expression_destroy(eb_expression *e) {
  if (!e) return;
  for (int i = 0; i < e->count; i++) eb_expression_destroy(e->items[i]);
  for (int l = 0; l < e->loop_count; l++) {
    free(e->loops[l].variable);
    eb_strings_clear(&e->loops[l].words);
  }
  eb_expression_destroy(e->from.call);
  eb_expression_destroy(e->to.call);
  free(e->items);
  free(e->comparisons);
  free(e->loops);
  free(e->text);
  free(e);
}

/* ---- variables ------------------------------------------------------------------------------- */

eb_error eb_scope_expand(const eb_scope *scope, const char *text, bool strict, char **out) {
  size_t head = strcspn(text, ".");
  const eb_scope *whole = eb_scope_find(scope, text, head);
  eb_text expanded = {0};
  *out = NULL;
  eb_error error = eb_text_printf(&expanded, "%s", whole ? whole->word : "");
  if (whole) text += head;
  if (!error) error = eb_scope_put(scope, text, strlen(text), strict, &expanded);
  if (error)
    eb_text_clear(&expanded);
  else
    *out = expanded.data;
  return error;
}

static eb_error visit_from(const eb_expression *call, int loop, const eb_scope *scope,
                           eb_visit visit, void *context) {
  if (loop == call->loop_count) return visit(context, scope);
  const eb_loop *of = &call->loops[loop];
  eb_error error = EB_OK;
  for (int w = 0; w < of->words.count && !error; w++) {
    char *word;
    EB_TRY(eb_scope_expand(scope, of->words.items[w], true, &word));
    error = visit_from(call, loop + 1, &(eb_scope){of->variable, word, scope}, visit, context);
    free(word);
  }
  return error;
}

eb_error eb_loops_visit(const eb_expression *call, const eb_scope *scope, eb_visit visit,
                        void *context) {
  return visit_from(call, 0, scope, visit, context);
}

/* ---- printing -------------------------------------------------------------------------------- */

typedef struct printer {
  const eb_scope *scope;
  eb_put put;
  void *context;
  eb_text *out;
} printer;

static eb_error print(const printer *p, const eb_expression *e, int least);

/* Items with their operator between; those on the right of one that does not associate are set
 * off. */
static eb_error print_joined(const printer *p, const eb_expression *e) {
  bool left = e->op != EB_OP_POWER, compare = e->op == EB_OP_COMPARE;
  for (int i = 0; i < e->count; i++) {
    if (i && compare) EB_TRY(eb_text_printf(p->out, " %s ", signs[e->comparisons[i - 1]]));
    if (i && !compare) EB_TRY(eb_text_printf(p->out, "%s", printed[e->op].between));
    EB_TRY(print(p, e->items[i], printed[e->op].rank + (left ? i > 0 || compare : i == 0)));
  }
  return EB_OK;
}

/* A name, or a word of a loop. */
static eb_error print_name(const printer *p, const char *text) {
  char *name;
  EB_TRY(eb_scope_expand(p->scope, text, true, &name));
  eb_error error = eb_text_printf(p->out, "%s", name);
  free(name);
  return error;
}

/* Inside a loop its variables stand for themselves, in braces, and nothing has a value. */
static eb_error print_call(const printer *p, const eb_expression *e) {
  eb_scope own[EB_MOST_LOOPS];
  char braced[EB_MOST_LOOPS][64];
  printer inner = *p;
  for (int l = 0; l < e->loop_count; l++) {
    snprintf(braced[l], sizeof braced[l], "{%s}", e->loops[l].variable);
    own[l] = (eb_scope){e->loops[l].variable, braced[l], inner.scope};
    inner.scope = &own[l];
    inner.put = NULL;
  }
  EB_TRY(eb_text_printf(p->out, "%s(", e->text));
  for (int i = 0; i < e->count; i++) {
    if (i) EB_TRY(eb_text_printf(p->out, ", "));
    EB_TRY(print(i < e->looped ? &inner : p, e->items[i], 0));
    for (int l = 0; i + 1 == e->looped && l < e->loop_count; l++) {
      const eb_strings *words = &e->loops[l].words;
      EB_TRY(eb_text_printf(p->out, " for %s in", e->loops[l].variable));
      for (int w = 0; w < words->count; w++) {
        EB_TRY(eb_text_printf(p->out, " "));
        EB_TRY(print_name(p, words->items[w]));
      }
    }
  }
  return eb_text_printf(p->out, ")");
}

static eb_error print_end(const printer *p, const eb_window_end *end) {
  const char unit[] = {end->unit == '1' ? '\0' : end->unit, '\0'};
  if (end->unit == '(') return print(p, end->call, 0);
  if (end->unit == 0) return EB_OK;
  return eb_text_printf(p->out, "%.12g%s", end->unit == '%' ? 100 * end->number : end->number,
                        unit);
}

static eb_error print_node(const printer *p, const eb_expression *e) {
  switch (e->op) {
  case EB_OP_NUMBER:
    return eb_text_printf(p->out, "%.12g", e->number);
  case EB_OP_TEXT:
    return eb_text_printf(p->out, "\"%s\"", e->text);
  case EB_OP_NAME:
    return print_name(p, e->text);
  case EB_OP_CALL:
    return print_call(p, e);
  case EB_OP_WINDOW:
    EB_TRY(print(p, e->items[0], printed[e->op].rank));
    EB_TRY(eb_text_printf(p->out, "["));
    EB_TRY(print_end(p, &e->from));
    EB_TRY(eb_text_printf(p->out, ".."));
    EB_TRY(print_end(p, &e->to));
    return eb_text_printf(p->out, "]");
  case EB_OP_NEGATE:
  case EB_OP_NOT:
    EB_TRY(eb_text_printf(p->out, e->op == EB_OP_NOT ? "not " : "-"));
    return print(p, e->items[0], printed[e->op].rank);
  default:
    return print_joined(p, e);
  }
}

/* In parentheses when it binds less tightly than `least`. */
static eb_error print(const printer *p, const eb_expression *e, int least) {
  bool done = false, apart = printed[e->op].rank < least;
  if (p->put) EB_TRY(p->put(p->context, e, p->scope, p->out, &done));
  if (done) return EB_OK;
  if (apart) EB_TRY(eb_text_printf(p->out, "("));
  EB_TRY(print_node(p, e));
  return apart ? eb_text_printf(p->out, ")") : EB_OK;
}

eb_error eb_expression_print(const eb_expression *e, const eb_scope *scope, eb_put put,
                             void *context, eb_text *out) {
  const printer p = {.scope = scope, .put = put, .context = context, .out = out};
  return print(&p, e, 0);
}
