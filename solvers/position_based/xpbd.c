/* Extended position-based dynamics: implicit Euler by constraints with compliance.
 *
 *   E = sum_j C_j^2 / (2 a_j):   x = xt - inv(M) sum_j grad C_j l_j,   C_j + a_j l_j / h^2 = 0
 *   dl = -(C + a l / h^2) / (sum_b w_b |dC/dx_b|^2 + a / h^2),   dx_b = w_b dC/dx_b dl
 *
 * Reference: Macklin, Mueller and Chentanez 2016, Eq. 18; substeps: Macklin et al. 2019. l is the
 * multiplier times h^2. With xt = x0 + h v0 + h^2 f_ext / m, elements have
 *
 *   C = |F - R|, a = 1 / (2 mu V);   C = |F - D|, a = 1 / (3 lambda V),   det D = 1;
 *   C = (sum_i |G_i|^2)^(1/2), a = 1 / (2 hourglass mu V^(1/3)) of hexahedra of one point,
 *
 * which is material `projective` (eb_material_is_projective). F of a hexahedron is that of its
 * centre, which is the mean over it in a parallelepiped: where nodes are a tenth of an edge off
 * one, forces are up to half a percent off. In the frame of F = U diag(s) V^T, R and D are diagonal
 * too: the first two are solved together, as a system of two equations. Implicit colliders are C =
 * depth, a = 1 / k, with l of one sign; their friction takes from the slip of the step what
 * Coulomb's cone allows.
 *
 * What is solved is implicit Euler but for one thing: gradients turn while multipliers add up, so
 * that x - xt is a sum of steps along gradients of different iterates. Iterations lead beside the
 * minimizer of the incremental potential, by what falls with the square of the step's length:
 * substeps take it away, and iterations cannot. So no tolerance on
 * |grad W| is offered, and steps end with EB_CONVERGED_ITS; the audit tells what they leave.
 *
 * Needs: materials of these energies. Workspace: eb_batches, six lanes a batch. Fails:
 * EB_DIVERGED_NAN when state, forces or what becomes of them are not finite; the state is then that
 * of the last good substep. */
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/nearest_volume.h"
#include "problems/elasticity/svd3.h"
#include "problems/scene_impl.h"
#include "solvers/position_based/position_constraints.h"
#include "solvers/position_based/particles.h"
#include "solvers/registry.h"

#include <math.h>
#include <string.h>

static const eb_option options[] = {{.name = "iterations",
                                     .type = EB_OPTION_INT,
                                     .fallback = "1",
                                     .min = 1,
                                     .max = 1e6,
                                     .unit = "",
                                     .doc = "sweeps over all constraints a substep"},
                                    {.name = "substeps",
                                     .type = EB_OPTION_INT,
                                     .fallback = "20",
                                     .min = 1,
                                     .max = 1e6,
                                     .unit = "",
                                     .doc = "equal parts of a step, each with its own prediction"},
                                    {0}};

enum { SHAPE, VOLUME, HOURGLASS, KINDS };

typedef struct xpbd {
  eb_particles particles;
  eb_batches batches;
  int64_t iterations, substeps;
  eb_v4 *stiffness;    /* batches x KINDS: 1 / a, J; 0: there is no such constraint */
  eb_v4 *multiplier;   /* batches x KINDS */
  bool holds_volume;   /* any stiffness of kind VOLUME */
  double *push;        /* surface nodes x implicit colliders: multipliers, >= 0 */
  int32_t colliders;   /* implicit ones */
  double h, time;      /* of the substep: length, s, and its end */
  const double *start; /* nodes x 3: where it started, m */
} xpbd;

/* ---- elements -------------------------------------------------------------------------------- */

/* Directions p of |s - t| and its value. */
EB_INLINE eb_v4 direction(const eb_v4 s[3], const eb_v4 t[3], eb_v4 p[3]) {
  for (int k = 0; k < 3; k++) p[k] = s[k] - t[k];
  eb_v4 length = eb_v4_sqrt(eb_v4_dot3(p, p));
  eb_v4 inverse = eb_v4_select((eb_m4)(length > 0), 1 / length, eb_v4_set(0));
  for (int k = 0; k < 3; k++) p[k] *= inverse;
  return length;
}

/* With P_j = U diag(p_j) V^T the products of gradients are sum_k p_ik p_jk m_k, m = diag(V^T M V).
 * Times c_j = h^2 / a_j, which may be 0, the equations for dl are
 *   (c_i A_ij + delta_ij) dl_j = -(c_i C_i + l_i). */
