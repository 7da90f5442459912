/* Derivatives: every material's P and dP/dF, and the assembled gradient and Hessian, by Taylor's
 * theorem (forces.h), and that they do not change under rigid motions. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "harness/check/forces.h"
#include "problems/base/memory.h"
#include "problems/elasticity/plugged_rules.h"
#include "problems/scene_impl.h"

#include <math.h>
#include <string.h>

/* ---- single materials ---- */

/* Least orders over deformations: moderate ones, and compressed ones that reach the extrapolated
 * branch of EB_NEO_HOOKEAN. */
static void least_orders(const eb_material *material, double orders[2]) {
  static const double fibre[3] = {0.6, 0, 0.8};
  static const double centers[2][9] = {{1.1, 0.2, -0.1, 0, 0.95, 0.1, 0.15, -0.1, 1.2},
                                       {0.7, 0.1, 0, -0.1, 0.6, 0.1, 0, 0.1, 0.8}};
  uint64_t seed = 11;
  orders[0] = orders[1] = INFINITY;
  for (int sample = 0; sample < 16; sample++) {
    double F[9], D[9], P[9], A[81], moved[9], value[EB_TAYLOR_STEPS];
    for (int k = 0; k < 9; k++) F[k] = centers[sample % 2][k] + 0.04 * eb_block_random(&seed);
    for (int k = 0; k < 9; k++) D[k] = eb_block_random(&seed);
    eb_material_stress(material, F, fibre, P);
    eb_material_tangent(material, F, fibre, false, A);
    eb_taylor at = {.value = eb_material_energy(material, F, fibre)};
    for (int i = 0; i < 9; i++) {
      at.slope += P[i] * D[i];
      for (int j = 0; j < 9; j++) at.curvature += D[i] * A[9 * i + j] * D[j];
    }
    for (int i = 0; i < EB_TAYLOR_STEPS; i++) {
      for (int k = 0; k < 9; k++) moved[k] = F[k] + eb_taylor_step(i) * D[k];
      value[i] = eb_material_energy(material, moved, fibre);
    }
    for (int order = 0; order < 2; order++)
      orders[order] = fmin(orders[order], eb_taylor_order(at, value, order == 1));
  }
}

static void check_material(const eb_check *check, const eb_material *material, const char *name) {
  double orders[2];
  least_orders(material, orders);
  eb_check_above(check, orders[0], 1.9, eb_gradient_reason, "materials/%s/stress", name);
  /* The frozen rotation is left out of this tangent on purpose: it is no second derivative. */
  if (material->kind != EB_COROTATIONAL)
    eb_check_above(check, orders[1], 2.9, eb_hessian_reason, "materials/%s/tangent", name);
}

/* The rules that every run with the material begins with. */
static void check_rules(const eb_check *check, const eb_material *material) {
  eb_plugged_finding found[EB_PLUGGED_RULES];
  eb_plugged_examine(material, found);
  for (int r = 0; r < EB_PLUGGED_RULES; r++)
    eb_check_below(check, found[r].defect, found[r].bound, found[r].what, "rules/%s/%s",
                   material->plugged->ops->name, found[r].name);
}

static eb_error check_plugged(const eb_check *check, eb_material *material) {
  const char *name = check->plugged.items[0].ops->name;
  EB_TRY(eb_material_choose(&check->plugged, name, material));
  check_rules(check, material);
  check_material(check, material, name);
  return EB_OK;
}

static eb_error check_materials(const eb_check *check) {
  eb_material material = {.young = 1, .poisson = 0.3, .density = 1, .activation = 0.7};
  if (check->plugged.count > 0) return check_plugged(check, &material);
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

/* A stretched, sheared and shaken copy of the rest shape, and a direction; of triangles in the
 * plane. */
static void shake(eb_forces *f) {
  static const double size = 0.03;
  const eb_mesh *mesh = f->scene->mesh;
  uint64_t seed = 5;
  for (int64_t k = 0; k < f->size; k++) {
    const double *X = mesh->X + 3 * (k / 3);
    f->x[k] = X[k % 3] * (1 + 0.05 * (double)(k % 3)) + 0.1 * X[(k + 1) % 3] +
              size * eb_block_random(&seed);
    f->d[k] = size * eb_block_random(&seed);
    if (k % 3 >= eb_block_axes(mesh)) f->x[k] = f->d[k] = 0;
  }
}

static eb_error assembly_of(const eb_check *check, const char *element, const char *material,
                            const char *fibre) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create_of(&check->plugged, &scene,
                            "nx=3,ny=2,nz=2,E=1,element=%s,material=%s,fibre=%s,jitter=0.2",
                            element, material, fibre));
  char name[96];
  bool plain = !strcmp(fibre, "none");
  snprintf(name, sizeof name, "%s%s%s", material, plain ? "" : "+", plain ? "" : fibre);
  double orders[2];
  EB_OWNED(eb_forces_clear) eb_forces f = {0};
  EB_TRY(eb_forces_create(scene, &f));
  shake(&f);
  eb_forces_orders(&f, orders);
  eb_check_above(check, orders[0], 1.9, eb_gradient_reason, "assembly/%s/%s/gradient", element,
                 name);
  if (scene->materials[0].kind != EB_COROTATIONAL)
    eb_check_above(check, orders[1], 2.9, eb_hessian_reason, "assembly/%s/%s/hessian", element,
                   name);
  return EB_OK;
}

static eb_error check_assembly(const eb_check *check) {
  for (int e = 0; e < ELEMENTS; e++) {
    const char *name;
    for (int k = 0; (name = eb_check_material(check, k)); k++)
      EB_TRY(assembly_of(check, elements[e], name, "none"));
    if (check->plugged.count > 0) continue;
    EB_TRY(assembly_of(check, elements[e], "stable-neo-hookean", "astvk"));
    EB_TRY(assembly_of(check, elements[e], "stable-neo-hookean", "fung"));
  }
  return EB_OK;
}

/* ---- rigid motion ---- */

static eb_error invariance_of(const eb_check *check, const char *element, const char *material) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_TRY(eb_block_create_of(&check->plugged, &scene,
                            "nx=3,ny=2,nz=2,E=1,element=%s,material=%s,jitter=0.2", element,
                            material));
  double change[2];
  EB_OWNED(eb_forces_clear) eb_forces f = {0};
  EB_TRY(eb_forces_create(scene, &f));
  shake(&f);
  eb_forces_turn(&f, change);
  eb_check_below(check, change[0], 1e-12, eb_turn_reason, "invariance/%s/%s/energy", element,
                 material);
  eb_check_below(check, change[1], 1e-12, eb_turn_reason, "invariance/%s/%s/gradient", element,
                 material);
  return EB_OK;
}

/* Small-strain elasticity (EB_LINEAR) is not invariant under rotations, by definition. */
static eb_error check_invariance(const eb_check *check) {
  const char *name;
  for (int e = 0; e < ELEMENTS; e++)
    for (int k = 0; (name = eb_check_material(check, k)); k++)
      if (eb_material_find(name) != EB_LINEAR) EB_TRY(invariance_of(check, elements[e], name));
  return EB_OK;
}

const eb_check_group eb_checks_materials[] = {{"materials", check_materials, NULL},
                                              {"assembly", check_assembly, NULL},
                                              {"invariance", check_invariance, NULL},
                                              {0}};
