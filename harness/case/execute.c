#include "harness/case/execute.h"

#include <inttypes.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit.h"
#include "harness/case/child.h"
#include "harness/case/host.h"
#include "harness/case/verdict.h"
#include "harness/results/write.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

enum { RESIDUALS_KEPT = 1 << 16 };

/* Everything a case holds while it runs. Made in this order, released in the opposite one. */
typedef struct job {
  const eb_case *work;
  eb_run run;
  eb_scene *scene;
  eb_recorder *recorder;
  eb_solver *solver;
  eb_audit *audit;
  eb_state *before, *after;
  eb_step_log *log;
  bool changed;       /* the step that comes begins on another mesh than the one before */
  int32_t components; /* connected components of the mesh */
  eb_verdict verdict;
  eb_host host;
  eb_board *board;                  /* progress, for the parent */
  double committed, commit_seconds; /* wall clock of the last commit, and what it took */
  const char *output;
  hid_t environment;
} job;

/* ---- being told to end ------------------------------------------------------------------------ */

/* SIGTERM is blocked in all threads and looked for between steps. */
static void hold_termination(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool asked_to_end(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

/* ---- outcomes --------------------------------------------------------------------------------- */

static eb_error conclude(job *j, eb_outcome outcome, const char *detail) {
  EB_TRY(eb_run_set(&j->run.outcome, eb_outcome_name(outcome)));
  return eb_run_set(&j->run.detail, detail);
}

/* Turns an error of scene or solver into the outcome of the case. */
static eb_error conclude_error(job *j, const char *where, eb_error failure) {
  char detail[1200];
  eb_error_code code = eb_error_kind(failure);
  eb_outcome outcome = code == EB_ERR_MEMORY        ? EB_OUTCOME_OUT_OF_MEMORY
                       : code == EB_ERR_UNSUPPORTED ? EB_OUTCOME_SKIPPED
                                                    : EB_OUTCOME_FAILED;
  snprintf(detail, sizeof detail, "%s: %s", where, eb_error_message(failure));
  eb_error_free(failure);
  return conclude(j, outcome, detail);
}

/* ---- set-up ----------------------------------------------------------------------------------- */

/* Nodes of the mesh that frames are stored on. */
static eb_error count_final_nodes(const eb_scene *scene, int64_t *nodes) {
  eb_mesh *mesh;
  int32_t *parent;
  *nodes = scene->mesh->node_count;
  if (scene->cut_count == 0) return EB_OK;
  EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
  *nodes = mesh->node_count;
  eb_mesh_destroy(mesh);
  free(parent);
  return EB_OK;
}

static eb_error describe_scene(job *j) {
  char hash[20];
  const eb_scene *scene = j->scene;
  snprintf(hash, sizeof hash, "%016" PRIx64, scene->hash);
  EB_TRY(count_final_nodes(scene, &j->run.nodes));
  j->run.uncut_nodes = scene->uncut_nodes;
  j->run.elements = scene->mesh->element_count;
  j->run.dt = scene->dt;
  EB_TRY(eb_run_set(&j->run.mesh_source, scene->mesh_source));
  return eb_run_set(&j->run.scene_hash, hash);
}

/* The scene, the solver and the audit; *failure is what they report, the return value is ours. */
static eb_error set_up(job *j, eb_error *failure, const char **where) {
  double began = eb_wall_seconds();
  *where = "scene";
  j->board->stage = EB_STAGE_SCENE;
  *failure =
      eb_scene_create(j->work->scene, j->work->parameters, j->work->mesh_file, NULL, &j->scene);
  j->run.scene_seconds = eb_wall_seconds() - began;
  if (*failure) return EB_OK;
  EB_TRY(describe_scene(j));
  *where = "set-up of the solver";
  j->board->stage = EB_STAGE_SETUP;
  double cpu = eb_cpu_seconds();
  began = eb_wall_seconds();
  *failure = eb_solver_create(j->work->solver, j->work->options, j->scene, j->work->threads,
                              (uint64_t)j->work->seed, &j->solver);
  j->run.setup_seconds = eb_wall_seconds() - began;
  j->run.setup_cpu_seconds = eb_cpu_seconds() - cpu;
  if (*failure) return EB_OK;
  *where = "audit";
  *failure = eb_audit_create(j->scene, &j->audit);
  return EB_OK;
}

static eb_error count_components(job *j) {
  int32_t *part;
  EB_TRY(EB_NEW(part, j->scene->mesh->node_count));
  j->components = eb_mesh_components(j->scene->mesh, part);
  free(part);
  return EB_OK;
}

static eb_error prepare_steps(job *j) {
  EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, j->scene, &j->recorder));
  EB_TRY(eb_recorder_setup(j->recorder, j->solver->setup_log));
  EB_TRY(eb_state_create(j->scene, &j->before));
  EB_TRY(eb_state_create(j->scene, &j->after));
  EB_TRY(count_components(j));
  EB_TRY(eb_step_log_create(RESIDUALS_KEPT, &j->log));
  j->log->element_count = j->scene->mesh->element_count;
  EB_TRY(EB_NEW(j->log->element_updates, j->log->element_count));
  j->committed = eb_wall_seconds();
  return eb_recorder_frame(j->recorder, j->after, NULL);
}

