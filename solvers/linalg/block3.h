/* Small kernels on 3x3 blocks, row-major. Inside solvers/linalg only. */
#ifndef EB_LINALG_BLOCK3_H
#define EB_LINALG_BLOCK3_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef double eb_block3_lanes __attribute__((vector_size(32)));

static inline eb_block3_lanes eb_block3_load(const double *from) {
  eb_block3_lanes v;
  memcpy(&v, from, sizeof v);
  return v;
}

/* What to fetch ahead in a stream of so many blocks. The best of 2, 4, 8, 16 and 32 KB takes 0.7 of
 * the time where blocks come from a shared cache, 0.9 to 1 from memory, and 1.03 to 1.06 in the
 * core's own caches: 80 000 blocks are 6 MB. */
static inline size_t eb_block3_ahead(int64_t blocks) {
  return blocks > 80000 ? 8192 : 0;
}

/* Sums of products of blocks with nodes, lane by lane.
 *
 * With a block's nine entries a0 .. a8 row by row, lane-wise products with
 *   low = (x0 x1 x2 x0) for a0 .. a3,  high = (x1 x2 x0 x1) for a4 .. a7,  and a8 x2
 * give y0 in lanes 0-2 of low, y1 in lane 3 of low and lanes 0-1 of high, y2 in the rest. Nothing
 * outside the block or the node is read, and nothing twice: with loads of whole rows products are
 * 1.1 times as fast in cache, and 1.2 times as slow from memory. */
typedef struct eb_block3_sums {
  eb_block3_lanes low, high;
  double corner;
} eb_block3_sums;

/* Adds the product of a block with a node. `ahead`: bytes from the block to what is fetched
 * meanwhile, 0 for nothing. The processor's own prefetching keeps some 1.5 KB ahead of a stream,
 * which hides neither memory nor a shared cache. */
static inline void eb_block3_add(const double *a, const double *x, size_t ahead,
                                 eb_block3_sums *s) {
  const double x0 = x[0], x1 = x[1], x2 = x[2];
  if (ahead) __builtin_prefetch((const void *)((uintptr_t)a + ahead));
  s->low += eb_block3_load(a) * (eb_block3_lanes){x0, x1, x2, x0};
  s->high += eb_block3_load(a + 4) * (eb_block3_lanes){x1, x2, x0, x1};
  s->corner += a[8] * x2;
}

static inline void eb_block3_finish(const eb_block3_sums *s, double sum[3]) {
  sum[0] = s->low[0] + s->low[1] + s->low[2];
  sum[1] = s->low[3] + s->high[0] + s->high[1];
  sum[2] = s->high[2] + s->high[3] + s->corner;
}

/* sum = the product of blocks first .. last-1 with the nodes of x that their columns name. */
static inline void eb_block3_row(const double *values, const int32_t *column, int32_t first,
                                 int32_t last, const double *x, size_t ahead, double sum[3]) {
  eb_block3_sums s = {0};
  for (int32_t b = first; b < last; b++)
    eb_block3_add(values + 9 * (int64_t)b, x + 3 * (int64_t)column[b], ahead, &s);
  eb_block3_finish(&s, sum);
}

/* c -= a b^T */
static inline void eb_block3_subtract_product(const double a[9], const double b[9], double c[9]) {
  for (int r = 0; r < 3; r++)
    for (int s = 0; s < 3; s++)
      c[3 * r + s] -=
          a[3 * r] * b[3 * s] + a[3 * r + 1] * b[3 * s + 1] + a[3 * r + 2] * b[3 * s + 2];
}

/* b = a b for lower triangular a */
static inline void eb_block3_lower_product(const double a[9], double b[9]) {
  for (int s = 0; s < 3; s++) {
    double b0 = b[s], b1 = b[3 + s], b2 = b[6 + s];
    b[s] = a[0] * b0;
    b[3 + s] = a[3] * b0 + a[4] * b1;
    b[6 + s] = a[6] * b0 + a[7] * b1 + a[8] * b2;
  }
}

/* c = (a b)^T */
static inline void eb_block3_product_transposed(const double a[9], const double b[9], double c[9]) {
  for (int r = 0; r < 3; r++)
    for (int s = 0; s < 3; s++)
      c[3 * s + r] = a[3 * r] * b[s] + a[3 * r + 1] * b[3 + s] + a[3 * r + 2] * b[6 + s];
}

/* inverse = inv(L), lower triangular, where a = L L^T (lower triangle of a is read). False when a
 * pivot is not above `floor` times its diagonal entry. */
static inline bool eb_block3_inverse_factor(const double a[9], const double diagonal[3],
                                            double floor, double inverse[9]) {
  double p0 = a[0];
  if (!(p0 > floor * diagonal[0])) return false;
  double l00 = sqrt(p0), l10 = a[3] / l00, l20 = a[6] / l00;
  double p1 = a[4] - l10 * l10;
  if (!(p1 > floor * diagonal[1])) return false;
  double l11 = sqrt(p1), l21 = (a[7] - l20 * l10) / l11;
  double p2 = a[8] - l20 * l20 - l21 * l21;
  if (!(p2 > floor * diagonal[2])) return false;
  double l22 = sqrt(p2);
  inverse[0] = 1 / l00;
  inverse[4] = 1 / l11;
  inverse[8] = 1 / l22;
  inverse[3] = -l10 / (l00 * l11);
  inverse[6] = (l10 * l21 - l11 * l20) / (l00 * l11 * l22);
  inverse[7] = -l21 / (l11 * l22);
  inverse[1] = inverse[2] = inverse[5] = 0;
  return true;
}

/* y = a x for lower triangular a */
static inline void eb_block3_lower(const double a[9], const double x[3], double y[3]) {
  double x0 = x[0], x1 = x[1], x2 = x[2];
  y[0] = a[0] * x0;
  y[1] = a[3] * x0 + a[4] * x1;
  y[2] = a[6] * x0 + a[7] * x1 + a[8] * x2;
}

/* y = a^T x for lower triangular a */
static inline void eb_block3_lower_transposed(const double a[9], const double x[3], double y[3]) {
  double x0 = x[0], x1 = x[1], x2 = x[2];
  y[0] = a[0] * x0 + a[3] * x1 + a[6] * x2;
  y[1] = a[4] * x1 + a[7] * x2;
  y[2] = a[8] * x2;
}

#endif
