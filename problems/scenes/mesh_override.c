#include "problems/scenes/mesh_override.h"

#include <math.h>

#include "problems/base/hash.h"
#include "problems/mesh/io.h"
#include "problems/mesh/stuffing.h"
#include "problems/scenes/mesh_cache.h"

static void turn(const double *rotation, double *X, int32_t count) {
  for (int32_t i = 0; rotation && i < count; i++) {
    const double p[3] = {X[3 * i], X[3 * i + 1], X[3 * i + 2]};
    for (int d = 0; d < 3; d++)
      X[3 * i + d] =
          rotation[3 * d] * p[0] + rotation[3 * d + 1] * p[1] + rotation[3 * d + 2] * p[2];
  }
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

/* Few elements come in coarse steps of the lattice. */
static double count_tolerance(int32_t target) {
  return target >= 5000 ? 0.03 : 0.15;
}

static eb_error fill_solid(const eb_surface *surface, int32_t target, eb_mesh **out) {
  eb_solid solid;
  EB_TRY(eb_solid_from_surface(surface, &solid));
  eb_error error = eb_stuff_to_count(&solid, target, count_tolerance(target), out);
  eb_solid_clear(&solid);
  return error;
}

static eb_error fill_cached(const eb_surface *surface, int32_t target, const char *directory,
                            eb_mesh **out) {
  uint64_t key = eb_hash(EB_HASH_SEED, &target, sizeof target);
  key = eb_hash(key, surface->X, 24 * (size_t)surface->vertex_count);
  key = eb_hash(key, surface->triangles, 12 * (size_t)surface->triangle_count);
  if (directory) EB_TRY(eb_mesh_cache_load(directory, "surface", key, out));
  if (*out) return EB_OK;
  EB_TRY(fill_solid(surface, target, out));
  if (directory) (void)eb_mesh_cache_store(directory, "surface", key, *out);
  return EB_OK;
}

static eb_error from_surface(const char *path, const double *rotation, const eb_mesh *own,
                             const char *directory, eb_mesh **out) {
  eb_surface *surface;
  EB_TRY(eb_surface_read(path, &surface));
  turn(rotation, surface->X, surface->vertex_count);
  eb_error error = fit_into_box(path, own, surface->X, surface->vertex_count);
  if (!error)
    error = eb_error_prefix(fill_cached(surface, own->element_count, directory, out), "%s", path);
  eb_surface_destroy(surface);
  return error;
}

/* A planar scene stays in its plane. */
static eb_error check_planar(const char *path, const eb_mesh *own, eb_element_type type) {
  if (own->type != EB_TRIANGLE || type == EB_TRIANGLE) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "%s: the scene is planar; give it a mesh of triangles in the plane z = 0", path);
}

static eb_error from_volume(const char *path, const double *rotation, const eb_mesh *own,
                            eb_mesh **out) {
  eb_mesh *mesh;
  EB_TRY(eb_mesh_read(path, &mesh));
  turn(rotation, mesh->X, mesh->node_count);
  eb_error error = check_planar(path, own, mesh->type);
  if (!error) error = fit_into_box(path, own, mesh->X, mesh->node_count);
  if (error)
    eb_mesh_destroy(mesh);
  else
    *out = mesh;
  return error;
}

eb_error eb_mesh_override(const char *path, const double *rotation, const eb_mesh *own,
                          const char *cache_directory, eb_mesh **out) {
  *out = NULL;
  bool is_surface;
  EB_TRY(eb_file_is_surface(path, &is_surface));
  if (is_surface) EB_TRY(check_planar(path, own, EB_TETRAHEDRON));
  return is_surface ? from_surface(path, rotation, own, cache_directory, out)
                    : from_volume(path, rotation, own, out);
}
