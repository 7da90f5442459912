/* elastobench check: verification of the library and its solvers on this machine. */
#include <stdio.h>

#include "harness/check/check.h"
#include "harness/cli/command.h"

static const eb_flag flags[] = {EB_FLAG_FORMAT, {0}};

static eb_error run(const eb_arguments *arguments, int *code) {
  const eb_strings *names = &arguments->positional;
  bool json;
  int failed = 0;
  EB_TRY(eb_arguments_json(arguments, &json));
  EB_TRY(eb_check_run(names->count ? names->items[0] : NULL, json, stdout, &failed));
  if (failed) *code = EB_EXIT_AUDIT_FAILED;
  return EB_OK;
}

const eb_command eb_command_check = {
    .name = "check",
    .synopsis = "[SOLVER] [--format text|json]",
    .summary = "verify derivatives, patch tests, conservation and agreement",
    .flags = flags,
    .least = 0,
    .most = 1,
    .run = run};
