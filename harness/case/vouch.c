#include "harness/case/vouch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "problems/base/text.h"

/* A sound file of 100 MB takes a second and 100 MB. */
static eb_limits limits_for(const eb_strings *command, int files) {
  const double seconds = 60, bytes_per_second = 1e7, memory = 1024.0 * 1024 * 1024;
  struct stat info;
  double bytes = 0;
  for (int i = command->count - files; i < command->count; i++)
    if (stat(command->items[i], &info) == 0) bytes += (double)info.st_size;
  return (eb_limits){.timeout = seconds + bytes / bytes_per_second, .memory = memory + 4 * bytes};
}

static const char *name_of_signal(int number) {
  switch (number) {
  case SIGSEGV:
    return "a segmentation fault";
  case SIGBUS:
    return "a bus error";
  case SIGABRT:
    return "an abort";
  case SIGFPE:
    return "an arithmetic fault";
  default:
    return "a signal";
  }
}

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
  const char *words;
  switch (end->cause) {
  case EB_CHILD_EXITED:
    if (end->exited_zero) return EB_OK;
    words = last_words(end->output);
    return words
               ? EB_ERROR(EB_ERR_FORMAT, "%s", words)
               : EB_ERROR(EB_ERR_FORMAT, "%s: %s ends with status %d", subject, what, end->status);
  case EB_CHILD_SIGNALED:
    return EB_ERROR(EB_ERR_FORMAT, "%s: %s ends in %s (signal %d)", subject, what,
                    name_of_signal(end->status), end->status);
  case EB_CHILD_TIMED_OUT:
    return EB_ERROR(EB_ERR_FORMAT, "%s: %s takes more than %.0f s", subject, what, limits.timeout);
  case EB_CHILD_OVER_MEMORY:
    return EB_ERROR(EB_ERR_FORMAT, "%s: %s takes more than %.0f MB of memory", subject, what,
                    limits.memory / 1048576);
  default:
    return EB_ERROR(EB_ERR_IO, "%s was interrupted", what);
  }
}

static eb_error run_child(const eb_strings *command, int files, eb_signals *signals,
                          eb_limits *limits, eb_child_end *end) {
  static char own[] = "/proc/self/exe";
  const eb_strings no_settings = {0};
  eb_strings argv = {0};
  *limits = limits_for(command, files);
  eb_error error = eb_strings_add(&argv, own);
  for (int i = 0; i < command->count && !error; i++)
    error = eb_strings_add(&argv, command->items[i]);
  if (!error) error = eb_child_run(&argv, &no_settings, *limits, signals, NULL, NULL, end);
  eb_strings_clear(&argv);
  return error;
}

eb_error eb_vouch_run(const eb_strings *command, int files, const char *what, const char *subject,
                      eb_signals *signals) {
  eb_signals own = {.fd = -1};
  eb_limits limits;
  eb_child_end end;
  if (!signals) EB_TRY(eb_signals_open(&own));
  eb_error error = run_child(command, files, signals ? signals : &own, &limits, &end);
  if (!signals) eb_signals_close(&own);
  return error ? error : judge(&end, what, subject, limits);
}

static eb_error vouch_file(const char *kind, const char *path, eb_signals *signals) {
  const char *const words[] = {"verify", kind, "--", path};
  eb_text subject = {0};
  eb_strings command = {0};
  eb_error error = eb_text_printf(&subject, "'%s' is damaged", path);
  for (size_t i = 0; i < sizeof words / sizeof *words && !error; i++)
    error = eb_strings_add(&command, words[i]);
  if (!error) error = eb_vouch_run(&command, 1, "reading it", subject.data, signals);
  eb_strings_clear(&command);
  eb_text_clear(&subject);
  return error;
}

eb_error eb_vouch_results(const char *path, eb_signals *signals) {
  return vouch_file("results", path, signals);
}

eb_error eb_vouch_fclib(const char *path) {
  return vouch_file("fclib", path, NULL);
}
