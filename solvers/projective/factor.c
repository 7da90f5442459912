/* A = L L^T with supernodes, or A = L D L^T by columns where the diagonal is to change.
 *
 * References: Chen, Davis, Hager and Rajamanickam 2008 ("Algorithm 887: CHOLMOD"); Davis and Hager
 * 2005 ("Row modifications of a sparse Cholesky factorization") and 1999 for
 *
 *   L D L^T + k e_i e_i^T = L' D' L'^T,
 *
 * which changes the columns on the path from i to the root of the elimination tree, and adds no
 * entry. Nested dissection of the node graph orders both.
 *
 * The solves are ours: an entry of L meets three coordinates, which fill a vector of four doubles,
 * so that a pass over L costs what reading it costs. Supernodes have one list of rows for all of
 * their columns, 8 bytes an entry; the columns of L D L^T have 12.
 *
 * Needs a symmetric matrix. Workspace: L, the permuted triangle of A, 2 vectors of n lanes. Fails
 * with EB_NOT_POSITIVE_DEFINITE on a pivot that is not positive. One thread. */
#include "solvers/projective/factor.h"

#include <cholmod.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/one_thread.h"
#include "solvers/linalg/ordering.h"

struct eb_scalar_factor {
  cholmod_common common;
  bool started, updates;
  int32_t rows;
  int32_t *order;    /* rows: the row eliminated k-th */
  cholmod_sparse *S; /* the permuted matrix: its lower triangle, or with updates its upper one */
  int32_t *source;   /* entry of S -> entry of the pattern */
  int32_t *diagonal; /* k -> the diagonal entry in S of the row eliminated k-th */
  cholmod_factor *L;
  cholmod_sparse *C; /* columns of an update */
  double *inverse;   /* rows: 1 over the diagonal of L or D */
  eb_v4 *y, *below;  /* rows: the solution in elimination order; rows of one supernode */
};

