/* The initial guess and the line search of the Newton solver.
 *
 * Backtracking to sufficient decrease (Armijo): W(x + a p) <= W(x) + c a s, s = grad W . p, with a
 * from the parabola through W(x), s and the rejected value. A value that is not finite (an element
 * left the domain of its material) counts as too high. Near the solution the decrease |s|/2 drowns
 * in the rounding of W, which is known to a few eps of its terms, while gradients keep their
 * digits. There a full step is judged by the residual instead (in the spirit of the approximate
 * Wolfe condition, Hager and Zhang 2005), and that gradient is used again. */
#include "solvers/linalg/block_ops.h"
#include "solvers/newton/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double sufficient = 1e-4;  /* c */
static const double value_digits = 1e3; /* W is trusted for decreases above this many eps */
static const double noise_digits = 4;   /* rounding of W, in eps: a rise of that is none */
static const double floor_factor = 1e3; /* residuals below this many floors may be noise */
enum { MAX_BACKTRACKS = 40 };

static eb_potential_value value_at(const eb_newton *newton, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  eb_potential_value value = eb_potential_at(&newton->potential, x);
  eb_log_end(log, EB_PHASE_LINESEARCH);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, newton->work.scene->mesh->element_count);
  return value;
}

static void copy(const eb_newton *newton, double *to, const double *from) {
  memcpy(to, from, (size_t)newton->work.size * sizeof *to);
}

/* ---- the guess ---- */

static bool same(const eb_newton *newton, const double *a, const double *b) {
  return !memcmp(a, b, (size_t)newton->work.size * sizeof *a);
}

void eb_newton_guess(eb_newton *newton, const eb_state *state, double dt, eb_step_log *log) {
  eb_implicit *work = &newton->work;
  for (int64_t k = 0; k < work->size; k++)
    newton->predicted[k] = state->x[k] + (newton->statics ? 0 : dt * state->v[k]);
  newton->value = value_at(newton, state->x, log);
  newton->has_value = true;
  copy(newton, newton->x, state->x);
  if (!same(newton, newton->predicted, state->x)) {
    eb_potential_value ahead = value_at(newton, newton->predicted, log);
    if (ahead.value < newton->value.value) {
      copy(newton, newton->x, newton->predicted);
      newton->value = ahead;
    }
  }
  newton->lifting = false;
  for (int32_t i = 0; i < work->nodes; i++)
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && work->fixed[i]; k++) {
      work->prescribed[k] = work->target[k] - newton->x[k];
      newton->lifting |= work->prescribed[k] != 0;
    }
}

/* ---- moving ---- */

static void put_scripted(const eb_newton *newton, double *x) {
  const eb_implicit *work = &newton->work;
  for (int32_t i = 0; i < work->nodes; i++)
    if (work->fixed[i])
      memcpy(x + 3 * (int64_t)i, work->target + 3 * (int64_t)i, 3 * sizeof(double));
}

static void set_trial(eb_newton *newton, double length) {
  for (int64_t k = 0; k < newton->work.size; k++)
    newton->trial[k] = newton->x[k] + length * newton->work.unknown[k];
}

static void accept(eb_newton *newton) {
  double *old = newton->x;
  newton->x = newton->trial;
  newton->trial = old;
}

static void accept_value(eb_newton *newton, eb_potential_value value) {
  accept(newton);
  newton->value = value;
  newton->has_value = true;
  newton->has_gradient = false;
}

/* The first step takes the scripted nodes to their place and the others along, as the linearized
 * body would go; or leaves the others behind, should that have the lower W. */
static void lift(eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  put_scripted(newton, newton->x);
  eb_potential_value behind = value_at(newton, newton->x, log);
  set_trial(newton, 1);
  put_scripted(newton, newton->trial);
  eb_potential_value along = value_at(newton, newton->trial, log);
  newton->lifting = false;
  memset(newton->work.prescribed, 0, (size_t)newton->work.size * sizeof(double));
  if (!isfinite(along.value) && !isfinite(behind.value)) {
    *reason = EB_DIVERGED_NAN;
    return;
  }
  if (!(along.value < behind.value)) {
    copy(newton, newton->trial, newton->x);
    along = behind;
  }
  accept_value(newton, along);
}

