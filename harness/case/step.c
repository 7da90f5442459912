/* One step of a case: the cuts that are due, the step on the clock, whether the solver has left
 * state and process alone, the audit, and whether the case goes on. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "harness/case/job.h"
#include "problems/base/strings.h"
#include "problems/base/clock.h"

/* What ranks have done of a step beside each other, or have for it, is the step's in sum; times are
 * those of rank 0, and what all do together it has counted. */
static void sum_ranks(eb_job *j, double row[EB_COL_COUNT]) {
  static const int counters[] = {EB_COUNT_ELEMENT_EVALUATIONS, EB_COUNT_FLOPS,
                                 EB_COUNT_UPDATED_ELEMENTS, EB_COUNT_DAMPED_ELEMENTS};
  enum { COUNTERS = sizeof counters / sizeof *counters };
  double sums[2 + COUNTERS] = {row[EB_COL_CPU], row[EB_COL_RESIDENT]};
  for (int k = 0; k < COUNTERS; k++) sums[2 + k] = j->stepper.log->counters[counters[k]];
  eb_ranks_sum(j->ranks, 2 + COUNTERS, sums);
  row[EB_COL_CPU] = sums[0];
  row[EB_COL_RESIDENT] = sums[1];
  for (int k = 0; k < COUNTERS; k++) j->stepper.log->counters[counters[k]] = sums[2 + k];
}

/* The step itself; only what stands between the two readings of the clocks is charged to the
 * solver, its set-up for a mesh that was cut too. */
static eb_error timed_step(eb_job *j, double row[EB_COL_COUNT]) {
  double steal = eb_steal_seconds(j->cost.stat);
  j->integrity.state = *j->stepper.state;
  (void)eb_ranks_any(j->ranks, false); /* none steps while another still audits or records */
  eb_cost_start(&j->cost);
  double cpu = eb_cost_cpu(&j->cost), wall = eb_wall_seconds();
  j->page->step_began = j->samples.warming_up ? 0 : wall;
  eb_error error = eb_stepper_take(&j->stepper, j->auditor.scene->dt);
  row[EB_COL_WALL] = eb_wall_seconds() - wall;
  row[EB_COL_CPU] = eb_cost_cpu(&j->cost) - cpu;
  j->page->step_began = 0;
  eb_cost_stop(&j->cost);
  row[EB_COL_STEAL] = eb_steal_seconds(j->cost.stat) - steal;
  row[EB_COL_RESIDENT] = j->cost.resident;
  row[EB_COL_CLIENT_TIME] = j->stepper.log->own_seconds;
  sum_ranks(j, row);
  return eb_ranks_agree(j->ranks, error);
}

/* Whether the solver has left state and process as they were; if not, the outcome is set. */
static eb_error check_integrity(eb_job *j, bool *good) {
  char words[200], detail[260];
  eb_state_change change = eb_integrity_state(&j->integrity, j->stepper.state, words, sizeof words);
  *good = change == EB_STATE_SAME && eb_integrity_process(&j->integrity, words, sizeof words) &&
          eb_helper_is_alone(&j->cost.helper, j->run.steps_done + 1 >= j->work->steps, words,
                             sizeof words);
  if (*good && !eb_page_sound(j->page, j->token)) {
    *good = false;
    snprintf(words, sizeof words, EB_PAGE_OVERWRITTEN);
  }
  eb_error harm = eb_ranks_agree(j->ranks, *good ? EB_OK : EB_ERROR(EB_ERR_INVALID, "%s", words));
  *good = !harm;
  if (*good) return EB_OK;
  snprintf(detail, sizeof detail, "step %lld: %s", (long long)j->before->step + 1,
           eb_error_message(harm));
  eb_error_free(harm);
  eb_job_say(j->page, detail);
  j->page->harmed = true;
  eb_verdict_break(&j->auditor.verdict, EB_RULE_PROCESS, "%s", detail);
  if (change == EB_STATE_ARRAYS) {
    /* Arrays that may not be ours any more are dropped for those at the start of the step. */
    j->stepper.state = NULL;
    EB_TRY(eb_state_create(j->scene, &j->stepper.state));
    eb_state_copy(j->before, j->stepper.state);
  }
  return eb_job_conclude(j, EB_OUTCOME_FAILED, detail);
}

eb_error eb_job_take_step(eb_job *j, double row[EB_COL_COUNT], bool *on) {
  eb_error failure = eb_auditor_advance(&j->auditor, j->stepper.state);
  if (!failure) failure = eb_stepper_advance(&j->stepper);
  *on = !failure;
  if (failure) return eb_job_conclude_error(j, "step", failure);
  if (j->stepper.cut) EB_TRY(eb_job_follow_mesh(j));
  eb_state_copy(j->stepper.state, j->before);
  failure = timed_step(j, row);
  eb_error error = check_integrity(j, on);
  if (error || !*on) {
    eb_error_free(failure);
    return error;
  }
  *on = !failure;
  return failure ? eb_job_conclude_error(j, "step", failure) : EB_OK;
}

