/* The saddle point system of active contact rows, its preconditioners, conjugate residuals: see
 * saddle.h for the formulas.
 *
 * Reference: Verschoor and Jalba 2019, Algorithm 1, lines 7 to 21, Sections 3.4 and 3.5.
 * Needs: A with a positive diagonal.
 * Workspace: diagonals; seven vectors of the unknowns, three more of v with the split residual.
 * Fails: eb_saddle_cr_advance returns false when a denominator is 0 or not finite. */
#include "solvers/contact/saddle.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

/* ---- memory ---- */

eb_error eb_saddle_create(const eb_block_matrix *pattern, bool full, eb_saddle *out) {
  *out = (eb_saddle){.n = 3 * (int64_t)pattern->rows, .full = full};
  eb_error error = eb_contact_product_create(pattern, &out->product);
  if (!error) error = EB_NEW(out->diagonal, out->n);
  if (!error) error = EB_NEW(out->work, out->n);
  if (error) eb_saddle_clear(out);
  return error;
}

void eb_saddle_clear(eb_saddle *saddle) {
  eb_contact_product_clear(&saddle->product);
  free(saddle->active);
  free(saddle->diagonal);
  free(saddle->schur);
  free(saddle->work);
  *saddle = (eb_saddle){0};
}

static eb_error reserve_rows(eb_saddle *saddle, int64_t m) {
  if (saddle->active && m <= saddle->room) return EB_OK;
  int64_t room = m + m / 2;
  free(saddle->active);
  free(saddle->schur);
  saddle->active = NULL;
  saddle->schur = NULL;
  EB_TRY(EB_NEW(saddle->schur, room));
  EB_TRY(EB_NEW(saddle->active, room));
  saddle->room = room;
  return EB_OK;
}

/* ---- set-up ---- */

/* A_d, and of S_d = diag(Z L A_d^-1 L^T) the entry of every row, Z_k sum_j h_j^2 / A_jj over the
 * entries h of the row. Z counts the constraints that nearly repeat this one: S of k equal rows has
 * the eigenvalue k s, and its diagonal alone would call it s. */
eb_error eb_saddle_begin(eb_saddle *saddle, const eb_contact_problem *problem) {
  EB_ASSERT(saddle->n == 3 * (int64_t)problem->A->rows);
  const eb_block_matrix *A = problem->A;
  saddle->problem = problem;
  saddle->m = 3 * (int64_t)problem->count;
  EB_TRY(reserve_rows(saddle, saddle->m));
  eb_contact_product_set(&saddle->product, problem);
  for (int64_t i = 0; i < saddle->n; i++) {
    double entry = A->values[9 * (int64_t)A->diagonal[i / 3] + 4 * (i % 3)];
    if (!(entry > 0))
      return EB_ERROR(
          EB_ERR_INVALID,
          "row %d of the matrix has the diagonal entry %g; it must be positive definite",
          (int)(i / 3), entry);
    saddle->diagonal[i] = 1 / entry;
  }
  for (int32_t k = 0; k < problem->count; k++)
    for (int row = 0; row < 3; row++) {
      double sum = 0;
      for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++)
        for (int d = 0; d < 3; d++) {
          double h = problem->H[9 * (int64_t)e + 3 * row + d];
          sum += h * h * saddle->diagonal[3 * (int64_t)problem->block[e] + d];
        }
      double entry = problem->similar[k] * sum;
      saddle->schur[3 * (int64_t)k + row] = entry > 0 ? 1 / entry : 0;
    }
  memset(saddle->active, 0, (size_t)saddle->m);
  return EB_OK;
}

/* ---- products ---- */

/* Contacts without an active row are skipped: most are, where bodies slide apart. */
static bool is_active(const eb_saddle *saddle, int32_t k) {
  const uint8_t *active = saddle->active + 3 * (int64_t)k;
  return active[0] || active[1] || active[2];
}

