/* One step of a case: the scene is brought to its start, the solver steps, the audit judges,
 * everything is recorded. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/job.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

/* ---- outcomes -------------------------------------------------------------------------------- */

eb_error eb_job_conclude(eb_job *j, eb_outcome outcome, const char *detail) {
  EB_TRY(eb_run_set(&j->run.outcome, eb_outcome_name(outcome)));
  return eb_run_set(&j->run.detail, detail);
}

eb_error eb_job_conclude_error(eb_job *j, const char *where, eb_error failure) {
  char detail[1200];
  eb_error_code code = eb_error_kind(failure);
  eb_outcome outcome = code == EB_ERR_MEMORY        ? EB_OUTCOME_OUT_OF_MEMORY
                       : code == EB_ERR_UNSUPPORTED ? EB_OUTCOME_SKIPPED
                                                    : EB_OUTCOME_FAILED;
  snprintf(detail, sizeof detail, "%s: %s", where, eb_error_message(failure));
  eb_text_clean(detail);
  eb_error_free(failure);
  return eb_job_conclude(j, outcome, detail);
}

/* ---- the mesh -------------------------------------------------------------------------------- */

eb_error eb_job_count_components(eb_job *j) {
  int32_t *part;
  EB_TRY(EB_NEW(part, j->scene->mesh->node_count));
  j->components = eb_mesh_components(j->scene->mesh, part);
  free(part);
  return EB_OK;
}

eb_error eb_job_follow_mesh(eb_job *j) {
  eb_state_destroy(j->before);
  j->before = NULL;
  EB_TRY(eb_state_create(j->scene, &j->before));
  return eb_job_count_components(j);
}

/* Brings the scene to the start of the step; *failure is what it reports. */
static eb_error advance_scene(eb_job *j, eb_error *failure) {
  *failure = eb_witness_advance(&j->witness, j->after);
  if (!*failure) *failure = eb_scene_advance(j->scene, j->after, &j->changed);
  if (!*failure && j->changed) EB_TRY(eb_job_follow_mesh(j));
  if (!*failure) eb_state_copy(j->after, j->before);
  return EB_OK;
}

/* The step itself; only what stands between the two readings of the clocks is charged to the
 * solver, its set-up for a mesh that was cut too. */
static eb_error timed_step(eb_job *j, double row[EB_COL_COUNT], eb_reason *reason) {
  double dt = j->witness.scene->dt, steal = eb_host_steal(&j->host);
  eb_step_log_reset(j->log);
  eb_guard_take(&j->guard, j->after);
  eb_cost_start(&j->cost);
  double cpu = eb_cpu_seconds(), wall = eb_wall_seconds();
  j->log->step_started = wall;
  j->page->step_began = j->leading ? 0 : wall;
  eb_error error = j->changed ? eb_solver_rebuild(j->solver, j->after, j->log) : EB_OK;
  if (!error) error = j->solver->ops->step(j->solver, j->after, dt, j->log, reason);
  row[EB_COL_WALL] = eb_wall_seconds() - wall;
  row[EB_COL_CPU] = eb_cpu_seconds() - cpu;
  j->page->step_began = 0;
  eb_cost_stop(&j->cost);
  row[EB_COL_STEAL] = eb_host_steal(&j->host) - steal;
  row[EB_COL_RESIDENT] = j->cost.resident;
  return error;
}

static eb_error record_step(eb_job *j, double row[EB_COL_COUNT], eb_reason reason) {
  row[EB_COL_STEP] = (double)j->after->step;
  row[EB_COL_TIME] = j->after->time;
  row[EB_COL_ITERATIONS] = (double)j->log->iterations;
  row[EB_COL_REASON] = reason;
  row[EB_COL_COMPONENTS] = j->components;
  row[EB_COL_FROM_STEP] = (double)j->from_step;
  row[EB_COL_LEAD] = j->lead;
  EB_TRY(eb_recorder_step(j->recorder, row, j->log));
  j->run.steps_done++;
  if (2 * j->run.steps_done <= j->work->steps + 1) j->half_resident = j->cost.resident;
  EB_TRY(eb_run_set(&j->run.reason, eb_reason_name(reason)));
  return EB_OK;
}

