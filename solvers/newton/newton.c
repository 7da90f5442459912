/* Newton's method on the incremental potential: implicit Euler to a tolerance, or equilibrium.
 *
 *   minimize W(x) = 1/2 |x - xt|^2_M / h^2 + E(x) + S(x) - f_ext . x   over the free nodes,
 *   A p = -grad W,  A = M/h^2 + H (made positive definite),  x <- x + a p,  v1 = (x1 - x0) / h
 *
 * Reference: Nocedal and Wright 2006, Sections 3.1 and 3.4; for the incremental potential Ortiz and
 * Stainier 1999, Gast et al. 2015; for the element-wise projection Teran et al. 2005. Converged
 * when |grad W|_2 over the free nodes <= max(rtol F, atol), F = |f_ext| + |M (x - xt) / h^2| +
 * |dE/dx| over the free nodes + the forces of the elements at scripted nodes, all 2-norms: the last
 * term keeps F a sensible scale where all forces balance. What cannot get there because x itself is
 * rounded ends as EB_CONVERGED_STAGNATED. Springs (S) are in W, grad W, A, and with a term of their
 * own in F; clusters are in E, beside the elements.
 * Needs: energy, gradient, Hessian. The gradient comes with the assembly of the matrix; a gradient
 * alone is evaluated only where the iteration is expected to end. W is evaluated once a guess and
 * once a line-search point.
 * Of a part of a scene, vectors are over the local nodes, ghosts too; what is summed or decided is
 * summed over owned nodes and elements and then over the ranks, so that all take the same branches.
 * Workspace: eb_implicit, four more vectors, the list of elements at supports.
 * Fails: EB_DIVERGED_MAX_IT and EB_DIVERGED_LINE_SEARCH leave the best iterate in the state;
 * EB_DIVERGED_NAN, EB_NOT_POSITIVE_DEFINITE and failures of the linear solver leave it as it was.
 */
#include "problems/base/memory.h"
#include "problems/ranks/subdomain.h"
#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/common/step_options.h"
#include "solvers/common/support_layer.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* linear_rtol: an inexact Newton step gains about that factor, so four digits an iteration. */
static const eb_option options[] = {
    EB_RTOL_OPTION("stop when |grad W| <= rtol (|external| + |inertial| + |elastic| forces)"),
    EB_ATOL_OPTION,
    EB_MAX_ITERATIONS_OPTION("100", "linear systems a step"),
    EB_STATIC_OPTION,
    {.name = "project",
     .type = EB_OPTION_CHOICE,
     .fallback = "auto",
     .choices = "auto|always|never",
     .unit = "",
     .doc = "elements' Hessians semi-definite: where needed, always, or shift by M instead"},
    EB_RANKS_OPTION,
    EB_LINEAR_OPTIONS(EB_LINEAR_BY_RANKS, "block-jacobi", "1e-4"),
    {0}};

typedef enum hessian_projection {
  EB_PROJECT_AUTO,
  EB_PROJECT_ALWAYS,
  EB_PROJECT_NEVER
} hessian_projection;

typedef struct newton_solver {
  eb_implicit work; /* unknown: the direction p; prescribed: its values at scripted nodes */
  eb_potential potential;
  eb_support_layer layer;
  double *x, *trial; /* iterate and line-search point, 3 nodes */
  double *predicted; /* xt */
  double *descent;   /* -grad W at x */

  /* options */
  double rtol, atol;
  int64_t max_iterations;
  bool statics;
  hessian_projection projection;

  /* the Hessian's treatment: see the direction */
  bool exact;        /* the next matrix is taken without projection; kept from step to step */
  int64_t wait;      /* iterations before the exact Hessian is tried again after a refusal */
  int64_t patience;  /* the next such wait */
  double shift;      /* multiple of shift_unit M that is added */
  double shift_unit; /* trace H / trace M, 1/s^2 */

  /* the iterate */
  bool lifting;      /* scripted nodes are not yet at their place */
  bool has_value;    /* `value` is W(x) */
  bool has_gradient; /* `descent` and `residual` belong to x */
  bool expects_end;  /* the next residual is likely below the tolerance */
  eb_potential_value value;
  eb_potential_residual residual;
  double previous_norm; /* of the iterate before, 0 when there is none */
  double floor;         /* change of grad W when x is rounded to double, N */
} newton_solver;

static const eb_ranks *ranks_of(const newton_solver *newton) {
  return eb_scene_ranks(newton->work.scene);
}

static void copy(const newton_solver *newton, double *to, const double *from) {
  memcpy(to, from, (size_t)newton->work.size * sizeof *to);
}

