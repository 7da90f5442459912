/* The saddle point system of active contact rows, its preconditioner and conjugate residuals; see
 * saddle.h. */
#include "solvers/contact/saddle.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

/* ---- memory ---------------------------------------------------------------------------------- */

eb_error eb_saddle_create(int32_t rows, eb_saddle *out) {
  *out = (eb_saddle){.n = 3 * (int64_t)rows};
  return EB_NEW(out->diagonal, out->n);
}

void eb_saddle_clear(eb_saddle *saddle) {
  free(saddle->active);
  free(saddle->diagonal);
  free(saddle->schur);
  *saddle = (eb_saddle){0};
}

static eb_error reserve_rows(eb_saddle *saddle, int64_t m) {
  if (saddle->schur && m <= saddle->room) return EB_OK;
  int64_t room = m + m / 2;
  free(saddle->active);
  free(saddle->schur);
  saddle->active = NULL;
  saddle->schur = NULL;
  EB_TRY(EB_NEW(saddle->active, room));
  EB_TRY(EB_NEW(saddle->schur, room));
  saddle->room = room;
  return EB_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error invert_diagonal(eb_saddle *saddle, const eb_block_matrix *A) {
  for (int32_t i = 0; i < A->rows; i++)
    for (int d = 0; d < 3; d++) {
      double entry = A->values[9 * (int64_t)A->diagonal[i] + 4 * d];
      if (!(entry > 0))
        return EB_ERROR(
            EB_ERR_INVALID,
            "row %d of the matrix has the diagonal entry %g; it must be positive definite", i,
            entry);
      saddle->diagonal[3 * (int64_t)i + d] = 1 / entry;
    }
  return EB_OK;
}

/* A row of the Schur complement's diagonal: sum over its entries of h_j^2 / A_jj. */
static double schur_diagonal(const eb_saddle *saddle, int32_t contact, int row) {
  const eb_contact_problem *problem = saddle->problem;
  double sum = 0;
  for (int32_t e = problem->start[contact]; e < problem->start[contact + 1]; e++)
    for (int d = 0; d < 3; d++) {
      double h = problem->H[9 * (int64_t)e + 3 * row + d];
      sum += h * h * saddle->diagonal[3 * (int64_t)problem->block[e] + d];
    }
  return sum;
}

eb_error eb_saddle_begin(eb_saddle *saddle, const eb_contact_problem *problem) {
  saddle->problem = problem;
  saddle->m = 3 * (int64_t)problem->count;
  EB_TRY(reserve_rows(saddle, saddle->m));
  EB_TRY(invert_diagonal(saddle, problem->A));
  for (int32_t k = 0; k < problem->count; k++)
    for (int row = 0; row < 3; row++) {
      double entry = problem->similar[k] * schur_diagonal(saddle, k, row);
      saddle->schur[3 * (int64_t)k + row] = entry > 0 ? 1 / entry : 0;
    }
  memset(saddle->active, 0, (size_t)saddle->m);
  return EB_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

static bool contact_is_active(const eb_saddle *saddle, int32_t contact) {
  const uint8_t *active = saddle->active + 3 * (int64_t)contact;
  return active[0] || active[1] || active[2];
}

/* out_k = (L x)_k of the active rows, 0 of the others. */
static void rows_times(const eb_saddle *saddle, const double *x, double *out) {
  const eb_contact_problem *problem = saddle->problem;
  for (int32_t k = 0; k < problem->count; k++) {
    double u[3] = {0, 0, 0};
    for (int32_t e = problem->start[k]; contact_is_active(saddle, k) && e < problem->start[k + 1];
         e++) {
      const double *H = problem->H + 9 * (int64_t)e, *xe = x + 3 * (int64_t)problem->block[e];
      for (int row = 0; row < 3; row++)
        u[row] += H[3 * row] * xe[0] + H[3 * row + 1] * xe[1] + H[3 * row + 2] * xe[2];
    }
    for (int row = 0; row < 3; row++)
      out[3 * (int64_t)k + row] = saddle->active[3 * (int64_t)k + row] ? u[row] : 0;
  }
}

/* f += L^T r over the active rows. */
static void add_rows_transposed(const eb_saddle *saddle, const double *r, double *f) {
  const eb_contact_problem *problem = saddle->problem;
  for (int32_t k = 0; k < problem->count; k++) {
    if (!contact_is_active(saddle, k)) continue;
    double force[3];
    for (int row = 0; row < 3; row++)
      force[row] = saddle->active[3 * (int64_t)k + row] ? r[3 * (int64_t)k + row] : 0;
    for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
      const double *H = problem->H + 9 * (int64_t)e;
      for (int d = 0; d < 3; d++)
        f[3 * (int64_t)problem->block[e] + d] +=
            H[d] * force[0] + H[3 + d] * force[1] + H[6 + d] * force[2];
    }
  }
}

void eb_saddle_multiply(const eb_saddle *saddle, const double *y, double *By) {
  eb_block_multiply(saddle->problem->A, y, By);
  add_rows_transposed(saddle, y + saddle->n, By);
  rows_times(saddle, y, By + saddle->n);
}

void eb_saddle_precondition(eb_saddle *saddle, const double *r, double *z) {
  for (int64_t i = 0; i < saddle->n; i++) z[i] = saddle->diagonal[i] * r[i];
  for (int64_t k = 0; k < saddle->m; k++)
    z[saddle->n + k] = saddle->active[k] ? saddle->schur[k] * r[saddle->n + k] : 0;
}

/* ---- conjugate residuals --------------------------------------------------------------------- */

void eb_saddle_cr_clear(eb_saddle_cr *cr) {
  double *all[] = {cr->y, cr->r, cr->z, cr->p, cr->Bz, cr->Bp, cr->CBp};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  *cr = (eb_saddle_cr){0};
}

eb_error eb_saddle_cr_reserve(eb_saddle_cr *cr, int64_t entries) {
  if (cr->CBp && entries <= cr->room) return EB_OK;
  eb_saddle_cr_clear(cr);
  int64_t room = entries + entries / 4;
  double **all[] = {&cr->y, &cr->r, &cr->z, &cr->p, &cr->Bz, &cr->Bp, &cr->CBp};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) EB_TRY(EB_NEW(*all[i], room));
  cr->room = room;
  return EB_OK;
}

