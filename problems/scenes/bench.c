/* Scenes of no paper, for comparison with other programs. */
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

static const eb_option beam_parameters[] = {
    EB_SCENE_PARAMETERS("1e6", "0.45", "1000", "0.016666666666666666", "stable-neo-hookean", "9.8"),
    EB_CUBES_PARAMETER,
    {"clamp", EB_OPTION_REAL, "0", 0, 0.9, NULL, "m",
     "width of the clamped band; 0: the end face only"},
    EB_LAST_PARAMETER};

static eb_error beam_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){40, 8, 8}, (const double[3]){0, 0, 0},
                      (const double[3]){1, 0.2, 0.2}, out);
}

static eb_error beam_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_set_gravity(scene);
  double clamp = eb_values_real(scene->parameters, "clamp");
  return clamp > 0 ? eb_grips_add_band(scene, 0, clamp) : eb_grips_add_end(scene, 0, -1);
}

const eb_scene_ops eb_bench_beam = {
    .name = "bench/beam",
    .summary = "a clamped beam sags under gravity: the case that other programs were timed on",
    .geometry = "bar of 1 x 0.2 x 0.2 m, 40 x 8 x 8 cubes, 6 tetrahedra a cube",
    .citation = "none: a case to compare programs with",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC,
    .target_vertices = 3321,
    .target_elements = 15360,
    .parameters = beam_parameters,
    .steps = 120,
    .steps_per_frame = 2,
    .mesh = beam_mesh,
    .mesh_parameters = "resolution",
    .setup = beam_setup,
    .boundary = eb_grips_hold,
    .clear = eb_grips_clear,
};
