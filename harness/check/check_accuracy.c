/* Against solutions known on paper: patch test, manufactured solution, beam, standing bar. All are
 * solved with Newton's method to equilibrium. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"
#include "problems/base/memory.h"

#include <math.h>

static eb_error solve_static(eb_scene *scene, eb_state **state) {
  return eb_block_run(scene, eb_solver_find("newton"), "static=true,rtol=1e-11", 1, 1, NULL, state);
}

/* ---- patch test ---- */

static eb_error patch_of(const eb_check *check, const char *element, const char *material) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  double most = 0;
  EB_TRY(eb_block_create_of(&check->plugged, &scene,
                            "nx=4,ny=3,nz=3,element=%s,material=%s,jitter=0.25,support=surface,"
                            "motion=affine",
                            element, material));
  EB_TRY(solve_static(scene, &state));
  for (int32_t i = 0; i < state->node_count; i++) {
    double x[3];
    eb_block_affine(scene->mesh, scene->mesh->X + 3 * (int64_t)i, x);
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(state->x[3 * (int64_t)i + k] - x[k]));
  }
  eb_check_below(
      check, most, 1e-9,
      "m, of a 1 m block; an affine field on the surface must continue inside, up to the "
      "solver's tolerance",
      "patch/%s/%s", element, material);
  return EB_OK;
}

static eb_error check_patch(const eb_check *check) {
  static const char *const elements[] = {
      "tets6", "tets5", "hexahedra", "hexahedra-one-point", "hexahedra-staggered", "triangles"};
  const char *name;
  for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
    for (int k = 0; (name = eb_check_material(check, k)); k++)
      EB_TRY(patch_of(check, elements[e], name));
  return EB_OK;
}

/* ---- manufactured solution ---- */

/* Integral over tetrahedron e of |x_h - X - u|^2, by the four-point rule of degree 2. */
static double squared_error(const eb_mesh *mesh, const double *x, int32_t e) {
  const int32_t *node = mesh->elements + 4 * (int64_t)e;
  const double b = (5 - sqrt(5)) / 20;
  double sum = 0;
  for (int q = 0; q < 4; q++) {
    double X[3] = {0}, computed[3] = {0}, exact[3];
    for (int a = 0; a < 4; a++)
      for (int k = 0; k < 3; k++) {
        double weight = a == q ? 1 - 3 * b : b;
        X[k] += weight * mesh->X[3 * (int64_t)node[a] + k];
        computed[k] += weight * x[3 * (int64_t)node[a] + k];
      }
    eb_block_manufactured(X, exact);
    for (int k = 0; k < 3; k++)
      sum += (computed[k] - X[k] - exact[k]) * (computed[k] - X[k] - exact[k]);
  }
  return 0.25 * sum * eb_mesh_element_volume(mesh, mesh->X, e);
}

static eb_error manufactured_error(const eb_check *check, const char *material, int cubes,
                                   double *out) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create_of(&check->plugged, &scene,
                            "nx=%d,ny=%d,nz=%d,lx=1,ly=1,lz=1,E=1000,material=%s,support=surface,"
                            "motion=manufactured",
                            cubes, cubes, cubes, material));
  EB_TRY(solve_static(scene, &state));
  double square = 0;
  for (int32_t e = 0; e < scene->mesh->element_count; e++)
    square += squared_error(scene->mesh, state->x, e);
  *out = sqrt(square);
  return EB_OK;
}

static eb_error manufactured_order(const eb_check *check, const char *material) {
  int cubes = check->quick ? 4 : 8;
  double coarse, fine;
  EB_TRY(manufactured_error(check, material, cubes, &coarse));
  EB_TRY(manufactured_error(check, material, 2 * cubes, &fine));
  eb_check_above(check, log2(coarse / fine), 1.8,
                 "observed order of the displacement in L2 when the edge is halved; 2 in the "
                 "limit for linear tetrahedra",
                 "manufactured/%s/order", material);
  return EB_OK;
}

static eb_error check_manufactured(const eb_check *check) {
  static const char *const materials[] = {"linear", "stable-neo-hookean", "neo-hookean"};
  if (check->plugged.count > 0) return manufactured_order(check, eb_check_material(check, 0));
  for (int m = 0; m < 3; m++) EB_TRY(manufactured_order(check, materials[m]));
  return EB_OK;
}

/* ---- cantilever ---- */

static const double beam_length = 1, beam_young = 1e6, beam_density = 1000, beam_gravity = 0.1;

typedef struct beam {
  const char *element, *down; /* gravity's axis */
  double depth, nu;
} beam;

/* Tip deflection of a clamped beam under its weight q = rho g A (Timoshenko 1921; shear coefficient
 * 5/6): q L^4 / (8 E I) + q L^2 / (2 k G A), with E / (1 - nu^2) for E in plane strain. */
static double beam_deflection(const beam *b) {
  double weight = beam_density * beam_gravity; /* q / A */
  double young = beam_young / (1 - b->nu * b->nu), shear_modulus = beam_young / (2 * (1 + b->nu));
  double bending = 12 * weight * pow(beam_length, 4) / (8 * young * b->depth * b->depth);
  double shear = weight * beam_length * beam_length / (2 * (5. / 6) * shear_modulus);
  return bending + shear;
}

