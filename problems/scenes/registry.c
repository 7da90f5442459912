#include <string.h>

#include "problems/scenes/catalogue.h"

static const eb_scene_ops *const scenes[] = {
    &eb_bench_beam,
    &eb_conjac2020_dragon,
    &eb_conjac2020_twist,
    &eb_conjac2020_hetero,
    &eb_conjac2020_aniso,
    &eb_conjac2020_muscle,
    &eb_conjac2020_barcut,
    &eb_conjac2020_bunny,
    &eb_hecht2012_sculpture_small,
    &eb_hecht2012_sculpture_medium,
    &eb_hecht2012_sculpture_large,
    &eb_hecht2012_dragon,
    &eb_hecht2012_three_torus,
    &eb_hecht2012_bowl_of_bears,
    &eb_hecht2012_bear_squash,
    &eb_hecht2012_cloth_drop,
    &eb_hecht2012_trampoline,
    &eb_hecht2012_spider,
    &eb_verschoor2019_rings,
    &eb_verschoor2019_rings_stiff,
    &eb_verschoor2019_pyramid,
    &eb_verschoor2019_bunnies,
    &eb_verschoor2019_bearing,
    &eb_verschoor2019_armadillo,
    &eb_verschoor2019_incline,
    &eb_verschoor2019_stack,
    &eb_verschoor2019_strings,
    &eb_verschoor2019_wedge,
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
