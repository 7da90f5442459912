/* A case at work in its own process: what execute.c sets up, step.c steps, recording.c keeps. */
#ifndef EB_CASE_JOB_H
#define EB_CASE_JOB_H

#include "harness/case/auditor.h"
#include "harness/case/child.h"
#include "harness/case/cost.h"
#include "harness/case/source_run.h"
#include "harness/case/integrity.h"
#include "harness/case/gathered.h"
#include "harness/results/write.h"
#include "solvers/stepper.h"

/* Of a case whose steps each start from a state of another run (samples.c). */
typedef struct eb_samples {
  int64_t from_step;  /* the source run's, after which the state of this sample was */
  bool warming_up;    /* the step at work is a warm-up step */
  double warm_up;     /* s: wall time of its warm-up step, */
  double warm_up_cpu; /*   and processor time of those that are judged */
  int64_t failed;     /* samples that failed so far; the outcome says how the first did */
  bool renew;         /* the next one wants a new solver */
} eb_samples;

/* Everything a case holds while it runs. Made in this order, released in the opposite one. */
typedef struct eb_job {
  const eb_case *work;
  eb_ranks *ranks; /* that share the case, each with a job of its own; NULL: there is one process */
  eb_gathered gathered; /* what rank 0 records of them */
  eb_run run;
  eb_breaches breaches; /* of rules of the audit */
  eb_scene *scene;
  eb_recorder *recorder; /* NULL on ranks other than 0 */
  eb_auditor auditor;
  double *part_columns; /* parts x EB_PART_COLUMNS: workspace */
  eb_stepper stepper;
  eb_state *before;   /* of the step at work, or of the last one */
  bool examined;      /* the subspace, or there is none */
  bool based;         /* the subspace has been stored, or cannot be */
  int32_t components; /* connected components of the mesh */
  eb_cost cost;
  double half_resident; /* bytes: resident memory after half of the steps, of this process */
  int64_t half_threads; /* most threads at the end of a step of the first half */
  eb_integrity integrity;
  eb_progress_page *page;   /* progress, for the parent; of other ranks than 0 nobody reads it */
  uint64_t token;           /* that the page has had at first */
  eb_source_run source_run; /* the run that the case starts from, when it does */
  eb_samples samples;
  double committed, commit_seconds; /* wall clock of the last commit, and what it took */
  const char *output;
  hid_t environment;
} eb_job;

/* ---- outcomes, mesh, solver (job.c) ---- */

EB_MUST eb_error eb_job_conclude(eb_job *j, eb_outcome outcome, const char *detail);
/* Turns an error of scene or solver, which it takes, into the outcome of the case. */
EB_MUST eb_error eb_job_conclude_error(eb_job *j, const char *where, eb_error failure);
/* Makes anew what is kept of the mesh: `before` and the number of its components. */
EB_MUST eb_error eb_job_follow_mesh(eb_job *j);
/* The solver, and what the harness must know of it: how positions follow, and the process that
 * works for it. */
EB_MUST eb_error eb_job_create_solver(eb_job *j);

/* ---- the page of progress (progress_page.c) ---- */

/* Maps what the parent gave, or plain memory when this was started by hand. */
EB_MUST eb_error eb_job_open_page(eb_job *j);
/* Leaves words for the parent; the first ones stay. */
void eb_job_say(eb_progress_page *page, const char *words);
/* Says why there is no result. Other ranks wait for this one, and would for ever: they end with
 * it. */
void eb_job_tell_parent(eb_job *j, eb_error error);

/* ---- steps (step.c) ---- */

/* From the stepper's state, with the cuts that are due. When *on is false the step ended the case,
 * its outcome set. */
EB_MUST eb_error eb_job_take_step(eb_job *j, double row[EB_COL_COUNT], bool *on);
/* Takes one step and records it. *on: whether the case goes on; if not, its outcome is set. */
EB_MUST eb_error eb_job_step(eb_job *j, bool *on);

/* ---- states of another run (samples.c) ---- */

/* Puts the stepper's state to a state of the source run's, and the scenes to its cuts. *on is false
 * when the scripts of this scene have not cut the mesh as the source run's had, or the solver
 * cannot follow: then the outcome is set. */
EB_MUST eb_error eb_job_place(eb_job *j, int64_t row, bool *on);
/* Puts the stepper's state to the start of the next sample, the solver being led to it. *on as in
 * eb_job_step. */
EB_MUST eb_error eb_job_start_sample(eb_job *j, bool *on);

/* ---- what is kept (recording.c) ---- */

/* The file, with room for the rows of parts, and the figures of an embedding. */
EB_MUST eb_error eb_job_create_file(eb_job *j);
/* Whether a frame is due after so many steps, or at the sample that has so many before it. */
bool eb_job_is_frame(const eb_job *j, int64_t steps);
/* The state, what leads to it from the one before, which may be NULL, and what was logged of that
 * step when there was one. */
EB_MUST eb_error eb_job_record_frame(eb_job *j, const eb_state *before, const eb_step_log *log);
/* A state that other cases start from, whose step began at that time, s. */
EB_MUST eb_error eb_job_record_checkpoint(eb_job *j, double began);
/* The contact problem, frames and checkpoints that are due, and now and then a commit. */
EB_MUST eb_error eb_job_record_state(eb_job *j, bool last);
/* The row of the step, those of parts and that of rotations. */
EB_MUST eb_error eb_job_record_step(eb_job *j, const double row[EB_COL_COUNT]);
/* Figures of elements and subspaces, and the subspace itself, each once. */
EB_MUST eb_error eb_job_record_subspace(eb_job *j, bool finite);

/* ---- the end ---- */

/* At the end of a run: rules hidden-work, memory and, of threads, process
 * (harness/audit/figures.md). What breaks them is in the auditor's verdict. Of all ranks. */
void eb_job_judge_cost(eb_job *j);

/* A step that no recording knows, after a completed run and off the clock: the solver is given the
 * state of the end with other velocities. What the step leaves is in no figure but the verdict's
 * rule "replay". */
EB_MUST eb_error eb_job_test_replay(eb_job *j);

#endif
