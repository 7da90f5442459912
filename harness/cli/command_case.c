/* What the program does in processes of its own: one case, a case whose steps another asks for, the
 * machine's rates, and files that others wrote and that may end their reader. Not in the help, but
 * can be run by hand, under a debugger for instance. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/execute.h"
#include "harness/case/rates.h"
#include "harness/case/crash_record.h"
#include "harness/cli/command.h"
#include "harness/compare/worker.h"
#include "harness/fclib/fclib.h"
#include "harness/names.h"
#include "harness/results/merge.h"
#include "harness/results/verify.h"
#include "problems/base/strings.h"
#include "problems/base/owned.h"

/* ---- a case ---------------------------------------------------------------------------------- */

static const eb_flag flags[] = {{"parameters", 0, "a=1,b=2", "of the scene"},
                                {"options", 0, "a=1,b=2", "of the solver"},
                                {"mesh", 0, "FILE", "in place of the scene's geometry"},
                                {"scene-digest", 0, "HEX", "of the scene's file when planned"},
                                EB_FLAG_PLUGIN,
                                {"threads", 0, "T", "OpenMP threads"},
                                {"repetition", 0, "R", "number of the repetition"},
                                {"seed", 0, "K", "of everything random"},
                                {"steps", 0, "N", "steps to run"},
                                {"contact-problem", 0, "STEP", "whose contact problem is kept"},
                                {"frames", 0, "WHICH", "interval or all"},
                                {"examine", 0, NULL, "examine element and subspace"},
                                {"embed", 0, "N", "embed N points an element at rest"},
                                {"distributed", 0, NULL, "as one of the ranks that mpiexec starts"},
                                {"from", 0, "RUN", "whose states it starts from"},
                                {"from-file", 0, "FILE", "result file with that run"},
                                {"from-steps", 0, "STEPS", "after which of its steps"},
                                {"from-donor", 0, "HEX", "hash of what it is"},
                                {"checkpoints", 0, "STEPS", "after which the state is kept"},
                                {"order", 0, "I", "place in the plan"},
                                {"timeout", 0, "S", "limit that the caller keeps"},
                                {"memory", 0, "BYTES", "limit that the caller keeps"},
                                {"environment", 0, "FILE", "result file to copy /environment from"},
                                {"output", 'o', "FILE", "result file to write"},
                                {0}};

static eb_error read_case(const eb_arguments *arguments, const eb_plugins *plugins, eb_case *work) {
  int64_t threads = 1, repetition = 0;
  const struct {
    const char *flag;
    char **out;
  } texts[] = {{"parameters", &work->parameters}, {"options", &work->options},
               {"mesh", &work->mesh_file},        {"scene-digest", &work->scene_digest},
               {"from", &work->from.run},         {"from-file", &work->from.file}};
  const struct {
    const char *flag;
    int64_t min, max, *out;
  } wholes[] = {{"threads", 1, 1024, &threads},
                {"repetition", 0, 10000, &repetition},
                {"seed", 0, INT64_C(9000000000000000), &work->seed},
                {"steps", 1, 1000000000, &work->steps},
                {"contact-problem", 0, 1000000000, &work->contact_problem},
                {"embed", 0, 1000000, &work->embed},
                {"order", 0, 1000000000, &work->order}};
  const struct {
    const char *flag;
    double *out;
  } reals[] = {{"timeout", &work->timeout}, {"memory", &work->memory}};
  const eb_strings *names = &arguments->positional;
  const eb_plugin *plugin;
  const char *text;
  bool single;
  EB_TRY(eb_open_scene(names->items[0], plugins, &work->scene));
  EB_TRY(eb_solver_lookup(plugins, names->items[1], &work->solver, &plugin));
  work->steps = work->scene->steps;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if ((text = eb_arguments_text(arguments, texts[i].flag)))
      EB_TRY(eb_string_set(texts[i].out, text));
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
    EB_TRY(
        eb_arguments_whole(arguments, wholes[i].flag, wholes[i].min, wholes[i].max, wholes[i].out));
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
    if ((text = eb_arguments_text(arguments, reals[i].flag)))
      EB_TRY(eb_parse_real(reals[i].flag, text, 0, 1e18, reals[i].out));
  work->threads = (int)threads;
  work->repetition = (int)repetition;
  if ((text = eb_arguments_text(arguments, "frames")))
    EB_TRY(eb_error_prefix(eb_frames_parse(text, &work->frames), "--frames"));
  work->examine = eb_arguments_has(arguments, "examine");
  work->distributed = eb_arguments_has(arguments, "distributed");
  if ((text = eb_arguments_text(arguments, "checkpoints")))
    EB_TRY(eb_ranges_parse("--checkpoints", text, &work->checkpoints));
  if (work->from.run) {
    if ((text = eb_arguments_text(arguments, "from-donor")))
      work->from.source_run = strtoull(text, NULL, 16);
    if (!(text = eb_arguments_text(arguments, "from-steps")))
      return EB_ERROR(EB_ERR_USAGE, "--from wants --from-steps");
    EB_TRY(eb_range_parse("--from-steps", text, &work->from.steps, &single));
    work->from.samples = !single;
  }
  return eb_case_resolve(work, plugin);
}

