/* elastobench compare: what a change does, as a gate for pull requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/compare/compare.h"
#include "harness/compare/comparison.h"
#include "harness/names.h"
#include "harness/print.h"
#include "problems/base/clock.h"
#include "problems/base/owned.h"

static const eb_flag flags[] = {
    {"gate", 0, NULL, "exit with 5 after a regression, with 6 when nothing is certain"},
    {"margin", 0, "PERCENT", "differences of time that do not matter (2)"},
    {"solver", 's', "SOLVER[:o=v,..]",
     "a solver with options; may be repeated; replaces a suite's"},
    {"steps", 0, "N", "steps a case (those of the suite, of a scene at most 50)"},
    {"threads", 0, "T[,T..]", "OpenMP threads of a case (1)"},
    {"mesh", 0, "SCENE=FILE", "a mesh or closed surface in the place of a scene's geometry"},
    {"rounds", 0, "N", "at most, after looks at 40 and 80 (160)"},
    {"no-instructions", 0, NULL, "do not count instructions under valgrind"},
    {"make", 0, "NAME=VALUE", "an argument for make where revisions are built; may be repeated"},
    {"timeout", 0, "S", "wall-clock limit of an answer, set-up or some steps (600 s)"},
    {"seed", 0, "K", "of the order of lanes and of everything random (0)"},
    {"delay", 0, "PERCENT", "make HEAD slower by that much, to see the gate close (0)"},
    EB_FLAG_PLUGIN,
    EB_FLAG_EXTERNAL,
    EB_FLAG_DAMAGED,
    {"format", 0, EB_COMPARE_FORMAT_NAMES, "how to print"},
    {0}};

/* Steps of scenes that name so many more. */
enum { MOST_STEPS = 50 };

/* ---- what is asked for ----------------------------------------------------------------------- */

typedef struct wish {
  const eb_arguments *arguments;
  const char *names[EB_SIDES];
  eb_build_kind kind;
  eb_compare_format format;
  double margin; /* a share */
} wish;

static eb_error read_percent(const eb_arguments *arguments, const char *flag, double min,
                             double max, double *share) {
  char name[32];
  const char *text = eb_arguments_text(arguments, flag);
  snprintf(name, sizeof name, "--%s", flag);
  if (!text) return EB_OK;
  EB_TRY(eb_parse_real(name, text, min, max, share));
  *share /= 100;
  return EB_OK;
}

static eb_error read_wish(const eb_arguments *arguments, wish *out) {
  static const char *const kinds[] = {"a program", "a git revision", "a result file"};
  eb_build_kind kind[EB_SIDES];
  *out = (wish){.arguments = arguments, .margin = 0.02};
  for (int side = 0; side < EB_SIDES; side++) {
    out->names[side] = arguments->positional.items[side];
    EB_TRY(eb_build_classify(out->names[side], &kind[side]));
  }
  if (kind[EB_BASE] != kind[EB_HEAD])
    return EB_ERROR(
        EB_ERR_USAGE, "'%s' would be %s and '%s' %s: compare takes two of a kind, built alike",
        out->names[EB_BASE], kinds[kind[EB_BASE]], out->names[EB_HEAD], kinds[kind[EB_HEAD]]);
  out->kind = kind[EB_BASE];
  EB_TRY(eb_compare_format_parse(eb_arguments_text(arguments, "format"), &out->format));
  return read_percent(arguments, "margin", 0.1, 100, &out->margin);
}

