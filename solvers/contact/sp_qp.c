/* The normal and the friction program by conjugate residuals with states.
 *
 * active-set: states change when the equations of the held rows are solved; also, at most MOST_EARLY times in a program, when they are solved to a small share of what they began with
 * or hardly get any better, as where rows nearly repeat: which are wrong shows long before. The normal program changes them by block principal pivoting
 * (Judice and Pires 1994): all rows that are wrong (held with r_n < 0, open with u_n < 0) at once as long as their number falls now and then, otherwise
 * the last one alone (Murty 1974), which ends for every definite A. 2xcr: also every max(1, log2(|r| / eps1) / 3) iterations (Verschoor and Jalba 2019,
 * Algorithm 2), with unconverged forces and velocities.
 *
 * The friction program has discs, not facets: with t = r_t - u_t / w a contact sticks when |t| <= s, otherwise its force is s t / |t|
 * (the projection on the disc, of which solutions are fixed points). w is its own response H A_d^-1 H^T at first; the true one is larger, as neighbours
 * give way, so w doubles when a direction turns back and shrinks while it turns on.
 *
 * Fails with EB_DIVERGED_MAX_IT, EB_DIVERGED_NAN, EB_DIVERGED_BREAKDOWN; EB_CONVERGED_STAGNATED when the equations contradict each other:
 * |B C^-1 r| vanishes, |r| does not, both in the norm of C^-1. */
#include "solvers/contact/sp_qp.h"

#include <math.h>
#include <string.h>

#include "solvers/linalg/block_ops.h"

static const double grows = 2, dwindles = 0.8; /* of w */
static const double contradiction = 1e-7; /* |B C^-1 r| / |r| below which there is no solution */
static const double forcing =
    0.03; /* of the excess of new rows: solved well enough to change them */
enum {
  PATIENCE = 10, /* block changes without fewer wrong rows */
  CHECK_EVERY = 50,
  MOST_EARLY = 40 /* changes of a program before convergence: then only at it */
};

/* The changes of states in a program. */
typedef struct pivoting {
  int32_t fewest; /* wrong rows, normal program */
  int patience;
  int64_t looked; /* iteration of the last look at the states */
  double enough;  /* of the excess: time for a look; 0: the held rows are new */
  double last;    /* excess at the last look */
  int early;      /* changes before convergence */
} pivoting;

/* ---- the equations of the held rows --------------------------------------------------------------- */

/* Starts conjugate residuals anew from v and r, for the rows that are held now. */
static void restart(eb_sp *sp) {
  int64_t n = sp->saddle.n;
  for (int64_t k = 0; k < sp->saddle.m; k++) {
    bool held = sp->saddle.active[k];
    sp->cr.y[n + k] = held ? -sp->r[k] : 0;
    sp->frozen[k] = held ? 0 : sp->r[k];
  }
  memcpy(sp->rhs, sp->problem->b, (size_t)n * sizeof *sp->rhs);
  eb_contact_force_add(sp->problem, sp->frozen, sp->rhs);
  memcpy(sp->rhs + n, sp->problem->c, (size_t)sp->saddle.m * sizeof *sp->rhs);
  eb_saddle_cr_start(&sp->cr, &sp->saddle, sp->rhs);
  eb_log_count(sp->log, EB_COUNT_MATVECS, 2);
  sp->outcome->iterations++;
}

static void read_forces(eb_sp *sp) {
  for (int64_t k = 0; k < sp->saddle.m; k++)
    if (sp->saddle.active[k]) sp->r[k] = -sp->cr.y[sp->saddle.n + k];
}

/* What held rows are solved to and open ones may violate, m: most of what is allowed, as rows that nearly repeat may contradict each other by as much. */
static double row_tolerance(const eb_sp *sp) {
  return fmin(1, 1.5 * sp->share) * sp->tolerance->eps2;
}

/* The residual over what the program is solved to. */
static double excess(const eb_sp *sp) {
  const double *r = sp->cr.r, *rows = r + sp->saddle.n;
  double largest = 0, norm = eb_norm(sp->saddle.n, r);
  for (int64_t k = 0; k < sp->saddle.m; k++) largest = fmax(largest, fabs(rows[k]));
  eb_log_residual(sp->log, norm);
  double above = fmax(norm / (sp->share * sp->tolerance->eps1), largest / row_tolerance(sp));
  return isfinite(norm) ? above : NAN;
}