/* Scripted nodes alone. */
static void copy_scripted(const eb_implicit *work, double *to, const double *from) {
  for (int32_t i = 0; i < work->nodes; i++)
    if (work->fixed[i]) memcpy(to + 3 * (int64_t)i, from + 3 * (int64_t)i, 3 * sizeof *to);
}

/* ---- the direction --------------------------------------------------------------------------- */

/* The Newton direction: A p = -grad W with A = M/h^2 + H made positive definite.
 *
 * Three treatments, from the fastest to the safest:
 *  - exact: H as it is. Converges quadratically where A is positive definite, which M/h^2 makes
 *    true near most solutions. The factorization itself is the test.
 *  - projected: every element's part of H positive semi-definite (Teran et al. 2005). Always a
 *    descent direction, linear convergence where elements are indefinite at the solution.
 *  - shifted: a multiple of M added as well (Levenberg), for equilibria without supports.
 * The automatic choice takes the exact Hessian after full steps and goes on with what worked in the
 * step before. After a refusal it waits for 1, 2, 4, 8 iterations before it tries again, so that
 * few factorizations are lost where H stays indefinite. */
static const double first_shift = 1e-8, shift_growth = 100, last_shift = 1e4;
static const int64_t longest_wait = 8;

/* Matrix and dE/dx at x as the present treatment says.
 *
 * Also measures the diagonal. Rounding x_i to double changes grad W by up to A_ii eps/2 |x_i|:
 * below the norm of that, no residual can be told from zero. And trace H / trace M is
 * a mean squared frequency, weighted by mass: the unit that makes shifts independent of the scene's
 * units and scale. */
static void assemble(newton_solver *newton, eb_step_log *log) {
  const eb_block_matrix *A = newton->work.matrix;
  const double *mass = eb_elasticity_mass(newton->potential.elasticity);
  enum { SQUARE, TRACE, MASS, SUMS };
  double inertia = newton->potential.inertia + newton->shift * newton->shift_unit;
  double sum[SUMS] = {0};
  eb_implicit_assemble(&newton->work, newton->x, inertia, 1, !newton->exact, log);
  eb_springs_matrix(&newton->work.springs, 1, newton->work.matrix);
  for (int32_t i = 0; i < newton->work.own; i++) {
    const double *block = A->values + 9 * (int64_t)A->diagonal[i];
    sum[MASS] += 3 * mass[i];
    for (int k = 0; k < 3; k++) {
      double change = block[4 * k] * newton->x[3 * (int64_t)i + k];
      sum[TRACE] += block[4 * k];
      if (!newton->work.fixed[i]) sum[SQUARE] += change * change;
    }
  }
  eb_ranks_sum(ranks_of(newton), SUMS, sum);
  newton->floor = 0.5 * DBL_EPSILON * sqrt(sum[SQUARE]);
  newton->shift_unit = fmax(sum[TRACE] / sum[MASS] - inertia, DBL_MIN);
}

/* Sets descent and residual from dE/dx at x. */
static void find_residual(newton_solver *newton, const double *x) {
  newton->residual =
      eb_potential_descent(&newton->potential, x, newton->work.gradient, newton->descent);
  newton->residual.scale += eb_support_layer_force(&newton->layer, newton->work.fixed, x) +
                            eb_clusters_held_force(&newton->work.clusters, newton->work.fixed, x);
  newton->has_gradient = true;
}

/* grad W . p */
static double slope_of(const newton_solver *newton) {
  double slope = -eb_dot(3 * (int64_t)newton->work.own, newton->descent, newton->work.unknown);
  eb_ranks_sum(ranks_of(newton), 1, &slope);
  return slope;
}

/* Chooses the next safer matrix; false when there is none left. */
static bool retreat(newton_solver *newton) {
  if (newton->exact && newton->projection == EB_PROJECT_AUTO) {
    newton->exact = false;
    newton->wait = newton->patience;
    newton->patience = newton->patience < longest_wait ? 2 * newton->patience : longest_wait;
    return true;
  }
  newton->shift = newton->shift > 0 ? shift_growth * newton->shift : first_shift;
  return newton->shift <= last_shift;
}

/* One attempt with the assembled matrix. A truncated iterative solve is still a descent direction.
 */
