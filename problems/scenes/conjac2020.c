/* Scenes of Weidner, Kim and Sueda, "ConJac: Large Steps in Dynamic Simulation", MIG 2020 (Section
 * 4, Table 1).
 *
 * All bodies are 5 to 15 cm across, as the paper says of its own. What it does not state is chosen
 * here and can be set: sizes, density, the course of the scripts, the contrast of layers, the
 * stiffness of fibres. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scenes/catalogue.h"
#include "problems/scenes/common.h"

#define CITATION "Weidner, Kim and Sueda, ConJac: Large Steps in Dynamic Simulation, MIG 2020"
#define PARAMETERS(E_, nu_)                                                                        \
  EB_SCENE_PARAMETERS(E_, nu_, "1000", "5e-3", "stable-neo-hookean", "9.81")

static const double pi = 3.14159265358979323846;

/* ---- twist: a bar with one end moved by script ----------------------------------------------- */

static const eb_option twist_parameters[] = {
    EB_SCENE_PARAMETERS("1e4", "0.4", "1000", "5e-3", "stable-neo-hookean", "0"),
    EB_CUBES_PARAMETER,
    {"motion", EB_OPTION_CHOICE, "all", 0, 0, "all|compress|stretch|bend|twist", "",
     "all: one after the other, each undone; else that one within 0.6 s, then held"},
    EB_LAST_PARAMETER};

static eb_error twist_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){20, 6, 6},
                      (const double[3]){0, -0.0225, -0.0225}, (const double[3]){0.15, 0.045, 0.045},
                      out);
}

enum { COMPRESS, STRETCH, BEND, TWIST, MOTIONS };

/* How far each motion has gone at time t, 0 to 1. */
static void twist_amounts(const eb_scene *scene, double t, double amount[MOTIONS]) {
  static const char *const names[MOTIONS] = {"compress", "stretch", "bend", "twist"};
  const char *motion = eb_values_text(scene->parameters, "motion");
  const double there = 0.6, back = 0.3, period = 0.9;
  for (int m = 0; m < MOTIONS; m++) {
    double begin = m * period;
    if (motion[0] == 'a')
      amount[m] =
          eb_ramp(t, begin, begin + there) - eb_ramp(t, begin + there, begin + there + back);
    else
      amount[m] = strcmp(motion, names[m]) == 0 ? eb_ramp(t, 0, there) : 0;
  }
}

/* The end at length L goes to 0.7 L and 1.4 L; follows the arc of a quarter turn with the bar's
 * length; turns once about the axis. */
static void twist_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_grips *grips = scene->data;
  const eb_grip *end = &grips->grip[1];
  double amount[MOTIONS], rotation[9];
  twist_amounts(scene, t, amount);
  double length = end->centre[0] - grips->grip[0].centre[0];
  double stretch = 1 - 0.3 * amount[COMPRESS] + 0.4 * amount[STRETCH];
  double bend = 0.5 * pi * amount[BEND];
  double shift[3] = {(stretch - 1) * length, 0, 0};
  eb_grips_hold(scene, t, fixed, target);
  if (bend > 0) {
    shift[0] = length * (sin(bend) / bend - 1);
    shift[2] = length * (1 - cos(bend)) / bend;
    eb_axis_rotation(1, -bend, rotation);
  } else {
    eb_axis_rotation(0, 2 * pi * amount[TWIST], rotation);
  }
  eb_grip_place(scene, end, rotation, end->centre, shift, fixed, target);
}

static eb_error twist_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

const eb_scene_ops eb_conjac2020_twist = {
    .name = "conjac2020/twist",
    .summary = "a bar is compressed, stretched, bent and twisted by one of its ends",
    .geometry = "bar of 15 x 4.5 x 4.5 cm, 20 x 6 x 6 cubes, 6 tetrahedra a cube",
    .citation = CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    .target_vertices = 1029,
    .target_elements = 4320,
    .parameters = twist_parameters,
    .steps = 800,
    .steps_per_frame = 4,
    .mesh = twist_mesh,
    .mesh_parameters = "resolution",
    .setup = twist_setup,
    .boundary = twist_boundary,
    .clear = eb_grips_clear,
};

/* ---- hetero: a standing bar of stiff and soft layers ----------------------------------------- */

static const eb_option hetero_parameters[] = {
    PARAMETERS("1e4", "0.4"),
    EB_CUBES_PARAMETER,
    {"layers", EB_OPTION_INT, "5", 1, 34, NULL, "",
     "layers, the lowest and every second one stiff"},
    {"contrast", EB_OPTION_REAL, "10", 1, 1e6, NULL, "",
     "stiff over soft Young's modulus; E is their geometric mean"},
    EB_LAST_PARAMETER};

