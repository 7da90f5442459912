/* Results of single cases on their way into one file.
 *
 * Beside the target r.h5 stands the staging folder r.h5.parts: one result file a finished case
 * (ID.h5), the one being written (ID.tmp), and environment.h5. Results are merged into the target
 * when they have grown to an eighth of it, and at the end: so the work of merging stays
 * proportional to what is stored, and what a killed run has finished is in the target or in the
 * folder. */
#ifndef EB_CASE_STAGING_H
#define EB_CASE_STAGING_H

#include "harness/lock.h"
#include "harness/results/merge.h"

typedef enum eb_existing {
  EB_EXISTING_REFUSE,    /* the target must not exist */
  EB_EXISTING_RESUME,    /* complete it; it must be comparable with this program and machine */
  EB_EXISTING_OVERWRITE, /* replace it */
  EB_EXISTING_RESUME_OR_OVERWRITE /* complete it when it is comparable, replace it when not */
} eb_existing;

typedef struct eb_staging {
  char *target;               /* as given, or what the link leads to that was given */
  char *folder, *environment; /* paths: "<folder>/environment.h5" */
  char *home;                 /* absolute path of the folder, for processes that may go elsewhere */
  eb_lock lock;               /* of the target */
  bool replace;               /* the old target goes when the first results come */
  eb_strings waiting;
  double waiting_bytes;
  const eb_shardings *plans; /* what the target is to say of its plans; NULL: what it says */
} eb_staging;

/* Checks and locks the target (EB_ERR_IO when another process writes it), removes what dead ones
 * have left of it half written, makes the folder. Leftovers of a killed run are dropped with
 * OVERWRITE, an error with REFUSE, and kept for eb_staging_resume. */
EB_MUST eb_error eb_staging_open(const char *target, eb_existing existing, eb_staging *out);
/* Merges leftovers in and checks that the target is comparable with staging->environment, which
 * must be written by now. When it is not, EB_ERR_INVALID says why, or with `or_overwrite`
 * everything old is dropped. */
EB_MUST eb_error eb_staging_resume(eb_staging *staging, bool or_overwrite);
/* After a case, which may have removed what it has no business with: *harmed says so, *lost how
 * many finished results are gone with it. Makes folder and lock anew; the environment is the
 * caller's. */
EB_MUST eb_error eb_staging_repair(eb_staging *staging, bool *harmed, int *lost);
/* A finished result: merges when it is time to. */
EB_MUST eb_error eb_staging_add(eb_staging *staging, const char *path);
EB_MUST eb_error eb_staging_merge(eb_staging *staging);
/* Merges also when nothing waits: the target is then new, or says something else of its plans. */
EB_MUST eb_error eb_staging_conclude(eb_staging *staging);
/* Removes the folder when nothing waits in it. */
void eb_staging_close(eb_staging *staging);

#endif
