/* Quasi-Newton with the matrix of projective dynamics as the first Hessian.
 *
 *   d = -H grad W,   H from inv(A + P) by the last m pairs s = x' - x, y = grad W' - grad W
 *
 * Reference: Liu, Bouaziz and Kavan 2017, "Quasi-Newton methods for real-time simulation of
 * hyperelastic materials" (m = 5, backtracking); Nocedal and Wright 2006, Algorithm 7.4, for H d in
 * two loops. Projective dynamics is this with m = 0 and steps of length 1; with pairs and a line
 * search any isotropic law will do. A has the weight of compression waves, 2 mu + lambda of Lame:
 * the largest eigenvalue of the law's tangent at rest.
 *
 * Pairs without positive curvature, s.y <= 0, are not kept (W need not be convex); what is left is
 * positive definite, so that d lowers W. A direction along which W does not fall is taken again
 * without pairs, and a second time that ends the step.
 *
 * Needs energy and gradient. Workspace: eb_projective and 2 m + 1 vectors. Fails:
 * EB_DIVERGED_MAX_IT and EB_DIVERGED_LINE_SEARCH leave the best iterate in the state, others leave
 * it as it was. */
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/projective/step.h"
#include "solvers/registry.h"

#include <math.h>
#include <string.h>

enum { LARGEST_WINDOW = 50 };
static const double noisy_floors = 1e3; /* residuals below this many floors may be noise */

static const eb_option options[] = {
    EB_PROJECTIVE_OPTIONS,
    {.name = "window",
     .type = EB_OPTION_INT,
     .fallback = "5",
     .min = 0,
     .max = LARGEST_WINDOW,
     .unit = "",
     .doc = "pairs of steps and changes of the gradient that are kept"},
    EB_GLOBAL_OPTIONS,
    {0}};

typedef struct lbfgs_solver {
  eb_projective p;
  int window;
  eb_potential_value value; /* W at x */
  int64_t pairs;            /* since the start of the step, or since they were forgotten */
  double *s, *y, *rho;      /* window x size; 1 / s.y */
  double *before;           /* descent at the iterate before, size */
} lbfgs_solver;

/* Weight of the global matrix: 2 mu + lambda of Lame's. Laws whose coefficients are others keep
 * their sum near it. */
static double weight(const eb_law *law) {
  return 2 * law->mu + law->lambda;
}

static eb_potential_value value_at(void *context, const double *x, eb_step_log *log) {
  eb_projective *p = &((lbfgs_solver *)context)->p;
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  eb_potential_value value = eb_projective_value(p, x, eb_potential_elastic(&p->potential, x));
  eb_log_end(log, EB_PHASE_LINESEARCH);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, p->work.scene->mesh->element_count);
  return value;
}

/* ---- the direction --------------------------------------------------------------------------- */

static void add(int64_t n, double a, const double *x, double *y) {
  for (int64_t k = 0; k < n; k++) y[k] += a * x[k];
}

/* The kept pairs, newest first: k = 0, 1, .. */
static int slot(const lbfgs_solver *l, int64_t k) {
  return (int)((l->pairs - 1 - k) % l->window);
}

/* direction = H descent; `descent` is used as the first loop's vector and restored. */
static eb_error find_direction(lbfgs_solver *l, eb_step_log *log, eb_reason *reason) {
  eb_projective *p = &l->p;
  const int64_t n = p->size, count = l->pairs < l->window ? l->pairs : l->window;
  double alpha[LARGEST_WINDOW];
  memcpy(l->before, p->descent, (size_t)n * sizeof *l->before);
  for (int64_t k = 0; k < count; k++) {
    int at = slot(l, k);
    alpha[k] = l->rho[at] * eb_dot(n, l->s + at * n, p->descent);
    add(n, -alpha[k], l->y + at * n, p->descent);
  }
  EB_TRY(eb_projective_solve(p, p->descent, log, reason));
  for (int64_t k = count - 1; k >= 0; k--) {
    int at = slot(l, k);
    double beta = l->rho[at] * eb_dot(n, l->y + at * n, p->direction);
    add(n, alpha[k] - beta, l->s + at * n, p->direction);
  }
  memcpy(p->descent, l->before, (size_t)n * sizeof *l->before);
  return EB_OK;
}

