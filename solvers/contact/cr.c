/* contact-cr: the contact problem by conjugate residuals on the saddle point system of the active
 * constraints, whose states change while it iterates.
 *
 *   B y = d  (saddle.h; Equations 11 and 20),   y = (v, -r),
 *
 * with a row for every closed contact, two more where it is in static friction; kinetic friction
 * is a force on the right-hand side, -mu lambda' delta, lambda' an estimate of the normal force and
 * delta a unit vector, the direction of sliding. In the paper's signs lambda = r_n, gamma = -r_t.
 *
 * Reference: Verschoor and Jalba 2019, Algorithms 1 to 3 and Sections 3.1 to 3.5. An iteration:
 * one of conjugate residuals; where alpha > 0, at intervals of log2(|r| / eps1) / 3, states are
 * evaluated with what there is (Equations 12, 13, 16 and 18; a moving average of two normal forces;
 * delta turned by alpha_theta = 0.01 of its difference to the direction of motion), each change
 * only if it moves its contact by more than eps2 (line 19). After a change conjugate residuals
 * start anew from the split residual, which costs no product: one product with A an iteration,
 * either way. Solved when |r| < eps1 and |U r| < eps2 (units mixed in |r| as there) and no state
 * changes; also ended when |B C^-1 r| vanishes, the least-squares exit. The nonlinear part,
 * Equation 21 and 0 < C(x) < eps2, is active_set.c's (option end_test).
 *
 * Readings, where the paper says nothing, something that cannot be meant, or what did not run:
 * - deadband: line 19 knows forces alone, Z^-1 S_d times their change; a contact that closes or
 *   begins to stick changes none, so that the line would discard it. Section 3.5 says "change in
 *   distance": that is |u_n| of a contact that closes, |u_t| of one that begins to stick, and both
 *   motion and force of one that opens. Option deadband, in eps2; 0 is none.
 * - freeze: "keep constraints in a fixed state" at some point (Section 3.5): a contact that has
 *   come back to static friction ten times in a solve stays in it. Option freeze; 0 is never. A
 *   contact that hardly slips is turned by its own friction: where mu lambda S is some 200 times
 *   the slip, alpha_theta of the difference goes beyond the direction sought, to and fro without
 *   end. Once delta has turned back as often, each further time halves alpha_theta.
 * - interval: near eps1 it is one, and the fixed point iteration of friction may restart conjugate
 *   residuals in every iteration, which then descend along gradients. Option interval, the least
 *   one; in heaps of rings 10 took 1.7 to 2 times the iterations of the paper's 1.
 * - rest: at convergence rows are 0 but for noise, whose sign opens no contact that pulls and
 *   releases none that sticks too hard; there motion within eps2 has any sign. Option rest; false
 *   is the letter.
 * - least_squares: |B C^-1 r| < eps1 of the paper compares numbers of unlike units and holds, with
 *   C near B, for a |U r| of eps1, ten times eps2; here < least_squares eps1. 1 is the paper's.
 * - the cosine of line 6 of Algorithm 3 and the difference of line 7 are those of the unit vector
 *   of the motion; within eps2 it has none (Figure 4). Where mu = 0 there is no friction to
 *   evaluate. A contact of the guess is in static friction when its force is inside of the cone.
 *
 * What this leaves: friction is right to what moves a contact by eps2 when it acts alone, and a
 * frozen contact may stick beyond its cone; on stiff bodies that is a large part of the largest
 * normal force. The step declares it (EB_FRICTION_BY_MOTION), and its error has it. With polish,
 * what does not meet every tolerance, or not within POLISH_AFTER iterations, is the guess of
 * contact-al (al.c), whose iterations are added.
 *
 * Needs: A with a positive diagonal, similar (Z).
 * Workspace: ten vectors, some 25 numbers a contact; with polish contact-al's too.
 * Fails: EB_DIVERGED_MAX_IT; EB_DIVERGED_NAN; EB_DIVERGED_BREAKDOWN when conjugate residuals break
 * down. EB_CONVERGED_STAGNATED: the least-squares exit. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/contact/method.h"
#include "solvers/contact/saddle.h"
#include "solvers/linalg/block_ops.h"

static const double alpha_theta = 0.01;
static const double inside = 1 - 1e-6; /* of the cone, as eb_contact_measure has it */
enum { POLISH_AFTER = 2000 };          /* iterations, at the latest */

