/* States of another run: a case goes on from one, or is of samples that each start from one. */
#include <string.h>

#include "harness/case/job.h"

/* A case that goes on from a state of another run, its source run, has the source run's simulated
 * time, at which scripts and colliders are, and counts its steps from 1. Scripted cuts that were
 * made by then are made on the way, off the clock.
 *
 * Samples are steps of their own, each from a state of the source run's. A solver may start from
 * what it keeps of its last step, which is another sample's: so that all have the same to start
 * from, every solver is first given, off the clock and unrecorded, the state one step before, where
 * the source run has one and no cut has come between, and takes that step. What the solver makes of
 * it is thrown away. That time is the column `lead`; all of it together is held to rule
 * hidden-work, but for the first lead-in of a new solver, which counts as its set-up. After a
 * sample that fails the solver is created anew. */

/* Makes the cuts that the state's mesh has had. The values that they are made on do not matter: the
 * state's own take their place. */
static eb_error follow_cuts(eb_job *j, size_t row) {
  if ((double)j->stepper.state->node_count >= j->source_run.states.nodes[row]) return EB_OK;
  j->stepper.state->time = j->source_run.states.began[row];
  EB_TRY(eb_auditor_advance(&j->auditor, j->stepper.state));
  EB_TRY(eb_stepper_advance(&j->stepper));
  if (!j->stepper.cut) return EB_OK;
  EB_TRY(eb_job_follow_mesh(j));
  return eb_stepper_rebuild(&j->stepper);
}

eb_error eb_job_place(eb_job *j, int64_t row, bool *on) {
  eb_error failure = follow_cuts(j, (size_t)row);
  if (!failure) failure = eb_checkpoints_read(&j->source_run.states, (size_t)row, j->stepper.state);
  *on = !failure;
  return failure ? eb_job_conclude_error(j, "start", failure) : EB_OK;
}

/* The step before, when the source run has kept the state that it starts from, and no sample has
 * led beyond a cut that came later. */
static eb_error warm_up(eb_job *j, int64_t sampled, bool *on) {
  double row[EB_COL_COUNT] = {0}, timed = j->cost.timed_cpu;
  int64_t state = eb_checkpoints_find(&j->source_run.states, sampled - 1);
  j->samples.warm_up = 0;
  if (state < 0 || j->source_run.states.nodes[state] < (double)j->stepper.state->node_count)
    return EB_OK;
  EB_TRY(eb_job_place(j, state, on));
  if (!*on) return EB_OK;
  j->stepper.state->step = j->run.steps_done;
  j->samples.warming_up = true;
  EB_TRY(eb_job_take_step(j, row, on));
  j->samples.warming_up = false;
  j->samples.warm_up = row[EB_COL_WALL];
  j->samples.warm_up_cpu += j->cost.timed_cpu - timed;
  j->cost.timed_cpu = timed;
  memset(j->stepper.log->element_updates, 0, (size_t)j->stepper.log->element_count);
  return EB_OK;
}

eb_error eb_job_start_sample(eb_job *j, bool *on) {
  const eb_case *work = j->work;
  int64_t sampled = work->from.steps.first + j->run.steps_done * work->from.steps.stride;
  bool first = j->run.steps_done == 0 || j->samples.renew;
  double led = j->samples.warm_up_cpu;
  if (j->samples.renew) {
    j->samples.renew = false;
    eb_error failure = eb_job_create_solver(j);
    *on = !failure;
    if (failure) return eb_job_conclude_error(j, "set-up of the solver", failure);
  }
  EB_TRY(warm_up(j, sampled, on));
  if (first) j->samples.warm_up_cpu = led;
  if (*on) EB_TRY(eb_job_place(j, eb_checkpoints_find(&j->source_run.states, sampled), on));
  if (!*on) return EB_OK;
  j->stepper.state->step = j->run.steps_done;
  j->samples.from_step = sampled;
  EB_TRY(eb_auditor_reset(&j->auditor));
  return eb_job_is_frame(j, j->run.steps_done) ? eb_job_record_frame(j, NULL, NULL) : EB_OK;
}
