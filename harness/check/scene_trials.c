#include "harness/check/scene_trials.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "harness/audit/rules.h"
#include "harness/case/caveats.h"
#include "harness/case/session.h"
#include "harness/results/read.h"
#include "harness/results/sample.h"
#include "problems/base/file.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"

/* ---- planning -------------------------------------------------------------------------------- */

static eb_error add_trial(const eb_scene_check *check, const char *solver, bool named,
                          eb_scene_trials *out) {
  EB_OWNED(eb_strings_clear) eb_strings scenes = {0}, solvers = {0};
  eb_request request = {.settings = {.steps = check->steps, .timeout = check->timeout},
                        .plugins = check->plugins};
  EB_TRY(EB_APPEND(out->trials, out->count));
  eb_scene_trial *trial = &out->trials[out->count - 1];
  *trial = (eb_scene_trial){.solver = solver, .named = named};
  EB_TRY(eb_strings_add(&scenes, check->scene));
  EB_TRY(eb_strings_add(&solvers, solver));
  request.names = scenes;
  request.solvers = solvers;
  return eb_plan_create(&request, &trial->plan);
}

/* Whether it serves the scene as it is, without being given anything; of solvers for contact, as
 * one where there is contact. */
static bool serves(const eb_solver_ops *ops, const eb_scene *scene) {
  bool touches = eb_scene_needs(scene) & EB_CAP_CONTACT;
  return !eb_solver_wants_options(ops) && !eb_solver_lacks(ops, scene) &&
         (touches || !(ops->capabilities & EB_CAP_CONTACT));
}

eb_error eb_scene_trials_plan(const eb_scene_check *request, const eb_scene *scene,
                              eb_scene_trials *out) {
  int loaded = request->plugins ? request->plugins->count : 0;
  for (int i = 0; i < request->solvers->count; i++)
    EB_TRY(add_trial(request, request->solvers->items[i], true, out));
  if (out->count > 0) return EB_OK;
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++)
    if (serves(*at, scene)) EB_TRY(add_trial(request, (*at)->name, false, out));
  for (int i = 0; i < loaded; i++)
    if (serves(request->plugins->items[i].solver, scene))
      EB_TRY(add_trial(request, request->plugins->items[i].solver->name, false, out));
  return EB_OK;
}

void eb_scene_trials_clear(eb_scene_trials *trials) {
  for (int i = 0; i < trials->count; i++) eb_plan_clear(&trials->trials[i].plan);
  free(trials->trials);
}

/* ---- what became of one ---------------------------------------------------------------------- */

static int count_rules(const char *names) {
  int count = 0;
  for (int rule = 0; rule < EB_RULES; rule++) count += eb_rules_have(names, (eb_rule)rule);
  return count;
}

/* What a run broke, where first, and what helps. */
static eb_error explain(const eb_run *run, eb_text *out) {
  EB_TRY(eb_text_printf(out, "%s%s%s", *run->audit_rules ? ": " : "", run->audit_rules,
                        *run->audit_detail ? "; " : ""));
  EB_TRY(eb_text_printf(out, "%s", run->audit_detail));
  for (int rule = 0; rule < EB_RULES; rule++)
    if (eb_rules_have(run->audit_rules, (eb_rule)rule) && eb_rule_help((eb_rule)rule))
      EB_TRY(eb_text_printf(out, "; what may help: %s", eb_rule_help((eb_rule)rule)));
  return EB_OK;
}

/* Rules that are broken; `known`, that this may be, is said before the run. */
static eb_error emit_audit(const eb_check *check, const eb_scene_trial *trial, const eb_run *run,
                           bool known) {
  EB_OWNED(eb_text_clear) eb_text reason = {0};
  EB_TRY(eb_text_printf(&reason, "rules of the audit that it breaks"));
  EB_TRY(explain(run, &reason));
  if (known && !trial->named)
    eb_check_note(check, count_rules(run->audit_rules), reason.data, "%s/steps/audit",
                  trial->solver);
  else
    eb_check_below(check, count_rules(run->audit_rules), 0, reason.data, "%s/steps/audit",
                   trial->solver);
  return EB_OK;
}

