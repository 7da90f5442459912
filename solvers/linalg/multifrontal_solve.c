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
 *
 * Refinement with L of unit roundoff u_f = 6e-8 reduces the error by about kappa(A) u_f each time:
 * it converges as long as that is well below 1, and stalls, as an outcome, where A is too ill
 * conditioned for floats. Residuals are of the true A, so the result is that of double precision.
 *
 * One front with pivots x and rows below y:
 *
 *   forward    [x; y] := [b; 0] + sum over children of their y,   x := L11^-1 x,   y := y - L21 x
 *   backward   y := the solution there,                           x := L11^-T (x - L21^T y)
 *
 * Going up, lanes in which a subtree has no entries are left out. Every y has its memory, so that
 * the order of all additions to an entry depends on the front alone, whatever thread runs it: the
 * bits do not depend on the threads. Large panels are cut into tasks whose results do not depend on
 * each other.
 *
 * Workspace: 3 nodes x width and the vectors of struct eb_multifrontal_solver, in the factor's
 * precision; 4 vectors of doubles for refinement. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/dense.h"
#include "solvers/linalg/multifrontal_data.h"

/* Lanes are filled up to whole groups of so many: whole vectors, since masked stores would hold up
 * the loads that follow. */
enum { LANE_GROUP = 8 };

/* Several right-hand sides are solved for `width` at a time. Their entries of a scalar row are
 * neighbours (lanes), filled up to whole groups; rows are in the order of elimination. The vector
 * of supernode s holds its rows below the pivots: what its subtree adds to them going up the tree,
 * the solution there going down.
 *
 * Inside a branch such vectors are needed only until the parent has taken them, and lie in one of
 * the two stacks of the thread that runs the branch: those of even depth in one, those of odd depth
 * in the other, so that a supernode's children are on top of one stack when it puts its own vector
 * on the other. The other supernodes' vectors are `shared`: each has a place of its own. */
struct eb_multifrontal_solver {
  int32_t width;
  int64_t *place;         /* count: first row of the vector of s, in the stacks or in `shared` */
  int64_t shared, stacks; /* rows of the shared vectors, and of both stacks of a thread */
  void *pivots;           /* 3 nodes x width */
  void *vectors;          /* shared + threads stacks rows x width */
  /* count: the groups of lanes in which the right-hand sides have an entry in the subtree of s, a
   * bit each. Going up the tree the others stay 0 at s: nothing is done for them, and their part of
   * the vector of s is undefined. */
  uint8_t *filled;
  _Atomic int32_t *waiting; /* branches; going down: parents that the branch still waits for */
  double *refine;           /* in single precision, 4 vectors of 3 nodes: b, b - A x, A x, x */
};

/* The parent of s takes its vector from the stack. */
static bool stacked(const eb_multifrontal *f, int32_t s) {
  int32_t p = f->tree.parent[s];
  return f->branch_of[s] >= 0 && p >= 0 && f->branch_of[p] >= 0;
}

/* One pass over the factor, up and down the tree, for at most `width` right-hand sides: x := (add ?
 * x : 0) + A^-1 b, with b multiplied by `scale` before it is converted to the factor's precision
 * and the solution divided by it. Entry (row, r) of b and x is at [row x row_stride + r x
 * side_stride]. */
typedef struct tree_sweep {
  const eb_multifrontal *f;
  /* Right-hand sides, and the entries that a row has for them: more are zero. */
  int32_t count, lanes;
  const double *b;
  double *x, scale;
  int64_t row_stride, side_stride;
  bool add;
  bool parallel;         /* in a team of threads */
  _Atomic bool infinite; /* an entry of the solution is not finite */
} tree_sweep;

/* Lanes beside each other. */
typedef struct lane_range {
  int32_t from, count;
} lane_range;

/* The next run of lanes whose groups are in `groups`, from {0, 0} on; false when there is none. */
static bool next_lanes(const tree_sweep *sweep, uint8_t groups, lane_range *run) {
  int32_t group = sweep->lanes < LANE_GROUP ? sweep->lanes : LANE_GROUP;
  int32_t g = (run->from + run->count) / group, groups_of_row = sweep->lanes / group;
  while (g < groups_of_row && !(groups >> g & 1)) g++;
  run->from = g * group;
  while (g < groups_of_row && groups >> g & 1) g++;
  run->count = g * group - run->from;
  return run->count > 0;
}

