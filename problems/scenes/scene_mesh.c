/* The mesh of a scene: generated and kept on disk, or a user's in its place. */
#include "problems/scenes/scene_mesh.h"

#include <math.h>
#include <string.h>

#include "problems/base/vector3.h"
#include "problems/mesh/io.h"
#include "problems/mesh/generate.h"
#include "problems/mesh/refine.h"
#include "problems/mesh/sdf.h"
#include "problems/mesh/stuffing.h"
#include "problems/scenes/mesh_cache.h"

static const double pi = 3.14159265358979323846;

/* ---- the generated mesh and its cache key ---------------------------------------------------- */

/* A stand-in's signed distance at some points of its box: a model that was redrawn gets another
 * key. */
static eb_digest model_key(eb_digest key, const eb_model *model) {
  enum { POINTS = 7 };
  const eb_solid *solid = &model->solid;
  for (int i = 0; i < POINTS * POINTS * POINTS; i++) {
    const int index[3] = {i % POINTS, i / POINTS % POINTS, i / (POINTS * POINTS)};
    double p[3];
    for (int d = 0; d < 3; d++)
      p[d] = solid->lo[d] + (solid->hi[d] - solid->lo[d]) * (index[d] + 0.5) / POINTS;
    double distance = solid->distance(solid->context, p);
    key = eb_digest_add(key, &distance, sizeof distance);
  }
  return key;
}

/* What the generator makes follows from the scene's own figures, which its geometry states in
 * words, and from the parameters it names; a changed generator raises EB_MESH_CACHE_VERSION. */
static eb_digest mesh_key(const eb_scene_ops *ops, const eb_values *values) {
  eb_digest key = eb_digest_add((eb_digest){0}, ops->name, strlen(ops->name) + 1);
  key = eb_digest_add(key, ops->geometry, strlen(ops->geometry) + 1);
  key = eb_digest_add(key, &ops->target_elements, sizeof ops->target_elements);
  const eb_model *model = ops->stand_in ? eb_model_find(ops->stand_in) : NULL;
  if (model) key = model_key(key, model);
  for (const char *at = ops->mesh_parameters; at && *at;) {
    size_t length = strcspn(at, ",");
    const eb_option *option = ops->parameters;
    while (option && option->name &&
           (strlen(option->name) != length || memcmp(option->name, at, length) != 0))
      option++;
    at += length + (at[length] == ',');
    if (!option || !option->name) continue;
    key = eb_digest_add(key, option->name, strlen(option->name) + 1);
    if (option->type == EB_OPTION_REAL || option->type == EB_OPTION_INT ||
        option->type == EB_OPTION_BOOL) {
      /* Numbers enter by value, so that "1" and "1.0" are the same mesh. */
      double real = option->type == EB_OPTION_REAL  ? eb_values_real(values, option->name)
                    : option->type == EB_OPTION_INT ? (double)eb_values_int(values, option->name)
                                                    : eb_values_bool(values, option->name);
      key = eb_digest_add(key, &real, sizeof real);
    } else {
      const char *text = eb_values_text(values, option->name);
      key = eb_digest_add(key, text, strlen(text) + 1);
    }
  }
  return key;
}

static bool is_jittered(const eb_scene_ops *ops) {
  return strstr(ops->mesh_parameters, "jitter") != NULL;
}

static eb_grid scaled_grid(const eb_scene_ops *ops, const eb_values *parameters) {
  eb_grid grid = ops->grid;
  double scale = eb_values_real(parameters, "resolution");
  if (eb_values_declares(parameters, "cubes")) scale *= (double)eb_values_int(parameters, "cubes");
  for (int d = 0; d < 3; d++) grid.cubes[d] = (int32_t)fmax(1, round(grid.cubes[d] * scale));
  return grid;
}

static bool is_grid(const eb_scene_ops *ops) {
  return !ops->mesh && ops->model.elements == 0;
}

static eb_error make_model(const char *name, double elements, int32_t nodes, double size,
                           eb_mesh **out) {
  const eb_model *found = eb_model_find(name);
  if (!found) return EB_ERROR(EB_ERR_UNSUPPORTED, "there is no model '%s' in this build", name);
  double count = fmax(50, round(elements));
  /* The lattice offers few sizes to choose from when elements are few. */
  double tolerance = count >= 5000 ? 0.03 : 0.5;
  if (nodes > 0)
    EB_TRY(eb_stuff_to_counts(&found->solid, (int32_t)count, nodes, tolerance, out));
  else
    EB_TRY(eb_stuff_to_count(&found->solid, (int32_t)count, tolerance, out));
  eb_mesh *mesh = *out;
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double scale = size / fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
  const double from[3] = {0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), lo[2]};
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; d < 3; d++) mesh->X[3 * i + d] = scale * (mesh->X[3 * i + d] - from[d]);
  return EB_OK;
}

