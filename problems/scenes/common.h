/* What the scenes share: parameters, copies of a body, groups of nodes that scripts move, ramps,
 * materials, colliders. */
#ifndef EB_SCENES_COMMON_H
#define EB_SCENES_COMMON_H

#include "problems/scene_impl.h"

/* Ranges of parameters with a dimension: what physics asks for, in whatever consistent units (a
 * density of 7.8e-9 t/mm^3 beside a modulus in MPa is as good as SI), and no more; products of a
 * few of them are still doubles. What lies outside what is usual is told (problems/units.h). Ranges
 * in metres that remain are those of a scene's own geometry. */
#define EB_POSITIVE     1e-30, 1e30
#define EB_NOT_NEGATIVE 0, 1e30
#define EB_FINITE       -1e30, 1e30
/* Between -1 and 1/2, where lambda has no value. */
#define EB_POISSON -0.999999, 0.499999

/* The entries every scene's table starts with; the defaults are texts. */
#define EB_SCENE_PARAMETERS(E_, nu_, rho_, dt_, material_, gravity_)                               \
  {"E", EB_OPTION_REAL, E_, EB_POSITIVE, NULL, "Pa", "Young's modulus"},                           \
      {"nu", EB_OPTION_REAL, nu_, EB_POISSON, NULL, "", "Poisson's ratio"},                        \
      {"rho", EB_OPTION_REAL, rho_, EB_POSITIVE, NULL, "kg/m^3", "density"},                       \
      {"dt", EB_OPTION_REAL, dt_, EB_POSITIVE, NULL, "s", "time step"},                            \
      {"material", EB_OPTION_CHOICE, material_, 0, 0, EB_MATERIAL_CHOICES, "", "base material"},   \
      {"gravity", EB_OPTION_REAL,         gravity_, EB_NOT_NEGATIVE, NULL,                         \
       "m/s^2",   "acceleration along -z"},                                                        \
      {"mesh_up", EB_OPTION_CHOICE, "z", 0, 0, "y|z", "", "upward axis of a --mesh file"}, {       \
    "mesh_turn", EB_OPTION_REAL, "0", -360, 360, NULL, "deg", "turn of a --mesh file about z"      \
  }

/* How fine the mesh is: at `least_` to 8. */
#define EB_RESOLUTION(least_, help_)                                                               \
  { "resolution", EB_OPTION_REAL, "1", least_, 8, NULL, "", help_ }
#define EB_CUBES_PARAMETER                                                                         \
  EB_RESOLUTION(0.02, "scale on the number of cubes along every edge; 1 is the paper's")
#define EB_ELEMENTS_PARAMETER                                                                      \
  EB_RESOLUTION(0.002, "scale on the number of elements; 1 is the paper's")
/* Of scenes of hexahedra, whose materials set_mechanics sets; the defaults are texts. */
#define EB_HEXAHEDRA_PARAMETERS(integration_, hourglass_)                                          \
  {"integration",                                                                                  \
   EB_OPTION_CHOICE,                                                                               \
   integration_,                                                                                   \
   0,                                                                                              \
   0,                                                                                              \
   EB_INTEGRATION_CHOICES,                                                                         \
   "",                                                                                             \
   "of hexahedra: points, and control of hourglass modes"},                                        \
  {                                                                                                \
    "hourglass", EB_OPTION_REAL, hourglass_, 0, 1e6, NULL, "",                                     \
        "stiffness of hourglass modes over mu; integration=one-point"                              \
  }
#define EB_LAST_PARAMETER                                                                          \
  { NULL, EB_OPTION_REAL, NULL, 0, 0, NULL, NULL, NULL }

/* ---- entries of the catalogue ---------------------------------------------------------------- */

/* Parts of an eb_scene_ops that go together. A bar: {cubes}, {origin}, {size}, m. */
#define EB_SCENE_GRID(...) .grid = {__VA_ARGS__}, .mesh_parameters = "resolution"
/* As many times as the parameter `cubes` says, beside `resolution`. */
#define EB_SCENE_CUBES_GRID(...) .grid = {__VA_ARGS__}, .mesh_parameters = "resolution,cubes"
/* Its inner nodes shifted at random (eb_generate_jitter); with EB_JITTER_PARAMETER. */
#define EB_SCENE_JITTERED_GRID(...) .grid = {__VA_ARGS__}, .mesh_parameters = "resolution,jitter"
#define EB_JITTER_PARAMETER                                                                        \
  {                                                                                                \
    "jitter", EB_OPTION_REAL, "0.2", 0, 0.3, NULL, "",                                             \
        "random shift of nodes along each axis, of a cube; those on faces stay on them"            \
  }
/* A model that stands in for the paper's: name, elements, nodes (0: any), size, m, and what
 * reshapes it (.reshape = ...), or nothing. */
#define EB_SCENE_MODEL(name_, elements_, nodes_, ...)                                              \
  .stand_in = name_, .model = {.elements = elements_, .nodes = nodes_, .size = __VA_ARGS__},       \
  .mesh_parameters = "resolution"
