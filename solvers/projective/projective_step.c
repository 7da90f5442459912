/* A step of the solvers with a global step, but for its iterations.
 *
 * grad W = M (x - x0 - h v0) / h^2 + dE/dx + k_s (x - p_s) + k (x - p) - f_ext over the free nodes,
 * p the nearest points on colliders of nodes that are inside. The global step takes away
 *
 *   d = -inv(A + P) grad W,
 *
 * which is what solving (A + P) x = b for positions does, b = (A + P) x - grad W, with the digits
 * of a correction.
 *
 * Where A + P bounds the Hessian of W from above as the local steps make it do, W falls with every
 * d (Bouaziz et al. 2014). The exception are nodes that enter a collider on the way, of which P
 * knows nothing: then W is looked at, and d is shortened where it has risen.
 *
 * Workspace: eb_implicit without its matrix, 6 vectors, what eb_global needs. Fails as that does;
 * EB_DIVERGED_NAN where state or forces are not finite. */
#include "solvers/projective/step.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

/* ---- life ------------------------------------------------------------------------------------ */

static eb_error allocate(eb_projective *p, const eb_solver *solver) {
  EB_TRY(eb_implicit_create(solver, &p->work));
  eb_block_matrix_destroy(p->work.matrix); /* A is a ninth of it */
  p->work.matrix = NULL;
  p->size = p->work.size;
  double **const vectors[] = {&p->x,       &p->trial,     &p->predicted,
                              &p->descent, &p->direction, &p->start};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    EB_TRY(EB_NEW(*vectors[i], p->size));
  EB_TRY(EB_NEW(p->stiffness, p->work.nodes));
  return eb_point_sweep_create(solver->scene->elasticity, &p->sweep);
}

eb_error eb_projective_create(const eb_solver *solver, double (*weight)(const eb_law *law),
                              eb_projective *out) {
  const eb_scene *scene = solver->scene;
  const eb_values *values = solver->options;
  *out = (eb_projective){.rtol = eb_values_real(values, "rtol"),
                         .atol = eb_values_real(values, "atol"),
                         .fixed_iterations = eb_values_int(values, "iterations"),
                         .max_iterations = eb_values_int(values, "max_iterations"),
                         .from_last = !strcmp(eb_values_text(values, "start"), "last"),
                         .friction = eb_values_bool(values, "friction")};
  eb_error error = allocate(out, solver);
  if (!error)
    error = eb_global_create(solver, &out->sweep, &out->work.clusters, weight, &out->global);
  if (error) {
    eb_projective_clear(out);
    return error;
  }
  out->potential = (eb_potential){.elasticity = scene->elasticity,
                                  .nodes = out->work.nodes,
                                  .elastic_scale = eb_potential_elastic_scale(scene) +
                                                   eb_clusters_scale(&out->work.clusters),
                                  .fixed = out->work.fixed,
                                  .force = out->work.force,
                                  .predicted = out->predicted};
  return EB_OK;
}

void eb_projective_clear(eb_projective *p) {
  eb_global_destroy(p->global);
  eb_point_sweep_clear(&p->sweep);
  eb_implicit_clear(&p->work);
  double *const owned[] = {p->x,         p->trial, p->predicted, p->descent,
                           p->direction, p->start, p->stiffness};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  *p = (eb_projective){0};
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void predict(eb_projective *p, const eb_state *state, double dt) {
  const double *mass = eb_elasticity_mass(p->potential.elasticity);
  for (int64_t k = 0; k < p->size; k++) {
    bool fixed = p->work.fixed[k / 3];
    p->predicted[k] = state->x[k] + dt * state->v[k];
    p->start[k] =
        fixed ? p->work.target[k] : p->predicted[k] + dt * dt * p->work.force[k] / mass[k / 3];
    p->x[k] = fixed || !p->from_last ? p->start[k] : state->x[k];
  }
}

eb_error eb_projective_begin(eb_projective *p, const eb_state *state, double dt, eb_step_log *log,
                             eb_reason *reason) {
  log->residual_norm = EB_NORM_GRADIENT;
  log->equation = EB_EQUATION_IMPLICIT_EULER;
  log->friction = EB_FRICTION_NONE;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&p->work, state, dt, log)) return EB_OK;
  p->end = state->time + dt;
  p->potential.inertia = 1 / (dt * dt);
  p->potential.origin = state->x;
  p->potential.springs = &p->work.springs;
  p->potential.clusters = &p->work.clusters;
  predict(p, state, dt);
  return eb_global_prepare(p->global, p->potential.inertia, p->work.fixed, &p->work.springs, log,
                           reason);
}

