/* Derivatives: every material's P and dP/dF, and the assembled gradient and Hessian, by Taylor's
 * theorem.
 *
 * With s the step, psi(F + s D) - psi - s P:D is O(s^2) only when P is right, and
 * psi(F + s D) - psi - s P:D - s^2/2 D:A:D is O(s^3) only when A = dP/dF is right too. The order
 * is observed between two steps, far above rounding. A remainder that is rounding itself (psi
 * quadratic or nearly so) counts as exact.
 *
 * One remainder c s^n + d s^(n+1) has any order near s where c and d s nearly cancel, as they do
 * along a direction in which the derivative of order n happens to be small. The root of the sum of
 * squares of those at s and -s, s^n sqrt(2 (c^2 + d^2 s^2)), has order n or more whatever c and d
 * are, and is as sensitive to a wrong derivative of either sign. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/base/memory.h"
#include "problems/scene_impl.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>
#include <string.h>

static const double coarse = 4e-3, fine = 1e-3; /* relative steps */
static const char gradient_reason[] = "observed order of the first Taylor remainder; 2 when the "
                                      "derivative is right, 1 when not";
static const char hessian_reason[] = "observed order of the second Taylor remainder; 3 when the "
                                     "second derivative is right, 2 when not";

typedef struct taylor {
  double value, slope, curvature; /* psi, s-derivative and second s-derivative at s = 0 */
} taylor;

enum { STEPS = 4 }; /* coarse and fine, each ahead and back */

static double step_of(int i) {
  return (i < 2 ? coarse : fine) * (i % 2 ? -1 : 1);
}

/* Order between the two sizes of steps, from psi at all of them; INFINITY when the remainder is
 * rounding at the coarse ones already. */
static double observed_order(taylor at, const double value[STEPS], bool second) {
  double remainder[2] = {0, 0};
  for (int i = 0; i < STEPS; i++) {
    double s = step_of(i), expected = s * at.slope + (second ? 0.5 * s * s * at.curvature : 0);
    remainder[i / 2] = hypot(remainder[i / 2], value[i] - at.value - expected);
  }
  double rounding = 1e-13 * (fabs(at.value) + fabs(coarse * at.slope));
  if (remainder[0] <= rounding) return INFINITY;
  return log(remainder[0] / remainder[1]) / log(coarse / fine);
}

/* ---- single materials ---- */

static void add_scaled(const double *a, double s, const double *d, int n, double *out) {
  for (int k = 0; k < n; k++) out[k] = a[k] + s * d[k];
}

/* Least orders over deformations: moderate ones, and compressed ones that reach the extrapolated
 * branch of EB_NEO_HOOKEAN. */
static void least_orders(const eb_material *material, double orders[2]) {
  static const double fibre[3] = {0.6, 0, 0.8};
  static const double centers[2][9] = {{1.1, 0.2, -0.1, 0, 0.95, 0.1, 0.15, -0.1, 1.2},
                                       {0.7, 0.1, 0, -0.1, 0.6, 0.1, 0, 0.1, 0.8}};
  uint64_t seed = 11;
  orders[0] = orders[1] = INFINITY;
  for (int sample = 0; sample < 16; sample++) {
    double F[9], D[9], P[9], A[81], moved[9], value[STEPS];
    for (int k = 0; k < 9; k++) F[k] = centers[sample % 2][k] + 0.04 * eb_block_random(&seed);
    for (int k = 0; k < 9; k++) D[k] = eb_block_random(&seed);
    eb_material_stress(material, F, fibre, P);
    eb_material_tangent(material, F, fibre, false, A);
    taylor at = {.value = eb_material_energy(material, F, fibre)};
    for (int i = 0; i < 9; i++) {
      at.slope += P[i] * D[i];
      for (int j = 0; j < 9; j++) at.curvature += D[i] * A[9 * i + j] * D[j];
    }
    for (int i = 0; i < STEPS; i++) {
      add_scaled(F, step_of(i), D, 9, moved);
      value[i] = eb_material_energy(material, moved, fibre);
    }
    for (int order = 0; order < 2; order++)
      orders[order] = fmin(orders[order], observed_order(at, value, order == 1));
  }
}

