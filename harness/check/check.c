/* Running the checks and printing their figures. */
#include "harness/check/check.h"

#include "harness/check/conformance.h"
#include "harness/print.h"
#include "harness/results/ci.h"
#include "harness/results/json.h"
#include "harness/status_line.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"

#include <math.h>
#include <string.h>

/* ---- groups ---- */

static const eb_check_group *const tables[] = {
    eb_checks_materials, eb_checks_accuracy, eb_checks_dynamics,    eb_checks_conjac,
    eb_checks_cutting,   eb_checks_contact,  eb_checks_consistency, eb_checks_constraints};
enum { TABLES = sizeof tables / sizeof *tables };

const eb_check_group *eb_check_group_find(const char *name) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_check_group *at = tables[t]; at->name; at++)
      if (strcmp(at->name, name) == 0) return at;
  return NULL;
}

static bool applies(const eb_check_group *group, const char *solver) {
  if (!group->solver || !solver) return !group->solver && !solver;
  return !strcmp(group->solver, "*") || !strcmp(group->solver, solver);
}

/* An error that ends a group is a figure out of bounds. */
static void emit_error(const eb_check *check, const char *group, eb_error error) {
  const char *name = check->solver ? check->solver->name : NULL;
  if (error)
    eb_check_below(check, NAN, 0, eb_error_message(error), "%s%s%s/completed", name ? name : "",
                   name ? "/" : "", group);
  eb_error_free(error);
}

static void run_group(const eb_check *check, const eb_check_group *group) {
  const char *solver = check->solver ? check->solver->name : NULL;
  if (check->begin) check->begin(check->context, solver, group->name);
  emit_error(check, group->name, group->run(check));
}

void eb_check_groups(const eb_check *check) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_check_group *at = tables[t]; at->name; at++)
      if (applies(at, check->solver ? check->solver->name : NULL)) run_group(check, at);
}

/* ---- printing ---- */

const char *const eb_check_format_names[EB_CHECK_FORMATS] = {"text", "json", "junit", "tap"};

/* A figure that waits until all are there. */
typedef struct waiting {
  char *suite, *name, *message, *detail;
  bool passed;
} waiting;

typedef struct printer {
  FILE *out;
  eb_check_format format;
  int count, failed;
  waiting *waiting; /* of formats that want all figures */
  int waiting_count;
  eb_error error; /* the first that kept one from waiting */
  eb_status_line status;
  const char *solver, *group; /* that it shows */
} printer;

static void print_json(printer *to, const eb_check_figure *figure) {
  json_t *json = eb_json_pack("{s:s, s:f, s:s, s:f, s:b, s:s}", "name", figure->name, "measured",
                              figure->measured, "relation", figure->at_least ? ">=" : "<=", "bound",
                              figure->bound, "passed", figure->passed, "reason", figure->reason);
  fprintf(to->out, "%s\n    ", to->count ? "," : "");
  eb_error error = eb_json_line(json, to->out);
  if (to->error)
    eb_error_free(error);
  else
    to->error = error;
}

/* "group/subject/what" is a test of the suite "group/subject". */
static eb_error keep(printer *to, const eb_check_figure *figure) {
  const char *slash = strrchr(figure->name, '/');
  EB_TRY(EB_APPEND(to->waiting, to->waiting_count));
  waiting *fresh = &to->waiting[to->waiting_count - 1];
  fresh->passed = figure->passed;
  EB_TRY(eb_string_format(&fresh->suite, "%.*s", slash ? (int)(slash - figure->name) : 0,
                          figure->name));
  EB_TRY(eb_string_format(&fresh->name, "%s", slash ? slash + 1 : figure->name));
  EB_TRY(eb_string_format(&fresh->message, "%.3g is not %s %.3g", figure->measured,
                          figure->at_least ? ">=" : "<=", figure->bound));
  return eb_string_format(&fresh->detail, "%s", figure->reason);
}

static eb_error print_tests(const printer *to) {
  eb_ci_test *tests;
  EB_TRY(EB_NEW(tests, to->waiting_count));
  for (int i = 0; i < to->waiting_count; i++) {
    const waiting *w = &to->waiting[i];
    tests[i] = (eb_ci_test){.suite = w->suite, .name = w->name, .seconds = NAN};
    if (w->passed) continue;
    tests[i].verdict = EB_CI_FAILED;
    tests[i].message = w->message;
    tests[i].detail = w->detail;
  }
  eb_error error = to->format == EB_CHECK_JUNIT
                       ? eb_ci_junit(to->out, "elastobench check", tests, to->waiting_count)
                       : eb_ci_tap(to->out, tests, to->waiting_count);
  free(tests);
  return error;
}