/* ---- places of the vectors ------------------------------------------------------------------- */

/* The widest that the kernels' tiles have use for; a quarter or a half of it costs little speed. */
enum { WIDEST = 32 };
/* Vectors may take this share of the factor, or this many bytes when they are small anyway. */
static const int64_t factor_share = 8, small_workspace = 16 << 20;

/* A supernode's vector is taken by its parent, at the next depth, as soon as all children are done:
 * two stacks suffice for a postorder, where one would have its top taken from below the new entry.
 *
 * Fixes the places and counts the rows. `top` holds the heights of the two stacks while a branch is
 * followed, `most` the greatest of any branch; the parity of a supernode's depth names its stack.
 */
static void place_vectors(const eb_multifrontal *f, eb_multifrontal_solver *v, uint8_t *odd) {
  const eb_supernodes *t = &f->tree;
  int64_t top[2] = {0, 0}, most[2] = {0, 0}, *place = v->place;
  for (int32_t s = t->count - 1; s >= 0; s--) odd[s] = t->parent[s] >= 0 && !odd[t->parent[s]];
  for (int32_t s = 0; s < t->count; s++) {
    int64_t m = eb_front_below(f, s), *stack = &top[odd[s]];
    bool on_stack = stacked(f, s);
    place[s] = on_stack ? *stack : v->shared;
    *(on_stack ? stack : &v->shared) += m;
    if (*stack > most[odd[s]]) most[odd[s]] = *stack;
    for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
      if (stacked(f, f->child[k])) top[!odd[s]] -= eb_front_below(f, f->child[k]);
  }
  for (int32_t s = 0; s < t->count; s++)
    if (stacked(f, s) && odd[s]) place[s] += most[0];
  v->stacks = most[0] + most[1];
}

/* Numbers of the solver's two arrays together. */
static int64_t numbers(const eb_multifrontal *f) {
  const eb_multifrontal_solver *v = f->solver;
  return (3 * (int64_t)f->tree.nodes + v->shared + f->threads * v->stacks) * v->width;
}

eb_error eb_multifrontal_solver_create(eb_multifrontal *f, int64_t *bytes) {
  eb_multifrontal_solver *v;
  uint8_t *odd;
  EB_TRY(EB_NEW(v, 1));
  f->solver = v;
  EB_TRY(EB_NEW(v->place, f->tree.count));
  EB_TRY(EB_NEW(odd, f->tree.count));
  place_vectors(f, v, odd);
  free(odd);
  /* The width does not depend on the number of threads: nor do the bits. */
  int64_t row = eb_element_bytes(f) * (v->shared + v->stacks + 3 * (int64_t)f->tree.nodes);
  int64_t most = f->panel[f->tree.count] * eb_element_bytes(f) / factor_share;
  v->width = f->single_precision ? 1 : WIDEST;
  while (v->width > LANE_GROUP && v->width * row > most && v->width * row > small_workspace)
    v->width /= 2;
  const int64_t supernode = sizeof *v->place + sizeof *v->filled, branch = sizeof *v->waiting;
  *bytes = numbers(f) * eb_element_bytes(f) + f->tree.count * supernode + f->branches * branch;
  if (f->single_precision) *bytes += 12 * (int64_t)f->tree.nodes * (int64_t)sizeof(double);
  return EB_OK;
}

