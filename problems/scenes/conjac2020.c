/* The scenes of ConJac but for the muscle (conjac2020_muscle.c); conjac2020.h says what they
 * share. */
#include "problems/scenes/conjac2020.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"

static const double pi = 3.14159265358979323846;

/* ---- dragon ---------------------------------------------------------------------------------- */

/* conjac2020/dragon: pulled apart and let go. */

static const eb_option dragon_parameters[] = {
    EB_CONJAC2020_PARAMETERS("3e4", "0.49"),
    EB_ELEMENTS_PARAMETER,
    {"pull", EB_OPTION_REAL, "0.08", 0, 2, NULL, "",
     "way of jaws and body over the length of the dragon"},
    {"release", EB_OPTION_REAL, "0.5", EB_NOT_NEGATIVE, NULL, "s",
     "time at which jaws and body are let go"},
    EB_LAST_PARAMETER};

/* A box that holds some of the nodes. */
typedef struct part {
  double lo[3], hi[3]; /* m */
} part;

static bool in_part(const double X[3], const void *context) {
  const part *box = context;
  for (int d = 0; d < 3; d++)
    if (X[d] < box->lo[d] || X[d] > box->hi[d]) return false;
  return true;
}

/* The nodes with x and z between these fractions of the box from lo to hi. */
static eb_error grip_part(eb_scene *scene, const double lo[3], const double hi[3],
                          const double x[2], const double z[2], const char *what) {
  part box = {{lo[0] + x[0] * (hi[0] - lo[0]), lo[1], lo[2] + z[0] * (hi[2] - lo[2])},
              {lo[0] + x[1] * (hi[0] - lo[0]), hi[1], lo[2] + z[1] * (hi[2] - lo[2])}};
  return eb_grips_add(scene, in_part, &box, what);
}

enum { FEET, UPPER_JAW, LOWER_JAW, TRUNK };

/* The feet stand; the muzzle, the foremost tenth of the length above the chest, is parted at half
 * its height; the trunk is gripped in its rear. */
static eb_error dragon_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  const eb_mesh *mesh = scene->mesh;
  const eb_ranks *ranks = eb_scene_ranks(scene);
  double lo[3], hi[3], low = INFINITY, high = -INFINITY, *length;
  EB_TRY(eb_ranks_agree(ranks, EB_NEW(length, 1)));
  scene->data = length;
  eb_scene_bounds(scene, mesh->X, lo, hi);
  *length = hi[0] - lo[0];
  double front = lo[0] + 0.9 * (hi[0] - lo[0]), chest = lo[2] + 0.4 * (hi[2] - lo[2]);
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (mesh->X[3 * i] >= front && mesh->X[3 * i + 2] >= chest) {
      low = fmin(low, mesh->X[3 * i + 2]);
      high = fmax(high, mesh->X[3 * i + 2]);
    }
  eb_ranks_min(ranks, 1, &low);
  eb_ranks_max(ranks, 1, &high);
  double middle = (0.5 * (low + high) - lo[2]) / (hi[2] - lo[2]);
  EB_TRY(eb_grips_add_end(scene, 2, -1));
  EB_TRY(grip_part(scene, lo, hi, (double[]){0.9, 1}, (double[]){middle, 1}, "the upper jaw"));
  EB_TRY(grip_part(scene, lo, hi, (double[]){0.9, 1}, (double[]){0.4, middle}, "the lower jaw"));
  return grip_part(scene, lo, hi, (double[]){0.32, 0.45}, (double[]){0.25, 1}, "the trunk");
}

static void dragon_clear(eb_scene *scene) {
  free(scene->data);
}

static void dragon_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double way[4][3] = {{0, 0, 0}, {0.6, 0, 0.8}, {0.6, 0, -0.8}, {-0.6, 0, 0.8}};
  const double *length = scene->data;
  double release = eb_values_real(scene->parameters, "release");
  double pull = eb_values_real(scene->parameters, "pull") * *length * eb_ramp(t, 0, 0.8 * release);
  /* A hair beyond the release counts as before it: t is a sum of steps. */
  int held = t <= release * (1 + 1e-9) ? TRUNK : FEET;
  for (int g = FEET; g <= held; g++) {
    double shift[3] = {pull * way[g][0], pull * way[g][1], pull * way[g][2]};
    eb_grip_place(scene, &scene->script.grips[g], NULL, scene->script.grips[g].centre, shift, fixed,
                  target);
  }
}

/* The paper: "strategic locations", the jaws among them, then random ones. Here the middles of what
 * is gripped. */
