/* The catalogue of scenes, in the order in which they are listed; each is an eb_scene_ops eb_NAME
 * in the file of its paper. */
#ifndef EB_SCENES_CATALOGUE_H
#define EB_SCENES_CATALOGUE_H

#include "problems/scene_impl.h"

/* clang-format off */
#define EB_SCENES(ENTRY) \
  ENTRY(bench_beam) \
  ENTRY(bench_block) \
  ENTRY(conjac2020_dragon) \
  ENTRY(conjac2020_twist) \
  ENTRY(conjac2020_hetero) \
  ENTRY(conjac2020_aniso) \
  ENTRY(conjac2020_muscle) \
  ENTRY(conjac2020_barcut) \
  ENTRY(conjac2020_bunny) \
  ENTRY(hecht2012_sculpture_small) \
  ENTRY(hecht2012_sculpture_medium) \
  ENTRY(hecht2012_sculpture_large) \
  ENTRY(hecht2012_dragon) \
  ENTRY(hecht2012_three_torus) \
  ENTRY(hecht2012_bowl_of_bears) \
  ENTRY(hecht2012_bear_squash) \
  ENTRY(hecht2012_cloth_drop) \
  ENTRY(hecht2012_trampoline) \
  ENTRY(hecht2012_spider) \
  ENTRY(lewin2016_tet_flip) \
  ENTRY(lewin2016_hex_turn) \
  ENTRY(lewin2016_hex_random) \
  ENTRY(lewin2016_pbfe_scale) \
  ENTRY(lewin2016_hex_shaken) \
  ENTRY(lewin2016_hourglass_modes) \
  ENTRY(lewin2016_stretch) \
  ENTRY(lewin2016_bend_c) \
  ENTRY(lewin2016_hourglass) \
  ENTRY(lewin2016_steel_block) \
  ENTRY(lewin2016_block_drop) \
  ENTRY(lewin2016_hinged_bar) \
  ENTRY(lewin2016_free_spin) \
  ENTRY(lewin2016_hanging_sheet) \
  ENTRY(lewin2016_net) \
  ENTRY(lewin2016_beam) \
  ENTRY(trusty2023_octobot) \
  ENTRY(trusty2023_gatorman) \
  ENTRY(trusty2023_mammoth) \
  ENTRY(trusty2023_crab) \
  ENTRY(trusty2023_cantilever) \
  ENTRY(trusty2023_bar) \
  ENTRY(trusty2023_pendulum) \
  ENTRY(trusty2023_candy) \
  ENTRY(trusty2023_snail) \
  ENTRY(verschoor2019_rings) \
  ENTRY(verschoor2019_rings_stiff) \
  ENTRY(verschoor2019_pyramid) \
  ENTRY(verschoor2019_bunnies) \
  ENTRY(verschoor2019_bearing) \
  ENTRY(verschoor2019_armadillo) \
  ENTRY(verschoor2019_incline) \
  ENTRY(verschoor2019_stack) \
  ENTRY(verschoor2019_strings) \
  ENTRY(verschoor2019_wedge)

/* What laws measure (harness/laws): found by their names, and not listed. */
#define EB_LAW_SCENES(ENTRY) \
  ENTRY(laws_arch) \
  ENTRY(laws_bar) \
  ENTRY(laws_bounce) \
  ENTRY(laws_bounce_penalty) \
  ENTRY(laws_crumple) \
  ENTRY(laws_cylinder) \
  ENTRY(laws_flight) \
  ENTRY(laws_free) \
  ENTRY(laws_hanging) \
  ENTRY(laws_hertz) \
  ENTRY(laws_hertz_penalty) \
  ENTRY(laws_ladder) \
  ENTRY(laws_launch) \
  ENTRY(laws_meet) \
  ENTRY(laws_meet_penalty) \
  ENTRY(laws_pinch) \
  ENTRY(laws_push) \
  ENTRY(laws_roll) \
  ENTRY(laws_slope) \
  ENTRY(laws_slope_implicit) \
  ENTRY(laws_sphere) \
  ENTRY(laws_stack) \
  ENTRY(laws_stop) \
  ENTRY(laws_stop_explicit) \
  ENTRY(laws_stop_implicit) \
  ENTRY(laws_sway) \
  ENTRY(laws_torsion) \
  ENTRY(laws_tumble) \
  ENTRY(laws_tunnel) \
  ENTRY(laws_tunnel_penalty) \
  ENTRY(laws_uniform)
/* clang-format on */

#define EB_SCENE_DECLARED(name) extern const eb_scene_ops eb_##name;
EB_SCENES(EB_SCENE_DECLARED)
EB_LAW_SCENES(EB_SCENE_DECLARED)
#undef EB_SCENE_DECLARED

#endif