/* The bars that stand are wider than 12 : 34, that is, their cells lower than wide: with cubes, a
 * bar of 12 cm and E = 1e4 Pa would buckle under its own weight, as height^3 exceeds 7.84 E I /
 * (rho g A) (Greenhill), and topple instead of bulging. */
static eb_error hetero_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){12, 12, 34},
                      (const double[3]){-0.04, -0.04, 0}, (const double[3]){0.08, 0.08, 0.12}, out);
}

/* Regions "stiff" and "soft" by the height of the element. Layers end at whole cubes of the
 * paper's 34. */
static eb_error hetero_prepare(const eb_values *parameters, eb_mesh **mesh) {
  double lo[3], hi[3], layers = (double)eb_values_int(parameters, "layers"), centroid[3];
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int32_t e = 0; e < (*mesh)->element_count; e++) {
    eb_element_centroid(*mesh, e, centroid);
    double cubes = 34 * (centroid[2] - lo[2]) / (hi[2] - lo[2]);
    int layer = 0;
    while (layer + 1 < layers && cubes >= round(34 * (layer + 1) / layers)) layer++;
    (*mesh)->region[e] = layer % 2;
  }
  return eb_mesh_name_regions(*mesh, 2, (const char *const[]){"stiff", "soft"});
}

static eb_error hetero_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  double root = sqrt(eb_values_real(scene->parameters, "contrast"));
  scene->materials[0].young *= root;
  scene->materials[1].young /= root;
  return eb_grips_add_end(scene, 2, -1);
}

const eb_scene_ops eb_conjac2020_hetero = {
    .name = "conjac2020/hetero",
    .summary = "a bar of stiff and soft layers stands on its base; the soft layers bulge, the "
               "lower more than the upper",
    .geometry = "bar of 8 x 8 x 12 cm, 12 x 12 x 34 cells, 6 tetrahedra a cube",
    .citation = CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC,
    .target_vertices = 5915,
    .target_elements = 29376,
    .parameters = hetero_parameters,
    .steps = 400,
    .steps_per_frame = 2,
    .mesh = hetero_mesh,
    .mesh_parameters = "resolution",
    .prepare = hetero_prepare,
    .setup = hetero_setup,
    .boundary = eb_grips_hold,
    .clear = eb_grips_clear,
};

/* ---- aniso: a standing bar with fibres ------------------------------------------------------- */

static const eb_option aniso_parameters[] = {
    PARAMETERS("1e4", "0.4"),
    EB_CUBES_PARAMETER,
    {"fibre", EB_OPTION_CHOICE, "helical", 0, 0, "vertical|horizontal|diagonal|helical", "",
     "direction of the fibres; helical ones climb at 45 degrees"},
    {"mu_f", EB_OPTION_REAL, "3e4", 0, 1e12, NULL, "Pa", "stiffness of the fibres (aStVK)"},
    EB_LAST_PARAMETER};

static eb_error aniso_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_bar(parameters, (const int32_t[3]){12, 12, 38},
                      (const double[3]){-0.04, -0.04, 0}, (const double[3]){0.08, 0.08, 0.127},
                      out);
}

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
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  for (int32_t r = 0; r < scene->material_count; r++) {
    scene->materials[r].fibre = EB_FIBRE_ASTVK;
    scene->materials[r].fibre_stiffness = eb_values_real(scene->parameters, "mu_f");
  }
  return eb_grips_add_end(scene, 2, -1);
}

const eb_scene_ops eb_conjac2020_aniso = {
    .name = "conjac2020/aniso",
    .summary = "a standing bar with fibres is compressed by gravity; helical fibres make it twist",
    .geometry = "bar of 8 x 8 x 12.7 cm, 12 x 12 x 38 cells, 6 tetrahedra a cube",
    .citation = CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES,
    .target_vertices = 6591,
    .target_elements = 32832,
    .parameters = aniso_parameters,
    .steps = 400,
    .steps_per_frame = 2,
    .mesh = aniso_mesh,
    .mesh_parameters = "resolution",
    .prepare = aniso_prepare,
    .setup = aniso_setup,
    .boundary = eb_grips_hold,
    .clear = eb_grips_clear,
};

/* ---- barcut: a bar pulled at both ends ------------------------------------------------------- */

