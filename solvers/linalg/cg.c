/* Preconditioned conjugate gradients for A x = b, A symmetric positive definite.
 *
 *   p = z + beta p,  alpha = (r, z) / (p, A p),  x += alpha p,  r -= alpha A p,  z = inv(M) r
 * Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1. Stops at |r| <= max(rtol |b|, atol),
 * 2-norms, for the true residual: the recurrence drifts from b - A x, so it is recomputed when the
 * recurrence says converged, and the iteration goes on from it when it does not agree.
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
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/linear_kind.h"
#include "solvers/linalg/preconditioner.h"

enum { PARALLEL_FROM = 30000 }; /* shorter vectors are done before a team wakes up */

typedef struct cg {
  int64_t n;
  double rtol, atol;
  int64_t max_iterations;
  eb_preconditioner *preconditioner;
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
  eb_preconditioner_destroy(c->preconditioner);
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
  if (!error)
    error = eb_preconditioner_create(settings->preconditioner, pattern, &c->preconditioner);
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
  eb_preconditioner_set_matrix(c->preconditioner, A, &definite);
  *reason = definite ? EB_CONVERGED_ITS : EB_NOT_POSITIVE_DEFINITE;
  return EB_OK;
}

/* r = b - A x and its norm. What the recurrence keeps for r differs from this by rounding errors
 * that add up to some eps |A| |x| times the iterations (Greenbaum 1997, "Estimating the attainable
 * accuracy of recursively computed residual methods", SIAM J. Matrix Anal. Appl. 18(3)). */
static void true_residual(cg *c, cg_run *run, const double *b, const double *x) {
  double *r = c->r;
  eb_block_multiply(c->A, x, r);
#pragma omp parallel for simd schedule(static) if (c->n >= PARALLEL_FROM)
  for (int64_t k = 0; k < c->n; k++) r[k] = b[k] - r[k];
  run->matvecs++;
  run->norm = eb_norm(c->n, r);
}

/* z = inv(M) r and the next direction: p = z + beta p, or z alone at a start. beta = (r, z) / (r, z
 * before) makes p A-orthogonal to the direction before, and with exact arithmetic to all. (r, z) is
 * |r|^2 in the norm of inv(M): not positive means that M is not definite. */
static eb_reason new_direction(cg *c, cg_run *run, bool at_start) {
  const double *z = c->z;
  double *p = c->p, previous = run->rz;
  eb_preconditioner_apply(c->preconditioner, c->r, c->z);
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
 * means that A is not definite, and that there is no minimum to go to. */
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
 * even halved since it was last looked at, rounding is all that is left of the progress. */
static eb_reason verify(cg *c, cg_run *run, const double *b, const double *x) {
  true_residual(c, run, b, x);
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
  double vectors = 12.0 * (double)c->n + eb_preconditioner_flops(c->preconditioner);
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
