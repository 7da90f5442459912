/* Triangular solves with a multifrontal factor, P A P^T = L L^T:
 *
 *   L y = P b   up the tree of supernodes,   L^T (P x) = y   down the tree.
 *
 * A single right-hand side reads L twice and is bound by memory; several are solved together, so that an entry of L is used for
 * all of them. A factor in single precision serves refinement (Wilkinson 1963; Higham, "Accuracy and Stability of Numerical
 * Algorithms", 12.1):
 *
 *   r = b - A x in double,   x += A^-1 r with L in float,   until |r| <= 4 eps |A| |x|, largest norms.
 *
 * Fails, as outcomes, with EB_DIVERGED_NAN when the solution is not finite and with EB_DIVERGED_LINEAR_SOLVE when a
 * refinement does not halve the residual before that. Workspace: 3 nodes x width and the vectors of
 * multifrontal_solve_data.h, in the factor's precision; 3 vectors of doubles for refinement. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/multifrontal_solve_data.h"

/* ---- places of the vectors ----------------------------------------------------------------------- */

/* The widest that the kernels' tiles have use for; a quarter or a half of it costs little speed. Lanes are filled up to
 * NARROWEST: whole vectors, since masked stores would hold up the loads that follow. */
enum { WIDEST = 32, NARROWEST = 8 };
/* Vectors may take this share of the factor, or this many bytes when they are small anyway. */
static const int64_t factor_share = 8, small_workspace = 16 << 20;

/* Fixes the places and counts the rows. `top` holds the heights of the two stacks while a branch is followed, `most` the
 * greatest of any branch; the parity of a supernode's depth names its stack. */
static void place_vectors(const eb_multifrontal *f, eb_multifrontal_solver *v, int64_t *place,
                          uint8_t *odd) {
  const eb_supernodes *t = &f->tree;
  int64_t top[2] = {0, 0}, most[2] = {0, 0};
  for (int32_t s = t->count - 1; s >= 0; s--) odd[s] = t->parent[s] >= 0 && !odd[t->parent[s]];
  v->shared = 0;
  for (int32_t s = 0; s < t->count; s++) {
    int64_t m = eb_front_below(f, s), *stack = &top[odd[s]];
    bool stacked = eb_solve_stacked(f, s);
    place[s] = stacked ? *stack : v->shared;
    *(stacked ? stack : &v->shared) += m;
    if (*stack > most[odd[s]]) most[odd[s]] = *stack;
    for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
      if (eb_solve_stacked(f, f->child[k])) top[!odd[s]] -= eb_front_below(f, f->child[k]);
  }
  for (int32_t s = 0; s < t->count; s++)
    if (eb_solve_stacked(f, s) && odd[s]) place[s] += most[0];
  v->stacks = most[0] + most[1];
}

static int64_t element_bytes(const eb_multifrontal *f) {
  return f->single_precision ? sizeof(float) : sizeof(double);
}

/* Independent of the number of threads. */
static int32_t choose_width(const eb_multifrontal *f, const eb_multifrontal_solver *v) {
  if (f->single_precision) return 1;
  int64_t row = element_bytes(f) * (v->shared + v->stacks + 3 * (int64_t)f->tree.nodes);
  int64_t most = f->panel[f->tree.count] * element_bytes(f) / factor_share;
  int32_t width = WIDEST;
  while (width > NARROWEST && width * row > most && width * row > small_workspace) width /= 2;
  return width;
}

/* ---- life ---------------------------------------------------------------------------------------- */

static int64_t numbers(const eb_multifrontal *f) {
  const eb_multifrontal_solver *v = f->solver;
  return (3 * (int64_t)f->tree.nodes + v->shared + f->threads * v->stacks) * v->width;
}

static eb_error place(eb_multifrontal *f) {
  uint8_t *odd;
  EB_TRY(EB_NEW(f->solver->place, f->tree.count));
  EB_TRY(EB_NEW(odd, f->tree.count));
  place_vectors(f, f->solver, f->solver->place, odd);
  free(odd);
  f->solver->width = choose_width(f, f->solver);
  return EB_OK;
}

eb_error eb_multifrontal_solver_create(eb_multifrontal *f, int64_t *bytes) {
  const int64_t supernode = sizeof *f->solver->place, branch = sizeof *f->solver->waiting;
  EB_TRY(EB_NEW(f->solver, 1));
  EB_TRY(place(f));
  *bytes = numbers(f) * element_bytes(f) + f->tree.count * supernode + f->branches * branch;
  if (f->single_precision) *bytes += 9 * (int64_t)f->tree.nodes * (int64_t)sizeof(double);
  return EB_OK;
}

eb_error eb_multifrontal_solver_allocate(eb_multifrontal *f) {
  eb_multifrontal_solver *v = f->solver;
  EB_TRY(EB_NEW(v->waiting, f->branches));
  v->pivots = eb_calloc((size_t)numbers(f), (size_t)element_bytes(f));
  if (!v->pivots)
    return EB_ERROR(EB_ERR_MEMORY,
                    "cannot allocate %lld numbers for triangular solves; use a smaller scene or cg",
                    (long long)numbers(f));
  v->vectors = (char *)v->pivots + 3 * (int64_t)f->tree.nodes * v->width * element_bytes(f);
  return f->single_precision ? EB_NEW(v->refine, 9 * (size_t)f->tree.nodes) : EB_OK;
}

