/* Scenes of Trusty, Benchekroun, Grinspun, Kaufman and Levin, "Subspace Mixed Finite Elements for
 * Real-Time Heterogeneous Elastodynamics", SIGGRAPH Asia 2023 Conference Papers.
 *
 * The paper states moduli, counts, modes and points, and nothing of sizes, time steps, densities,
 * Poisson's ratios, loads and what holds the bodies. Here the longest side of every body is 1 m, a
 * step 1e-2 s, rho 1000 kg/m^3 and nu 0.45; all can be set. What decides whether FEM turns a stiff
 * part too slowly is theta h c / L, its turn in a step times the cells of its size L that sound
 * (c = sqrt(E / rho)) crosses in one: size and step are to be judged by it.
 *
 * Where the authors' later data pin and pull by penalties of 1e8 N/m, springs do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define CITATION                                                                                   \
  "Trusty, Benchekroun, Grinspun, Kaufman and Levin, Subspace Mixed Finite Elements for "          \
  "Real-Time Heterogeneous Elastodynamics, SIGGRAPH Asia 2023"
#define NEEDS          (EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC)
#define PARAMETERS(E_) EB_SCENE_PARAMETERS(E_, "0.45", "1000", "1e-2", "fixed-corotational", "9.81")
#define STIFFNESS(name_, default_, what_)                                                          \
  { name_, EB_OPTION_REAL, default_, EB_POSITIVE, NULL, "Pa", "Young's modulus of " what_ }

static const double pi = 3.14159265358979323846;

/* ---- what the scenes share ------------------------------------------------------------------- */

/* A group of nodes: those in a box, given in shares of the bounds of the mesh. */
typedef struct group {
  const char *name;
  double lo[3], hi[3];
} group;

/* Materials and gravity by the parameters, with E_<region> as the modulus of a region where there
 * is such a parameter; the groups as grips. A mesh file may have other regions. */
static eb_error set_up(eb_scene *scene, const group *groups, int count) {
  const eb_mesh *mesh = scene->mesh;
  eb_scene_set_mechanics(scene);
  for (int32_t r = 0; r < scene->material_count; r++) {
    char parameter[EB_NAME_BYTES + 2];
    snprintf(parameter, sizeof parameter, "E_%s", mesh->region_name[r]);
    if (eb_values_declares(scene->parameters, parameter))
      scene->materials[r].young = eb_values_real(scene->parameters, parameter);
  }
  for (const group *g = groups; g < groups + count; g++)
    EB_TRY(eb_grips_add_box(scene, g->lo, g->hi, g->name));
  return EB_OK;
}

/* A load along one axis, N, shared equally by the nodes of a group. */
static eb_error push_group(eb_scene *scene, int where, int axis, double force) {
  const eb_grip *grip = &scene->script.grips[where];
  double *pattern;
  EB_TRY(eb_ranks_agree(eb_scene_ranks(scene), eb_scene_add_load(scene, &pattern)));
  double nodes = (double)eb_grip_size(scene, grip);
  for (int32_t k = 0; k < grip->count; k++)
    pattern[3 * (int64_t)grip->nodes[k] + axis] = force / nodes;
  return EB_OK;
}

/* ---- octobot --------------------------------------------------------------------------------- */

