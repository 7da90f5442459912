/* Tying cases to those that they start from, their donors, and what a case asks of its donor.
 * Internal to planning. */
#ifndef EB_SUITE_DONORS_H
#define EB_SUITE_DONORS_H

#include "harness/suite/plan.h"

/* The cases of repetition 0 that a section of a suite has come to. */
typedef struct eb_section_cases {
  int count;
  int last; /* place in the plan of the last of them */
} eb_section_cases;

/* Gives a resolved case its origin and what it is to keep, and makes its donor in the plan keep
 * what it wants; resolves it again. `donors` are those of the section that ties->donor names; NULL
 * outside of suites. EB_ERR_USAGE for a donor that cannot be one. */
EB_MUST eb_error eb_case_tie(eb_plan *plan, const eb_ties *ties, const eb_section_cases *donors,
                             const eb_plugin *plugin, eb_case *work);

#endif
