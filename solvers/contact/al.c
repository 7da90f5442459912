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
 * conjugate residuals: one product with A; or, where all bodies are rigid and there are few of
 * them, a factorization of K.
 *
 * Threads: one parallel region spans a solve, as a loop over some thousand contacts is over before
 * a team is awake. Each member has some rows and some contacts (al_system.h), and waits for the
 * others where it reads what they have written.
 *
 * Needs: A symmetric positive definite, D_k of the law.
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
/* Where the error falls by less than `slow` a proximal step, E shrinks by `stiffening` (stiffen).
 */
static const double slow = 0.65, stiffening = 0.25;

/* Where all bodies are rigid: theta, and the part of eps2 that displacements are brought within. So
 * much of eps2 at each of ten contacts on top of each other is still a motion of eps2. */
static const double rigid_theta = 0.03, rigid_part = 0.1;

/* How proximal steps go, in this order: see proximal_step. */
typedef enum manner { SOFT, CALM, STIFF, MANNERS } manner;
/* What E shrinks to, as a part of the first. */
static const double least[MANNERS] = {1e-2, 0.25, 1e-5};
/* The last proximal step of each. */
static const int last_step[MANNERS] = {40, 300, 400};

enum {
  MAX_NEWTON = 50, /* Newton steps of a proximal step */
  PATIENCE = 12    /* proximal steps without progress */
};

/* Sums and maxima over pieces of rows or contacts. Those of Phi' alternate, as one trial of the
 * line search follows the other without a wait in between. */
typedef enum reduction {
  NORM,
  X_AX,
  X_AV,
  X_B,
  OF_ROWS = X_B,
  SLOPE,
  NEXT_SLOPE,
  CHANGES,
  ERROR,
  REDUCTIONS
} reduction;

typedef struct workspace {
  eb_al_system system;
  eb_al_solve cr;
  eb_al_law law;
  int64_t room;
  double *Av, *descent;     /* rows; descent: -grad Phi */
  double *settled;          /* rows: velocities that follow from given forces */
  double *u, *r;            /* 3 a contact */
  double *bound_change;     /* a contact: the last one */
  double *error, *u_n;      /* a contact: at the last proximal step, m */
  double *first_compliance; /* a contact */
  double *work;             /* of a measure: rows, 3 a contact */
  uint8_t *state;
  double sums[REDUCTIONS][EB_PIECES];
  /* of the present solve */
  const eb_contact_problem *problem;
  const eb_contact_tolerance *tolerance;
  double *v, *handed; /* the caller's: rows; 3 a contact, the guess, then forces on their cones */
  bool solved;        /* what the leader has measured */
} workspace;

/* One thread at work; the numbers are the same for all. */
typedef struct worker {
  eb_al_member own;
  workspace *w;
  double norm;              /* of grad Phi */
  double linear, quadratic; /* Phi' along a direction, but for the contacts: linear + t quadratic */
  int trials;               /* of the line search */
  int64_t iterations, changes; /* as in eb_contact_outcome */
} worker;

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
  free(w->descent);
  free(w->settled);
  free(w);
}