/* Keeps the pair from the last iterate (`trial`, descent there in `before`) to x. */
static void remember(lbfgs_solver *l) {
  const eb_projective *p = &l->p;
  if (l->window == 0) return;
  int at = (int)(l->pairs % l->window);
  double *s = l->s + at * p->size, *y = l->y + at * p->size;
  for (int64_t k = 0; k < p->size; k++) {
    s[k] = p->x[k] - p->trial[k];
    y[k] = l->before[k] - p->descent[k];
  }
  double curvature = eb_dot(p->size, s, y);
  if (!(curvature > 0)) return;
  l->rho[at] = 1 / curvature;
  l->pairs++;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* -grad W at x, with the contacts there. */
static void evaluate(lbfgs_solver *l, eb_step_log *log) {
  eb_projective *p = &l->p;
  eb_projective_detect(p, p->x, log);
  eb_implicit_gradient(&p->work, p->x, log);
  eb_projective_complete(p, p->x);
}

/* x along the direction; without pairs where they lead nowhere. *reason stays EB_RUNNING when x has
 * moved. */
static eb_error move(lbfgs_solver *l, eb_step_log *log, eb_reason *reason) {
  eb_projective *p = &l->p;
  for (bool again = l->pairs > 0;; again = false) {
    eb_reason linear;
    EB_TRY(find_direction(l, log, &linear));
    if (linear < 0) *reason = linear;
    if (linear < 0) return EB_OK;
    eb_potential_value at = l->value;
    if (eb_projective_search(p, &at, value_at, l, log)) {
      l->value = at;
      return EB_OK;
    }
    l->pairs = 0;
    if (!again) break;
  }
  *reason = p->residual.norm <= noisy_floors * p->floor ? EB_CONVERGED_STAGNATED
                                                        : EB_DIVERGED_LINE_SEARCH;
  return EB_OK;
}

static eb_error iterate(lbfgs_solver *l, eb_step_log *log, eb_reason *reason) {
  eb_projective *p = &l->p;
  l->pairs = 0;
  l->value = value_at(l, p->x, log);
  evaluate(l, log);
  while (!eb_projective_finished(p, log, reason)) {
    EB_TRY(move(l, log, reason));
    if (*reason != EB_RUNNING) return EB_OK;
    log->iterations++;
    if (log->iterations == p->fixed_iterations) {
      *reason = EB_CONVERGED_ITS;
      return EB_OK;
    }
    evaluate(l, log);
    remember(l);
  }
  return EB_OK;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  lbfgs_solver *l = solver->data;
  EB_TRY(eb_projective_begin(&l->p, state, dt, log, reason));
  if (*reason < 0) return EB_OK;
  EB_TRY(iterate(l, log, reason));
  return eb_projective_end(&l->p, state, dt, log, reason);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(lbfgs_solver *l) {
  eb_projective_clear(&l->p);
  free(l->s);
  free(l->y);
  free(l->rho);
  free(l->before);
  free(l);
}

static eb_error prepare(lbfgs_solver *l, const eb_solver *solver) {
  l->window = (int)eb_values_int(solver->options, "window");
  EB_TRY(eb_projective_create(solver, weight, &l->p));
  EB_TRY(EB_NEW(l->s, l->window * l->p.size));
  EB_TRY(EB_NEW(l->y, l->window * l->p.size));
  EB_TRY(EB_NEW(l->rho, l->window));
  return EB_NEW(l->before, l->p.size);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  lbfgs_solver *l = NULL;
  (void)scene;
  EB_TRY(EB_NEW(l, 1));
  eb_error error = prepare(l, solver);
  if (error)
    release(l);
  else
    solver->data = l;
  return error;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

const eb_solver_ops eb_solver_lbfgs = {
    .name = "lbfgs",
    .summary = "quasi-Newton from the matrix of projective dynamics",
    .citation = "Liu, Bouaziz and Kavan 2017",
    .capabilities = EB_PROJECTIVE_CAPABILITIES | EB_CAP_HYPERELASTIC | EB_CAP_CLUSTERS,
    .options = options,
    .accuracy_options = "iterations=1..100",
    .memory =
        &(const eb_memory_model){.fixed = 2.6e6, .node = 300, .factor = 0.126, .margin = 0.15},
    .create = create,
    .step = step,
    .destroy = destroy};
