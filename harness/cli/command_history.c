/* elastobench history: figures of many commits and machines, and where they changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/history/runs.h"
#include "harness/history/history_doc.h"
#include "harness/names.h"
#include "harness/print.h"

static const eb_flag flags[] = {
    {"store", 0, "DIR", "folder of the records (" EB_HISTORY_FOLDER ")"},
    {"figure", 0, "PATTERN", "figures with this in their name, or of a pattern such as 'chol*'"},
    {"machine", 0, "FINGERPRINT", "one machine"},
    {"absolute", 0, NULL, "look at values also where they stand beside the machine's limit"},
    {"dirty", 0, NULL, "take records of trees with local changes too"},
    {"p", 0, "P", "most that a change may be noise with (0.001)"},
    {"least", 0, "SHARE", "least relative size of a change (0.02)"},
    {"correlation", 0, "R", "that noise may have from one record to the next (0.3)"},
    {"shortest", 0, "N", "records that a level has at least (5)"},
    {"output", 'o', "DIR", "write a page with plots there"},
    EB_FLAG_FORMAT,
    {0}};

/* ---- add ------------------------------------------------------------------------------------- */

static eb_error add_file(const char *path, const char *store) {
  eb_results *results;
  eb_history_record record = {0};
  char *stored = NULL;
  int left_out = 0;
  EB_TRY(eb_sandbox_verify("results", path, NULL));
  EB_TRY(eb_results_open(path, &results));
  eb_error error = eb_history_of_results(results, &record, &left_out);
  if (!error && record.count == 0)
    error = EB_ERROR(EB_ERR_FORMAT, "%s: no run completed and passed its audit", path);
  if (!error) error = eb_history_record_store(store, &record, &stored);
  if (!error)
    eb_print(stdout, "%s: %d figures%s\n", stored, record.count,
             record.dirty ? ", of a tree with local changes" : "");
  if (!error && left_out > 0)
    eb_print(stderr,
             "elastobench: %s: %d runs that did not complete or failed their audit are left out\n",
             path, left_out);
  free(stored);
  eb_history_record_clear(&record);
  eb_results_close(results);
  return error;
}

static eb_error add(const eb_strings *words, const char *store) {
  if (words->count < 2)
    return EB_ERROR(EB_ERR_USAGE, "history add wants result files: history add F.h5..");
  for (int i = 1; i < words->count; i++) EB_TRY(add_file(words->items[i], store));
  return EB_OK;
}

/* ---- show ------------------------------------------------------------------------------------ */

static eb_error read_choice(const eb_arguments *arguments, eb_history_choice *out) {
  eb_change_options *change = &out->change;
  const struct {
    const char *name;
    double least, most, *out;
  } reals[] = {{"p", 1e-12, 0.5, &change->p},
               {"least", 0, 1, &change->least},
               {"correlation", 0, 0.99, &change->correlation}};
  int64_t shortest = eb_change_usual.shortest;
  *out = (eb_history_choice){.figure = eb_arguments_text(arguments, "figure"),
                             .machine = eb_arguments_text(arguments, "machine"),
                             .dirty = eb_arguments_has(arguments, "dirty"),
                             .absolute = eb_arguments_has(arguments, "absolute"),
                             .change = eb_change_usual};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    const char *text = eb_arguments_text(arguments, reals[i].name);
    char option[32];
    snprintf(option, sizeof option, "--%s", reals[i].name);
    if (text) EB_TRY(eb_parse_real(option, text, reals[i].least, reals[i].most, reals[i].out));
  }
  EB_TRY(eb_arguments_whole(arguments, "shortest", 2, 1000, &shortest));
  change->shortest = (int)shortest;
  return EB_OK;
}

static eb_error print_text(const eb_history_shown *shown) {
  eb_doc doc = {0};
  eb_history_show(shown, &doc);
  eb_error error = eb_doc_print(&doc, EB_DOC_TEXT, stdout);
  eb_doc_clear(&doc);
  return error;
}

/* The figures are said before the page is drawn, which wants gnuplot. */
static eb_error print(const eb_history_shown *shown, bool json, const char *folder) {
  EB_TRY(json ? eb_history_json(shown, stdout) : print_text(shown));
  if (!folder) return EB_OK;
  EB_TRY(eb_history_pages(shown, folder));
  if (!json) eb_print(stdout, "%s/index.html\n", folder);
  return EB_OK;
}

static void tell_refused(const eb_history *history, int *code) {
  for (int i = 0; i < history->refused.count; i++)
    eb_print(stderr, "elastobench: left out: %s\n", history->refused.items[i]);
  if (history->refused.count > 0) *code = EB_EXIT_TROUBLE;
}

static eb_error show(const eb_arguments *arguments, const char *store, int *code) {
  eb_history history;
  eb_history_view view = {0};
  eb_history_choice choice;
  bool json;
  EB_TRY(eb_arguments_json(arguments, &json));
  EB_TRY(read_choice(arguments, &choice));
  eb_error error = eb_history_load(store, &history);
  if (!error) error = eb_history_look(&history, &choice, &view);
  const eb_history_shown shown = {&history, &view, &choice, store};
  if (!error && view.count == 0) {
    eb_print(stderr, "elastobench: there is no record in '%s' to show%s\n", store,
             view.dirty ? "; --dirty takes those of trees with local changes" : "");
    *code = EB_EXIT_NOTHING;
  }
  if (!error && (view.count > 0 || json))
    error = print(&shown, json, eb_arguments_text(arguments, "output"));
  if (!error) tell_refused(&history, code);
  eb_history_view_clear(&view);
  eb_history_clear(&history);
  return error;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  static const char *const actions[] = {"show", "add"};
  const eb_strings *words = &arguments->positional;
  const char *action = words->count ? words->items[0] : actions[0];
  const char *store = eb_arguments_text(arguments, "store");
  if (!store) store = EB_HISTORY_FOLDER;
  if (strcmp(action, "add") == 0) return add(words, store);
  if (strcmp(action, "show") != 0)
    return eb_unknown(EB_ERR_USAGE, action, actions, sizeof actions / sizeof *actions,
                      "history has no");
  if (words->count > 1)
    return EB_ERROR(EB_ERR_USAGE, "history show takes no '%s'; --figure chooses figures",
                    words->items[1]);
  return show(arguments, store, code);
}

const eb_command eb_command_history = {
    .name = "history",
    .synopsis = "[show | add F.h5..] [--store DIR] [--figure PATTERN] [--machine FINGERPRINT]\n"
                "           [--format text|json] [-o DIR]",
    .summary = "figures of many commits, and where they changed",
    .details =
        "`show` lists every figure of the store's records (`make bench` writes one a commit)\n"
        "with the commits at which its level changed. `add` records the step times of result\n"
        "files. Figures of one machine are compared with its own alone.",
    .flags = flags,
    .least = 0,
    .most = 1000,
    .run = run};
