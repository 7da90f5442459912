/* Preconditioned conjugate gradients for A x = b, A symmetric positive definite.
 *
 *   p = z + beta p,  alpha = (r, z) / (p, A p),  x += alpha p,  r -= alpha A p,  z = inv(M) r
 * Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1. Stops at |r| <= max(rtol |b|, atol),
 * 2-norms, for the true residual: the recurrence drifts from b - A x, so it is recomputed when the
 * recurrence says converged, and the iteration goes on from it when it does not agree.
 *
 * Preconditioners of the conjugate gradients: none, diagonal, diagonal blocks, incomplete Cholesky.
 *
 *   jacobi         M = diag(A)
 *   block-jacobi   M = diag(A_ii), each block as L L^T (Saad 2003, 4.1 and 12.2)
 *   ic             M = L L^T without fill, IC(0), on 3x3 blocks:
 *     L_ik = (A_ik - sum_{j<k} L_ij L_kj^T) inv(L_kk)^T
 *     L_ii L_ii^T = A_ii - sum_{j<i} L_ij L_ij^T
 * for blocks (i, k) of A's lower triangle only. Meijerink and van der Vorst 1977; when a pivot
 * block is not positive definite, the factorization starts again on A + shift diag(A) with a
 * growing shift (Manteuffel 1980), which is diagonally dominant, hence factorable, in the end.
 *
 * IC's two triangular solves are made row sums, their chain from row to row as short as it can be,
 * by scaling with W_i = inv(L_ii) beforehand:
 *   L y = r:    y_i = W_i r_i   - sum_{k<i} (W_i L_ik) y_k
 *   L^T z = y:  z_i = W_i^T y_i - sum_{k>i} (W_i^T L_ki^T) z_k
 * so after the factorization L's blocks are replaced by the first products, and the second ones are
 * stored by rows of the upper triangle.
 *
 * Memory: 3 or 9 numbers a row; IC: as much as A. IC's row i is factored after all rows it refers
 * to, in order, on the calling thread; so are its solves.
 * Fails (as an outcome) when a diagonal entry or block is not positive definite: no shift helps.
 *
 * Needs a product, dot products and a preconditioner that is symmetric positive definite.
 * Workspace: 4 vectors.
 * Fails with EB_DIVERGED_BREAKDOWN where (p, A p) or (r, z) is not positive (A or M is not
 * definite), EB_DIVERGED_NAN and EB_DIVERGED_MAX_IT; ends with EB_CONVERGED_STAGNATED when the true
 * residual has stopped falling above the tolerance. x is always the last iterate. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/option.h"
#include "problems/base/text.h"
#include "solvers/linalg/block3.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/linear_kind.h"

enum { PARALLEL_FROM = 30000 }; /* shorter vectors are done before a team wakes up */

/* ---- incomplete Cholesky --------------------------------------------------------------------- */

static const double first_shift =
    1e-3; /* growing by 2: the smallest that works, within a factor 2 */
static const double largest_shift = 1e6; /* A + 1e6 diag(A) is dominant for any row of 1e6 blocks */
static const double pivot_floor = 1e-8;  /* of the diagonal entry: smaller pivots make L useless */

/* Blocks by rows; block b of row i in column column[b] comes from block source[b] of another
 * matrix. */
typedef struct triangle {
  int32_t *start;  /* rows + 1 */
  int32_t *column; /* ascending */
  int32_t *source;
  double *values; /* 9 a block */
} triangle;

typedef struct incomplete {
  int32_t rows;
  triangle lower; /* source: in A; the last block of row i is (i, i) and ends as W_i */
  triangle upper; /* source: in lower, transposed; without the diagonal */
  int32_t *slot;  /* rows: block of the row at work with this column, or -1 */
} incomplete;

static eb_error allocate_triangle(triangle *t, int32_t rows, size_t blocks) {
  EB_TRY(EB_NEW(t->start, (size_t)rows + 1));
  EB_TRY(EB_NEW(t->column, blocks));
  EB_TRY(EB_NEW(t->source, blocks));
  return EB_NEW(t->values, 9 * blocks);
}

static void free_triangle(triangle *t) {
  free(t->start);
  free(t->column);
  free(t->source);
  free(t->values);
}