/* to += L_k^T r_k (or nothing when to is NULL), u = L_k x (or nothing when x is). */
static void visit(const eb_saddle *saddle, int32_t k, const double r[3], double *to,
                  const double *x, double u[3]) {
  const eb_contact_problem *problem = saddle->problem;
  const uint8_t *active = saddle->active + 3 * (int64_t)k;
  double force[3], sum[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) force[i] = to && active[i] ? r[i] : 0;
  for (int32_t e = problem->start[k]; e < problem->start[k + 1]; e++) {
    const double *H = problem->H + 9 * (int64_t)e;
    int64_t at = 3 * (int64_t)problem->block[e];
    for (int i = 0; i < 3; i++) {
      if (to) to[at + i] += H[i] * force[0] + H[3 + i] * force[1] + H[6 + i] * force[2];
      if (x) sum[i] += H[3 * i] * x[at] + H[3 * i + 1] * x[at + 1] + H[3 * i + 2] * x[at + 2];
    }
  }
  for (int i = 0; x && i < 3; i++) u[i] = active[i] ? sum[i] : 0;
}

/* The part of the contacts: By += L^T y_c in the rows of v, L y_v in theirs. */
static void add_contacts(const eb_saddle *saddle, const double *y, double *By) {
  int64_t visits = 0;
  memset(By + saddle->n, 0, (size_t)saddle->m * sizeof *By);
  for (int32_t k = 0; k < saddle->problem->count; k++) {
    if (!is_active(saddle, k)) continue;
    int64_t at = saddle->n + 3 * (int64_t)k;
    visit(saddle, k, y + at, By, y, By + at);
    visits++;
  }
  eb_log_count(saddle->log, EB_COUNT_CONTACT_VISITS, (double)visits);
}

void eb_saddle_multiply(const eb_saddle *saddle, const double *y, double *Ay, double *By) {
  EB_ASSERT(y != By && y != Ay);
  eb_contact_product_whole(&saddle->product, y, By);
  if (Ay) memcpy(Ay, By, (size_t)saddle->n * sizeof *Ay);
  add_contacts(saddle, y, By);
  eb_log_count(saddle->log, EB_COUNT_MATVECS, 1);
}

/* By Equation 22 from right to left: w = A_d^-1 r_v, s = S_d^-1 (L w - r_c),
 * z = (w - A_d^-1 L^T s, s). The blocks of Equation 22 are never formed. */
static void precondition_full(eb_saddle *saddle, const double *r, double *z) {
  double *w = saddle->work, *s = z + saddle->n;
  int64_t visits = 0;
  for (int64_t i = 0; i < saddle->n; i++) w[i] = saddle->diagonal[i] * r[i];
  memset(z, 0, (size_t)(saddle->n + saddle->m) * sizeof *z);
  for (int32_t k = 0; k < saddle->problem->count; k++) {
    if (!is_active(saddle, k)) continue;
    double *own = s + 3 * (int64_t)k;
    visit(saddle, k, NULL, NULL, w, own);
    for (int i = 0; i < 3; i++) {
      int64_t row = 3 * (int64_t)k + i;
      own[i] = saddle->active[row] ? saddle->schur[row] * (own[i] - r[saddle->n + row]) : 0;
    }
    visit(saddle, k, own, z, NULL, NULL);
    visits += 2;
  }
  for (int64_t i = 0; i < saddle->n; i++) z[i] = w[i] - saddle->diagonal[i] * z[i];
  eb_log_count(saddle->log, EB_COUNT_CONTACT_VISITS, (double)visits);
}

void eb_saddle_precondition(eb_saddle *saddle, const double *r, double *z) {
  eb_log_begin(saddle->log, EB_PHASE_PRECONDITION);
  if (saddle->full)
    precondition_full(saddle, r, z);
  else {
    for (int64_t i = 0; i < saddle->n; i++) z[i] = saddle->diagonal[i] * r[i];
    for (int64_t k = 0; k < saddle->m; k++)
      z[saddle->n + k] = saddle->active[k] ? saddle->schur[k] * r[saddle->n + k] : 0;
  }
  eb_log_end(saddle->log, EB_PHASE_PRECONDITION);
}

/* ---- conjugate residuals: memory and starts ---- */

void eb_saddle_cr_clear(eb_saddle_cr *cr) {
  double *all[] = {cr->y, cr->r, cr->z, cr->p, cr->Bz, cr->Bp, cr->CBp, cr->Ay, cr->Az, cr->Ap};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  *cr = (eb_saddle_cr){0};
}

