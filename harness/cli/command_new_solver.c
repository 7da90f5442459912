/* elastobench new-solver: a solver that works, to be replaced by one's own, and a first run of it.
 *
 * It writes a plug-in in C, or a program in Python or C++ with its client beside it, builds it
 * against the installed headers or, when this program was not installed, against the tree that it
 * was built in, and runs it on small scenes, where every step is audited; a plug-in is checked for
 * conformance besides, as `elastobench check` does. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/cli/command.h"
#include "harness/cli/skeleton.h"
#include "harness/names.h"
#include "harness/print.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"

static const eb_flag flags[] = {
    {"output", 'o', "DIR", "the folder to make (default: ./NAME)"},
    {"external", 0, "python|c++", "a program that elastobench starts, not a plug-in in C"},
    {0}};

/* What is made of a language. */
typedef struct language {
  const char *name; /* of --external; NULL: a plug-in */
  const char *skeleton, *ending;
  const char *client, *client_name; /* NULL: none */
  const char *build;                /* command with the name for every @, or NULL */
  const char *solver;               /* arguments of `elastobench run`, with the name for every @ */
  const char *check;                /* of `elastobench check`; NULL: it is not for it */
  const char *needs, *missing;      /* a command that fails where it cannot be built or run; why */
} language;

static const language languages[] = {
    {NULL, "solvers/skeletons/plugin.c.in", "c", NULL, NULL,
     "cc -O2 -shared -fPIC $FLAGS @.c -o @.so", "--plugin ./@.so -s @", "@ --plugin ./@.so",
     "command -v cc", "a C compiler named cc (Debian: gcc)"},
    {"python", "solvers/skeletons/solver.py.in", "py", "python/elastobench/client.py",
     "elastobench_client.py", NULL, "-s \"external:python3 @.py\"", NULL,
     "python3 -c 'import numpy'", "python3 with the package numpy (Debian: python3-numpy)"},
    {"c++", "solvers/skeletons/solver.cpp.in", "cpp", "solvers/external/cpp/elastobench_client.hpp",
     "elastobench_client.hpp", "c++ -O2 -std=c++17 -Wall -Wextra @.cpp -o @", "-s external:./@",
     NULL, "command -v c++", "a C++ compiler named c++ (Debian: g++)"}};
enum { LANGUAGES = sizeof languages / sizeof *languages };

/* ---- files ----------------------------------------------------------------------------------- */

static eb_error write_new(const char *folder, const char *name, const char *embedded,
                          const char *solver) {
  char *path = NULL;
  EB_TRY(eb_string_format(&path, "%s/%s", folder, name));
  eb_error error = eb_skeleton_write(path, embedded, solver, "name another folder by -o");
  free(path);
  return error;
}

