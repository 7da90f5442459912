#include "harness/results/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "harness/results/json.h"
#include "problems/base/file.h"
#include "problems/base/owned.h"
#include "problems/scenes/file/scene_file.h"

bool eb_export_selects(const eb_strings *ids, const eb_run *run) {
  for (int i = 0; i < ids->count; i++)
    if (strcmp(ids->items[i], run->id) == 0) return true;
  return ids->count == 0;
}

/* ---- files of runs ----------------------------------------------------------------------------
 */

const char *eb_export_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

eb_error eb_export_path(const eb_results *results, int run, const char *folder, const char *suffix,
                        eb_text *path) {
  const char *result = eb_results_path(results), *name = eb_export_file_name(result);
  const char *dot = strrchr(name, '.');
  int stem = dot ? (int)(dot - name) : (int)strlen(name);
  EB_TRY(folder ? eb_text_printf(path, "%s/", folder)
                : eb_text_printf(path, "%.*s", (int)(name - result), result));
  return eb_text_printf(path, "%.*s.%s%s%s", stem, name, eb_results_run(results, run)->id,
                        suffix ? "." : "", suffix ? suffix : "");
}

eb_error eb_export_each(const eb_results *results, const eb_strings *ids, const char *folder,
                        FILE *out, eb_export_run *export_run, int *written) {
  *written = 0;
  if (folder) EB_TRY(eb_folder_make(folder));
  for (int i = 0; i < eb_results_count(results); i++) {
    bool some = false;
    if (!eb_export_selects(ids, eb_results_run(results, i))) continue;
    EB_TRY(export_run(results, i, folder, out, &some));
    *written += some;
  }
  return EB_OK;
}

/* ---- scene ----------------------------------------------------------------------------------- */

static eb_error find_text(const eb_results *results, const eb_strings *ids, char **text) {
  for (int i = 0; i < eb_results_count(results); i++) {
    EB_FREED char *own = NULL;
    if (!eb_export_selects(ids, eb_results_run(results, i))) continue;
    EB_TRY(eb_results_scene_text(results, i, &own));
    if (*own && *text && strcmp(own, *text) != 0)
      return EB_ERROR(EB_ERR_USAGE, "runs of '%s' are of several scene files; choose one by --run",
                      eb_results_path(results));
    if (*own) EB_TRY(eb_string_set(text, own));
  }
  return *text ? EB_OK
               : EB_ERROR(EB_ERR_USAGE, "no run of '%s' is of a scene from a file",
                          eb_results_path(results));
}

/* Meshes of bodies are in no result: what a scene was made of in the end is. */
static eb_error tell_meshes(const char *text) {
  EB_OWNED(eb_strings_clear) eb_strings files = {0};
  EB_TRY(eb_scene_file_meshes("the scene's text", text, &files));
  for (int i = 0; i < files.count; i++)
    eb_print(stderr, "elastobench: the scene reads '%s'%s\n", files.items[i],
             files.items[i][0] == '/' ? "" : ", which has to lie so beside its text");
  return EB_OK;
}

