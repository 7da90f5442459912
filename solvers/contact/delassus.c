/* The reduced form of a contact problem, and its method: W is made, the contact forces are found on
 * it, the velocities follow.
 *
 *   u = W r + q,   W = H A^-1 H^T,   q = H A^-1 b - c,   v = A^-1 (b + H^T r)
 *
 * The usual way for rigid bodies and the baseline that methods without W are compared with. A is
 * factored by the project's multifrontal Cholesky, and the factor kept while A stays the same. The
 * columns of H^T are solved for EB_DELASSUS_CONTACTS contacts at a time, stored by rows, so that
 * subtrees of the factor without a contact of the group are left out. Only the lower half of W is
 * computed. Option delassus_solver: how the reduced problem is solved (reduced.h), whose iterations
 * count. Half of the tolerance is asked of the forces, so that rounding in v does not undo it.
 * Phase FACTOR: the factorization of A and making W; SOLVE: the rest. Residuals: the largest of
 * violation, active and sliding, m.
 *
 * Reference: Acary, Bremond and Huber 2018, "On solving contact problems with Coulomb friction:
 * formulations and numerical comparisons".
 *
 * Needs: A positive definite.
 * Workspace: (3 contacts)^2 numbers, twice with Newton; 3 rows x (EB_DELASSUS_SIDES + 2), the
 * factor, a copy of A to recognize it by. Fails, as outcomes: what the factorization and the solves
 * say; EB_DIVERGED_MAX_IT, also when the constraints are inconsistent, whose forces grow without
 * end; EB_DIVERGED_LINEAR_SOLVE when the forces are solved for but the solves with A are not
 * accurate enough for eps1. */
#include "solvers/contact/delassus.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/multifrontal.h"

void eb_delassus_clear(eb_delassus *delassus) {
  eb_multifrontal_destroy(delassus->factor);
  free(delassus->start);
  free(delassus->column);
  free(delassus->values);
  free(delassus->solution);
  free(delassus->sides);
  *delassus = (eb_delassus){.threads = delassus->threads};
}

/* ---- A ---- */

eb_error eb_delassus_factor(eb_delassus *delassus, const eb_block_matrix *A, eb_step_log *log,
                            eb_reason *reason) {
  bool known = delassus->factor && delassus->rows == A->rows &&
               delassus->blocks == A->start[A->rows] &&
               !memcmp(delassus->start, A->start, ((size_t)A->rows + 1) * sizeof *A->start) &&
               !memcmp(delassus->column, A->column, (size_t)delassus->blocks * sizeof *A->column);
  if (!known) {
    eb_delassus_clear(delassus);
    delassus->rows = A->rows;
    delassus->blocks = A->start[A->rows];
    EB_TRY(EB_NEW(delassus->start, (size_t)A->rows + 1));
    EB_TRY(EB_NEW(delassus->column, delassus->blocks));
    EB_TRY(EB_NEW(delassus->values, 9 * (size_t)delassus->blocks));
    EB_TRY(EB_NEW(delassus->solution, 6 * (size_t)A->rows));
    EB_TRY(EB_NEW(delassus->sides, 3 * (size_t)A->rows * EB_DELASSUS_SIDES));
    memcpy(delassus->start, A->start, ((size_t)A->rows + 1) * sizeof *A->start);
    memcpy(delassus->column, A->column, (size_t)delassus->blocks * sizeof *A->column);
    EB_TRY(eb_multifrontal_create(&(eb_multifrontal_settings){.threads = delassus->threads}, A, log,
                                  &delassus->factor));
  }
  size_t bytes = 9 * (size_t)delassus->blocks * sizeof *A->values;
  if (!known || delassus->reason <= 0 || memcmp(delassus->values, A->values, bytes) != 0) {
    memcpy(delassus->values, A->values, bytes);
    EB_TRY(eb_multifrontal_factor(delassus->factor, A, log, &delassus->reason));
  }
  *reason = delassus->reason;
  return EB_OK;
}

/* ---- W and q ---- */

/* W_kj = H_k (A^-1 H_j^T) from the solved sides: a contact acts on at most EB_CONTACT_ENTRIES block
 * rows, so that the product costs nothing beside the solves. W is symmetric as A is.
 *
 * Rows 3 k .. 3 k + 2 of W, columns of contacts first .. last-1, and their mirror images. */
