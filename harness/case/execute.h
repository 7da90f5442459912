/* Running one case in this process: scene, solver, steps, audit, file. */
#ifndef EB_CASE_EXECUTE_H
#define EB_CASE_EXECUTE_H

#include "harness/case/case.h"

/* Runs the case and writes its result to `output`, complete when this returns EB_OK: also when the
 * solver failed, diverged or does not support the scene, which the file then says. `environment` is
 * a result file whose /environment is copied, or NULL. The error is one of the harness: the file
 * cannot be written. SIGTERM ends the case between two steps (timed out). */
EB_MUST eb_error eb_case_execute(const eb_case *work, const char *environment, const char *output);

#endif
