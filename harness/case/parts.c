#include "harness/case/parts.h"

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

#include "problems/base/text.h"

static eb_error join(const char *folder, const char *id, const char *ending, char **out) {
  eb_text text = {0};
  *out = NULL;
  eb_error error = eb_text_printf(&text, "%s/%s%s", folder, id, ending);
  if (error)
    eb_text_clear(&text);
  else
    *out = text.data;
  return error;
}

eb_error eb_parts_path(const eb_parts *parts, const char *id, const char *ending, char **out) {
  return join(parts->folder, id, ending, out);
}

eb_error eb_parts_absolute_path(const eb_parts *parts, const char *id, const char *ending,
                                char **out) {
  return join(parts->home, id, ending, out);
}

static double file_bytes(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

static bool ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length > size && strcmp(text + length - size, ending) == 0;
}

/* Finished parts in the folder; with `clean`, everything else but the lock is removed, and with
 * `drop` all of it. */
static eb_error scan(eb_parts *parts, bool drop, eb_strings *out) {
  struct dirent *entry;
  DIR *folder = opendir(parts->folder);
  if (!folder) return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", parts->folder, strerror(errno));
  eb_error error = EB_OK;
  while (!error && (entry = readdir(folder))) {
    const char *name = entry->d_name;
    bool ours = ends_in(name, ".h5") || ends_in(name, ".tmp") || ends_in(name, ".new");
    bool part = ends_in(name, ".h5") && strcmp(name, "environment.h5") != 0;
    char *path;
    if (!ours) continue;
    error = eb_parts_path(parts, name, "", &path);
    if (error) break;
    if (part && !drop)
      error = eb_strings_add(out, path);
    else
      unlink(path);
    free(path);
  }
  closedir(folder);
  return error;
}

static eb_error copy_path(const char *path, char **out) {
  *out = strdup(path);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep the path '%s'", path);
}

/* Where a link leads, by one link: beside the link unless it names the root. */
static eb_error read_link(const char *path, char **out) {
  char text[4096];
  const char *slash = strrchr(path, '/');
  ssize_t length = readlink(path, text, sizeof text - 1);
  if (length < 0) return copy_path(path, out);
  text[length] = '\0';
  if (*text == '/' || !slash) return copy_path(text, out);
  eb_text joined = {0};
  eb_error error = eb_text_printf(&joined, "%.*s%s", (int)(slash + 1 - path), path, text);
  *out = joined.data;
  return error;
}

/* What is written is what a link leads to, also when that is not there yet: the link stays. Links
 * that lead nowhere are left to whoever opens the path. */
static eb_error follow_links(const char *target, char **out) {
  enum { MOST_LINKS = 40 };
  struct stat info;
  EB_TRY(copy_path(target, out));
  for (int i = 0; i < MOST_LINKS && lstat(*out, &info) == 0 && S_ISLNK(info.st_mode); i++) {
    char *next;
    EB_TRY(read_link(*out, &next));
    free(*out);
    *out = next;
  }
  return EB_OK;
}

static eb_error make_paths(eb_parts *parts, const char *target) {
  eb_text folder = {0};
  EB_TRY(follow_links(target, &parts->target));
  EB_TRY(eb_text_printf(&folder, "%s.parts", parts->target));
  parts->folder = folder.data;
  return eb_parts_path(parts, "environment", ".h5", &parts->environment);
}

static eb_error take_lock(eb_parts *parts) {
  char *path;
  EB_TRY(eb_parts_path(parts, "lock", "", &path));
  parts->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  eb_error error = EB_OK;
  if (parts->lock < 0)
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  else if (flock(parts->lock, LOCK_EX | LOCK_NB))
    error = EB_ERROR(EB_ERR_IO, "another run is writing '%s' at this moment", parts->target);
  if (error && parts->lock >= 0) {
    close(parts->lock);
    parts->lock = -1;
  }
  free(path);
  return error;
}

static eb_error refuse_existing(const eb_parts *parts) {
  if (access(parts->target, F_OK) == 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "'%s' exists; --resume completes it, --overwrite replaces it, or give another "
                    "name with -o",
                    parts->target);
  return EB_OK;
}

static eb_error refuse_leftovers(const eb_parts *parts) {
  if (parts->waiting.count == 0) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE,
                  "'%s' holds %d results of an interrupted run; --resume takes them in, "
                  "--overwrite drops them",
                  parts->folder, parts->waiting.count);
}

