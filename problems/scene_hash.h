/* Internal to problems/: scene.h and scene_impl.h have what others ask. */
#ifndef EB_SCENE_HASH_H
#define EB_SCENE_HASH_H

#include "problems/scene_impl.h"

/* Fills scene->hash, and scene->script.stands_still, once everything else is there. Collective. */
EB_MUST eb_error eb_scene_make_hash(eb_scene *scene);

#endif
