/* What the scenes share: parameter tables, bars, end caps, clamps, materials, penalty constants. */
#ifndef EB_SCENES_COMMON_H
#define EB_SCENES_COMMON_H

#include "problems/scene_impl.h"

/* The entries every scene's table starts with; the defaults are texts. nu stays away from 0.5,
 * where lambda has no value. */
#define EB_SCENE_PARAMETERS(E_, nu_, rho_, dt_, material_, gravity_)                               \
  {"E", EB_OPTION_REAL, E_, 1e-3, 1e13, NULL, "Pa", "Young's modulus"},                            \
      {"nu", EB_OPTION_REAL, nu_, -0.9, 0.4999, NULL, "", "Poisson's ratio"},                      \
      {"rho", EB_OPTION_REAL, rho_, 1e-3, 1e6, NULL, "kg/m^3", "density"},                         \
      {"dt", EB_OPTION_REAL, dt_, 1e-7, 1, NULL, "s", "time step"},                                \
      {"material", EB_OPTION_CHOICE, material_, 0, 0, EB_MATERIAL_CHOICES, "", "base material"},   \
      {"gravity", EB_OPTION_REAL, gravity_, 0, 1e4, NULL, "m/s^2", "acceleration along -z"},       \
      {"mesh_up", EB_OPTION_CHOICE, "z", 0, 0, "y|z", "", "upward axis of a --mesh file"}, {       \
    "mesh_turn", EB_OPTION_REAL, "0", -360, 360, NULL, "deg", "turn of a --mesh file about z"      \
  }

#define EB_CUBES_PARAMETER                                                                         \
  {                                                                                                \
    "resolution", EB_OPTION_REAL, "1", 0.02, 8, NULL, "",                                          \
        "scale on the number of cubes along every edge; 1 is the paper's"                          \
  }
#define EB_ELEMENTS_PARAMETER                                                                      \
  {                                                                                                \
    "resolution", EB_OPTION_REAL, "1", 0.002, 8, NULL, "",                                         \
        "scale on the number of elements; 1 is the paper's"                                        \
  }
#define EB_LAST_PARAMETER                                                                          \
  { NULL, EB_OPTION_REAL, NULL, 0, 0, NULL, NULL, NULL }

/* ---- geometry -------------------------------------------------------------------------------- */

/* A bar of `cubes` times resolution cubes (at least one along each edge), six tetrahedra each,
 * over the box from `origin` of `size`, m. */
EB_MUST eb_error eb_scene_bar(const eb_values *parameters, const int32_t cubes[3],
                              const double origin[3], const double size[3], eb_mesh **out);
/* A stuffed model of `elements` times resolution tetrahedra, scaled uniformly so that the longest
 * edge of its box is `size` (m), centred over the origin, standing on z = 0. With `nodes` not 0,
 * the paper's model has more nodes than the lattice gives for as many elements: at resolution 1 the
 * surface is refined until the nodes are met too (problems/mesh/refine.h). */
EB_MUST eb_error eb_scene_model(const eb_values *parameters, const char *model, int32_t elements,
                                int32_t nodes, double size, eb_mesh **out);
/* x = rotation X + shift, m; rotation row-major. */
typedef struct eb_placement {
  double rotation[9], shift[3];
} eb_placement;

/* Replaces the mesh by `count` placed copies of it, one after the other. On error it is as
 * before. */
EB_MUST eb_error eb_scene_copies(const eb_placement *place, int32_t count, eb_mesh **mesh);
void eb_element_centroid(const eb_mesh *mesh, int32_t e, double centroid[3]);

/* ---- groups of nodes, found from the geometry of whatever mesh there is ---------------------- */

typedef struct eb_grip {
  int32_t count;
  int32_t *nodes;
  double centre[3]; /* of the box of its nodes at rest, m */
} eb_grip;

enum { EB_MAX_GRIPS = 4 };

/* The groups a scene's script moves: kept as scene->data, released by eb_grips_clear. */
typedef struct eb_grips {
  int count;
  eb_grip grip[EB_MAX_GRIPS];
} eb_grips;

/* Whether a node at rest position X belongs to a group. */
typedef bool eb_node_test(const double X[3], const void *context);

/* Adds the group of nodes that pass the test to scene->data (created on first use). EB_ERR_INVALID
 * when there is none. */
EB_MUST eb_error eb_grips_add(eb_scene *scene, eb_node_test *test, const void *context,
                              const char *what);
/* Adds the nodes at one end of the mesh along an axis: those within a band below (side < 0) or
 * above the extreme. The band is 1 % of the extent - the face of a bar - and is widened until it
 * holds a face's worth of nodes, so that it grips any mesh. */
EB_MUST eb_error eb_grips_add_end(eb_scene *scene, int axis, int side);
/* Adds the nodes within `width` (m) above the lowest coordinate along an axis. */
EB_MUST eb_error eb_grips_add_band(eb_scene *scene, int axis, double width);
void eb_grips_clear(eb_scene *scene);
/* Marks the group's nodes and moves them rigidly from their place in scene->x0: rotation
 * (row-major) about `about`, then `shift`. */
void eb_grip_place(const eb_scene *scene, const eb_grip *grip, const double rotation[9],
                   const double about[3], const double shift[3], uint8_t *fixed, double *target);
/* The node of a group that is nearest to its centre at rest. */
int32_t eb_grip_middle(const eb_scene *scene, const eb_grip *grip);
/* The node nearest at rest to a point, of those that are in no group and not among the `count` in
 * `taken`; -1: there is none. */
int32_t eb_scene_nearest_free(const eb_scene *scene, const double point[3], const int32_t *taken,
                              int32_t count);
/* A boundary for scenes whose groups all stand still. */
void eb_grips_hold(const eb_scene *scene, double t, uint8_t *fixed, double *target);

/* ---- scripts --------------------------------------------------------------------------------- */

/* 0 before `begin`, 1 after `end`, in between 3 s^2 - 2 s^3: continuous with its derivative. */
double eb_ramp(double t, double begin, double end);
/* Its derivative, 1/s. */
double eb_ramp_rate(double t, double begin, double end);
/* Its integral from `begin` on, s. */
double eb_ramp_integral(double t, double begin, double end);
/* Rotation by `angle` about the axis d = 0, 1, 2; row-major. */
void eb_axis_rotation(int d, double angle, double rotation[9]);
/* The initial state: rest positions rotated about the centre of the box, lowest node put at height
 * `floor` and the box centred over the origin. */
void eb_scene_place(eb_scene *scene, const double rotation[9], double floor);

/* ---- materials and contact ------------------------------------------------------------------- */

/* The material the parameters name, for every region. */
void eb_scene_uniform_material(eb_scene *scene);
/* Gravity along -z from the parameter `gravity`. */
void eb_scene_set_gravity(eb_scene *scene);

/* Stiffness (Pa/m) and damping (Pa s/m) of explicit penalty contact against a body of the given
 * thickness (m; the smallest edge of the mesh's box bounds it). The derivation is in common.c.
 * Materials must be set. */
void eb_penalty_constants(const eb_scene *scene, double thickness, eb_collider *collider);
/* Adds a collider that stands still and has no constants yet. Returns it, for more to be set. */
eb_collider *eb_scene_add_collider(eb_scene *scene, eb_collider_kind kind, const double origin[3],
                                   const double axis[3], double radius);
/* The floor: the plane z = height. */
eb_collider *eb_scene_add_floor(eb_scene *scene, double height);

#endif
