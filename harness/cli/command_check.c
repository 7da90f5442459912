/* elastobench check: verification of the library and its solvers on this machine. */
#include <stdio.h>
#include <string.h>

#include "harness/check/check.h"
#include "harness/cli/command.h"
#include "problems/base/clock.h"
#include "problems/base/owned.h"

static const eb_flag flags[] = {
    {"format", 0, "text|json|junit|tap", "how to print"},
    {"seed", 0, "K", "of the blocks that are drawn (another one each time)"},
    EB_FLAG_PLUGIN,
    {0}};

enum { SEEDS = 1000000 };

static eb_error read_format(const eb_arguments *arguments, eb_check_format *out) {
  const char *name = eb_arguments_text(arguments, "format");
  for (*out = EB_CHECK_TEXT; *out < EB_CHECK_FORMATS; ++*out)
    if (strcmp(eb_check_format_names[*out], name ? name : eb_check_format_names[0]) == 0)
      return EB_OK;
  return eb_unknown(EB_ERR_USAGE, name, eb_check_format_names, EB_CHECK_FORMATS,
                    "check has no format");
}

static eb_error run(const eb_arguments *arguments, int *code) {
  const eb_strings *names = &arguments->positional;
  eb_check_format format;
  int failed = 0;
  int64_t seed = (int64_t)(eb_wall_seconds() * 1e6) % SEEDS;
  EB_TRY(read_format(arguments, &format));
  EB_TRY(eb_arguments_whole(arguments, "seed", 0, SEEDS, &seed));
  EB_OWNED(eb_plugins_clear) eb_plugins plugins = {0};
  EB_TRY(eb_arguments_plugins(arguments, &plugins));
  EB_TRY(eb_check_run(&plugins, names->count ? names->items[0] : NULL, (uint64_t)seed, format,
                      stdout, &failed));
  if (failed) *code = EB_EXIT_AUDIT_FAILED;
  return EB_OK;
}

const eb_command eb_command_check = {
    .name = "check",
    .synopsis = "[SOLVER] [--plugin SO] [--seed K] [--format text|json|junit|tap]",
    .summary = "verify derivatives, patch tests, conservation and agreement",
    .details =
        "Everything, or what concerns one solver, or those of the plug-ins. Blocks are drawn: "
        "--seed "
        "makes them the same again. Of plug-ins it asks as "
        "well, on scenes of every\nkind that they serve, whether steps keep the contract, have the "
        "same bits with one thread and two, and leave the\nheap as it was.",
    .flags = flags,
    .least = 0,
    .most = 1,
    .run = run};