static eb_error attempt(newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  eb_implicit *work = &newton->work;
  copy(newton, work->rhs, newton->descent);
  copy(newton, work->unknown, work->prescribed);
  EB_TRY(eb_implicit_solve(work, false, log, reason));
  if (*reason == EB_DIVERGED_MAX_IT) *reason = EB_CONVERGED_ITS;
  if (*reason < 0) return EB_OK;
  /* Scripted nodes move exactly as prescribed, whatever an iterative solve left there. */
  copy_scripted(work, work->unknown, work->prescribed);
  double slope = slope_of(newton);
  if (!isfinite(slope))
    *reason = EB_DIVERGED_NAN;
  else if (!newton->lifting && slope >= 0)
    *reason = EB_DIVERGED_BREAKDOWN;
  return EB_OK;
}

/* Solves A p = -grad W for a descent direction, assembling and factoring again with a safer matrix
 * when the present one is not positive definite. *reason is negative when none was found. */
static eb_error find_direction(newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  EB_TRY(attempt(newton, log, reason));
  while (*reason < 0 && *reason != EB_DIVERGED_LIBRARY && retreat(newton)) {
    assemble(newton, log);
    EB_TRY(attempt(newton, log, reason));
  }
  return EB_OK;
}

/* ---- the guess ------------------------------------------------------------------------------- */

static eb_potential_value value_at(const newton_solver *newton, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  eb_potential_value value = eb_potential_at(&newton->potential, x);
  eb_log_end(log, EB_PHASE_LINESEARCH);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, newton->work.scene->mesh->element_count);
  return value;
}

/* Guesses the iterate from the state at the start of the step: x0 or x0 + h v0, whichever has
 * the lower W, and sets `lifting` when scripted nodes still have to be moved.
 *
 * xt = x0 + h v0 minimizes W where there are no forces and is off by h^2 times the acceleration;
 * x0 is off by h v1, which is less where stiffness stops the motion: near equilibrium, or with
 * h^2 H >> M. Which one is nearer changes along a run, and W itself decides, at one evaluation
 * of the energy. */
