/* Scenes of no paper, for comparison with other programs. */
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

static const eb_option beam_parameters[] = {
    EB_SCENE_PARAMETERS("1e6", "0.45", "1000", "0.016666666666666666", "stable-neo-hookean", "9.8"),
    EB_CUBES_PARAMETER,
    EB_HEXAHEDRA_PARAMETERS("gauss", "0.1"),
    {"clamp", EB_OPTION_REAL, "0", 0, 0.9, NULL, "m",
     "width of the clamped band; 0: the end face only"},
    EB_LAST_PARAMETER};

static eb_error beam_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  double clamp = eb_values_real(scene->parameters, "clamp");
  return clamp > 0 ? eb_grips_add_band(scene, 0, clamp) : eb_grips_add_end(scene, 0, -1);
}

const eb_scene_ops eb_bench_beam = {
    .name = "bench/beam",
    .small = "resolution=0.25",
    .summary = "a clamped beam sags under gravity: the case that other programs were timed on",
    .geometry = "bar of 1 x 0.2 x 0.2 m, 40 x 8 x 8 cubes, 6 tetrahedra a cube",
    .citation = "none: a case to compare programs with",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC,
    EB_SCENE_COUNTS(3321, 15360, 0),
    .parameters = beam_parameters,
    EB_SCENE_RUN(120, 2),
    EB_SCENE_GRID({40, 8, 8}, {0, 0, 0}, {1, 0.2, 0.2}),
    .setup = beam_setup,
    .by_parts = true,
    .boundary = eb_grips_hold,
};

/* Its weight shortens the block by half a per cent: rho g L / (2 E). */
static const eb_option block_parameters[] = {
    EB_SCENE_PARAMETERS("1e6", "0.3", "1000", "0.01", "stable-neo-hookean", "9.8"),
    EB_RESOLUTION(0.02, "scale on the number of cubes along every edge"),
    {"cubes", EB_OPTION_INT, "26", 1, 710, NULL, "",
     "along every edge; 26, 55, 119: 10^5, 10^6, 10^7 tetrahedra"},
    EB_LAST_PARAMETER};

static eb_error block_setup(eb_scene *scene) {
  enum { UP = 2 };
  eb_scene_set_mechanics(scene);
  return eb_grips_add_band(scene, UP, 0); /* one layer of nodes, however fine the mesh */
}

const eb_scene_ops eb_bench_block = {
    .name = "bench/block",
    .small = "resolution=0.2",
    .summary = "a block, held at its foot, sinks under its weight: one case from 10^5 to 10^7 "
               "tetrahedra, for one process or many",
    .geometry = "cube of 1 m, 26 x 26 x 26 cubes, 6 tetrahedra a cube",
    .citation = "none: a case of any size to measure solvers with",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC,
    EB_SCENE_COUNTS(19683, 105456, 0),
    .parameters = block_parameters,
    EB_SCENE_RUN(10, 1),
    EB_SCENE_CUBES_GRID({1, 1, 1}, {0, 0, 0}, {1, 1, 1}),
    .setup = block_setup,
    .by_parts = true,
    .boundary = eb_grips_hold,
};
