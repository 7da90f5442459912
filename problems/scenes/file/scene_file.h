/* Scenes that a file describes (README.md): reading it into an entry as those of the catalogue. */
#ifndef EB_SCENES_FILE_SCENE_FILE_H
#define EB_SCENES_FILE_SCENE_FILE_H

#include "problems/base/strings.h"
#include "problems/notation/sections.h"
#include "problems/scene_impl.h"

/* Reads a scene. `name` is that of the entry. `path` is copied, NULL for one of the catalogue.
 * `materials` of plug-ins that it may name, or NULL.
 * EB_ERR_FORMAT: file, line, the word and the nearest that there is. eb_scene_close releases
 * *out. */
EB_MUST eb_error eb_scene_file_parse(const char *name, const char *path, const char *text,
                                     const eb_plugged_list *materials, const eb_scene_ops **out);
EB_MUST eb_error eb_scene_file_read(const char *path, const eb_plugged_list *materials,
                                    const eb_scene_ops **out);
/* Appends the mesh files that the text of a scene names, each once, as it names them: from the
 * scene's folder on. None of them is looked at. `path` is for messages. */
EB_MUST eb_error eb_scene_file_meshes(const char *path, const char *text, eb_strings *out);
/* Whether a name is that of a file. */
bool eb_scene_file_named(const char *name);

/* What the entry's table holds of a file: for scenes of the catalogue, whose tables are made when
 * the program is built. */
EB_MUST eb_error eb_scene_described_mesh(const eb_scene_ops *ops, const eb_values *parameters,
                                         const char *mesh_file, const char *cache_directory,
                                         eb_mesh **out);
bool eb_scene_described_grid(const eb_scene_ops *ops, const eb_values *parameters, eb_grid *out);
EB_MUST eb_error eb_scene_described_setup(eb_scene *scene);
void eb_scene_described_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target);
void eb_scene_described_loads(const eb_scene *scene, double t, double *magnitude);
void eb_scene_described_springs(const eb_scene *scene, double t, double *place, double *stiffness);
int32_t eb_scene_described_dynamic(const eb_scene *scene, int32_t wanted, int32_t *nodes);
void eb_scene_described_clear(eb_scene *scene);

#endif
