/* elastobench precision: solvers at equal accuracy. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/names.h"
#include "harness/precision/precision_doc.h"
#include "harness/print.h"
#include "harness/report/page.h"
#include "harness/results/json.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"

static const eb_flag flags[] = {
    {"solver", 's', "SOLVER[:o=v,..]", "a solver with options that stay fixed; may be repeated"},
    {"output", 'o', "DIR", "folder for results and page (precision)"},
    {"budget", 0, "N", "trials of every solver on every scene (12)"},
    {"knob", 0, "SOLVER:O=LOW..HIGH",
     "turn this option of a solver, logarithmically where LOW > 0, or O=V1|V2; replaces what is "
     "declared for it; may be repeated"},
    {"dt", 0, "LOW..HIGH",
     "time steps that are tried, s (a sixteenth of the scene's to four times it)"},
    {"time", 0, "T", "simulated time, s (the scene's)"},
    {"times", 0, "K", "at how many times, evenly spread up to T, motions are compared (4)"},
    {"nu", 0, "V1|V2", "Poisson's ratios: every scene at each, with a control of locking"},
    {"seeds", 0, "K", "repeat every trial with K seeds (1)"},
    {"seed", 0, "K", "the first of them, and of the points that are tried (0)"},
    {"against", 0, "time|step",
     "errors against the motion in time, or against the same step solved tightly (time)"},
    {"reference", 0, "SOLVER[:o=v,..]",
     "what makes the reference: has rtol, or steps in parts (symplectic-euler, or "
     "newton:rtol=1e-10)"},
    {"reference-error", 0, "E", "halve its steps until its error is below E of the motion (2e-4)"},
    {"levels", 0, "N", "so often at most, the first one included (8)"},
    {"threads", 0, "T", "OpenMP threads of a run (1)"},
    {"timeout", 0, "S", "wall-clock limit of a run (3600 s)"},
    {"memory", 0, "MB", "memory limit of a run (nine tenths of the machine's)"},
    {"mesh", 0, "SCENE=FILE", "a mesh or closed surface in the place of a scene's geometry"},
    {"resume", 0, NULL, "run only what DIR lacks"},
    {"overwrite", 0, NULL, "replace what DIR holds; with --resume only when not comparable"},
    EB_FLAG_PLUGIN,
    EB_FLAG_FORMAT,
    {0}};

/* ---- the request ----------------------------------------------------------------------------- */

static eb_error read_real(const eb_arguments *arguments, const char *flag, double min, double max,
                          double *out) {
  char what[64];
  const char *text = eb_arguments_text(arguments, flag);
  snprintf(what, sizeof what, "--%s", flag);
  return text ? eb_parse_real(what, text, min, max, out) : EB_OK;
}

static eb_error read_steps(const char *text, eb_study_request *r) {
  static const double shortest = 1e-7, longest = 1; /* of every scene's parameter dt */
  const char *dots = text ? strstr(text, "..") : NULL;
  char low[64];
  if (!text) return EB_OK;
  if (!dots || dots - text >= (ptrdiff_t)sizeof low)
    return EB_ERROR(EB_ERR_USAGE, "--dt wants LOW..HIGH in s, not '%s'", text);
  snprintf(low, sizeof low, "%.*s", (int)(dots - text), text);
  EB_TRY(eb_parse_real("--dt", low, shortest, longest, &r->dt_low));
  return eb_parse_real("--dt", dots + 2, r->dt_low, longest, &r->dt_high);
}

static eb_error read_counts(const eb_arguments *arguments, eb_study_request *r) {
  const struct {
    const char *flag;
    int64_t min, max;
    int *out;
  } counts[] = {{"budget", 1, 1000, &r->budget},
                {"seeds", 1, 100, &r->seeds},
                {"times", 1, EB_MOST_TIMES, &r->times},
                {"threads", 1, 1024, &r->threads},
                {"levels", 3, EB_MOST_LEVELS, &r->levels}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    int64_t value = *counts[i].out;
    EB_TRY(eb_arguments_whole(arguments, counts[i].flag, counts[i].min, counts[i].max, &value));
    *counts[i].out = (int)value;
  }
  return eb_arguments_whole(arguments, "seed", 0, INT64_C(1000000000), &r->seed);
}

static eb_error read_request(const eb_arguments *arguments, eb_study_request *r) {
  const char *against = eb_arguments_text(arguments, "against");
  const char *folder = eb_arguments_text(arguments, "output");
  r->scenes = &arguments->positional;
  r->solvers = eb_arguments_values(arguments, "solver");
  r->knobs = eb_arguments_values(arguments, "knob");
  r->meshes = eb_arguments_values(arguments, "mesh");
  r->ratios = eb_arguments_text(arguments, "nu");
  r->reference = eb_arguments_text(arguments, "reference");
  r->folder = folder ? folder : "precision";
  r->command_line = arguments->line;
  r->existing = eb_arguments_existing(arguments);
  r->same_step = against && strcmp(against, "step") == 0;
  if (against && !r->same_step && strcmp(against, "time") != 0)
    return EB_ERROR(EB_ERR_USAGE, "--against is time or step, not '%s'", against);
  if (r->same_step && eb_arguments_has(arguments, "dt"))
    return EB_ERROR(EB_ERR_USAGE, "--against step compares at the scene's own step: leave --dt");
  if (r->solvers->count == 0)
    return EB_ERROR(EB_ERR_USAGE, "precision wants solvers, as in -s newton -s semi-implicit");
  if (!*r->folder) return EB_ERROR(EB_ERR_USAGE, "--output wants the name of a folder");
  EB_TRY(read_counts(arguments, r));
  EB_TRY(read_real(arguments, "time", 1e-6, 1e6, &r->seconds));
  EB_TRY(read_real(arguments, "reference-error", 1e-10, 0.1, &r->reference_error));
  EB_TRY(read_real(arguments, "timeout", 1e-3, 1e9, &r->timeout));
  EB_TRY(read_real(arguments, "memory", 1, 1e9, &r->memory));
  return read_steps(eb_arguments_text(arguments, "dt"), r);
}

