/* elastobench laws: solvers beside what mechanics says exactly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/case/sandbox.h"
#include "harness/case/session.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/laws/law_report.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/report/page.h"
#include "harness/results/json.h"
#include "problems/base/owned.h"

static const eb_flag flags[] = {
    {"solver", 's', "NAME[:o=v,..]", "a solver, as often as wanted (all)"},
    {"law", 'l', "ID", "a law, as often as wanted (all)"},
    {"quick", 0, NULL, "smaller grids and shorter runs"},
    {"output", 'o', "DIR", "folder for results and page (laws)"},
    {"resume", 0, NULL, "run only what DIR lacks"},
    {"overwrite", 0, NULL, "replace what DIR holds"},
    {"dry-run", 0, NULL, "print the cases and run nothing"},
    {"judge", 0, NULL, "run nothing: judge what DIR holds"},
    {"from", 0, "FILE.ini", "laws of yours instead of the built-in ones"},
    {"strict", 0, NULL, "exit with 5 when a law is broken or a solver fails"},
    EB_FLAG_PLUGIN,
    {"format", 0, "text|json|markdown|junit", "how to print"},
    {0}};

typedef enum law_format { AS_TEXT, AS_JSON, AS_MARKDOWN, AS_JUNIT, AS_COUNT } law_format;

/* What a survey holds. */
typedef struct job {
  const eb_arguments *arguments;
  law_format format;
  const char *folder;
  char target[4096];
  eb_plugins plugins;
  eb_law_book book;
  eb_strings solvers;
  eb_law_survey survey;
  eb_paper_plan plan;
  eb_results *results;
  eb_evidence evidence;
  eb_law_report report;
  bool interrupted;
} job;

/* ---- what is asked for ----------------------------------------------------------------------- */

static eb_error read_format(const eb_arguments *arguments, law_format *out) {
  static const char *const names[AS_COUNT] = {"text", "json", "markdown", "junit"};
  const char *name = eb_arguments_text(arguments, "format");
  for (*out = AS_TEXT; *out < AS_COUNT; ++*out)
    if (strcmp(names[*out], name ? name : "text") == 0) return EB_OK;
  return eb_unknown(EB_ERR_USAGE, name, names, AS_COUNT, "laws has no format");
}

/* All that can run without being given anything, unless some are named. */
static eb_error choose_solvers(job *j) {
  const eb_strings *named = eb_arguments_values(j->arguments, "solver");
  for (int i = 0; i < named->count; i++) EB_TRY(eb_strings_add(&j->solvers, named->items[i]));
  if (named->count) return EB_OK;
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++)
    if (!eb_solver_wants_options(*at)) EB_TRY(eb_strings_add(&j->solvers, (*at)->name));
  for (int i = 0; i < j->plugins.count; i++)
    EB_TRY(eb_strings_add(&j->solvers, j->plugins.items[i].solver->name));
  return EB_OK;
}

static eb_error prepare(job *j) {
  const char *folder = eb_arguments_text(j->arguments, "output");
  j->folder = folder ? folder : "laws";
  if (!*j->folder) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a folder");
  snprintf(j->target, sizeof j->target, "%s/laws.h5", j->folder);
  EB_TRY(read_format(j->arguments, &j->format));
  if (eb_arguments_has(j->arguments, "judge") && access(j->target, F_OK) != 0)
    return EB_ERROR(EB_ERR_IO, "there is no '%s' to judge; without --judge it is made", j->target);
  EB_TRY(eb_arguments_plugins(j->arguments, &j->plugins));
  EB_TRY(eb_law_book_read(eb_arguments_text(j->arguments, "from"),
                          eb_arguments_has(j->arguments, "quick"), &j->book));
  EB_TRY(eb_law_book_keep(&j->book, eb_arguments_values(j->arguments, "law")));
  EB_TRY(choose_solvers(j));
  EB_TRY(eb_law_survey_create(&j->book, &j->solvers, &j->plugins, &j->survey));
  return eb_paper_plan_create(&j->survey.paper, NULL, &j->plugins, &j->plan);
}

/* ---- what comes of it ------------------------------------------------------------------------ */