/* TARGET.PID.new of processes that were killed while they merged (harness/results/merge.c). Behind
 * the lock nobody else merges into this target; a process that lives may be merging. */
static void remove_half_written(const char *target) {
  const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
  size_t length = strlen(name);
  int folder = -1;
  char *path = strndup(target, (size_t)(name - target));
  DIR *entries = path ? opendir(*path ? path : ".") : NULL;
  if (entries) folder = dirfd(entries);
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

static eb_error open_parts(eb_parts *parts, const char *target, eb_existing existing) {
  EB_TRY(make_paths(parts, target));
  EB_TRY(eb_target_check(parts->target));
  if (existing == EB_EXISTING_REFUSE) EB_TRY(refuse_existing(parts));
  if (mkdir(parts->folder, 0777) && errno != EEXIST)
    return EB_ERROR(EB_ERR_IO, "cannot make the folder '%s': %s", parts->folder, strerror(errno));
  EB_TRY(take_lock(parts));
  parts->home = realpath(parts->folder, NULL);
  if (!parts->home)
    return EB_ERROR(EB_ERR_IO, "cannot find '%s': %s", parts->folder, strerror(errno));
  remove_half_written(parts->target);
  EB_TRY(scan(parts, existing == EB_EXISTING_OVERWRITE, &parts->waiting));
  parts->replace = existing == EB_EXISTING_OVERWRITE && access(parts->target, F_OK) == 0;
  return existing == EB_EXISTING_REFUSE ? refuse_leftovers(parts) : EB_OK;
}

eb_error eb_parts_open(const char *target, eb_existing existing, eb_parts *out) {
  *out = (eb_parts){.lock = -1};
  eb_error error = open_parts(out, target, existing);
  if (error) eb_parts_close(out);
  return error;
}

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

static eb_error check_all(const eb_parts *parts, const eb_results *now) {
  if (access(parts->target, F_OK) == 0) EB_TRY(check_comparable(parts->target, now));
  for (int i = 0; i < parts->waiting.count; i++)
    EB_TRY(check_comparable(parts->waiting.items[i], now));
  return EB_OK;
}

eb_error eb_parts_resume(eb_parts *parts, bool or_overwrite) {
  eb_results *now;
  EB_TRY(eb_results_open(parts->environment, &now));
  eb_error error = check_all(parts, now);
  eb_results_close(now);
  if (!error) return eb_parts_merge(parts);
  if (!or_overwrite || eb_error_kind(error) != EB_ERR_INVALID) return error;
  eb_error_free(error);
  for (int i = 0; i < parts->waiting.count; i++) unlink(parts->waiting.items[i]);
  eb_strings_clear(&parts->waiting);
  parts->replace = access(parts->target, F_OK) == 0;
  return EB_OK;
}

eb_error eb_parts_add(eb_parts *parts, const char *path) {
  EB_TRY(eb_strings_add(&parts->waiting, path));
  parts->waiting_bytes += file_bytes(path);
  bool due = parts->replace || 8 * parts->waiting_bytes >= file_bytes(parts->target);
  return due ? eb_parts_merge(parts) : EB_OK;
}

eb_error eb_parts_merge(eb_parts *parts) {
  if (parts->waiting.count == 0) return EB_OK;
  eb_merge_mode mode = parts->replace ? EB_MERGE_REPLACE : EB_MERGE_ADD;
  eb_error error = eb_results_merge(parts->target, &parts->waiting, mode, EB_DUPLICATES_KEEP_FIRST);
  if (error)
    return eb_error_prefix(error, "%d finished results wait in '%s' for --resume",
                           parts->waiting.count, parts->folder);
  parts->replace = false;
  for (int i = 0; i < parts->waiting.count; i++) unlink(parts->waiting.items[i]);
  eb_strings_clear(&parts->waiting);
  parts->waiting_bytes = 0;
  return EB_OK;
}

void eb_parts_close(eb_parts *parts) {
  if (parts->lock >= 0) {
    char *lock;
    eb_error error = eb_parts_path(parts, "lock", "", &lock);
    if (!error) unlink(lock);
    if (!error) free(lock);
    eb_error_free(error);
    unlink(parts->environment);
    rmdir(parts->folder); /* stays when parts wait in it */
    close(parts->lock);
  }
  eb_strings_clear(&parts->waiting);
  free(parts->target);
  free(parts->folder);
  free(parts->home);
  free(parts->environment);
  *parts = (eb_parts){.lock = -1};
}