/* ---- what is shown --------------------------------------------------------------------------- */

static eb_error write_page(const eb_study *study) {
  char path[4096];
  eb_doc doc = {0};
  eb_study_plots drawn = {0};
  eb_lock lock;
  const char *folder = study->request->folder;
  EB_TRY(eb_lock_folder(folder, &lock));
  eb_error error = eb_study_draw(study, folder, &drawn);
  if (!error) eb_study_show(study, &drawn, &doc);
  if (!error) error = eb_page_publish(&doc, "Matched accuracy", "papers", folder);
  snprintf(path, sizeof path, "%s/trajectories.h5", folder);
  if (!error) error = eb_study_write_trajectories(study, path);
  eb_lock_release(&lock);
  eb_doc_clear(&doc);
  eb_study_plots_clear(&drawn);
  return error;
}

/* What a solver has come to on a scene: EB_EXIT_GOOD when a trial stands, or it does not serve the
 * scene. */
static int code_of_trials(const eb_trial *trials, int count) {
  bool stands = false, broken = false;
  for (int t = 0; t < count && trials[t].stride > 0; t++) {
    stands |= trials[t].state <= EB_TRIAL_UNRESOLVED || trials[t].skipped;
    broken |= trials[t].broken;
  }
  return stands ? EB_EXIT_GOOD : broken ? EB_EXIT_AUDIT_FAILED : EB_EXIT_SOLVER_FAILED;
}

/* Trials that fail are data; a solver of which none stands on a scene is what asks for attention.
 * Without a reference nothing is judged. */
static int code_of(const eb_study *study) {
  int worst = EB_EXIT_NOTHING;
  if (study->interrupted) return EB_EXIT_INTERRUPTED;
  for (int i = 0; i < study->scene_count; i++)
    for (int k = 0; k < study->solver_count; k++) {
      int code = code_of_trials(eb_study_trials(study, i, k), study->request->budget);
      if (study->scenes[i].reference.state != EB_REFERENCE_VALID) continue;
      if (code == EB_EXIT_SOLVER_FAILED) return code;
      if (worst != EB_EXIT_AUDIT_FAILED) worst = code;
    }
  return worst;
}

static eb_error print(const eb_study *study, bool json) {
  json_t *printed;
  eb_doc doc = {0};
  if (!json) {
    eb_study_show(study, NULL, &doc);
    eb_error error = eb_doc_print(&doc, EB_DOC_TEXT, stdout);
    eb_doc_clear(&doc);
    return error;
  }
  EB_TRY(eb_study_json(study, &printed));
  return eb_json_print(printed, stdout);
}

/* What was found is said before the page is drawn, which wants gnuplot and room on a disk. */
static eb_error show(const eb_study *study, bool json, int *code) {
  EB_TRY(print(study, json));
  EB_TRY(write_page(study));
  if (!json) eb_print(stdout, "%s/index.html\n", study->request->folder);
  *code = code_of(study);
  if (*code == EB_EXIT_NOTHING) eb_print(stderr, "elastobench: nothing could be judged\n");
  if (study->interrupted)
    eb_print(stderr, "elastobench: interrupted; --resume runs what is missing\n");
  return EB_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static eb_error make_study(const eb_study_request *request, eb_study *study) {
  EB_TRY(eb_study_create(request, study));
  EB_TRY(eb_folder_make(request->folder));
  EB_TRY(eb_study_refer(study));
  return eb_study_run(study);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  bool json;
  EB_OWNED(eb_plugins_clear) eb_plugins plugins = {0};
  EB_OWNED(eb_study_clear) eb_study study = {0};
  eb_study_request request = {.plugins = &plugins,
                              .budget = 12,
                              .seeds = 1,
                              .times = 4,
                              .threads = 1,
                              .levels = 8,
                              .reference_error = 2e-4};
  EB_TRY(eb_arguments_json(arguments, &json));
  EB_TRY(eb_arguments_plugins(arguments, &plugins));
  EB_TRY(read_request(arguments, &request));
  EB_TRY(make_study(&request, &study));
  return show(&study, json, code);
}

const eb_command eb_command_precision = {
    .name = "precision",
    .synopsis = "SCENE[:p=v,..].. -s SOLVER[:o=v,..].. [--budget N] [-o DIR] [options]",
    .summary = "solvers at equal accuracy: error against cost, profiles",
    .details =
        "Solvers are turned by their knobs, the time step among them, within one budget of trials, "
        "and measured\nagainst a reference motion whose own error is stated. DIR/precision.h5 and "
        "DIR/reference.h5 keep the runs,\nDIR/trajectories.h5 the reference motions; "
        "DIR/index.html shows the curves. Exit code 3 or 4: of a solver no\ntrial stands on a "
        "scene; 6: there is no reference.",
    .flags = flags,
    .least = 1,
    .most = 100,
    .run = run};
