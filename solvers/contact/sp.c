/* contact-sp: the contact problem by Staggered Projections.
 *
 * Two convex programs in turn, each with the other's forces frozen, until both hold:
 *
 *   normal    min 1/2 v^T A v - (b + H_t^T r_t)^T v   subject to H_n v >= c_n,    r_t frozen
 *   friction  min 1/2 v^T A v - (b + H_n^T r_n)^T v + sum_k s_k |H_t,k v - c_t,k|,
 *             s = mu r_n,                                                         r_n frozen
 *
 * normal forces that keep contacts from closing, then friction of discs of radius mu r_n that
 * dissipates the most. A fixed point of the two projections is a solution of the contact problem.
 * Nothing makes the two approach it: with strong coupling and large mu they cycle. When what
 * friction lets contacts violate stays the same from one pair of projections to the next, as where
 * the normal rows and the sticking ones contradict each other, the friction program's solution is
 * returned as EB_CONVERGED_STAGNATED: only the normal rows are not met.
 *
 * Active rows are equations; the others have a constant force: r_n = 0 of open contacts, r_t = s d
 * of sliding ones. Conjugate residuals with the preconditioner diag solve that saddle point system
 * (saddle.h), as in the comparison of Verschoor and Jalba; published with facets and a dense solver
 * of quadratic programs, here with discs.
 *
 * active-set: the active set changes when the equations of the active rows are solved; also, at
 * most MAX_EARLY times in a program, when they are solved to a small part of what they began with
 * or hardly get any better, as where rows nearly repeat: which are wrong shows long before. The
 * normal program changes it by block principal pivoting (Judice and Pires 1994): all rows that are
 * wrong (active with r_n < 0, open with u_n < 0) at once as long as their number falls now and
 * then, otherwise the last one alone (Murty 1974), which ends for every definite A. 2xcr: also
 * every max(1, log2(|r| / eps1) / 3) iterations (Verschoor and Jalba 2019, Algorithm 2), with
 * unconverged forces and velocities.
 *
 * The friction program: with t = r_t - u_t / w a contact sticks when |t| <= s, otherwise its force
 * is s t / |t| (the projection on the disc, of which solutions are fixed points). w is its own
 * response H A_d^-1 H^T at first; the true one is larger, as neighbours give way, so w doubles when
 * a direction turns back and shrinks while it turns on. A force that turns by less than the
 * equations' tolerance turns on and on before velocities answer, and too far: a program that has
 * changed MANY_LATE times at convergence is solved to half of its tolerance from then on.
 *
 * References: Kaufman, Sueda, James and Pai 2008; compared with in Verschoor and Jalba 2019,
 * Section 6.2.3.
 *
 * An iteration is one of conjugate residuals, or a restart after a change of the active set: a
 * product with A. Before it is called solved eb_contact_measure is asked.
 * Needs: A with a positive diagonal.
 * Workspace: 9 vectors of rows and contact rows, some 20 numbers a contact.
 * Fails with EB_DIVERGED_MAX_IT, EB_DIVERGED_NAN, EB_DIVERGED_BREAKDOWN; EB_CONVERGED_STAGNATED
 * also when the equations contradict each other: |B C^-1 r| vanishes, |r| does not, both in the
 * norm of C^-1. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/contact/method.h"
#include "solvers/contact/saddle.h"
#include "solvers/linalg/block_ops.h"

static const double unchanged = 0.05; /* a violation that changes by less, in part, is the same */
static const double response_growth = 2, response_decay = 0.8; /* of w */
static const double contradiction = 1e-7; /* |B C^-1 r| / |r| below which there is no solution */
/* Of the excess that new active rows begin with: solved well enough to change them. */
static const double forcing = 0.03;
static const double strictest = 1. / 256; /* part of a program's tolerance */
enum {
  STAGNATION = 12, /* pairs of projections with the same violation */
  PATIENCE = 10,   /* block pivots without fewer wrong rows */
  CHECK_EVERY = 50,
  MAX_EARLY = 40, /* changes of a program before convergence: then only at it */
  MANY_LATE = 20  /* changes at convergence: then it is asked to be twice as good */
};

typedef struct friction_state {
  bool sticks;
  double d[2];      /* direction of the force while it slides, unit */
  double response;  /* w, m/N: how far a unit force is taken to move the contact when d is turned */
  double last_turn; /* sine of the last turn of d */
} friction_state;