eb_error eb_saddle_cr_reserve(eb_saddle_cr *cr, int64_t n, int64_t m, bool split) {
  if (cr->CBp && n + m <= cr->room) return EB_OK;
  eb_saddle_cr_clear(cr);
  int64_t room = n + m + m / 2;
  double **all[] = {&cr->y, &cr->r, &cr->z, &cr->p, &cr->Bz, &cr->Bp, &cr->CBp};
  double **of_v[] = {&cr->Ay, &cr->Az, &cr->Ap};
  for (size_t i = 0; split && i < sizeof of_v / sizeof *of_v; i++) EB_TRY(EB_NEW(*of_v[i], n));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) EB_TRY(EB_NEW(*all[i], room));
  cr->room = room;
  return EB_OK;
}

void eb_saddle_cr_pose(eb_saddle_cr *cr, const eb_saddle *saddle, const double *r, double *constant,
                       double *d) {
  EB_ASSERT(saddle->n + saddle->m <= cr->room);
  const eb_contact_problem *problem = saddle->problem;
  int64_t n = saddle->n, m = saddle->m;
  for (int64_t k = 0; k < m; k++) {
    cr->y[n + k] = saddle->active[k] ? -r[k] : 0;
    constant[k] = saddle->active[k] ? 0 : r[k];
  }
  memcpy(d, problem->b, (size_t)n * sizeof *d);
  eb_contact_force_add(problem, constant, d);
  eb_log_count(saddle->log, EB_COUNT_CONTACT_VISITS, problem->count);
  memcpy(d + n, problem->c, (size_t)m * sizeof *d);
}

void eb_saddle_cr_forces(const eb_saddle_cr *cr, const eb_saddle *saddle, double *r) {
  for (int64_t k = 0; k < saddle->m; k++)
    if (saddle->active[k]) r[k] = -cr->y[saddle->n + k];
}

/* From B y in cr->r. */
static void begin(eb_saddle_cr *cr, eb_saddle *saddle, const double *d) {
  int64_t size = saddle->n + saddle->m;
  for (int64_t i = 0; i < size; i++)
    cr->r[i] = i < saddle->n || saddle->active[i - saddle->n] ? d[i] - cr->r[i] : 0;
  eb_saddle_precondition(saddle, cr->r, cr->z);
  eb_saddle_multiply(saddle, cr->z, cr->Az, cr->Bz);
  cr->zBz = eb_dot(size, cr->z, cr->Bz);
  cr->anew = true;
  memcpy(cr->p, cr->z, (size_t)size * sizeof *cr->p);
  memcpy(cr->Bp, cr->Bz, (size_t)size * sizeof *cr->Bp);
  if (cr->Ap) memcpy(cr->Ap, cr->Az, (size_t)saddle->n * sizeof *cr->Ap);
}

/* Forces of rows that are no longer active are constants now and leave y. */
static void leave_inactive(eb_saddle_cr *cr, const eb_saddle *saddle) {
  for (int64_t k = 0; k < saddle->m; k++)
    if (!saddle->active[k]) cr->y[saddle->n + k] = 0;
}

void eb_saddle_cr_start(eb_saddle_cr *cr, eb_saddle *saddle, const double *d) {
  leave_inactive(cr, saddle);
  eb_saddle_multiply(saddle, cr->y, cr->Ay, cr->r);
  begin(cr, saddle, d);
}

void eb_saddle_cr_restart(eb_saddle_cr *cr, eb_saddle *saddle, const double *d) {
  leave_inactive(cr, saddle);
  memcpy(cr->r, cr->Ay, (size_t)saddle->n * sizeof *cr->r);
  add_contacts(saddle, cr->y, cr->r);
  begin(cr, saddle, d);
}

/* ---- conjugate residuals: iterations ---- */

