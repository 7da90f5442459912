/* contact-al: the contact problem by an augmented Lagrangian, semismooth Newton on it, and
 * conjugate residuals inside.
 *
 *   A v = b + H^T r,  u = H v - c,  with Signorini's condition and Coulomb's cone
 *
 * Reference: Verschoor and Jalba 2019, Section 3 and Algorithms 1 to 3: conjugate residuals on the
 * matrix of the active constraints, Equation 11; the active set evaluated before convergence;
 * preconditioners of Equation 22; friction magnitudes from a moving average of normal forces; the
 * split residual. What differs, and why: an active set that follows multipliers which have not
 * converged cycles without end where constraints nearly repeat each other. Here every row has a
 * small compliance E = theta tr(S) / 3, S the diagonal block of the Schur complement, which makes
 * forces a function of velocities (al_system.h), and a convex merit function of its own for a line
 * search:
 *
 *   anchors r^ <- r, bounds s <- mu r_n          (a proximal step, until r = r^ and s = mu r_n)
 *     states from v, K = A + H^T D H             (an inexact semismooth Newton step)
 *       conjugate residuals on K x = -grad Phi   (preconditioned: full or diag)
 *     v <- v + t x                               (t from an exact line search on Phi)
 *
 * The residual that is brought down, grad Phi = A v - b - H^T r(v), is the first row of the paper's
 * residual of the whole problem (Equation 23): forces enter clamped, normal ones to r_n >= 0,
 * friction to its bound. The other rows of Equation 23, the violations, have become part of it
 * through r(v): a contact that pushes with r_n has u_n = E (r^_n - r_n), so it is off by what the
 * last proximal step changed its force, times E, and where r = r^ the law holds. The paper bounds
 * |r| instead and tests the rows one by one when a state is evaluated (Algorithm 2); a function of
 * v alone needs no such order.
 *
 * Units: A in kg, v in m/s, b, grad Phi and eps1 in kg m/s, H in s, u in m, forces in N, E in m/N.
 *
 * Every Newton step lowers the strictly convex Phi, so that the inner loops end; bounds move by the
 * mean of the last two (the paper's n = 2) where they oscillate. An iteration is one of the
 * conjugate residuals: one product with A.
 *
 * Needs: A positive definite, D_k of the law.
 * Workspace: fourteen vectors of the unknowns, some forty numbers a contact.
 * Fails: EB_DIVERGED_MAX_IT; EB_DIVERGED_NAN when something is not finite; EB_DIVERGED_BREAKDOWN
 * when conjugate residuals break down in the first direction. EB_CONVERGED_STAGNATED: constraints
 * contradict each other; violations no longer fall from one proximal step to the next (the
 * least-squares exit). */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/contact/al_system.h"
#include "solvers/contact/method.h"
#include "solvers/linalg/block_ops.h"

static const double theta = 0.3;     /* E over the mean of the Schur diagonal */
static const double forcing = 0.1;   /* |r| / |grad Phi| at which a Newton step is cut off */
static const double curvature = 0.1; /* |Phi'(t)| / |Phi'(0)| that the line search asks for */
/* Where the error falls by less than `slow` a proximal step, E shrinks by `stiffening`, to `least`
 * of the first one: see stiffen. */
static const double slow = 0.65, stiffening = 0.25, least = 1e-2;

/* Where all bodies are rigid: theta, and the part of eps2 that displacements are brought within. So
 * much of eps2 at each of ten contacts on top of each other is still a motion of eps2. */
static const double rigid_theta = 0.03, rigid_part = 0.1;

enum {
  MAX_NEWTON = 50,    /* Newton steps of a proximal step */
  MAX_PROXIMAL = 300, /* proximal steps */
  PATIENCE = 12       /* of them without progress */
};

typedef struct workspace {
  eb_al_system system;
  eb_al_solve cr;
  eb_al_law law;
  int64_t room;
  double *Av, *gradient, *descent; /* rows */
  double *settled;                 /* rows: velocities that follow from given forces */
  bool rigid;                      /* A has nothing beside its diagonal blocks */
  double *u, *r;                   /* 3 a contact */
  double *bound_change;            /* a contact: the last one */
  double *error, *u_n;             /* a contact: at the last proximal step, m */
  double *first_compliance;        /* a contact */
  uint8_t *state;
  double *work; /* for eb_contact_measure */
} workspace;

/* ---- memory ---------------------------------------------------------------------------------- */

