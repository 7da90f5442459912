/* X_s - p_s is taken first and U phi_s added: what is left when a stiff spring holds is a
 * difference of two small numbers, not of places far from the origin. */
#include "solvers/subspace/springs.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

eb_error eb_reduced_springs_create(const eb_scene *scene, const eb_basis *basis,
                                   eb_reduced_springs *out) {
  *out = (eb_reduced_springs){.axes = basis->axes, .size = basis->size};
  EB_TRY(eb_springs_create(scene, &out->springs));
  size_t count = (size_t)out->springs.count, size = (size_t)basis->size, axes = (size_t)basis->axes;
  if (count == 0) return EB_OK;
  EB_TRY(EB_NEW(out->phi, count * axes * size));
  EB_TRY(EB_NEW(out->rest, 3 * count));
  EB_TRY(EB_NEW(out->block, size * size));
  EB_TRY(EB_NEW(out->stiffness, count));
  for (size_t s = 0; s < count; s++) {
    size_t node = (size_t)out->springs.node[s];
    for (size_t d = 0; d < axes; d++)
      memcpy(out->phi + (s * axes + d) * size,
             basis->phi + (node * axes + d) * (size_t)basis->stride, size * sizeof(double));
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
  for (size_t row = 0, axes = (size_t)reduced->axes; row < count * axes; row++) {
    const double *phi = reduced->phi + row * size;
    double k = now[row / axes];
    for (size_t j = 0; j < size && k > 0; j++)
      for (size_t i = j; i < size; i++) reduced->block[j * size + i] += k * phi[j] * phi[i];
  }
}

/* The functions of a spring's node along an axis, and where their coefficients begin in u. */
static const double *row_of(const eb_reduced_springs *reduced, int32_t s, int32_t axis,
                            int64_t *first) {
  *first = reduced->axes == 1 ? (int64_t)axis * reduced->size : 0;
  return reduced->phi +
         ((int64_t)s * reduced->axes + (reduced->axes == 1 ? 0 : axis)) * reduced->size;
}

/* B_s u, m, of u or of a direction. */
static void motion_of(const eb_reduced_springs *reduced, int32_t s, const double *u, double y[3]) {
  int64_t first;
  for (int axis = 0; axis < 3; axis++) {
    const double *phi = row_of(reduced, s, axis, &first);
    y[axis] = 0;
    for (int32_t k = 0; k < reduced->size; k++) y[axis] += phi[k] * u[first + k];
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
  int64_t first;
  memset(f, 0, (size_t)(reduced->axes == 1 ? 3 * size : size) * sizeof *f);
  for (int32_t s = 0; s < reduced->springs.count; s++) {
    double y[3], k = reduced->springs.stiffness[s];
    stretch_of(reduced, s, u, y);
    for (int axis = 0; axis < 3; axis++) {
      const double *phi = row_of(reduced, s, axis, &first);
      for (int32_t i = 0; i < size; i++) f[first + i] -= k * y[axis] * phi[i];
    }
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
  int64_t size = reduced->size, blocks = reduced->axes == 1 ? 3 : 1, n = blocks * size;
  if (reduced->springs.count == 0) return;
  for (int axis = 0; axis < blocks; axis++)
    for (int64_t j = 0; j < size; j++) {
      double *column = K + (axis * size + j) * n + axis * size;
      for (int64_t i = j; i < size; i++) column[i] += reduced->block[j * size + i];
    }
}
