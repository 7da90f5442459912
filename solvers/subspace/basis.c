/* Orthonormalization of functions in the masses, and products with them.
 *
 * Gram-Schmidt, every function against all before it and twice (Giraud et al. 2005: twice is
 * enough), in the order of the modes, so that the first modes of a larger basis are those of a
 * smaller one. Four at a time: the functions before them are streamed four times for four of them,
 * which is what it costs.
 *
 * Products are bound by the stream of Phi, which is read once for the three axes: a row's four
 * functions at a time meet three coefficient vectors, or three sums, that stay near. Restrictions
 * add up parts of the nodes, always the same ones, so that the bits do not depend on threads. */
#include "solvers/subspace/basis.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/simd.h"

#include <math.h>
#include <string.h>

enum {
  CHUNK = 512, /* entries of four functions that stay in the nearest cache */
  PARTS = 32,  /* of the nodes, whose sums are added up in their order */
  BLOCK = 4,   /* nodes whose rows are read side by side */
  AHEAD = 16   /* rows: four short streams at once are more than the hardware foresees */
};
static const double DEPENDENT = 1e-9;

/* Entries of a function. */
static int64_t length_of(const eb_basis *b) {
  return (int64_t)b->axes * b->nodes;
}

/* What orthonormalization works with. */
typedef struct orthonormalizer {
  int64_t length;   /* entries of a function */
  double *mass;     /* of each entry */
  double *function; /* the functions so far, one behind the other; room for all */
  eb_v4 *q;         /* four more, side by side */
  eb_v4 *sums;      /* PARTS x functions */
  eb_v4 *along;     /* functions */
} orthonormalizer;

static int64_t part_start(const orthonormalizer *o, int part) {
  return o->length * part / PARTS;
}

/* along[k] := the products of the k-th of `count` functions with the four of q. Chunks of q stay
 * near while the functions stream by. */
static void measure(orthonormalizer *o, int32_t count) {
#pragma omp parallel for schedule(static)
  for (int part = 0; part < PARTS; part++) {
    eb_v4 *sum = o->sums + (int64_t)part * count, heavy[CHUNK];
    memset(sum, 0, (size_t)count * sizeof *sum);
    int64_t end = part_start(o, part + 1);
    for (int64_t at = part_start(o, part); at < end; at += CHUNK) {
      int64_t size = end - at < CHUNK ? end - at : CHUNK;
      for (int64_t i = 0; i < size; i++) heavy[i] = o->mass[at + i] * o->q[at + i];
      for (int32_t k = 0; k < count; k++) {
        const double *p = o->function + k * o->length + at;
        eb_v4 even = {0}, odd = {0};
        for (int64_t i = 0; i + 1 < size; i += 2) {
          even += p[i] * heavy[i];
          odd += p[i + 1] * heavy[i + 1];
        }
        if (size % 2) even += p[size - 1] * heavy[size - 1];
        sum[k] += even + odd;
      }
    }
  }
  memset(o->along, 0, (size_t)count * sizeof *o->along);
  for (int part = 0; part < PARTS; part++)
    for (int32_t k = 0; k < count; k++) o->along[k] += o->sums[(int64_t)part * count + k];
}

/* q -= sum over k of along[k] function k, four functions at a time. */
static void subtract(orthonormalizer *o, int32_t count) {
#pragma omp parallel for schedule(static)
  for (int part = 0; part < PARTS; part++) {
    int64_t end = part_start(o, part + 1);
    for (int64_t at = part_start(o, part); at < end; at += CHUNK) {
      int64_t stop = end - at < CHUNK ? end : at + CHUNK;
      int32_t k = 0;
      for (; k + 4 <= count; k += 4) {
        const double *p = o->function + k * o->length;
        const eb_v4 *a = o->along + k;
        for (int64_t i = at; i < stop; i++)
          o->q[i] -= (p[i] * a[0] + p[o->length + i] * a[1]) +
                     (p[2 * o->length + i] * a[2] + p[3 * o->length + i] * a[3]);
      }
      for (; k < count; k++)
        for (int64_t i = at; i < stop; i++) o->q[i] -= o->function[k * o->length + i] * o->along[k];
    }
  }
}

/* Makes each of the four orthogonal to those before it and of norm 1; of one that has at most
 * `least` left, nothing. */
