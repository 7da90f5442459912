/* Where a case starts that takes a state of another run, the donor: it is read from the donor's
 * checkpoints.
 *
 * A case that goes on from one state has the donor's simulated time, at which scripts and colliders
 * are, and counts its steps from 1. Scripted cuts that were made by then are made on the way, off
 * the clock.
 *
 * Samples are steps of their own, each from a state of the donor's. A solver may start from what it
 * keeps of its last step, which is another sample's: so that all have the same to start from, every
 * solver is first given, off the clock and unrecorded, the state one step before, where the donor
 * has one and no cut has come between, and takes that step. What the solver makes of it is thrown
 * away. That time is the column `lead`; all of it together is held to rule hidden-work, but for the
 * first lead-in of a new solver, which counts as its set-up. After a sample that fails the solver
 * is created anew. */
#ifndef EB_CASE_ORIGIN_H
#define EB_CASE_ORIGIN_H

#include "harness/case/job.h"

/* Opens the donor and makes sure that it has what the case wants, on the same mesh; *failure, of
 * kind EB_ERR_UNSUPPORTED, says what is missing. Needs the scene; does nothing for a case without
 * origin. */
EB_MUST eb_error eb_origin_open(eb_job *j, eb_error *failure);
void eb_origin_close(eb_job *j);

/* Puts j->after to the state that the case goes on from, and the scenes to its cuts. Here and below
 * *on is false when the case ends here, its outcome set. */
EB_MUST eb_error eb_origin_start(eb_job *j, bool *on);
/* Puts j->after to the start of the next sample, the solver being led to it. */
EB_MUST eb_error eb_origin_sample(eb_job *j, bool *on);
/* The lead-ins of the run: more than what steps and set-ups of that solver cost breaks rule
 * hidden-work. */
void eb_origin_judge(eb_job *j);

#endif
