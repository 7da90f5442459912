/* What a solver must leave as it found it: the shape of the state that it is lent, and the
 * process that it runs in (rule "process", harness/audit/rules.h). A look at both takes some
 * microseconds. */
#ifndef EB_CASE_INTEGRITY_H
#define EB_CASE_INTEGRITY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "problems/scene_impl.h"

enum { EB_INTEGRITY_FILES = 24 };

typedef struct eb_integrity {
  /* Counts and arrays as they were when the solver got the state; the caller puts them here. */
  eb_state state;
  struct {
    int descriptor; /* and what is behind it */
    dev_t device;
    ino_t number;
  } files[EB_INTEGRITY_FILES];
  int file_count;
  dev_t folder_device;
  ino_t folder_number;
  bool terminate_held; /* SIGTERM is blocked in the calling thread */
  struct sigaction terminate;
  bool children; /* the process had some */
} eb_integrity;

/* Notes the process as it is: descriptors 0 to 3, folder, SIGTERM, children. Before the solver is
 * created. */
void eb_integrity_open(eb_integrity *before);
/* Watches the open descriptors of one more file too: the result's, once it is being written. */
void eb_integrity_watch(eb_integrity *before, const char *path);

typedef enum eb_state_change {
  EB_STATE_SAME,
  EB_STATE_COUNTS, /* are others */
  EB_STATE_ARRAYS  /* are others: nobody knows whether the memory of the old ones is still ours */
} eb_state_change;
/* Whether counts and arrays are those of before->state. If not, says in words which are not, and
 * puts them back. After EB_STATE_ARRAYS the state may not be read, nor released: it can only be
 * dropped. */
eb_state_change eb_integrity_state(const eb_integrity *before, eb_state *state, char *words,
                                   size_t bytes);

/* Whether the process is as it was. If not, says in words what is not. Whoever asks again hears it
 * again. */
bool eb_integrity_process(const eb_integrity *before, char *words, size_t bytes);

#endif
