#include "harness/check/forces.h"

#include <math.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

const char eb_gradient_reason[] = "observed order of the first Taylor remainder; 2 when the "
                                  "derivative is right, 1 when not";
const char eb_hessian_reason[] = "observed order of the second Taylor remainder; 3 when the "
                                 "second derivative is right, 2 when not";
const char eb_turn_reason[] =
    "relative change under a rigid motion; rounding of strains near 0.1 only";

/* ---- Taylor's theorem ------------------------------------------------------------------------ */

static const double coarse = 4e-3, fine = 1e-3; /* relative steps */

double eb_taylor_step(int i) {
  return (i < 2 ? coarse : fine) * (i % 2 ? -1 : 1);
}

double eb_taylor_order(eb_taylor at, const double value[EB_TAYLOR_STEPS], bool second) {
  double remainder[2] = {0, 0};
  for (int i = 0; i < EB_TAYLOR_STEPS; i++) {
    double s = eb_taylor_step(i);
    double expected = s * at.slope + (second ? 0.5 * s * s * at.curvature : 0);
    remainder[i / 2] = hypot(remainder[i / 2], value[i] - at.value - expected);
  }
  double rounding = 1e-13 * (fabs(at.value) + fabs(coarse * at.slope)) +
                    at.rounding * coarse * coarse * fabs(at.curvature);
  if (remainder[0] <= rounding) return INFINITY;
  return log(remainder[0] / remainder[1]) / log(coarse / fine);
}

/* ---- a scene's forces ------------------------------------------------------------------------ */

eb_error eb_forces_create(const eb_scene *scene, eb_forces *out) {
  double **const vectors[] = {&out->x, &out->d, &out->g, &out->product, &out->moved};
  out->scene = scene;
  out->size = 3 * (int64_t)scene->mesh->node_count;
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    EB_TRY(EB_NEW(*vectors[k], out->size));
  EB_TRY(eb_clusters_create(scene, &out->clusters));
  return eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &out->H);
}

void eb_forces_clear(eb_forces *forces) {
  free(forces->x);
  free(forces->d);
  free(forces->g);
  free(forces->product);
  free(forces->moved);
  eb_clusters_clear(&forces->clusters);
  eb_block_matrix_destroy(forces->H);
}

double eb_forces_energy(const eb_forces *forces, const double *x) {
  return eb_elasticity_energy(forces->scene->elasticity, x) +
         eb_clusters_energy(&forces->clusters, x);
}

double eb_forces_gradient(const eb_forces *forces, const double *x, double *g) {
  eb_elasticity_gradient(forces->scene->elasticity, x, g);
  return eb_elasticity_energy(forces->scene->elasticity, x) +
         eb_clusters_gradient(&forces->clusters, x, g);
}

void eb_forces_orders(eb_forces *f, double orders[2]) {
  double value[EB_TAYLOR_STEPS];
  eb_elasticity_matrix(f->scene->elasticity, f->x, 0, 1, false, f->H, f->g);
  eb_clusters_matrix(&f->clusters, f->x, 1, false, f->H);
  eb_taylor at = {.value = eb_elasticity_energy(f->scene->elasticity, f->x) +
                           eb_clusters_gradient(&f->clusters, f->x, f->g),
                  .rounding = f->rounding};
  eb_block_multiply(f->H, f->d, f->product);
  at.slope = eb_dot(f->size, f->g, f->d);
  at.curvature = eb_dot(f->size, f->d, f->product);
  for (int i = 0; i < EB_TAYLOR_STEPS; i++) {
    for (int64_t k = 0; k < f->size; k++) f->moved[k] = f->x[k] + eb_taylor_step(i) * f->d[k];
    value[i] = eb_forces_energy(f, f->moved);
  }
  for (int k = 0; k < 2; k++) orders[k] = eb_taylor_order(at, value, k == 1);
}

/* ---- rigid motion ---------------------------------------------------------------------------- */

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

void eb_forces_turn(eb_forces *f, double change[2]) {
  double energy = eb_forces_gradient(f, f->x, f->g);
  turn(f->scene->mesh, f->x, true, f->moved);
  double turned = eb_forces_gradient(f, f->moved, f->product);
  double size = eb_norm(f->size, f->g);
  turn(f->scene->mesh, f->g, false, f->moved);
  for (int64_t k = 0; k < f->size; k++) f->product[k] -= f->moved[k];
  change[0] = fabs(turned - energy) / energy;
  change[1] = eb_norm(f->size, f->product) / size;
}
