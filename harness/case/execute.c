#include "harness/audit/embedding.h"
#include "harness/case/execute.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/audit/element_rank.h"
#include "harness/case/job.h"
#include "harness/case/launch.h"
#include "harness/case/crash_record.h"
#include "harness/fclib/fclib.h"
#include "harness/network.h"
#include "harness/strings.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "problems/ranks/communicator.h"
#include "problems/units.h"
#include "problems/contact_record.h"

/* ---- the page of progress -------------------------------------------------------------------- */

/* Maps the file of a page, or plain memory when it is none. */
static eb_error map_page(int shared, eb_progress_page **out) {
  struct stat info;
  bool fits = fstat(shared, &info) == 0 && info.st_size == sizeof **out;
  if (!fits) shared = -1;
  int flags = shared < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *memory = mmap(NULL, sizeof **out, PROT_READ | PROT_WRITE, flags, shared, 0);
  *out = memory == MAP_FAILED ? NULL : memory;
  return *out ? EB_OK : EB_ERROR(EB_ERR_IO, "cannot share memory: %s", strerror(errno));
}

/* The page of a parent on this host that has started ranks (child.h), or plain memory. */
static eb_error find_page(eb_progress_page **out) {
  const char *where = getenv(EB_PAGE_VARIABLE);
  char path[64];
  uint64_t token;
  bool told = where && sscanf(where, "%63s %" SCNx64, path, &token) == 2;
  int file = told ? open(path, O_RDWR | O_CLOEXEC) : -1;
  eb_error error = map_page(file, out);
  if (file >= 0) close(file);
  if (error || (told && (*out)->token == token)) return error;
  munmap(*out, sizeof **out);
  return map_page(-1, out);
}

/* Maps what the parent gave, or plain memory when this was started by hand. */
static eb_error open_page(const eb_job *j, eb_progress_page **out) {
  if (!j->ranks) return map_page(EB_CHILD_BOARD, out);
  return eb_ranks_self(j->ranks) == 0 ? find_page(out) : map_page(-1, out);
}

/* Leaves words for the parent; the first ones stay. */
static void say(eb_progress_page *page, const char *words) {
  if (!*page->words) snprintf(page->words, sizeof page->words, "%s", words);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static eb_error conclude(eb_job *j, eb_outcome outcome, const char *detail) {
  EB_TRY(eb_string_set(&j->run.outcome, eb_outcome_name(outcome)));
  return eb_string_set(&j->run.detail, detail);
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
  long long step = (long long)j->stepper.state->step;
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
  eb_error error = eb_audit_components(j->scene, part, &j->components);
  free(part);
  return error;
}

/* What the run says of the scene; its nodes are those that frames are stored on, all cuts made. */
static eb_error describe_scene(eb_job *j) {
  char hash[20];
  const eb_scene *scene = j->scene;
  j->run.nodes = scene->mesh->node_count;
  if (scene->script.cut_count > 0) {
    eb_mesh *mesh;
    int32_t *parent;
    EB_TRY(eb_scene_final_mesh(scene, &mesh, &parent));
    j->run.nodes = mesh->node_count;
    eb_mesh_destroy(mesh);
    free(parent);
  }
  j->run.uncut_nodes = scene->script.uncut_nodes;
  j->run.elements = scene->mesh->element_count;
  if (scene->part) {
    j->run.nodes = j->run.uncut_nodes = scene->part->all_nodes;
    j->run.elements = scene->part->all_elements;
  }
  j->run.dt = scene->dt;
  EB_TRY(eb_string_set(&j->run.mesh_source, scene->mesh_source));
  snprintf(hash, sizeof hash, "%016" PRIx64, scene->hash);
  return eb_string_set(&j->run.scene_hash, hash);
}

/* ---- one step -------------------------------------------------------------------------------- */

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
  j->page->step_began = j->leading ? 0 : wall;
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
  say(j->page, detail);
  j->page->harmed = true;
  eb_verdict_break(&j->auditor.verdict, EB_RULE_PROCESS, "%s", detail);
  if (change == EB_STATE_ARRAYS) {
    /* Arrays that may not be ours any more are dropped for those at the start of the step. */
    j->stepper.state = NULL;
    EB_TRY(eb_state_create(j->scene, &j->stepper.state));
    eb_state_copy(j->before, j->stepper.state);
  }
  return conclude(j, EB_OUTCOME_FAILED, detail);
}