static void move(eb_saddle_cr *cr, const eb_saddle *saddle) {
  int64_t size = saddle->n + saddle->m;
  for (int64_t i = 0; i < size; i++) {
    cr->y[i] += cr->alpha * cr->p[i];
    cr->r[i] -= cr->alpha * cr->Bp[i];
    cr->z[i] -= cr->alpha * cr->CBp[i];
  }
  for (int64_t i = 0; cr->Ay && i < saddle->n; i++) cr->Ay[i] += cr->alpha * cr->Ap[i];
}

/* Where z.Bz = 0 a step along z leaves |r| as it is, and conjugate residuals have no direction to
 * go on with; so it is for free rigid bodies whose velocities already satisfy A v = b + f: z = (0,
 * z_c), and the lower right block of B is 0. Steepest descent lowers |r|_C^-1 there: along g = C^-1
 * B z by
 *
 *   alpha = r.C^-1 B g / B g.C^-1 B g = Bz.C^-1 Bz / B g.C^-1 B g > 0
 *
 * unless B z = 0, where r is orthogonal to all that B reaches. Conjugate residuals start anew from
 * there. A product more than an iteration. Of a definite preconditioner alone. */
static bool descend(eb_saddle_cr *cr, eb_saddle *saddle) {
  int64_t size = saddle->n + saddle->m;
  cr->zBz = 0;
  cr->anew = true;
  eb_saddle_precondition(saddle, cr->Bz, cr->p);
  double slope = eb_dot(size, cr->Bz, cr->p);
  eb_saddle_multiply(saddle, cr->p, cr->Ap, cr->Bp);
  eb_saddle_precondition(saddle, cr->Bp, cr->CBp);
  cr->alpha = slope / eb_dot(size, cr->Bp, cr->CBp);
  if (!(slope > 0) || !isfinite(cr->alpha)) return false;
  move(cr, saddle);
  return true;
}

/* y = x + beta y. */
static void update_direction(int64_t n, double beta, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] = x[i] + beta * y[i];
}

/* Whether the first step of conjugate residuals, along z, would leave |r|_C^-1 as it is but for
 * rounding: it lowers the square by (z.Bz)^2 / Bz.C^-1 Bz. */
static bool leaves_residual(const eb_saddle_cr *cr, int64_t size, double curvature) {
  static const double rounding = 1e-12; /* cosine of r and B z in C^-1 */
  if (cr->zBz == 0) return true;
  return cr->anew &&
         cr->zBz * cr->zBz <= rounding * rounding * curvature * eb_dot(size, cr->r, cr->z);
}

/* The step along p that makes |r|_C^-1 least is
 *
 *   alpha = r.C^-1 B p / Bp.C^-1 Bp = z.Bz / Bp.C^-1 Bp,
 *
 * the latter by the recurrences; z -= alpha C^-1 Bp saves an application. */
bool eb_saddle_cr_advance(eb_saddle_cr *cr, eb_saddle *saddle) {
  EB_ASSERT(saddle->n + saddle->m <= cr->room);
  int64_t size = saddle->n + saddle->m;
  eb_saddle_precondition(saddle, cr->Bp, cr->CBp);
  double curvature = eb_dot(size, cr->Bp, cr->CBp), alpha = cr->zBz / curvature;
  if (!saddle->full && leaves_residual(cr, size, curvature)) return descend(cr, saddle);
  cr->anew = false;
  if (cr->zBz == 0 || curvature == 0 || !isfinite(alpha)) return false;
  cr->alpha = alpha;
  move(cr, saddle);
  return true;
}

/* p and B p follow with beta = z+.Bz+ / z.Bz, which makes B p orthogonal to all before it in C^-1;
 * anew, beta = 0, after a step of steepest descent. */
void eb_saddle_cr_renew(eb_saddle_cr *cr, eb_saddle *saddle) {
  int64_t size = saddle->n + saddle->m;
  eb_saddle_multiply(saddle, cr->z, cr->Az, cr->Bz);
  double next = eb_dot(size, cr->z, cr->Bz), beta = cr->zBz == 0 ? 0 : next / cr->zBz;
  cr->zBz = next;
  update_direction(size, beta, cr->z, cr->p);
  update_direction(size, beta, cr->Bz, cr->Bp);
  if (cr->Ap) update_direction(saddle->n, beta, cr->Az, cr->Ap);
}