static eb_error read_plan(const eb_arguments *arguments, const eb_plugins *plugins, eb_plan *out) {
  static const char *const settings[] = {"steps", "threads", "seed"};
  static char gate[] = "gate";
  char *standard[] = {gate};
  const eb_strings *names = &arguments->positional;
  eb_request request = {.plugins = plugins,
                        .allow_external = eb_arguments_has(arguments, "allow-external"),
                        .solvers = *eb_arguments_values(arguments, "solver"),
                        .meshes = *eb_arguments_values(arguments, "mesh"),
                        .names = {.items = names->items + 2, .count = names->count - 2}};
  if (names->count == 2) request.names = (eb_strings){.items = standard, .count = 1};
  request.settings.repeat = 1;
  for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
    int known;
    const char *text = eb_arguments_text(arguments, settings[k]);
    if (text)
      EB_TRY(eb_error_prefix(eb_settings_set(&request.settings, settings[k], text, &known), "--%s",
                             settings[k]));
  }
  EB_TRY(eb_plan_create(&request, out));
  for (int k = 0; k < out->count && !eb_arguments_has(arguments, "steps"); k++)
    if (out->cases[k].steps > MOST_STEPS) out->cases[k].steps = MOST_STEPS;
  return out->count > 0 ? EB_OK : EB_ERROR(EB_ERR_USAGE, "there is no case to compare");
}

static eb_error read_request(const eb_arguments *arguments, eb_compare_request *out) {
  enum { MOST_ROUNDS = 1000 }; /* the exact test takes time by their cube, and doubles of 2^-n */
  int64_t rounds = 160, timeout = 600, seed = 0;
  EB_TRY(eb_arguments_whole(arguments, "rounds", 1, MOST_ROUNDS, &rounds));
  EB_TRY(eb_arguments_whole(arguments, "timeout", 1, 86400, &timeout));
  EB_TRY(eb_arguments_whole(arguments, "seed", 0, INT64_C(9000000000000000), &seed));
  EB_TRY(read_percent(arguments, "delay", 0, 1000, &out->delay));
  out->rounds = (int)rounds;
  out->patience = (double)timeout;
  out->seed = (uint64_t)seed;
  out->instructions = !eb_arguments_has(arguments, "no-instructions");
  return EB_OK;
}

/* ---- what comes of it ------------------------------------------------------------------------ */

/* Without --gate what was found is told and not judged, but for builds that do not work. */
static int exit_code(eb_compare_verdict verdict, bool gate) {
  switch (verdict) {
  case EB_COMPARE_FAILED:
    return EB_EXIT_SOLVER_FAILED;
  case EB_COMPARE_NONDETERMINISTIC:
    return EB_EXIT_AUDIT_FAILED;
  case EB_COMPARE_REGRESSED:
    return gate ? EB_EXIT_REGRESSION : EB_EXIT_GOOD;
  case EB_COMPARE_INCONCLUSIVE:
    return gate ? EB_EXIT_NOTHING : EB_EXIT_GOOD;
  case EB_COMPARE_SKIPPED:
    return EB_EXIT_NOTHING;
  default:
    return EB_EXIT_GOOD;
  }
}

static eb_error tell(const wish *w, const eb_build builds[EB_SIDES], double began,
                     const eb_comparison *comparison, int *code) {
  const eb_compare_title title = {
      .builds = builds, .margin = w->margin, .seconds = eb_wall_seconds() - began};
  *code = exit_code(comparison->verdict, eb_arguments_has(w->arguments, "gate"));
  return eb_compare_print(comparison, &title, w->format, stdout);
}

/* What is to be measured cannot be asked of files. */
static eb_error refuse_measuring(const eb_arguments *arguments) {
  static const char *const served[] = {"gate", "margin", "damaged", "format"};
  if (arguments->positional.count > EB_SIDES || eb_arguments_has(arguments, "solver"))
    return EB_ERROR(EB_ERR_USAGE, "result files are compared by all runs that both have: leave out "
                                  "scenes and solvers");
  for (const eb_flag *flag = flags; flag->name; flag++) {
    bool known = !eb_arguments_has(arguments, flag->name);
    for (size_t k = 0; k < sizeof served / sizeof *served && !known; k++)
      known = strcmp(flag->name, served[k]) == 0;
    if (!known)
      return EB_ERROR(EB_ERR_USAGE,
                      "--%s is for builds: of result files, which are measured already, the "
                      "options are --gate, --margin, --damaged and --format",
                      flag->name);
  }
  return EB_OK;
}

static void tell_unpaired(const wish *w, const eb_comparison *comparison) {
  const int *count = comparison->unpaired;
  if (count[EB_BASE] + count[EB_HEAD] > 0)
    eb_print(stderr,
             "elastobench: left out, since the other file does not have them: %d runs of '%s', %d "
             "of '%s'\n",
             count[EB_BASE], w->names[EB_BASE], count[EB_HEAD], w->names[EB_HEAD]);
}