EB_INLINE void solve_material(const xpbd *x, int64_t b, const eb_v4 M[6], const eb_v4 F[1][9],
                              eb_v4 P[9]) {
  const eb_v4 one[3] = {eb_v4_set(1), eb_v4_set(1), eb_v4_set(1)};
  const eb_v4 *k = x->stiffness + KINDS * b;
  eb_v4 *l = x->multiplier + KINDS * b, h2 = eb_v4_set(x->h * x->h);
  eb_v4 U[1][9], s[1][3], V[1][9], p[2][3], A[3], m[3], T[9], MT[9], d[3], C[2] = {{0}};
  eb_svd3(1, F, U, s, V);
  for (int i = 0; i < 9; i++) T[i] = V[0][3 * (i % 3) + i / 3];
  eb_times_symmetric(3, T, M, MT);
  for (int i = 0; i < 3; i++) m[i] = eb_v4_dot3(T + 3 * i, MT + 3 * i);
  C[SHAPE] = direction(s[0], one, p[SHAPE]);
  for (int i = 0; i < 3; i++) p[VOLUME][i] = eb_v4_set(0);
  if (x->holds_volume) {
    eb_nearest_volume(s[0], d);
    C[VOLUME] = direction(s[0], d, p[VOLUME]);
  }
  for (int i = 0; i < 3; i++)
    A[i] = p[i / 2][0] * p[(i + 1) / 2][0] * m[0] + p[i / 2][1] * p[(i + 1) / 2][1] * m[1] +
           p[i / 2][2] * p[(i + 1) / 2][2] * m[2];
  eb_v4 c0 = h2 * k[SHAPE], c1 = h2 * k[VOLUME];
  eb_v4 r0 = -(c0 * C[SHAPE] + l[SHAPE]), r1 = -(c1 * C[VOLUME] + l[VOLUME]);
  eb_v4 a00 = c0 * A[0] + 1, a11 = c1 * A[2] + 1, a01 = c0 * A[1], a10 = c1 * A[1];
  eb_v4 inverse = 1 / (a00 * a11 - a01 * a10);
  eb_v4 dl0 = (a11 * r0 - a01 * r1) * inverse, dl1 = (a00 * r1 - a10 * r0) * inverse;
  l[SHAPE] += dl0;
  l[VOLUME] += dl1;
  for (int i = 0; i < 3; i++) d[i] = dl0 * p[SHAPE][i] + dl1 * p[VOLUME][i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      P[3 * i + j] = U[0][3 * i] * d[0] * V[0][3 * j] + U[0][3 * i + 1] * d[1] * V[0][3 * j + 1] +
                     U[0][3 * i + 2] * d[2] * V[0][3 * j + 2];
}

EB_INLINE void solve_hourglass(const xpbd *x, int64_t b, const eb_batch *e, const eb_v4 F[9],
                               eb_v4 (*H)[3]) {
  eb_v4 G[EB_HOURGLASSES][3], Q[EB_HOURGLASSES][3], N[EB_HOURGLASSES][EB_HOURGLASSES];
  eb_v4 *l = x->multiplier + KINDS * b + HOURGLASS;
  eb_v4 c = x->h * x->h * x->stiffness[KINDS * b + HOURGLASS];
  eb_hourglass_modes(e, F, G);
  eb_hourglass_mobility(e, N);
  eb_times_hourglass_mobility(G, N, Q);
  eb_v4 C2 = eb_contract_modes(G, G), C = eb_v4_sqrt(C2);
  eb_m4 there = C2 > 0;
  eb_v4 moved = eb_v4_select(there, eb_contract_modes(G, Q) / C2, eb_v4_set(0));
  eb_v4 dl = -(c * C + *l) / (c * moved + 1);
  *l += dl;
  eb_v4 scale = eb_v4_select(there, dl / C, eb_v4_set(0));
  for (int i = 0; i < EB_HOURGLASSES; i++)
    for (int d = 0; d < 3; d++) H[i][d] = scale * G[i][d];
}

EB_INLINE void project(int A, const xpbd *x, int32_t begin, int32_t end) {
  for (int64_t b = begin; b < end; b++) {
    eb_batch e;
    eb_v4 F[1][9], M[6], P[9], H[EB_HOURGLASSES][3];
    eb_load(A, &x->batches, b, x->particles.at, &e);
    eb_deformation(A, &e, F[0]);
    eb_mobility(A, &e, M);
    solve_material(x, b, M, (const eb_v4(*)[9])F, P);
    if (A == EB_HEXAHEDRON) solve_hourglass(x, b, &e, F[0], H);
    eb_move(A, P, A == EB_HEXAHEDRON ? H : NULL, &e);
    eb_store(A, &e, x->particles.at);
  }
}

static void tetrahedra(void *context, int32_t begin, int32_t end) {
  project(EB_TETRAHEDRON, context, begin, end);
}

static void hexahedra(void *context, int32_t begin, int32_t end) {
  project(EB_HEXAHEDRON, context, begin, end);
}

/* ---- contact --------------------------------------------------------------------------------- */

typedef void touching(const xpbd *x, const eb_collider *collider, int64_t node, double *push);

/* Every free node of the surface with every implicit collider. */
static void for_touches(xpbd *x, touching *visit) {
  const eb_scene *scene = x->particles.scene;
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < x->particles.surface_count; k++) {
    double *push = x->push + (int64_t)k * x->colliders;
    if (x->particles.fixed[x->particles.surface[k]]) continue;
    for (int32_t c = 0; c < scene->contacts.collider_count; c++)
      if (scene->contacts.colliders[c].implicit)
        visit(x, &scene->contacts.colliders[c], x->particles.surface[k], push++);
  }
}