static int32_t dragon_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  const double *X = scene->mesh->X;
  int32_t count = 0;
  for (int g = UPPER_JAW; g <= TRUNK && count < wanted; g++) {
    const eb_grip *grip = &scene->script.grips[g];
    int32_t best = grip->nodes[0];
    for (int32_t k = 1; k < grip->count; k++)
      if (eb_squared_distance3(X + 3 * grip->nodes[k], grip->centre) <
          eb_squared_distance3(X + 3 * best, grip->centre))
        best = grip->nodes[k];
    nodes[count++] = best;
  }
  return count;
}

static const eb_scene_default dragon_defaults[] = {
    {"contact-al|contact-cr|contact-ica|contact-sp", "eps1=1e-8",
     "their tolerance is absolute, and this body is light"},
    {0}};

const eb_scene_ops eb_conjac2020_dragon = {
    .name = "conjac2020/dragon",
    .solver_defaults = dragon_defaults,
    .small = "resolution=0.1",
    .summary = "a dragon is pulled apart by its jaws and its trunk and let go at once",
    .geometry =
        "stand-in dragon, 15 cm long, stuffed, its surface refined to the paper's vertex count",
    .citation = EB_CONJAC2020_CITATION,
    EB_SCENE_MODEL("dragon", 37565, 10456, 0.15),
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    EB_SCENE_COUNTS(10456, 37565, 0.03),
    .parameters = dragon_parameters,
    EB_SCENE_RUN(200, 1),
    .setup = dragon_setup,
    .by_parts = true,
    .boundary = dragon_boundary,
    .clear = dragon_clear,
    .dynamic_nodes = dragon_nodes,
};

/* ---- aniso: fibres --------------------------------------------------------------------------- */

/* The middle of the top, which is never gripped. */
static int32_t top_middle(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  double lo[3], hi[3];
  int32_t count = 0;
  if (wanted < 1) return 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  const double top[3] = {0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), hi[2]};
  eb_scene_add_nearest(scene, top, nodes, &count);
  return count;
}

static const eb_option aniso_parameters[] = {
    EB_CONJAC2020_PARAMETERS("1e4", "0.4"),
    EB_CUBES_PARAMETER,
    {"fibre", EB_OPTION_CHOICE, "helical", 0, 0, "vertical|horizontal|diagonal|helical", "",
     "direction of the fibres; helical ones climb at 45 degrees"},
    {"mu_f", EB_OPTION_REAL, "3e4", EB_NOT_NEGATIVE, NULL, "Pa", "stiffness of the fibres (aStVK)"},
    EB_LAST_PARAMETER};

/* Helical fibres climb at 45 degrees around the vertical axis at every radius; on the axis itself
 * they are vertical. */
static void fibre_direction(const char *kind, const double from_axis[2], double a[3]) {
  double radius = hypot(from_axis[0], from_axis[1]);
  bool level = kind[0] == 'h' && kind[1] == 'o', helix = kind[0] == 'h' && !level && radius > 0;
  a[0] = helix ? -from_axis[1] / radius : level || kind[0] == 'd';
  a[1] = helix ? from_axis[0] / radius : 0;
  a[2] = level ? 0 : 1;
  double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  for (int d = 0; d < 3; d++) a[d] /= length;
}

static eb_error aniso_prepare(const eb_values *parameters, eb_mesh **mesh) {
  const char *kind = eb_values_text(parameters, "fibre");
  double lo[3], hi[3], centroid[3];
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  if (!(*mesh)->fibre) EB_TRY(EB_NEW((*mesh)->fibre, 3 * (size_t)(*mesh)->element_count));
  for (int32_t e = 0; e < (*mesh)->element_count; e++) {
    eb_element_centroid(*mesh, e, centroid);
    double from_axis[2] = {centroid[0] - 0.5 * (lo[0] + hi[0]),
                           centroid[1] - 0.5 * (lo[1] + hi[1])};
    fibre_direction(kind, from_axis, (*mesh)->fibre + 3 * e);
  }
  return EB_OK;
}

static eb_error aniso_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  for (int32_t r = 0; r < scene->material_count; r++) {
    scene->materials[r].fibre = EB_FIBRE_ASTVK;
    scene->materials[r].fibre_stiffness = eb_values_real(scene->parameters, "mu_f");
  }
  return eb_grips_add_end(scene, 2, -1);
}

