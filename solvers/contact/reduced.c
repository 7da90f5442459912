/* Solvers of reduced contact problems; see reduced.h for the equations.
 *
 * References: Jourdan, Alart and Jean 1998, "A Gauss-Seidel like algorithm to solve frictional
 * contact problems"; Alart and Curnier 1991, "A mixed formulation for frictional contact problems
 * prone to Newton like solution methods", Computer Methods in Applied Mechanics and Engineering
 * 92(3).
 *
 * Needs: diagonal blocks of W positive definite.
 * Workspace: that of eb_reduced; Newton (3 count)^2 more for LAPACK's LU.
 * Fails: EB_DIVERGED_MAX_IT, EB_DIVERGED_NAN. */
#include "solvers/contact/reduced.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/one_thread.h"

void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b,
            const int *ldb, int *info);

/* ---- the problem ---- */

/* *array := `count` new numbers. */
static eb_error reallocate(double **array, size_t count) {
  free(*array);
  *array = NULL;
  return EB_NEW(*array, count);
}

eb_error eb_reduced_reserve(eb_reduced *reduced, int32_t count, const double *mu) {
  EB_ASSERT(count >= 0);
  reduced->count = count;
  reduced->mu = mu;
  if (count <= reduced->room && reduced->W) return EB_OK;
  size_t m = 3 * (size_t)count;
  reduced->room = 0;
  EB_TRY(reallocate(&reduced->W, m * m));
  EB_TRY(reallocate(&reduced->q, m));
  EB_TRY(reallocate(&reduced->r, m));
  EB_TRY(reallocate(&reduced->u, m));
  EB_TRY(reallocate(&reduced->work, 5 * m));
  free(reduced->run_start);
  free(reduced->run);
  reduced->run_start = reduced->run = NULL;
  EB_TRY(EB_NEW(reduced->run_start, (size_t)count + 1));
  EB_TRY(EB_NEW(reduced->run, (size_t)count * ((size_t)count + 1)));
  reduced->room = count;
  return EB_OK;
}

void eb_reduced_clear(eb_reduced *reduced) {
  free(reduced->W);
  free(reduced->q);
  free(reduced->r);
  free(reduced->u);
  free(reduced->work);
  free(reduced->run_start);
  free(reduced->run);
  free(reduced->jacobian);
  free(reduced->pivots);
  *reduced = (eb_reduced){0};
}

/* W_kj is 0 to the last bit where contacts k and j act on bodies that share no entry of A^-1: the
 * solve with the factor leaves out what it does not reach. Runs of what is not 0 make sweeps over W
 * as cheap as the piles are apart. */
void eb_reduced_couple(eb_reduced *reduced) {
  EB_ASSERT(reduced->count <= reduced->room);
  const int64_t m = 3 * (int64_t)reduced->count;
  int32_t ends = 0; /* of runs; odd inside of one */
  for (int32_t k = 0; k < reduced->count; k++) {
    for (int32_t j = 0; j < reduced->count; j++) {
      bool coupled = false;
      for (int e = 0; e < 9; e++)
        coupled |= reduced->W[(3 * (int64_t)k + e / 3) * m + 3 * (int64_t)j + e % 3] != 0;
      if (coupled != (ends % 2 != 0)) reduced->run[ends++] = j;
    }
    if (ends % 2) reduced->run[ends++] = reduced->count;
    reduced->run_start[k + 1] = ends / 2;
  }
}

