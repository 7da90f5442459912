/* Orthonormalization of functions in the masses, and products with them.
 *
 * Gram-Schmidt, every function against all before it and twice (Giraud et al. 2005: twice is
 * enough), in the order of the modes, so that the first modes of a larger basis are those of a
 * smaller one.
 *
 * Products are bound by the stream of Phi, which is read once for the three axes: a row's four
 * functions at a time meet three coefficient vectors, or three sums, that stay near. Restrictions
 * add up parts of the nodes, always the same ones, so that the bits do not depend on threads. */
#include "solvers/subspace/basis.h"

#include "problems/base/memory.h"
#include "problems/elasticity/simd.h"

#include <math.h>
#include <string.h>

enum {
  PARTS = 32, /* of the nodes, whose sums are added up in their order */
  BLOCK = 4,  /* nodes whose rows are read side by side */
  AHEAD = 16  /* rows: four short streams at once are more than the hardware foresees */
};
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
  EB_TRY(EB_NEW(b->partial, PARTS * 3 * (size_t)b->stride));
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
  free(basis->partial);
  *basis = (eb_basis){0};
}

static inline eb_v4 load(const double *from) {
  eb_v4 v;
  memcpy(&v, from, sizeof v);
  return v;
}

static inline void store(double *to, eb_v4 v) {
  memcpy(to, &v, sizeof v);
}

/* to[axis] += sum over BLOCK rows of value[axis] phi; value: 3 a row. next: rows to be
 * fetched meanwhile. */
static void add_shared(const double *phi, const double *next, int64_t stride, const double *value,
                       double *to) {
  for (int64_t k = 0; k < stride; k += EB_LANES) {
    eb_v4 a = load(to + k), b = load(to + stride + k), c = load(to + 2 * stride + k);
    for (int i = 0; i < BLOCK; i++) {
      eb_v4 row = load(phi + i * stride + k);
      __builtin_prefetch(next + i * stride + k);
      a += value[3 * i] * row;
      b += value[3 * i + 1] * row;
      c += value[3 * i + 2] * row;
    }
    store(to + k, a);
    store(to + stride + k, b);
    store(to + 2 * stride + k, c);
  }
}

/* The same with functions of three components: one sum takes the three rows of a node. */
static void add_apart(const double *phi, int64_t stride, int rows, const double *value,
                      double *to) {
  for (int64_t k = 0; k < stride; k += EB_LANES) {
    eb_v4 sum = load(to + k);
    for (int r = 0; r < 3 * rows; r++) sum += value[r] * load(phi + r * stride + k);
    store(to + k, sum);
  }
}

/* A part's sums. Rows behind the last whole block go one by one. */
static void sum_part(const eb_basis *b, const double *x, const double *origin, const double *scale,
                     int32_t first, int32_t last, double *to) {
  double value[3 * BLOCK];
  memset(to, 0, 3 * (size_t)b->stride * sizeof *to);
  for (int32_t from = first; from < last; from += BLOCK) {
    int rows = last - from < BLOCK ? (int)(last - from) : BLOCK;
    const double *phi = b->phi + (int64_t)b->axes * from * b->stride;
    for (int k = 0; k < 3 * rows; k++) {
      int64_t at = 3 * (int64_t)from + k;
      value[k] = (x[at] - (origin ? origin[at] : 0)) * (scale ? scale[from + k / 3] : 1);
    }
    if (b->axes == 3)
      add_apart(phi, b->stride, rows, value, to);
    else if (rows == BLOCK)
      add_shared(phi, phi + (from + AHEAD + BLOCK <= last ? (int64_t)AHEAD * b->stride : 0),
                 b->stride, value, to);
    else
      for (int k = 0; k < 3 * rows; k++)
        for (int32_t f = 0; f < b->stride; f++)
          to[(int64_t)(k % 3) * b->stride + f] += value[k] * phi[(int64_t)(k / 3) * b->stride + f];
  }
}

/* u_axis = sum over nodes of scale_i phi_i (x_i - origin_i)_axis. */
static void restrict_values(const eb_basis *b, const double *x, const double *origin,
                            const double *scale, double *u) {
  int64_t nodes = b->nodes;
#pragma omp parallel for schedule(static)
  for (int part = 0; part < PARTS; part++)
    sum_part(b, x, origin, scale, (int32_t)(nodes * part / PARTS),
             (int32_t)(nodes * (part + 1) / PARTS), b->partial + part * 3 * (int64_t)b->stride);
  for (int axis = 0; axis < (b->axes == 1 ? 3 : 1); axis++)
    for (int32_t k = 0; k < b->size; k++) {
      double sum = 0;
      for (int part = 0; part < PARTS; part++)
        sum += b->partial[(part * 3 + axis) * (int64_t)b->stride + k];
      u[axis * b->size + k] = sum;
    }
}

void eb_basis_restrict(const eb_basis *b, const double *x, bool offset, double *u) {
  restrict_values(b, x, offset ? b->X : NULL, b->mass, u);
}

void eb_basis_restrict_force(const eb_basis *b, const double *f, double *u) {
  restrict_values(b, f, NULL, NULL, u);
}

/* Products of a row with the three vectors of coefficients. */
static void product_shared(const eb_basis *b, const double *phi, const double *u, double to[3]) {
  eb_v4 sum[3] = {{0}};
  const double *from[3] = {u, u + b->size, u + 2 * (int64_t)b->size};
  int32_t k = 0;
  for (; k + EB_LANES <= b->size; k += EB_LANES)
    for (int axis = 0; axis < 3; axis++) sum[axis] += load(phi + k) * load(from[axis] + k);
  for (int axis = 0; axis < 3; axis++) {
    to[axis] = eb_v4_sum(sum[axis]);
    for (int32_t rest = k; rest < b->size; rest++) to[axis] += phi[rest] * from[axis][rest];
  }
}

/* Of the three rows of a node with one vector. */
static void product_apart(const eb_basis *b, const double *phi, const double *u, double to[3]) {
  eb_v4 sum[3] = {{0}};
  int32_t k = 0;
  for (; k + EB_LANES <= b->size; k += EB_LANES)
    for (int axis = 0; axis < 3; axis++)
      sum[axis] += load(phi + (int64_t)axis * b->stride + k) * load(u + k);
  for (int axis = 0; axis < 3; axis++) {
    to[axis] = eb_v4_sum(sum[axis]);
    for (int32_t rest = k; rest < b->size; rest++)
      to[axis] += phi[(int64_t)axis * b->stride + rest] * u[rest];
  }
}

void eb_basis_prolong(const eb_basis *b, const double *u, bool offset, double *x) {
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < b->nodes; i++) {
    const double *phi = b->phi + (int64_t)b->axes * i * b->stride;
    double to[3];
    if (b->axes == 1)
      product_shared(b, phi, u, to);
    else
      product_apart(b, phi, u, to);
    for (int axis = 0; axis < 3; axis++) {
      int64_t at = 3 * (int64_t)i + axis;
      x[at] = to[axis] + (offset ? b->X[at] : 0);
    }
  }
}
