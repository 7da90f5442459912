/* Nine spheres roll between a rigid ring and a turning core (Section 4, Figures 6 and 7).
 *
 * The ring has a groove that runs around the balls, the core is a sphere. At first it lies below the plane of the balls and touches none. It rises into
 * that plane, where its equator leaves the balls less room than they have across, and then turns. */
#include <math.h>

#include "problems/mesh/stuffing.h"
#include "problems/mesh/surface_shapes.h"
#include "problems/scenes/verschoor2019.h"

enum { BALLS = 9, BALL_ELEMENTS = 1500 };

static const double pi = 3.14159265358979323846;
/* m: of a ball, of the circle of their middles, between a ball and the groove at first, how far the core starts below. Neighbours are 2 x 0.525 sin(20 deg) - 0.3 =
 * 59 mm apart, core and balls sqrt(0.525^2 + 0.15^2) - 0.39 - 0.15 = 6 mm when the core is of 39 cm, for a squeeze of 0.1. */
static const double ball_radius = 0.15, circle = 0.525, play = 5e-3, below = 0.15;

static const eb_option bearing_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("5e5", "1e-3", "corotational"),
    {"resolution", EB_OPTION_REAL, "1", 0.05, 8, NULL, "",
     "scale on the 1500 elements of a ball; the paper states none"},
    {"squeeze", EB_OPTION_REAL, "0.1", 0, 0.1, NULL, "",
     "by how much of its radius a ball is too large for its place"},
    {"speed", EB_OPTION_REAL, "3", -30, 30, NULL, "rad/s", "of the core"},
    EB_LAST_PARAMETER};

static double ball_distance(const void *context, const double p[3]) {
  (void)context;
  return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - ball_radius;
}

static eb_error ball_mesh(const eb_values *parameters, eb_mesh **out) {
  const double r = 1.1 * ball_radius;
  const eb_solid ball = {.distance = ball_distance, .lo = {-r, -r, -r}, .hi = {r, r, r}};
  double count = fmax(60, BALL_ELEMENTS * eb_values_real(parameters, "resolution"));
  return eb_stuff_to_count(&ball, (int32_t)count, 0.5, out);
}

static eb_error balls_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  eb_placement place[BALLS];
  for (int b = 0; b < BALLS; b++) {
    double angle = 2 * pi * b / BALLS;
    eb_axis_rotation(2, angle, place[b].rotation);
    place[b].shift[0] = circle * cos(angle);
    place[b].shift[1] = circle * sin(angle);
    place[b].shift[2] = 0;
  }
  return eb_scene_copies(place, BALLS, mesh);
}

/* The groove's section is an arc of 160 degrees, a tenth wider than a ball, which is the inner side of a ring. Facets of both cut off less than 1 mm. */
static eb_error add_ring(eb_scene *scene) {
  enum { ARC = 25, POINTS = ARC + 2, AROUND = 96 };
  const double groove = 1.1 * ball_radius, middle = circle + ball_radius + play - groove;
  double profile[POINTS][2];
  for (int k = 0; k < ARC; k++) {
    double angle = 80 * pi / 180 * (1 - 2. * k / (ARC - 1));
    profile[k][0] = middle + groove * cos(angle);
    profile[k][1] = groove * sin(angle);
  }
  for (int k = 0; k < 2; k++) {
    profile[ARC + k][0] = circle + 2 * ball_radius;
    profile[ARC + k][1] = (k ? 1.2 : -1.2) * groove;
  }
  eb_surface *ring;
  EB_TRY(eb_surface_revolve((const double(*)[2])profile, POINTS, AROUND, &ring));
  return eb_scene_add_obstacle(scene, ring, NULL);
}

/* Rises within 0.3 s, then takes up its speed within another 0.3 s. parameters: height, m; speed, rad/s. */
static void turn_core(double t, const double *parameters, double rotation[9], double shift[3]) {
  eb_axis_rotation(2, parameters[1] * eb_ramp_integral(t, 0.3, 0.6), rotation);
  shift[0] = shift[1] = 0;
  shift[2] = -parameters[0] * (1 - eb_ramp(t, 0, 0.3));
}

static eb_error bearing_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  EB_TRY(add_ring(scene));
  double squeeze = eb_values_real(scene->parameters, "squeeze") * ball_radius;
  eb_surface *surface;
  eb_obstacle *core;
  EB_TRY(eb_surface_sphere(circle - ball_radius + squeeze, 32, 64, &surface));
  EB_TRY(eb_scene_add_obstacle(scene, surface, &core));
  core->motion = turn_core;
  core->parameters[0] = below;
  core->parameters[1] = eb_values_real(scene->parameters, "speed");
  return EB_OK;
}

const eb_scene_ops eb_verschoor2019_bearing = {
    .name = "verschoor2019/bearing",
    .summary = "nine elastic spheres are squeezed between a rigid ring and a core, which turns and "
               "makes them roll",
    .geometry = "spheres of 30 cm on a circle of 105 cm, about 1500 tetrahedra each",
    .citation = EB_VERSCHOOR2019_CITATION,
    .needs = EB_VERSCHOOR2019_NEEDS,
    .parameters = bearing_parameters,
    .steps = 2000,
    .steps_per_frame = 20,
    .mesh = ball_mesh,
    .mesh_parameters = "resolution",
    .prepare = balls_prepare,
    .setup = bearing_setup,
};
