/* A case at work in its own process: what execute.c sets up and step.c steps. */
#ifndef EB_CASE_JOB_H
#define EB_CASE_JOB_H

#include "harness/case/case.h"
#include "harness/case/child.h"
#include "harness/case/cost.h"
#include "harness/case/guard.h"
#include "harness/case/host.h"
#include "harness/case/witness.h"
#include "harness/results/checkpoints.h"
#include "harness/results/write.h"

/* Everything a case holds while it runs. Made in this order, released in the opposite one. */
typedef struct eb_job {
  const eb_case *work;
  eb_run run;
  eb_scene *scene;
  eb_recorder *recorder;
  eb_solver *solver;
  eb_witness witness;
  eb_state *before, *after;
  eb_step_log *log;
  bool changed;       /* the step that comes begins on another mesh than the one before */
  int32_t components; /* connected components of the mesh */
  eb_host host;
  eb_cost cost;
  double half_resident; /* bytes: resident memory after half of the steps */
  eb_guard guard;
  eb_progress_page *page; /* progress, for the parent */
  eb_results *donor;      /* the file of the run that the case starts from, or NULL */
  eb_checkpoints states;  /* that the donor has kept */
  /* Of samples: */
  int64_t from_step;     /* the donor's, after which the state of this one was */
  bool leading;          /* the step at work is a lead-in */
  double lead, lead_cpu; /* s: wall time of its lead-in; processor time of those that are judged */
  int64_t failed;        /* samples that failed so far; the outcome says how the first did */
  bool renew;            /* the next one wants a new solver */
  double committed, commit_seconds; /* wall clock of the last commit, and what it took */
  const char *output;
  hid_t environment;
} eb_job;

/* Sets the outcome of the case. */
EB_MUST eb_error eb_job_conclude(eb_job *j, eb_outcome outcome, const char *detail);
/* Turns an error of scene or solver into the outcome of the case. */
EB_MUST eb_error eb_job_conclude_error(eb_job *j, const char *where, eb_error failure);

EB_MUST eb_error eb_job_count_components(eb_job *j);
/* Keeps the contact problem of the step that was taken in the result file when it is the one that
 * was asked for and has contacts. */
EB_MUST eb_error eb_job_keep_contacts(eb_job *j);
/* Makes anew what is kept of the mesh: `before` and the components. */
EB_MUST eb_error eb_job_follow_mesh(eb_job *j);
/* Takes a step from j->after that is neither audited nor recorded; its time is j->lead. *on as
 * below. */
EB_MUST eb_error eb_job_lead(eb_job *j, bool *on);
/* The frame of the state that a sample starts from, when one is wanted. */
EB_MUST eb_error eb_job_sample_frame(eb_job *j);
/* Takes one step and records it. *on: whether the case goes on; if not, its outcome is set. */
EB_MUST eb_error eb_job_step(eb_job *j, bool *on);

#endif