static eb_error check(const eb_scalar_factor *f, const char *what) {
  if (f->common.status == CHOLMOD_OUT_OF_MEMORY)
    return EB_ERROR(EB_ERR_MEMORY, "%s: CHOLMOD is out of memory; use a smaller scene", what);
  if (f->common.status < CHOLMOD_OK)
    return EB_ERROR(EB_ERR_LIBRARY, "%s: CHOLMOD failed with status %d", what, f->common.status);
  return EB_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* The triangle of the matrix in the order f->order. position: rows, workspace. */
static void fill_triangle(eb_scalar_factor *f, const eb_block_matrix *pattern, int32_t *position) {
  int32_t *start = f->S->p, *row = f->S->i, at = 0;
  for (int32_t k = 0; k < f->rows; k++) position[f->order[k]] = k;
  for (int32_t k = 0; k < f->rows; k++) {
    int32_t i = f->order[k];
    start[k] = at;
    for (int32_t b = pattern->start[i]; b < pattern->start[i + 1]; b++) {
      int32_t other = position[pattern->column[b]];
      if (f->updates ? other > k : other < k) continue;
      if (other == k) f->diagonal[k] = at;
      row[at] = other;
      f->source[at++] = b;
    }
  }
  start[f->rows] = at;
}

/* CHOLMOD postorders what METIS has ordered, which moves columns and changes no fill; S is filled
 * again in the order of both. */
static eb_error analyze(eb_scalar_factor *f, const eb_block_matrix *pattern, int32_t *position) {
  fill_triangle(f, pattern, position);
  f->L = cholmod_analyze(f->S, &f->common);
  EB_TRY(check(f, "symbolic analysis"));
  const int32_t *perm = f->L->Perm;
  for (int32_t k = 0; k < f->rows; k++) position[k] = f->order[perm[k]];
  memcpy(f->order, position, (size_t)f->rows * sizeof *position);
  fill_triangle(f, pattern, position);
  const int to_ll = !f->updates, to_super = !f->updates, packed = !f->updates, monotonic = true;
  cholmod_change_factor(CHOLMOD_REAL, to_ll, to_super, packed, monotonic, f->L, &f->common);
  return check(f, "allocating the factor");
}

static eb_error allocate(eb_scalar_factor *f, const eb_block_matrix *pattern) {
  size_t n = (size_t)f->rows, entries = ((size_t)pattern->start[f->rows] + n) / 2;
  EB_TRY(EB_NEW(f->order, n));
  EB_TRY(EB_NEW(f->source, entries));
  EB_TRY(EB_NEW(f->diagonal, n));
  EB_TRY(EB_NEW(f->inverse, n));
  EB_TRY(EB_NEW(f->y, n));
  EB_TRY(EB_NEW(f->below, n));
  f->S = cholmod_allocate_sparse(n, n, entries, false, true, f->updates ? 1 : -1, CHOLMOD_REAL,
                                 &f->common);
  EB_TRY(check(f, "allocating the matrix"));
  if (!f->updates) return EB_OK;
  f->C = cholmod_allocate_sparse(n, n, n, true, true, 0, CHOLMOD_REAL, &f->common);
  cholmod_allocate_work(n, 4 * n, f->common.maxrank * n, &f->common);
  return check(f, "allocating columns of an update");
}

static eb_error prepare(eb_scalar_factor *f, const eb_block_matrix *pattern, eb_step_log *log) {
  int32_t *position = NULL;
  EB_TRY(allocate(f, pattern));
  eb_log_begin(log, EB_PHASE_ORDER);
  eb_error error = eb_order_nodes(pattern, f->order);
  eb_log_end(log, EB_PHASE_ORDER);
  EB_TRY(error);
  EB_TRY(EB_NEW(position, f->rows));
  eb_log_begin(log, EB_PHASE_ANALYZE);
  error = analyze(f, pattern, position);
  eb_log_end(log, EB_PHASE_ANALYZE);
  free(position);
  if (!error) eb_log_memory(log, EB_MEMORY_FACTOR, 8.0 * (double)eb_scalar_factor_entries(f));
  return error;
}

eb_error eb_scalar_factor_create(const eb_block_matrix *pattern, bool updates, eb_step_log *log,
                                 eb_scalar_factor **out) {
  eb_scalar_factor *f;
  *out = NULL;
  EB_TRY(EB_NEW(f, 1));
  f->rows = pattern->rows;
  f->updates = updates;
  eb_one_thread before = eb_one_thread_begin();
  cholmod_start(&f->common);
  f->started = true;
  f->common.print = 0;
  f->common.supernodal = updates ? CHOLMOD_SIMPLICIAL : CHOLMOD_SUPERNODAL;
  f->common.nmethods = 1;
  f->common.method[0].ordering = CHOLMOD_NATURAL; /* ours, which S has been permuted by */
  f->common.postorder = true;
  f->common.quick_return_if_not_posdef = true;
  eb_error error = prepare(f, pattern, log);
  eb_one_thread_end(before);
  if (error)
    eb_scalar_factor_destroy(f);
  else
    *out = f;
  return error;
}

void eb_scalar_factor_destroy(eb_scalar_factor *f) {
  if (!f) return;
  if (f->started) {
    cholmod_free_sparse(&f->S, &f->common);
    cholmod_free_sparse(&f->C, &f->common);
    cholmod_free_factor(&f->L, &f->common);
    cholmod_finish(&f->common);
  }
  void *const owned[] = {f->order, f->source, f->diagonal, f->inverse, f->y, f->below};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(f);
}

int64_t eb_scalar_factor_entries(const eb_scalar_factor *f) {
  if (!f->updates) return (int64_t)f->L->xsize;
  const int32_t *count = f->L->ColCount;
  int64_t entries = 0;
  for (int32_t k = 0; k < f->rows; k++) entries += count[k];
  return entries;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* 1 over the pivots, by which solves multiply; false when one is not positive. */
static bool invert_pivots(eb_scalar_factor *f) {
  const cholmod_factor *L = f->L;
  const double *x = L->x;
  const int32_t *p = L->p, *super = L->super, *px = L->px, *pi = L->pi;
  bool positive = true;
  if (f->updates)
    for (int32_t k = 0; k < f->rows; k++) {
      positive &= x[p[k]] > 0;
      f->inverse[k] = 1 / x[p[k]];
    }
  for (size_t s = 0; !f->updates && s < L->nsuper; s++)
    for (int32_t k = super[s]; k < super[s + 1]; k++)
      f->inverse[k] = 1 / x[px[s] + (int64_t)(k - super[s]) * (pi[s + 1] - pi[s] + 1)];
  return positive;
}

eb_error eb_scalar_factor_set(eb_scalar_factor *f, const double *value, const double *extra,
                              eb_step_log *log, eb_reason *reason) {
  double *x = f->S->x, shift[2] = {0, 0};
  const int32_t entries = ((int32_t *)f->S->p)[f->rows];
  for (int32_t k = 0; k < entries; k++) x[k] = value[f->source[k]];
  for (int32_t k = 0; extra && k < f->rows; k++) x[f->diagonal[k]] += extra[f->order[k]];
  eb_one_thread before = eb_one_thread_begin();
  if (f->updates)
    cholmod_rowfac(f->S, NULL, shift, 0, (size_t)f->rows, f->L, &f->common);
  else
    cholmod_super_numeric(f->S, NULL, shift, f->L, &f->common);
  eb_one_thread_end(before);
  EB_TRY(check(f, "numeric factorization"));
  eb_log_count(log, EB_COUNT_FACTORIZATIONS, 1);
  eb_log_count(log, EB_COUNT_FLOPS, f->common.fl);
  bool definite = f->common.status == CHOLMOD_OK && f->L->minor == f->L->n && invert_pivots(f);
  *reason = definite ? EB_CONVERGED_DIRECT : EB_NOT_POSITIVE_DEFINITE;
  return EB_OK;
}

/* The columns sqrt(|change_i|) e_i of one sign, in elimination order. */
static int32_t fill_columns(eb_scalar_factor *f, const double *change, double sign) {
  int32_t *start = f->C->p, *row = f->C->i, count = 0;
  double *x = f->C->x;
  for (int32_t k = 0; k < f->rows; k++) {
    double size = sign * change[f->order[k]];
    if (!(size > 0)) continue;
    row[count] = k;
    x[count++] = sqrt(size);
    start[count] = count;
  }
  start[0] = 0;
  f->C->ncol = (size_t)count;
  return count;
}

/* What is added goes before what is taken away, so that the matrix stays definite between. */
eb_error eb_scalar_factor_update(eb_scalar_factor *f, const double *change, int32_t *changed,
                                 eb_reason *reason) {
  *changed = 0;
  if (!f->updates) return EB_ERROR(EB_ERR_USAGE, "this factor cannot be updated; factor again");
  eb_one_thread before = eb_one_thread_begin();
  for (int up = 1; up >= 0; up--) {
    int32_t count = fill_columns(f, change, up ? 1 : -1);
    *changed += count;
    if (count > 0) cholmod_updown(up, f->C, f->L, &f->common);
  }
  eb_one_thread_end(before);
  EB_TRY(check(f, "rank updates"));
  bool definite = f->common.status == CHOLMOD_OK && invert_pivots(f);
  *reason = definite ? EB_CONVERGED_DIRECT : EB_NOT_POSITIVE_DEFINITE;
  return EB_OK;
}

/* ---- solves by columns ----------------------------------------------------------------------- */

static void forward_columns(const eb_scalar_factor *f) {
  const int32_t *p = f->L->p, *i = f->L->i, *count = f->L->nz;
  const double *x = f->L->x;
  for (int32_t k = 0; k < f->rows; k++) {
    eb_v4 own = f->y[k];
    for (int32_t e = p[k] + 1; e < p[k] + count[k]; e++) f->y[i[e]] -= x[e] * own;
  }
}

static void backward_columns(const eb_scalar_factor *f) {
  const int32_t *p = f->L->p, *i = f->L->i, *count = f->L->nz;
  const double *x = f->L->x;
  for (int32_t k = f->rows - 1; k >= 0; k--) {
    eb_v4 even = f->inverse[k] * f->y[k], odd = {0};
    int32_t e = p[k] + 1, end = p[k] + count[k];
    for (; e + 1 < end; e += 2) {
      even -= x[e] * f->y[i[e]];
      odd -= x[e + 1] * f->y[i[e + 1]];
    }
    if (e < end) even -= x[e] * f->y[i[e]];
    f->y[k] = even + odd;
  }
}

/* ---- solves by supernodes -------------------------------------------------------------------- */

/* A supernode: columns first .. first + pivots - 1, and `below` rows under its triangle. */
typedef struct supernode {
  int32_t first, pivots, below, height;
  const double *panel; /* height x pivots, by columns */
  const int32_t *row;  /* below */
} supernode;

static supernode supernode_of(const cholmod_factor *L, size_t s) {
  const int32_t *super = L->super, *px = L->px, *pi = L->pi;
  int32_t pivots = super[s + 1] - super[s], height = pi[s + 1] - pi[s];
  return (supernode){super[s],
                     pivots,
                     height - pivots,
                     height,
                     (const double *)L->x + px[s],
                     (const int32_t *)L->s + pi[s] + pivots};
}

enum { TILE = 4 }; /* rows or columns of a panel that share what they read of the solution */

/* y_row -= L21 y_pivots, `count` rows at a time: a tile of a column is half a cache line. */
EB_INLINE void subtract_rows(const supernode *s, const eb_v4 *pivot, int32_t at, int count,
                             eb_v4 *y) {
  const double *entry = s->panel + s->pivots + at;
  eb_v4 sum[TILE];
  for (int t = 0; t < count; t++) sum[t] = y[s->row[at + t]];
  for (int32_t j = 0; j < s->pivots; j++, entry += s->height)
    for (int t = 0; t < count; t++) sum[t] -= entry[t] * pivot[j];
  for (int t = 0; t < count; t++) y[s->row[at + t]] = sum[t];
}

/* What is left of whole tiles goes together as well: a row by itself would wait for every one of
 * its products. */
static void subtract_panel_rows(const supernode *s, const eb_v4 *pivot, eb_v4 *y) {
  int32_t at = 0;
  for (; at + TILE <= s->below; at += TILE) subtract_rows(s, pivot, at, TILE, y);
  switch (s->below - at) {
  case 3:
    subtract_rows(s, pivot, at, 3, y);
    break;
  case 2:
    subtract_rows(s, pivot, at, 2, y);
    break;
  case 1:
    subtract_rows(s, pivot, at, 1, y);
    break;
  default:
    break;
  }
}

static void forward_supernode(const supernode *s, const double *inverse, eb_v4 *y) {
  eb_v4 *pivot = y + s->first;
  for (int32_t j = 0; j < s->pivots; j++) {
    const double *column = s->panel + (int64_t)j * s->height;
    eb_v4 own = pivot[j] = inverse[s->first + j] * pivot[j];
    for (int32_t i = j + 1; i < s->pivots; i++) pivot[i] -= column[i] * own;
  }
  subtract_panel_rows(s, pivot, y);
}

/* pivot_j -= L21^T y_below for `count` columns from j on; even and odd rows apart, so that few
 * columns do not wait for their own sums. */
EB_INLINE void subtract_columns(const supernode *s, int32_t j, int count, const eb_v4 *below,
                                eb_v4 *pivot) {
  const double *column[TILE];
  eb_v4 even[TILE], odd[TILE] = {{0}};
  int32_t i = 0;
  for (int t = 0; t < count; t++) {
    column[t] = s->panel + (int64_t)(j + t) * s->height + s->pivots;
    even[t] = pivot[j + t];
  }
  for (; i + 1 < s->below; i += 2)
    for (int t = 0; t < count; t++) {
      even[t] -= column[t][i] * below[i];
      odd[t] -= column[t][i + 1] * below[i + 1];
    }
  for (int t = 0; t < count; t++)
    pivot[j + t] = i < s->below ? even[t] + odd[t] - column[t][i] * below[i] : even[t] + odd[t];
}

static void subtract_panel_columns(const supernode *s, const eb_v4 *below, eb_v4 *pivot) {
  int32_t j = 0;
  for (; j + TILE <= s->pivots; j += TILE) subtract_columns(s, j, TILE, below, pivot);
  switch (s->pivots - j) {
  case 3:
    subtract_columns(s, j, 3, below, pivot);
    break;
  case 2:
    subtract_columns(s, j, 2, below, pivot);
    break;
  case 1:
    subtract_columns(s, j, 1, below, pivot);
    break;
  default:
    break;
  }
}

static void backward_supernode(const supernode *s, const double *inverse, eb_v4 *below, eb_v4 *y) {
  eb_v4 *pivot = y + s->first;
  for (int32_t i = 0; i < s->below; i++) below[i] = y[s->row[i]];
  subtract_panel_columns(s, below, pivot);
  for (int32_t j = s->pivots - 1; j >= 0; j--) {
    const double *column = s->panel + (int64_t)j * s->height;
    eb_v4 sum = pivot[j];
    for (int32_t i = j + 1; i < s->pivots; i++) sum -= column[i] * pivot[i];
    pivot[j] = inverse[s->first + j] * sum;
  }
}

void eb_scalar_factor_solve(eb_scalar_factor *f, const eb_v4 *b, eb_v4 *x) {
  for (int32_t k = 0; k < f->rows; k++) f->y[k] = b[f->order[k]];
  if (f->updates) {
    forward_columns(f);
    backward_columns(f);
  } else {
    for (size_t s = 0; s < f->L->nsuper; s++) {
      supernode node = supernode_of(f->L, s);
      forward_supernode(&node, f->inverse, f->y);
    }
    for (size_t s = f->L->nsuper; s-- > 0;) {
      supernode node = supernode_of(f->L, s);
      backward_supernode(&node, f->inverse, f->below, f->y);
    }
  }
  for (int32_t k = 0; k < f->rows; k++) x[f->order[k]] = f->y[k];
}