static void multiply_rows(const eb_contact_problem *p, int32_t k, int32_t first, int32_t last,
                          const double *sides, double *W) {
  int64_t m = 3 * (int64_t)p->count, columns = 3 * (int64_t)(last - first);
  double sum[3][EB_DELASSUS_SIDES] = {{0}};
  for (int32_t e = p->start[k]; e < p->start[k + 1]; e++)
    for (int i = 0; i < 9; i++) {
      const double *row = sides + (3 * (int64_t)p->block[e] + i % 3) * EB_DELASSUS_SIDES;
      double h = p->H[9 * (int64_t)e + i];
      for (int j = 0; j < EB_DELASSUS_SIDES; j++) sum[i / 3][j] += h * row[j];
    }
  for (int i = 0; i < 3; i++)
    for (int64_t j = 0; j < columns; j++) {
      int64_t row = 3 * (int64_t)k + i, column = 3 * (int64_t)first + j;
      if (column <= row) W[row * m + column] = W[column * m + row] = sum[i][j];
    }
}

/* A group of columns is solved once and multiplied with the rows of its own and all later
 * contacts: with the mirror images that is every entry, and half of the products.
 * EB_DELASSUS_SIDES columns share one pass over the factor, which is read from memory. */
static eb_error reduce_operator(eb_delassus *d, const eb_contact_problem *p, double *W,
                                eb_step_log *log, eb_reason *reason) {
  for (int32_t first = 0; first < p->count; first += EB_DELASSUS_CONTACTS) {
    int32_t last = first + EB_DELASSUS_CONTACTS;
    if (last > p->count) last = p->count;
    int32_t columns = 3 * (last - first);
    /* Rows of H^T for contacts first .. last-1: those of node i, at sides + 3 i x stride. */
    memset(d->sides, 0, 3 * (size_t)p->A->rows * EB_DELASSUS_SIDES * sizeof *d->sides);
    for (int32_t k = first; k < last; k++)
      for (int32_t e = p->start[k]; e < p->start[k + 1]; e++)
        for (int i = 0; i < 9; i++)
          d->sides[(3 * (int64_t)p->block[e] + i % 3) * EB_DELASSUS_SIDES + 3 * (k - first) +
                   i / 3] = p->H[9 * (int64_t)e + i];
    EB_TRY(eb_multifrontal_solve_rows(d->factor, columns, EB_DELASSUS_SIDES, d->sides, d->sides,
                                      log, reason));
    if (*reason <= 0) return EB_OK;
    eb_log_count(log, EB_COUNT_SOLVES, columns);
    for (int32_t k = first; k < p->count; k++) multiply_rows(p, k, first, last, d->sides, W);
    eb_log_count(log, EB_COUNT_CONTACT_VISITS, (double)(last - first) + (p->count - first));
  }
  return EB_OK;
}

eb_error eb_delassus_reduce(eb_delassus *delassus, const eb_contact_problem *problem,
                            eb_reduced *reduced, eb_step_log *log, eb_reason *reason) {
  EB_ASSERT(delassus->factor && reduced->count == problem->count);
  EB_TRY(eb_multifrontal_solve(delassus->factor, 1, problem->b, delassus->solution, log, reason));
  if (*reason <= 0) return EB_OK;
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  eb_contact_velocity(problem, delassus->solution, reduced->q);
  eb_log_count(log, EB_COUNT_CONTACT_VISITS, problem->count);
  EB_TRY(reduce_operator(delassus, problem, reduced->W, log, reason));
  eb_reduced_couple(reduced);
  return EB_OK;
}

/* v = A^-1 (b + H^T r), refined once: the second pass solves for what rounding has left of the
 * residual b + H^T r - A v, some eps cond(A) |v| in v. */
