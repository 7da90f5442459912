/* elastobench reproduce: a paper's tables and claims beside ours. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/session.h"
#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/environment.h"
#include "harness/reproduce/overview.h"
#include "harness/results/json.h"
#include "problems/base/text.h"

static const eb_flag flags[] = {
    {"quick", 0, NULL, "fewer frames, as the paper's file says; every figure says how many"},
    {"output", 'o', "DIR",
     "folder for results and page (reproduction); of several papers each has one below it"},
    {"resume", 0, NULL, "run only what DIR lacks"},
    {"overwrite", 0, NULL, "replace what DIR holds; with --resume only when not comparable"},
    {"dry-run", 0, NULL, "print the cases and run nothing"},
    {"judge", 0, NULL, "run nothing: judge what DIR holds"},
    {"from", 0, "FOLDER", "read the paper from FOLDER/PAPER instead of the built-in ones"},
    EB_FLAG_PLUGIN,
    {"format", 0, "text|json|markdown", "how to print; markdown is written to DIR/RESULTS.md too"},
    {0}};

/* What the papers of one command come to. */
typedef struct gathering {
  eb_overview overview;
  json_t *papers;     /* or NULL */
  const char *folder; /* of the overview */
  bool interrupted, measured;
  int code; /* the worst */
} gathering;

/* What a reproduction holds. */
typedef struct job {
  const eb_arguments *arguments;
  gathering *all;          /* NULL: there is one paper */
  const char *from, *item; /* item NULL: everything */
  bool json, markdown, interrupted;
  char folder[2048];
  char target[4096];
  eb_paper *paper;
  eb_paper_choice choice;
  eb_paper_plan plan;
  eb_plugins plugins;
  eb_results *results;
  eb_evidence evidence;
  eb_reproduction reproduction;
} job;

/* ---- running -------------------------------------------------------------------------------- */

static eb_error make_folder(const char *folder) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "cannot create the folder '%s': %s", folder, strerror(errno));
}

static eb_error run_cases(job *j) {
  eb_session_end end;
  eb_session session = {.plan = &j->plan.plan,
                        .target = j->target,
                        .command_line = eb_arguments_line(j->arguments),
                        .existing = eb_arguments_existing(j->arguments)};
  if (j->plan.plan.count + j->plan.plan.sweep_count == 0) return EB_OK;
  EB_TRY(eb_session_run(&session, &end));
  j->interrupted = end.interrupted;
  return EB_OK;
}

/* ---- what came of it ------------------------------------------------------------------------ */

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
  if (!error && !j->all) fwrite(text.data, 1, text.length, stdout);
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
    if (!j->all) return eb_json_print(json, stdout);
    json_array_append_new(j->all->papers, json);
    return EB_OK;
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
    failed |= found->status == EB_RUN_FAILED && !j->paper->cases[c].may_fail;
    audit |= run && strcmp(run->audit, "failed") == 0;
  }
  for (int c = 0; c < j->reproduction.claim_count; c++)
    verdicts += j->reproduction.claims[c].result.verdict != EB_NOT_COMPARABLE;
  if (j->interrupted) return EB_EXIT_INTERRUPTED;
  if (failed) return EB_EXIT_SOLVER_FAILED;
  if (audit) return EB_EXIT_AUDIT_FAILED;
  return verdicts || j->reproduction.measured ? EB_EXIT_GOOD : EB_EXIT_NOTHING;
}

static eb_error open_results(job *j) {
  if (access(j->target, F_OK) && !j->all && eb_arguments_has(j->arguments, "judge"))
    return EB_ERROR(EB_ERR_IO, "there is no '%s' to judge; without --judge it is made", j->target);
  if (access(j->target, F_OK)) return EB_OK;
  EB_TRY(eb_sandbox_verify("results", j->target, NULL));
  return eb_results_open(j->target, &j->results);
}

