/* The reduced form of a contact problem.
 *
 *   W = H A^-1 H^T,   q = H A^-1 b - c,   v = A^-1 (b + H^T r)
 *
 * A is factored by the project's multifrontal Cholesky; the columns of H^T are solved for EB_DELASSUS_CONTACTS contacts at a time, stored by rows, so that subtrees of the
 * factor without a contact of the group are left out. Only the lower half of W is computed. Workspace: 3 rows x (EB_DELASSUS_SIDES + 1), the factor, a copy of A to know it
 * again. Fails, as outcomes, as the factorization and the solves do. */
#include "solvers/contact/delassus.h"

#include <string.h>

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

static bool same_pattern(const eb_delassus *d, const eb_block_matrix *A) {
  return d->factor && d->rows == A->rows && d->blocks == A->start[A->rows] &&
         !memcmp(d->start, A->start, ((size_t)A->rows + 1) * sizeof *A->start) &&
         !memcmp(d->column, A->column, (size_t)d->blocks * sizeof *A->column);
}

static eb_error take_pattern(eb_delassus *d, const eb_block_matrix *A, eb_step_log *log) {
  eb_delassus_clear(d);
  d->rows = A->rows;
  d->blocks = A->start[A->rows];
  EB_TRY(EB_NEW(d->start, (size_t)A->rows + 1));
  EB_TRY(EB_NEW(d->column, d->blocks));
  EB_TRY(EB_NEW(d->values, 9 * (size_t)d->blocks));
  EB_TRY(EB_NEW(d->solution, 6 * (size_t)A->rows));
  EB_TRY(EB_NEW(d->sides, 3 * (size_t)A->rows * EB_DELASSUS_SIDES));
  memcpy(d->start, A->start, ((size_t)A->rows + 1) * sizeof *A->start);
  memcpy(d->column, A->column, (size_t)d->blocks * sizeof *A->column);
  return eb_multifrontal_create(&(eb_multifrontal_settings){.threads = d->threads}, A, log,
                                &d->factor);
}

eb_error eb_delassus_factor(eb_delassus *delassus, const eb_block_matrix *A, eb_step_log *log,
                            eb_reason *reason) {
  bool known = same_pattern(delassus, A);
  if (!known) EB_TRY(take_pattern(delassus, A, log));
  size_t bytes = 9 * (size_t)delassus->blocks * sizeof *A->values;
  if (!known || delassus->reason <= 0 || memcmp(delassus->values, A->values, bytes) != 0) {
    memcpy(delassus->values, A->values, bytes);
    EB_TRY(eb_multifrontal_factor(delassus->factor, A, log, &delassus->reason));
  }
  *reason = delassus->reason;
  return EB_OK;
}

/* ---- W and q ---- */

/* Rows of H^T for contacts first .. last-1: those of node i, at sides + 3 i x stride. */
static void gather_sides(const eb_contact_problem *p, int32_t first, int32_t last, double *sides) {
  memset(sides, 0, 3 * (size_t)p->A->rows * EB_DELASSUS_SIDES * sizeof *sides);
  for (int32_t k = first; k < last; k++)
    for (int32_t e = p->start[k]; e < p->start[k + 1]; e++)
      for (int i = 0; i < 9; i++)
        sides[(3 * (int64_t)p->block[e] + i % 3) * EB_DELASSUS_SIDES + 3 * (k - first) + i / 3] =
            p->H[9 * (int64_t)e + i];
}

/* Rows 3 k .. 3 k + 2 of W, columns of contacts first .. last-1, and their mirror images. */
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

static eb_error reduce_operator(eb_delassus *d, const eb_contact_problem *p, double *W,
                                eb_step_log *log, eb_reason *reason) {
  for (int32_t first = 0; first < p->count; first += EB_DELASSUS_CONTACTS) {
    int32_t last = first + EB_DELASSUS_CONTACTS;
    if (last > p->count) last = p->count;
    int32_t columns = 3 * (last - first);
    gather_sides(p, first, last, d->sides);
    EB_TRY(eb_multifrontal_solve_rows(d->factor, columns, EB_DELASSUS_SIDES, d->sides, d->sides,
                                      log, reason));
    if (*reason <= 0) return EB_OK;
    eb_log_count(log, EB_COUNT_SOLVES, columns);
    for (int32_t k = first; k < p->count; k++) multiply_rows(p, k, first, last, d->sides, W);
  }
  return EB_OK;
}

eb_error eb_delassus_reduce(eb_delassus *delassus, const eb_contact_problem *problem,
                            eb_reduced *reduced, eb_step_log *log, eb_reason *reason) {
  EB_TRY(eb_multifrontal_solve(delassus->factor, 1, problem->b, delassus->solution, log, reason));
  if (*reason <= 0) return EB_OK;
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  eb_contact_velocity(problem, delassus->solution, reduced->q);
  EB_TRY(reduce_operator(delassus, problem, reduced->W, log, reason));
  eb_reduced_couple(reduced);
  return EB_OK;
}

eb_error eb_delassus_expand(eb_delassus *delassus, const eb_contact_problem *problem,
                            const double *r, double *v, eb_step_log *log, eb_reason *reason) {
  int64_t n = 3 * (int64_t)problem->A->rows;
  double *rest = delassus->solution, *product = rest + n;
  memset(v, 0, (size_t)n * sizeof *v);
  for (int pass = 0; pass < 2; pass++) {
    eb_block_multiply(problem->A, v, product);
    memcpy(rest, problem->b, (size_t)n * sizeof *rest);
    eb_contact_force_add(problem, r, rest);
    for (int64_t i = 0; i < n; i++) rest[i] -= product[i];
    EB_TRY(eb_multifrontal_solve(delassus->factor, 1, rest, rest, log, reason));
    if (*reason <= 0) return EB_OK;
    eb_log_count(log, EB_COUNT_SOLVES, 1);
    for (int64_t i = 0; i < n; i++) v[i] += rest[i];
  }
  return EB_OK;
}
