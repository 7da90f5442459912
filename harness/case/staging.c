#include "harness/case/staging.h"
#include "problems/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening --------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length > size && strcmp(text + length - size, ending) == 0;
}

/* Finds finished results in the folder and removes everything else; with `drop`, the results too.
 */
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

/* What processes have left beside the target that were killed while they merged. Behind the lock
 * nobody else merges into it; a process that lives may be at other work. */
static void remove_half_written(const char *target) {
  const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
  char *path = strndup(target, (size_t)(name - target));
  DIR *entries = path ? opendir(*path ? path : ".") : NULL;
  int folder = entries ? dirfd(entries) : -1;
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    int pid;
    if (eb_file_is_beside(name, entry->d_name, &pid) && kill(pid, 0) && errno == ESRCH)
      unlinkat(folder, entry->d_name, 0);
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

eb_error eb_staging_repair(eb_staging *staging, bool *harmed, int *lost) {
  bool unlocked;
  *lost = forget_lost(&staging->waiting);
  EB_TRY(eb_lock_renew(staging->target, &staging->lock, &unlocked));
  *harmed = *lost > 0 || unlocked || !is_file(staging->environment);
  if (!*harmed) return EB_OK;
  remove(staging->environment); /* whatever is there now */
  return eb_folder_make(staging->folder);
}

/* ---- opening it ------------------------------------------------------------------------------ */

static eb_error open_staging(eb_staging *staging, const char *target, eb_existing existing) {
  EB_TRY(eb_path_follow(target, &staging->target));
  EB_TRY(eb_string_format(&staging->folder, "%s.parts", staging->target));
  EB_TRY(eb_string_format(&staging->environment, "%s/environment.h5", staging->folder));
  EB_TRY(eb_target_check(staging->target));
  EB_TRY(eb_lock_take(staging->target, false, &staging->lock));
  bool there = access(staging->target, F_OK) == 0;
  if (existing == EB_EXISTING_REFUSE && there)
    return EB_ERROR(EB_ERR_USAGE,
                    "'%s' exists; --resume completes it, --overwrite replaces it, or give another "
                    "name with -o",
                    staging->target);
  EB_TRY(eb_folder_make(staging->folder));
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
  *out = (eb_staging){0};
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
  if (staging->lock.path) {
    unlink(staging->environment);
    rmdir(staging->folder); /* stays when results wait in it */
  }
  eb_lock_release(&staging->lock);
  eb_strings_clear(&staging->waiting);
  free(staging->target);
  free(staging->folder);
  free(staging->home);
  free(staging->environment);
  *staging = (eb_staging){0};
}