/* Runs are of some tens of entries: eb_dot is made for thousands. */
static double dot(int64_t n, const double *x, const double *y) {
  enum { LANES = 4 };
  double lane[LANES] = {0}, rest = 0;
  int64_t whole = n / LANES * LANES;
  for (int64_t i = 0; i < whole; i += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
  for (int64_t i = whole; i < n; i++) rest += x[i] * y[i];
  return lane[0] + lane[1] + (lane[2] + lane[3]) + rest;
}

/* Row i of u = W r + q. */
static double velocity_row(const eb_reduced *reduced, const double *r, int64_t i) {
  int64_t m = 3 * (int64_t)reduced->count;
  double sum = reduced->q[i];
  for (int32_t at = reduced->run_start[i / 3]; at < reduced->run_start[i / 3 + 1]; at++) {
    int64_t first = 3 * (int64_t)reduced->run[2 * at], last = 3 * (int64_t)reduced->run[2 * at + 1];
    sum += dot(last - first, reduced->W + i * m + first, r + first);
  }
  return sum;
}

/* u = W r + q of forces r. */
static void velocities(const eb_reduced *reduced, const double *r, double *u, eb_step_log *log) {
  eb_log_count(log, EB_COUNT_CONTACT_VISITS, reduced->count);
  for (int64_t i = 0; i < 3 * (int64_t)reduced->count; i++) u[i] = velocity_row(reduced, r, i);
}

/* ---- one contact, exactly ----
 *
 *   u = W r + q,   0 <= u_n perp r_n >= 0,
 *   |r_t| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / |u_t|
 *
 * One of three: it opens (r = 0) when q_n >= 0; it sticks (u = 0) when that force is in the cone;
 * or it slides, u_n = 0 and u_t = -a r_t with a > 0. With u_n = 0 the normal force is r_n = -(q_n +
 * W_nt r_t) / W_nn, and the tangential rows become
 *
 *   (S + a I) r_t = -p,   S = W_tt - W_tn W_nt / W_nn,   p = q_t - W_tn q_n / W_nn,
 *
 * which leaves g(a) = |r_t| - mu r_n = 0. Outside the cone g(0) > 0, and g tends to mu q_n / W_nn <
 * 0: a root is there, and is found by false position in the Illinois manner (Dowell and Jarratt
 * 1971). W need not be symmetric. */

typedef struct sliding {
  const double *W, *q;
  double mu;
  double S[4], p[2];
} sliding;

static sliding sliding_of(const double W[9], const double q[3], double mu) {
  sliding s = {.W = W, .q = q, .mu = mu};
  for (int i = 0; i < 2; i++) {
    double ratio = W[3 * (i + 1)] / W[0];
    for (int j = 0; j < 2; j++) s.S[2 * i + j] = W[3 * (i + 1) + j + 1] - ratio * W[j + 1];
    s.p[i] = q[i + 1] - ratio * q[0];
  }
  return s;
}

/* r of sliding with a; returns g(a).
 *
 * (S + a I) r_t = -p by Cramer's rule. S is positive definite with W, so that the determinant
 * grows with a >= 0 and does not vanish. */
static double slide(const sliding *s, double a, double r[3]) {
  double S0 = s->S[0] + a, S3 = s->S[3] + a, determinant = S0 * S3 - s->S[1] * s->S[2];
  r[1] = (s->S[1] * s->p[1] - S3 * s->p[0]) / determinant;
  r[2] = (s->S[2] * s->p[0] - S0 * s->p[1]) / determinant;
  r[0] = -(s->q[0] + s->W[1] * r[1] + s->W[2] * r[2]) / s->W[0];
  return hypot(r[1], r[2]) - s->mu * r[0];
}

/* From g(low) > 0 at low = 0 on; r becomes that of the root. */
static void find_root(const sliding *s, double at_low, double r[3]) {
  enum { DOUBLINGS = 200, REFINEMENTS = 100 };
  double low = 0, high = s->S[0] + s->S[3], at_high = slide(s, high, r);
  for (int i = 0; i < DOUBLINGS && at_high > 0; i++) {
    low = high, at_low = at_high;
    at_high = slide(s, high *= 4, r);
  }
  int side = 0;
  for (int i = 0; i < REFINEMENTS && high - low > 4 * DBL_EPSILON * high && at_high != 0; i++) {
    double a = isfinite(at_low) ? (low * at_high - high * at_low) / (at_high - at_low) : NAN;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
    double g = slide(s, a, r);
    if (g > 0) {
      low = a, at_low = g;
      if (side == 1) at_high *= 0.5;
      side = 1;
    } else {
      high = a, at_high = g;
      if (side == -1) at_low *= 0.5;
      side = -1;
    }
  }
  slide(s, high, r);
}

void eb_contact_solve_local(const double W[9], const double q[3], double mu, double r[3]) {
  EB_ASSERT(mu >= 0);
  r[0] = r[1] = r[2] = 0;
  if (q[0] >= 0) return;
  if (mu == 0) {
    r[0] = -q[0] / W[0];
    return;
  }
  sliding s = sliding_of(W, q, mu);
  double g = slide(&s, 0, r);
  if (g <= 0) return;
  find_root(&s, g, r);
  double friction = hypot(r[1], r[2]), scale = friction > 0 ? mu * r[0] / friction : 0;
  r[1] *= scale;
  r[2] *= scale;
}

/* ---- projected Gauss-Seidel ---- */

/* For every contact k: r_k from u_k = W_kk r_k + (sum over j != k of W_kj r_j + q_k) and the
 * contact law. Leaves in u what every contact found before its turn.
 *
 * A block relaxation of u = W r + q: with W_kk exact and the rest as it stands, a contact is
 * solved for good if it is alone. It converges for W definite without friction, as each contact
 * minimizes the same quadratic function over its own half line; with friction there is no such
 * function, and no proof. */
static void sweep(eb_reduced *reduced, eb_step_log *log) {
  eb_log_count(log, EB_COUNT_CONTACT_VISITS, reduced->count);
  int64_t m = 3 * (int64_t)reduced->count;
  for (int64_t k = 0; k < reduced->count; k++) {
    double W[9], q[3], *r = reduced->r + 3 * k, *u = reduced->u + 3 * k;
    for (int i = 0; i < 3; i++) {
      memcpy(W + 3 * i, reduced->W + (3 * k + i) * m + 3 * k, 3 * sizeof *W);
      u[i] = velocity_row(reduced, reduced->r, 3 * k + i);
      q[i] = u[i] - (W[3 * i] * r[0] + W[3 * i + 1] * r[1] + W[3 * i + 2] * r[2]);
    }
    eb_contact_solve_local(W, q, reduced->mu[k], r);
  }
}

/* Whether it is over with forces r, at which reduced->u is taken; sets the outcome's reason, logs a
 * residual. */
static bool is_over(const eb_reduced *reduced, const double *r,
                    const eb_contact_tolerance *tolerance, eb_step_log *log,
                    eb_contact_outcome *outcome) {
  eb_contact_error error = {0};
  eb_contact_measure_law(reduced->count, reduced->u, r, reduced->mu, tolerance->eps2, &error);
  double worst = fmax(error.violation, fmax(error.active, error.sliding));
  eb_log_residual(log, worst);
  bool nan =
      isnan(error.violation) || isnan(error.active) || isnan(error.sliding) || isnan(error.cone);
  outcome->reason = eb_contact_solved(&error, tolerance) ? EB_CONVERGED_ATOL
                    : nan                                ? EB_DIVERGED_NAN
                                                         : EB_DIVERGED_MAX_IT;
  return outcome->reason != EB_DIVERGED_MAX_IT;
}

/* A sweep costs one product with W, without the blocks of contacts that are not coupled. What every
 * contact found before its turn says whether another product, for u after the sweep, is worth it.
 * Slow when contacts are many and coupled, and without an end, which max_iterations gives it, when
 * there is no solution. */
void eb_reduced_gauss_seidel(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                             eb_step_log *log, eb_contact_outcome *outcome) {
  size_t bytes = 3 * (size_t)reduced->count * sizeof *reduced->r;
  outcome->reason = EB_DIVERGED_MAX_IT;
  while (outcome->iterations < tolerance->max_iterations) {
    memcpy(reduced->work, reduced->r, bytes);
    sweep(reduced, log);
    outcome->iterations++;
    if (!is_over(reduced, reduced->work, tolerance, log, outcome)) continue;
    velocities(reduced, reduced->r, reduced->u, log);
    if (is_over(reduced, reduced->r, tolerance, NULL, outcome)) break;
  }
}

/* ---- Newton ----
 *
 *   F_n = r_n - max(0, p_n),                                  p_n = r_n - rho_n u_n,
 *   F_t = r_t - the point nearest to p_t of |t| <= mu max(0, p_n),   p_t = r_t - rho_t u_t,
 *
 * zero exactly where the contact law holds. With dF = D_u du + D_r dr, 3x3 blocks of each contact,
 * a step solves
 *
 *   (D_u (W + delta) + D_r) dr = -F,   delta = 1e-10 diag(W),
 *
 * where delta makes up for contacts that repeat each other, which leave W singular; F itself is
 * exact. rho_n = 1 / W_nn, rho_t = 2 / tr(W_tt). The step is halved until |F| decreases; when that
 * fails, sweeps of Gauss-Seidel move on to where it may not. Of an iterate r the forces r - F are
 * checked: they lie in the cones and vanish where contacts are open. */

static const double regularization = 1e-10; /* delta, of W's diagonal */
/* SWEEPS: before the first step; where a step fails, twice as many as the last time. */
enum { SWEEPS = 10, HALVINGS = 6 };

/* The functions of one contact and their derivatives. */
typedef struct alart_curnier {
  double F[3], by_u[9], by_r[9];
} alart_curnier;

/* The derivative of the nearest point to p_t on the disc, mu p_n p_t / |p_t| with |p_t| > mu
 * p_n, d = p_t / |p_t|:
 *
 *   mu d dp_n + (mu p_n / |p_t|) (I - d d^T) dp_t,   dp = dr - rho du.
 *
 * The second factor turns the force and does not lengthen it; both are subtracted from the
 * identity of r_t. */
static void tangential_slide(double mu, const double rho[2], const double p[3], double length,
                             alart_curnier *f) {
  double radius = mu * p[0], d[2] = {p[1] / length, p[2] / length};
  for (int i = 0; i < 2; i++) {
    f->F[1 + i] -= radius * d[i];
    f->by_r[3 * (1 + i)] = -mu * d[i];
    f->by_u[3 * (1 + i)] = mu * rho[0] * d[i];
    for (int j = 0; j < 2; j++) {
      double turn = radius / length * ((i == j) - d[i] * d[j]);
      f->by_r[3 * (1 + i) + 1 + j] = (i == j) - turn;
      f->by_u[3 * (1 + i) + 1 + j] = rho[1] * turn;
    }
  }
}

/* rho is the inverse of the contact's own W: then r - rho u is what the force would have to be
 * for u = 0 were the contact alone, and one step solves one contact. Where it is too small,
 * states change late; too large, they flip. F has the unit of a force in all rows, so that its
 * norm means something. */
static alart_curnier evaluate(const double W[9], const double u[3], const double r[3], double mu) {
  alart_curnier f = {.F = {r[0], r[1], r[2]}};
  double rho[2] = {1 / W[0], 2 / (W[4] + W[8])};
  double p[3] = {r[0] - rho[0] * u[0], r[1] - rho[1] * u[1], r[2] - rho[1] * u[2]};
  double length = hypot(p[1], p[2]);
  if (p[0] <= 0) {
    f.by_r[0] = f.by_r[4] = f.by_r[8] = 1;
    return f;
  }
  f.F[0] -= p[0];
  f.by_u[0] = rho[0];
  if (length > mu * p[0]) {
    tangential_slide(mu, rho, p, length, &f);
    return f;
  }
  for (int i = 1; i < 3; i++) {
    f.F[i] -= p[i];
    f.by_u[4 * i] = rho[1];
  }
  return f;
}

static void diagonal_block(const eb_reduced *reduced, int64_t k, double W[9]) {
  int64_t m = 3 * (int64_t)reduced->count;
  for (int i = 0; i < 3; i++)
    memcpy(W + 3 * i, reduced->W + (3 * k + i) * m + 3 * k, 3 * sizeof *W);
}

/* Takes u of r into reduced->u, F; returns |F|. */
static double residuals(eb_reduced *reduced, const double *r, double *F, eb_step_log *log) {
  velocities(reduced, r, reduced->u, log);
  for (int64_t k = 0; k < reduced->count; k++) {
    double W[9];
    diagonal_block(reduced, k, W);
    alart_curnier f = evaluate(W, reduced->u + 3 * k, r + 3 * k, reduced->mu[k]);
    memcpy(F + 3 * k, f.F, sizeof f.F);
  }
  return eb_norm(3 * (int64_t)reduced->count, F);
}

/* Rows 3 k .. 3 k + 2 of the matrix, which is column-major. */
static void fill_rows(eb_reduced *reduced, int64_t k) {
  int64_t m = 3 * (int64_t)reduced->count;
  const double *w = reduced->W + 3 * k * m;
  double W[9], *G = reduced->jacobian + 3 * k;
  diagonal_block(reduced, k, W);
  alart_curnier f = evaluate(W, reduced->u + 3 * k, reduced->r + 3 * k, reduced->mu[k]);
  for (int64_t j = 0; j < m; j++)
    for (int i = 0; i < 3; i++)
      G[j * m + i] =
          f.by_u[3 * i] * w[j] + f.by_u[3 * i + 1] * w[m + j] + f.by_u[3 * i + 2] * w[2 * m + j];
  for (int e = 0; e < 9; e++)
    G[(3 * k + e % 3) * m + e / 3] += f.by_r[e] + regularization * f.by_u[e] * W[4 * (e % 3)];
}

/* step = -G^-1 F; false when that does not exist. */
static bool newton_step(eb_reduced *reduced, const double *F, double *step) {
  int m = 3 * reduced->count, one = 1, info = 0;
  for (int64_t k = 0; k < reduced->count; k++) fill_rows(reduced, k);
  for (int i = 0; i < m; i++) step[i] = -F[i];
  eb_one_thread before = eb_one_thread_begin();
  dgesv_(&m, &one, reduced->jacobian, &m, reduced->pivots, step, &m, &info);
  eb_one_thread_end(before);
  return info == 0 && isfinite(eb_norm(m, step));
}

/* Moves r along the step to where |F| is smaller, F and u with it; false when it is nowhere.
 *
 * Armijo's rule on |F|, of which a Newton step is a descent direction where F has a derivative:
 * |F + t F' step| = (1 - t) |F|. At kinks it may not be one; then no halving helps, and sweeps
 * take over. */
static bool line_search(eb_reduced *reduced, const double *step, double *F, double *trial,
                        double *norm, eb_step_log *log) {
  int64_t m = 3 * (int64_t)reduced->count;
  double length = 1;
  for (int i = 0; i <= HALVINGS; i++, length *= 0.5) {
    for (int64_t j = 0; j < m; j++) trial[j] = reduced->r[j] + length * step[j];
    double reached = residuals(reduced, trial, F, log);
    if (!(reached <= (1 - 1e-4 * length) * *norm)) continue;
    memcpy(reduced->r, trial, (size_t)m * sizeof *trial);
    *norm = reached;
    return true;
  }
  *norm = residuals(reduced, reduced->r, F, log);
  return false;
}

/* Whether the forces r - F solve the problem; if so r becomes them. u is that of r again if not. */
static bool accept(eb_reduced *reduced, const double *F, double *clean,
                   const eb_contact_tolerance *tolerance, eb_step_log *log,
                   eb_contact_outcome *outcome) {
  int64_t m = 3 * (int64_t)reduced->count;
  for (int64_t i = 0; i < m; i++) clean[i] = reduced->r[i] - F[i];
  velocities(reduced, clean, reduced->u, log);
  bool over = is_over(reduced, clean, tolerance, log, outcome);
  if (over)
    memcpy(reduced->r, clean, (size_t)m * sizeof *clean);
  else
    velocities(reduced, reduced->r, reduced->u, log);
  return over;
}

eb_error eb_reduced_newton(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                           eb_step_log *log, eb_contact_outcome *outcome) {
  if (reduced->newton_room < reduced->room || !reduced->jacobian) {
    size_t size = 3 * (size_t)reduced->room;
    EB_TRY(reallocate(&reduced->jacobian, size * size));
    free(reduced->pivots);
    EB_TRY(EB_NEW(reduced->pivots, size));
    reduced->newton_room = reduced->room;
  }
  int64_t m = 3 * (int64_t)reduced->count, most = tolerance->max_iterations;
  double *F = reduced->work + m, *step = F + m, *trial = step + m;
  outcome->reason = EB_DIVERGED_MAX_IT;
  int64_t sweeps = SWEEPS;
  bool failed = true; /* the guess counts as a failure: it is improved by sweeps */
  while (outcome->iterations < most) {
    for (int64_t i = 0; i < sweeps && failed && outcome->iterations < most;
         i++, outcome->iterations++)
      sweep(reduced, log);
    if (failed) sweeps *= 2;
    double norm = residuals(reduced, reduced->r, F, log);
    if (accept(reduced, F, trial, tolerance, log, outcome) || outcome->iterations >= most) break;
    failed = !newton_step(reduced, F, step) || !line_search(reduced, step, F, trial, &norm, log);
    outcome->iterations++;
  }
  return EB_OK;
}
