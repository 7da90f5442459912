/* Commands: tables that main.c dispatches on, and the arguments they were given. */
#ifndef EB_CLI_COMMAND_H
#define EB_CLI_COMMAND_H

#include <stdbool.h>

#include "harness/case/staging.h"
#include "harness/plugin.h"
#include "problems/base/strings.h"

/* Exit codes of the program. */
enum {
  EB_EXIT_GOOD = 0,
  EB_EXIT_TROUBLE = 1, /* a file cannot be read or written, no memory, ... */
  EB_EXIT_USAGE = 2,
  EB_EXIT_SOLVER_FAILED = 3,
  EB_EXIT_AUDIT_FAILED = 4,
  EB_EXIT_REGRESSION = 5,
  EB_EXIT_NOTHING = 6, /* inconclusive, or nothing was measured */
  EB_EXIT_INTERRUPTED = 130
};

typedef struct eb_flag {
  const char *name;     /* without the dashes */
  char letter;          /* or 0 */
  const char *argument; /* what it takes, or NULL */
  const char *doc;
} eb_flag;

typedef struct eb_arguments eb_arguments;

typedef struct eb_command {
  const char *name, *synopsis, *summary; /* no summary: not listed in the help */
  const char *details;                   /* more help, or NULL */
  const eb_flag *flags;                  /* ended by a NULL name; NULL when none */
  int least, most;                       /* positional arguments */
  /* *code starts as EB_EXIT_GOOD. */
  eb_error (*run)(const eb_arguments *arguments, int *code);
} eb_command;

/* All commands, in the order of the help; those from `case` on are in none. */
/* clang-format off */
#define EB_COMMANDS(each)                                                                          \
  each(list)                                                                                       \
  each(info)                                                                                       \
  each(run)                                                                                        \
  each(check)                                                                                      \
  each(new_scene)                                                                                  \
  each(new_solver)                                                                                 \
  each(compare)                                                                                    \
  each(precision)                                                                                  \
  each(history)                                                                                    \
  each(report)                                                                                     \
  each(reproduce)                                                                                  \
  each(laws)                                                                                       \
  each(export)                                                                                     \
  each(merge)                                                                                      \
  each(case)                                                                                       \
  each(work)                                                                                       \
  each(machine)                                                                                    \
  each(network)                                                                                    \
  each(verify)                                                                                     \
  each(join)
/* clang-format on */
#define EB_DECLARE_COMMAND(name) extern const eb_command eb_command_##name;
EB_COMMANDS(EB_DECLARE_COMMAND)

enum { EB_MAX_FLAGS = 32 };

struct eb_arguments {
  const eb_command *command;
  char *line; /* the whole command line, quoted */
  eb_strings positional;
  eb_strings values[EB_MAX_FLAGS]; /* of each flag, "" for those that take none */
};

/* Takes apart what follows the command's name. EB_ERR_USAGE for unknown flags (with the nearest),
 * missing and surplus arguments. */
EB_MUST eb_error eb_arguments_create(const eb_command *command, int argc, char *const *argv,
                                     eb_arguments **out);
void eb_arguments_destroy(eb_arguments *arguments);

bool eb_arguments_has(const eb_arguments *arguments, const char *flag);
/* The last value given, or NULL. */
const char *eb_arguments_text(const eb_arguments *arguments, const char *flag);
/* All values given; they are the arguments'. */
const eb_strings *eb_arguments_values(const eb_arguments *arguments, const char *flag);
/* A whole number; *out is left alone when the flag was not given. */
EB_MUST eb_error eb_arguments_whole(const eb_arguments *arguments, const char *flag, int64_t min,
                                    int64_t max, int64_t *out);
/* Whether --format json was given; EB_ERR_USAGE for other formats than json and text. */
EB_MUST eb_error eb_arguments_json(const eb_arguments *arguments, bool *out);
/* --shard I/N, 1 <= I <= N; both are 0 when it was not given. */
EB_MUST eb_error eb_arguments_shard(const eb_arguments *arguments, int *shard, int *shards);
/* What --resume and --overwrite say of a target that exists. */
eb_existing eb_arguments_existing(const eb_arguments *arguments);
/* EB_ERR_FORMAT unless a result file is whole; with --damaged also one that its seal says to be
 * damaged, of which *damaged tells as well. */
EB_MUST eb_error eb_arguments_verify(const eb_arguments *arguments, const char *path,
                                     bool *damaged);
/* The positional arguments that are such files, each once, and what is wrong with damaged ones and
 * those that are left out, which is told as well; a folder stands for the result files in it. *code
 * becomes EB_EXIT_TROUBLE when any is left out, EB_ERR_FORMAT when all are. The caller clears both
 * also after an error. */
EB_MUST eb_error eb_arguments_results(const eb_arguments *arguments, eb_strings *good,
                                      eb_strings *remarks, int *code);
/* Loads all of --plugin. The caller clears *out also after an error. */
EB_MUST eb_error eb_arguments_plugins(const eb_arguments *arguments, eb_plugins *out);

#define EB_FLAG_FORMAT                                                                             \
  { "format", 0, "text|json", "how to print" }
#define EB_FLAG_DAMAGED                                                                            \
  { "damaged", 0, NULL, "read result files although their seals say that they are damaged" }
#define EB_FLAG_PLUGIN                                                                             \
  { "plugin", 0, "SO", "load a solver or a material from a shared object; may be repeated" }
#define EB_FLAG_EXTERNAL                                                                           \
  {                                                                                                \
    "allow-external", 0, NULL,                                                                     \
        "let solvers that a file of yours names start programs (external:) and set any option of " \
        "PETSc, as those of -s may"                                                                \
  }

/* The help of one command. */
void eb_command_help(const eb_command *command);

#endif
