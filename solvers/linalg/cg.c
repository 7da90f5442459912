/* Preconditioned conjugate gradients for A x = b, A symmetric positive definite.
 *
 *   p = z + beta p,  alpha = (r, z) / (p, A p),  x += alpha p,  r -= alpha A p,  z = inv(M) r
 * Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1. Stops at |r| <= max(rtol |b|, atol),
 * 2-norms, for the true residual: the recurrence drifts from b - A x, so it is recomputed when the
 * recurrence says converged, and the iteration goes on from it when it does not agree.
 *
 * Preconditioners:
 *   none, jacobi   M = 1, M = diag(A)
 *   block-jacobi   M = diag(A_ii), each block as L L^T (Saad 2003, 4.1 and 12.2)
 *   ic             M = L L^T without fill (incomplete.c)
 * Fails (as an outcome) when a diagonal entry or block is not positive definite.
 *
 * How it runs: an iteration streams A and some fourteen vectors through the cores, and the memory
 * decides. So of a large A the iteration takes half (symmetric.c; the true residual takes it all),
 * and sums are taken piece by piece (eb_pieces) where the entries have just been made: the
 * product with (p, q), the update of x and r with |r|, z and (r, z). One parallel region spans the
 * solve; its threads take contiguous pieces and meet three times an iteration (spin_team.h). The
 * reductions each thread adds up for itself, in one order: same bits, same branches for any number
 * of them.
 *
 * Memory: 3 or 9 numbers a row; IC: as much as A; 0.6 of A where A is large.
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
#include "solvers/linalg/incomplete.h"
#include "solvers/linalg/linear_kind.h"
#include "solvers/linalg/spin_team.h"
#include "solvers/linalg/symmetric.h"

/* Below, an iteration is over in some 15 us, and a solve before a team is awake. */
enum { PARALLEL_BLOCKS = 10000 };

/* ---- preconditioners ------------------------------------------------------------------------- */

typedef enum kind { NONE, JACOBI, BLOCK_JACOBI, INCOMPLETE, KINDS } kind;

static const char *const names[KINDS] = {"none", "jacobi", "block-jacobi", "ic"};

typedef struct preconditioner {
  kind kind;
  int32_t rows, blocks;
  /* JACOBI: 3 a row, 1 / a_kk; BLOCK_JACOBI: 9 a row, inv(L_ii) with A_ii = L L^T */
  double *inverse;
  eb_block_ic *ic;
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
  eb_block_ic_destroy(p->ic);
  free(p->inverse);
  free(p);
}

static eb_error create_preconditioner(const char *name, const eb_block_matrix *pattern, int threads,
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
  if (which == INCOMPLETE) error = eb_block_ic_create(pattern, threads, &p->ic);
  if (error)
    destroy_preconditioner(p);
  else
    *out = p;
  return error;
}

/* False when a diagonal entry or block is not positive definite. */
static bool invert_diagonal(preconditioner *p, const eb_block_matrix *A) {
  bool good = true, blocks = p->kind == BLOCK_JACOBI;
  for (int32_t i = 0; i < p->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    const double diagonal[3] = {a[0], a[4], a[8]};
    for (int r = 0; r < 3 && !blocks; r++) {
      good &= diagonal[r] > 0;
      p->inverse[3 * (int64_t)i + r] = 1 / diagonal[r];
    }
    if (blocks) good &= eb_block3_inverse_factor(a, diagonal, 0, p->inverse + 9 * (int64_t)i);
  }
  return good;
}

