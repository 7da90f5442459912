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
    {"scene", 0, "SCENE[:p=v,..]",
     "a scene before long runs, of the catalogue or a file of yours: units, elements, overlaps, "
     "forces, script, and a few steps of solvers with their audit"},
    {"solver", 's', "SOLVER[:o=v,..]",
     "with --scene: a solver that takes steps (all that serve it); may be repeated"},
    {"steps", 0, "N", "with --scene: steps of each solver (5)"},
    {"timeout", 0, "S", "with --scene: wall-clock limit of each solver's steps (60 s)"},
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

static eb_error check_scene(const eb_arguments *arguments, const eb_plugins *plugins, uint64_t seed,
                            eb_check_format format, int *failed) {
  int64_t steps = 5, timeout = 60;
  EB_TRY(eb_arguments_whole(arguments, "steps", 1, SEEDS, &steps));
  EB_TRY(eb_arguments_whole(arguments, "timeout", 1, SEEDS, &timeout));
  if (arguments->positional.count > 0)
    return EB_ERROR(EB_ERR_USAGE, "with --scene a solver is named by -s: -s %s",
                    arguments->positional.items[0]);
  const eb_scene_check request = {.scene = eb_arguments_text(arguments, "scene"),
                                  .solvers = eb_arguments_values(arguments, "solver"),
                                  .plugins = plugins,
                                  .steps = steps,
                                  .timeout = (double)timeout,
                                  .command_line = arguments->line};
  return eb_check_scene_run(&request, seed, format, stdout, failed);
}

/* Flags that say how a scene is checked say nothing without one. */
static eb_error refuse_flags(const eb_arguments *arguments) {
  static const char *const of_scenes[] = {"solver", "steps", "timeout"};
  for (size_t i = 0; i < sizeof of_scenes / sizeof *of_scenes; i++)
    if (eb_arguments_has(arguments, of_scenes[i]))
      return EB_ERROR(EB_ERR_USAGE, "--%s goes with --scene", of_scenes[i]);
  return EB_OK;
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
  if (eb_arguments_has(arguments, "scene")) {
    EB_TRY(check_scene(arguments, &plugins, (uint64_t)seed, format, &failed));
  } else {
    EB_TRY(refuse_flags(arguments));
    EB_TRY(eb_check_run(&plugins, names->count ? names->items[0] : NULL, (uint64_t)seed, format,
                        stdout, &failed));
  }
  if (failed) *code = EB_EXIT_AUDIT_FAILED;
  return EB_OK;
}

const eb_command eb_command_check = {
    .name = "check",
    .synopsis = "[SOLVER | --scene SCENE [-s SOLVER]..] [--plugin SO] [--seed K] "
                "[--format text|json|junit|tap]",
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
