/* What sweeps have found (harness/suite/sweep.h), as groups of a result file:
 *
 *   /sweeps/<name>/    attributes: identity, scene, parameters, solver, options (those that the
 *                      trials share), option, low, high, step (of the grid), found ("threshold";
 *                      "all": every value of the grid is stable; "none": not even the highest;
 *                      "gaps": of a scan, some above the least stable one are not;
 *                      "unknown": a trial ended in a way that tells nothing), detail (in words),
 *                      energy_limit (J; kinetic and elastic energy of a stable trial stay
 *                      below), least_stable and greatest_unstable (NaN where there is none),
 *                      audit ("passed", or "failed" when a stable trial has broken a rule), runs
 *                      (ids of the trials, in the order in which they were made, with blanks
 *                      between)
 *     value, stable, energy, steps    a row a trial; stable: 1, 0, and -1 where it cannot be
 *                                     told; energy: the most, J */
#ifndef EB_RESULTS_SWEEPS_H
#define EB_RESULTS_SWEEPS_H

#include "harness/results/read.h"
#include "problems/base/text.h"

typedef struct eb_sweep_trial {
  double value, energy; /* energy: J */
  int stable;           /* 1, 0; -1: unknown */
  int64_t steps;
} eb_sweep_trial;

enum {
  EB_SWEEP_TRIALS = 64 /* at most: a bisection of any grid takes fewer, a longer scan is refused */
};

/* Texts are owned by the struct and never NULL once filled by a reader. Start from {0}. */
typedef struct eb_sweep_record {
  char *name, *identity, *scene, *parameters, *solver, *options, *option;
  char *found, *detail, *audit, *runs;
  double low, high, step, energy_limit, least_stable, greatest_unstable;
  int count;
  eb_sweep_trial trials[EB_SWEEP_TRIALS];
} eb_sweep_record;

/* Writes a result file with this and nothing else; `environment` (a path) gives its
 * /environment. */
EB_MUST eb_error eb_sweep_write(const char *path, const char *environment,
                                const eb_sweep_record *record);
int eb_sweeps_count(const eb_results *results);
/* Those of a file by number, in the order of their names; the caller clears *out. */
EB_MUST eb_error eb_sweeps_read(const eb_results *results, int sweep, eb_sweep_record *out);
/* One of an open file by its name. */
EB_MUST eb_error eb_sweep_read(hid_t file, const char *name, eb_sweep_record *out);
/* Fills *out with that of the identity; *there is false when the file has none. */
EB_MUST eb_error eb_sweeps_find(const eb_results *results, const char *identity, bool *there,
                                eb_sweep_record *out);
void eb_sweep_record_clear(eb_sweep_record *record);

#endif
