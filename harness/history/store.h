/* The store: a folder of records, in the order of their commits. */
#ifndef EB_HISTORY_STORE_H
#define EB_HISTORY_STORE_H

#include "harness/history/history_record.h"
#include "problems/base/strings.h"

#define EB_HISTORY_FOLDER "results/history"

typedef struct eb_history {
  eb_history_record *records;
  int count;
  bool by_git;        /* ordered by the history of the repository that the folder is in */
  eb_strings refused; /* why other files of the folder that end in .json are left out */
} eb_history;

/* Reads all records. Where the folder is in a repository of git they are in the order of its
 * commits, as `git rev-list --topo-order` has them; commits that it does not have, and all
 * elsewhere, are placed by date. EB_ERR_IO when the folder cannot be read. The caller clears *out
 * also after an error. */
EB_MUST eb_error eb_history_load(const char *folder, eb_history *out);
void eb_history_clear(eb_history *history);

#endif
