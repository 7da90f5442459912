/* The scenes of Verschoor and Jalba, "Efficient and Accurate Collision Response for Elastically
 * Deformable Models", ACM TOG 38(2), 2019 (Sections 4 and 6, Figures 1, 2, 7 and 8, Table 1):
 * contact as constraints with one Coulomb coefficient.
 *
 * The paper states counts, materials, mu and dt. Sizes, heights, containers and the course of
 * scripts are chosen here.
 *
 * Sizes decide what a method costs: h^2 E / (rho L^2) says how stiff a body is within a step, and
 * on stiff ones sweeps of Gauss-Seidel (ICA) lose against Krylov methods (CR). The paper's absolute
 * tolerance, |r| < 5e-5 kg m/s, bounds them from below: a body whose weight is less than that, as
 * |M g h| over its nodes, need not fall. That norm is 7.3e-3 scale^3 kg m/s of a ring and 2.8e-3
 * scale^3 of a crate of the pyramid. The heaps (rings, bunnies), pyramid and wedge have one scale,
 * the least, to one digit, at which it is above the tolerance for all of them: 0.3. Other bodies
 * are 30 cm to 1.5 m across. All start apart from each other and from obstacles, by CLEARANCE or
 * more, and fall into contact. */
#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/generate.h"
#include "problems/mesh/stuffing.h"
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"
#include "problems/scenes/copies.h"

static const double pi = 3.14159265358979323846;

#define CITATION                                                                                   \
  "Verschoor and Jalba, Efficient and Accurate Collision Response for Elastically Deformable "     \
  "Models, ACM TOG 38(2), 2019"
#define PARAMETERS(E_, dt_, material_, gravity_)                                                   \
  EB_SCENE_PARAMETERS(E_, "0.2", "1000", dt_, material_, gravity_), {                              \
    "mu", EB_OPTION_REAL, "0.5", 0, 10, NULL, "", "Coulomb's coefficient of all contacts"          \
  }
#define NEEDS (EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_CONTACT)

static const eb_placement unturned = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/* m; what a scene leaves free at least. The paper's own safety distance, eps2, is 5e-6. */
#define CLEARANCE 3e-4

/* The parameters `bodies` and `seed` of scenes with bodies placed at random, for scatter_bodies. */
enum { MOST_BODIES = 120 };
#define SCALE_PARAMETER                                                                            \
  { "scale", EB_OPTION_REAL, "0.3", 0.02, 10, NULL, "", "on all lengths; the paper states no size" }
#define SCATTER_PARAMETERS(bodies_, help_)                                                         \
  SCALE_PARAMETER, {"bodies", EB_OPTION_INT, bodies_, 1, MOST_BODIES, NULL, "", help_}, {          \
    "seed", EB_OPTION_INT, "1", 0, 1e9, NULL, "", "of places and turns"                            \
  }
#define HEAP_PARAMETERS(E_, least_, help_)                                                         \
  PARAMETERS(E_, "1e-3", "corotational", "9.81"), EB_RESOLUTION(least_, help_),                    \
      SCATTER_PARAMETERS("120", "how many; the paper has 120"), EB_LAST_PARAMETER

/* Where bodies placed at random start: in cells of a lattice of across x across a layer, centred
 * over the origin, the lowest at z = 0. */
typedef struct cell_lattice {
  int32_t across;
  double cell; /* m at scale 1 */
} cell_lattice;

static double scale_of(const eb_values *parameters) {
  return eb_values_real(parameters, "scale");
}

static void scale_mesh(const eb_values *parameters, eb_mesh *mesh) {
  double scale = scale_of(parameters);
  for (size_t i = 0; i < 3 * (size_t)mesh->node_count; i++) mesh->X[i] *= scale;
}

/* Material, gravity and friction from the parameters. */
static void set_mechanics(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  scene->contacts.friction.common = eb_values_real(scene->parameters, "mu");
}

/* ---- obstacles ------------------------------------------------------------------------------- */

