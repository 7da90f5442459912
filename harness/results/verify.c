#include "harness/results/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/breaches.h"
#include "harness/results/sweeps.h"
#include "harness/results/scene.h"
#include "problems/base/owned.h"

/* ---- the file as HDF5 has it ----------------------------------------------------------------- */

/* What the walks through all links, objects and attributes share: the first error ends them. */
typedef struct walk {
  eb_error error;
} walk;

/* Links that could lead out of the file or in a circle by name. */
static herr_t check_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
  walk *w = context;
  (void)group;
  if (info->type != H5L_TYPE_HARD)
    w->error = EB_ERROR(EB_ERR_FORMAT, "'%s' is a link to elsewhere, not data", name);
  return w->error ? -1 : 0;
}

static bool known_class(hid_t type) {
  H5T_class_t class = H5Tget_class(type);
  return class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM || class == H5T_STRING;
}

static herr_t check_attribute(hid_t object, const char *name, const H5A_info_t *info,
                              void *context) {
  walk *w = context;
  char *text = NULL;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  if (attribute < 0 || type < 0)
    w->error = eb_h5_error("cannot open attribute", name);
  else if (!known_class(type) || info->data_size > EB_H5_TEXT)
    w->error = EB_ERROR(EB_ERR_FORMAT, "attribute %s has another type than we write", name);
  else if (H5Tget_class(type) == H5T_STRING)
    w->error = eb_h5_get_text(object, name, &text);
  free(text);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return w->error ? -1 : 0;
}

static eb_error check_filters(hid_t properties, const char *name) {
  int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count; i++) {
    unsigned flags, settings;
    size_t values = 0;
    H5Z_filter_t filter =
        H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, 0, NULL, &settings);
    if (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE)
      return EB_ERROR(EB_ERR_FORMAT, "%s is packed by a filter that we never use", name);
  }
  return count < 0 ? eb_h5_error("cannot list the filters of", name) : EB_OK;
}

/* What eb_results_frame and its kin read row by row, each after a look at its block: too much to be
 * unpacked here. */
static bool is_read_by_row(const char *name) {
  static const char *const endings[] = {EB_FRAME_POSITIONS, EB_FRAME_VELOCITIES, EB_FRAME_UPDATES,
                                        EB_FRAME_BONES, EB_FRAME_JOINTS};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t tail = strlen(endings[i]);
    if (length > tail && strcmp(name + length - tail, endings[i]) == 0) return true;
  }
  return false;
}

/* All blocks in the order of their places. */
static eb_error check_blocks(hid_t set, const char *name, eb_h5_shape shape, const hsize_t *block) {
  static const double most = 1e6;
  hsize_t at[EB_H5_AXES + 1] = {0};
  bool unpack = !is_read_by_row(name);
  double blocks = 1;
  for (int d = 0; d < shape.rank; d++) {
    if (block[d] == 0) return EB_ERROR(EB_ERR_FORMAT, "%s has empty blocks", name);
    blocks *= (double)((shape.size[d] + block[d] - 1) / block[d]);
  }
  if (blocks > most) return EB_ERROR(EB_ERR_FORMAT, "%s claims %.3g blocks", name, blocks);
  for (int d = blocks > 0 ? 0 : shape.rank; d < shape.rank;) {
    if (d == 0) EB_TRY(eb_h5_check_block(set, name, at, unpack));
    at[d] += block[d];
    if (at[d] < shape.size[d]) {
      d = 0;
    } else {
      at[d++] = 0;
    }
  }
  return EB_OK;
}

static eb_error check_dataset(hid_t set, hid_t properties, const char *name) {
  eb_h5_shape shape = {0};
  hsize_t block[EB_H5_AXES + 1];
  hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  shape.rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  bool fits = shape.rank >= 0 && shape.rank <= EB_H5_AXES && type >= 0 && known_class(type) &&
              H5Tis_variable_str(type) == 0;
  if (fits) H5Sget_simple_extent_dims(space, shape.size, NULL);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  H5D_layout_t layout = H5Pget_layout(properties);
  if (!fits || layout < 0 || layout == H5D_VIRTUAL || H5Pget_external_count(properties) != 0)
    return EB_ERROR(EB_ERR_FORMAT, "%s has a type or layout that we never write", name);
  EB_TRY(check_filters(properties, name));
  if (layout != H5D_CHUNKED || shape.rank == 0) return EB_OK;
  if (H5Pget_chunk(properties, EB_H5_AXES, block) != shape.rank)
    return EB_ERROR(EB_ERR_FORMAT, "%s has blocks of other axes than it has itself", name);
  return check_blocks(set, name, shape, block);
}

static herr_t check_object(hid_t root, const char *name, const H5O_info_t *info, void *context) {
  walk *w = context;
  hsize_t first = 0;
  hid_t object = H5Oopen(root, name, H5P_DEFAULT), properties = -1;
  if (object < 0)
    w->error = eb_h5_error("cannot open", name);
  else if (info->type == H5O_TYPE_DATASET)
    w->error = (properties = H5Dget_create_plist(object)) < 0
                   ? eb_h5_error("cannot open", name)
                   : check_dataset(object, properties, name);
  else if (info->type != H5O_TYPE_GROUP)
    w->error = EB_ERROR(EB_ERR_FORMAT, "'%s' is neither a group nor a dataset", name);
  if (!w->error &&
      H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &first, check_attribute, w) < 0)
    w->error = w->error ? eb_error_prefix(w->error, "%s", name)
                        : eb_h5_error("cannot list the attributes of", name);
  if (properties >= 0) H5Pclose(properties);
  if (object >= 0) H5Oclose(object);
  return w->error ? -1 : 0;
}

