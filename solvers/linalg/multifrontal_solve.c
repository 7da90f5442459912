/* Triangular solves with a multifrontal factor, P A P^T = L L^T:
 *
 *   L y = P b   up the tree of supernodes,   L^T (P x) = y   down the tree.
 *
 * A single right-hand side reads L twice and is bound by memory; several are solved together, so
 * that an entry of L is used for all of them, and going up the tree subtrees in which a group of
 * them has no entries are left out for it (Gilbert 1994, "Predicting structure in sparse matrix
 * computations", SIAM J. Matrix Anal. Appl. 15(1): the nonzeros of L^-1 b are on the paths from
 * those of b to the roots). A factor in single precision serves refinement (Wilkinson 1963; Higham,
 * "Accuracy and Stability of Numerical Algorithms", 12.1):
 *
 *   r = b - A x in double,   x += A^-1 r with L in float,   until |r| <= 4 eps |A| |x| (max norms).
 *
 * Fails, as outcomes, with EB_DIVERGED_NAN when the solution is not finite and with
 * EB_DIVERGED_LINEAR_SOLVE when a refinement does not halve the residual before that.
 * Workspace: 3 nodes x width and the vectors of multifrontal_solve_data.h, in the factor's
 * precision; 4 vectors of doubles for refinement. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/multifrontal_solve_data.h"

/* ---- places of the vectors ------------------------------------------------------------------- */

/* The widest that the kernels' tiles have use for; a quarter or a half of it costs little speed. */
enum { WIDEST = 32, NARROWEST = EB_LANE_GROUP };
/* Vectors may take this share of the factor, or this many bytes when they are small anyway. */
static const int64_t factor_share = 8, small_workspace = 16 << 20;

/* Fixes the places and counts the rows. `top` holds the heights of the two stacks while a branch is
 * followed, `most` the greatest of any branch; the parity of a supernode's depth names its stack.
 */
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

/* ---- life ------------------------------------------------------------------------------------ */

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
  const int64_t supernode = sizeof *f->solver->place + sizeof *f->solver->filled,
                branch = sizeof *f->solver->waiting;
  EB_TRY(EB_NEW(f->solver, 1));
  EB_TRY(place(f));
  *bytes = numbers(f) * element_bytes(f) + f->tree.count * supernode + f->branches * branch;
  if (f->single_precision) *bytes += 12 * (int64_t)f->tree.nodes * (int64_t)sizeof(double);
  return EB_OK;
}

eb_error eb_multifrontal_solver_allocate(eb_multifrontal *f) {
  eb_multifrontal_solver *v = f->solver;
  EB_TRY(EB_NEW(v->waiting, f->branches));
  EB_TRY(EB_NEW(v->filled, f->tree.count));
  v->pivots = eb_calloc((size_t)numbers(f), (size_t)element_bytes(f));
  if (!v->pivots)
    return EB_ERROR(EB_ERR_MEMORY,
                    "cannot allocate %lld numbers for triangular solves; use a smaller scene or cg",
                    (long long)numbers(f));
  v->vectors = (char *)v->pivots + 3 * (int64_t)f->tree.nodes * v->width * element_bytes(f);
  return f->single_precision ? EB_NEW(v->refine, 12 * (size_t)f->tree.nodes) : EB_OK;
}

void eb_multifrontal_solver_destroy(eb_multifrontal_solver *v) {
  if (!v) return;
  free(v->place);
  free(v->pivots);
  free((void *)v->waiting);
  free(v->filled);
  free(v->refine);
  free(v);
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Right-hand sides, without the lanes that fill up, in the groups. */
static int32_t sides_in(const eb_sweep *sweep, uint8_t groups) {
  int32_t sides = 0;
  for (eb_lanes l = {0, 0}; eb_next_lanes(sweep, groups, &l);)
    sides += (l.from + l.count < sweep->count ? l.from + l.count : sweep->count) - l.from;
  return sides;
}

/* Operations of a pass that is done: for every entry of L two a right-hand side each way. */
static double flops_of(const eb_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  double flops = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    double n = eb_front_pivots(f, s), m = eb_front_below(f, s);
    flops += 2 * (n * (n + 1) / 2 + n * m) * (sweep->count + sides_in(sweep, f->solver->filled[s]));
  }
  return flops;
}

/* ---- refinement ------------------------------------------------------------------------------ */

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

/* The right-hand side in solver->refine; the solution goes to its last vector. Adds what it costs
 * to *flops. */