/* From the stepper's state, with the cuts that are due. When *on is false the step ended the case,
 * its outcome set. */
static eb_error take_step(eb_job *j, double row[EB_COL_COUNT], bool *on) {
  eb_error failure = eb_auditor_advance(&j->auditor, j->stepper.state);
  if (!failure) failure = eb_stepper_advance(&j->stepper);
  *on = !failure;
  if (failure) return conclude_error(j, "step", failure);
  if (j->stepper.cut) EB_TRY(follow_mesh(j));
  eb_state_copy(j->stepper.state, j->before);
  failure = timed_step(j, row);
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
  const eb_contact_record *record = j->stepper.log->contacts;
  eb_fclib problem = {0};
  hid_t group = -1;
  if (j->stepper.state->step != j->work->contact_problem || !record || !record->problem ||
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

/* To be recorded: the state, what leads to it from the one before, which may be NULL, and what was
 * logged of that step when there was one. */
static eb_error keep_frame(eb_job *j, const eb_state *before, const eb_step_log *log) {
  eb_frame frame = {.state = j->stepper.state, .before = before};
  if (j->ranks)
    EB_TRY(eb_gathered_frame(&j->whole, j->auditor.scene, j->stepper.state, before, &frame));
  else if (log)
    frame =
        (eb_frame){.state = j->stepper.state,
                   .before = before,
                   .updates = log->element_updates,
                   .contacts = log->contacts,
                   .unfiltered = log->friction == EB_FRICTION_FILTERED ? log->unfiltered : NULL};
  return eb_recorder_frame(j->recorder, &frame);
}

static eb_error keep_checkpoint(eb_job *j, double began) {
  if (j->ranks) EB_TRY(eb_gathered_collect(&j->whole, j->stepper.state));
  return eb_recorder_checkpoint(j->recorder, j->ranks ? j->whole.state : j->stepper.state, began);
}

/* Frames and checkpoints that are due, and now and then a commit. */
static eb_error keep_state(eb_job *j, bool last) {
  /* Frames of all steps or at the scene's interval, and the last one whatever it is; of samples
   * those whose start has one. */
  bool framed = j->work->from.samples ? is_frame(j, j->run.steps_done - 1)
                                      : last || is_frame(j, j->run.steps_done);
  if (framed) {
    EB_TRY(keep_frame(j, j->before, j->stepper.log));
    memset(j->stepper.log->element_updates, 0, (size_t)j->stepper.log->element_count);
  }
  if (eb_ranges_hold(&j->work->checkpoints, j->stepper.state->step))
    EB_TRY(keep_checkpoint(j, j->before->time));
  j->page->step = j->stepper.state->step;
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
  long long step = (long long)j->stepper.state->step, steps = (long long)j->work->steps;
  *on = false;
  if (failed && !j->work->from.samples) return conclude_step(j, finite, reason);
  if (failed && j->failed++ == 0) EB_TRY(conclude_step(j, finite, reason));
  j->renew = failed;
  bool told = sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
  if (eb_ranks_any(j->ranks, told)) {
    snprintf(detail, sizeof detail, "ended by a signal from outside after step %lld of %lld", step,
             steps);
    return conclude(j, EB_OUTCOME_CRASHED, detail);
  }
  if (eb_ranks_any(j->ranks, j->page->asked_to_end != 0)) {
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
  return eb_string_set(&j->run.detail, detail);
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
  EB_TRY(eb_recorder_number(recorder, EB_NUMBER_ELEMENT_RANK, NULL, rank));
  EB_TRY(eb_auditor_examine(&j->auditor, j->stepper.log, j->before, &f, &sound));
  if (!sound) return EB_OK;
  EB_TRY(eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_SIZE, NULL, f.coefficients));
  EB_TRY(eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_POINTS, NULL, f.points));
  EB_TRY(eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_NULL, NULL, f.null));
  EB_TRY(eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_START, NULL, f.start_outside));
  for (int p = 0; p < eb_parts_count(j->auditor.parts); p++) {
    const char *name = eb_parts_name(j->auditor.parts, p);
    if (!isnan(f.density[p]))
      EB_TRY(eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_DENSITY, name, f.density[p]));
    if (!isnan(f.variance[p]))
      EB_TRY(eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_VARIANCE, name, f.variance[p]));
  }
  return EB_OK;
}

