#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/read.h"
#include "problems/base/memory.h"

static eb_error open_mesh(const eb_results *results, int run, hid_t *out) {
  char path[128];
  const char *hash = eb_results_run(results, run)->scene_hash;
  snprintf(path, sizeof path, "/scenes/%s/mesh", hash);
  if (!*hash)
    return EB_ERROR(EB_ERR_FORMAT, "%s: run %s ended before its scene was built",
                    eb_results_path(results), eb_results_run(results, run)->id);
  *out = H5Gopen2(eb_results_file(results), path, H5P_DEFAULT);
  return *out < 0 ? eb_h5_error("cannot open", path) : EB_OK;
}

/* Reads an array of `columns` numbers a row (1: a vector) and checks its shape. */
static eb_error read_rows(hid_t group, const char *name, hid_t memory, size_t size, hsize_t columns,
                          void **out, hsize_t *rows) {
  eb_h5_shape shape;
  EB_TRY(eb_h5_get(group, name, memory, size, out, &shape));
  bool fits = columns == 1 ? shape.rank == 1 : shape.rank == 2 && shape.size[1] == columns;
  *rows = shape.size[0];
  if (fits && *rows <= INT32_MAX) return EB_OK;
  free(*out);
  *out = NULL;
  return EB_ERROR(EB_ERR_FORMAT, "mesh/%s has an unexpected shape", name);
}

static eb_error expect_rows(const char *name, hsize_t rows, hsize_t expected) {
  if (rows == expected) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "mesh/%s has %llu rows, not %llu", name, (unsigned long long)rows,
                  (unsigned long long)expected);
}

typedef struct raw_mesh {
  eb_element_type type;
  hsize_t nodes, elements;
  void *positions, *corners, *region, *fibre;
} raw_mesh;

static eb_error read_raw(hid_t group, raw_mesh *raw) {
  static const struct {
    const char *name;
    eb_element_type type;
  } kinds[] = {
      {"tetrahedra", EB_TETRAHEDRON}, {"hexahedra", EB_HEXAHEDRON}, {"triangles", EB_TRIANGLE}};
  hsize_t rows;
  EB_TRY(read_rows(group, "positions", H5T_NATIVE_DOUBLE, sizeof(double), 3, &raw->positions,
                   &raw->nodes));
  for (int i = 0; i < 3 && !raw->corners; i++)
    if (eb_h5_exists(group, kinds[i].name)) {
      raw->type = kinds[i].type;
      EB_TRY(read_rows(group, kinds[i].name, H5T_NATIVE_INT32, sizeof(int32_t), kinds[i].type,
                       &raw->corners, &raw->elements));
    }
  if (!raw->corners) return EB_ERROR(EB_ERR_FORMAT, "the mesh has no elements");
  EB_TRY(read_rows(group, "region", H5T_NATIVE_INT32, sizeof(int32_t), 1, &raw->region, &rows));
  EB_TRY(expect_rows("region", rows, raw->elements));
  if (!eb_h5_exists(group, "fibre")) return EB_OK;
  EB_TRY(read_rows(group, "fibre", H5T_NATIVE_DOUBLE, sizeof(double), 3, &raw->fibre, &rows));
  return expect_rows("fibre", rows, raw->elements);
}

/* Node and region indices are checked here, since they come from a file. */
static eb_error check_raw(const raw_mesh *raw, int32_t regions) {
  const int32_t *corners = raw->corners, *region = raw->region;
  for (hsize_t i = 0; i < raw->elements * raw->type; i++)
    if (corners[i] < 0 || (hsize_t)corners[i] >= raw->nodes)
      return EB_ERROR(EB_ERR_FORMAT, "element %llu has node %d of %llu",
                      (unsigned long long)(i / raw->type), corners[i],
                      (unsigned long long)raw->nodes);
  for (hsize_t e = 0; e < raw->elements; e++)
    if (region[e] < 0 || region[e] >= regions)
      return EB_ERROR(EB_ERR_FORMAT, "element %llu has region %d of %d", (unsigned long long)e,
                      region[e], regions);
  return EB_OK;
}

