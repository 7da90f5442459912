/* One step of a case: the scene is brought to its start, the solver steps, the audit judges, everything is recorded. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/job.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

/* ---- outcomes --------------------------------------------------------------------------------- */

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
  eb_error_free(failure);
  return eb_job_conclude(j, outcome, detail);
}

/* ---- the mesh --------------------------------------------------------------------------------- */

eb_error eb_job_count_components(eb_job *j) {
  int32_t *part;
  EB_TRY(EB_NEW(part, j->scene->mesh->node_count));
  j->components = eb_mesh_components(j->scene->mesh, part);
  free(part);
  return EB_OK;
}

eb_error eb_job_create_audit(eb_job *j) {
  eb_judge_destroy(j->judge);
  j->judge = NULL;
  eb_audit_destroy(j->audit);
  j->audit = NULL;
  EB_TRY(eb_audit_create(j->scene, &j->audit));
  if (!(eb_scene_needs(j->scene) & EB_CAP_CONTACT)) return EB_OK;
  return eb_judge_create(j->scene, j->audit, &j->judge);
}

/* What the harness keeps of the mesh, on the present one. */
static eb_error follow_mesh(eb_job *j) {
  eb_state_destroy(j->before);
  j->before = NULL;
  EB_TRY(eb_state_create(j->scene, &j->before));
  EB_TRY(eb_job_create_audit(j));
  return eb_job_count_components(j);
}

/* Brings the scene to the start of the step; *failure is what it reports. */
static eb_error advance_scene(eb_job *j, eb_error *failure) {
  *failure = eb_scene_advance(j->scene, j->after, &j->changed);
  if (!*failure && j->changed) EB_TRY(follow_mesh(j));
  if (!*failure) eb_state_copy(j->after, j->before);
  return EB_OK;
}

static void fill_audit(const eb_audit_row *audit, double row[EB_COL_COUNT]) {
  row[EB_COL_RESIDUAL] = audit->residual;
  row[EB_COL_RESIDUAL_RELATIVE] = audit->residual_relative;
  row[EB_COL_KINETIC] = audit->kinetic;
  row[EB_COL_ELASTIC] = audit->elastic;
  row[EB_COL_GRAVITATIONAL] = audit->gravitational;
  for (int i = 0; i < 3; i++) {
    row[EB_COL_MOMENTUM_X + i] = audit->momentum[i];
    row[EB_COL_ANGULAR_MOMENTUM_X + i] = audit->angular_momentum[i];
  }
  row[EB_COL_MIN_VOLUME_RATIO] = audit->min_volume_ratio;
  row[EB_COL_MAX_PENETRATION] = audit->max_penetration;
  row[EB_COL_INVERTED] = audit->inverted;
  row[EB_COL_CONTACTS] = audit->contacts;
  row[EB_COL_FINITE] = audit->finite;
  row[EB_COL_JOINT_KINETIC] = audit->joint_kinetic;
  row[EB_COL_JOINT_POTENTIAL] = audit->joint_potential;
  row[EB_COL_JOINT_RESIDUAL] = audit->joint_residual;
  row[EB_COL_JOINT_RESIDUAL_RELATIVE] = audit->joint_residual_relative;
  row[EB_COL_ACTIVATION] = audit->activation;
}

static void fill_judgement(const eb_judgement *judged, double row[EB_COL_COUNT]) {
  row[EB_COL_INTERSECTIONS] = (double)judged->crossings.between;
  row[EB_COL_SELF_INTERSECTIONS] = (double)judged->crossings.self;
  row[EB_COL_NESTED] = (double)judged->crossings.nested;
  row[EB_COL_CONTACT_COUNT] = judged->law.count;
  row[EB_COL_CONTACT_ACTIVE] = judged->law.active;
  row[EB_COL_CONTACT_VIOLATION] = judged->law.violation;
  row[EB_COL_CONTACT_OPEN] = judged->law.open;
  row[EB_COL_CONTACT_APART] = judged->law.apart;
  row[EB_COL_CONTACT_SLIDING] = judged->law.sliding;
  row[EB_COL_CONTACT_CONE] = judged->law.cone;
  row[EB_COL_CONTACT_ANGLE] = judged->law.angle;
  row[EB_COL_CONTACT_BALANCE] = judged->balance;
  row[EB_COL_ENERGY_EXCESS] = judged->energy_excess;
}

/* The step itself; only what stands between the two readings of the clocks is charged to the solver, its set-up for a mesh
 * that was cut too. */
static eb_error timed_step(eb_job *j, double row[EB_COL_COUNT], eb_reason *reason) {
  double dt = j->scene->dt, steal = eb_host_steal(&j->host);
  eb_step_log_reset(j->log);
  double cpu = eb_cpu_seconds(), wall = eb_wall_seconds();
  j->log->step_started = wall;
  eb_error error = j->changed ? eb_solver_rebuild(j->solver, j->after, j->log) : EB_OK;
  if (!error) error = j->solver->ops->step(j->solver, j->after, dt, j->log, reason);
  row[EB_COL_WALL] = eb_wall_seconds() - wall;
  row[EB_COL_CPU] = eb_cpu_seconds() - cpu;
  row[EB_COL_STEAL] = eb_host_steal(&j->host) - steal;
  return error;
}

