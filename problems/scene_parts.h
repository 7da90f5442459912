/* What the files problems/scene*.c share. */
#ifndef EB_SCENE_PARTS_H
#define EB_SCENE_PARTS_H

#include "problems/scene.h"

/* What follows from the mesh alone: surface and node_area. */
EB_MUST eb_error eb_scene_make_surface(eb_scene *scene);
/* What follows from mesh, surface, materials and colliders: elasticity and contact. */
EB_MUST eb_error eb_scene_make_mechanics(eb_scene *scene);
/* Checks what the setup says of contact as constraints, and makes free_bodies of the regions it declares rigid. Asks the scene's boundary
 * and for its cuts: both must be there. */
EB_MUST eb_error eb_scene_make_constraints(eb_scene *scene);
/* scene->hash, of everything else in it. */
EB_MUST eb_error eb_scene_make_hash(eb_scene *scene);

#endif
