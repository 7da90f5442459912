/* elastobench reproduce: a paper's tables and claims beside ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/case/session.h"
#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/environment.h"
#include "harness/print.h"
#include "harness/report/page.h"
#include "harness/reproduce/outcome.h"
#include "harness/results/json.h"
#include "problems/base/strings.h"
#include "problems/base/text.h"

static const eb_flag flags[] = {
    {"quick", 0, NULL, "fewer frames, as the paper's file says; every figure says how many"},
    {"output", 'o', "DIR",
     "folder for results and page (reproduction); of several papers each has one below it"},
    {"resume", 0, NULL, "run only what DIR lacks"},
    {"overwrite", 0, NULL, "replace what DIR holds; with --resume only when not comparable"},
    {"dry-run", 0, NULL, "print the cases and run nothing"},
    {"judge", 0, NULL, "run nothing: judge what DIR holds"},
    {"shard", 0, "I/N",
     "only the I-th of N parts of one paper, to be merged and judged then; competitors stay "
     "together"},
    {"from", 0, "FOLDER", "read the paper from FOLDER/PAPER instead of the built-in ones"},
    EB_FLAG_PLUGIN,
    EB_FLAG_EXTERNAL,
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
  gathering *all; /* NULL: there is one paper */
  const char *from;
  int shard, shards; /* 0: everything, which is judged */
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

static eb_error write_file(const char *folder, const char *name, eb_text *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return eb_text_write(path, text);
}

/* ---- one paper ------------------------------------------------------------------------------ */

/* Of several papers the Markdown is kept alone: their overview is printed. */
static eb_error print_document(const job *j) {
  eb_text text = {0};
  eb_error error =
      eb_reproduction_write(&j->reproduction, j->markdown ? EB_DOC_MARKDOWN : EB_DOC_TEXT, &text);
  if (!error && j->markdown) error = write_file(j->folder, "RESULTS.md", &text);
  if (!error && !(j->markdown && j->all)) eb_print(stdout, "%s", text.data);
  if (!error && !j->markdown) eb_print(stdout, "%s/index.html\n", j->folder);
  eb_text_clear(&text);
  return error;
}

static eb_error print_json(const job *j) {
  json_t *json;
  EB_TRY(eb_reproduction_json(&j->reproduction, &json));
  if (!j->all) return eb_json_print(json, stdout);
  json_array_append_new(j->all->papers, json);
  return EB_OK;
}

/* What is printed, to the gathering of several papers or to the standard output, and the page. */
static eb_error show_locked(job *j) {
  eb_reproduction *found = &j->reproduction;
  eb_text page = {0};
  EB_TRY(j->json ? print_json(j) : print_document(j));
  EB_TRY(eb_reproduction_draw(found, j->folder));
  if (j->all) found->overview = "../index.html";
  eb_error error = eb_reproduction_write(found, EB_DOC_HTML, &page);
  if (!error) error = eb_page_write(&page, j->folder);
  eb_text_clear(&page);
  return error;
}

static eb_error show(job *j) {
  eb_lock lock;
  EB_TRY(eb_lock_folder(j->folder, &lock));
  eb_error error = show_locked(j);
  eb_lock_release(&lock);
  return error;
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
  if (j->interrupted) return EB_EXIT_INTERRUPTED;
  if (failed) return EB_EXIT_SOLVER_FAILED;
  if (audit) return EB_EXIT_AUDIT_FAILED;
  if (j->shards > 0) return EB_EXIT_GOOD;
  for (int c = 0; c < j->reproduction.claim_count; c++)
    verdicts += j->reproduction.claims[c].result.verdict != EB_NOT_COMPARABLE;
  return verdicts || j->reproduction.measured ? EB_EXIT_GOOD : EB_EXIT_NOTHING;
}

static eb_error conclude(job *j, int *code) {
  bool there = access(j->target, F_OK) == 0;
  if (!there && !j->all && eb_arguments_has(j->arguments, "judge"))
    return EB_ERROR(EB_ERR_IO, "there is no '%s' to judge; without --judge it is made", j->target);
  if (there) EB_TRY(eb_sandbox_verify("results", j->target, NULL));
  if (there) EB_TRY(eb_results_open(j->target, &j->results));
  EB_TRY(eb_evidence_create(j->paper, &j->plan, j->results, &j->evidence));
  if (j->shards == 0) {
    EB_TRY(eb_reproduction_create(&j->evidence, &j->choice, &j->reproduction));
    EB_TRY(show(j));
  }
  *code = code_of(j);
  if (j->all) {
    eb_overview_add(&j->all->overview, &j->reproduction, j->paper->name);
    return EB_OK;
  }
  if (*code == EB_EXIT_NOTHING) eb_print(stderr, "elastobench: nothing was measured\n");
  if (j->interrupted) eb_print(stderr, "elastobench: interrupted; --resume runs what is missing\n");
  return EB_OK;
}