static const eb_option octobot_parameters[] = {
    PARAMETERS("1e5"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_stiff", "1e8", "the core and the arms' middle pieces"),
    {"bend", EB_OPTION_REAL, "45", -90, 90, NULL, "deg", "initial turn of the arms, upwards"},
    EB_LAST_PARAMETER};

/* Starts at rest with its arms bent up, in one pose for every stiffness: into arcs, about which
 * cross-sections stay upright, so that nothing is longer or shorter at the height of the roots. */
static eb_error octobot_setup(eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], bend = eb_values_real(scene->parameters, "bend") * pi / 180;
  EB_TRY(set_up(scene, NULL, 0));
  if (bend == 0) return EB_OK;
  eb_scene_bounds(scene, mesh->X, lo, hi);
  double root = 0.17 * (hi[0] - lo[0]), reach = 0.5 * (hi[0] - lo[0]);
  double level = lo[2] + 0.25 * (hi[2] - lo[2]), radius = (reach - root) / bend;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double *x = scene->x0 + 3 * (int64_t)i, out = hypot(x[0], x[1]);
    if (out <= root) continue;
    /* On circles about a point above the root, or below it. */
    double turn = (out - root) / radius, from_centre = radius - (x[2] - level);
    double moved = (root + from_centre * sin(turn)) / out;
    x[0] *= moved;
    x[1] *= moved;
    x[2] = level + radius - from_centre * cos(turn);
  }
  return EB_OK;
}

static const eb_scene_default octobot_defaults[] = {
    {"semi-implicit", "beta=4", "with less damping the linear step explodes"},
    {"contact-al|contact-cr|contact-ica|contact-sp|contact-delassus|conjac", NULL,
     "the linear step explodes: stiff parts in a soft body"},
    {0}};

const eb_scene_ops eb_trusty2023_octobot = {
    .name = "trusty2023/octobot",
    .solver_defaults = octobot_defaults,
    .small = "resolution=0.02",
    .summary = "a soft robot with stiff pieces starts with its arms bent",
    .geometry = "stand-in octopus robot, 1 m across",
    .citation = CITATION,
    EB_SCENE_MODEL("octobot", 132124, 32591, 1.0),
    .needs = NEEDS,
    EB_SCENE_COUNTS(32591, 132124, 0.03),
    .parameters = octobot_parameters,
    EB_SCENE_RUN(100, 1),
    .setup = octobot_setup,
    .by_parts = true,
};

/* ---- gatorman -------------------------------------------------------------------------------- */