static eb_error write_page(job *j) {
  EB_OWNED(eb_text_clear) eb_text page = {0};
  EB_TRY(eb_law_report_draw(&j->report, j->folder));
  EB_TRY(eb_law_report_write(&j->report, EB_DOC_HTML, &page));
  return eb_page_write(&page, j->folder);
}

static eb_error print(const job *j) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  if (j->format == AS_JUNIT) return eb_law_report_junit(&j->report, stdout);
  if (j->format == AS_JSON) {
    json_t *json = NULL;
    eb_error error = eb_law_report_json(&j->report, &json);
    if (!error) return eb_json_print(json, stdout);
    json_decref(json);
    return error;
  }
  EB_TRY(eb_law_report_write(&j->report, j->format == AS_MARKDOWN ? EB_DOC_MARKDOWN : EB_DOC_TEXT,
                             &text));
  eb_print(stdout, "%s", text.data);
  if (j->format == AS_TEXT) eb_print(stdout, "%s/index.html\n", j->folder);
  return EB_OK;
}

static int code_of(const job *j) {
  int tally[EB_LAW_STATES];
  eb_law_report_tally(&j->report, tally);
  if (j->interrupted) return EB_EXIT_INTERRUPTED;
  if (tally[EB_LAW_HOLDS] + tally[EB_LAW_BROKEN] + tally[EB_LAW_FAILED] == 0)
    return EB_EXIT_NOTHING;
  bool wrong = tally[EB_LAW_BROKEN] + tally[EB_LAW_FAILED] > 0;
  return wrong && eb_arguments_has(j->arguments, "strict") ? EB_EXIT_REGRESSION : EB_EXIT_GOOD;
}

static eb_error conclude(job *j, int *code) {
  EB_TRY(eb_sandbox_verify("results", j->target, NULL));
  EB_TRY(eb_results_open(j->target, &j->results));
  EB_TRY(eb_evidence_create(&j->survey.paper, &j->plan, j->results, &j->evidence));
  EB_TRY(eb_law_survey_judge(&j->survey, &j->evidence));
  j->report = (eb_law_report){.survey = &j->survey,
                              .results = j->results,
                              .detailed = eb_arguments_has(j->arguments, "law")};
  EB_TRY(write_page(j));
  EB_TRY(print(j));
  *code = code_of(j);
  if (*code == EB_EXIT_NOTHING) eb_print(stderr, "elastobench: nothing was measured\n");
  return EB_OK;
}

static eb_error measure(job *j, int *code) {
  EB_TRY(prepare(j));
  const eb_plan *plan = &j->plan.plan;
  if (eb_arguments_has(j->arguments, "dry-run"))
    return eb_summary_plan(plan, j->format == AS_JSON, stdout);
  if (!eb_arguments_has(j->arguments, "judge")) {
    eb_session_end end;
    const eb_session session = {.plan = plan,
                                .target = j->target,
                                .command_line = j->arguments->line,
                                .existing = eb_arguments_existing(j->arguments)};
    EB_TRY(eb_folder_make(j->folder));
    EB_TRY(eb_session_run(&session, &end));
    j->interrupted = end.interrupted;
  }
  return conclude(j, code);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  job j = {.arguments = arguments};
  eb_error error = measure(&j, code);
  free(j.report.plotted);
  eb_evidence_clear(&j.evidence);
  eb_results_close(j.results);
  eb_paper_plan_clear(&j.plan);
  eb_law_survey_clear(&j.survey);
  eb_strings_clear(&j.solvers);
  eb_law_book_clear(&j.book);
  eb_plugins_clear(&j.plugins);
  return error;
}

const eb_command eb_command_laws = {
    .name = "laws",
    .synopsis = "[-s S].. [-l LAW].. [--quick] [-o DIR] [options]",
    .summary = "every solver beside what mechanics says exactly, and beside itself told otherwise",
    .details =
        "A law is a scene, a grid, a measure and an exact value (reports/laws). Each solver that "
        "serves the scene is measured\nby it; DIR/laws.h5 keeps the runs, DIR/index.html shows the "
        "matrix of solvers and laws.",
    .flags = flags,
    .least = 0,
    .most = 0,
    .run = run};
