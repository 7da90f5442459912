/* The bisection of a sweep (harness/suite/sweep.h), step by step: which trial comes next, and what
 * the last one says. */
#ifndef EB_CASE_SEARCH_H
#define EB_CASE_SEARCH_H

#include "harness/results/sweeps.h"
#include "harness/suite/sweep.h"

typedef struct eb_search {
  const eb_sweep *sweep;
  eb_sweep_record record; /* what is found so far */
  /* Places on the grid: the greatest that is unstable, -1 when none is known; the least that is
   * stable, or count. */
  int64_t low, high;
} eb_search;

/* The caller clears *out, also after an error. */
EB_MUST eb_error eb_search_begin(const eb_sweep *sweep, eb_search *out);
void eb_search_clear(eb_search *search);
/* The place of the next trial, or -1 when the search is over. */
int64_t eb_search_next(const eb_search *search);
/* What the run of the trial at that place amounts to. */
EB_MUST eb_error eb_search_note(eb_search *search, int64_t place, const eb_results *results,
                                int run);

#endif