static void destroy_incomplete(incomplete *ic) {
  if (!ic) return;
  free_triangle(&ic->lower);
  free_triangle(&ic->upper);
  free(ic->slot);
  free(ic);
}

static eb_error create_incomplete(const eb_block_matrix *pattern, incomplete **out) {
  incomplete *ic;
  int32_t rows = pattern->rows;
  size_t strict = ((size_t)pattern->start[rows] - (size_t)rows) / 2;
  EB_TRY(EB_NEW(ic, 1));
  ic->rows = rows;
  eb_error error = allocate_triangle(&ic->lower, rows, strict + (size_t)rows);
  if (!error) error = allocate_triangle(&ic->upper, rows, strict);
  if (!error) error = EB_NEW(ic->slot, rows);
  if (error) {
    destroy_incomplete(ic);
    return error;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < pattern->rows; i++) {
    for (int32_t b = pattern->start[i]; b <= pattern->diagonal[i]; b++) {
      ic->lower.column[count] = pattern->column[b];
      ic->lower.source[count++] = b;
    }
    ic->lower.start[i + 1] = count;
  }
  /* Transposes the strict lower triangle; next: rows of workspace. */
  for (int32_t i = 0; i < rows; i++)
    for (int32_t b = ic->lower.start[i]; b < ic->lower.start[i + 1] - 1; b++)
      ic->upper.start[ic->lower.column[b] + 1]++;
  for (int32_t i = 0; i < rows; i++) {
    ic->slot[i] = ic->upper.start[i];
    ic->upper.start[i + 1] += ic->upper.start[i];
  }
  for (int32_t i = 0; i < rows; i++)
    for (int32_t b = ic->lower.start[i]; b < ic->lower.start[i + 1] - 1; b++) {
      int32_t at = ic->slot[ic->lower.column[b]]++;
      ic->upper.column[at] = i;
      ic->upper.source[at] = b;
    }
  for (int32_t i = 0; i < rows; i++) ic->slot[i] = -1;
  *out = ic;
  return EB_OK;
}

/* Row i of L from the rows above it; false when its pivot block is not positive definite.
 *
 * Row by row, columns ascending (up-looking): when block (i, k) is reached, all (i, j) with j <
 * k are final. The sum over j runs over row k's blocks and finds row i's block of the same
 * column through `slot`, so that it costs one look-up a block whatever the lengths of the rows.
 * What falls on a block that A does not have is dropped: that is the zero of IC(0), and the
 * reason why a pivot can fail although A is definite. inv(L_kk)^T is a product with W_k^T: the
 * pivot's place holds its inverse already. */
static bool factor_row(incomplete *ic, int32_t i, const double diagonal[3]) {
  const int32_t *start = ic->lower.start, *column = ic->lower.column;
  const int32_t first = start[i], last = start[i + 1] - 1;
  double *values = ic->lower.values, *pivot = values + 9 * (int64_t)last, inverse[9];
  for (int32_t b = first; b < last; b++) ic->slot[column[b]] = b;
  for (int32_t b = first; b < last; b++) {
    const int32_t k = column[b], end = start[k + 1] - 1;
    double *value = values + 9 * (int64_t)b, scaled[9];
    for (int32_t c = start[k]; c < end; c++) {
      int32_t match = ic->slot[column[c]];
      if (match >= 0)
        eb_block3_subtract_product(values + 9 * (int64_t)match, values + 9 * (int64_t)c, value);
    }
    memset(scaled, 0, sizeof scaled);
    eb_block3_subtract_product(value, values + 9 * (int64_t)end, scaled); /* - value W_k^T */
    for (int e = 0; e < 9; e++) value[e] = -scaled[e];
    eb_block3_subtract_product(value, value, pivot);
  }
  for (int32_t b = first; b < last; b++) ic->slot[column[b]] = -1;
  if (!eb_block3_inverse_factor(pivot, diagonal, pivot_floor, inverse)) return false;
  memcpy(pivot, inverse, sizeof inverse);
  return true;
}

/* The shift is relative to each diagonal entry, which keeps it independent of units and of how
 * mass and stiffness differ from node to node: with A scaled to a unit diagonal it adds the
 * shift to every eigenvalue. */