/* ---- the search ---- */

/* A full step judged by the residual; true when taken. */
static bool judge_by_gradient(eb_newton *newton, eb_step_log *log) {
  eb_potential_residual before = newton->residual;
  set_trial(newton, 1);
  eb_implicit_gradient(&newton->work, newton->trial, log);
  eb_newton_residual(newton, newton->trial);
  if (newton->residual.norm < before.norm) {
    accept(newton);
    newton->has_value = false;
    return true;
  }
  eb_implicit_gradient(&newton->work, newton->x, log);
  eb_newton_residual(newton, newton->x);
  return false;
}

/* The minimizer of the parabola, kept within [0.1, 0.5] of the rejected length. */
static double shorten(double length, double slope, double rise) {
  double curvature = rise - slope * length;
  double minimizer = -0.5 * slope * length * length / curvature;
  if (!(curvature > 0) || !isfinite(minimizer)) return 0.5 * length;
  return fmin(fmax(minimizer, 0.1 * length), 0.5 * length);
}

/* Returns the accepted length, or 0. */
static double backtrack(eb_newton *newton, double slope, eb_step_log *log) {
  double length = 1, noise = noise_digits * DBL_EPSILON * newton->value.magnitude;
  for (int k = 0; k < MAX_BACKTRACKS; k++) {
    set_trial(newton, length);
    eb_potential_value value = value_at(newton, newton->trial, log);
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
    double rise = value.value - newton->value.value;
    if (isfinite(value.value) && rise <= sufficient * length * slope + noise) {
      accept_value(newton, value);
      return length;
    }
    length = isfinite(rise) ? shorten(length, slope, rise) : 0.1 * length;
  }
  return 0;
}

/* After a full step: the residual r that would follow if convergence went on as before. Quadratic
 * convergence r = C r_k^2 with C = r_k / r_(k-1)^2, or linear. */
static void predict_end(eb_newton *newton, double before) {
  double ratio = newton->previous_norm > 0 ? before / newton->previous_norm : 1;
  double next = before * (newton->exact ? ratio * ratio : ratio);
  newton->expects_end =
      ratio < 1 && next <= 10 * fmax(newton->rtol * newton->residual.scale, newton->atol);
}

/* An exact Hessian that gave a full step shortens the wait after the next refusal. */
static void choose_treatment(eb_newton *newton, double length) {
  if (newton->projection != EB_PROJECT_AUTO) return;
  if (newton->exact) newton->patience = newton->patience > 1 ? newton->patience / 2 : 1;
  if (newton->wait > 0) newton->wait--;
  newton->exact = length == 1 && newton->wait == 0;
}

void eb_newton_search(eb_newton *newton, eb_step_log *log, eb_reason *reason) {
  if (newton->lifting) {
    lift(newton, log, reason);
    return;
  }
  double before = newton->residual.norm, length = 1;
  double slope = -eb_dot(newton->work.size, newton->descent, newton->work.unknown);
  bool noisy = -slope <= value_digits * DBL_EPSILON * newton->value.magnitude;
  newton->expects_end = false;
  if (!noisy || !judge_by_gradient(newton, log)) {
    if (noisy && before <= floor_factor * newton->floor) {
      *reason = EB_CONVERGED_STAGNATED;
      return;
    }
    if (!newton->has_value) newton->value = value_at(newton, newton->x, log);
    length = backtrack(newton, slope, log);
  }
  if (length == 0) {
    *reason =
        before <= floor_factor * newton->floor ? EB_CONVERGED_STAGNATED : EB_DIVERGED_LINE_SEARCH;
    return;
  }
  if (length == 1 && !newton->has_gradient) predict_end(newton, before);
  newton->previous_norm = before;
  choose_treatment(newton, length);
}