static void clear_waiting(printer *to) {
  for (int i = 0; i < to->waiting_count; i++) {
    free(to->waiting[i].suite);
    free(to->waiting[i].name);
    free(to->waiting[i].message);
    free(to->waiting[i].detail);
  }
  free(to->waiting);
}

/* Some groups take many seconds to a figure. */
static void show_group(printer *to) {
  eb_status_line_show(&to->status, "checking %s%s%s", to->solver ? to->solver : "",
                      to->solver ? ": " : "", to->group);
}

static void tell_group(void *context, const char *solver, const char *group) {
  printer *to = context;
  to->solver = solver;
  to->group = group;
  eb_status_line_wipe(&to->status);
  show_group(to);
}

static void print_figure(void *context, const eb_check_figure *figure) {
  printer *to = context;
  eb_status_line_wipe(&to->status);
  if (to->format == EB_CHECK_JSON)
    print_json(to, figure);
  else if (to->format != EB_CHECK_TEXT)
    to->error = to->error ? to->error : keep(to, figure);
  else
    eb_print(to->out, "%-6s %-46s %10.3g %s %-8.3g  %s\n", figure->passed ? "ok" : "FAILED",
             figure->name, figure->measured, figure->at_least ? ">=" : "<=", figure->bound,
             figure->reason);
  fflush(to->out);
  show_group(to);
  to->count++;
  to->failed += !figure->passed;
}

/* A solver of a plug-in; the tests hold the built-in ones to conformance. */
static void check_plugin(eb_check *check, const eb_solver_ops *solver) {
  check->solver = solver;
  check->begin(check->context, solver->name, "conformance");
  emit_error(check, "conformance", eb_conformance_check(check));
  eb_check_groups(check);
}

static void check_everything(eb_check *check) {
  eb_check_groups(check);
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    if (eb_solver_wants_options(*at)) continue;
    check->solver = *at;
    eb_check_groups(check);
  }
}

static eb_error print_end(printer *to) {
  if (to->error) return to->error;
  if (to->format == EB_CHECK_JSON)
    fprintf(to->out, "  ],\n  \"count\": %d,\n  \"failed\": %d\n}\n", to->count, to->failed);
  else if (to->format == EB_CHECK_TEXT)
    fprintf(to->out, "%d figures, %d out of bounds\n", to->count, to->failed);
  else
    EB_TRY(print_tests(to));
  if (ferror(to->out)) return EB_ERROR(EB_ERR_IO, "cannot write the figures of the checks");
  return EB_OK;
}

static eb_error find_solver(const eb_plugins *plugins, const char *name, const eb_solver_ops **out,
                            const eb_plugin **plugin) {
  EB_TRY(eb_solver_lookup(plugins, name, out, plugin));
  if (!eb_solver_wants_options(*out)) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE,
                  "'%s' has no defaults to be checked with: run it, its steps are audited", name);
}

eb_error eb_check_run(const eb_plugins *plugins, const char *solver_or_null, uint64_t seed,
                      eb_check_format format, FILE *out, int *failed) {
  printer to = {.out = out, .format = format, .status = eb_status_line_of_terminal()};
  eb_check check = {.seed = seed, .emit = print_figure, .begin = tell_group, .context = &to};
  const eb_solver_ops *solver = NULL;
  const eb_plugin *plugin = NULL;
  int loaded = plugins ? plugins->count : 0;
  *failed = 0;
  if (solver_or_null) EB_TRY(find_solver(plugins, solver_or_null, &solver, &plugin));
  for (int i = 0; !solver && i < loaded; i++)
    EB_TRY(find_solver(plugins, plugins->items[i].solver->name, &check.solver, NULL));
  check.solver = solver;
  if (format == EB_CHECK_JSON) fputs("{\n  \"checks\": [", out);
  if (plugin)
    check_plugin(&check, solver);
  else if (solver)
    eb_check_groups(&check);
  else if (loaded == 0)
    check_everything(&check);
  for (int i = 0; !solver && i < loaded; i++) check_plugin(&check, plugins->items[i].solver);
  eb_status_line_wipe(&to.status);
  eb_error error = print_end(&to);
  clear_waiting(&to);
  *failed = to.failed;
  return error;
}