eb_error eb_scene_model_mesh(const char *name, double elements, int32_t nodes, double size,
                             const char *cache, eb_mesh **out) {
  const double values[3] = {fmax(50, round(elements)), nodes, size};
  const eb_model *model = eb_model_find(name);
  eb_digest key = eb_digest_add((eb_digest){0}, name, strlen(name) + 1);
  key = eb_digest_add(key, values, sizeof values);
  if (model) key = model_key(key, model);
  *out = NULL;
  if (cache) EB_TRY(eb_mesh_cache_load(cache, name, key, out));
  if (*out) return EB_OK;
  EB_TRY(make_model(name, elements, nodes, size, out));
  if (cache) (void)eb_mesh_cache_store(cache, name, key, *out);
  return EB_OK;
}

static eb_error generate(const eb_scene_ops *ops, const eb_values *parameters, eb_mesh **out) {
  if (ops->mesh) return ops->mesh(parameters, out);
  double resolution = eb_values_real(parameters, "resolution");
  if (is_grid(ops)) {
    eb_grid grid = scaled_grid(ops, parameters);
    EB_TRY(eb_generate_tets6(&grid, out));
    if (is_jittered(ops)) eb_generate_jitter(&grid, eb_values_real(parameters, "jitter"), *out);
    return EB_OK;
  }
  int32_t nodes = resolution == 1 ? ops->model.nodes : 0;
  EB_TRY(make_model(ops->stand_in, ops->model.elements * resolution, nodes, ops->model.size, out));
  if (ops->model.reshape) ops->model.reshape(*out);
  return EB_OK;
}

/* ---- a user's mesh --------------------------------------------------------------------------- */

/* The rotation that mesh_up and mesh_turn ask for; false when none. */
static bool file_rotation(const eb_values *values, double rotation[9]) {
  bool y_up = eb_values_declares(values, "mesh_up") && eb_values_text(values, "mesh_up")[0] == 'y';
  bool turns = eb_values_declares(values, "mesh_turn");
  double angle = turns ? eb_values_real(values, "mesh_turn") * pi / 180 : 0;
  double c = cos(angle), s = sin(angle);
  /* About z, after the quarter turn about x that takes y to z. */
  const double turned[9] = {c, -s, 0, s, c, 0, 0, 0, 1}, raised[9] = {c, 0, s, s, 0, -c, 0, 1, 0};
  memcpy(rotation, y_up ? raised : turned, sizeof turned);
  return y_up || angle != 0;
}

/* Uniform scale and shift that put the box of X into the box of `own`; the identity, to the bit,
 * when the boxes agree to rounding, so that a scene's own mesh comes back from a file unchanged. */
static eb_error fit_into_box(const char *path, const eb_mesh *own, double *X, int32_t count) {
  double lo[3], hi[3], from_lo[3], from_hi[3], scale = INFINITY, difference = 0;
  eb_mesh_bounds(own->X, own->node_count, lo, hi);
  eb_mesh_bounds(X, count, from_lo, from_hi);
  double extent = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
  for (int d = 0; d < 3; d++) {
    double size = from_hi[d] - from_lo[d];
    if (size > 0) scale = fmin(scale, (hi[d] - lo[d]) / size);
    difference = fmax(difference, fmax(fabs(from_lo[d] - lo[d]), fabs(from_hi[d] - hi[d])));
  }
  if (!isfinite(scale) || scale <= 0)
    return EB_ERROR(EB_ERR_INVALID,
                    "%s: the mesh has no extent and cannot be fitted into the scene", path);
  if (difference <= 1e-9 * extent) return EB_OK;
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      double from = d < 2 ? 0.5 * (from_lo[d] + from_hi[d]) : from_lo[d];
      double to = d < 2 ? 0.5 * (lo[d] + hi[d]) : lo[d];
      X[3 * i + d] = to + scale * (X[3 * i + d] - from);
    }
  return EB_OK;
}

