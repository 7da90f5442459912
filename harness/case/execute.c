#include "harness/audit/embedding.h"
#include "harness/case/execute.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "harness/audit/element_rank.h"
#include "harness/case/job.h"
#include "harness/fclib/fclib.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "solvers/contact/record.h"

/* ---- the page of progress -------------------------------------------------------------------- */

/* Maps what the parent gave (child.h), or plain memory when this was started by hand. */
static eb_error open_page(eb_progress_page **out) {
  struct stat info;
  int shared =
      fstat(EB_CHILD_BOARD, &info) == 0 && info.st_size == sizeof **out ? EB_CHILD_BOARD : -1;
  int flags = shared < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *memory = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, flags, shared, 0);
  *out = memory == MAP_FAILED ? NULL : memory;
  return *out ? EB_OK : EB_ERROR(EB_ERR_IO, "cannot share memory: %s", strerror(errno));
}

/* Leaves words for the parent; the first ones stay. */
static void say(eb_progress_page *page, const char *words) {
  if (!*page->words) snprintf(page->words, sizeof page->words, "%s", words);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static eb_error conclude(eb_job *j, eb_outcome outcome, const char *detail) {
  EB_TRY(eb_run_set(&j->run.outcome, eb_outcome_name(outcome)));
  return eb_run_set(&j->run.detail, detail);
}

/* Turns an error of scene or solver into the outcome of the case. */
static eb_error conclude_error(eb_job *j, const char *where, eb_error failure) {
  char detail[1200];
  eb_error_code code = eb_error_kind(failure);
  eb_outcome outcome = code == EB_ERR_MEMORY        ? EB_OUTCOME_OUT_OF_MEMORY
                       : code == EB_ERR_UNSUPPORTED ? EB_OUTCOME_SKIPPED
                                                    : EB_OUTCOME_FAILED;
  snprintf(detail, sizeof detail, "%s: %s", where, eb_error_message(failure));
  eb_text_clean(detail);
  eb_error_free(failure);
  return conclude(j, outcome, detail);
}

/* The outcome of a step that failed. */
static eb_error conclude_step(eb_job *j, bool finite, eb_reason reason) {
  char detail[200];
  long long step = (long long)j->after->step;
  if (!finite)
    snprintf(detail, sizeof detail,
             "step %lld left a state that is not finite, or too large for its audit", step);
  else
    snprintf(detail, sizeof detail, "step %lld ended with %s", step, eb_reason_name(reason));
  return conclude(j, finite ? EB_OUTCOME_DIVERGED : EB_OUTCOME_NOT_FINITE, detail);
}

/* ---- the mesh -------------------------------------------------------------------------------- */

/* Makes anew what is kept of the mesh: `before` and the number of its components. */
static eb_error follow_mesh(eb_job *j) {
  int32_t *part;
  eb_state_destroy(j->before);
  j->before = NULL;
  EB_TRY(eb_state_create(j->scene, &j->before));
  EB_TRY(EB_NEW(part, j->scene->mesh->node_count));
  j->components = eb_mesh_components(j->scene->mesh, part);
  free(part);
  return EB_OK;
}

/* What the run says of the scene; its nodes are those that frames are stored on, all cuts made. */
static eb_error describe_scene(eb_job *j) {
  char hash[20];
  const eb_scene *scene = j->scene;
  j->run.nodes = scene->mesh->node_count;
  if (scene->cut_count > 0) {
    eb_mesh *mesh;
    int32_t *parent;
    EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
    j->run.nodes = mesh->node_count;
    eb_mesh_destroy(mesh);
    free(parent);
  }
  j->run.uncut_nodes = scene->uncut_nodes;
  j->run.elements = scene->mesh->element_count;
  j->run.dt = scene->dt;
  EB_TRY(eb_run_set(&j->run.mesh_source, scene->mesh_source));
  snprintf(hash, sizeof hash, "%016" PRIx64, scene->hash);
  return eb_run_set(&j->run.scene_hash, hash);
}

/* ---- one step -------------------------------------------------------------------------------- */

/* The step itself; only what stands between the two readings of the clocks is charged to the
 * solver, its set-up for a mesh that was cut too. */
static eb_error timed_step(eb_job *j, double row[EB_COL_COUNT], eb_reason *reason) {
  double dt = j->auditor.scene->dt, steal = eb_steal_seconds(j->cost.stat);
  eb_step_log_reset(j->log);
  j->integrity.state = *j->after;
  eb_cost_start(&j->cost);
  double cpu = eb_cost_cpu(&j->cost), wall = eb_wall_seconds();
  j->log->step_started = wall;
  j->page->step_began = j->leading ? 0 : wall;
  eb_error error = j->changed ? eb_solver_rebuild(j->solver, j->after, j->log) : EB_OK;
  if (!error) error = j->solver->ops->step(j->solver, j->after, dt, j->log, reason);
  row[EB_COL_WALL] = eb_wall_seconds() - wall;
  row[EB_COL_CPU] = eb_cost_cpu(&j->cost) - cpu;
  j->page->step_began = 0;
  eb_cost_stop(&j->cost);
  row[EB_COL_STEAL] = eb_steal_seconds(j->cost.stat) - steal;
  row[EB_COL_RESIDENT] = j->cost.resident;
  row[EB_COL_OWN] = j->log->own_seconds;
  return error;
}

/* Whether the solver has left state and process as they were; if not, the outcome is set. */
static eb_error check_integrity(eb_job *j, bool *good) {
  char words[200], detail[260];
  eb_state_change change = eb_integrity_state(&j->integrity, j->after, words, sizeof words);
  *good = change == EB_STATE_SAME && eb_integrity_process(&j->integrity, words, sizeof words) &&
          eb_helper_is_alone(&j->cost.helper, j->run.steps_done + 1 >= j->work->steps, words,
                             sizeof words);
  if (*good) return EB_OK;
  snprintf(detail, sizeof detail, "step %lld: %s", (long long)j->before->step + 1, words);
  say(j->page, detail);
  j->page->harmed = true;
  eb_verdict_break(&j->auditor.verdict, EB_RULE_PROCESS, "%s", detail);
  if (change == EB_STATE_ARRAYS) {
    /* Arrays that may not be ours any more are dropped for those at the start of the step. */
    j->after = NULL;
    EB_TRY(eb_state_create(j->scene, &j->after));
    eb_state_copy(j->before, j->after);
  }
  return conclude(j, EB_OUTCOME_FAILED, detail);
}

/* From j->after, with the cuts that are due. When *on is false the step ended the case, its outcome
 * set. */
static eb_error take_step(eb_job *j, double row[EB_COL_COUNT], eb_reason *reason, bool *on) {
  eb_error failure = eb_auditor_advance(&j->auditor, j->after);
  if (!failure) failure = eb_scene_advance(j->scene, j->after, &j->changed);
  *on = !failure;
  if (failure) return conclude_error(j, "step", failure);
  if (j->changed) EB_TRY(follow_mesh(j));
  eb_state_copy(j->after, j->before);
  failure = timed_step(j, row, reason);
  eb_error error = check_integrity(j, on);
  if (error || !*on) {
    eb_error_free(failure);
    return error;
  }
  *on = !failure;
  return failure ? conclude_error(j, "step", failure) : EB_OK;
}

/* ---- what is kept of a step ------------------------------------------------------------------ */

/* Whether a frame is due after so many steps, or at the sample that has so many before it. */
static bool is_frame(const eb_job *j, int64_t steps) {
  int64_t interval = j->work->scene->steps_per_frame > 0 ? j->work->scene->steps_per_frame : 1;
  return j->work->frames == EB_FRAMES_ALL || steps % interval == 0;
}

/* The contact problem of the step that was asked for (harness/fclib/fclib.h), when it has contacts:
 * off the clock, what the method has solved last with its solution. */
static eb_error keep_contact_problem(eb_job *j) {
  const eb_contact_record *record = j->log->contacts;
  eb_fclib problem = {0};
  hid_t group = -1;
  if (j->after->step != j->work->contact_problem || !record || !record->problem ||
      record->problem->count == 0)
    return EB_OK;
  eb_error error =
      eb_fclib_from_contact(record->problem, record->v, record->r, NULL, NULL, &problem);
  if (!error) error = eb_h5_group(eb_recorder_run(j->recorder), EB_FCLIB_GROUP, &group);
  if (!error) error = eb_fclib_write_into(group, &problem);
  if (group >= 0) H5Gclose(group);
  eb_fclib_clear(&problem);
  return error;
}

/* Frames and checkpoints that are due, and now and then a commit. */
static eb_error keep_state(eb_job *j, bool last) {
  /* Frames of all steps or at the scene's interval, and the last one whatever it is; of samples
   * those whose start has one. */
  bool framed = j->work->from.samples ? is_frame(j, j->run.steps_done - 1)
                                      : last || is_frame(j, j->run.steps_done);
  if (framed) {
    eb_frame frame = {j->after, j->before, j->log->element_updates, j->log->contacts};
    EB_TRY(eb_recorder_frame(j->recorder, &frame));
    memset(j->log->element_updates, 0, (size_t)j->log->element_count);
  }
  if (eb_ranges_hold(&j->work->checkpoints, j->after->step))
    EB_TRY(eb_recorder_checkpoint(j->recorder, j->after, j->before->time));
  j->page->step = j->after->step;
  /* Often enough that a crash costs little, and seldom enough that commits take a twentieth of the
   * time at most. */
  double began = eb_wall_seconds();
  if (began - j->committed < 20 * j->commit_seconds) return EB_OK;
  EB_TRY(eb_recorder_commit(j->recorder));
  j->committed = eb_wall_seconds();
  j->commit_seconds = j->committed - began;
  return EB_OK;
}

/* Whether the case goes on after this step; if not, the outcome is set. A sample says nothing of
 * those after it. */
static eb_error judge_step(eb_job *j, bool finite, eb_reason reason, bool *on) {
  char detail[300];
  sigset_t pending;
  bool failed = !finite || reason <= 0;
  long long step = (long long)j->after->step, steps = (long long)j->work->steps;
  *on = false;
  if (failed && !j->work->from.samples) return conclude_step(j, finite, reason);
  if (failed && j->failed++ == 0) EB_TRY(conclude_step(j, finite, reason));
  j->renew = failed;
  if (sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1) {
    snprintf(detail, sizeof detail, "ended by a signal from outside after step %lld of %lld", step,
             steps);
    return conclude(j, EB_OUTCOME_CRASHED, detail);
  }
  if (j->page->asked_to_end) {
    snprintf(detail, sizeof detail, "time limit of %g s reached after step %lld of %lld",
             j->work->timeout, step, steps);
    return conclude(j, EB_OUTCOME_TIMED_OUT, detail);
  }
  *on = j->run.steps_done < j->work->steps;
  if (*on) return EB_OK;
  if (j->failed == 0) return conclude(j, EB_OUTCOME_COMPLETED, "");
  /* How many samples have failed stands behind how the first one did. */
  snprintf(detail, sizeof detail, "%.200s; %lld of %lld samples failed", j->run.detail,
           (long long)j->failed, steps);
  return eb_run_set(&j->run.detail, detail);
}

/* Once, after the first step: elements and subspaces stay as they are. */
static eb_error examine(eb_job *j) {
  eb_subspace_figures f;
  eb_recorder *recorder = j->recorder;
  bool sound;
  int rank;
  if (!j->work->examine || j->examined) return EB_OK;
  j->examined = true;
  EB_TRY(eb_element_rank(j->auditor.audit, 0, &rank));
  EB_TRY(eb_recorder_number(recorder, "element/rank", "1", rank));
  EB_TRY(eb_auditor_examine(&j->auditor, j->log, j->before, &f, &sound));
  if (!sound) return EB_OK;
  EB_TRY(eb_recorder_number(recorder, EB_SUBSPACE_GROUP "/size", "1", f.coefficients));
  EB_TRY(eb_recorder_number(recorder, EB_SUBSPACE_GROUP "/points", "1", f.points));
  EB_TRY(eb_recorder_number(recorder, EB_SUBSPACE_GROUP "/null", "1", f.null));
  EB_TRY(eb_recorder_number(recorder, EB_SUBSPACE_GROUP "/start_outside", "1", f.start_outside));
  for (int p = 0; p < eb_parts_count(j->auditor.parts); p++) {
    char path[100];
    const char *name = eb_parts_name(j->auditor.parts, p);
    snprintf(path, sizeof path, EB_SUBSPACE_GROUP "/density/%.60s", name);
    if (!isnan(f.density[p])) EB_TRY(eb_recorder_number(recorder, path, "1", f.density[p]));
    snprintf(path, sizeof path, EB_SUBSPACE_GROUP "/variance/%.60s", name);
    if (!isnan(f.variance[p])) EB_TRY(eb_recorder_number(recorder, path, "1/kg", f.variance[p]));
  }
  return EB_OK;
}

/* Of the mesh at rest: nothing of it depends on the solver. */
static eb_error embed(eb_job *j) {
  eb_embedding_figures f;
  const eb_mesh *mesh = j->auditor.scene->mesh;
  if (j->work->embed == 0 ||
      !eb_embedding_examine(mesh, j->work->embed, (uint64_t)j->work->seed, &f))
    return EB_OK;
  const struct {
    const char *name;
    double value;
  } figures[] = {{EB_EMBEDDING_GROUP "/iterations_max", f.iterations_max},
                 {EB_EMBEDDING_GROUP "/iterations_mean", f.iterations_mean},
                 {EB_EMBEDDING_GROUP "/error_max", f.error_max}};
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    EB_TRY(eb_recorder_number(j->recorder, figures[i].name, "1", figures[i].value));
  return EB_OK;
}

/* Takes one step and records it. *on: whether the case goes on; if not, its outcome is set. */
static eb_error step(eb_job *j, bool *on) {
  double row[EB_COL_COUNT] = {0};
  eb_reason reason = EB_RUNNING;
  bool finite;
  EB_TRY(take_step(j, row, &reason, on));
  if (!*on) return EB_OK;
  /* A solver that forgets its clock would make every later row wrong. */
  j->after->step = j->before->step + 1;
  j->after->time = j->before->time + j->auditor.scene->dt;
  double began = eb_wall_seconds();
  EB_TRY(eb_auditor_step(&j->auditor, j->before, j->after, j->solver->update, j->log, reason, row,
                         &finite));
  if (finite) EB_TRY(examine(j));
  j->run.audit_seconds += eb_wall_seconds() - began;
  row[EB_COL_STEP] = (double)j->after->step;
  row[EB_COL_TIME] = j->after->time;
  row[EB_COL_ITERATIONS] = (double)j->log->iterations;
  row[EB_COL_REASON] = reason;
  row[EB_COL_COMPONENTS] = j->components;
  row[EB_COL_FROM_STEP] = (double)j->from_step;
  row[EB_COL_LEAD] = j->lead;
  EB_TRY(eb_recorder_step(j->recorder, row, j->log));
  eb_auditor_part_columns(&j->auditor, j->part_columns);
  EB_TRY(eb_recorder_parts(j->recorder, j->part_columns));
  double rotation[EB_ROTATION_COLUMNS];
  bool rotated = eb_auditor_rotation_columns(&j->auditor, rotation);
  EB_TRY(eb_recorder_rotations(j->recorder, j->run.steps_done, rotated ? rotation : NULL));
  j->run.steps_done++;
  if (2 * j->run.steps_done <= j->work->steps + 1) j->half_resident = j->cost.resident;
  EB_TRY(eb_run_set(&j->run.reason, eb_reason_name(reason)));
  EB_TRY(keep_contact_problem(j));
  EB_TRY(judge_step(j, finite, reason, on));
  return keep_state(j, !*on);
}

/* ---- states of another run ------------------------------------------------------------------- */

/* A case that goes on from a state of another run, its donor, has the donor's simulated time, at
 * which scripts and colliders are, and counts its steps from 1. Scripted cuts that were made by
 * then are made on the way, off the clock.
 *
 * Samples are steps of their own, each from a state of the donor's. A solver may start from what it
 * keeps of its last step, which is another sample's: so that all have the same to start from, every
 * solver is first given, off the clock and unrecorded, the state one step before, where the donor
 * has one and no cut has come between, and takes that step. What the solver makes of it is thrown
 * away. That time is the column `lead`; all of it together is held to rule hidden-work, but for the
 * first lead-in of a new solver, which counts as its set-up. After a sample that fails the solver
 * is created anew. */

/* Makes the cuts that the state's mesh has had. The values that they are made on do not matter: the
 * state's own take their place. */
static eb_error follow_cuts(eb_job *j, size_t row) {
  bool changed = false;
  if ((double)j->after->node_count >= j->donor.states.nodes[row]) return EB_OK;
  j->after->time = j->donor.states.began[row];
  EB_TRY(eb_auditor_advance(&j->auditor, j->after));
  EB_TRY(eb_scene_advance(j->scene, j->after, &changed));
  if (!changed) return EB_OK;
  EB_TRY(follow_mesh(j));
  return eb_solver_rebuild(j->solver, j->after, j->log);
}

/* Puts j->after to a state of the donor's, and the scenes to its cuts. *on is false when the
 * scripts of this scene have not cut the mesh as the donor's had, or the solver cannot follow: then
 * the outcome is set. */
static eb_error place(eb_job *j, int64_t row, bool *on) {
  eb_error failure = follow_cuts(j, (size_t)row);
  if (!failure) failure = eb_checkpoints_read(&j->donor.states, (size_t)row, j->after);
  *on = !failure;
  return failure ? conclude_error(j, "start", failure) : EB_OK;
}

/* The step before, when the donor has kept the state that it starts from, and no sample has led
 * beyond a cut that came later. */
static eb_error lead_in(eb_job *j, int64_t sampled, bool *on) {
  double row[EB_COL_COUNT] = {0}, timed = j->cost.timed_cpu;
  eb_reason reason = EB_RUNNING;
  int64_t state = eb_checkpoints_find(&j->donor.states, sampled - 1);
  j->lead = 0;
  if (state < 0 || j->donor.states.nodes[state] < (double)j->after->node_count) return EB_OK;
  EB_TRY(place(j, state, on));
  if (!*on) return EB_OK;
  j->after->step = j->run.steps_done;
  j->leading = true;
  EB_TRY(take_step(j, row, &reason, on));
  j->leading = false;
  j->lead = row[EB_COL_WALL];
  j->lead_cpu += j->cost.timed_cpu - timed;
  j->cost.timed_cpu = timed;
  memset(j->log->element_updates, 0, (size_t)j->log->element_count);
  return EB_OK;
}

/* The solver, and what the harness must know of it: how positions follow, and the process that
 * works for it. */
static eb_error create_solver(eb_job *j) {
  const eb_case *work = j->work;
  EB_TRY(eb_solver_create(work->solver, work->options, j->scene, work->threads,
                          (uint64_t)work->seed, &j->solver));
  EB_TRY(eb_run_set(&j->run.update, eb_update_name(j->solver->update)));
  EB_TRY(eb_run_set(&j->run.client, j->solver->described));
  if (!eb_helper_set(&j->cost.helper, j->solver->process))
    return EB_ERROR(EB_ERR_INVALID, "the solver declares process %d, which is not its child",
                    j->solver->process);
  j->page->helper = j->solver->process;
  if (j->solver->process) j->integrity.children = true; /* that one; it is asked of others */
  return EB_OK;
}

/* Puts j->after to the start of the next sample, the solver being led to it. *on as in step. */
static eb_error start_sample(eb_job *j, bool *on) {
  const eb_case *work = j->work;
  int64_t sampled = work->from.steps.first + j->run.steps_done * work->from.steps.stride;
  bool first = j->run.steps_done == 0 || j->renew;
  double led = j->lead_cpu;
  if (j->renew) {
    eb_solver_destroy(j->solver);
    j->solver = NULL;
    j->renew = false;
    eb_error failure = create_solver(j);
    *on = !failure;
    if (failure) return conclude_error(j, "set-up of the solver", failure);
  }
  EB_TRY(lead_in(j, sampled, on));
  if (first) j->lead_cpu = led;
  if (*on) EB_TRY(place(j, eb_checkpoints_find(&j->donor.states, sampled), on));
  if (!*on) return EB_OK;
  j->after->step = j->run.steps_done;
  j->from_step = sampled;
  EB_TRY(eb_auditor_jump(&j->auditor));
  return is_frame(j, j->run.steps_done)
             ? eb_recorder_frame(j->recorder, &(eb_frame){.state = j->after})
             : EB_OK;
}

/* ---- the run as a whole ---------------------------------------------------------------------- */

/* The scene, the solver and the audit; *failure is what they report, the return value is ours. */
static eb_error set_up(eb_job *j, eb_error *failure, const char **where) {
  const eb_case *work = j->work;
  double began = eb_wall_seconds();
  *where = "scene";
  j->page->stage = EB_STAGE_SCENE;
  *failure = eb_scene_create(work->scene, work->parameters, work->mesh_file, NULL, &j->scene);
  j->run.scene_seconds = eb_wall_seconds() - began;
  if (*failure) return EB_OK;
  EB_TRY(describe_scene(j));
  *where = "start";
  if (work->from.run) *failure = eb_donor_open(&work->from, j->scene, &j->donor);
  if (*failure) return EB_OK;
  *where = "audit";
  *failure = eb_auditor_create(work, &j->auditor);
  if (*failure) return EB_OK;
  j->cost.audit_team = j->auditor.team;
  *where = "set-up of the solver";
  j->page->stage = EB_STAGE_SETUP;
  double cpu = eb_cost_cpu(&j->cost);
  began = eb_wall_seconds();
  *failure = create_solver(j);
  j->run.setup_seconds = eb_wall_seconds() - began;
  j->run.setup_cpu_seconds = eb_cost_cpu(&j->cost) - cpu;
  return EB_OK;
}

static eb_error prepare_parts(eb_job *j) {
  const eb_parts *parts = j->auditor.parts;
  const char **names;
  int count = eb_parts_count(parts);
  EB_TRY(EB_NEW(j->part_columns, count * EB_PART_COLUMNS));
  EB_TRY(EB_NEW(names, count));
  for (int p = 0; p < count; p++) names[p] = eb_parts_name(parts, p);
  eb_error error = eb_recorder_open_parts(j->recorder, count, names);
  free(names);
  return error;
}

/* The file, logs and states for steps, and of a case that is no samples the state before the
 * first. */
static eb_error prepare_steps(eb_job *j, bool *on) {
  enum { RESIDUALS_KEPT = 1 << 16 };
  const eb_origin *from = &j->work->from;
  EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, j->auditor.scene, &j->recorder));
  eb_integrity_watch(&j->integrity, j->output);
  EB_TRY(eb_recorder_setup(j->recorder, j->solver->setup_log));
  EB_TRY(prepare_parts(j));
  EB_TRY(embed(j));
  EB_TRY(follow_mesh(j));
  EB_TRY(eb_state_create(j->scene, &j->after));
  EB_TRY(eb_step_log_create(RESIDUALS_KEPT, &j->log));
  j->log->element_count = j->scene->mesh->element_count;
  EB_TRY(EB_NEW(j->log->element_updates, j->log->element_count));
  j->committed = eb_wall_seconds();
  if (from->samples) return EB_OK;
  if (from->run) {
    EB_TRY(place(j, eb_checkpoints_find(&j->donor.states, from->steps.first), on));
    j->after->step = 0;
  }
  if (!*on) return EB_OK;
  EB_TRY(eb_recorder_frame(j->recorder, &(eb_frame){.state = j->after}));
  return from->run || eb_ranges_hold(&j->work->checkpoints, 0)
             ? eb_recorder_checkpoint(j->recorder, j->after, j->after->time)
             : EB_OK;
}