typedef struct staggered {
  bool dynamic;     /* the active set changes at intervals, not only at convergence */
  double tightness; /* the part of eps1, eps2 and the angle that a program is solved to */
  int32_t room;     /* of contacts */
  eb_saddle saddle;
  eb_saddle_cr cr;
  double *rhs;              /* rows and contact rows */
  double *r, *frozen, *u;   /* 3 a contact */
  double *work;             /* of the measure */
  friction_state *friction; /* a contact */
  /* of the present solve */
  const eb_contact_problem *problem;
  const eb_contact_tolerance *tolerance;
  eb_step_log *log;
  eb_contact_outcome *outcome;
} staggered;

typedef enum projection { NORMAL, FRICTION } projection;

/* The changes of the active set in a program. */
typedef struct pivoting {
  int32_t fewest; /* wrong rows, normal program */
  int patience;
  int64_t evaluated; /* iteration of the last evaluation of the active set */
  double enough;     /* of the excess: time for an evaluation; 0: the active rows are new */
  double last;       /* excess at the last evaluation */
  int early;         /* changes before convergence */
} pivoting;

/* ---- memory ---- */

static void free_contacts(staggered *sp) {
  double **all[] = {&sp->rhs, &sp->work, &sp->r, &sp->frozen, &sp->u};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(*all[i]);
    *all[i] = NULL;
  }
  free(sp->friction);
  sp->friction = NULL;
  sp->room = 0;
}

static void destroy(void *data) {
  staggered *sp = data;
  if (!sp) return;
  free_contacts(sp);
  eb_saddle_clear(&sp->saddle);
  eb_saddle_cr_clear(&sp->cr);
  free(sp);
}

static eb_error create(const eb_solver *solver, const eb_block_matrix *pattern, void **data) {
  staggered *sp;
  *data = NULL;
  EB_TRY(EB_NEW(sp, 1));
  sp->dynamic = !strcmp(eb_values_text(solver->options, "inner"), "2xcr");
  eb_error error = eb_saddle_create(pattern, false, &sp->saddle);
  if (error)
    destroy(sp);
  else
    *data = sp;
  return error;
}

static eb_error grow(staggered *sp, int32_t count) {
  EB_TRY(eb_saddle_cr_reserve(&sp->cr, sp->saddle.n, 3 * (int64_t)count, false));
  if (sp->friction && count <= sp->room) return EB_OK;
  int32_t room = count + count / 2;
  int64_t m = 3 * (int64_t)room, size = sp->saddle.n + m;
  free_contacts(sp);
  EB_TRY(EB_NEW(sp->rhs, size));
  EB_TRY(EB_NEW(sp->work, size));
  EB_TRY(EB_NEW(sp->r, m));
  EB_TRY(EB_NEW(sp->frozen, m));
  EB_TRY(EB_NEW(sp->u, m));
  EB_TRY(EB_NEW(sp->friction, room));
  sp->room = room;
  return EB_OK;
}

/* ---- the equations of the active rows -------------------------------------------------------- */

/* Restarts conjugate residuals from v and r, for the rows that are active now. */
static void restart(staggered *sp) {
  eb_saddle_cr_pose(&sp->cr, &sp->saddle, sp->r, sp->frozen, sp->rhs);
  eb_saddle_cr_start(&sp->cr, &sp->saddle, sp->rhs);
  sp->outcome->iterations++;
}

/* What active rows are solved to and open ones may violate, m: most of what is allowed, as rows
 * that nearly repeat may contradict each other by as much. */
static double row_tolerance(const staggered *sp) {
  return fmin(1, 1.5 * sp->tightness) * sp->tolerance->eps2;
}

/* The residual over what the program is solved to. */
static double excess(const staggered *sp) {
  const double *r = sp->cr.r, *rows = r + sp->saddle.n;
  double largest = 0, norm = eb_norm(sp->saddle.n, r);
  for (int64_t k = 0; k < sp->saddle.m; k++) largest = fmax(largest, fabs(rows[k]));
  eb_log_residual(sp->log, norm);
  double above = fmax(norm / (sp->tightness * sp->tolerance->eps1), largest / row_tolerance(sp));
  return isfinite(norm) ? above : NAN;
}

