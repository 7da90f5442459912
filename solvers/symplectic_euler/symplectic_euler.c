/* Explicit steps: symplectic Euler.
 *
 *   M (v1 - v0) / k = f_ext(t0, x0, v0) - g(x0),   x1 = x0 + k v1,   k = h / substeps
 *
 * Reference: Hairer, Lubich and Wanner 2006, Section I.1.2. Of first order in k, and without the
 * damping of implicit steps: the energy oscillates within O(k) of what it was. So it is what the
 * motion of a mesh in time is known by (harness/precision), and what implicit methods are compared
 * with where stiffness is low. With substeps = 0 every step is cut into as many parts as half of
 * the stability limit at its start asks for (stability.h), since bodies stiffen on the way.
 * Nodes that a script moves are, at the end of every part, where the script has them then.
 * Needs: mass, dE/dx; with substeps = 0 also H. Workspace: force, gradient and targets; with
 * substeps = 0 a block matrix.
 * Fails: EB_DIVERGED_NAN when a part is longer than is stable, and the state is left as it was;
 * EB_DIVERGED_MAX_IT where more parts than max_substeps were wanted. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/common/implicit.h"
#include "solvers/common/scene_force.h"
#include "solvers/registry.h"
#include "solvers/symplectic_euler/stability.h"

static const double share = 0.5; /* of the stability limit, that a part takes */

static const eb_option options[] = {
    {.name = "substeps",
     .type = EB_OPTION_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "equal parts that a step is cut into; 0: as many as are stable"},
    {.name = "max_substeps",
     .type = EB_OPTION_INT,
     .fallback = "100000",
     .min = 1,
     .max = 1e6,
     .unit = "",
     .doc = "substeps=0: give up where more would be wanted"},
    {0}};

typedef struct explicit_solver {
  const eb_scene *scene;
  int64_t parts, most; /* parts 0: by stability */
  int64_t size;        /* 3 nodes */
  double *x, *v;       /* size: of the parts so far */
  double *force, *gradient, *target;
  uint8_t *fixed;
  eb_block_matrix *matrix; /* NULL when parts are given */
} explicit_solver;

static void release(explicit_solver *s) {
  eb_block_matrix_destroy(s->matrix);
  free(s->x);
  free(s->v);
  free(s->force);
  free(s->gradient);
  free(s->target);
  free(s->fixed);
  free(s);
}

static eb_error allocate(explicit_solver *s) {
  EB_TRY(EB_NEW(s->x, s->size));
  EB_TRY(EB_NEW(s->v, s->size));
  EB_TRY(EB_NEW(s->force, s->size));
  EB_TRY(EB_NEW(s->gradient, s->size));
  EB_TRY(EB_NEW(s->target, s->size));
  EB_TRY(EB_NEW(s->fixed, s->size / 3));
  return s->parts ? EB_OK
                  : eb_block_matrix_like(eb_elasticity_pattern(s->scene->elasticity), &s->matrix);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  explicit_solver *s;
  EB_TRY(EB_NEW(s, 1));
  s->scene = scene;
  s->size = 3 * (int64_t)scene->mesh->node_count;
  s->parts = eb_values_int(solver->options, "substeps");
  s->most = eb_values_int(solver->options, "max_substeps");
  eb_error error = allocate(s);
  if (error)
    release(s);
  else
    solver->data = s;
  return error;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* Parts of the step that begins at s->x; more than s->most when it wants too many. */
static int64_t count_parts(explicit_solver *s, double t, double dt, eb_step_log *log) {
  if (s->parts) return s->parts;
  eb_log_begin(log, EB_PHASE_ESTIMATE);
  eb_scene_boundary(s->scene, t, s->fixed, s->target);
  double parts = ceil(dt / (share * eb_stable_step(s->scene, s->x, s->fixed, s->matrix)));
  eb_log_end(log, EB_PHASE_ESTIMATE);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, s->scene->mesh->element_count);
  return parts <= (double)s->most ? (int64_t)fmax(1, parts) : s->most + 1;
}

/* One part, k from t to `end`. Free nodes are pushed by the forces; held ones are where the script
 * has them at its end. */
static void advance(explicit_solver *s, double t, double k, double end, eb_step_log *log) {
  const double *mass = eb_elasticity_mass(s->scene->elasticity);
  eb_log_begin(log, EB_PHASE_GRADIENT);
  eb_elasticity_gradient(s->scene->elasticity, s->x, s->gradient);
  eb_log_end(log, EB_PHASE_GRADIENT);
  eb_log_begin(log, EB_PHASE_RHS);
  eb_logged_scene_force(s->scene, t, s->x, s->v, s->force, log);
  eb_scene_boundary(s->scene, end, s->fixed, s->target);
  eb_log_end(log, EB_PHASE_RHS);
  for (int64_t i = 0; i < s->size; i++) {
    s->v[i] = s->fixed[i / 3] ? (s->target[i] - s->x[i]) / k
                              : s->v[i] + k * (s->force[i] - s->gradient[i]) / mass[i / 3];
    s->x[i] = s->fixed[i / 3] ? s->target[i] : s->x[i] + k * s->v[i];
  }
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, s->scene->mesh->element_count);
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  explicit_solver *s = solver->data;
  size_t bytes = (size_t)s->size * sizeof *s->x;
  bool finite = true;
  log->residual_norm = EB_NORM_NO_EQUATION;
  log->equation = EB_EQUATION_IMPLICIT_EULER; /* what the result is held against */
  omp_set_num_threads(solver->threads);
  memcpy(s->x, state->x, bytes);
  memcpy(s->v, state->v, bytes);
  int64_t parts = count_parts(s, state->time, dt, log);
  *reason = EB_DIVERGED_MAX_IT;
  if (!s->parts && parts > s->most) return EB_OK;
  for (int64_t p = 0; p < parts && finite; p++) {
    double k = dt / (double)parts, t = state->time + (double)p * k;
    /* The last one ends where the step does, to the bit. */
    advance(s, t, k, p + 1 < parts ? t + k : state->time + dt, log);
    finite = eb_all_finite(s->size, s->x);
  }
  log->iterations = parts;
  *reason = finite ? EB_CONVERGED_ITS : EB_DIVERGED_NAN;
  if (!finite) return EB_OK;
  memcpy(state->x, s->x, bytes);
  memcpy(state->v, s->v, bytes);
  state->time += dt;
  state->step++;
  return EB_OK;
}

const eb_solver_ops eb_solver_symplectic_euler = {
    .name = "symplectic-euler",
    .summary = "explicit steps of symplectic Euler, cut into parts that are stable",
    .citation = "Hairer, Lubich and Wanner: Geometric Numerical Integration, 2006, Section I.1.2",
    .capabilities = EB_CAP_TRIANGLES | EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT |
                    EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED |
                    EB_CAP_COLLIDERS | EB_CAP_CUTTING,
    .update = EB_UPDATE_SUBSTEPS,
    .options = options,
    .exact = "substeps=2", /* a number that does not follow from the step's length */
    .accuracy_options = "",
    .create = create,
    .step = step,
    .destroy = destroy};