static void clear_contacts(workspace *w) {
  double **all[] = {
      &w->law.compliance, &w->law.anchor, &w->law.bound,        &w->u,   &w->r, &w->bound_change,
      &w->error,          &w->u_n,        &w->first_compliance, &w->work};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(*all[i]);
    *all[i] = NULL;
  }
  free(w->state);
  w->state = NULL;
}

static void destroy(void *data) {
  workspace *w = data;
  if (!w) return;
  eb_al_system_clear(&w->system);
  eb_al_solve_clear(&w->cr);
  clear_contacts(w);
  free(w->Av);
  free(w->gradient);
  free(w->descent);
  free(w->settled);
  free(w);
}

static eb_error create(const eb_solver *solver, const eb_block_matrix *pattern, void **data) {
  const int32_t rows = pattern->rows;
  workspace *w;
  *data = NULL;
  EB_TRY(EB_NEW(w, 1));
  bool full = !strcmp(eb_values_text(solver->options, "preconditioner"), "full");
  eb_error error = eb_al_system_create(rows, full, solver->threads, &w->system);
  if (!error) error = EB_NEW(w->Av, 3 * (int64_t)rows);
  if (!error) error = EB_NEW(w->gradient, 3 * (int64_t)rows);
  if (!error) error = EB_NEW(w->descent, 3 * (int64_t)rows);
  if (!error) error = EB_NEW(w->settled, 3 * (int64_t)rows);
  if (error)
    destroy(w);
  else
    *data = w;
  return error;
}

static eb_error reserve(workspace *w, int64_t count) {
  EB_TRY(eb_al_solve_reserve(&w->cr, w->system.n, 3 * count));
  if (w->state && count <= w->room) return EB_OK;
  clear_contacts(w);
  int64_t room = count + count / 2 + 16;
  EB_TRY(EB_NEW(w->law.compliance, room));
  EB_TRY(EB_NEW(w->law.anchor, 3 * room));
  EB_TRY(EB_NEW(w->law.bound, room));
  EB_TRY(EB_NEW(w->u, 3 * room));
  EB_TRY(EB_NEW(w->r, 3 * room));
  EB_TRY(EB_NEW(w->bound_change, room));
  EB_TRY(EB_NEW(w->error, room));
  EB_TRY(EB_NEW(w->first_compliance, room));
  EB_TRY(EB_NEW(w->u_n, room));
  EB_TRY(EB_NEW(w->state, room));
  EB_TRY(EB_NEW(w->work, w->system.n + 3 * room));
  w->room = room;
  return EB_OK;
}

/* ---- the merit function ---------------------------------------------------------------------- */

/* Forces and states at u, gradient A v - b - H^T r. Returns how many states differ from the last
 * ones. */
static int64_t evaluate(workspace *w, const eb_contact_problem *problem) {
  int64_t changes = 0;
  for (int32_t k = 0; k < problem->count; k++) {
    uint8_t state = (uint8_t)eb_al_force(&w->law, k, w->u + 3 * (int64_t)k, w->r + 3 * (int64_t)k);
    changes += state != w->state[k];
    w->state[k] = state;
  }
  for (int64_t i = 0; i < w->system.n; i++) w->gradient[i] = problem->b[i] - w->Av[i];
  eb_contact_force_add(problem, w->r, w->gradient);
  eb_log_count(w->system.log, EB_COUNT_CONTACT_VISITS, problem->count);
  for (int64_t i = 0; i < w->system.n; i++) w->gradient[i] = -w->gradient[i];
  return changes;
}

/* Phi'(t) along x: x.(A v - b) + t x.A x - sum_k r_k(u + t H x).H_k x. Both products of A are known
 * (A v and A x by recurrence), so that a trial costs the contacts alone: what the split residual of
 * Section 3.5 is for. It rises with t, as Phi is convex, and is negative at 0. */
static double slope(const workspace *w, int32_t count, double linear, double quadratic, double t) {
  double sum = linear + t * quadratic;
  eb_log_count(w->system.log, EB_COUNT_CONTACT_VISITS, count);
  for (int32_t k = 0; k < count; k++) {
    const double *u = w->u + 3 * (int64_t)k, *Hx = w->cr.Hx + 3 * (int64_t)k;
    double at[3] = {u[0] + t * Hx[0], u[1] + t * Hx[1], u[2] + t * Hx[2]}, r[3];
    eb_al_force(&w->law, k, at, r);
    sum -= r[0] * Hx[0] + r[1] * Hx[1] + r[2] * Hx[2];
  }
  return sum;
}

/* The root of the rising function Phi'(t): t = 1 if good enough, else bracketed and found by regula
 * falsi (the Illinois form). */