static int32_t find_touches(eb_projective *p, const double *x) {
  if (p->work.touch_room == 0) return 0;
  return eb_implicit_touches(p->work.scene, p->end, x, p->work.touch_room, p->work.touches);
}

eb_error eb_projective_end(eb_projective *p, eb_state *state, double dt, eb_step_log *log,
                           eb_reason *reason) {
  if (!eb_all_finite(p->size, p->x)) *reason = EB_DIVERGED_NAN;
  if (*reason < 0 && *reason != EB_DIVERGED_MAX_IT && *reason != EB_DIVERGED_LINE_SEARCH)
    return EB_OK;
  p->work.touch_count = find_touches(p, p->x);
  eb_log_count(log, EB_COUNT_CONSTRAINTS, p->work.touch_count);
  for (int64_t k = 0; k < p->size; k++) state->v[k] = (p->x[k] - state->x[k]) / dt;
  if (p->friction)
    eb_implicit_friction(&p->work, p->work.touches, p->work.touch_count, dt, 0, state->v, log);
  for (int64_t k = 0; k < p->size; k++) {
    bool fixed = p->work.fixed[k / 3];
    if (fixed) state->v[k] = (p->work.target[k] - state->x[k]) / dt;
    state->x[k] = fixed ? p->work.target[k] : state->x[k] + dt * state->v[k];
  }
  state->time += dt;
  state->step++;
  return EB_OK;
}

/* ---- contacts -------------------------------------------------------------------------------- */

void eb_projective_detect(eb_projective *p, const double *y, eb_step_log *log) {
  if (p->work.touch_room == 0) return;
  eb_log_begin(log, EB_PHASE_DETECT);
  p->work.touch_count = find_touches(p, y);
  p->found_at = y;
  memset(p->stiffness, 0, (size_t)p->work.nodes * sizeof *p->stiffness);
  for (int32_t t = 0; t < p->work.touch_count; t++)
    p->stiffness[p->work.touches[t].node] += p->work.touches[t].stiffness;
  eb_log_end(log, EB_PHASE_DETECT);
}

bool eb_projective_enters(eb_projective *p, const double *x) {
  int32_t count = find_touches(p, x);
  for (int32_t t = 0; t < count; t++)
    if (p->stiffness[p->work.touches[t].node] == 0) return true;
  return false;
}

/* The push of contacts on the free nodes of x: -k (x - p), p = y + depth n for nodes at y. Returns
 * the sum of their squares. */
static double add_pushes(const eb_projective *p, const double *x, double *descent) {
  double sum = 0;
  for (const eb_touch *at = p->work.touches; at < p->work.touches + p->work.touch_count; at++) {
    const size_t i = 3 * (size_t)at->node;
    if (p->work.fixed[at->node]) continue;
    for (size_t d = 0; d < 3; d++) {
      double off = x[i + d] - p->found_at[i + d] - at->depth * at->normal[d];
      descent[i + d] -= at->stiffness * off;
      sum += at->stiffness * at->stiffness * off * off;
    }
  }
  return sum;
}

/* ---- residual and potential ------------------------------------------------------------------ */