/* Adds an obstacle; `surface` becomes the scene's, and is destroyed on failure. *out, which may be
 * NULL, is for its motion to be set. */
static eb_error add_obstacle(eb_scene *scene, eb_surface *surface, eb_obstacle **out) {
  if (scene->contacts.obstacle_count == EB_MAX_OBSTACLES) {
    eb_surface_destroy(surface);
    return EB_ERROR(EB_ERR_LIMIT, "a scene takes at most %d obstacles", EB_MAX_OBSTACLES);
  }
  eb_obstacle *obstacle = &scene->contacts.obstacles[scene->contacts.obstacle_count++];
  *obstacle = (eb_obstacle){.surface = surface};
  if (out) *out = obstacle;
  return EB_OK;
}

/* ---- bodies at random ------------------------------------------------------------------------ */

/* Replaces the body, scaled, by `bodies` copies, each in a cell of its own. */
static eb_error scatter_bodies(const eb_values *parameters, const cell_lattice *scatter,
                               eb_mesh **mesh) {
  const eb_cells cells = {.across = scatter->across,
                          .cell = scatter->cell * scale_of(parameters),
                          .clearance = CLEARANCE};
  scale_mesh(parameters, *mesh);
  return eb_copies_heap((int32_t)eb_values_int(parameters, "bodies"), &cells,
                        (uint64_t)eb_values_int(parameters, "seed"), mesh);
}

/* ---- heaps ----------------------------------------------------------------------------------- */

/* A box of five cells by five, open at the top, in which a heap of all bodies comes to lie. */
static eb_error drop_into_box(eb_scene *scene, const cell_lattice *scatter) {
  set_mechanics(scene);
  const double cell = scatter->cell * scale_of(scene->parameters);
  const double half = 0.5 * scatter->across * cell, wall = 0.2 * cell;
  eb_surface *box;
  EB_TRY(eb_surface_cup((const double[2]){half, half}, 3 * cell, wall, &box));
  return add_obstacle(scene, box, NULL);
}

/* ---- bunnies --------------------------------------------------------------------------------- */

static const eb_option bunnies_parameters[] = {
    HEAP_PARAMETERS("5e6", 0.1, "scale on the 1000 elements of a bunny; the paper states none")};

/* Any body that fits into the box of the stand-in has half its diagonal of room, 35 cm at
 * scale 1. */
static const cell_lattice bunny_cells = {.across = 5, .cell = 0.75};

static eb_error bunnies_prepare(const eb_values *parameters, eb_mesh **mesh) {
  return scatter_bodies(parameters, &bunny_cells, mesh);
}

static eb_error bunnies_setup(eb_scene *scene) {
  return drop_into_box(scene, &bunny_cells);
}

const eb_scene_ops eb_verschoor2019_bunnies = {
    .name = "verschoor2019/bunnies",
    .small = "bodies=3,resolution=0.3",
    .summary = "120 stiff bunnies, placed at random, are dropped into a box and heap up",
    .geometry =
        "stand-in bunnies, 15 cm tall, about 1000 tetrahedra each (the paper gives no count), at "
        "random in cells of 22.5 cm above a box of 1.1 m",
    .citation = CITATION,
    EB_SCENE_MODEL("bunny", 1000, 0, 0.5),
    .needs = NEEDS,
    .parameters = bunnies_parameters,
    EB_SCENE_RUN(1500, 10),
    .prepare = bunnies_prepare,
    .setup = bunnies_setup,
};

/* ---- bearing --------------------------------------------------------------------------------- */

/* Nine spheres roll between a rigid ring and a turning core (Section 4, Figures 6 and 7).
 *
 * The ring has a groove that runs around the balls, the core is a sphere. At first it lies below
 * the plane of the balls and touches none. It rises into that plane, where its equator leaves the
 * balls less room than they have across, and then turns. */

enum { BALLS = 9, BALL_ELEMENTS = 1500 };

