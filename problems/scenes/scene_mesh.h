/* The mesh of a scene. */
#ifndef EB_SCENES_SCENE_MESH_H
#define EB_SCENES_SCENE_MESH_H

#include "problems/scene_impl.h"

/* The mesh that the scene's generator makes, from the cache where it is kept (cache_dir as in
 * eb_scene_create), or the mesh of `mesh_file` (NULL: none) turned by mesh_up and mesh_turn and
 * fitted into the box of the generated one; prepared for setup. The caller destroys *out, also when
 * it is set on failure. */
EB_MUST eb_error eb_scene_make_mesh(const eb_scene_ops *ops, const eb_values *parameters,
                                    const char *mesh_file, const char *cache_dir, eb_mesh **out);

/* Whether that mesh is eb_generate_tets6 of a grid, *out, and nothing else: it can be made in
 * pieces. */
bool eb_scene_grid(const eb_scene_ops *ops, const eb_values *parameters, const char *mesh_file,
                   eb_grid *out);
#endif
