/* Tables of cases and of how they ended. */
#ifndef EB_CLI_SUMMARY_H
#define EB_CLI_SUMMARY_H

#include <stdio.h>

#include "harness/results/read.h"
#include "harness/suite/plan.h"

/* The cases of a plan, before they run. */
EB_MUST eb_error eb_summary_plan(const eb_plan *plan, bool json, FILE *out);
/* The plan's runs as found in the target. *code becomes EB_EXIT_SOLVER_FAILED when one neither
 * completed nor was skipped, EB_EXIT_AUDIT_FAILED when the audit contradicts one, EB_EXIT_NOTHING
 * when all were skipped. */
EB_MUST eb_error eb_summary_print(const eb_plan *plan, const char *target, bool json, FILE *out,
                                  int *code);

#endif
