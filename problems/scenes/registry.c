#include <string.h>

#include "problems/scenes/catalogue.h"

static const eb_scene_ops *const scenes[] = {
    &eb_bench_beam,
    &eb_conjac2020_twist,
    &eb_conjac2020_hetero,
    NULL,
};

const eb_scene_ops *const *eb_scenes(void) {
  return scenes;
}

const eb_scene_ops *eb_scene_find(const char *name) {
  for (const eb_scene_ops *const *at = scenes; *at; at++)
    if (strcmp((*at)->name, name) == 0) return *at;
  return NULL;
}
