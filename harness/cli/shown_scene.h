/* What a scene was understood to be: for `info`, of the catalogue's and of files. */
#ifndef EB_CLI_SHOWN_SCENE_H
#define EB_CLI_SHOWN_SCENE_H

#include <jansson.h>

#include "harness/doc/doc.h"
#include "problems/scene_impl.h"

/* Appends box, mass, regions with their materials, groups with what holds or moves them, loads,
 * what may touch what, and what is unusual about its figures. */
EB_MUST eb_error eb_scene_show(const eb_scene *scene, eb_doc *doc);
/* Adds the same as members: box, mass, bodies, gravity, regions, groups, loads, contact, notes. */
EB_MUST eb_error eb_scene_show_json(const eb_scene *scene, json_t *out);

#endif