static eb_error conclude(job *j, int *code) {
  EB_TRY(open_results(j));
  EB_TRY(eb_evidence_create(j->paper, &j->plan, j->results, &j->evidence));
  EB_TRY(eb_reproduction_create(&j->evidence, &j->choice, &j->reproduction));
  EB_TRY(print(j));
  EB_TRY(write_page(j));
  *code = code_of(j);
  if (j->all) return eb_overview_add(&j->all->overview, &j->reproduction, j->paper->name);
  if (*code == EB_EXIT_NOTHING) fprintf(stderr, "elastobench: nothing was measured\n");
  if (j->interrupted) fprintf(stderr, "elastobench: interrupted; --resume runs what is missing\n");
  return EB_OK;
}

/* ---- the command ---------------------------------------------------------------------------- */

static eb_error prepare(job *j, char *name) {
  const char *folder = eb_arguments_text(j->arguments, "output");
  char *slash = strchr(name, '/');
  if (slash) *slash = '\0';
  j->item = slash ? slash + 1 : NULL;
  j->from = eb_arguments_text(j->arguments, "from");
  if (!folder) folder = "reproduction";
  if (!*folder) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a folder");
  snprintf(j->folder, sizeof j->folder, "%s%s%s", folder, j->all ? "/" : "", j->all ? name : "");
  EB_TRY(read_format(j));
  EB_TRY(eb_arguments_plugins(j->arguments, &j->plugins));
  EB_TRY(eb_paper_load(name, j->from, eb_arguments_has(j->arguments, "quick"), &j->paper));
  EB_TRY(eb_paper_choose(j->paper, j->item, &j->choice));
  snprintf(j->target, sizeof j->target, "%s/%s.h5", j->folder, name);
  return eb_paper_plan_create(j->paper, j->choice.cases, &j->plugins, &j->plan);
}

