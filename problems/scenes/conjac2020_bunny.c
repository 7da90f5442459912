/* conjac2020/bunny: dropped on the floor, with implicit penalty contact and friction.
 *
 * The paper states alpha = 0.1, mu = 0.3 and 8 dynamic nodes, one of them in each ear and each front foot; size, height, orientations
 * and the stiffness of the floor are chosen here and can be set.
 *
 * How stiff a floor? A body in contact presses with E times its strain there, and with rho g H at most by its weight, which for
 * E >> rho g H is less. A floor of s pascal a metre lets it sink by E strain / s. We ask for a sink of a two-hundredth of the body's
 * height at a strain of 1, which an impact does not come near to:
 *   s = 200 E / H.
 * With nodes l apart an elastic node of stiffness E l then meets a floor of s l^2 = 200 E l (l / H): ten times as much at twenty nodes
 * a height, so the floor does not spoil the condition of the system either. Touches are found before a fall ends
 * (implicit_penalty.h), so a fast fall does not sink further. */
#include <math.h>

#include "problems/scenes/conjac2020.h"

static const double pi = 3.14159265358979323846;

static const eb_option bunny_parameters[] = {
    EB_CONJAC2020_PARAMETERS("4e4", "0.45"),
    EB_ELEMENTS_PARAMETER,
    {"orientation", EB_OPTION_CHOICE, "tilted", 0, 0, "upright|tilted|side|back|head", "",
     "how it falls: on its feet, feet and haunch, side, back or ears"},
    {"height", EB_OPTION_REAL, "0.05", 0, 10, NULL, "m", "of its lowest point above the floor"},
    {"stiffness", EB_OPTION_REAL, "0", 0, 1e18, NULL, "Pa/m",
     "of the floor: pressure at a depth of 1 m; 0: 200 E over the bunny's height"},
    {"alpha", EB_OPTION_REAL, "0.1", 0, 1, NULL, "",
     "isotropy of the floor's penalty: 0 pushes along the normal alone, 1 holds in every "
     "direction"},
    {"friction", EB_OPTION_REAL, "0.3", 0, 10, NULL, "", "Coulomb's mu"},
    EB_LAST_PARAMETER};

static eb_error bunny_mesh(const eb_values *values, eb_mesh **out) {
  return eb_scene_model(values, "bunny", 27695, 0, 0.15, out);
}

static void add_floor(eb_scene *scene) {
  eb_collider *floor = eb_scene_add_floor(scene, 0);
  double lo[3], hi[3], stiffness = eb_values_real(scene->parameters, "stiffness"), young = 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int32_t r = 0; r < scene->material_count; r++)
    young = fmax(young, scene->materials[r].young);
  floor->implicit = true;
  floor->stiffness = stiffness > 0 ? stiffness : 200 * young / (hi[2] - lo[2]);
  floor->isotropy = eb_values_real(scene->parameters, "alpha");
  floor->friction = eb_values_real(scene->parameters, "friction");
}

static eb_error bunny_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  const char *orientation = eb_values_text(scene->parameters, "orientation");
  double rotation[9];
  switch (orientation[0]) {
  case 't':
    eb_axis_rotation(0, 25 * pi / 180, rotation);
    break;
  case 's':
    eb_axis_rotation(0, pi / 2, rotation);
    break;
  case 'b':
    eb_axis_rotation(1, -pi / 2, rotation);
    break;
  case 'h':
    eb_axis_rotation(1, pi, rotation);
    break;
  default:
    eb_axis_rotation(2, 0, rotation);
  }
  eb_scene_place(scene, rotation, eb_values_real(scene->parameters, "height"));
  add_floor(scene);
  return EB_OK;
}

/* ---- dynamic nodes --------------------------------------------------------------------------- */

/* In fractions of the edges of the box around the rest shape. The limbs first, as in the paper, whose other nodes are random; ours lie in the
 * thick of the body, where they carry more of its momentum through an impact. */
static const double places[][3] = {
    {0.65, 0.8, 0.85}, /* left ear */
    {0.65, 0.2, 0.85}, /* right ear */
    {0.8, 0.7, 0.08},  /* left front foot */
    {0.8, 0.3, 0.08},  /* right front foot */
    {0.25, 0.5, 0.35}, /* rump */
    {0.62, 0.5, 0.3},  /* chest */
    {0.8, 0.5, 0.55},  /* head */
    {0.45, 0.5, 0.3},  /* belly */
};

static int32_t bunny_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  double lo[3], hi[3], place[3];
  int32_t named = 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (size_t k = 0; k < sizeof places / sizeof *places && named < wanted; k++) {
    for (int d = 0; d < 3; d++) place[d] = lo[d] + places[k][d] * (hi[d] - lo[d]);
    int32_t node = eb_scene_nearest_free(scene, place, nodes, named);
    if (node >= 0) nodes[named++] = node;
  }
  return named;
}

const eb_scene_ops eb_conjac2020_bunny = {
    .name = "conjac2020/bunny",
    .summary = "a bunny is dropped on the floor, with friction (implicit penalty contact)",
    .geometry = "stand-in bunny, 15 cm long",
    .citation = EB_CONJAC2020_CITATION,
    .stand_in = "bunny",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_IMPLICIT_PENALTY,
    .target_vertices = 5988,
    .target_elements = 27695,
    .count_tolerance = 0.03,
    .parameters = bunny_parameters,
    .steps = 200,
    .steps_per_frame = 1,
    .mesh = bunny_mesh,
    .mesh_parameters = "resolution",
    .setup = bunny_setup,
    .dynamic_nodes = bunny_nodes,
};
