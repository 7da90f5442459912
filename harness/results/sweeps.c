#include "harness/results/sweeps.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/write.h"
#include "problems/base/memory.h"

/* ---- attributes ------------------------------------------------------------------------------ */

typedef struct attribute {
  const char *name;
  size_t offset;
} attribute;

#define FIELD(field)                                                                               \
  { #field, offsetof(eb_sweep_record, field) }
static const attribute texts[] = {FIELD(identity),
                                  FIELD(scene),
                                  FIELD(parameters),
                                  FIELD(solver),
                                  FIELD(options),
                                  FIELD(option),
                                  FIELD(found),
                                  FIELD(detail),
                                  FIELD(audit),
                                  FIELD(runs),
                                  {0}};
static const attribute numbers[] = {FIELD(low),
                                    FIELD(high),
                                    FIELD(step),
                                    FIELD(energy_limit),
                                    FIELD(least_stable),
                                    FIELD(greatest_unstable),
                                    {0}};

static char **text_of(const eb_sweep_record *record, const attribute *a) {
  return (char **)((char *)(uintptr_t)record + a->offset);
}

static double *number_of(const eb_sweep_record *record, const attribute *a) {
  return (double *)(void *)((char *)(uintptr_t)record + a->offset);
}

void eb_sweep_record_clear(eb_sweep_record *record) {
  free(record->name);
  for (const attribute *a = texts; a->name; a++) free(*text_of(record, a));
  *record = (eb_sweep_record){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static eb_error put_column(hid_t group, const char *name, bool whole, const char *unit, int count,
                           const double *values) {
  return eb_h5_put(group, name, whole ? H5T_STD_I64LE : H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                   (eb_h5_shape){1, {(hsize_t)count}}, unit, values);
}

static eb_error put_trials(hid_t group, const eb_sweep_record *record) {
  double value[EB_SWEEP_TRIALS], stable[EB_SWEEP_TRIALS], energy[EB_SWEEP_TRIALS],
      steps[EB_SWEEP_TRIALS];
  for (int i = 0; i < record->count; i++) {
    const eb_sweep_trial *t = &record->trials[i];
    value[i] = t->value;
    stable[i] = t->stable;
    energy[i] = t->energy;
    steps[i] = (double)t->steps;
  }
  EB_TRY(put_column(group, "value", false, "see option", record->count, value));
  EB_TRY(put_column(group, "stable", true, "1", record->count, stable));
  EB_TRY(put_column(group, "energy", false, "J", record->count, energy));
  return put_column(group, "steps", true, "1", record->count, steps);
}

static eb_error put_record(hid_t group, const eb_sweep_record *record) {
  for (const attribute *a = texts; a->name; a++)
    EB_TRY(eb_h5_put_text(group, a->name, *text_of(record, a)));
  for (const attribute *a = numbers; a->name; a++)
    EB_TRY(eb_h5_put_real(group, a->name, *number_of(record, a)));
  return put_trials(group, record);
}

static eb_error copy_environment(const char *environment, hid_t file) {
  hid_t source;
  EB_TRY(eb_h5_open_file(environment, false, &source));
  herr_t status = H5Ocopy(source, "environment", file, "environment", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(source);
  return status < 0 ? eb_h5_error("cannot copy", "environment") : EB_OK;
}

static eb_error fill(hid_t file, const char *environment, const eb_sweep_record *record) {
  static const char *const names[] = {"runs", "scenes", "sweeps"};
  char path[300];
  hid_t group;
  EB_TRY(eb_schema_write(file));
  EB_TRY(copy_environment(environment, file));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    EB_TRY(eb_h5_group(file, names[i], &group));
    H5Gclose(group);
  }
  snprintf(path, sizeof path, "sweeps/%s", record->name);
  EB_TRY(eb_h5_group(file, path, &group));
  eb_error error = put_record(group, record);
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

static eb_error get_column(hid_t group, const char *name, size_t count, double **out) {
  void *data;
  eb_h5_shape shape;
  EB_TRY(eb_h5_get(group, name, H5T_NATIVE_DOUBLE, sizeof **out, &data, &shape));
  *out = data;
  if (shape.rank == 1 && shape.size[0] == count) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "%s is not as long as value", name);
}

typedef struct trial_columns {
  double *value, *stable, *energy, *steps;
} trial_columns;

static eb_error get_columns(hid_t group, size_t count, trial_columns *c) {
  EB_TRY(get_column(group, "value", count, &c->value));
  EB_TRY(get_column(group, "stable", count, &c->stable));
  EB_TRY(get_column(group, "energy", count, &c->energy));
  return get_column(group, "steps", count, &c->steps);
}

static eb_error count_trials(hid_t group, size_t *out) {
  hsize_t size[EB_H5_AXES] = {0};
  hid_t set = H5Dopen2(group, "value", H5P_DEFAULT), space = H5Dget_space(set);
  bool good = set >= 0 && space >= 0 && H5Sget_simple_extent_ndims(space) == 1;
  if (good) H5Sget_simple_extent_dims(space, size, NULL);
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  *out = (size_t)size[0];
  if (good && size[0] <= EB_SWEEP_TRIALS) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "value is not a row a trial, %d at most", EB_SWEEP_TRIALS);
}

static eb_error get_trials(hid_t group, eb_sweep_record *out) {
  trial_columns c = {0};
  size_t count;
  EB_TRY(count_trials(group, &count));
  eb_error error = get_columns(group, count, &c);
  for (size_t i = 0; i < count && !error; i++)
    out->trials[i] = (eb_sweep_trial){.value = c.value[i],
                                      .energy = c.energy[i],
                                      .stable = (int)c.stable[i],
                                      .steps = (int64_t)c.steps[i]};
  free(c.value);
  free(c.stable);
  free(c.energy);
  free(c.steps);
  out->count = (int)count;
  return error;
}

static eb_error get_record(hid_t group, eb_sweep_record *out) {
  for (const attribute *a = texts; a->name; a++)
    EB_TRY(eb_h5_get_text(group, a->name, text_of(out, a)));
  for (const attribute *a = numbers; a->name; a++)
    EB_TRY(eb_h5_get_real(group, a->name, number_of(out, a)));
  return get_trials(group, out);
}

eb_error eb_sweeps_read(const eb_results *results, int sweep, eb_sweep_record *out) {
  char name[256], path[300];
  *out = (eb_sweep_record){0};
  hid_t file = eb_results_file(results);
  if (H5Lget_name_by_idx(file, "sweeps", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)sweep, name,
                         sizeof name, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot list", "sweeps");
  snprintf(path, sizeof path, "sweeps/%s", name);
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = get_record(group, out);
  H5Gclose(group);
  if (!error) error = eb_run_set(&out->name, name);
  if (error) eb_sweep_record_clear(out);
  return eb_error_prefix(error, "%s: sweep %s", eb_results_path(results), name);
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
