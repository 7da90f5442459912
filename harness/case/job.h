/* A case at work in its own process: what execute.c sets up and steps. */
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

/* Everything a case holds while it runs. Made in this order, released in the opposite one. */
typedef struct eb_job {
  const eb_case *work;
  eb_ranks *ranks; /* that share the case, each with a job of its own; NULL: there is one process */
  eb_gathered whole; /* what rank 0 records of them */
  eb_run run;
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
  /* Of samples: */
  int64_t from_step;     /* the source run's, after which the state of this one was */
  bool leading;          /* the step at work is a lead-in */
  double lead, lead_cpu; /* s: wall time of its lead-in; processor time of those that are judged */
  int64_t failed;        /* samples that failed so far; the outcome says how the first did */
  bool renew;            /* the next one wants a new solver */
  double committed, commit_seconds; /* wall clock of the last commit, and what it took */
  const char *output;
  hid_t environment;
} eb_job;

/* At the end of a run: rules hidden-work, memory and, of threads, process
 * (harness/audit/figures.md). What breaks them is in the auditor's verdict. Of all ranks. */
void eb_job_judge_cost(eb_job *j);

/* A step that no recording knows, after a completed run and off the clock: the solver is given the
 * state of the end with other velocities. What the step leaves is in no figure but the verdict's
 * rule "replay". */
EB_MUST eb_error eb_job_test_replay(eb_job *j);

#endif