static const eb_option gatorman_parameters[] = {
    EB_SCENE_PARAMETERS("5e5", "0.45", "1000", "1e-2", "fixed-corotational", "0"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_sword", "1e12", "the sword"),
    {"pull", EB_OPTION_REAL, "0.25", EB_NOT_NEGATIVE, NULL, "m",
     "way that the tip of the tail is pulled back"},
    {"release", EB_OPTION_REAL, "1", EB_POSITIVE, NULL, "s",
     "when the pull, steady until then, ends"},
    {"spring", EB_OPTION_REAL, "1e8", EB_NOT_NEGATIVE, NULL, "N/m",
     "of every node of the tip, while pulled"},
    EB_LAST_PARAMETER};

/* Of the tip of the tail: 103 nodes, where the authors' data pull 29; fewer would leave coarse
 * meshes with one. */
static eb_error gatorman_setup(eb_scene *scene) {
  static const group groups[] = {{"feet", {0, 0, 0}, {1, 1, 0.02}},
                                 {"tail", {0, 0, 0}, {0.03, 1, 1}}};
  EB_TRY(set_up(scene, groups, 2));
  for (int32_t k = 0; k < scene->script.grips[1].count; k++)
    EB_TRY(eb_scene_add_spring(scene, scene->script.grips[1].nodes[k]));
  return EB_OK;
}

/* Times are sums of steps: one a hair before the release belongs to the pull. */
static void gatorman_springs(const eb_scene *scene, double t, double *place, double *stiffness) {
  double release = eb_values_real(scene->parameters, "release"), share = t / release;
  if (t > release + 1e-6 * scene->dt) return;
  for (int32_t s = 0; s < scene->script.spring_count; s++) {
    place[3 * (int64_t)s] -= eb_values_real(scene->parameters, "pull") * share;
    stiffness[s] = eb_values_real(scene->parameters, "spring");
  }
}

static const eb_scene_default gatorman_defaults[] = {
    {"lbfgs", NULL, "a step takes thousands of iterations: stiff parts in a soft body"}, {0}};

const eb_scene_ops eb_trusty2023_gatorman = {
    .name = "trusty2023/gatorman",
    .solver_defaults = gatorman_defaults,
    .small = "resolution=0.02",
    .summary = "a soft figure with a stiff sword, standing on its feet, is pulled back by its tail "
               "and let go",
    .geometry = "stand-in alligator with a broad sword, 1 m tall",
    .citation = CITATION,
    EB_SCENE_MODEL("gatorman", 227035, 54235, 1.0),
    .needs = NEEDS | EB_CAP_SPRINGS,
    EB_SCENE_COUNTS(54235, 227035, 0.03),
    .parameters = gatorman_parameters,
    EB_SCENE_RUN(125, 1),
    .setup = gatorman_setup,
    .boundary = eb_grips_hold_first,
    .springs = gatorman_springs,
};

/* ---- mammoth --------------------------------------------------------------------------------- */

static const eb_option mammoth_parameters[] = {
    PARAMETERS("1e5"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_bone", "1e10", "bones"),
    STIFFNESS("E_joints", "5e5", "joints (Figure 1 has 1e5, and 5e5 for the muscle E)"),
    {"push", EB_OPTION_REAL, "100", EB_NOT_NEGATIVE, NULL, "N",
     "amplitude of the force on the spine"},
    {"period", EB_OPTION_REAL, "1", EB_POSITIVE, NULL, "s", "of that force, up and down"},
    {"knee", EB_OPTION_REAL, "0", EB_FINITE, NULL, "N", "force on the left hind knee, forwards"},
    {"rise", EB_OPTION_REAL, "0.2", EB_POSITIVE, NULL, "s",
     "in which that force, then kept, rises"},
    EB_LAST_PARAMETER};

static eb_error mammoth_setup(eb_scene *scene) {
  static const group groups[] = {{"feet", {0, 0, 0}, {1, 1, 0.02}},
                                 {"back", {0.15, 0, 0.72}, {0.5, 1, 1}},
                                 {"knee", {0.1, 0.5, 0.2}, {0.3, 1, 0.34}},
                                 {"trunk", {0.7, 0.35, 0}, {1, 0.65, 0.55}}};
  EB_TRY(set_up(scene, groups, 4));
  EB_TRY(push_group(scene, 1, 2, eb_values_real(scene->parameters, "push")));
  return push_group(scene, 2, 0, eb_values_real(scene->parameters, "knee"));
}

static void mammoth_loads(const eb_scene *scene, double t, double *magnitude) {
  const eb_values *parameters = scene->parameters;
  magnitude[0] = sin(2 * pi * t / eb_values_real(parameters, "period"));
  magnitude[1] = eb_ramp(t, 0, eb_values_real(parameters, "rise"));
}

static const eb_scene_default mammoth_defaults[] = {
    {"conjac", "dynamic=20", "with fewer dynamic nodes it gains energy"},
    {"symplectic-euler|lbfgs", NULL,
     "a step takes minutes: bones are much stiffer than what is around them"},
    {"contact-ica", NULL, "its sweeps do not converge: stiff parts in a soft body"},
    {0}};

const eb_scene_ops eb_trusty2023_mammoth = {
    .name = "trusty2023/mammoth",
    .solver_defaults = mammoth_defaults,
    .small = "resolution=0.01",
    .summary = "a mammoth of bones, joints and muscle, standing on its feet, is pushed at its back "
               "up and down, or forwards at a knee",
    .geometry = "stand-in mammoth with bones inside, 1 m long",
    .citation = CITATION,
    EB_SCENE_MODEL("mammoth", 531565, 98175, 1.0),
    .needs = NEEDS,
    EB_SCENE_COUNTS(98175, 531565, 0.03),
    .parameters = mammoth_parameters,
    EB_SCENE_RUN(200, 2),
    .setup = mammoth_setup,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
    .loads = mammoth_loads,
};

/* ---- crab ------------------------------------------------------------------------------------ */

static const eb_option crab_parameters[] = {
    PARAMETERS("1e6"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_shell", "1e10", "the shell"),
    {"pinned", EB_OPTION_BOOL, "true", 0, 0, NULL, "", "whether a spring holds the lowest node"},
    {"pin", EB_OPTION_REAL, "1e8", EB_NOT_NEGATIVE, NULL, "N/m", "stiffness of that spring"},
    EB_LAST_PARAMETER};

/* It hangs on its lowest node, the tip of a hind leg, and falls about it. */
static eb_error crab_setup(eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  int32_t lowest = 0;
  EB_TRY(set_up(scene, NULL, 0));
  if (!eb_values_bool(scene->parameters, "pinned")) return EB_OK;
  for (int32_t i = 1; i < mesh->node_count; i++)
    if (mesh->X[3 * (int64_t)i + 2] < mesh->X[3 * (int64_t)lowest + 2]) lowest = i;
  return eb_scene_add_spring(scene, lowest);
}

/* Where the node rests. */
static void crab_springs(const eb_scene *scene, double t, double *place, double *stiffness) {
  (void)t;
  (void)place;
  stiffness[0] = eb_values_real(scene->parameters, "pin");
}

static const eb_scene_default crab_defaults[] = {
    {"lbfgs", NULL, "a step takes thousands of iterations: stiff parts in a soft body"}, {0}};

const eb_scene_ops eb_trusty2023_crab = {
    .name = "trusty2023/crab",
    .solver_defaults = crab_defaults,
    .small = "resolution=0.02",
    .summary = "a crab with a hard shell and soft joints swings about the tip of a hind leg",
    .geometry = "stand-in crab, 1 m wide",
    .citation = CITATION,
    EB_SCENE_MODEL("crab", 223565, 57529, 1.0),
    .needs = NEEDS | EB_CAP_SPRINGS,
    EB_SCENE_COUNTS(57529, 223565, 0.03),
    .parameters = crab_parameters,
    EB_SCENE_RUN(100, 1),
    .setup = crab_setup,
    .springs = crab_springs,
};

/* ---- bars of blocks -------------------------------------------------------------------------- */

/* Regions "stiff" and "soft" in turn along x: `pieces` of them, of which a soft one takes the share
 * `soft` of a pair. */
static eb_error name_pieces(eb_mesh *mesh, int pairs, double soft) {
  double lo[3], hi[3], centroid[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    eb_element_centroid(mesh, e, centroid);
    double at = pairs * (centroid[0] - lo[0]) / (hi[0] - lo[0]);
    mesh->region[e] = at - floor(at) > 1 - soft;
  }
  return eb_mesh_name_regions(mesh, 2, (const char *const[]){"stiff", "soft"});
}

/* Soft enough to sag by a tenth of its length. 61 N on the tip of a bar of 1e7 Pa all over do the
 * same: 3 E I / L^3 0.1 m. */
static const eb_option cantilever_parameters[] = {
    PARAMETERS("1e7"),
    EB_CUBES_PARAMETER,
    STIFFNESS("E_stiff", "1e9", "every other block"),
    EB_JITTER_PARAMETER,
    {"load", EB_OPTION_REAL, "0", EB_FINITE, NULL, "N", "force on the free end, downwards"},
    EB_LAST_PARAMETER};

static eb_error cantilever_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  return name_pieces(*mesh, 4, 0.5);
}

static eb_error cantilever_setup(eb_scene *scene) {
  static const group groups[] = {{"root", {0, 0, 0}, {0.01, 1, 1}},
                                 {"tip", {0.99, 0, 0}, {1, 1, 1}}};
  EB_TRY(set_up(scene, groups, 2));
  return push_group(scene, 1, 2, -eb_values_real(scene->parameters, "load"));
}

const eb_scene_ops eb_trusty2023_cantilever = {
    .name = "trusty2023/cantilever",
    .small = "resolution=0.2",
    .summary = "a bar of stiff and soft blocks, held at one end, bends under its weight",
    .geometry = "bar of 1 x 0.125 x 0.125 m, 80 x 10 x 10 cubes, 6 tetrahedra a cube (the cubes "
                "are ours, the count the paper's)",
    .citation = CITATION,
    .needs = NEEDS | EB_CAP_STATICS,
    EB_SCENE_COUNTS(9801, 48000, 0),
    .parameters = cantilever_parameters,
    EB_SCENE_RUN(1, 1),
    EB_SCENE_JITTERED_GRID({80, 10, 10}, {0, 0, 0}, {1, 0.125, 0.125}),
    .prepare = cantilever_prepare,
    .setup = cantilever_setup,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
};

static const eb_option bar_parameters[] = {
    PARAMETERS("1e6"),
    EB_CUBES_PARAMETER,
    STIFFNESS("E_stiff", "1e10", "the blocks"),
    EB_JITTER_PARAMETER,
    {"spin", EB_OPTION_REAL, "5", EB_FINITE, NULL, "rad/s", "initial turn about the y axis"},
    {"turned", EB_OPTION_REAL, "0", -360, 360, NULL, "deg", "turn of the whole bar at the start"},
    {"block", EB_OPTION_REAL, "0", -360, 360, NULL, "deg",
     "further turn of its second block alone"},
    EB_LAST_PARAMETER};

static eb_error bar_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  return name_pieces(*mesh, 4, 0.25);
}

/* Turns the part of the bar between two shares of its length about the centre of that part, in
 * space about the axis (1, 1, 1): none along which the modes of a bar are. */
static void turn_part(eb_scene *scene, double from, double to, double degrees) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], centre[3], c = cos(degrees * pi / 180), s = sin(degrees * pi / 180);
  double own = (1 + 2 * c) / 3, next = (1 - c) / 3 - s / sqrt(3), last = (1 - c) / 3 + s / sqrt(3);
  const double turn[9] = {own, next, last, last, own, next, next, last, own};
  if (degrees == 0) return;
  eb_scene_bounds(scene, mesh->X, lo, hi);
  for (int d = 0; d < 3; d++)
    centre[d] = lo[d] + (d == 0 ? 0.5 * (from + to) : 0.5) * (hi[d] - lo[d]);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double *x = scene->x0 + 3 * (int64_t)i, r[3];
    double at = (mesh->X[3 * (int64_t)i] - lo[0]) / (hi[0] - lo[0]);
    if (at < from - 1e-9 || at > to + 1e-9) continue;
    for (int d = 0; d < 3; d++) r[d] = x[d] - centre[d];
    eb_turn3(turn, r, x);
    eb_add3(1, centre, x);
  }
}