enum { MAX_REGIONS = 256 };

static eb_error read_names(hid_t group, char *names[MAX_REGIONS], int32_t *count) {
  for (*count = 0; *count < MAX_REGIONS; ++*count) {
    char attribute[32];
    snprintf(attribute, sizeof attribute, "region_%d", *count);
    if (H5Aexists(group, attribute) <= 0) break;
    EB_TRY(eb_h5_get_text(group, attribute, &names[*count]));
  }
  return EB_OK;
}

static eb_error assemble(const raw_mesh *raw, char *names[], int32_t regions, eb_mesh **out) {
  EB_TRY(check_raw(raw, regions));
  EB_TRY(eb_mesh_create(raw->type, (int32_t)raw->nodes, (int32_t)raw->elements, out));
  memcpy((*out)->X, raw->positions, raw->nodes * 3 * sizeof(double));
  memcpy((*out)->elements, raw->corners, raw->elements * raw->type * sizeof(int32_t));
  memcpy((*out)->region, raw->region, raw->elements * sizeof(int32_t));
  if (raw->fibre) {
    EB_TRY(EB_NEW((*out)->fibre, raw->elements * 3));
    memcpy((*out)->fibre, raw->fibre, raw->elements * 3 * sizeof(double));
  }
  return eb_mesh_name_regions(*out, regions, (const char *const *)names);
}

static eb_error read_mesh(hid_t group, raw_mesh *raw, char *names[MAX_REGIONS], eb_mesh **out) {
  int32_t regions = 0;
  EB_TRY(read_raw(group, raw));
  EB_TRY(read_names(group, names, &regions));
  eb_error error = assemble(raw, names, regions, out);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
}

eb_error eb_results_mesh(const eb_results *results, int run, eb_mesh **out) {
  hid_t group;
  raw_mesh raw = {0};
  char *names[MAX_REGIONS] = {NULL};
  *out = NULL;
  EB_TRY(open_mesh(results, run, &group));
  eb_error error = read_mesh(group, &raw, names, out);
  for (int i = 0; i < MAX_REGIONS; i++) free(names[i]);
  free(raw.positions);
  free(raw.corners);
  free(raw.region);
  free(raw.fibre);
  H5Gclose(group);
  return eb_error_prefix(error, "%s: scene %s", eb_results_path(results),
                         eb_results_run(results, run)->scene);
}

static eb_error check_triangles(const eb_result_surface *surface, int64_t nodes) {
  for (int64_t i = 0; i < 3 * (int64_t)surface->triangle_count; i++)
    if (surface->triangles[i] < 0 || surface->triangles[i] >= nodes)
      return EB_ERROR(EB_ERR_FORMAT, "triangle %lld has node %d of %lld", (long long)(i / 3),
                      surface->triangles[i], (long long)nodes);
  return EB_OK;
}

static eb_error read_surface(hid_t group, int64_t nodes, eb_result_surface *out) {
  hsize_t rows, regions;
  void *data;
  EB_TRY(read_rows(group, "surface", H5T_NATIVE_INT32, sizeof(int32_t), 3, &data, &rows));
  out->triangles = data;
  out->triangle_count = (int32_t)rows;
  EB_TRY(read_rows(group, "surface_region", H5T_NATIVE_INT32, sizeof(int32_t), 1, &data, &regions));
  out->region = data;
  EB_TRY(expect_rows("surface_region", regions, rows));
  return check_triangles(out, nodes);
}

eb_error eb_results_surface(const eb_results *results, int run, eb_result_surface *out) {
  hid_t group;
  *out = (eb_result_surface){0};
  EB_TRY(open_mesh(results, run, &group));
  eb_error error = read_surface(group, eb_results_run(results, run)->nodes, out);
  H5Gclose(group);
  if (error) eb_result_surface_clear(out);
  return eb_error_prefix(error, "%s", eb_results_path(results));
}

void eb_result_surface_clear(eb_result_surface *surface) {
  free(surface->triangles);
  free(surface->region);
  *surface = (eb_result_surface){0};
}
