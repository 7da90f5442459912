#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/environment.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/results/seal.h"
#include "problems/base/memory.h"

static int flag_count(const eb_command *command) {
  int count = 0;
  while (command->flags && command->flags[count].name) count++;
  return count;
}

static int find_flag(const eb_command *command, const char *name, size_t length) {
  for (int i = 0; i < flag_count(command); i++)
    if (strlen(command->flags[i].name) == length &&
        strncmp(command->flags[i].name, name, length) == 0)
      return i;
  return -1;
}

static eb_error unknown_flag(const eb_command *command, const char *word) {
  char names[EB_MAX_FLAGS][24];
  const char *list[EB_MAX_FLAGS];
  int count = flag_count(command);
  for (int i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "--%s", command->flags[i].name);
    list[i] = names[i];
  }
  return eb_unknown(EB_ERR_USAGE, word, list, (size_t)count, "%s has no option", command->name);
}

static eb_error read_flag(eb_arguments *a, int argc, char *const *argv, int *at) {
  const char *word = argv[*at];
  bool is_long = word[1] == '-';
  const char *name = word + (is_long ? 2 : 1), *value = NULL;
  size_t length = strcspn(name, "=");
  int flag = is_long ? find_flag(a->command, name, length) : -1;
  for (int i = 0; i < flag_count(a->command) && !is_long && flag < 0; i++)
    if (a->command->flags[i].letter == word[1]) flag = i;
  if (flag < 0 || (!is_long && word[2])) return unknown_flag(a->command, word);
  const eb_flag *info = &a->command->flags[flag];
  if (is_long && name[length] == '=') value = name + length + 1;
  if (!info->argument) {
    if (value) return EB_ERROR(EB_ERR_USAGE, "--%s takes no value", info->name);
    return eb_strings_add(&a->values[flag], "");
  }
  if (!value) {
    if (*at + 1 >= argc)
      return EB_ERROR(EB_ERR_USAGE, "%s wants a value: %s", word, info->argument);
    value = argv[++*at];
  }
  return eb_strings_add(&a->values[flag], value);
}

static eb_error read_all(eb_arguments *a, int argc, char *const *argv) {
  bool flags = true;
  for (int i = 0; i < argc; i++) {
    if (flags && strcmp(argv[i], "--") == 0)
      flags = false;
    else if (flags && argv[i][0] == '-' && argv[i][1])
      EB_TRY(read_flag(a, argc, argv, &i));
    else
      EB_TRY(eb_strings_add(&a->positional, argv[i]));
  }
  const eb_command *command = a->command;
  if (a->positional.count < command->least || a->positional.count > command->most)
    return EB_ERROR(EB_ERR_USAGE, "usage: elastobench %s %s", command->name, command->synopsis);
  return EB_OK;
}

eb_error eb_arguments_create(const eb_command *command, int argc, char *const *argv,
                             eb_arguments **out) {
  eb_arguments *a;
  *out = NULL;
  EB_TRY(EB_NEW(a, 1));
  a->command = command;
  /* argv here is what follows "elastobench COMMAND". */
  eb_error error = eb_command_line(argc + 2, argv - 2, &a->line);
  if (!error) error = read_all(a, argc, argv);
  if (error)
    eb_arguments_destroy(a);
  else
    *out = a;
  return error;
}

void eb_arguments_destroy(eb_arguments *arguments) {
  if (!arguments) return;
  for (int i = 0; i < EB_MAX_FLAGS; i++) eb_strings_clear(&arguments->values[i]);
  eb_strings_clear(&arguments->positional);
  free(arguments->line);
  free(arguments);
}

const eb_strings *eb_arguments_values(const eb_arguments *arguments, const char *flag) {
  static const eb_strings none = {0};
  int i = find_flag(arguments->command, flag, strlen(flag));
  return i < 0 ? &none : &arguments->values[i];
}

