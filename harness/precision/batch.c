/* Cases by label: a suite made in memory, its plan, its result file. */
#include "harness/precision/batch.h"

#include <string.h>
#include <unistd.h>

#include "problems/base/memory.h"

eb_error eb_batch_add(eb_batch *batch, const eb_batch_case *one) {
  eb_suite *suite = &batch->suite;
  if (!suite->name) EB_TRY(eb_string_format(&suite->name, "precision")); /* in messages */
  EB_TRY(EB_APPEND(suite->sections, suite->count));
  eb_suite_section *section = &suite->sections[suite->count - 1];
  section->settings =
      (eb_settings){.steps = one->times * one->stride, .seed = one->seed, .has_seed = 1};
  EB_TRY(eb_string_format(&section->label, "%s", one->label));
  EB_TRY(eb_strings_add(&section->scenes, one->scene));
  EB_TRY(eb_strings_add(&section->solvers, one->solver));
  if (one->group) EB_TRY(eb_string_format(&section->dependencies.group, "%s", one->group));
  return eb_ranges_add(&section->dependencies.checkpoints,
                       (eb_range){one->stride, one->times * one->stride, one->stride});
}

eb_error eb_batch_run(eb_batch *batch, const eb_batch_setting *setting, eb_existing existing,
                      bool *interrupted) {
  eb_session_end end;
  const eb_request request = {.suite = &batch->suite,
                              .meshes = *setting->meshes,
                              .settings = {.thread_count = 1,
                                           .threads = {setting->threads},
                                           .timeout = setting->timeout,
                                           .memory = setting->memory},
                              .plugins = setting->plugins};
  const eb_session session = {.plan = &batch->plan,
                              .target = setting->target,
                              .command_line = setting->command_line,
                              .existing = existing};
  eb_plan_clear(&batch->plan);
  eb_results_close(batch->results);
  batch->results = NULL;
  EB_TRY(eb_plan_create(&request, &batch->plan));
  EB_TRY(eb_session_run(&session, &end));
  *interrupted = end.interrupted;
  /* The session has read what was there in a process of its own, and written the rest. */
  return access(setting->target, F_OK) ? EB_OK : eb_results_open(setting->target, &batch->results);
}

int eb_batch_find(const eb_batch *batch, const char *label) {
  const eb_plan *plan = &batch->plan;
  for (int i = 0; i < plan->label_count && batch->results; i++)
    if (strcmp(plan->labels[i].label, label) == 0)
      return eb_results_find(batch->results, plan->cases[plan->labels[i].at].identity);
  return -1;
}

eb_error eb_run_is_valid(const eb_run *run, bool *stands, char **why) {
  bool completed = strcmp(run->outcome, eb_outcome_name(EB_OUTCOME_COMPLETED)) == 0;
  bool broken = strcmp(run->audit, "failed") == 0;
  *stands = completed && strcmp(run->audit, "passed") == 0;
  if (*stands) return EB_OK;
  return eb_string_format(why, "%s%s%s%s%s%s", completed ? "" : run->outcome,
                          *run->detail ? ": " : "", run->detail, !completed && broken ? "; " : "",
                          broken ? "audit failed: " : "",
                          broken      ? run->audit_rules
                          : completed ? "no audit"
                                      : "");
}

void eb_batch_clear(eb_batch *batch) {
  eb_suite_clear(&batch->suite);
  eb_plan_clear(&batch->plan);
  eb_results_close(batch->results);
  *batch = (eb_batch){0};
}