static void guess(newton_solver *newton, const eb_state *state, double dt, eb_step_log *log) {
  eb_implicit *work = &newton->work;
  for (int64_t k = 0; k < work->size; k++)
    newton->predicted[k] = state->x[k] + (newton->statics ? 0 : dt * state->v[k]);
  newton->value = value_at(newton, state->x, log);
  newton->has_value = true;
  copy(newton, newton->x, state->x);
  bool moves = memcmp(newton->predicted, state->x, (size_t)work->size * sizeof *state->x) != 0;
  if (eb_ranks_any(ranks_of(newton), moves)) {
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
  newton->lifting = eb_ranks_any(ranks_of(newton), newton->lifting);
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Backtracking to sufficient decrease (Armijo): W(x + a p) <= W(x) + c a s, s = grad W . p, with a
 * from the parabola through W(x), s and the rejected value. A value that is not finite (an element
 * left the domain of its material) counts as too high. Near the solution the decrease |s|/2 drowns
 * in the rounding of W, which is known to a few eps of its terms, while gradients keep their
 * digits. There a full step is judged by the residual instead (in the spirit of the approximate
 * Wolfe condition, Hager and Zhang 2005), and that gradient is used again. */
static const double sufficient = 1e-4;  /* c */
static const double value_digits = 1e3; /* W is trusted for decreases above this many eps */
static const double noise_digits = 4;   /* rounding of W, in eps: a rise of that is none */
static const double floor_factor = 1e3; /* residuals below this many floors may be noise */
enum { MAX_BACKTRACKS = 40 };

static void set_trial(newton_solver *newton, double length) {
  for (int64_t k = 0; k < newton->work.size; k++)
    newton->trial[k] = newton->x[k] + length * newton->work.unknown[k];
}

static void accept(newton_solver *newton) {
  double *old = newton->x;
  newton->x = newton->trial;
  newton->trial = old;
}

static void accept_value(newton_solver *newton, eb_potential_value value) {
  accept(newton);
  newton->value = value;
  newton->has_value = true;
  newton->has_gradient = false;
}

/* The first step takes the scripted nodes to their place and the others along, as the linearized
 * body would go; or leaves the others behind, should that have the lower W.
 *
 * With the displacement p_s of the scripted nodes prescribed, the free ones solve A_ff p_f =
 * -grad_f W - A_fs p_s: a linear extension of the boundary's motion into the body. It is no
 * descent direction of W at fixed boundary, so that there is no Armijo test for it; what counts
 * is which of the two starts has the lower W once the boundary is in place. */
static void lift(newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  copy_scripted(&newton->work, newton->x, newton->work.target);
  eb_potential_value behind = value_at(newton, newton->x, log);
  set_trial(newton, 1);
  copy_scripted(&newton->work, newton->trial, newton->work.target);
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

/* A full step judged by the residual; true when taken.
 *
 * Full Newton steps near a minimizer x* lower |grad W| by a factor that goes with |x - x*|, and it
 * has the digits of forces, not of energies: W changes by |grad W| |p| / 2, the square of what
 * grad W changes by, so that half of the digits of x would be lost to an Armijo test on W. */
static bool judge_by_gradient(newton_solver *newton, eb_step_log *log) {
  eb_potential_residual before = newton->residual;
  set_trial(newton, 1);
  eb_implicit_gradient(&newton->work, newton->trial, log);
  find_residual(newton, newton->trial);
  if (newton->residual.norm < before.norm) {
    accept(newton);
    newton->has_value = false;
    return true;
  }
  eb_implicit_gradient(&newton->work, newton->x, log);
  find_residual(newton, newton->x);
  return false;
}

/* The minimizer of the parabola q with q(0) = 0, q'(0) = slope and q(length) = rise (Nocedal and
 * Wright 2006, Equation 3.58): q(a) = slope a + (rise - slope length) (a / length)^2, kept within
 * [0.1, 0.5] of the rejected length. */
static double shorten(double length, double slope, double rise) {
  double curvature = rise - slope * length;
  double minimizer = -0.5 * slope * length * length / curvature;
  if (!(curvature > 0) || !isfinite(minimizer)) return 0.5 * length;
  return fmin(fmax(minimizer, 0.1 * length), 0.5 * length);
}

/* Returns the accepted length, or 0. */
static double backtrack(newton_solver *newton, double slope, eb_step_log *log) {
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

/* Moves x along p. *reason stays EB_RUNNING when the step was taken. */
static void search(newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  if (newton->lifting) {
    lift(newton, log, reason);
    return;
  }
  double before = newton->residual.norm, length = 1;
  double slope = slope_of(newton);
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
  /* The residual r that would follow if convergence went on as before: quadratic, r = C r_k^2 with
   * C = r_k / r_(k-1)^2, or linear. */
  if (length == 1 && !newton->has_gradient) {
    double ratio = newton->previous_norm > 0 ? before / newton->previous_norm : 1;
    double next = before * (newton->exact ? ratio * ratio : ratio);
    newton->expects_end =
        ratio < 1 && next <= 10 * fmax(newton->rtol * newton->residual.scale, newton->atol);
  }
  newton->previous_norm = before;
  if (newton->projection != EB_PROJECT_AUTO) return;
  /* An exact Hessian that gave a full step shortens the wait after the next refusal. */
  if (newton->exact) newton->patience = newton->patience > 1 ? newton->patience / 2 : 1;
  if (newton->wait > 0) newton->wait--;
  newton->exact = length == 1 && newton->wait == 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(newton_solver *newton) {
  eb_support_layer_clear(&newton->layer);
  eb_implicit_clear(&newton->work);
  free(newton->x);
  free(newton->trial);
  free(newton->predicted);
  free(newton->descent);
  free(newton);
}

static eb_error allocate(newton_solver *newton, const eb_scene *scene) {
  const int64_t size = 3 * (int64_t)scene->mesh->node_count;
  EB_TRY(eb_support_layer_create(scene, &newton->layer));
  EB_TRY(EB_NEW(newton->x, size));
  EB_TRY(EB_NEW(newton->trial, size));
  EB_TRY(EB_NEW(newton->predicted, size));
  EB_TRY(EB_NEW(newton->descent, size));
  return EB_OK;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  newton_solver *newton = NULL;
  EB_TRY(EB_NEW(newton, 1));
  eb_error error = eb_ranks_agree(eb_scene_ranks(scene), allocate(newton, scene));
  if (!error) error = eb_implicit_create(solver, &newton->work);
  if (error) {
    release(newton);
    return error;
  }
  const eb_values *values = solver->options;
  bool asked = eb_scene_needs(solver->scene) & EB_CAP_STATICS;
  newton->rtol = eb_values_real(values, "rtol");
  newton->atol = eb_values_real(values, "atol");
  newton->max_iterations = eb_values_int(values, "max_iterations");
  newton->statics =
      eb_values_bool(values, "static") || (asked && !eb_values_given(values, "static"));
  const char *project = eb_values_text(values, "project");
  newton->projection = !strcmp(project, "always")  ? EB_PROJECT_ALWAYS
                       : !strcmp(project, "never") ? EB_PROJECT_NEVER
                                                   : EB_PROJECT_AUTO;
  newton->exact = newton->projection == EB_PROJECT_NEVER;
  newton->patience = 1;
  newton->potential = (eb_potential){.elasticity = solver->scene->elasticity,
                                     .nodes = newton->work.own,
                                     .ranks = eb_scene_ranks(scene),
                                     .elastic_scale = eb_potential_elastic_scale(scene) +
                                                      eb_clusters_scale(&newton->work.clusters),
                                     .fixed = newton->work.fixed,
                                     .force = newton->work.force,
                                     .predicted = newton->predicted,
                                     .springs = &newton->work.springs,
                                     .clusters = &newton->work.clusters};
  solver->data = newton;
  return EB_OK;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Whether the iteration ends at the present residual; logs it. The residual before the scripted
 * nodes are in place is none of W's.
 *
 * Below the floor the gradient is what rounding x to doubles makes of it: no iterate can be told
 * from the solution, and further steps would be noise. Elements much stiffer than the rest can
 * put it above rtol F. */
static bool finished(const newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  double norm = newton->residual.norm;
  if (!isfinite(norm)) *reason = EB_DIVERGED_NAN;
  if (newton->lifting) return *reason < 0;
  eb_log_residual(log, norm);
  if (*reason < 0) return true;
  if (norm <= newton->rtol * newton->residual.scale)
    *reason = EB_CONVERGED_RTOL;
  else if (norm <= newton->atol)
    *reason = EB_CONVERGED_ATOL;
  else if (norm <= newton->floor)
    *reason = EB_CONVERGED_STAGNATED;
  return *reason != EB_RUNNING;
}

/* Residual and matrix at x; the residual alone where it is likely to be the last. */
static bool evaluate(newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  if (newton->expects_end && !newton->has_gradient) {
    eb_implicit_gradient(&newton->work, newton->x, log);
    find_residual(newton, newton->x);
  }
  bool known = newton->has_gradient;
  if (known && finished(newton, log, reason)) return false;
  /* The matrix of a new iterate; without supports H alone is singular from the start. */
  assemble(newton, log);
  if (newton->statics && newton->work.scripted == 0 && newton->shift == 0) {
    newton->shift = first_shift;
    assemble(newton, log);
  }
  if (known) return true;
  find_residual(newton, newton->x);
  return !finished(newton, log, reason);
}

static eb_error iterate(newton_solver *newton, eb_step_log *log, eb_reason *reason) {
  *reason = EB_RUNNING;
  while (evaluate(newton, log, reason)) {
    if (log->iterations >= newton->max_iterations) {
      *reason = EB_DIVERGED_MAX_IT;
      return EB_OK;
    }
    log->iterations++;
    eb_reason linear = EB_RUNNING;
    EB_TRY(find_direction(newton, log, &linear));
    if (linear < 0) {
      *reason = linear;
      return EB_OK;
    }
    search(newton, log, reason);
    if (*reason != EB_RUNNING) return EB_OK;
  }
  return EB_OK;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  newton_solver *newton = solver->data;
  log->residual_norm = EB_NORM_GRADIENT;
  log->equation = newton->statics ? EB_EQUATION_STATIC : EB_EQUATION_IMPLICIT_EULER;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&newton->work, state, dt, log)) return EB_OK;
  eb_support_layer_update(&newton->layer, newton->work.fixed);
  newton->potential.inertia = newton->statics ? 0 : 1 / (dt * dt);
  newton->potential.origin = state->x;
  newton->has_gradient = newton->expects_end = false;
  newton->previous_norm = newton->shift = newton->floor = 0;
  guess(newton, state, dt, log);
  EB_TRY(iterate(newton, log, reason));
  if (*reason < 0 && *reason != EB_DIVERGED_MAX_IT && *reason != EB_DIVERGED_LINE_SEARCH)
    return EB_OK;
  for (int64_t k = 0; k < newton->work.size; k++) {
    state->v[k] = newton->statics ? 0 : (newton->x[k] - state->x[k]) / dt;
    state->x[k] = newton->x[k];
  }
  state->time += dt;
  state->step++;
  return EB_OK;
}

const eb_solver_ops eb_solver_newton = {
    .name = "newton",
    .summary = "Newton's method on the incremental potential, with line search; statics too",
    .citation = "Nocedal and Wright 2006; Ortiz and Stainier 1999; Teran et al. 2005",
    .capabilities = EB_CAP_TRIANGLES | EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT |
                    EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED |
                    EB_CAP_COLLIDERS | EB_CAP_CUTTING | EB_CAP_STATICS | EB_CAP_SPRINGS |
                    EB_CAP_CLUSTERS,
    .options = options,
    .accuracy_options = "rtol=1e-8..1e-1",
    .memory = &(const eb_memory_model){.linear = EB_LINEAR_CHOICES},
    .time = &(const eb_time_model){.iterations = 3},
    .create = create,
    .step = step,
    .destroy = destroy};