static bool factor_shifted(incomplete *ic, const eb_block_matrix *A, double shift) {
  const triangle *lower = &ic->lower;
  for (int32_t i = 0; i < ic->rows; i++) {
    for (int32_t b = lower->start[i]; b < lower->start[i + 1]; b++)
      memcpy(lower->values + 9 * (int64_t)b, A->values + 9 * (int64_t)lower->source[b],
             9 * sizeof *lower->values);
    double *pivot = lower->values + 9 * (int64_t)(lower->start[i + 1] - 1);
    double diagonal[3] = {pivot[0], pivot[4], pivot[8]};
    for (int r = 0; r < 3; r++) pivot[4 * r] += shift * diagonal[r];
    if (!factor_row(ic, i, diagonal)) return false;
  }
  return true;
}

static const double *inverse_pivot(const incomplete *ic, int32_t i) {
  return ic->lower.values + 9 * (int64_t)(ic->lower.start[i + 1] - 1);
}

/* False when a diagonal entry of A is not positive, so that no shift can help. */
static bool factor_incomplete(incomplete *ic, const eb_block_matrix *A) {
  for (int32_t i = 0; i < ic->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    if (!(a[0] > 0 && a[4] > 0 && a[8] > 0)) return false;
  }
  for (double shift = 0; shift <= largest_shift; shift = shift > 0 ? 2 * shift : first_shift) {
    if (!factor_shifted(ic, A, shift)) continue;
    /* Upper blocks W_i^T L_ki^T = (L_ki W_i)^T, then lower ones W_i L_ik, which overwrite L. */
    const triangle *lower = &ic->lower, *upper = &ic->upper;
    for (int32_t i = 0; i < ic->rows; i++)
      for (int32_t b = upper->start[i]; b < upper->start[i + 1]; b++)
        eb_block3_product_transposed(lower->values + 9 * (int64_t)upper->source[b],
                                     inverse_pivot(ic, i), upper->values + 9 * (int64_t)b);
    for (int32_t i = 0; i < ic->rows; i++)
      for (int32_t b = lower->start[i]; b < lower->start[i + 1] - 1; b++)
        eb_block3_lower_product(inverse_pivot(ic, i), lower->values + 9 * (int64_t)b);
    return true;
  }
  return false;
}

/* L L^T z = r. */
static void solve_incomplete(const incomplete *ic, const double *r, double *z) {
  const triangle *lower = &ic->lower, *upper = &ic->upper;
  double scaled[3], sum[3];
  for (int32_t i = 0; i < ic->rows; i++) {
    double *zi = z + 3 * (int64_t)i;
    eb_block3_lower(inverse_pivot(ic, i), r + 3 * (int64_t)i, scaled);
    eb_block3_row(lower->values, lower->column, lower->start[i], lower->start[i + 1] - 1, z, sum);
    for (int k = 0; k < 3; k++) zi[k] = scaled[k] - sum[k];
  }
  for (int32_t i = ic->rows - 1; i >= 0; i--) {
    double *zi = z + 3 * (int64_t)i;
    eb_block3_lower_transposed(inverse_pivot(ic, i), zi, scaled);
    eb_block3_row(upper->values, upper->column, upper->start[i], upper->start[i + 1], z, sum);
    for (int k = 0; k < 3; k++) zi[k] = scaled[k] - sum[k];
  }
}

/* ---- preconditioners ------------------------------------------------------------------------- */

typedef enum kind { NONE, JACOBI, BLOCK_JACOBI, INCOMPLETE, KINDS } kind;

static const char *const names[KINDS] = {"none", "jacobi", "block-jacobi", "ic"};

typedef struct preconditioner {
  kind kind;
  int32_t rows, blocks;
  /* JACOBI: 3 a row, 1 / a_kk; BLOCK_JACOBI: 9 a row, inv(L_ii) with A_ii = L L^T */
  double *inverse;
  incomplete *ic;
} preconditioner;

static eb_error find_kind(const char *name, kind *out) {
  for (int k = 0; k < KINDS; k++)
    if (name && strcmp(name, names[k]) == 0) {
      *out = (kind)k;
      return EB_OK;
    }
  return eb_unknown(EB_ERR_USAGE, name ? name : "", names, KINDS, "there is no preconditioner");
}

