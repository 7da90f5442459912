/* Mixed finite elements: implicit Euler, or equilibrium, with a stretch of its own at every point.
 *
 *   min over x, S  max over lambda   Psi(x) + sum w [ psi(S) + lambda : (Sbar(x) - S) ],
 *   Psi(x) = 1/2 |x - xt|^2_M / h^2 - f_ext . (x - x0),   v1 = (x1 - x0) / h
 *
 * by sequential quadratic programming: each iteration solves (M/h^2 + K) p = - grad Psi - q with
 * the stretches condensed out (problems/elasticity/mixed.h), then moves x by a p and S by a dS, a
 * from backtracking on the Lagrangian at the new lambda.
 *
 * Reference: Trusty, Kaufman and Levin 2022, "Mixed Variational Finite Elements for Implicit
 * Simulation of Deformables"; trusty2023, Section 3. What the paper leaves unsaid is an option: an
 * iteration starts from the last positions and the last stretches, not from x0 + h v0 (start=last),
 * and the line search halves up to 20 times with a sufficient decrease of 1e-4.
 *
 * Where S and Sbar(x) agree, lambda is dpsi/dS and the equation for x is FEM's: a converged step is
 * Newton's. It is tested so: |grad W|_2 <= max(rtol F, atol) with FEM's own gradient, which comes
 * with the sweep that condenses. With iterations=N a step takes N of them, whatever is left.
 *
 * The Lagrangian falls along (p, dS) while lambda is held: its slope is
 * - p . M p / h^2 - sum w dS : H dS, less what springs of the scene, which Psi has too, add to it.
 * In that it differs from W, which may rise: a stiff body in a large rotation is pulled off its
 * rotation by every linearization of W, but not by one of Sbar.
 *
 * system=kkt solves for p, dS and lambda at once instead (kkt.h): the same iterates but for
 * rounding.
 *
 * Needs: materials of the stretch alone; tetrahedra or hexahedra. Workspace: eb_implicit, four more
 * vectors, 480 bytes a point (of a tetrahedron's one). Fails: EB_DIVERGED_MAX_IT and
 * EB_DIVERGED_LINE_SEARCH leave the last iterate in the state; EB_DIVERGED_NAN,
 * EB_NOT_POSITIVE_DEFINITE and failures of the linear solver leave it as it was. */
#include "problems/base/memory.h"
#include "problems/elasticity/mixed.h"
#include "problems/scene_impl.h"
#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/common/step_options.h"
#include "solvers/common/support_layer.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/mfem/kkt.h"
#include "solvers/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double sufficient = 1e-4; /* of the slope */
/* The Lagrangian is known to a few eps of its terms: a smaller decrease than this many cannot be
 * told from rounding, and the full step is taken without asking. */
static const double value_digits = 1e3;
static const double noise_digits = 4; /* a rise by that many eps is none */
/* Residuals below this many roundings of x may be noise. */
static const double floor_factor = 1e3;
enum { MAX_HALVINGS = 20 };
static const double SHORTEST = 1. / 16;

static const eb_option options[] = {
    EB_RTOL_OPTION("stop when |grad W| <= rtol (|external| + |inertial| + |elastic| forces)"),
    EB_ATOL_OPTION,
    EB_MIXED_OPTIONS("backtracking on the Lagrangian"),
    {.name = "system",
     .type = EB_OPTION_CHOICE,
     .fallback = "condensed",
     .choices = "condensed|kkt",
     .unit = "",
     .doc = "kkt: a reference, slow: p from the system of positions, stretches and multipliers as "
            "it stands, by MUMPS through PETSc; linear and its options are not read then"},
    EB_LINEAR_OPTIONS("cholesky", "block-jacobi", "1e-8"),
    {0}};

typedef struct mfem {
  eb_implicit work; /* unknown: the direction p */
  eb_potential potential;
  eb_support_layer layer;
  eb_mixed *mixed;
  eb_kkt *kkt;       /* NULL: condensed */
  double *stretch;   /* with kkt, elements x 18: S, dS, lambda */
  double *x, *trial; /* iterate and line-search point, 3 nodes */
  double *predicted; /* xt */
  double *descent;   /* -grad W */
  double *condensed; /* q */
  double rtol, atol;
  int64_t iterations, max_iterations;
  bool inertial_start, searches, statics;
  bool has_left;    /* x and the stretches are those that the last step has left */
  double damping;   /* length of steps that only the residual can judge */
  double last_norm; /* residual before a step that nothing but the residual can judge, or 0 */
  double floor;     /* change of grad W when x is rounded to double, N */
  eb_potential_residual residual;
} mfem;

/* ---- life ---- */

