/* What a part of a scene says of itself, and a whole scene in the same words. */
#include "problems/ranks/part.h"

int32_t eb_scene_own_nodes(const eb_scene *scene) {
  return scene->part ? scene->part->nodes : scene->mesh->node_count;
}

int32_t eb_scene_own_elements(const eb_scene *scene) {
  return scene->part ? scene->part->elements : scene->mesh->element_count;
}

const eb_ranks *eb_scene_ranks(const eb_scene *scene) {
  return scene->part ? scene->part->ranks : NULL;
}