/* Once: the subspace is the same in every step. */
static eb_error keep_basis(eb_job *j) {
  const eb_subspace_record *s = j->stepper.log->subspace;
  if (!s || j->based) return EB_OK;
  j->based = true;
  return eb_subspace_sound(j->auditor.audit, s) ? eb_recorder_basis(j->recorder, s) : EB_OK;
}

/* Of the mesh at rest: nothing of it depends on the solver. */
static eb_error embed(eb_job *j) {
  eb_embedding_figures f;
  const eb_mesh *mesh = j->ranks ? j->whole.scene.mesh : j->auditor.scene->mesh;
  if (j->work->embed == 0 || !j->recorder ||
      !eb_embedding_examine(mesh, j->work->embed, (uint64_t)j->work->seed, &f))
    return EB_OK;
  EB_TRY(eb_recorder_number(j->recorder, EB_NUMBER_EMBEDDING_MOST, NULL, f.iterations_max));
  EB_TRY(eb_recorder_number(j->recorder, EB_NUMBER_EMBEDDING_MEAN, NULL, f.iterations_mean));
  return eb_recorder_number(j->recorder, EB_NUMBER_EMBEDDING_ERROR, NULL, f.error_max);
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

/* Where the file has a part. */
typedef struct group_name {
  char text[80];
} group_name;

static group_name part_group(const eb_job *j, int part) {
  group_name name;
  snprintf(name.text, sizeof name.text, "%s/%.70s", EB_PARTS_GROUP,
           eb_parts_name(j->auditor.parts, part));
  return name;
}

/* Takes one step and records it. *on: whether the case goes on; if not, its outcome is set. */
static eb_error step(eb_job *j, bool *on) {
  double row[EB_COL_COUNT] = {0};
  bool finite;
  EB_TRY(take_step(j, row, on));
  if (!*on) return EB_OK;
  eb_reason reason = j->stepper.reason;
  set_clock(j, reason);
  double began = eb_wall_seconds();
  eb_auditor_synchronize(&j->auditor, j->stepper.state, &reason);
  EB_TRY(eb_auditor_step(&j->auditor, j->before, j->stepper.state, j->stepper.solver->update,
                         j->stepper.log, reason, row, &finite));
  if (finite) EB_TRY(examine(j));
  EB_TRY(keep_basis(j));
  j->run.audit_seconds += eb_wall_seconds() - began;
  row[EB_COL_STEP] = (double)j->stepper.state->step;
  row[EB_COL_TIME] = j->stepper.state->time;
  row[EB_COL_ITERATIONS] = (double)j->stepper.log->iterations;
  row[EB_COL_REASON] = reason;
  row[EB_COL_COMPONENTS] = j->components;
  row[EB_COL_FROM_STEP] = (double)j->from_step;
  row[EB_COL_WARM_UP] = j->lead;
  EB_TRY(eb_recorder_step(j->recorder, row, j->stepper.log));
  eb_auditor_part_columns(&j->auditor, j->part_columns);
  for (int p = 0; p < eb_parts_count(j->auditor.parts); p++)
    EB_TRY(eb_recorder_row(j->recorder, part_group(j, p).text,
                           j->part_columns + (size_t)p * EB_PART_COLUMNS));
  double rotation[EB_ROTATION_COLUMNS];
  if (eb_auditor_rotation_columns(&j->auditor, rotation))
    EB_TRY(eb_recorder_row(j->recorder, EB_ROTATION_GROUP, rotation));
  j->run.steps_done++;
  if (2 * j->run.steps_done <= j->work->steps + 1) {
    j->half_resident = j->cost.resident;
    j->half_threads = j->cost.threads_alive;
  }
  EB_TRY(eb_string_set(&j->run.reason, eb_reason_name(reason)));
  EB_TRY(keep_contact_problem(j));
  EB_TRY(judge_step(j, finite, reason, on));
  return keep_state(j, !*on);
}

/* ---- states of another run ------------------------------------------------------------------- */

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
  EB_TRY(follow_mesh(j));
  return eb_stepper_rebuild(&j->stepper);
}

/* Puts j->stepper.state to a state of the source run's, and the scenes to its cuts. *on is false
 * when the scripts of this scene have not cut the mesh as the source run's had, or the solver
 * cannot follow: then the outcome is set. */
static eb_error place(eb_job *j, int64_t row, bool *on) {
  eb_error failure = follow_cuts(j, (size_t)row);
  if (!failure) failure = eb_checkpoints_read(&j->source_run.states, (size_t)row, j->stepper.state);
  *on = !failure;
  return failure ? conclude_error(j, "start", failure) : EB_OK;
}