static void release(mfem *m) {
  eb_support_layer_clear(&m->layer);
  eb_implicit_clear(&m->work);
  eb_mixed_destroy(m->mixed);
  eb_kkt_destroy(m->kkt);
  free(m->stretch);
  free(m->x);
  free(m->trial);
  free(m->predicted);
  free(m->descent);
  free(m->condensed);
  free(m);
}

static eb_error allocate(mfem *m, const eb_solver *solver) {
  EB_TRY(eb_mixed_create(solver->scene->elasticity, &m->mixed));
  EB_TRY(eb_implicit_create(solver, &m->work));
  EB_TRY(eb_support_layer_create(solver->scene, &m->layer));
  EB_TRY(EB_NEW(m->x, m->work.size));
  EB_TRY(EB_NEW(m->trial, m->work.size));
  EB_TRY(EB_NEW(m->predicted, m->work.size));
  EB_TRY(EB_NEW(m->descent, m->work.size));
  return EB_NEW(m->condensed, m->work.size);
}

static eb_error choose_system(mfem *m, const eb_solver *solver) {
  if (strcmp(eb_values_text(solver->options, "system"), "kkt") != 0) return EB_OK;
  EB_TRY(eb_kkt_create(solver->scene, &m->kkt));
  return EB_NEW(m->stretch, 18 * (size_t)solver->scene->mesh->element_count);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  mfem *m = NULL;
  EB_TRY(EB_NEW(m, 1));
  eb_error error = allocate(m, solver);
  if (!error) error = choose_system(m, solver);
  if (error) {
    release(m);
    return error;
  }
  const eb_values *values = solver->options;
  bool asked = eb_scene_needs(scene) & EB_CAP_STATICS;
  m->rtol = eb_values_real(values, "rtol");
  m->atol = eb_values_real(values, "atol");
  m->iterations = eb_values_int(values, "iterations");
  m->max_iterations = eb_values_int(values, "max_iterations");
  m->inertial_start = !strcmp(eb_values_text(values, "start"), "inertial");
  m->searches = eb_values_bool(values, "line_search");
  m->statics = eb_values_bool(values, "static") || (asked && !eb_values_given(values, "static"));
  m->potential = (eb_potential){.elasticity = scene->elasticity,
                                .nodes = m->work.nodes,
                                .elastic_scale = eb_potential_elastic_scale(scene),
                                .fixed = m->work.fixed,
                                .force = m->work.force,
                                .predicted = m->predicted,
                                .springs = &m->work.springs};
  eb_log_memory(solver->setup_log, EB_MEMORY_ELEMENTS, (double)eb_mixed_bytes(m->mixed));
  solver->data = m;
  return EB_OK;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* ---- an iteration ---- */

/* A step that nothing but the residual could judge, and that has not lowered it, was too long: the
 * constraint's curvature, which the method leaves out, may outweigh K where tension stiffens soft
 * modes (then I - A^-1 H has eigenvalues below -1, and shorter steps converge). */
static void judge_by_residual(mfem *m) {
  if (m->last_norm > 0 && m->residual.norm >= m->last_norm && m->damping > SHORTEST)
    m->damping *= 0.5;
}

/* Condenses at x and leaves FEM's residual there, the right-hand side -grad Psi - q over the free
 * nodes, and the floor of the residual: rounding x_i changes grad W by up to A_ii eps/2 |x_i|. */
static void linearize(mfem *m, eb_step_log *log) {
  eb_implicit *work = &m->work;
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  eb_mixed_condense(m->mixed, m->x, m->potential.inertia, work->matrix, m->condensed,
                    work->gradient);
  eb_springs_matrix(&work->springs, 1, work->matrix);
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, work->scene->mesh->element_count);
  eb_log_begin(log, EB_PHASE_RHS);
  m->residual = eb_potential_descent(&m->potential, m->x, work->gradient, m->descent);
  m->residual.scale += eb_support_layer_force(&m->layer, work->fixed, m->x);
  double square = 0;
  for (int32_t i = 0; i < work->nodes; i++) {
    const double *block = work->matrix->values + 9 * (int64_t)work->matrix->diagonal[i];
    for (int k = 0; k < 3; k++) {
      int64_t at = 3 * (int64_t)i + k;
      double change = block[4 * k] * m->x[at];
      if (!work->fixed[i]) square += change * change;
      /* -grad W has -g where the mixed form has -q. */
      work->rhs[at] = work->fixed[i] ? 0 : m->descent[at] + work->gradient[at] - m->condensed[at];
      work->unknown[at] = 0;
    }
  }
  m->floor = 0.5 * DBL_EPSILON * sqrt(square);
  eb_log_end(log, EB_PHASE_RHS);
}