static void check_material(const eb_check *check, const eb_material *material, const char *name) {
  double orders[2];
  least_orders(material, orders);
  eb_check_above(check, orders[0], 1.9, gradient_reason, "materials/%s/stress", name);
  /* The frozen rotation is left out of this tangent on purpose: it is no second derivative. */
  if (material->kind != EB_COROTATIONAL)
    eb_check_above(check, orders[1], 2.9, hessian_reason, "materials/%s/tangent", name);
}

static eb_error check_materials(const eb_check *check) {
  eb_material material = {.young = 1, .poisson = 0.3, .density = 1, .activation = 0.7};
  for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++) {
    material.kind = (eb_material_kind)kind;
    check_material(check, &material, eb_material_describe(material.kind)->name);
  }
  material.kind = EB_STABLE_NEO_HOOKEAN;
  material.fibre_stiffness = 2;
  material.fibre_exponent = 0.8;
  material.fibre = EB_FIBRE_ASTVK;
  check_material(check, &material, "stable-neo-hookean+astvk");
  material.fibre = EB_FIBRE_FUNG;
  check_material(check, &material, "stable-neo-hookean+fung");
  return EB_OK;
}

/* ---- assembled meshes ---- */

static const char *const elements[] = {"tets6", "hexahedra", "hexahedra-one-point",
                                       "hexahedra-staggered", "triangles"};
enum { ELEMENTS = sizeof elements / sizeof *elements };

typedef struct sample {
  double *x, *d, *g, *Hd, *moved; /* 3 nodes */
  eb_block_matrix *H;
} sample;

static void sample_clear(sample *s) {
  free(s->x);
  free(s->d);
  free(s->g);
  free(s->Hd);
  free(s->moved);
  eb_block_matrix_destroy(s->H);
}

/* A stretched, sheared and shaken copy of the rest shape, and a direction; of triangles in the
 * plane. */
static eb_error sample_create(const eb_scene *scene, double shake, sample *s) {
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  uint64_t seed = 5;
  EB_TRY(EB_NEW(s->x, size));
  EB_TRY(EB_NEW(s->d, size));
  EB_TRY(EB_NEW(s->g, size));
  EB_TRY(EB_NEW(s->Hd, size));
  EB_TRY(EB_NEW(s->moved, size));
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &s->H));
  for (int64_t k = 0; k < size; k++) {
    const double *X = scene->mesh->X + 3 * (k / 3);
    s->x[k] = X[k % 3] * (1 + 0.05 * (double)(k % 3)) + 0.1 * X[(k + 1) % 3] +
              shake * eb_block_random(&seed);
    s->d[k] = shake * eb_block_random(&seed);
    if (k % 3 >= eb_block_axes(scene->mesh)) s->x[k] = s->d[k] = 0;
  }
  return EB_OK;
}

static double energy_along(const eb_scene *scene, sample *s, double step) {
  add_scaled(s->x, step, s->d, 3 * scene->mesh->node_count, s->moved);
  return eb_elasticity_energy(scene->elasticity, s->moved);
}

static eb_error assembly_of(const eb_check *check, const char *element, const char *material,
                            const char *fibre) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create(&scene, "nx=3,ny=2,nz=2,E=1,element=%s,material=%s,fibre=%s,jitter=0.2",
                         element, material, fibre));
  char name[96];
  bool plain = !strcmp(fibre, "none");
  snprintf(name, sizeof name, "%s%s%s", material, plain ? "" : "+", plain ? "" : fibre);
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  EB_OWNED(sample_clear) sample s = {0};
  EB_TRY(sample_create(scene, 0.03, &s));
  eb_elasticity_matrix(scene->elasticity, s.x, 0, 1, false, s.H, s.g);
  eb_block_multiply(s.H, s.d, s.Hd);
  taylor at = {.value = eb_elasticity_energy(scene->elasticity, s.x),
               .slope = eb_dot(size, s.g, s.d),
               .curvature = eb_dot(size, s.d, s.Hd)};
  double value[STEPS];
  for (int i = 0; i < STEPS; i++) value[i] = energy_along(scene, &s, step_of(i));
  eb_check_above(check, observed_order(at, value, false), 1.9, gradient_reason,
                 "assembly/%s/%s/gradient", element, name);
  if (scene->materials[0].kind != EB_COROTATIONAL)
    eb_check_above(check, observed_order(at, value, true), 2.9, hessian_reason,
                   "assembly/%s/%s/hessian", element, name);
  return EB_OK;
}

