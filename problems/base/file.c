#include "problems/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/strings.h"

/* ---- reading --------------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a FIFO"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

/* O_NONBLOCK: a FIFO opens at once, and reads of regular files are as without. */
eb_error eb_file_open(const char *path, int *out) {
  struct stat info;
  *out = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  bool known = *out >= 0 ? fstat(*out, &info) == 0 : errno == ENXIO && stat(path, &info) == 0;
  if (known && S_ISREG(info.st_mode)) return EB_OK;
  int reason = errno;
  if (*out >= 0) close(*out);
  *out = -1;
  return known ? EB_ERROR(EB_ERR_IO, "'%s' is %s, not a regular file", path, kind_of(info.st_mode))
               : EB_ERROR(EB_ERR_IO, "cannot open '%s': %s", path, strerror(reason));
}

eb_error eb_file_stream(const char *path, FILE **out) {
  int file;
  *out = NULL;
  EB_TRY(eb_file_open(path, &file));
  *out = fdopen(file, "rb");
  if (*out) return EB_OK;
  close(file);
  return EB_ERROR(EB_ERR_MEMORY, "cannot open '%s': out of memory", path);
}

/* ---- names ----------------------------------------------------------------------------------- */

static eb_error no_name(const char *path) {
  return EB_ERROR(EB_ERR_MEMORY, "cannot keep the name of '%s'", path);
}

eb_error eb_path_follow(const char *path, char **out) {
  enum { MOST_LINKS = 40 };
  char text[4096];
  *out = strdup(path);
  for (int i = 0; *out && i < MOST_LINKS; i++) {
    ssize_t length = readlink(*out, text, sizeof text - 1);
    if (length < 0) return EB_OK;
    text[length] = '\0';
    /* Beside the link unless it names the root. */
    const char *slash = *text == '/' ? NULL : strrchr(*out, '/');
    char *next;
    int made = asprintf(&next, "%.*s%s", slash ? (int)(slash + 1 - *out) : 0, *out, text);
    free(*out);
    *out = made < 0 ? NULL : next;
  }
  return *out ? EB_OK : no_name(path);
}

eb_error eb_file_beside(const char *path, char **name, int *out) {
  enum { MOST_TRIES = 100 };
  *out = -1;
  *name = NULL;
  for (int i = 0; i < MOST_TRIES && *out < 0; i++) {
    free(*name);
    int made = i == 0 ? asprintf(name, "%s.%ld.new", path, (long)getpid())
                      : asprintf(name, "%s.%ld-%d.new", path, (long)getpid(), i);
    if (made < 0) *name = NULL;
    if (made < 0) return no_name(path);
    *out = open(*name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*out < 0 && errno != EEXIST) break;
  }
  if (*out >= 0) return EB_OK;
  eb_error error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  free(*name);
  *name = NULL;
  return error;
}

bool eb_file_is_beside(const char *name, const char *entry, int *pid) {
  size_t length = strlen(name);
  int number, end = 0, ends = 0;
  if (strncmp(entry, name, length) != 0 || sscanf(entry + length, ".%d%n", pid, &end) != 1)
    return false;
  const char *rest = entry + length + end;
  if (sscanf(rest, "-%d%n", &number, &ends) == 1) rest += ends;
  return *pid > 0 && strcmp(rest, ".new") == 0;
}

/* Not every file system can do it in one call, and not every one has hard links. */
static int rename_to_free_name(const char *from, const char *to) {
  struct stat info;
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (link(from, to) == 0) return unlink(from);
  if (errno == EEXIST) return -1;
  errno = EEXIST;
  return lstat(to, &info) == 0 ? -1 : rename(from, to);
}

eb_error eb_file_rename(const char *from, const char *to, bool replace) {
  if ((replace ? rename : rename_to_free_name)(from, to) == 0) return EB_OK;
  if (!replace && errno == EEXIST)
    return EB_ERROR(EB_ERR_USAGE, "'%s' exists by now, and is left as it is", to);
  return EB_ERROR(EB_ERR_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Beside the path, with the permissions of what it replaces. */
static eb_error open_beside(eb_output *out) {
  struct stat info;
  int file;
  bool there = stat(out->path, &info) == 0;
  if (there && access(out->path, W_OK))
    return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", out->path, strerror(errno));
  EB_TRY(eb_file_beside(out->path, &out->fresh, &file));
  bool good = !there || fchmod(file, info.st_mode & 07777) == 0;
  out->file = good ? fdopen(file, "wb") : NULL;
  if (out->file) return EB_OK;
  eb_error error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", out->path, strerror(errno));
  close(file);
  unlink(out->fresh);
  return error;
}

/* Of regular files alone, and not by the names of open ones (/dev/stdout): who has opened one goes
 * on to write it. */
static bool can_be_replaced(const char *path) {
  struct stat info;
  return (stat(path, &info) != 0 || S_ISREG(info.st_mode)) && strncmp(path, "/dev/", 5) != 0 &&
         strncmp(path, "/proc/", 6) != 0;
}

eb_error eb_output_open(const char *path, eb_output *out) {
  *out = (eb_output){0};
  EB_TRY(eb_path_follow(path, &out->path));
  eb_error error = EB_OK;
  if (can_be_replaced(path))
    error = open_beside(out);
  else if (!(out->file = fopen(path, "wbe")))
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  if (!error) {
    errno = 0;
    return EB_OK;
  }
  free(out->path);
  free(out->fresh);
  *out = (eb_output){0};
  return error;
}

eb_error eb_output_close(eb_output *output, eb_error error) {
  bool failed = ferror(output->file) != 0;
  int reason = errno; /* 0 when it was opened */
  if (fclose(output->file) != 0 && !failed) {
    failed = true;
    reason = errno;
  }
  if (!error && failed)
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", output->path, strerror(reason));
  if (!error && output->fresh) error = eb_file_rename(output->fresh, output->path, true);
  if (error && output->fresh) unlink(output->fresh);
  free(output->path);
  free(output->fresh);
  *output = (eb_output){0};
  return error;
}

eb_error eb_file_write(const char *path, const void *bytes, size_t count) {
  eb_output output;
  EB_TRY(eb_output_open(path, &output));
  fwrite(bytes, 1, count, output.file);
  return eb_output_close(&output, EB_OK);
}

eb_error eb_folder_make(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "cannot create the folder '%s': %s", path, strerror(errno));
}

eb_error eb_folder_temporary(char **path) {
  const char *parent = getenv("TMPDIR");
  EB_TRY(eb_string_format(path, "%s/elastobench-XXXXXX", parent && *parent ? parent : "/tmp"));
  if (mkdtemp(*path)) return EB_OK;
  return EB_ERROR(EB_ERR_IO, "cannot make the folder '%s': %s", *path, strerror(errno));
}
