/* Subspace solvers: implicit Euler, or equilibrium, in the span of skinning eigenmodes, with
 * elastic forces from cubature points.
 *
 *   min over u  1/2 |u - ut|^2 / h^2 - f . u + sum_c w_c psi(F_c(u)) + S(u),
 *   x = X + B u,   B^T M B = I,
 *   f = B^T f_ext(t0, x0, v0),   ut = u0 + h u0',   u1' = (u1 - u0) / h
 *
 * fem-subspace takes it by Newton's method with the points' Hessians made positive semi-definite;
 * mfem-subspace gives every point a stretch of its own and goes by sequential quadratic
 * programming,
 *
 *   (1/h^2 + K) p = (ut - u) / h^2 + f - q,
 *   K = sum w J^T H J,   q = sum w J^T (dpsi + H (Sbar - S))
 *
 * Reference: trusty2023, Sections 4 and 5 (Equations 4 to 8; K and q in the notation of
 * problems/elasticity/mixed.h). Both start a step from the last positions and search along their
 * direction by halving, up to 20 times, with a sufficient decrease of 1e-4 of the slope: in the
 * Lagrangian at the new multipliers, and in the energy. The paper says of the start nothing, and of
 * a line search nothing for FEM; from x0 + h v0 FEM has none of the damping that the paper is
 * about.
 *
 * Nothing of the mesh's size is touched inside an iteration. Before and after them the full state
 * is compared with the one that the last step has left (and only if it differs taken down to u),
 * and made from u: phase PROJECT. The weight and the loads of a scene without colliders are
 * restricted once, so that a step takes from its script no more than their magnitudes.
 *
 * Springs (S) are terms of the energy: their nodes keep their weights, and their force and Hessian
 * join those of the inertia (springs.h).
 *
 * The subspace, its options and what is kept of it between runs: precompute.h.
 *
 * Needs: tetrahedra of materials of the stretch alone; nodes that are held still. These have
 * weights of zero, so that the subspace holds them. Workspace: Phi (nodes x 4 modes), K and its
 * factor (12 modes squared), its rows (12 modes x 6 or 9 a point), two copies of the state. Fails
 * as newton. */
#include "problems/base/memory.h"
#include "problems/scene_impl.h"
#include "solvers/common/scene_force.h"
#include "solvers/common/step_options.h"
#include "solvers/linalg/dense.h"
#include "solvers/registry.h"
#include "solvers/subspace/points.h"
#include "solvers/subspace/precompute.h"
#include "problems/subspace_record.h"
#include "solvers/subspace/springs.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const double sufficient = 1e-4, value_digits = 1e3, noise_digits = 4;
enum { MAX_HALVINGS = 20 };

static const eb_option options[] = {
    EB_PRECOMPUTE_OPTIONS,
    EB_RTOL_OPTION("stop when the reduced residual <= rtol of the sum of its terms' norms"),
    EB_MIXED_OPTIONS("backtracking on the Lagrangian, on the energy in FEM"),
    {0}};

typedef struct subspace {
  eb_basis basis;
  eb_cubature cubature;
  double *weights; /* modes x nodes: skinning weights, for the record alone */
  int32_t modes;
  eb_points *points;
  eb_reduced_springs springs;
  eb_subspace_record record;
  const eb_scene *scene;
  int threads;
  int32_t size;                  /* coefficients */
  bool mixed, known_forces;      /* f_ext is the weight and the scene's loads */
  double *u, *trial, *predicted; /* size */
  double *start, *rate;          /* size: u0, u0' */
  double *f, *q, *g;             /* size: forces of f_ext, of the mixed form, of FEM */
  double *pull;                  /* size: force of the springs at u */
  double *weight;                /* size: B^T M g */
  double *load[EB_MAX_LOADS];    /* size each: B^T of the scene's loads */
  double *p;                     /* size: right-hand side, then direction */
  double *stiffness, *floors;    /* size x size, size */
  double *x, *v;                 /* 3 nodes: the state that the last step has left */
  double *force;                 /* 3 nodes: f_ext */
  bool has_left;                 /* x and v hold such a state */

  double rtol;
  int64_t iterations, max_iterations;
  bool inertial_start, searches, statics;

  double inertia;     /* 1 / h^2 */
  double norm, scale; /* of the reduced residual, and of its terms */
  double last_norm;   /* before a step that only the residual can judge, or 0 */
  double damping;     /* length of such steps */
  double floor;       /* change of the residual when u is rounded */
} subspace;