/* Whether r is orthogonal to all that B reaches. Uses cr.CBp, which the next iteration rewrites. */
static bool contradicts(staggered *sp) {
  eb_saddle_cr *cr = &sp->cr;
  int64_t size = sp->saddle.n + sp->saddle.m;
  eb_saddle_precondition(&sp->saddle, cr->Bz, cr->CBp);
  double gradient = eb_dot(size, cr->Bz, cr->CBp), residual = eb_dot(size, cr->r, cr->z);
  return gradient <= contradiction * contradiction * residual;
}

/* ---- the active set -------------------------------------------------------------------------- */

static bool is_wrong(const staggered *sp, int32_t k) {
  int64_t row = 3 * (int64_t)k;
  return sp->saddle.active[row] ? sp->r[row] < 0 : sp->u[row] < -row_tolerance(sp);
}

static void flip(staggered *sp, int32_t k) {
  int64_t row = 3 * (int64_t)k;
  sp->saddle.active[row] = !sp->saddle.active[row];
  if (!sp->saddle.active[row]) sp->r[row] = 0;
}

/* Block principal pivoting; returns how many rows have changed. */
static int32_t pivot(staggered *sp, pivoting *p) {
  int32_t wrong = 0, last = -1;
  for (int32_t k = 0; k < sp->problem->count; k++)
    if (is_wrong(sp, k)) {
      wrong++;
      last = k;
    }
  if (!wrong) return 0;
  if (wrong < p->fewest) {
    p->fewest = wrong;
    p->patience = PATIENCE;
  } else
    p->patience--;
  if (p->patience < 0) {
    flip(sp, last);
    return 1;
  }
  for (int32_t k = 0; k < sp->problem->count; k++)
    if (is_wrong(sp, k)) flip(sp, k);
  return wrong;
}

/* Before convergence: rows that are wrong in both force and motion. */
static int32_t switch_rows(staggered *sp) {
  int32_t changes = 0;
  for (int32_t k = 0; k < sp->problem->count; k++) {
    int64_t row = 3 * (int64_t)k;
    if (!is_wrong(sp, k) || (sp->saddle.active[row] && sp->u[row] < 0)) continue;
    flip(sp, k);
    changes++;
  }
  return changes;
}

static void set_sticking(staggered *sp, int32_t k, bool sticks) {
  sp->friction[k].sticks = sticks;
  sp->saddle.active[3 * (int64_t)k + 1] = sp->saddle.active[3 * (int64_t)k + 2] = sticks;
}

static void set_sliding_force(staggered *sp, int32_t k, double s) {
  for (int i = 0; i < 2; i++) sp->r[3 * (int64_t)k + 1 + i] = s * sp->friction[k].d[i];
}

/* Turns the direction of a sliding contact to `to`, unless it is within the tolerance of -u_t. */
static bool turn(const staggered *sp, friction_state *f, const double u[2], const double to[2]) {
  const double degrees = 57.29577951308232;
  double cross = f->d[0] * to[1] - f->d[1] * to[0];
  double off =
      degrees * atan2(fabs(f->d[0] * u[1] - f->d[1] * u[0]), -(f->d[0] * u[0] + f->d[1] * u[1]));
  if (off <= sp->tightness * sp->tolerance->angle) return false;
  if (f->last_turn != 0) f->response *= cross * f->last_turn < 0 ? response_growth : response_decay;
  f->last_turn = cross;
  memcpy(f->d, to, sizeof f->d);
  return true;
}

/* The projection on the disc of radius s; true when the state or the direction has changed. Motion
 * below eps2 says nothing. */
static bool project_contact(staggered *sp, int32_t k, double s) {
  friction_state *f = sp->friction + k;
  const double *r = sp->r + 3 * (int64_t)k + 1, *u = sp->u + 3 * (int64_t)k + 1;
  bool moves = hypot(u[0], u[1]) > sp->tolerance->eps2;
  double t[2], length;
  if (!moves && !f->sticks) return false;
  for (int i = 0; i < 2; i++) t[i] = r[i] - (moves ? u[i] / f->response : 0);
  length = hypot(t[0], t[1]);
  if (length <= s) {
    bool changed = !f->sticks;
    set_sticking(sp, k, true);
    return changed;
  }
  for (int i = 0; i < 2; i++) t[i] /= length;
  if (!f->sticks) {
    bool turned = turn(sp, f, u, t);
    set_sliding_force(sp, k, s);
    return turned;
  }
  memcpy(f->d, t, sizeof t);
  f->last_turn = 0;
  set_sticking(sp, k, false);
  set_sliding_force(sp, k, s);
  return true;
}