static void destroy_preconditioner(preconditioner *p) {
  if (!p) return;
  destroy_incomplete(p->ic);
  free(p->inverse);
  free(p);
}

static eb_error create_preconditioner(const char *name, const eb_block_matrix *pattern,
                                      preconditioner **out) {
  preconditioner *p;
  kind which = NONE;
  EB_TRY(find_kind(name, &which));
  EB_TRY(EB_NEW(p, 1));
  p->kind = which;
  p->rows = pattern->rows;
  p->blocks = pattern->start[pattern->rows];
  eb_error error = EB_OK;
  if (which == JACOBI) error = EB_NEW(p->inverse, 3 * (size_t)p->rows);
  if (which == BLOCK_JACOBI) error = EB_NEW(p->inverse, 9 * (size_t)p->rows);
  if (which == INCOMPLETE) error = create_incomplete(pattern, &p->ic);
  if (error)
    destroy_preconditioner(p);
  else
    *out = p;
  return error;
}

static void set_preconditioner(preconditioner *p, const eb_block_matrix *A, bool *definite) {
  int bad = 0;
  if (p->kind == INCOMPLETE) bad = !factor_incomplete(p->ic, A);
  if (p->kind == JACOBI || p->kind == BLOCK_JACOBI) {
    bool blocks = p->kind == BLOCK_JACOBI;
#pragma omp parallel for schedule(static) reduction(| : bad) if (3 * p->rows >= PARALLEL_FROM)
    for (int32_t i = 0; i < p->rows; i++) {
      const double *a = A->values + 9 * (int64_t)A->diagonal[i];
      const double diagonal[3] = {a[0], a[4], a[8]};
      for (int r = 0; r < 3 && !blocks; r++) {
        bad |= !(diagonal[r] > 0);
        p->inverse[3 * (int64_t)i + r] = 1 / diagonal[r];
      }
      if (blocks) bad |= !eb_block3_inverse_factor(a, diagonal, 0, p->inverse + 9 * (int64_t)i);
    }
  }
  *definite = !bad;
}

