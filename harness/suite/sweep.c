#include "harness/suite/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/base/text.h"

/* 0.1 + 2 * 0.1 is to be 0.3. */
static const int digits = 12;

double eb_sweep_value(const eb_sweep *sweep, int64_t i) {
  char text[40];
  snprintf(text, sizeof text, "%.*g", digits, sweep->low + (double)i * sweep->step);
  return strtod(text, NULL);
}

static eb_error assign(const eb_sweep *sweep, double value, char **assignments) {
  eb_text text = {0};
  const char *before = *assignments ? *assignments : "";
  eb_error error = eb_text_printf(&text, "%s%s%s=%.*g", before, *before ? "," : "", sweep->option,
                                  digits, value);
  if (!error) error = eb_run_set(assignments, text.data);
  eb_text_clear(&text);
  return error;
}

eb_error eb_sweep_case(const eb_sweep *sweep, int64_t i, eb_case *out) {
  EB_TRY(eb_case_copy(&sweep->trial, out));
  eb_error error =
      assign(sweep, eb_sweep_value(sweep, i), sweep->of_scene ? &out->parameters : &out->options);
  if (!error) error = eb_case_resolve(out, sweep->plugin);
  if (error) eb_case_clear(out);
  return error;
}

eb_error eb_sweep_identity(const eb_sweep *sweep, char **out) {
  eb_text text = {0};
  *out = NULL;
  eb_error error =
      eb_text_printf(&text, "%s sweep=%s:%.*g+%.*g*%" PRId64, sweep->trial.task, sweep->option,
                     digits, sweep->low, digits, sweep->step, sweep->count - 1);
  if (error)
    eb_text_clear(&text);
  else
    *out = text.data;
  return error;
}

void eb_sweep_clear(eb_sweep *sweep) {
  free(sweep->name);
  free(sweep->option);
  eb_case_clear(&sweep->trial);
  *sweep = (eb_sweep){0};
}
