#include "harness/results/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness/results/seal.h"
#include "harness/results/sweeps.h"
#include "harness/results/write.h"
#include "problems/base/hash.h"
#include "problems/base/text.h"

/* ---- comparability --------------------------------------------------------------------------- */

static const char *dirty_word(const eb_results *results) {
  return strcmp(eb_results_environment(results, "dirty"), "0") == 0 ? "" : " with local changes";
}

/* What the machine is, and what the program is made of. */
static const char *const machine[] = {"cpu",           "cores", "blas_kernels",
                                      "dense_kernels", "libc",  NULL};
static const char *const build[] = {"compiler", "flags", "blas", "cholmod", "metis", "petsc", NULL};

static eb_error compare_facts(const eb_results *a, const eb_results *b, const char *const *facts) {
  for (; *facts; facts++) {
    const char *left = eb_results_environment(a, *facts);
    const char *right = eb_results_environment(b, *facts);
    if (strcmp(left, right) != 0)
      return EB_ERROR(EB_ERR_INVALID, "'%s' and '%s' are not comparable: %s is '%s' and '%s'",
                      eb_results_path(a), eb_results_path(b), *facts, left, right);
  }
  return EB_OK;
}

static eb_error compare_builds(const eb_results *a, const eb_results *b) {
  EB_TRY(compare_facts(a, b, build));
  const char *program = eb_results_environment(a, "program_hash");
  const char *commit = eb_results_environment(a, "commit");
  bool same_bytes = *program && strcmp(program, eb_results_environment(b, "program_hash")) == 0;
  bool same_commit = *commit && strcmp(commit, "unknown") != 0 &&
                     strcmp(commit, eb_results_environment(b, "commit")) == 0;
  if (same_bytes || (same_commit && !*dirty_word(a) && !*dirty_word(b))) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "'%s' and '%s' are not comparable: they come from different programs (commit "
                  "%s%s and %s%s)",
                  eb_results_path(a), eb_results_path(b), commit, dirty_word(a),
                  eb_results_environment(b, "commit"), dirty_word(b));
}

eb_error eb_results_same_machine(const eb_results *a, const eb_results *b) {
  return compare_facts(a, b, machine);
}

eb_error eb_results_comparable(const eb_results *a, const eb_results *b) {
  EB_TRY(eb_results_same_machine(a, b));
  return compare_builds(a, b);
}

/* ---- copying --------------------------------------------------------------------------------- */

/* Of the machines but the first that a file has runs of. */
static const char MACHINES[] = "environments";

static eb_error copy_object(hid_t from, const char *path, hid_t to) {
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  herr_t status = H5Ocopy(from, path, to, path, H5P_DEFAULT, links);
  H5Pclose(links);
  return status < 0 ? eb_h5_error("cannot copy", path) : EB_OK;
}

/* What a file is filled with. */
typedef struct joining {
  hid_t target;
  bool join; /* files that are to be compared; else what the target has is left as it is */
  /* Of a join: the first file, what all say of their plans, and the machine of the one at work, ""
   * where it is the first one's. */
  eb_results *first;
  eb_shardings plans;
  char machine[20];
} joining;

