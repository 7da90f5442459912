/* contact-ica: the contact step with Iterative Constraint Anticipation.
 *
 * With A = D - F, D its diagonal blocks, an iteration anticipates where relaxation takes the rows
 * that contacts act on,
 *
 *   w = D^-1 (b + F v + H^T r) = v + D^-1 R,   R = b + H^T r - A v,
 *
 * solves the contact law for u = H w - c by projected Gauss-Seidel over the contacts (the problem
 * of H D^-1 H^T, never formed: an impulse dr of contact k moves w by (D^-1 H^T)_k dr), starting at
 * the present r, and then sweeps block Gauss-Seidel over A v = b + H^T r.
 *
 * R is kept up to date: relaxing row i adds dv = D_ii^-1 R_i to v_i and takes A_ji dv from R_j of
 * its neighbours, which reads every block once as a product does, so the residual costs nothing and
 * no second product sets up the contact problem. At a fixed point w = v, which solves the problem.
 * Friction is stricter than published, where it is only bounded: every contact is solved exactly
 * (eb_contact_solve_local), so that friction opposes the motion.
 *
 * With stiff bodies and large friction the iteration as published can cycle. When the residual has
 * not fallen for long the change of r is damped; R, linear in r, by the same factor. Cones are
 * convex, so r stays in them.
 *
 * Reference: Otaduy, Tamstorf, Steinemann and Gross 2009; compared with in Verschoor and Jalba
 * 2019, Section 6.2.2. One iteration is one sweep over A. Before it is called solved, R is computed
 * anew (its updates gather rounding) and eb_contact_measure asked.
 *
 * Needs: diagonal blocks of A positive definite.
 * Workspace: 4 vectors, D^-1, and D^-1 H^T, which grow with the contacts.
 * Fails with EB_DIVERGED_MAX_IT (contacts that contradict each other, for one), EB_DIVERGED_NAN and
 * EB_NOT_POSITIVE_DEFINITE (a diagonal block). */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "solvers/contact/reduced.h"
#include "solvers/linalg/block_ops.h"

static const double progress = 0.9; /* a residual below so much of the lowest has fallen */
static const double least_damping = 1.0 / 16;
enum { PATIENCE = 200 }; /* iterations without progress before r is damped */
/* Of the largest diagonal entry of W, added to the diagonal: rows may be parallel. */
static const double regularization = 1e-12;
/* Sweeps over the contacts end at this part of the change of the first one, or of eps2. */
static const double inner_reduction = 0.1, inner_floor = 0.1;

typedef enum contact_state { OPEN, STICKS, SLIDES } contact_state;

typedef struct ica {
  int64_t inner_sweeps;
  int32_t rows, contact_room, entry_room, contact_row_count;
  double *D_inverse;     /* 9 rows */
  double *R, *w;         /* 3 rows; w on rows that contacts act on */
  int32_t *contact_rows; /* rows: those that contacts act on, ascending */
  uint8_t *has_contact;  /* rows */
  double *work;          /* 3 rows + 3 contact_room: of the measure */
  double *before;        /* 3 a contact: r before an iteration */
  double damping;        /* how much of the change of r is made */
  double lowest;         /* residual since the damping was last changed */
  int64_t stale;         /* iterations since it last fell */
  double *response;      /* 9 an entry: D^-1 H^T */
  double *W;             /* 9 a contact: H D^-1 H^T of it alone, regularized */
  uint8_t *state;        /* a contact: contact_state when last evaluated */
} ica;

/* One solve. */
typedef struct ica_run {
  const eb_contact_problem *problem;
  const eb_contact_tolerance *tolerance;
  double *v, *r;
  eb_step_log *log;
  eb_contact_outcome *outcome;
} ica_run;

/* ---- memory ---- */

static void ica_destroy(void *data) {
  ica *s = data;
  if (!s) return;
  free(s->D_inverse);
  free(s->R);
  free(s->w);
  free(s->contact_rows);
  free(s->has_contact);
  free(s->work);
  free(s->response);
  free(s->before);
  free(s->W);
  free(s->state);
  free(s);
}

