/* Projective dynamics: rotations in the elements, then one linear solve that never changes.
 *
 *   local    R = argmin |F - R| over rotations, D = argmin |F - D| over det D = 1, at every point;
 *            p = the nearest place on the surface, at every node inside a collider,
 *            R_c of every cluster that takes it from its shape at rest to where its nodes are
 *   global   (A + P) x = M xt / h^2 + sum w G^T (2 mu R + 3 lambda D) + k R_c q + k p,
 *            A = M / h^2 + sum w (2 mu + 3 lambda) G G^T + k (delta_ab - 1/n) of clusters,
 *            P = k at nodes in contact
 *
 * Reference: Bouaziz, Martin, Liu, Kavan and Pauly 2014, "Projective dynamics: fusing constraint
 * projections for fast simulation"; Lewin 2016, Sections 5.4 and 5.5. At small strains e |F - D|^2
 * is tr^2 e / 3, hence the weight 3 lambda (Lewin's lambda is a third of it).
 *
 * What is minimized is the incremental potential of the material mu |F - R|^2 + 3/2 lambda |F -
 * D|^2, and of clusters (problems/clusters.h): fixed at R, D, R_c and p, it is a quadratic above it
 * with the same gradient where these were found, and the global step goes to that one's minimum.
 * Hence W falls with every iteration. The step is taken as a correction x += -inv(A + P) grad W,
 * the same in exact arithmetic.
 *
 * Convergence is linear: each iteration leaves some Pi / (1 + Pi) of a turn that is missing, Pi the
 * ratio of w to M / h^2 on the scale of the turning part. acceleration= extrapolates, and goes back
 * to the plain iterate where W would rise (Peng et al. 2018).
 *
 * rotation= takes other estimates of R, one an element of the place of its nodes: then neither the
 * potential nor its residual are quite the material's, and the audit tells by how much.
 *
 * Needs the deformation gradient and its singular values. Workspace: eb_projective, that of the
 * acceleration, of estimates. Fails: EB_DIVERGED_MAX_IT leaves the last iterate in the state, all
 * others leave it as it was. */
#include "problems/base/memory.h"
#include "problems/elasticity/elements.h"
#include "problems/elasticity/nearest_volume.h"
#include "problems/elasticity/rotation.h"
#include "problems/elasticity/svd3.h"
#include "solvers/projective/acceleration.h"
#include "solvers/projective/step.h"
#include "solvers/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const eb_option options[] = {
    EB_PROJECTIVE_OPTIONS,
    {.name = "rotation",
     .type = EB_OPTION_CHOICE,
     .fallback = "svd",
     .choices = EB_ROTATION_CHOICES,
     .unit = "",
     .doc = "R: the nearest rotation at every point, or an estimate an element (recorded)"},
    {.name = "rotation_start",
     .type = EB_OPTION_CHOICE,
     .fallback = "warm",
     .choices = "warm|cold",
     .unit = "",
     .doc = "an estimate goes on from the last step's, or from the identity in every step"},
    {.name = "acceleration",
     .type = EB_OPTION_CHOICE,
     .fallback = "none",
     .choices = EB_ACCELERATION_CHOICES,
     .unit = "",
     .doc = "extrapolation of the iterates, where W does not rise by it"},
    {.name = "window",
     .type = EB_OPTION_INT,
     .fallback = "5",
     .min = 1,
     .max = EB_LARGEST_WINDOW,
     .unit = "",
     .doc = "acceleration=anderson: iterates that are kept"},
    EB_GLOBAL_OPTIONS,
    {0}};

typedef struct pd_solver {
  eb_projective p;
  eb_acceleration acceleration;
  double elastic; /* E where the last local step was */
  eb_rotation_method method;
  bool cold;
  eb_rotation_rests rests;  /* of estimates; here and below, empty with svd */
  eb_v4 (*q)[4];            /* batches: what estimates go on from */
  double *rotations;        /* elements x 9 */
  const double *rotated_at; /* the positions of the last local step */
  bool evaluated;           /* that was x */
} pd_solver;

/* ---- the local step -------------------------------------------------------------------------- */

static double weight(const eb_law *law) {
  return 2 * law->mu + 3 * law->lambda;
}

/* Adds k (F - T) to P and k/2 |F - T|^2 to psi. */
static void pull(double k, const eb_v4 T[9], int n, eb_points *points) {
  eb_v4 square = {0};
  for (int i = 0; i < 9; i++) {
    eb_v4 off = points->F[n][i] - T[i];
    square += off * off;
    points->P[n][i] += k * off;
  }
  points->psi[n] += 0.5 * k * square;
}