/* A solver that forgets its clock would make every later row wrong: the harness sets it, and says
 * what it has found, unless the method has given up. Sums of parts of a step may round. */
static void set_clock(eb_job *j, eb_reason reason) {
  static const double rounding = 1e-9;
  eb_state *after = j->stepper.state;
  int64_t step = j->before->step + 1;
  double dt = j->auditor.scene->dt, time = j->before->time + dt;
  bool set = after->step == step && fabs(after->time - time) <= rounding * (fabs(time) + dt);
  if (!set && reason > 0)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_TOLERANCE,
                     "step %lld to %.9g s: the solver says that it is step %lld, to %.9g s",
                     (long long)step, time, (long long)after->step, after->time);
  after->step = step;
  after->time = time;
}

/* The outcome of a step that failed. */
static eb_error conclude_step(eb_job *j, bool finite, eb_reason reason) {
  char detail[200];
  long long step = (long long)j->stepper.state->step;
  if (!finite)
    snprintf(detail, sizeof detail,
             "step %lld left a state that is not finite, or too large for its audit", step);
  else
    snprintf(detail, sizeof detail, "step %lld ended with %s", step, eb_reason_name(reason));
  return eb_job_conclude(j, finite ? EB_OUTCOME_DIVERGED : EB_OUTCOME_NOT_FINITE, detail);
}

/* Whether the case goes on after this step; if not, the outcome is set. A sample says nothing of
 * those after it. */
static eb_error judge_step(eb_job *j, bool finite, eb_reason reason, bool *on) {
  char detail[300];
  sigset_t pending;
  bool failed = !finite || reason <= 0;
  long long step = (long long)j->stepper.state->step, steps = (long long)j->work->steps;
  *on = false;
  if (failed && !j->work->from.samples) return conclude_step(j, finite, reason);
  if (failed && j->samples.failed++ == 0) EB_TRY(conclude_step(j, finite, reason));
  j->samples.renew = failed;
  bool told = sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
  if (eb_ranks_any(j->ranks, told)) {
    snprintf(detail, sizeof detail, "ended by a signal from outside after step %lld of %lld", step,
             steps);
    return eb_job_conclude(j, EB_OUTCOME_CRASHED, detail);
  }
  if (eb_ranks_any(j->ranks, j->page->asked_to_end != 0)) {
    snprintf(detail, sizeof detail, "time limit of %g s reached after step %lld of %lld",
             j->work->timeout, step, steps);
    return eb_job_conclude(j, EB_OUTCOME_TIMED_OUT, detail);
  }
  *on = j->run.steps_done < j->work->steps;
  if (*on) return EB_OK;
  if (j->samples.failed == 0) return eb_job_conclude(j, EB_OUTCOME_COMPLETED, "");
  /* How many samples have failed stands behind how the first one did. */
  snprintf(detail, sizeof detail, "%.200s; %lld of %lld samples failed", j->run.detail,
           (long long)j->samples.failed, steps);
  return eb_string_set(&j->run.detail, detail);
}

eb_error eb_job_step(eb_job *j, bool *on) {
  double row[EB_COL_COUNT] = {0};
  bool finite;
  EB_TRY(eb_job_take_step(j, row, on));
  if (!*on) return EB_OK;
  eb_reason reason = j->stepper.reason;
  set_clock(j, reason);
  double began = eb_wall_seconds();
  eb_auditor_synchronize(&j->auditor, j->stepper.state, &reason);
  EB_TRY(eb_auditor_step(&j->auditor, j->before, j->stepper.state, j->stepper.solver->update,
                         j->stepper.log, reason, row, &finite));
  EB_TRY(eb_job_record_subspace(j, finite));
  j->run.audit_seconds += eb_wall_seconds() - began;
  row[EB_COL_STEP] = (double)j->stepper.state->step;
  row[EB_COL_TIME] = j->stepper.state->time;
  row[EB_COL_ITERATIONS] = (double)j->stepper.log->iterations;
  row[EB_COL_REASON] = reason;
  row[EB_COL_COMPONENTS] = j->components;
  row[EB_COL_FROM_STEP] = (double)j->samples.from_step;
  row[EB_COL_WARM_UP] = j->samples.warm_up;
  EB_TRY(eb_job_record_step(j, row));
  j->run.steps_done++;
  if (2 * j->run.steps_done <= j->work->steps + 1) {
    j->half_resident = j->cost.resident;
    j->half_threads = j->cost.threads_alive;
  }
  EB_TRY(eb_string_set(&j->run.reason, eb_reason_name(reason)));
  EB_TRY(judge_step(j, finite, reason, on));
  return eb_job_record_state(j, !*on);
}
