/* Bringing runs of several files together. The target is written beside itself and renamed: it is
 * always either the old or the new whole. */
#ifndef EB_RESULTS_MERGE_H
#define EB_RESULTS_MERGE_H

#include "harness/results/read.h"
#include "harness/results/shards.h"
#include "problems/base/strings.h"

/* Whether their times are of one machine. EB_ERR_INVALID says what differs. */
EB_MUST eb_error eb_results_same_machine(const eb_results *a, const eb_results *b);
/* Whether figures of both may stand in one table: same machine, compiler, flags and libraries, and
 * the same program (the same bytes, or the same commit without local changes). EB_ERR_INVALID says
 * what differs. */
EB_MUST eb_error eb_results_comparable(const eb_results *a, const eb_results *b);

typedef enum eb_merge_mode {
  EB_MERGE_ADD,    /* to what the target has, if it exists */
  EB_MERGE_REPLACE /* what the target has */
} eb_merge_mode;

/* Brings the runs and scenes of `parts` into `target`; a run that it has already is left out, and
 * /environment is that of the target, or of the first part. `plans`, which may be NULL, is what the
 * target says of its plans from then on. Files are not compared here. Who calls it holds the lock
 * of the target (harness/lock.h). On failure the target is as it was; EB_ERR_FORMAT when it is
 * damaged. */
EB_MUST eb_error eb_results_collect(const char *target, const eb_strings *parts, eb_merge_mode mode,
                                    const eb_shardings *plans);

/* Joins files that are to be compared with each other, in two halves, so that the first can be done
 * in a process that may end (harness/case/sandbox.h). It writes the runs, scenes and sweeps of all
 * `parts` into a file that is there and empty (eb_file_beside). Of two that are the same work with
 * the same outcome the first is kept; EB_ERR_INVALID names what differs. Parts must be comparable
 * with the first one, but shards of one plan may come from several machines: /environment is the
 * first part's, others are in /environments/<hash>, which runs from there have as their attribute
 * `environment`. Plans are brought together: one of which all shards are there is one shard of one.
 */
EB_MUST eb_error eb_results_join(const char *fresh, const eb_strings *parts);
/* Seals a file that is complete (harness/results/seal.h) and gives it the name of the target, once
 * its bytes are on the disk; without `replace` only where there is none of that name:
 * EB_ERR_USAGE. */
EB_MUST eb_error eb_results_put(const char *fresh, const char *target, bool replace);

/* The target of a run or merge can be written: it does not exist or is a regular file, and its
 * folder takes new files. */
EB_MUST eb_error eb_target_check(const char *target);

#endif