/* The second of the four pairs of a stiff block and a soft joint has its block there. */
static eb_error bar_setup(eb_scene *scene) {
  const eb_values *parameters = scene->parameters;
  double spin = eb_values_real(parameters, "spin"), lo[3], hi[3];
  EB_TRY(set_up(scene, NULL, 0));
  turn_part(scene, 0.25, 0.4375, eb_values_real(parameters, "block"));
  turn_part(scene, 0, 1, eb_values_real(parameters, "turned"));
  eb_scene_bounds(scene, scene->mesh->X, lo, hi);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *x = scene->x0 + 3 * (int64_t)i;
    scene->v0[3 * (int64_t)i] = spin * (x[2] - 0.5 * (lo[2] + hi[2]));
    scene->v0[3 * (int64_t)i + 2] = -spin * (x[0] - 0.5 * (lo[0] + hi[0]));
  }
  return EB_OK;
}

static const eb_scene_default bar_defaults[] = {
    {"pbfe", "iterations=100", "fewer sweeps gain energy"},
    {"contact-ica", NULL, "its sweeps do not converge: stiff parts in a soft body"},
    {"lbfgs", NULL, "a step takes thousands of iterations: stiff parts in a soft body"},
    {0}};

const eb_scene_ops eb_trusty2023_bar = {
    .name = "trusty2023/bar",
    .solver_defaults = bar_defaults,
    .small = "resolution=0.25",
    .summary = "a free bar of stiff blocks and soft joints turns in the air",
    .geometry = "bar of 1 x 0.125 x 0.125 m, 48 x 6 x 6 cubes, 6 tetrahedra a cube (ours)",
    .citation = CITATION,
    .needs = NEEDS,
    .parameters = bar_parameters,
    EB_SCENE_RUN(100, 1),
    EB_SCENE_JITTERED_GRID({48, 6, 6}, {0, 0, 0}, {1, 0.125, 0.125}),
    .prepare = bar_prepare,
    .setup = bar_setup,
    .by_parts = true,
};