static eb_reason refine(const eb_multifrontal *f, double *flops) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  double *b = f->solver->refine, *r = b + n, *x = r + 2 * n;
  double before = INFINITY, norm = row_norm(f->A);
  memcpy(r, b, (size_t)n * sizeof *r);
  memset(x, 0, (size_t)n * sizeof *x);
  for (;;) {
    double off = largest(n, r);
    if (!isfinite(off)) return EB_DIVERGED_NAN;
    if (off <= 4 * DBL_EPSILON * norm * largest(n, x)) return EB_CONVERGED_DIRECT;
    if (off > before / 2) return EB_DIVERGED_LINEAR_SOLVE;
    before = off;
    eb_sweep sweep = {.f = f,
                      .count = 1,
                      .lanes = 1,
                      .b = r,
                      .x = x,
                      .scale = scale_of(off),
                      .row_stride = 1,
                      .side_stride = n,
                      .add = true};
    eb_solve_sweep(&sweep);
    *flops += flops_of(&sweep);
    residual(f, b, x, r);
  }
}

/* ---- solve ----------------------------------------------------------------------------------- */

/* Right-hand sides and solutions; entry (row, r) is at [row x row_stride + r x side_stride]. */
typedef struct sides {
  int32_t count;
  int64_t row_stride, side_stride;
  const double *b;
  double *x;
} sides;

static eb_reason solve_double(const eb_multifrontal *f, const sides *all, double *flops) {
  bool infinite = false;
  for (int32_t r = 0; r < all->count; r += f->solver->width) {
    int32_t width = all->count - r < f->solver->width ? all->count - r : f->solver->width;
    int32_t lanes = width == 1 ? 1 : (width + NARROWEST - 1) / NARROWEST * NARROWEST;
    eb_sweep sweep = {.f = f,
                      .count = width,
                      .lanes = lanes,
                      .b = all->b + r * all->side_stride,
                      .x = all->x + r * all->side_stride,
                      .scale = 1,
                      .row_stride = all->row_stride,
                      .side_stride = all->side_stride};
    eb_solve_sweep(&sweep);
    *flops += flops_of(&sweep);
    infinite |= sweep.infinite;
  }
  return infinite ? EB_DIVERGED_NAN : EB_CONVERGED_DIRECT;
}

static eb_reason solve_single(const eb_multifrontal *f, const sides *all, double *flops) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  double *b = f->solver->refine, *x = b + 3 * n;
  eb_reason worst = EB_CONVERGED_DIRECT;
  for (int32_t r = 0; r < all->count; r++) {
    int64_t side = r * all->side_stride;
    for (int64_t i = 0; i < n; i++) b[i] = all->b[i * all->row_stride + side];
    eb_reason reason = refine(f, flops);
    for (int64_t i = 0; i < n; i++) all->x[i * all->row_stride + side] = x[i];
    if (reason == EB_DIVERGED_NAN || worst > 0) worst = reason;
  }
  return worst;
}

static eb_error solve(eb_multifrontal *f, const sides *all, eb_step_log *log, eb_reason *reason) {
  *reason = EB_DIVERGED_LIBRARY;
  if (all->count < 0) return EB_ERROR(EB_ERR_USAGE, "a solve with %d right-hand sides", all->count);
  if (!f->valid)
    return EB_ERROR(EB_ERR_USAGE, "there is no factor to solve with; factor a matrix first");
  double flops = 0;
  *reason = f->single_precision ? solve_single(f, all, &flops) : solve_double(f, all, &flops);
  eb_log_count(log, EB_COUNT_FLOPS, flops);
  return EB_OK;
}

eb_error eb_multifrontal_solve(eb_multifrontal *f, int32_t count, const double *b, double *x,
                               eb_step_log *log, eb_reason *reason) {
  const sides columns = {
      .count = count, .row_stride = 1, .side_stride = 3 * (int64_t)f->tree.nodes, .b = b, .x = x};
  return solve(f, &columns, log, reason);
}

eb_error eb_multifrontal_solve_rows(eb_multifrontal *f, int32_t count, int64_t stride,
                                    const double *b, double *x, eb_step_log *log,
                                    eb_reason *reason) {
  const sides rows = {.count = count, .row_stride = stride, .side_stride = 1, .b = b, .x = x};
  *reason = EB_DIVERGED_LIBRARY;
  if (stride < count)
    return EB_ERROR(EB_ERR_USAGE, "rows of %lld numbers for %d right-hand sides", (long long)stride,
                    count);
  return solve(f, &rows, log, reason);
}
