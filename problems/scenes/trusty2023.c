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

#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define CITATION                                                                                   \
  "Trusty, Benchekroun, Grinspun, Kaufman and Levin, Subspace Mixed Finite Elements for "          \
  "Real-Time Heterogeneous Elastodynamics, SIGGRAPH Asia 2023"
#define NEEDS          (EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC)
#define PARAMETERS(E_) EB_SCENE_PARAMETERS(E_, "0.45", "1000", "1e-2", "fixed-corotational", "9.81")
#define STIFFNESS(name_, default_, what_)                                                          \
  { name_, EB_OPTION_REAL, default_, 1e-3, 1e14, NULL, "Pa", "Young's modulus of " what_ }

static const double pi = 3.14159265358979323846;

/* Young's modulus of a region by the parameter of that name; a mesh without the region has none. */
static void set_region(eb_scene *scene, const char *region, const char *parameter) {
  int32_t r = eb_mesh_region(scene->mesh, region);
  if (r >= 0) scene->materials[r].young = eb_values_real(scene->parameters, parameter);
}

/* The first group is held, others are where forces act. */
static void hold_first(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double still[3] = {0, 0, 0};
  (void)t;
  if (scene->grips[0].count > 0)
    eb_grip_place(scene, &scene->grips[0], NULL, NULL, still, fixed, target);
}

/* A force, N, shared equally by the nodes of a group. */
static void push_group(const eb_grip *grip, const double force[3], double *f) {
  for (int32_t k = 0; k < grip->count; k++)
    for (int d = 0; d < 3; d++) f[3 * (int64_t)grip->nodes[k] + d] += force[d] / grip->count;
}

/* ---- octobot --------------------------------------------------------------------------------- */

static const eb_option octobot_parameters[] = {
    PARAMETERS("1e5"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_stiff", "1e8", "the core and the arms' middle pieces"),
    {"bend", EB_OPTION_REAL, "45", -90, 90, NULL, "deg", "initial turn of the arms, upwards"},
    EB_LAST_PARAMETER};

/* Starts at rest with its arms turned up, in one pose for every stiffness. */
static eb_error octobot_setup(eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], bend = eb_values_real(scene->parameters, "bend") * pi / 180;
  eb_scene_set_mechanics(scene);
  set_region(scene, "stiff", "E_stiff");
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double root = 0.14 * (hi[0] - lo[0]), reach = 0.5 * (hi[0] - lo[0]);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    double *x = scene->x0 + 3 * (int64_t)i, radius = hypot(x[0], x[1]), along = radius - root;
    if (along <= 0) continue;
    /* The turn grows along the arm, so that it bends without a kink. */
    double turn = bend * fmin(along / (reach - root), 1),
           kept = (root + along * cos(turn)) / radius;
    x[0] *= kept;
    x[1] *= kept;
    x[2] += along * sin(turn);
  }
  return EB_OK;
}

const eb_scene_ops eb_trusty2023_octobot = {
    .name = "trusty2023/octobot",
    .summary = "a soft robot with stiff pieces starts with its arms bent",
    .geometry = "stand-in octopus robot, 1 m across",
    .citation = CITATION,
    EB_SCENE_MODEL("octobot", 132124, 32591, 1.0),
    .needs = NEEDS,
    EB_SCENE_COUNTS(32591, 132124, 0.03),
    .parameters = octobot_parameters,
    EB_SCENE_RUN(100, 1),
    .setup = octobot_setup,
};

/* ---- gatorman -------------------------------------------------------------------------------- */

