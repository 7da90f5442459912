#include "harness/results/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness/results/sweeps.h"
#include "harness/results/write.h"
#include "problems/base/text.h"

/* ---- comparability --------------------------------------------------------------------------- */

static const char *dirty_word(const eb_results *results) {
  return strcmp(eb_results_environment(results, "dirty"), "0") == 0 ? "" : " with local changes";
}

eb_error eb_results_comparable(const eb_results *a, const eb_results *b) {
  static const char *const facts[] = {"cpu",          "cores",   "compiler", "flags", "blas",
                                      "blas_kernels", "cholmod", "metis",    "petsc", "libc"};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    const char *left = eb_results_environment(a, facts[i]);
    const char *right = eb_results_environment(b, facts[i]);
    if (strcmp(left, right) != 0)
      return EB_ERROR(EB_ERR_INVALID, "'%s' and '%s' are not comparable: %s is '%s' and '%s'",
                      eb_results_path(a), eb_results_path(b), facts[i], left, right);
  }
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

/* ---- copying --------------------------------------------------------------------------------- */

static eb_error copy_object(hid_t from, const char *path, hid_t to) {
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  herr_t status = H5Ocopy(from, path, to, path, H5P_DEFAULT, links);
  H5Pclose(links);
  return status < 0 ? eb_h5_error("cannot copy", path) : EB_OK;
}

static eb_error copy_run(const eb_results *part, const eb_run *run, hid_t target,
                         eb_duplicates duplicates) {
  char path[300];
  snprintf(path, sizeof path, "runs/%s", run->id);
  if (eb_h5_exists(target, path)) {
    if (duplicates == EB_DUPLICATES_KEEP_FIRST) return EB_OK;
    return EB_ERROR(EB_ERR_INVALID, "run '%s' of '%s' is in another file as well", run->id,
                    eb_results_path(part));
  }
  EB_TRY(copy_object(eb_results_file(part), path, target));
  snprintf(path, sizeof path, "scenes/%s", run->scene_hash);
  if (!*run->scene_hash || eb_h5_exists(target, path) || !eb_h5_exists(eb_results_file(part), path))
    return EB_OK;
  return copy_object(eb_results_file(part), path, target);
}

/* A sweep of a name that is there already: the new one takes its place, unless files are merged,
 * which must not contradict each other. */
static eb_error copy_sweeps(const eb_results *part, hid_t target, eb_duplicates duplicates) {
  eb_error error = EB_OK;
  for (int i = 0; i < eb_sweeps_count(part) && !error; i++) {
    char path[300];
    eb_sweep_record sweep;
    EB_TRY(eb_sweeps_read(part, i, &sweep));
    snprintf(path, sizeof path, "sweeps/%s", sweep.name);
    bool there = eb_h5_exists(target, path);
    if (there && duplicates == EB_DUPLICATES_REFUSE)
      error = EB_ERROR(EB_ERR_INVALID, "sweep '%s' of '%s' is in another file as well", sweep.name,
                       eb_results_path(part));
    else if (there && H5Ldelete(target, path, H5P_DEFAULT) < 0)
      error = eb_h5_error("cannot replace", path);
    if (!error) error = copy_object(eb_results_file(part), path, target);
    eb_sweep_record_clear(&sweep);
  }
  return error;
}

/* Gives a text attribute of variable length a fixed one. */
static eb_error fix_text(hid_t object, const char *name) {
  char *text = NULL;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  bool variable = H5Tis_variable_str(type) > 0;
  if (type >= 0) H5Tclose(type);
  if (attribute < 0) return eb_h5_error("cannot open attribute", name);
  H5Aclose(attribute);
  if (!variable) return EB_OK;
  eb_error error = eb_h5_get_text(object, name, &text);
  if (!error) error = eb_h5_put_text(object, name, text);
  free(text);
  return error;
}

/* By index, since an attribute that is replaced must not be iterated over. */
static herr_t fix_object(hid_t file, const char *name, const H5O_info_t *info, void *out) {
  hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  eb_error error = object < 0 ? eb_h5_error("cannot open", name) : EB_OK;
  for (hsize_t i = 0; i < info->num_attrs && !error; i++) {
    char attribute[256];
    if (H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, attribute, sizeof attribute,
                           H5P_DEFAULT) < 0)
      error = eb_h5_error("cannot list", "attributes");
    else
      error = fix_text(object, attribute);
  }
  if (object >= 0) H5Oclose(object);
  *(eb_error *)out = eb_error_prefix(error, "%s", name);
  return error ? -1 : 0;
}

/* Brings an open file in which something is of an older version up to this one. */
static eb_error update_schema(hid_t file) {
  eb_error error = EB_OK;
  unsigned fields = H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS;
  herr_t status = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, fix_object, &error, fields);
  if (status < 0 && !error) error = eb_h5_error("cannot list", "the file");
  return error ? error : eb_schema_write(file);
}

