/* Orthonormalization of functions in the masses, and products with them.
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

/* Entries of a function. */
static int64_t length_of(const eb_basis *b) {
  return (int64_t)b->axes * b->nodes;
}

static double product(const eb_basis *b, const double *p, const double *q) {
  double sum = 0;
  for (int64_t i = 0; i < length_of(b); i++) sum += b->mass[i / b->axes] * p[i] * q[i];
  return sum;
}

/* Takes from q what the b->size functions of `before` span, twice, and scales it to norm 1, as the
 * next of them; not when nothing is left. */
static void append(eb_basis *b, const double *before, double *q) {
  double whole = sqrt(product(b, q, q));
  for (int round = 0; round < 2; round++)
    for (int32_t k = 0; k < b->size; k++) {
      const double *p = before + k * length_of(b);
      double along = product(b, p, q);
      for (int64_t i = 0; i < length_of(b); i++) q[i] -= along * p[i];
    }
  double left = sqrt(product(b, q, q));
  if (!(left > DEPENDENT * whole)) return;
  for (int64_t i = 0; i < length_of(b); i++) q[i] /= left;
  b->size++;
}

static eb_error begin(eb_basis *b, const double *X, const double *mass) {
  size_t n = (size_t)b->nodes;
  EB_TRY(EB_NEW(b->X, 3 * n));
  EB_TRY(EB_NEW(b->mass, n));
  memcpy(b->X, X, 3 * n * sizeof *X);
  memcpy(b->mass, mass, n * sizeof *mass);
  return EB_OK;
}

/* Functions side by side. */
static eb_error interleave(eb_basis *b, const double *function) {
  int64_t length = length_of(b);
  b->stride = (b->size + 3) / 4 * 4;
  EB_TRY(EB_NEW(b->phi, (size_t)length * (size_t)b->stride));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < length; i++)
    for (int32_t k = 0; k < b->size; k++) b->phi[i * b->stride + k] = function[k * length + i];
  return EB_OK;
}

static eb_error fill(eb_basis *b, const double *X, const double *mass, int32_t modes,
                     const double *weight, double *function) {
  EB_TRY(begin(b, X, mass));
  for (int32_t m = 0; m < modes; m++)
    for (int axis = 3; axis >= 0; axis--) {
      double *q = function + (int64_t)b->size * b->nodes;
      const double *w = weight + (int64_t)m * b->nodes;
      for (int32_t i = 0; i < b->nodes; i++)
        q[i] = w[i] * (axis == 3 ? 1 : X[3 * (int64_t)i + axis]);
      append(b, function, q);
    }
  return interleave(b, function);
}

eb_error eb_basis_skinning(int32_t nodes, const double *X, const double *mass, int32_t modes,
                           const double *weight, eb_basis *out) {
  double *function = NULL;
  *out = (eb_basis){.nodes = nodes, .axes = 1};
  eb_error error = EB_NEW(function, 4 * (size_t)modes * (size_t)nodes);
  if (!error) error = fill(out, X, mass, modes, weight, function);
  free(function);
  if (error) eb_basis_clear(out);
  return error;
}

eb_error eb_basis_displacements(int32_t nodes, const double *X, const double *mass, int32_t count,
                                const double *displacement, eb_basis *out) {
  double *function = NULL;
  size_t length = 3 * (size_t)nodes;
  *out = (eb_basis){.nodes = nodes, .axes = 3};
  eb_error error = EB_NEW(function, (size_t)count * length);
  if (!error) error = begin(out, X, mass);
  for (int32_t k = 0; !error && k < count; k++) {
    double *q = function + (size_t)out->size * length;
    memcpy(q, displacement + (size_t)k * length, length * sizeof *q);
    append(out, function, q);
  }
  if (!error) error = interleave(out, function);
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
 * the nodes, so that every sum is taken in the same order. With functions of three components there
 * is one u, to which all axes add. */
static void restrict_values(const eb_basis *b, const double *x, const double *origin,
                            const double *scale, double *u) {
  int shared = b->axes == 1;
#pragma omp parallel for schedule(static)
  for (int32_t first = 0; first < b->size; first += STRIP) {
    int32_t count = b->size - first < STRIP ? b->size - first : STRIP;
    double sum[3][STRIP] = {{0}};
    for (int32_t i = 0; i < b->nodes; i++)
      for (int axis = 0; axis < 3; axis++) {
        int64_t at = 3 * (int64_t)i + axis;
        const double *phi = b->phi + (shared ? i : at) * b->stride + first;
        double value = x[at] - (origin ? origin[at] : 0), *to = sum[shared ? axis : 0];
        if (scale) value *= scale[i];
        if (count == STRIP)
          for (int32_t k = 0; k < STRIP; k++) to[k] += value * phi[k];
        else
          for (int32_t k = 0; k < count; k++) to[k] += value * phi[k];
      }
    for (int axis = 0; axis < (shared ? 3 : 1); axis++)
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
  int shared = b->axes == 1;
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < b->nodes; i++)
    for (int axis = 0; axis < 3; axis++) {
      int64_t at = 3 * (int64_t)i + axis;
      const double *phi = b->phi + (shared ? i : at) * b->stride;
      const double *from = u + (shared ? (int64_t)axis * b->size : 0);
      double sum = 0;
      for (int32_t k = 0; k < b->size; k++) sum += phi[k] * from[k];
      x[at] = sum + (offset ? b->X[at] : 0);
    }
}
