/* elastobench merge: runs of several files in one, when they may be compared. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/print.h"
#include "harness/results/merge.h"
#include "harness/results/seal.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

static const eb_flag flags[] = {
    {"overwrite", 0, NULL, "replace OUT when it exists"},
    {"partial", 0, NULL, "write OUT although shards of a plan are missing or have not ended"},
    {0}};

/* ---- the files ------------------------------------------------------------------------------- */

/* What a pattern or a folder stands for, without the target itself. */
static eb_error add_matching(const char *pattern, const char *target, eb_strings *out) {
  glob_t found;
  struct stat own, other;
  bool there = stat(target, &own) == 0;
  int status = glob(pattern, 0, NULL, &found);
  eb_error error = EB_OK;
  if (status == GLOB_NOMATCH)
    error = EB_ERROR(EB_ERR_IO, "no file is there that matches '%s'", pattern);
  else if (status)
    error = EB_ERROR(EB_ERR_IO, "cannot look for '%s'", pattern);
  for (size_t i = 0; !status && i < found.gl_pathc && !error; i++) {
    const char *path = found.gl_pathv[i];
    bool same = there && stat(path, &other) == 0 && other.st_dev == own.st_dev &&
                other.st_ino == own.st_ino;
    if (!same) error = eb_strings_add(out, path);
  }
  if (!status) globfree(&found);
  return error;
}

/* A file, "@LIST" of files, a folder of them, or a pattern. */
static eb_error add_inputs(const char *word, const char *target, eb_strings *out) {
  struct stat info;
  char *pattern = NULL;
  bool there = stat(word, &info) == 0;
  if (!there && *word == '@') return eb_lines_read(word + 1, "list of files", out);
  if (!there && strpbrk(word, "*?[")) return add_matching(word, target, out);
  if (!there || !S_ISDIR(info.st_mode) || strstr(word, ".h5")) return eb_strings_add(out, word);
  eb_error error = eb_string_format(&pattern, "%s/*.h5", word);
  if (!error) error = add_matching(pattern, target, out);
  free(pattern);
  return error;
}

/* Files without a sound seal, each read in full. Many share a process; when that does not end well,
 * each has one of its own, which tells whose fault it is. */
static eb_error verify_batch(const eb_strings *paths, int first, int count) {
  eb_strings command = {0};
  eb_error error = eb_strings_add(&command, "verify");
  if (!error) error = eb_strings_add(&command, "results");
  if (!error) error = eb_strings_add(&command, "--");
  for (int i = 0; i < count && !error; i++)
    error = eb_strings_add(&command, paths->items[first + i]);
  if (!error) error = eb_sandbox_run(&command, count, "reading them", "inputs are damaged", NULL);
  eb_strings_clear(&command);
  if (!error || eb_error_kind(error) != EB_ERR_FORMAT) return error;
  for (int i = 0; i < count; i++) {
    eb_error own = eb_sandbox_verify("results", paths->items[first + i], NULL);
    if (!own) continue;
    eb_error_free(error);
    return own;
  }
  return error;
}

/* What is damaged must not be sealed with what is not: there is no option to take it. */
static eb_error verify_inputs(const eb_strings *inputs, bool *sealed) {
  enum { BATCH = 100 };
  eb_strings open = {0};
  eb_seal *seals;
  EB_TRY(EB_NEW(seals, inputs->count));
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < inputs->count; i++) seals[i] = eb_seal_look(inputs->items[i]);
  eb_error error = EB_OK;
  for (int i = 0; i < inputs->count && !error; i++) {
    if (seals[i] == EB_SEAL_BROKEN) error = eb_seal_check(inputs->items[i]);
    if (seals[i] == EB_SEAL_NONE) error = eb_strings_add(&open, inputs->items[i]);
  }
  free(seals);
  *sealed = open.count == 0;
  for (int i = 0; i < open.count && !error; i += BATCH)
    error = verify_batch(&open, i, open.count - i < BATCH ? open.count - i : BATCH);
  eb_strings_clear(&open);
  return error;
}

/* ---- joining them ---------------------------------------------------------------------------- */

/* Joins in a process of its own, which reads the names from a file: there may be too many for a
 * command line. */
static eb_error join_listed(const char *fresh, const char *list, const eb_strings *inputs) {
  static const double small_file = 1e6; /* bytes that take as long as the objects of a run */
  const char *const words[] = {"join", "--", fresh, list};
  EB_OWNED(eb_strings_clear) eb_strings command = {0};
  struct stat info;
  double bytes = 0;
  EB_OWNED(eb_text_clear) eb_text text = {0};
  for (int i = 0; i < inputs->count; i++) {
    EB_TRY(eb_text_printf(&text, "%s\n", inputs->items[i]));
    if (stat(inputs->items[i], &info) == 0) bytes += (double)info.st_size + small_file;
  }
  EB_TRY(eb_file_write(list, text.data, text.length));
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    EB_TRY(eb_strings_add(&command, words[i]));
  return eb_sandbox_run_for(&command, bytes, "copying their runs", "an input is damaged", NULL);
}

static eb_error join(const char *fresh, const eb_strings *inputs) {
  char *list;
  int file;
  bool sealed;
  EB_TRY(verify_inputs(inputs, &sealed));
  EB_TRY(eb_file_beside(fresh, &list, &file));
  close(file);
  eb_error error = join_listed(fresh, list, inputs);
  unlink(list);
  free(list);
  return error || sealed ? error : eb_sandbox_verify("results", fresh, NULL);
}

