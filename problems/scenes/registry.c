/* The scenes by name. */
#include <string.h>

#include "problems/scenes/catalogue.h"

#define LISTED(name) &eb_##name,
static const eb_scene_ops *const scenes[] = {EB_SCENES(LISTED) NULL};

const eb_scene_ops *const *eb_scenes(void) {
  return scenes;
}

const eb_scene_ops *eb_scene_find(const char *name) {
  for (const eb_scene_ops *const *at = scenes; *at; at++)
    if (strcmp((*at)->name, name) == 0) return *at;
  return NULL;
}