/* R of the element of point n by estimate; the first point of a batch makes and records it. */
static void estimate(pd_solver *pd, const eb_points *points, int n, eb_v4 R[9]) {
  const int per_batch = pd->p.sweep.per_batch;
  const int32_t batch = (points->first + n) / per_batch;
  const int32_t *element = pd->p.sweep.elasticity->element + EB_LANES * (int64_t)batch;
  eb_v4 x[EB_HEXAHEDRON][3];
  if ((points->first + n) % per_batch != 0) return;
  const eb_rotation_rest rest = eb_rotation_rest_of(&pd->rests, batch);
  eb_rotation_gather(&pd->rests, batch, pd->rotated_at, x);
  eb_rotate4(pd->method, pd->rests.nodes, &rest, (const eb_v4(*)[3])x, pd->q[batch], R);
  for (int l = 0; l < EB_LANES; l++)
    for (int i = 0; element[l] >= 0 && i < 9; i++)
      pd->rotations[9 * (int64_t)element[l] + i] = R[i][l];
}

/* P = 2 mu (F - R) + 3 lambda (F - D) and the energy; one decomposition has both. */
static void project(void *context, eb_points *points) {
  pd_solver *pd = context;
  eb_v4 U[EB_SWEEP_POINTS][9], V[EB_SWEEP_POINTS][9], s[EB_SWEEP_POINTS][3], d[3], R[9], D[9];
  bool volumes = false;
  for (int n = 0; n < points->count; n++) volumes |= points->law[n]->lambda != 0;
  if (volumes || !pd->q) eb_svd3(points->count, (const eb_v4(*)[9])points->F, U, s, V);
  for (int n = 0; n < points->count; n++) {
    const eb_law *law = points->law[n];
    points->psi[n] = eb_v4_set(0);
    for (int i = 0; i < 9; i++) points->P[n][i] = eb_v4_set(0);
    if (pd->q)
      estimate(pd, points, n, R);
    else
      eb_rotation3(U[n], V[n], R);
    pull(2 * law->mu, R, n, points);
    if (law->lambda == 0) continue;
    eb_nearest_volume(s[n], d);
    for (int i = 0; i < 9; i++) U[n][i] *= d[i % 3];
    eb_rotation3(U[n], V[n], D);
    pull(3 * law->lambda, D, n, points);
  }
}

/* dE/dx in work.gradient, and E. */
static void local_step(pd_solver *pd, const double *x, eb_step_log *log) {
  eb_log_begin(log, EB_PHASE_LOCAL);
  pd->rotated_at = x;
  pd->elastic = eb_point_sweep_run(&pd->p.sweep, x, project, pd, pd->p.work.gradient);
  pd->elastic += eb_clusters_gradient(&pd->p.work.clusters, x, pd->p.work.gradient);
  eb_log_end(log, EB_PHASE_LOCAL);
  eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, pd->p.work.scene->mesh->element_count);
}

/* W at a candidate, by the local step that the next iteration takes there. */
static eb_potential_value value_at(void *context, const double *x, eb_step_log *log) {
  pd_solver *pd = context;
  local_step(pd, x, log);
  return eb_projective_value(&pd->p, x, pd->elastic);
}

/* ---- iterations ------------------------------------------------------------------------------ */

static const double noise_digits = 4; /* rounding of W, in eps: a rise of that is none */

static bool rises(eb_potential_value from, eb_potential_value to) {
  return !(to.value - from.value <= noise_digits * DBL_EPSILON * from.magnitude);
}

/* x + d in trial. */
static void plain(pd_solver *pd) {
  for (int64_t k = 0; k < pd->p.size; k++) pd->p.trial[k] = pd->p.x[k] + pd->p.direction[k];
}

/* Whether an extrapolation has been tried that W does not rise by. */
static bool extrapolate(pd_solver *pd, eb_step_log *log) {
  eb_projective *p = &pd->p;
  if (pd->acceleration.kind == EB_ACCELERATION_NONE) return false;
  if (!eb_acceleration_propose(&pd->acceleration, p->x, p->direction, p->trial)) return false;
  eb_potential_value before = eb_projective_value(p, p->x, pd->elastic);
  eb_log_count(log, EB_COUNT_LINE_SEARCHES, 1);
  if (!rises(before, value_at(pd, p->trial, log))) return true;
  eb_acceleration_restart(&pd->acceleration);
  return false;
}

/* From x to the next iterate: what is extrapolated; or x + d; or a part of that way where it enters
 * colliders that the global step knew nothing of, so that W may rise. */
static void move(pd_solver *pd, bool predicted, eb_step_log *log) {
  eb_projective *p = &pd->p;
  double elastic = pd->elastic;
  pd->evaluated = extrapolate(pd, log);
  if (!pd->evaluated) {
    plain(pd);
    if (p->work.touch_room > 0 && !predicted && eb_projective_enters(p, p->trial)) {
      eb_potential_value before = eb_projective_value(p, p->x, elastic);
      pd->evaluated = eb_projective_search(p, &before, value_at, pd, log);
      if (pd->evaluated) return;
      plain(pd);
    }
  }
  eb_projective_accept(p);
}

