/* Bodies in a moving wedge (Figure 2(a)): they fall between two plates that meet in an edge, which then close like a book. */
#include <math.h>

#include "problems/mesh/surface_shapes.h"
#include "problems/scenes/verschoor2019.h"

static const double pi = 3.14159265358979323846;

/* Blocks of 20 cm reach 17.3 cm from their middle. */
static const eb_scatter cells = {.across = 3, .cell = 0.375};
/* Plates open by 30 degrees to either side leave the lowest cells, 1.5 to either side, free from 2.6 cells above their edge on. */
static const double open_angle = 30, edge_below = 2.8, plate_length = 14; /* degrees; cells */

static const eb_option wedge_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("5e5", "1e-3", "corotational"),
    EB_CUBES_PARAMETER,
    {"bodies", EB_OPTION_INT, "45", 1, EB_VERSCHOOR2019_BODIES, NULL, "", "how many"},
    {"seed", EB_OPTION_INT, "1", 0, 1e9, NULL, "", "of places and turns"},
    {"angle", EB_OPTION_REAL, "15", 5, 30, NULL, "deg",
     "of each plate from the vertical when it has closed; 30 at first"},
    EB_LAST_PARAMETER};

static eb_error block_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){3, 3, 3}, (const double[3]){0, 0, 0},
                      (const double[3]){0.2, 0.2, 0.2}, out);
}

static eb_error wedge_prepare(const eb_values *parameters, eb_mesh **mesh) {
  return eb_verschoor2019_scatter(parameters, &cells, mesh);
}

/* Turns about the edge, which is the y axis of the plate's frame, between 0.5 and 1.5 s. parameters: angle at first, in the end, rad; height of the
 * edge, m. */
static void close_plate(double t, const double *parameters, double rotation[9], double shift[3]) {
  double closed = eb_ramp(t, 0.5, 1.5);
  eb_axis_rotation(1, parameters[0] + (parameters[1] - parameters[0]) * closed, rotation);
  shift[0] = shift[1] = 0;
  shift[2] = parameters[2];
}

/* Stands upright on the y axis of its frame, its thickness away from the other. */
static eb_error add_plate(eb_scene *scene, int side) {
  const double a = cells.cell,
               half[3] = {0.25 * a, (0.5 * cells.across + 1) * a, plate_length * a / 2};
  eb_surface *surface;
  eb_obstacle *plate;
  EB_TRY(eb_surface_box(half, &surface));
  eb_surface_move(surface, NULL, (const double[3]){side * half[0], 0, half[2]});
  EB_TRY(eb_scene_add_obstacle(scene, surface, &plate));
  plate->motion = close_plate;
  plate->parameters[0] = side * open_angle * pi / 180;
  plate->parameters[1] = side * eb_values_real(scene->parameters, "angle") * pi / 180;
  plate->parameters[2] = -edge_below * a;
  return EB_OK;
}

/* Across the ends of the plates, from below their edge to above their tops. */
static eb_error add_wall(eb_scene *scene, int side) {
  const double a = cells.cell, half[3] = {plate_length * a, 0.25 * a, plate_length * a / 2 + a};
  eb_surface *wall;
  EB_TRY(eb_surface_box(half, &wall));
  eb_surface_move(wall, NULL,
                  (const double[3]){0, side * (0.5 * cells.across * a + half[1]),
                                    plate_length * a / 2 - edge_below * a});
  return eb_scene_add_obstacle(scene, wall, NULL);
}

static eb_error wedge_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  for (int side = -1; side <= 1; side += 2) {
    EB_TRY(add_plate(scene, side));
    EB_TRY(add_wall(scene, side));
  }
  return EB_OK;
}

const eb_scene_ops eb_verschoor2019_wedge = {
    .name = "verschoor2019/wedge",
    .summary = "45 elastic blocks fall at random between two plates in a wedge, which close and "
               "squeeze them",
    .geometry = "blocks of 20 cm, 3 x 3 x 3 cubes of 6 tetrahedra each; plates at 30 degrees from "
                "the vertical, closing to 15",
    .citation = EB_VERSCHOOR2019_CITATION,
    .needs = EB_VERSCHOOR2019_NEEDS,
    .parameters = wedge_parameters,
    .steps = 2000,
    .steps_per_frame = 20,
    .mesh = block_mesh,
    .mesh_parameters = "resolution",
    .prepare = wedge_prepare,
    .setup = wedge_setup,
};
