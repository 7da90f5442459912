#include "harness/results/contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/print.h"
#include "harness/results/choose.h"
#include "harness/results/explained.h"
#include "harness/results/export.h"
#include "harness/results/json.h"
#include "harness/results/seal.h"
#include "harness/results/sweeps.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- datasets -------------------------------------------------------------------------------- */

/* Of a dataset below a group. */
typedef struct part {
  char *path, *unit;
  eb_h5_shape shape;
  double bytes; /* as they lie in the file */
} part;

typedef struct parts {
  part *items;
  int count, room;
  double bytes; /* of all */
  bool listed;  /* or only their bytes are wanted */
  eb_error error;
} parts;

static void parts_clear(parts *all) {
  for (int i = 0; i < all->count; i++) {
    free(all->items[i].path);
    free(all->items[i].unit);
  }
  free(all->items);
}

static eb_error grow(parts *all) {
  part *items;
  if (all->count < all->room) return EB_OK;
  all->room = 2 * all->room + 32;
  EB_TRY(EB_NEW(items, all->room));
  if (all->count) memcpy(items, all->items, (size_t)all->count * sizeof *items);
  free(all->items);
  all->items = items;
  return EB_OK;
}

static eb_error list_part(parts *all, hid_t set, const char *path, double bytes) {
  EB_TRY(grow(all));
  part *to = &all->items[all->count++];
  to->bytes = bytes;
  EB_TRY(eb_string_set(&to->path, path));
  EB_TRY(eb_h5_get_text(set, "unit", &to->unit));
  hid_t space = H5Dget_space(set);
  to->shape.rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (to->shape.rank <= EB_H5_AXES && to->shape.rank >= 0)
    H5Sget_simple_extent_dims(space, to->shape.size, NULL);
  else
    to->shape.rank = 0;
  if (space >= 0) H5Sclose(space);
  return EB_OK;
}

static herr_t add_part(hid_t group, const char *path, const H5O_info_t *info, void *context) {
  parts *all = context;
  if (info->type != H5O_TYPE_DATASET) return 0;
  hid_t set = H5Dopen2(group, path, H5P_DEFAULT);
  if (set < 0) {
    all->error = eb_h5_error("cannot open", path);
    return -1;
  }
  double bytes = (double)H5Dget_storage_size(set);
  all->bytes += bytes;
  if (all->listed) all->error = list_part(all, set, path, bytes);
  H5Dclose(set);
  return all->error ? -1 : 0;
}

/* All below a run: sorted by their paths. *all is cleared by the caller also after an error. */
static eb_error read_parts(const eb_results *results, int run, bool listed, parts *all) {
  char path[300];
  snprintf(path, sizeof path, "/runs/%.250s", eb_results_run(results, run)->id);
  *all = (parts){.listed = listed};
  herr_t end = H5Ovisit_by_name2(eb_results_file(results), path, H5_INDEX_NAME, H5_ITER_INC,
                                 add_part, all, H5O_INFO_BASIC, H5P_DEFAULT);
  if (all->error) return eb_results_locate(results, run, all->error);
  return end < 0 ? eb_results_locate(results, run, eb_h5_error("cannot list", path)) : EB_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* What is told of a run beside its attributes. */
typedef struct sizes {
  size_t frames;
  double bytes;
} sizes;

static eb_error read_sizes(const eb_results *results, int run, sizes *out) {
  EB_OWNED(parts_clear) parts all;
  EB_TRY(read_parts(results, run, false, &all));
  out->bytes = all.bytes;
  return eb_results_frame_count(results, run, &out->frames);
}

/* NAME:a=1,b=2, with what is not at its default. */
static void owner_cell(eb_doc *doc, const char *name, const char *changed) {
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s%s%s", name, *changed ? ":" : "", changed);
}

static eb_error add_row(const eb_results *results, int i, const char *name, eb_doc *doc) {
  const eb_run *run = eb_results_run(results, i);
  sizes of;
  EB_TRY(read_sizes(results, i, &of));
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_CODE, "%s", name);
  owner_cell(doc, run->scene, run->parameters_changed);
  owner_cell(doc, run->solver, run->options_changed);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)run->threads);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)run->repetition);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", run->outcome);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", run->audit);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)run->steps_done);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)of.frames);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%sB", eb_prefixed_value(of.bytes).text);
  return EB_OK;
}

