/* Numeric factorization, whole or of the parts that a change of A has touched.
 *
 * One front s:
 *
 *   [F11 . ; F21 F22] = [A's entries; 0] + sum over children c of (U_c, extended)
 *   L11 L11^T = F11,   L21 = F21 L11^-T,   U = F22 - L21 L21^T,
 *
 * in place: the panel [F11; F21] is assembled where L lies, and U is written by the product first,
 * so that it need not be zeroed, and then takes its children's entries while it is in cache.
 *
 * A front is a function of A's entries in its columns and of its children's U alone. When entries
 * change, only the fronts that own them and the ancestors of these see other numbers (the paths up
 * the elimination tree: Liu 1990), and if every U is kept, factoring just those gives L of the new
 * A: the same operations on the same operands, hence the same bits as from the start. Nothing is
 * approximated and, unlike with rank updates, no rounding adds up from change to change.
 *
 * A child's U that was not kept is formed again before its parent is assembled: -L21 L21^T plus its
 * own children's, which are formed before it where they were not kept either, down to the leaves of
 * the small subtree that it is in. L has not changed there, so that the bits are those it had.
 *
 * Duff and Reid 1983, "The multifrontal solution of indefinite sparse symmetric linear equations",
 * ACM TOMS 9(3); Hecht, Lee, Shewchuk and O'Brien 2012, Section 4.3.
 *
 * No workspace. The order of all additions to an entry depends on the front alone, so the bits do
 * not depend on the threads. A pivot that fails ends the work on its front and on all later ones;
 * earlier ones go on, so that the first failure in elimination order is found whatever the threads.
 */
#include <float.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/clock.h"
#include "solvers/linalg/dense.h"
#include "solvers/linalg/multifrontal_data.h"

/* A factorization at work. */
typedef struct front_job {
  eb_multifrontal *f;
  const eb_block_matrix *A;
  const uint8_t *marked; /* supernodes to factor; NULL: all */
  bool parallel;         /* in a team of threads: large fronts may be split into tasks */
  /* First scalar row, in elimination order, whose pivot failed; INT64_MAX: none. */
  _Atomic int64_t failed;
} front_job;

/* ---- one front ------------------------------------------------------------------------------- */

/* Scalar columns of the panel that are eliminated together in a large front; whole nodes. */
enum { PANEL_WIDTH = 288 };
/* Fronts with more operations are done in block columns, without a team too, for the bits' sake:
 * some 200 microseconds. */
static const double large_front = 1e7;

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* A pivot of a supernode before s has failed. */
static bool failed_before(const front_job *job, int32_t s) {
  return job->failed < 3 * (int64_t)job->f->tree.first[s];
}

/* The first of `count` runs that ends after node `to` of the parent's front; `count` when there is
 * none. */
static int64_t run_from(const eb_run *run, int64_t count, int32_t to) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (run[middle].to + run[middle].count > to)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

#define REAL    double
#define EPSILON DBL_EPSILON
#define BITS    long long
#define NAME(x) x##_d
#include "solvers/linalg/multifrontal_factor_body.h"
#undef REAL
#undef EPSILON
#undef BITS
#undef NAME

#define REAL    float
#define EPSILON FLT_EPSILON
#define BITS    int
#define NAME(x) x##_s
#include "solvers/linalg/multifrontal_factor_body.h"

/* L of s stays as it is. */
static bool only_forms(const front_job *job, int32_t s) {
  return job->marked && !job->marked[s];
}

/* Assembles and factors the front of s, whose children are done, or just forms its update matrix;
 * nothing when a pivot before it has failed. */
static void do_front(front_job *job, int32_t s) {
  if (failed_before(job, s + 1)) return;
  if (only_forms(job, s)) {
    if (job->f->single_precision)
      form_s(job, s);
    else
      form_d(job, s);
    return;
  }
  double started = eb_wall_seconds();
  if (job->f->single_precision)
    factor_s(job, s);
  else
    factor_d(job, s);
  job->f->seconds[s] = eb_wall_seconds() - started;
}

