/* X_s - p_s is taken first and U phi_s added: what is left when a stiff spring holds is a
 * difference of two small numbers, not of places far from the origin. */
#include "solvers/subspace/springs.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

eb_error eb_reduced_springs_create(const eb_scene *scene, const eb_basis *basis,
                                   eb_reduced_springs *out) {
  *out = (eb_reduced_springs){.size = basis->size};
  EB_TRY(eb_springs_create(scene, &out->springs));
  size_t count = (size_t)out->springs.count, size = (size_t)basis->size;
  if (count == 0) return EB_OK;
  EB_TRY(EB_NEW(out->phi, count * size));
  EB_TRY(EB_NEW(out->rest, 3 * count));
  EB_TRY(EB_NEW(out->block, size * size));
  EB_TRY(EB_NEW(out->stiffness, count));
  for (size_t s = 0; s < count; s++) {
    size_t node = (size_t)out->springs.node[s];
    memcpy(out->phi + s * size, basis->phi + node * (size_t)basis->stride, size * sizeof(double));
    memcpy(out->rest + 3 * s, basis->X + 3 * node, 3 * sizeof(double));
  }
  return EB_OK;
}

void eb_reduced_springs_clear(eb_reduced_springs *reduced) {
  eb_springs_clear(&reduced->springs);
  free(reduced->phi);
  free(reduced->rest);
  free(reduced->block);
  free(reduced->stiffness);
  *reduced = (eb_reduced_springs){0};
}

void eb_reduced_springs_set(eb_reduced_springs *reduced, const eb_scene *scene, double t) {
  size_t count = (size_t)reduced->springs.count, size = (size_t)reduced->size;
  const double *now = reduced->springs.stiffness;
  eb_springs_set(&reduced->springs, scene, t);
  if (count == 0 || memcmp(now, reduced->stiffness, count * sizeof *now) == 0) return;
  memcpy(reduced->stiffness, now, count * sizeof *now);
  memset(reduced->block, 0, size * size * sizeof *reduced->block);
  for (size_t s = 0; s < count; s++) {
    const double *phi = reduced->phi + s * size;
    for (size_t j = 0; j < size && now[s] > 0; j++)
      for (size_t i = j; i < size; i++) reduced->block[j * size + i] += now[s] * phi[j] * phi[i];
  }
}

/* U phi_s, m, of u or of a direction. */
static void motion_of(const eb_reduced_springs *reduced, int32_t s, const double *u, double y[3]) {
  const double *phi = reduced->phi + (int64_t)s * reduced->size;
  for (int axis = 0; axis < 3; axis++) {
    const double *from = u + (int64_t)axis * reduced->size;
    y[axis] = 0;
    for (int32_t k = 0; k < reduced->size; k++) y[axis] += phi[k] * from[k];
  }
}

/* x - p, m. */
static void stretch_of(const eb_reduced_springs *reduced, int32_t s, const double *u, double y[3]) {
  motion_of(reduced, s, u, y);
  for (int d = 0; d < 3; d++)
    y[d] += reduced->rest[3 * (int64_t)s + d] - reduced->springs.place[3 * (int64_t)s + d];
}

void eb_reduced_springs_force(const eb_reduced_springs *reduced, const double *u, double *f) {
  int32_t size = reduced->size;
  memset(f, 0, 3 * (size_t)size * sizeof *f);
  for (int32_t s = 0; s < reduced->springs.count; s++) {
    const double *phi = reduced->phi + (int64_t)s * size, k = reduced->springs.stiffness[s];
    double y[3];
    stretch_of(reduced, s, u, y);
    for (int axis = 0; axis < 3; axis++)
      for (int32_t i = 0; i < size; i++) f[(int64_t)axis * size + i] -= k * y[axis] * phi[i];
  }
}

double eb_reduced_springs_energy(const eb_reduced_springs *reduced, const double *u) {
  double sum = 0, y[3];
  for (int32_t s = 0; s < reduced->springs.count; s++) {
    stretch_of(reduced, s, u, y);
    sum += 0.5 * reduced->springs.stiffness[s] * eb_dot3(y, y);
  }
  return sum;
}

double eb_reduced_springs_curvature(const eb_reduced_springs *reduced, const double *p) {
  double sum = 0, y[3];
  for (int32_t s = 0; s < reduced->springs.count; s++) {
    motion_of(reduced, s, p, y);
    sum += reduced->springs.stiffness[s] * eb_dot3(y, y);
  }
  return sum;
}

void eb_reduced_springs_stiffness(const eb_reduced_springs *reduced, double *K) {
  int64_t size = reduced->size, n = 3 * size;
  if (reduced->springs.count == 0) return;
  for (int axis = 0; axis < 3; axis++)
    for (int64_t j = 0; j < size; j++) {
      double *column = K + (axis * size + j) * n + axis * size;
      for (int64_t i = j; i < size; i++) column[i] += reduced->block[j * size + i];
    }
}