/* ---- what lacks ------------------------------------------------------------------------------ */

enum { SHOWN = 20 /* shards that are told of one by one */ };

/* A shard that is not complete, and how it becomes so. `row` is NULL for one that is in no file. */
static eb_error tell_shard(const eb_sharding *plan, int64_t number, const eb_shard *row) {
  eb_text command = {0};
  EB_TRY(eb_sharding_command(plan, number, &command));
  eb_print(stderr, "  shard %" PRId64 "/%" PRId64 ": ", number, plan->shards);
  if (row)
    eb_print(stderr, "ended with %" PRId64 " of %" PRId64 " cases", row->done, row->wanted);
  else
    eb_print(stderr, "is in none of the files");
  eb_print(stderr, "\n    %s\n", command.data ? command.data : "");
  eb_text_clear(&command);
  return EB_OK;
}

/* All that lack of a plan; *count of them. */
static eb_error tell_plan(const eb_sharding *plan, int64_t *count) {
  int at = 0;
  *count = 0;
  for (int64_t number = 1; number <= plan->shards; number++) {
    const eb_shard *row =
        at < plan->count && plan->rows[at].number == number ? &plan->rows[at++] : NULL;
    if (row && row->done >= row->wanted) continue;
    if (++*count <= SHOWN) EB_TRY(tell_shard(plan, number, row));
  }
  eb_text numbers = {0};
  EB_TRY(eb_sharding_lacking(plan, &numbers));
  eb_print(stderr, "elastobench: %" PRId64 " of %" PRId64 " shards lacking: --array=%s\n", *count,
           plan->shards, numbers.data ? numbers.data : "");
  eb_text_clear(&numbers);
  return EB_OK;
}

/* Tells what a joined file lacks of its plans, and whether it has runs of several machines. */
static eb_error tell_all(const char *fresh, bool *complete) {
  hid_t file;
  H5G_info_t others = {0};
  EB_OWNED(eb_shardings_clear) eb_shardings plans = {0};
  *complete = true;
  EB_TRY(eb_h5_open_file(fresh, false, &file));
  eb_error error = eb_shardings_read(file, &plans);
  if (eb_h5_exists(file, "environments"))
    H5Gget_info_by_name(file, "environments", &others, H5P_DEFAULT);
  H5Fclose(file);
  EB_TRY(error);
  for (int i = 0; i < plans.count; i++) {
    int64_t lacking;
    if (eb_sharding_complete(&plans.items[i])) continue;
    *complete = false;
    EB_TRY(tell_plan(&plans.items[i], &lacking));
  }
  if (others.nlinks > 0)
    eb_print(stderr,
             "elastobench: the shards come from %d machines: times may be compared within a scene, "
             "whose solvers are in one shard, and not between scenes\n",
             (int)others.nlinks + 1);
  return EB_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static eb_error merge(const eb_arguments *arguments, const eb_strings *inputs, const char *fresh,
                      const char *target, int *code) {
  bool complete, replace = eb_arguments_has(arguments, "overwrite");
  EB_TRY(join(fresh, inputs));
  EB_TRY(tell_all(fresh, &complete));
  if (complete || eb_arguments_has(arguments, "partial"))
    return eb_results_put(fresh, target, replace);
  eb_print(stderr, "elastobench: '%s' is not written; --partial writes what there is\n", target);
  unlink(fresh);
  *code = EB_EXIT_NOTHING;
  return EB_OK;
}

/* With the lock of the target. */
static eb_error run_locked(const eb_arguments *arguments, const char *target, int *code) {
  const eb_strings *names = &arguments->positional;
  char *fresh;
  int file;
  eb_strings inputs = {0};
  if (!eb_arguments_has(arguments, "overwrite") && access(target, F_OK) == 0)
    return EB_ERROR(EB_ERR_USAGE, "'%s' exists; --overwrite replaces it", target);
  EB_TRY(eb_file_beside(target, &fresh, &file));
  close(file);
  eb_error error = EB_OK;
  for (int i = 1; i < names->count && !error; i++)
    error = add_inputs(names->items[i], target, &inputs);
  if (!error && inputs.count == 0) error = EB_ERROR(EB_ERR_USAGE, "there is no file to merge");
  if (!error) error = merge(arguments, &inputs, fresh, target, code);
  if (error) unlink(fresh);
  eb_strings_clear(&inputs);
  free(fresh);
  return eb_error_prefix(error, "cannot merge into '%s', which is unchanged", target);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  EB_FREED char *target = NULL;
  EB_OWNED(eb_lock_release) eb_lock lock = {0};
  EB_TRY(eb_path_follow(arguments->positional.items[0], &target));
  EB_TRY(eb_target_check(target));
  EB_TRY(eb_lock_take(target, false, &lock));
  return run_locked(arguments, target, code);
}

const eb_command eb_command_merge = {
    .name = "merge",
    .synopsis = "OUT.h5 IN.h5|FOLDER|'PATTERN'|@LIST.. [--overwrite] [--partial]",
    .summary = "bring result files together; refuses what is not comparable",
    .details = "FOLDER: its *.h5; @LIST: a file that names one in each line. Runs of shards are in "
               "the order of the plan; what two files have alike is kept once.\nWhere shards of a "
               "plan lack, nothing is written but which, and how to complete them.",
    .flags = flags,
    .least = 2,
    .most = 100000,
    .run = run};