static double line_search(const workspace *w, const eb_contact_problem *problem, eb_step_log *log) {
  int64_t n = w->system.n;
  double quadratic = eb_dot(n, w->cr.x, w->cr.Ax);
  double linear = eb_dot(n, w->cr.x, w->Av) - eb_dot(n, w->cr.x, problem->b);
  double low = 0, at_low = slope(w, problem->count, linear, quadratic, 0),
         wanted = curvature * fabs(at_low);
  double t = 1, at = slope(w, problem->count, linear, quadratic, t);
  while (at < -wanted && t < 16) {
    low = t;
    at_low = at;
    t *= 2;
    at = slope(w, problem->count, linear, quadratic, t);
  }
  if (fabs(at) <= wanted || at < 0) return t;
  eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
  double high = t, at_high = at;
  for (int i = 0; i < 40; i++) {
    t = low - at_low * (high - low) / (at_high - at_low);
    at = slope(w, problem->count, linear, quadratic, t);
    if (fabs(at) <= wanted) break;
    if (at < 0) {
      low = t;
      at_low = at;
      at_high *= 0.5;
    } else {
      high = t;
      at_high = at;
      at_low *= 0.5;
    }
  }
  return t;
}

/* ---- one Newton step ------------------------------------------------------------------------- */

/* A direction from K x = -grad Phi to the residual `target`, as far as conjugate residuals lead.
 * Returns false when they lead nowhere. */
static bool direction(workspace *w, const eb_contact_tolerance *tolerance, double target,
                      int64_t *iterations) {
  eb_al_system_linearize(&w->system, &w->law, w->u);
  for (int64_t i = 0; i < w->system.n; i++) w->descent[i] = -w->gradient[i];
  int64_t done = eb_al_solve_run(&w->cr, &w->system, w->descent, target,
                                 tolerance->max_iterations - *iterations);
  *iterations += done;
  return done > 0;
}

/* ---- proximal steps -------------------------------------------------------------------------- */

/* How far a closed contact is from where it has to be, m. */
static double contact_error(const workspace *w, int32_t k) {
  const double *u = w->u + 3 * (int64_t)k;
  double off = w->r[3 * (int64_t)k] > 0 || u[0] < 0 ? fabs(u[0]) : 0;
  return w->state[k] == EB_AL_STICKS ? fmax(off, hypot(u[1], u[2])) : off;
}

/* A proximal step leaves E / (E + S) of a contact's error, S its compliance with the others as they
 * are: where that is slow, E is lowered. An error that changes its sign is not slow: the inner
 * solves are too coarse for it already. */
static void stiffen(workspace *w, int32_t k, double eps2) {
  double error = contact_error(w, k), u_n = w->u[3 * (int64_t)k];
  bool oscillates = u_n * w->u_n[k] < 0;
  w->u_n[k] = u_n;
  if (error > 0.1 * eps2 && !oscillates && error > slow * w->error[k] &&
      w->law.compliance[k] > least * w->first_compliance[k])
    w->law.compliance[k] *= stiffening;
  w->error[k] = error;
}

/* r^ <- r, and the bounds of friction follow the normal forces: s <- mu r_n, or half-way where s
 * comes back from where it went. Bound and normal force chase each other where friction loads the
 * contact that it acts on; the mean of the last two is the paper's moving average of n = 2
 * (Algorithm 3). */
static void proximal_step(workspace *w, const eb_contact_problem *problem, double eps2) {
  for (int32_t k = 0; k < problem->count; k++) {
    stiffen(w, k, eps2);
    memcpy(w->law.anchor + 3 * (int64_t)k, w->r + 3 * (int64_t)k, 3 * sizeof *w->r);
    double step = problem->mu[k] * w->r[3 * (int64_t)k] - w->law.bound[k];
    if (step * w->bound_change[k] < 0) step *= 0.5;
    w->bound_change[k] = step;
    w->law.bound[k] += step;
  }
}

/* The forces to hand out: sliding contacts lie on the cone of their own normal force. While it
 * iterates r_t is bound by s, mu r_n of the step before: a force that is still a little off the
 * cone would be a friction of another mu (Equation 16 tests the same, |r_t| > mu r_n). */
static void project_forces(const workspace *w, const eb_contact_problem *problem, double *r) {
  for (int32_t k = 0; k < problem->count; k++) {
    const double *from = w->r + 3 * (int64_t)k;
    double *to = r + 3 * (int64_t)k, length = hypot(from[1], from[2]),
           limit = problem->mu[k] * from[0];
    double shrink =
        length > limit || (w->state[k] == EB_AL_SLIDES && length > 0) ? limit / length : 1;
    to[0] = from[0];
    to[1] = shrink * from[1];
    to[2] = shrink * from[2];
  }
}