/* The paper's counts, and how far ours may be off. */
#define EB_SCENE_COUNTS(vertices_, elements_, tolerance_)                                          \
  .target_vertices = vertices_, .target_elements = elements_, .count_tolerance = tolerance_
/* Steps of a default run, and between stored frames. */
#define EB_SCENE_RUN(steps_, per_frame_) .steps = steps_, .steps_per_frame = per_frame_

/* ---- geometry -------------------------------------------------------------------------------- */

/* x = rotation X + shift, m; rotation row-major, which may also scale. */
typedef struct eb_placement {
  double rotation[9], shift[3];
} eb_placement;

/* Replaces the mesh by `count` placed copies of it, one after the other. On error it is as
 * before. */
EB_MUST eb_error eb_scene_copies(const eb_placement *place, int32_t count, eb_mesh **mesh);
/* The mean of an element's corners at rest, m. */
void eb_element_centroid(const eb_mesh *mesh, int32_t e, double centroid[3]);

/* ---- groups of nodes, found from the geometry of whatever mesh there is ---------------------- */

/* Groups of a scene in parts hold the local nodes; making them and asking for their size is
 * collective. */

/* Whether a node at rest position X belongs to a group. */
typedef bool eb_node_test(const double X[3], const void *context);

/* Adds the group of nodes that pass the test to scene->script.grips. `what` is what messages call
 * it, "the upper jaw of the beast", and in one word, without the article and what follows an "of",
 * its name: "upper-jaw". EB_ERR_INVALID when there is none. */
EB_MUST eb_error eb_grips_add(eb_scene *scene, eb_node_test *test, const void *context,
                              const char *what);
/* Adds the nodes at one end of the mesh along an axis: those within a band below (side < 0) or
 * above the extreme. The band is 1 % of the extent - the face of a bar - and is widened until it
 * holds a face's worth of nodes, so that it grips any mesh. */
EB_MUST eb_error eb_grips_add_end(eb_scene *scene, int axis, int side);
EB_MUST eb_error eb_grips_add_end_named(eb_scene *scene, int axis, int side, const char *what);
/* Adds the nodes in a box that is given in shares of the bounds of the mesh, 0 to 1. */
EB_MUST eb_error eb_grips_add_box(eb_scene *scene, const double lo[3], const double hi[3],
                                  const char *what);
/* Adds the nodes within `width` (m) above the lowest coordinate along an axis (side < 0) or below
 * the highest. */
EB_MUST eb_error eb_grips_add_band(eb_scene *scene, int axis, int side, double width,
                                   const char *what);
/* How many nodes the group has on all ranks. */
int64_t eb_grip_size(const eb_scene *scene, const eb_grip *grip);
/* Marks the group's nodes and moves them rigidly from their place in scene->x0: rotation
 * (row-major; NULL: none) about `about` (NULL: the origin), then `shift`. */
void eb_grip_place(const eb_scene *scene, const eb_grip *grip, const double *rotation,
                   const double *about, const double shift[3], uint8_t *fixed, double *target);
/* Boundaries for scenes whose groups all stand still, and whose first group does: others are named
 * for who wants to follow them, or are where forces act. */
void eb_grips_hold(const eb_scene *scene, double t, uint8_t *fixed, double *target);
void eb_grips_hold_first(const eb_scene *scene, double t, uint8_t *fixed, double *target);

/* Appends to the `*count` in `nodes` the node nearest at rest to a point, of those that are in no
 * group and not among them, of several the first by place; false: there is none. */
bool eb_scene_add_nearest(const eb_scene *scene, const double point[3], int32_t *nodes,
                          int32_t *count);

/* ---- scripts --------------------------------------------------------------------------------- */

/* 0 before `begin`, 1 after `end`, in between 3 s^2 - 2 s^3: continuous with its derivative. */
double eb_ramp(double t, double begin, double end);
/* Its integral from `begin` on, s. */
double eb_ramp_integral(double t, double begin, double end);
/* Rotation by `angle` about the axis d = 0, 1, 2; row-major. */
void eb_axis_rotation(int d, double angle, double rotation[9]);
/* The initial state: rest positions rotated about the centre of the box, lowest node put at height
 * `floor` and the box centred over the origin. Collective. */
void eb_scene_place(eb_scene *scene, const double rotation[9], double floor);

/* ---- materials and contact ------------------------------------------------------------------- */

/* The material the parameters name, for every region; with those of EB_HEXAHEDRA_PARAMETERS where
 * the scene declares them. */
void eb_scene_uniform_material(eb_scene *scene);
/* The same, and gravity along -z from the parameter `gravity`. */
void eb_scene_set_mechanics(eb_scene *scene);

/* Adds a collider that stands still and has no constants yet. Returns it, for more to be set. */
eb_collider *eb_scene_add_collider(eb_scene *scene, eb_collider_kind kind, const double origin[3],
                                   const double axis[3], double radius);
/* The floor: the plane z = height. */
eb_collider *eb_scene_add_floor(eb_scene *scene, double height);

#endif