eb_error eb_multifrontal_solver_allocate(eb_multifrontal *f) {
  eb_multifrontal_solver *v = f->solver;
  EB_TRY(EB_NEW(v->waiting, f->branches));
  EB_TRY(EB_NEW(v->filled, f->tree.count));
  v->pivots = eb_calloc((size_t)numbers(f), (size_t)eb_element_bytes(f));
  if (!v->pivots)
    return EB_ERROR(EB_ERR_MEMORY,
                    "cannot allocate %lld numbers for triangular solves; use a smaller scene or cg",
                    (long long)numbers(f));
  v->vectors = (char *)v->pivots + 3 * (int64_t)f->tree.nodes * v->width * eb_element_bytes(f);
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

/* ---- one front ------------------------------------------------------------------------------- */

/* Cuts of large panels: whole strips of the kernels. A task reads some 300 kB of a panel of 1000
 * rows, which takes ten times as long as starting it. */
enum { BLOCK_COLUMNS = 192, CHUNK_ROWS = 384, CHUNK_COLUMNS = 48 };
/* Panels with more elements, outside the branches, are cut. */
static const int64_t large_panel = 150000;

static bool is_large(const eb_multifrontal *f, int32_t s) {
  return f->branch_of[s] < 0 && f->panel[s + 1] - f->panel[s] > large_panel;
}

/* Nodes whose right-hand sides or solutions are fetched ahead. */
enum { AHEAD = 4 };

static void fetch(const void *from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch((const char *)from + at, 0, 2);
}

/* The rows of the node eliminated k-th, where they are neighbours. */
static void fetch_node(const tree_sweep *sweep, const double *rows, int32_t k) {
  if (sweep->side_stride == 1)
    fetch(rows + 3 * (int64_t)sweep->f->tree.order[k] * sweep->row_stride,
          3 * sweep->row_stride * (int64_t)sizeof *rows);
}

#define REAL    double
#define NAME(x) x##_d
#include "solvers/linalg/multifrontal_solve_body.h"
#undef REAL
#undef NAME

#define REAL    float
#define NAME(x) x##_s
#include "solvers/linalg/multifrontal_solve_body.h"

static void forward(const tree_sweep *sweep, int32_t s) {
  (sweep->f->single_precision ? forward_s : forward_d)(sweep, s);
}

static void backward(tree_sweep *sweep, int32_t s) {
  (sweep->f->single_precision ? backward_s : backward_d)(sweep, s);
}

/* ---- which thread solves with which front when ----------------------------------------------- */

/* Going up the tree, a task for every branch runs its supernodes in sequence, the others are run by
 * whoever finishes the last of their children; going down, a supernode's task starts those of its
 * children, and a branch's starts when the parents of all its subtrees are done. */

/* Bytes of L times right-hand sides: some 200 microseconds for both passes. A smaller factor is
 * used by the calling thread alone: waking a team takes some 50. */
static const double least_parallel_bytes = 3e6;

static bool in_branch(const eb_multifrontal *f, int32_t s) {
  return s >= 0 && f->branch_of[s] >= 0;
}

/* A child of p is done; goes on with p, and so up the tree, when it was the last. */
static void climb(const tree_sweep *sweep, int32_t p) {
  const eb_multifrontal *f = sweep->f;
  while (p >= 0 && atomic_fetch_sub(&f->waiting[p], 1) == 1) {
    forward(sweep, p);
    p = f->tree.parent[p];
  }
}

static void run_branch_up(const tree_sweep *sweep, int32_t b) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t s = f->branch_first[b]; s <= f->branch_last[b]; s++) {
    int32_t p = f->tree.parent[s];
    forward(sweep, s);
    if (!in_branch(f, p)) climb(sweep, p);
  }
}

static void start_up(const tree_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t s = 0; s < f->tree.count; s++)
    f->waiting[s] = f->child_start[s + 1] - f->child_start[s];
  for (int32_t b = 0; b < f->branches; b++) {
#pragma omp task firstprivate(b)
    run_branch_up(sweep, b);
  }
  for (int32_t s = 0; s < f->tree.count; s++) {
    if (in_branch(f, s) || f->child_start[s] < f->child_start[s + 1]) continue;
#pragma omp task firstprivate(s)
    {
      forward(sweep, s);
      climb(sweep, f->tree.parent[s]);
    }
  }
}

static void run_branch_down(tree_sweep *sweep, int32_t b) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t s = f->branch_last[b]; s >= f->branch_first[b]; s--) backward(sweep, s);
}

static void descend(tree_sweep *sweep, int32_t s) {
  const eb_multifrontal *f = sweep->f;
  backward(sweep, s);
  for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++) {
    int32_t c = f->child[k], b = f->branch_of[c];
    if (b < 0) {
#pragma omp task firstprivate(c)
      descend(sweep, c);
    } else if (atomic_fetch_sub(&f->solver->waiting[b], 1) == 1) {
#pragma omp task firstprivate(b)
      run_branch_down(sweep, b);
    }
  }
}

static void start_down(tree_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  for (int32_t b = 0; b < f->branches; b++) f->solver->waiting[b] = 0;
  for (int32_t s = 0; s < f->tree.count; s++) /* a branch waits for the parents of its subtrees */
    if (in_branch(f, s) && f->tree.parent[s] >= 0 && !in_branch(f, f->tree.parent[s]))
      f->solver->waiting[f->branch_of[s]]++;
  for (int32_t b = 0; b < f->branches; b++) {
    if (f->solver->waiting[b] > 0) continue;
#pragma omp task firstprivate(b)
    run_branch_down(sweep, b);
  }
  for (int32_t s = f->tree.count - 1; s >= 0; s--) {
    if (in_branch(f, s) || f->tree.parent[s] >= 0) continue;
#pragma omp task firstprivate(s)
    descend(sweep, s);
  }
}

