/* Friction against known answers: a block on an incline (the cone, Section 3.2), a stack of rigid boxes (Figure 2(c)). */
#include <math.h>

#include "problems/mesh/surface_shapes.h"
#include "problems/scenes/verschoor2019.h"

static const double pi = 3.14159265358979323846;

/* A = B C */
static void multiply(const double B[9], const double C[9], double A[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      A[3 * i + j] = B[3 * i] * C[j] + B[3 * i + 1] * C[3 + j] + B[3 * i + 2] * C[6 + j];
}

/* ---- incline --------------------------------------------------------------------------------- */

/* Stiff, so that the vibrations of the start die out within 0.1 s. At 5e5 Pa the sole vibrates as fast as the block slides, on and on, and then friction is less
 * than Coulomb's of a block that glides. */
static const eb_option incline_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("1e8", "1e-3", "corotational"),
    EB_CUBES_PARAMETER,
    {"angle", EB_OPTION_REAL, "30", 0, 80, NULL, "deg", "of the incline"},
    {"direction", EB_OPTION_REAL, "0", -360, 360, NULL, "deg",
     "in which it falls, about z from x; block and incline keep their sides along x and y"},
    EB_LAST_PARAMETER};

static eb_error block_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){4, 4, 2}, (const double[3]){-0.25, -0.25, 0},
                      (const double[3]){0.5, 0.5, 0.25}, out);
}

/* Tilts by `angle` towards `direction` (degrees), with no turn about the normal. */
static void tilt(const eb_values *parameters, double rotation[9]) {
  double angle = eb_values_real(parameters, "angle") * pi / 180;
  double direction = eb_values_real(parameters, "direction") * pi / 180;
  double to[9], lean[9], from[9], turned[9];
  eb_axis_rotation(2, -direction, from);
  eb_axis_rotation(1, angle, lean);
  eb_axis_rotation(2, direction, to);
  multiply(lean, from, turned);
  multiply(to, turned, rotation);
}

/* The block lies on the middle of the incline, a clearance above it. mu < tan(angle): it slides down with the acceleration g (sin - mu cos); mu above it:
 * it stays. The plane is 10 m long, for 1.4 s of free fall. */
static eb_error incline_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  const double half[3] = {10, 10, 0.1};
  double rotation[9], lo[3], hi[3];
  tilt(scene->parameters, rotation);
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  eb_surface *plane;
  EB_TRY(eb_surface_box(half, &plane));
  eb_surface_move(plane, NULL,
                  (const double[3]){0, 0, lo[2] - half[2] - EB_VERSCHOOR2019_CLEARANCE});
  eb_surface_move(plane, rotation, (const double[3]){0, 0, 0});
  for (size_t i = 0; i < (size_t)scene->mesh->node_count; i++)
    for (int d = 0; d < 3; d++) {
      const double *X = scene->mesh->X + 3 * i, *row = rotation + 3 * d;
      scene->x0[3 * i + (size_t)d] = row[0] * X[0] + row[1] * X[1] + row[2] * X[2];
    }
  return eb_scene_add_obstacle(scene, plane, NULL);
}

const eb_scene_ops eb_verschoor2019_incline = {
    .name = "verschoor2019/incline",
    .summary = "a block on an incline: it stays when mu > tan(angle), else slides with the "
               "acceleration g (sin - mu cos)",
    .geometry = "4 x 4 x 2 cubes over 50 x 50 x 25 cm on a tilted plane of 20 m",
    .citation = EB_VERSCHOOR2019_CITATION,
    .needs = EB_VERSCHOOR2019_NEEDS,
    .parameters = incline_parameters,
    .steps = 500,
    .steps_per_frame = 5,
    .mesh = block_mesh,
    .mesh_parameters = "resolution",
    .setup = incline_setup,
};

/* ---- stack ----------------------------------------------------------------------------------- */

enum { MOST_BOXES = 20 };

static const eb_option stack_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("1e9", "1e-3", "corotational"),
    EB_CUBES_PARAMETER,
    {"bodies", EB_OPTION_INT, "10", 1, MOST_BOXES, NULL, "", "boxes on top of each other"},
    {"gap", EB_OPTION_REAL, "3e-4", EB_VERSCHOOR2019_CLEARANCE, 0.1, NULL, "m",
     "between them, and to the floor, at first"},
    EB_LAST_PARAMETER};

static eb_error box_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){2, 2, 1}, (const double[3]){-0.25, -0.25, 0},
                      (const double[3]){0.5, 0.5, 0.25}, out);
}

static eb_error stack_prepare(const eb_values *parameters, eb_mesh **mesh) {
  eb_placement place[MOST_BOXES];
  int32_t boxes = (int32_t)eb_values_int(parameters, "bodies");
  double lo[3], hi[3], gap = eb_values_real(parameters, "gap");
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int32_t b = 0; b < boxes; b++)
    place[b] = (eb_placement){{1, 0, 0, 0, 1, 0, 0, 0, 1},
                              {0, 0, gap - lo[2] + b * (hi[2] - lo[2] + gap)}};
  return eb_scene_copies(place, boxes, mesh);
}

static eb_error stack_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  for (int32_t r = 0; r < scene->material_count; r++) scene->rigid[r] = 1;
  return eb_verschoor2019_floor(scene, 2, 0);
}

const eb_scene_ops eb_verschoor2019_stack = {
    .name = "verschoor2019/stack",
    .summary = "ten rigid boxes on top of each other stand still",
    .geometry = "boxes of 50 x 50 x 25 cm on a floor",
    .citation = EB_VERSCHOOR2019_CITATION,
    .needs = EB_VERSCHOOR2019_NEEDS | EB_CAP_FREE_BODIES,
    .parameters = stack_parameters,
    .steps = 10000,
    .steps_per_frame = 100,
    .mesh = box_mesh,
    .mesh_parameters = "resolution",
    .prepare = stack_prepare,
    .setup = stack_setup,
};
