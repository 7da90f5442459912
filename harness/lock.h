/* One writer a target: who changes a file, or the files of a folder, holds its lock meanwhile. The
 * lock is an empty file - TARGET.lock beside a file, .lock in a folder - that goes with its
 * holder's end; one that a killed process has left is anybody's. */
#ifndef EB_LOCK_H
#define EB_LOCK_H

#include <stdbool.h>

#include "problems/base/error.h"

typedef struct eb_lock {
  char *path;
  int file; /* counts only with a path */
} eb_lock;

/* Takes the lock of a folder that is there, or of a file, there or not. When another process holds
 * it, waits for its end, or says so in EB_ERR_IO. Without success *out is {0}. */
EB_MUST eb_error eb_lock_take(const char *target, bool wait, eb_lock *out);
/* Takes a lock anew whose file somebody has removed or replaced, as *removed says. EB_ERR_IO, with
 * *lock {0}, when another process has it by now. */
EB_MUST eb_error eb_lock_renew(const char *target, eb_lock *lock, bool *removed);
/* Makes a folder unless it is there, and waits for its lock: pages and plots of one folder are of
 * one command. */
EB_MUST eb_error eb_lock_folder(const char *folder, eb_lock *out);
/* Nothing for {0}. */
void eb_lock_release(eb_lock *lock);

#endif
