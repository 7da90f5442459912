/* elastobench run: suites and scenes x solvers x repetitions, or contact problems of FCLib. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/case/caveats.h"
#include "harness/case/session.h"
#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/fclib/fclib_compare.h"
#include "harness/fclib/fclib.h"
#include "harness/names.h"
#include "harness/predict/predict.h"
#include "harness/print.h"
#include "harness/results/json.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/mesh/io.h"

static const eb_flag flags[] = {
    {"solver", 's', "SOLVER[:o=v,..]",
     "a solver with options; may be repeated; replaces a suite's"},
    {"output", 'o', "F.h5", "result file; without it a new one named after the time"},
    {"steps", 0, "N", "steps a case (default: the scene's)"},
    {"repeat", 0, "R", "repetitions, those of competing solvers interleaved (1)"},
    {"threads", 0, "T[,T..]", "OpenMP threads of a case; several counts multiply the cases (1)"},
    {"timeout", 0, "S", "wall-clock limit of a case (3600 s)"},
    {"memory", 0, "MB", "memory limit of a case (nine tenths of the machine's)"},
    {"seed", 0, "K", "seed of everything random (0)"},
    {"contact-problem", 0, "STEP", "keep the contact problem of this step, for export --to fclib"},
    {"merit", 0, "M",
     "of fclib: files: the time that each solver needs to get there, all of ours and Siconos' when "
     "none is named, as a table and a performance profile; --repeat (3), --timeout (60 s) a solve"},
    {"from", 0, "F.h5:RUN@STEP",
     "start from the state that a run of a result file has kept; @FIRST..LAST: one step from each"},
    {"stride", 0, "N", "of --from FIRST..LAST: every N-th state"},
    {"samples", 0, "COUNT", "of --from FIRST..LAST: so many states, evenly spread"},
    {"checkpoints", 0, "STEPS", "keep the states after these steps (5,20..40/5) for --from"},
    {"sweep", 0, "'O:LOW..HIGH step S'",
     "a case for every value of an option, or 'O:A|B|C'; several multiply. '... step S stable': "
     "look "
     "for the least value at which the case is stable, by bisection; 'stable scan': try every "
     "value"},
    {"frames", 0, "interval|all",
     "store a frame at the scene's interval (interval), or of every step in double precision, from "
     "which every audit can be recomputed (all)"},
    {"examine", 0, NULL,
     "examine the rank of an element and the subspace that a solver declares: Newton's decrement "
     "after every step, what its points do not see, how it fits the regions"},
    {"embed", 0, "N",
     "find N random points in every element of the mesh at rest, and tell what that took"},
    {"mesh", 0, "SCENE=FILE", "a mesh or closed surface in the place of a scene's geometry"},
    {"shard", 0, "I/N", "only the I-th of N parts; competitors on a scene stay together"},
    {"resume", 0, NULL, "complete an existing result file: only what is missing runs"},
    {"overwrite", 0, NULL,
     "replace an existing result file; with --resume only when not comparable"},
    {"dry-run", 0, NULL, "print the cases, what memory and time they will take, and run nothing"},
    EB_FLAG_PLUGIN,
    EB_FLAG_EXTERNAL,
    EB_FLAG_FORMAT,
    {0}};

/* What a command line asks for; texts are the arguments', but for the ties. */
static eb_error read_request(const eb_arguments *arguments, eb_dependencies *dependencies,
                             eb_request *request) {
  static const char *const settings[] = {"steps", "repeat",          "threads", "timeout", "memory",
                                         "seed",  "contact-problem", "frames",  "embed"};
  static const char *const tied[] = {"from", "stride", "samples", "checkpoints"};
  const eb_strings *sweeps = eb_arguments_values(arguments, "sweep");
  const char *text;
  bool known;
  request->names = arguments->positional;
  request->solvers = *eb_arguments_values(arguments, "solver");
  request->meshes = *eb_arguments_values(arguments, "mesh");
  request->dependencies = dependencies;
  request->allow_external = eb_arguments_has(arguments, "allow-external");
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    int set;
    if ((text = eb_arguments_text(arguments, settings[i])))
      EB_TRY(eb_error_prefix(eb_settings_set(&request->settings, settings[i], text, &set), "--%s",
                             settings[i]));
  }
  if (eb_arguments_has(arguments, "examine")) request->settings.examine = EB_SETTING_YES;
  for (size_t i = 0; i < sizeof tied / sizeof *tied; i++)
    if ((text = eb_arguments_text(arguments, tied[i])))
      EB_TRY(eb_error_prefix(eb_dependencies_set(dependencies, tied[i], text, &known), "--%s",
                             tied[i]));
  for (int i = 0; i < sweeps->count; i++)
    EB_TRY(eb_error_prefix(eb_dependencies_set(dependencies, "sweep", sweeps->items[i], &known),
                           "--sweep"));
  EB_TRY(eb_dependencies_finish(dependencies));
  if (dependencies->file)
    EB_TRY(eb_error_prefix(eb_sandbox_verify("results", dependencies->file, NULL), "--from"));
  return eb_arguments_shard(arguments, &request->shard, &request->shards);
}

