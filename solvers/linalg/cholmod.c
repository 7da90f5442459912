/* A = L L^T by CHOLMOD's supernodal factorization, then two triangular solves: the reference that
 * the project's own factor (multifrontal.h) is tested and measured against.
 *
 * Reference: Chen, Davis, Hager and Rajamanickam 2008, "Algorithm 887: CHOLMOD", ACM TOMS 35(3);
 * Karypis and Kumar 1998 for the ordering (METIS nested dissection).
 *
 * The node graph is ordered, a third of the size of the scalar one, and the order is expanded by 3,
 * so that supernodes hold whole nodes. Everything symbolic is done once: the permuted lower
 * triangle S that CHOLMOD factors is kept together with the place in the block values that each of
 * its entries comes from, so a new matrix is one gather and one numeric factorization.
 *
 * Needs a symmetric matrix.
 * Fails (as outcomes) with EB_NOT_POSITIVE_DEFINITE on a pivot that is not positive or that is only
 * rounding, and EB_DIVERGED_NAN on entries or solutions that are not finite.
 * Workspace: L, S (12 bytes an entry), 4 vectors. */
#include <cholmod.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/linear_kind.h"
#include "solvers/linalg/one_thread.h"
#include "solvers/linalg/ordering.h"

typedef struct supernodal {
  cholmod_common common;
  bool started;
  int32_t rows;      /* nodes */
  cholmod_sparse *S; /* lower triangle of the permuted matrix */
  int32_t *source;   /* entry of S -> index into the block values */
  int32_t *diagonal; /* permuted scalar row -> index of its diagonal entry in the block values */
  cholmod_factor *L;
  cholmod_dense *X, *E; /* solution in permuted order, CHOLMOD's gather space */
} supernodal;

static eb_error check(const supernodal *c, const char *what) {
  switch (c->common.status) {
  case CHOLMOD_OUT_OF_MEMORY:
    return EB_ERROR(EB_ERR_MEMORY, "%s: CHOLMOD is out of memory; use a smaller scene or cg", what);
  case CHOLMOD_TOO_LARGE:
    return EB_ERROR(EB_ERR_LIMIT,
                    "%s: the factor has more entries than CHOLMOD can index; use cg or petsc",
                    what);
  default:
    break;
  }
  if (c->common.status < CHOLMOD_OK)
    return EB_ERROR(EB_ERR_LIBRARY, "%s: CHOLMOD failed with status %d", what, c->common.status);
  return EB_OK;
}

/* ---- the permuted lower triangle ------------------------------------------------------------- */

/* S for the order scalar[k] (k-th scalar row): of the column of old scalar row `old` the rows not
 * above the diagonal, and where their values come from. A is symmetric, so that the column is read
 * from row `old` of the blocks. position: 3 rows of workspace for the inverse of the order. */
static void fill_lower(supernodal *c, const eb_block_matrix *A, const int32_t *scalar,
                       int32_t *position) {
  int32_t n = 3 * A->rows, at = 0, *start = c->S->p, *row = c->S->i;
  for (int32_t k = 0; k < n; k++) position[scalar[k]] = k;
  start[0] = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t i = scalar[k] / 3, r = scalar[k] % 3;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int32_t s = 0; s < 3; s++) {
        int32_t below = position[3 * A->column[b] + s];
        if (below < k) continue;
        row[at] = below;
        c->source[at++] = 9 * b + 3 * r + s;
      }
    start[k + 1] = at;
    c->diagonal[k] = 9 * A->diagonal[i] + 4 * r;
  }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* A node's diagonal block has 6 entries on and below the diagonal, and of two blocks that mirror
 * each other one is below it: S has 9 (blocks - rows) / 2 + 6 rows entries, and as many sources,
 * 12 bytes each. */
static eb_error allocate(supernodal *c, const eb_block_matrix *A) {
  /* The strict half of the blocks and 6 entries of each diagonal one. */
  int64_t off = (int64_t)A->start[A->rows] - A->rows, entries = off / 2 * 9 + 6 * (int64_t)A->rows;
  if (entries > INT32_MAX || (int64_t)A->start[A->rows] > INT32_MAX / 9)
    return EB_ERROR(EB_ERR_LIMIT,
                    "the matrix has %lld entries, more than CHOLMOD's 32-bit indices reach; use cg",
                    (long long)entries);
  size_t n = 3 * (size_t)A->rows;
  EB_TRY(EB_NEW(c->source, entries));
  EB_TRY(EB_NEW(c->diagonal, n));
  c->S = cholmod_allocate_sparse(n, n, (size_t)entries, false, true, -1, CHOLMOD_REAL, &c->common);
  return check(c, "allocating the matrix");
}