bool eb_arguments_has(const eb_arguments *arguments, const char *flag) {
  return eb_arguments_values(arguments, flag)->count > 0;
}

const char *eb_arguments_text(const eb_arguments *arguments, const char *flag) {
  const eb_strings *values = eb_arguments_values(arguments, flag);
  return values->count ? values->items[values->count - 1] : NULL;
}

eb_error eb_arguments_whole(const eb_arguments *arguments, const char *flag, int64_t min,
                            int64_t max, int64_t *out) {
  char what[64];
  const char *text = eb_arguments_text(arguments, flag);
  snprintf(what, sizeof what, "--%s", flag);
  return text ? eb_parse_whole(what, text, min, max, out) : EB_OK;
}

eb_error eb_arguments_json(const eb_arguments *arguments, bool *out) {
  const char *format = eb_arguments_text(arguments, "format");
  *out = format && strcmp(format, "json") == 0;
  if (!format || *out || strcmp(format, "text") == 0) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "--format is text or json, not '%s'", format);
}

eb_error eb_arguments_shard(const eb_arguments *arguments, int *shard, int *shards) {
  const char *text = eb_arguments_text(arguments, "shard");
  char rest;
  *shard = *shards = 0;
  if (!text || (sscanf(text, "%d/%d%c", shard, shards, &rest) == 2 && *shards >= 1 && *shard >= 1 &&
                *shard <= *shards))
    return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "--shard wants I/N with 1 <= I <= N, not '%s'", text);
}

eb_existing eb_arguments_existing(const eb_arguments *arguments) {
  bool resume = eb_arguments_has(arguments, "resume");
  bool overwrite = eb_arguments_has(arguments, "overwrite");
  return resume && overwrite ? EB_EXISTING_RESUME_OR_OVERWRITE
         : resume            ? EB_EXISTING_RESUME
         : overwrite         ? EB_EXISTING_OVERWRITE
                             : EB_EXISTING_REFUSE;
}

static eb_error add_matching(const char *folder, const char *pattern, eb_strings *out) {
  glob_t found;
  char *path = NULL;
  EB_TRY(eb_string_format(&path, "%s/%s", folder, pattern));
  bool matches = glob(path, 0, NULL, &found) == 0;
  free(path);
  eb_error error = EB_OK;
  for (size_t i = 0; matches && i < found.gl_pathc && !error; i++)
    error = eb_strings_add(out, found.gl_pathv[i]);
  if (matches) globfree(&found);
  return error;
}

/* A file; or a folder, which stands for the files in it or, as that of several papers reproduced,
 * in those below it. */
static eb_error add_files(const char *word, bool *folder, eb_strings *out) {
  struct stat info;
  int before = out->count;
  *folder = stat(word, &info) == 0 && S_ISDIR(info.st_mode);
  if (!*folder) return eb_strings_add(out, word);
  EB_TRY(add_matching(word, "*.h5", out));
  if (out->count == before) EB_TRY(add_matching(word, "*/*.h5", out));
  if (out->count > before) return EB_OK;
  return EB_ERROR(EB_ERR_IO,
                  "'%s' is a folder without result files; one that 'reproduce' or 'precision' has "
                  "written has PAPER.h5 or precision.h5 in it, and index.html to show",
                  word);
}

eb_error eb_arguments_verify(const eb_arguments *arguments, const char *path, bool *damaged) {
  *damaged = false;
  if (!eb_arguments_has(arguments, "damaged")) return eb_sandbox_verify("results", path, NULL);
  *damaged = eb_seal_look(path) == EB_SEAL_BROKEN;
  if (*damaged) eb_print(stderr, "elastobench: '%s' is damaged, and read all the same\n", path);
  return eb_sandbox_try("results", path, NULL);
}

/* Whether it is a sound file of something else, as reference motions are. */
static bool is_foreign(const char *path) {
  eb_error error = eb_sandbox_verify("foreign", path, NULL);
  bool foreign = !error;
  eb_error_free(error);
  return foreign;
}