static void precondition(preconditioner *p, const double *r, double *z) {
  const int64_t n = 3 * (int64_t)p->rows;
  switch (p->kind) {
  case JACOBI:
#pragma omp parallel for simd schedule(static) if (3 * p->rows >= PARALLEL_FROM)
    for (int64_t k = 0; k < n; k++) z[k] = p->inverse[k] * r[k];
    break;
  case BLOCK_JACOBI:
    /* inv(A_ii) = W^T W with W = inv(L): two triangular products, positive definite whatever
     * rounding has done to W. */
#pragma omp parallel for schedule(static) if (3 * p->rows >= PARALLEL_FROM)
    for (int32_t i = 0; i < p->rows; i++) {
      const double *w = p->inverse + 9 * (int64_t)i;
      double y[3];
      eb_block3_lower(w, r + 3 * (int64_t)i, y);
      eb_block3_lower_transposed(w, y, z + 3 * (int64_t)i);
    }
    break;
  case INCOMPLETE:
    solve_incomplete(p->ic, r, z);
    break;
  default:
    memcpy(z, r, (size_t)n * sizeof *z);
  }
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

typedef struct cg {
  int64_t n;
  double rtol, atol;
  int64_t max_iterations;
  preconditioner *preconditioner;
  const eb_block_matrix *A;
  double *r, *z, *p, *q; /* n each; q = A p */
} cg;

/* One solve under way. */
typedef struct cg_run {
  double tolerance, drift_floor; /* |r| below which the true residual is looked at */
  double checked;                /* true residual when last looked at in the iteration */
  double b_norm, norm;           /* |b|, |r| */
  double rz;
  int64_t iterations, matvecs;
  eb_step_log *residuals; /* NULL: not logged */
} cg_run;

static void cg_destroy(void *data) {
  cg *c = data;
  destroy_preconditioner(c->preconditioner);
  free(c->r);
  free(c->z);
  free(c->p);
  free(c->q);
  free(c);
}

static eb_error cg_create(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                          eb_step_log *log, void **data) {
  cg *c;
  EB_TRY(EB_NEW(c, 1));
  c->n = 3 * (int64_t)pattern->rows;
  c->rtol = settings->rtol;
  c->atol = settings->atol;
  c->max_iterations = settings->max_iterations;
  eb_log_begin(log, EB_PHASE_ANALYZE);
  eb_error error = EB_NEW(c->r, c->n);
  if (!error) error = EB_NEW(c->z, c->n);
  if (!error) error = EB_NEW(c->p, c->n);
  if (!error) error = EB_NEW(c->q, c->n);
  if (!error) error = create_preconditioner(settings->preconditioner, pattern, &c->preconditioner);
  eb_log_end(log, EB_PHASE_ANALYZE);
  if (error)
    cg_destroy(c);
  else
    *data = c;
  return error;
}

static eb_error cg_set_matrix(void *data, const eb_block_matrix *A, eb_step_log *log,
                              eb_reason *reason) {
  cg *c = data;
  bool definite = false;
  double sum = 0; /* stays 0 unless an entry of a diagonal block is infinite or NaN */
  (void)log;
  c->A = A;
  for (int32_t i = 0; i < A->rows; i++)
    for (int k = 0; k < 9; k++) sum += 0 * A->values[9 * (int64_t)A->diagonal[i] + k];
  *reason = EB_DIVERGED_NAN;
  if (sum != 0) return EB_OK;
  set_preconditioner(c->preconditioner, A, &definite);
  *reason = definite ? EB_CONVERGED_ITS : EB_NOT_POSITIVE_DEFINITE;
  return EB_OK;
}

/* z = inv(M) r and the next direction: p = z + beta p, or z alone at a start. beta = (r, z) / (r, z
 * before) makes p A-orthogonal to the direction before, and with exact arithmetic to all. (r, z) is
 * |r|^2 in the norm of inv(M): not positive means that M is not definite. */
static eb_reason new_direction(cg *c, cg_run *run, bool at_start) {
  const double *z = c->z;
  double *p = c->p, previous = run->rz;
  precondition(c->preconditioner, c->r, c->z);
  run->rz = eb_dot(c->n, c->r, c->z);
  if (isnan(run->rz)) return EB_DIVERGED_NAN;
  if (!(run->rz > 0)) return run->norm > 0 ? EB_DIVERGED_BREAKDOWN : EB_CONVERGED_STAGNATED;
  if (at_start) {
    memcpy(p, z, (size_t)c->n * sizeof *p);
    return EB_RUNNING;
  }
  double beta = run->rz / previous;
#pragma omp parallel for simd schedule(static) if (c->n >= PARALLEL_FROM)
  for (int64_t k = 0; k < c->n; k++) p[k] = z[k] + beta * p[k];
  return EB_RUNNING;
}

/* alpha minimizes 1/2 (x, A x) - (b, x) along p, whose curvature there is (p, A p): not positive
 * means that A is not definite, and that there is no minimum to go to.
 *
 * In exact arithmetic x then minimizes the energy norm of the error over x0 + span(z0, inv(M) A
 * z0, ...), so that after m iterations that norm has fallen by at least
 *
 *   2 ((sqrt(k) - 1) / (sqrt(k) + 1))^m,   k = cond(inv(M) A)
 *
 * (Saad 2003, Section 6.11.3): iterations grow with sqrt(k). The 2-norm of r, which is what is
 * tested, may rise in between. */
static eb_reason advance(cg *c, cg_run *run, double *x) {
  const double *p = c->p, *q = c->q;
  double *r = c->r;
  eb_block_multiply(c->A, c->p, c->q);
  run->matvecs++;
  double curvature = eb_dot(c->n, p, q);
  if (isnan(curvature)) return EB_DIVERGED_NAN;
  if (!(curvature > 0)) return EB_DIVERGED_BREAKDOWN;
  double alpha = run->rz / curvature;
#pragma omp parallel for simd schedule(static) if (c->n >= PARALLEL_FROM)
  for (int64_t k = 0; k < c->n; k++) {
    x[k] += alpha * p[k];
    r[k] -= alpha * q[k];
  }
  run->norm = eb_norm(c->n, r);
  run->iterations++;
  if (run->residuals) eb_log_residual(run->residuals, run->norm);
  return isnan(run->norm) ? EB_DIVERGED_NAN : EB_RUNNING;
}

/* The recurrence has come below the tolerance: what does the true residual say? When it has not
 * even halved since it was last looked at, rounding is all that is left of the progress.
 *
 * Starting anew from the true residual loses the A-orthogonality to earlier directions, which
 * costs a few iterations; going on with the drifted one would end at a residual that x does not
 * have. */
static eb_reason verify(cg *c, cg_run *run, const double *b, const double *x) {
  /* r = b - A x and its norm. What the recurrence keeps for r differs from this by rounding errors
   * that add up to some eps |A| |x| times the iterations (Greenbaum 1997, "Estimating the
   * attainable accuracy of recursively computed residual methods", SIAM J. Matrix Anal. Appl.
   * 18(3)). */
  double *r = c->r;
  eb_block_multiply(c->A, x, r);
#pragma omp parallel for simd schedule(static) if (c->n >= PARALLEL_FROM)
  for (int64_t k = 0; k < c->n; k++) r[k] = b[k] - r[k];
  run->matvecs++;
  run->norm = eb_norm(c->n, r);
  if (run->norm <= c->rtol * run->b_norm) return EB_CONVERGED_RTOL;
  if (run->norm <= c->atol) return EB_CONVERGED_ATOL;
  if (isnan(run->norm)) return EB_DIVERGED_NAN;
  if (run->norm > 0.5 * run->checked) return EB_CONVERGED_STAGNATED;
  run->checked = run->norm;
  return EB_RUNNING;
}

static eb_reason iterate(cg *c, cg_run *run, const double *b, double *x) {
  run->checked = INFINITY;
  eb_reason reason = verify(c, run, b, x);
  run->checked = INFINITY; /* a warm start near the tolerance is no stagnation */
  if (run->residuals) eb_log_residual(run->residuals, run->norm);
  bool at_start = true;
  while (reason == EB_RUNNING) {
    reason = new_direction(c, run, at_start);
    if (reason != EB_RUNNING) break;
    reason = advance(c, run, x);
    at_start = false;
    if (reason == EB_RUNNING && run->norm <= fmax(run->tolerance, run->drift_floor)) {
      reason = verify(c, run, b, x);
      at_start = true;
    }
    if (reason == EB_RUNNING && run->iterations >= c->max_iterations) reason = EB_DIVERGED_MAX_IT;
  }
  return reason;
}

static eb_error cg_solve(void *data, const double *b, double *x, eb_step_log *log,
                         bool log_residuals, eb_linear_result *result) {
  cg *c = data;
  cg_run run = {.residuals = log_residuals ? log : NULL};
  run.b_norm = eb_norm(c->n, b);
  if (run.b_norm == 0) {
    memset(x, 0, (size_t)c->n * sizeof *x);
    *result = (eb_linear_result){.reason = EB_CONVERGED_RTOL};
    return EB_OK;
  }
  run.tolerance = fmax(c->rtol * run.b_norm, c->atol);
  run.drift_floor = 0.01 * DBL_EPSILON * run.b_norm; /* no true residual gets below this */
  result->reason = isfinite(run.b_norm) ? iterate(c, &run, b, x) : EB_DIVERGED_NAN;
  result->iterations = run.iterations;
  result->residual = run.norm;
  eb_log_count(log, EB_COUNT_MATVECS, (double)run.matvecs);
  /* An iteration has three dots and three updates of vectors, 2 n each; a block 9 multiply-adds. */
  const preconditioner *p = c->preconditioner;
  const double a_row[KINDS] = {0, 3, 21, 36}; /* IC: two inverse pivots; off-diagonal blocks 18 */
  double applied = a_row[p->kind] * p->rows;
  if (p->kind == INCOMPLETE) applied += 18.0 * (p->blocks - p->rows);
  double vectors = 12.0 * (double)c->n + applied;
  double product = 18.0 * c->A->start[c->A->rows];
  eb_log_count(log, EB_COUNT_FLOPS,
               (double)run.matvecs * product + (double)run.iterations * vectors);
  return EB_OK;
}

const eb_linear_kind eb_linear_cg = {.name = "cg",
                                     .create = cg_create,
                                     .set_matrix = cg_set_matrix,
                                     .solve = cg_solve,
                                     .destroy = cg_destroy};