/* ---- running --------------------------------------------------------------------------------- */

static eb_error report_end(const eb_plan *plan, const char *target, const eb_session_end *end,
                           bool json, int *code) {
  if (eb_plan_size(plan) == 0) {
    eb_print(stderr, "elastobench: there are no cases in this shard\n");
    return EB_OK;
  }
  if (end->run + end->kept + end->found == 0) {
    *code = end->interrupted ? EB_EXIT_INTERRUPTED : EB_EXIT_NOTHING;
    eb_print(stderr, "elastobench: %s\n",
             end->interrupted ? "interrupted before a case was complete" : "nothing was measured");
    return EB_OK;
  }
  EB_TRY(eb_summary_print(plan, target, json, stdout, code));
  if (!json && end->wanted)
    eb_print(stdout, "%d of %d cases in %s (%d new)\n", end->run + end->kept, end->wanted, target,
             end->run + end->tried);
  else if (!json)
    eb_print(stdout, "%d of %d sweeps in %s (%d new trials)\n", end->found, plan->sweep_count,
             target, end->tried);
  if (end->interrupted) {
    eb_print(stderr, "elastobench: interrupted; --resume runs what is missing\n");
    *code = EB_EXIT_INTERRUPTED;
  }
  return EB_OK;
}

/* Of a case, or of a grid behind the cases. */
static const char *mesh_of(const eb_plan *plan, int i) {
  return i < plan->count ? plan->cases[i].mesh_file
                         : plan->grids[i - plan->count].solvers[0].mesh_file;
}

/* What a reader has to say of a mesh file, once for each. A file that cannot be read is told of by
 * the cases that need it. */
static void tell_notes(const eb_plan *plan) {
  for (int i = 0; i < plan->count + plan->grid_count; i++) {
    char *notes = NULL;
    const char *path = mesh_of(plan, i);
    bool told = !path;
    for (int before = 0; before < i && !told; before++)
      told = mesh_of(plan, before) && strcmp(mesh_of(plan, before), path) == 0;
    if (told) continue;
    eb_error_free(eb_mesh_notes(path, &notes));
    if (notes) eb_print(stderr, "%s", notes);
    free(notes);
  }
}

/* What is known beforehand of solvers with these options, once for each; of grids, of their first
 * cases. */
static eb_error tell_caveats(const eb_plan *plan) {
  EB_OWNED(eb_strings_clear) eb_strings caveats = {0};
  EB_OWNED(eb_known_bodies_clear) eb_known_bodies known = {0};
  for (int i = 0; i < plan->count; i++) {
    EB_TRY(eb_caveats_add(&plan->cases[i], &caveats));
    EB_TRY(eb_caveats_add_tolerance(&plan->cases[i], &known, &caveats));
  }
  for (int i = 0; i < plan->sweep_count; i++)
    EB_TRY(eb_caveats_add(&plan->sweeps[i].trial, &caveats));
  for (int i = 0; i < plan->grid_count; i++)
    for (int s = 0; s < plan->grids[i].solver_count; s++)
      EB_TRY(eb_caveats_add(&plan->grids[i].solvers[s], &caveats));
  for (int i = 0; i < caveats.count; i++) eb_print(stderr, "elastobench: %s\n", caveats.items[i]);
  return EB_OK;
}

