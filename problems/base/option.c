#include "problems/base/option.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/text.h"

typedef struct value {
  char *text;
  double real;
  int64_t integer;
  bool given;
} value;

struct eb_values {
  const char *owner;
  const eb_option *options;
  int count;
  value *values;
  char *canonical;
};

enum { CONDITION = ';' }; /* in a default that depends on another option */

static int find(const eb_values *values, const char *name) {
  for (int i = 0; i < values->count; i++)
    if (strcmp(values->options[i].name, name) == 0) return i;
  return -1;
}

static eb_error unknown_option(const eb_values *values, const char *name) {
  const char *names[64];
  size_t count = 0;
  for (int i = 0; i < values->count && count < 64; i++) names[count++] = values->options[i].name;
  return eb_unknown(EB_ERR_USAGE, name, names, count, "'%s' has no option", values->owner);
}

static eb_error parse_number(const eb_values *values, const eb_option *option, const char *text,
                             value *out) {
  char *end = NULL;
  errno = 0;
  out->real = strtod(text, &end);
  if (end == text || *end || errno == ERANGE)
    return EB_ERROR(EB_ERR_USAGE, "%s: %s wants a number, not '%s'", values->owner, option->name,
                    text);
  if (option->type == EB_OPTION_INT) {
    if (!(fabs(out->real) < 9e15) || out->real != floor(out->real))
      return EB_ERROR(EB_ERR_USAGE, "%s: %s wants an integer, not '%s'", values->owner,
                      option->name, text);
    out->integer = (int64_t)out->real;
  }
  bool any = option->min == 0 && option->max == 0;
  if (isfinite(out->real) && (any || (out->real >= option->min && out->real <= option->max)))
    return EB_OK;
  if (any)
    return EB_ERROR(EB_ERR_USAGE, "%s: %s must be a finite number", values->owner, option->name);
  return EB_ERROR(EB_ERR_USAGE, "%s: %s = %g is outside [%g, %g]%s%s", values->owner, option->name,
                  out->real, option->min, option->max, option->unit[0] ? " " : "", option->unit);
}

/* Whether the text is one of words that bars separate; `nth` counts them. */
static bool is_among(const char *words, const char *text, int *nth) {
  size_t length = strlen(text);
  *nth = 0;
  for (const char *at = words; at; ++*nth) {
    size_t size = strcspn(at, "|");
    if (size == length && strncmp(at, text, size) == 0) return true;
    at = at[size] ? at + size + 1 : NULL;
  }
  return false;
}

static eb_error set(eb_values *values, int i, const char *text, bool given) {
  const eb_option *option = &values->options[i];
  value *slot = &values->values[i];
  int nth;
  char *copy = strdup(text);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot store option %s", option->name);
  free(slot->text);
  slot->text = copy;
  slot->given = given;
  switch (option->type) {
  case EB_OPTION_REAL:
  case EB_OPTION_INT:
    return parse_number(values, option, text, slot);
  case EB_OPTION_BOOL:
    if (!is_among("true|false|yes|no|on|off|1|0", text, &nth))
      return EB_ERROR(EB_ERR_USAGE, "%s: %s wants true or false, not '%s'", values->owner,
                      option->name, text);
    slot->integer = nth % 2 == 0;
    break;
  case EB_OPTION_CHOICE:
    if (!is_among(option->choices, text, &nth))
      return EB_ERROR(EB_ERR_USAGE, "%s: %s is one of %s, not '%s'", values->owner, option->name,
                      option->choices, text);
    break;
  case EB_OPTION_TEXT:
  case EB_OPTION_LINE:
    break;
  }
  return EB_OK;
}

/* "a=1", taken apart. */
static eb_error set_one(eb_values *values, char *assignment, bool given) {
  char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment)
    return EB_ERROR(EB_ERR_USAGE, "%s: '%s' is not of the form name=value", values->owner,
                    assignment);
  *equals = '\0';
  int i = find(values, assignment);
  if (i < 0) return unknown_option(values, assignment);
  if (values->values[i].given)
    return EB_ERROR(EB_ERR_USAGE, "%s: %s is set twice", values->owner, assignment);
  return set(values, i, equals + 1, given);
}

/* Sets "a=1,b=x", which it takes apart. */
static eb_error set_all(eb_values *values, char *assignments, bool given) {
  for (char *at = assignments, *comma; at && *at; at = comma ? comma + 1 : NULL) {
    comma = strchr(at, ',');
    if (comma) *comma = '\0';
    EB_TRY(set_one(values, at, given));
  }
  return EB_OK;
}

static bool has_line(const eb_values *values) {
  return values->count > 0 && values->options[0].type == EB_OPTION_LINE;
}

static bool begins_with(const char *text, const char *name) {
  size_t length = strlen(name);
  return strncmp(text, name, length) == 0 && text[length] == '=';
}

/* "a=1,LINE" or "a=1,name=LINE": settings of the table's other options, then its first one, which
 * takes all there is. */
static eb_error set_line(eb_values *values, char *line) {
  for (int i = 1; i < values->count;) {
    char *comma = strchr(line, ',');
    if (!comma || !begins_with(line, values->options[i].name)) {
      i++;
      continue;
    }
    *comma = '\0';
    EB_TRY(set_one(values, line, true));
    line = comma + 1;
    i = 1;
  }
  const char *name = values->options[0].name;
  return set(values, 0, begins_with(line, name) ? line + strlen(name) + 1 : line, true);
}

