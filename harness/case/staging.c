#include "harness/case/staging.h"
#include "problems/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening --------------------------------------------------------------------------------- */

/* What is written is what a link leads to, also when that is not there yet: the link stays. Links
 * that lead nowhere are left to whoever opens the path. */
static eb_error follow_links(const char *target, char **out) {
  enum { MOST_LINKS = 40 };
  char text[4096];
  EB_TRY(eb_string_format(out, "%s", target));
  for (int i = 0; i < MOST_LINKS; i++) {
    ssize_t length = readlink(*out, text, sizeof text - 1);
    if (length < 0) return EB_OK;
    text[length] = '\0';
    /* Beside the link unless it names the root. */
    const char *slash = *text == '/' ? NULL : strrchr(*out, '/');
    EB_TRY(eb_string_format(out, "%.*s%s", slash ? (int)(slash + 1 - *out) : 0, *out, text));
  }
  return EB_OK;
}

static bool ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length > size && strcmp(text + length - size, ending) == 0;
}

/* Finds finished results in the folder and removes everything else but the lock; with `drop`, the
 * results too. */
static eb_error scan(eb_staging *staging, bool drop) {
  struct dirent *entry;
  DIR *folder = opendir(staging->folder);
  if (!folder) return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", staging->folder, strerror(errno));
  eb_error error = EB_OK;
  char *path = NULL;
  while (!error && (entry = readdir(folder))) {
    const char *name = entry->d_name;
    bool ours = ends_in(name, ".h5") || ends_in(name, ".tmp") || ends_in(name, ".new");
    bool result = ends_in(name, ".h5") && strcmp(name, "environment.h5") != 0;
    if (!ours) continue;
    error = eb_string_format(&path, "%s/%s", staging->folder, name);
    if (!error && result && !drop)
      error = eb_strings_add(&staging->waiting, path);
    else if (!error)
      unlink(path);
  }
  free(path);
  closedir(folder);
  return error;
}

static eb_error take_lock(eb_staging *staging) {
  char *path = NULL;
  EB_TRY(eb_string_format(&path, "%s/lock", staging->folder));
  staging->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  eb_error error = EB_OK;
  if (staging->lock < 0)
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  else if (flock(staging->lock, LOCK_EX | LOCK_NB))
    error = EB_ERROR(EB_ERR_IO, "another run is writing '%s' at this moment", staging->target);
  if (error && staging->lock >= 0) {
    close(staging->lock);
    staging->lock = -1;
  }
  free(path);
  return error;
}

/* TARGET.PID.new of processes that were killed while they merged (harness/results/merge.c). Behind
 * the lock nobody else merges into this target; a process that lives may be merging. */
static void remove_half_written(const char *target) {
  const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
  size_t length = strlen(name);
  char *path = strndup(target, (size_t)(name - target));
  DIR *entries = path ? opendir(*path ? path : ".") : NULL;
  int folder = entries ? dirfd(entries) : -1;
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    int pid, end = 0;
    const char *rest = entry->d_name + length;
    if (strncmp(entry->d_name, name, length) != 0 || sscanf(rest, ".%d.new%n", &pid, &end) != 1 ||
        end == 0 || rest[end])
      continue;
    if (pid > 0 && kill(pid, 0) && errno == ESRCH) unlinkat(folder, entry->d_name, 0);
  }
  if (entries) closedir(entries);
  free(path);
}

/* ---- what a case has left of it -------------------------------------------------------------- */

static bool is_file(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Forgets the results that are there no more; returns how many. */
static int forget_lost(eb_strings *waiting) {
  int kept = 0, count = waiting->count;
  for (int i = 0; i < count; i++) {
    if (is_file(waiting->items[i]))
      waiting->items[kept++] = waiting->items[i];
    else
      free(waiting->items[i]);
  }
  waiting->count = kept;
  return count - kept;
}

eb_error eb_staging_mend(eb_staging *staging, bool *harmed, int *lost) {
  char *path = NULL;
  struct stat held, there;
  *lost = forget_lost(&staging->waiting);
  EB_TRY(eb_string_format(&path, "%s/lock", staging->folder));
  bool locked = fstat(staging->lock, &held) == 0 && lstat(path, &there) == 0 &&
                held.st_dev == there.st_dev && held.st_ino == there.st_ino;
  if (!locked) remove(path);
  free(path);
  *harmed = *lost > 0 || !locked || !is_file(staging->environment);
  if (*harmed) remove(staging->environment); /* whatever is there now */
  if (locked) return EB_OK;
  close(staging->lock);
  EB_TRY(eb_folder_make(staging->folder));
  return take_lock(staging);
}

/* ---- opening it ------------------------------------------------------------------------------ */

static eb_error open_staging(eb_staging *staging, const char *target, eb_existing existing) {
  EB_TRY(follow_links(target, &staging->target));
  EB_TRY(eb_string_format(&staging->folder, "%s.parts", staging->target));
  EB_TRY(eb_string_format(&staging->environment, "%s/environment.h5", staging->folder));
  EB_TRY(eb_target_check(staging->target));
  bool there = access(staging->target, F_OK) == 0;
  if (existing == EB_EXISTING_REFUSE && there)
    return EB_ERROR(EB_ERR_USAGE,
                    "'%s' exists; --resume completes it, --overwrite replaces it, or give another "
                    "name with -o",
                    staging->target);
  EB_TRY(eb_folder_make(staging->folder));
  EB_TRY(take_lock(staging));
  staging->home = realpath(staging->folder, NULL);
  if (!staging->home)
    return EB_ERROR(EB_ERR_IO, "cannot find '%s': %s", staging->folder, strerror(errno));
  remove_half_written(staging->target);
  EB_TRY(scan(staging, existing == EB_EXISTING_OVERWRITE));
  staging->replace = existing == EB_EXISTING_OVERWRITE && access(staging->target, F_OK) == 0;
  if (existing != EB_EXISTING_REFUSE || staging->waiting.count == 0) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE,
                  "'%s' holds %d results of an interrupted run; --resume takes them in, "
                  "--overwrite drops them",
                  staging->folder, staging->waiting.count);
}