/* The order of the nodes is composed with the postorder that CHOLMOD finds for S: P = P_post
 * P_nodes, and S is built again for P, so that later matrices are gathered into their final place.
 *
 * Analysis keeps METIS' order up to a postordering, which moves columns but changes no fill. */
static eb_error analyze(supernodal *c, const eb_block_matrix *A, int32_t *scalar,
                        int32_t *position) {
  int32_t n = 3 * A->rows;
  fill_lower(c, A, scalar, position);
  c->L = cholmod_analyze(c->S, &c->common);
  EB_TRY(check(c, "symbolic analysis"));
  int32_t *perm = c->L->Perm; /* S's row that comes k-th: compose with the order that made S */
  for (int32_t k = 0; k < n; k++) position[k] = scalar[perm[k]];
  memcpy(perm, position, (size_t)n * sizeof *perm);
  fill_lower(c, A, perm, position);
  EB_TRY(eb_memory_require(8.0 * (double)c->L->xsize, "CHOLMOD's factor",
                           "use a smaller scene or cg"));
  const int to_ll = true, to_super = true, packed = true, monotonic = true;
  cholmod_change_factor(CHOLMOD_REAL, to_ll, to_super, packed, monotonic, c->L, &c->common);
  EB_TRY(check(c, "allocating the factor"));
  /* Touched here, so that the first factorization takes as long as the others. */
  memset(c->L->x, 0, c->L->xsize * sizeof(double));
  c->X = cholmod_allocate_dense((size_t)n, 1, (size_t)n, CHOLMOD_REAL, &c->common);
  size_t gather = c->L->maxesize ? c->L->maxesize : 1;
  c->E = cholmod_allocate_dense(gather, 1, gather, CHOLMOD_REAL, &c->common);
  return check(c, "allocating the solution");
}

static eb_error prepare(supernodal *c, const eb_block_matrix *A, int32_t *work, eb_step_log *log) {
  int32_t n = 3 * A->rows, *scalar = work, *position = work + n, *order = position + n;
  eb_log_begin(log, EB_PHASE_ORDER);
  eb_error error = eb_order_nodes(A, order);
  for (int32_t k = 0; k < n && !error; k++) scalar[k] = 3 * order[k / 3] + k % 3;
  eb_log_end(log, EB_PHASE_ORDER);
  EB_TRY(error);
  eb_log_begin(log, EB_PHASE_ANALYZE);
  error = allocate(c, A);
  if (!error) error = analyze(c, A, scalar, position);
  eb_log_end(log, EB_PHASE_ANALYZE);
  if (!error) eb_log_memory(log, EB_MEMORY_FACTOR, 8.0 * (double)c->L->xsize);
  return error;
}

static void supernodal_destroy(void *data) {
  supernodal *c = data;
  if (c->started) {
    cholmod_free_sparse(&c->S, &c->common);
    cholmod_free_factor(&c->L, &c->common);
    cholmod_free_dense(&c->X, &c->common);
    cholmod_free_dense(&c->E, &c->common);
    cholmod_finish(&c->common);
  }
  free(c->source);
  free(c->diagonal);
  free(c);
}

static eb_error supernodal_create(const eb_linear_settings *settings,
                                  const eb_block_matrix *pattern, eb_step_log *log, void **data) {
  (void)settings;
  supernodal *c;
  int32_t *work = NULL;
  EB_TRY(EB_NEW(c, 1));
  c->rows = pattern->rows;
  eb_error error = EB_NEW(work, 7 * (size_t)pattern->rows);
  if (!error) {
    eb_one_thread before = eb_one_thread_begin();
    cholmod_start(&c->common);
    c->started = true;
    c->common.print = 0;
    c->common.supernodal = CHOLMOD_SUPERNODAL;
    c->common.nmethods = 1;
    c->common.method[0].ordering = CHOLMOD_NATURAL; /* ours, which S has been permuted by */
    c->common.postorder = true;
    c->common.quick_return_if_not_posdef = true;
    error = prepare(c, pattern, work, log);
    eb_one_thread_end(before);
  }
  free(work);
  if (error)
    supernodal_destroy(c);
  else
    *data = c;
  return error;
}

