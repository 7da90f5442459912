/* conjac2020/hetero and conjac2020/aniso: standing bars, of stiff and soft layers and with fibres. */
#include <math.h>

#include "problems/base/memory.h"
#include "problems/scenes/conjac2020.h"

/* The middle of the top, which is never gripped. */
static int32_t top_middle(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  double lo[3], hi[3];
  if (wanted < 1) return 0;
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  const double top[3] = {0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), hi[2]};
  nodes[0] = eb_scene_nearest_free(scene, top, nodes, 0);
  return nodes[0] >= 0;
}

/* ---- hetero: layers -------------------------------------------------------------------------- */

static const eb_option hetero_parameters[] = {
    EB_CONJAC2020_PARAMETERS("1e4", "0.4"),
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
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC,
    .target_vertices = 5915,
    .target_elements = 29376,
    .parameters = hetero_parameters,
    .steps = 600,
    .steps_per_frame = 3,
    .mesh = hetero_mesh,
    .mesh_parameters = "resolution",
    .prepare = hetero_prepare,
    .setup = hetero_setup,
    .boundary = eb_grips_hold,
    .dynamic_nodes = top_middle,
    .clear = eb_grips_clear,
};

/* ---- aniso: fibres --------------------------------------------------------------------------- */

static const eb_option aniso_parameters[] = {
    EB_CONJAC2020_PARAMETERS("1e4", "0.4"),
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
    .citation = EB_CONJAC2020_CITATION,
    .needs = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES,
    .target_vertices = 6591,
    .target_elements = 32832,
    .parameters = aniso_parameters,
    .steps = 600,
    .steps_per_frame = 3,
    .mesh = aniso_mesh,
    .mesh_parameters = "resolution",
    .prepare = aniso_prepare,
    .setup = aniso_setup,
    .boundary = eb_grips_hold,
    .dynamic_nodes = top_middle,
    .clear = eb_grips_clear,
};