/* Sanitizers keep what was freed. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool memory_tells = false;
#else
static const bool memory_tells = true;
#endif

/* Rules hidden-work and memory (harness/README.md). */
static void judge_cost(eb_job *j) {
  static const double share = 0.05, moment = 0.02, growth = 32e6, tenth = 0.1, lead_steps = 10;
  const eb_cost *cost = &j->cost;
  /* Threads of the solver's that work while the clock stands. */
  if (cost->untimed_cpu > share * cost->timed_cpu + moment)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_HIDDEN_WORK,
                     "threads of the solver have worked for %.3g s while the clock stood, beside "
                     "%.3g s of timed work",
                     cost->untimed_cpu, cost->timed_cpu);
  /* In the second half of the run what contacts and frames want for has been asked. */
  double grown = cost->resident - j->half_resident;
  if (memory_tells && j->half_resident > 0 && grown > growth + tenth * j->half_resident)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_MEMORY,
                     "memory has grown by %.0f MB in the second half of the steps", 1e-6 * grown);
  if (!j->work->from.samples) return;
  /* A lead-in does what a step does, from farther away, which may be as much as a set-up. What is
   * prepared there for the step that is timed would take time off the clock: ten steps and a set-up
   * for each are beyond what any method needs. The first one of a new solver is its set-up: an
   * iterative method that has no solution of its own to start from yet may need as many iterations
   * as in fifty later steps, as in the first step of any run, which figures of times leave out. */
  double allowed = lead_steps * cost->timed_cpu + moment +
                   (double)j->run.steps_done * (j->run.setup_cpu_seconds + moment);
  if (j->lead_cpu > allowed)
    eb_verdict_break(&j->auditor.verdict, EB_RULE_HIDDEN_WORK,
                     "the steps that lead to samples have taken %.3g s of processor time, beside "
                     "%.3g s of timed work",
                     j->lead_cpu, cost->timed_cpu);
}

