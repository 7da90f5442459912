/* elastobench report: one folder with tables, plots and pictures of result files. */
#include <stdio.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/report/report.h"

static const eb_flag flags[] = {{"output", 'o', "DIR", "folder to write (report)"}, {0}};

/* What cannot be read is told of and left out. */
static eb_error write_page(const eb_arguments *arguments, eb_strings *good, eb_strings *refused,
                           int *code) {
  const eb_strings *files = &arguments->positional;
  const char *folder = eb_arguments_text(arguments, "output");
  if (!folder) folder = "report";
  for (int i = 0; i < files->count; i++) {
    eb_error unreadable = eb_sandbox_verify("results", files->items[i], NULL);
    eb_error error = unreadable ? eb_strings_add(refused, eb_error_message(unreadable))
                                : eb_strings_add(good, files->items[i]);
    if (unreadable) fprintf(stderr, "elastobench: %s\n", eb_error_message(unreadable));
    eb_error_free(unreadable);
    EB_TRY(error);
  }
  if (refused->count > 0) *code = EB_EXIT_TROUBLE;
  if (good->count == 0) return EB_ERROR(EB_ERR_FORMAT, "there is no file to report on");
  EB_TRY(eb_report_write((const char *const *)good->items, good->count, refused, folder));
  printf("%s/index.html\n", folder);
  return EB_OK;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  eb_strings good = {0}, refused = {0};
  eb_error error = write_page(arguments, &good, &refused, code);
  eb_strings_clear(&good);
  eb_strings_clear(&refused);
  return error;
}

const eb_command eb_command_report = {.name = "report",
                                      .synopsis = "F.h5.. [-o DIR]",
                                      .summary = "write index.html with tables, plots and pictures",
                                      .flags = flags,
                                      .least = 1,
                                      .most = 1000,
                                      .run = run};
