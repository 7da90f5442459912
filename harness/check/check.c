/* Running the checks and printing their figures. */
#include "harness/check/check.h"

#include "harness/plugin.h"
#include "harness/print.h"
#include "problems/base/text.h"

#include <math.h>
#include <string.h>

/* ---- groups ---- */

static const eb_check_group *const tables[] = {eb_checks_materials, eb_checks_accuracy,
                                               eb_checks_dynamics,  eb_checks_conjac,
                                               eb_checks_cutting,   eb_checks_contact};
enum { TABLES = sizeof tables / sizeof *tables };

const eb_check_group *eb_check_group_find(const char *name) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_check_group *at = tables[t]; at->name; at++)
      if (strcmp(at->name, name) == 0) return at;
  return NULL;
}

static void run_group(const eb_check *check, const eb_check_group *group) {
  const char *name = check->solver ? check->solver->name : NULL;
  bool applies = group->solver && name ? !strcmp(group->solver, "*") || !strcmp(group->solver, name)
                                       : !group->solver && !name;
  if (!applies) return;
  eb_error error = group->run(check);
  if (error)
    eb_check_below(check, NAN, 0, eb_error_message(error), "%s%s%s/completed", name ? name : "",
                   name ? "/" : "", group->name);
  eb_error_free(error);
}

void eb_check_groups(const eb_check *check) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_check_group *at = tables[t]; at->name; at++) run_group(check, at);
}

/* ---- printing ---- */

typedef struct printer {
  FILE *out;
  bool json;
  int count, failed;
} printer;

/* JSON strings of our own names and messages: quotes, backslashes and control characters
 * escaped. */
static void print_quoted(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      fprintf(out, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      fprintf(out, "\\u%04x", (unsigned)*text);
    else
      fputc(*text, out);
  fputc('"', out);
}

/* JSON knows no NaN and no infinity. */
static void print_number(FILE *out, double value) {
  if (isfinite(value))
    fprintf(out, "%.17g", value);
  else
    fputs("null", out);
}

static void print_json(printer *to, const eb_check_figure *figure) {
  fprintf(to->out, "%s\n    {\"name\": ", to->count ? "," : "");
  print_quoted(to->out, figure->name);
  fputs(", \"measured\": ", to->out);
  print_number(to->out, figure->measured);
  fprintf(to->out, ", \"relation\": \"%s\", \"bound\": ", figure->at_least ? ">=" : "<=");
  print_number(to->out, figure->bound);
  fprintf(to->out, ", \"passed\": %s, \"reason\": ", figure->passed ? "true" : "false");
  print_quoted(to->out, figure->reason);
  fputc('}', to->out);
}

static void print_figure(void *context, const eb_check_figure *figure) {
  printer *to = context;
  if (to->json)
    print_json(to, figure);
  else
    eb_print(to->out, "%-6s %-46s %10.3g %s %-8.3g  %s\n", figure->passed ? "ok" : "FAILED",
             figure->name, figure->measured, figure->at_least ? ">=" : "<=", figure->bound,
             figure->reason);
  fflush(to->out);
  to->count++;
  to->failed += !figure->passed;
}

eb_error eb_check_run(const char *solver_or_null, bool json, FILE *out, int *failed) {
  printer to = {.out = out, .json = json};
  eb_check check = {.emit = print_figure, .context = &to};
  *failed = 0;
  if (solver_or_null) EB_TRY(eb_solver_lookup(NULL, solver_or_null, &check.solver, NULL));
  if (json) fputs("{\n  \"checks\": [", out);
  eb_check_groups(&check);
  for (const eb_solver_ops *const *at = eb_solvers(); !solver_or_null && *at; at++) {
    check.solver = *at;
    eb_check_groups(&check);
  }
  if (json)
    fprintf(out, "\n  ],\n  \"count\": %d,\n  \"failed\": %d\n}\n", to.count, to.failed);
  else
    fprintf(out, "%d figures, %d out of bounds\n", to.count, to.failed);
  *failed = to.failed;
  if (ferror(out)) return EB_ERROR(EB_ERR_IO, "cannot write the figures of the checks");
  return EB_OK;
}