eb_error eb_staging_open(const char *target, eb_existing existing, eb_staging *out) {
  *out = (eb_staging){.lock = -1};
  eb_error error = open_staging(out, target, existing);
  if (error) eb_staging_close(out);
  return error;
}

/* ---- resuming -------------------------------------------------------------------------------- */

static eb_error check_comparable(const char *path, const eb_results *now) {
  eb_results *old;
  EB_TRY(eb_results_open(path, &old));
  eb_error error = eb_results_comparable(old, now);
  eb_results_close(old);
  bool other = error && eb_error_kind(error) == EB_ERR_INVALID;
  return eb_error_prefix(error, "%s",
                         other ? "cannot resume what another build or machine has begun, since "
                                 "times would be mixed: go on with that one, write elsewhere with "
                                 "-o, or replace the file with --overwrite; what is there can "
                                 "still be read ('report FILE', 'reproduce PAPER --judge')"
                               : "cannot resume; --overwrite replaces the file");
}

eb_error eb_staging_resume(eb_staging *staging, bool or_overwrite) {
  eb_results *now;
  eb_strings *waiting = &staging->waiting;
  EB_TRY(eb_results_open(staging->environment, &now));
  eb_error error = EB_OK;
  if (access(staging->target, F_OK) == 0) error = check_comparable(staging->target, now);
  for (int i = 0; i < waiting->count && !error; i++)
    error = check_comparable(waiting->items[i], now);
  eb_results_close(now);
  if (!error) return eb_staging_merge(staging);
  if (!or_overwrite || eb_error_kind(error) != EB_ERR_INVALID) return error;
  eb_error_free(error);
  for (int i = 0; i < waiting->count; i++) unlink(waiting->items[i]);
  eb_strings_clear(waiting);
  staging->replace = access(staging->target, F_OK) == 0;
  return EB_OK;
}

/* ---- merging --------------------------------------------------------------------------------- */

static double file_bytes(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

eb_error eb_staging_add(eb_staging *staging, const char *path) {
  EB_TRY(eb_strings_add(&staging->waiting, path));
  staging->waiting_bytes += file_bytes(path);
  bool due = staging->replace || 8 * staging->waiting_bytes >= file_bytes(staging->target);
  return due ? eb_staging_merge(staging) : EB_OK;
}

/* Brings into the target what waits, and the environment where it has none. */
static eb_error merge_waiting(eb_staging *staging) {
  eb_strings *waiting = &staging->waiting, parts = {0};
  eb_merge_mode mode = staging->replace ? EB_MERGE_REPLACE : EB_MERGE_ADD;
  eb_error error = EB_OK;
  for (int i = 0; i < waiting->count && !error; i++)
    error = eb_strings_add(&parts, waiting->items[i]);
  if (!error && waiting->count == 0) error = eb_strings_add(&parts, staging->environment);
  if (!error) error = eb_results_collect(staging->target, &parts, mode, staging->plans);
  eb_strings_clear(&parts);
  if (error)
    return eb_error_prefix(error, "%d finished results wait in '%s' for --resume", waiting->count,
                           staging->folder);
  staging->replace = false;
  for (int i = 0; i < waiting->count; i++) unlink(waiting->items[i]);
  eb_strings_clear(waiting);
  staging->waiting_bytes = 0;
  return EB_OK;
}

eb_error eb_staging_merge(eb_staging *staging) {
  return staging->waiting.count > 0 ? merge_waiting(staging) : EB_OK;
}

eb_error eb_staging_conclude(eb_staging *staging) {
  return merge_waiting(staging);
}

void eb_staging_close(eb_staging *staging) {
  if (staging->lock >= 0) {
    int folder = open(staging->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unlinkat(folder, "lock", 0);
    if (folder >= 0) close(folder);
    unlink(staging->environment);
    rmdir(staging->folder); /* stays when results wait in it */
    close(staging->lock);
  }
  eb_strings_clear(&staging->waiting);
  free(staging->target);
  free(staging->folder);
  free(staging->home);
  free(staging->environment);
  *staging = (eb_staging){.lock = -1};
}