/* ---- life ---- */

static eb_error precompute(subspace *s, const eb_solver *solver) {
  const eb_scene *scene = solver->scene;
  uint8_t *pinned;
  EB_TRY(EB_NEW(pinned, scene->mesh->node_count));
  eb_scene_boundary(scene, 0, pinned, s->x);
  eb_log_begin(solver->setup_log, EB_PHASE_ANALYZE);
  eb_skinning skinning;
  eb_error error = eb_precompute(solver, pinned, &skinning, &s->basis, &s->cubature);
  if (!error)
    error = eb_points_create(scene->mesh, scene->materials, &s->basis, &s->cubature, s->mixed,
                             &s->points);
  eb_log_end(solver->setup_log, EB_PHASE_ANALYZE);
  if (skinning.axes == 1) { /* others are displacements */
    s->weights = skinning.weight;
    s->modes = skinning.modes;
    skinning.weight = NULL;
  }
  eb_skinning_clear(&skinning);
  free(pinned);
  return error;
}

static void release(subspace *s) {
  eb_basis_clear(&s->basis);
  eb_cubature_clear(&s->cubature);
  eb_points_destroy(s->points);
  eb_reduced_springs_clear(&s->springs);
  free(s->weights);
  void *const owned[] = {s->u, s->trial, s->predicted, s->start,     s->rate,   s->f,
                         s->q, s->g,     s->p,         s->stiffness, s->floors, s->x,
                         s->v, s->force, s->pull,      s->weight};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  for (int k = 0; k < EB_MAX_LOADS; k++) free(s->load[k]);
  free(s);
}

static eb_error allocate(subspace *s, const eb_solver *solver) {
  size_t full = 3 * (size_t)solver->scene->mesh->node_count;
  EB_TRY(EB_NEW(s->x, full));
  EB_TRY(EB_NEW(s->v, full));
  EB_TRY(EB_NEW(s->force, full));
  EB_TRY(precompute(s, solver));
  EB_TRY(eb_reduced_springs_create(s->scene, &s->basis, &s->springs));
  s->size = eb_basis_coefficients(&s->basis);
  size_t n = (size_t)s->size;
  double **const vectors[] = {&s->u, &s->trial, &s->predicted, &s->start,  &s->rate, &s->f,
                              &s->q, &s->g,     &s->p,         &s->floors, &s->pull, &s->weight};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) EB_TRY(EB_NEW(*vectors[i], n));
  return EB_NEW(s->stiffness, n * n);
}

/* Restricts the weight and the loads, if they are all of f_ext. */
static eb_error restrict_forces(subspace *s) {
  const eb_scene *scene = s->scene;
  const double *mass = eb_elasticity_mass(scene->elasticity);
  s->known_forces = !scene->contacts.penalty && scene->contacts.collider_count == 0;
  if (!s->known_forces) return EB_OK;
  for (int64_t i = 0; i < s->basis.nodes; i++)
    for (int d = 0; d < 3; d++) s->force[3 * i + d] = mass[i] * scene->gravity[d];
  eb_basis_restrict_force(&s->basis, s->force, s->weight);
  for (int32_t k = 0; k < scene->script.load_count; k++) {
    EB_TRY(EB_NEW(s->load[k], s->size));
    eb_basis_restrict_force(&s->basis, scene->script.load[k], s->load[k]);
  }
  return EB_OK;
}

/* f := B^T f_ext at the start of the step. */
static void apply_forces(subspace *s, const eb_state *state, eb_step_log *log) {
  double magnitude[EB_MAX_LOADS];
  if (!s->known_forces) {
    eb_logged_scene_force(s->scene, state->time, state->x, state->v, s->force, log);
    eb_basis_restrict_force(&s->basis, s->force, s->f);
    return;
  }
  memcpy(s->f, s->weight, (size_t)s->size * sizeof *s->f);
  eb_scene_load_magnitudes(s->scene, state->time, magnitude);
  for (int32_t l = 0; l < s->scene->script.load_count; l++)
    for (int32_t k = 0; k < s->size; k++) s->f[k] += magnitude[l] * s->load[l][k];
}

