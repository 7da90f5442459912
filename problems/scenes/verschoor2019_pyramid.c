/* Bodies aligned in a square pyramid of seven layers (Section 6, Figures 8(e) and 9): 49 + 36 + 25 + 16 + 9 + 4 + 1 = 140.
 *
 * Table 1 gives 432 tetrahedra and 528 faces a body, not its shape. At 6 tetrahedra a cube that is 72 cubes with 264 squares outside, so that
 * (6 x 72 - 264) / 2 = 84 pairs of cubes touch. No solid box has these figures (n m k = 72 with n m + m k + n k = 132); a crate of bars one cube
 * thick does. Two window frames of 7 x 7 cubes (24 round the rim, 9 in the cross: 33 cubes that touch 36 times) lie one cube apart, joined by six posts of one
 * cube at the corners and in the middle of two sides: 2 x 33 + 6 = 72 cubes, 2 x 36 + 12 = 84 contacts. */
#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "problems/scenes/verschoor2019.h"

enum { LAYERS = 7, MOST_CRATES = LAYERS * (LAYERS + 1) * (2 * LAYERS + 1) / 6 };

static const double cube = 0.05; /* m */

static const eb_option pyramid_parameters[] = {
    EB_VERSCHOOR2019_PARAMETERS("5e5", "5e-4", "corotational"),
    {"resolution", EB_OPTION_REAL, "1", 1, 4, NULL, "",
     "cubes along every edge of one of the paper's, rounded; 1 is the paper's"},
    {"layers", EB_OPTION_INT, "7", 1, LAYERS, NULL, "", "of the pyramid; the paper has 7"},
    {"gap", EB_OPTION_REAL, "0.025", EB_VERSCHOOR2019_CLEARANCE, 1, NULL, "m",
     "between neighbours, layers and the floor at first"},
    EB_LAST_PARAMETER};

/* ---- a crate --------------------------------------------------------------------------------- */

static bool in_crate(int32_t i, int32_t j, int32_t k) {
  bool x_bar = i % 3 == 0, y_bar = j % 3 == 0;
  if (k != 1) return x_bar || y_bar;
  return i % 6 == 0 && y_bar;
}

/* Keeps the elements whose flag is set and the nodes that they use. */
static eb_error keep_elements(const eb_mesh *mesh, const uint8_t *keep, int32_t *number,
                              eb_mesh **out) {
  int32_t elements = 0, nodes = 0, corners = (int32_t)mesh->type;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    elements += keep[e];
    for (int32_t c = 0; keep[e] && c < corners; c++) number[mesh->elements[corners * e + c]] = 1;
  }
  for (int32_t i = 0; i < mesh->node_count; i++) number[i] = number[i] ? nodes++ : -1;
  EB_TRY(eb_mesh_create(mesh->type, nodes, elements, out));
  for (int32_t i = 0; i < mesh->node_count; i++)
    for (int d = 0; number[i] >= 0 && d < 3; d++) (*out)->X[3 * number[i] + d] = mesh->X[3 * i + d];
  int32_t *entry = (*out)->elements;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int32_t c = 0; keep[e] && c < corners; c++)
      *entry++ = number[mesh->elements[corners * e + c]];
  return EB_OK;
}

static eb_error carve(const eb_mesh *block, uint8_t *keep, int32_t *number, eb_mesh **out) {
  for (int32_t e = 0; e < block->element_count; e++) {
    double c[3];
    eb_element_centroid(block, e, c);
    keep[e] = in_crate((int32_t)(c[0] / cube), (int32_t)(c[1] / cube), (int32_t)(c[2] / cube));
  }
  return keep_elements(block, keep, number, out);
}

static eb_error crate_mesh(const eb_values *parameters, eb_mesh **out) {
  int32_t split = (int32_t)(eb_values_real(parameters, "resolution") + 0.5);
  const eb_grid grid = {.cubes = {7 * split, 7 * split, 3 * split},
                        .size = {7 * cube, 7 * cube, 3 * cube}};
  eb_mesh *block;
  uint8_t *keep = NULL;
  int32_t *number = NULL;
  *out = NULL;
  EB_TRY(eb_generate_tets6(&grid, &block));
  eb_error error = EB_NEW(keep, block->element_count);
  if (!error) error = EB_NEW(number, block->node_count);
  if (!error) error = carve(block, keep, number, out);
  free(number);
  free(keep);
  eb_mesh_destroy(block);
  return error;
}

/* ---- the pyramid ------------------------------------------------------------------------------- */

/* The lowest layer has `layers` x `layers` bodies, each further one a row less, over the gaps of the one below. Every layer starts `gap` above what it
 * falls on; as all fall alike, the lowest is stopped first and the others meet it in turn. */
static eb_error pyramid_prepare(const eb_values *parameters, eb_mesh **mesh) {
  static const eb_placement upright = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  eb_placement place[MOST_CRATES];
  int32_t layers = (int32_t)eb_values_int(parameters, "layers"), count = 0;
  double lo[3], hi[3], gap = eb_values_real(parameters, "gap"), pitch[3];
  eb_mesh_bounds((*mesh)->X, (*mesh)->node_count, lo, hi);
  for (int d = 0; d < 3; d++) pitch[d] = hi[d] - lo[d] + gap;
  for (int32_t layer = 0; layer < layers; layer++)
    for (int32_t b = 0, row = layers - layer; b < row * row; b++) {
      const double at[3] = {b % row - 0.5 * (row - 1), b / row - 0.5 * (row - 1), layer + 0.5};
      place[count] = upright;
      for (int d = 0; d < 3; d++)
        place[count].shift[d] = pitch[d] * at[d] - 0.5 * (lo[d] + hi[d]) + (d == 2 ? gap / 2 : 0);
      count++;
    }
  return eb_scene_copies(place, count, mesh);
}

static eb_error pyramid_setup(eb_scene *scene) {
  eb_verschoor2019_mechanics(scene);
  double lo[3], hi[3];
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  return eb_verschoor2019_floor(scene, 2 * fmax(hi[0], hi[1]), 0);
}

const eb_scene_ops eb_verschoor2019_pyramid = {
    .name = "verschoor2019/pyramid",
    .summary = "140 elastic crates, aligned in a square pyramid of seven layers, fall onto each "
               "other and settle",
    .geometry = "crates of 35 x 35 x 15 cm with bars of 5 cm, 72 cubes of 6 tetrahedra each, on a "
                "floor",
    .citation = EB_VERSCHOOR2019_CITATION,
    .needs = EB_VERSCHOOR2019_NEEDS,
    .target_vertices = 140 * 240,
    .target_elements = 60480,
    .parameters = pyramid_parameters,
    .steps = 2000,
    .steps_per_frame = 20,
    .mesh = crate_mesh,
    .mesh_parameters = "resolution",
    .prepare = pyramid_prepare,
    .setup = pyramid_setup,
};