/* Whether a frame is due after so many steps, or at the sample that has so many before it. */
static bool is_frame(const eb_job *j, int64_t steps) {
  int64_t interval = j->work->scene->steps_per_frame > 0 ? j->work->scene->steps_per_frame : 1;
  return j->work->frames == EB_FRAMES_ALL || steps % interval == 0;
}

eb_error eb_job_sample_frame(eb_job *j) {
  if (!is_frame(j, j->run.steps_done)) return EB_OK;
  return eb_recorder_frame(j->recorder, &(eb_frame){.state = j->after});
}

/* Frames of all steps or at the scene's interval, and the last one whatever it is; of samples those
 * whose start has one. */
static eb_error record_frame(eb_job *j, bool last) {
  bool wanted = j->work->from.samples ? is_frame(j, j->run.steps_done - 1)
                                      : last || is_frame(j, j->run.steps_done);
  if (!wanted) return EB_OK;
  eb_frame frame = {j->after, j->before, j->log->element_updates, j->log->contacts};
  EB_TRY(eb_recorder_frame(j->recorder, &frame));
  memset(j->log->element_updates, 0, (size_t)j->log->element_count);
  return EB_OK;
}

static eb_error keep_checkpoint(eb_job *j) {
  if (!eb_ranges_hold(&j->work->checkpoints, j->after->step)) return EB_OK;
  return eb_recorder_checkpoint(j->recorder, j->after, j->before->time);
}

/* Often enough that a crash costs little, and seldom enough that commits take a twentieth of the
 * time at most. */
static eb_error commit_now_and_then(eb_job *j) {
  double began = eb_wall_seconds();
  if (began - j->committed < 20 * j->commit_seconds) return EB_OK;
  EB_TRY(eb_recorder_commit(j->recorder));
  j->committed = eb_wall_seconds();
  j->commit_seconds = j->committed - began;
  return EB_OK;
}