/* ---- the programs ---------------------------------------------------------------------------- */

/* Before convergence: whether the equations are solved well enough to tell which rows are wrong, or
 * hardly get any better. */
static bool is_due(const staggered *sp, int64_t iterations, double above, pivoting *p) {
  double since = (double)(iterations - p->evaluated);
  if (p->early >= MAX_EARLY) return false;
  if (sp->dynamic) return since >= fmax(1, log2(above) / 3);
  if (p->enough == 0) {
    p->enough = forcing * above;
    p->last = above;
  }
  return above <= p->enough || (since >= CHECK_EVERY && above > 0.5 * p->last);
}

/* Evaluates the active set; returns whether it has changed. */
static bool evaluate(staggered *sp, projection program, int64_t iterations, double above,
                     pivoting *p) {
  int32_t changes = 0;
  eb_saddle_cr_forces(&sp->cr, &sp->saddle, sp->r);
  eb_contact_velocity(sp->problem, sp->cr.y, sp->u);
  eb_log_count(sp->log, EB_COUNT_CONTACT_VISITS, sp->problem->count);
  if (program == NORMAL) changes = above <= 1 ? pivot(sp, p) : switch_rows(sp);
  for (int32_t k = 0; program == FRICTION && k < sp->problem->count; k++) {
    double s = sp->problem->mu[k] * sp->r[3 * (int64_t)k];
    if (s > 0 && sp->friction[k].response > 0) changes += project_contact(sp, k, s);
  }
  sp->outcome->active_set_changes += changes > 0;
  p->early += changes > 0 && above > 1;
  p->evaluated = iterations;
  p->enough = changes > 0 ? 0 : forcing * above;
  p->last = above;
  return changes > 0;
}

static eb_reason iterate(staggered *sp, int64_t iterations) {
  bool moved = eb_saddle_cr_advance(&sp->cr, &sp->saddle);
  if (moved) eb_saddle_cr_renew(&sp->cr, &sp->saddle);
  if (!moved || iterations % CHECK_EVERY == CHECK_EVERY - 1)
    if (contradicts(sp)) return EB_CONVERGED_STAGNATED;
  if (!moved) return EB_DIVERGED_BREAKDOWN;
  sp->outcome->iterations++;
  return EB_RUNNING;
}

/* Solves one program from cr.y and r, which become its solution. EB_RUNNING when it has; otherwise
 * why not. */
static eb_reason solve_program(staggered *sp, projection program) {
  pivoting p = {.fewest = INT32_MAX};
  eb_reason reason = EB_RUNNING;
  double strictness = 1;
  int late = 0;
  /* The rows active in the program at first; friction's constant forces follow their bounds. */
  eb_contact_velocity(sp->problem, sp->cr.y, sp->u);
  eb_log_count(sp->log, EB_COUNT_CONTACT_VISITS, sp->problem->count);
  memset(sp->saddle.active, 0, (size_t)sp->saddle.m);
  for (int32_t k = 0; k < sp->problem->count; k++) {
    double *r = sp->r + 3 * (int64_t)k, s = sp->problem->mu[k] * r[0];
    if (program == NORMAL) {
      sp->saddle.active[3 * (int64_t)k] = r[0] > 0;
      r[0] = fmax(r[0], 0);
      if (is_wrong(sp, k)) flip(sp, k);
    } else if (!(s > 0))
      r[1] = r[2] = 0;
    else if (sp->friction[k].sticks)
      set_sticking(sp, k, true);
    else
      set_sliding_force(sp, k, s);
  }
  restart(sp);
  for (int64_t iterations = 0; reason == EB_RUNNING;) {
    double above = excess(sp) / strictness;
    bool converged = above <= 1, changed = false;
    if (isnan(above)) return EB_DIVERGED_NAN;
    if (converged || is_due(sp, iterations, above, &p))
      changed = evaluate(sp, program, iterations, above, &p);
    if (converged && !changed) return EB_RUNNING;
    if (converged && ++late % MANY_LATE == 0) strictness = fmax(0.5 * strictness, strictest);
    if (sp->outcome->iterations >= sp->tolerance->max_iterations)
      reason = EB_DIVERGED_MAX_IT;
    else if (changed)
      restart(sp);
    else
      reason = iterate(sp, iterations++);
  }
  eb_saddle_cr_forces(&sp->cr, &sp->saddle, sp->r);
  return reason;
}

