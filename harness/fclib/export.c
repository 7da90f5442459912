/* The contact problems of result files as files of FCLib: their groups are copied. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/fclib/store.h"
#include "harness/results/export.h"
#include "harness/results/h5.h"
#include "problems/base/text.h"

static eb_error copy_problem(hid_t from, const char *path) {
  static const char *const groups[] = {"fclib_global", "solution", "guesses"};
  hid_t file;
  eb_error error = EB_OK;
  EB_TRY(eb_h5_create_file(path, &file));
  for (size_t i = 0; i < sizeof groups / sizeof *groups && !error; i++)
    if (eb_h5_exists(from, groups[i]) &&
        H5Ocopy(from, groups[i], file, groups[i], H5P_DEFAULT, H5P_DEFAULT) < 0)
      error = eb_h5_error("cannot write", path);
  eb_error closing = eb_h5_close_file(file, path);
  if (!error) return closing;
  eb_error_free(closing);
  return error;
}

static eb_error export_run(const eb_results *results, const eb_run *run, const char *folder,
                           FILE *out, int *written) {
  char group[300], path[1000];
  snprintf(group, sizeof group, "runs/%s/" EB_FCLIB_GROUP, run->id);
  if (!eb_h5_exists(eb_results_file(results), group)) return EB_OK;
  snprintf(path, sizeof path, "%s%s%s.hdf5", folder ? folder : "", folder ? "/" : "", run->id);
  hid_t from = H5Gopen2(eb_results_file(results), group, H5P_DEFAULT);
  if (from < 0) return eb_h5_error("cannot open group", group);
  eb_error error = copy_problem(from, path);
  H5Gclose(from);
  if (error) return error;
  fprintf(out, "%s\n", path);
  ++*written;
  return EB_OK;
}

eb_error eb_fclib_export(const eb_results *results, const eb_strings *ids, const char *folder,
                         FILE *out, int *written) {
  *written = 0;
  if (folder && mkdir(folder, 0777) && errno != EEXIST)
    return EB_ERROR(EB_ERR_IO, "cannot make the folder '%s': %s", folder, strerror(errno));
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (eb_export_selects(ids, run)) EB_TRY(export_run(results, run, folder, out, written));
  }
  return EB_OK;
}