static eb_error ica_create(const eb_solver *solver, const eb_block_matrix *pattern, void **data) {
  const int32_t rows = pattern->rows;
  ica *s;
  *data = NULL;
  EB_TRY(EB_NEW(s, 1));
  s->rows = rows;
  s->inner_sweeps = eb_values_int(solver->options, "inner_sweeps");
  eb_error error = EB_NEW(s->D_inverse, 9 * (size_t)rows);
  if (!error) error = EB_NEW(s->R, 3 * (size_t)rows);
  if (!error) error = EB_NEW(s->w, 3 * (size_t)rows);
  if (!error) error = EB_NEW(s->contact_rows, rows);
  if (!error) error = EB_NEW(s->has_contact, rows);
  if (!error) error = EB_NEW(s->work, 3 * (size_t)rows);
  if (error)
    ica_destroy(s);
  else
    *data = s;
  return error;
}

static eb_error grow(ica *s, int32_t contacts, int32_t entries) {
  if (contacts > s->contact_room) {
    int32_t room = contacts + contacts / 2;
    free(s->work);
    free(s->before);
    free(s->W);
    free(s->state);
    s->work = s->before = s->W = NULL;
    s->state = NULL;
    s->contact_room = 0;
    EB_TRY(EB_NEW(s->work, 3 * ((size_t)s->rows + (size_t)room)));
    EB_TRY(EB_NEW(s->before, 3 * (size_t)room));
    EB_TRY(EB_NEW(s->W, 9 * (size_t)room));
    EB_TRY(EB_NEW(s->state, room));
    s->contact_room = room;
  }
  if (entries > s->entry_room) {
    int32_t room = entries + entries / 2;
    free(s->response);
    s->entry_room = 0;
    EB_TRY(EB_NEW(s->response, 9 * (size_t)room));
    s->entry_room = room;
  }
  return EB_OK;
}

/* ---- set-up of a solve ---- */

/* D^-1, each block by cofactors over the determinant; the leading minors a_11, the cofactor of a_33
 * and the determinant tell whether it is positive definite (Sylvester). */
static bool invert_diagonal(ica *s, const eb_block_matrix *A) {
  for (int32_t i = 0; i < s->rows; i++) {
    const double *a = A->values + 9 * (int64_t)A->diagonal[i];
    double *inverse = s->D_inverse + 9 * (int64_t)i;
    eb_cross3(a + 3, a + 6, inverse);
    eb_cross3(a + 6, a, inverse + 3);
    eb_cross3(a, a + 3, inverse + 6);
    double determinant = eb_dot3(a, inverse);
    if (!(a[0] > 0 && inverse[8] > 0 && determinant > 0)) return false;
    for (int k = 0; k < 9; k++) inverse[k] /= determinant;
  }
  return true;
}

/* R = b + H^T r - A v; returns its norm. */
static double residual(ica *s, const ica_run *run) {
  const eb_contact_problem *p = run->problem;
  int64_t n = 3 * (int64_t)s->rows;
  eb_block_multiply(p->A, run->v, s->R);
  for (int64_t k = 0; k < n; k++) s->R[k] = p->b[k] - s->R[k];
  eb_contact_force_add(p, run->r, s->R);
  eb_log_count(run->log, EB_COUNT_MATVECS, 1);
  eb_log_count(run->log, EB_COUNT_CONTACT_VISITS, p->count);
  return eb_norm(n, s->R);
}

/* Brings the states up to date; whether one has changed. They steer nothing here, the local
 * solution decides anew each time: they are counted, so that methods can be compared by how long
 * their active sets take to settle. */
static bool update_states(ica *s, const ica_run *run) {
  const double inside = 1 - 1e-6; /* as in eb_contact_measure */
  bool changed = false;
  for (int32_t k = 0; k < run->problem->count; k++) {
    const double *r = run->r + 3 * (int64_t)k;
    bool sticks = hypot(r[1], r[2]) < inside * run->problem->mu[k] * r[0];
    uint8_t now = !(r[0] > 0) ? OPEN : sticks ? STICKS : SLIDES;
    changed |= now != s->state[k];
    s->state[k] = now;
  }
  return changed;
}

/* ---- the contacts of an iteration ---- */

/* Solves a contact that has r and moves by u; with the regularized W, q follows from them so that
 * the solution is that of the W that is meant. */
static void solve_contact(const double W[9], const double u[3], double mu, double r[3],
                          double change[3]) {
  double q[3], next[3] = {0};
  eb_turn3(W, r, q);
  for (int i = 0; i < 3; i++) q[i] = u[i] - q[i];
  if (W[0] > 0) eb_contact_solve_local(W, q, mu, next);
  for (int i = 0; i < 3; i++) change[i] = next[i] - r[i];
  memcpy(r, next, sizeof next);
}