/* Whether r is orthogonal to all that B reaches. Uses cr.CBp, which the next iteration writes anew. */
static bool contradicts(eb_sp *sp) {
  eb_saddle_cr *cr = &sp->cr;
  int64_t size = sp->saddle.n + sp->saddle.m;
  eb_saddle_precondition(&sp->saddle, cr->Bz, cr->CBp);
  double gradient = eb_dot(size, cr->Bz, cr->CBp), residual = eb_dot(size, cr->r, cr->z);
  return gradient <= contradiction * contradiction * residual;
}

/* ---- states ---------------------------------------------------------------------------------------- */

static bool is_wrong(const eb_sp *sp, int32_t k) {
  int64_t row = 3 * (int64_t)k;
  return sp->saddle.active[row] ? sp->r[row] < 0 : sp->u[row] < -row_tolerance(sp);
}

static void flip(eb_sp *sp, int32_t k) {
  int64_t row = 3 * (int64_t)k;
  sp->saddle.active[row] = !sp->saddle.active[row];
  if (!sp->saddle.active[row]) sp->r[row] = 0;
}

/* Returns how many rows have changed. */
static int32_t pivot(eb_sp *sp, pivoting *p) {
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

/* A step between evaluations: rows that are wrong in both force and motion. */
static int32_t switch_rows(eb_sp *sp) {
  int32_t changes = 0;
  for (int32_t k = 0; k < sp->problem->count; k++) {
    int64_t row = 3 * (int64_t)k;
    if (!is_wrong(sp, k) || (sp->saddle.active[row] && sp->u[row] < 0)) continue;
    flip(sp, k);
    changes++;
  }
  return changes;
}

static void hold(eb_sp *sp, int32_t k, bool held) {
  sp->friction[k].sticks = held;
  sp->saddle.active[3 * (int64_t)k + 1] = sp->saddle.active[3 * (int64_t)k + 2] = held;
}

static void push(eb_sp *sp, int32_t k, double s) {
  for (int i = 0; i < 2; i++) sp->r[3 * (int64_t)k + 1 + i] = s * sp->friction[k].d[i];
}

/* Turns the direction of a sliding contact to `to`, unless it is within the tolerance of -u_t. */
static bool turn(const eb_sp *sp, eb_sp_friction *f, const double u[2], const double to[2]) {
  const double degrees = 57.29577951308232;
  double cross = f->d[0] * to[1] - f->d[1] * to[0];
  double off =
      degrees * atan2(fabs(f->d[0] * u[1] - f->d[1] * u[0]), -(f->d[0] * u[0] + f->d[1] * u[1]));
  if (off <= sp->share * sp->tolerance->angle) return false;
  if (f->last_turn != 0) f->response *= cross * f->last_turn < 0 ? grows : dwindles;
  f->last_turn = cross;
  memcpy(f->d, to, sizeof f->d);
  return true;
}

/* The projection on the disc of radius s; true when the state or the direction has changed. Motion below eps2 says nothing. */
static bool project(eb_sp *sp, int32_t k, double s) {
  eb_sp_friction *f = sp->friction + k;
  const double *r = sp->r + 3 * (int64_t)k + 1, *u = sp->u + 3 * (int64_t)k + 1;
  bool moves = hypot(u[0], u[1]) > sp->tolerance->eps2;
  double t[2], length;
  if (!moves && !f->sticks) return false;
  for (int i = 0; i < 2; i++) t[i] = r[i] - (moves ? u[i] / f->response : 0);
  length = hypot(t[0], t[1]);
  if (length <= s) {
    bool changed = !f->sticks;
    hold(sp, k, true);
    return changed;
  }
  for (int i = 0; i < 2; i++) t[i] /= length;
  if (!f->sticks) {
    bool turned = turn(sp, f, u, t);
    push(sp, k, s);
    return turned;
  }
  memcpy(f->d, t, sizeof t);
  f->last_turn = 0;
  hold(sp, k, false);
  push(sp, k, s);
  return true;
}

static int32_t project_all(eb_sp *sp) {
  int32_t changes = 0;
  for (int32_t k = 0; k < sp->problem->count; k++) {
    double s = sp->problem->mu[k] * sp->r[3 * (int64_t)k];
    if (s > 0 && sp->friction[k].response > 0) changes += project(sp, k, s);
  }
  return changes;
}

static bool change_states(eb_sp *sp, eb_sp_program program, bool converged, pivoting *p) {
  read_forces(sp);
  eb_contact_velocity(sp->problem, sp->cr.y, sp->u);
  int32_t changes;
  if (program == EB_SP_FRICTION)
    changes = project_all(sp);
  else
    changes = converged ? pivot(sp, p) : switch_rows(sp);
  sp->outcome->state_changes += changes > 0;
  return changes > 0;
}

/* ---- the programs ---------------------------------------------------------------------------------- */

/* The guess comes into its cone. */
static void begin_contact(eb_sp *sp, int32_t k) {
  const double *schur = sp->saddle.schur + 3 * (int64_t)k;
  double *r = sp->r + 3 * (int64_t)k;
  r[0] = fmax(r[0], 0);
  double bound = sp->problem->mu[k] * r[0], length = hypot(r[1], r[2]);
  double share = length > bound ? bound / length : 1;
  eb_sp_friction *f = sp->friction + k;
  *f = (eb_sp_friction){.sticks = length < (1 - 1e-6) * bound || length == 0};
  if (schur[1] > 0 && schur[2] > 0) f->response = 0.5 * (1 / schur[1] + 1 / schur[2]);
  for (int i = 0; i < 2; i++) {
    if (length > 0) f->d[i] = r[1 + i] / length;
    r[1 + i] *= share;
  }
}

void eb_sp_begin(eb_sp *sp) {
  sp->share = 0.5;
  for (int32_t k = 0; k < sp->problem->count; k++) begin_contact(sp, k);
}

/* Which rows the program holds at first; friction's frozen forces follow their bounds. */
static void choose_rows(eb_sp *sp, eb_sp_program program) {
  eb_contact_velocity(sp->problem, sp->cr.y, sp->u);
  memset(sp->saddle.active, 0, (size_t)sp->saddle.m);
  for (int32_t k = 0; k < sp->problem->count; k++) {
    double *r = sp->r + 3 * (int64_t)k, s = sp->problem->mu[k] * r[0];
    if (program == EB_SP_NORMAL) {
      sp->saddle.active[3 * (int64_t)k] = r[0] > 0;
      r[0] = fmax(r[0], 0);
      if (is_wrong(sp, k)) flip(sp, k);
    } else if (!(s > 0))
      r[1] = r[2] = 0;
    else if (sp->friction[k].sticks)
      hold(sp, k, true);
    else
      push(sp, k, s);
  }
}

/* Before convergence: whether the equations are solved well enough to tell which rows are wrong, or hardly get any better. */
static bool is_due(const eb_sp *sp, int64_t iterations, double above, pivoting *p) {
  double since = (double)(iterations - p->looked);
  if (p->early >= MOST_EARLY) return false;
  if (sp->dynamic) return since >= fmax(1, log2(above) / 3);
  if (p->enough == 0) {
    p->enough = forcing * above;
    p->last = above;
  }
  return above <= p->enough || (since >= CHECK_EVERY && above > 0.5 * p->last);
}

/* Looks at the states; returns whether they have changed. */
static bool look(eb_sp *sp, eb_sp_program program, int64_t iterations, double above, pivoting *p) {
  bool changed = change_states(sp, program, above <= 1, p);
  p->early += changed && above > 1;
  p->looked = iterations;
  p->enough = changed ? 0 : forcing * above;
  p->last = above;
  return changed;
}

static eb_reason advance(eb_sp *sp, int64_t iterations) {
  bool moved = eb_saddle_cr_iterate(&sp->cr, &sp->saddle);
  if (!moved || iterations % CHECK_EVERY == CHECK_EVERY - 1)
    if (contradicts(sp)) return EB_CONVERGED_STAGNATED;
  if (!moved) return EB_DIVERGED_BREAKDOWN;
  eb_log_count(sp->log, EB_COUNT_MATVECS, 1);
  sp->outcome->iterations++;
  return EB_RUNNING;
}

eb_reason eb_sp_solve_program(eb_sp *sp, eb_sp_program program) {
  pivoting p = {.fewest = INT32_MAX};
  eb_reason reason = EB_RUNNING;
  choose_rows(sp, program);
  restart(sp);
  for (int64_t iterations = 0; reason == EB_RUNNING;) {
    double above = excess(sp);
    bool converged = above <= 1, changed = false;
    if (isnan(above)) return EB_DIVERGED_NAN;
    if (converged || is_due(sp, iterations, above, &p))
      changed = look(sp, program, iterations, above, &p);
    if (converged && !changed) return EB_RUNNING;
    if (sp->outcome->iterations >= sp->tolerance->max_iterations)
      reason = EB_DIVERGED_MAX_IT;
    else if (changed)
      restart(sp);
    else
      reason = advance(sp, iterations++);
  }
  read_forces(sp);
  return reason;
}