/* Of the files that were named. */
typedef struct selection {
  const eb_arguments *arguments;
  eb_strings met, *good, *remarks;
  int *code;
} selection;

/* Into the good ones, or a remark when it cannot be read. What lies in a folder beside result files
 * has not been asked for by name: it is left out, and no more. */
static eb_error verify_file(selection *s, const char *path, bool in_folder) {
  bool damaged;
  char *remark = NULL;
  eb_error unreadable = eb_arguments_verify(s->arguments, path, &damaged), error = EB_OK;
  if (!unreadable && damaged) {
    error = eb_string_format(&remark, "'%s' is damaged, and read all the same", path);
    if (!error) error = eb_strings_add(s->remarks, remark);
    free(remark);
  }
  if (!unreadable) return error ? error : eb_strings_add(s->good, path);
  if (in_folder && is_foreign(path)) {
    eb_print(stderr, "elastobench: '%s' is left out: it is no result file\n", path);
  } else {
    eb_print(stderr, "elastobench: %s\n", eb_error_message(unreadable));
    *s->code = EB_EXIT_TROUBLE;
    error = eb_strings_add(s->remarks, eb_error_message(unreadable));
  }
  eb_error_free(unreadable);
  return error;
}

/* Whether a file has been met before, by whatever name; adds it to those that were. */
static eb_error meet(const char *path, eb_strings *met, bool *again) {
  char key[64];
  struct stat info;
  *again = false;
  if (stat(path, &info) != 0) return EB_OK;
  snprintf(key, sizeof key, "%llu:%llu", (unsigned long long)info.st_dev,
           (unsigned long long)info.st_ino);
  for (int i = 0; i < met->count && !*again; i++) *again = strcmp(met->items[i], key) == 0;
  return *again ? EB_OK : eb_strings_add(met, key);
}

/* Every file once: twice the same runs would be ranked against themselves. */
static eb_error add_results(selection *s, const char *word) {
  eb_strings files = {0};
  bool folder, again;
  eb_error error = add_files(word, &folder, &files);
  for (int i = 0; i < files.count && !error; i++) {
    error = meet(files.items[i], &s->met, &again);
    if (!error && !again) error = verify_file(s, files.items[i], folder);
  }
  eb_strings_clear(&files);
  return error;
}

eb_error eb_arguments_results(const eb_arguments *arguments, eb_strings *good, eb_strings *remarks,
                              int *code) {
  const eb_strings *words = &arguments->positional;
  selection s = {.arguments = arguments, .good = good, .remarks = remarks, .code = code};
  eb_error error = EB_OK;
  for (int i = 0; i < words->count && !error; i++) error = add_results(&s, words->items[i]);
  eb_strings_clear(&s.met);
  if (error || good->count > 0) return error;
  return EB_ERROR(EB_ERR_FORMAT, "there is no file to report on");
}

eb_error eb_arguments_plugins(const eb_arguments *arguments, eb_plugins *out) {
  const eb_strings *values = eb_arguments_values(arguments, "plugin");
  for (int i = 0; i < values->count; i++) EB_TRY(eb_plugins_load(out, values->items[i]));
  return EB_OK;
}

void eb_command_help(const eb_command *command) {
  printf("elastobench %s %s\n", command->name, command->synopsis);
  printf("  %s\n", command->summary ? command->summary : "(used by the program itself)");
  if (command->details) printf("\n%s\n", command->details);
  if (flag_count(command)) printf("\nOptions:\n");
  for (int i = 0; i < flag_count(command); i++) {
    char left[64];
    const eb_flag *flag = &command->flags[i];
    char letter[8] = "";
    if (flag->letter) snprintf(letter, sizeof letter, "-%c, ", flag->letter);
    snprintf(left, sizeof left, "%s--%s %s", letter, flag->name,
             flag->argument ? flag->argument : "");
    printf("  %-28s %s\n", left, flag->doc);
  }
}
