#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/quantity.h"
#include "harness/results/read.h"
#include "harness/results/write_materials.h"

/* Rows of a dataset; 0 without one. */
static eb_error count_rows(hid_t scene, const char *name, int64_t *out) {
  eb_h5_shape shape;
  void *data;
  *out = 0;
  if (!eb_h5_exists(scene, name)) return EB_OK;
  EB_TRY(eb_h5_get(scene, name, H5T_NATIVE_INT32, sizeof(int32_t), &data, &shape));
  free(data);
  *out = shape.rank > 0 ? (int64_t)shape.size[0] : 0;
  return EB_OK;
}

/* Appends the names that an enumeration over the regions takes, each once and in its own order,
 * except the first `unsaid` of them. */
static eb_error add_names(hid_t scene, const char *path, const char *const *names, int32_t count,
                          int32_t unsaid, const char *separator, eb_result_scene *out) {
  void *data = NULL;
  eb_h5_shape shape;
  hid_t type = eb_name_type(names, count);
  eb_error error = eb_h5_get(scene, path, type, sizeof(int32_t), &data, &shape);
  H5Tclose(type);
  EB_TRY(error);
  const int32_t *of_region = data;
  hsize_t regions = shape.rank == 1 ? shape.size[0] : 0, named = 0;
  for (int32_t n = 0; n < count; n++) {
    hsize_t before = named;
    size_t used = strlen(out->material);
    for (hsize_t r = 0; r < regions; r++) named += of_region[r] == n;
    if (named > before && n >= unsaid)
      snprintf(out->material + used, sizeof out->material - used, "%s%s", used ? separator : "",
               names[n]);
  }
  free(data);
  return named == regions ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "%s has values without a name", path);
}

static eb_error read_material(hid_t scene, eb_result_scene *out) {
  const char *kinds[EB_MATERIAL_KINDS];
  for (int k = 0; k < EB_MATERIAL_KINDS; k++)
    kinds[k] = eb_material_describe((eb_material_kind)k)->name;
  EB_TRY(add_names(scene, "materials/kind", kinds, EB_MATERIAL_KINDS, 0, ",", out));
  return add_names(scene, "materials/fibre", eb_fibre_names, EB_FIBRE_NAMES, 1, "+", out);
}

static eb_error read_scene(hid_t scene, eb_result_scene *out) {
  out->told = true;
  out->dimensions = eb_h5_exists(scene, "mesh/triangles") ? 2 : 3;
  EB_TRY(count_rows(scene, "articulation/parent", &out->joints));
  EB_TRY(count_rows(scene, "articulation/rider_node", &out->carried));
  return read_material(scene, out);
}

eb_error eb_results_scene(const eb_results *results, int run, eb_result_scene *out) {
  char path[128];
  const char *hash = eb_results_run(results, run)->scene_hash;
  *out = (eb_result_scene){0};
  snprintf(path, sizeof path, "/scenes/%s/materials/kind", hash);
  if (!*hash || !eb_h5_exists(eb_results_file(results), path)) return EB_OK;
  *strstr(path, "/materials") = '\0';
  hid_t scene = H5Gopen2(eb_results_file(results), path, H5P_DEFAULT);
  if (scene < 0) return eb_results_locate(results, run, eb_h5_error("cannot open", path));
  eb_error error = read_scene(scene, out);
  H5Gclose(scene);
  return eb_results_locate(results, run, error);
}
