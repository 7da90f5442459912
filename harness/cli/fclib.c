#include "harness/cli/fclib.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/sandbox.h"
#include "harness/fclib/methods.h"
#include "harness/names.h"

static const char PREFIX[] = "fclib:";

eb_error eb_fclib_wanted(const eb_arguments *arguments, bool *wanted) {
  const eb_strings *names = &arguments->positional;
  int count = 0;
  for (int i = 0; i < names->count; i++)
    count += strncmp(names->items[i], PREFIX, sizeof PREFIX - 1) == 0;
  *wanted = count > 0;
  return count == 0 || count == names->count
             ? EB_OK
             : EB_ERROR(EB_ERR_USAGE, "fclib: files and scenes cannot be run together");
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_text(const char *path, const eb_fclib *p, const char *solver,
                       const eb_fclib_result *r) {
  printf("%s: %s problem of %d contacts, %d velocities\n", path, p->global ? "global" : "local",
         (int)p->contacts, (int)p->size);
  printf("  %s: %s after %lld iterations, %.4g s (%.4g s of it for the operator), merit %.3g\n",
         solver, eb_reason_name(r->outcome.reason), (long long)r->outcome.iterations, r->seconds,
         r->factor_seconds, r->merit);
  if (!isnan(r->stored_merit)) printf("  the file's own solution: merit %.3g\n", r->stored_merit);
}

static eb_error print_json(const char *path, const eb_fclib *p, const char *solver,
                           const eb_fclib_result *r) {
  json_t *line =
      json_pack("{s:s, s:s, s:i, s:i, s:s, s:s, s:I, s:f, s:f, s:f, s:o}", "file", path, "kind",
                p->global ? "global" : "local", "contacts", (int)p->contacts, "velocities",
                (int)p->size, "solver", solver, "reason", eb_reason_name(r->outcome.reason),
                "iterations", (json_int_t)r->outcome.iterations, "seconds", r->seconds,
                "operator_seconds", r->factor_seconds, "merit", r->merit, "stored_merit",
                isnan(r->stored_merit) ? json_null() : json_real(r->stored_merit));
  if (!line) return EB_ERROR(EB_ERR_MEMORY, "cannot print the result for '%s'", path);
  json_dumpf(line, stdout, JSON_COMPACT);
  putchar('\n');
  json_decref(line);
  return EB_OK;
}

/* ---- solving --------------------------------------------------------------------------------- */

/* What one solve takes. */
typedef struct work {
  const char *path, *solver, *output;
  bool json;
  int *code;
} work;

static eb_error solve(const work *w, const eb_fclib_method *method, const eb_values *options,
                      eb_fclib *p) {
  const eb_solver solver = {.options = options, .threads = 1};
  const eb_contact_tolerance tolerance = eb_contact_tolerance_asked(options, p->size, p->f);
  eb_fclib_result result;
  eb_error error = eb_fclib_solve(p, method->method, &solver, &tolerance, &result);
  if (!error && w->json) error = print_json(w->path, p, w->solver, &result);
  if (!error && !w->json) print_text(w->path, p, w->solver, &result);
  if (!error && w->output) {
    /* The solution is lent to the problem, and with it goes to the file. */
    eb_fclib_solution stored = p->solution;
    p->solution = result.found;
    error = eb_fclib_write(w->output, p);
    p->solution = stored;
  }
  if (!error && result.outcome.reason <= 0) *w->code = EB_EXIT_SOLVER_FAILED;
  eb_fclib_result_clear(&result);
  return error;
}

static eb_error with_options(const work *w, const char *name, const char *assignments) {
  const eb_fclib_method *method;
  eb_values *options;
  eb_fclib problem = {0};
  EB_TRY(eb_fclib_method_find(name, &method));
  EB_TRY(eb_values_create(name, eb_fclib_method_options(method), assignments, &options));
  eb_error error = eb_sandbox_verify("fclib", w->path, NULL);
  if (!error) error = eb_fclib_read(w->path, &problem);
  if (!error) error = solve(w, method, options, &problem);
  eb_fclib_clear(&problem);
  eb_values_destroy(options);
  return error;
}

static eb_error with_spec(const work *w) {
  char *name = NULL, *assignments = NULL;
  eb_error error = eb_split_spec(w->solver, &name, &assignments);
  if (!error) error = with_options(w, name, assignments);
  free(name);
  free(assignments);
  return error;
}

eb_error eb_fclib_run(const eb_arguments *arguments, int *code) {
  const eb_strings *files = &arguments->positional;
  const eb_strings *solvers = eb_arguments_values(arguments, "solver");
  work w = {.output = eb_arguments_text(arguments, "output"), .code = code};
  if (solvers->count == 0)
    return EB_ERROR(EB_ERR_USAGE, "fclib: wants a solver, as in -s contact-delassus");
  EB_TRY(eb_arguments_json(arguments, &w.json));
  if (w.output && files->count * solvers->count > 1)
    return EB_ERROR(EB_ERR_USAGE, "--output takes the solution of one file and one solver");
  for (int i = 0; i < files->count; i++)
    for (int s = 0; s < solvers->count; s++) {
      w.path = files->items[i] + sizeof PREFIX - 1;
      w.solver = solvers->items[s];
      EB_TRY(with_spec(&w));
    }
  return EB_OK;
}
