#include "harness/results/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "harness/results/json.h"

bool eb_export_selects(const eb_strings *ids, const eb_run *run) {
  for (int i = 0; i < ids->count; i++)
    if (strcmp(ids->items[i], run->id) == 0) return true;
  return ids->count == 0;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* A cell as RFC 4180 quotes it, in one line. Spreadsheets take a text that opens with one of = + -
 * @ for a formula, which may call programs: an apostrophe before it makes it text (OWASP, CSV
 * Injection). */
static eb_error put_text(const char *text, FILE *out) {
  static const eb_escape in_cell[] = {{'"', "\"\""}, {'\n', ""}, {'\t', ""}, {0}};
  text += strspn(text, "\n\t");
  fputs(*text && strchr("=+-@", *text) ? "\"'" : "\"", out);
  EB_TRY(eb_print_escaped(out, text, in_cell));
  fputs("\",", out);
  return EB_OK;
}

static eb_error put_rows(const eb_results *results, int index, FILE *out) {
  const eb_run *run = eb_results_run(results, index);
  const char *const texts[] = {run->id, run->scene, run->parameters, run->solver, run->options};
  double *columns[EB_STEP_TABLES] = {NULL};
  size_t rows = SIZE_MAX, count;
  eb_error error = EB_OK;
  for (int i = 0; i < EB_STEP_TABLES && !error; i++) {
    error = eb_results_steps(results, index, i, &columns[i], &count);
    if (count < rows) rows = count;
  }
  for (size_t row = 0; row < rows && !error; row++) {
    for (size_t t = 0; t < sizeof texts / sizeof *texts && !error; t++)
      error = put_text(texts[t], out);
    fprintf(out, "%lld,%lld", (long long)run->threads, (long long)run->repetition);
    for (int i = 0; i < EB_STEP_TABLES; i++) fprintf(out, ",%.17g", columns[i][row]);
    fputc('\n', out);
  }
  for (int i = 0; i < EB_STEP_TABLES; i++) free(columns[i]);
  return error;
}

eb_error eb_export_csv(const eb_results *results, const eb_strings *ids, FILE *out) {
  eb_error error = EB_OK;
  fputs("run,scene,parameters,solver,options,threads,repetition", out);
  for (int i = 0; i < EB_STEP_TABLES; i++) {
    eb_step_table table = eb_results_table_info(i);
    if (i < EB_COL_COUNT)
      fprintf(out, ",%s", table.name);
    else
      fprintf(out, ",%s/%s", table.group, table.name);
    if (strcmp(table.unit, "1") != 0) fprintf(out, " (%s)", table.unit);
  }
  fputc('\n', out);
  for (int i = 0; i < eb_results_count(results) && !error; i++)
    if (eb_export_selects(ids, eb_results_run(results, i))) error = put_rows(results, i, out);
  return error;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* `whole`: of numbers that the file stores as integers. */
static json_t *array_json(const double *values, size_t count, bool whole) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(array,
                          whole ? json_integer((json_int_t)values[i]) : eb_json_real(values[i]));
  return array;
}

/* object[group], which is made when there is none. */
static json_t *member(json_t *object, const char *group) {
  json_t *found = json_object_get(object, group);
  if (found) return found;
  json_object_set_new(object, group, json_object());
  return json_object_get(object, group);
}

static eb_error add_steps(const eb_results *results, int run, json_t *json) {
  for (int i = 0; i < EB_STEP_TABLES; i++) {
    double *values;
    size_t count;
    eb_step_table table = eb_results_table_info(i);
    EB_TRY(eb_results_steps(results, run, i, &values, &count));
    bool whole = i < EB_COL_COUNT && eb_columns[i].whole;
    json_object_set_new(member(json, table.group), table.name, array_json(values, count, whole));
    free(values);
  }
  return EB_OK;
}

/* object[column] = group/column of the run. */
static eb_error add_column(const eb_results *results, int run, const char *group,
                           const char *column, json_t *object) {
  char path[400];
  double *values;
  size_t count;
  snprintf(path, sizeof path, "%s/%s", group, column);
  EB_TRY(eb_results_column(results, run, path, &values, &count));
  json_object_set_new(object, column, array_json(values, count, false));
  free(values);
  return EB_OK;
}

/* parts/NAME/COLUMN, of runs that tell of parts. */
static eb_error add_parts(const eb_results *results, int run, json_t *json) {
  eb_strings names = {0};
  eb_error error = eb_results_parts(results, run, &names);
  for (int n = 0; n < names.count && !error; n++) {
    json_t *part = json_object();
    char group[300];
    snprintf(group, sizeof group, "%s/%.200s", EB_PARTS_GROUP, names.items[n]);
    for (int c = 0; c < EB_PART_COLUMNS && !error; c++)
      error = add_column(results, run, group, eb_part_columns[c].name, part);
    eb_json_set(member(json, EB_PARTS_GROUP), names.items[n], part);
  }
  eb_strings_clear(&names);
  return error;
}

/* rotation/COLUMN, of runs that tell of rotations. */
static eb_error add_rotations(const eb_results *results, int run, json_t *json) {
  if (!eb_results_has(results, run, EB_ROTATION_GROUP)) return EB_OK;
  for (int i = 0; i < EB_ROTATION_COLUMNS; i++)
    EB_TRY(add_column(results, run, EB_ROTATION_GROUP, eb_rotation_columns[i].name,
                      member(json, EB_ROTATION_GROUP)));
  return EB_OK;
}

/* ---- what was examined ----------------------------------------------------------------------- */

/* object[name] for each number of the group, but not for `groups` in it. */
static eb_error add_numbers(const eb_results *results, int run, const char *group,
                            const char *const *groups, json_t *object) {
  eb_strings names = {0};
  eb_error error = eb_results_members(results, run, group, &names);
  for (int i = 0; i < names.count && !error; i++) {
    char path[400];
    double value;
    bool is_group = false;
    for (int g = 0; groups && groups[g]; g++)
      is_group = is_group || strcmp(groups[g], names.items[i]) == 0;
    if (is_group) continue;
    snprintf(path, sizeof path, "%s/%s", group, names.items[i]);
    error = eb_results_number(results, run, path, &value);
    if (!error) eb_json_set(object, names.items[i], eb_json_real(value));
  }
  eb_strings_clear(&names);
  return error;
}

/* subspace/NAME, subspace/variance/REGION and such, element/NAME and embedding/NAME, of runs that
 * were examined. */
static eb_error add_examined(const eb_results *results, int run, json_t *json) {
  static const char *const by_region[] = {"variance", "density", NULL};
  static const char *const groups[] = {EB_SUBSPACE_GROUP, "element", EB_EMBEDDING_GROUP};
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    if (eb_results_has(results, run, groups[g]))
      EB_TRY(add_numbers(results, run, groups[g], by_region, member(json, groups[g])));
  for (int r = 0; by_region[r]; r++) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", EB_SUBSPACE_GROUP, by_region[r]);
    if (eb_results_has(results, run, path))
      EB_TRY(add_numbers(results, run, path, NULL,
                         member(member(json, EB_SUBSPACE_GROUP), by_region[r])));
  }
  return EB_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error add_figure(const eb_results *results, int run, const char *path, const char *name,
                           json_t *object) {
  double value;
  EB_TRY(eb_results_setup(results, run, path, &value));
  if (isfinite(value)) json_object_set_new(object, name, json_real(value));
  return EB_OK;
}

static json_t *integers_json(const int32_t *values, int32_t count) {
  json_t *array = json_array();
  for (int32_t i = 0; i < count; i++) json_array_append_new(array, json_integer(values[i]));
  return array;
}

static eb_error add_tree(const eb_results *results, int run, json_t *setup) {
  eb_tree_log tree;
  EB_TRY(eb_results_tree(results, run, &tree));
  if (tree.count > 0)
    json_object_set_new(setup, "supernodes",
                        eb_json_pack("{s:o, s:o, s:o, s:o}", "parent",
                                     integers_json(tree.parent, tree.count), "pivots",
                                     integers_json(tree.pivots, tree.count), "rows",
                                     integers_json(tree.rows, tree.count), "flops",
                                     array_json(tree.flops, (size_t)tree.count, false)));
  eb_results_tree_clear(&tree);
  return EB_OK;
}

/* What the file tells of the set-up: seconds of phases, amounts of counters, bytes by kind, and the
 * elimination tree. */
static eb_error add_setup(const eb_results *results, int run, json_t *json) {
  json_t *setup = member(json, "setup");
  for (int i = EB_COL_COUNT; i < EB_STEP_TABLES; i++) {
    eb_step_table table = eb_results_table_info(i);
    EB_TRY(add_figure(results, run, table.name, table.name, member(setup, table.group)));
  }
  for (int i = 0; i < EB_MEMORY_KINDS; i++) {
    char path[64];
    const char *name = eb_memory_name((eb_memory_kind)i);
    snprintf(path, sizeof path, "memory/%s", name);
    EB_TRY(add_figure(results, run, path, name, member(setup, "memory")));
  }
  return add_tree(results, run, setup);
}

/* ---- residuals ------------------------------------------------------------------------------- */

/* One array a step. */
static eb_error add_residuals(const eb_results *results, int run, json_t *json) {
  eb_residuals r;
  EB_TRY(eb_results_residuals(results, run, &r));
  json_t *steps = json_array();
  for (size_t s = 0; s < r.steps; s++)
    json_array_append_new(steps, array_json(r.values + r.offsets[s],
                                            (size_t)(r.offsets[s + 1] - r.offsets[s]), false));
  json_object_set_new(json, "residuals",
                      eb_json_pack("{s:s, s:o}", "norm", r.norm, "steps", steps));
  eb_residuals_clear(&r);
  return EB_OK;
}

/* ---- the environment ------------------------------------------------------------------------- */

/* As the file has it: a number with all its digits, or NULL when the fact is a text. */
static json_t *number_json(hid_t environment, const char *name) {
  json_t *json = NULL;
  double real;
  int64_t whole;
  hid_t attribute = H5Aopen(environment, name, H5P_DEFAULT);
  hid_t type = attribute < 0 ? -1 : H5Aget_type(attribute);
  H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  if (class == H5T_FLOAT && H5Aread(attribute, H5T_NATIVE_DOUBLE, &real) >= 0)
    json = eb_json_real(real);
  if (class == H5T_INTEGER && H5Aread(attribute, H5T_NATIVE_INT64, &whole) >= 0)
    json = json_integer(whole);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return json;
}

static herr_t add_fact(hid_t group, const char *name, const H5A_info_t *info, void *json) {
  json_t *fact = number_json(group, name);
  char *text = NULL;
  (void)info;
  if (!fact) eb_error_free(eb_h5_get_text(group, name, &text));
  if (!fact && text) fact = eb_json_text(text);
  eb_json_set(json, name, fact ? fact : json_null());
  free(text);
  return 0;
}

static eb_error add_environment(hid_t file, const char *path, json_t *json) {
  hsize_t first = 0;
  if (!eb_h5_exists(file, path)) return EB_OK;
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  herr_t walked = H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &first, add_fact, json);
  H5Gclose(group);
  return walked < 0 ? eb_h5_error("cannot list attributes of", path) : EB_OK;
}

