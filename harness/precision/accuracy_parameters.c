/* Knobs of solvers, and the points at which they are tried. */
#include "harness/precision/accuracy_parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/random.h"

/* ---- reading --------------------------------------------------------------------------------- */

static const eb_option *find_option(const eb_option *options, const char *name) {
  for (; options && options->name; options++)
    if (strcmp(options->name, name) == 0) return options;
  return NULL;
}

static eb_error unknown_option(const eb_solver_ops *solver, const char *name) {
  EB_OWNED(eb_strings_clear) eb_strings names = {0};
  for (const eb_option *o = solver->options; o && o->name; o++)
    EB_TRY(eb_strings_add(&names, o->name));
  if (names.count == 0)
    return EB_ERROR(EB_ERR_USAGE, "%s has no options, so no '%s'", solver->name, name);
  return eb_unknown_name("option", name, &names);
}

static eb_error read_range(const char *text, const char *dots, eb_accuracy_parameter *knob) {
  char *low = NULL;
  EB_TRY(eb_string_format(&low, "%.*s", (int)(dots - text), text));
  eb_error error = eb_parse_real(knob->option, low, -1e300, 1e300, &knob->low);
  if (!error) error = eb_parse_real(knob->option, dots + 2, -1e300, 1e300, &knob->high);
  free(low);
  if (!error && knob->low >= knob->high)
    error = EB_ERROR(EB_ERR_USAGE, "%s = %s is no range: it wants LOW..HIGH with LOW < HIGH",
                     knob->option, text);
  return error;
}

static eb_error read_values(const char *text, eb_strings *out) {
  for (; *text; text += strcspn(text, "|"), text += *text == '|')
    EB_TRY(eb_strings_add_part(out, text, strcspn(text, "|")));
  return EB_OK;
}

/* Whether the solver takes both ends of a range, or every value. */
static eb_error try_knob(const eb_solver_ops *solver, const eb_accuracy_parameter *knob) {
  int count = knob->values.count ? knob->values.count : 2;
  for (int i = 0; i < count; i++) {
    char *text = NULL;
    eb_values *values = NULL;
    eb_error error =
        knob->values.count
            ? eb_string_format(&text, "%s=%s", knob->option, knob->values.items[i])
            : eb_string_format(&text, "%s=%.15g", knob->option, i ? knob->high : knob->low);
    if (!error) error = eb_values_create(solver->name, solver->options, text, &values);
    eb_values_destroy(values);
    free(text);
    EB_TRY(error);
  }
  return EB_OK;
}

static eb_error fill_knob(const eb_solver_ops *solver, const char *spec, size_t length,
                          eb_accuracy_parameter *knob) {
  const char *equals = memchr(spec, '=', length);
  char *value = NULL;
  if (!equals)
    return EB_ERROR(EB_ERR_USAGE, "a knob is OPTION=LOW..HIGH or OPTION=V1|V2, not '%.*s'",
                    (int)length, spec);
  EB_TRY(eb_string_format(&knob->option, "%.*s", (int)(equals - spec), spec));
  const eb_option *option = find_option(solver->options, knob->option);
  if (!option) return unknown_option(solver, knob->option);
  knob->whole = option->type == EB_OPTION_INT;
  EB_TRY(eb_string_format(&value, "%.*s", (int)(spec + length - equals - 1), equals + 1));
  bool number = knob->whole || option->type == EB_OPTION_REAL;
  const char *dots = number ? strstr(value, "..") : NULL;
  eb_error error = dots ? read_range(value, dots, knob) : read_values(value, &knob->values);
  if (!error && !dots && knob->values.count < 2)
    error = EB_ERROR(EB_ERR_USAGE, "a knob has two values at least: %s=V1|V2%s, not '%s'",
                     knob->option, number ? " or LOW..HIGH" : "", value);
  free(value);
  return error ? error : try_knob(solver, knob);
}

static eb_error add_knob(const eb_solver_ops *solver, const char *spec, size_t length,
                         eb_accuracy_parameters *out) {
  if (out->count == EB_MOST_ACCURACY_PARAMETERS)
    return EB_ERROR(EB_ERR_USAGE, "%s has more than %d knobs", solver->name,
                    EB_MOST_ACCURACY_PARAMETERS);
  return fill_knob(solver, spec, length, &out->items[out->count++]);
}