const eb_scene_ops eb_conjac2020_aniso = {
    .name = "conjac2020/aniso",
    .small = "resolution=0.25",
    .summary = "a standing bar with fibres is compressed by gravity; helical fibres make it twist",
    .geometry = "bar of 8 x 8 x 12.7 cm, 12 x 12 x 38 cells, 6 tetrahedra a cube",
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES,
    EB_SCENE_COUNTS(6591, 32832, 0),
    .parameters = aniso_parameters,
    EB_SCENE_RUN(600, 3),
    EB_SCENE_GRID({12, 12, 38}, {-0.04, -0.04, 0}, {0.08, 0.08, 0.127}),
    .prepare = aniso_prepare,
    .setup = aniso_setup,
    .by_parts = true,
    .boundary = eb_grips_hold,
    .dynamic_nodes = top_middle,
};

/* ---- barcut ---------------------------------------------------------------------------------- */

/* conjac2020/barcut: a bar that is pulled at both ends is cut twice while it moves.
 *
 * The paper fixes the two ends and cuts in two places; where, when, how far the bar is stretched
 * before and what becomes of the piece between the cuts it does not say. Here gravity acts: after
 * the first cut the halves hang from their ends, and the second cut drops the lower part of the
 * right one. A piece that nothing holds has no equilibrium in free fall, so there is a floor, low
 * enough for the hanging halves, on which it comes to rest. Left piece, stub and dropped piece then
 * each have an equilibrium of their own. */

static const eb_option barcut_parameters[] = {
    EB_CONJAC2020_PARAMETERS("1e4", "0.4"),
    EB_CUBES_PARAMETER,
    {"stretch", EB_OPTION_REAL, "1.3", 0.5, 4, NULL, "",
     "length over rest length after half a second"},
    {"cuts", EB_OPTION_INT, "2", 0, 2, NULL, "", "how many of the two cuts are made"},
    {"cut1", EB_OPTION_REAL, "0.5", 0.05, 0.95, NULL, "",
     "place of the first cut over the length, from the left; the nearest plane of nodes is taken"},
    {"cut2", EB_OPTION_REAL, "0.75", 0.05, 0.95, NULL, "", "place of the second cut"},
    {"time1", EB_OPTION_REAL, "0.6", EB_NOT_NEGATIVE, NULL, "s", "time of the first cut"},
    {"time2", EB_OPTION_REAL, "1.2", EB_NOT_NEGATIVE, NULL, "s", "time of the second cut"},
    {"floor", EB_OPTION_REAL, "0.12", EB_NOT_NEGATIVE, NULL, "m",
     "depth of the floor below the axis of the bar; 0: none"},
    {"friction", EB_OPTION_REAL, "0.3", 0, 10, NULL, "", "Coulomb's mu of the floor"},
    EB_LAST_PARAMETER};

static void barcut_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_grip *grip = scene->script.grips;
  double length = grip[1].centre[0] - grip[0].centre[0];
  double pull =
      0.5 * length * (eb_values_real(scene->parameters, "stretch") - 1) * eb_ramp(t, 0, 0.5);
  for (int end = 0; end < 2; end++) {
    double shift[3] = {end ? pull : -pull, 0, 0};
    eb_grip_place(scene, &grip[end], NULL, grip[end].centre, shift, fixed, target);
  }
}

static eb_error barcut_setup(eb_scene *scene) {
  double depth = eb_values_real(scene->parameters, "floor");
  eb_scene_set_mechanics(scene);
  if (depth > 0) {
    /* As stiff as lets the bar sink by a two-hundredth of its height where it is pressed flat. */
    double lo[3], hi[3];
    eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
    eb_collider *floor = eb_scene_add_floor(scene, 0.5 * (lo[2] + hi[2]) - depth);
    floor->implicit = true;
    floor->stiffness = 200 * eb_values_real(scene->parameters, "E") / (hi[2] - lo[2]);
    floor->isotropy = 0.1;
    floor->friction = eb_values_real(scene->parameters, "friction");
  }
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

/* The x of the nodes nearest to the place of a cut, and of the next ones that are at least `gap`
 * away on either side. */
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

/* A tenth of the length is about half the thickness of the bar: deep in the pieces, where a node
 * bears a load without being drawn out of them. */
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
    eb_scene_add_nearest(scene, point, nodes, &count);
  }
  return count;
}