void eb_projective_complete(eb_projective *p, const double *x) {
  p->residual = eb_potential_descent(&p->potential, x, p->work.gradient, p->descent);
  if (p->work.touch_room > 0 && p->work.touch_count > 0)
    p->residual.scale += sqrt(add_pushes(p, x, p->descent));
  double residual = 0, rounding = 0;
  for (int32_t i = 0; i < p->work.nodes; i++) {
    double entry = eb_global_diagonal(p->global, i);
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && !p->work.fixed[i]; k++) {
      residual += p->descent[k] * p->descent[k];
      rounding += entry * entry * x[k] * x[k];
    }
  }
  p->residual.norm = sqrt(residual);
  p->floor = 0.5 * DBL_EPSILON * sqrt(rounding);
}

eb_potential_value eb_projective_value(eb_projective *p, const double *x, double elastic) {
  eb_potential_value value = eb_potential_with(&p->potential, x, elastic);
  int32_t count = find_touches(p, x);
  for (int32_t t = 0; t < count; t++) {
    if (p->work.fixed[p->work.touches[t].node]) continue;
    double energy = eb_touches_energy(&p->work.touches[t], 1);
    value.value += energy;
    value.magnitude += energy;
  }
  return value;
}

/* A guess is not taken for a step: in free fall it is exact, and the first iteration says so. */
bool eb_projective_finished(const eb_projective *p, eb_step_log *log, eb_reason *reason) {
  double norm = p->residual.norm;
  eb_log_residual(log, norm);
  *reason = EB_RUNNING;
  if (!isfinite(norm))
    *reason = EB_DIVERGED_NAN;
  else if (log->iterations == 0 || p->fixed_iterations > 0)
    return false;
  else if (norm <= p->rtol * p->residual.scale)
    *reason = EB_CONVERGED_RTOL;
  else if (norm <= p->atol)
    *reason = EB_CONVERGED_ATOL;
  else if (norm <= p->floor)
    *reason = EB_CONVERGED_STAGNATED;
  else if (log->iterations >= p->max_iterations)
    *reason = EB_DIVERGED_MAX_IT;
  return *reason != EB_RUNNING;
}

/* ---- global step and search ------------------------------------------------------------------ */

/* Conjugate gradients on the way to a tolerance gain a digit an iteration at least: linear_rtol
 * would stop them, and the iteration, at that share of the right-hand side. */
eb_error eb_projective_solve(eb_projective *p, const double *r, eb_step_log *log,
                             eb_reason *reason) {
  double ceiling = p->fixed_iterations > 0 ? INFINITY : 0.1 * p->residual.norm;
  *reason = EB_CONVERGED_DIRECT;
  if (p->work.touch_room > 0) EB_TRY(eb_global_set_contacts(p->global, p->stiffness, log, reason));
  if (*reason < 0) return EB_OK;
  return eb_global_solve(p->global, r, p->x, ceiling, p->direction, log, reason);
}

static const double sufficient = 1e-4;  /* decrease, of what the slope promises */
static const double value_digits = 1e3; /* W is trusted for decreases above this many eps */
static const double noise_digits = 4;   /* rounding of W, in eps */
enum { MAX_HALVINGS = 40 };

void eb_projective_accept(eb_projective *p) {
  double *old = p->x;
  p->x = p->trial;
  p->trial = old;
}

/* Where W's digits do not show the decrease that the slope promises, the full step is taken. */
bool eb_projective_search(eb_projective *p, eb_potential_value *at, eb_projective_values *value,
                          void *context, eb_step_log *log) {
  const eb_potential_value before = *at;
  double slope = -eb_dot(p->size, p->descent, p->direction), length = 1;
  double noise = noise_digits * DBL_EPSILON * before.magnitude;
  bool noisy = fabs(slope) <= value_digits * DBL_EPSILON * before.magnitude;
  if (slope > 0 && !noisy) return false;
  for (int k = 0; k < MAX_HALVINGS; k++, length *= 0.5) {
    for (int64_t i = 0; i < p->size; i++) p->trial[i] = p->x[i] + length * p->direction[i];
    *at = value(context, p->trial, log);
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
    if (!isfinite(at->value)) continue;
    if (!noisy && !(at->value - before.value <= sufficient * length * slope + noise)) continue;
    eb_projective_accept(p);
    return true;
  }
  return false;
}
