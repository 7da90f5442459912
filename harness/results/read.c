#include "harness/results/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/scene.h"
#include "harness/results/table.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"

/* Where the run of an identity is. */
typedef struct eb_identity {
  const char *text;
  int run;
} eb_identity;

struct eb_results {
  char *path;
  hid_t file;
  int run_count, fact_count;
  eb_run *runs;
  eb_identity *identities; /* in their order */
  eb_fact *facts;
};

/* ---- opening --------------------------------------------------------------------------------- */

static int by_plan(const void *a, const void *b) {
  const eb_run *left = a, *right = b;
  if (left->order != right->order) return left->order < right->order ? -1 : 1;
  return strcmp(left->id, right->id);
}

static int by_identity(const void *a, const void *b) {
  return strcmp(((const eb_identity *)a)->text, ((const eb_identity *)b)->text);
}

static eb_error index_runs(eb_results *results) {
  size_t count = (size_t)results->run_count;
  EB_TRY(EB_NEW(results->identities, count));
  for (int i = 0; i < results->run_count; i++)
    results->identities[i] = (eb_identity){results->runs[i].identity, i};
  qsort(results->identities, count, sizeof *results->identities, by_identity);
  return EB_OK;
}

static eb_error read_run(hid_t group, eb_run *run) {
  *run = (eb_run){0};
  eb_error error = eb_fields_read(group, eb_run_fields, run);
  if (error) eb_run_clear(run);
  return error;
}

static eb_error read_runs(eb_results *results) {
  H5G_info_t info;
  if (!eb_h5_exists(results->file, "runs"))
    return EB_ERROR(EB_ERR_FORMAT, "there is no group /runs");
  hid_t runs = H5Gopen2(results->file, "runs", H5P_DEFAULT);
  if (runs < 0 || H5Gget_info(runs, &info) < 0) return eb_h5_error("cannot read", "runs");
  eb_error error = EB_NEW(results->runs, info.nlinks);
  for (hsize_t i = 0; i < info.nlinks && !error; i++) {
    char id[256];
    if (H5Lget_name_by_idx(runs, ".", H5_INDEX_NAME, H5_ITER_INC, i, id, sizeof id, H5P_DEFAULT) <
        0) {
      error = eb_h5_error("cannot list", "runs");
      break;
    }
    hid_t group = H5Gopen2(runs, id, H5P_DEFAULT);
    eb_run *run = &results->runs[results->run_count];
    error = group < 0 ? eb_h5_error("cannot open run", id)
                      : eb_error_prefix(read_run(group, run), "run %s", id);
    if (group >= 0) H5Gclose(group);
    if (error) break;
    results->run_count++;
    error = eb_string_set(&run->id, id);
  }
  H5Gclose(runs);
  if (error) return error;
  qsort(results->runs, (size_t)results->run_count, sizeof *results->runs, by_plan);
  return index_runs(results);
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
  return eb_string_set(out, text);
}

/* Of a walk through the environment. */
typedef struct facts_walk {
  eb_results *results;
  eb_error error;
} facts_walk;

static herr_t add_fact(hid_t group, const char *name, const H5A_info_t *info, void *context) {
  facts_walk *walk = context;
  eb_fact *fact = &walk->results->facts[walk->results->fact_count++];
  (void)info;
  walk->error = eb_string_set(&fact->name, name);
  if (!walk->error) walk->error = fact_text(group, name, &fact->value);
  return walk->error ? -1 : 0;
}

static eb_error read_environment(eb_results *results) {
  facts_walk walk = {results, EB_OK};
  H5O_info_t info;
  hsize_t first = 0;
  if (!eb_h5_exists(results->file, "environment")) return EB_OK;
  hid_t group = H5Gopen2(results->file, "environment", H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", "environment");
  eb_error error = H5Oget_info2(group, &info, H5O_INFO_NUM_ATTRS) < 0
                       ? eb_h5_error("cannot read", "environment")
                       : EB_NEW(results->facts, info.num_attrs);
  if (!error && H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &first, add_fact, &walk) < 0)
    error = walk.error ? walk.error : eb_h5_error("cannot list attributes of", "environment");
  H5Gclose(group);
  return error;
}