static eb_error run_case(const eb_arguments *arguments, int *code) {
  eb_plugins plugins = {0};
  eb_case work = {0};
  const char *output = eb_arguments_text(arguments, "output");
  eb_error error = output ? EB_OK : EB_ERROR(EB_ERR_USAGE, "case wants --output");
  if (!error) error = eb_arguments_plugins(arguments, &plugins);
  if (!error) error = read_case(arguments, &plugins, &work);
  if (!error) {
    error = eb_case_execute(&work, eb_arguments_text(arguments, "environment"), output);
    if (error) *code = EB_EXIT_HARNESS;
  }
  eb_case_clear(&work);
  eb_plugins_forget(&plugins);
  return error;
}

const eb_command eb_command_case = {.name = "case",
                                    .synopsis = "SCENE SOLVER --output FILE [options]",
                                    .flags = flags,
                                    .least = 2,
                                    .most = 2,
                                    .run = run_case};

/* ---- a worker -------------------------------------------------------------------------------- */

static const eb_flag work_flags[] = {
    {"parameters", 0, "a=1,b=2", "of the scene"},
    {"options", 0, "a=1,b=2", "of the solver"},
    {"mesh", 0, "FILE", "in place of the scene's geometry"},
    EB_FLAG_PLUGIN,
    {"threads", 0, "T", "OpenMP threads"},
    {"seed", 0, "K", "of everything random"},
    {"steps", 0, "N", "after which it goes on from the first one"},
    {"delay", 0, "SHARE", "of each step's own processor time, by which it is made longer"},
    {0}};

static eb_error run_work(const eb_arguments *arguments, int *code) {
  EB_OWNED(eb_plugins_forget) eb_plugins plugins = {0};
  EB_OWNED(eb_case_clear) eb_case work = {0};
  double delay = 0;
  const char *text = eb_arguments_text(arguments, "delay");
  EB_TRY(text ? eb_parse_real("--delay", text, 0, 100, &delay) : EB_OK);
  (void)code;
  EB_TRY(eb_arguments_plugins(arguments, &plugins));
  EB_TRY(read_case(arguments, &plugins, &work));
  return eb_worker_serve(&work, delay);
}

const eb_command eb_command_work = {.name = "work",
                                    .synopsis = "SCENE SOLVER [options]",
                                    .flags = work_flags,
                                    .least = 2,
                                    .most = 2,
                                    .run = run_work};

/* ---- the machine ----------------------------------------------------------------------------- */

static eb_error run_machine(const eb_arguments *arguments, int *code) {
  (void)arguments;
  (void)code;
  return eb_rates_print();
}

const eb_command eb_command_machine = {
    .name = "machine", .synopsis = "", .least = 0, .most = 0, .run = run_machine};

/* ---- files ----------------------------------------------------------------------------------- */

static eb_error verify_fclib(const char *path) {
  eb_fclib problem;
  eb_error error = eb_fclib_read(path, &problem);
  eb_fclib_clear(&problem);
  return error;
}

/* HDF5, and none of our results. */
static eb_error verify_foreign(const char *path) {
  hid_t file;
  char *format = NULL;
  EB_TRY(eb_h5_open_file(path, false, &file));
  eb_error error = eb_h5_get_text(file, "format", &format);
  if (!error && strcmp(format, EB_SCHEMA_FORMAT) == 0)
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is a result file", path);
  H5Fclose(file);
  free(format);
  return error;
}

static eb_error run_verify(const eb_arguments *arguments, int *code) {
  static const struct {
    const char *name;
    eb_error (*verify)(const char *path);
  } kinds[] = {
      {"results", eb_results_verify}, {"fclib", verify_fclib}, {"foreign", verify_foreign}};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  const eb_strings *words = &arguments->positional;
  int kind = 0;
  (void)code;
  while (kind < KINDS && strcmp(kinds[kind].name, words->items[0]) != 0) kind++;
  if (kind == KINDS)
    return EB_ERROR(EB_ERR_USAGE, "verify knows results, fclib and foreign, not '%s'",
                    words->items[0]);
  for (int i = 1; i < words->count; i++) EB_TRY(kinds[kind].verify(words->items[i]));
  return EB_OK;
}

static eb_error run_join(const eb_arguments *arguments, int *code) {
  (void)code;
  const eb_strings *words = &arguments->positional;
  enum { KEPT = 1 << 25 /* the most that the first takes */ };
  EB_OWNED(eb_strings_clear) eb_strings inputs = {0};
  /* HDF5 gives back all that it holds of a file when that is closed, and asks for it again at the
   * next: memory stays with the process, or a sixth of the time goes into page faults; and with
   * HDF5, whose lists of what is free are else emptied at 64 KB, or as much goes into malloc. They
   * hold what was in use at a time, and no more. */
  mallopt(M_MMAP_THRESHOLD, KEPT);
  mallopt(M_TRIM_THRESHOLD, KEPT);
  H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
  EB_TRY(eb_lines_read(words->items[1], "list of files", &inputs));
  return eb_results_join(words->items[0], &inputs);
}

const eb_command eb_command_verify = {.name = "verify",
                                      .synopsis = "results|fclib|foreign FILE..",
                                      .least = 2,
                                      .most = 1000,
                                      .run = run_verify};
const eb_command eb_command_join = {
    .name = "join", .synopsis = "OUT.h5 LIST", .least = 2, .most = 2, .run = run_join};