/* ---- the method ------------------------------------------------------------------------------ */

static bool is_solved(staggered *sp, double *violation) {
  eb_contact_error error;
  bool solved =
      eb_contact_is_solved(sp->problem, sp->tolerance, sp->cr.y, sp->r, sp->work, sp->log, &error);
  *violation = error.violation;
  return solved;
}

/* One program after the other; EB_RUNNING when each holds and both together do not. */
static eb_reason solve_both(staggered *sp, bool friction, double *violation) {
  eb_reason reason = solve_program(sp, NORMAL);
  if (reason != EB_RUNNING) return reason;
  if (is_solved(sp, violation)) return EB_CONVERGED_ATOL;
  if (!friction) return EB_RUNNING;
  reason = solve_program(sp, FRICTION);
  return reason == EB_RUNNING && is_solved(sp, violation) ? EB_CONVERGED_ATOL : reason;
}

static eb_reason stagger(staggered *sp) {
  bool friction = false;
  double violation = 0, level = 0;
  int stagnated = 0;
  for (int32_t k = 0; k < sp->problem->count; k++) friction |= sp->problem->mu[k] > 0;
  /* Friction's states from the forces of the guess, which are brought into their cones; saddle and
   * cr.y hold the problem and v. */
  sp->tightness = 0.5;
  for (int32_t k = 0; k < sp->problem->count; k++) {
    const double *schur = sp->saddle.schur + 3 * (int64_t)k;
    double *r = sp->r + 3 * (int64_t)k;
    r[0] = fmax(r[0], 0);
    double bound = sp->problem->mu[k] * r[0], length = hypot(r[1], r[2]);
    double shrink = length > bound ? bound / length : 1;
    friction_state *f = sp->friction + k;
    *f = (friction_state){.sticks = length < (1 - 1e-6) * bound || length == 0};
    if (schur[1] > 0 && schur[2] > 0) f->response = 0.5 * (1 / schur[1] + 1 / schur[2]);
    for (int i = 0; i < 2; i++) {
      if (length > 0) f->d[i] = r[1 + i] / length;
      r[1 + i] *= shrink;
    }
  }
  while (sp->outcome->iterations < sp->tolerance->max_iterations) {
    int64_t before = sp->outcome->iterations;
    eb_reason reason = solve_both(sp, friction, &violation);
    if (reason != EB_RUNNING) return reason;
    bool same = fabs(violation - level) <= unchanged * level && violation > sp->tolerance->eps2;
    stagnated = same ? stagnated + 1 : 0;
    if (!same) level = violation;
    if (stagnated == STAGNATION) return EB_CONVERGED_STAGNATED;
    /* Each holds to this part of the tolerance without a change, and together they do not. */
    if (sp->outcome->iterations <= before + 2) sp->tightness *= 0.5;
  }
  return EB_DIVERGED_MAX_IT;
}

static eb_error solve(void *data, const eb_contact_problem *problem,
                      const eb_contact_tolerance *tolerance, double *v, double *r, eb_step_log *log,
                      eb_contact_outcome *outcome) {
  staggered *sp = data;
  size_t n = (size_t)sp->saddle.n, m = 3 * (size_t)problem->count;
  double violation;
  *outcome = (eb_contact_outcome){0};
  sp->problem = problem;
  sp->tolerance = tolerance;
  sp->log = sp->saddle.log = log;
  sp->outcome = outcome;
  EB_TRY(grow(sp, problem->count));
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error = eb_saddle_begin(&sp->saddle, problem);
  if (!error) {
    memcpy(sp->cr.y, v, n * sizeof *v);
    memcpy(sp->r, r, m * sizeof *r);
    outcome->reason = is_solved(sp, &violation) ? EB_CONVERGED_ATOL : stagger(sp);
    memcpy(v, sp->cr.y, n * sizeof *v);
    memcpy(r, sp->r, m * sizeof *r);
  }
  eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, (double)outcome->iterations);
  eb_log_end(log, EB_PHASE_SOLVE);
  return error;
}

const eb_contact_method eb_contact_sp = {.name = "sp",
                                         .unconstrained = true,
                                         .scaled = true,
                                         .create = create,
                                         .solve = solve,
                                         .destroy = destroy};
