/* elastobench report: one folder with tables, plots and pictures of result files. */
#include <stdio.h>

#include "harness/cli/command.h"
#include "harness/report/report.h"

static const eb_flag flags[] = {{"output", 'o', "DIR", "folder to write (report)"}, {0}};

static eb_error run(const eb_arguments *arguments, int *code) {
  (void)code;
  const eb_strings *files = eb_arguments_positional(arguments);
  const char *folder = eb_arguments_text(arguments, "output");
  if (!folder) folder = "report";
  EB_TRY(eb_report_write((const char *const *)files->items, files->count, folder));
  printf("%s/index.html\n", folder);
  return EB_OK;
}

const eb_command eb_command_report = {.name = "report",
                                      .synopsis = "F.h5.. [-o DIR]",
                                      .summary = "write index.html with tables, plots and pictures",
                                      .flags = flags,
                                      .least = 1,
                                      .most = 1000,
                                      .run = run};