eb_error eb_contents_list(const eb_results *results, eb_doc *doc) {
  static const char *const heads[] = {"run",   "scene", "solver", "T",     "r", "outcome",
                                      "audit", "steps", "frames", "bytes", NULL};
  EB_OWNED(eb_strings_clear) eb_strings names = {0};
  EB_TRY(eb_results_short_ids(results, &names));
  if (names.count == 0) eb_doc_paragraph(doc, EB_DOC_PLAIN, "no runs");
  if (names.count == 0) return EB_OK;
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int i = 0; i < names.count; i++) EB_TRY(add_row(results, i, names.items[i], doc));
  eb_doc_end(doc);
  return EB_OK;
}

static eb_error run_json(const eb_results *results, int i, const char *name, json_t **out) {
  const eb_run *run = eb_results_run(results, i);
  sizes of;
  EB_TRY(read_sizes(results, i, &of));
  *out = eb_json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:I, s:I, s:I, s:f}", "id", run->id,
      "short", name, "scene", run->scene, "parameters_changed", run->parameters_changed, "solver",
      run->solver, "options_changed", run->options_changed, "threads", (json_int_t)run->threads,
      "repetition", (json_int_t)run->repetition, "outcome", run->outcome, "audit", run->audit,
      "audit_rules", run->audit_rules, "steps_wanted", (json_int_t)run->steps_wanted, "steps_done",
      (json_int_t)run->steps_done, "frames", (json_int_t)of.frames, "bytes", of.bytes);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
}

static eb_error runs_json(const eb_results *results, json_t *out) {
  EB_OWNED(eb_strings_clear) eb_strings names = {0};
  EB_TRY(eb_results_short_ids(results, &names));
  for (int i = 0; i < names.count; i++) {
    json_t *run;
    EB_TRY(run_json(results, i, names.items[i], &run));
    json_array_append_new(out, run);
  }
  return EB_OK;
}

eb_error eb_contents_list_json(const eb_results *results, json_t **out) {
  json_t *runs = json_array();
  *out = eb_json_pack("{s:s, s:o}", "file", eb_results_path(results), "runs", runs);
  eb_error error =
      *out ? runs_json(results, runs) : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  if (!error) return EB_OK;
  json_decref(*out);
  *out = NULL;
  return error;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *seal_words(const char *path) {
  static const char *const words[] = {
      [EB_SEAL_NONE] = "none", [EB_SEAL_FITS] = "fits", [EB_SEAL_BROKEN] = "broken"};
  return words[eb_seal_look(path)];
}

static double file_bytes(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

static int by_scene(const void *a, const void *b) {
  const eb_run *left = *(const eb_run *const *)a, *right = *(const eb_run *const *)b;
  int order = strcmp(left->scene_hash, right->scene_hash);
  return order ? order : (left->order > right->order) - (left->order < right->order);
}

/* The first run of each scene, and how many there are of it: `tell` is called with both. */
static eb_error each_scene(const eb_results *results,
                           void (*tell)(const eb_run *run, int runs, void *out), void *out) {
  int count = eb_results_count(results), first = 0;
  EB_FREED const eb_run **runs = NULL;
  EB_TRY(EB_NEW(runs, count + 1));
  for (int i = 0; i < count; i++) runs[i] = eb_results_run(results, i);
  qsort(runs, (size_t)count, sizeof *runs, by_scene);
  for (int i = 1; i <= count; i++) {
    if (i < count && strcmp(runs[i]->scene_hash, runs[first]->scene_hash) == 0) continue;
    tell(runs[first], i - first, out);
    first = i;
  }
  return EB_OK;
}

static void scene_row(const eb_run *run, int runs, void *out) {
  eb_doc *doc = out;
  eb_doc_row(doc, NULL);
  owner_cell(doc, run->scene, run->parameters_changed);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)run->nodes);
  eb_doc_number(doc, EB_DOC_PLAIN, (double)run->elements);
  eb_doc_number(doc, EB_DOC_PLAIN, run->dt);
  eb_doc_number(doc, EB_DOC_PLAIN, runs);
}

