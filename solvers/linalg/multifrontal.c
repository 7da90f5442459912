/* Life of a multifrontal factor and what its callers see; see multifrontal.h for the equations.
 *
 *   multifrontal_tree.c        elimination tree and column counts of the node graph
 *   multifrontal_supernodes.c  supernodes, merged
 *   multifrontal_structure.c   rows, runs and entries of the fronts
 *   multifrontal_layout.c      memory and branches
 *   multifrontal_front.c       numbers of one front
 *   multifrontal_schedule.c    all fronts on several threads
 *   multifrontal_solve.c       triangular solves */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal_data.h"
#include "solvers/linalg/multifrontal_supernodes.h"
#include "solvers/linalg/one_thread.h"
#include "solvers/linalg/ordering.h"

/* ---- checks ---------------------------------------------------------------------------------- */

/* Every block has its mirror image, rows ascend: reading the blocks row by row, the mirror images
 * of a row come in its own order. next: rows of workspace. */
static bool is_symmetric(const eb_block_matrix *A, int32_t *next) {
  for (int32_t i = 0; i < A->rows; i++) {
    next[i] = A->start[i];
    if (A->start[i] > A->start[i + 1] || A->diagonal[i] < A->start[i] ||
        A->diagonal[i] >= A->start[i + 1] || A->column[A->diagonal[i]] != i)
      return false;
  }
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      if (j < 0 || j >= A->rows || next[j] >= A->start[j + 1] || A->column[next[j]++] != i)
        return false;
    }
  return true;
}

static eb_error check_pattern(const eb_block_matrix *A) {
  if (A->rows < 0 || A->rows > INT32_MAX / 3)
    return EB_ERROR(EB_ERR_LIMIT, "a factor of %d nodes; it can index 0 to %d", A->rows,
                    INT32_MAX / 3);
  int32_t *next;
  EB_TRY(EB_NEW(next, A->rows));
  bool symmetric = A->start[0] == 0 && is_symmetric(A, next);
  free(next);
  if (!symmetric)
    return EB_ERROR(EB_ERR_INVALID, "the pattern to factor is not symmetric, not sorted or lacks a "
                                    "diagonal block");
  return EB_OK;
}

static eb_error check_matrix(const eb_multifrontal *f, const eb_block_matrix *A) {
  if (A->rows == f->tree.nodes && A->start[A->rows] == f->blocks) return EB_OK;
  return EB_ERROR(
      EB_ERR_INVALID,
      "the matrix has %d rows and %d blocks, the pattern of the factor %d and %d; create a new "
      "factor for a new pattern",
      A->rows, A->start[A->rows], f->tree.nodes, f->blocks);
}

/* ---- life ------------------------------------------------------------------------------------ */

static eb_error order(const eb_multifrontal_settings *settings, const eb_block_matrix *pattern,
                      eb_elimination_tree *tree) {
  if (settings->order) return eb_elimination_tree_create(pattern, settings->order, tree);
  int32_t *nodes;
  EB_TRY(EB_NEW(nodes, pattern->rows));
  eb_one_thread before = eb_one_thread_begin();
  eb_error error = eb_order_nodes(pattern, nodes);
  eb_one_thread_end(before);
  if (!error) error = eb_elimination_tree_create(pattern, nodes, tree);
  free(nodes);
  return error;
}

static eb_error log_structure(const eb_multifrontal *f, eb_step_log *log) {
  const eb_supernodes *t = &f->tree;
  int32_t *pivots;
  eb_log_memory(log, EB_MEMORY_FACTOR, (double)f->memory.factor);
  eb_log_memory(log, EB_MEMORY_UPDATES, (double)f->memory.updates);
  EB_TRY(EB_NEW(pivots, t->count));
  for (int32_t s = 0; s < t->count; s++) pivots[s] = t->first[s + 1] - t->first[s];
  eb_error error = eb_log_tree(log, t->count, t->parent, pivots, t->rows, t->flops);
  free(pivots);
  return error;
}

static eb_error analyze(eb_multifrontal *f, const eb_multifrontal_settings *settings,
                        const eb_block_matrix *pattern, const eb_elimination_tree *tree,
                        eb_step_log *log) {
  EB_TRY(eb_supernodes_create(tree, &f->tree));
  EB_TRY(eb_multifrontal_structure_create(f, pattern));
  EB_TRY(eb_multifrontal_layout_create(f, settings->memory_limit));
  return log_structure(f, log);
}

static eb_error build(eb_multifrontal *f, const eb_multifrontal_settings *settings,
                      const eb_block_matrix *pattern, eb_step_log *log) {
  eb_elimination_tree tree = {0};
  EB_TRY(check_pattern(pattern));
  f->blocks = pattern->start[pattern->rows];
  eb_log_begin(log, EB_PHASE_ORDER);
  eb_error error = order(settings, pattern, &tree);
  eb_log_end(log, EB_PHASE_ORDER);
  eb_log_begin(log, EB_PHASE_ANALYZE);
  if (!error) error = analyze(f, settings, pattern, &tree, log);
  eb_log_end(log, EB_PHASE_ANALYZE);
  eb_elimination_tree_clear(&tree);
  return error;
}