static eb_error create(const eb_solver *solver, const eb_block_matrix *pattern, void **data) {
  const int64_t n = 3 * (int64_t)pattern->rows;
  workspace *w;
  *data = NULL;
  EB_TRY(EB_NEW(w, 1));
  bool full = !strcmp(eb_values_text(solver->options, "preconditioner"), "full");
  eb_error error = eb_al_system_create(pattern, full, solver->threads, &w->system);
  if (!error) error = EB_NEW(w->Av, n);
  if (!error) error = EB_NEW(w->descent, n);
  if (!error) error = EB_NEW(w->settled, n);
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

static void meet(worker *at) {
  eb_spin_team_wait(&at->own.team);
}

static double total(const worker *at, reduction which) {
  const eb_al_system *system = at->own.system;
  const bool of_rows = which <= OF_ROWS;
  return eb_pieces_sum(of_rows ? system->product.pieces : system->contact_pieces,
                       at->w->sums[which]);
}

/* The contacts of a piece are first .. end - 1. */
static int32_t piece_begin(const worker *at, int piece) {
  return (int32_t)(eb_al_piece(at->own.system->contact_pieces, at->own.system->m, piece) / 3);
}

/* A v of the own rows. */
static void multiply(const worker *at) {
  const workspace *w = at->w;
  for (int piece = at->own.rows.first; piece < at->own.rows.last; piece++)
    eb_contact_product_piece(&w->system.product, piece, w->v, w->Av);
  if (at->own.leads) eb_log_count(w->system.log, EB_COUNT_MATVECS, 1);
}

static void count_visits(const worker *at) {
  if (at->own.leads)
    eb_log_count(at->w->system.log, EB_COUNT_CONTACT_VISITS, at->w->problem->count);
}

/* u = H v - c of the own contacts. */
static void velocities(const worker *at, double *u) {
  eb_contact_velocities(at->w->problem, (int32_t)at->own.contacts.from,
                        (int32_t)at->own.contacts.to, at->w->v, u);
  count_visits(at);
}

/* descent = b - A v + H^T r in the own rows; |.| of all. */
static double residual(worker *at, const double *r) {
  workspace *w = at->w;
  const eb_al_share *rows = &at->own.rows;
  meet(at);
  for (int64_t i = rows->from; i < rows->to; i++) w->descent[i] = w->problem->b[i] - w->Av[i];
  eb_al_gather(&w->system, r, rows->from, rows->to, 1, w->descent);
  count_visits(at);
  eb_al_dot(&at->own, w->descent, w->descent, w->sums[NORM]);
  meet(at);
  return eb_al_root(&at->own, total(at, NORM), w->descent);
}

/* Forces and states at u, and -grad Phi. */
static void evaluate(worker *at) {
  workspace *w = at->w;
  for (int piece = at->own.contacts.first; piece < at->own.contacts.last; piece++) {
    int32_t changes = 0;
    for (int32_t k = piece_begin(at, piece); k < piece_begin(at, piece + 1); k++) {
      uint8_t state =
          (uint8_t)eb_al_force(&w->law, k, w->u + 3 * (int64_t)k, w->r + 3 * (int64_t)k);
      changes += state != w->state[k];
      w->state[k] = state;
    }
    w->sums[CHANGES][piece] = changes;
  }
  at->norm = residual(at, w->r);
  at->changes += total(at, CHANGES) > 0;
}

/* Phi'(t) along x: x.(A v - b) + t x.A x - sum_k r_k(u + t H x).H_k x. Both products of A are known
 * (A v and A x by recurrence), so that a trial costs the contacts alone: what the split residual of
 * Section 3.5 is for. It rises with t, as Phi is convex, and is negative at 0. */
static double slope(worker *at, double t) {
  workspace *w = at->w;
  reduction which = at->trials++ % 2 ? NEXT_SLOPE : SLOPE;
  for (int piece = at->own.contacts.first; piece < at->own.contacts.last; piece++) {
    double sum = 0;
    for (int32_t k = piece_begin(at, piece); k < piece_begin(at, piece + 1); k++) {
      const double *u = w->u + 3 * (int64_t)k, *Hx = w->cr.Hx + 3 * (int64_t)k;
      double there[3] = {u[0] + t * Hx[0], u[1] + t * Hx[1], u[2] + t * Hx[2]}, r[3];
      eb_al_force(&w->law, k, there, r);
      sum += r[0] * Hx[0] + r[1] * Hx[1] + r[2] * Hx[2];
    }
    w->sums[which][piece] = sum;
  }
  count_visits(at);
  meet(at);
  return at->linear + t * at->quadratic - total(at, which);
}

/* The root of the rising function Phi'(t): t = 1 if good enough, else bracketed and found by regula
 * falsi (the Illinois form). */
static double line_search(worker *at) {
  workspace *w = at->w;
  eb_al_dot(&at->own, w->cr.x, w->cr.Ax, w->sums[X_AX]);
  eb_al_dot(&at->own, w->cr.x, w->Av, w->sums[X_AV]);
  eb_al_dot(&at->own, w->cr.x, w->problem->b, w->sums[X_B]);
  meet(at);
  at->quadratic = total(at, X_AX);
  at->linear = total(at, X_AV) - total(at, X_B);
  double low = 0, at_low = slope(at, 0), wanted = curvature * fabs(at_low);
  double t = 1, there = slope(at, t);
  while (there < -wanted && t < 16) {
    low = t;
    at_low = there;
    t *= 2;
    there = slope(at, t);
  }
  if (fabs(there) <= wanted || there < 0) return t;
  if (at->own.leads) eb_log_count(w->system.log, EB_COUNT_LINE_SEARCHES, 1);
  double high = t, at_high = there;
  for (int i = 0; i < 40; i++) {
    t = low - at_low * (high - low) / (at_high - at_low);
    there = slope(at, t);
    if (fabs(there) <= wanted) break;
    if (there < 0) {
      low = t;
      at_low = there;
      at_high *= 0.5;
    } else {
      high = t;
      at_high = there;
      at_low *= 0.5;
    }
  }
  return t;
}

/* ---- proximal steps -------------------------------------------------------------------------- */

/* How far a closed contact is from where it has to be, m. */
static double contact_error(const workspace *w, int64_t k) {
  const double *u = w->u + 3 * k;
  double off = w->r[3 * k] > 0 || u[0] < 0 ? fabs(u[0]) : 0;
  return w->state[k] == EB_AL_STICKS ? fmax(off, hypot(u[1], u[2])) : off;
}

/* A proximal step leaves E / (E + S) of a contact's error, S its compliance with the others as they
 * are: where that is slow, E is lowered. An error that changes its sign is not slow: the inner
 * solves are too coarse for it already. */
static void stiffen(workspace *w, int64_t k, double eps2, double lowest) {
  double error = contact_error(w, k), u_n = w->u[3 * k];
  bool oscillates = u_n * w->u_n[k] < 0;
  w->u_n[k] = u_n;
  if (error > 0.1 * eps2 && !oscillates && error > slow * w->error[k] &&
      w->law.compliance[k] > lowest * w->first_compliance[k])
    w->law.compliance[k] *= stiffening;
  w->error[k] = error;
}

/* r^ <- r, and the bounds of friction follow the normal forces: s <- mu r_n, or half-way where s
 * comes back from where it went. Bound and normal force chase each other where friction loads the
 * contact that it acts on; the mean of the last two is the paper's moving average of n = 2
 * (Algorithm 3).
 *
 * A few solves do not come to their end so. Where several contacts hold one vertex, their forces
 * can be had from each other, the more freely the smaller E is, and bounds that follow them find no
 * rest: CALM, with an E one stiffening off the first, and all bounds half-way. Where many share a
 * load, forces move among them with far less displacement than S_k of each tells, and errors fall
 * by a few per cent a step, until E is as small as that: STIFF. */
static void proximal_step(const worker *at, manner how) {
  workspace *w = at->w;
  for (int64_t k = at->own.contacts.from; k < at->own.contacts.to; k++) {
    if (how == CALM)
      w->law.compliance[k] = least[CALM] * w->first_compliance[k];
    else
      stiffen(w, k, w->tolerance->eps2, least[how]);
    memcpy(w->law.anchor + 3 * k, w->r + 3 * k, 3 * sizeof *w->r);
    double step = w->problem->mu[k] * w->r[3 * k] - w->law.bound[k];
    if (how == CALM || step * w->bound_change[k] < 0) step *= 0.5;
    w->bound_change[k] = step;
    w->law.bound[k] += step;
  }
}

/* The largest error of all contacts, m. */
static double largest_error(worker *at) {
  workspace *w = at->w;
  double largest = 0;
  for (int piece = at->own.contacts.first; piece < at->own.contacts.last; piece++) {
    double *most = &w->sums[ERROR][piece];
    *most = 0;
    for (int32_t k = piece_begin(at, piece); k < piece_begin(at, piece + 1); k++)
      *most = fmax(*most, contact_error(w, k));
  }
  meet(at);
  for (int piece = 0; piece < w->system.contact_pieces.count; piece++)
    largest = fmax(largest, w->sums[ERROR][piece]);
  return largest;
}

/* The forces to hand out: sliding contacts lie on the cone of their own normal force. While it
 * iterates r_t is bound by s, mu r_n of the step before: a force that is still a little off the
 * cone would be a friction of another mu (Equation 16 tests the same, |r_t| > mu r_n). */
static void project_forces(const worker *at) {
  const workspace *w = at->w;
  for (int64_t k = at->own.contacts.from; k < at->own.contacts.to; k++) {
    const double *from = w->r + 3 * k;
    double *to = w->handed + 3 * k, length = hypot(from[1], from[2]),
           limit = w->problem->mu[k] * from[0];
    double shrink =
        length > limit || (w->state[k] == EB_AL_SLIDES && length > 0) ? limit / length : 1;
    to[0] = from[0];
    to[1] = shrink * from[1];
    to[2] = shrink * from[2];
  }
}

/* ---- the method ------------------------------------------------------------------------------ */

/* x from K x = descent to the residual `target`, as far as conjugate residuals lead; false where
 * they lead nowhere. */
static bool direction(worker *at, const eb_al_law *law, double target) {
  workspace *w = at->w;
  eb_al_system_linearize(&at->own, law, w->u);
  int64_t done = eb_al_solve_run(&at->own, &w->cr, w->descent, target,
                                 w->tolerance->max_iterations - at->iterations);
  at->iterations += done;
  return done > 0;
}

/* Takes the motion t x, of which all products are known. */
static void move(const worker *at, double t) {
  workspace *w = at->w;
  for (int64_t i = at->own.rows.from; i < at->own.rows.to; i++) w->v[i] += t * w->cr.x[i];
  for (int64_t i = at->own.rows.from; i < at->own.rows.to; i++) w->Av[i] += t * w->cr.Ax[i];
  for (int64_t i = 3 * at->own.contacts.from; i < 3 * at->own.contacts.to; i++)
    w->u[i] += t * w->cr.Hx[i];
}

/* Minimizes Phi for the present anchors until its gradient is below `target`, or as far as rounding
 * lets it fall. */
static eb_reason minimize(worker *at, double target) {
  workspace *w = at->w;
  for (int step = 0; step < MAX_NEWTON && !(at->norm <= target); step++) {
    if (!isfinite(at->norm)) return EB_DIVERGED_NAN;
    if (at->iterations >= w->tolerance->max_iterations) return EB_DIVERGED_MAX_IT;
    if (!direction(at, &w->law, fmax(forcing * at->norm, 0.5 * target)))
      return EB_DIVERGED_BREAKDOWN;
    move(at, line_search(at));
    evaluate(at);
    if (at->own.leads) eb_log_residual(w->system.log, at->norm);
  }
  return EB_RUNNING;
}

/* settled := the velocities that follow from the forces handed out, v + A^-1 (b + H^T r - A v), to
 * half of eps1; needs A v of v. */
static void settle(worker *at) {
  workspace *w = at->w;
  residual(at, w->handed);
  direction(at, NULL, 0.5 * w->tolerance->eps1);
  for (int64_t i = at->own.rows.from; i < at->own.rows.to; i++)
    w->settled[i] = w->v[i] + w->cr.x[i];
}

static void take_settled(const worker *at) {
  workspace *w = at->w;
  for (int64_t i = at->own.rows.from; i < at->own.rows.to; i++) w->v[i] = w->settled[i];
}

/* Whether the leader has found it solved. */
static bool leader_says(worker *at) {
  meet(at);
  return at->w->solved;
}

/* Forces on their cones are not those that v has been solved for. In a stack of rigid bodies many
 * contacts share a load: normal forces go on moving among them, and with them the bounds of
 * friction, long after all displacements are within their tolerance. There A consists of its
 * diagonal blocks, and velocities follow from forces in one iteration: they are what is measured,
 * after each proximal step. */
static bool rigid_is_solved(worker *at) {
  workspace *w = at->w;
  eb_contact_tolerance strict = *w->tolerance;
  eb_contact_error error;
  strict.eps2 *= rigid_part;
  project_forces(at);
  multiply(at);
  settle(at);
  meet(at);
  if (at->own.leads)
    w->solved = eb_contact_is_solved(w->problem, &strict, w->settled, w->handed, w->work,
                                     w->system.log, &error);
  if (!leader_says(at)) return false;
  take_settled(at);
  return true;
}

/* Whether velocities and forces handed out meet the tolerance, by the A v and u that are there. */
static bool meets_tolerance(worker *at) {
  workspace *w = at->w;
  const eb_contact_problem *problem = w->problem;
  eb_contact_error error = {.residual = residual(at, w->handed)};
  if (at->own.leads) {
    eb_contact_measure_law(problem->count, w->u, w->handed, problem->mu, w->tolerance->eps2,
                           &error);
    w->solved = eb_contact_solved(&error, w->tolerance);
  }
  return leader_says(at);
}

/* Bodies that deform take a solve for velocities that follow from forces, which moves contacts that
 * were well: v stays as it is. A v and u have come along by recurrences; where by these it is
 * solved, they are taken anew, and asked again. */
static bool is_solved(worker *at) {
  if (at->norm > at->w->tolerance->eps1) return false;
  project_forces(at);
  if (!meets_tolerance(at)) return false;
  multiply(at);
  velocities(at, at->w->u);
  return meets_tolerance(at);
}

/* Proximal steps until the problem is solved, or until the largest error of a contact has not
 * fallen for PATIENCE of them in any manner: constraints that contradict each other push against
 * each other harder at each, while their violations stay. A step is solved only as far as it pays,
 * to a tenth of the gradient that the last change of r^ and s has left. */
static eb_reason iterate(worker *at) {
  const double eps1 = at->w->tolerance->eps1, eps2 = at->w->tolerance->eps2;
  double lowest = INFINITY;
  manner how = SOFT;
  int stagnated = 0;
  for (int step = 0;; step++) {
    eb_reason reason = minimize(at, fmax(0.5 * eps1, 0.1 * at->norm));
    if (reason != EB_RUNNING) return reason;
    if (at->w->system.rigid ? rigid_is_solved(at) : is_solved(at)) return EB_CONVERGED_ATOL;
    double error = largest_error(at);
    stagnated = error > eps2 && error > 0.9 * lowest ? stagnated + 1 : 0;
    lowest = fmin(lowest, error);
    if (stagnated == PATIENCE || step >= last_step[how]) {
      how++;
      stagnated = 0;
      lowest = INFINITY;
    }
    if (how == MANNERS) return EB_CONVERGED_STAGNATED;
    proximal_step(at, how);
    evaluate(at);
  }
}

/* Compliance E = theta tr(S_k) / 3 from the Schur diagonal S_k = H_k A_d^-1 H_k^T (m/N): how far a
 * unit force moves the contact alone. A force then follows its displacement about as stiffly as the
 * bodies resist it, whatever the units of the scene: K is no worse conditioned than A. */
static void begin_law(const worker *at) {
  workspace *w = at->w;
  for (int64_t k = at->own.contacts.from; k < at->own.contacts.to; k++) {
    const double *S = w->system.schur + 9 * k, *guess = w->handed + 3 * k;
    w->law.compliance[k] = (w->system.rigid ? rigid_theta : theta) * (S[0] + S[4] + S[8]) / 3;
    memcpy(w->law.anchor + 3 * k, guess, 3 * sizeof *guess);
    w->law.bound[k] = w->problem->mu[k] * (guess[0] > 0 ? guess[0] : 0);
    w->bound_change[k] = 0;
    w->error[k] = INFINITY;
    w->u_n[k] = 0;
    w->first_compliance[k] = w->law.compliance[k];
    w->state[k] = 255;
  }
}

/* One thread's part in all of it. */
static eb_reason work(worker *at) {
  workspace *w = at->w;
  eb_al_system_prepare(&at->own);
  begin_law(at);
  if (at->own.leads) {
    eb_log_end(w->system.log, EB_PHASE_FACTOR);
    eb_log_begin(w->system.log, EB_PHASE_SOLVE);
  }
  multiply(at);
  velocities(at, w->u);
  evaluate(at);
  if (at->own.leads) eb_log_residual(w->system.log, at->norm);
  eb_reason reason = iterate(at);
  if (reason != EB_CONVERGED_ATOL) project_forces(at);
  if (reason != EB_CONVERGED_STAGNATED) return reason;
  /* Velocities have to follow from the forces that are returned. */
  multiply(at);
  settle(at);
  take_settled(at);
  return at->own.leads && !(w->cr.norm <= w->tolerance->eps1) ? EB_DIVERGED_MAX_IT : reason;
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
  w->problem = problem;
  w->tolerance = tolerance;
  w->v = v;
  w->handed = r;
  const int team = eb_al_team(&w->system);
#pragma omp parallel num_threads(team) if (team > 1)
  {
    worker at = {.own = eb_al_join(&w->system), .w = w};
    eb_reason reason = work(&at);
    if (at.own.leads)
      *outcome = (eb_contact_outcome){
          .reason = reason, .iterations = at.iterations, .active_set_changes = at.changes};
  }
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)outcome->iterations);
  eb_log_end(log, EB_PHASE_SOLVE);
  return EB_OK;
}

const eb_contact_method eb_contact_al = {
    .name = "al", .create = create, .solve = solve, .destroy = destroy};