static eb_error expand(eb_delassus *delassus, const eb_contact_problem *problem, const double *r,
                       double *v, eb_step_log *log, eb_reason *reason) {
  int64_t n = 3 * (int64_t)problem->A->rows;
  double *rest = delassus->solution, *product = rest + n;
  memset(v, 0, (size_t)n * sizeof *v);
  for (int pass = 0; pass < 2; pass++) {
    eb_block_multiply(problem->A, v, product);
    memcpy(rest, problem->b, (size_t)n * sizeof *rest);
    eb_contact_force_add(problem, r, rest);
    eb_log_count(log, EB_COUNT_MATVECS, 1);
    eb_log_count(log, EB_COUNT_CONTACT_VISITS, problem->count);
    for (int64_t i = 0; i < n; i++) rest[i] -= product[i];
    EB_TRY(eb_multifrontal_solve(delassus->factor, 1, rest, rest, log, reason));
    if (*reason <= 0) return EB_OK;
    eb_log_count(log, EB_COUNT_SOLVES, 1);
    for (int64_t i = 0; i < n; i++) v[i] += rest[i];
  }
  return EB_OK;
}

/* ---- the method ---- */

typedef struct method {
  eb_delassus operator;
  eb_reduced reduced;
  bool newton;
  double *work; /* of eb_contact_measure */
  int64_t room; /* of work */
} method;

static eb_error create(const eb_solver *solver, const eb_block_matrix *pattern, void **data) {
  (void)pattern;
  method *m;
  *data = NULL;
  EB_TRY(EB_NEW(m, 1));
  m->operator.threads = solver->threads;
  m->newton = strcmp(eb_values_text(solver->options, "delassus_solver"), "newton") == 0;
  *data = m;
  return EB_OK;
}

static void destroy(void *data) {
  method *m = data;
  if (!m) return;
  eb_delassus_clear(&m->operator);
  eb_reduced_clear(&m->reduced);
  free(m->work);
  free(m);
}

static eb_error reserve(method *m, const eb_contact_problem *problem) {
  int64_t needed = 3 * ((int64_t)problem->A->rows + problem->count);
  EB_TRY(eb_reduced_reserve(&m->reduced, problem->count, problem->mu));
  if (needed <= m->room) return EB_OK;
  free(m->work);
  m->room = 0;
  EB_TRY(EB_NEW(m->work, needed));
  m->room = needed;
  return EB_OK;
}

static eb_error solve_reduced(method *m, const eb_contact_problem *problem,
                              const eb_contact_tolerance *tolerance, double *v, double *r,
                              eb_step_log *log, eb_contact_outcome *outcome) {
  eb_reason reason;
  eb_contact_error error;
  eb_contact_tolerance half = *tolerance;
  size_t bytes = 3 * (size_t)m->reduced.count * sizeof *r;
  half.eps2 *= 0.5;
  half.cone *= 0.5;
  half.angle *= 0.5;
  memcpy(m->reduced.r, r, bytes);
  if (m->newton)
    EB_TRY(eb_reduced_newton(&m->reduced, &half, log, outcome));
  else
    eb_reduced_gauss_seidel(&m->reduced, &half, log, outcome);
  memcpy(r, m->reduced.r, bytes);
  EB_TRY(expand(&m->operator, problem, r, v, log, &reason));
  bool solved = eb_contact_is_solved(problem, tolerance, v, r, m->work, log, &error);
  if (reason <= 0)
    outcome->reason = reason;
  else if (outcome->reason > 0 && !solved)
    outcome->reason = EB_DIVERGED_LINEAR_SOLVE;
  return EB_OK;
}

static eb_error solve(void *data, const eb_contact_problem *problem,
                      const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                      eb_contact_outcome *outcome) {
  method *m = data;
  *outcome = (eb_contact_outcome){.reason = EB_RUNNING};
  EB_TRY(reserve(m, problem));
  eb_log_begin(log, EB_PHASE_FACTOR);
  eb_error error = eb_delassus_factor(&m->operator, problem->A, log, &outcome->reason);
  if (!error && outcome->reason > 0)
    error = eb_delassus_reduce(&m->operator, problem, &m->reduced, log, &outcome->reason);
  eb_log_end(log, EB_PHASE_FACTOR);
  if (error || outcome->reason <= 0) return error;
  eb_log_begin(log, EB_PHASE_SOLVE);
  error = solve_reduced(m, problem, tolerance, v, r, log, outcome);
  eb_log_end(log, EB_PHASE_SOLVE);
  return error;
}

const eb_contact_method eb_contact_delassus = {
    .name = "delassus", .create = create, .solve = solve, .destroy = destroy};
