#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/results/read.h"

static void path_of(const eb_results *results, int run, const char *name, char *out, size_t bytes) {
  snprintf(out, bytes, "/runs/%s/setup/%s", eb_results_run(results, run)->id, name);
}

eb_error eb_results_setup(const eb_results *results, int run, const char *name, double *out) {
  char path[400];
  void *data;
  eb_h5_shape shape;
  *out = NAN;
  path_of(results, run, name, path, sizeof path);
  if (!eb_h5_exists(eb_results_file(results), path)) return EB_OK;
  EB_TRY(eb_results_locate(
      results, run,
      eb_h5_get(eb_results_file(results), path, H5T_NATIVE_DOUBLE, sizeof *out, &data, &shape)));
  if (shape.rank == 0) *out = *(double *)data;
  free(data);
  if (shape.rank == 0) return EB_OK;
  return eb_results_locate(results, run,
                           EB_ERROR(EB_ERR_FORMAT, "setup/%s is not one number", name));
}

eb_error eb_results_memory(const eb_results *results, int run, double bytes[EB_MEMORY_KINDS]) {
  for (int i = 0; i < EB_MEMORY_KINDS; i++) {
    char name[64];
    snprintf(name, sizeof name, "memory/%s", eb_memory_name((eb_memory_kind)i));
    EB_TRY(eb_results_setup(results, run, name, &bytes[i]));
  }
  return EB_OK;
}

/* ---- the elimination tree -------------------------------------------------------------------- */

/* Reads one column; *count is that of the first, and to be that of the others (-1: none yet). */
static eb_error read_column(hid_t group, const char *name, hid_t memory, size_t size, void **out,
                            int32_t *count) {
  eb_h5_shape shape;
  EB_TRY(eb_h5_get(group, name, memory, size, out, &shape));
  bool fits = shape.rank == 1 && shape.size[0] <= INT32_MAX;
  if (fits && *count < 0) *count = (int32_t)shape.size[0];
  if (fits && (hsize_t)*count == shape.size[0]) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "setup/supernodes/%s has an unexpected shape", name);
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

static eb_error fill_tree(hid_t group, eb_tree_log *tree) {
  static const char *const names[] = {"parent", "pivots", "rows"};
  int32_t **columns[] = {&tree->parent, &tree->pivots, &tree->rows}, count = -1;
  void *data;
  for (int i = 0; i < 3; i++) {
    eb_error error = read_column(group, names[i], H5T_NATIVE_INT32, sizeof(int32_t), &data, &count);
    *columns[i] = data;
    EB_TRY(error);
  }
  eb_error error = read_column(group, "flops", H5T_NATIVE_DOUBLE, sizeof(double), &data, &count);
  tree->flops = data;
  EB_TRY(error);
  tree->count = count;
  return check_tree(tree);
}

eb_error eb_results_tree(const eb_results *results, int run, eb_tree_log *out) {
  char path[400];
  *out = (eb_tree_log){0};
  path_of(results, run, "supernodes", path, sizeof path);
  if (!eb_h5_exists(eb_results_file(results), path)) return EB_OK;
  hid_t group = H5Gopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (group < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", path));
  eb_error error = fill_tree(group, out);
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
