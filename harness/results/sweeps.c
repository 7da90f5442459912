#include "harness/results/sweeps.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/table.h"
#include "problems/base/strings.h"

#define TEXT(field)                                                                                \
  { #field, "", EB_FIELD_TEXT, offsetof(eb_sweep_record, field) }
#define REAL(field)                                                                                \
  { #field, "", EB_FIELD_REAL, offsetof(eb_sweep_record, field) }
static const eb_field fields[] = {TEXT(identity),
                                  TEXT(scene),
                                  TEXT(parameters),
                                  TEXT(solver),
                                  TEXT(options),
                                  TEXT(option),
                                  TEXT(found),
                                  TEXT(detail),
                                  TEXT(audit),
                                  TEXT(runs),
                                  REAL(low),
                                  REAL(high),
                                  REAL(step),
                                  REAL(energy_limit),
                                  REAL(least_stable),
                                  REAL(greatest_unstable),
                                  {0}};

static const eb_quantity trials[] = {
    {"value", "see option", EB_REAL, offsetof(eb_sweep_trial, value), 1, NULL},
    {"stable", "1", EB_INT, offsetof(eb_sweep_trial, stable), 1, NULL},
    {"energy", "J", EB_REAL, offsetof(eb_sweep_trial, energy), 1, NULL},
    {"steps", "1", EB_LONG, offsetof(eb_sweep_trial, steps), 1, NULL},
    {0}};

void eb_sweep_record_clear(eb_sweep_record *record) {
  free(record->name);
  eb_fields_clear(fields, record);
  *record = (eb_sweep_record){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static eb_error fill(hid_t file, const char *environment, const eb_sweep_record *record) {
  static const char *const names[] = {"runs", "scenes", "sweeps"};
  char path[300];
  hid_t group, source;
  EB_TRY(eb_schema_write(file));
  EB_TRY(eb_h5_open_file(environment, false, &source));
  herr_t status = H5Ocopy(source, "environment", file, "environment", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(source);
  if (status < 0) return eb_h5_error("cannot copy", "environment");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    EB_TRY(eb_h5_group(file, names[i], &group));
    H5Gclose(group);
  }
  snprintf(path, sizeof path, "sweeps/%s", record->name);
  EB_TRY(eb_h5_group(file, path, &group));
  eb_error error = eb_fields_write(group, fields, record);
  if (!error)
    error = eb_quantities_put(group, trials, record->trials, sizeof *record->trials,
                              (size_t)record->count);
  H5Gclose(group);
  return error;
}

eb_error eb_sweep_write(const char *path, const char *environment, const eb_sweep_record *record) {
  hid_t file;
  EB_TRY(eb_h5_create_file(path, &file));
  eb_error error = fill(file, environment, record);
  eb_error closing = eb_h5_close_file(file, path);
  if (!error) return closing;
  eb_error_free(closing);
  return error;
}

/* ---- reading --------------------------------------------------------------------------------- */

int eb_sweeps_count(const eb_results *results) {
  H5G_info_t info = {0};
  hid_t file = eb_results_file(results);
  if (!eb_h5_exists(file, "sweeps")) return 0;
  return H5Gget_info_by_name(file, "sweeps", &info, H5P_DEFAULT) < 0 ? 0 : (int)info.nlinks;
}

eb_error eb_sweep_read(hid_t file, const char *name, eb_sweep_record *out) {
  char path[300];
  *out = (eb_sweep_record){0};
  snprintf(path, sizeof path, "sweeps/%s", name);
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_fields_read(group, fields, out);
  if (!error)
    error = eb_quantities_get(group, trials, out->trials, sizeof *out->trials, EB_SWEEP_TRIALS,
                              &out->count);
  H5Gclose(group);
  if (!error) error = eb_string_set(&out->name, name);
  if (error) eb_sweep_record_clear(out);
  return error;
}

eb_error eb_sweeps_read(const eb_results *results, int sweep, eb_sweep_record *out) {
  char name[256];
  *out = (eb_sweep_record){0};
  hid_t file = eb_results_file(results);
  if (H5Lget_name_by_idx(file, "sweeps", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)sweep, name,
                         sizeof name, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot list", "sweeps");
  return eb_error_prefix(eb_sweep_read(file, name, out), "%s: sweep %s", eb_results_path(results),
                         name);
}

eb_error eb_sweeps_find(const eb_results *results, const char *identity, bool *there,
                        eb_sweep_record *out) {
  *there = false;
  for (int i = 0; i < eb_sweeps_count(results); i++) {
    EB_TRY(eb_sweeps_read(results, i, out));
    *there = strcmp(out->identity, identity) == 0;
    if (*there) return EB_OK;
    eb_sweep_record_clear(out);
  }
  return EB_OK;
}