static eb_error create(eb_solver *solver, bool mixed) {
  const eb_values *values = solver->options;
  const eb_scene *scene = solver->scene;
  subspace *s = NULL;
  EB_TRY(EB_NEW(s, 1));
  s->mixed = mixed;
  s->scene = scene;
  s->threads = solver->threads;
  omp_set_num_threads(s->threads);
  eb_error error = allocate(s, solver);
  if (!error) error = restrict_forces(s);
  if (error) {
    release(s);
    return error;
  }
  bool asked = eb_scene_needs(scene) & EB_CAP_STATICS;
  s->rtol = eb_values_real(values, "rtol");
  s->iterations = eb_values_int(values, "iterations");
  s->max_iterations = eb_values_int(values, "max_iterations");
  s->inertial_start = !strcmp(eb_values_text(values, "start"), "inertial");
  s->searches = eb_values_bool(values, "line_search");
  s->statics = eb_values_bool(values, "static") || (asked && !eb_values_given(values, "static"));
  s->record = (eb_subspace_record){.nodes = s->basis.nodes,
                                   .axes = s->basis.axes,
                                   .size = s->basis.size,
                                   .stride = s->basis.stride,
                                   .phi = s->basis.phi,
                                   .count = s->cubature.count,
                                   .element = s->cubature.element,
                                   .weight = s->cubature.weight,
                                   .weights = s->modes,
                                   .weight_of = s->weights};
  solver->data = s;
  return EB_OK;
}

static eb_error create_mixed(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  return create(solver, true);
}

static eb_error create_fem(eb_solver *solver, const eb_scene *scene) {
  (void)scene;
  return create(solver, false);
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- between the mesh and the subspace ---- */

/* u0, u0' and the stretches at the start, where the state is not the one that the last step has
 * left. False: it is not finite. */
static bool enter(subspace *s, const eb_state *state) {
  size_t count = 3 * (size_t)s->basis.nodes, bytes = count * sizeof *s->x;
  if (s->has_left && !memcmp(state->x, s->x, bytes) && !memcmp(state->v, s->v, bytes)) return true;
  for (size_t k = 0; k < count; k++)
    if (!isfinite(state->x[k]) || !isfinite(state->v[k])) return false;
  eb_basis_restrict(&s->basis, state->x, true, s->u);
  eb_basis_restrict(&s->basis, state->v, false, s->rate);
  eb_points_project(s->points, s->u);
  return true;
}

/* f, the springs at the end, and where the iterations start from. */
static void begin(subspace *s, const eb_state *state, double dt, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_RHS);
  apply_forces(s, state, log);
  eb_reduced_springs_set(&s->springs, s->scene, state->time + dt);
  eb_log_end(log, EB_PHASE_RHS);
  s->inertia = s->statics ? 0 : 1 / (dt * dt);
  s->last_norm = s->floor = 0;
  s->damping = 1;
  for (int32_t k = 0; k < s->size; k++) {
    s->start[k] = s->u[k];
    s->predicted[k] = s->u[k] + (s->statics ? 0 : dt * s->rate[k]);
    if (s->inertial_start) s->u[k] = s->predicted[k];
  }
  if (s->inertial_start) eb_points_project(s->points, s->u);
}

static void leave(subspace *s, eb_state *state, double dt, eb_step_log *log) {
  size_t count = 3 * (size_t)s->basis.nodes;
  eb_log_begin(log, EB_PHASE_PROJECT);
  for (int32_t k = 0; k < s->size; k++) s->rate[k] = s->statics ? 0 : (s->u[k] - s->start[k]) / dt;
  eb_basis_prolong(&s->basis, s->u, true, s->x);
  for (size_t k = 0; k < count; k++) {
    state->v[k] = s->v[k] = s->statics ? 0 : (s->x[k] - state->x[k]) / dt;
    state->x[k] = s->x[k];
  }
  s->has_left = true;
  eb_log_end(log, EB_PHASE_PROJECT);
}

/* ---- an iteration ---- */

static double length_of(const subspace *s, const double *a) {
  double sum = 0;
  for (int32_t k = 0; k < s->size; k++) sum += a[k] * a[k];
  return sqrt(sum);
}

