/* Preconditioned conjugate gradients on A (x) I3, A with one row a node.
 *
 *   r = b - A x,  z = inv(M) r,  p <- z + (r.z / r'.z') p,  x <- x + a p,  a = r.z / p.A p
 *
 * Reference: Hestenes and Stiefel 1952; IC(0): Meijerink and van der Vorst 1977, with Manteuffel's
 * shift (1980) where a pivot fails. The three coordinates are one system with one step length: what
 * counts are the distinct eigenvalues of inv(M) A, which the coordinates share. With M = A0 and A =
 * A0 + P, P of rank m, all but m of these are 1, and at most m + 1 iterations are needed (Lewin
 * 2016, Section 5.5, takes M so).
 *
 * Needs A and M symmetric positive definite. Workspace: 4 vectors, and IC(0)'s copy of A. Fails
 * with EB_DIVERGED_BREAKDOWN where A has no positive curvature along p, EB_DIVERGED_MAX_IT,
 * EB_DIVERGED_NAN. */
#include "solvers/projective/pcg.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"

enum { PARALLEL_FROM = 20000 }; /* rows; fewer are multiplied faster than a team wakes up */

void eb_scalar_product(const eb_scalar_matrix3 *A, const eb_v4 *x, eb_v4 *y) {
  EB_ASSERT(x != y);
  const int32_t *start = A->pattern->start, *column = A->pattern->column;
#pragma omp parallel for schedule(static) if (A->pattern->rows >= PARALLEL_FROM)
  for (int32_t i = 0; i < A->pattern->rows; i++) {
    eb_v4 even = A->extra[i] * x[i], odd = {0};
    int32_t b = start[i];
    for (; b + 1 < start[i + 1]; b += 2) {
      even += A->value[b] * x[column[b]];
      odd += A->value[b + 1] * x[column[b + 1]];
    }
    if (b < start[i + 1]) even += A->value[b] * x[column[b]];
    y[i] = even + odd;
  }
}

