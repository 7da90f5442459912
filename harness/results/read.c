#include "harness/results/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/write.h"
#include "problems/base/memory.h"

struct eb_results {
  char *path;
  hid_t file;
  int run_count, fact_count;
  eb_run *runs;
  eb_fact *facts;
};

/* ---- opening --------------------------------------------------------------------------------- */

static eb_error read_run(eb_results *results, hid_t runs, hsize_t at) {
  char id[256];
  if (H5Lget_name_by_idx(runs, ".", H5_INDEX_NAME, H5_ITER_INC, at, id, sizeof id, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot list", "runs");
  hid_t group = H5Gopen2(runs, id, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open run", id);
  eb_run *run = &results->runs[results->run_count];
  eb_error error = eb_run_read(group, run);
  H5Gclose(group);
  if (error) return eb_error_prefix(error, "run %s", id);
  results->run_count++;
  return eb_run_set(&run->id, id);
}

static int by_plan(const void *a, const void *b) {
  const eb_run *left = a, *right = b;
  if (left->order != right->order) return left->order < right->order ? -1 : 1;
  return strcmp(left->id, right->id);
}

static eb_error read_runs(eb_results *results) {
  H5G_info_t info;
  if (!eb_h5_exists(results->file, "runs"))
    return EB_ERROR(EB_ERR_FORMAT, "there is no group /runs");
  hid_t runs = H5Gopen2(results->file, "runs", H5P_DEFAULT);
  if (runs < 0 || H5Gget_info(runs, &info) < 0) return eb_h5_error("cannot read", "runs");
  eb_error error = EB_NEW(results->runs, info.nlinks);
  for (hsize_t i = 0; i < info.nlinks && !error; i++) error = read_run(results, runs, i);
  H5Gclose(runs);
  if (!error) qsort(results->runs, (size_t)results->run_count, sizeof *results->runs, by_plan);
  return error;
}

/* Any scalar attribute as text. */
static eb_error fact_text(hid_t group, const char *name, char **out) {
  hid_t attribute = H5Aopen(group, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  H5T_class_t class = H5Tget_class(type);
  H5Tclose(type);
  H5Aclose(attribute);
  if (class == H5T_STRING) return eb_h5_get_text(group, name, out);
  char text[32];
  double real;
  int64_t integer;
  if (class == H5T_FLOAT) {
    EB_TRY(eb_h5_get_real(group, name, &real));
    snprintf(text, sizeof text, "%.6g", real);
  } else {
    EB_TRY(eb_h5_get_int(group, name, &integer));
    snprintf(text, sizeof text, "%lld", (long long)integer);
  }
  return eb_run_set(out, text);
}

static eb_error read_fact(eb_results *results, hid_t group, hsize_t at) {
  char name[128];
  if (H5Aget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, at, name, sizeof name,
                         H5P_DEFAULT) < 0)
    return eb_h5_error("cannot list attributes of", "environment");
  eb_fact *fact = &results->facts[results->fact_count++];
  EB_TRY(eb_run_set(&fact->name, name));
  return fact_text(group, name, &fact->value);
}

static eb_error read_environment(eb_results *results) {
  if (!eb_h5_exists(results->file, "environment")) return EB_OK;
  hid_t group = H5Gopen2(results->file, "environment", H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", "environment");
  H5O_info_t info;
  eb_error error = H5Oget_info2(group, &info, H5O_INFO_NUM_ATTRS) < 0
                       ? eb_h5_error("cannot read", "environment")
                       : EB_NEW(results->facts, info.num_attrs);
  for (hsize_t i = 0; !error && i < info.num_attrs; i++) error = read_fact(results, group, i);
  H5Gclose(group);
  return error;
}

static eb_error open_all(eb_results *results, const char *path) {
  EB_TRY(eb_run_set(&results->path, path));
  EB_TRY(eb_h5_open_file(path, false, &results->file));
  EB_TRY(eb_schema_check(results->file, path));
  EB_TRY(eb_error_prefix(read_environment(results), "%s", path));
  return eb_error_prefix(read_runs(results), "%s", path);
}

eb_error eb_results_open(const char *path, eb_results **out) {
  eb_results *results;
  *out = NULL;
  EB_TRY(EB_NEW(results, 1));
  results->file = -1;
  eb_error error = open_all(results, path);
  if (error)
    eb_results_close(results);
  else
    *out = results;
  return error;
}

void eb_results_close(eb_results *results) {
  if (!results) return;
  for (int i = 0; i < results->run_count; i++) eb_run_clear(&results->runs[i]);
  for (int i = 0; i < results->fact_count; i++) {
    free(results->facts[i].name);
    free(results->facts[i].value);
  }
  if (results->file >= 0) H5Fclose(results->file);
  free(results->runs);
  free(results->facts);
  free(results->path);
  free(results);
}

const char *eb_results_path(const eb_results *results) {
  return results->path;
}

hid_t eb_results_file(const eb_results *results) {
  return results->file;
}

int eb_results_count(const eb_results *results) {
  return results->run_count;
}

const eb_run *eb_results_run(const eb_results *results, int run) {
  return &results->runs[run];
}

int eb_results_find(const eb_results *results, const char *identity) {
  for (int i = 0; i < results->run_count; i++)
    if (strcmp(results->runs[i].identity, identity) == 0) return i;
  return -1;
}

int eb_results_fact_count(const eb_results *results) {
  return results->fact_count;
}

const eb_fact *eb_results_fact(const eb_results *results, int fact) {
  return &results->facts[fact];
}

const char *eb_results_environment(const eb_results *results, const char *name) {
  for (int i = 0; i < results->fact_count; i++)
    if (strcmp(results->facts[i].name, name) == 0) return results->facts[i].value;
  return "";
}

/* ---- tables ---------------------------------------------------------------------------------- */

static eb_error open_run(const eb_results *results, int run, hid_t *out) {
  char path[300];
  snprintf(path, sizeof path, "/runs/%s", results->runs[run].id);
  *out = H5Gopen2(results->file, path, H5P_DEFAULT);
  return *out < 0 ? eb_h5_error("cannot open", path) : EB_OK;
}

eb_error eb_results_locate(const eb_results *results, int run, eb_error error) {
  return eb_error_prefix(error, "%s: run %s", results->path, results->runs[run].id);
}

/* Reads a dataset of a run; *out is a valid empty array when the run has no tables. */
static eb_error read_table(const eb_results *results, int run, const char *path, hid_t memory,
                           size_t size, void **out, size_t *count) {
  hid_t group;
  eb_h5_shape shape;
  *out = NULL;
  *count = 0;
  EB_TRY(open_run(results, run, &group));
  if (!eb_h5_exists(group, "steps")) {
    H5Gclose(group);
    *out = eb_calloc(0, size);
    return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", path);
  }
  eb_error error = eb_h5_get(group, path, memory, size, out, &shape);
  H5Gclose(group);
  if (error) return eb_results_locate(results, run, error);
  *count = (size_t)shape.size[0];
  if (shape.rank == 1) return EB_OK;
  free(*out);
  *out = NULL;
  return eb_results_locate(results, run,
                           EB_ERROR(EB_ERR_FORMAT, "%s has %d axes, not 1", path, shape.rank));
}

eb_error eb_results_column(const eb_results *results, int run, const char *path, double **values,
                           size_t *count) {
  void *data;
  eb_error error = read_table(results, run, path, H5T_NATIVE_DOUBLE, sizeof(double), &data, count);
  *values = data;
  return error;
}

/* A table that files older than its name lack: zeros, one a step. */
static eb_error read_named(const eb_results *results, int run, const char *group, const char *name,
                           double **values, size_t *count) {
  char path[400];
  snprintf(path, sizeof path, "/runs/%s/%s/%s", results->runs[run].id, group, name);
  bool there = eb_h5_exists(results->file, path);
  snprintf(path, sizeof path, "%s/%s", group, name);
  if (there) return eb_results_column(results, run, path, values, count);
  EB_TRY(eb_results_column(results, run, "steps/step", values, count));
  memset(*values, 0, *count * sizeof **values);
  return EB_OK;
}

eb_error eb_results_steps(const eb_results *results, int run, eb_column column, double **values,
                          size_t *count) {
  char path[64];
  if (column >= EB_COL_COMPONENTS)
    return read_named(results, run, "steps", eb_columns[column].name, values, count);
  snprintf(path, sizeof path, "steps/%s", eb_columns[column].name);
  return eb_results_column(results, run, path, values, count);
}

eb_error eb_results_phase(const eb_results *results, int run, eb_phase phase, double **values,
                          size_t *count) {
  return read_named(results, run, "phases", eb_phase_name(phase), values, count);
}

eb_error eb_results_counter(const eb_results *results, int run, eb_counter counter, double **values,
                            size_t *count) {
  return read_named(results, run, "counters", eb_counter_name(counter), values, count);
}

enum { COUNTERS_AT = EB_COL_COUNT + EB_PHASE_COUNT };

eb_step_table eb_results_table_info(int table) {
  if (table < EB_COL_COUNT)
    return (eb_step_table){"steps", eb_columns[table].name, eb_columns[table].unit};
  if (table < COUNTERS_AT)
    return (eb_step_table){"phases", eb_phase_name((eb_phase)(table - EB_COL_COUNT)), "s"};
  return (eb_step_table){"counters", eb_counter_name((eb_counter)(table - COUNTERS_AT)), "1"};
}

eb_error eb_results_table(const eb_results *results, int run, int table, double **values,
                          size_t *count) {
  if (table < EB_COL_COUNT) return eb_results_steps(results, run, (eb_column)table, values, count);
  if (table < COUNTERS_AT)
    return eb_results_phase(results, run, (eb_phase)(table - EB_COL_COUNT), values, count);
  return eb_results_counter(results, run, (eb_counter)(table - COUNTERS_AT), values, count);
}

static eb_error read_norm(const eb_results *results, int run, char **out) {
  hid_t group, residuals;
  EB_TRY(open_run(results, run, &group));
  if (!eb_h5_exists(group, "residuals")) {
    H5Gclose(group);
    return eb_run_set(out, "");
  }
  residuals = H5Gopen2(group, "residuals", H5P_DEFAULT);
  eb_error error = eb_h5_get_text(residuals, "norm", out);
  H5Gclose(residuals);
  H5Gclose(group);
  return error;
}

/* A file cut off or written by others may have offsets that do not fit the values. */
static eb_error check_offsets(const eb_residuals *residuals, size_t count, size_t values,
                              size_t seconds) {
  bool good = count > 0 && residuals->offsets[0] == 0 && seconds == values;
  for (size_t s = 0; good && s + 1 < count; s++)
    good = residuals->offsets[s] <= residuals->offsets[s + 1];
  good = good && (size_t)residuals->offsets[count - 1] <= values;
  return good ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "residuals/offsets do not fit residuals/values");
}

static eb_error check_rounds(const eb_residuals *residuals, size_t count, size_t rounds) {
  const int64_t *offsets = residuals->round_offsets;
  bool good = count == residuals->steps + 1 && offsets[0] == 0;
  for (size_t s = 0; good && s + 1 < count; s++) good = offsets[s] <= offsets[s + 1];
  good = good && (size_t)offsets[count - 1] == rounds;
  return good ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "residuals/round_offsets do not fit rounds");
}

static eb_error fill_rounds(const eb_results *results, int run, eb_residuals *out) {
  char path[400];
  void *data;
  size_t count, rounds;
  snprintf(path, sizeof path, "/runs/%s/residuals/round_offsets", results->runs[run].id);
  if (!eb_h5_exists(results->file, path)) return EB_OK;
  eb_error error = read_table(results, run, "residuals/round_offsets", H5T_NATIVE_INT64,
                              sizeof(int64_t), &data, &count);
  out->round_offsets = data;
  EB_TRY(error);
  error = read_table(results, run, "residuals/rounds", H5T_NATIVE_INT64, sizeof(int64_t), &data,
                     &rounds);
  out->rounds = data;
  EB_TRY(error);
  return eb_results_locate(results, run, check_rounds(out, count, rounds));
}

static eb_error fill_residuals(const eb_results *results, int run, eb_residuals *out) {
  void *data;
  size_t count, values, seconds;
  eb_error error = read_table(results, run, "residuals/offsets", H5T_NATIVE_INT64, sizeof(int64_t),
                              &data, &count);
  out->offsets = data;
  EB_TRY(error);
  EB_TRY(eb_results_column(results, run, "residuals/values", &out->values, &values));
  EB_TRY(eb_results_column(results, run, "residuals/seconds", &out->seconds, &seconds));
  EB_TRY(read_norm(results, run, &out->norm));
  if (count == 0 && values == 0) return EB_OK;
  out->steps = count - 1;
  EB_TRY(eb_results_locate(results, run, check_offsets(out, count, values, seconds)));
  return fill_rounds(results, run, out);
}

eb_error eb_results_residuals(const eb_results *results, int run, eb_residuals *out) {
  *out = (eb_residuals){0};
  eb_error error = fill_residuals(results, run, out);
  if (error) eb_residuals_clear(out);
  return error;
}

void eb_residuals_clear(eb_residuals *residuals) {
  free(residuals->offsets);
  free(residuals->values);
  free(residuals->seconds);
  free(residuals->norm);
  free(residuals->rounds);
  free(residuals->round_offsets);
  *residuals = (eb_residuals){0};
}
