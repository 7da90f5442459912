/* Expressions of scene files, evaluated with their derivative by time (forward differentiation):
 * what moves by a formula has a velocity as exact as its place. */
#include "problems/scenes/file/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/notation/unit.h"
#include "problems/scenes/common.h"

#define PI 3.14159265358979323846

/* ---- formulas -------------------------------------------------------------------------------- */

/* The bytes up to the comma that ends a part. */
static size_t part_length(const char *text) {
  size_t length = 0;
  for (int depth = 0, quoted = 0; text[length]; length++) {
    char c = text[length];
    quoted ^= c == '"';
    if (!quoted) depth += (c == '(') - (c == ')');
    if (c == ',' && depth <= 0 && !quoted) break;
  }
  return length;
}

eb_error eb_formula_parse(const char *text, eb_formula *out) {
  *out = (eb_formula){0};
  for (const char *at = text;; at++) {
    EB_FREED char *part = NULL;
    size_t length = part_length(at);
    if (out->count == EB_FORMULA_PARTS)
      return EB_ERROR(EB_ERR_FORMAT, "'%.60s' has more than %d parts", text, EB_FORMULA_PARTS);
    EB_TRY(eb_copy_part(at, length, &part));
    EB_TRY(eb_expression_parse(part, &out->part[out->count]));
    out->count++;
    at += length;
    if (!*at) return EB_OK;
  }
}

void eb_formula_clear(eb_formula *formula) {
  for (int p = 0; p < EB_FORMULA_PARTS; p++) eb_expression_destroy(formula->part[p]);
  *formula = (eb_formula){0};
}

/* ---- names ----------------------------------------------------------------------------------- */

enum { MOST_OPERATIONS = 1000000 };

typedef struct evaluation {
  const eb_names *names;
  int depth;     /* of definitions in each other */
  int64_t *left; /* parts of expressions that may still be looked at */
  struct bound {
    const char *name;
    eb_quantity quantity;
    const struct bound *outer;
  } const *bound; /* variables of sums */
} evaluation;

static eb_error evaluate(const evaluation *e, const eb_expression *expression, eb_quantity *out);

static const eb_option *find_option(const eb_names *names, const char *name) {
  for (const eb_option *option = names->options; option && option->name; option++)
    if (strcmp(option->name, name) == 0) return option;
  return NULL;
}

static eb_error parameter(const eb_names *names, const eb_option *option, double *out) {
  const eb_unit *unit = eb_unit_at(option->unit ? option->unit : "");
  switch (option->type) {
  case EB_OPTION_REAL:
    *out = eb_unit_value(unit, eb_values_real(names->values, option->name));
    return EB_OK;
  case EB_OPTION_INT:
    *out = (double)eb_values_int(names->values, option->name);
    return EB_OK;
  case EB_OPTION_BOOL:
    *out = eb_values_bool(names->values, option->name);
    return EB_OK;
  default:
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is a word, not a number; compare it with one: %s = \"..\"",
                    option->name, option->name);
  }
}

static const char *const bound_names[] = {"xmin", "ymin", "zmin", "xmax", "ymax",
                                          "zmax", "xmid", "ymid", "zmid"};
enum { BOUND_NAMES = sizeof bound_names / sizeof *bound_names };

static int find_bound(const char *name) {
  for (int b = 0; b < BOUND_NAMES; b++)
    if (strcmp(bound_names[b], name) == 0) return b;
  return -1;
}

/* xmin, or xmin(name). */
static eb_error bound_value(const eb_names *names, int bound, const char *of, eb_quantity *out) {
  double lo[3], hi[3];
  if (!names->bounds)
    return EB_ERROR(EB_ERR_FORMAT, "'%s' means nothing here: there is no body yet",
                    bound_names[bound]);
  if (of && names->only_body && strcmp(of, names->only_body) == 0) of = NULL;
  if (!names->bounds(names->context, of, lo, hi))
    return EB_ERROR(EB_ERR_FORMAT, "there is no group, body, set or region '%s'", of);
  int d = bound % 3;
  double value = bound < 3 ? lo[d] : bound < 6 ? hi[d] : 0.5 * (lo[d] + hi[d]);
  *out = (eb_quantity){value, 0};
  return EB_OK;
}