static bool same_text(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

/* A run of an id that the target has. The same work with the same outcome is kept once, in the
 * foremost place of the plan. */
static eb_error match_run(const joining *j, const eb_results *part, const eb_run *run,
                          const char *path) {
  eb_run there = {0};
  if (!j->join) return EB_OK;
  hid_t group = H5Gopen2(j->target, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_fields_read(group, eb_run_fields, &there);
  if (!error && same_text(there.identity, run->identity) &&
      same_text(there.outcome, run->outcome) && same_text(there.audit, run->audit) &&
      same_text(there.state_hash, run->state_hash) && there.steps_done == run->steps_done)
    error = run->order < there.order ? eb_h5_put_int(group, "order", run->order) : EB_OK;
  else if (!error)
    error = EB_ERROR(EB_ERR_INVALID,
                     "run '%s' of '%s' (%s, %lld steps) is in another file as well, and differs "
                     "(%s, %lld steps); leave one of the files out",
                     run->id, eb_results_path(part), run->outcome, (long long)run->steps_done,
                     there.outcome, (long long)there.steps_done);
  eb_run_clear(&there);
  H5Gclose(group);
  return error;
}

/* Which of /environments the run is of; a run without is of /environment. */
static eb_error name_machine(const joining *j, const char *path) {
  if (!*j->machine) return EB_OK;
  hid_t group = H5Gopen2(j->target, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = H5Aexists(group, "environment") > 0
                       ? EB_OK
                       : eb_h5_put_text(group, "environment", j->machine);
  H5Gclose(group);
  return error;
}

static eb_error copy_run(const joining *j, const eb_results *part, const eb_run *run) {
  char path[300];
  snprintf(path, sizeof path, "runs/%s", run->id);
  if (eb_h5_exists(j->target, path)) return match_run(j, part, run, path);
  EB_TRY(copy_object(eb_results_file(part), path, j->target));
  EB_TRY(name_machine(j, path));
  snprintf(path, sizeof path, "scenes/%s", run->scene_hash);
  if (!*run->scene_hash || eb_h5_exists(j->target, path) ||
      !eb_h5_exists(eb_results_file(part), path))
    return EB_OK;
  return copy_object(eb_results_file(part), path, j->target);
}

static eb_error match_sweep(const joining *j, const eb_results *part,
                            const eb_sweep_record *sweep) {
  eb_sweep_record there;
  EB_TRY(eb_sweep_read(j->target, sweep->name, &there));
  bool same = same_text(there.identity, sweep->identity) && same_text(there.found, sweep->found) &&
              same_text(there.audit, sweep->audit) && same_text(there.runs, sweep->runs);
  eb_sweep_record_clear(&there);
  return same ? EB_OK
              : EB_ERROR(EB_ERR_INVALID,
                         "sweep '%s' of '%s' is in another file as well, and differs; leave one of "
                         "the files out",
                         sweep->name, eb_results_path(part));
}

/* A sweep of a name that is there already: the new one takes its place, unless files are merged,
 * which must not contradict each other. */
static eb_error copy_sweep(const joining *j, const eb_results *part, const eb_sweep_record *sweep) {
  char path[300];
  snprintf(path, sizeof path, "sweeps/%s", sweep->name);
  if (eb_h5_exists(j->target, path)) {
    if (j->join) return match_sweep(j, part, sweep);
    if (H5Ldelete(j->target, path, H5P_DEFAULT) < 0) return eb_h5_error("cannot replace", path);
  }
  return copy_object(eb_results_file(part), path, j->target);
}

static eb_error copy_sweeps(const joining *j, const eb_results *part) {
  eb_error error = EB_OK;
  int count = eb_sweeps_count(part);
  for (int i = 0; i < count && !error; i++) {
    eb_sweep_record sweep;
    EB_TRY(eb_sweeps_read(part, i, &sweep));
    error = copy_sweep(j, part, &sweep);
    eb_sweep_record_clear(&sweep);
  }
  return error;
}

static eb_error copy_machines(const joining *j, hid_t file) {
  H5G_info_t info;
  if (!eb_h5_exists(file, MACHINES)) return EB_OK;
  if (H5Gget_info_by_name(file, MACHINES, &info, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot read", MACHINES);
  for (hsize_t i = 0; i < info.nlinks; i++) {
    char name[64], path[100];
    if (H5Lget_name_by_idx(file, MACHINES, H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                           H5P_DEFAULT) < 0)
      return eb_h5_error("cannot list", MACHINES);
    snprintf(path, sizeof path, "%s/%s", MACHINES, name);
    if (!eb_h5_exists(j->target, path)) EB_TRY(copy_object(file, path, j->target));
  }
  return EB_OK;
}

/* Whether `part` belongs beside the first file: it is comparable with it, or a shard of the same
 * plan by the same program on another machine, whose environment is kept beside. Competitors are
 * in one shard, and so on one machine. */
static eb_error admit(joining *j, eb_results *part, bool shares_plan) {
  *j->machine = '\0';
  eb_error error = eb_results_comparable(j->first, part);
  if (!error || eb_error_kind(error) != EB_ERR_INVALID || !shares_plan) return error;
  eb_error other_build = compare_builds(j->first, part);
  if (other_build) {
    eb_error_free(error);
    return other_build;
  }
  eb_error_free(error);
  uint64_t hash = EB_HASH_SEED;
  for (const char *const *fact = machine; *fact; fact++) {
    const char *value = eb_results_environment(part, *fact);
    hash = eb_hash(hash, value, strlen(value) + 1);
  }
  char path[64];
  snprintf(j->machine, sizeof j->machine, "%016" PRIx64, hash);
  snprintf(path, sizeof path, "%s/%s", MACHINES, j->machine);
  if (eb_h5_exists(j->target, path)) return EB_OK;
  hid_t group;
  EB_TRY(eb_h5_group(j->target, MACHINES, &group));
  herr_t status =
      H5Ocopy(eb_results_file(part), "environment", group, j->machine, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  return status < 0 ? eb_h5_error("cannot copy", "environment") : EB_OK;
}

/* What a part says of its plans; *shares: another part before has said something of one of them. */
static eb_error gather_plans(joining *j, hid_t file, bool *shares) {
  eb_shardings own = {0};
  *shares = false;
  eb_error error = eb_shardings_read(file, &own);
  for (int i = 0; i < own.count; i++)
    for (int k = 0; k < j->plans.count; k++)
      *shares = *shares || own.items[i].plan == j->plans.items[k].plan;
  if (!error) error = eb_shardings_add(&j->plans, &own);
  eb_shardings_clear(&own);
  return error;
}

static eb_error add_open_part(joining *j, eb_results *part) {
  bool shares_plan;
  hid_t file = eb_results_file(part);
  if (j->join) {
    EB_TRY(gather_plans(j, file, &shares_plan));
    if (j->first) EB_TRY(admit(j, part, shares_plan));
    EB_TRY(copy_machines(j, file));
  }
  if (!eb_h5_exists(j->target, "environment") && eb_h5_exists(file, "environment"))
    EB_TRY(copy_object(file, "environment", j->target));
  for (int i = 0; i < eb_results_count(part); i++)
    EB_TRY(copy_run(j, part, eb_results_run(part, i)));
  return copy_sweeps(j, part);
}

/* Of a join the first part stays open, for the others to be compared with. */
static eb_error add_part(joining *j, const char *path) {
  eb_results *part;
  EB_TRY(eb_results_open(path, &part));
  eb_error error = add_open_part(j, part);
  if (j->join && !j->first)
    j->first = part;
  else
    eb_results_close(part);
  return error;
}

/* ---- replacing the target -------------------------------------------------------------------- */

static eb_error copy_bytes(int source, const char *from, int sink, const char *to) {
  char buffer[1 << 16];
  ssize_t got;
  while ((got = read(source, buffer, sizeof buffer)) > 0)
    for (ssize_t done = 0, put; done < got; done += put) {
      put = write(sink, buffer + done, (size_t)(got - done));
      if (put < 0) return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", to, strerror(errno));
    }
  return got < 0 ? EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", from, strerror(errno)) : EB_OK;
}

/* Damage would be sealed with the copy. */
static eb_error copy_file(const char *from, const char *to) {
  int source;
  EB_TRY(eb_seal_check(from));
  EB_TRY(eb_file_open(from, &source));
  int sink = open(to, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* a pipe has no reader */
  eb_error error = sink < 0 ? EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", to, strerror(errno))
                            : copy_bytes(source, from, sink, to);
  close(source);
  if (sink >= 0 && close(sink) && !error)
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", to, strerror(errno));
  return error;
}

/* Objects that have been copied are not visited again: by default HDF5 keeps 2 MB of them and more,
 * which is beyond the processor's cache. */
static eb_error keep_few_objects(hid_t file) {
  enum { KEPT = 1 << 19 /* bytes */ };
  H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
  if (H5Fget_mdc_config(file, &config) < 0) return eb_h5_error("cannot ask for", "the cache");
  config.set_initial_size = true;
  config.initial_size = config.min_size = config.max_size = KEPT;
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  return H5Fset_mdc_config(file, &config) < 0 ? eb_h5_error("cannot set", "the cache") : EB_OK;
}

static eb_error open_copy(const char *target, const char *fresh, eb_merge_mode mode, hid_t *file) {
  if (mode == EB_MERGE_ADD && access(target, F_OK) == 0) {
    EB_TRY(copy_file(target, fresh));
    return eb_h5_open_file(fresh, true, file);
  }
  EB_TRY(eb_h5_create_file(fresh, file));
  eb_error error = eb_schema_write(*file);
  if (!error) error = keep_few_objects(*file);
  if (error) H5Fclose(*file);
  return error;
}

static eb_error fill(joining *j, const eb_strings *parts, const eb_shardings *plans) {
  static const char *const groups[] = {"runs", "scenes"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    hid_t group;
    EB_TRY(eb_h5_group(j->target, groups[i], &group));
    H5Gclose(group);
  }
  for (int i = 0; i < parts->count; i++) EB_TRY(add_part(j, parts->items[i]));
  if (j->join) EB_TRY(eb_shardings_settle(&j->plans));
  if (j->join) plans = &j->plans;
  return plans ? eb_shardings_write(j->target, plans) : EB_OK;
}

static eb_error fill_copy(const char *target, const char *fresh, const eb_strings *parts,
                          eb_merge_mode mode, bool join, const eb_shardings *plans) {
  joining j = {.join = join};
  EB_TRY(open_copy(target, fresh, mode, &j.target));
  eb_error error = fill(&j, parts, plans);
  eb_results_close(j.first);
  eb_shardings_clear(&j.plans);
  eb_error closing = eb_h5_close_file(j.target, fresh);
  if (!error) return closing;
  eb_error_free(closing);
  return error;
}

static double file_bytes(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

/* libhdf5 1.10 can crash when a write of its own finds the disk full in the middle of H5Ocopy, so
 * there must be room before it starts: the copy is no larger than what goes into it, each part
 * being a whole file, and some slack for the trees of the joined groups. */
static eb_error check_room(const char *target, const char *fresh, const eb_strings *parts,
                           eb_merge_mode mode) {
  const double slack = 1 << 16;
  double needed = slack + (mode == EB_MERGE_ADD ? file_bytes(target) : 0);
  for (int i = 0; i < parts->count; i++) needed += file_bytes(parts->items[i]);
  int file = open(fresh, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", fresh, strerror(errno));
  struct statvfs disk;
  int failed = fstatvfs(file, &disk);
  close(file);
  if (failed)
    return EB_ERROR(EB_ERR_IO, "cannot ask for the room on the disk: %s", strerror(errno));
  struct rlimit largest;
  double room = (double)disk.f_bavail * (double)disk.f_frsize;
  if (getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur != RLIM_INFINITY)
    room = fmin(room, (double)largest.rlim_cur);
  if (room >= needed) return EB_OK;
  return EB_ERROR(EB_ERR_IO,
                  "No space left on device: %.0f KB are needed, %.0f KB are free; make room",
                  needed / 1024, room / 1024);
}

eb_error eb_results_put(const char *fresh, const char *target, bool replace) {
  EB_TRY(eb_seal_put(fresh));
  int file = open(fresh, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file)) {
    eb_error error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", fresh, strerror(errno));
    if (file >= 0) close(file);
    return error;
  }
  close(file);
  return eb_file_rename(fresh, target, replace);
}

eb_error eb_results_join(const char *fresh, const eb_strings *parts) {
  EB_TRY(check_room("", fresh, parts, EB_MERGE_REPLACE));
  return fill_copy("", fresh, parts, EB_MERGE_REPLACE, true, NULL);
}

eb_error eb_results_collect(const char *target, const eb_strings *parts, eb_merge_mode mode,
                            const eb_shardings *plans) {
  char *fresh;
  int file;
  bool replace = mode == EB_MERGE_REPLACE || access(target, F_OK) == 0;
  EB_TRY(eb_file_beside(target, &fresh, &file));
  close(file);
  eb_error error = check_room(target, fresh, parts, mode);
  if (!error) error = fill_copy(target, fresh, parts, mode, false, plans);
  if (!error) error = eb_results_put(fresh, target, replace);
  if (error) unlink(fresh);
  free(fresh);
  return error ? eb_error_prefix(error, "cannot add results to '%s', which is unchanged", target)
               : EB_OK;
}

eb_error eb_target_check(const char *target) {
  struct stat info;
  if (stat(target, &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return EB_ERROR(EB_ERR_IO, "'%s' is a folder; name a file in it", target);
    if (!S_ISREG(info.st_mode))
      return EB_ERROR(EB_ERR_IO, "'%s' is not a regular file; results cannot go there", target);
  } else if (errno != ENOENT) {
    return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", target, strerror(errno));
  }
  char *probe;
  int file;
  EB_TRY(eb_file_beside(target, &probe, &file));
  close(file);
  unlink(probe);
  free(probe);
  return EB_OK;
}