/* ---- steps ------------------------------------------------------------------------------------ */

static void copy_state(const eb_state *from, eb_state *to) {
  size_t bytes = 3 * (size_t)from->node_count * sizeof(double);
  to->step = from->step;
  to->time = from->time;
  memcpy(to->x, from->x, bytes);
  memcpy(to->v, from->v, bytes);
  if (from->joint_count == 0) return;
  memcpy(to->q, from->q, (size_t)from->joint_count * sizeof *from->q);
  memcpy(to->u, from->u, (size_t)from->joint_count * sizeof *from->u);
}

/* What the harness keeps of the mesh, on the present one. */
static eb_error follow_mesh(job *j) {
  eb_state_destroy(j->before);
  j->before = NULL;
  EB_TRY(eb_state_create(j->scene, &j->before));
  eb_audit_destroy(j->audit);
  j->audit = NULL;
  EB_TRY(eb_audit_create(j->scene, &j->audit));
  return count_components(j);
}

/* Brings the scene to the start of the step; *failure is what it reports. */
static eb_error advance_scene(job *j, eb_error *failure) {
  *failure = eb_scene_advance(j->scene, j->after, &j->changed);
  if (!*failure && j->changed) EB_TRY(follow_mesh(j));
  if (!*failure) copy_state(j->after, j->before);
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
}

