/* Values of an option as users write them: "A|B|C" and "LOW..HIGH step S". */
#include "harness/suite/axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/case.h"
#include "harness/names.h"

/* 0.1 + 2 * 0.1 is to be 0.3. */
static const int digits = 12;

static eb_error parse_range(const char *range, size_t length, const char *step, eb_axis *out) {
  static const double rounding = 1e-6, most = 1e9;
  char text[120];
  double high;
  snprintf(text, sizeof text, "%.*s", (int)length, range);
  char *dots = strstr(text, "..");
  *dots = '\0';
  EB_TRY(eb_parse_real("sweep", text, -1e300, 1e300, &out->low));
  EB_TRY(eb_parse_real("sweep", dots + 2, -1e300, 1e300, &high));
  EB_TRY(eb_parse_real("the step of sweep", step, 1e-300, 1e300, &out->step));
  double steps = (high - out->low) / out->step;
  if (!(high >= out->low))
    return EB_ERROR(EB_ERR_USAGE, "sweep: the range %g..%g ends before it begins", out->low, high);
  if (!(steps >= 0) || steps > most || fabs(steps - round(steps)) > rounding * fmax(1, steps))
    return EB_ERROR(EB_ERR_USAGE, "sweep: from %g in steps of %g there is no %g", out->low,
                    out->step, high);
  out->count = llround(steps) + 1;
  return EB_OK;
}

static eb_error parse_list(const char *list, eb_axis *out) {
  for (const char *at = list;; at++) {
    size_t length = strcspn(at, "|");
    if (length == 0) return EB_ERROR(EB_ERR_USAGE, "sweep: '%s' has an empty value", list);
    EB_TRY(eb_strings_add_part(&out->values, at, length));
    const char *last = out->values.items[out->values.count - 1];
    for (int i = 0; i < out->values.count - 1; i++)
      if (strcmp(out->values.items[i], last) == 0)
        return EB_ERROR(EB_ERR_USAGE, "sweep: '%s' has %s twice", list, last);
    at += length;
    if (!*at) break;
  }
  out->count = out->values.count;
  return EB_OK;
}

static eb_error parse_axis(const char *value, eb_axis *out) {
  const char *colon = strchr(value, ':'), *dots = strstr(value, "..");
  const char *step = strstr(value, " step ");
  if (!colon || colon == value || !colon[1] || (dots && !step) || (step && !dots) ||
      (step && step < dots))
    return EB_ERROR(EB_ERR_USAGE,
                    "sweep wants OPTION:A|B|C or OPTION:LOW..HIGH step S for a case with each "
                    "value, or OPTION:LOW..HIGH step S stable to look for the least stable one, as "
                    "in 'beta:0.1..4 step 0.1 stable' ('stable scan' tries every value), not '%s'",
                    value);
  EB_TRY(eb_string_format(&out->option, "%.*s", (int)(colon - value), value));
  return step ? parse_range(colon + 1, (size_t)(step - colon - 1), step + strlen(" step "), out)
              : parse_list(colon + 1, out);
}

eb_error eb_axis_parse(const char *value, eb_axis *out) {
  *out = (eb_axis){0};
  eb_error error = parse_axis(value, out);
  if (error) eb_axis_clear(out);
  return error;
}

void eb_axis_clear(eb_axis *axis) {
  free(axis->option);
  eb_strings_clear(&axis->values);
  *axis = (eb_axis){0};
}

eb_error eb_axis_copy(const eb_axis *from, eb_axis *to) {
  to->low = from->low;
  to->step = from->step;
  to->count = from->count;
  EB_TRY(eb_string_format(&to->option, "%s", from->option));
  for (int i = 0; i < from->values.count; i++)
    EB_TRY(eb_strings_add(&to->values, from->values.items[i]));
  return EB_OK;
}

double eb_axis_value(const eb_axis *axis, int64_t i) {
  char text[40];
  snprintf(text, sizeof text, "%.*g", digits, axis->low + (double)i * axis->step);
  return strtod(text, NULL);
}

static bool has_option(const eb_option *options, const char *name) {
  for (; options && options->name; options++)
    if (strcmp(options->name, name) == 0) return true;
  return false;
}

eb_error eb_axis_assign(const eb_axis *axis, int64_t i, eb_case *work) {
  bool of_solver = has_option(work->solver->options, axis->option);
  if (!of_solver && !has_option(work->scene->parameters, axis->option))
    return EB_ERROR(EB_ERR_USAGE, "neither %s nor %s has an option '%s'", work->solver->name,
                    work->scene->name, axis->option);
  char **assignments = of_solver ? &work->options : &work->parameters;
  const char *given = *assignments ? *assignments : "";
  eb_text value = {0};
  eb_error error = eb_axis_put(axis, i, &value);
  if (!error)
    error = eb_string_format(assignments, "%s%s%s=%s", given, *given ? "," : "", axis->option,
                             value.data);
  eb_text_clear(&value);
  return error;
}

eb_error eb_axis_put(const eb_axis *axis, int64_t i, eb_text *out) {
  if (axis->values.count > 0) return eb_text_printf(out, "%s", axis->values.items[i]);
  return eb_text_printf(out, "%.*g", digits, axis->low + (double)i * axis->step);
}

eb_error eb_axis_describe(const eb_axis *axis, eb_text *out) {
  EB_TRY(eb_text_printf(out, "%s:", axis->option));
  for (int i = 0; i < axis->values.count; i++)
    EB_TRY(eb_text_printf(out, "%s%s", i ? "|" : "", axis->values.items[i]));
  if (axis->values.count > 0) return EB_OK;
  EB_TRY(eb_text_printf(out, "%.*g..", digits, axis->low));
  EB_TRY(eb_axis_put(axis, axis->count - 1, out));
  return eb_text_printf(out, " step %.*g", digits, axis->step);
}