/* Solves contact k for the others as they are; returns how far that moves it, m. */
static double relax_contact(ica *s, const ica_run *run, int32_t k) {
  const eb_contact_problem *p = run->problem;
  double u[3], change[3], moved[3];
  for (int i = 0; i < 3; i++) u[i] = -p->c[3 * (int64_t)k + i];
  for (int32_t e = p->start[k]; e < p->start[k + 1]; e++) {
    const double *H = p->H + 9 * (int64_t)e, *w = s->w + 3 * (int64_t)p->block[e];
    for (int i = 0; i < 3; i++) u[i] += eb_dot3(H + 3 * i, w);
  }
  solve_contact(s->W + 9 * (int64_t)k, u, p->mu[k], run->r + 3 * (int64_t)k, change);
  if (change[0] == 0 && change[1] == 0 && change[2] == 0) return 0;
  for (int32_t e = p->start[k]; e < p->start[k + 1]; e++) {
    const double *response = s->response + 9 * (int64_t)e;
    double *w = s->w + 3 * (int64_t)p->block[e];
    for (int i = 0; i < 3; i++) w[i] += eb_dot3(response + 3 * i, change);
  }
  eb_turn3(s->W + 9 * (int64_t)k, change, moved);
  return sqrt(eb_dot3(moved, moved));
}

/* Sweeps over the contacts until they hardly move. */
static void solve_contacts(ica *s, const ica_run *run) {
  double enough = inner_floor * run->tolerance->eps2;
  for (int64_t sweep = 0; sweep < s->inner_sweeps; sweep++) {
    double largest = 0;
    for (int32_t k = 0; k < run->problem->count; k++)
      largest = fmax(largest, relax_contact(s, run, k));
    eb_log_count(run->log, EB_COUNT_CONTACT_VISITS, run->problem->count);
    if (!sweep) enough = fmax(enough, inner_reduction * largest);
    if (!(largest > enough)) break;
  }
}

/* y += damping (x - y). */
static void blend(double damping, int64_t n, const double *x, double *y) {
  for (int64_t k = 0; k < n; k++) y[k] = damping < 1 ? y[k] + damping * (x[k] - y[k]) : x[k];
}

/* r from the anticipated w, and R with it: on rows that contacts act on D (w - v) = R. A function
 * of its own in the binary too: inlined into iterate its loops run out of registers (5 % more
 * instructions). */
__attribute__((noinline)) static void anticipate(ica *s, const ica_run *run) {
  const eb_contact_problem *p = run->problem;
  const eb_block_matrix *A = p->A;
  size_t m = 3 * (size_t)p->count;
  if (!p->count) return;
  for (int32_t t = 0; t < s->contact_row_count; t++) {
    int64_t i = s->contact_rows[t];
    eb_turn3(s->D_inverse + 9 * i, s->R + 3 * i, s->w + 3 * i);
    eb_add3(1, run->v + 3 * i, s->w + 3 * i);
  }
  memcpy(s->before, run->r, m * sizeof *run->r);
  solve_contacts(s, run);
  blend(s->damping, (int64_t)m, run->r, s->before);
  memcpy(run->r, s->before, m * sizeof *run->r);
  run->outcome->active_set_changes += update_states(s, run);
  for (int32_t t = 0; t < s->contact_row_count; t++) {
    int64_t i = s->contact_rows[t];
    double dv[3], R[3];
    for (int d = 0; d < 3; d++) dv[d] = s->w[3 * i + d] - run->v[3 * i + d];
    eb_turn3(A->values + 9 * (int64_t)A->diagonal[i], dv, R);
    blend(s->damping, 3, R, s->R + 3 * i);
  }
}

/* ---- the sweep over A ---- */

/* Damps the changes of r from now on when the residual has long not fallen. The fixed point is the
 * same whatever the damping, as it is where r does not change; only the way there is. */
static void damp_when_stale(ica *s, double norm, double eps1) {
  bool falls = norm < progress * s->lowest;
  s->stale = falls || norm <= eps1 ? 0 : s->stale + 1;
  if (falls) s->lowest = norm;
  if (s->stale < PATIENCE) return;
  s->damping = fmax(0.5 * s->damping, least_damping);
  s->lowest = norm;
  s->stale = 0;
}

/* Block Gauss-Seidel over A v = b + H^T r: row i is solved for v_i as D_ii dv = R_i, and R follows,
 * R_j -= A_ji dv = A_ij^T dv, so that R_i itself becomes 0 until a later row moves it. */
