/* A step that no recording knows: after the last one, off the clock, the solver is given the state
 * of the end with other velocities. */
#ifndef EB_CASE_CHALLENGE_H
#define EB_CASE_CHALLENGE_H

#include "harness/case/job.h"

/* After a completed run; what the step leaves is in no figure but the verdict's rule "replay". */
EB_MUST eb_error eb_job_challenge(eb_job *j);

#endif
