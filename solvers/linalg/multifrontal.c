/* Life of a multifrontal factor and what its callers see; see multifrontal.h for the equations.
 *
 *   ordering.c                 nested dissection of the node graph
 *   multifrontal_supernodes.c  elimination tree, column counts, supernodes, merged
 *   multifrontal_layout.c      rows and runs of the fronts, branches, memory
 *   multifrontal_factor.c      numbers of the fronts, whole or in parts, on several threads
 *   multifrontal_solve.c       triangular solves and refinement
 *   dense.c, dense_wide.c      kernels of one front */
#include "problems/base/memory.h"
#include "solvers/linalg/multifrontal_data.h"

/* ---- life ------------------------------------------------------------------------------------ */

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

static eb_error build(eb_multifrontal *f, const eb_multifrontal_settings *settings,
                      const eb_block_matrix *pattern, eb_step_log *log) {
  const eb_supernodes *t = &f->tree;
  int32_t *work;
  if (pattern->rows < 0 || pattern->rows > INT32_MAX / 3)
    return EB_ERROR(EB_ERR_LIMIT, "a factor of %d nodes; it can index 0 to %d", pattern->rows,
                    INT32_MAX / 3);
  EB_TRY(EB_NEW(work, pattern->rows));
  bool symmetric = pattern->start[0] == 0 && is_symmetric(pattern, work);
  free(work);
  if (!symmetric)
    return EB_ERROR(EB_ERR_INVALID, "the pattern to factor is not symmetric, not sorted or lacks a "
                                    "diagonal block");
  f->blocks = pattern->start[pattern->rows];
  EB_TRY(eb_supernodes_create(pattern, settings->order, log, &f->tree));
  eb_log_begin(log, EB_PHASE_ANALYZE);
  eb_error error = eb_multifrontal_layout_create(f, pattern, settings->memory_limit);
  eb_log_end(log, EB_PHASE_ANALYZE);
  EB_TRY(error);
  eb_log_memory(log, EB_MEMORY_FACTOR, (double)f->memory.factor);
  eb_log_memory(log, EB_MEMORY_UPDATES, (double)f->memory.updates);
  int32_t *pivots;
  EB_TRY(EB_NEW(pivots, t->count));
  for (int32_t s = 0; s < t->count; s++) pivots[s] = t->first[s + 1] - t->first[s];
  error = eb_log_tree(log, t->count, t->parent, pivots, t->rows, t->flops);
  free(pivots);
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

/* ---- the factor as a sparse matrix ----------------------------------------------------------- */

int64_t eb_multifrontal_entries(const eb_multifrontal *f) {
  int64_t entries = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int64_t n = eb_front_pivots(f, s);
    entries += n * eb_front_rows(f, s) - n * (n - 1) / 2;
  }
  return entries;
}

/* Entries: a front with n pivots and R rows has n columns, of R, R - 1, ... R - n + 1 entries.
 *
 * Compressed columns, explicit zeros of merged supernodes included. Row r of a front's columns is
 * the r-th pivot, or an axis of the node (r - n) / 3 below them. */
void eb_multifrontal_export(const eb_multifrontal *f, int64_t *start, int32_t *row, double *value) {
  int64_t at = 0, column = 0;
  start[0] = 0;
  for (int32_t s = 0; s < f->tree.count; s++) {
    int64_t ld = eb_panel_leading(f, s), n = eb_front_pivots(f, s);
    const int32_t *below = f->below + f->below_start[s];
    for (int64_t j = 0; j < n; j++) {
      int64_t offset = f->panel[s] + j * ld;
      for (int64_t r = j; r < eb_front_rows(f, s); r++) {
        row[at] = r < n ? (int32_t)(3 * (int64_t)f->tree.first[s] + r)
                        : 3 * below[(r - n) / 3] + (int32_t)((r - n) % 3);
        value[at++] = f->single_precision ? (double)((const float *)f->L)[offset + r]
                                          : ((const double *)f->L)[offset + r];
      }
      start[++column] = at;
    }
  }
}
