#include "harness/case/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/record.h"
#include "problems/base/strings.h"

/* ---- the command ----------------------------------------------------------------------------- */

/* The program's path, by PATH as a shell finds it. The caller frees *out; NULL: there is none. */
static eb_error find_program(const char *name, char **out) {
  const char *folders = getenv("PATH");
  *out = NULL;
  if (strchr(name, '/')) return access(name, X_OK) == 0 ? eb_string_set(out, name) : EB_OK;
  for (const char *at = folders ? folders : "/usr/bin:/bin"; *at; at += *at == ':') {
    int length = (int)strcspn(at, ":");
    EB_TRY(eb_string_format(out, "%.*s/%s", length > 0 ? length : 1, length > 0 ? at : ".", name));
    if (access(*out, X_OK) == 0) return EB_OK;
    at += length;
  }
  free(*out);
  *out = NULL;
  return EB_OK;
}

static const char *own_command(void) {
  const char *command = getenv(EB_LAUNCH_VARIABLE);
  return command && command[strspn(command, " ")] ? command : NULL;
}

static eb_error add_words(char *words, int ranks, eb_strings *out) {
  char *rest = words, *path, number[16];
  const char *name = NULL;
  for (char *word; (word = strsep(&rest, " "));) {
    if (!*word) continue;
    if (name) {
      EB_TRY(eb_strings_add(out, word));
      continue;
    }
    name = word;
    EB_TRY(find_program(word, &path));
    eb_error error =
        path ? eb_strings_add(out, path)
             : EB_ERROR(EB_ERR_IO,
                        "%d ranks cannot be started: there is no program '%s'%s; install one "
                        "(Debian: openmpi-bin), or set " EB_LAUNCH_VARIABLE " to a command that "
                        "the number of ranks follows",
                        ranks, name, strchr(name, '/') ? "" : " on the PATH");
    free(path);
    EB_TRY(error);
  }
  snprintf(number, sizeof number, "%d", ranks);
  return eb_strings_add(out, number);
}

eb_error eb_launch_command(int ranks, eb_strings *out) {
  const char *command = own_command();
  char *words = strdup(command ? command : "mpiexec -n");
  if (!words) return EB_ERROR(EB_ERR_MEMORY, "cannot read the command that starts ranks");
  eb_error error = add_words(words, ranks, out);
  free(words);
  return error;
}

eb_error eb_launch_settings(eb_strings *out) {
  /* Crashes are told by whoever runs the ranks: Open MPI's own stack would hide what was printed
   * before. */
  static const char *const settings[][2] = {{"OMPI_MCA_opal_signal", ""},
                                            {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                            {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                            {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  enum { COUNT = sizeof settings / sizeof *settings, FOR_ROOT = 2 };
  int count = geteuid() == 0 ? COUNT : COUNT - FOR_ROOT;
  for (int i = 0; i < count && !own_command(); i++) {
    char text[80];
    snprintf(text, sizeof text, "%s=%s", settings[i][0], settings[i][1]);
    if (!getenv(settings[i][0])) EB_TRY(eb_strings_add(out, text));
  }
  return EB_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

bool eb_launch_find_end(const char *output, eb_rank_end *out) {
  static const char noticed[] = "noticed that process rank ", name[] = "Process name: [[";
  const char *at = strstr(output, noticed), *signal;
  *out = (eb_rank_end){0};
  if (at && sscanf(at + strlen(noticed), "%d", &out->rank) == 1 &&
      (signal = strstr(at, "exited on signal ")) &&
      sscanf(signal, "exited on signal %d", &out->signal) == 1)
    return true;
  at = strstr(output, name);
  return at && sscanf(at + strlen(name), "%*d,%*d],%d]", &out->rank) == 1 &&
         (at = strstr(at, "Exit code:")) && sscanf(at, "Exit code: %d", &out->status) == 1;
}

int eb_launch_words_before(const char *output) {
  static const char rule[] = "----------";
  const char *at = strstr(output, rule);
  return (int)(at ? (size_t)(at - output) : strlen(output));
}
