/* conjac2020/dragon: pulled apart and let go. */
#include <math.h>

#include "problems/scenes/conjac2020.h"

static const eb_option dragon_parameters[] = {
    EB_CONJAC2020_PARAMETERS("3e4", "0.49"),
    EB_ELEMENTS_PARAMETER,
    {"pull", EB_OPTION_REAL, "0.08", 0, 2, NULL, "",
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

/* The paper: "strategic locations", the jaws among them, then random ones. */
static int32_t dragon_nodes(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  const eb_grips *grips = scene->data;
  int32_t count = 0;
  for (int g = UPPER_JAW; g <= TRUNK && count < wanted; g++)
    nodes[count++] = eb_grip_middle(scene, &grips->grip[g]);
  return count;
}

const eb_scene_ops eb_conjac2020_dragon = {
    .name = "conjac2020/dragon",
    .summary = "a dragon is pulled apart by its jaws and its trunk and let go at once",
    .geometry =
        "stand-in dragon, 15 cm long, stuffed, its surface refined to the paper's vertex count",
    .citation = EB_CONJAC2020_CITATION,
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
    .dynamic_nodes = dragon_nodes,
    .clear = eb_grips_clear,
};
