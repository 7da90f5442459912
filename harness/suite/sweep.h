/* Sweeps: the least value of an option, on a grid, at which a case is stable: by bisection, which
 * takes stability to be monotone in the option, or by a scan of the whole grid, which finds gaps.
 *
 * Every trial is a case of its own, with a run in the file. It is stable when it is completed, all
 * its states are finite, no rule on energy is broken, and its kinetic and elastic energy together
 * never exceed twice the most that the trial with the highest value reaches, which has to be stable
 * itself. It is unstable when it diverges or leaves a state that is not finite, or is completed and
 * one of these fails. Another outcome - out of time or memory, crashed, skipped - tells neither,
 * and ends the search. */
#ifndef EB_SUITE_SWEEP_H
#define EB_SUITE_SWEEP_H

#include "harness/case/case.h"
#include "harness/results/sweeps.h"
#include "harness/suite/axis.h"

typedef struct eb_sweep {
  char *name; /* of its group in the result file */
  /* what is tried, without the option; its id and identity are those at the default */
  eb_case trial;
  const eb_plugin *plugin; /* of its solver, or NULL */
  eb_axis axis;            /* a range */
  bool scan;               /* every value is tried */
  int source_run; /* 1 + the place in the plan of the case that the trials start from; 0: none */
} eb_sweep;

/* The i-th trial; the caller clears *out. EB_ERR_USAGE when the option does not take the value. */
EB_MUST eb_error eb_sweep_case(const eb_sweep *sweep, int64_t i, eb_case *out);
/* What makes it this sweep and no other; the caller frees *out. */
EB_MUST eb_error eb_sweep_identity(const eb_sweep *sweep, char **out);
void eb_sweep_clear(eb_sweep *sweep);

/* The search, step by step: which trial comes next, and what the last one says. */
typedef struct eb_search {
  const eb_sweep *sweep;
  eb_sweep_record record; /* what is found so far */
  /* Of a bisection, places on the grid: the greatest that is unstable, -1 when none is known; the
   * least that is stable, or count. */
  int64_t low, high;
} eb_search;

/* The caller clears out->record, also after an error. */
EB_MUST eb_error eb_search_begin(const eb_sweep *sweep, eb_search *out);
/* The place of the next trial, or -1 when the search is over. */
int64_t eb_search_next(const eb_search *search);
/* What the run of the trial at that place amounts to. */
EB_MUST eb_error eb_search_note(eb_search *search, int64_t place, const eb_results *results,
                                int run);

#endif