/* Whether "PAPER" or "PAPER/ITEM" is of that paper; *item is then NULL or what is behind. "all" is
 * of those that are compiled in. */
static bool is_of_paper(const char *given, const char *paper, const char **item) {
  size_t length = strcspn(given, "/");
  *item = given[length] ? given + length + 1 : NULL;
  return strcmp(given, "all") == 0 ||
         (strlen(paper) == length && strncmp(given, paper, length) == 0);
}

static eb_error choose(job *j, const char *name) {
  const eb_strings *given = &j->arguments->positional;
  const char *item;
  for (int i = 0; i < given->count; i++)
    if (is_of_paper(given->items[i], name, &item))
      EB_TRY(eb_paper_choose(j->paper, item, &j->choice));
  return EB_OK;
}

static eb_error prepare(job *j, const char *name) {
  const char *folder = eb_arguments_text(j->arguments, "output");
  j->from = eb_arguments_text(j->arguments, "from");
  if (!folder) folder = "reproduction";
  if (!*folder) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a folder");
  snprintf(j->folder, sizeof j->folder, "%s%s%s", folder, j->all ? "/" : "", j->all ? name : "");
  const char *format = eb_arguments_text(j->arguments, "format");
  j->markdown = format && strcmp(format, "markdown") == 0;
  j->json = format && strcmp(format, "json") == 0;
  if (format && !j->json && !j->markdown && strcmp(format, "text") != 0)
    return EB_ERROR(EB_ERR_USAGE, "--format is text, json or markdown, not '%s'", format);
  EB_TRY(eb_arguments_shard(j->arguments, &j->shard, &j->shards));
  if (j->shards > 0 && (j->all || eb_arguments_has(j->arguments, "judge")))
    return EB_ERROR(EB_ERR_USAGE, "--shard runs a part of one paper, and judges nothing");
  EB_TRY(eb_arguments_plugins(j->arguments, &j->plugins));
  EB_TRY(eb_paper_load(name, j->from, eb_arguments_has(j->arguments, "quick"), &j->paper));
  if (eb_arguments_has(j->arguments, "allow-external")) j->paper->foreign = false;
  EB_TRY(choose(j, name));
  snprintf(j->target, sizeof j->target, "%s/%s.h5", j->folder, name);
  EB_TRY(eb_paper_plan_create(j->paper, j->choice.cases, &j->plugins, &j->plan));
  return j->shards > 0 ? eb_plan_take_shard(&j->plan.plan, j->shard, j->shards) : EB_OK;
}

static eb_error tell_shard(const job *j, const eb_session_end *end) {
  int cases = end->run + end->kept, fresh = end->run + end->tried;
  if (j->json)
    return eb_json_print(eb_json_pack("{s:i, s:i, s:s, s:i, s:i, s:i}", "shard", j->shard, "shards",
                                      j->shards, "file", j->target, "cases", cases, "sweeps",
                                      end->found, "new", fresh),
                         stdout);
  eb_print(stdout, "shard %d/%d: %d cases and %d sweeps in %s, %d new\n", j->shard, j->shards,
           cases, end->found, j->target, fresh);
  return EB_OK;
}

static eb_error reproduce(job *j, const char *name, int *code) {
  EB_TRY(prepare(j, name));
  const eb_plan *plan = &j->plan.plan;
  bool judge = eb_arguments_has(j->arguments, "judge");
  if (eb_arguments_has(j->arguments, "dry-run")) {
    if (j->all) eb_print(stdout, "%s\n", j->paper->name);
    return eb_summary_plan(plan, j->json, stdout);
  }
  if (j->all || !judge) EB_TRY(eb_folder_make(j->folder));
  if (!judge && (plan->count + plan->sweep_count > 0 || j->shards > 0)) {
    eb_session_end end;
    const eb_session session = {.plan = plan,
                                .target = j->target,
                                .command_line = j->arguments->line,
                                .existing = eb_arguments_existing(j->arguments)};
    EB_TRY(eb_session_run(&session, &end));
    j->interrupted = end.interrupted;
    if (j->shards > 0) EB_TRY(tell_shard(j, &end));
  }
  return conclude(j, code);
}