static eb_error unknown_name(const eb_names *names, const char *name) {
  enum { MOST = 120 };
  const char *known[MOST];
  size_t count = 0;
  for (const eb_option *o = names->options; o && o->name && count < MOST / 2; o++)
    known[count++] = o->name;
  for (int d = 0; d < names->definition_count && count < MOST - 20; d++)
    known[count++] = names->definitions[d].name;
  for (int v = 0; v < names->variable_count && count < MOST - 12; v++)
    known[count++] = names->variables[v].name;
  for (int b = 0; names->bounds && b < BOUND_NAMES && count < MOST - 1; b++)
    known[count++] = bound_names[b];
  known[count++] = "pi";
  return eb_unknown(EB_ERR_FORMAT, name, known, count, "there is no");
}

static eb_error name_value(const evaluation *e, const char *name, eb_quantity *out) {
  enum { DEEPEST = 32 };
  const eb_names *names = e->names;
  for (const struct bound *b = e->bound; b; b = b->outer)
    if (strcmp(b->name, name) == 0) {
      *out = b->quantity;
      return EB_OK;
    }
  for (int v = 0; v < names->variable_count; v++)
    if (strcmp(names->variables[v].name, name) == 0) {
      *out = names->variables[v].quantity;
      return EB_OK;
    }
  for (int d = 0; d < names->definition_count; d++) {
    if (strcmp(names->definitions[d].name, name) != 0) continue;
    evaluation inner = *e;
    if (++inner.depth > DEEPEST)
      return EB_ERROR(EB_ERR_FORMAT, "'%s' is defined by itself, or through more than %d others",
                      name, DEEPEST);
    return eb_error_prefix(evaluate(&inner, names->definitions[d].formula.part[0], out), "[let] %s",
                           name);
  }
  const eb_option *option = find_option(names, name);
  out->rate = 0;
  if (option) return parameter(names, option, &out->value);
  if (find_bound(name) >= 0) return bound_value(names, find_bound(name), NULL, out);
  if (strcmp(name, "pi") != 0) return unknown_name(names, name);
  out->value = PI;
  return EB_OK;
}

/* ---- functions ------------------------------------------------------------------------------- */

static eb_quantity sine(const eb_quantity *a) {
  return (eb_quantity){sin(a->value), cos(a->value) * a->rate};
}
static eb_quantity cosine(const eb_quantity *a) {
  return (eb_quantity){cos(a->value), -sin(a->value) * a->rate};
}
static eb_quantity tangent(const eb_quantity *a) {
  double t = tan(a->value);
  return (eb_quantity){t, (1 + t * t) * a->rate};
}
static eb_quantity arc_tangent(const eb_quantity *a) {
  return (eb_quantity){atan(a->value), a->rate / (1 + a->value * a->value)};
}
static eb_quantity square_root(const eb_quantity *a) {
  double root = sqrt(a->value);
  return (eb_quantity){root, a->rate == 0 ? 0 : a->rate / (2 * root)};
}
static eb_quantity exponential(const eb_quantity *a) {
  double power = exp(a->value);
  return (eb_quantity){power, power * a->rate};
}
static eb_quantity absolute(const eb_quantity *a) {
  return (eb_quantity){fabs(a->value), a->value < 0 ? -a->rate : a->rate};
}
static eb_quantity lower(const eb_quantity *a) {
  return (eb_quantity){floor(a->value), 0};
}
static eb_quantity nearest(const eb_quantity *a) {
  return (eb_quantity){round(a->value), 0};
}
static eb_quantity smaller(const eb_quantity *a) {
  return a[1].value < a[0].value ? a[1] : a[0];
}
static eb_quantity larger(const eb_quantity *a) {
  return a[1].value > a[0].value ? a[1] : a[0];
}
static eb_quantity remainder_of(const eb_quantity *a) {
  return (eb_quantity){a[0].value - a[1].value * floor(a[0].value / a[1].value), a[0].rate};
}
static eb_quantity hypotenuse(const eb_quantity *a) {
  double r = hypot(a[0].value, a[1].value);
  return (eb_quantity){r, r > 0 ? (a[0].value * a[0].rate + a[1].value * a[1].rate) / r : 0};
}
static eb_quantity length(const eb_quantity *a) {
  double r = sqrt(a[0].value * a[0].value + a[1].value * a[1].value + a[2].value * a[2].value);
  double dot = a[0].value * a[0].rate + a[1].value * a[1].rate + a[2].value * a[2].rate;
  return (eb_quantity){r, r > 0 ? dot / r : 0};
}
/* 3 s^2 - 2 s^3 of s = (t - begin) / (end - begin) within 0 to 1. */
static eb_quantity ramp(const eb_quantity *a) {
  double span = a[2].value - a[1].value, s = fmin(1, fmax(0, (a[0].value - a[1].value) / span));
  return (eb_quantity){eb_ramp(a[0].value, a[1].value, a[2].value),
                       6 * s * (1 - s) / span * a[0].rate};
}
static eb_quantity ramp_integral(const eb_quantity *a) {
  return (eb_quantity){eb_ramp_integral(a[0].value, a[1].value, a[2].value),
                       eb_ramp(a[0].value, a[1].value, a[2].value) * a[0].rate};
}

