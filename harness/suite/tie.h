/* Tying cases to those that they start from: which section has which case, and what a case asks of
 * its donor. Internal to planning. */
#ifndef EB_SUITE_TIE_H
#define EB_SUITE_TIE_H

#include "harness/suite/plan.h"

/* What has become of a section of a suite. */
typedef struct eb_place {
  bool done;
  int group; /* of its cases when it names one; -1 otherwise */
  int donor; /* the section that its cases start from; -1: none of the suite's */
  int cases; /* of repetition 0 */
  int only;  /* place in the plan of the last of them */
} eb_place;

typedef struct eb_suite_places {
  const eb_suite *suite;
  eb_place *items; /* one a section */
} eb_suite_places;

EB_MUST eb_error eb_places_create(const eb_suite *suite, eb_suite_places *out);
void eb_places_clear(eb_suite_places *places);
/* Finds the sections that others name: EB_ERR_USAGE when there is none of a name. */
EB_MUST eb_error eb_places_check(eb_suite_places *places);
/* The next section to expand, whose donor is; -1 when there is none. */
int eb_places_next(const eb_suite_places *places);
/* EB_ERR_USAGE names the sections that wait for each other. Never EB_OK. */
eb_error eb_places_circle(const eb_suite_places *places);
/* A case of repetition 0 of the section. */
void eb_place_note(eb_place *place, int at);

/* Gives a resolved case its origin and what it is to keep, and makes its donor in the plan keep
 * what it wants; resolves it again. `places` is NULL outside of suites. EB_ERR_USAGE for a donor
 * that cannot be one. */
EB_MUST eb_error eb_tie(eb_plan *plan, const eb_ties *ties, const eb_suite_places *places,
                        const eb_plugin *plugin, eb_case *work);

#endif