static void solve_touch(const xpbd *x, const eb_collider *collider, int64_t node, double *push) {
  eb_particle *at = eb_particle_of(&x->particles, node);
  double p[3] = {(*at)[0], (*at)[1], (*at)[2]}, n[3], velocity[3], w = (*at)[3];
  double C = eb_collider_distance(collider, x->time, p, n, velocity) - collider->margin;
  double c = x->h * x->h * collider->stiffness * x->particles.scene->node_area[node];
  double l = fmax(0, *push - (c * C + *push) / (c * w + 1));
  for (int d = 0; d < 3; d++) (*at)[d] += w * (l - *push) * n[d];
  *push = l;
}

static void rub(const xpbd *x, const eb_collider *collider, int64_t node, double *push) {
  eb_particle *at = eb_particle_of(&x->particles, node);
  double p[3] = {(*at)[0], (*at)[1], (*at)[2]}, n[3], velocity[3], slip[3];
  double mu = eb_collider_friction(&x->particles.scene->contacts.friction, collider, node);
  double allowed = mu * (*at)[3] * *push;
  eb_collider_distance(collider, x->time, p, n, velocity);
  for (int d = 0; d < 3; d++) slip[d] = p[d] - x->start[3 * node + d] - x->h * velocity[d];
  eb_add3(-eb_dot3(slip, n), n, slip);
  double way = sqrt(eb_dot3(slip, slip));
  for (int d = 0; d < 3 && allowed > 0 && way > 0; d++)
    (*at)[d] -= fmin(1, allowed / way) * slip[d];
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Returns false when something is not finite. */
static bool substep(xpbd *x, eb_state *state, eb_step_log *log) {
  eb_particles *particles = &x->particles;
  int64_t multipliers = KINDS * (int64_t)x->batches.batch_count;
  if (!eb_particles_begin(particles, state, x->h, log)) return false;
  x->start = state->x;
  x->time = state->time + x->h;
  eb_particles_predict(particles, state, x->h, true);
  memset(x->multiplier, 0, (size_t)multipliers * sizeof *x->multiplier);
  memset(x->push, 0, sizeof *x->push * (size_t)particles->surface_count * (size_t)x->colliders);
  for (int64_t i = 0; i < x->iterations; i++) {
    eb_log_begin(log, EB_PHASE_LOCAL);
    eb_batches_sweep(&x->batches, x->batches.nodes == EB_HEXAHEDRON ? hexahedra : tetrahedra, x);
    eb_log_end(log, EB_PHASE_LOCAL);
    eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, particles->scene->mesh->element_count);
    log->iterations++;
    if (x->colliders == 0) continue;
    eb_log_begin(log, EB_PHASE_RESOLVE);
    for_touches(x, solve_touch);
    eb_log_end(log, EB_PHASE_RESOLVE);
  }
  if (x->colliders > 0) for_touches(x, rub);
  return eb_particles_finish(particles, state, x->h, true);
}

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  xpbd *x = solver->data;
  int64_t number = state->step;
  double end = state->time + dt;
  log->equation = EB_EQUATION_IMPLICIT_EULER;
  log->residual_norm = EB_NORM_NO_TOLERANCE;
  *reason = EB_DIVERGED_NAN;
  x->h = dt / (double)x->substeps;
  for (int64_t s = 0; s < x->substeps; s++) {
    bool good = substep(x, state, log);
    state->step = number;
    if (!good) return EB_OK;
  }
  state->time = end;
  state->step = number + 1;
  *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(xpbd *x) {
  eb_particles_clear(&x->particles);
  eb_batches_clear(&x->batches);
  free(x->stiffness);
  free(x->multiplier);
  free(x->push);
  free(x);
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

static double lambda_of(const eb_material *m) {
  return m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
}

/* Of the materials that its capabilities let in. */
static eb_error check_integration(const eb_mesh *mesh, const eb_material *m) {
  if (mesh->type == EB_HEXAHEDRON && m->integration == EB_INTEGRATION_STAGGERED)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "xpbd has hexahedra of one point, not %s; use integration=one-point",
                    eb_integration_name(m->integration));
  return EB_OK;
}

