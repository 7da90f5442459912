/* Orthonormalization of skinning functions in the masses, and products with them.
 *
 * Gram-Schmidt, every function against all before it and twice (Giraud et al. 2005: twice is
 * enough), in the order of the modes, so that the first modes of a larger basis are those of a
 * smaller one. */
#include "solvers/subspace/basis.h"

#include "problems/base/memory.h"

#include <math.h>
#include <string.h>

enum { STRIP = 16 }; /* functions whose sums one thread takes */
static const double DEPENDENT = 1e-9;

static double product(const eb_basis *b, const double *p, const double *q) {
  double sum = 0;
  for (int32_t i = 0; i < b->nodes; i++) sum += b->mass[i] * p[i] * q[i];
  return sum;
}

/* Takes from q (nodes) what the `count` functions of `before` (each nodes long) span, twice, and
 * scales it to norm 1. False when nothing is left. */
static bool orthonormalize(const eb_basis *b, const double *before, int32_t count, double *q) {
  double whole = sqrt(product(b, q, q));
  for (int round = 0; round < 2; round++)
    for (int32_t k = 0; k < count; k++) {
      const double *p = before + (int64_t)k * b->nodes;
      double along = product(b, p, q);
      for (int32_t i = 0; i < b->nodes; i++) q[i] -= along * p[i];
    }
  double left = sqrt(product(b, q, q));
  if (!(left > DEPENDENT * whole)) return false;
  for (int32_t i = 0; i < b->nodes; i++) q[i] /= left;
  return true;
}

static eb_error fill(eb_basis *b, const double *X, const double *mass, int32_t modes,
                     const double *weight, double *function) {
  size_t n = (size_t)b->nodes;
  EB_TRY(EB_NEW(b->X, 3 * n));
  EB_TRY(EB_NEW(b->mass, n));
  memcpy(b->X, X, 3 * n * sizeof *X);
  memcpy(b->mass, mass, n * sizeof *mass);
  for (int32_t m = 0; m < modes; m++)
    for (int axis = 3; axis >= 0; axis--) {
      double *q = function + (int64_t)b->size * b->nodes;
      const double *w = weight + (int64_t)m * b->nodes;
      for (int32_t i = 0; i < b->nodes; i++)
        q[i] = w[i] * (axis == 3 ? 1 : X[3 * (int64_t)i + axis]);
      if (orthonormalize(b, function, b->size, q)) b->size++;
    }
  b->stride = (b->size + 3) / 4 * 4;
  EB_TRY(EB_NEW(b->phi, n * (size_t)b->stride));
  for (int32_t k = 0; k < b->size; k++)
    for (int32_t i = 0; i < b->nodes; i++)
      b->phi[(int64_t)i * b->stride + k] = function[(int64_t)k * b->nodes + i];
  return EB_OK;
}

eb_error eb_basis_skinning(int32_t nodes, const double *X, const double *mass, int32_t modes,
                           const double *weight, eb_basis *out) {
  double *function = NULL;
  *out = (eb_basis){.nodes = nodes};
  eb_error error = EB_NEW(function, 4 * (size_t)modes * (size_t)nodes);
  if (!error) error = fill(out, X, mass, modes, weight, function);
  free(function);
  if (error) eb_basis_clear(out);
  return error;
}

void eb_basis_clear(eb_basis *basis) {
  free(basis->phi);
  free(basis->X);
  free(basis->mass);
  *basis = (eb_basis){0};
}

/* u_axis = sum over nodes of scale_i phi_i (x_i - origin_i)_axis. Threads share the functions, not
 * the nodes, so that every sum is taken in the same order. */
static void restrict_values(const eb_basis *b, const double *x, const double *origin,
                            const double *scale, double *u) {
#pragma omp parallel for schedule(static)
  for (int32_t first = 0; first < b->size; first += STRIP) {
    int32_t count = b->size - first < STRIP ? b->size - first : STRIP;
    double sum[3][STRIP] = {{0}};
    for (int32_t i = 0; i < b->nodes; i++) {
      const double *phi = b->phi + (int64_t)i * b->stride + first;
      for (int axis = 0; axis < 3; axis++) {
        int64_t at = 3 * (int64_t)i + axis;
        double value = x[at] - (origin ? origin[at] : 0);
        if (scale) value *= scale[i];
        for (int32_t k = 0; k < count; k++) sum[axis][k] += value * phi[k];
      }
    }
    for (int axis = 0; axis < 3; axis++)
      for (int32_t k = 0; k < count; k++) u[axis * b->size + first + k] = sum[axis][k];
  }
}

void eb_basis_restrict(const eb_basis *b, const double *x, bool offset, double *u) {
  restrict_values(b, x, offset ? b->X : NULL, b->mass, u);
}

void eb_basis_restrict_force(const eb_basis *b, const double *f, double *u) {
  restrict_values(b, f, NULL, NULL, u);
}

void eb_basis_prolong(const eb_basis *b, const double *u, bool offset, double *x) {
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < b->nodes; i++) {
    const double *phi = b->phi + (int64_t)i * b->stride;
    for (int axis = 0; axis < 3; axis++) {
      const double *from = u + (int64_t)axis * b->size;
      double sum = 0;
      for (int32_t k = 0; k < b->size; k++) sum += phi[k] * from[k];
      x[3 * (int64_t)i + axis] = sum + (offset ? b->X[3 * (int64_t)i + axis] : 0);
    }
  }
}
