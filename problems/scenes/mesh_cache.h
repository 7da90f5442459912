/* Generated meshes kept on disk, so that half a million tetrahedra are not stuffed twice.
 *
 * A file is found by its key (a digest of what the mesh was made from), holds a digest of what it
 * contains, and is trusted only when both match: anything else is a miss, and the mesh is built
 * anew. The cache is an optimization: no failure of the file system is an error. */
#ifndef EB_SCENES_MESH_CACHE_H
#define EB_SCENES_MESH_CACHE_H

#include <stdbool.h>

#include "problems/base/digest.h"
#include "problems/mesh/mesh.h"

/* Raise it when a generator, the stuffing or the file layout changes what a key stands for. */
#define EB_MESH_CACHE_VERSION 4

enum { EB_CACHE_PATH_BYTES = 3072 };

/* The directory that `cache_dir` stands for (see eb_scene_create), created when missing. Returns
 * false when caching is off or there is no directory to be had. */
bool eb_mesh_cache_directory(const char *cache_dir, char path[EB_CACHE_PATH_BYTES]);

/* The mesh kept under `name` and `key`; *out is NULL when there is none, or none that can be
 * trusted. Fails only without memory. The caller destroys *out. */
EB_MUST eb_error eb_mesh_cache_load(const char *directory, const char *name, eb_digest key,
                                    eb_mesh **out);
/* Keeps the mesh; readers see the whole file or none. False when it could not be written. */
bool eb_mesh_cache_store(const char *directory, const char *name, eb_digest key,
                         const eb_mesh *mesh);

#endif