/* ---- candy ----------------------------------------------------------------------------------- */

static const eb_option candy_parameters[] = {
    EB_SCENE_PARAMETERS("1e6", "0.45", "1000", "1e-2", "fixed-corotational", "0"),
    EB_RESOLUTION(0.02, "scale on the number of elements"),
    STIFFNESS("E_hard", "1e10", "the middle"),
    {"turns", EB_OPTION_REAL, "3", -20, 20, NULL, "", "turns of one end against the other"},
    {"stretch", EB_OPTION_REAL, "0.3", 0, 10, NULL, "",
     "way by which the springs pull the ends apart, over the length"},
    {"ramp", EB_OPTION_REAL, "1", EB_POSITIVE, NULL, "s",
     "in which the springs turn and pull so far"},
    {"spring", EB_OPTION_REAL, "100", 1e-6, 1e6, NULL, "",
     "torsional stiffness of the springs of an end over that of the body"},
    EB_LAST_PARAMETER};

/* Torsional stiffness of the body between the ends of its x axis, N m a radian, with cross-sections
 * that turn as they are: slices in a row, of G J each over its length. */
static double torsional_stiffness(const eb_scene *scene) {
  enum { SLICES = 20 };
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], centroid[3], moment[SLICES] = {0}, compliance = 0;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double width = (hi[0] - lo[0]) / SLICES;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const eb_material *material = &scene->materials[mesh->region[e]];
    double shear = material->young / (2 * (1 + material->poisson));
    eb_element_centroid(mesh, e, centroid);
    double y = centroid[1] - 0.5 * (lo[1] + hi[1]), z = centroid[2] - 0.5 * (lo[2] + hi[2]);
    int at = (int)fmin(SLICES - 1, (centroid[0] - lo[0]) / width);
    moment[at] += shear * eb_mesh_element_volume(mesh, mesh->X, e) * (y * y + z * z);
  }
  /* The integral of r^2 over a slice is J times its width. A coarse mesh may leave one empty. */
  for (int k = 0; k < SLICES; k++)
    if (moment[k] > 0) compliance += width * width / moment[k];
  return 1 / compliance;
}

