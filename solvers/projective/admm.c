/* Alternating directions: projective dynamics with elements that may differ from the positions.
 *
 *   minimize W(x) with psi(z) for psi(F), subject to z = F(x), at every point by
 *   z <- argmin psi(z) + k/2 |z - (F + u)|^2,   u <- u + F - z,
 *   (A + P) x <- M xt / h^2 + f_ext + sum w k G^T (z - u)
 *
 * Reference: Overby, Brown, Li and Narain 2017, "ADMM is a superset of projective dynamics: fast
 * simulation of hyperelastic materials with constraints". The penalty k is the weight of the
 * material, 2 mu for |F - R|^2 and 3 lambda for |F - D|^2, each with a z and u of its own: then A
 * is projective dynamics' own, and the local minimum is half-way to the projection of y = F + u,
 * the one such point where the rotation of y is that of z:
 *
 *   mu |z - R|^2 + mu |z - y|^2  ->  z = (R(y) + y) / 2,   u = y - z = (y - R(y)) / 2.
 *
 * A converged u is the stress over k, and u starts a step so: then the first z is F where no
 * stretch is below 1/2. Contacts are projective dynamics' (step.h).
 *
 * The multipliers overshoot and W is not monotone; the residual that ends a step is that of W
 * itself, by a local step of its own, which steps of a fixed number of iterations do without.
 *
 * Needs the deformation gradient and its singular values. Workspace: eb_projective, u. Fails:
 * EB_DIVERGED_MAX_IT leaves the last iterate in the state, all others leave it as it was. */
#include "problems/base/memory.h"
#include "problems/elasticity/nearest_volume.h"
#include "problems/elasticity/svd3.h"
#include "solvers/projective/step.h"
#include "solvers/registry.h"

static const eb_option options[] = {EB_PROJECTIVE_OPTIONS, EB_GLOBAL_OPTIONS, {0}};

typedef eb_v4 point_matrix[9];

typedef struct admm_solver {
  eb_projective p;
  bool fresh;          /* u is to be made */
  point_matrix *u, *w; /* points: of rotations, of volumes (NULL: no material has any) */
} admm_solver;

static double weight(const eb_law *law) {
  return 2 * law->mu + 3 * law->lambda;
}

/* The projections of a group: rotations, or D of determinant 1. */
static void project(int count, const eb_v4 (*F)[9], bool volumes, point_matrix *out) {
  eb_v4 U[EB_SWEEP_POINTS][9], V[EB_SWEEP_POINTS][9], s[EB_SWEEP_POINTS][3], d[3], T[9];
  eb_svd3(count, F, U, s, V);
  for (int n = 0; n < count; n++) {
    if (volumes) eb_nearest_volume(s[n], d);
    for (int i = 0; i < 9; i++) T[i] = volumes ? d[i % 3] * U[n][i] : U[n][i];
    eb_rotation3(T, V[n], out[n]);
  }
}

/* z and u of one set of projections: P += k (F - z + u) = k (2 u - u_before), k = modulus of the
 * law. A fresh u makes y = 2 F less the projection of F. */
static void relax_set(eb_points *points, bool fresh, bool volumes, point_matrix *u) {
  point_matrix y[EB_SWEEP_POINTS], nearest[EB_SWEEP_POINTS];
  if (fresh) project(points->count, (const eb_v4(*)[9])points->F, volumes, nearest);
  for (int n = 0; n < points->count; n++)
    for (int i = 0; i < 9; i++) {
      if (fresh) u[n][i] = points->F[n][i] - nearest[n][i];
      y[n][i] = points->F[n][i] + u[n][i];
    }
  project(points->count, (const eb_v4(*)[9])y, volumes, nearest);
  for (int n = 0; n < points->count; n++) {
    const eb_law *law = points->law[n];
    double k = volumes ? 3 * law->lambda : 2 * law->mu;
    for (int i = 0; i < 9; i++) {
      eb_v4 next = 0.5 * (y[n][i] - nearest[n][i]);
      points->P[n][i] += k * (2 * next - u[n][i]);
      u[n][i] = next;
    }
  }
}

static void relax(void *context, eb_points *points) {
  admm_solver *admm = context;
  for (int n = 0; n < points->count; n++) {
    points->psi[n] = eb_v4_set(0);
    for (int i = 0; i < 9; i++) points->P[n][i] = eb_v4_set(0);
  }
  relax_set(points, admm->fresh, false, admm->u + points->first);
  if (admm->w) relax_set(points, admm->fresh, true, admm->w + points->first);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Whether the step ends at x. */
static bool finished(admm_solver *admm, eb_step_log *log, eb_reason *reason) {
  eb_projective *p = &admm->p;
  if (p->fixed_iterations > 0) {
    *reason = log->iterations >= p->fixed_iterations ? EB_CONVERGED_ITS : EB_RUNNING;
    return *reason != EB_RUNNING;
  }
  eb_implicit_gradient(&p->work, p->x, log);
  eb_projective_complete(p, p->x);
  return eb_projective_finished(p, log, reason);
}

static eb_error iterate(admm_solver *admm, eb_step_log *log, eb_reason *reason) {
  eb_projective *p = &admm->p;
  for (admm->fresh = true;; admm->fresh = false) {
    eb_projective_detect(p, admm->fresh ? p->start : p->x, log);
    if (finished(admm, log, reason)) return EB_OK;
    eb_log_begin(log, EB_PHASE_LOCAL);
    eb_point_sweep_run(&p->sweep, p->x, relax, admm, p->work.gradient);
    eb_log_end(log, EB_PHASE_LOCAL);
    eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, p->work.scene->mesh->element_count);
    eb_projective_complete(p, p->x);
    EB_TRY(eb_projective_solve(p, p->descent, log, reason));
    if (*reason < 0) return EB_OK;
    for (int64_t k = 0; k < p->size; k++) p->x[k] += p->direction[k];
    log->iterations++;
  }
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  admm_solver *admm = solver->data;
  EB_TRY(eb_projective_begin(&admm->p, state, dt, log, reason));
  if (*reason < 0) return EB_OK;
  EB_TRY(iterate(admm, log, reason));
  return eb_projective_end(&admm->p, state, dt, log, reason);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(admm_solver *admm) {
  eb_projective_clear(&admm->p);
  free(admm->u);
  free(admm->w);
  free(admm);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  admm_solver *admm = NULL;
  EB_TRY(EB_NEW(admm, 1));
  eb_error error = eb_projective_create(solver, weight, &admm->p);
  bool volumes = false;
  for (int32_t r = 0; r < scene->material_count; r++)
    volumes |= eb_law_make(&scene->materials[r]).lambda != 0;
  if (!error) error = EB_NEW(admm->u, admm->p.sweep.points);
  if (!error && volumes) error = EB_NEW(admm->w, admm->p.sweep.points);
  if (error)
    release(admm);
  else
    solver->data = admm;
  return error;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

const eb_solver_ops eb_solver_admm = {
    .name = "admm",
    .summary = "alternating directions with the matrix of projective dynamics",
    .citation = "Overby et al. 2017",
    .capabilities = EB_PROJECTIVE_CAPABILITIES | EB_CAP_PROJECTIVE,
    .options = options,
    .accuracy_options = "iterations=1..100",
    .memory = &(const eb_memory_model){.fixed = 1.5e6, .factor = 0.126, .margin = 0.15},
    .create = create,
    .step = step,
    .destroy = destroy};