/* The step before, when the source run has kept the state that it starts from, and no sample has
 * led beyond a cut that came later. */
static eb_error lead_in(eb_job *j, int64_t sampled, bool *on) {
  double row[EB_COL_COUNT] = {0}, timed = j->cost.timed_cpu;
  int64_t state = eb_checkpoints_find(&j->source_run.states, sampled - 1);
  j->lead = 0;
  if (state < 0 || j->source_run.states.nodes[state] < (double)j->stepper.state->node_count)
    return EB_OK;
  EB_TRY(place(j, state, on));
  if (!*on) return EB_OK;
  j->stepper.state->step = j->run.steps_done;
  j->leading = true;
  EB_TRY(take_step(j, row, on));
  j->leading = false;
  j->lead = row[EB_COL_WALL];
  j->lead_cpu += j->cost.timed_cpu - timed;
  j->cost.timed_cpu = timed;
  memset(j->stepper.log->element_updates, 0, (size_t)j->stepper.log->element_count);
  return EB_OK;
}

/* The solver, and what the harness must know of it: how positions follow, and the process that
 * works for it. */
static eb_error create_solver(eb_job *j) {
  enum { RESIDUALS_KEPT = 1 << 16 };
  const eb_case *work = j->work;
  uint64_t seed = (uint64_t)work->seed;
  eb_error error =
      j->stepper.solver
          ? eb_stepper_start(&j->stepper, work->solver, work->options, work->threads, seed)
          : eb_stepper_create(work->solver, work->options, j->scene, work->threads, seed,
                              RESIDUALS_KEPT, &j->stepper);
  EB_TRY(eb_ranks_agree(j->ranks, error));
  EB_TRY(eb_string_set(&j->run.update, eb_update_name(j->stepper.solver->update)));
  EB_TRY(eb_string_set(&j->run.client, j->stepper.solver->described));
  if (!eb_helper_set(&j->cost.helper, j->stepper.solver->process))
    return EB_ERROR(EB_ERR_INVALID, "the solver declares process %d, which is not its child",
                    j->stepper.solver->process);
  j->page->helper = j->stepper.solver->process;
  if (j->stepper.solver->process)
    j->integrity.children = true; /* that one; it is asked of others */
  return EB_OK;
}

/* Puts j->stepper.state to the start of the next sample, the solver being led to it. *on as in
 * step. */
static eb_error start_sample(eb_job *j, bool *on) {
  const eb_case *work = j->work;
  int64_t sampled = work->from.steps.first + j->run.steps_done * work->from.steps.stride;
  bool first = j->run.steps_done == 0 || j->renew;
  double led = j->lead_cpu;
  if (j->renew) {
    j->renew = false;
    eb_error failure = create_solver(j);
    *on = !failure;
    if (failure) return conclude_error(j, "set-up of the solver", failure);
  }
  EB_TRY(lead_in(j, sampled, on));
  if (first) j->lead_cpu = led;
  if (*on) EB_TRY(place(j, eb_checkpoints_find(&j->source_run.states, sampled), on));
  if (!*on) return EB_OK;
  j->stepper.state->step = j->run.steps_done;
  j->from_step = sampled;
  EB_TRY(eb_auditor_reset(&j->auditor));
  return is_frame(j, j->run.steps_done) ? keep_frame(j, NULL, NULL) : EB_OK;
}

/* ---- the run as a whole ---------------------------------------------------------------------- */

/* Whether as many ranks have been started as the case wants, and for nothing that is asked of a
 * whole scene alone. */
static eb_error check_ranks(const eb_job *j) {
  const eb_case *work = j->work;
  int count = eb_ranks_count(j->ranks);
  if (count != work->ranks)
    return EB_ERROR(EB_ERR_USAGE,
                    "%d process%s been started where the case wants %d ranks; what starts them is "
                    "asked for that many, and each has MPI of the same kind",
                    count, count == 1 ? " has" : "es have", work->ranks);
  const char *what = work->from.run  ? "start from a state of another run"
                     : work->examine ? "be examined"
                                     : NULL;
  return j->ranks && what ? EB_ERROR(EB_ERR_UNSUPPORTED, "a case of several ranks cannot %s", what)
                          : EB_OK;
}

