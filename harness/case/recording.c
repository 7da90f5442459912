/* What is kept of a case in its file: frames, checkpoints, rows of steps, contact problems, and
 * what is examined once. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/audit/contact_law.h"
#include "harness/audit/element_rank.h"
#include "harness/audit/embedding.h"
#include "harness/case/job.h"
#include "harness/fclib/fclib.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"

bool eb_job_is_frame(const eb_job *j, int64_t steps) {
  int64_t interval = j->work->scene->steps_per_frame > 0 ? j->work->scene->steps_per_frame : 1;
  return j->work->frames == EB_FRAMES_ALL || steps % interval == 0;
}

/* The contact problem of the step that was asked for (harness/fclib/fclib.h), when it has contacts:
 * off the clock, what the method has solved last with its solution. */
static eb_error record_contact_problem(eb_job *j) {
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

/* What the audit has refused is not kept. */
static const eb_contact_record *readable(const eb_contact_record *record, int32_t nodes) {
  return record && eb_contact_record_is_whole(record, nodes) ? record : NULL;
}

eb_error eb_job_record_frame(eb_job *j, const eb_state *before, const eb_step_log *log) {
  eb_frame frame = {.state = j->stepper.state, .before = before};
  if (j->ranks)
    EB_TRY(eb_gathered_frame(&j->gathered, j->auditor.scene, j->stepper.state, before, &frame));
  else if (log)
    frame =
        (eb_frame){.state = j->stepper.state,
                   .before = before,
                   .updates = log->element_updates,
                   .contacts = readable(log->contacts, j->stepper.state->node_count),
                   .unfiltered = log->friction == EB_FRICTION_FILTERED ? log->unfiltered : NULL};
  return eb_recorder_frame(j->recorder, &frame);
}

eb_error eb_job_record_checkpoint(eb_job *j, double began) {
  if (j->ranks) EB_TRY(eb_gathered_collect(&j->gathered, j->stepper.state));
  return eb_recorder_checkpoint(j->recorder, j->ranks ? j->gathered.state : j->stepper.state,
                                began);
}

eb_error eb_job_record_state(eb_job *j, bool last) {
  /* Frames of all steps or at the scene's interval, and the last one whatever it is; of samples
   * those whose start has one. */
  EB_TRY(record_contact_problem(j));
  bool framed = j->work->from.samples ? eb_job_is_frame(j, j->run.steps_done - 1)
                                      : last || eb_job_is_frame(j, j->run.steps_done);
  if (framed) {
    EB_TRY(eb_job_record_frame(j, j->before, j->stepper.log));
    memset(j->stepper.log->element_updates, 0, (size_t)j->stepper.log->element_count);
  }
  if (eb_ranges_hold(&j->work->checkpoints, j->stepper.state->step))
    EB_TRY(eb_job_record_checkpoint(j, j->before->time));
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
static eb_error record_basis(eb_job *j) {
  const eb_subspace_record *s = j->stepper.log->subspace;
  if (!s || j->based) return EB_OK;
  j->based = true;
  return eb_subspace_sound(j->auditor.audit, s) ? eb_recorder_basis(j->recorder, s) : EB_OK;
}

/* Of the mesh at rest: nothing of it depends on the solver. */
static eb_error embed(eb_job *j) {
  eb_embedding_figures f;
  const eb_mesh *mesh = j->ranks ? j->gathered.scene.mesh : j->auditor.scene->mesh;
  if (j->work->embed == 0 || !j->recorder ||
      !eb_embedding_examine(mesh, j->work->embed, (uint64_t)j->work->seed, &f))
    return EB_OK;
  EB_TRY(eb_recorder_number(j->recorder, EB_NUMBER_EMBEDDING_MOST, NULL, f.iterations_max));
  EB_TRY(eb_recorder_number(j->recorder, EB_NUMBER_EMBEDDING_MEAN, NULL, f.iterations_mean));
  return eb_recorder_number(j->recorder, EB_NUMBER_EMBEDDING_ERROR, NULL, f.error_max);
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

eb_error eb_job_record_subspace(eb_job *j, bool finite) {
  if (finite) EB_TRY(examine(j));
  return record_basis(j);
}

eb_error eb_job_record_step(eb_job *j, const double row[EB_COL_COUNT]) {
  EB_TRY(eb_recorder_step(j->recorder, row, j->stepper.log));
  eb_auditor_part_columns(&j->auditor, j->part_columns);
  for (int p = 0; p < eb_parts_count(j->auditor.parts); p++)
    EB_TRY(eb_recorder_row(j->recorder, part_group(j, p).text,
                           j->part_columns + (size_t)p * EB_PART_COLUMNS));
  double rotation[EB_ROTATION_COLUMNS];
  return eb_auditor_rotation_columns(&j->auditor, rotation)
             ? eb_recorder_row(j->recorder, EB_ROTATION_GROUP, rotation)
             : EB_OK;
}

static eb_error open_parts(eb_job *j) {
  int count = eb_parts_count(j->auditor.parts);
  EB_TRY(EB_NEW(j->part_columns, count * EB_PART_COLUMNS));
  for (int p = 0; p < count; p++) EB_TRY(eb_recorder_open(j->recorder, part_group(j, p).text));
  return EB_OK;
}

/* The file is of rank 0. */
eb_error eb_job_create_file(eb_job *j) {
  const eb_scene *scene = j->ranks ? &j->gathered.scene : j->auditor.scene;
  if (eb_ranks_self(j->ranks) == 0) {
    EB_TRY(eb_recorder_create(j->output, j->environment, &j->run, scene, &j->recorder));
    EB_TRY(eb_recorder_scene_text(j->recorder, j->work->scene));
    eb_integrity_watch(&j->integrity, j->output);
    EB_TRY(eb_recorder_setup(j->recorder, j->stepper.solver->setup_log));
  }
  EB_TRY(open_parts(j));
  return embed(j);
}