/* ---- through the readers --------------------------------------------------------------------- */

/* What has a number a step has as many as steps/. */
static eb_error check_path(const eb_results *results, int run, const eb_schema_entry *entry,
                           const char *path, size_t steps) {
  double *values, value;
  size_t count;
  if (!entry->series) return eb_results_number(results, run, path, &value);
  EB_TRY(eb_results_read(results, run, path, &values, &count));
  free(values);
  if (count == steps) return EB_OK;
  return eb_results_locate(
      results, run,
      EB_ERROR(EB_ERR_FORMAT, "%s has %zu rows, and there are %zu steps", path, count, steps));
}

static eb_error check_entries(const eb_results *results, int run) {
  size_t steps;
  double *numbers;
  eb_error error = eb_results_steps(results, run, EB_COL_STEP, &numbers, &steps);
  if (error) return error;
  free(numbers);
  eb_schema_entry entry;
  for (int i = 0; !error && eb_schema_at(i, &entry); i++) {
    eb_strings paths = {0};
    error = eb_results_paths(results, run, &entry, &paths);
    for (int k = 0; k < paths.count && !error; k++)
      error = check_path(results, run, &entry, paths.items[k], steps);
    eb_strings_clear(&paths);
  }
  return error;
}

/* What the scene is made of, mesh and surface of the run's scene, frames, colliders and obstacles,
 * when the run came to frames. */
static eb_error check_frames(const eb_results *results, int run) {
  const eb_run *about = eb_results_run(results, run);
  size_t frames = 0;
  eb_mesh *mesh;
  eb_result_scene scene;
  eb_result_surface surface;
  eb_result_colliders colliders;
  eb_result_obstacles obstacles;
  if (!*about->scene_hash) return EB_OK;
  EB_TRY(eb_results_frame_count(results, run, &frames));
  if (frames == 0) return EB_OK;
  EB_TRY(eb_results_scene(results, run, &scene));
  EB_TRY(eb_results_mesh(results, run, &mesh));
  bool counted = about->nodes == mesh->node_count && about->elements == mesh->element_count;
  eb_mesh_destroy(mesh);
  if (!counted)
    return eb_results_locate(results, run,
                             EB_ERROR(EB_ERR_FORMAT, "it counts other nodes or elements than the "
                                                     "mesh of its scene"));
  EB_TRY(eb_results_surface(results, run, &surface));
  eb_result_surface_clear(&surface);
  EB_TRY(eb_results_check_frames(results, run, frames));
  EB_TRY(eb_results_colliders(results, run, 0, &colliders));
  eb_result_colliders_clear(&colliders);
  EB_TRY(eb_results_obstacles(results, run, 0, &obstacles));
  eb_result_obstacles_clear(&obstacles);
  return EB_OK;
}

/* What other programs get of a run is copied: the same is done here, into memory. */
static eb_error copy_contact_problem(const eb_results *results, int run) {
  enum { STEP = 1 << 16 };
  char path[300];
  if (!eb_results_has(results, run, "contact_problem")) return EB_OK;
  snprintf(path, sizeof path, "/runs/%s/contact_problem", eb_results_run(results, run)->id);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, STEP, false);
  hid_t memory = H5Fcreate("verified", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  eb_error error = EB_OK;
  if (memory < 0)
    error = eb_h5_error("cannot make room to copy", path);
  else if (H5Ocopy(eb_results_file(results), path, memory, "copy", H5P_DEFAULT, H5P_DEFAULT) < 0)
    error = eb_h5_error("cannot copy", path);
  if (memory >= 0) H5Fclose(memory);
  return eb_results_locate(results, run, error);
}

static eb_error check_run(const eb_results *results, int run) {
  eb_tree_log tree;
  eb_residuals residuals;
  EB_TRY(check_entries(results, run));
  EB_TRY(eb_results_tree(results, run, &tree));
  eb_results_tree_clear(&tree);
  EB_TRY(eb_results_residuals(results, run, &residuals));
  eb_residuals_clear(&residuals);
  EB_OWNED(eb_breaches_clear) eb_breaches breaches = {0};
  EB_TRY(eb_breaches_read(results, run, &breaches));
  EB_TRY(check_frames(results, run));
  return copy_contact_problem(results, run);
}

eb_error eb_results_verify(const char *path) {
  eb_results *results;
  EB_TRY(eb_results_open(path, &results));
  walk w = {EB_OK};
  hid_t file = eb_results_file(results);
  bool walked =
      H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, check_link, &w) >= 0 &&
      H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, check_object, &w, H5O_INFO_BASIC) >= 0;
  if (!walked && !w.error) w.error = eb_h5_error("cannot list", "the file");
  eb_error error = eb_error_prefix(w.error, "%s", path);
  for (int i = 0; i < eb_results_count(results) && !error; i++) error = check_run(results, i);
  for (int i = 0; i < eb_sweeps_count(results) && !error; i++) {
    eb_sweep_record sweep;
    error = eb_sweeps_read(results, i, &sweep);
    if (!error) eb_sweep_record_clear(&sweep);
  }
  eb_results_close(results);
  return error;
}
