/* Elastic strings that are twisted around each other, pulled tight and released (Figure 2(b)). */
#include "problems/mesh/generate.h"
#include "problems/scenes/verschoor2019.h"

enum { STRINGS = 4 };

static const double length = 1.5, width = 0.03, apart = 0.1; /* m */

static const eb_option strings_parameters[] = {
    EB_SCENE_PARAMETERS("1e5", "0.2", "1000", "1e-3", "corotational", "0"),
    {"mu", EB_OPTION_REAL, "0.5", 0, 10, NULL, "", "Coulomb's coefficient of all contacts"},
    EB_CUBES_PARAMETER,
    {"turns", EB_OPTION_REAL, "1.5", 0, 5, NULL, "", "of one end within 1 s"},
    {"pull", EB_OPTION_REAL, "0.3", 0, 1.5, NULL, "m", "of that end, within 1 s"},
    {"release", EB_OPTION_REAL, "1.4", 0, 100, NULL, "s", "when all ends are let go"},
    EB_LAST_PARAMETER};

static eb_error string_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){60, 2, 2},
                      (const double[3]){-length / 2, -width / 2, -width / 2},
                      (const double[3]){length, width, width}, out);
}

/* Side by side along x, on the corners of a square. */
static eb_error strings_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  eb_placement place[STRINGS];
  for (int s = 0; s < STRINGS; s++) {
    place[s] = (eb_placement){{1, 0, 0, 0, 1, 0, 0, 0, 1},
                              {0, (s & 1 ? 0.5 : -0.5) * apart, (s & 2 ? 0.5 : -0.5) * apart}};
  }
  return eb_scene_copies(place, STRINGS, mesh);
}

static eb_error strings_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

/* One end of the bundle stands still, the other turns about the bundle's axis and is drawn away. */
static void twist_and_pull(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double still[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
  const eb_values *parameters = scene->parameters;
  const eb_grips *grips = scene->data;
  if (t > eb_values_real(parameters, "release")) return;
  double done = eb_ramp(t, 0, 1), rotation[9];
  const double shift[3] = {eb_values_real(parameters, "pull") * done, 0, 0};
  eb_axis_rotation(0, 2 * 3.14159265358979323846 * eb_values_real(parameters, "turns") * done,
                   rotation);
  eb_grip_place(scene, &grips->grip[0], still, origin, origin, fixed, target);
  eb_grip_place(scene, &grips->grip[1], rotation, origin, shift, fixed, target);
}

const eb_scene_ops eb_verschoor2019_strings = {
    .name = "verschoor2019/strings",
    .summary = "four elastic strings are twisted around each other, pulled tight and released: "
               "they come apart (no gravity)",
    .geometry = "strings of 150 x 3 x 3 cm, 60 x 2 x 2 cubes of 6 tetrahedra each, 10 cm apart",
    .citation = EB_VERSCHOOR2019_CITATION,
    .needs = EB_VERSCHOOR2019_NEEDS | EB_CAP_SCRIPTED,
    .parameters = strings_parameters,
    .steps = 3000,
    .steps_per_frame = 30,
    .mesh = string_mesh,
    .mesh_parameters = "resolution",
    .prepare = strings_prepare,
    .setup = strings_setup,
    .boundary = twist_and_pull,
    .clear = eb_grips_clear,
};
