/* Bodies dropped into a container: rings, rings-stiff, bunnies (Section 6.2, Figures 8(h) and 8(b)). */
#include "problems/mesh/generate.h"
#include "problems/mesh/surface_shapes.h"
#include "problems/scenes/verschoor2019.h"

/* A box of five cells by five, open at the top, in which a heap of all bodies comes to lie. */
static eb_error drop_into_box(eb_scene *scene, const eb_scatter *scatter) {
  eb_verschoor2019_mechanics(scene);
  const double half = 0.5 * scatter->across * scatter->cell, wall = 0.2 * scatter->cell;
  eb_surface *box;
  EB_TRY(eb_surface_cup((const double[2]){half, half}, 3 * scatter->cell, wall, &box));
  return eb_scene_add_obstacle(scene, box, NULL);
}

/* ---- rings ----------------------------------------------------------------------------------- */

#define RINGS_PARAMETERS(E_)                                                                       \
  EB_VERSCHOOR2019_PARAMETERS(E_, "1e-3", "corotational"),                                         \
      {"resolution",                                                                               \
       EB_OPTION_REAL,                                                                             \
       "1",                                                                                        \
       0.25,                                                                                       \
       8,                                                                                          \
       NULL,                                                                                       \
       "",                                                                                         \
       "scale on the 18 cubes round a ring; 1 is the paper's"},                                    \
      EB_VERSCHOOR2019_SCATTER, EB_LAST_PARAMETER

static const eb_option rings_parameters[] = {RINGS_PARAMETERS("5e5")};
static const eb_option stiff_parameters[] = {RINGS_PARAMETERS("5e6")};

/* Its section is about as wide as a cube is long: 2 pi 20 cm / 18 = 7 cm. It reaches 23.8 cm from its middle,
 * with few cubes round 25.6 cm. */
static eb_error ring_mesh(const eb_values *parameters, eb_mesh **out) {
  int32_t around = (int32_t)(18 * eb_values_real(parameters, "resolution") + 0.5);
  return eb_generate_ring(around, 0.2, 0.07, out);
}

static const eb_scatter ring_cells = {.across = 5, .cell = 0.52};

static eb_error rings_prepare(const eb_values *parameters, eb_mesh **mesh) {
  return eb_verschoor2019_scatter(parameters, &ring_cells, mesh);
}

static eb_error rings_setup(eb_scene *scene) {
  return drop_into_box(scene, &ring_cells);
}

#define RINGS(name_, summary_, parameters_)                                                        \
  {                                                                                                \
    .name = name_, .summary = summary_,                                                            \
    .geometry = "120 rings, 18 cubes of 6 tetrahedra round each, 47 cm across, at random in "      \
                "cells of 52 cm above a box of 2.6 m",                                             \
    .citation = EB_VERSCHOOR2019_CITATION, .needs = EB_VERSCHOOR2019_NEEDS,                        \
    .target_vertices = 8640, .target_elements = 12960, .parameters = parameters_, .steps = 1500,   \
    .steps_per_frame = 10, .mesh = ring_mesh, .mesh_parameters = "resolution",                     \
    .prepare = rings_prepare, .setup = rings_setup                                                 \
  }

const eb_scene_ops eb_verschoor2019_rings = RINGS(
    "verschoor2019/rings",
    "120 elastic rings, placed at random, are dropped into a box and heap up", rings_parameters);
const eb_scene_ops eb_verschoor2019_rings_stiff =
    RINGS("verschoor2019/rings-stiff", "the dropped rings, ten times as stiff", stiff_parameters);

/* ---- bunnies --------------------------------------------------------------------------------- */

static const eb_option bunnies_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("5e6", "1e-3", "corotational"),
    {"resolution", EB_OPTION_REAL, "1", 0.1, 8, NULL, "",
     "scale on the 1000 elements of a bunny; the paper states none"},
    EB_VERSCHOOR2019_SCATTER,
    EB_LAST_PARAMETER};

static eb_error bunny_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_model(parameters, "bunny", 1000, 0, 0.5, out);
}

/* Any body that fits into the box of the stand-in has half its diagonal of room, 35 cm. */
static const eb_scatter bunny_cells = {.across = 5, .cell = 0.75};

static eb_error bunnies_prepare(const eb_values *parameters, eb_mesh **mesh) {
  return eb_verschoor2019_scatter(parameters, &bunny_cells, mesh);
}

static eb_error bunnies_setup(eb_scene *scene) {
  return drop_into_box(scene, &bunny_cells);
}

const eb_scene_ops eb_verschoor2019_bunnies = {
    .name = "verschoor2019/bunnies",
    .summary = "120 stiff bunnies, placed at random, are dropped into a box and heap up",
    .geometry =
        "stand-in bunnies, 10 cm tall, about 1000 tetrahedra each (the paper gives no count), at "
        "random in cells of 15 cm above a box of 60 cm",
    .citation = EB_VERSCHOOR2019_CITATION,
    .stand_in = "bunny",
    .needs = EB_VERSCHOOR2019_NEEDS,
    .parameters = bunnies_parameters,
    .steps = 1500,
    .steps_per_frame = 10,
    .mesh = bunny_mesh,
    .mesh_parameters = "resolution",
    .prepare = bunnies_prepare,
    .setup = bunnies_setup,
};