eb_error eb_multifrontal_create(const eb_multifrontal_settings *settings,
                                const eb_block_matrix *pattern, eb_step_log *log,
                                eb_multifrontal **out) {
  *out = NULL;
  if (settings->threads < 1 || settings->memory_limit < 0)
    return EB_ERROR(EB_ERR_USAGE,
                    "multifrontal factor: %d threads (at least 1), memory limit %lld (at least 0)",
                    settings->threads, (long long)settings->memory_limit);
  eb_multifrontal *f;
  EB_TRY(EB_NEW(f, 1));
  f->threads = settings->threads;
  f->keep_updates = settings->keep_updates;
  f->single_precision = settings->single_precision;
  f->failed_row = -1;
  eb_error error = build(f, settings, pattern, log);
  if (error)
    eb_multifrontal_destroy(f);
  else
    *out = f;
  return error;
}

void eb_multifrontal_destroy(eb_multifrontal *f) {
  if (!f) return;
  eb_multifrontal_layout_clear(f);
  eb_multifrontal_structure_clear(f);
  eb_supernodes_clear(&f->tree);
  free(f);
}

const eb_supernodes *eb_multifrontal_supernodes(const eb_multifrontal *factor) {
  return &factor->tree;
}

eb_multifrontal_memory eb_multifrontal_memory_of(const eb_multifrontal *factor) {
  return factor->memory;
}

int64_t eb_multifrontal_failed_row(const eb_multifrontal *factor) {
  return factor->failed_row;
}

const double *eb_multifrontal_seconds(const eb_multifrontal *factor) {
  return factor->seconds;
}

/* ---- numeric factorization ------------------------------------------------------------------- */

/* An entry of A that is not finite has made a pivot of its column or of its row fail; looked for
 * only then. */
static bool is_finite(const eb_front_job *job) {
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

static eb_reason outcome(const eb_front_job *job) {
  eb_multifrontal *f = job->f;
  f->failed_row = -1;
  f->valid = job->failed == INT64_MAX;
  if (f->valid) return EB_CONVERGED_DIRECT;
  if (!is_finite(job)) return EB_DIVERGED_NAN;
  f->failed_row = 3 * (int64_t)f->tree.order[job->failed / 3] + job->failed % 3;
  return EB_NOT_POSITIVE_DEFINITE;
}

static eb_reason run(eb_multifrontal *f, const eb_block_matrix *A, const uint8_t *marked) {
  eb_front_job job = {.f = f, .A = A, .marked = marked, .failed = INT64_MAX};
  eb_multifrontal_run(&job);
  f->A = A;
  return outcome(&job);
}

eb_error eb_multifrontal_factor(eb_multifrontal *f, const eb_block_matrix *A, eb_step_log *log,
                                eb_reason *reason) {
  *reason = EB_DIVERGED_LIBRARY;
  EB_TRY(check_matrix(f, A));
  *reason = run(f, A, NULL);
  double flops = 0;
  for (int32_t s = 0; s < f->tree.count; s++) flops += f->tree.flops[s];
  eb_log_count(log, EB_COUNT_FACTORIZATIONS, 1);
  eb_log_count(log, EB_COUNT_FLOPS, flops);
  return EB_OK;
}

/* Marks the ancestors too; returns how many supernodes are marked. */
static int32_t mark_ancestors(const eb_supernodes *t, uint8_t *marked, double *flops) {
  int32_t count = 0;
  for (int32_t s = 0; s < t->count; s++) {
    if (!marked[s]) continue;
    if (t->parent[s] >= 0) marked[t->parent[s]] = 1;
    *flops += t->flops[s];
    count++;
  }
  return count;
}

eb_error eb_multifrontal_update(eb_multifrontal *f, const eb_block_matrix *A, uint8_t *marked,
                                eb_step_log *log, eb_reason *reason) {
  *reason = EB_DIVERGED_LIBRARY;
  if (!f->keep_updates)
    return EB_ERROR(EB_ERR_USAGE, "this factor drops its update matrices and can only be computed "
                                  "whole; set keep_updates");
  if (!f->valid)
    return EB_ERROR(EB_ERR_USAGE, "there is no factor to update; factor the whole matrix first");
  EB_TRY(check_matrix(f, A));
  double flops = 0;
  int32_t count = mark_ancestors(&f->tree, marked, &flops);
  *reason = EB_CONVERGED_DIRECT;
  if (count) *reason = run(f, A, marked);
  f->A = A;
  eb_log_count(log, EB_COUNT_UPDATED_SUPERNODES, count);
  eb_log_count(log, EB_COUNT_FLOPS, flops);
  return EB_OK;
}