static void relax_rows(ica *s, const ica_run *run) {
  const eb_block_matrix *A = run->problem->A;
  for (int32_t i = 0; i < s->rows; i++) {
    double dv[3];
    eb_turn3(s->D_inverse + 9 * (int64_t)i, s->R + 3 * (int64_t)i, dv);
    eb_add3(1, dv, run->v + 3 * (int64_t)i);
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      const double *a = A->values + 9 * (int64_t)b;
      double *R = s->R + 3 * (int64_t)A->column[b];
      for (int d = 0; d < 3; d++) R[d] -= a[d] * dv[0] + a[3 + d] * dv[1] + a[6 + d] * dv[2];
    }
  }
}

/* Whether (v, r) meets the tolerance; `norm` is of the residual as it was kept and becomes that of
 * R computed anew. */
static bool is_solved(ica *s, const ica_run *run, double *norm) {
  eb_contact_error error;
  *norm = residual(s, run);
  if (!(*norm <= run->tolerance->eps1)) return false;
  return eb_contact_is_solved(run->problem, run->tolerance, run->v, run->r, s->work, run->log,
                              &error);
}

static eb_reason iterate(ica *s, const ica_run *run) {
  const eb_contact_tolerance *tolerance = run->tolerance;
  double norm = 0;
  s->damping = 1;
  s->lowest = INFINITY;
  s->stale = 0;
  for (;;) {
    bool solved = norm <= tolerance->eps1 && is_solved(s, run, &norm);
    eb_log_residual(run->log, norm);
    if (solved) return EB_CONVERGED_ATOL;
    if (!isfinite(norm)) return EB_DIVERGED_NAN;
    if (run->outcome->iterations >= tolerance->max_iterations) return EB_DIVERGED_MAX_IT;
    damp_when_stale(s, norm, tolerance->eps1);
    anticipate(s, run);
    relax_rows(s, run);
    run->outcome->iterations++;
    norm = eb_norm(3 * (int64_t)s->rows, s->R);
  }
}

static eb_reason solve(ica *s, const ica_run *run) {
  const eb_contact_problem *p = run->problem;
  if (!invert_diagonal(s, p->A)) return EB_NOT_POSITIVE_DEFINITE;
  memset(s->has_contact, 0, (size_t)s->rows * sizeof *s->has_contact);
  for (int32_t e = 0; e < p->start[p->count]; e++) s->has_contact[p->block[e]] = 1;
  s->contact_row_count = 0;
  for (int32_t i = 0; i < s->rows; i++)
    if (s->has_contact[i]) s->contact_rows[s->contact_row_count++] = i;
  /* D^-1 H^T of every entry, and W = H D^-1 H^T of every contact alone. */
  for (int32_t k = 0; k < p->count; k++) {
    double *W = s->W + 9 * (int64_t)k;
    memset(W, 0, 9 * sizeof *W);
    for (int32_t e = p->start[k]; e < p->start[k + 1]; e++) {
      const double *H = p->H + 9 * (int64_t)e;
      const double *inverse = s->D_inverse + 9 * (int64_t)p->block[e];
      double *response = s->response + 9 * (int64_t)e;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) response[3 * i + j] = eb_dot3(inverse + 3 * i, H + 3 * j);
      for (int i = 0; i < 9; i++)
        for (int d = 0; d < 3; d++) W[i] += H[3 * (i / 3) + d] * response[3 * d + i % 3];
    }
    double largest = fmax(W[0], fmax(W[4], W[8]));
    for (int i = 0; i < 9; i += 4) W[i] += regularization * largest;
  }
  update_states(s, run);
  eb_reason reason = iterate(s, run);
  eb_log_count(run->log, EB_COUNT_MATVECS, (double)run->outcome->iterations);
  eb_log_count(run->log, EB_COUNT_LINEAR_ITERATIONS, (double)run->outcome->iterations);
  return reason;
}

static eb_error ica_solve(void *data, const eb_contact_problem *problem,
                          const eb_contact_tolerance *tolerance, double *v, double *r,
                          eb_step_log *log, eb_contact_outcome *outcome) {
  ica *s = data;
  const ica_run run = {problem, tolerance, v, r, log, outcome};
  *outcome = (eb_contact_outcome){0};
  EB_TRY(grow(s, problem->count, problem->start[problem->count]));
  eb_log_begin(log, EB_PHASE_SOLVE);
  outcome->reason = solve(s, &run);
  eb_log_end(log, EB_PHASE_SOLVE);
  return EB_OK;
}

const eb_contact_method eb_contact_ica = {.name = "ica",
                                          .unconstrained = true,
                                          .create = ica_create,
                                          .solve = ica_solve,
                                          .destroy = ica_destroy};
