/* A revision is built from `git archive`, which leaves the repository and its working copy alone,
 * in a folder of its own that is named after what it is made from. */
#include "harness/compare/build.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/lock.h"
#include "harness/status_line.h"
#include "harness/print.h"
#include "problems/base/hash.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/scenes/mesh_cache.h"

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *ending) {
  size_t length = strlen(name), tail = strlen(ending);
  return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool begins_as_hdf5(const char *path) {
  static const char magic[8] = "\x89HDF\r\n\x1a\n";
  char bytes[sizeof magic] = "";
  FILE *file;
  eb_error missing = eb_file_stream(path, &file);
  eb_error_free(missing);
  if (missing) return false;
  size_t got = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return got == sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

eb_error eb_build_classify(const char *name, eb_build_kind *out) {
  struct stat info;
  bool file = stat(name, &info) == 0 && S_ISREG(info.st_mode);
  *out = EB_BUILD_RESULTS;
  if (ends_in(name, ".h5") || (file && begins_as_hdf5(name))) return EB_OK;
  *out = file ? EB_BUILD_PROGRAM : EB_BUILD_REVISION;
  if (!file || access(name, X_OK) == 0) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "'%s' is neither a result file nor a program that can be run",
                  name);
}

/* ---- what is seen of a build ----------------------------------------------------------------- */

/* On a terminal what make is at, elsewhere a line now and then: it takes minutes. */
typedef struct build_progress {
  const char *name; /* of the revision */
  eb_status_line status;
  double next; /* s of the build at which a plain line is due */
} build_progress;

static const double plain_interval = 30; /* s between plain lines */

/* An eb_progress (case/child.h); context is the build. */
static void show_build(void *context, const eb_child_end *end, double seconds) {
  build_progress *told = context;
  size_t length = strlen(end->output), behind = length;
  while (behind > 0 && end->output[behind - 1] == '\n') behind--;
  size_t first = behind;
  while (first > 0 && end->output[first - 1] != '\n') first--;
  if (told->status.terminal)
    eb_status_line_show(&told->status, "building %s, %.0f s%.*s", told->name, seconds,
                        (int)(behind - first), end->output + first);
  else if (seconds >= told->next) {
    eb_print(stderr, "building %s: %.0f s%.*s\n", told->name, seconds, (int)(behind - first),
             end->output + first);
    told->next = seconds + plain_interval;
  }
}

/* ---- commands -------------------------------------------------------------------------------- */

static bool has_succeeded(const eb_child_end *end) {
  return end->cause == EB_CHILD_EXITED && end->status == 0;
}

/* Runs a command that is found by the PATH; `told`, if there is one, is told how far it is. */
static eb_error run(const eb_strings *command, double timeout, eb_signals *signals,
                    build_progress *told, eb_child_end *end) {
  eb_strings words = {0}, settings = {0};
  eb_error error = eb_strings_add(&words, "/usr/bin/env");
  for (int k = 0; k < command->count && !error; k++)
    error = eb_strings_add(&words, command->items[k]);
  /* A `make` that has started this program says nothing to the one that it starts. */
  if (!error) error = eb_strings_add(&settings, "MAKEFLAGS=");
  if (!error)
    error = eb_child_run(&words, &settings, (eb_limits){.timeout = timeout}, signals,
                         told ? show_build : NULL, told, end);
  eb_strings_clear(&words);
  eb_strings_clear(&settings);
  if (!error && end->cause == EB_CHILD_INTERRUPTED) return EB_ERROR(EB_ERR_IO, "interrupted");
  return error;
}

/* The same, given word by word to a NULL. */
static eb_error run_words(double timeout, eb_signals *signals, eb_child_end *end, ...) {
  EB_OWNED(eb_strings_clear) eb_strings command = {0};
  eb_error error = EB_OK;
  va_list words;
  va_start(words, end);
  for (const char *word; !error && (word = va_arg(words, const char *));)
    error = eb_strings_add(&command, word);
  va_end(words);
  EB_TRY(error);
  return run(&command, timeout, signals, NULL, end);
}

/* ---- a revision ------------------------------------------------------------------------------ */

static const double git_patience = 60, build_patience = 7200; /* s */

/* The last line that a command has printed, in place. */
static char *last_line(char *output) {
  size_t length = strlen(output);
  while (length > 0 && output[length - 1] == '\n') output[--length] = '\0';
  char *line = strrchr(output, '\n');
  return line ? line + 1 : output;
}

/* Revisions that a clone has left out look as if they did not exist. */
static eb_error no_revision(const char *name, eb_signals *signals) {
  eb_child_end end;
  EB_TRY(
      run_words(git_patience, signals, &end, "git", "rev-parse", "--is-shallow-repository", NULL));
  bool shallow = has_succeeded(&end) && strcmp(last_line(end.output), "true") == 0;
  return EB_ERROR(EB_ERR_USAGE, "there is neither a file nor a git revision '%s' (%s)", name,
                  shallow ? "this clone is shallow, and has the last commits alone: `git fetch "
                            "--unshallow` brings the others, and other branches want a `git fetch "
                            "origin BRANCH`"
                          : "git branch -a, git tag and git log name what there is");
}

/* HEAD is compared as it was committed, whatever else lies in the working tree. */
static eb_error tell_changes(const char *name, const char *commit, eb_signals *signals) {
  eb_child_end end;
  EB_TRY(run_words(git_patience, signals, &end, "git", "rev-parse", "--verify", "HEAD", NULL));
  if (!has_succeeded(&end) || strcmp(last_line(end.output), commit) != 0) return EB_OK;
  EB_TRY(run_words(git_patience, signals, &end, "git", "status", "--porcelain",
                   "--untracked-files=no", NULL));
  if (has_succeeded(&end) && *last_line(end.output))
    eb_print(stderr,
             "elastobench: the working tree has changes that are not committed: they are "
             "no part of '%s', and are not compared\n",
             name);
  return EB_OK;
}

static eb_error find_commit(const char *name, eb_signals *signals, char **commit, char **top) {
  eb_child_end end;
  char *wanted = NULL;
  EB_TRY(run_words(git_patience, signals, &end, "git", "rev-parse", "--show-toplevel", NULL));
  if (!has_succeeded(&end))
    return EB_ERROR(EB_ERR_USAGE,
                    "there is no file '%s', and it is no revision either: the current folder is "
                    "in no git repository (%s)",
                    name, last_line(end.output));
  EB_TRY(eb_string_format(top, "%s", last_line(end.output)));
  EB_TRY(eb_string_format(&wanted, "%s^{commit}", name));
  eb_error error =
      run_words(git_patience, signals, &end, "git", "rev-parse", "--verify", wanted, NULL);
  free(wanted);
  EB_TRY(error);
  const char *line = last_line(end.output);
  if (*name == '-' || !has_succeeded(&end) || strspn(line, "0123456789abcdef") != strlen(line))
    return no_revision(name, signals);
  EB_TRY(eb_string_format(commit, "%s", line));
  return tell_changes(name, *commit, signals);
}

/* The folder of a commit built so, whose parent is made. */
static eb_error name_folder(const char *commit, const eb_strings *make, char **out) {
  char path[EB_CACHE_PATH_BYTES];
  uint64_t hash = EB_HASH_SEED;
  for (int k = 0; k < make->count; k++)
    hash = eb_hash(hash, make->items[k], strlen(make->items[k]) + 1);
  *path = '\0';
  errno = 0;
  if (!eb_mesh_cache_directory(NULL, path))
    return *path ? EB_ERROR(EB_ERR_IO, "cannot make the folder '%s' to build in: %s", path,
                            strerror(errno))
                 : EB_ERROR(EB_ERR_IO,
                            "there is no folder to build in: XDG_CACHE_HOME or HOME names one");
  EB_TRY(eb_string_format(out, "%s/builds", path));
  EB_TRY(eb_folder_make(*out));
  return eb_string_format(out, "%s/builds/%.12s-%08" PRIx32, path, commit,
                          (uint32_t)(hash ^ hash >> 32));
}

/* What make has started goes on when make is killed. A watcher in its group (case/child.c) looks
 * for this process, and ends the group when that has been killed; it goes itself with make. */
static const char watched_make[] =
    "(while kill -0 \"$0\"; do sleep 1; done; kill -9 0) 2>/dev/null & exec make \"$@\"";

static eb_error failed(const char *name, const char *what, const char *folder,
                       const eb_child_end *end) {
  return EB_ERROR(
      EB_ERR_INVALID, "cannot build '%s': %s %s in %s; the end of what it printed:\n%s", name, what,
      end->cause == EB_CHILD_TIMED_OUT ? "has taken too long" : "has failed", folder, end->output);
}

static eb_error unpack(const char *name, const char *commit, const char *top, const char *folder,
                       eb_signals *signals) {
  eb_child_end end;
  char *archive = NULL, *output = NULL;
  eb_error error = eb_string_format(&archive, "%s/source.tar", folder);
  if (!error) error = eb_string_format(&output, "--output=%s", archive);
  if (!error)
    error =
        run_words(git_patience, signals, &end, "git", "-C", top, "archive", output, commit, NULL);
  if (!error && !has_succeeded(&end)) error = failed(name, "git archive", folder, &end);
  if (!error)
    error = run_words(git_patience, signals, &end, "tar", "-C", folder, "-xf", archive, NULL);
  if (!error && !has_succeeded(&end)) error = failed(name, "tar", folder, &end);
  if (archive) unlink(archive);
  free(archive);
  free(output);
  return error;
}

/* BUILD, COMMIT and DIRTY are the Makefile's: an archive does not know its commit. */
static eb_error make_program(const char *name, const char *commit, const char *folder,
                             const eb_strings *make, eb_signals *signals) {
  eb_child_end end = {0};
  build_progress told = {
      .name = name, .status = eb_status_line_of_terminal(), .next = plain_interval};
  char *known = NULL, self[24];
  eb_strings command = {0};
  snprintf(self, sizeof self, "%ld", (long)getpid());
  eb_error error = eb_string_format(&known, "COMMIT=%.12s", commit);
  const char *const words[] = {
      "sh",  "-c",          watched_make, self,     "-C", folder, "--no-print-directory",
      "-j2", "BUILD=build", known,        "DIRTY=0"};
  for (size_t k = 0; k < sizeof words / sizeof *words && !error; k++)
    error = eb_strings_add(&command, words[k]);
  for (int k = 0; k < make->count && !error; k++) error = eb_strings_add(&command, make->items[k]);
  if (!error) error = eb_strings_add(&command, "build/elastobench");
  if (!error) error = run(&command, build_patience, signals, &told, &end);
  eb_status_line_wipe(&told.status);
  if (!error && !has_succeeded(&end)) error = failed(name, "make", folder, &end);
  if (!error) eb_print(stderr, "built %s in %.0f s\n", name, end.seconds);
  eb_strings_clear(&command);
  free(known);
  return error;
}

/* What a build that was ended has left: an object that was being written looks finished to make. */
static eb_error clear_away(const char *folder, eb_signals *signals) {
  eb_child_end end;
  EB_TRY(run_words(git_patience, signals, &end, "rm", "-rf", "--", folder, NULL));
  return has_succeeded(&end) ? EB_OK
                             : EB_ERROR(EB_ERR_IO, "cannot clear the folder '%s' away: %s", folder,
                                        last_line(end.output));
}

/* With the lock of the folder held. A program that is there is complete: make writes it last, and
 * it is renamed only then. */
static eb_error build_in(const char *name, const char *commit, const char *top, const char *folder,
                         const eb_strings *make, eb_signals *signals, char **program) {
  char *made = NULL;
  EB_TRY(eb_string_format(program, "%s/elastobench", folder));
  if (access(*program, X_OK) == 0) return EB_OK;
  eb_print(stderr, "building %s (%.12s) in %s\n", name, commit, folder);
  EB_TRY(clear_away(folder, signals));
  EB_TRY(eb_folder_make(folder));
  EB_TRY(unpack(name, commit, top, folder, signals));
  EB_TRY(make_program(name, commit, folder, make, signals));
  EB_TRY(eb_string_format(&made, "%s/build/elastobench", folder));
  eb_error error =
      rename(made, *program)
          ? EB_ERROR(EB_ERR_IO, "cannot build '%s': its Makefile has made no %s", name, made)
          : EB_OK;
  free(made);
  return error;
}

static eb_error build_locked(const char *name, const char *commit, const char *top,
                             const eb_strings *make, eb_signals *signals, char **program) {
  char *folder = NULL, *target = NULL;
  eb_lock lock = {0};
  eb_error error = name_folder(commit, make, &folder);
  /* Beside the folder, which may be cleared away. */
  if (!error) error = eb_string_format(&target, "%s.build", folder);
  if (!error) error = eb_lock_take(target, true, &lock);
  if (!error) error = build_in(name, commit, top, folder, make, signals, program);
  eb_lock_release(&lock);
  free(target);
  free(folder);
  return error;
}

static eb_error build_revision(const char *name, const eb_strings *make, eb_signals *signals,
                               char **program) {
  char *commit = NULL, *top = NULL;
  eb_error error = find_commit(name, signals, &commit, &top);
  if (!error) error = build_locked(name, commit, top, make, signals, program);
  free(commit);
  free(top);
  return error;
}

/* ---- a build --------------------------------------------------------------------------------- */

/* What the program says of itself; nothing is no error: whether it is a worker will show. */
static eb_error ask_version(eb_build *build, eb_signals *signals) {
  static const char name[] = "elastobench ";
  static const double patience = 30; /* s */
  eb_child_end end;
  EB_TRY(run_words(patience, signals, &end, build->program, "--version", NULL));
  bool told = has_succeeded(&end) && strncmp(end.output, name, strlen(name)) == 0;
  size_t line = told ? strcspn(end.output, "\n") : 0;
  EB_TRY(eb_string_format(&build->version, "%.*s", (int)line, end.output));
  return eb_string_format(&build->flags, "%s",
                          told && end.output[line] ? end.output + line + 1 : "");
}

eb_error eb_build_open(const char *name, eb_build_kind kind, const eb_strings *make,
                       eb_signals *signals, eb_build *out) {
  *out = (eb_build){0};
  EB_TRY(eb_string_format(&out->given, "%s", name));
  if (kind == EB_BUILD_REVISION) EB_TRY(build_revision(name, make, signals, &out->program));
  if (kind == EB_BUILD_PROGRAM) {
    out->program = realpath(name, NULL);
    if (!out->program) return EB_ERROR(EB_ERR_IO, "cannot find '%s': %s", name, strerror(errno));
  }
  return ask_version(out, signals);
}

void eb_build_clear(eb_build *build) {
  free(build->given);
  free(build->program);
  free(build->version);
  free(build->flags);
  *build = (eb_build){0};
}
