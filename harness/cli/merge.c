/* elastobench merge: runs of several files in one, when they may be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/case/sandbox.h"
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

/* Joins in a process of its own, and has another read what it made. */
static eb_error join(const char *fresh, const eb_strings *inputs) {
  const char *const words[] = {"join", "--", fresh};
  eb_strings command = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < 3 && !error; i++) error = eb_strings_add(&command, words[i]);
  for (int i = 0; i < inputs->count && !error; i++)
    error = eb_strings_add(&command, inputs->items[i]);
  if (!error)
    error =
        eb_sandbox_run(&command, inputs->count, "copying their runs", "an input is damaged", NULL);
  eb_strings_clear(&command);
  return error ? error : eb_sandbox_verify("results", fresh, NULL);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  (void)code;
  const eb_strings *names = &arguments->positional;
  const eb_strings inputs = {.items = names->items + 1, .count = names->count - 1};
  const char *target = names->items[0];
  char *fresh = NULL;
  for (int i = 0; i < inputs.count; i++)
    EB_TRY(eb_sandbox_verify("results", inputs.items[i], NULL));
  EB_TRY(check_inputs(&inputs));
  EB_TRY(eb_target_check(target));
  if (!eb_arguments_has(arguments, "overwrite") && access(target, F_OK) == 0)
    return EB_ERROR(EB_ERR_USAGE, "'%s' exists; --overwrite replaces it", target);
  EB_TRY(eb_string_format(&fresh, "%s.%ld.new", target, (long)getpid()));
  eb_error error = join(fresh, &inputs);
  if (!error) error = eb_results_put(fresh, target);
  if (error) unlink(fresh);
  free(fresh);
  return eb_error_prefix(error, "cannot merge into '%s', which is unchanged", target);
}

const eb_command eb_command_merge = {
    .name = "merge",
    .synopsis = "OUT.h5 IN.h5.. [--overwrite]",
    .summary = "bring result files together; refuses what is not comparable",
    .flags = flags,
    .least = 2,
    .most = 1000,
    .run = run};
