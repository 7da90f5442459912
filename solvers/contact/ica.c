/* Iterative Constraint Anticipation (Otaduy, Tamstorf, Steinemann and Gross 2009; compared with in Verschoor and Jalba 2019, Section 6.2.2).
 *
 * With A = D - F, D its diagonal blocks, an iteration anticipates where relaxation takes the rows that contacts act on,
 *
 *   w = D^-1 (b + F v + H^T r) = v + D^-1 R,   R = b + H^T r - A v,
 *
 * solves the contact law for u = H w - c by projected Gauss-Seidel over the contacts (the problem of H D^-1 H^T, never formed: an impulse dr
 * of contact k moves w by (D^-1 H^T)_k dr), starting at the r that is there, and then sweeps block Gauss-Seidel over A v = b + H^T r.
 *
 * R is kept up to date: relaxing row i adds dv = D_ii^-1 R_i to v_i and takes A_ji dv from R_j of its neighbours, which reads every block
 * once as a product does, so the residual costs nothing and no second product sets up the contact problem. At a fixed point
 * w = v, which solves the problem. Friction is stricter than published, where it is only bounded: every contact is solved exactly (delassus_local.c), so
 * that friction opposes the motion.
 *
 * With stiff bodies and large friction the iteration as published can go round in circles. When the residual has not fallen for
 * long only a share of the change of r is made; R, linear in r, takes the same share. Cones are convex, so r stays in them.
 *
 * One iteration is one sweep over A. Before it is called solved, R is computed anew (its updates gather rounding) and
 * eb_contact_measure asked. Fails with EB_DIVERGED_MAX_IT (contacts that contradict each other, for one), EB_DIVERGED_NAN and
 * EB_NOT_POSITIVE_DEFINITE (a diagonal block). Workspace: 4 vectors, D^-1, and D^-1 H^T, which grow with the contacts. */
#include "solvers/contact/ica.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/contact/ica_data.h"
#include "solvers/linalg/block_ops.h"

static const double progress = 0.9; /* a residual below so much of the lowest has fallen */
static const double least_share = 1.0 / 16;
enum { PATIENCE = 200 }; /* iterations without progress before r is damped */

static void ica_destroy(void *data) {
  eb_ica *s = data;
  if (!s) return;
  free(s->D_inverse);
  free(s->R);
  free(s->w);
  free(s->touched);
  free(s->is_touched);
  free(s->work);
  free(s->response);
  free(s->before);
  free(s->W);
  free(s->state);
  free(s);
}

static eb_error allocate(eb_ica *s) {
  EB_TRY(EB_NEW(s->D_inverse, 9 * (size_t)s->rows));
  EB_TRY(EB_NEW(s->R, 3 * (size_t)s->rows));
  EB_TRY(EB_NEW(s->w, 3 * (size_t)s->rows));
  EB_TRY(EB_NEW(s->touched, s->rows));
  EB_TRY(EB_NEW(s->is_touched, s->rows));
  return EB_NEW(s->work, 3 * (size_t)s->rows);
}

static eb_error ica_create(const eb_solver *solver, int32_t rows, void **data) {
  eb_ica *s;
  *data = NULL;
  EB_TRY(EB_NEW(s, 1));
  s->rows = rows;
  s->inner_sweeps = eb_values_int(solver->options, "inner_sweeps");
  eb_error error = allocate(s);
  if (error)
    ica_destroy(s);
  else
    *data = s;
  return error;
}

static eb_error grow_contacts(eb_ica *s, int32_t count) {
  if (count <= s->contact_room) return EB_OK;
  int32_t room = count + count / 2;
  free(s->work);
  free(s->before);
  free(s->W);
  free(s->state);
  s->work = s->before = NULL;
  s->W = NULL;
  s->state = NULL;
  s->contact_room = 0;
  EB_TRY(EB_NEW(s->work, 3 * ((size_t)s->rows + (size_t)room)));
  EB_TRY(EB_NEW(s->before, 3 * (size_t)room));
  EB_TRY(EB_NEW(s->W, 9 * (size_t)room));
  EB_TRY(EB_NEW(s->state, room));
  s->contact_room = room;
  return EB_OK;
}

static eb_error grow_entries(eb_ica *s, int32_t entries) {
  if (entries <= s->entry_room) return EB_OK;
  int32_t room = entries + entries / 2;
  free(s->response);
  s->entry_room = 0;
  EB_TRY(EB_NEW(s->response, 9 * (size_t)room));
  s->entry_room = room;
  return EB_OK;
}

/* ---- set-up of a solve ---- */

/* Cofactors over the determinant. False when the block is not positive definite. */
static bool invert3(const double a[9], double inverse[9]) {
  eb_cross3(a + 3, a + 6, inverse);
  eb_cross3(a + 6, a, inverse + 3);
  eb_cross3(a, a + 3, inverse + 6);
  double determinant = eb_dot3(a, inverse);
  bool definite = a[0] > 0 && inverse[8] > 0 && determinant > 0;
  for (int k = 0; k < 9; k++) inverse[k] /= determinant;
  return definite;
}