/* EB_ERR_FORMAT for a file that is not ours or of another schema version. */
static eb_error check_schema(hid_t file) {
  char *format = NULL;
  int64_t version = 0;
  eb_error error = eb_h5_get_text(file, "format", &format);
  if (!error) error = eb_h5_get_int(file, "schema_version", &version);
  if (!error && strcmp(format, EB_SCHEMA_FORMAT) != 0)
    error = EB_ERROR(EB_ERR_FORMAT,
                     "an HDF5 file, but not a result of elastobench: its root lacks the attribute "
                     "format = \"%s\"",
                     EB_SCHEMA_FORMAT);
  else if (!error && version != EB_SCHEMA_VERSION)
    error = EB_ERROR(EB_ERR_FORMAT,
                     "a result file of schema version %lld, and this program reads version %d "
                     "alone; run its cases again, or read it with the elastobench that wrote it, "
                     "whose commit /environment tells",
                     (long long)version, EB_SCHEMA_VERSION);
  free(format);
  return error;
}

eb_error eb_results_open(const char *path, eb_results **out) {
  eb_results *results;
  *out = NULL;
  EB_TRY(EB_NEW(results, 1));
  results->file = -1;
  eb_error error = eb_string_set(&results->path, path);
  if (!error) error = eb_h5_open_file(path, false, &results->file);
  if (!error) error = eb_error_prefix(check_schema(results->file), "%s", path);
  if (!error) error = eb_error_prefix(read_environment(results), "%s", path);
  if (!error) error = eb_error_prefix(read_runs(results), "%s", path);
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
  free(results->identities);
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
  const eb_identity wanted = {identity, 0};
  const eb_identity *found =
      bsearch(&wanted, results->identities, (size_t)results->run_count, sizeof wanted, by_identity);
  return found ? found->run : -1;
}

const eb_fact *eb_results_facts(const eb_results *results, int *count) {
  *count = results->fact_count;
  return results->facts;
}

const char *eb_results_environment(const eb_results *results, const char *name) {
  for (int i = 0; i < results->fact_count; i++)
    if (strcmp(results->facts[i].name, name) == 0) return results->facts[i].value;
  return "";
}