/* The step itself; only what stands between the two readings of the clocks is charged to the solver: its set-up for a mesh that was cut, too. */
static eb_error timed_step(job *j, double row[EB_COL_COUNT], eb_reason *reason) {
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

static eb_error record_step(job *j, double row[EB_COL_COUNT], const eb_audit_row *audit,
                            eb_reason reason) {
  row[EB_COL_STEP] = (double)j->after->step;
  row[EB_COL_TIME] = j->after->time;
  row[EB_COL_ITERATIONS] = (double)j->log->iterations;
  row[EB_COL_REASON] = reason;
  row[EB_COL_COMPONENTS] = j->components;
  fill_audit(audit, row);
  EB_TRY(eb_recorder_step(j->recorder, row, j->log));
  j->run.steps_done++;
  EB_TRY(eb_run_set(&j->run.reason, eb_reason_name(reason)));
  return EB_OK;
}

/* Frames at the scene's interval, and the last one whatever it is. */
static eb_error record_frame(job *j, bool last) {
  int64_t interval = j->work->scene->steps_per_frame > 0 ? j->work->scene->steps_per_frame : 1;
  if (!last && j->run.steps_done % interval != 0) return EB_OK;
  EB_TRY(eb_recorder_frame(j->recorder, j->after, j->log->element_updates));
  memset(j->log->element_updates, 0, (size_t)j->log->element_count);
  return EB_OK;
}

/* Often enough that a crash costs little, and seldom enough that commits take a twentieth of the time at most. */
static eb_error commit_now_and_then(job *j) {
  double began = eb_wall_seconds();
  if (began - j->committed < 20 * j->commit_seconds) return EB_OK;
  EB_TRY(eb_recorder_commit(j->recorder));
  j->committed = eb_wall_seconds();
  j->commit_seconds = j->committed - began;
  return EB_OK;
}

/* Whether the case goes on after this step; if not, the outcome is set. */
static eb_error judge_step(job *j, const eb_audit_row *audit, eb_reason reason, bool *on) {
  char detail[200];
  *on = false;
  long long step = (long long)j->after->step;
  if (!audit->finite) {
    snprintf(detail, sizeof detail, "step %lld left positions or velocities that are not numbers",
             step);
    return conclude(j, EB_OUTCOME_NOT_FINITE, detail);
  }
  if (reason <= 0) {
    snprintf(detail, sizeof detail, "step %lld ended with %s", step, eb_reason_name(reason));
    return conclude(j, EB_OUTCOME_DIVERGED, detail);
  }
  if (asked_to_end()) {
    snprintf(detail, sizeof detail, "time limit of %g s reached after step %lld of %lld",
             j->work->timeout, step, (long long)j->work->steps);
    return conclude(j, EB_OUTCOME_TIMED_OUT, detail);
  }
  if (j->run.steps_done >= j->work->steps) return conclude(j, EB_OUTCOME_COMPLETED, "");
  *on = true;
  return EB_OK;
}

static eb_error one_step(job *j, bool *on) {
  double row[EB_COL_COUNT] = {0};
  eb_reason reason = EB_RUNNING;
  eb_audit_row audit;
  eb_error failure;
  EB_TRY(advance_scene(j, &failure));
  if (!failure) failure = timed_step(j, row, &reason);
  if (failure) {
    *on = false;
    return conclude_error(j, "step", failure);
  }
  /* A solver that forgets its clock would make every later row wrong. */
  j->after->step = j->before->step + 1;
  j->after->time = j->before->time + j->scene->dt;
  EB_TRY(eb_audit_step(j->audit, j->before, j->after, j->scene->dt, j->log->equation, &audit));
  eb_verdict_step(&j->verdict, &audit, j->log, reason, j->after->step);
  EB_TRY(record_step(j, row, &audit, reason));
  EB_TRY(judge_step(j, &audit, reason, on));
  EB_TRY(record_frame(j, !*on));
  j->board->step = j->after->step;
  return commit_now_and_then(j);
}

static eb_error run_steps(job *j) {
  char hash[20];
  EB_TRY(prepare_steps(j));
  j->board->stage = EB_STAGE_STEPS;
  for (bool on = true; on;) EB_TRY(one_step(j, &on));
  snprintf(hash, sizeof hash, "%016" PRIx64, eb_state_hash(j->after));
  EB_TRY(eb_run_set(&j->run.state_hash, hash));
  EB_TRY(eb_run_set(&j->run.audit, eb_verdict_word(&j->verdict)));
  return eb_run_set(&j->run.audit_detail, j->verdict.detail);
}

/* ---- the case --------------------------------------------------------------------------------- */

static eb_error run_job(job *j) {
  eb_error failure = EB_OK;
  const char *where = "";
  double began = eb_wall_seconds();
  EB_TRY(eb_case_describe(j->work, &j->run));
  EB_TRY(eb_board_open(&j->board));
  j->board->steps = j->work->steps;
  eb_host_open(&j->host);
  EB_TRY(set_up(j, &failure, &where));
  if (failure) {
    EB_TRY(conclude_error(j, where, failure));
    EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, NULL, &j->recorder));
  } else {
    EB_TRY(run_steps(j));
  }
  j->board->stage = EB_STAGE_CLOSING;
  j->run.total_seconds = eb_wall_seconds() - began;
  j->run.peak_rss = eb_host_peak_memory();
  return eb_recorder_finish(j->recorder, &j->run);
}

static void release(job *j) {
  eb_step_log_destroy(j->log);
  eb_state_destroy(j->after);
  eb_state_destroy(j->before);
  eb_audit_destroy(j->audit);
  eb_solver_destroy(j->solver);
  eb_recorder_destroy(j->recorder);
  eb_scene_destroy(j->scene);
  eb_host_close(&j->host);
  eb_board_close(j->board);
  eb_run_clear(&j->run);
}

static eb_error with_environment(job *j, const char *path) {
  hid_t file;
  if (!path) return run_job(j);
  EB_TRY(eb_h5_open_file(path, false, &file));
  j->environment = H5Gopen2(file, "environment", H5P_DEFAULT);
  eb_error error =
      j->environment < 0 ? eb_h5_error("cannot read /environment of", path) : run_job(j);
  if (j->environment >= 0) H5Gclose(j->environment);
  H5Fclose(file);
  return error;
}

eb_error eb_case_execute(const eb_case *work, const char *environment, const char *output) {
  job j = {.work = work, .output = output, .environment = -1, .host = {.stat = -1}};
  omp_set_num_threads(work->threads);
  hold_termination();
  eb_error error = with_environment(&j, environment);
  release(&j);
  return error;
}