/* ---- which thread factors which front when --------------------------------------------------- */

/* A small job runs on the calling thread alone: waking a team takes some 50 microseconds. */
static const double least_parallel_flops = 2e7; /* some 400 microseconds */

static bool takes_part(const front_job *job, int32_t s) {
  return !job->marked || job->marked[s] || job->f->formed[s];
}

static double flops_of(const front_job *job, int32_t s) {
  double n = eb_front_pivots(job->f, s), m = eb_front_below(job->f, s);
  return !takes_part(job, s) ? 0 : only_forms(job, s) ? n * m * (m + 1) : job->f->tree.flops[s];
}

static double flops_of_all(const front_job *job) {
  double flops = 0;
  for (int32_t s = 0; s < job->f->tree.count; s++) flops += flops_of(job, s);
  return flops;
}

/* A child of p is done; goes on with p, and so up the tree, when it was the last. */
static void climb(front_job *job, int32_t p) {
  const eb_multifrontal *f = job->f;
  while (p >= 0 && atomic_fetch_sub(&f->waiting[p], 1) == 1) {
    do_front(job, p);
    p = f->tree.parent[p];
  }
}

/* Dropped update matrices of the branch live in the thread's own stack, which nothing else uses
 * until this is over: a task that waits for its parts starts no other branch. */
static void run_branch(front_job *job, int32_t b) {
  const eb_multifrontal *f = job->f;
  f->branch_stack[b] = omp_get_thread_num() * f->thread_stack;
  for (int32_t s = f->branch_first[b]; s <= f->branch_last[b]; s++) {
    if (!takes_part(job, s)) continue;
    do_front(job, s);
    int32_t p = f->tree.parent[s];
    if (p >= 0 && f->branch_of[p] < 0) climb(job, p);
  }
}

/* A task for every branch that takes part, which runs its supernodes in sequence, and for every
 * supernode above the branches that waits for no child; the others are factored by whoever finishes
 * the last of their children, large ones in tasks of their own. */
static void start_tasks(front_job *job) {
  const eb_multifrontal *f = job->f;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int32_t b = f->branch_of[s];
    if (b >= 0) {
      bool any = false;
      for (s = f->branch_first[b]; s <= f->branch_last[b]; s++) any |= takes_part(job, s);
      s = f->branch_last[b];
      if (!any) continue;
#pragma omp task firstprivate(b)
      run_branch(job, b);
      continue;
    }
    bool ready = takes_part(job, s);
    for (int32_t k = f->child_start[s]; k < f->child_start[s + 1]; k++)
      ready &= !takes_part(job, f->child[k]);
    if (!ready) continue;
#pragma omp task firstprivate(s)
    {
      do_front(job, s);
      climb(job, f->tree.parent[s]);
    }
  }
}

static void run_job(front_job *job) {
  const eb_multifrontal *f = job->f;
  job->parallel = f->threads > 1 && flops_of_all(job) > least_parallel_flops;
  if (!job->parallel) { /* in any of the threads' stacks */
    for (int32_t s = 0; s < f->tree.count; s++)
      if (takes_part(job, s)) do_front(job, s);
    return;
  }
  for (int32_t s = 0; s < f->tree.count; s++) f->waiting[s] = 0;
  for (int32_t s = 0; s < f->tree.count; s++)
    if (takes_part(job, s) && f->tree.parent[s] >= 0) f->waiting[f->tree.parent[s]]++;
#pragma omp parallel num_threads(f->threads)
#pragma omp single
  start_tasks(job);
}

/* ---- whole and in parts ---------------------------------------------------------------------- */

/* An entry of A that is not finite has made a pivot of its column or of its row fail; looked for
 * only then. */
