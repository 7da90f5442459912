#include "harness/case/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results/read.h"
#include "harness/results/seal.h"

/* ---- this program with a command ------------------------------------------------------------- */

/* What the program said in its last line of its own, without its name in front. */
static const char *last_words(char *output) {
  static const char name[] = "elastobench: ";
  char *words = NULL;
  for (char *line = output; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, name, strlen(name)) == 0) words = line + strlen(name);
  }
  if (words) words[strcspn(words, "\n")] = '\0';
  return words;
}

static eb_error judge(eb_child_end *end, const char *what, const char *subject, eb_limits limits) {
  const char *words, *fault;
  switch (end->cause) {
  case EB_CHILD_EXITED:
    if (end->exited_zero) return EB_OK;
    words = last_words(end->output);
    return words
               ? EB_ERROR(EB_ERR_FORMAT, "%s", words)
               : EB_ERROR(EB_ERR_FORMAT, "%s: %s ends with status %d", subject, what, end->status);
  case EB_CHILD_SIGNALED:
    fault = end->status == SIGSEGV   ? "a segmentation fault"
            : end->status == SIGBUS  ? "a bus error"
            : end->status == SIGABRT ? "an abort"
            : end->status == SIGFPE  ? "an arithmetic fault"
                                     : "a signal";
    return EB_ERROR(EB_ERR_FORMAT, "%s: %s ends in %s (signal %d)", subject, what, fault,
                    end->status);
  case EB_CHILD_TIMED_OUT:
    return EB_ERROR(EB_ERR_FORMAT, "%s: %s takes more than %.0f s", subject, what, limits.timeout);
  case EB_CHILD_OVER_MEMORY:
    return EB_ERROR(EB_ERR_FORMAT, "%s: %s takes more than %.0f MB of memory", subject, what,
                    limits.memory / 1048576);
  default:
    return EB_ERROR(EB_ERR_IO, "%s was interrupted", what);
  }
}

eb_error eb_sandbox_run_for(const eb_strings *command, double bytes, const char *what,
                            const char *subject, eb_signals *signals) {
  /* A sound file of 100 MB takes a second and 100 MB. */
  static const double seconds = 60, bytes_per_second = 1e7, memory = 1024.0 * 1024 * 1024;
  const eb_strings no_settings = {0};
  eb_signals own = {.fd = -1};
  eb_strings argv = {0};
  eb_child_end end;
  eb_limits limits = {.timeout = seconds + bytes / bytes_per_second, .memory = memory + 4 * bytes};
  if (!signals) EB_TRY(eb_signals_open(&own));
  eb_error error = eb_strings_add(&argv, "/proc/self/exe");
  for (int i = 0; i < command->count && !error; i++)
    error = eb_strings_add(&argv, command->items[i]);
  if (!error)
    error = eb_child_run(&argv, &no_settings, limits, signals ? signals : &own, NULL, NULL, &end);
  eb_strings_clear(&argv);
  if (!signals) eb_signals_close(&own);
  return error ? error : judge(&end, what, subject, limits);
}

eb_error eb_sandbox_run(const eb_strings *command, int files, const char *what, const char *subject,
                        eb_signals *signals) {
  struct stat info;
  double bytes = 0;
  for (int i = command->count - files; i < command->count; i++)
    if (stat(command->items[i], &info) == 0) bytes += (double)info.st_size;
  return eb_sandbox_run_for(command, bytes, what, subject, signals);
}

eb_error eb_sandbox_verify(const char *kind, const char *path, eb_signals *signals) {
  eb_seal seal = strcmp(kind, "results") == 0 ? eb_seal_look(path) : EB_SEAL_NONE;
  if (seal == EB_SEAL_FITS) return EB_OK;
  if (seal == EB_SEAL_BROKEN) return eb_seal_check(path);
  return eb_sandbox_try(kind, path, signals);
}

eb_error eb_sandbox_try(const char *kind, const char *path, eb_signals *signals) {
  const char *const words[] = {"verify", kind, "--", path};
  char *subject = NULL;
  eb_strings command = {0};
  eb_error error = eb_string_format(&subject, "'%s' is damaged", path);
  for (size_t i = 0; i < sizeof words / sizeof *words && !error; i++)
    error = eb_strings_add(&command, words[i]);
  if (!error) error = eb_sandbox_run(&command, 1, "reading it", subject, signals);
  eb_strings_clear(&command);
  free(subject);
  return error;
}

/* ---- a process that only reads --------------------------------------------------------------- */

/* Of each dataset all of it, since chunks are checked as they are read; what is too large for the
 * memory is left out. */
static herr_t read_object(hid_t group, const char *name, const H5L_info_t *link, void *nothing) {
  (void)link;
  (void)nothing;
  hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0) return -1;
  bool good = true;
  if (H5Iget_type(object) == H5I_DATASET) {
    hid_t space = H5Dget_space(object), type = H5Dget_type(object);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    size_t size = H5Tget_size(type);
    good = space >= 0 && type >= 0 && count >= 0;
    void *room = good && count > 0 ? malloc((size_t)count * size) : NULL;
    if (room) good = H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, room) >= 0;
    free(room);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
  }
  H5Oclose(object);
  return good ? 0 : -1;
}

bool eb_sandbox_reads(const char *path) {
  enum { PATIENCE = 300 /* s */ };
  int status;
  if (access(path, R_OK)) return false;
  pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    struct rlimit no_core = {0, 0};
    eb_results *results;
    sigset_t none;
    sigemptyset(&none); /* the parent holds back the alarm too */
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(PATIENCE);
    bool good =
        !eb_results_open(path, &results) &&
        H5Lvisit(eb_results_file(results), H5_INDEX_NAME, H5_ITER_NATIVE, read_object, NULL) >= 0;
    _exit(good ? 0 : 1);
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
