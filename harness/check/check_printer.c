#include "harness/check/check_printer.h"

#include <math.h>
#include <string.h>

#include "harness/print.h"
#include "harness/results/ci.h"
#include "harness/results/json.h"
#include "problems/base/memory.h"
#include "problems/base/strings.h"

const char *const eb_check_format_names[EB_CHECK_FORMATS] = {"text", "json", "junit", "tap"};

static void print_json(eb_check_printer *to, const eb_check_figure *figure) {
  bool judged = !isnan(figure->bound);
  json_t *json = eb_json_pack(
      "{s:s, s:f, s:o, s:f, s:b, s:s}", "name", figure->name, "measured", figure->measured,
      "relation", judged ? json_string(figure->at_least ? ">=" : "<=") : json_null(), "bound",
      figure->bound, "passed", figure->passed, "reason", figure->reason);
  fprintf(to->out, "%s\n    ", to->count ? "," : "");
  eb_error error = eb_json_line(json, to->out);
  if (to->error)
    eb_error_free(error);
  else
    to->error = error;
}

/* "group/subject/what" is a test of the suite "group/subject". */
static eb_error keep(eb_check_printer *to, const eb_check_figure *figure) {
  const char *slash = strrchr(figure->name, '/');
  EB_TRY(EB_APPEND(to->waiting, to->waiting_count));
  eb_check_waiting *fresh = &to->waiting[to->waiting_count - 1];
  fresh->passed = figure->passed;
  EB_TRY(eb_string_format(&fresh->suite, "%.*s", slash ? (int)(slash - figure->name) : 0,
                          figure->name));
  EB_TRY(eb_string_format(&fresh->name, "%s", slash ? slash + 1 : figure->name));
  EB_TRY(eb_string_format(&fresh->message, "%.3g is not %s %.3g", figure->measured,
                          figure->at_least ? ">=" : "<=", figure->bound));
  return eb_string_format(&fresh->detail, "%s", figure->reason);
}

static eb_error print_tests(const eb_check_printer *to) {
  eb_ci_test *tests;
  EB_TRY(EB_NEW(tests, to->waiting_count));
  for (int i = 0; i < to->waiting_count; i++) {
    const eb_check_waiting *w = &to->waiting[i];
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

static void clear_waiting(eb_check_printer *to) {
  for (int i = 0; i < to->waiting_count; i++) {
    free(to->waiting[i].suite);
    free(to->waiting[i].name);
    free(to->waiting[i].message);
    free(to->waiting[i].detail);
  }
  free(to->waiting);
}

/* Some groups take many seconds to a figure. */
static void show_group(eb_check_printer *to) {
  eb_status_line_show(&to->status, "checking %s%s%s", to->solver ? to->solver : "",
                      to->solver ? ": " : "", to->group);
}

static void tell_group(void *context, const char *solver, const char *group) {
  eb_check_printer *to = context;
  to->solver = solver;
  to->group = group;
  eb_status_line_wipe(&to->status);
  show_group(to);
}

/* What has no bound, nor perhaps a number. */
static void print_note(FILE *out, const eb_check_figure *figure) {
  char measured[32] = "";
  if (!isnan(figure->measured)) snprintf(measured, sizeof measured, "%.4g", figure->measured);
  eb_print(out, "%-6s %-46s %10s %-11s  %s\n", "note", figure->name, measured, "", figure->reason);
}

static void print_figure(void *context, const eb_check_figure *figure) {
  eb_check_printer *to = context;
  eb_status_line_wipe(&to->status);
  if (to->format == EB_CHECK_JSON)
    print_json(to, figure);
  else if (to->format != EB_CHECK_TEXT)
    to->error = to->error ? to->error : keep(to, figure);
  else if (isnan(figure->bound))
    print_note(to->out, figure);
  else
    eb_print(to->out, "%-6s %-46s %10.3g %s %-8.3g  %s\n", figure->passed ? "ok" : "FAILED",
             figure->name, figure->measured, figure->at_least ? ">=" : "<=", figure->bound,
             figure->reason);
  fflush(to->out);
  show_group(to);
  to->count++;
  to->failed += !figure->passed;
}

static eb_error print_end(eb_check_printer *to) {
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

eb_check eb_check_printer_open(eb_check_printer *to, FILE *out, eb_check_format format) {
  *to = (eb_check_printer){.out = out, .format = format, .status = eb_status_line_of_terminal()};
  if (format == EB_CHECK_JSON) fputs("{\n  \"checks\": [", out);
  return (eb_check){.emit = print_figure, .begin = tell_group, .context = to};
}

eb_error eb_check_printer_close(eb_check_printer *to, int *failed) {
  eb_status_line_wipe(&to->status);
  eb_error error = print_end(to);
  clear_waiting(to);
  *failed = to->failed;
  return error;
}
