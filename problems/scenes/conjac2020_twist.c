/* conjac2020/twist: a bar with one end moved by script. */
#include <math.h>
#include <string.h>

#include "problems/scenes/conjac2020.h"

static const double pi = 3.14159265358979323846;

static const eb_option twist_parameters[] = {
    EB_SCENE_PARAMETERS("1e4", "0.4", "1000", "5e-3", "stable-neo-hookean", "0"),
    EB_CUBES_PARAMETER,
    {"motion", EB_OPTION_CHOICE, "all", 0, 0, "all|compress|stretch|bend|twist", "",
     "all: one after the other, each undone in half the time; else that one, then held"},
    {"time", EB_OPTION_REAL, "0.6", 1e-3, 1e3, NULL, "s", "what a motion takes"},
    {"amount", EB_OPTION_REAL, "1", 0, 4, NULL, "",
     "how far the motions go: 1 is to 0.8 and 1.4 times the length, a quarter circle, a whole "
     "turn"},
    EB_LAST_PARAMETER};

static eb_error twist_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){20, 6, 6},
                      (const double[3]){0, -0.0225, -0.0225}, (const double[3]){0.15, 0.045, 0.045},
                      out);
}

enum { COMPRESS, STRETCH, BEND, TWIST, MOTIONS };

/* How far each motion has gone at time t, 0 to `amount`. */
static void twist_amounts(const eb_scene *scene, double t, double amount[MOTIONS]) {
  static const char *const names[MOTIONS] = {"compress", "stretch", "bend", "twist"};
  const char *motion = eb_values_text(scene->parameters, "motion");
  const double there = eb_values_real(scene->parameters, "time"), period = 1.5 * there;
  for (int m = 0; m < MOTIONS; m++) {
    double begin = m * period;
    if (motion[0] == 'a')
      amount[m] = eb_ramp(t, begin, begin + there) - eb_ramp(t, begin + there, begin + period);
    else
      amount[m] = strcmp(motion, names[m]) == 0 ? eb_ramp(t, 0, there) : 0;
    amount[m] *= eb_values_real(scene->parameters, "amount");
  }
}

/* The end at length L goes to 0.8 L and 1.4 L (from about 0.75 L on the bar buckles); follows the arc of a quarter turn with the bar's
 * length; turns once about the axis. */
static void twist_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_grips *grips = scene->data;
  const eb_grip *end = &grips->grip[1];
  double amount[MOTIONS], rotation[9];
  twist_amounts(scene, t, amount);
  double length = end->centre[0] - grips->grip[0].centre[0];
  double stretch = 1 - 0.2 * amount[COMPRESS] + 0.4 * amount[STRETCH];
  double bend = 0.5 * pi * amount[BEND];
  double shift[3] = {(stretch - 1) * length, 0, 0};
  eb_grips_hold(scene, t, fixed, target);
  if (bend > 0) {
    shift[0] = length * (sin(bend) / bend - 1);
    shift[2] = length * (1 - cos(bend)) / bend;
    eb_axis_rotation(1, -bend, rotation);
  } else {
    eb_axis_rotation(0, 2 * pi * amount[TWIST], rotation);
  }
  eb_grip_place(scene, end, rotation, end->centre, shift, fixed, target);
}

static eb_error twist_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

/* Below 8 nodes: on the axis, at equal intervals. From 8 on: at the four corners of slices at equal intervals; what is
 * left when four does not divide them is the solver's choice. */
static int32_t twist_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  static const double corners[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}}, axis[1][2] = {{0.5, 0.5}};
  const double(*places)[2] = wanted < 8 ? axis : corners;
  int32_t each = wanted < 8 ? 1 : 4, slices = wanted / each, count = 0;
  double lo[3], hi[3];
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int32_t k = 0; k < each * slices; k++) {
    const double share[3] = {(k / each + 1.0) / (slices + 1), places[k % each][0],
                             places[k % each][1]};
    double point[3];
    for (int d = 0; d < 3; d++) point[d] = lo[d] + share[d] * (hi[d] - lo[d]);
    int32_t node = eb_scene_nearest_free(scene, point, nodes, count);
    if (node < 0) break;
    nodes[count++] = node;
  }
  return count;
}

const eb_scene_ops eb_conjac2020_twist = {
    .name = "conjac2020/twist",
    .summary = "a bar is compressed, stretched, bent and twisted by one of its ends",
    .geometry = "bar of 15 x 4.5 x 4.5 cm, 20 x 6 x 6 cubes, 6 tetrahedra a cube",
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    .target_vertices = 1029,
    .target_elements = 4320,
    .parameters = twist_parameters,
    .steps = 800,
    .steps_per_frame = 4,
    .mesh = twist_mesh,
    .mesh_parameters = "resolution",
    .setup = twist_setup,
    .boundary = twist_boundary,
    .dynamic_nodes = twist_nodes,
    .clear = eb_grips_clear,
};