/* Friction of a contact. Static: rows 1 and 2 are active. */
typedef struct kinetic_friction {
  double delta[2];  /* unit */
  double magnitude; /* lambda', N */
  double last;      /* normal force at the last update, N; < 0: there was none */
  int64_t stuck;    /* how often it has come to static friction */
  int64_t back;     /* how often delta has turned back, and */
  double sense;     /* which way it turned last: its sign */
} kinetic_friction;

typedef struct literal {
  double deadband, least_squares;
  int64_t freeze, interval;
  bool rest;
  void *al; /* of contact-al; NULL without polish */
  eb_saddle saddle;
  eb_saddle_cr cr;
  int32_t room;
  double *d, *work;           /* rows and contact rows */
  double *r, *constant, *u;   /* 3 a contact; constant: forces of rows that are not active, N */
  kinetic_friction *friction; /* a contact */
  /* of the present solve */
  const eb_contact_problem *problem;
  const eb_contact_tolerance *tolerance;
  int64_t most; /* iterations */
  eb_step_log *log;
  eb_contact_outcome *outcome;
} literal;

/* What an evaluation has changed; a state changes more than a friction force does. */
typedef enum change { NOTHING, FORCE, STATE } change;

/* ---- memory ---- */

static void free_contacts(literal *w) {
  double **all[] = {&w->d, &w->work, &w->r, &w->constant, &w->u};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(*all[i]);
    *all[i] = NULL;
  }
  free(w->friction);
  w->friction = NULL;
  w->room = 0;
}

static void destroy(void *data) {
  literal *w = data;
  if (!w) return;
  if (w->al) eb_contact_al.destroy(w->al);
  eb_saddle_clear(&w->saddle);
  eb_saddle_cr_clear(&w->cr);
  free_contacts(w);
  free(w);
}

static eb_error create(const eb_solver *solver, const eb_block_matrix *pattern, void **data) {
  const eb_values *options = solver->options;
  literal *w;
  *data = NULL;
  EB_TRY(EB_NEW(w, 1));
  w->deadband = eb_values_real(options, "deadband");
  w->least_squares = eb_values_real(options, "least_squares");
  w->freeze = eb_values_int(options, "freeze");
  w->interval = eb_values_int(options, "interval");
  w->rest = eb_values_bool(options, "rest");
  bool full = !strcmp(eb_values_text(options, "preconditioner"), "full");
  eb_error error = eb_saddle_create(pattern, full, &w->saddle);
  if (!error && eb_values_bool(options, "polish"))
    error = eb_contact_al.create(solver, pattern, &w->al);
  if (error)
    destroy(w);
  else
    *data = w;
  return error;
}

static eb_error grow(literal *w, int32_t count) {
  EB_TRY(eb_saddle_cr_reserve(&w->cr, w->saddle.n, 3 * (int64_t)count, true));
  if (w->friction && count <= w->room) return EB_OK;
  int32_t room = count + count / 2;
  int64_t m = 3 * (int64_t)room;
  free_contacts(w);
  EB_TRY(EB_NEW(w->d, w->saddle.n + m));
  EB_TRY(EB_NEW(w->work, w->saddle.n + m));
  EB_TRY(EB_NEW(w->r, m));
  EB_TRY(EB_NEW(w->constant, m));
  EB_TRY(EB_NEW(w->u, m));
  EB_TRY(EB_NEW(w->friction, room));
  w->room = room;
  return EB_OK;
}

/* ---- one contact ---- */

/* Z^-1 S_d times a change of force, m: how far it moves the contact when it acts alone. */
static double moved(const literal *w, int32_t k, const double difference[3]) {
  const double *schur = w->saddle.schur + 3 * (int64_t)k;
  double square = 0;
  for (int i = 0; i < 3; i++) {
    double by = schur[i] > 0 ? difference[i] / (schur[i] * w->problem->similar[k]) : 0;
    square += by * by;
  }
  return sqrt(square);
}

/* Whether a change that moves the contact so far is made. */
static bool counts(const literal *w, double distance) {
  return distance > w->deadband * w->tolerance->eps2;
}