eb_error eb_export_scene(const eb_results *results, const eb_strings *ids, FILE *out) {
  EB_FREED char *text = NULL;
  EB_TRY(find_text(results, ids, &text));
  eb_print(out, "%s", text);
  return tell_meshes(text);
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
  eb_schema_entry column;
  fputs("run,scene,parameters,solver,options,threads,repetition", out);
  for (int i = 0; i < EB_STEP_TABLES && eb_schema_at(i, &column); i++) {
    fprintf(out, ",%s", column.path + (i < EB_COL_COUNT ? strlen("steps/") : 0));
    if (strcmp(column.unit, "1") != 0) fprintf(out, " (%s)", column.unit);
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

/* The object below `json` of a path without its last name, *name. */
static json_t *place_of(json_t *json, const char *path, const char **name) {
  for (const char *end; (end = strchr(path, '/')); path = end + 1) {
    char group[200];
    snprintf(group, sizeof group, "%.*s", (int)(end - path), path);
    json = member(json, group);
  }
  *name = path;
  return json;
}

/* Numbers of the set-up that are none are left out. */
static eb_error add_number(const eb_results *results, int run, const eb_schema_entry *entry,
                           const char *path, const char *name, json_t *object) {
  double value;
  EB_TRY(eb_results_number(results, run, path, &value));
  if (entry->setting || isfinite(value)) eb_json_set(object, name, eb_json_real(value));
  return EB_OK;
}

static eb_error add_series(const eb_results *results, int run, const eb_schema_entry *entry,
                           const char *path, const char *name, json_t *object) {
  double *values;
  size_t count;
  EB_TRY(eb_results_read(results, run, path, &values, &count));
  eb_json_set(object, name, array_json(values, count, entry->whole));
  free(values);
  return EB_OK;
}

/* One that a run has of an entry: where its path says, in the set-up below phases/, counters/ and
 * memory/. */
static eb_error add_path(const eb_results *results, int run, const eb_schema_entry *entry,
                         const char *path, json_t *json) {
  char place[300];
  const char *name;
  snprintf(place, sizeof place, "%s", path);
  if (strncmp(entry->exported, "setup", strlen("setup")) == 0)
    snprintf(place, sizeof place, "%s/%s", entry->exported, strrchr(path, '/') + 1);
  json_t *object = place_of(json, place, &name);
  return (entry->series ? add_series : add_number)(results, run, entry, path, name, object);
}

/* All numbers of steps, parts, rotations, of what was examined, and of the set-up; groups that
 * every run has are there if empty. */
static eb_error add_entries(const eb_results *results, int run, json_t *json) {
  eb_error error = EB_OK;
  eb_schema_entry entry;
  for (int i = 0; !error && eb_schema_at(i, &entry); i++) {
    eb_strings paths = {0};
    char group[100];
    const char *rest;
    snprintf(group, sizeof group, "%s/", entry.exported);
    if (!entry.setting && entry.absence != EB_ABSENT_GROUP) place_of(json, group, &rest);
    error = eb_results_paths(results, run, &entry, &paths);
    for (int k = 0; k < paths.count && !error; k++)
      error = add_path(results, run, &entry, paths.items[k], json);
    eb_strings_clear(&paths);
  }
  return error;
}

/* ---- the elimination tree -------------------------------------------------------------------- */

static json_t *integers_json(const int32_t *values, int32_t count) {
  json_t *array = json_array();
  for (int32_t i = 0; i < count; i++) json_array_append_new(array, json_integer(values[i]));
  return array;
}

static eb_error add_tree(const eb_results *results, int run, json_t *json) {
  eb_tree_log tree;
  EB_TRY(eb_results_tree(results, run, &tree));
  if (tree.count > 0)
    json_object_set_new(member(json, "setup"), "supernodes",
                        eb_json_pack("{s:o, s:o, s:o, s:o}", "parent",
                                     integers_json(tree.parent, tree.count), "pivots",
                                     integers_json(tree.pivots, tree.count), "rows",
                                     integers_json(tree.rows, tree.count), "flops",
                                     array_json(tree.flops, (size_t)tree.count, false)));
  eb_results_tree_clear(&tree);
  return EB_OK;
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

eb_error eb_export_environment(hid_t file, const char *path, json_t *json) {
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
    error = eb_export_environment(file, path, member(json, "environment"));
  }
  free(hash);
  return error;
}

/* ---- the file -------------------------------------------------------------------------------- */

static eb_error add_all(const eb_results *results, const eb_strings *ids, json_t *json) {
  const hid_t file = eb_results_file(results);
  EB_TRY(eb_export_environment(file, "environment", member(json, "environment")));
  json_object_set_new(json, "runs", json_array());
  json_t *runs = json_object_get(json, "runs");
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (!eb_export_selects(ids, run)) continue;
    json_t *of_run = eb_json_run(run);
    json_array_append_new(runs, of_run);
    EB_TRY(add_other_machine(file, run, of_run));
    EB_TRY(add_entries(results, i, of_run));
    EB_TRY(add_tree(results, i, of_run));
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
