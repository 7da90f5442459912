/* elastobench report: one folder with tables, plots and a player of result files. */
#include <stdio.h>

#include "harness/cli/command.h"
#include "harness/print.h"
#include "harness/report/report.h"

static const eb_flag flags[] = {
    {"output", 'o', "DIR", "folder to write (report)"},
    {"pictures", 0, NULL,
     "draw frames of every run as PNG beside the player, which shows them all"},
    EB_FLAG_DAMAGED,
    {0}};

/* What cannot be read is told of and left out. */
static eb_error run(const eb_arguments *arguments, int *code) {
  const char *folder = eb_arguments_text(arguments, "output");
  eb_strings good = {0}, remarks = {0};
  if (!folder) folder = "report";
  eb_error error = eb_arguments_results(arguments, &good, &remarks, code);
  const eb_report_request request = {.files = (const char *const *)good.items,
                                     .file_count = good.count,
                                     .remarks = &remarks,
                                     .dir = folder,
                                     .pictures = eb_arguments_has(arguments, "pictures")};
  if (!error) error = eb_report_write(&request);
  if (!error) eb_print(stdout, "%s/index.html\n", folder);
  eb_strings_clear(&good);
  eb_strings_clear(&remarks);
  return error;
}

const eb_command eb_command_report = {
    .name = "report",
    .synopsis = "F.h5|FOLDER.. [-o DIR] [--pictures]",
    .summary = "write index.html with tables, plots and a player",
    .details =
        "A folder stands for the result files in it, and what else is in it is left out: that "
        "of 'reproduce' has every run of a\npaper in PAPER.h5, whose verdicts are on its own "
        "index.html. Runs that several files have are told apart by their\nfiles; costs are "
        "ranked among runs of one machine alone.",
    .flags = flags,
    .least = 1,
    .most = 1000,
    .run = run};