double eb_lanes_dot(int32_t rows, const eb_v4 *x, const eb_v4 *y) {
  eb_v4 sum[4] = {{0}};
  int32_t i = 0;
  for (; i + 4 <= rows; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
  for (; i < rows; i++) sum[0] += x[i] * y[i];
  return eb_v4_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* ---- incomplete Cholesky --------------------------------------------------------------------- */

static const double first_shift = 1e-3, shift_growth = 4, largest_shift = 1e3;
static const double pivot_floor = 1e-8; /* of the diagonal entry */

eb_error eb_incomplete_create(const eb_block_matrix *pattern, eb_incomplete *out) {
  *out = (eb_incomplete){.pattern = pattern};
  EB_TRY(EB_NEW(out->value, pattern->start[pattern->rows]));
  return EB_NEW(out->inverse, pattern->rows);
}

void eb_incomplete_clear(eb_incomplete *L) {
  free(L->value);
  free(L->inverse);
  *L = (eb_incomplete){0};
}

/* Sum over k < j of l_ik l_jk, on the entries that rows i and j have both; j < i. */
static double row_product(const eb_incomplete *L, int32_t i, int32_t j) {
  const eb_block_matrix *p = L->pattern;
  const double *l = L->value;
  int32_t a = p->start[i], b = p->start[j];
  double sum = 0;
  while (b < p->diagonal[j] && a < p->diagonal[i]) {
    int32_t left = p->column[a], right = p->column[b];
    if (left == right) sum += l[a] * l[b];
    a += left <= right;
    b += right <= left;
  }
  return sum;
}

/* With the diagonal of A times 1 + shift. */
static bool factor_shifted(eb_incomplete *L, const eb_scalar_matrix3 *A, double shift) {
  const eb_block_matrix *p = L->pattern;
  for (int32_t i = 0; i < p->rows; i++) {
    double entry = (1 + shift) * (A->value[p->diagonal[i]] + A->extra[i]), pivot = entry;
    for (int32_t b = p->start[i]; b < p->diagonal[i]; b++) {
      int32_t j = p->column[b];
      L->value[b] = (A->value[b] - row_product(L, i, j)) * L->inverse[j];
      pivot -= L->value[b] * L->value[b];
    }
    if (!(pivot > pivot_floor * entry)) return false;
    L->value[p->diagonal[i]] = sqrt(pivot);
    L->inverse[i] = 1 / L->value[p->diagonal[i]];
  }
  return true;
}

bool eb_incomplete_factor(eb_incomplete *L, const eb_scalar_matrix3 *A) {
  double shift = 0;
  while (!factor_shifted(L, A, shift)) {
    shift = shift > 0 ? shift_growth * shift : first_shift;
    if (shift > largest_shift) return false;
  }
  return true;
}

void eb_incomplete_solve(const eb_incomplete *L, const eb_v4 *b, eb_v4 *x) {
  EB_ASSERT(L->pattern->rows >= 0);
  const eb_block_matrix *p = L->pattern;
  for (int32_t i = 0; i < p->rows; i++) {
    eb_v4 sum = b[i];
    for (int32_t k = p->start[i]; k < p->diagonal[i]; k++) sum -= L->value[k] * x[p->column[k]];
    x[i] = L->inverse[i] * sum;
  }
  for (int32_t i = p->rows - 1; i >= 0; i--) {
    eb_v4 own = x[i] = L->inverse[i] * x[i];
    for (int32_t k = p->start[i]; k < p->diagonal[i]; k++) x[p->column[k]] -= L->value[k] * own;
  }
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

eb_error eb_pcg_create(int32_t rows, eb_pcg *out) {
  EB_ASSERT(rows >= 0);
  *out = (eb_pcg){.rows = rows};
  EB_TRY(EB_NEW(out->r, rows));
  EB_TRY(EB_NEW(out->z, rows));
  EB_TRY(EB_NEW(out->p, rows));
  return EB_NEW(out->q, rows);
}

void eb_pcg_clear(eb_pcg *cg) {
  free(cg->r);
  free(cg->z);
  free(cg->p);
  free(cg->q);
  *cg = (eb_pcg){0};
}

/* y += s x, or with `scale` y = x + s y. */
static void combine(int32_t rows, double s, const eb_v4 *x, bool scale, eb_v4 *y) {
  for (int32_t i = 0; i < rows; i++) y[i] = scale ? x[i] + s * y[i] : y[i] + s * x[i];
}

eb_reason eb_pcg_solve(const eb_pcg *cg, const eb_scalar_matrix3 *A, const eb_v4 *b,
                       double tolerance, int64_t most, eb_v4 *x, int64_t *iterations) {
  EB_ASSERT(cg->rows == A->pattern->rows && tolerance >= 0 && most >= 0);
  const eb_v4 *z = cg->precondition ? cg->z : cg->r;
  double before = 0;
  memcpy(cg->r, b, (size_t)cg->rows * sizeof *b);
  memset(x, 0, (size_t)cg->rows * sizeof *x);
  memset(cg->p, 0, (size_t)cg->rows * sizeof *cg->p);
  for (*iterations = 0;; ++*iterations) {
    double norm = sqrt(eb_lanes_dot(cg->rows, cg->r, cg->r));
    if (!isfinite(norm)) return EB_DIVERGED_NAN;
    if (norm <= tolerance) return EB_CONVERGED_RTOL;
    if (*iterations >= most) return EB_DIVERGED_MAX_IT;
    if (cg->precondition) cg->precondition(cg->context, cg->r, cg->z);
    double product = eb_lanes_dot(cg->rows, cg->r, z);
    combine(cg->rows, before > 0 ? product / before : 0, z, true, cg->p);
    before = product;
    eb_scalar_product(A, cg->p, cg->q);
    double curvature = eb_lanes_dot(cg->rows, cg->p, cg->q);
    if (!(curvature > 0)) return EB_DIVERGED_BREAKDOWN;
    combine(cg->rows, product / curvature, cg->p, false, x);
    combine(cg->rows, -product / curvature, cg->q, false, cg->r);
  }
}