/* What the harness says of the step: the audit, the judge of contact where there is one, and the verdict of both. */
static eb_error audit_step(eb_job *j, eb_reason reason, double row[EB_COL_COUNT],
                           eb_audit_row *audit) {
  double dt = j->scene->dt;
  eb_audit_row start;
  eb_judgement judged;
  if (j->judge)
    EB_TRY(eb_audit_step(j->audit, j->before, j->before, dt, EB_EQUATION_STATIC, &start));
  EB_TRY(eb_audit_step(j->audit, j->before, j->after, dt, j->log->equation, audit));
  bool contact = j->judge && audit->finite;
  if (contact) {
    eb_judge_step(j->judge, j->before, j->after, dt, j->log->contacts, &start, audit, &judged);
    fill_judgement(&judged, row);
  }
  eb_verdict_step(&j->verdict, audit, j->log, reason, j->after->step);
  if (contact) eb_verdict_contact(&j->verdict, &judged, reason, j->after->step);
  fill_audit(audit, row);
  return EB_OK;
}

static eb_error record_step(eb_job *j, double row[EB_COL_COUNT], eb_reason reason) {
  row[EB_COL_STEP] = (double)j->after->step;
  row[EB_COL_TIME] = j->after->time;
  row[EB_COL_ITERATIONS] = (double)j->log->iterations;
  row[EB_COL_REASON] = reason;
  row[EB_COL_COMPONENTS] = j->components;
  EB_TRY(eb_recorder_step(j->recorder, row, j->log));
  j->run.steps_done++;
  EB_TRY(eb_run_set(&j->run.reason, eb_reason_name(reason)));
  return EB_OK;
}

/* Frames at the scene's interval, and the last one whatever it is. */
static eb_error record_frame(eb_job *j, bool last) {
  int64_t interval = j->work->scene->steps_per_frame > 0 ? j->work->scene->steps_per_frame : 1;
  if (!last && j->run.steps_done % interval != 0) return EB_OK;
  EB_TRY(eb_recorder_frame(j->recorder, j->after, j->log->element_updates));
  memset(j->log->element_updates, 0, (size_t)j->log->element_count);
  return EB_OK;
}

/* Often enough that a crash costs little, and seldom enough that commits take a twentieth of the time at most. */
static eb_error commit_now_and_then(eb_job *j) {
  double began = eb_wall_seconds();
  if (began - j->committed < 20 * j->commit_seconds) return EB_OK;
  EB_TRY(eb_recorder_commit(j->recorder));
  j->committed = eb_wall_seconds();
  j->commit_seconds = j->committed - began;
  return EB_OK;
}

static bool asked_to_end(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

/* Whether the case goes on after this step; if not, the outcome is set. */
static eb_error judge_step(eb_job *j, const eb_audit_row *audit, eb_reason reason, bool *on) {
  char detail[200];
  *on = false;
  long long step = (long long)j->after->step;
  if (!audit->finite) {
    snprintf(detail, sizeof detail, "step %lld left positions or velocities that are not numbers",
             step);
    return eb_job_conclude(j, EB_OUTCOME_NOT_FINITE, detail);
  }
  if (reason <= 0) {
    snprintf(detail, sizeof detail, "step %lld ended with %s", step, eb_reason_name(reason));
    return eb_job_conclude(j, EB_OUTCOME_DIVERGED, detail);
  }
  if (asked_to_end()) {
    snprintf(detail, sizeof detail, "time limit of %g s reached after step %lld of %lld",
             j->work->timeout, step, (long long)j->work->steps);
    return eb_job_conclude(j, EB_OUTCOME_TIMED_OUT, detail);
  }
  if (j->run.steps_done >= j->work->steps) return eb_job_conclude(j, EB_OUTCOME_COMPLETED, "");
  *on = true;
  return EB_OK;
}

eb_error eb_job_step(eb_job *j, bool *on) {
  double row[EB_COL_COUNT] = {0};
  eb_reason reason = EB_RUNNING;
  eb_audit_row audit;
  eb_error failure;
  EB_TRY(advance_scene(j, &failure));
  if (!failure) failure = timed_step(j, row, &reason);
  if (failure) {
    *on = false;
    return eb_job_conclude_error(j, "step", failure);
  }
  /* A solver that forgets its clock would make every later row wrong. */
  j->after->step = j->before->step + 1;
  j->after->time = j->before->time + j->scene->dt;
  EB_TRY(audit_step(j, reason, row, &audit));
  EB_TRY(record_step(j, row, reason));
  EB_TRY(eb_job_keep_contacts(j));
  EB_TRY(judge_step(j, &audit, reason, on));
  EB_TRY(record_frame(j, !*on));
  j->board->step = j->after->step;
  return commit_now_and_then(j);
}