enum { MOST_ARGUMENTS = 4 };
static const struct function {
  const char *name;
  int arguments;
  eb_quantity (*value)(const eb_quantity *arguments);
} functions[] = {{"sin", 1, sine},         {"cos", 1, cosine},
                 {"tan", 1, tangent},      {"atan", 1, arc_tangent},
                 {"sqrt", 1, square_root}, {"exp", 1, exponential},
                 {"abs", 1, absolute},     {"floor", 1, lower},
                 {"round", 1, nearest},    {"min", 2, smaller},
                 {"max", 2, larger},       {"mod", 2, remainder_of},
                 {"hypot", 2, hypotenuse}, {"norm", 3, length},
                 {"ramp", 3, ramp},        {"ramp_integral", 3, ramp_integral}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static eb_error unknown_function(const char *name) {
  static const char *const others[] = {"if", "sum", "in"};
  enum { OTHERS = sizeof others / sizeof *others };
  const char *known[FUNCTIONS + OTHERS + BOUND_NAMES];
  size_t count = 0;
  for (int f = 0; f < FUNCTIONS; f++) known[count++] = functions[f].name;
  for (int f = 0; f < OTHERS; f++) known[count++] = others[f];
  for (int b = 0; b < BOUND_NAMES; b++) known[count++] = bound_names[b];
  return eb_unknown(EB_ERR_FORMAT, name, known, count, "there is no function");
}

static eb_error check_arguments(const eb_expression *call, int wanted) {
  if (call->count == wanted && call->loop_count == 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "%s(..) wants %d argument%s and has %d", call->text, wanted,
                  wanted == 1 ? "" : "s", call->count);
}

/* if(condition, a, b): the other one is not looked at. */
static eb_error choose(const evaluation *e, const eb_expression *call, eb_quantity *out) {
  eb_quantity condition;
  EB_TRY(check_arguments(call, 3));
  EB_TRY(evaluate(e, call->items[0], &condition));
  return evaluate(e, call->items[condition.value != 0 ? 1 : 2], out);
}

/* sum(k, 1, 4, expression of k) */
static eb_error add_up(const evaluation *e, const eb_expression *call, eb_quantity *out) {
  enum { MOST_TERMS = 1000 };
  eb_quantity from, to;
  EB_TRY(check_arguments(call, 4));
  if (call->items[0]->op != EB_OP_NAME)
    return EB_ERROR(EB_ERR_FORMAT, "sum(k, from, to, expression) wants the name of its variable");
  EB_TRY(evaluate(e, call->items[1], &from));
  EB_TRY(evaluate(e, call->items[2], &to));
  if (!(to.value - from.value < MOST_TERMS))
    return EB_ERROR(EB_ERR_FORMAT, "a sum from %g to %g has more than %d terms", from.value,
                    to.value, MOST_TERMS);
  *out = (eb_quantity){0};
  for (double k = from.value; k <= to.value; k++) {
    struct bound variable = {call->items[0]->text, {k, 0}, e->bound};
    evaluation inner = *e;
    eb_quantity term;
    inner.bound = &variable;
    EB_TRY(evaluate(&inner, call->items[3], &term));
    out->value += term.value;
    out->rate += term.rate;
  }
  return EB_OK;
}

/* The one argument of xmin(..) and in(..): a name, or a text where it is no name. */
static eb_error named_argument(const eb_expression *call, const char **out) {
  EB_TRY(check_arguments(call, 1));
  const eb_expression *argument = call->items[0];
  if (argument->op != EB_OP_NAME && argument->op != EB_OP_TEXT)
    return EB_ERROR(EB_ERR_FORMAT, "%s(..) wants the name of a group, body, set or region",
                    call->text);
  *out = argument->text;
  return EB_OK;
}

static eb_error membership(const evaluation *e, const eb_expression *call, eb_quantity *out) {
  const char *name = NULL;
  EB_TRY(named_argument(call, &name));
  bool all = e->names->only_body && strcmp(name, e->names->only_body) == 0;
  int is_in = all ? 1 : e->names->is_in ? e->names->is_in(e->names->context, name) : -1;
  if (is_in < 0)
    return EB_ERROR(EB_ERR_FORMAT, "there is no group, body, set or region '%s' to be in", name);
  *out = (eb_quantity){is_in, 0};
  return EB_OK;
}

static eb_error call_value(const evaluation *e, const eb_expression *call, eb_quantity *out) {
  eb_quantity arguments[MOST_ARGUMENTS];
  const char *name = call->text;
  if (strcmp(name, "if") == 0) return choose(e, call, out);
  if (strcmp(name, "sum") == 0) return add_up(e, call, out);
  if (strcmp(name, "in") == 0) return membership(e, call, out);
  if (find_bound(name) >= 0) {
    const char *of = NULL;
    EB_TRY(named_argument(call, &of));
    return bound_value(e->names, find_bound(name), of, out);
  }
  int f = 0;
  while (f < FUNCTIONS && strcmp(functions[f].name, name) != 0) f++;
  if (f == FUNCTIONS) return unknown_function(name);
  EB_TRY(check_arguments(call, functions[f].arguments));
  for (int a = 0; a < functions[f].arguments; a++)
    EB_TRY(evaluate(e, call->items[a], &arguments[a]));
  *out = functions[f].value(arguments);
  return EB_OK;
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool compares(eb_comparison comparison, double a, double b) {
  switch (comparison) {
  case EB_LESS:
    return a < b;
  case EB_LESS_EQUAL:
    return a <= b;
  case EB_EQUAL:
    return a == b;
  case EB_GREATER_EQUAL:
    return a >= b;
  case EB_GREATER:
    return a > b;
  case EB_NOT_EQUAL:
    return a != b;
  }
  return false;
}

/* The word that a choice has, for: motion = "twist". */
static eb_error word_of(const eb_names *names, const eb_expression *side, const char **out) {
  *out = side->text;
  if (side->op == EB_OP_TEXT) return EB_OK;
  const eb_option *option = side->op == EB_OP_NAME ? find_option(names, side->text) : NULL;
  if (!option || (option->type != EB_OPTION_CHOICE && option->type != EB_OPTION_TEXT))
    return EB_ERROR(EB_ERR_FORMAT, "a text is compared with what is no parameter of words");
  *out = eb_values_text(names->values, side->text);
  return EB_OK;
}

static eb_error compare_words(const eb_names *names, const eb_expression *expression,
                              eb_quantity *out) {
  const char *a, *b;
  EB_TRY(word_of(names, expression->items[0], &a));
  EB_TRY(word_of(names, expression->items[1], &b));
  bool equal = strcmp(a, b) == 0;
  if (expression->comparisons[0] != EB_EQUAL && expression->comparisons[0] != EB_NOT_EQUAL)
    return EB_ERROR(EB_ERR_FORMAT, "words are compared by '=' and '!=' alone");
  *out = (eb_quantity){expression->comparisons[0] == EB_EQUAL ? equal : !equal, 0};
  return EB_OK;
}

static eb_error compare(const evaluation *e, const eb_expression *expression, eb_quantity *out) {
  eb_quantity before, after;
  if (expression->count == 2 &&
      (expression->items[0]->op == EB_OP_TEXT || expression->items[1]->op == EB_OP_TEXT))
    return compare_words(e->names, expression, out);
  bool holds = true;
  EB_TRY(evaluate(e, expression->items[0], &before));
  for (int i = 1; i < expression->count; i++) {
    EB_TRY(evaluate(e, expression->items[i], &after));
    holds = holds && compares(expression->comparisons[i - 1], before.value, after.value);
    before = after;
  }
  *out = (eb_quantity){holds, 0};
  return EB_OK;
}

/* Items that are not needed are not looked at. */
static eb_error combine(const evaluation *e, const eb_expression *expression, eb_quantity *out) {
  bool all = expression->op == EB_OP_AND, holds = all;
  for (int i = 0; i < expression->count && holds == all; i++) {
    EB_TRY(evaluate(e, expression->items[i], out));
    holds = out->value != 0;
  }
  *out = (eb_quantity){holds, 0};
  return EB_OK;
}

/* a^n of a whole n from 2 to 4 is a product: as exact as one, also for a < 0. */
static eb_quantity power(eb_quantity a, eb_quantity b) {
  double n = b.value, value = a.value;
  if (b.rate == 0 && n == floor(n) && n >= 2 && n <= 4)
    for (int k = 1; k < (int)n; k++) value *= a.value;
  else
    value = pow(a.value, n);
  double rate = a.rate == 0 ? 0 : n * pow(a.value, n - 1) * a.rate;
  if (b.rate != 0) rate += value * log(a.value) * b.rate;
  return (eb_quantity){value, rate};
}

static eb_quantity arithmetic(eb_operator op, eb_quantity a, eb_quantity b) {
  switch (op) {
  case EB_OP_ADD:
    return (eb_quantity){a.value + b.value, a.rate + b.rate};
  case EB_OP_SUBTRACT:
    return (eb_quantity){a.value - b.value, a.rate - b.rate};
  case EB_OP_MULTIPLY:
    return (eb_quantity){a.value * b.value, a.rate * b.value + a.value * b.rate};
  case EB_OP_DIVIDE:
    return (eb_quantity){a.value / b.value, (a.rate - a.value / b.value * b.rate) / b.value};
  default:
    return power(a, b);
  }
}

static eb_error evaluate(const evaluation *e, const eb_expression *expression, eb_quantity *out) {
  eb_quantity a, b;
  if (--*e->left < 0)
    return EB_ERROR(EB_ERR_FORMAT,
                    "more than %d operations for one value: its definitions and "
                    "sums are too deep in each other",
                    MOST_OPERATIONS);
  switch (expression->op) {
  case EB_OP_NUMBER:
    *out = (eb_quantity){expression->number, 0};
    return EB_OK;
  case EB_OP_NAME:
    return name_value(e, expression->text, out);
  case EB_OP_CALL:
    return call_value(e, expression, out);
  case EB_OP_TEXT:
    return EB_ERROR(EB_ERR_FORMAT, "\"%s\" is a text where a number is wanted", expression->text);
  case EB_OP_WINDOW:
    return EB_ERROR(EB_ERR_FORMAT, "[..] means nothing in a scene");
  case EB_OP_COMPARE:
    return compare(e, expression, out);
  case EB_OP_AND:
  case EB_OP_OR:
    return combine(e, expression, out);
  case EB_OP_NOT:
    EB_TRY(evaluate(e, expression->items[0], out));
    *out = (eb_quantity){out->value == 0, 0};
    return EB_OK;
  case EB_OP_NEGATE:
    EB_TRY(evaluate(e, expression->items[0], out));
    *out = (eb_quantity){-out->value, -out->rate};
    return EB_OK;
  default:
    EB_TRY(evaluate(e, expression->items[0], &a));
    EB_TRY(evaluate(e, expression->items[1], &b));
    *out = arithmetic(expression->op, a, b);
    return EB_OK;
  }
}

eb_error eb_formula_part(const eb_names *names, const eb_formula *formula, int part,
                         eb_quantity *out) {
  int64_t left = MOST_OPERATIONS;
  evaluation e = {.names = names, .left = &left};
  EB_TRY(evaluate(&e, formula->part[part], out));
  if (isfinite(out->value)) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "its value is %g; a finite number is wanted", out->value);
}

eb_error eb_formula_values(const eb_names *names, const eb_formula *formula, int count,
                           double *value, double *rate) {
  if (formula->count != count)
    return EB_ERROR(EB_ERR_FORMAT, "it has %d part%s; %d %s wanted, between commas", formula->count,
                    formula->count == 1 ? "" : "s", count, count == 1 ? "is" : "are");
  for (int p = 0; p < count; p++) {
    eb_quantity quantity;
    EB_TRY(eb_formula_part(names, formula, p, &quantity));
    value[p] = quantity.value;
    if (rate) rate[p] = quantity.rate;
  }
  return EB_OK;
}