/* The nodes of both ends hang on springs, which are all that holds the candy. Their stiffness, the
 * same for all of an end, is kept: N/m. */
static eb_error candy_setup(eb_scene *scene) {
  static const group ends[] = {{"left", {0, 0, 0}, {0.05, 1, 1}},
                               {"right", {0.95, 0, 0}, {1, 1, 1}}};
  double *stiffness;
  EB_TRY(set_up(scene, ends, 2));
  EB_TRY(EB_NEW(stiffness, 2));
  scene->data = stiffness;
  for (int end = 0; end < 2; end++) {
    const eb_grip *grip = &scene->script.grips[end];
    double arms = 0;
    for (int32_t k = 0; k < grip->count; k++) {
      const double *X = scene->mesh->X + 3 * (int64_t)grip->nodes[k];
      double y = X[1] - grip->centre[1], z = X[2] - grip->centre[2];
      arms += y * y + z * z;
      EB_TRY(eb_scene_add_spring(scene, grip->nodes[k]));
    }
    if (arms == 0)
      return EB_ERROR(EB_ERR_INVALID,
                      "springs at the one node of an end cannot twist it; use a finer mesh");
    double wanted = eb_values_real(scene->parameters, "spring") * torsional_stiffness(scene);
    stiffness[end] = wanted / arms;
  }
  return EB_OK;
}