/* Stresses at u, the right-hand side in p, and FEM's reduced residual. */
static void linearize(subspace *s, eb_step_log *log) {
  double residual = 0, inertial = 0;
  eb_log_begin(log, EB_PHASE_GRADIENT);
  eb_points_linearize(s->points, s->u, s->q, s->g);
  eb_reduced_springs_force(&s->springs, s->u, s->pull);
  for (int32_t k = 0; k < s->size; k++) {
    double inert = s->inertia * (s->predicted[k] - s->u[k]);
    double load = inert + s->f[k] + s->pull[k], left = load - s->g[k];
    inertial += inert * inert;
    residual += left * left;
    s->p[k] = load - s->q[k];
  }
  s->norm = sqrt(residual);
  s->scale = sqrt(inertial) + length_of(s, s->f) + length_of(s, s->g) + length_of(s, s->pull);
  eb_log_end(log, EB_PHASE_GRADIENT);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, s->cubature.count);
}

/* p := (1/h^2 + K)^-1 p. A pivot of nothing but rounding (a motion without inertia, in statics,
 * that no point resists) refuses the factor. */
static eb_reason solve(subspace *s, eb_step_log *log) {
  int64_t n = s->size;
  double square = 0;
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_points_stiffness(s->points, s->stiffness);
  eb_reduced_springs_stiffness(&s->springs, s->stiffness);
  for (int64_t k = 0; k < n; k++) {
    double *diagonal = s->stiffness + k * (n + 1);
    *diagonal += s->inertia;
    s->floors[k] = 64 * DBL_EPSILON * *diagonal;
    square += *diagonal * s->u[k] * *diagonal * s->u[k];
  }
  s->floor = 0.5 * DBL_EPSILON * sqrt(square) + eb_points_unknown(s->points);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_count(log, EB_COUNT_FLOPS, eb_points_stiffness_flops(s->points));
  eb_log_begin(log, EB_PHASE_FACTOR);
  int64_t failed = eb_potrf_d(n, s->stiffness, n, s->floors);
  eb_log_end(log, EB_PHASE_FACTOR);
  eb_log_count(log, EB_COUNT_FACTORIZATIONS, 1);
  if (failed >= 0) return EB_NOT_POSITIVE_DEFINITE;
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_forward_d(n, 0, s->stiffness, n, 1, s->p, 1, NULL, 1);
  eb_backward_d(n, 0, s->stiffness, n, 1, s->p, 1, NULL, 1);
  eb_log_end(log, EB_PHASE_SOLVE);
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  return EB_RUNNING;
}

/* With the quadratic parts of the energy at u. */
static eb_mixed_energy with_inertia(const subspace *s, const double *u, eb_mixed_energy elastic) {
  double springs = eb_reduced_springs_energy(&s->springs, u);
  elastic.value += springs;
  elastic.magnitude += springs;
  for (int32_t k = 0; k < s->size; k++) {
    double off = u[k] - s->predicted[k], kinetic = 0.5 * s->inertia * off * off;
    double work = s->f[k] * (u[k] - s->start[k]);
    elastic.value += kinetic - work;
    elastic.magnitude += kinetic + fabs(work);
  }
  return elastic;
}

/* Moves along p. `descent` is -grad W . p in FEM. */
static void move(subspace *s, double descent, eb_step_log *log, eb_reason *reason) {
  eb_mixed_energy before;
  double a = 1, slope = -descent;
  eb_log_begin(log, EB_PHASE_LOCAL);
  if (s->mixed) {
    slope = -eb_points_expand(s->points, s->p, &before);
    for (int32_t k = 0; k < s->size; k++) slope -= s->inertia * s->p[k] * s->p[k];
    slope -= eb_reduced_springs_curvature(&s->springs, s->p);
  } else {
    before = eb_points_energy(s->points, s->u, 0);
  }
  eb_log_end(log, EB_PHASE_LOCAL);
  if (!isfinite(slope)) {
    *reason = EB_DIVERGED_NAN;
    return;
  }
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  before = with_inertia(s, s->u, before);
  double eps = DBL_EPSILON * (before.magnitude + eb_points_scale(s->points));
  bool searches = s->searches && -slope > value_digits * eps;
  if (!searches && s->searches) a = s->damping;
  for (int k = 0;; k++, a *= 0.5) {
    for (int32_t i = 0; i < s->size; i++) s->trial[i] = s->u[i] + a * s->p[i];
    if (!searches) break;
    eb_mixed_energy after = with_inertia(s, s->trial, eb_points_energy(s->points, s->trial, a));
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
    if (after.value - before.value <= sufficient * a * slope + noise_digits * eps) break;
    if (k == MAX_HALVINGS) {
      *reason = EB_DIVERGED_LINE_SEARCH;
      break;
    }
  }
  eb_log_end(log, EB_PHASE_LINESEARCH);
  if (*reason != EB_RUNNING) return;
  double *old = s->u;
  s->u = s->trial;
  s->trial = old;
  s->last_norm = searches ? 0 : s->norm;
  eb_points_accept(s->points, a);
}