/* p from the system before condensation. The dS and lambda that come with it are left alone: move
 * takes them of p, by the same equations. */
static eb_error solve_whole(mfem *m, eb_step_log *log, eb_reason *reason) {
  const eb_implicit *work = &m->work;
  int64_t entries = 6 * (int64_t)work->scene->mesh->element_count;
  for (int64_t k = 0; k < work->size; k++) work->rhs[k] += m->condensed[k];
  const eb_kkt_iteration iteration = {.x = m->x,
                                      .S = m->stretch,
                                      .inertia = m->potential.inertia,
                                      .springs = &work->springs,
                                      .fixed = work->fixed,
                                      .rhs = work->rhs,
                                      .p = work->unknown,
                                      .dS = m->stretch + entries,
                                      .lambda = m->stretch + 2 * entries};
  eb_mixed_points(m->mixed, m->stretch, NULL, NULL);
  return eb_kkt_solve(m->kkt, &iteration, log, reason);
}

/* Psi and springs at x, J, and the sum of the sizes of their terms. */
static eb_mixed_energy inertial_energy(const mfem *m, const double *x) {
  const eb_potential *p = &m->potential;
  const double *mass = eb_elasticity_mass(p->elasticity);
  double springs = eb_springs_energy(p->springs, p->fixed, x);
  eb_mixed_energy sum = {springs, springs};
  for (int32_t i = 0; i < p->nodes; i++)
    for (int64_t k = 3 * (int64_t)i; k < 3 * (int64_t)i + 3 && !p->fixed[i]; k++) {
      double off = x[k] - p->predicted[k], kinetic = 0.5 * p->inertia * mass[i] * off * off;
      double work = p->force[k] * (x[k] - p->origin[k]);
      sum.value += kinetic - work;
      sum.magnitude += kinetic + fabs(work);
    }
  return sum;
}

/* The whole Lagrangian at x, given its elastic part there. */
static eb_mixed_energy with_inertia(const mfem *m, const double *x, eb_mixed_energy elastic) {
  eb_mixed_energy inertial = inertial_energy(m, x);
  return (eb_mixed_energy){elastic.value + inertial.value, elastic.magnitude + inertial.magnitude};
}

/* Moves (x, S) along (p, dS), a full step without a line search, or where the decrease to expect
 * drowns in rounding: there only the residual can judge. */
static void move(mfem *m, eb_step_log *log, eb_reason *reason) {
  const double *p = m->work.unknown, *mass = eb_elasticity_mass(m->potential.elasticity);
  eb_mixed_energy before;
  eb_log_begin(log, EB_PHASE_LOCAL);
  double slope = -eb_mixed_expand(m->mixed, p, &before), a = 1;
  eb_log_end(log, EB_PHASE_LOCAL);
  for (int64_t k = 0; k < m->work.size; k++)
    slope -= m->potential.inertia * mass[k / 3] * p[k] * p[k];
  slope -= eb_springs_curvature(&m->work.springs, m->work.fixed, p);
  if (!isfinite(slope)) {
    *reason = EB_DIVERGED_NAN;
    return;
  }
  eb_log_begin(log, EB_PHASE_LINESEARCH);
  before = with_inertia(m, m->x, before);
  double eps = DBL_EPSILON * (before.magnitude + m->potential.elastic_scale);
  bool searches = m->searches && -slope > value_digits * eps;
  if (!searches && m->searches) a = m->damping;
  for (int k = 0;; k++, a *= 0.5) {
    for (int64_t i = 0; i < m->work.size; i++) m->trial[i] = m->x[i] + a * p[i];
    if (!searches) break;
    eb_mixed_energy after = with_inertia(m, m->trial, eb_mixed_lagrangian(m->mixed, m->trial, a));
    double rise = after.value - before.value;
    eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, m->work.scene->mesh->element_count);
    eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
    if (rise <= sufficient * a * slope + noise_digits * eps) break;
    if (k == MAX_HALVINGS) {
      *reason = EB_DIVERGED_LINE_SEARCH;
      eb_log_end(log, EB_PHASE_LINESEARCH);
      return;
    }
  }
  eb_log_end(log, EB_PHASE_LINESEARCH);
  double *old = m->x;
  m->x = m->trial;
  m->trial = old;
  m->last_norm = searches ? 0 : m->residual.norm;
  eb_mixed_accept(m->mixed, a);
}