static eb_error reproduce_one(const eb_arguments *arguments, gathering *all, const char *name,
                              int *code) {
  job j = {.arguments = arguments, .all = all};
  eb_error error = reproduce(&j, name, code);
  if (all) all->interrupted = j.interrupted;
  eb_reproduction_clear(&j.reproduction);
  eb_evidence_clear(&j.evidence);
  eb_results_close(j.results);
  eb_paper_plan_clear(&j.plan);
  eb_paper_choice_clear(&j.choice);
  eb_paper_destroy(j.paper);
  eb_plugins_clear(&j.plugins);
  return error;
}

/* ---- several papers ------------------------------------------------------------------------- */

static eb_error print_all(gathering *all, bool markdown) {
  const int *of = all->overview.tally;
  eb_text html = {0}, text = {0};
  eb_error error = eb_overview_write(&all->overview, EB_DOC_HTML, &html);
  if (!error) error = eb_overview_write(&all->overview, EB_DOC_MARKDOWN, &text);
  eb_lock lock = {0};
  if (!error) error = eb_lock_folder(all->folder, &lock);
  if (!error) error = eb_page_write(&html, all->folder);
  if (!error) error = write_file(all->folder, "RESULTS.md", &text);
  eb_lock_release(&lock);
  if (!error && markdown) eb_print(stdout, "%s", text.data);
  eb_text_clear(&html);
  eb_text_clear(&text);
  EB_TRY(error);
  if (all->papers) {
    json_t *papers = all->papers;
    all->papers = NULL;
    return eb_json_print(eb_json_pack("{s:o}", "papers", papers), stdout);
  }
  if (markdown) return EB_OK;
  eb_print(stdout,
           "%d papers: %d claims reproduced, %d not reproduced, %d not comparable\n%s/index.html\n",
           all->overview.paper_count, of[EB_REPRODUCED], of[EB_NOT_REPRODUCED],
           of[EB_NOT_COMPARABLE], all->folder);
  return EB_OK;
}

static eb_error reproduce_all(const eb_arguments *arguments, const eb_strings *names,
                              gathering *all) {
  const char *format = eb_arguments_text(arguments, "format");
  bool plan = eb_arguments_has(arguments, "dry-run"), json = format && strcmp(format, "json") == 0;
  if (plan && json)
    return EB_ERROR(EB_ERR_USAGE, "--dry-run --format json is of one paper, not of several");
  if (json) all->papers = json_array();
  all->overview.has_markdown = format && strcmp(format, "markdown") == 0;
  if (!plan) EB_TRY(eb_folder_make(all->folder));
  for (int i = 0; i < names->count && !all->interrupted; i++) {
    int code = EB_EXIT_GOOD;
    EB_TRY(reproduce_one(arguments, all, names->items[i], &code));
    /* What asks for attention before what does not; that nothing was measured only when it holds
     * for all. */
    all->measured = all->measured || code != EB_EXIT_NOTHING;
    if (code != EB_EXIT_GOOD && code != EB_EXIT_NOTHING &&
        (all->code == EB_EXIT_GOOD || code < all->code || code == EB_EXIT_INTERRUPTED))
      all->code = code;
  }
  return plan ? EB_OK : print_all(all, all->overview.has_markdown);
}

/* The papers that are named, each once, however many of its items are: they share its folder. "all"
 * stands for those that are compiled in. */
static eb_error name_papers(const eb_arguments *arguments, eb_strings *out) {
  const eb_strings *given = &arguments->positional;
  eb_strings all = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < given->count && !error; i++)
    error = strcmp(given->items[i], "all") == 0
                ? eb_paper_names(&all)
                : eb_strings_add_part(&all, given->items[i], strcspn(given->items[i], "/"));
  for (int i = 0; i < all.count && !error; i++)
    if (eb_word_find(out, all.items[i], strlen(all.items[i])) < 0)
      error = eb_strings_add(out, all.items[i]);
  eb_strings_clear(&all);
  return error;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  const eb_strings *given = &arguments->positional;
  const char *folder = eb_arguments_text(arguments, "output");
  gathering all = {.folder = folder ? folder : "reproduction"};
  eb_strings names = {0};
  eb_error error = name_papers(arguments, &names);
  bool one = names.count == 1 && eb_word_find(given, "all", strlen("all")) < 0;
  if (!error && one) error = reproduce_one(arguments, NULL, names.items[0], code);
  if (!error && !one) error = reproduce_all(arguments, &names, &all);
  if (!error && !one) *code = all.measured ? all.code : EB_EXIT_NOTHING;
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
        "that it needs are run; several of one paper are run together.\nDIR/PAPER.h5 keeps the "
        "results, DIR/index.html shows "
        "them. Several papers, or all, each have DIR/PAPER, and\nDIR/index.html and "
        "DIR/RESULTS.md show the verdicts of all; with --judge of what is there already.",
    .flags = flags,
    .least = 1,
    .most = 64,
    .run = run};
