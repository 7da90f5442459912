/* elastobench: one table of commands. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/command.h"
#include "harness/environment.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/results/h5.h"

#define COMMAND(name) &eb_command_##name,
static const eb_command *const commands[] = {EB_COMMANDS(COMMAND) NULL};

static void print_help(void) {
  printf("elastobench: runs deformable-body solvers on the scenes of their papers, audits and "
         "compares "
         "them.\n\nelastobench COMMAND ...\n");
  for (const eb_command *const *c = commands; *c; c++)
    if ((*c)->summary) printf("  %-10s %s\n", (*c)->name, (*c)->summary);
  printf("elastobench COMMAND --help shows the options of a command; --version the build.\n\n"
         "Exit codes: 0 good, 1 input or output failed, 2 usage, 3 a solver failed, 4 an audit "
         "failed,\n"
         "            5 regression, 6 inconclusive or nothing measured, 130 interrupted.\n");
}

static eb_error run_command(int argc, char **argv, int *code) {
  const eb_command *command = NULL;
  for (const eb_command *const *c = commands; *c; c++)
    if (strcmp((*c)->name, argv[1]) == 0) command = *c;
  if (!command) {
    eb_strings names = {0};
    eb_error error = EB_OK;
    for (const eb_command *const *c = commands; *c && !error; c++)
      if ((*c)->summary) error = eb_strings_add(&names, (*c)->name);
    if (!error) error = eb_unknown_name("command", argv[1], &names);
    eb_strings_clear(&names);
    return error;
  }
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      eb_command_help(command);
      return EB_OK;
    }
  eb_arguments *arguments;
  EB_TRY(eb_arguments_create(command, argc - 2, argv + 2, &arguments));
  eb_error error = command->run(arguments, code);
  eb_arguments_destroy(arguments);
  return error;
}

static eb_error dispatch(int argc, char **argv, int *code) {
  static char help[] = "--help";
  if (argc > 2 && strcmp(argv[1], "help") == 0) { /* `help COMMAND` is `COMMAND --help` */
    char *of_command[] = {argv[0], argv[2], help, NULL};
    return run_command(3, of_command, code);
  }
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
      strcmp(argv[1], "help") == 0) {
    print_help();
    if (argc < 2) *code = EB_EXIT_USAGE;
    return EB_OK;
  }
  if (strcmp(argv[1], "--version") != 0) return run_command(argc, argv, code);
  char *text;
  EB_TRY(eb_version_text(&text));
  eb_print(stdout, "elastobench %s\n", text);
  free(text);
  return EB_OK;
}

/* HDF5 takes and frees half a megabyte with every file that it opens. By default malloc gives that
 * back to the kernel each time, and takes it again page by page: half of the processor time of a
 * small case. */
static void keep_freed_memory(void) {
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
}

int main(int argc, char **argv) {
  int code = EB_EXIT_GOOD;
  keep_freed_memory();
  signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error of write, not the end */
  eb_h5_quiet();
  eb_error error = dispatch(argc, argv, &code);
  if (error) {
    eb_print(stderr, "elastobench: %s\n", eb_error_message(error));
    if (code == EB_EXIT_GOOD)
      code = eb_error_kind(error) == EB_ERR_USAGE ? EB_EXIT_USAGE : EB_EXIT_TROUBLE;
    eb_error_free(error);
  }
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "elastobench: cannot write to the standard output\n");
    if (code == EB_EXIT_GOOD) code = EB_EXIT_TROUBLE;
  }
  return code;
}