static eb_error run_plan(const eb_arguments *arguments, const eb_plan *plan, int *code) {
  bool json;
  EB_TRY(eb_arguments_json(arguments, &json));
  EB_TRY(tell_caveats(plan));
  if (eb_arguments_has(arguments, "dry-run")) return eb_summary_plan(plan, json, stdout);
  char fresh[64];
  const char *given = eb_arguments_text(arguments, "output"), *target = given ? given : fresh;
  eb_session_end end;
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(fresh, sizeof fresh, "elastobench-%Y%m%d-%H%M%S.h5", &local);
  if (!*target) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a file");
  eb_session session = {.plan = plan,
                        .target = target,
                        .command_line = arguments->line,
                        .existing = eb_arguments_existing(arguments)};
  tell_notes(plan);
  eb_predict_warn(plan->cases, plan->count, stderr);
  EB_TRY(eb_session_run(&session, &end));
  return report_end(plan, target, &end, json, code);
}

static eb_error run_scenes(const eb_arguments *arguments, int *code) {
  EB_OWNED(eb_plugins_clear) eb_plugins plugins = {0};
  eb_request request = {.plugins = &plugins, .grids = true};
  EB_OWNED(eb_dependencies_clear) eb_dependencies dependencies = {0};
  EB_OWNED(eb_plan_clear) eb_plan plan = {0};
  EB_TRY(eb_arguments_plugins(arguments, &plugins));
  EB_TRY(read_request(arguments, &dependencies, &request));
  EB_TRY(eb_plan_create(&request, &plan));
  return run_plan(arguments, &plan, code);
}

/* ---- contact problems of FCLib in the place of scenes ---------------------------------------- */

static const char PREFIX[] = "fclib:";

/* Whether what is to be run are files of FCLib; they are not mixed with scenes. */
static eb_error fclib_wanted(const eb_arguments *arguments, bool *wanted) {
  const eb_strings *names = &arguments->positional;
  int count = 0;
  for (int i = 0; i < names->count; i++)
    count += strncmp(names->items[i], PREFIX, sizeof PREFIX - 1) == 0;
  *wanted = count > 0;
  return count == 0 || count == names->count
             ? EB_OK
             : EB_ERROR(EB_ERR_USAGE, "fclib: files and scenes cannot be run together");
}

static void print_text(const char *path, const eb_fclib *p, const char *solver,
                       const eb_fclib_result *r) {
  eb_print(stdout, "%s: %s problem of %d contacts, %d velocities\n", path,
           p->global ? "global" : "local", (int)p->contacts, (int)p->size);
  eb_print(stdout,
           "  %s: %s after %lld iterations, %.4g s (%.4g s of it for the operator), merit %.3g\n",
           solver, eb_reason_name(r->outcome.reason), (long long)r->outcome.iterations, r->seconds,
           r->factor_seconds, r->merit);
  if (!isnan(r->stored_merit))
    eb_print(stdout, "  the file's own solution: merit %.3g\n", r->stored_merit);
}

static eb_error print_json(const char *path, const eb_fclib *p, const char *solver,
                           const eb_fclib_result *r) {
  json_t *line = eb_json_pack(
      "{s:s, s:s, s:i, s:i, s:s, s:s, s:I, s:f, s:f, s:f, s:o}", "file", path, "kind",
      p->global ? "global" : "local", "contacts", (int)p->contacts, "velocities", (int)p->size,
      "solver", solver, "reason", eb_reason_name(r->outcome.reason), "iterations",
      (json_int_t)r->outcome.iterations, "seconds", r->seconds, "operator_seconds",
      r->factor_seconds, "merit", r->merit, "stored_merit", eb_json_real(r->stored_merit));
  return eb_json_line(line, stdout);
}

/* Solves a file with a solver in this process, and prints a line or an object. With `output` the
 * problem is written with its solution. */