static bool is_finite(const front_job *job) {
  const eb_multifrontal *f = job->f;
  double sum = 0; /* stays 0 unless an entry is infinite or NaN */
  for (int32_t s = 0; s < f->tree.count; s++) {
    if (job->marked && !job->marked[s]) continue;
    int32_t from = f->entry_start[f->tree.first[s]], to = f->entry_start[f->tree.first[s + 1]];
    for (int32_t e = from; e < to; e++)
      for (int k = 0; k < 9; k++) sum += 0 * job->A->values[9 * (int64_t)f->entry[e] + k];
  }
  return sum == 0;
}

static eb_reason run(eb_multifrontal *f, const eb_block_matrix *A, const uint8_t *marked,
                     eb_step_log *log) {
  front_job job = {.f = f, .A = A, .marked = marked, .failed = INT64_MAX};
  run_job(&job);
  eb_log_count(log, EB_COUNT_FLOPS, flops_of_all(&job));
  f->A = A;
  f->failed_row = -1;
  f->valid = job.failed == INT64_MAX;
  if (f->valid) return EB_CONVERGED_DIRECT;
  if (!is_finite(&job)) return EB_DIVERGED_NAN;
  f->failed_row = 3 * (int64_t)f->tree.order[job.failed / 3] + job.failed % 3;
  return EB_NOT_POSITIVE_DEFINITE;
}

static eb_error check_matrix(const eb_multifrontal *f, const eb_block_matrix *A) {
  if (A->rows == f->tree.nodes && A->start[A->rows] == f->blocks) return EB_OK;
  return EB_ERROR(
      EB_ERR_INVALID,
      "the matrix has %d rows and %d blocks, the pattern of the factor %d and %d; create a new "
      "factor for a new pattern",
      A->rows, A->start[A->rows], f->tree.nodes, f->blocks);
}

eb_error eb_multifrontal_factor(eb_multifrontal *f, const eb_block_matrix *A, eb_step_log *log,
                                eb_reason *reason) {
  EB_ASSERT(f && A && reason);
  *reason = EB_DIVERGED_LIBRARY;
  EB_TRY(check_matrix(f, A));
  *reason = run(f, A, NULL, log);
  eb_log_count(log, EB_COUNT_FACTORIZATIONS, 1);
  return EB_OK;
}

/* Marks the ancestors of marked supernodes and, of the others, those whose dropped update matrices
 * are wanted: by a marked parent or by one that is formed again itself. Returns how many are
 * marked. */
static int32_t spread_marks(eb_multifrontal *f, uint8_t *marked) {
  const int32_t *parent = f->tree.parent;
  int32_t count = 0;
  for (int32_t s = 0; s < f->tree.count; s++) { /* parents come later: one pass does */
    if (!marked[s]) continue;
    if (parent[s] >= 0) marked[parent[s]] = 1;
    count++;
  }
  for (int32_t s = f->tree.count - 1; s >= 0 && count && f->keep_updates != EB_KEEP_ALL; s--)
    f->formed[s] =
        !f->kept[s] && !marked[s] && parent[s] >= 0 && (marked[parent[s]] || f->formed[parent[s]]);
  return count;
}

eb_error eb_multifrontal_update(eb_multifrontal *f, const eb_block_matrix *A, uint8_t *marked,
                                eb_step_log *log, eb_reason *reason) {
  EB_ASSERT(f && A && marked && reason);
  *reason = EB_DIVERGED_LIBRARY;
  if (f->keep_updates == EB_KEEP_NONE)
    return EB_ERROR(EB_ERR_USAGE, "this factor drops its update matrices and can only be computed "
                                  "whole; set keep_updates");
  if (!f->valid)
    return EB_ERROR(EB_ERR_USAGE, "there is no factor to update; factor the whole matrix first");
  EB_TRY(check_matrix(f, A));
  int32_t count = spread_marks(f, marked);
  *reason = EB_CONVERGED_DIRECT;
  if (count) *reason = run(f, A, marked, log);
  f->A = A;
  eb_log_count(log, EB_COUNT_UPDATED_SUPERNODES, count);
  return EB_OK;
}
