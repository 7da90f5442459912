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

/* The model of that name, filled with about `elements` tetrahedra (at least 50), scaled so that its
 * longest edge is `size` (m), standing on z = 0 over the origin; with `nodes` not 0 refined to as
 * many. From the folder `cache` where it is kept (NULL: nowhere). */
EB_MUST eb_error eb_scene_model_mesh(const char *name, double elements, int32_t nodes, double size,
                                     const char *cache, eb_mesh **out);
/* Puts the mesh of a file, turned by mesh_up and mesh_turn and fitted into its box, in the place of
 * *mesh, which is left as it is on an error. */
EB_MUST eb_error eb_scene_mesh_in_place(const char *mesh_file, const eb_values *parameters,
                                        const char *cache, eb_mesh **mesh);

/* Whether that mesh is eb_generate_tets6 of a grid, *out, and nothing else: it can be made in
 * pieces. */
bool eb_scene_grid(const eb_scene_ops *ops, const eb_values *parameters, const char *mesh_file,
                   eb_grid *out);
#endif
