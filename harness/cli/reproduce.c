/* elastobench reproduce: a paper's tables and claims beside ours. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/session.h"
#include "harness/case/vouch.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/environment.h"
#include "harness/reproduce/outcome.h"
#include "harness/results/json.h"
#include "problems/base/file.h"

static const eb_flag flags[] = {
    {"quick", 0, NULL, "fewer frames, as the paper's file says; every figure says how many"},
    {"output", 'o', "DIR", "folder for results and page (reproduction)"},
    {"resume", 0, NULL, "run only what DIR lacks"},
    {"overwrite", 0, NULL, "replace what DIR holds; with --resume only when not comparable"},
    {"dry-run", 0, NULL, "print the cases and run nothing"},
    {"judge", 0, NULL, "run nothing: judge what DIR holds"},
    {"from", 0, "FOLDER", "read the paper from FOLDER/PAPER instead of the built-in ones"},
    EB_FLAG_PLUGIN,
    {"format", 0, "text|json|markdown", "how to print; markdown is written to DIR/RESULTS.md too"},
    {0}};

/* What a reproduction holds. */
typedef struct job {
  const eb_arguments *arguments;
  const char *folder, *from, *item; /* item NULL: everything */
  bool json, markdown, interrupted;
  char target[4096];
  eb_paper *paper;
  eb_paper_choice choice;
  eb_paper_plan plan;
  eb_plugins plugins;
  eb_results *results;
  eb_evidence evidence;
  eb_reproduction reproduction;
} job;

/* ---- running ---------------------------------------------------------------------------------- */

static eb_existing existing_of(const eb_arguments *arguments) {
  bool resume = eb_arguments_has(arguments, "resume");
  bool overwrite = eb_arguments_has(arguments, "overwrite");
  return resume && overwrite ? EB_EXISTING_RESUME_OR_OVERWRITE
         : resume            ? EB_EXISTING_RESUME
         : overwrite         ? EB_EXISTING_OVERWRITE
                             : EB_EXISTING_REFUSE;
}

static eb_error make_folder(const char *folder) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "cannot create the folder '%s': %s", folder, strerror(errno));
}

static eb_error run_cases(job *j) {
  eb_session_end end;
  eb_session session = {.plan = &j->plan.plan,
                        .target = j->target,
                        .command_line = eb_arguments_line(j->arguments),
                        .existing = existing_of(j->arguments)};
  if (j->plan.plan.count + j->plan.plan.sweep_count == 0) return EB_OK;
  EB_TRY(eb_session_run(&session, &end));
  j->interrupted = end.interrupted;
  return EB_OK;
}

static eb_error run_all(job *j) {
  EB_TRY(make_folder(j->folder));
  return run_cases(j);
}

/* ---- what came of it -------------------------------------------------------------------------- */

static eb_error write_page(job *j) {
  char path[4096];
  eb_text page = {0};
  EB_TRY(eb_reproduction_draw(&j->reproduction, j->folder));
  snprintf(path, sizeof path, "%s/index.html", j->folder);
  eb_error error = eb_reproduction_html(&j->reproduction, &page);
  if (!error) error = eb_file_write(path, page.data, page.length);
  eb_text_clear(&page);
  return error;
}

static eb_error print_markdown(const job *j) {
  char path[4096];
  eb_text text = {0};
  snprintf(path, sizeof path, "%s/RESULTS.md", j->folder);
  eb_error error = eb_reproduction_markdown(&j->reproduction, &text);
  if (!error) error = eb_file_write(path, text.data, text.length);
  if (!error) fwrite(text.data, 1, text.length, stdout);
  eb_text_clear(&text);
  return error;
}

static eb_error read_format(job *j) {
  const char *format = eb_arguments_text(j->arguments, "format");
  j->markdown = format && strcmp(format, "markdown") == 0;
  j->json = format && strcmp(format, "json") == 0;
  if (!format || j->json || j->markdown || strcmp(format, "text") == 0) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "--format is text, json or markdown, not '%s'", format);
}

static eb_error print(const job *j) {
  json_t *json;
  if (j->json) {
    EB_TRY(eb_reproduction_json(&j->reproduction, &json));
    return eb_json_print(json, stdout);
  }
  if (j->markdown) return print_markdown(j);
  EB_TRY(eb_reproduction_print(&j->reproduction, stdout));
  printf("%s/index.html\n", j->folder);
  return EB_OK;
}