/* m: of a ball, of the circle of their middles, between a ball and the groove at first, how far the
 * core starts below. Neighbours are 2 x 0.525 sin(20 deg) - 0.3 = 59 mm apart, core and balls
 * sqrt(0.525^2 + 0.15^2) - 0.39 - 0.15 = 6 mm when the core is of 39 cm, for a squeeze of 0.1. */
static const double ball_radius = 0.15, circle = 0.525, play = 5e-3, below = 0.15;

static const eb_option bearing_parameters[] = {
    PARAMETERS("5e5", "1e-3", "corotational", "9.81"),
    EB_RESOLUTION(0.05, "scale on the 1500 elements of a ball; the paper states none"),
    {"squeeze", EB_OPTION_REAL, "0.1", 0, 0.1, NULL, "",
     "by how much of its radius a ball is too large for its place"},
    {"speed", EB_OPTION_REAL, "3", EB_FINITE, NULL, "rad/s", "of the core"},
    EB_LAST_PARAMETER};

static double ball_distance(const void *context, const double p[3]) {
  (void)context;
  return sqrt(eb_dot3(p, p)) - ball_radius;
}

static eb_error ball_mesh(const eb_values *parameters, eb_mesh **out) {
  const double r = 1.1 * ball_radius;
  const eb_solid ball = {.distance = ball_distance, .lo = {-r, -r, -r}, .hi = {r, r, r}};
  double count = fmax(60, BALL_ELEMENTS * eb_values_real(parameters, "resolution"));
  return eb_stuff_to_count(&ball, (int32_t)count, 0.5, out);
}

static eb_error balls_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  return eb_copies_circle(BALLS, circle, mesh);
}

/* The groove's section is an arc of 160 degrees, a tenth wider than a ball, which is the inner side
 * of a ring. Facets of both cut off less than 1 mm. */
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
  return add_obstacle(scene, ring, NULL);
}

/* Rises within 0.3 s, then takes up its speed within another 0.3 s. parameters: height, m; speed,
 * rad/s. */
static void turn_core(double t, const void *script, double rotation[9], double shift[3]) {
  const double *parameters = script;
  eb_axis_rotation(2, parameters[1] * eb_ramp_integral(t, 0.3, 0.6), rotation);
  shift[0] = shift[1] = 0;
  shift[2] = -parameters[0] * (1 - eb_ramp(t, 0, 0.3));
}

static eb_error bearing_setup(eb_scene *scene) {
  set_mechanics(scene);
  EB_TRY(add_ring(scene));
  double squeeze = eb_values_real(scene->parameters, "squeeze") * ball_radius;
  eb_surface *surface;
  eb_obstacle *core = NULL;
  EB_TRY(eb_surface_sphere(circle - ball_radius + squeeze, 32, 64, &surface));
  EB_TRY(add_obstacle(scene, surface, &core));
  core->motion = turn_core;
  core->parameters[0] = below;
  core->parameters[1] = eb_values_real(scene->parameters, "speed");
  return EB_OK;
}

const eb_scene_ops eb_verschoor2019_bearing = {
    .name = "verschoor2019/bearing",
    .small = "resolution=0.1",
    .summary = "nine elastic spheres are squeezed between a rigid ring and a core, which turns and "
               "makes them roll",
    .geometry = "spheres of 30 cm on a circle of 105 cm, about 1500 tetrahedra each",
    .citation = CITATION,
    .needs = NEEDS,
    .parameters = bearing_parameters,
    EB_SCENE_RUN(2000, 20),
    .mesh = ball_mesh,
    .mesh_parameters = "resolution",
    .prepare = balls_prepare,
    .setup = bearing_setup,
};

/* ---- armadillo ------------------------------------------------------------------------------- */