static eb_error check_assembly(const eb_check *check) {
  for (int e = 0; e < ELEMENTS; e++) {
    for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++)
      EB_TRY(assembly_of(check, elements[e], eb_material_describe((eb_material_kind)kind)->name,
                         "none"));
    EB_TRY(assembly_of(check, elements[e], "stable-neo-hookean", "astvk"));
    EB_TRY(assembly_of(check, elements[e], "stable-neo-hookean", "fung"));
  }
  return EB_OK;
}

/* ---- rigid motion ---- */

/* Turns x about an oblique axis (z in the plane) and moves it; `shift` off for vectors. */
static void turn(const eb_mesh *mesh, const double *x, bool shift, double *out) {
  /* The rotations with quaternions (1, 2, 3, 4) / sqrt 30 and (1, 0, 0, 2) / sqrt 5. */
  static const double oblique[9] = {-20 / 30., 4 / 30.,  22 / 30., 20 / 30., -10 / 30.,
                                    20 / 30.,  10 / 30., 28 / 30., 4 / 30.};
  static const double plane[9] = {-0.6, -0.8, 0, 0.8, -0.6, 0, 0, 0, 1};
  const double *R = mesh->type == EB_TRIANGLE ? plane : oblique;
  const int64_t size = 3 * (int64_t)mesh->node_count;
  for (int64_t k = 0; k < size; k += 3)
    for (int i = 0; i < 3; i++)
      out[k + i] = R[3 * i] * x[k] + R[3 * i + 1] * x[k + 1] + R[3 * i + 2] * x[k + 2] +
                   (shift ? 0.7 - i : 0);
}

static eb_error invariance_of(const eb_check *check, const char *element, const char *material) {
  static const char reason[] =
      "relative change under a rigid motion; rounding of strains near 0.1 only";
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create(&scene, "nx=3,ny=2,nz=2,E=1,element=%s,material=%s,jitter=0.2", element,
                         material));
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  EB_OWNED(sample_clear) sample s = {0};
  EB_TRY(sample_create(scene, 0.03, &s));
  double energy = eb_elasticity_energy(scene->elasticity, s.x);
  eb_elasticity_gradient(scene->elasticity, s.x, s.g);
  turn(scene->mesh, s.x, true, s.moved);
  double turned = eb_elasticity_energy(scene->elasticity, s.moved);
  eb_elasticity_gradient(scene->elasticity, s.moved, s.d);
  turn(scene->mesh, s.g, false, s.Hd);
  for (int64_t k = 0; k < size; k++) s.d[k] -= s.Hd[k];
  eb_check_below(check, fabs(turned - energy) / energy, 1e-12, reason, "invariance/%s/%s/energy",
                 element, material);
  eb_check_below(check, eb_norm(size, s.d) / eb_norm(size, s.g), 1e-12, reason,
                 "invariance/%s/%s/gradient", element, material);
  return EB_OK;
}

/* Small-strain elasticity (EB_LINEAR) is not invariant under rotations, by definition. */
static eb_error check_invariance(const eb_check *check) {
  for (int e = 0; e < ELEMENTS; e++)
    for (int kind = 0; kind < EB_MATERIAL_KINDS; kind++)
      if (kind != EB_LINEAR)
        EB_TRY(
            invariance_of(check, elements[e], eb_material_describe((eb_material_kind)kind)->name));
  return EB_OK;
}

const eb_check_group eb_checks_materials[] = {{"materials", check_materials, NULL},
                                              {"assembly", check_assembly, NULL},
                                              {"invariance", check_invariance, NULL},
                                              {0}};
