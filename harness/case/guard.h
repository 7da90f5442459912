/* What a solver must leave as it found it: the shape of the state that it is lent, and the
 * process that it runs in (rule "process", harness/audit/rules.h). A look at both takes some
 * microseconds. */
#ifndef EB_CASE_GUARD_H
#define EB_CASE_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "problems/scene_impl.h"

enum { EB_GUARD_FILES = 24 };

/* A descriptor and what is behind it. */
typedef struct eb_guard_file {
  int descriptor;
  dev_t device;
  ino_t number;
} eb_guard_file;

typedef struct eb_guard {
  eb_state state; /* its counts and arrays at the start of the step */
  eb_guard_file files[EB_GUARD_FILES];
  int file_count;
  dev_t folder_device;
  ino_t folder_number;
  bool terminate_held; /* SIGTERM is blocked in the calling thread */
  struct sigaction terminate;
  bool children; /* the process had some */
} eb_guard;

/* Notes the process as it is: descriptors 0 to 3, folder, SIGTERM, children. Before the solver is
 * created. */
void eb_guard_open(eb_guard *guard);
/* Watches the open descriptors of one more file too: the result's, once it is being written. */
void eb_guard_watch(eb_guard *guard, const char *path);

/* Notes counts and arrays of the state; just before the solver gets it. */
void eb_guard_take(eb_guard *guard, const eb_state *state);
typedef enum eb_guard_state_change {
  EB_GUARD_SAME,
  EB_GUARD_COUNTS, /* are others */
  EB_GUARD_ARRAYS  /* are others: nobody knows whether the memory of the old ones is still ours */
} eb_guard_state_change;
/* Whether counts and arrays are those that were taken. If not, says in words which are not, and
 * puts them back. After EB_GUARD_ARRAYS the state may not be read, nor released: it can only be
 * dropped. */
eb_guard_state_change eb_guard_state(const eb_guard *guard, eb_state *state, char *words,
                                     size_t bytes);

/* Whether the process is as it was. If not, says in words what is not. Whoever asks again hears it
 * again. */
bool eb_guard_process(const eb_guard *guard, char *words, size_t bytes);

#endif