/* A verdict is a result, whichever it is. A solver that fails where the paper's does not is not. */
static int code_of(const job *j) {
  int verdicts = 0;
  bool failed = false, audit = false;
  for (int c = 0; c < j->paper->case_count; c++) {
    const eb_case_evidence *found = &j->evidence.cases[c];
    const eb_run *run = eb_evidence_run(&j->evidence, c);
    if (!j->choice.cases[c]) continue;
    failed |= found->standing == EB_STANDING_FAILED && !j->paper->cases[c].may_fail;
    audit |= run && strcmp(run->audit, "failed") == 0;
  }
  for (int c = 0; c < j->reproduction.claim_count; c++)
    verdicts += j->reproduction.claims[c].finding.ruling != EB_NOT_COMPARABLE;
  if (j->interrupted) return EB_EXIT_INTERRUPTED;
  if (failed) return EB_EXIT_SOLVER_FAILED;
  if (audit) return EB_EXIT_AUDIT_FAILED;
  return verdicts || j->reproduction.measured ? EB_EXIT_GOOD : EB_EXIT_NOTHING;
}

static eb_error open_results(job *j) {
  if (access(j->target, F_OK) && eb_arguments_has(j->arguments, "judge"))
    return EB_ERROR(EB_ERR_IO, "there is no '%s' to judge; without --judge it is made", j->target);
  if (access(j->target, F_OK)) return EB_OK;
  EB_TRY(eb_vouch_results(j->target, NULL));
  return eb_results_open(j->target, &j->results);
}

static eb_error conclude(job *j, int *code) {
  EB_TRY(open_results(j));
  EB_TRY(eb_evidence_create(j->paper, &j->plan, j->results, &j->evidence));
  EB_TRY(eb_reproduction_create(&j->evidence, &j->choice, &j->reproduction));
  EB_TRY(print(j));
  EB_TRY(write_page(j));
  *code = code_of(j);
  if (*code == EB_EXIT_NOTHING) fprintf(stderr, "elastobench: nothing was measured\n");
  if (j->interrupted) fprintf(stderr, "elastobench: interrupted; --resume runs what is missing\n");
  return EB_OK;
}

/* ---- the command ------------------------------------------------------------------------------ */

static eb_error prepare(job *j, char *name) {
  const char *folder = eb_arguments_text(j->arguments, "output");
  char *slash = strchr(name, '/');
  if (slash) *slash = '\0';
  j->item = slash ? slash + 1 : NULL;
  j->folder = folder ? folder : "reproduction";
  j->from = eb_arguments_text(j->arguments, "from");
  if (!*j->folder) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a folder");
  EB_TRY(read_format(j));
  EB_TRY(eb_arguments_plugins(j->arguments, &j->plugins));
  EB_TRY(eb_paper_load(name, j->from, eb_arguments_has(j->arguments, "quick"), &j->paper));
  EB_TRY(eb_paper_choose(j->paper, j->item, &j->choice));
  snprintf(j->target, sizeof j->target, "%s/%s.h5", j->folder, name);
  return eb_paper_plan_create(j->paper, j->choice.cases, &j->plugins, &j->plan);
}

static eb_error reproduce(job *j, char *name, int *code) {
  EB_TRY(prepare(j, name));
  if (eb_arguments_has(j->arguments, "dry-run"))
    return eb_summary_plan(&j->plan.plan, j->json, stdout);
  if (!eb_arguments_has(j->arguments, "judge")) EB_TRY(run_all(j));
  return conclude(j, code);
}

static void release(job *j) {
  eb_reproduction_clear(&j->reproduction);
  eb_evidence_clear(&j->evidence);
  eb_results_close(j->results);
  eb_paper_plan_clear(&j->plan);
  eb_paper_choice_clear(&j->choice);
  eb_paper_destroy(j->paper);
  eb_plugins_clear(&j->plugins);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  job j = {.arguments = arguments};
  char *name = strdup(eb_arguments_positional(arguments)->items[0]);
  eb_error error =
      name ? reproduce(&j, name, code) : EB_ERROR(EB_ERR_MEMORY, "cannot keep a paper's name");
  release(&j);
  free(name);
  return error;
}

const eb_command eb_command_reproduce = {
    .name = "reproduce",
    .synopsis = "PAPER[/ITEM] [--quick] [-o DIR] [options]",
    .summary = "a paper's tables beside ours, claim by claim, with a verdict",
    .details =
        "ITEM is a table or a claim of the paper ('elastobench list claims'): only the cases "
        "that it needs are run.\nDIR/PAPER.h5 keeps the results, DIR/index.html shows "
        "them.",
    .flags = flags,
    .least = 1,
    .most = 1,
    .run = run};