static eb_error write_files(const language *of, const char *folder, const char *name) {
  char *file = NULL;
  EB_TRY(eb_folder_make(folder));
  EB_TRY(eb_string_format(&file, "%s.%s", name, of->ending));
  eb_error error = write_new(folder, file, of->skeleton, name);
  free(file);
  if (!error && of->client) error = write_new(folder, of->client_name, of->client, name);
  return error;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Runs it by the shell in the folder, where $ELASTOBENCH is this program. */
static eb_error shell(const char *folder, const char *command, int *status) {
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return EB_ERROR(EB_ERR_IO, "cannot find my own program at /proc/self/exe");
  program[length] = '\0';
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (chdir(folder) || setenv("ELASTOBENCH", program, 1)) _exit(127);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  int end = 0;
  if (child < 0 || waitpid(child, &end, 0) < 0)
    return EB_ERROR(EB_ERR_IO, "cannot run '%s': %s", command, strerror(errno));
  *status = WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
  return EB_OK;
}

/* Flags of the compiler: those of the installed package, or else of the tree of this program. */
static const char find_flags[] =
    "TREE=$(dirname \"$(dirname \"$ELASTOBENCH\")\")\n"
    "if FLAGS=$(pkg-config --cflags elastobench 2>/dev/null); then :\n"
    "elif [ -f \"$TREE/solvers/solver.h\" ]; then FLAGS=-I$TREE\n"
    "  echo \"(elastobench is not installed: headers of $TREE)\"\n"
    "elif [ -d \"$TREE/include/elastobench\" ]; then FLAGS=-I$TREE/include/elastobench\n"
    "else echo 'no headers of elastobench: make install, and PKG_CONFIG_PATH' >&2; exit 1; fi\n";

/* Before anything is written that a second call would find there. */
static eb_error check_needs(const language *of) {
  char command[100];
  int status = 0;
  snprintf(command, sizeof command, "%s >/dev/null 2>&1", of->needs);
  EB_TRY(shell(".", command, &status));
  return status == 0 ? EB_OK
                     : EB_ERROR(EB_ERR_IO,
                                "the new solver needs %s, which is not there; nothing "
                                "was written",
                                of->missing);
}

static eb_error build(const language *of, const char *folder, const char *name) {
  eb_text script = {0};
  int status = 0;
  if (!of->build) return EB_OK;
  eb_error error = eb_text_printf(&script, "%sset -x; ", of->name ? "" : find_flags);
  if (!error) error = eb_text_replaced(of->build, strlen(of->build), "@", name, &script);
  if (!error) error = shell(folder, script.data, &status);
  eb_text_clear(&script);
  EB_TRY(error);
  return status == 0 ? EB_OK : EB_ERROR(EB_ERR_IO, "the new solver could not be built");
}

static eb_error write_trial(const language *of, const char *name, const char *solver,
                            eb_text *script) {
  static const char scenes[] = "bench/beam:resolution=0.25 "
                               "bench/beam:resolution=0.25,material=corotational";
  EB_TRY(eb_text_printf(script, "\"$ELASTOBENCH\" run %s -s newton %s --steps 10 -o first-run.h5",
                        scenes, solver));
  if (!of->check) return EB_OK;
  EB_TRY(eb_text_printf(script, " && \"$ELASTOBENCH\" check "));
  return eb_text_replaced(of->check, strlen(of->check), "@", name, script);
}

/* Both kinds of material, beside newton, and conformance; the exit code is that of the first that
 * fails. */
static eb_error try(const language *of, const char *folder, const char *name, int *code) {
  eb_text script = {0}, solver = {0};
  eb_error error = eb_text_replaced(of->solver, strlen(of->solver), "@", name, &solver);
  if (!error) error = write_trial(of, name, solver.data, &script);
  if (!error) error = shell(folder, script.data, code);
  if (!error && *code == 0)
    eb_print(stdout,
             "It keeps the rules of the audit%s. Make it yours, and see it beside others:\n"
             "  cd %s\n  elastobench run bench/beam:resolution=0.25 -s newton %s -o mine.h5\n"
             "  elastobench report mine.h5\n",
             of->check ? " and conforms to the contract" : "", folder, solver.data);
  eb_text_clear(&script);
  eb_text_clear(&solver);
  return error;
}

/* ---- the command ----------------------------------------------------------------------------- */

static eb_error find_language(const char *wanted, const language **out) {
  const char *names[LANGUAGES];
  size_t count = 0;
  for (size_t i = 0; i < LANGUAGES; i++) {
    *out = &languages[i];
    if (wanted ? languages[i].name && !strcmp(wanted, languages[i].name) : !languages[i].name)
      return EB_OK;
    if (languages[i].name) names[count++] = languages[i].name;
  }
  return eb_unknown(EB_ERR_USAGE, wanted, names, count, "there is no client for");
}

static eb_error check_name(const char *name) {
  static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  if (!*name || strspn(name, characters) != strlen(name) || *name == '-' || strlen(name) > 60)
    return EB_ERROR(EB_ERR_USAGE,
                    "a solver's name has up to 60 small letters, digits, '-' and '_', not '%s'",
                    name);
  if (!eb_solver_find(name)) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "there is a solver '%s' already", name);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  const char *name = arguments->positional.items[0];
  const char *folder = eb_arguments_text(arguments, "output");
  const language *of;
  if (!folder) folder = name;
  EB_TRY(check_name(name));
  EB_TRY(find_language(eb_arguments_text(arguments, "external"), &of));
  EB_TRY(check_needs(of));
  EB_TRY(write_files(of, folder, name));
  EB_TRY(build(of, folder, name));
  return try(of, folder, name, code);
}

const eb_command eb_command_new_solver = {
    .name = "new-solver",
    .synopsis = "NAME [-o DIR] [--external python|c++]",
    .summary = "write a solver to start from, build it, run it, audited, and check it",
    .flags = flags,
    .least = 1,
    .most = 1,
    .run = run};
