/* A figure is pulled through two cylinders that turn against each other (Section 6.2.1, Figures 1 and 10).
 *
 * The neo-Hookean energy of this program is extrapolated below 70 % of an element's volume, as the paper's is. The figure hangs under the nip of the
 * rollers, feet up: so soft and tall a figure would topple if it stood. Some nodes inside its ankles are drawn up at the speed of the rollers' rims, the
 * rest is squeezed to the gap. */
#include <math.h>

#include "problems/base/vector3.h"
#include "problems/mesh/surface_shapes.h"
#include "problems/scenes/verschoor2019.h"

static const double roller_radius = 0.5; /* m */

/* Of about 66 667 nodes, 200 000 degrees of freedom. */
enum { ELEMENTS = 346000 };
static const double below_nip = 0.375;   /* m: of the highest point of the figure at first */
static const double start[2] = {0, 0.5}; /* s: when the pull sets in, when it has its speed */

static const eb_option armadillo_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("5e5", "1e-3", "neo-hookean"),
    EB_ELEMENTS_PARAMETER,
    {"gap", EB_OPTION_REAL, "0.25", 0.2, 0.45, NULL, "m", "between the rollers"},
    {"speed", EB_OPTION_REAL, "0.25", 0, 2, NULL, "m/s", "of the pull and of the rollers' rims"},
    EB_LAST_PARAMETER};

static eb_error armadillo_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_model(parameters, "armadillo", ELEMENTS, 0, 1.5, out);
}

/* ---- ankles ------------------------------------------------------------------------------------ */

typedef struct ball {
  double centre[3], radius;
} ball;

static bool in_ball(const double X[3], const void *context) {
  const ball *within = context;
  const double *c = within->centre, r[3] = {X[0] - c[0], X[1] - c[1], X[2] - c[2]};
  return eb_dot3(r, r) <= within->radius * within->radius;
}

/* The mean of the nodes in the lowest 15 % on one side, side < 0 or > 0. */
static void find_ankle(const eb_mesh *mesh, int side, double centre[3]) {
  double lo[3], hi[3], count = 0;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) centre[d] = 0;
  for (size_t i = 0; i < (size_t)mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    if (X[2] > lo[2] + 0.15 * (hi[2] - lo[2]) || side * X[1] <= 0) continue;
    eb_add3(1, X, centre);
    count++;
  }
  for (int d = 0; d < 3; d++) centre[d] /= fmax(1, count);
}

/* The nodes within 4 cm of the middle of the ankle, or as far as there are enough of them to hold it. */
static eb_error grip_ankle(eb_scene *scene, int side, double centre[3]) {
  enum { ENOUGH = 4 };
  const eb_mesh *mesh = scene->mesh;
  ball inside = {.radius = 0.04};
  find_ankle(mesh, side, centre);
  for (int d = 0; d < 3; d++) inside.centre[d] = centre[d];
  for (; inside.radius < 0.25; inside.radius *= 1.25) {
    int32_t count = 0;
    for (size_t i = 0; i < (size_t)mesh->node_count; i++)
      count += in_ball(mesh->X + 3 * i, &inside);
    if (count >= ENOUGH) break;
  }
  return eb_grips_add(scene, in_ball, &inside, "the ankles");
}

static void pull(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
  const eb_grips *grips = scene->data;
  double speed = eb_values_real(scene->parameters, "speed");
  const double shift[3] = {0, 0, speed * eb_ramp_integral(t, start[0], start[1])};
  for (int g = 0; g < grips->count; g++)
    eb_grip_place(scene, &grips->grip[g], upright, origin, shift, fixed, target);
}

/* ---- rollers ----------------------------------------------------------------------------------- */

/* parameters: x of the axis, m; angular speed about y, rad/s. */
static void roll(double t, const double *parameters, double rotation[9], double shift[3]) {
  eb_axis_rotation(1, parameters[1] * eb_ramp_integral(t, start[0], start[1]), rotation);
  shift[0] = parameters[0];
  shift[1] = shift[2] = 0;
}

/* Its rim goes up in the nip, x = 0: of the one at x > 0, w y x (-x) = w radius z. */
static eb_error add_roller(eb_scene *scene, int side) {
  double half_gap = 0.5 * eb_values_real(scene->parameters, "gap"), quarter[9];
  double speed = eb_values_real(scene->parameters, "speed");
  eb_surface *surface;
  eb_obstacle *roller;
  EB_TRY(eb_surface_cylinder(roller_radius, 1, 96, &surface));
  eb_axis_rotation(0, 0.5 * 3.14159265358979323846, quarter);
  eb_surface_move(surface, quarter, (const double[3]){0, 0, 0});
  EB_TRY(eb_scene_add_obstacle(scene, surface, &roller));
  roller->motion = roll;
  roller->parameters[0] = side * (roller_radius + half_gap);
  roller->parameters[1] = side * speed / roller_radius;
  return EB_OK;
}

/* Half a turn about x, the ankles over the nip. */
static eb_error armadillo_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  double left[3], right[3], lo[3], hi[3];
  EB_TRY(grip_ankle(scene, 1, left));
  EB_TRY(grip_ankle(scene, -1, right));
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (size_t i = 0; i < (size_t)scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * i;
    double *x = scene->x0 + 3 * i;
    x[0] = X[0] - 0.5 * (left[0] + right[0]);
    x[1] = 0.5 * (left[1] + right[1]) - X[1];
    x[2] = lo[2] - below_nip - X[2];
  }
  EB_TRY(add_roller(scene, 1));
  return add_roller(scene, -1);
}

const eb_scene_ops eb_verschoor2019_armadillo = {
    .name = "verschoor2019/armadillo",
    .summary = "an armadillo is pulled up by its feet through the gap of two turning cylinders "
               "(resolution 0.125: a figure of an eighth)",
    .geometry = "stand-in armadillo, 1.5 m tall, 200 000 degrees of freedom; cylinders of 50 cm "
                "radius, 25 cm apart",
    .citation = EB_VERSCHOOR2019_CITATION,
    .stand_in = "armadillo",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_CONTACT | EB_CAP_SCRIPTED,
    .target_vertices = 66667,
    .target_elements = ELEMENTS,
    .count_tolerance = 0.03,
    .parameters = armadillo_parameters,
    .steps = 8000,
    .steps_per_frame = 80,
    .mesh = armadillo_mesh,
    .mesh_parameters = "resolution",
    .setup = armadillo_setup,
    .boundary = pull,
    .clear = eb_grips_clear,
};