/* ---- numeric factorization ------------------------------------------------------------------- */

/* Copies the block values into S; false when one of them is not finite.
 *
 * The finite test is by comparison: NaN <= DBL_MAX is false, as is infinity's. It costs nothing
 * in a loop that waits for memory, and an infinite entry may come out of the factorization as a
 * pivot that is not positive: the wrong reason. */
static bool gather(supernodal *c, const eb_block_matrix *A) {
  const double *values = A->values;
  const int32_t *source = c->source;
  int32_t entries = ((int32_t *)c->S->p)[3 * c->rows];
  double *x = c->S->x;
  int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
  for (int32_t k = 0; k < entries; k++) {
    x[k] = values[source[k]];
    bad |= !(fabs(x[k]) <= DBL_MAX);
  }
  return !bad;
}

/* A pivot of some eps a_jj is what rounding has left of a zero, although its sign came out
 * positive: the matrix is singular as far as doubles can tell. Relative to the entry itself, so
 * that the scale of a row does not matter. */
static bool pivots_have_digits(const supernodal *c, const eb_block_matrix *A) {
  const double rounding = 64 * DBL_EPSILON;
  const cholmod_factor *L = c->L;
  const int32_t *super = L->super, *px = L->px, *pi = L->pi;
  const double *x = L->x;
  for (size_t s = 0; s < L->nsuper; s++) {
    int32_t height = pi[s + 1] - pi[s];
    for (int32_t k = super[s]; k < super[s + 1]; k++) {
      int64_t column = k - super[s];
      double pivot = x[px[s] + column * height + column];
      if (!(pivot * pivot > rounding * A->values[c->diagonal[k]])) return false;
    }
  }
  return true;
}

static eb_error supernodal_set_matrix(void *data, const eb_block_matrix *A, eb_step_log *log,
                                      eb_reason *reason) {
  supernodal *c = data;
  double shift[2] = {0, 0};
  *reason = EB_DIVERGED_NAN;
  if (!gather(c, A)) return EB_OK;
  eb_one_thread before = eb_one_thread_begin();
  cholmod_super_numeric(c->S, NULL, shift, c->L, &c->common);
  eb_one_thread_end(before);
  EB_TRY(check(c, "numeric factorization"));
  eb_log_count(log, EB_COUNT_FACTORIZATIONS, 1);
  eb_log_count(log, EB_COUNT_FLOPS, c->common.fl);
  bool definite = c->common.status == CHOLMOD_OK && pivots_have_digits(c, A);
  *reason = definite ? EB_CONVERGED_DIRECT : EB_NOT_POSITIVE_DEFINITE;
  return EB_OK;
}

/* ---- solve ----------------------------------------------------------------------------------- */

static eb_error supernodal_solve(void *data, const double *b, double *x, eb_step_log *log,
                                 bool log_residuals, eb_linear_result *result) {
  supernodal *c = data;
  (void)log_residuals;
  const int32_t n = 3 * c->rows, *perm = c->L->Perm;
  double *y = c->X->x;
  for (int32_t k = 0; k < n; k++) y[k] = b[perm[k]];
  eb_one_thread before = eb_one_thread_begin();
  cholmod_super_lsolve(c->L, c->X, c->E, &c->common);
  cholmod_super_ltsolve(c->L, c->X, c->E, &c->common);
  eb_one_thread_end(before);
  EB_TRY(check(c, "triangular solve"));
  double finite = 0;
  for (int32_t k = 0; k < n; k++) {
    x[perm[k]] = y[k];
    finite += 0 * y[k]; /* stays 0 unless an entry is infinite or NaN */
  }
  eb_log_count(log, EB_COUNT_FLOPS, 4 * c->common.lnz);
  result->reason = finite == 0 ? EB_CONVERGED_DIRECT : EB_DIVERGED_NAN;
  result->residual = -1;
  return EB_OK;
}

const eb_linear_kind eb_linear_cholmod = {.name = "cholmod",
                                          .direct = true,
                                          .create = supernodal_create,
                                          .set_matrix = supernodal_set_matrix,
                                          .solve = supernodal_solve,
                                          .destroy = supernodal_destroy};