/* Mean deflection of the end face. */
static double tip_of(const eb_scene *scene, const eb_state *state) {
  const eb_node_set *end = eb_mesh_set(scene->mesh, "x1");
  double sum = 0;
  for (int32_t i = 0; i < end->count; i++) {
    int64_t k = 3 * (int64_t)end->nodes[i] + eb_block_axes(scene->mesh) - 1;
    sum += scene->mesh->X[k] - state->x[k];
  }
  return sum / end->count;
}

static eb_error beam_tip(const beam *b, int across, double *tip) {
  int along = (int)lround(beam_length / b->depth) * across;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=%d,ny=%d,nz=%d,lx=%g,ly=%g,lz=%g,E=%g,nu=%g,rho=%g,%s=%g,"
                         "material=linear,support=x0,element=%s",
                         along, across, across, beam_length, b->depth, b->depth, beam_young, b->nu,
                         beam_density, b->down, -beam_gravity, b->element));
  EB_TRY(solve_static(scene, &state));
  *tip = tip_of(scene, state);
  return EB_OK;
}

static eb_error check_cantilever(const eb_check *check) {
  /* The clamp holds the end against Poisson's contraction, which a beam knows nothing of: nu = 0,
   * or a slender beam. */
  static const beam beams[] = {{"tets6", "gz", 0.2, 0},
                               {"hexahedra", "gz", 0.2, 0},
                               {"hexahedra-one-point", "gz", 0.2, 0},
                               {"hexahedra-staggered", "gz", 0.2, 0},
                               {"triangles", "gy", 0.1, 0.3}};
  int across = check->quick ? 4 : 8;
  for (size_t e = 0; e < sizeof beams / sizeof *beams; e++) {
    double coarse, fine, exact = beam_deflection(&beams[e]);
    EB_TRY(beam_tip(&beams[e], across, &coarse));
    EB_TRY(beam_tip(&beams[e], 2 * across, &fine));
    double order = log2((coarse - exact) / (fine - exact));
    eb_check_above(
        check, order, 1.6,
        "observed order of the tip deflection against Timoshenko's beam when the edge is "
        "halved; 2 but for the edge of the clamp, where the stress is singular",
        "cantilever/%s/order", beams[e].element);
    eb_check_below(
        check, fabs((4 * fine - coarse) / 3 / exact - 1), check->quick ? 0.02 : 0.01,
        "extrapolated tip deflection against Timoshenko's beam, relative; the beam's own "
        "error is of the order of (depth / length)^2 / 10, and for nu > 0 a clamp stiffens",
        "cantilever/%s/limit", beams[e].element);
  }
  return EB_OK;
}

/* ---- standing bar ---- */

/* u(z) = -rho g (L z - z^2/2) / E: the strain at z carries the weight above it; nu = 0. Returns the
 * largest error over the displacement of the end. */
static eb_error bar_error(const char *element, const char *material, int across, double *out) {
  const double young = 1e6, weight = 1000 * 0.1;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene,
                         "nx=%d,ny=%d,nz=%d,lx=0.2,ly=0.2,lz=1,E=%g,nu=0,gz=-0.1,material=%s,"
                         "support=z0,element=%s",
                         across, across, 5 * across, young, material, element));
  EB_TRY(solve_static(scene, &state));
  double most = 0;
  for (int32_t i = 0; i < state->node_count; i++) {
    double z = scene->mesh->X[3 * (int64_t)i + 2];
    double exact = -weight * (z - 0.5 * z * z) / young;
    most = fmax(most, fabs(state->x[3 * (int64_t)i + 2] - z - exact));
  }
  *out = most / (0.5 * weight / young);
  return EB_OK;
}

static eb_error check_bar(const eb_check *check) {
  double hexahedra, coarse, fine, nonlinear;
  EB_TRY(bar_error("hexahedra", "linear", 2, &hexahedra));
  EB_TRY(bar_error("tets6", "linear", 4, &coarse));
  EB_TRY(bar_error("tets6", "linear", 8, &fine));
  EB_TRY(bar_error("tets6", "stable-neo-hookean", 8, &nonlinear));
  eb_check_below(check, hexahedra, 1e-8,
                 "largest error over the end's displacement; trilinear elements are exact at the "
                 "nodes",
                 "bar/hexahedra/linear");
  eb_check_below(check, fine, 0.01,
                 "the same; tetrahedra load the nodes of a level unequally, which adds a shear of "
                 "the size of an element",
                 "bar/tets6/linear");
  eb_check_above(check, log2(coarse / fine), 1.5,
                 "observed order of that error when the edge is halved; 2 but for the edge of the "
                 "support",
                 "bar/tets6/order");
  eb_check_below(check, fabs(nonlinear - fine), 3e-4,
                 "difference a hyperelastic bar makes; of the order of the strain, 1e-4",
                 "bar/tets6/stable-neo-hookean");
  return EB_OK;
}

const eb_check_group eb_checks_accuracy[] = {{"patch", check_patch, NULL},
                                             {"manufactured", check_manufactured, NULL},
                                             {"cantilever", check_cantilever, NULL},
                                             {"bar", check_bar, NULL},
                                             {0}};