/* Steps that it took; of one that the time limit has ended so many are not asked for. */
static eb_error emit_steps(const eb_check *check, const eb_scene_trial *trial, const eb_run *run,
                           double median) {
  EB_OWNED(eb_text_clear) eb_text reason = {0};
  bool ended = eb_outcome_find(run->outcome) == EB_OUTCOME_TIMED_OUT;
  EB_TRY(eb_text_printf(&reason, "steps of %g s: %s%s%s", run->dt, run->outcome,
                        *run->detail ? ", " : "", run->detail));
  if (median > 0) EB_TRY(eb_text_printf(&reason, "; a step takes %.3g ms", 1e3 * median));
  eb_check_above(check, (double)run->steps_done, ended ? 1 : (double)run->steps_wanted, reason.data,
                 "%s/steps/taken", trial->solver);
  return EB_OK;
}

static eb_error emit_run(const eb_check *check, const eb_scene_trial *trial,
                         const eb_results *results, bool known) {
  static const char error[] = "residual of its equation over the sizes of its forces";
  int at = eb_results_find(results, trial->plan.cases[0].identity);
  EB_FREED double *wall = NULL;
  size_t steps;
  if (at < 0) return EB_OK;
  const eb_run *run = eb_results_run(results, at);
  EB_TRY(eb_results_steps(results, at, EB_COL_WALL, &wall, &steps));
  EB_TRY(emit_steps(check, trial, run, eb_median(wall, steps, EB_WARM_UP)));
  if (run->steps_done == 0) return EB_OK;
  EB_TRY(emit_audit(check, trial, run, known));
  if (isfinite(run->error))
    eb_check_note(check, run->error, error, "%s/steps/error", trial->solver);
  return EB_OK;
}

/* What is known of the solver before it runs; *known: its audit may fail. */
static eb_error emit_caveats(const eb_check *check, const eb_scene_trial *trial, bool *known) {
  EB_OWNED(eb_strings_clear) eb_strings caveats = {0};
  const eb_case *work = &trial->plan.cases[0];
  EB_OWNED(eb_text_clear) eb_text unused = {0};
  EB_TRY(eb_caveats_put(work->scene, work->solver, known, &unused));
  EB_TRY(eb_caveats_add(work, &caveats));
  for (int i = 0; i < caveats.count; i++)
    eb_check_note(check, NAN, caveats.items[i], "%s/steps/known", trial->solver);
  return EB_OK;
}

static eb_error run_trial(const eb_check *check, const eb_scene_check *request,
                          const eb_scene_trial *trial, const char *target, bool *interrupted) {
  eb_session_end end;
  eb_results *results = NULL;
  bool known;
  const eb_session session = {.plan = &trial->plan,
                              .target = target,
                              .command_line = request->command_line,
                              .existing = EB_EXISTING_OVERWRITE};
  if (check->begin) check->begin(check->context, trial->solver, "steps");
  EB_TRY(emit_caveats(check, trial, &known));
  EB_TRY(eb_session_run(&session, &end));
  *interrupted = end.interrupted;
  if (access(target, F_OK)) return EB_OK;
  EB_TRY(eb_results_open(target, &results));
  eb_error error = emit_run(check, trial, results, known);
  eb_results_close(results);
  return error;
}

eb_error eb_scene_trials_run(const eb_check *check, const eb_scene_check *request,
                             eb_scene_trials *trials) {
  EB_FREED char *folder = NULL, *target = NULL;
  bool interrupted = false;
  eb_error error = EB_OK;
  if (trials->count == 0) return EB_OK;
  EB_TRY(eb_folder_temporary(&folder));
  EB_TRY(eb_string_format(&target, "%s/steps.h5", folder));
  for (int i = 0; i < trials->count && !error && !interrupted; i++)
    error = run_trial(check, request, &trials->trials[i], target, &interrupted);
  unlink(target);
  rmdir(folder);
  if (!error && interrupted)
    error = EB_ERROR(EB_ERR_INVALID, "interrupted before all solvers had taken their steps");
  return error;
}