void eb_multifrontal_solver_destroy(eb_multifrontal_solver *v) {
  if (!v) return;
  free(v->place);
  free(v->pivots);
  free((void *)v->waiting);
  free(v->refine);
  free(v);
}

/* ---- refinement ------------------------------------------------------------------------------------ */

static double largest(int64_t n, const double *x) {
  double most = 0, finite = 0; /* stays 0 unless an entry is infinite or NaN */
  for (int64_t i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
    finite += 0 * x[i];
  }
  return most + finite;
}

/* Largest sum of absolute values in a row. */
static double row_norm(const eb_block_matrix *A) {
  double most = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    double sum[3] = {0, 0, 0};
    for (const double *a = A->values + 9 * (int64_t)A->start[i],
                      *end = A->values + 9 * (int64_t)A->start[i + 1];
         a < end; a += 9)
      for (int r = 0; r < 3; r++)
        sum[r] += fabs(a[3 * r]) + fabs(a[3 * r + 1]) + fabs(a[3 * r + 2]);
    most = fmax(most, fmax(sum[0], fmax(sum[1], sum[2])));
  }
  return most;
}

/* A power of two that makes numbers up to `most` fit for float. */
static double scale_of(double most) {
  return most > 0 ? ldexp(1, -ilogb(most)) : 1;
}

/* r = b - A x */
static void residual(const eb_multifrontal *f, const double *b, const double *x, double *r) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  double *product = f->solver->refine + 2 * n;
  int threads = omp_get_max_threads();
  omp_set_num_threads(f->threads);
  eb_block_multiply(f->A, x, product);
  omp_set_num_threads(threads);
  for (int64_t i = 0; i < n; i++) r[i] = b[i] - product[i];
}

/* One right-hand side; b and x may be the same. Returns the passes over the factor. */
static int refine(const eb_multifrontal *f, const double *rhs, double *x, eb_reason *reason) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  double *b = f->solver->refine, *r = b + n, before = INFINITY, norm = row_norm(f->A);
  memcpy(b, rhs, (size_t)n * sizeof *b);
  memcpy(r, rhs, (size_t)n * sizeof *r);
  memset(x, 0, (size_t)n * sizeof *x);
  for (int passes = 0;; passes++) {
    double off = largest(n, r);
    *reason = isfinite(off) ? EB_CONVERGED_DIRECT : EB_DIVERGED_NAN;
    if (!isfinite(off) || off <= 4 * DBL_EPSILON * norm * largest(n, x)) return passes;
    *reason = EB_DIVERGED_LINEAR_SOLVE;
    if (off > before / 2) return passes;
    before = off;
    eb_sweep sweep = {
        .f = f, .count = 1, .lanes = 1, .b = r, .x = x, .scale = scale_of(off), .add = true};
    eb_solve_sweep(&sweep);
    residual(f, b, x, r);
  }
}

/* ---- solve ------------------------------------------------------------------------------------------ */

static eb_reason solve_double(const eb_multifrontal *f, int32_t count, const double *b, double *x) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  for (int32_t r = 0; r < count; r += f->solver->width) {
    int32_t width = count - r < f->solver->width ? count - r : f->solver->width;
    int32_t lanes = width == 1 ? 1 : (width + NARROWEST - 1) / NARROWEST * NARROWEST;
    eb_sweep sweep = {
        .f = f, .count = width, .lanes = lanes, .b = b + r * n, .x = x + r * n, .scale = 1};
    eb_solve_sweep(&sweep);
  }
  double finite = 0; /* stays 0 unless an entry is infinite or NaN */
  for (int64_t i = 0; i < n * count; i++) finite += 0 * x[i];
  return finite == 0 ? EB_CONVERGED_DIRECT : EB_DIVERGED_NAN;
}

static eb_reason solve_single(const eb_multifrontal *f, int32_t count, const double *b, double *x,
                              int *passes) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  eb_reason worst = EB_CONVERGED_DIRECT;
  for (int32_t r = 0; r < count; r++) {
    eb_reason reason;
    *passes += refine(f, b + r * n, x + r * n, &reason);
    if (reason == EB_DIVERGED_NAN || worst > 0) worst = reason;
  }
  return worst;
}

eb_error eb_multifrontal_solve(eb_multifrontal *f, int32_t count, const double *b, double *x,
                               eb_step_log *log, eb_reason *reason) {
  *reason = EB_DIVERGED_LIBRARY;
  if (count < 0) return EB_ERROR(EB_ERR_USAGE, "a solve with %d right-hand sides", count);
  if (!f->valid)
    return EB_ERROR(EB_ERR_USAGE, "there is no factor to solve with; factor a matrix first");
  int passes = 0;
  *reason =
      f->single_precision ? solve_single(f, count, b, x, &passes) : solve_double(f, count, b, x);
  double entries = (double)eb_multifrontal_entries(f);
  eb_log_count(log, EB_COUNT_FLOPS, 4 * entries * (f->single_precision ? passes : count));
  return EB_OK;
}