static eb_error solve_fclib(const char *path, const char *spec, const char *output, bool json,
                            int *code) {
  const eb_fclib_method *method;
  eb_values *options = NULL;
  eb_fclib p = {0};
  eb_fclib_result result = {0};
  eb_error error = eb_fclib_solver(spec, &method, &options);
  if (!error) error = eb_sandbox_verify("fclib", path, NULL);
  if (!error) error = eb_fclib_read(path, &p);
  if (!error) {
    const eb_solver solver = {.options = options, .threads = 1};
    const eb_contact_tolerance tolerance = eb_contact_tolerance_asked(options, p.size, p.f);
    error = eb_fclib_solve(&p, method->method, &solver, &tolerance, &result);
  }
  if (!error && json) error = print_json(path, &p, spec, &result);
  if (!error && !json) print_text(path, &p, spec, &result);
  if (!error && output) {
    /* The solution is lent to the problem, and with it goes to the file. */
    eb_fclib_solution stored = p.solution;
    p.solution = result.found;
    error = eb_fclib_write(output, &p);
    p.solution = stored;
  }
  if (!error && result.outcome.reason <= 0) *code = EB_EXIT_SOLVER_FAILED;
  eb_fclib_result_clear(&result);
  eb_fclib_clear(&p);
  eb_values_destroy(options);
  return error;
}

/* Paths behind the prefix; they are the arguments'. */
static eb_error compare_fclib(const eb_arguments *arguments, const char *merit, bool json) {
  const eb_strings *named = &arguments->positional;
  int64_t timeout = 60, repeats = 3;
  EB_OWNED(eb_strings_clear) eb_strings files = {0};
  eb_fclib_race race = {.files = &files, .solvers = eb_arguments_values(arguments, "solver")};
  if (eb_arguments_has(arguments, "output"))
    return EB_ERROR(EB_ERR_USAGE, "--merit prints a table and writes no solution: leave --output");
  EB_TRY(eb_parse_real("--merit", merit, 1e-14, 1, &race.merit));
  EB_TRY(eb_arguments_whole(arguments, "timeout", 1, 86400, &timeout));
  EB_TRY(eb_arguments_whole(arguments, "repeat", 1, 99, &repeats));
  race.timeout = (double)timeout;
  race.repeats = (int)repeats;
  for (int i = 0; i < named->count; i++) {
    const char *path = named->items[i] + sizeof PREFIX - 1;
    EB_TRY(eb_strings_add(&files, path));
    EB_TRY(eb_sandbox_verify("fclib", path, NULL));
  }
  return eb_fclib_compare(&race, json);
}

static eb_error run_fclib(const eb_arguments *arguments, int *code) {
  const char *merit = eb_arguments_text(arguments, "merit");
  const eb_strings *files = &arguments->positional;
  const eb_strings *solvers = eb_arguments_values(arguments, "solver");
  const char *output = eb_arguments_text(arguments, "output");
  bool json;
  if (merit) {
    EB_TRY(eb_arguments_json(arguments, &json));
    return compare_fclib(arguments, merit, json);
  }
  if (solvers->count == 0)
    return EB_ERROR(EB_ERR_USAGE, "fclib: wants a solver, as in -s contact-delassus");
  EB_TRY(eb_arguments_json(arguments, &json));
  if (output && files->count * solvers->count > 1)
    return EB_ERROR(EB_ERR_USAGE, "--output takes the solution of one file and one solver");
  for (int i = 0; i < files->count; i++)
    for (int s = 0; s < solvers->count; s++)
      EB_TRY(
          solve_fclib(files->items[i] + sizeof PREFIX - 1, solvers->items[s], output, json, code));
  return EB_OK;
}

static eb_error run(const eb_arguments *arguments, int *code) {
  bool fclib;
  EB_TRY(fclib_wanted(arguments, &fclib));
  return (fclib ? run_fclib : run_scenes)(arguments, code);
}

const eb_command eb_command_run = {
    .name = "run",
    .synopsis = "SUITE|SCENE[:p=v,..].. [-s SOLVER[:o=v,..]].. [-o F.h5] [options]",
    .summary = "run solvers on scenes and record everything in a result file",
    .details =
        "SUITE is a built-in suite or the path of an .ini file; SCENE may be a scene's own .ini "
        "file (with "
        "a section [scene]: new-scene), or a pattern such as "
        "'conjac2020/*'.\nA case is one scene, solver, thread count and repetition; each runs in "
        "a process of its own.\nfclib:FILE.hdf5 in the place of a scene is a contact problem of "
        "FCLib: "
        "it is solved here, -o writes it with its solution.",
    .flags = flags,
    .least = 1,
    .most = 1000,
    .run = run};