static eb_error run_steps(eb_job *j) {
  char hash[20];
  bool on = true;
  EB_TRY(prepare_steps(j, &on));
  j->page->stage = EB_STAGE_STEPS;
  while (on) {
    if (j->work->from.samples) EB_TRY(start_sample(j, &on));
    if (on) EB_TRY(step(j, &on));
  }
  snprintf(hash, sizeof hash, "%016" PRIx64, eb_state_hash(j->after));
  EB_TRY(eb_run_set(&j->run.state_hash, hash));
  if (eb_outcome_find(j->run.outcome) == EB_OUTCOME_COMPLETED) EB_TRY(eb_job_test_replay(j));
  judge_cost(j);
  EB_TRY(eb_auditor_compare(&j->auditor, j->scene));
  return eb_auditor_fill(&j->auditor, j->log, &j->run);
}

static eb_error run_job(eb_job *j) {
  eb_error failure = EB_OK;
  const char *where = "";
  double began = eb_wall_seconds();
  EB_TRY(eb_case_describe(j->work, &j->run));
  EB_TRY(open_page(&j->page));
  j->page->steps = j->work->steps;
  EB_TRY(eb_cost_open(j->page, &j->cost));
  eb_integrity_open(&j->integrity);
  EB_TRY(set_up(j, &failure, &where));
  if (failure) {
    EB_TRY(conclude_error(j, where, failure));
    EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, NULL, &j->recorder));
  } else {
    EB_TRY(run_steps(j));
  }
  j->page->stage = EB_STAGE_CLOSING;
  j->run.total_seconds = eb_wall_seconds() - began;
  eb_cost_fill(&j->cost, &j->run);
  EB_TRY(eb_recorder_finish(j->recorder, &j->run));
  j->page->stage = EB_STAGE_WRITTEN;
  return EB_OK;
}

static eb_error with_environment(eb_job *j, const char *path) {
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
  eb_job j = {.work = work,
              .output = output,
              .environment = -1,
              .cost = {.stat = -1, .statm = -1, .tasks = -1}};
  sigset_t set;
  omp_set_num_threads(work->threads);
  /* SIGTERM comes from outside. It is blocked in all threads and looked for between steps, so that
   * the steps that were taken are kept. */
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  eb_error error = with_environment(&j, environment);
  if (error && j.page) {
    if (!j.page->trouble) j.page->trouble = (int)eb_error_kind(error);
    say(j.page, eb_error_message(error));
  }
  eb_step_log_destroy(j.log);
  eb_state_destroy(j.after);
  eb_state_destroy(j.before);
  eb_solver_destroy(j.solver);
  eb_recorder_destroy(j.recorder);
  eb_auditor_clear(&j.auditor);
  free(j.part_columns);
  eb_donor_close(&j.donor);
  eb_scene_destroy(j.scene);
  eb_cost_close(&j.cost);
  if (j.page) munmap(j.page, sizeof *j.page);
  eb_run_clear(&j.run);
  return error;
}