/* A figure is pulled through two cylinders that turn against each other (Section 6.2.1, Figures 1
 * and 10).
 *
 * The neo-Hookean energy of this program is extrapolated below 70 % of an element's volume, as the
 * paper's is. The figure hangs under the nip of the rollers, feet up: so soft and tall a figure
 * would topple if it stood. Some nodes inside its ankles are drawn up at the speed of the rollers'
 * rims, the rest is squeezed to the gap. */

static const double roller_radius = 0.5; /* m */

static const double below_nip = 0.375;   /* m: of the highest point of the figure at first */
static const double start[2] = {0, 0.5}; /* s: when the pull sets in, when it has its speed */

static const eb_option armadillo_parameters[] = {
    PARAMETERS("5e5", "1e-3", "neo-hookean", "9.81"),
    EB_ELEMENTS_PARAMETER,
    {"gap", EB_OPTION_REAL, "0.25", 0.2, 0.45, NULL, "m", "between the rollers"},
    {"speed", EB_OPTION_REAL, "0.25", EB_NOT_NEGATIVE, NULL, "m/s",
     "of the pull and of the rollers' rims"},
    EB_LAST_PARAMETER};

/* ---- ankles ---------------------------------------------------------------------------------- */

typedef struct ball {
  double centre[3], radius;
} ball;

static bool in_ball(const double X[3], const void *context) {
  const ball *within = context;
  return eb_squared_distance3(X, within->centre) <= within->radius * within->radius;
}

/* Grips the nodes within 4 cm of the middle of the ankle on one side (< 0 or > 0), or as far as
 * there are enough of them to hold it. The middle is the mean of the nodes in the lowest 15 %
 * there. */
static eb_error grip_ankle(eb_scene *scene, int side, double centre[3]) {
  enum { ENOUGH = 4 };
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], all = 0;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) centre[d] = 0;
  for (size_t i = 0; i < (size_t)mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    if (X[2] > lo[2] + 0.15 * (hi[2] - lo[2]) || side * X[1] <= 0) continue;
    eb_add3(1, X, centre);
    all++;
  }
  for (int d = 0; d < 3; d++) centre[d] /= fmax(1, all);
  ball inside = {.centre = {centre[0], centre[1], centre[2]}, .radius = 0.04};
  for (; inside.radius < 0.25; inside.radius *= 1.25) {
    int32_t count = 0;
    for (size_t i = 0; i < (size_t)mesh->node_count; i++)
      count += in_ball(mesh->X + 3 * i, &inside);
    if (count >= ENOUGH) break;
  }
  return eb_grips_add(scene, in_ball, &inside, "the ankles");
}

static void pull(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  double speed = eb_values_real(scene->parameters, "speed");
  const double shift[3] = {0, 0, speed * eb_ramp_integral(t, start[0], start[1])};
  for (int g = 0; g < scene->script.grip_count; g++)
    eb_grip_place(scene, &scene->script.grips[g], NULL, NULL, shift, fixed, target);
}

/* ---- rollers --------------------------------------------------------------------------------- */

/* parameters: x of the axis, m; angular speed about y, rad/s. */
static void roll(double t, const void *script, double rotation[9], double shift[3]) {
  const double *parameters = script;
  eb_axis_rotation(1, parameters[1] * eb_ramp_integral(t, start[0], start[1]), rotation);
  shift[0] = parameters[0];
  shift[1] = shift[2] = 0;
}

/* Its rim goes up in the nip, x = 0: of the one at x > 0, w y x (-x) = w radius z. */
static eb_error add_roller(eb_scene *scene, int side) {
  double half_gap = 0.5 * eb_values_real(scene->parameters, "gap"), quarter[9];
  double speed = eb_values_real(scene->parameters, "speed");
  eb_surface *surface;
  eb_obstacle *roller = NULL;
  EB_TRY(eb_surface_cylinder(roller_radius, 1, 96, &surface));
  eb_axis_rotation(0, 0.5 * pi, quarter);
  eb_surface_move(surface, quarter, (const double[3]){0, 0, 0});
  EB_TRY(add_obstacle(scene, surface, &roller));
  roller->motion = roll;
  roller->parameters[0] = side * (roller_radius + half_gap);
  roller->parameters[1] = side * speed / roller_radius;
  return EB_OK;
}