/* z = inv(M) r for entries from .. to-1, between nodes; IC has solved for all before. */
static void precondition_entries(const preconditioner *p, int64_t from, int64_t to, const double *r,
                                 double *z) {
  switch (p->kind) {
  case JACOBI:
    for (int64_t k = from; k < to; k++) z[k] = p->inverse[k] * r[k];
    break;
  case BLOCK_JACOBI:
    /* inv(A_ii) = W^T W with W = inv(L): two triangular products, positive definite whatever
     * rounding has done to W. */
    for (int64_t k = from; k < to; k += 3) {
      const double *w = p->inverse + 3 * k;
      double y[3];
      eb_block3_lower(w, r + k, y);
      eb_block3_lower_transposed(w, y, z + k);
    }
    break;
  case INCOMPLETE:
    eb_block_ic_result(p->ic, (int32_t)(from / 3), (int32_t)(to / 3), z);
    break;
  default:
    memcpy(z + from, r + from, (size_t)(to - from) * sizeof *z);
  }
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

typedef enum reduction { SQUARE, RZ, CURVATURE, REDUCTIONS } reduction;

typedef struct cg {
  int64_t n;
  double rtol, atol;
  int64_t max_iterations;
  preconditioner *preconditioner;
  const eb_block_matrix *A;
  eb_symmetric *half;    /* A for the iteration where it comes from memory, or NULL */
  double *r, *z, *p, *q; /* n each; q = A p */
  eb_spin_team *team;
  eb_pieces pieces;
  double sums[REDUCTIONS][EB_PIECES]; /* of the pieces. Between adding up a reduction and writing
                                         the next of its kind all have waited for each other */
} cg;

/* One solve under way, as one thread has it. */
typedef struct cg_run {
  eb_spin_member member;
  int first, last;               /* its pieces are first .. last-1, */
  int64_t from, to;              /* its entries from .. to-1 */
  double tolerance, drift_floor; /* |r| below which the true residual is looked at */
  double checked;                /* true residual when last looked at in the iteration */
  double b_norm, norm;           /* |b|, |r| */
  double rz, next_rz;            /* (r, z) of the last direction and of the next */
  int64_t iterations, matvecs;
  eb_step_log *residuals; /* NULL: not logged, or by another thread */
} cg_run;

static void cg_destroy(void *data) {
  cg *c = data;
  destroy_preconditioner(c->preconditioner);
  eb_spin_team_destroy(c->team);
  eb_symmetric_destroy(c->half);
  free(c->r);
  free(c->z);
  free(c->p);
  free(c->q);
  free(c);
}

static int32_t first_row(const cg *c, int piece) {
  int64_t entry = piece * c->pieces.length;
  return (int32_t)((entry < c->n ? entry : c->n) / 3);
}

static eb_error cg_create(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                          eb_step_log *log, void **data) {
  cg *c;
  EB_TRY(EB_NEW(c, 1));
  c->n = 3 * (int64_t)pattern->rows;
  c->pieces = eb_pieces_of(c->n);
  c->rtol = settings->rtol;
  c->atol = settings->atol;
  c->max_iterations = settings->max_iterations;
  eb_log_begin(log, EB_PHASE_ANALYZE);
  eb_error error = EB_NEW(c->r, c->n);
  if (!error) error = EB_NEW(c->z, c->n);
  if (!error) error = EB_NEW(c->p, c->n);
  if (!error) error = EB_NEW(c->q, c->n);
  if (!error) error = eb_spin_team_create(settings->threads, &c->team);
  if (!error) error = eb_symmetric_create_large(pattern, c->pieces, &c->half);
  if (!error)
    error = create_preconditioner(settings->preconditioner, pattern, settings->threads,
                                  &c->preconditioner);
  eb_log_end(log, EB_PHASE_ANALYZE);
  if (error)
    cg_destroy(c);
  else
    *data = c;
  return error;
}

static bool worth_a_team(const cg *c) {
  return c->preconditioner->blocks >= PARALLEL_BLOCKS;
}

static bool factor_by_team(cg *c, const eb_block_matrix *A) {
  bool definite = false;
  eb_spin_team_begin(c->team);
#pragma omp parallel if (worth_a_team(c))
  {
    eb_spin_member member = eb_spin_team_join(c->team);
    bool good = eb_block_ic_factor(c->preconditioner->ic, A, &member);
    if (member.thread == 0) definite = good;
  }
  return definite;
}

static eb_error cg_set_matrix(void *data, const eb_block_matrix *A, eb_step_log *log,
                              eb_reason *reason) {
  cg *c = data;
  const kind which = c->preconditioner->kind;
  bool definite = true;
  double sum = 0; /* stays 0 unless an entry of a diagonal block is infinite or NaN */
  (void)log;
  c->A = A;
  for (int32_t i = 0; i < A->rows; i++)
    for (int k = 0; k < 9; k++) sum += 0 * A->values[9 * (int64_t)A->diagonal[i] + k];
  *reason = EB_DIVERGED_NAN;
  if (sum != 0) return EB_OK;
  if (c->half) eb_symmetric_set(c->half, A);
  if (which == JACOBI || which == BLOCK_JACOBI) definite = invert_diagonal(c->preconditioner, A);
  if (which == INCOMPLETE) definite = factor_by_team(c, A);
  *reason = definite ? EB_CONVERGED_ITS : EB_NOT_POSITIVE_DEFINITE;
  return EB_OK;
}

static cg_run begin_run(const cg *c, eb_spin_member member, double b_norm) {
  cg_run run = {.member = member,
                .b_norm = b_norm,
                .tolerance = fmax(c->rtol * b_norm, c->atol),
                /* no true residual gets below this */
                .drift_floor = 0.01 * DBL_EPSILON * b_norm};
  eb_symmetric_share(c->half, &member, c->pieces, &run.first, &run.last);
  run.from = 3 * (int64_t)first_row(c, run.first);
  run.to = 3 * (int64_t)first_row(c, run.last);
  return run;
}

static int64_t piece_end(const cg *c, int piece) {
  int64_t end = (piece + 1) * c->pieces.length;
  return end < c->n ? end : c->n;
}

static void sum_piece(cg *c, reduction which, int piece, const double *x, const double *y) {
  const int64_t from = piece * c->pieces.length;
  c->sums[which][piece] = eb_dot_piece(piece_end(c, piece) - from, x + from, y + from);
}

static double total(const cg *c, reduction which) {
  return eb_pieces_sum(c->pieces, c->sums[which]);
}

/* |r| from the sums of its pieces. What the rare second look reads must not change under it. */
static double norm_of_residual(const cg *c, cg_run *run) {
  const double square = total(c, SQUARE), norm = eb_norm_from(square, c->n, c->r);
  if (norm != sqrt(square)) eb_spin_team_wait(&run->member);
  return norm;
}

/* Of the kinds that work node by node, right behind the piece of r that they are applied to. */
static bool is_local(const cg *c) {
  return c->preconditioner->kind != INCOMPLETE;
}

static void precondition_piece(cg *c, int piece) {
  precondition_entries(c->preconditioner, piece * c->pieces.length, piece_end(c, piece), c->r,
                       c->z);
  sum_piece(c, RZ, piece, c->r, c->z);
}

/* z = inv(M) r and (r, z), where advance has not made them along the way. */
static void precondition(cg *c, cg_run *run) {
  if (!is_local(c)) eb_block_ic_solve(c->preconditioner->ic, c->r, &run->member);
  for (int piece = run->first; piece < run->last; piece++) precondition_piece(c, piece);
  eb_spin_team_wait(&run->member);
  run->next_rz = total(c, RZ);
}

/* The next direction: p = z + beta p, or z alone at a start. beta = (r, z) / (r, z before) makes p
 * A-orthogonal to the direction before, and with exact arithmetic to all. (r, z) is |r|^2 in the
 * norm of inv(M): not positive means that M is not definite. */
static eb_reason new_direction(cg *c, cg_run *run, bool at_start) {
  const double *z = c->z, previous = run->rz;
  double *p = c->p;
  if (at_start || !is_local(c)) precondition(c, run);
  run->rz = run->next_rz;
  if (isnan(run->rz)) return EB_DIVERGED_NAN;
  if (!(run->rz > 0)) return run->norm > 0 ? EB_DIVERGED_BREAKDOWN : EB_CONVERGED_STAGNATED;
  if (at_start) {
    memcpy(p + run->from, z + run->from, (size_t)(run->to - run->from) * sizeof *p);
  } else {
    const double beta = run->rz / previous;
    for (int64_t k = run->from; k < run->to; k++) p[k] = z[k] + beta * p[k];
  }
  eb_spin_team_wait(&run->member);
  return EB_RUNNING;
}

/* q = A p and (p, q). */
static double curvature_along(cg *c, cg_run *run) {
  for (int piece = run->first; piece < run->last; piece++) {
    const int32_t from = first_row(c, piece), to = first_row(c, piece + 1);
    if (c->half)
      eb_symmetric_multiply_rows(c->half, from, to, c->p, c->q);
    else
      eb_block_multiply_rows(c->A, from, to, c->p, c->q);
    sum_piece(c, CURVATURE, piece, c->p, c->q);
  }
  eb_spin_team_wait(&run->member);
  run->matvecs++;
  return total(c, CURVATURE);
}

/* x += alpha p, r -= alpha q with |r|, and what z needs no more than that for. */
static void step_along(cg *c, cg_run *run, double alpha, double *x) {
  const double *p = c->p, *q = c->q;
  double *r = c->r;
  for (int piece = run->first; piece < run->last; piece++) {
    const int64_t end = piece_end(c, piece);
    for (int64_t k = piece * c->pieces.length; k < end; k++) {
      x[k] += alpha * p[k];
      r[k] -= alpha * q[k];
    }
    sum_piece(c, SQUARE, piece, r, r);
    if (is_local(c)) precondition_piece(c, piece);
  }
  eb_spin_team_wait(&run->member);
  run->norm = norm_of_residual(c, run);
  if (is_local(c)) run->next_rz = total(c, RZ);
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
  const double curvature = curvature_along(c, run);
  if (isnan(curvature)) return EB_DIVERGED_NAN;
  if (!(curvature > 0)) return EB_DIVERGED_BREAKDOWN;
  step_along(c, run, run->rz / curvature, x);
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
  eb_spin_team_wait(&run->member); /* all know the norm of the r that is overwritten here */
  eb_block_multiply_rows(c->A, (int32_t)(run->from / 3), (int32_t)(run->to / 3), x, r);
  for (int64_t k = run->from; k < run->to; k++) r[k] = b[k] - r[k];
  for (int piece = run->first; piece < run->last; piece++) sum_piece(c, SQUARE, piece, r, r);
  eb_spin_team_wait(&run->member);
  run->matvecs++;
  run->norm = norm_of_residual(c, run);
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

/* What an iteration and a product cost. An iteration has three dots and three updates of vectors, 2
 * n each; a block 9 multiply-adds. */
static void count_work(const cg *c, const cg_run *run, eb_step_log *log) {
  const preconditioner *p = c->preconditioner;
  const double a_row[KINDS] = {0, 3, 21, 36}; /* IC: two inverse pivots; off-diagonal blocks 18 */
  double applied = a_row[p->kind] * p->rows;
  if (p->kind == INCOMPLETE) applied += 18.0 * (p->blocks - p->rows);
  double vectors = 12.0 * (double)c->n + applied, product = 18.0 * p->blocks;
  eb_log_count(log, EB_COUNT_MATVECS, (double)run->matvecs);
  eb_log_count(log, EB_COUNT_FLOPS,
               (double)run->matvecs * product + (double)run->iterations * vectors);
}

static eb_error cg_solve(void *data, const double *b, double *x, eb_step_log *log,
                         bool log_residuals, eb_linear_result *result) {
  cg *c = data;
  const double b_norm = eb_norm(c->n, b);
  cg_run done = {0};
  eb_reason reason = EB_DIVERGED_NAN;
  if (b_norm == 0) {
    memset(x, 0, (size_t)c->n * sizeof *x);
    *result = (eb_linear_result){.reason = EB_CONVERGED_RTOL};
    return EB_OK;
  }
  eb_spin_team_begin(c->team);
#pragma omp parallel if (worth_a_team(c) && isfinite(b_norm))
  {
    cg_run run = begin_run(c, eb_spin_team_join(c->team), b_norm);
    const bool leads = run.member.thread == 0;
    run.residuals = leads && log_residuals ? log : NULL;
    eb_reason end = isfinite(b_norm) ? iterate(c, &run, b, x) : EB_DIVERGED_NAN;
    if (leads) {
      reason = end;
      done = run;
    }
  }
  *result =
      (eb_linear_result){.reason = reason, .iterations = done.iterations, .residual = done.norm};
  count_work(c, &done, log);
  return EB_OK;
}

const eb_linear_kind eb_linear_cg = {.name = "cg",
                                     .create = cg_create,
                                     .set_matrix = cg_set_matrix,
                                     .solve = cg_solve,
                                     .destroy = cg_destroy};