static bool ended_from_outside(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

/* The outcome of a step that failed. */
static eb_error conclude_failure(eb_job *j, bool finite, eb_reason reason) {
  char detail[200];
  long long step = (long long)j->after->step;
  if (!finite)
    snprintf(detail, sizeof detail,
             "step %lld left a state that is not finite, or too large for its audit", step);
  else
    snprintf(detail, sizeof detail, "step %lld ended with %s", step, eb_reason_name(reason));
  return eb_job_conclude(j, finite ? EB_OUTCOME_DIVERGED : EB_OUTCOME_NOT_FINITE, detail);
}

/* All steps are done: how many samples have failed stands behind how the first one did. */
static eb_error conclude_all(eb_job *j) {
  char detail[300];
  if (j->failed == 0) return eb_job_conclude(j, EB_OUTCOME_COMPLETED, "");
  snprintf(detail, sizeof detail, "%.200s; %lld of %lld samples failed", j->run.detail,
           (long long)j->failed, (long long)j->work->steps);
  return eb_run_set(&j->run.detail, detail);
}

/* Whether the case goes on after this step; if not, the outcome is set. A sample says nothing of
 * those after it. */
static eb_error judge_step(eb_job *j, bool finite, eb_reason reason, bool *on) {
  char detail[200];
  bool failed = !finite || reason <= 0;
  *on = false;
  long long step = (long long)j->after->step;
  if (failed && !j->work->from.samples) return conclude_failure(j, finite, reason);
  if (failed && j->failed++ == 0) EB_TRY(conclude_failure(j, finite, reason));
  j->renew = failed;
  if (ended_from_outside()) {
    snprintf(detail, sizeof detail, "ended by a signal from outside after step %lld of %lld", step,
             (long long)j->work->steps);
    return eb_job_conclude(j, EB_OUTCOME_CRASHED, detail);
  }
  if (j->page->asked_to_end) {
    snprintf(detail, sizeof detail, "time limit of %g s reached after step %lld of %lld",
             j->work->timeout, step, (long long)j->work->steps);
    return eb_job_conclude(j, EB_OUTCOME_TIMED_OUT, detail);
  }
  if (j->run.steps_done >= j->work->steps) return conclude_all(j);
  *on = true;
  return EB_OK;
}

/* A state whose arrays may not be ours any more is dropped for the one at the start of the step. */
static eb_error replace_state(eb_job *j) {
  j->after = NULL;
  EB_TRY(eb_state_create(j->scene, &j->after));
  eb_state_copy(j->before, j->after);
  return EB_OK;
}

/* Whether the solver has left state and process as they were; if not, the outcome is set. */
static eb_error check_guard(eb_job *j, bool *good) {
  char words[200], detail[260];
  eb_guard_state_change change = eb_guard_state(&j->guard, j->after, words, sizeof words);
  *good = change == EB_GUARD_SAME && eb_guard_process(&j->guard, words, sizeof words);
  if (*good) return EB_OK;
  snprintf(detail, sizeof detail, "step %lld: %s", (long long)j->before->step + 1, words);
  eb_progress_page_say(j->page, detail);
  j->page->harmed = true;
  eb_verdict_break(&j->witness.verdict, EB_RULE_PROCESS, "%s", detail);
  if (change == EB_GUARD_ARRAYS) EB_TRY(replace_state(j));
  return eb_job_conclude(j, EB_OUTCOME_FAILED, detail);
}

/* From j->after, with the cuts that are due. When *on is false the step ended the case, its outcome
 * set. */
static eb_error take_step(eb_job *j, double row[EB_COL_COUNT], eb_reason *reason, bool *on) {
  eb_error failure;
  *on = true;
  EB_TRY(advance_scene(j, &failure));
  if (!failure) {
    failure = timed_step(j, row, reason);
    eb_error error = check_guard(j, on);
    if (error || !*on) {
      eb_error_free(failure);
      return error;
    }
  }
  *on = !failure;
  return failure ? eb_job_conclude_error(j, "step", failure) : EB_OK;
}

eb_error eb_job_lead(eb_job *j, bool *on) {
  double row[EB_COL_COUNT] = {0}, timed = j->cost.timed_cpu;
  eb_reason reason = EB_RUNNING;
  j->leading = true;
  EB_TRY(take_step(j, row, &reason, on));
  j->leading = false;
  j->lead = row[EB_COL_WALL];
  j->lead_cpu += j->cost.timed_cpu - timed;
  j->cost.timed_cpu = timed;
  memset(j->log->element_updates, 0, (size_t)j->log->element_count);
  return EB_OK;
}

eb_error eb_job_step(eb_job *j, bool *on) {
  double row[EB_COL_COUNT] = {0};
  eb_reason reason = EB_RUNNING;
  bool finite;
  EB_TRY(take_step(j, row, &reason, on));
  if (!*on) return EB_OK;
  /* A solver that forgets its clock would make every later row wrong. */
  j->after->step = j->before->step + 1;
  j->after->time = j->before->time + j->witness.scene->dt;
  double began = eb_wall_seconds();
  EB_TRY(eb_witness_step(&j->witness, j->before, j->after, j->work->solver, j->log, reason, row,
                         &finite));
  j->run.audit_seconds += eb_wall_seconds() - began;
  EB_TRY(record_step(j, row, reason));
  EB_TRY(eb_job_keep_contacts(j));
  EB_TRY(judge_step(j, finite, reason, on));
  EB_TRY(record_frame(j, !*on));
  EB_TRY(keep_checkpoint(j));
  j->page->step = j->after->step;
  return commit_now_and_then(j);
}
