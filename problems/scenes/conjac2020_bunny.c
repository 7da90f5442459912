/* conjac2020/bunny: dropped on the floor. */
#include <math.h>

#include "problems/scenes/conjac2020.h"

static const double pi = 3.14159265358979323846;

static const eb_option bunny_parameters[] = {
    EB_CONJAC2020_PARAMETERS("4e4", "0.45"),
    EB_ELEMENTS_PARAMETER,
    {"orientation", EB_OPTION_CHOICE, "tilted", 0, 0, "upright|tilted|side|back|head", "",
     "how it falls: on its feet, feet and haunch, side, back or ears"},
    {"height", EB_OPTION_REAL, "0.05", 0, 10, NULL, "m", "of its lowest point above the floor"},
    {"friction", EB_OPTION_REAL, "0.3", 0, 10, NULL, "", "Coulomb's mu"},
    EB_LAST_PARAMETER};

static eb_error bunny_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_model(parameters, "bunny", 27695, 0, 0.12, out);
}

static eb_error bunny_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  const char *orientation = eb_values_text(scene->parameters, "orientation");
  double rotation[9];
  switch (orientation[0]) {
  case 't':
    eb_axis_rotation(0, 25 * pi / 180, rotation);
    break;
  case 's':
    eb_axis_rotation(0, pi / 2, rotation);
    break;
  case 'b':
    eb_axis_rotation(1, -pi / 2, rotation);
    break;
  case 'h':
    eb_axis_rotation(1, pi, rotation);
    break;
  default:
    eb_axis_rotation(2, 0, rotation);
  }
  eb_scene_place(scene, rotation, eb_values_real(scene->parameters, "height"));
  eb_collider *floor = eb_scene_add_floor(scene, 0);
  eb_penalty_constants(scene, INFINITY, floor);
  floor->friction = eb_values_real(scene->parameters, "friction");
  return EB_OK;
}

const eb_scene_ops eb_conjac2020_bunny = {
    .name = "conjac2020/bunny",
    .summary = "a bunny is dropped on the floor, with friction (explicit penalty contact)",
    .geometry = "stand-in bunny, 12 cm tall",
    .citation = EB_CONJAC2020_CITATION,
    .stand_in = "bunny",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_COLLIDERS,
    .target_vertices = 5988,
    .target_elements = 27695,
    .count_tolerance = 0.03,
    .parameters = bunny_parameters,
    .steps = 200,
    .steps_per_frame = 1,
    .mesh = bunny_mesh,
    .mesh_parameters = "resolution",
    .setup = bunny_setup,
};
