/* What is done with files that others wrote, in a process that they may end. Not in the help, but
 * can be run by hand. */
#include <string.h>

#include "harness/cli/command.h"
#include "harness/fclib/fclib.h"
#include "harness/results/merge.h"
#include "harness/results/verify.h"

static eb_error verify_fclib(const char *path) {
  eb_fclib problem;
  eb_error error = eb_fclib_read(path, &problem);
  eb_fclib_clear(&problem);
  return error;
}

static eb_error run_verify(const eb_arguments *arguments, int *code) {
  (void)code;
  const eb_strings *words = eb_arguments_positional(arguments);
  if (strcmp(words->items[0], "results") == 0) return eb_results_verify(words->items[1]);
  if (strcmp(words->items[0], "fclib") == 0) return verify_fclib(words->items[1]);
  return EB_ERROR(EB_ERR_USAGE, "verify knows results and fclib, not '%s'", words->items[0]);
}

static eb_error run_join(const eb_arguments *arguments, int *code) {
  (void)code;
  const eb_strings *words = eb_arguments_positional(arguments);
  eb_strings parts = {0};
  eb_error error = EB_OK;
  for (int i = 1; i < words->count && !error; i++) error = eb_strings_add(&parts, words->items[i]);
  if (!error) error = eb_results_join(words->items[0], &parts);
  eb_strings_clear(&parts);
  return error;
}

const eb_command eb_command_verify = {
    .name = "verify", .synopsis = "results|fclib FILE", .least = 2, .most = 2, .run = run_verify};
const eb_command eb_command_join = {
    .name = "join", .synopsis = "OUT.h5 IN.h5..", .least = 2, .most = 1000, .run = run_join};