static const eb_option gatorman_parameters[] = {
    EB_SCENE_PARAMETERS("5e5", "0.45", "1000", "1e-2", "fixed-corotational", "0"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_sword", "1e12", "the sword"),
    {"pull", EB_OPTION_REAL, "0.3", 0, 100, NULL, "m",
     "way that the tip of the tail is pulled back"},
    {"release", EB_OPTION_REAL, "1", 1e-6, 1e3, NULL, "s",
     "when the pull, steady until then, ends"},
    {"spring", EB_OPTION_REAL, "1e8", 0, 1e14, NULL, "N/m",
     "of every node of the tip, while pulled"},
    EB_LAST_PARAMETER};

/* The rear 1 % of the length, the tip of the tail: 40 nodes, where the authors' data pull 29. */
static bool in_tail(const double X[3], const void *context) {
  const double *bounds = context;
  return X[0] <= bounds[0] + 0.01 * (bounds[1] - bounds[0]);
}

static eb_error gatorman_setup(eb_scene *scene) {
  double lo[3], hi[3];
  eb_scene_set_mechanics(scene);
  set_region(scene, "sword", "E_sword");
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  EB_TRY(eb_grips_add_band(scene, 2, 0.02 * (hi[2] - lo[2])));
  EB_TRY(eb_grips_add(scene, in_tail, (const double[2]){lo[0], hi[0]}, "tail"));
  for (int32_t k = 0; k < scene->grips[1].count; k++)
    EB_TRY(eb_scene_add_spring(scene, scene->grips[1].nodes[k]));
  return EB_OK;
}

/* Times are sums of steps: one a hair before the release belongs to the pull. */
static void gatorman_springs(const eb_scene *scene, double t, double *place, double *stiffness) {
  double release = eb_values_real(scene->parameters, "release"), share = t / release;
  if (t > release + 1e-6 * scene->dt) return;
  for (int32_t s = 0; s < scene->spring_count; s++) {
    place[3 * (int64_t)s] -= eb_values_real(scene->parameters, "pull") * share;
    stiffness[s] = eb_values_real(scene->parameters, "spring");
  }
}

const eb_scene_ops eb_trusty2023_gatorman = {
    .name = "trusty2023/gatorman",
    .summary = "a soft figure with a stiff sword, standing on its feet, is pulled back by its tail "
               "and let go",
    .geometry = "stand-in alligator with a broad sword, 1 m tall",
    .citation = CITATION,
    EB_SCENE_MODEL("gatorman", 227035, 54235, 1.0),
    .needs = NEEDS,
    EB_SCENE_COUNTS(54235, 227035, 0.03),
    .parameters = gatorman_parameters,
    EB_SCENE_RUN(125, 1),
    .setup = gatorman_setup,
    .boundary = hold_first,
    .springs = gatorman_springs,
};

/* ---- mammoth --------------------------------------------------------------------------------- */

static const eb_option mammoth_parameters[] = {
    PARAMETERS("1e5"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_bone", "1e10", "bones"),
    STIFFNESS("E_joint", "5e5", "joints (Figure 1 has 1e5, and 5e5 for the muscle E)"),
    {"push", EB_OPTION_REAL, "100", 0, 1e6, NULL, "N", "amplitude of the force on the spine"},
    {"period", EB_OPTION_REAL, "1", 1e-3, 1e3, NULL, "s", "of that force, from side to side"},
    EB_LAST_PARAMETER};

/* The upper part of the back, behind the head. */
static bool on_back(const double X[3], const void *context) {
  const double *bounds = context;
  double x = (X[0] - bounds[0]) / (bounds[3] - bounds[0]);
  double z = (X[2] - bounds[2]) / (bounds[5] - bounds[2]);
  return x > 0.15 && x < 0.5 && z > 0.72;
}

static eb_error mammoth_setup(eb_scene *scene) {
  double bounds[6];
  eb_scene_set_mechanics(scene);
  set_region(scene, "bone", "E_bone");
  set_region(scene, "joints", "E_joint");
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, bounds, bounds + 3);
  EB_TRY(eb_grips_add_band(scene, 2, 0.02 * (bounds[5] - bounds[2])));
  return eb_grips_add(scene, on_back, bounds, "back");
}

static void mammoth_force(const eb_scene *scene, double t, const double *x, const double *v,
                          double *f) {
  double period = eb_values_real(scene->parameters, "period");
  double push = eb_values_real(scene->parameters, "push") * sin(2 * pi * t / period);
  (void)x;
  (void)v;
  push_group(&scene->grips[1], (const double[3]){0, push, 0}, f);
}

const eb_scene_ops eb_trusty2023_mammoth = {
    .name = "trusty2023/mammoth",
    .summary = "a mammoth of bones, joints and muscle, standing on its feet, is pushed at its back "
               "from side to side",
    .geometry = "stand-in mammoth with bones inside, 1 m long",
    .citation = CITATION,
    EB_SCENE_MODEL("mammoth", 531565, 98175, 1.0),
    .needs = NEEDS,
    EB_SCENE_COUNTS(98175, 531565, 0.03),
    .parameters = mammoth_parameters,
    EB_SCENE_RUN(200, 2),
    .setup = mammoth_setup,
    .boundary = hold_first,
    .force = mammoth_force,
};

/* ---- crab ------------------------------------------------------------------------------------ */

static const eb_option crab_parameters[] = {
    PARAMETERS("1e6"),
    EB_ELEMENTS_PARAMETER,
    STIFFNESS("E_shell", "1e10", "the shell"),
    {"pinned", EB_OPTION_BOOL, "true", 0, 0, NULL, "", "whether a spring holds the lowest node"},
    {"pin", EB_OPTION_REAL, "1e8", 0, 1e14, NULL, "N/m", "stiffness of that spring"},
    EB_LAST_PARAMETER};

/* It hangs on its lowest node, the tip of a hind leg, and falls about it. */
static eb_error crab_setup(eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  int32_t lowest = 0;
  eb_scene_set_mechanics(scene);
  set_region(scene, "shell", "E_shell");
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

const eb_scene_ops eb_trusty2023_crab = {
    .name = "trusty2023/crab",
    .summary = "a crab with a hard shell and soft joints swings about the tip of a hind leg",
    .geometry = "stand-in crab, 1 m wide",
    .citation = CITATION,
    EB_SCENE_MODEL("crab", 223565, 57529, 1.0),
    .needs = NEEDS,
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

/* Soft enough to sag by a tenth of its length. */
static const eb_option cantilever_parameters[] = {PARAMETERS("1e7"), EB_CUBES_PARAMETER,
                                                  STIFFNESS("E_stiff", "1e9", "every other block"),
                                                  EB_LAST_PARAMETER};

static eb_error cantilever_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  return name_pieces(*mesh, 4, 0.5);
}

static eb_error cantilever_setup(eb_scene *scene) {
  eb_scene_set_mechanics(scene);
  set_region(scene, "stiff", "E_stiff");
  return eb_grips_add_end(scene, 0, -1);
}

const eb_scene_ops eb_trusty2023_cantilever = {
    .name = "trusty2023/cantilever",
    .summary = "a bar of stiff and soft blocks, held at one end, bends under its weight",
    .geometry = "bar of 1 x 0.125 x 0.125 m, 80 x 10 x 10 cubes, 6 tetrahedra a cube (the cubes "
                "are ours, the count the paper's)",
    .citation = CITATION,
    .needs = NEEDS | EB_CAP_STATICS,
    EB_SCENE_COUNTS(9801, 48000, 0),
    .parameters = cantilever_parameters,
    EB_SCENE_RUN(1, 1),
    EB_SCENE_GRID({80, 10, 10}, {0, 0, 0}, {1, 0.125, 0.125}),
    .prepare = cantilever_prepare,
    .setup = cantilever_setup,
    .boundary = hold_first,
};

static const eb_option bar_parameters[] = {
    PARAMETERS("1e6"),
    EB_CUBES_PARAMETER,
    STIFFNESS("E_stiff", "1e10", "the blocks"),
    {"spin", EB_OPTION_REAL, "5", -1e3, 1e3, NULL, "rad/s", "initial turn about the y axis"},
    EB_LAST_PARAMETER};

static eb_error bar_prepare(const eb_values *parameters, eb_mesh **mesh) {
  (void)parameters;
  return name_pieces(*mesh, 4, 0.25);
}

static eb_error bar_setup(eb_scene *scene) {
  double spin = eb_values_real(scene->parameters, "spin"), lo[3], hi[3];
  eb_scene_set_mechanics(scene);
  set_region(scene, "stiff", "E_stiff");
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const double *X = scene->mesh->X + 3 * (int64_t)i;
    scene->v0[3 * (int64_t)i] = spin * (X[2] - 0.5 * (lo[2] + hi[2]));
    scene->v0[3 * (int64_t)i + 2] = -spin * (X[0] - 0.5 * (lo[0] + hi[0]));
  }
  return EB_OK;
}

const eb_scene_ops eb_trusty2023_bar = {
    .name = "trusty2023/bar",
    .summary = "a free bar of stiff blocks and soft joints turns in the air",
    .geometry = "bar of 1 x 0.125 x 0.125 m, 48 x 6 x 6 cubes, 6 tetrahedra a cube (ours)",
    .citation = CITATION,
    .needs = NEEDS,
    .parameters = bar_parameters,
    EB_SCENE_RUN(100, 1),
    EB_SCENE_GRID({48, 6, 6}, {0, 0, 0}, {1, 0.125, 0.125}),
    .prepare = bar_prepare,
    .setup = bar_setup,
};