static eb_error run_files(const wish *w, int *code) {
  eb_comparison comparison = {0};
  const eb_build builds[EB_SIDES] = {{.given = (char *)w->names[EB_BASE]},
                                     {.given = (char *)w->names[EB_HEAD]}};
  double began = eb_wall_seconds();
  bool damaged;
  EB_TRY(refuse_measuring(w->arguments));
  for (int side = 0; side < EB_SIDES; side++)
    EB_TRY(eb_arguments_verify(w->arguments, w->names[side], &damaged));
  eb_error error = eb_compare_results(w->names[EB_BASE], w->names[EB_HEAD], w->margin, &comparison);
  if (!error) tell_unpaired(w, &comparison);
  if (!error) error = tell(w, builds, began, &comparison, code);
  eb_comparison_clear(&comparison);
  return error;
}

static void warn_of_flags(const eb_build builds[EB_SIDES]) {
  const char *base = builds[EB_BASE].flags, *head = builds[EB_HEAD].flags;
  if (strcmp(base, head) != 0)
    eb_print(stderr, "warning: the builds differ in compiler or flags\n%s%s", base, head);
}

static eb_error compare(const wish *w, const eb_plan *plan, eb_signals *signals,
                        eb_build builds[EB_SIDES], int *code) {
  EB_OWNED(eb_comparison_clear) eb_comparison comparison = {0};
  double began = eb_wall_seconds();
  eb_status_line status = eb_status_line_of_terminal();
  eb_compare_request request = {
      .builds = builds, .plan = plan, .margin = w->margin, .signals = signals, .status = &status};
  EB_TRY(read_request(w->arguments, &request));
  for (int side = 0; side < EB_SIDES; side++)
    EB_TRY(eb_build_open(w->names[side], w->kind, eb_arguments_values(w->arguments, "make"),
                         signals, &builds[side]));
  warn_of_flags(builds);
  eb_error error = eb_compare_builds(&request, &comparison);
  eb_status_line_wipe(&status);
  EB_TRY(error);
  return tell(w, builds, began, &comparison, code);
}

static eb_error run_builds(const wish *w, int *code) {
  eb_plugins plugins = {0};
  eb_plan plan = {0};
  eb_signals signals = {.fd = -1};
  eb_build builds[EB_SIDES] = {{0}};
  eb_error error = eb_arguments_plugins(w->arguments, &plugins);
  if (!error) error = read_plan(w->arguments, &plugins, &plan);
  if (!error) error = eb_signals_open(&signals);
  if (!error) error = compare(w, &plan, &signals, builds, code);
  if (signals.interrupted) *code = EB_EXIT_INTERRUPTED;
  eb_signals_close(&signals);
  for (int side = 0; side < EB_SIDES; side++) eb_build_clear(&builds[side]);
  eb_plan_clear(&plan);
  eb_plugins_clear(&plugins);
  return error;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  wish w;
  EB_TRY(read_wish(arguments, &w));
  return (w.kind == EB_BUILD_RESULTS ? run_files : run_builds)(&w, code);
}

const eb_command eb_command_compare = {
    .name = "compare",
    .synopsis = "BASE HEAD [SUITE|SCENE[:p=v,..]..] [-s SOLVER[:o=v,..]].. [--gate] [options]",
    .summary = "say whether HEAD is slower than BASE: two builds, revisions or result files",
    .details =
        "BASE and HEAD are two programs, two git revisions of the repository around the current "
        "folder, which are built,\nor two result files, which take --gate, --margin, --damaged and "
        "--format alone. Without a suite or scene: the suite gate.\n"
        "Verdicts: regressed, improved, equivalent, inconclusive; failed and nondeterministic "
        "where a build does not work.\nExit codes: 3 failed, 4 nondeterministic; with --gate 5 "
        "regressed, 6 inconclusive.",
    .flags = flags,
    .least = 2,
    .most = 1000,
    .run = run};