static void orthonormalize_four(orthonormalizer *o, eb_v4 least) {
  for (int lane = 0; lane < EB_LANES; lane++) {
    eb_v4 along = {0};
    double square = 0;
    for (int64_t i = 0; i < o->length; i++) along += o->mass[i] * o->q[i][lane] * o->q[i];
    for (int l = lane; l < EB_LANES; l++) along[l] = 0;
    for (int64_t i = 0; i < o->length; i++) {
      o->q[i][lane] -= eb_v4_sum(along * o->q[i]);
      square += o->mass[i] * o->q[i][lane] * o->q[i][lane];
    }
    double scale = sqrt(square) > least[lane] ? 1 / sqrt(square) : 0;
    for (int64_t i = 0; i < o->length; i++) o->q[i][lane] *= scale;
  }
}

/* Takes from the four of q what the `count` functions and those before them in q span, and appends
 * what is left, at norm 1; how many functions there are then. */
static int32_t append_four(orthonormalizer *o, int32_t count) {
  eb_v4 norm2 = {0}, none = {0};
  for (int64_t i = 0; i < o->length; i++) norm2 += o->mass[i] * o->q[i] * o->q[i];
  for (int round = 0; round < 2; round++) {
    measure(o, count);
    subtract(o, count);
    orthonormalize_four(o, round == 0 ? DEPENDENT * eb_v4_sqrt(norm2) : none);
  }
  for (int lane = 0; lane < EB_LANES; lane++) {
    double *to = o->function + count * o->length, square = 0;
    for (int64_t i = 0; i < o->length; i++) {
      to[i] = o->q[i][lane];
      square += o->mass[i] * to[i] * to[i];
    }
    count += square > 0;
  }
  return count;
}

static void finish(orthonormalizer *o) {
  free(o->mass);
  free(o->function);
  free(o->q);
  free(o->sums);
  free(o->along);
}

/* Room for `count` functions and the four that are tried. */
static eb_error prepare(const eb_basis *b, int32_t count, orthonormalizer *o) {
  size_t room = (size_t)count + EB_LANES;
  *o = (orthonormalizer){.length = length_of(b)};
  EB_TRY(EB_NEW(o->mass, o->length));
  EB_TRY(EB_NEW(o->function, room * (size_t)o->length));
  EB_TRY(EB_NEW(o->q, o->length));
  EB_TRY(EB_NEW(o->sums, PARTS * room));
  EB_TRY(EB_NEW(o->along, room));
  for (int64_t i = 0; i < o->length; i++) o->mass[i] = b->mass[i / b->axes];
  return EB_OK;
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

/* Phi from what is appended. */
static eb_error conclude(eb_error error, orthonormalizer *o, eb_basis *out) {
  if (!error) error = interleave(out, o->function);
  finish(o);
  if (error) eb_basis_clear(out);
  return error;
}

eb_error eb_basis_skinning(int32_t nodes, const double *X, const double *mass, int32_t modes,
                           const double *weight, eb_basis *out) {
  EB_ASSERT(nodes > 0 && modes > 0);
  orthonormalizer o = {0};
  *out = (eb_basis){.nodes = nodes, .axes = 1};
  eb_error error = begin(out, X, mass);
  if (!error) error = prepare(out, 4 * modes, &o);
  for (int32_t m = 0; !error && m < modes; m++) {
    const double *w = weight + (int64_t)m * nodes;
    for (int64_t i = 0; i < nodes; i++)
      o.q[i] = w[i] * (eb_v4){1, X[3 * i + 2], X[3 * i + 1], X[3 * i]};
    out->size = append_four(&o, out->size);
  }
  return conclude(error, &o, out);
}

eb_error eb_basis_displacements(int32_t nodes, const double *X, const double *mass, int32_t count,
                                const double *displacement, eb_basis *out) {
  EB_ASSERT(nodes > 0 && count > 0);
  orthonormalizer o = {0};
  *out = (eb_basis){.nodes = nodes, .axes = 3};
  eb_error error = begin(out, X, mass);
  if (!error) error = prepare(out, count, &o);
  for (int32_t k = 0; !error && k < count; k += EB_LANES) {
    for (int64_t i = 0; i < o.length; i++)
      for (int l = 0; l < EB_LANES; l++)
        o.q[i][l] = k + l < count ? displacement[(k + l) * o.length + i] : 0;
    out->size = append_four(&o, out->size);
  }
  return conclude(error, &o, out);
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