void eb_saddle_cr_start(eb_saddle_cr *cr, eb_saddle *saddle, const double *d) {
  int64_t size = saddle->n + saddle->m;
  for (int64_t k = 0; k < saddle->m; k++)
    if (!saddle->active[k]) cr->y[saddle->n + k] = 0;
  eb_saddle_multiply(saddle, cr->y, cr->r);
  for (int64_t i = 0; i < size; i++)
    cr->r[i] = i < saddle->n || saddle->active[i - saddle->n] ? d[i] - cr->r[i] : 0;
  eb_saddle_precondition(saddle, cr->r, cr->z);
  memset(cr->p, 0, (size_t)size * sizeof *cr->p);
  memset(cr->Bp, 0, (size_t)size * sizeof *cr->Bp);
  eb_saddle_multiply(saddle, cr->z, cr->Bz);
  cr->zBz = eb_dot(size, cr->z, cr->Bz);
  memcpy(cr->p, cr->z, (size_t)size * sizeof *cr->p);
  memcpy(cr->Bp, cr->Bz, (size_t)size * sizeof *cr->Bp);
}

/* Where z.Bz = 0 a step along z leaves |r| as it is, and conjugate residuals have no direction to
 * go on with; so it is for free rigid bodies whose velocities already satisfy A v = b + f: z = (0,
 * z_c), and the lower right block of B is 0. Steepest descent lowers |r|_C^-1 there: along g = C^-1
 * B z by
 *
 *   alpha = r.C^-1 B g / B g.C^-1 B g = Bz.C^-1 Bz / B g.C^-1 B g > 0
 *
 * unless B z = 0, where r is orthogonal to all that B reaches. Conjugate residuals start anew from
 * there. Two products more than an iteration. */
static bool descend(eb_saddle_cr *cr, eb_saddle *saddle) {
  int64_t size = saddle->n + saddle->m;
  size_t bytes = (size_t)size * sizeof *cr->p;
  eb_saddle_precondition(saddle, cr->Bz, cr->p);
  double slope = eb_dot(size, cr->Bz, cr->p);
  eb_saddle_multiply(saddle, cr->p, cr->Bp);
  eb_saddle_precondition(saddle, cr->Bp, cr->CBp);
  cr->alpha = slope / eb_dot(size, cr->Bp, cr->CBp);
  if (!(slope > 0) || !isfinite(cr->alpha)) return false;
  for (int64_t i = 0; i < size; i++) {
    cr->y[i] += cr->alpha * cr->p[i];
    cr->r[i] -= cr->alpha * cr->Bp[i];
    cr->z[i] -= cr->alpha * cr->CBp[i];
  }
  eb_saddle_multiply(saddle, cr->z, cr->Bz);
  cr->zBz = eb_dot(size, cr->z, cr->Bz);
  memcpy(cr->p, cr->z, bytes);
  memcpy(cr->Bp, cr->Bz, bytes);
  return true;
}

/* alpha = z.Bz / Bp.C^-1 Bp; then z -= alpha C^-1 Bp saves an application, and p, B p follow with
 * beta = z+.Bz+ / z.Bz. */
bool eb_saddle_cr_iterate(eb_saddle_cr *cr, eb_saddle *saddle) {
  int64_t size = saddle->n + saddle->m;
  eb_saddle_precondition(saddle, cr->Bp, cr->CBp);
  if (cr->zBz == 0) return descend(cr, saddle);
  double curvature = eb_dot(size, cr->Bp, cr->CBp);
  cr->alpha = cr->zBz / curvature;
  if (curvature == 0 || cr->zBz == 0 || !isfinite(cr->alpha)) return false;
  for (int64_t i = 0; i < size; i++) {
    cr->y[i] += cr->alpha * cr->p[i];
    cr->r[i] -= cr->alpha * cr->Bp[i];
    cr->z[i] -= cr->alpha * cr->CBp[i];
  }
  eb_saddle_multiply(saddle, cr->z, cr->Bz);
  double next = eb_dot(size, cr->z, cr->Bz), beta = next / cr->zBz;
  cr->zBz = next;
  for (int64_t i = 0; i < size; i++) {
    cr->p[i] = cr->z[i] + beta * cr->p[i];
    cr->Bp[i] = cr->Bz[i] + beta * cr->Bp[i];
  }
  return true;
}