static bool invert_diagonal(eb_ica *s, const eb_block_matrix *A) {
  for (int32_t i = 0; i < s->rows; i++)
    if (!invert3(A->values + 9 * (int64_t)A->diagonal[i], s->D_inverse + 9 * (int64_t)i))
      return false;
  return true;
}

/* R = b + H^T r - A v; returns its norm. */
static double residual(eb_ica *s, const eb_ica_run *run) {
  const eb_contact_problem *p = run->problem;
  int64_t n = 3 * (int64_t)s->rows;
  eb_block_multiply(p->A, run->v, s->R);
  for (int64_t k = 0; k < n; k++) s->R[k] = p->b[k] - s->R[k];
  eb_contact_force_add(p, run->r, s->R);
  eb_log_count(run->log, EB_COUNT_MATVECS, 1);
  return eb_norm(n, s->R);
}

/* ---- the sweep over A ---- */

/* v_i += dv, and R follows. */
static void move_row(eb_ica *s, const eb_ica_run *run, int32_t i, const double dv[3]) {
  const eb_block_matrix *A = run->problem->A;
  eb_add3(1, dv, run->v + 3 * (int64_t)i);
  for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
    const double *a = A->values + 9 * (int64_t)b;
    double *R = s->R + 3 * (int64_t)A->column[b];
    for (int d = 0; d < 3; d++) R[d] -= a[d] * dv[0] + a[3 + d] * dv[1] + a[6 + d] * dv[2];
  }
}

/* Takes smaller steps in r from now on when the residual has long not fallen. */
static void watch(eb_ica *s, double norm, double eps1) {
  bool falls = norm < progress * s->lowest;
  s->stale = falls || norm <= eps1 ? 0 : s->stale + 1;
  if (falls) s->lowest = norm;
  if (s->stale < PATIENCE) return;
  s->share = fmax(0.5 * s->share, least_share);
  s->lowest = norm;
  s->stale = 0;
}

static void relax(eb_ica *s, const eb_ica_run *run) {
  double dv[3];
  for (int32_t i = 0; i < s->rows; i++) {
    eb_turn3(s->D_inverse + 9 * (int64_t)i, s->R + 3 * (int64_t)i, dv);
    move_row(s, run, i, dv);
  }
}

/* Whether (v, r) meets the tolerance; `norm` is of the residual as it was kept and becomes that of R computed anew. */
static bool is_solved(eb_ica *s, const eb_ica_run *run, double *norm) {
  eb_contact_error error;
  double eps2 = run->tolerance->eps2;
  *norm = residual(s, run);
  if (!(*norm <= run->tolerance->eps1)) return false;
  eb_contact_measure(run->problem, run->v, run->r, eps2, s->work, &error);
  return eb_contact_solved(&error, run->tolerance);
}

static eb_reason iterate(eb_ica *s, const eb_ica_run *run) {
  const eb_contact_tolerance *tolerance = run->tolerance;
  double norm = 0;
  s->share = 1;
  s->lowest = INFINITY;
  s->stale = 0;
  for (;;) {
    bool solved = norm <= tolerance->eps1 && is_solved(s, run, &norm);
    eb_log_residual(run->log, norm);
    if (solved) return EB_CONVERGED_ATOL;
    if (!isfinite(norm)) return EB_DIVERGED_NAN;
    if (run->outcome->iterations >= tolerance->max_iterations) return EB_DIVERGED_MAX_IT;
    watch(s, norm, tolerance->eps1);
    eb_ica_anticipate(s, run);
    relax(s, run);
    run->outcome->iterations++;
    norm = eb_norm(3 * (int64_t)s->rows, s->R);
  }
}

static eb_reason solve(eb_ica *s, const eb_ica_run *run) {
  const eb_contact_problem *p = run->problem;
  if (!invert_diagonal(s, p->A)) return EB_NOT_POSITIVE_DEFINITE;
  eb_ica_begin_contacts(s, run);
  eb_reason reason = iterate(s, run);
  eb_log_count(run->log, EB_COUNT_MATVECS, (double)run->outcome->iterations);
  eb_log_count(run->log, EB_COUNT_LINEAR_ITERATIONS, (double)run->outcome->iterations);
  return reason;
}

static eb_error ica_solve(void *data, const eb_contact_problem *problem,
                          const eb_contact_tolerance *tolerance, double *v, double *r,
                          eb_step_log *log, eb_contact_outcome *outcome) {
  eb_ica *s = data;
  const eb_ica_run run = {problem, tolerance, v, r, log, outcome};
  *outcome = (eb_contact_outcome){0};
  EB_TRY(grow_contacts(s, problem->count));
  EB_TRY(grow_entries(s, problem->start[problem->count]));
  eb_log_begin(log, EB_PHASE_SOLVE);
  outcome->reason = solve(s, &run);
  eb_log_end(log, EB_PHASE_SOLVE);
  return EB_OK;
}

const eb_contact_method eb_contact_ica = {
    .name = "ica", .create = ica_create, .solve = ica_solve, .destroy = ica_destroy};
