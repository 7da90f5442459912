#include "harness/cli/shown_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/results/choose.h"
#include "harness/results/contents.h"
#include "harness/results/json.h"
#include "problems/base/owned.h"

bool eb_is_result_file(const char *word) {
  static const char signature[8] = "\211HDF\r\n\032\n";
  char start[sizeof signature];
  size_t length = strlen(word);
  if (length > 3 && strcmp(word + length - 3, ".h5") == 0) return true;
  struct stat info;
  bool regular = stat(word, &info) == 0 && S_ISREG(info.st_mode);
  FILE *file = regular ? fopen(word, "rb") : NULL;
  bool is = file && fread(start, sizeof start, 1, file) == 1 &&
            memcmp(start, signature, sizeof start) == 0;
  if (file) fclose(file);
  return is;
}

static void close_results(eb_results **results) {
  eb_results_close(*results);
}

static eb_error open_results(const eb_arguments *arguments, const char *path, eb_results **out) {
  bool damaged;
  EB_TRY(eb_arguments_verify(arguments, path, &damaged));
  return eb_results_open(path, out);
}

eb_error eb_list_result_file(const eb_arguments *arguments, const char *path, bool json) {
  EB_OWNED(close_results) eb_results *results = NULL;
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  json_t *shown = NULL;
  EB_TRY(open_results(arguments, path, &results));
  EB_TRY(json ? eb_contents_list_json(results, &shown) : eb_contents_list(results, &doc));
  return json ? eb_json_print(shown, stdout) : eb_doc_print(&doc, EB_DOC_TEXT, stdout);
}

/* All of the file where run < 0. */
static eb_error show(const eb_results *results, int run, bool json) {
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  json_t *shown = NULL;
  if (json) {
    EB_TRY(run < 0 ? eb_contents_file_json(results, &shown)
                   : eb_contents_run_json(results, run, &shown));
    return eb_json_print(shown, stdout);
  }
  EB_TRY(run < 0 ? eb_contents_file(results, &doc) : eb_contents_run(results, run, &doc));
  return eb_doc_print(&doc, EB_DOC_TEXT, stdout);
}

eb_error eb_show_result_file(const eb_arguments *arguments, const char *path, bool json) {
  EB_OWNED(close_results) eb_results *results = NULL;
  const char *name = eb_arguments_text(arguments, "run");
  int run = -1;
  EB_TRY(open_results(arguments, path, &results));
  if (name) EB_TRY(eb_results_choose(results, name, &run));
  return show(results, run, json);
}