static eb_error reproduce(job *j, char *name, int *code) {
  EB_TRY(prepare(j, name));
  if (eb_arguments_has(j->arguments, "dry-run") && j->all) printf("%s\n", j->paper->name);
  if (eb_arguments_has(j->arguments, "dry-run"))
    return eb_summary_plan(&j->plan.plan, j->json, stdout);
  if (j->all || !eb_arguments_has(j->arguments, "judge")) EB_TRY(make_folder(j->folder));
  if (!eb_arguments_has(j->arguments, "judge")) EB_TRY(run_cases(j));
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

static eb_error reproduce_one(const eb_arguments *arguments, gathering *all, const char *name,
                              int *code) {
  job j = {.arguments = arguments, .all = all};
  char *own = strdup(name);
  eb_error error =
      own ? reproduce(&j, own, code) : EB_ERROR(EB_ERR_MEMORY, "cannot keep a paper's name");
  if (all) all->interrupted = j.interrupted;
  release(&j);
  free(own);
  return error;
}

/* ---- several papers ------------------------------------------------------------------------- */

static eb_error write_overview(const gathering *all, bool markdown) {
  char path[4096];
  eb_text html = {0}, text = {0};
  eb_error error = eb_overview_html(&all->overview, &html);
  if (!error) error = eb_overview_markdown(&all->overview, &text);
  snprintf(path, sizeof path, "%s/index.html", all->folder);
  if (!error) error = eb_file_write(path, html.data, html.length);
  snprintf(path, sizeof path, "%s/RESULTS.md", all->folder);
  if (!error) error = eb_file_write(path, text.data, text.length);
  if (!error && markdown) fwrite(text.data, 1, text.length, stdout);
  eb_text_clear(&html);
  eb_text_clear(&text);
  return error;
}

static eb_error print_all(gathering *all, bool markdown) {
  const int *of = all->overview.tally;
  EB_TRY(write_overview(all, markdown));
  if (all->papers) {
    json_t *papers = all->papers;
    all->papers = NULL;
    return eb_json_print(json_pack("{s:o}", "papers", papers), stdout);
  }
  if (markdown) return EB_OK;
  printf("%d papers: %d claims reproduced, %d not reproduced, %d not comparable\n%s/index.html\n",
         all->overview.paper_count, of[EB_REPRODUCED], of[EB_NOT_REPRODUCED], of[EB_NOT_COMPARABLE],
         all->folder);
  return EB_OK;
}

/* What asks for attention before what does not; that nothing was measured only when it holds for
 * all. */
static void add_code(gathering *all, int code) {
  all->measured = all->measured || code != EB_EXIT_NOTHING;
  if (code != EB_EXIT_GOOD && code != EB_EXIT_NOTHING &&
      (all->code == EB_EXIT_GOOD || code < all->code || code == EB_EXIT_INTERRUPTED))
    all->code = code;
}

static eb_error reproduce_all(const eb_arguments *arguments, const eb_strings *names,
                              gathering *all) {
  const char *format = eb_arguments_text(arguments, "format");
  bool plan = eb_arguments_has(arguments, "dry-run"), json = format && strcmp(format, "json") == 0;
  if (plan && json)
    return EB_ERROR(EB_ERR_USAGE, "--dry-run --format json is of one paper, not of several");
  if (json) all->papers = json_array();
  all->overview.has_markdown = format && strcmp(format, "markdown") == 0;
  if (!plan) EB_TRY(make_folder(all->folder));
  for (int i = 0; i < names->count && !all->interrupted; i++) {
    int code = EB_EXIT_GOOD;
    EB_TRY(reproduce_one(arguments, all, names->items[i], &code));
    add_code(all, code);
  }
  return plan ? EB_OK : print_all(all, all->overview.has_markdown);
}

/* A paper has one folder: its items would be in each other's way. */
static eb_error check_once(const eb_strings *names) {
  for (int i = 0; i < names->count; i++)
    for (int k = 0; k < i; k++) {
      size_t length = strcspn(names->items[i], "/");
      if (length == strcspn(names->items[k], "/") &&
          strncmp(names->items[i], names->items[k], length) == 0)
        return EB_ERROR(EB_ERR_USAGE, "'%.*s' is named twice: take its items one after the other",
                        (int)length, names->items[i]);
    }
  return EB_OK;
}

/* "all" stands for the papers that are compiled in. */
static eb_error name_papers(const eb_arguments *arguments, eb_strings *out) {
  const eb_strings *given = eb_arguments_positional(arguments);
  for (int i = 0; i < given->count; i++)
    EB_TRY(strcmp(given->items[i], "all") == 0 ? eb_paper_names(out)
                                               : eb_strings_add(out, given->items[i]));
  return check_once(out);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  const eb_strings *given = eb_arguments_positional(arguments);
  const char *folder = eb_arguments_text(arguments, "output");
  if (given->count == 1 && strcmp(given->items[0], "all") != 0)
    return reproduce_one(arguments, NULL, given->items[0], code);
  gathering all = {.folder = folder ? folder : "reproduction"};
  eb_strings names = {0};
  eb_error error = name_papers(arguments, &names);
  if (!error) error = reproduce_all(arguments, &names, &all);
  if (!error) *code = all.measured ? all.code : EB_EXIT_NOTHING;
  eb_overview_clear(&all.overview);
  json_decref(all.papers);
  eb_strings_clear(&names);
  return error;
}

const eb_command eb_command_reproduce = {
    .name = "reproduce",
    .synopsis = "PAPER[/ITEM].. | all [--quick] [-o DIR] [options]",
    .summary = "a paper's tables beside ours, claim by claim, with a verdict",
    .details =
        "ITEM is a table or a claim of the paper ('elastobench list claims'): only the cases "
        "that it needs are run.\nDIR/PAPER.h5 keeps the results, DIR/index.html shows "
        "them. Several papers, or all, each have DIR/PAPER, and\nDIR/index.html and "
        "DIR/RESULTS.md show the verdicts of all; with --judge of what is there already.",
    .flags = flags,
    .least = 1,
    .most = 64,
    .run = run};