static eb_error fill_cached(const eb_surface *surface, int32_t target, const char *directory,
                            eb_mesh **out) {
  eb_digest key = eb_digest_add((eb_digest){0}, &target, sizeof target);
  key = eb_digest_add(key, surface->X, 24 * (size_t)surface->vertex_count);
  key = eb_digest_add(key, surface->triangles, 12 * (size_t)surface->triangle_count);
  if (directory) EB_TRY(eb_mesh_cache_load(directory, "surface", key, out));
  if (*out) return EB_OK;
  /* Few elements come in coarse steps of the lattice. */
  double tolerance = target >= 5000 ? 0.03 : 0.15;
  eb_solid solid;
  EB_TRY(eb_solid_from_surface(surface, &solid));
  eb_error error = eb_stuff_to_count(&solid, target, tolerance, out);
  eb_solid_clear(&solid);
  EB_TRY(error);
  if (directory) (void)eb_mesh_cache_store(directory, "surface", key, *out);
  return EB_OK;
}

/* Turns the points by the rotation (row-major; NULL: not at all) and fits them into the box of
 * `own`. */
static eb_error place(const char *path, const double *rotation, const eb_mesh *own, double *X,
                      int32_t count) {
  for (int32_t i = 0; rotation && i < count; i++) {
    const double p[3] = {X[3 * i], X[3 * i + 1], X[3 * i + 2]};
    eb_turn3(rotation, p, X + 3 * i);
  }
  return fit_into_box(path, own, X, count);
}

/* Reads `path`, turns it and fits it into the box of `own`: scaled uniformly so that it just fits,
 * centred in x and y, standing on the floor of the box. A volume mesh keeps its connectivity; a
 * closed surface is filled with about as many tetrahedra as `own` has elements. A planar scene
 * stays in its plane. */
static eb_error read_in_place(const char *path, const double *rotation, const eb_mesh *own,
                              const char *cache_directory, eb_mesh **out) {
  *out = NULL;
  bool is_surface;
  eb_surface *surface = NULL;
  eb_mesh *mesh = NULL;
  EB_TRY(eb_file_is_surface(path, &is_surface));
  if (!is_surface) EB_TRY(eb_mesh_read(path, &mesh));
  eb_error error = EB_OK;
  if (own->type == EB_TRIANGLE && (is_surface || mesh->type != EB_TRIANGLE))
    error =
        EB_ERROR(EB_ERR_UNSUPPORTED,
                 "%s: the scene is planar; give it a mesh of triangles in the plane z = 0", path);
  else if (!is_surface)
    error = place(path, rotation, own, mesh->X, mesh->node_count);
  else if (!(error = eb_surface_read(path, &surface)))
    error = place(path, rotation, own, surface->X, surface->vertex_count);
  if (!error && is_surface)
    error =
        eb_error_prefix(fill_cached(surface, own->element_count, cache_directory, out), "%s", path);
  if (!error && !is_surface)
    *out = mesh;
  else
    eb_mesh_destroy(mesh);
  eb_surface_destroy(surface);
  return error;
}

eb_error eb_scene_mesh_in_place(const char *mesh_file, const eb_values *parameters,
                                const char *cache, eb_mesh **mesh) {
  eb_mesh *placed;
  double rotation[9];
  bool turned = file_rotation(parameters, rotation);
  EB_TRY(read_in_place(mesh_file, turned ? rotation : NULL, *mesh, cache, &placed));
  eb_mesh_destroy(*mesh);
  *mesh = placed;
  return EB_OK;
}

/* ---- either ---------------------------------------------------------------------------------- */

bool eb_scene_grid(const eb_scene_ops *ops, const eb_values *parameters, const char *mesh_file,
                   eb_grid *out) {
  if (ops->as_grid) return !mesh_file && ops->as_grid(ops, parameters, out);
  bool grid = is_grid(ops) && !is_jittered(ops) && !ops->prepare && !mesh_file;
  if (grid) *out = scaled_grid(ops, parameters);
  return grid;
}

eb_error eb_scene_make_mesh(const eb_scene_ops *ops, const eb_values *parameters,
                            const char *mesh_file, const char *cache_dir, eb_mesh **out) {
  char path[EB_CACHE_PATH_BYTES];
  const char *directory = eb_mesh_cache_directory(cache_dir, path) ? path : NULL;
  if (ops->make) return ops->make(ops, parameters, mesh_file, directory, out);
  bool kept = directory && !is_grid(ops); /* a grid is made faster than it is read */
  eb_digest key = mesh_key(ops, parameters);
  *out = NULL;
  if (kept) EB_TRY(eb_mesh_cache_load(directory, ops->name, key, out));
  if (!*out) {
    EB_TRY(generate(ops, parameters, out));
    if (kept) (void)eb_mesh_cache_store(directory, ops->name, key, *out);
  }
  if (mesh_file) EB_TRY(eb_scene_mesh_in_place(mesh_file, parameters, directory, out));
  return ops->prepare ? ops->prepare(parameters, out) : EB_OK;
}
