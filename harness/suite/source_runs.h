/* Tying cases to those that they start from, their source runs, and what a case asks of its source
 * run. Internal to planning. */
#ifndef EB_SUITE_SOURCE_RUNS_H
#define EB_SUITE_SOURCE_RUNS_H

#include "harness/suite/plan.h"

/* The cases of repetition 0 that a section of a suite has come to. */
typedef struct eb_section_cases {
  int count;
  int last; /* place in the plan of the last of them */
} eb_section_cases;

/* Gives a resolved case its origin and what it is to keep, and makes its source run in the plan
 * keep what it wants; resolves it again. `source runs` are those of the section that ties->source
 * run names; NULL outside of suites. EB_ERR_USAGE for a source run that cannot be one. */
EB_MUST eb_error eb_dependencies_apply(eb_plan *plan, const eb_dependencies *dependencies,
                                       const eb_section_cases *source_runs, const eb_plugin *plugin,
                                       eb_case *work);

#endif