/* *older is set when the part's schema is, and left alone otherwise. */
static eb_error add_part(const char *path, hid_t target, eb_duplicates duplicates, bool *older) {
  eb_results *part;
  int64_t version = 0;
  EB_TRY(eb_results_open(path, &part));
  hid_t file = eb_results_file(part);
  eb_error error = eb_h5_get_int(file, "schema_version", &version);
  *older = *older || version < EB_SCHEMA_VERSION;
  if (!error && !eb_h5_exists(target, "environment") && eb_h5_exists(file, "environment"))
    error = copy_object(file, "environment", target);
  for (int i = 0; i < eb_results_count(part) && !error; i++)
    error = copy_run(part, eb_results_run(part, i), target, duplicates);
  if (!error) error = copy_sweeps(part, target, duplicates);
  eb_results_close(part);
  return error;
}

/* ---- replacing the target -------------------------------------------------------------------- */

static eb_error copy_file(const char *from, const char *to) {
  char buffer[1 << 16];
  ssize_t got = 1;
  int source = open(from, O_RDONLY | O_CLOEXEC);
  if (source < 0) return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", from, strerror(errno));
  int sink = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool written = sink >= 0;
  while (written && (got = read(source, buffer, sizeof buffer)) > 0)
    for (ssize_t done = 0, put; written && done < got; done += put) {
      put = write(sink, buffer + done, (size_t)(got - done));
      written = put >= 0;
    }
  int cause = errno;
  close(source);
  if (sink >= 0 && close(sink) && written) {
    cause = errno;
    written = false;
  }
  if (got < 0) return EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", from, strerror(cause));
  return written ? EB_OK : EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", to, strerror(cause));
}

static eb_error open_copy(const char *target, const char *fresh, eb_merge_mode mode, hid_t *file) {
  if (mode == EB_MERGE_ADD && access(target, F_OK) == 0) {
    EB_TRY(copy_file(target, fresh));
    return eb_h5_open_file(fresh, true, file);
  }
  EB_TRY(eb_h5_create_file(fresh, file));
  eb_error error = eb_schema_write(*file);
  if (error) H5Fclose(*file);
  return error;
}

static eb_error fill_copy(const char *target, const char *fresh, const eb_strings *parts,
                          eb_merge_mode mode, eb_duplicates duplicates) {
  hid_t file;
  int64_t version = 0;
  EB_TRY(open_copy(target, fresh, mode, &file));
  eb_error error = eb_h5_get_int(file, "schema_version", &version);
  bool older = version < EB_SCHEMA_VERSION;
  static const char *const groups[] = {"runs", "scenes"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups && !error; i++) {
    hid_t group;
    error = eb_h5_group(file, groups[i], &group);
    if (!error) H5Gclose(group);
  }
  for (int i = 0; i < parts->count && !error; i++)
    error = add_part(parts->items[i], file, duplicates, &older);
  if (!error && older) error = update_schema(file);
  eb_error closing = eb_h5_close_file(file, fresh);
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
  int file = open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
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

eb_error eb_results_put(const char *fresh, const char *target) {
  int file = open(fresh, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fsync(file)) {
    eb_error error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", fresh, strerror(errno));
    if (file >= 0) close(file);
    return error;
  }
  close(file);
  if (rename(fresh, target))
    return EB_ERROR(EB_ERR_IO, "cannot rename '%s' to '%s': %s", fresh, target, strerror(errno));
  return EB_OK;
}

eb_error eb_results_join(const char *fresh, const eb_strings *parts) {
  EB_TRY(check_room("", fresh, parts, EB_MERGE_REPLACE));
  return fill_copy("", fresh, parts, EB_MERGE_REPLACE, EB_DUPLICATES_REFUSE);
}

eb_error eb_results_merge(const char *target, const eb_strings *parts, eb_merge_mode mode,
                          eb_duplicates duplicates) {
  eb_text fresh = {0};
  EB_TRY(eb_text_printf(&fresh, "%s.%ld.new", target, (long)getpid()));
  eb_error error = check_room(target, fresh.data, parts, mode);
  if (!error) error = fill_copy(target, fresh.data, parts, mode, duplicates);
  if (!error) error = eb_results_put(fresh.data, target);
  if (error) unlink(fresh.data);
  eb_text_clear(&fresh);
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
  eb_text probe = {0};
  EB_TRY(eb_text_printf(&probe, "%s.%ld.new", target, (long)getpid()));
  int file = open(probe.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  eb_error error =
      file < 0 ? EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", target, strerror(errno)) : EB_OK;
  if (file >= 0) {
    close(file);
    unlink(probe.data);
  }
  eb_text_clear(&probe);
  return error;
}
