/* elastobench merge: runs of several files in one, when they may be compared. */
#include <stdio.h>
#include <unistd.h>

#include "harness/cli/command.h"
#include "harness/results/merge.h"

static const eb_flag flags[] = {{"overwrite", 0, NULL, "replace OUT when it exists"}, {0}};

/* All inputs against the first. */
static eb_error check_inputs(const eb_strings *inputs) {
  eb_results *first, *other;
  EB_TRY(eb_results_open(inputs->items[0], &first));
  eb_error error = EB_OK;
  for (int i = 1; i < inputs->count && !error; i++) {
    error = eb_results_open(inputs->items[i], &other);
    if (error) break;
    error = eb_results_comparable(first, other);
    eb_results_close(other);
  }
  eb_results_close(first);
  return error;
}

static eb_error run_inputs(const char *target, const eb_strings *inputs, bool overwrite) {
  EB_TRY(check_inputs(inputs));
  EB_TRY(eb_target_check(target));
  if (!overwrite && access(target, F_OK) == 0)
    return EB_ERROR(EB_ERR_USAGE, "'%s' exists; --overwrite replaces it", target);
  return eb_results_fold(target, inputs, EB_FOLD_REPLACE, EB_DUPLICATES_REFUSE);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  (void)code;
  const eb_strings *names = eb_arguments_positional(arguments);
  eb_strings inputs = {0};
  eb_error error = EB_OK;
  for (int i = 1; i < names->count && !error; i++) error = eb_strings_add(&inputs, names->items[i]);
  if (!error)
    error = run_inputs(names->items[0], &inputs, eb_arguments_has(arguments, "overwrite"));
  eb_strings_clear(&inputs);
  return error;
}

const eb_command eb_command_merge = {
    .name = "merge",
    .synopsis = "OUT.h5 IN.h5.. [--overwrite]",
    .summary = "bring result files together; refuses what is not comparable",
    .flags = flags,
    .least = 2,
    .most = 1000,
    .run = run};