/* ---- the method ------------------------------------------------------------------------------ */

static double gradient_norm(const workspace *w) {
  return eb_norm(w->system.n, w->gradient);
}

/* Minimizes Phi for the present anchors until its gradient is below `target`, or as far as rounding
 * lets it fall. */
static eb_reason minimize(workspace *w, const eb_contact_problem *problem,
                          const eb_contact_tolerance *tolerance, double target, double *v,
                          eb_step_log *log, eb_contact_outcome *outcome) {
  double norm = gradient_norm(w);
  for (int step = 0; step < MAX_NEWTON && !(norm <= target); norm = gradient_norm(w), step++) {
    if (!isfinite(norm)) return EB_DIVERGED_NAN;
    if (outcome->iterations >= tolerance->max_iterations) return EB_DIVERGED_MAX_IT;
    double inner = fmax(forcing * norm, 0.5 * target);
    if (!direction(w, tolerance, inner, &outcome->iterations)) return EB_DIVERGED_BREAKDOWN;
    double t = line_search(w, problem, log);
    for (int64_t i = 0; i < w->system.n; i++) v[i] += t * w->cr.x[i];
    for (int64_t i = 0; i < w->system.n; i++) w->Av[i] += t * w->cr.Ax[i];
    for (int64_t i = 0; i < w->system.m; i++) w->u[i] += t * w->cr.Hx[i];
    outcome->active_set_changes += evaluate(w, problem) > 0;
    eb_log_residual(log, gradient_norm(w));
  }
  return EB_RUNNING;
}

static bool has_diagonal_blocks_alone(const eb_block_matrix *A) {
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t at = A->start[i]; at < A->start[i + 1]; at++)
      for (int d = 0; d < 9 && at != A->diagonal[i]; d++)
        if (A->values[9 * (int64_t)at + d] != 0) return false;
  return true;
}

/* settled := the velocities that follow from forces r, v + A^-1 (b + H^T r - A v), to half of eps1;
 * needs A v of v. */
static void settle(workspace *w, const eb_contact_problem *problem,
                   const eb_contact_tolerance *tolerance, const double *v, const double *r,
                   int64_t *iterations) {
  eb_al_system_linearize(&w->system, NULL, NULL);
  for (int64_t i = 0; i < w->system.n; i++) w->descent[i] = problem->b[i] - w->Av[i];
  eb_contact_force_add(problem, r, w->descent);
  *iterations += eb_al_solve_run(&w->cr, &w->system, w->descent, 0.5 * tolerance->eps1,
                                 tolerance->max_iterations - *iterations);
  for (int64_t i = 0; i < w->system.n; i++) w->settled[i] = v[i] + w->cr.x[i];
}

/* Where the gradient is small enough, the solution is measured, and A v taken anew: it has come
 * along by recurrences.
 *
 * Forces on their cones are not those that v has been solved for. In a stack of rigid bodies many
 * contacts share a load: normal forces go on moving among them, and with them the bounds of
 * friction, long after all displacements are within their tolerance. There A consists of its
 * diagonal blocks, and velocities follow from forces in one iteration: they are what is measured,
 * after each proximal step. Bodies that deform take a solve for it, which moves contacts that were
 * well. */
static bool is_solved(workspace *w, const eb_contact_problem *problem,
                      const eb_contact_tolerance *tolerance, double *v, double *r,
                      int64_t *iterations) {
  eb_contact_error error;
  eb_contact_tolerance asked = *tolerance;
  if (w->rigid) asked.eps2 *= rigid_part;
  if (!w->rigid && gradient_norm(w) > tolerance->eps1) return false;
  project_forces(w, problem, r);
  eb_block_multiply(problem->A, v, w->Av);
  eb_log_count(w->system.log, EB_COUNT_MATVECS, 1);
  if (w->rigid) {
    settle(w, problem, tolerance, v, r, iterations);
    if (!eb_contact_is_solved(problem, &asked, w->settled, r, w->work, w->system.log, &error))
      return false;
    memcpy(v, w->settled, (size_t)w->system.n * sizeof *v);
    return true;
  }
  memcpy(w->work, w->Av, (size_t)w->system.n * sizeof *w->work);
  eb_contact_measure(problem, v, r, asked.eps2, w->work, &error);
  eb_log_count(w->system.log, EB_COUNT_CONTACT_VISITS, 2 * (double)problem->count);
  return eb_contact_solved(&error, &asked);
}