/* Of a run that another machine made, in a file that was merged from those of several. */
static eb_error add_other_machine(hid_t file, const eb_run *run, json_t *json) {
  char path[300], *hash = NULL;
  snprintf(path, sizeof path, "runs/%.250s", run->id);
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_h5_get_text(group, "environment", &hash);
  H5Gclose(group);
  if (!error && *hash) {
    snprintf(path, sizeof path, "environments/%.250s", hash);
    error = add_environment(file, path, member(json, "environment"));
  }
  free(hash);
  return error;
}

/* ---- the file -------------------------------------------------------------------------------- */

static eb_error add_all(const eb_results *results, const eb_strings *ids, json_t *json) {
  const hid_t file = eb_results_file(results);
  EB_TRY(add_environment(file, "environment", member(json, "environment")));
  json_object_set_new(json, "runs", json_array());
  json_t *runs = json_object_get(json, "runs");
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (!eb_export_selects(ids, run)) continue;
    json_t *of_run = eb_json_run(run);
    json_array_append_new(runs, of_run);
    EB_TRY(add_other_machine(file, run, of_run));
    EB_TRY(add_steps(results, i, of_run));
    EB_TRY(add_parts(results, i, of_run));
    EB_TRY(add_rotations(results, i, of_run));
    EB_TRY(add_examined(results, i, of_run));
    EB_TRY(add_setup(results, i, of_run));
    EB_TRY(add_residuals(results, i, of_run));
  }
  return EB_OK;
}

eb_error eb_export_json(const eb_results *results, const eb_strings *ids, FILE *out) {
  json_t *json = eb_json_pack("{s:s, s:i}", "file", eb_results_path(results), "schema_version",
                              EB_SCHEMA_VERSION);
  eb_error error = json ? add_all(results, ids, json) : EB_OK;
  if (!error) return eb_json_print(json, out);
  json_decref(json);
  return error;
}