/* Whether the step ends with the residual of the present x, which is logged. */
static bool finished(const mfem *m, eb_step_log *log, eb_reason *reason) {
  double norm = m->residual.norm;
  eb_log_residual(log, norm);
  if (!isfinite(norm))
    *reason = EB_DIVERGED_NAN;
  else if (m->iterations > 0)
    *reason = log->iterations >= m->iterations ? EB_CONVERGED_ITS : EB_RUNNING;
  else if (norm <= m->rtol * m->residual.scale)
    *reason = EB_CONVERGED_RTOL;
  else if (norm <= m->atol)
    *reason = EB_CONVERGED_ATOL;
  else if (norm <= m->floor || (m->last_norm > 0 && norm >= m->last_norm &&
                                norm <= floor_factor * m->floor && m->damping <= SHORTEST))
    *reason = EB_CONVERGED_STAGNATED;
  else if (log->iterations >= m->max_iterations)
    *reason = EB_DIVERGED_MAX_IT;
  return *reason != EB_RUNNING;
}

static eb_error iterate(mfem *m, eb_step_log *log, eb_reason *reason) {
  for (*reason = EB_RUNNING; *reason == EB_RUNNING;) {
    /* The last of a fixed number needs no further sweep to know that it was. */
    if (m->iterations > 0 && log->iterations >= m->iterations) {
      *reason = eb_all_finite(m->work.size, m->x) ? EB_CONVERGED_ITS : EB_DIVERGED_NAN;
      break;
    }
    linearize(m, log);
    judge_by_residual(m);
    if (finished(m, log, reason)) break;
    log->iterations++;
    eb_reason linear = EB_RUNNING;
    if (m->kkt)
      EB_TRY(solve_whole(m, log, &linear));
    else
      EB_TRY(eb_implicit_solve(&m->work, false, log, &linear));
    if (linear < 0 && linear != EB_DIVERGED_MAX_IT) {
      *reason = linear;
      break;
    }
    move(m, log, reason);
  }
  return EB_OK;
}

/* ---- a step ---- */

/* x from the state, scripted nodes at their place at the end of the step: what the script asks for
 * is at first a gap between Sbar(x) and S, to be closed by all elements. S are the stretches that
 * the last step has left, or those of a state that it has not. */
static void start(mfem *m, const eb_state *state, double dt) {
  const eb_implicit *work = &m->work;
  bool ours = m->has_left && !memcmp(state->x, m->x, (size_t)work->size * sizeof *m->x);
  for (int64_t k = 0; k < work->size; k++) {
    m->predicted[k] = state->x[k] + (m->statics ? 0 : dt * state->v[k]);
    m->x[k] = m->inertial_start ? m->predicted[k] : state->x[k];
  }
  if (!ours || m->inertial_start) eb_mixed_project(m->mixed, m->x);
  m->has_left = false;
  for (int32_t i = 0; i < work->nodes; i++)
    if (work->fixed[i])
      memcpy(m->x + 3 * (int64_t)i, work->target + 3 * (int64_t)i, 3 * sizeof(double));
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  mfem *m = solver->data;
  log->residual_norm = EB_NORM_GRADIENT;
  log->equation = m->statics ? EB_EQUATION_STATIC : EB_EQUATION_IMPLICIT_EULER;
  *reason = EB_DIVERGED_NAN;
  if (!eb_implicit_begin(&m->work, state, dt, log)) return EB_OK;
  eb_support_layer_update(&m->layer, m->work.fixed);
  m->potential.inertia = m->statics ? 0 : 1 / (dt * dt);
  m->potential.origin = state->x;
  m->last_norm = 0;
  m->damping = 1;
  start(m, state, dt);
  EB_TRY(iterate(m, log, reason));
  if (*reason < 0 && *reason != EB_DIVERGED_MAX_IT && *reason != EB_DIVERGED_LINE_SEARCH)
    return EB_OK;
  for (int64_t k = 0; k < m->work.size; k++) {
    state->v[k] = m->statics ? 0 : (m->x[k] - state->x[k]) / dt;
    state->x[k] = m->x[k];
  }
  m->has_left = true;
  state->time += dt;
  state->step++;
  return EB_OK;
}

const eb_solver_ops eb_solver_mfem = {
    .name = "mfem",
    .summary = "mixed finite elements: Newton's method with a stretch of its own at every element",
    .citation = "Trusty, Kaufman and Levin 2022; Trusty et al. 2023, Section 3",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS | EB_CAP_CUTTING |
                    EB_CAP_STATICS | EB_CAP_SPRINGS,
    .options = options,
    .accuracy_options = "rtol=1e-8..1e-1",
    .memory = &(const eb_memory_model){.linear = "cholesky", .element = 490, .margin = 0.15},
    .time = &(const eb_time_model){.iterations = 4},
    .create = create,
    .step = step,
    .destroy = destroy};