static eb_error add_scenes(const eb_results *results, eb_doc *doc) {
  static const char *const heads[] = {"scene", "nodes", "elements", "dt (s)", "runs", NULL};
  if (eb_results_count(results) == 0) return EB_OK;
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  eb_error error = each_scene(results, scene_row, doc);
  eb_doc_end(doc);
  return error;
}

static void scene_json(const eb_run *run, int runs, void *out) {
  json_array_append_new(out, eb_json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:i}", "scene",
                                          run->scene, "hash", run->scene_hash, "parameters_changed",
                                          run->parameters_changed, "nodes", (json_int_t)run->nodes,
                                          "elements", (json_int_t)run->elements, "dt", run->dt,
                                          "runs", runs));
}

static eb_error add_sweeps(const eb_results *results, eb_doc *doc) {
  for (int s = 0; s < eb_sweeps_count(results); s++) {
    EB_OWNED(eb_sweep_record_clear) eb_sweep_record sweep = {0};
    EB_TRY(eb_sweeps_read(results, s, &sweep));
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "sweep %s of %s: %s, least stable %s, %d trials",
                     sweep.option, sweep.name, sweep.found,
                     eb_doc_number_text(sweep.least_stable).text, sweep.count);
  }
  return EB_OK;
}

static eb_error sweeps_json(const eb_results *results, json_t *out) {
  for (int s = 0; s < eb_sweeps_count(results); s++) {
    EB_OWNED(eb_sweep_record_clear) eb_sweep_record sweep = {0};
    EB_TRY(eb_sweeps_read(results, s, &sweep));
    json_array_append_new(
        out, eb_json_pack("{s:s, s:s, s:s, s:o, s:o, s:i}", "name", sweep.name, "option",
                          sweep.option, "found", sweep.found, "least_stable",
                          eb_json_real(sweep.least_stable), "greatest_unstable",
                          eb_json_real(sweep.greatest_unstable), "trials", sweep.count));
  }
  return EB_OK;
}

static void add_origin(const eb_results *results, eb_doc *doc) {
  eb_doc_paragraph(
      doc, EB_DOC_PLAIN, "made %s by elastobench %s, commit %s%s",
      eb_results_environment(results, "started"), eb_results_environment(results, "version"),
      eb_results_environment(results, "commit"),
      strcmp(eb_results_environment(results, "dirty"), "1") == 0 ? " with local changes" : "");
  eb_doc_paragraph(
      doc, EB_DOC_PLAIN, "on %s, %s cores of %s", eb_results_environment(results, "host"),
      eb_results_environment(results, "cores"), eb_results_environment(results, "cpu"));
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "by %s", eb_results_environment(results, "command_line"));
}

eb_error eb_contents_file(const eb_results *results, eb_doc *doc) {
  const char *path = eb_results_path(results);
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "result file %s: %sB, schema %d, seal %s, %d runs", path,
                   eb_prefixed_value(file_bytes(path)).text, EB_SCHEMA_VERSION, seal_words(path),
                   eb_results_count(results));
  add_origin(results, doc);
  EB_TRY(add_scenes(results, doc));
  EB_TRY(eb_contents_list(results, doc));
  return add_sweeps(results, doc);
}