static const eb_option barcut_parameters[] = {PARAMETERS("1e4", "0.4"),
                                              EB_CUBES_PARAMETER,
                                              {"stretch", EB_OPTION_REAL, "1.3", 0.5, 4, NULL, "",
                                               "length over rest length after half a second"},
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

static eb_error barcut_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  EB_TRY(eb_grips_add_end(scene, 0, -1));
  return eb_grips_add_end(scene, 0, 1);
}

const eb_scene_ops eb_conjac2020_barcut = {
    .name = "conjac2020/barcut",
    .summary =
        "a horizontal bar is stretched by its two ends and held (without the paper's two cuts)",
    .geometry = "bar of 14.7 x 3 x 3 cm, 49 x 10 x 10 cubes, 6 tetrahedra a cube",
    .citation = CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    .target_vertices = 6050,
    .target_elements = 29400,
    .parameters = barcut_parameters,
    .steps = 400,
    .steps_per_frame = 2,
    .mesh = barcut_mesh,
    .mesh_parameters = "resolution",
    .setup = barcut_setup,
    .boundary = barcut_boundary,
    .clear = eb_grips_clear,
};

/* ---- dragon: pulled apart and let go --------------------------------------------------------- */

static const eb_option dragon_parameters[] = {
    PARAMETERS("3e4", "0.49"),
    EB_ELEMENTS_PARAMETER,
    {"pull", EB_OPTION_REAL, "0.1", 0, 2, NULL, "",
     "way of jaws and body over the length of the dragon"},
    {"release", EB_OPTION_REAL, "0.5", 0, 1e3, NULL, "s", "time at which jaws and body are let go"},
    EB_LAST_PARAMETER};

static eb_error dragon_mesh(const eb_values *parameters, eb_mesh **out) {
  return eb_scene_model(parameters, "dragon", 37565, 10456, 0.15, out);
}

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

/* The feet stand; the muzzle, the foremost tenth of the length above the chest, is parted at half its
 * height; the trunk is gripped in its rear. */
static eb_error dragon_setup(eb_scene *scene) {
  eb_scene_uniform_material(scene);
  eb_scene_gravity(scene);
  const eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3], low = INFINITY, high = -INFINITY;
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double front = lo[0] + 0.9 * (hi[0] - lo[0]), chest = lo[2] + 0.4 * (hi[2] - lo[2]);
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (mesh->X[3 * i] >= front && mesh->X[3 * i + 2] >= chest) {
      low = fmin(low, mesh->X[3 * i + 2]);
      high = fmax(high, mesh->X[3 * i + 2]);
    }
  double middle = (0.5 * (low + high) - lo[2]) / (hi[2] - lo[2]);
  EB_TRY(eb_grips_add_end(scene, 2, -1));
  EB_TRY(grip_part(scene, lo, hi, (double[]){0.9, 1}, (double[]){middle, 1}, "the upper jaw"));
  EB_TRY(grip_part(scene, lo, hi, (double[]){0.9, 1}, (double[]){0.4, middle}, "the lower jaw"));
  return grip_part(scene, lo, hi, (double[]){0.32, 0.45}, (double[]){0.25, 1}, "the trunk");
}

static void dragon_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const double way[4][3] = {{0, 0, 0}, {0.6, 0, 0.8}, {0.6, 0, -0.8}, {-0.6, 0, 0.8}};
  const eb_grips *grips = scene->data;
  double lo[3], hi[3], release = eb_values_real(scene->parameters, "release");
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  double pull =
      eb_values_real(scene->parameters, "pull") * (hi[0] - lo[0]) * eb_ramp(t, 0, 0.8 * release);
  /* A hair beyond the release counts as before it: t is a sum of steps. */
  int held = t <= release * (1 + 1e-9) ? TRUNK : FEET;
  for (int g = FEET; g <= held; g++) {
    double shift[3] = {pull * way[g][0], pull * way[g][1], pull * way[g][2]};
    eb_grip_place(scene, &grips->grip[g], identity, grips->grip[g].centre, shift, fixed, target);
  }
}

const eb_scene_ops eb_conjac2020_dragon = {
    .name = "conjac2020/dragon",
    .summary = "a dragon is pulled apart by its jaws and its trunk and let go at once",
    .geometry =
        "stand-in dragon, 15 cm long, stuffed, its surface refined to the paper's vertex count",
    .citation = CITATION,
    .stand_in = "dragon",
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,
    .target_vertices = 10456,
    .target_elements = 37565,
    .count_tolerance = 0.03,
    .parameters = dragon_parameters,
    .steps = 200,
    .steps_per_frame = 1,
    .mesh = dragon_mesh,
    .mesh_parameters = "resolution",
    .setup = dragon_setup,
    .boundary = dragon_boundary,
    .clear = eb_grips_clear,
};