/* Half of the turn and of the stretch at each end, evenly in time. Springs of c times the torsional
 * stiffness of the body slip when it is twisted by more than c rad, for their torque is at most
 * that of a right angle: three turns ask for more than 19. And a body that is not stretched does
 * not stay straight: it buckles between one turn and two. */
static void candy_springs(const eb_scene *scene, double t, double *place, double *stiffness) {
  double ramp = eb_values_real(scene->parameters, "ramp");
  double share = fmin(1, t / ramp), *kept = scene->data;
  double wound = 2 * pi * share * eb_values_real(scene->parameters, "turns");
  double apart = share * eb_values_real(scene->parameters, "stretch") *
                 (scene->script.grips[1].centre[0] - scene->script.grips[0].centre[0]);
  for (int end = 0; end < 2; end++) {
    const eb_grip *grip = &scene->script.grips[end];
    double rotation[9], r[3];
    eb_axis_rotation(0, (end - 0.5) * wound, rotation);
    for (int32_t k = 0; k < grip->count; k++, place += 3) {
      for (int d = 0; d < 3; d++) r[d] = place[d] - grip->centre[d];
      eb_turn3(rotation, r, place);
      eb_add3(1, grip->centre, place);
      place[0] += (end - 0.5) * apart;
      *stiffness++ = kept[end];
    }
  }
}

static void candy_clear(eb_scene *scene) {
  free(scene->data);
}

const eb_scene_ops eb_trusty2023_candy = {
    .name = "trusty2023/candy",
    .small = "resolution=0.05",
    .summary = "a wrapped candy, hard with soft ends, is twisted by springs",
    .geometry = "stand-in candy, 1 m long",
    .citation = CITATION,
    EB_SCENE_MODEL("candy", 40000, 0, 1.0),
    .needs = NEEDS | EB_CAP_SPRINGS,
    .parameters = candy_parameters,
    EB_SCENE_RUN(150, 1),
    .setup = candy_setup,
    .clear = candy_clear,
    .springs = candy_springs,
};

/* ---- snail ----------------------------------------------------------------------------------- */

static const eb_option snail_parameters[] = {
    PARAMETERS("1e5"), EB_RESOLUTION(0.01, "scale on the number of elements"),
    STIFFNESS("E_shell", "1e9", "the shell"), EB_LAST_PARAMETER};

static eb_error snail_setup(eb_scene *scene) {
  static const group sole = {"sole", {0, 0, 0}, {1, 1, 0.02}};
  return set_up(scene, &sole, 1);
}

static const eb_scene_default snail_defaults[] = {
    {"contact-ica", NULL, "its sweeps do not converge: stiff parts in a soft body"}, {0}};

const eb_scene_ops eb_trusty2023_snail = {
    .name = "trusty2023/snail",
    .solver_defaults = snail_defaults,
    .small = "resolution=0.02",
    .summary = "a snail, held at its sole, sways under the weight of its hard shell",
    .geometry = "stand-in snail, 1 m long",
    .citation = CITATION,
    EB_SCENE_MODEL("snail", 40000, 0, 1.0),
    .needs = NEEDS,
    .parameters = snail_parameters,
    EB_SCENE_RUN(100, 1),
    .setup = snail_setup,
    .by_parts = true,
    .boundary = eb_grips_hold_first,
};