static uint8_t *active_rows(const literal *w, int32_t k) {
  return w->saddle.active + 3 * (int64_t)k;
}

static void set_static(literal *w, int32_t k, bool is_static) {
  uint8_t *active = active_rows(w, k);
  active[1] = active[2] = is_static;
}

/* Kinetic friction without a force, in the direction of motion if there is one. */
static void begin_sliding(literal *w, int32_t k) {
  const double *u = w->u + 3 * (int64_t)k;
  double speed = hypot(u[1], u[2]);
  kinetic_friction *f = w->friction + k;
  f->delta[0] = speed > 0 ? u[1] / speed : 1;
  f->delta[1] = speed > 0 ? u[2] / speed : 0;
  f->magnitude = 0;
  f->last = -1;
  set_static(w, k, false);
}

/* Lines 5 to 9. A contact that closes has no force, and none of friction before it has one: line 10
 * and all below then have nothing to do. */
static change evaluate_normal(literal *w, int32_t k, bool at_rest) {
  double *r = w->r + 3 * (int64_t)k, u_n = w->u[3 * (int64_t)k], eps2 = w->tolerance->eps2;
  uint8_t *active = active_rows(w, k);
  if (!active[0]) {
    if (u_n > 0 || !counts(w, -u_n)) return NOTHING;
    active[0] = 1;
    begin_sliding(w, k);
    return STATE;
  }
  const double alone[3] = {r[0], 0, 0};
  bool parts = u_n >= 0 || (at_rest && u_n > -eps2);
  if (!parts || r[0] > 0 || !counts(w, moved(w, k, alone) + fabs(u_n))) return NOTHING;
  active[0] = 0;
  set_static(w, k, false);
  memset(r, 0, 3 * sizeof *r);
  return STATE;
}

/* Lines 4 to 8 of Algorithm 3. */
static void turn(const literal *w, kinetic_friction *f, const double u[3]) {
  static const double degree = 0.017453292519943295;
  double speed = hypot(u[1], u[2]);
  if (!(speed > w->tolerance->eps2)) return;
  double cosine = (f->delta[0] * u[1] + f->delta[1] * u[2]) / speed;
  if (!(cosine > 0 && cosine < cos(w->tolerance->angle * degree))) return;
  double sense = f->delta[0] * u[2] - f->delta[1] * u[1], part = alpha_theta;
  f->back += sense * f->sense < 0;
  f->sense = sense > 0 ? 1 : -1;
  if (w->freeze > 0 && f->back > w->freeze) part *= exp2((double)(w->freeze - f->back));
  for (int i = 0; i < 2; i++) f->delta[i] += part * (u[1 + i] / speed - f->delta[i]);
  double length = hypot(f->delta[0], f->delta[1]);
  for (int i = 0; i < 2; i++) f->delta[i] /= length;
}

/* Algorithm 3 on a copy; it and the force are kept if line 19 lets them. */
static bool update_kinetic(literal *w, int32_t k, kinetic_friction next) {
  double *r = w->r + 3 * (int64_t)k, mu = w->problem->mu[k], lambda = fmax(r[0], 0);
  if (mu * next.magnitude != mu * lambda) {
    next.magnitude = next.last >= 0 ? 0.5 * (next.last + lambda) : lambda;
    next.last = lambda;
  }
  turn(w, &next, w->u + 3 * (int64_t)k);
  double force[2], difference[3] = {0};
  for (int i = 0; i < 2; i++) {
    force[i] = -mu * next.magnitude * next.delta[i];
    difference[1 + i] = force[i] - r[1 + i];
  }
  if (!counts(w, moved(w, k, difference))) return false;
  memcpy(r + 1, force, sizeof force);
  w->friction[k] = next;
  return true;
}