/* A text attribute of a run ("") or of a group below it ("/NAME"). */
static eb_error read_text(const eb_results *results, int run, const char *below, const char *name,
                          char **out) {
  char path[400];
  snprintf(path, sizeof path, "/runs/%s%s", results->runs[run].id, below);
  hid_t group = H5Gopen2(results->file, path, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open", path);
  eb_error error = eb_h5_get_text(group, name, out);
  H5Gclose(group);
  return error;
}

eb_error eb_results_machine(const eb_results *results, int run, char **out) {
  *out = NULL;
  return read_text(results, run, "", "environment", out);
}

/* ---- tables ---------------------------------------------------------------------------------- */

eb_error eb_results_locate(const eb_results *results, int run, eb_error error) {
  return eb_error_prefix(error, "%s: run %s", results->path, results->runs[run].id);
}

bool eb_results_has(const eb_results *results, int run, const char *path) {
  char full[400];
  snprintf(full, sizeof full, "/runs/%s/%s", results->runs[run].id, path);
  return eb_h5_exists(results->file, full);
}

static eb_error open_set(const eb_results *results, int run, const char *path, hid_t *out) {
  char full[400];
  *out = -1;
  snprintf(full, sizeof full, "/runs/%s/%s", results->runs[run].id, path);
  if (!eb_h5_exists(results->file, full)) return EB_OK;
  *out = H5Dopen2(results->file, full, H5P_DEFAULT);
  return *out < 0 ? eb_h5_error("cannot open", full) : EB_OK;
}

eb_error eb_results_scene_group(const eb_results *results, int run, const char *name, hid_t *out) {
  char path[300];
  const char *hash = results->runs[run].scene_hash;
  *out = -1;
  snprintf(path, sizeof path, "/scenes/%s%s%s", hash, *name ? "/" : "", name);
  if (!*hash || !eb_h5_exists(results->file, path)) return EB_OK;
  *out = H5Gopen2(results->file, path, H5P_DEFAULT);
  return *out < 0 ? eb_h5_error("cannot open", path) : EB_OK;
}

/* A dataset over frames has a row of that number, and rows of that shape. */
static eb_error check_rows(const char *name, hid_t space, size_t frame, eb_h5_shape row) {
  hsize_t size[EB_H5_AXES];
  if (H5Sget_simple_extent_ndims(space) != row.rank + 1)
    return EB_ERROR(EB_ERR_FORMAT, "%s does not have %d axes", name, row.rank + 1);
  H5Sget_simple_extent_dims(space, size, NULL);
  if (frame >= size[0])
    return EB_ERROR(EB_ERR_USAGE, "%s has no frame %zu; it has %zu", name, frame, (size_t)size[0]);
  for (int i = 0; i < row.rank; i++)
    if (size[i + 1] != row.size[i])
      return EB_ERROR(EB_ERR_FORMAT, "%s has %llu entries along axis %d, not %llu", name,
                      (unsigned long long)size[i + 1], i + 1, (unsigned long long)row.size[i]);
  return EB_OK;
}

static eb_error get_row(hid_t set, const char *name, size_t frame, hid_t memory, eb_h5_shape row,
                        void **out) {
  hsize_t start[EB_H5_AXES] = {frame}, one[EB_H5_AXES] = {1}, entries = 1;
  *out = NULL;
  for (int i = 0; i < row.rank; i++) entries *= one[i + 1] = row.size[i];
  hid_t space = H5Dget_space(set);
  eb_error error = check_rows(name, space, frame, row);
  if (!error) error = eb_h5_check_block(set, name, start, true);
  if (!error) {
    *out = eb_calloc(entries, H5Tget_size(memory));
    if (!*out) error = EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", name);
  }
  if (!error) {
    hid_t target = H5Screate_simple(row.rank + 1, one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
    if (H5Dread(set, memory, target, space, H5P_DEFAULT, *out) < 0)
      error = eb_h5_error("cannot read", name);
    H5Sclose(target);
  }
  H5Sclose(space);
  if (error) {
    free(*out);
    *out = NULL;
  }
  return error;
}

eb_error eb_results_frame_row(const eb_results *results, int run, const char *path, size_t frame,
                              hid_t memory, eb_h5_shape row, void **out) {
  hid_t set;
  *out = NULL;
  EB_TRY(open_set(results, run, path, &set));
  if (set < 0) return EB_ERROR(EB_ERR_LIBRARY, "there is no dataset %s", path);
  eb_error error = get_row(set, path, frame, memory, row, out);
  H5Dclose(set);
  return error;
}

/* Reads a list of numbers of a run into *out, a pointer of the caller's to numbers of `memory`; an
 * empty one when the run has no tables. */
static eb_error read_list(const eb_results *results, int run, const char *path, hid_t memory,
                          void *out, size_t *count) {
  char full[400];
  eb_h5_shape shape = {1, {0}};
  void *data;
  eb_error error;
  *count = 0;
  memset(out, 0, sizeof data);
  if (eb_results_has(results, run, "steps")) {
    snprintf(full, sizeof full, "/runs/%s/%s", results->runs[run].id, path);
    error = eb_h5_get(results->file, full, memory, H5Tget_size(memory), &data, &shape);
  } else {
    data = eb_calloc(0, 1);
    error = data ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", path);
  }
  if (!error && shape.rank != 1) {
    error = EB_ERROR(EB_ERR_FORMAT, "%s has %d axes, not 1", path, shape.rank);
    free(data);
  }
  if (error) return eb_results_locate(results, run, error);
  *count = (size_t)shape.size[0];
  memcpy(out, &data, sizeof data);
  return EB_OK;
}

static eb_error read_zeros(const eb_results *results, int run, double **values, size_t *count) {
  EB_TRY(read_list(results, run, "steps/step", H5T_NATIVE_DOUBLE, values, count));
  memset(*values, 0, *count * sizeof **values);
  return EB_OK;
}

/* Whether a run does not have it since it is 0. */
static bool is_left_out(const eb_results *results, int run, const char *path, bool series) {
  eb_schema_entry entry;
  return !eb_results_has(results, run, path) && eb_schema_find(path, &entry) &&
         entry.series == series && entry.absence == EB_ABSENT_AS_ZERO;
}

eb_error eb_results_scene_text(const eb_results *results, int run, char **out) {
  char path[400];
  eb_h5_shape shape;
  void *bytes;
  *out = NULL;
  if (!eb_results_has(results, run, EB_SCENE_TEXT)) return eb_string_set(out, "");
  snprintf(path, sizeof path, "/runs/%s/%s", results->runs[run].id, EB_SCENE_TEXT);
  EB_TRY(eb_results_locate(results, run,
                           eb_h5_get(results->file, path, H5T_NATIVE_UINT8, 1, &bytes, &shape)));
  eb_error error =
      shape.rank == 1 && shape.size[0] <= EB_H5_TEXT
          ? eb_string_format(out, "%.*s", (int)shape.size[0], (const char *)bytes)
          : EB_ERROR(EB_ERR_FORMAT, "%s has %d axes, or is too long for a text", path, shape.rank);
  free(bytes);
  return eb_results_locate(results, run, error);
}

eb_error eb_results_read(const eb_results *results, int run, const char *path, double **values,
                         size_t *count) {
  return is_left_out(results, run, path, true)
             ? read_zeros(results, run, values, count)
             : read_list(results, run, path, H5T_NATIVE_DOUBLE, values, count);
}

eb_error eb_results_steps(const eb_results *results, int run, int table, double **values,
                          size_t *count) {
  eb_schema_entry entry;
  eb_schema_at(table, &entry);
  return eb_results_read(results, run, entry.path, values, count);
}

/* ---- names ----------------------------------------------------------------------------------- */

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *out) {
  (void)group;
  (void)info;
  eb_error error = eb_strings_add(out, name);
  eb_error_free(error);
  return error ? -1 : 0;
}

eb_error eb_results_members(const eb_results *results, int run, const char *group,
                            eb_strings *out) {
  char path[400];
  hsize_t first = 0;
  if (!eb_results_has(results, run, group)) return EB_OK;
  snprintf(path, sizeof path, "/runs/%s/%s", results->runs[run].id, group);
  return H5Literate_by_name(results->file, path, H5_INDEX_NAME, H5_ITER_INC, &first, add_link, out,
                            H5P_DEFAULT) < 0
             ? eb_results_locate(results, run, eb_h5_error("cannot list", path))
             : EB_OK;
}

/* Appends what there is for NAME in the path of an entry. */
static eb_error add_named(const eb_results *results, int run, const char *path, const char *name,
                          eb_strings *out) {
  eb_strings names = {0};
  char group[100], *whole = NULL;
  snprintf(group, sizeof group, "%.*s", (int)(name - path) - 1, path);
  eb_error error = eb_results_members(results, run, group, &names);
  for (int i = 0; i < names.count && !error; i++) {
    error = eb_string_format(&whole, "%s/%s%s", group, names.items[i], name + strlen("NAME"));
    if (!error) error = eb_strings_add(out, whole);
  }
  free(whole);
  eb_strings_clear(&names);
  return error;
}

eb_error eb_results_paths(const eb_results *results, int run, const eb_schema_entry *entry,
                          eb_strings *out) {
  char group[100];
  const char *path = entry->path, *name = strstr(path, "NAME");
  if (name) return add_named(results, run, path, name, out);
  snprintf(group, sizeof group, "%.*s", (int)(strrchr(path, '/') - path), path);
  bool there = entry->absence == EB_ABSENT_UNTOLD  ? eb_results_has(results, run, path)
               : entry->absence == EB_ABSENT_GROUP ? eb_results_has(results, run, group)
                                                   : true;
  return there ? eb_strings_add(out, path) : EB_OK;
}

/* ---- residuals ------------------------------------------------------------------------------- */

static eb_error read_norm(const eb_results *results, int run, char **out) {
  if (!eb_results_has(results, run, "residuals")) return eb_string_set(out, "");
  return read_text(results, run, "/residuals", "norm", out);
}

/* Whether offsets begin at 0 and do not fall: those of a file that was cut off or written by others
 * may not. */
static bool are_offsets(const int64_t *offsets, size_t count) {
  bool good = count > 0 && offsets[0] == 0;
  for (size_t s = 0; good && s + 1 < count; s++) good = offsets[s] <= offsets[s + 1];
  return good;
}

static eb_error fill_residuals(const eb_results *results, int run, eb_residuals *out) {
  size_t count, values, seconds, rounds;
  EB_TRY(read_list(results, run, "residuals/offsets", H5T_NATIVE_INT64, &out->offsets, &count));
  EB_TRY(eb_results_read(results, run, "residuals/values", &out->values, &values));
  EB_TRY(eb_results_read(results, run, "residuals/seconds", &out->seconds, &seconds));
  EB_TRY(read_norm(results, run, &out->norm));
  if (count == 0 && values == 0) return EB_OK;
  if (!are_offsets(out->offsets, count) || seconds != values ||
      (size_t)out->offsets[count - 1] > values)
    return eb_results_locate(
        results, run, EB_ERROR(EB_ERR_FORMAT, "residuals/offsets do not fit residuals/values"));
  out->steps = count - 1;
  EB_TRY(read_list(results, run, "residuals/round_offsets", H5T_NATIVE_INT64, &out->round_offsets,
                   &count));
  EB_TRY(read_list(results, run, "residuals/rounds", H5T_NATIVE_INT64, &out->rounds, &rounds));
  if (count == out->steps + 1 && are_offsets(out->round_offsets, count) &&
      (size_t)out->round_offsets[count - 1] == rounds)
    return EB_OK;
  return eb_results_locate(results, run,
                           EB_ERROR(EB_ERR_FORMAT, "residuals/round_offsets do not fit rounds"));
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

/* ---- single numbers ---------------------------------------------------------------------------
 */

eb_error eb_results_number(const eb_results *results, int run, const char *of, double *out) {
  char path[400];
  eb_h5_shape shape;
  void *value;
  *out = NAN;
  snprintf(path, sizeof path, "/runs/%s/%s", results->runs[run].id, of);
  if (is_left_out(results, run, of, false) && eb_results_has(results, run, "setup")) *out = 0;
  if (!eb_h5_exists(results->file, path)) return EB_OK;
  eb_error error = eb_h5_get(results->file, path, H5T_NATIVE_DOUBLE, sizeof *out, &value, &shape);
  if (!error && shape.rank != 0) error = EB_ERROR(EB_ERR_FORMAT, "%s is not one number", of);
  if (!error) *out = *(double *)value;
  free(value);
  return eb_results_locate(results, run, error);
}

eb_error eb_results_memory(const eb_results *results, int run, double bytes[EB_MEMORY_KINDS]) {
  for (int i = 0; i < EB_MEMORY_KINDS; i++) {
    char path[80];
    snprintf(path, sizeof path, "setup/memory/%s", eb_memory_name((eb_memory_kind)i));
    EB_TRY(eb_results_number(results, run, path, &bytes[i]));
  }
  return EB_OK;
}

static eb_error check_tree(const eb_tree_log *tree) {
  for (int32_t s = 0; s < tree->count; s++) {
    int32_t parent = tree->parent[s];
    if (parent != -1 && (parent <= s || parent >= tree->count))
      return EB_ERROR(EB_ERR_FORMAT, "supernode %d has parent %d of %d", s, parent, tree->count);
    if (tree->pivots[s] < 1 || tree->rows[s] < tree->pivots[s])
      return EB_ERROR(EB_ERR_FORMAT, "supernode %d has %d pivots and %d rows", s, tree->pivots[s],
                      tree->rows[s]);
    if (!(tree->flops[s] >= 0) || !isfinite(tree->flops[s]))
      return EB_ERROR(EB_ERR_FORMAT, "supernode %d has %g flops", s, tree->flops[s]);
  }
  return EB_OK;
}

eb_error eb_results_tree(const eb_results *results, int run, eb_tree_log *out) {
  char path[400];
  *out = (eb_tree_log){0};
  if (!eb_results_has(results, run, "setup/supernodes")) return EB_OK;
  snprintf(path, sizeof path, "/runs/%s/setup/supernodes", results->runs[run].id);
  hid_t group = H5Gopen2(results->file, path, H5P_DEFAULT);
  if (group < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", path));
  out->count = -1;
  eb_error error = eb_rows_get(group, "parent", EB_INDEX, 1, &out->parent, &out->count);
  if (!error) error = eb_rows_get(group, "pivots", EB_INDEX, 1, &out->pivots, &out->count);
  if (!error) error = eb_rows_get(group, "rows", EB_INDEX, 1, &out->rows, &out->count);
  if (!error) error = eb_rows_get(group, "flops", EB_REAL, 1, &out->flops, &out->count);
  if (!error) error = check_tree(out);
  H5Gclose(group);
  if (error) eb_results_tree_clear(out);
  return eb_results_locate(results, run, error);
}

void eb_results_tree_clear(eb_tree_log *tree) {
  free(tree->parent);
  free(tree->pivots);
  free(tree->rows);
  free(tree->flops);
  *tree = (eb_tree_log){0};
}

/* ---- frames ---------------------------------------------------------------------------------- */

eb_error eb_results_frame_count(const eb_results *results, int run, size_t *out) {
  double *time;
  EB_TRY(eb_results_read(results, run, "frames/time", &time, out));
  free(time);
  return EB_OK;
}

eb_error eb_results_frame(const eb_results *results, int run, size_t frame, float **out) {
  void *data;
  eb_h5_shape row = {2, {(hsize_t)eb_results_run(results, run)->nodes, 3}};
  eb_error error =
      eb_results_frame_row(results, run, EB_FRAME_POSITIONS, frame, H5T_NATIVE_FLOAT, row, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

eb_error eb_results_frame_precision(const eb_results *results, int run, const char *path,
                                    int *bytes) {
  hid_t set;
  *bytes = 0;
  EB_TRY(eb_results_locate(results, run, open_set(results, run, path, &set)));
  if (set < 0) return EB_OK;
  hid_t type = H5Dget_type(set);
  *bytes = (int)H5Tget_size(type);
  H5Tclose(type);
  H5Dclose(set);
  return EB_OK;
}

bool eb_results_has_updates(const eb_results *results, int run) {
  return eb_results_has(results, run, EB_FRAME_UPDATES);
}

eb_error eb_results_updates(const eb_results *results, int run, size_t frame, uint8_t **out) {
  void *data;
  *out = NULL;
  if (!eb_results_has_updates(results, run)) return EB_OK;
  eb_h5_shape row = {1, {(hsize_t)eb_results_run(results, run)->elements}};
  eb_error error =
      eb_results_frame_row(results, run, EB_FRAME_UPDATES, frame, H5T_NATIVE_UINT8, row, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

/* Entries along the second axis of a dataset of frames; 0 when the run has none. */
static eb_error count_bodies(const eb_results *results, int run, const char *name, int32_t *count) {
  hsize_t size[EB_H5_AXES] = {0};
  hid_t set;
  *count = 0;
  EB_TRY(open_set(results, run, name, &set));
  if (set < 0) return EB_OK;
  hid_t space = H5Dget_space(set);
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank > 1 && rank <= EB_H5_AXES) H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  H5Dclose(set);
  if (size[1] == 0 || size[1] > EB_MAX_JOINTS)
    return EB_ERROR(EB_ERR_FORMAT, "%s is not of 1 to %d bodies", name, EB_MAX_JOINTS);
  *count = (int32_t)size[1];
  return EB_OK;
}

eb_error eb_results_bones(const eb_results *results, int run, size_t frame, int32_t *count,
                          float **out) {
  void *data = NULL;
  eb_error error = count_bodies(results, run, EB_FRAME_BONES, count);
  if (!error && *count > 0)
    error = eb_results_frame_row(results, run, EB_FRAME_BONES, frame, H5T_NATIVE_FLOAT,
                                 (eb_h5_shape){3, {(hsize_t)*count, 2, 3}}, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

eb_error eb_results_joints(const eb_results *results, int run, size_t frame, int32_t *count,
                           double **out) {
  void *data = NULL;
  eb_error error = count_bodies(results, run, EB_FRAME_JOINTS, count);
  if (!error && *count > 0)
    error = eb_results_frame_row(results, run, EB_FRAME_JOINTS, frame, H5T_NATIVE_DOUBLE,
                                 (eb_h5_shape){2, {(hsize_t)*count, 2}}, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

/* The axes of contacts, count x 3 x 3. */
static eb_error read_axes(hid_t group, int32_t count, double **out) {
  eb_h5_shape shape;
  void *data;
  EB_TRY(eb_h5_get(group, "frame", H5T_NATIVE_DOUBLE, sizeof **out, &data, &shape));
  *out = data;
  if (shape.rank == 3 && shape.size[0] == (hsize_t)count && shape.size[1] == 3 &&
      shape.size[2] == 3)
    return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "frames/contacts/frame is not of %d x 3 x 3 numbers", count);
}

static eb_error read_contacts(hid_t group, size_t frames, eb_result_contacts *out) {
  int32_t offsets = (int32_t)frames + 1;
  EB_TRY(eb_rows_get(group, "offsets", EB_LONG, 1, &out->offsets, &offsets));
  out->count = -1;
  EB_TRY(eb_rows_get(group, "vertices", EB_INDEX, 4, &out->vertices, &out->count));
  EB_TRY(eb_rows_get(group, "weight", EB_ROUNDED, 4, &out->weight, &out->count));
  EB_TRY(read_axes(group, out->count, &out->frame));
  EB_TRY(eb_rows_get(group, "force", EB_ROUNDED, 3, &out->force, &out->count));
  for (size_t f = 0; f <= frames; f++)
    if (out->offsets[f] < (f ? out->offsets[f - 1] : 0) || out->offsets[f] > out->count)
      return EB_ERROR(EB_ERR_FORMAT, "the contacts of frame %zu begin at %lld of %d", f,
                      (long long)out->offsets[f], out->count);
  return EB_OK;
}

eb_error eb_results_contacts(const eb_results *results, int run, size_t frames,
                             eb_result_contacts *out) {
  char path[400];
  *out = (eb_result_contacts){0};
  if (!eb_results_has(results, run, "frames/contacts")) return EB_OK;
  snprintf(path, sizeof path, "/runs/%s/frames/contacts", results->runs[run].id);
  hid_t group = H5Gopen2(results->file, path, H5P_DEFAULT);
  eb_error error = group < 0 ? eb_h5_error("cannot open", path) : read_contacts(group, frames, out);
  if (group >= 0) H5Gclose(group);
  if (error) eb_result_contacts_clear(out);
  return eb_results_locate(results, run, error);
}

void eb_result_contacts_clear(eb_result_contacts *contacts) {
  free(contacts->offsets);
  free(contacts->vertices);
  free(contacts->weight);
  free(contacts->frame);
  free(contacts->force);
  *contacts = (eb_result_contacts){0};
}

eb_error eb_results_check_frames(const eb_results *results, int run, size_t count) {
  const eb_run *about = eb_results_run(results, run);
  int32_t bones = 0, joints = 0;
  eb_error error = count_bodies(results, run, EB_FRAME_BONES, &bones);
  if (!error) error = count_bodies(results, run, EB_FRAME_JOINTS, &joints);
  const eb_h5_shape vectors = {2, {(hsize_t)about->nodes, 3}};
  const struct {
    const char *name;
    eb_h5_shape row;
  } sets[] = {{EB_FRAME_POSITIONS, vectors},
              {EB_FRAME_VELOCITIES, vectors},
              {EB_FRAME_UPDATES, {1, {(hsize_t)about->elements}}},
              {EB_FRAME_BONES, {3, {(hsize_t)bones, 2, 3}}},
              {EB_FRAME_JOINTS, {2, {(hsize_t)joints, 2}}}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets && !error; i++) {
    hid_t set;
    error = open_set(results, run, sets[i].name, &set);
    if (error || set < 0) continue;
    hid_t space = H5Dget_space(set);
    error = check_rows(sets[i].name, space, count - 1, sets[i].row);
    H5Sclose(space);
    H5Dclose(set);
  }
  if (!error && !eb_results_has(results, run, EB_FRAME_POSITIONS))
    error = EB_ERROR(EB_ERR_LIBRARY, "the run has no dataset %s", EB_FRAME_POSITIONS);
  return eb_results_locate(results, run, error);
}
