/* conjac2020/barcut: a bar pulled at both ends. */
#include "problems/scenes/conjac2020.h"

static const eb_option barcut_parameters[] = {EB_CONJAC2020_PARAMETERS("1e4", "0.4"),
                                              EB_CUBES_PARAMETER,
                                              {"stretch", EB_OPTION_REAL, "1.3", 0.5, 4, NULL, "",
                                               "length over rest length after half a second"},
                                              EB_LAST_PARAMETER};

static eb_error barcut_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){49, 10, 10},
                      (const double[3]){-0.0735, -0.015, -0.015},
                      (const double[3]){0.147, 0.03, 0.03}, out);
}

static void barcut_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const eb_grip *grip = ((const eb_grips *)scene->data)->grip;
  double length = grip[1].centre[0] - grip[0].centre[0];
  double pull =
      0.5 * length * (eb_values_real(scene->parameters, "stretch") - 1) * eb_ramp(t, 0, 0.5);
  for (int end = 0; end < 2; end++) {
    double shift[3] = {end ? pull : -pull, 0, 0};
    eb_grip_place(scene, &grip[end], identity, grip[end].centre, shift, fixed, target);
  }
}

static eb_error barcut_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

const eb_scene_ops eb_conjac2020_barcut = {
    .name = "conjac2020/barcut",
    .summary =
        "a horizontal bar is stretched by its two ends and held (without the paper's two cuts)",
    .geometry = "bar of 14.7 x 3 x 3 cm, 49 x 10 x 10 cubes, 6 tetrahedra a cube",
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    .target_vertices = 6050,
    .target_elements = 29400,
    .parameters = barcut_parameters,
    .steps = 400,
    .steps_per_frame = 2,
    .mesh = barcut_mesh,
    .mesh_parameters = "resolution",
    .setup = barcut_setup,
    .boundary = barcut_boundary,
    .clear = eb_grips_clear,
};