/* Half a turn about x, the ankles over the nip. */
static eb_error armadillo_setup(eb_scene *scene) {
  set_mechanics(scene);
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
    .small = "resolution=0.005",
    .summary = "an armadillo is pulled up by its feet through the gap of two turning cylinders "
               "(resolution 0.125: a figure of an eighth)",
    .geometry = "stand-in armadillo, 1.5 m tall, 200 000 degrees of freedom; cylinders of 50 cm "
                "radius, 25 cm apart",
    .citation = CITATION,
    EB_SCENE_MODEL("armadillo", 346000, 0, 1.5),
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_CONTACT | EB_CAP_SCRIPTED,
    EB_SCENE_COUNTS(66667, 346000, 0.03),
    .parameters = armadillo_parameters,
    EB_SCENE_RUN(8000, 80),
    .setup = armadillo_setup,
    .boundary = pull,
};

/* ---- strings --------------------------------------------------------------------------------- */

/* Elastic strings that are twisted around each other, pulled tight and released (Figure 2(b)). */

enum { STRINGS = 4 };

static const double apart = 0.1; /* m */

static const eb_option strings_parameters[] = {
    PARAMETERS("1e5", "1e-3", "corotational", "0"),
    EB_CUBES_PARAMETER,
    {"turns", EB_OPTION_REAL, "1.5", 0, 5, NULL, "", "of one end within 1 s"},
    {"pull", EB_OPTION_REAL, "0.3", 0, 1.5, NULL, "m", "of that end, within 1 s"},
    {"release", EB_OPTION_REAL, "1.4", EB_NOT_NEGATIVE, NULL, "s", "when all ends are let go"},
    EB_LAST_PARAMETER};

/* Side by side along x, on the corners of a square. */
static eb_error strings_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  eb_placement place[STRINGS];
  for (int s = 0; s < STRINGS; s++) {
    place[s] = unturned;
    place[s].shift[1] = (s & 1 ? 0.5 : -0.5) * apart;
    place[s].shift[2] = (s & 2 ? 0.5 : -0.5) * apart;
  }
  return eb_scene_copies(place, STRINGS, mesh);
}

static eb_error strings_setup(eb_scene *scene) {
  set_mechanics(scene);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

/* One end of the bundle stands still, the other turns about the bundle's axis and is drawn away. */
static void twist_and_pull(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_values *parameters = scene->parameters;
  if (t > eb_values_real(parameters, "release")) return;
  double done = eb_ramp(t, 0, 1), rotation[9];
  const double shift[3] = {eb_values_real(parameters, "pull") * done, 0, 0};
  eb_axis_rotation(0, 2 * pi * eb_values_real(parameters, "turns") * done, rotation);
  eb_grip_place(scene, &scene->script.grips[0], NULL, NULL, (const double[3]){0, 0, 0}, fixed,
                target);
  eb_grip_place(scene, &scene->script.grips[1], rotation, NULL, shift, fixed, target);
}

const eb_scene_ops eb_verschoor2019_strings = {
    .name = "verschoor2019/strings",
    .small = "resolution=0.3",
    .summary = "four elastic strings are twisted around each other, pulled tight and released: "
               "they come apart (no gravity)",
    .geometry = "strings of 150 x 3 x 3 cm, 60 x 2 x 2 cubes of 6 tetrahedra each, 10 cm apart",
    .citation = CITATION,
    .needs = NEEDS | EB_CAP_SCRIPTED,
    .parameters = strings_parameters,
    EB_SCENE_RUN(3000, 30),
    EB_SCENE_GRID({60, 2, 2}, {-0.75, -0.015, -0.015}, {1.5, 0.03, 0.03}),
    .prepare = strings_prepare,
    .setup = strings_setup,
    .boundary = twist_and_pull,
};