static bool is_fixed(const char *fixed, const char *spec) {
  const char *value;
  return eb_assigned_value(fixed, spec, strcspn(spec, "="), &value) > 0;
}

static eb_error add_asked(const eb_solver_ops *solver, const char *fixed, const char *spec,
                          eb_accuracy_parameters *out) {
  if (is_fixed(fixed, spec))
    return EB_ERROR(EB_ERR_USAGE, "%s: '%s' is fixed by --solver and turned by --knob",
                    solver->name, spec);
  out->known = true;
  return add_knob(solver, spec, strlen(spec), out);
}

static eb_error add_declared(const eb_solver_ops *solver, const char *fixed,
                             eb_accuracy_parameters *out) {
  const char *spec = solver->accuracy_options;
  out->known = spec != NULL;
  for (; spec && *spec; spec += strcspn(spec, " "), spec += *spec == ' ')
    if (!is_fixed(fixed, spec)) EB_TRY(add_knob(solver, spec, strcspn(spec, " "), out));
  return EB_OK;
}

eb_error eb_accuracy_parameters_create(const eb_solver_ops *solver, const char *fixed,
                                       const eb_strings *asked, eb_accuracy_parameters *out) {
  size_t length = strlen(solver->name);
  *out = (eb_accuracy_parameters){0};
  for (int i = 0; i < asked->count; i++)
    if (strncmp(asked->items[i], solver->name, length) == 0 && asked->items[i][length] == ':')
      EB_TRY(eb_error_prefix(add_asked(solver, fixed, asked->items[i] + length + 1, out),
                             "--knob %s", solver->name));
  return out->count ? EB_OK : add_declared(solver, fixed, out);
}

void eb_accuracy_parameters_clear(eb_accuracy_parameters *knobs) {
  for (int i = 0; i < knobs->count; i++) {
    free(knobs->items[i].option);
    eb_strings_clear(&knobs->items[i].values);
  }
  *knobs = (eb_accuracy_parameters){0};
}

eb_error eb_accuracy_parameters_describe(const eb_accuracy_parameters *knobs, eb_text *out) {
  for (int i = 0; i < knobs->count; i++) {
    const eb_accuracy_parameter *knob = &knobs->items[i];
    EB_TRY(eb_text_printf(out, "%s%s ", i ? ", " : "", knob->option));
    if (knob->values.count == 0) EB_TRY(eb_text_printf(out, "%g..%g", knob->low, knob->high));
    for (int v = 0; v < knob->values.count; v++)
      EB_TRY(eb_text_printf(out, "%s%s", v ? "|" : "", knob->values.items[v]));
  }
  return EB_OK;
}

/* ---- turning --------------------------------------------------------------------------------- */

eb_error eb_assign(char **assignments, const char *name, const char *value) {
  const char *old = *assignments, *at;
  size_t length = eb_assigned_value(old, name, strlen(name), &at);
  if (length == 0)
    return eb_string_format(assignments, "%s%s%s=%s", old ? old : "", old && *old ? "," : "", name,
                            value);
  return eb_string_format(assignments, "%.*s%s%s", (int)(at - old), old, value, at + length);
}

eb_error eb_accuracy_parameters_apply(const eb_accuracy_parameters *knobs, const double *u,
                                      char **options) {
  for (int i = 0; i < knobs->count; i++) {
    const eb_accuracy_parameter *knob = &knobs->items[i];
    char number[40];
    const char *value = number;
    if (knob->values.count) {
      value = knob->values.items[(int)(u[i] * knob->values.count)];
    } else {
      double at = knob->low > 0 ? knob->low * pow(knob->high / knob->low, u[i])
                                : knob->low + u[i] * (knob->high - knob->low);
      snprintf(number, sizeof number, knob->whole ? "%.0f" : "%.3g", at);
    }
    EB_TRY(eb_assign(options, knob->option, value));
  }
  return EB_OK;
}

double eb_halton(int64_t index, int dimension, uint64_t seed) {
  static const int primes[EB_MOST_ACCURACY_PARAMETERS + 1] = {2, 3, 5, 7, 11, 13, 17};
  double value = 0, digit = 1;
  int base = primes[dimension];
  for (; index > 0; index /= base) {
    digit /= base;
    value += digit * (double)(index % base);
  }
  if (seed == 0) return value;
  seed += (uint64_t)dimension << 32;
  value += eb_random_uniform(&seed, 0, 1);
  return value - floor(value);
}