/* The scene, the solver and the audit; *failure is what they report, the return value is ours. */
static eb_error set_up(eb_job *j, eb_error *failure, const char **where) {
  const eb_case *work = j->work;
  double began = eb_wall_seconds();
  *where = "scene";
  j->page->stage = EB_STAGE_SCENE;
  *failure = check_ranks(j);
  if (!*failure) *failure = eb_case_scene(work, j->ranks, &j->scene);
  j->run.scene_seconds = eb_wall_seconds() - began;
  if (*failure) return EB_OK;
  eb_scene_units(j->scene, j->page->unusual, sizeof j->page->unusual);
  EB_TRY(describe_scene(j));
  *where = "start";
  if (work->from.run) *failure = eb_source_run_open(&work->from, j->scene, &j->source_run);
  if (*failure) return EB_OK;
  *where = "audit";
  *failure = eb_auditor_create(work, j->ranks, &j->auditor);
  if (!*failure && j->ranks) *failure = eb_gathered_create(j->auditor.scene, &j->whole);
  if (*failure) return EB_OK;
  j->cost.audit_team = j->auditor.team;
  *where = "set-up of the solver";
  j->page->stage = EB_STAGE_SETUP;
  double cpu = eb_cost_cpu(&j->cost);
  began = eb_wall_seconds();
  *failure = create_solver(j);
  j->run.setup_seconds = eb_wall_seconds() - began;
  j->run.setup_cpu_seconds = eb_cost_cpu(&j->cost) - cpu;
  eb_ranks_sum(j->ranks, 1, &j->run.setup_cpu_seconds);
  if (*failure) return EB_OK;
  eb_verdict_times(&j->auditor.verdict, "set-up", j->stepper.solver->setup_log,
                   j->run.setup_seconds, work->threads);
  eb_ranks_sum(j->ranks, EB_MEMORY_KINDS, j->stepper.solver->setup_log->memory_bytes);
  return EB_OK;
}

/* The file, of rank 0. */
static eb_error create_file(eb_job *j) {
  const eb_scene *scene = j->ranks ? &j->whole.scene : j->auditor.scene;
  if (eb_ranks_self(j->ranks) > 0) return EB_OK;
  EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, scene, &j->recorder));
  eb_integrity_watch(&j->integrity, j->output);
  return eb_recorder_setup(j->recorder, j->stepper.solver->setup_log);
}

static eb_error prepare_parts(eb_job *j) {
  int count = eb_parts_count(j->auditor.parts);
  EB_TRY(EB_NEW(j->part_columns, count * EB_PART_COLUMNS));
  for (int p = 0; p < count; p++) EB_TRY(eb_recorder_open(j->recorder, part_group(j, p).text));
  return EB_OK;
}

/* The file, logs and states for steps, and of a case that is no samples the state before the
 * first. */
static eb_error prepare_steps(eb_job *j, bool *on) {
  const eb_origin *from = &j->work->from;
  EB_TRY(create_file(j));
  EB_TRY(prepare_parts(j));
  EB_TRY(embed(j));
  if (j->ranks) eb_gathered_release_mesh(&j->whole);
  EB_TRY(follow_mesh(j));
  j->stepper.log->element_count = j->scene->mesh->element_count;
  EB_TRY(EB_NEW(j->stepper.log->element_updates, j->stepper.log->element_count));
  j->committed = eb_wall_seconds();
  if (from->samples) return EB_OK;
  if (from->run) {
    EB_TRY(place(j, eb_checkpoints_find(&j->source_run.states, from->steps.first), on));
    j->stepper.state->step = 0;
  }
  if (!*on) return EB_OK;
  EB_TRY(keep_frame(j, NULL, NULL));
  return from->run || eb_ranges_hold(&j->work->checkpoints, 0)
             ? keep_checkpoint(j, j->stepper.state->time)
             : EB_OK;
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
  if (j->ranks) EB_TRY(eb_gathered_collect(&j->whole, j->stepper.state));
  const eb_state *end =
      j->ranks ? j->whole.state : j->stepper.state; /* NULL on ranks other than 0 */
  snprintf(hash, sizeof hash, "%016" PRIx64, end ? eb_state_hash(end) : 0);
  EB_TRY(eb_string_set(&j->run.state_hash, hash));
  if (eb_outcome_find(j->run.outcome) == EB_OUTCOME_COMPLETED) EB_TRY(eb_job_test_replay(j));
  eb_job_judge_cost(j);
  EB_TRY(eb_auditor_compare(&j->auditor, j->scene));
  return eb_auditor_fill(&j->auditor, j->stepper.log, &j->run);
}

