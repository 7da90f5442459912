/* A worked example of a plug-in: symplectic Euler, the simplest solver there is.
 *
 *   M (v1 - v0) / k = -g(x0) + f_ext(t0, x0, v0),   x1 = x0 + k v1,   k = dt / substeps
 *
 * Build it against the installed headers and run it:
 *
 *   cc -O2 -shared -fPIC $(pkg-config --cflags elastobench) explicit.c -o explicit.so
 *   elastobench run bench/beam:resolution=0.25 --plugin ./explicit.so -s explicit:substeps=200
 *
 * Reference: Hairer, Lubich and Wanner 2006, Section I.1.2. Needs: the gradient. Workspace: three
 * vectors of the size of the state. Fails: EB_DIVERGED_NAN when the substep is above the stability
 * limit 2 / sqrt(largest eigenvalue of inv(M) H). */
#include <elastobench/solver.h>

#include <math.h>
#include <stdlib.h>

/* What this solver keeps between steps. */
typedef struct explicit_data {
  int64_t substeps;
  double *force, *gradient, *target;
  uint8_t *fixed;
} explicit_data;

static const eb_option options[] = {
    {"substeps", EB_OPTION_INT, "100", 1, 1e6, NULL, "", "equal parts that a step is cut into"},
    {0}};

static void destroy(eb_solver *solver) {
  explicit_data *data = solver->data;
  if (!data) return;
  free(data->force);
  free(data->gradient);
  free(data->target);
  free(data->fixed);
  free(data);
  solver->data = NULL;
}

/* Everything a step needs is allocated here, so that step allocates nothing. */
static eb_error create(eb_solver *solver, const eb_scene *scene) {
  size_t nodes = (size_t)eb_scene_mesh(scene)->node_count;
  explicit_data *data = solver->data = calloc(1, sizeof *data);
  if (data) {
    data->substeps = eb_values_int(solver->options, "substeps");
    data->force = calloc(3 * nodes, sizeof(double));
    data->gradient = calloc(3 * nodes, sizeof(double));
    data->target = calloc(3 * nodes, sizeof(double));
    data->fixed = calloc(nodes, 1);
  }
  if (data && data->force && data->gradient && data->target && data->fixed) return EB_OK;
  destroy(solver);
  return EB_ERROR(EB_ERR_MEMORY, "explicit: no memory for %zu nodes", nodes);
}

/* Free nodes are pushed by the forces; scripted nodes go where the scene wants them at time t +
 * k. */
static void substep(const eb_scene *scene, explicit_data *data, eb_state *state, double t, double k,
                    eb_step_log *log) {
  const double *mass = eb_scene_mass(scene);
  eb_log_begin(log, EB_PHASE_GRADIENT);
  eb_scene_gradient(scene, state->x, data->gradient);
  eb_log_end(log, EB_PHASE_GRADIENT);
  eb_log_begin(log, EB_PHASE_RHS);
  eb_scene_force(scene, t, state->x, state->v, data->force);
  eb_scene_boundary(scene, t + k, data->fixed, data->target);
  eb_log_end(log, EB_PHASE_RHS);
  for (int32_t n = 0; n < state->node_count; n++)
    for (int i = 3 * n; i < 3 * n + 3; i++) {
      if (data->fixed[n])
        state->v[i] = (data->target[i] - state->x[i]) / k;
      else
        state->v[i] += k * (data->force[i] - data->gradient[i]) / mass[n];
      state->x[i] += k * state->v[i];
    }
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, eb_scene_mesh(scene)->element_count);
}

static bool is_finite(const eb_state *state) {
  for (int32_t i = 0; i < 3 * state->node_count; i++)
    if (!isfinite(state->x[i])) return false;
  return true;
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  explicit_data *data = solver->data;
  double k = dt / (double)data->substeps;
  for (int64_t i = 0; i < data->substeps; i++)
    substep(solver->scene, data, state, state->time + (double)i * k, k, log);
  log->iterations = data->substeps;
  log->equation = EB_EQUATION_IMPLICIT_EULER; /* what the harness holds the result against */
  log->residual_norm = EB_NORM_NO_EQUATION;
  state->time += dt;
  state->step++;
  *reason = is_finite(state) ? EB_CONVERGED_ITS : EB_DIVERGED_NAN;
  return EB_OK;
}

const int elastobench_abi = EB_PLUGIN_ABI;
const eb_solver_ops elastobench_solver = {
    .name = "explicit",
    .summary = "symplectic Euler with substeps (example of a plug-in)",
    .citation = "Hairer, Lubich and Wanner: Geometric Numerical Integration, 2006",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS,
    .update = EB_UPDATE_SUBSTEPS,
    .options = options,
    .create = create,
    .step = step,
    .destroy = destroy};
