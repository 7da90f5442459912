/* Reduced contact problems by Newton's method on the functions of Alart and Curnier (1991, "A mixed formulation for frictional contact problems prone to
 * Newton like solution methods", Computer Methods in Applied Mechanics and Engineering 92(3)):
 *
 *   F_n = r_n - max(0, p_n),      p_n = r_n - rho_n u_n,
 *   F_t = r_t - the nearest point to p_t in the disk of radius mu max(0, p_n),   p_t = r_t - rho_t u_t,   u = W r + q,
 *
 * zero exactly where the contact law holds. With dF = D_u du + D_r dr, 3x3 blocks of each contact, a step solves
 *
 *   (D_u (W + delta) + D_r) dr = -F,   delta = 1e-10 diag(W),
 *
 * where delta makes up for contacts that say the same, which leave W singular; F itself is exact. rho_n = 1 / W_nn, rho_t = 2 / tr(W_tt). The step is halved until
 * |F| decreases; when that fails, sweeps of Gauss-Seidel (delassus_pgs.c) move on to where it may not. Of an iterate r the forces
 * r - F are judged: they lie in the cones and vanish where contacts are open.
 *
 * Workspace: (3 count)^2 for the matrix, LAPACK's LU. */
#include "solvers/contact/delassus.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/one_thread.h"

void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b,
            const int *ldb, int *info);

static const double SINGULAR = 1e-10; /* delta, of W's diagonal */
enum {
  SWEEPS = 10 /* before the first step; where steps fail twice as many as the last time */,
  HALVINGS = 6
};

/* The functions of one contact and their derivatives. */
typedef struct alart_curnier {
  double F[3], by_u[9], by_r[9];
} alart_curnier;

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
static double functions(eb_reduced *reduced, const double *r, double *F) {
  eb_reduced_velocity(reduced, r, reduced->u);
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
    G[(3 * k + e % 3) * m + e / 3] += f.by_r[e] + SINGULAR * f.by_u[e] * W[4 * (e % 3)];
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

/* Moves r along the step to where |F| is smaller, F and u with it; false when it is nowhere. */
static bool search(eb_reduced *reduced, const double *step, double *F, double *trial,
                   double *norm) {
  int64_t m = 3 * (int64_t)reduced->count;
  double length = 1;
  for (int i = 0; i <= HALVINGS; i++, length *= 0.5) {
    for (int64_t j = 0; j < m; j++) trial[j] = reduced->r[j] + length * step[j];
    double reached = functions(reduced, trial, F);
    if (!(reached <= (1 - 1e-4 * length) * *norm)) continue;
    memcpy(reduced->r, trial, (size_t)m * sizeof *trial);
    *norm = reached;
    return true;
  }
  *norm = functions(reduced, reduced->r, F);
  return false;
}

/* Whether the forces r - F solve the problem; if so r becomes them. u is that of r again if not. */
static bool accept(eb_reduced *reduced, const double *F, double *clean,
                   const eb_contact_tolerance *tolerance, eb_step_log *log,
                   eb_contact_outcome *outcome) {
  int64_t m = 3 * (int64_t)reduced->count;
  for (int64_t i = 0; i < m; i++) clean[i] = reduced->r[i] - F[i];
  eb_reduced_velocity(reduced, clean, reduced->u);
  bool over = eb_reduced_judge(reduced, clean, tolerance, log, outcome);
  if (over)
    memcpy(reduced->r, clean, (size_t)m * sizeof *clean);
  else
    eb_reduced_velocity(reduced, reduced->r, reduced->u);
  return over;
}

static eb_error reserve(eb_reduced *reduced) {
  if (reduced->newton_room >= reduced->room && reduced->jacobian) return EB_OK;
  size_t m = 3 * (size_t)reduced->room;
  free(reduced->jacobian);
  free(reduced->pivots);
  reduced->jacobian = NULL;
  reduced->pivots = NULL;
  EB_TRY(EB_NEW(reduced->jacobian, m * m));
  EB_TRY(EB_NEW(reduced->pivots, m));
  reduced->newton_room = reduced->room;
  return EB_OK;
}

eb_error eb_reduced_newton(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                           eb_step_log *log, eb_contact_outcome *outcome) {
  EB_TRY(reserve(reduced));
  int64_t m = 3 * (int64_t)reduced->count, most = tolerance->max_iterations;
  double *F = reduced->work + m, *step = F + m, *trial = step + m;
  outcome->reason = EB_DIVERGED_MAX_IT;
  int64_t sweeps = SWEEPS;
  bool failed = true; /* the guess counts as a failure: it is improved by sweeps */
  while (outcome->iterations < most) {
    for (int64_t i = 0; i < sweeps && failed && outcome->iterations < most;
         i++, outcome->iterations++)
      eb_reduced_sweep(reduced);
    if (failed) sweeps *= 2;
    double norm = functions(reduced, reduced->r, F);
    if (accept(reduced, F, trial, tolerance, log, outcome) || outcome->iterations >= most) break;
    failed = !newton_step(reduced, F, step) || !search(reduced, step, F, trial, &norm);
    outcome->iterations++;
  }
  return EB_OK;
}