/* Lines 11 to 18 for a closed contact. */
static change evaluate_friction(literal *w, int32_t k, bool at_rest) {
  const double *r = w->r + 3 * (int64_t)k, *u = w->u + 3 * (int64_t)k;
  kinetic_friction *f = w->friction + k;
  double length = hypot(r[1], r[2]), speed = hypot(u[1], u[2]), mu = w->problem->mu[k];
  if (!(mu > 0)) return NOTHING;
  if (!active_rows(w, k)[1]) {
    if (u[1] * f->delta[0] + u[2] * f->delta[1] > 0 || !counts(w, speed))
      return update_kinetic(w, k, *f) ? FORCE : NOTHING;
    f->stuck++;
    set_static(w, k, true);
    return STATE;
  }
  bool yields = u[1] * r[1] + u[2] * r[2] < 0 || (at_rest && speed <= w->tolerance->eps2);
  if (!(length > mu * fmax(r[0], 0)) || !yields || (w->freeze > 0 && f->stuck >= w->freeze))
    return NOTHING;
  kinetic_friction sliding = {.delta = {-r[1] / length, -r[2] / length},
                              .magnitude = length / mu,
                              .last = -1,
                              .stuck = f->stuck,
                              .back = f->back};
  if (!update_kinetic(w, k, sliding)) return NOTHING;
  set_static(w, k, false);
  return STATE;
}

/* ---- Algorithm 2 ---- */

/* Evaluates every contact; whether something has changed. */
static bool evaluate(literal *w, bool at_convergence) {
  bool at_rest = at_convergence && w->rest;
  change most = NOTHING;
  eb_saddle_cr_forces(&w->cr, &w->saddle, w->r);
  eb_contact_velocity(w->problem, w->cr.y, w->u);
  eb_log_count(w->log, EB_COUNT_CONTACT_VISITS, w->problem->count);
  for (int32_t k = 0; k < w->problem->count; k++) {
    change one = evaluate_normal(w, k, at_rest);
    if (one == NOTHING && active_rows(w, k)[0]) one = evaluate_friction(w, k, at_rest);
    if (one > most) most = one;
  }
  w->outcome->active_set_changes += most == STATE;
  return most != NOTHING;
}

/* Line 2. */
static int64_t interval(const literal *w, double norm) {
  double wanted = floor(log2(norm / w->tolerance->eps1) / 3);
  return wanted > (double)w->interval ? (int64_t)wanted : w->interval;
}

/* ---- Algorithm 1 ---- */

/* Lines 19 to 21; line 23 of Algorithm 2. */
static void restart(literal *w) {
  eb_saddle_cr_pose(&w->cr, &w->saddle, w->r, w->constant, w->d);
  eb_saddle_cr_restart(&w->cr, &w->saddle, w->d);
}

/* Line 22, its first half. */
static bool is_converged(const literal *w) {
  const double *rows = w->cr.r + w->saddle.n;
  double largest = 0;
  for (int64_t k = 0; k < w->saddle.m; k++) largest = fmax(largest, fabs(rows[k]));
  return eb_norm(w->saddle.n + w->saddle.m, w->cr.r) < w->tolerance->eps1 &&
         largest < w->tolerance->eps2;
}

/* The same of a residual formed anew: conjugate residuals go on from that. */
static bool holds_anew(literal *w) {
  eb_saddle_cr_start(&w->cr, &w->saddle, w->d);
  return is_converged(w);
}

/* Lines 22 to 31; EB_RUNNING to go on. */
static eb_reason conclude(literal *w) {
  bool converged = is_converged(w);
  double gradient = eb_norm(w->saddle.n + w->saddle.m, w->cr.Bz);
  if (!converged && !(gradient < w->least_squares * w->tolerance->eps1)) return EB_RUNNING;
  if (evaluate(w, true))
    restart(w);
  else if (!converged)
    return EB_CONVERGED_STAGNATED;
  else if (holds_anew(w))
    return EB_CONVERGED_ATOL;
  return EB_RUNNING;
}

static eb_reason iterate(literal *w) {
  eb_saddle_cr_pose(&w->cr, &w->saddle, w->r, w->constant, w->d);
  eb_saddle_cr_start(&w->cr, &w->saddle, w->d);
  for (;;) {
    double norm = eb_norm(w->saddle.n + w->saddle.m, w->cr.r);
    eb_log_residual(w->log, eb_norm(w->saddle.n, w->cr.r));
    if (!isfinite(norm)) return EB_DIVERGED_NAN;
    eb_reason reason = conclude(w);
    if (reason != EB_RUNNING) return reason;
    if (w->outcome->iterations >= w->most) return EB_DIVERGED_MAX_IT;
    w->outcome->iterations++;
    if (!eb_saddle_cr_advance(&w->cr, &w->saddle)) {
      /* A change of states may leave nothing to iterate on. */
      if (is_converged(w)) continue;
      return EB_DIVERGED_BREAKDOWN;
    }
    norm = eb_norm(w->saddle.n + w->saddle.m, w->cr.r);
    if (w->cr.alpha > 0 && w->outcome->iterations % interval(w, norm) == 0 && evaluate(w, false))
      restart(w);
    else
      eb_saddle_cr_renew(&w->cr, &w->saddle);
  }
}

