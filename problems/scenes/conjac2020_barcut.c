/* conjac2020/barcut: a bar that is pulled at both ends is cut twice while it moves.
 *
 * The paper fixes the two ends and cuts in two places; where, when, how far the bar is stretched before and what becomes of the
 * piece between the cuts it does not say. Here gravity acts: after the first cut the halves hang from their ends, and the
 * second cut drops the lower part of the right one. A piece that nothing holds has no equilibrium in free fall, so there is a floor,
 * low enough for the hanging halves, on which it comes to rest. Left piece, stub and dropped piece then each have an equilibrium of
 * their own. */
#include <math.h>

#include "problems/scenes/conjac2020.h"

static const eb_option barcut_parameters[] = {
    EB_CONJAC2020_PARAMETERS("1e4", "0.4"),
    EB_CUBES_PARAMETER,
    {"stretch", EB_OPTION_REAL, "1.3", 0.5, 4, NULL, "",
     "length over rest length after half a second"},
    {"cuts", EB_OPTION_INT, "2", 0, 2, NULL, "", "how many of the two cuts are made"},
    {"cut1", EB_OPTION_REAL, "0.5", 0.05, 0.95, NULL, "",
     "place of the first cut over the length, from the left; the nearest plane of nodes is taken"},
    {"cut2", EB_OPTION_REAL, "0.75", 0.05, 0.95, NULL, "", "place of the second cut"},
    {"time1", EB_OPTION_REAL, "0.6", 0, 1e3, NULL, "s", "time of the first cut"},
    {"time2", EB_OPTION_REAL, "1.2", 0, 1e3, NULL, "s", "time of the second cut"},
    {"floor", EB_OPTION_REAL, "0.12", 0, 10, NULL, "m",
     "depth of the floor below the axis of the bar; 0: none"},
    {"friction", EB_OPTION_REAL, "0.3", 0, 10, NULL, "", "Coulomb's mu of the floor"},
    EB_LAST_PARAMETER};

static eb_error barcut_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){49, 10, 10},
                      (const double[3]){-0.0735, -0.015, -0.015},
                      (const double[3]){0.147, 0.03, 0.03}, out);
}

static void barcut_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const eb_grip *grip = ((const eb_grips *)scene->data)->grip;
  double length = grip[1].centre[0] - grip[0].centre[0];
  double pull =
      0.5 * length * (eb_values_real(scene->parameters, "stretch") - 1) * eb_ramp(t, 0, 0.5);
  for (int end = 0; end < 2; end++) {
    double shift[3] = {end ? pull : -pull, 0, 0};
    eb_grip_place(scene, &grip[end], identity, grip[end].centre, shift, fixed, target);
  }
}

/* As stiff as lets the bar sink by a two-hundredth of its height where it is pressed flat. */
static void add_floor(eb_scene *scene, double depth) {
  double lo[3], hi[3];
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  eb_collider *floor = eb_scene_add_floor(scene, 0.5 * (lo[2] + hi[2]) - depth);
  floor->implicit = true;
  floor->stiffness = 200 * eb_values_real(scene->parameters, "E") / (hi[2] - lo[2]);
  floor->isotropy = 0.1;
  floor->friction = eb_values_real(scene->parameters, "friction");
}

static eb_error barcut_setup(eb_scene *scene) {
  double depth = eb_values_real(scene->parameters, "floor");
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  if (depth > 0) add_floor(scene, depth);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

/* The x of the nodes nearest to the place of a cut, and of the next ones that are at least `gap` away on either side. */
static void planes_around(const eb_mesh *mesh, double at, double gap, double plane[3]) {
  const double *X = mesh->X;
  plane[0] = -INFINITY;
  plane[1] = X[0];
  plane[2] = INFINITY;
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (fabs(X[3 * i] - at) < fabs(plane[1] - at)) plane[1] = X[3 * i];
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (X[3 * i] < plane[1] - gap) plane[0] = fmax(plane[0], X[3 * i]);
    if (X[3 * i] > plane[1] + gap) plane[2] = fmin(plane[2], X[3 * i]);
  }
}

/* A tenth of the length is about half the thickness of the bar: deep in the pieces, where a node bears a load without being drawn out
 * of them. */
static void planes_at_cut(const eb_scene *scene, const char *which, double plane[3],
                          double middle[3]) {
  double lo[3], hi[3], place = eb_values_real(scene->parameters, which);
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) middle[d] = 0.5 * (lo[d] + hi[d]);
  double length = hi[0] - lo[0];
  planes_around(scene->mesh, lo[0] + place * length, 0.1 * length, plane);
}

/* Cuts of equal time are made in either order. */
static int32_t barcut_cuts(const eb_scene *scene, eb_cut cuts[EB_MAX_CUTS]) {
  static const char *const places[] = {"cut1", "cut2"}, *const times[] = {"time1", "time2"};
  int32_t count = (int32_t)eb_values_int(scene->parameters, "cuts");
  for (int32_t c = 0; c < count; c++) {
    double plane[3], middle[3];
    planes_at_cut(scene, places[c], plane, middle);
    cuts[c] = (eb_cut){.time = eb_values_real(scene->parameters, times[c]),
                       .origin = {plane[1], middle[1], middle[2]},
                       .normal = {1, 0, 0},
                       .radius = INFINITY};
  }
  if (count == 2 && cuts[1].time < cuts[0].time) {
    eb_cut first = cuts[0];
    cuts[0] = cuts[1];
    cuts[1] = first;
  }
  return count;
}

/* Two nodes on the axis, one on either side of the first cut. */
static int32_t barcut_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  double plane[3], point[3];
  int32_t count = 0;
  planes_at_cut(scene, "cut1", plane, point);
  for (int side = 0; side < 3 && count < wanted; side += 2) {
    point[0] = plane[side];
    int32_t node = eb_scene_nearest_free(scene, point, nodes, count);
    if (node >= 0) nodes[count++] = node;
  }
  return count;
}

const eb_scene_ops eb_conjac2020_barcut = {
    .name = "conjac2020/barcut",
    .summary = "a horizontal bar is stretched and cut twice: two pieces hang from the ends, the "
               "third falls to the floor "
               "(the paper says nothing of what holds it)",
    .geometry = "bar of 14.7 x 3 x 3 cm, 49 x 10 x 10 cubes, 6 tetrahedra a cube",
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED | EB_CAP_CUTTING |
             EB_CAP_IMPLICIT_PENALTY,
    .target_vertices = 6050,
    .target_elements = 29400,
    .parameters = barcut_parameters,
    .steps = 800,
    .steps_per_frame = 4,
    .mesh = barcut_mesh,
    .mesh_parameters = "resolution",
    .setup = barcut_setup,
    .boundary = barcut_boundary,
    .clear = eb_grips_clear,
    .cuts = barcut_cuts,
    .dynamic_nodes = barcut_nodes,
};