static void run_sweep(tree_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  double bytes = (double)f->memory.factor * sweep->count;
  sweep->parallel = f->threads > 1 && bytes > least_parallel_bytes;
  if (!sweep->parallel) {
    for (int32_t s = 0; s < f->tree.count; s++) forward(sweep, s);
    for (int32_t s = f->tree.count - 1; s >= 0; s--) backward(sweep, s);
    return;
  }
  int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(f->threads)
#pragma omp single
  {
#pragma omp taskgroup
    start_up(sweep);
    start_down(sweep);
  }
  omp_set_max_active_levels(levels);
}

/* Operations of a pass that is done: a multiplication and a subtraction for every entry of L and
 * right-hand side each way, n (n + 1) / 2 + n m entries in the columns of a front. Lanes that fill
 * up do not count, nor do groups that were left out going up. */
static double flops_of(const tree_sweep *sweep) {
  const eb_multifrontal *f = sweep->f;
  double flops = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    double n = eb_front_pivots(f, s), m = eb_front_below(f, s);
    int32_t sides = sweep->count;
    for (lane_range l = {0, 0}; next_lanes(sweep, f->solver->filled[s], &l);)
      sides += (l.from + l.count < sweep->count ? l.from + l.count : sweep->count) - l.from;
    flops += 2 * (n * (n + 1) / 2 + n * m) * sides;
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

/* Largest sum of absolute values in a row: the norm of A that belongs to max norms of vectors. */
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

/* Stops at |r| <= 4 eps |A| |x|, a backward error of 4 eps: x solves a system whose matrix differs
 * from A by rounding (Rigal and Gaches 1967), which is all that a solve in double would give. The
 * residual is scaled by a power of two before it goes to float, so that it neither overflows nor
 * underflows, and is not rounded by the scaling.
 *
 * The right-hand side in solver->refine; the solution goes to its last vector. Adds what it costs
 * to *flops. */
static eb_reason refine(const eb_multifrontal *f, double *flops) {
  int64_t n = 3 * (int64_t)f->tree.nodes;
  double *b = f->solver->refine, *r = b + n, *product = r + n, *x = product + n;
  double before = INFINITY, norm = row_norm(f->A);
  memcpy(r, b, (size_t)n * sizeof *r);
  memset(x, 0, (size_t)n * sizeof *x);
  for (;;) {
    double off = largest(n, r);
    if (!isfinite(off)) return EB_DIVERGED_NAN;
    if (off <= 4 * DBL_EPSILON * norm * largest(n, x)) return EB_CONVERGED_DIRECT;
    if (off > before / 2) return EB_DIVERGED_LINEAR_SOLVE;
    before = off;
    tree_sweep sweep = {.f = f,
                        .count = 1,
                        .lanes = 1,
                        .b = r,
                        .x = x,
                        .scale = off > 0 ? ldexp(1, -ilogb(off)) : 1, /* fits for float, exactly */
                        .row_stride = 1,
                        .side_stride = n,
                        .add = true};
    run_sweep(&sweep);
    *flops += flops_of(&sweep);
    int threads = omp_get_max_threads();
    omp_set_num_threads(f->threads);
    eb_block_multiply(f->A, x, product);
    omp_set_num_threads(threads);
    for (int64_t i = 0; i < n; i++) r[i] = b[i] - product[i];
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
    int32_t lanes = width == 1 ? 1 : (width + LANE_GROUP - 1) / LANE_GROUP * LANE_GROUP;
    tree_sweep sweep = {.f = f,
                        .count = width,
                        .lanes = lanes,
                        .b = all->b + r * all->side_stride,
                        .x = all->x + r * all->side_stride,
                        .scale = 1,
                        .row_stride = all->row_stride,
                        .side_stride = all->side_stride};
    run_sweep(&sweep);
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
  EB_ASSERT(f && all->b && all->x && reason);
  EB_ASSERT(!f->valid || !f->single_precision || f->A);
  EB_ASSERT(!f->valid || f->failed_row < 0);
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