const eb_scene_ops eb_conjac2020_barcut = {
    .name = "conjac2020/barcut",
    .small = "resolution=0.3",
    .summary = "a horizontal bar is stretched and cut twice: two pieces hang from the ends, the "
               "third falls to the floor "
               "(the paper says nothing of what holds it)",
    .geometry = "bar of 14.7 x 3 x 3 cm, 49 x 10 x 10 cubes, 6 tetrahedra a cube",
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED | EB_CAP_CUTTING |
             EB_CAP_IMPLICIT_PENALTY,
    EB_SCENE_COUNTS(6050, 29400, 0),
    .parameters = barcut_parameters,
    EB_SCENE_RUN(800, 4),
    EB_SCENE_GRID({49, 10, 10}, {-0.0735, -0.015, -0.015}, {0.147, 0.03, 0.03}),
    .setup = barcut_setup,
    .boundary = barcut_boundary,
    .cuts = barcut_cuts,
    .dynamic_nodes = barcut_nodes,
};

/* ---- bunny ----------------------------------------------------------------------------------- */

/* conjac2020/bunny: dropped on the floor, with implicit penalty contact and friction.
 *
 * The paper states alpha = 0.1, mu = 0.3 and 8 dynamic nodes, one of them in each ear and each
 * front foot; size, height, orientations and the stiffness of the floor are chosen here and can be
 * set.
 *
 * How stiff a floor? A body in contact presses with E times its strain there, and with rho g H at
 * most by its weight, which for E >> rho g H is less. A floor of s pascal a metre lets it sink by E
 * strain / s. We ask for a sink of a two-hundredth of the body's height at a strain of 1, which an
 * impact does not come near to:
 *   s = 200 E / H.
 * With nodes l apart an elastic node of stiffness E l then meets a floor of s l^2 = 200 E l (l /
 * H): ten times as much at twenty nodes a height, so the floor does not spoil the condition of the
 * system either. Touches are found before a fall ends (implicit_penalty.h), so a fast fall does not
 * sink further. */

static const eb_option bunny_parameters[] = {
    EB_CONJAC2020_PARAMETERS("4e4", "0.45"),
    EB_ELEMENTS_PARAMETER,
    {"orientation", EB_OPTION_CHOICE, "tilted", 0, 0, "upright|tilted|side|back|head", "",
     "how it falls: on its feet, feet and haunch, side, back or ears"},
    {"height", EB_OPTION_REAL, "0.05", EB_NOT_NEGATIVE, NULL, "m",
     "of its lowest point above the floor"},
    {"stiffness", EB_OPTION_REAL, "0", EB_NOT_NEGATIVE, NULL, "Pa/m",
     "of the floor: pressure at a depth of 1 m; 0: 200 E over the bunny's height"},
    {"alpha", EB_OPTION_REAL, "0.1", 0, 1, NULL, "",
     "isotropy of the floor's penalty: 0 pushes along the normal alone, 1 holds in every "
     "direction"},
    {"friction", EB_OPTION_REAL, "0.3", 0, 10, NULL, "", "Coulomb's mu"},
    EB_LAST_PARAMETER};

static eb_error bunny_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
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
  eb_collider *floor = eb_scene_add_floor(scene, 0);
  double lo[3], hi[3], stiffness = eb_values_real(scene->parameters, "stiffness"), young = 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int32_t r = 0; r < scene->material_count; r++)
    young = fmax(young, scene->materials[r].young);
  floor->implicit = true;
  floor->stiffness = stiffness > 0 ? stiffness : 200 * young / (hi[2] - lo[2]);
  floor->isotropy = eb_values_real(scene->parameters, "alpha");
  floor->friction = eb_values_real(scene->parameters, "friction");
  return EB_OK;
}

/* In fractions of the edges of the box around the rest shape. The limbs first, as in the paper,
 * whose other nodes are random; ours lie in the thick of the body, where they carry more of its
 * momentum through an impact. */
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
    eb_scene_add_nearest(scene, place, nodes, &named);
  }
  return named;
}

static const eb_scene_default bunny_defaults[] = {
    {"conjac", "dynamic=8", "the paper's number of dynamic nodes"}, {0}};

const eb_scene_ops eb_conjac2020_bunny = {
    .name = "conjac2020/bunny",
    .small = "resolution=0.1",
    .summary = "a bunny is dropped on the floor, with friction (implicit penalty contact)",
    .geometry = "stand-in bunny, 15 cm long",
    .citation = EB_CONJAC2020_CITATION,
    EB_SCENE_MODEL("bunny", 27695, 0, 0.15),
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_IMPLICIT_PENALTY,
    EB_SCENE_COUNTS(5988, 27695, 0.03),
    .parameters = bunny_parameters,
    EB_SCENE_RUN(200, 1),
    .setup = bunny_setup,
    .dynamic_nodes = bunny_nodes,
    .solver_defaults = bunny_defaults,
};
