#include "harness/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/print.h"
#include "problems/base/strings.h"

/* Of the file that has the name now; its last holder may have removed the one that we waited for.
 */
static bool is_current(const eb_lock *lock) {
  struct stat held, named;
  return fstat(lock->file, &held) == 0 && lstat(lock->path, &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* A file that is no lock is nobody's to be removed later. */
static eb_error open_lock(eb_lock *lock) {
  struct stat info;
  lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (lock->file < 0)
    return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", lock->path, strerror(errno));
  if (fstat(lock->file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0) return EB_OK;
  close(lock->file);
  return EB_ERROR(EB_ERR_IO, "'%s' is in the way: a lock of that name is needed, and this is none",
                  lock->path);
}

static eb_error take(const char *target, bool wait, eb_lock *lock) {
  for (;;) {
    EB_TRY(open_lock(lock));
    int status = flock(lock->file, LOCK_EX | LOCK_NB);
    if (status && errno == EWOULDBLOCK && wait) {
      eb_print(stderr, "elastobench: waiting for another process, which is writing '%s'\n", target);
      while ((status = flock(lock->file, LOCK_EX)) && errno == EINTR) continue;
    }
    if (status && (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK)) {
      eb_print(stderr, "elastobench: this file system has no locks: '%s' is written without\n",
               target);
      return EB_OK;
    }
    if (status == 0 && is_current(lock)) return EB_OK;
    int reason = status ? errno : 0;
    close(lock->file);
    if (reason == EWOULDBLOCK)
      return EB_ERROR(EB_ERR_IO, "another process is writing '%s' at this moment", target);
    if (reason) return EB_ERROR(EB_ERR_IO, "cannot lock '%s': %s", lock->path, strerror(reason));
  }
}

static eb_error drop_without(eb_error error, eb_lock *lock) {
  if (!error) return EB_OK;
  free(lock->path);
  *lock = (eb_lock){0};
  return error;
}

eb_error eb_lock_take(const char *target, bool wait, eb_lock *out) {
  struct stat info;
  bool folder = stat(target, &info) == 0 && S_ISDIR(info.st_mode);
  *out = (eb_lock){0};
  EB_TRY(eb_string_format(&out->path, "%s%s", target, folder ? "/.lock" : ".lock"));
  return drop_without(take(target, wait, out), out);
}

eb_error eb_lock_renew(const char *target, eb_lock *lock, bool *removed) {
  *removed = !is_current(lock);
  if (!*removed) return EB_OK;
  close(lock->file);
  return drop_without(take(target, false, lock), lock);
}

eb_error eb_lock_folder(const char *folder, eb_lock *out) {
  *out = (eb_lock){0};
  EB_TRY(eb_folder_make(folder));
  return eb_lock_take(folder, true, out);
}

void eb_lock_release(eb_lock *lock) {
  if (!lock->path) return;
  unlink(lock->path);
  close(lock->file);
  free(lock->path);
  *lock = (eb_lock){0};
}
