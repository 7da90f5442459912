/* Rank updates of CHOLMOD's simplicial factor; see updown.h.
 *
 * CHOLMOD walks from a column to the row of its first entry below the diagonal. In a supernode that
 * is the next column, at its end the first row of the front, so that the exported pattern, zeros of
 * merged supernodes included, is closed under that walk and no update adds an entry: the corners of
 * an element are all neighbours of one another. */
#include "solvers/warp_cholesky/updown.h"

#include <cholmod.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/one_thread.h"

enum {
  SIZE = 12,              /* rows of an element matrix */
  BATCH = 64,             /* elements whose columns are applied together */
  COLUMNS = BATCH * SIZE, /* at most, of one sign */
  SCRATCH = 34 * SIZE     /* for LAPACK */
};

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);

struct eb_updown {
  cholmod_common common;
  int32_t rows; /* scalar */
  const eb_multifrontal *source;
  const eb_supernodes *tree;
  int64_t entries, *start; /* rows + 1 */
  cholmod_factor *L;
  cholmod_sparse *up, *down; /* rows x COLUMNS, columns collected so far */
  int32_t collected;         /* elements in them */
  cholmod_dense *X, *Y, *E;  /* of solves */
};

static eb_error check(const eb_updown *u, const char *what) {
  if (u->common.status == CHOLMOD_OUT_OF_MEMORY)
    return EB_ERROR(EB_ERR_MEMORY, "%s: CHOLMOD is out of memory; use update=incremental", what);
  if (u->common.status < CHOLMOD_OK)
    return EB_ERROR(EB_ERR_LIBRARY, "%s: CHOLMOD failed with status %d", what, u->common.status);
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

static cholmod_sparse *empty_columns(eb_updown *u) {
  cholmod_sparse *C = cholmod_allocate_sparse((size_t)u->rows, COLUMNS, SIZE * COLUMNS, true, true,
                                              0, CHOLMOD_REAL, &u->common);
  if (C) C->ncol = 0;
  return C;
}

/* Indices of 32 bits serve the simplicial factor as they do the matrix; its entries number those
 * of the supernodal one, explicit zeros included. */
static eb_error build(eb_updown *u) {
  if (u->entries > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT,
                    "the factor has %lld entries, more than CHOLMOD's 32-bit indices reach; use "
                    "update=incremental",
                    (long long)u->entries);
  EB_TRY(EB_NEW(u->start, (size_t)u->rows + 1));
  /* A factor that is the identity, with room for the entries of L: CHOLMOD can only update
   * simplicial factors, column by column, and grows a column that has no room. With all entries
   * reserved at once none ever moves. */
  const int to_ll = false, to_super = false, packed = true, monotonic = true;
  u->L = cholmod_allocate_factor((size_t)u->rows, &u->common);
  EB_TRY(check(u, "allocating the factor"));
  u->L->ordering = CHOLMOD_GIVEN; /* solves heed Perm only then */
  int32_t *perm = u->L->Perm;
  for (int32_t k = 0; k < u->rows; k++) perm[k] = 3 * u->tree->order[k / 3] + k % 3;
  cholmod_change_factor(CHOLMOD_REAL, to_ll, to_super, packed, monotonic, u->L, &u->common);
  EB_TRY(check(u, "allocating the factor"));
  cholmod_reallocate_factor((size_t)u->entries, u->L, &u->common);
  EB_TRY(check(u, "allocating the factor"));
  u->up = empty_columns(u);
  u->down = empty_columns(u);
  return check(u, "allocating the updates");
}

eb_error eb_updown_create(const eb_multifrontal *factor, eb_step_log *log, eb_updown **out) {
  eb_updown *u;
  *out = NULL;
  EB_TRY(EB_NEW(u, 1));
  u->source = factor;
  u->tree = eb_multifrontal_supernodes(factor);
  u->rows = 3 * u->tree->nodes;
  u->entries = eb_multifrontal_entries(factor);
  cholmod_start(&u->common);
  u->common.print = 0;
  eb_error error = build(u);
  if (error) {
    eb_updown_destroy(u);
    return error;
  }
  eb_log_memory(log, EB_MEMORY_FACTOR, (sizeof(double) + sizeof(int32_t)) * (double)u->entries);
  *out = u;
  return EB_OK;
}

void eb_updown_destroy(eb_updown *u) {
  if (!u) return;
  if (u->up) u->up->ncol = COLUMNS;
  if (u->down) u->down->ncol = COLUMNS;
  cholmod_free_sparse(&u->up, &u->common);
  cholmod_free_sparse(&u->down, &u->common);
  cholmod_free_factor(&u->L, &u->common);
  cholmod_free_dense(&u->X, &u->common);
  cholmod_free_dense(&u->Y, &u->common);
  cholmod_free_dense(&u->E, &u->common);
  cholmod_finish(&u->common);
  free(u->start);
  free(u);
}

/* ---- from L L^T to L D L^T ------------------------------------------------------------------- */

eb_error eb_updown_take(eb_updown *u) {
  u->collected = 0;
  u->up->ncol = u->down->ncol = 0;
  if ((int64_t)u->L->nzmax < u->entries)
    return EB_ERROR(EB_ERR_LIBRARY, "CHOLMOD gave %zu entries where %lld were asked for",
                    u->L->nzmax, (long long)u->entries);
  double *x = u->L->x;
  eb_multifrontal_export(u->source, u->start, u->L->i, x);
  /* The columns lie one after the other, in order, in the linked list that a fresh factor has:
   * places 0 .. n are the columns and the list's end, n + 1 its head. */
  int32_t n = u->rows, *p = u->L->p, *nz = u->L->nz, *next = u->L->next, *prev = u->L->prev;
  for (int32_t j = 0; j < n; j++) {
    p[j] = (int32_t)u->start[j];
    nz[j] = (int32_t)(u->start[j + 1] - u->start[j]);
    next[j] = j + 1;
    prev[j + 1] = j;
  }
  p[n] = (int32_t)u->entries;
  next[n + 1] = 0;
  prev[0] = n + 1;
  next[n] = prev[n + 1] = -1;
  u->L->is_monotonic = true;
  /* From the exported A = L L^T to what CHOLMOD updates: A = L' D L'^T with unit lower L', so D_jj
   * = L_jj^2 and L'_ij = L_ij / L_jj. D stands where the ones of the diagonal would. */
  for (int32_t j = 0; j < u->rows; j++) {
    double diagonal = x[u->start[j]];
    x[u->start[j]] = diagonal * diagonal;
    for (int64_t k = u->start[j] + 1; k < u->start[j + 1]; k++) x[k] /= diagonal;
  }
  return EB_OK;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Appends sqrt(|lambda|) u to C, its rows in elimination order as `rank` sorts them. */
static void append(cholmod_sparse *C, const int32_t row[SIZE], const int rank[SIZE], double lambda,
                   const double *vector) {
  int32_t *start = C->p, *index = C->i, at = SIZE * (int32_t)C->ncol;
  double *x = C->x, root = sqrt(fabs(lambda));
  for (int k = 0; k < SIZE; k++) {
    index[at + k] = row[rank[k]];
    x[at + k] = root * vector[rank[k]];
  }
  start[C->ncol++] = at;
  start[C->ncol] = at + SIZE;
}

/* Updates before downdates: the matrix in between, A + U U^T, is the larger one, so that no
 * pivot is lost on the way when neither A nor the result lacks one. */
static eb_error apply(eb_updown *u) {
  const int update = true, downdate = false;
  eb_one_thread before = eb_one_thread_begin();
  if (u->up->ncol) cholmod_updown(update, u->up, u->L, &u->common);
  if (u->down->ncol) cholmod_updown(downdate, u->down, u->L, &u->common);
  eb_one_thread_end(before);
  u->collected = 0;
  u->up->ncol = u->down->ncol = 0;
  return check(u, "update of the factor");
}

/* D = sum lambda_k u_k u_k^T by LAPACK. Eigenvalues below eps |D| are rounding: a rotation changes
 * an element's matrix, of rank 6, into another one of rank 6 on the same 12 rows. Updates are exact
 * up to rounding, which adds up from one to the next: a downdate subtracts what may be nearly all
 * of a pivot (Stewart 1979, "The effects of rounding error on an algorithm for downdating a
 * Cholesky factorization", J. Inst. Math. Appl. 23). */
eb_error eb_updown_change(eb_updown *u, const int32_t node[4], const double difference[144]) {
  double vectors[SIZE * SIZE], lambda[SIZE], scratch[SCRATCH], largest = 0;
  int size = SIZE, length = SCRATCH, info = -1, rank[SIZE];
  int32_t row[SIZE];
  memcpy(vectors, difference, sizeof vectors);
  for (int k = 0; k < SIZE * SIZE; k++) largest = fmax(largest, fabs(difference[k]));
  if (largest == 0) return EB_OK;
  eb_one_thread before = eb_one_thread_begin();
  dsyev_("V", "L", &size, vectors, &size, lambda, scratch, &length, &info, 1, 1);
  eb_one_thread_end(before);
  if (info != 0)
    return EB_ERROR(EB_ERR_LIBRARY, "LAPACK's dsyev failed with %d on a change of an element",
                    info);
  for (int k = 0; k < SIZE; k++) { /* CHOLMOD wants the rows of a column in ascending order */
    row[k] = 3 * u->tree->position[node[k / 3]] + k % 3;
    int at = k;
    for (; at > 0 && row[rank[at - 1]] > row[k]; at--) rank[at] = rank[at - 1];
    rank[at] = k;
  }
  for (int k = 0; k < SIZE; k++)
    if (fabs(lambda[k]) > DBL_EPSILON * largest)
      append(lambda[k] > 0 ? u->up : u->down, row, rank, lambda[k], vectors + SIZE * k);
  return ++u->collected == BATCH ? apply(u) : EB_OK;
}

/* D of L D L^T has as many positive entries as A has positive eigenvalues (Sylvester): A is
 * definite as long as all are. A downdate that makes one negative or NaN is seen here, once for
 * all batches. */
eb_error eb_updown_flush(eb_updown *u, eb_reason *reason) {
  EB_TRY(apply(u));
  const int32_t *start = u->L->p;
  const double *x = u->L->x;
  *reason = EB_CONVERGED_DIRECT;
  for (int32_t j = 0; j < u->rows; j++) {
    double pivot = x[start[j]];
    if (!isfinite(pivot))
      *reason = EB_DIVERGED_NAN;
    else if (!(pivot > 0) && *reason > 0)
      *reason = EB_NOT_POSITIVE_DEFINITE;
  }
  return EB_OK;
}

eb_error eb_updown_solve(eb_updown *u, const double *b, double *x, eb_reason *reason) {
  EB_ASSERT(u->L);
  size_t n = (size_t)u->rows;
  cholmod_dense B = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = x, .xtype = CHOLMOD_REAL};
  if (x != b) memcpy(x, b, n * sizeof *x);
  eb_one_thread before = eb_one_thread_begin();
  cholmod_solve2(CHOLMOD_A, u->L, &B, NULL, &u->X, NULL, &u->Y, &u->E, &u->common);
  eb_one_thread_end(before);
  EB_TRY(check(u, "triangular solve"));
  double finite = 0;
  const double *solution = u->X->x;
  for (size_t k = 0; k < n; k++) {
    x[k] = solution[k];
    finite += 0 * solution[k];
  }
  *reason = finite == 0 ? EB_CONVERGED_DIRECT : EB_DIVERGED_NAN;
  return EB_OK;
}