eb_error eb_contents_file_json(const eb_results *results, json_t **out) {
  const char *path = eb_results_path(results);
  EB_TRY(eb_contents_list_json(results, out));
  json_t *scenes = json_array(), *sweeps = json_array(), *environment = json_object();
  json_object_set_new(*out, "kind", json_string("results"));
  json_object_set_new(*out, "bytes", json_real(file_bytes(path)));
  json_object_set_new(*out, "schema_version", json_integer(EB_SCHEMA_VERSION));
  json_object_set_new(*out, "seal", json_string(seal_words(path)));
  json_object_set_new(*out, "environment", environment);
  json_object_set_new(*out, "scenes", scenes);
  json_object_set_new(*out, "sweeps", sweeps);
  eb_error error = each_scene(results, scene_json, scenes);
  if (!error) error = sweeps_json(results, sweeps);
  if (!error) error = eb_export_environment(eb_results_file(results), "environment", environment);
  if (error) json_decref(*out);
  return error;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* An attribute as a row: texts that are empty are left out. */
static void add_field(const eb_run *run, const eb_field *field, eb_doc *doc) {
  const char *at = (const char *)run + field->offset;
  const char *text = "";
  if (field->type == EB_FIELD_TEXT) memcpy(&text, at, sizeof text);
  if (field->type == EB_FIELD_TEXT && (!text || !*text)) return;
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", field->name);
  const char *unit = field->unit && strcmp(field->unit, "1") != 0 ? field->unit : "";
  int64_t whole = 0;
  double real = 0;
  if (field->type == EB_FIELD_INT) memcpy(&whole, at, sizeof whole);
  if (field->type == EB_FIELD_REAL) memcpy(&real, at, sizeof real);
  if (field->type == EB_FIELD_TEXT)
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", text);
  else if (field->type == EB_FIELD_INT)
    eb_doc_cell(doc, EB_DOC_PLAIN, "%lld", (long long)whole);
  else
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s%s%s", eb_doc_number_text(real).text, *unit ? " " : "", unit);
}

/* "121 x 99 x 3". */
static void describe_shape(eb_h5_shape shape, char *out, size_t bytes) {
  size_t used = (size_t)snprintf(out, bytes, shape.rank ? "" : "1");
  for (int d = 0; d < shape.rank && used < bytes; d++)
    used += (size_t)snprintf(out + used, bytes - used, "%s%llu", d ? " x " : "",
                             (unsigned long long)shape.size[d]);
}

static void add_parts(const parts *all, eb_doc *doc) {
  static const char *const heads[] = {"dataset", "shape", "unit", "bytes", NULL};
  if (all->count == 0) return;
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int i = 0; i < all->count; i++) {
    char shape[100];
    describe_shape(all->items[i].shape, shape, sizeof shape);
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_CODE, "%s", all->items[i].path);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", shape);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", all->items[i].unit);
    eb_doc_number(doc, EB_DOC_PLAIN, all->items[i].bytes);
  }
  eb_doc_end(doc);
}

eb_error eb_contents_run(const eb_results *results, int run, eb_doc *doc) {
  EB_OWNED(parts_clear) parts all;
  EB_OWNED(eb_breaches_clear) eb_breaches breaches = {0};
  static const char *const heads[] = {"run", "", NULL};
  EB_TRY(read_parts(results, run, true, &all));
  EB_TRY(eb_breaches_read(results, run, &breaches));
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (const eb_field *field = eb_run_fields; field->name; field++)
    add_field(eb_results_run(results, run), field, doc);
  eb_doc_end(doc);
  const eb_explained explained = {eb_results_run(results, run), &breaches,
                                  eb_results_run(results, run)->solver};
  eb_explain_rules(&explained, 1, false, doc);
  add_parts(&all, doc);
  return EB_OK;
}

static json_t *part_json(const part *of) {
  json_t *shape = json_array();
  for (int d = 0; d < of->shape.rank; d++)
    json_array_append_new(shape, json_integer((json_int_t)of->shape.size[d]));
  return eb_json_pack("{s:s, s:o, s:s, s:f}", "path", of->path, "shape", shape, "unit", of->unit,
                      "bytes", of->bytes);
}

eb_error eb_contents_run_json(const eb_results *results, int run, json_t **out) {
  EB_OWNED(eb_strings_clear) eb_strings names = {0};
  EB_OWNED(parts_clear) parts all;
  EB_OWNED(eb_breaches_clear) eb_breaches breaches = {0};
  json_t *broken;
  EB_TRY(read_parts(results, run, true, &all));
  EB_TRY(eb_breaches_read(results, run, &breaches));
  EB_TRY(eb_results_short_ids(results, &names));
  EB_TRY(eb_breaches_json(&breaches, &broken));
  json_t *sets = json_array();
  for (int i = 0; i < all.count; i++) json_array_append_new(sets, part_json(&all.items[i]));
  *out = eb_json_run(eb_results_run(results, run));
  json_object_set_new(*out, "kind", json_string("run"));
  json_object_set_new(*out, "short", eb_json_text(names.items[run]));
  json_object_set_new(*out, "bytes", json_real(all.bytes));
  json_object_set_new(*out, "datasets", sets);
  json_object_set_new(*out, "broken", broken);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
}