/* Of all ranks; times on the wall are those of rank 0. */
static void sum_cost(eb_job *j) {
  eb_run *run = &j->run;
  double sums[] = {run->peak_rss, run->process_cpu_seconds, run->timed_cpu_seconds,
                   run->untimed_cpu_seconds, run->memory_growth};
  eb_ranks_sum(j->ranks, sizeof sums / sizeof *sums, sums);
  run->peak_rss = sums[0];
  run->process_cpu_seconds = sums[1];
  run->timed_cpu_seconds = sums[2];
  run->untimed_cpu_seconds = sums[3];
  run->memory_growth = sums[4];
  eb_ranks_sum_whole(j->ranks, 1, &run->threads_alive);
}

/* Where all ranks have come to the end, and off every clock. */
static eb_error measure_network(eb_job *j) {
  eb_network network;
  if (!j->ranks || eb_outcome_find(j->run.outcome) != EB_OUTCOME_COMPLETED) return EB_OK;
  EB_TRY(eb_network_measure(j->ranks, &network));
  j->run.network_latency = network.latency;
  j->run.network_bandwidth = network.bandwidth;
  j->run.network_reduction = network.reduction;
  return EB_OK;
}

static eb_error run_job(eb_job *j) {
  eb_error failure = EB_OK;
  const char *where = "";
  double began = eb_wall_seconds();
  EB_TRY(eb_case_describe(j->work, &j->run));
  EB_TRY(open_page(j, &j->page));
  j->token = j->page->token;
  j->page->steps = j->work->steps;
  EB_TRY(eb_cost_open(j->page, &j->cost));
  eb_integrity_open(&j->integrity);
  EB_TRY(set_up(j, &failure, &where));
  if (failure) {
    EB_TRY(conclude_error(j, where, failure));
    if (eb_ranks_self(j->ranks) == 0)
      EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, NULL, &j->recorder));
  } else {
    EB_TRY(run_steps(j));
  }
  j->page->stage = EB_STAGE_CLOSING;
  j->run.total_seconds = eb_wall_seconds() - began;
  eb_cost_fill(&j->cost, &j->run);
  sum_cost(j);
  EB_TRY(measure_network(j));
  EB_TRY(eb_recorder_finish(j->recorder, &j->run));
  j->page->stage = EB_STAGE_WRITTEN;
  return EB_OK;
}

static eb_error with_environment(eb_job *j, const char *path) {
  hid_t file;
  if (!path || eb_ranks_self(j->ranks) > 0) return run_job(j);
  EB_TRY(eb_h5_open_file(path, false, &file));
  j->environment = H5Gopen2(file, "environment", H5P_DEFAULT);
  eb_error error =
      j->environment < 0 ? eb_h5_error("cannot read /environment of", path) : run_job(j);
  if (j->environment >= 0) H5Gclose(j->environment);
  H5Fclose(file);
  return error;
}

/* Says why there is no result. Other ranks wait for this one, and would for ever: they end with
 * it. */
static void tell_parent(eb_job *j, eb_error error) {
  eb_progress_page *page = j->page;
  if (eb_ranks_self(j->ranks) > 0) {
    eb_error closed = find_page(&page);
    eb_error_free(closed);
    if (closed) return;
  }
  if (!page->trouble) page->trouble = (int)eb_error_kind(error);
  say(page, eb_error_message(error));
  if (eb_ranks_count(j->ranks) > 1) MPI_Abort(eb_ranks_communicator(j->ranks), EB_EXIT_HARNESS);
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
  eb_error error = work->distributed ? eb_ranks_create(&j.ranks) : EB_OK;
  if (!error) error = with_environment(&j, environment);
  if (error && j.page) tell_parent(&j, error);
  eb_state_destroy(j.before);
  eb_stepper_clear(&j.stepper);
  eb_recorder_destroy(j.recorder);
  eb_auditor_clear(&j.auditor);
  free(j.part_columns);
  eb_source_run_close(&j.source_run);
  eb_gathered_clear(&j.whole);
  eb_scene_destroy(j.scene);
  eb_cost_close(&j.cost);
  if (j.page) munmap(j.page, sizeof *j.page);
  eb_run_clear(&j.run);
  eb_ranks_destroy(j.ranks);
  return error;
}