static const double SHORTEST = 1. / 16;

/* Whether the step ends with the residual of the present u, which is logged. */
static bool finished(subspace *s, eb_step_log *log, eb_reason *reason) {
  bool rising = s->last_norm > 0 && s->norm >= s->last_norm;
  if (rising && s->damping > SHORTEST) s->damping *= 0.5;
  eb_log_residual(log, s->norm);
  if (!isfinite(s->norm))
    *reason = EB_DIVERGED_NAN;
  else if (s->iterations > 0)
    *reason = EB_RUNNING;
  else if (s->norm <= s->rtol * s->scale)
    *reason = EB_CONVERGED_RTOL;
  else if (s->norm <= s->floor ||
           (rising && s->damping <= SHORTEST && s->norm <= value_digits * s->floor))
    *reason = EB_CONVERGED_STAGNATED;
  else if (log->iterations >= s->max_iterations)
    *reason = EB_DIVERGED_MAX_IT;
  return *reason != EB_RUNNING;
}

static void iterate(subspace *s, eb_step_log *log, eb_reason *reason) {
  for (*reason = EB_RUNNING; *reason == EB_RUNNING;) {
    if (s->iterations > 0 && log->iterations >= s->iterations) {
      *reason = isfinite(length_of(s, s->u)) ? EB_CONVERGED_ITS : EB_DIVERGED_NAN;
      break;
    }
    linearize(s, log);
    if (finished(s, log, reason)) break;
    log->iterations++;
    memcpy(s->trial, s->p, (size_t)s->size * sizeof *s->p);
    *reason = solve(s, log);
    if (*reason != EB_RUNNING) break;
    double descent = 0;
    for (int32_t k = 0; k < s->size; k++) descent += s->trial[k] * s->p[k];
    move(s, descent, log, reason);
  }
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  subspace *s = solver->data;
  omp_set_num_threads(s->threads);
  log->residual_norm = EB_NORM_REDUCED_GRADIENT;
  log->equation = s->statics ? EB_EQUATION_STATIC : EB_EQUATION_IMPLICIT_EULER;
  log->subspace = &s->record;
  *reason = EB_DIVERGED_NAN;
  eb_log_begin(log, EB_PHASE_PROJECT);
  bool finite = enter(s, state);
  eb_log_end(log, EB_PHASE_PROJECT);
  if (!finite) return EB_OK;
  begin(s, state, dt, log);
  iterate(s, log, reason);
  if (*reason < 0 && *reason != EB_DIVERGED_MAX_IT && *reason != EB_DIVERGED_LINE_SEARCH) {
    s->has_left = false;
    return EB_OK;
  }
  leave(s, state, dt, log);
  eb_log_count(log, EB_COUNT_REDUCED_UNKNOWNS, s->size);
  state->time += dt;
  state->step++;
  return EB_OK;
}

#define SUBSPACE_CAPABILITIES                                                                      \
  (EB_CAP_TETRAHEDRA | EB_CAP_COROTATIONAL | EB_CAP_HYPERELASTIC | EB_CAP_COLLIDERS |              \
   EB_CAP_STATICS | EB_CAP_SPRINGS)

const eb_solver_ops eb_solver_mfem_subspace = {
    .name = "mfem-subspace",
    .summary = "mixed finite elements in a subspace of skinning eigenmodes, with cubature",
    .citation = "Trusty, Benchekroun, Grinspun, Kaufman and Levin 2023",
    .capabilities = SUBSPACE_CAPABILITIES,
    .options = options,
    .accuracy_options = "modes=4..64",
    .create = create_mixed,
    .step = step,
    .destroy = destroy};

const eb_solver_ops eb_solver_fem_subspace = {
    .name = "fem-subspace",
    .summary = "Newton's method in the same subspace with the same points: what mfem-subspace is "
               "compared with",
    .citation = "Trusty et al. 2023, Section 7; Benchekroun et al. 2023",
    .capabilities = SUBSPACE_CAPABILITIES,
    .options = options,
    .accuracy_options = "modes=4..64",
    .create = create_fem,
    .step = step,
    .destroy = destroy};