/* ---- the method ---- */

/* States of the guess. */
static void set_states(literal *w) {
  eb_contact_velocity(w->problem, w->cr.y, w->u);
  eb_log_count(w->log, EB_COUNT_CONTACT_VISITS, w->problem->count);
  for (int32_t k = 0; k < w->problem->count; k++) {
    double *r = w->r + 3 * (int64_t)k, mu = w->problem->mu[k], length = hypot(r[1], r[2]);
    bool pushes = r[0] > 0, sticks = pushes && length < inside * mu * r[0];
    active_rows(w, k)[0] = pushes || w->u[3 * (int64_t)k] <= 0;
    begin_sliding(w, k);
    w->friction[k].stuck = w->friction[k].back = 0;
    w->friction[k].sense = 0;
    set_static(w, k, sticks);
    if (!pushes) memset(r, 0, 3 * sizeof *r);
    if (!pushes || sticks) continue;
    kinetic_friction *f = w->friction + k;
    f->magnitude = f->last = r[0];
    for (int i = 0; i < 2; i++) {
      if (length > 0) f->delta[i] = -r[1 + i] / length;
      r[1 + i] = -mu * r[0] * f->delta[i];
    }
  }
}

/* contact-al from where this has got to, for what is left of the iterations. */
static eb_error polish(literal *w, double *v, double *r) {
  eb_contact_error error;
  bool solved = eb_contact_is_solved(w->problem, w->tolerance, v, r, w->work, w->log, &error);
  if (w->outcome->reason > 0 && solved) return EB_OK;
  eb_contact_tolerance left = *w->tolerance;
  eb_contact_outcome more;
  left.max_iterations -= w->outcome->iterations;
  EB_TRY(eb_contact_al.solve(w->al, w->problem, &left, v, r, w->log, &more));
  w->outcome->reason = more.reason;
  w->outcome->iterations += more.iterations;
  w->outcome->active_set_changes += more.active_set_changes;
  return EB_OK;
}

static eb_error solve(void *data, const eb_contact_problem *problem,
                      const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                      eb_contact_outcome *outcome) {
  literal *w = data;
  size_t n = (size_t)w->saddle.n, m = 3 * (size_t)problem->count;
  *outcome = (eb_contact_outcome){0};
  w->problem = problem;
  w->tolerance = tolerance;
  w->most = tolerance->max_iterations;
  if (w->al && w->most > POLISH_AFTER) w->most = POLISH_AFTER;
  w->log = w->saddle.log = log;
  w->outcome = outcome;
  EB_TRY(grow(w, problem->count));
  eb_log_begin(log, EB_PHASE_FACTOR);
  eb_error error = eb_saddle_begin(&w->saddle, problem);
  eb_log_end(log, EB_PHASE_FACTOR);
  EB_TRY(error);
  eb_log_begin(log, EB_PHASE_SOLVE);
  memcpy(w->cr.y, v, n * sizeof *v);
  memcpy(w->r, r, m * sizeof *r);
  set_states(w);
  outcome->reason = iterate(w);
  eb_saddle_cr_forces(&w->cr, &w->saddle, w->r);
  memcpy(v, w->cr.y, n * sizeof *v);
  memcpy(r, w->r, m * sizeof *r);
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)outcome->iterations);
  eb_log_end(log, EB_PHASE_SOLVE);
  bool goes_on =
      outcome->reason != EB_DIVERGED_NAN && outcome->iterations < tolerance->max_iterations;
  if (log && !w->al) log->friction = EB_FRICTION_BY_MOTION;
  return w->al && goes_on ? polish(w, v, r) : EB_OK;
}

const eb_contact_method eb_contact_cr = {.name = "cr",
                                         .nonlinear = true,
                                         .scaled = true,
                                         .create = create,
                                         .solve = solve,
                                         .destroy = destroy};
