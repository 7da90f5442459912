/* Corrections that take the quasistatic nodes towards their equilibrium, and their step length.
 *
 *   x_q += length p,   p = inv(H_qq) f_q
 *
 * with H_qq made definite element by element is a direction in which the potential energy
 *   Pi(x_q) = E(x) + (energy of contacts) - f_ext . x
 * falls, for its slope is -f_q . p = -f_q . inv(H_qq) f_q < 0. |f_q| need not: the slope of |f_q|^2
 * / 2 is -f_q . H' p with the true Hessian H', which is definite only near minima of Pi. So the
 * line search looks at Pi. In a step p is computed at x0 and used at x0 + h v, where f_q differs by
 * terms of order h^2 only, since (H v)_q = 0; should it not lower Pi there, the length is 0 and the
 * next step's p knows better.
 *
 * Reference: Weidner, Kim and Sueda 2020, Equation 13, whose length is gamma; Armijo's rule.
 * Needs: the factor of H_qq.
 * Workspace: a vector.
 * Fails: EB_DIVERGED_NAN, as the factorization does. */
#include "solvers/conjac/conjac.h"

#include "solvers/linalg/block_ops.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Armijo's constant; rounding of Pi in eps of its terms, a rise of which is none. */
static const double sufficient = 1e-4, noise_digits = 4;
enum { MAX_HALVINGS = 8, MAX_STATIC_ITERATIONS = 200 };

/* ---- the line search ---- */

static eb_potential_value value_at(eb_conjac *c, double time, const double *x, eb_step_log *log) {
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, c->work.scene->mesh->element_count);
  eb_potential_value value = eb_potential_at(&c->potential, x);
  eb_conjac_find_contact_at(c, time, x);
  double contact = eb_touches_energy(c->work.touches, c->work.touch_count);
  return (eb_potential_value){value.value + contact, value.magnitude + contact};
}

static double line_search(eb_conjac *c, const eb_state *state, double slope, eb_step_log *log) {
  const double *x = state->x;
  c->potential.fixed = c->part.class;
  c->potential.origin = c->potential.predicted = x;
  eb_potential_value here = value_at(c, state->time, x, log);
  double noise = noise_digits * DBL_EPSILON * here.magnitude, length = 1;
  for (int k = 0; k <= MAX_HALVINGS; k++, length *= 0.5) {
    memcpy(c->trial, x, (size_t)c->work.size * sizeof *x);
    eb_conjac_add_correction(c, length, c->trial);
    eb_potential_value there = value_at(c, state->time, c->trial, log);
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
    if (there.value - here.value <= sufficient * length * slope + noise) return length;
  }
  return 0;
}

double eb_conjac_step_length(eb_conjac *c, const eb_state *state, double work_of_p,
                             eb_step_log *log) {
  if (!c->settings.search) return c->settings.gamma;
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  double length = line_search(c, state, -work_of_p, log);
  eb_log_end(log, EB_PHASE_LINESEARCH);
  return length;
}

void eb_conjac_add_correction(const eb_conjac *c, double length, double *x) {
  for (int64_t k = 0; k < c->work.size; k++) x[k] += length * c->correction[k];
}

/* ---- corrections ---- */

/* f and, when asked, H_qq at x and time t. */
static eb_error linearize(eb_conjac *c, const eb_state *state, bool matrix, eb_step_log *log,
                          eb_reason *reason) {
  eb_implicit *work = &c->work;
  eb_log_begin(log, EB_PHASE_RHS);
  eb_scene_force(work->scene, state->time, state->x, state->v, work->force);
  eb_conjac_find_contact_at(c, state->time, state->x);
  eb_log_end(log, EB_PHASE_RHS);
  if (matrix)
    eb_implicit_assemble(work, state->x, 0, 1, true, log);
  else
    eb_implicit_gradient(work, state->x, log);
  *reason = eb_conjac_net_force(c, state->x) ? EB_RUNNING : EB_DIVERGED_NAN;
  if (*reason < 0) return EB_OK;
  eb_log_residual(log, eb_conjac_residual(c));
  return matrix ? eb_conjac_factor(c, false, log, reason) : EB_OK;
}

/* One correction. Returns the length of its longest entry through *longest. */
static eb_error correct(eb_conjac *c, eb_state *state, bool matrix, double *longest,
                        eb_step_log *log, eb_reason *reason) {
  const double *p = c->correction;
  EB_TRY(linearize(c, state, matrix, log, reason));
  if (*reason < 0) return EB_OK;
  EB_TRY(eb_conjac_correct(c, log, reason));
  if (*reason < 0) return EB_OK;
  double work = eb_conjac_work_of_correction(c);
  double length = eb_conjac_step_length(c, state, work, log);
  eb_conjac_add_correction(c, length, state->x);
  *longest = 0;
  for (int64_t k = 0; k < c->work.size; k++) *longest = fmax(*longest, fabs(length * p[k]));
  return EB_OK;
}

/* Newton's method on the statics of the quasistatic nodes, a fixed number of steps of it (the paper
 * has none; Equation 13 is one, at gamma, with the force from before the step). Where the factor is
 * kept it is a chord method: the force is new, H_qq is not, and its errors fall linearly. */
eb_error eb_conjac_newton_corrections(eb_conjac *c, eb_state *state, eb_step_log *log,
                                      eb_reason *reason) {
  bool matrix = c->settings.keep_factor == 1 || c->had_contact;
  double longest;
  for (int64_t k = 0; k<c->settings.newton_steps && * reason> 0; k++) {
    EB_TRY(correct(c, state, matrix, &longest, log, reason));
    log->iterations++;
  }
  if (matrix && c->settings.newton_steps > 0) c->factor_valid = false;
  return EB_OK;
}

/* The same to the end, with a line search each time: the scene's start may be far from equilibrium,
 * and J and p describe only what is near. */
eb_error eb_conjac_equilibrate(eb_conjac *c, eb_state *state, eb_step_log *log, eb_reason *reason) {
  const double close = 1e-12; /* last correction over the diagonal */
  bool search_in_steps = c->settings.search;
  double longest = INFINITY;
  eb_error error = EB_OK;
  *reason = EB_CONVERGED_ITS;
  c->settings.search = true;
  for (int k = 0; k < MAX_STATIC_ITERATIONS && !error && *reason > 0; k++) {
    error = correct(c, state, true, &longest, log, reason);
    log->iterations++;
    if (longest <= close * c->diagonal) break;
  }
  c->settings.search = search_in_steps;
  c->factor_valid = false;
  return error;
}
