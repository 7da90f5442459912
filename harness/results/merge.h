/* Bringing runs of several files together. The target is written beside itself and renamed: it is
 * always either the old or the new whole. */
#ifndef EB_RESULTS_MERGE_H
#define EB_RESULTS_MERGE_H

#include "harness/results/read.h"
#include "harness/strings.h"

/* Whether figures of both may stand in one table: same machine, compiler, flags and libraries, and
 * the same program (the same bytes, or the same commit without local changes). EB_ERR_INVALID says
 * what differs. */
EB_MUST eb_error eb_results_comparable(const eb_results *a, const eb_results *b);

typedef enum eb_duplicates {
  EB_DUPLICATES_KEEP_FIRST, /* a run that the target has already is left out */
  EB_DUPLICATES_REFUSE      /* EB_ERR_INVALID names it */
} eb_duplicates;

typedef enum eb_merge_mode {
  EB_MERGE_ADD,    /* to what the target has, if it exists */
  EB_MERGE_REPLACE /* what the target has */
} eb_merge_mode;

/* Brings the runs and scenes of `parts` into `target`; /environment is that of the target, or of
 * the first part. Files are not compared here. On failure the target is as it was. */
EB_MUST eb_error eb_results_merge(const char *target, const eb_strings *parts, eb_merge_mode mode,
                                  eb_duplicates duplicates);

/* The two halves of it for parts that may be damaged, so that the first can be done in a process
 * that may end (harness/case/sandbox.h): writes the runs and scenes of `parts`, none twice, into a
 * fresh file; and gives a file that is complete the name of the target, once its bytes are on the
 * disk. */
EB_MUST eb_error eb_results_join(const char *fresh, const eb_strings *parts);
EB_MUST eb_error eb_results_put(const char *fresh, const char *target);

/* The target of a run or merge can be written: it does not exist or is a regular file, and its
 * folder takes new files. */
EB_MUST eb_error eb_target_check(const char *target);

#endif
