/* Running a plan: each case in a process of its own, its result into one file, whatever happens to
 * the process. */
#ifndef EB_CASE_SESSION_H
#define EB_CASE_SESSION_H

#include "harness/case/staging.h"
#include "harness/suite/plan.h"

typedef struct eb_session {
  const eb_plan *plan;
  const char *target, *command_line;
  eb_existing existing;
} eb_session;

typedef struct eb_session_end {
  int wanted;       /* cases of the plan; trials of sweeps are not among them */
  int kept;         /* in the target before */
  int run;          /* finished now, whatever their outcome */
  int tried;        /* trials of sweeps that were run now */
  int found;        /* sweeps whose result the target has, before or now */
  bool interrupted; /* by a signal: what is finished is kept */
} eb_session_end;

/* Runs what the target lacks. An error is one of the harness (the target cannot be written, a
 * process cannot be started); how solvers fare is in the target. */
EB_MUST eb_error eb_session_run(const eb_session *session, eb_session_end *end);

#endif