static eb_error iterate(pd_solver *pd, eb_step_log *log, eb_reason *reason) {
  eb_projective *p = &pd->p;
  for (bool first = true;; first = false) {
    /* From the last positions, contacts are those that the body would have without them. */
    eb_projective_detect(p, first ? p->start : p->x, log);
    if (!pd->evaluated) local_step(pd, p->x, log);
    eb_projective_complete(p, p->x);
    if (eb_projective_finished(p, log, reason)) return EB_OK;
    EB_TRY(eb_projective_solve(p, p->descent, log, reason));
    if (*reason < 0) return EB_OK;
    move(pd, first && p->from_last, log);
    log->iterations++;
    /* The residual of a last iterate that nobody asks for would cost a local step. */
    if (log->iterations == p->fixed_iterations) {
      *reason = EB_CONVERGED_ITS;
      return EB_OK;
    }
  }
}

/* The identity. */
static void stand(eb_v4 q[4]) {
  for (int i = 0; i < 4; i++) q[i] = eb_v4_set(i == 0);
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  pd_solver *pd = solver->data;
  EB_TRY(eb_projective_begin(&pd->p, state, dt, log, reason));
  if (*reason < 0) return EB_OK;
  eb_acceleration_restart(&pd->acceleration);
  pd->evaluated = false;
  for (int32_t b = 0; pd->q && pd->cold && b < pd->rests.batches; b++) stand(pd->q[b]);
  EB_TRY(iterate(pd, log, reason));
  if (pd->q) {
    log->rotations = pd->rotations;
    log->rotated_at = pd->rotated_at;
    /* A tolerance was met with estimates in the place of the material's rotations. */
    if (*reason == EB_CONVERGED_RTOL || *reason == EB_CONVERGED_ATOL) *reason = EB_CONVERGED_ITS;
  }
  return eb_projective_end(&pd->p, state, dt, log, reason);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(pd_solver *pd) {
  eb_acceleration_clear(&pd->acceleration);
  eb_rotation_rests_clear(&pd->rests);
  free(pd->q);
  free(pd->rotations);
  eb_projective_clear(&pd->p);
  free(pd);
}

static eb_error prepare_estimates(pd_solver *pd, const eb_solver *solver) {
  const eb_elasticity *e = pd->p.sweep.elasticity;
  pd->method = eb_rotation_find(eb_values_text(solver->options, "rotation"));
  pd->cold = !strcmp(eb_values_text(solver->options, "rotation_start"), "cold");
  if (pd->method == EB_ROTATION_SVD) return EB_OK;
  EB_TRY(eb_rotation_rests_create(solver->scene->mesh, e->batch_count, e->element, &pd->rests));
  EB_TRY(EB_NEW(pd->rotations, 9 * (size_t)e->element_count));
  EB_TRY(EB_NEW(pd->q, e->batch_count));
  for (int32_t b = 0; b < e->batch_count; b++) stand(pd->q[b]);
  return EB_OK;
}

static eb_error prepare(pd_solver *pd, const eb_solver *solver) {
  const char *kind = eb_values_text(solver->options, "acceleration");
  EB_TRY(eb_projective_create(solver, weight, &pd->p));
  EB_TRY(prepare_estimates(pd, solver));
  return eb_acceleration_create(!strcmp(kind, "anderson")    ? EB_ACCELERATION_ANDERSON
                                : !strcmp(kind, "chebyshev") ? EB_ACCELERATION_CHEBYSHEV
                                                             : EB_ACCELERATION_NONE,
                                pd->p.size, (int)eb_values_int(solver->options, "window"),
                                &pd->acceleration);
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  pd_solver *pd = NULL;
  (void)scene;
  EB_TRY(EB_NEW(pd, 1));
  eb_error error = prepare(pd, solver);
  if (error)
    release(pd);
  else
    solver->data = pd;
  return error;
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

const eb_solver_ops eb_solver_pd = {
    .name = "pd",
    .summary = "projective dynamics: local projections, a constant global matrix",
    .citation = "Bouaziz et al. 2014; Lewin 2016",
    .capabilities = EB_PROJECTIVE_CAPABILITIES | EB_CAP_PROJECTIVE | EB_CAP_CLUSTERS,
    .options = options,
    .accuracy_options = "iterations=1..100",
    .memory = &(const eb_memory_model){.fixed = 1.1e6, .factor = 0.126, .margin = 0.15},
    .create = create,
    .step = step,
    .destroy = destroy};