/* Proximal steps until the problem is solved, or until the largest error of a contact has not
 * fallen for PATIENCE of them: constraints that contradict each other push against each other
 * harder at each, while their violations stay. A step is solved only as far as it pays, to a tenth
 * of the gradient that the last change of r^ and s has left. */
static eb_reason iterate(workspace *w, const eb_contact_problem *problem,
                         const eb_contact_tolerance *tolerance, double *v, double *r,
                         eb_step_log *log, eb_contact_outcome *outcome) {
  double lowest = INFINITY;
  int stagnated = 0;
  for (int step = 0; step < MAX_PROXIMAL && stagnated < PATIENCE; step++) {
    double target = fmax(0.5 * tolerance->eps1, 0.1 * gradient_norm(w));
    eb_reason reason = minimize(w, problem, tolerance, target, v, log, outcome);
    if (reason != EB_RUNNING) return reason;
    if (is_solved(w, problem, tolerance, v, r, &outcome->iterations)) return EB_CONVERGED_ATOL;
    double error = 0;
    for (int32_t k = 0; k < problem->count; k++) error = fmax(error, contact_error(w, k));
    stagnated = error > tolerance->eps2 && error > 0.9 * lowest ? stagnated + 1 : 0;
    lowest = fmin(lowest, error);
    proximal_step(w, problem, tolerance->eps2);
    outcome->active_set_changes += evaluate(w, problem) > 0;
  }
  return EB_CONVERGED_STAGNATED;
}

static eb_error solve(void *data, const eb_contact_problem *problem,
                      const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                      eb_contact_outcome *outcome) {
  workspace *w = data;
  *outcome = (eb_contact_outcome){.reason = EB_DIVERGED_MAX_IT};
  w->system.log = log;
  eb_log_begin(log, EB_PHASE_FACTOR);
  EB_TRY(reserve(w, problem->count));
  EB_TRY(eb_al_system_begin(&w->system, problem));
  w->rigid = has_diagonal_blocks_alone(problem->A);
  /* Compliance E = theta tr(S_k) / 3 from the Schur diagonal S_k = H_k A_d^-1 H_k^T (m/N): how far
   * a unit force moves the contact alone. A force then follows its displacement about as stiffly as
   * the bodies resist it, whatever the units of the scene: K is no worse conditioned than A. */
  for (int32_t k = 0; k < problem->count; k++) {
    const double *S = w->system.schur + 9 * (int64_t)k;
    w->law.compliance[k] = (w->rigid ? rigid_theta : theta) * (S[0] + S[4] + S[8]) / 3;
    memcpy(w->law.anchor + 3 * (int64_t)k, r + 3 * (int64_t)k, 3 * sizeof *r);
    double normal = r[3 * (int64_t)k];
    w->law.bound[k] = problem->mu[k] * (normal > 0 ? normal : 0);
    w->bound_change[k] = 0;
    w->error[k] = INFINITY;
    w->u_n[k] = 0;
    w->first_compliance[k] = w->law.compliance[k];
    w->state[k] = 255;
  }
  eb_log_end(log, EB_PHASE_FACTOR);
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_block_multiply(problem->A, v, w->Av);
  eb_contact_velocity(problem, v, w->u);
  eb_log_count(log, EB_COUNT_MATVECS, 1);
  eb_log_count(log, EB_COUNT_CONTACT_VISITS, problem->count);
  evaluate(w, problem);
  eb_log_residual(log, gradient_norm(w));
  outcome->reason = iterate(w, problem, tolerance, v, r, log, outcome);
  if (outcome->reason != EB_CONVERGED_ATOL) project_forces(w, problem, r);
  if (outcome->reason == EB_CONVERGED_STAGNATED) {
    /* Velocities have to follow from the forces that are returned. */
    eb_block_multiply(problem->A, v, w->Av);
    eb_log_count(log, EB_COUNT_MATVECS, 1);
    settle(w, problem, tolerance, v, r, &outcome->iterations);
    memcpy(v, w->settled, (size_t)w->system.n * sizeof *v);
    if (!(w->cr.norm <= tolerance->eps1)) outcome->reason = EB_DIVERGED_MAX_IT;
  }
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)outcome->iterations);
  eb_log_end(log, EB_PHASE_SOLVE);
  return EB_OK;
}

const eb_contact_method eb_contact_al = {
    .name = "al", .create = create, .solve = solve, .destroy = destroy};