static void set_stiffness(xpbd *x, const eb_scene *scene) {
  const eb_batches *batches = &x->batches;
  for (int64_t k = 0; k < (int64_t)batches->batch_count * EB_LANES; k++) {
    if (batches->element[k] < 0) continue;
    const eb_material *m = &scene->materials[scene->mesh->region[batches->element[k]]];
    int64_t b = k / EB_LANES, lane = k % EB_LANES;
    double mu = m->young / (2 * (1 + m->poisson)), V = batches->volume[b][lane];
    x->stiffness[KINDS * b + SHAPE][lane] = 2 * mu * V;
    x->stiffness[KINDS * b + VOLUME][lane] = 3 * lambda_of(m) * V;
    x->stiffness[KINDS * b + HOURGLASS][lane] =
        batches->nodes == EB_HEXAHEDRON ? 2 * m->hourglass * mu * cbrt(V) : 0;
    x->holds_volume |= m->poisson != 0;
  }
}

static eb_error prepare(xpbd *x, const eb_solver *solver) {
  const eb_scene *scene = solver->scene;
  for (int32_t r = 0; r < scene->material_count; r++)
    EB_TRY(check_integration(scene->mesh, &scene->materials[r]));
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    x->colliders += scene->contacts.colliders[c].implicit;
  eb_log_begin(solver->setup_log, EB_PHASE_ORDER);
  EB_TRY(eb_batches_create(scene, &x->batches));
  eb_log_end(solver->setup_log, EB_PHASE_ORDER);
  EB_TRY(eb_particles_create(solver, &x->batches, &x->particles));
  EB_TRY(EB_NEW(x->stiffness, KINDS * (int64_t)x->batches.batch_count));
  EB_TRY(EB_NEW(x->multiplier, KINDS * (int64_t)x->batches.batch_count));
  EB_TRY(EB_NEW(x->push, (int64_t)x->particles.surface_count * x->colliders));
  set_stiffness(x, scene);
  eb_log_memory(solver->setup_log, EB_MEMORY_ELEMENTS,
                (double)eb_batches_bytes(&x->batches) +
                    2.0 * KINDS * x->batches.batch_count * sizeof(eb_v4));
  return EB_OK;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  xpbd *x = NULL;
  (void)scene;
  EB_TRY(EB_NEW(x, 1));
  x->iterations = eb_values_int(solver->options, "iterations");
  x->substeps = eb_values_int(solver->options, "substeps");
  eb_error error = prepare(x, solver);
  if (error) {
    release(x);
    return error;
  }
  solver->data = x;
  return EB_OK;
}

static eb_update update_of(const eb_values *values) {
  return eb_values_int(values, "substeps") > 1 ? EB_UPDATE_SUBSTEPS : EB_UPDATE_END_VELOCITY;
}

const eb_solver_ops eb_solver_xpbd = {
    .name = "xpbd",
    .summary = "extended position-based dynamics: compliant constraints, small steps",
    .citation = "Macklin, Mueller and Chentanez 2016; Macklin et al. 2019",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_ONE_POINT | EB_CAP_PROJECTIVE | EB_CAP_SCRIPTED |
                    EB_CAP_COLLIDERS | EB_CAP_IMPLICIT_PENALTY,
    .options = options,
    .accuracy_options = "iterations=1..20 substeps=1..50",
    .update = EB_UPDATE_END_VELOCITY,
    .update_of = update_of,
    .create = create,
    .step = step,
    .destroy = destroy};