static eb_error set_defaults(eb_values *values) {
  EB_TRY(EB_NEW(values->values, values->count));
  for (int i = 0; i < values->count; i++) {
    const char *fallback = values->options[i].fallback;
    if (!fallback || strchr(fallback, CONDITION)) continue;
    EB_TRY(set(values, i, fallback, false));
  }
  return EB_OK;
}

/* "cholesky; petsc if ranks>1", once `ranks` is known. */
static eb_error set_conditional(eb_values *values, int i) {
  enum { WORD = 64 };
  char usual[WORD], other[WORD], name[WORD];
  double above;
  const eb_option *option = &values->options[i];
  if (sscanf(option->fallback, "%63[^;]; %63s if %63[^>]>%lf", usual, other, name, &above) != 4)
    return EB_ERROR(EB_ERR_INVALID, "%s: the default '%s' of %s is none", values->owner,
                    option->fallback, option->name);
  int on = find(values, name);
  if (on < 0) return unknown_option(values, name);
  return set(values, i, values->values[on].real > above ? other : usual, false);
}

static eb_error set_conditionals(eb_values *values) {
  for (int i = 0; i < values->count; i++)
    if (!values->values[i].text && values->options[i].fallback) EB_TRY(set_conditional(values, i));
  return EB_OK;
}

static eb_error require_all(const eb_values *values) {
  for (int i = 0; i < values->count; i++)
    if (!values->values[i].text || (!values->options[i].fallback && !*values->values[i].text))
      return EB_ERROR(EB_ERR_USAGE, "%s wants a %s: %s", values->owner, values->options[i].name,
                      values->options[i].doc);
  return EB_OK;
}

/* A line is the last, since nothing that follows it would be told from it; beside it stand those
 * options that are given. */
static eb_error write_canonical(eb_values *values) {
  size_t bytes = 1;
  for (int i = 0; i < values->count; i++)
    bytes += strlen(values->options[i].name) + strlen(values->values[i].text) + 2;
  EB_TRY(EB_NEW(values->canonical, bytes));
  char *at = values->canonical;
  for (int k = 0; k < values->count; k++) {
    int i = has_line(values) ? (k + 1) % values->count : k;
    if (has_line(values) && !values->values[i].given) continue;
    at += sprintf(at, "%s%s=%s", at == values->canonical ? "" : ",", values->options[i].name,
                  values->values[i].text);
  }
  return EB_OK;
}

/* What is not given are defaults of somebody else's. */
static eb_error assign(eb_values *values, const char *assignments, bool given) {
  if (!assignments || !*assignments) return EB_OK;
  char *copy = strdup(assignments);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot read the options of %s", values->owner);
  eb_error error =
      given && has_line(values) ? set_line(values, copy) : set_all(values, copy, given);
  free(copy);
  return error;
}

static eb_error resolve(eb_values *values, const char *defaults, const char *assignments) {
  EB_TRY(set_defaults(values));
  EB_TRY(assign(values, defaults, false));
  EB_TRY(assign(values, assignments, true));
  EB_TRY(set_conditionals(values));
  EB_TRY(require_all(values));
  return write_canonical(values);
}

eb_error eb_values_create(const char *owner, const eb_option *options, const char *assignments,
                          eb_values **out) {
  return eb_values_create_over(owner, options, NULL, assignments, out);
}

eb_error eb_values_create_over(const char *owner, const eb_option *options, const char *defaults,
                               const char *assignments, eb_values **out) {
  *out = NULL;
  eb_values *values;
  EB_TRY(EB_NEW(values, 1));
  values->owner = owner;
  values->options = options;
  if (options)
    while (options[values->count].name) values->count++;
  eb_error error = resolve(values, defaults, assignments);
  if (error) {
    eb_values_destroy(values);
    return error;
  }
  *out = values;
  return EB_OK;
}

void eb_values_destroy(eb_values *values) {
  if (!values) return;
  for (int i = 0; values->values && i < values->count; i++) free(values->values[i].text);
  free(values->values);
  free(values->canonical);
  free(values);
}

static const value *demand(const eb_values *values, const char *name, unsigned types) {
  int i = find(values, name);
  if (i < 0 || !(types & (1u << values->options[i].type))) {
    fprintf(stderr, "elastobench: '%s' does not declare option '%s' of this type\n", values->owner,
            name);
    abort();
  }
  return &values->values[i];
}

double eb_values_real(const eb_values *values, const char *name) {
  return demand(values, name, 1u << EB_OPTION_REAL)->real;
}

int64_t eb_values_int(const eb_values *values, const char *name) {
  return demand(values, name, 1u << EB_OPTION_INT)->integer;
}

bool eb_values_bool(const eb_values *values, const char *name) {
  return demand(values, name, 1u << EB_OPTION_BOOL)->integer != 0;
}

const char *eb_values_text(const eb_values *values, const char *name) {
  return demand(values, name, 1u << EB_OPTION_CHOICE | 1u << EB_OPTION_TEXT | 1u << EB_OPTION_LINE)
      ->text;
}

bool eb_values_given(const eb_values *values, const char *name) {
  int i = find(values, name);
  return i >= 0 && values->values[i].given;
}

bool eb_values_declares(const eb_values *values, const char *name) {
  return find(values, name) >= 0;
}

const char *eb_values_canonical(const eb_values *values) {
  return values->canonical;
}
