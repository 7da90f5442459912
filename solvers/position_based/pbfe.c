/* Position-based finite elements: constraints of elements, solved one after the other.
 *
 *   p = x0 + h v0,   v = v0 + h f_ext / m
 *   R_e: the rotations of the elements at p, once
 *   iterations times: collisions; for all elements dx = -k w dC/dx C / sum_b w_b |dC/dx_b|^2
 *   x1 = p,   v1 = v + sum dx / h
 *
 * Reference: Lewin 2016, Section 5.3, Algorithms 2 and 3. The constraints of an element with the
 * deformation gradient F at its centre, each with a stiffness k from 0 to 1:
 *
 *   C_CR = |F - R|^2        (ks)    R frozen during the iterations
 *   C_HG = sum_i |G_i|^2    (khg)   hexahedra, G_i = sum_a gamma_ia x_a (Eqs. 4.33, 4.34)
 *   C_V  = det F - 1        (kv)    Eq. 5.23; volume=trace: tr(R^T F - I)^2 of Fig. 5.1
 *
 * The three are evaluated at one place and then solved, as Algorithm 2 has it. The thesis takes
 * energies for constraints (Section 5.3), and the gradient for the force. A step of Newton's method
 * from an energy C = c^2 to C = 0 goes half of the way to c = 0, C / (2 c |dc|) |dc| = c / 2:
 * constraint=norm takes c itself, and with k = 1 meets it. det F - 1 is no energy and goes all the
 * way in both. A stiffness is no modulus: what a body resists with grows with k, iterations and 1/h
 * and falls with resolution; no modulus of the scene's material enters.
 *
 * order=paper moves positions by the velocity that f_ext has not changed yet, so that
 * x1 = x0 + h v1 - h^2 f_ext / m: a fall of n steps is g h^2 n (n - 1) / 2 deep.
 * order=symplectic adds h f_ext / m first: x1 = x0 + h v1.
 *
 * Damping is the last act of a step in Algorithm 2. Here it is the first one of the next, of the
 * velocities that it starts from: positions are the same, and what a step says its velocities are
 * is what its positions have done. It takes a share of what the velocities of an element are beyond
 * its rigid motion (Mueller et al. 2007, Section 3.5, element by element): momenta stay.
 *
 * Collisions: nodes of the surface that are in a collider are put out of it, along its normal, and
 * slide back by at most Coulomb's share of that (Macklin et al. 2014, Eq. 24); implicit colliders
 * and explicit ones alike. The penalty of explicit ones is in f_ext: to find nothing there, a last
 * projection ends the step where there are any.
 *
 * Needs: masses and rest shapes. Workspace: eb_batches, a rotation and a quaternion an element.
 * Fails: EB_DIVERGED_NAN when state, forces or what becomes of them are not finite. There is no
 * tolerance to meet: EB_CONVERGED_ITS. */
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/rotation.h"
#include "problems/scene_impl.h"
#include "solvers/position_based/position_constraints.h"
#include "solvers/position_based/particles.h"
#include "solvers/registry.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SHARE(name_, fallback_, doc_)                                                              \
  {                                                                                                \
    .name = name_, .type = EB_OPTION_REAL, .fallback = fallback_, .min = 0, .max = 1, .unit = "",  \
    .doc = doc_                                                                                    \
  }
static const eb_option options[] = {
    {.name = "iterations",
     .type = EB_OPTION_INT,
     .fallback = "10",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "sweeps over all elements a step"},
    SHARE("ks", "0.5", "stiffness of the corotational constraint"),
    SHARE("khg", "0.5", "stiffness of the hourglass constraint of hexahedra"),
    SHARE("kv", "0.5", "stiffness of the volume constraint"),
    {.name = "constraint",
     .type = EB_OPTION_CHOICE,
     .fallback = "energy",
     .choices = "energy|norm",
     .unit = "",
     .doc = "what is brought to nought: energies, which go half-way, or their roots"},
    {.name = "volume",
     .type = EB_OPTION_CHOICE,
     .fallback = "determinant",
     .choices = "determinant|trace|none",
     .unit = "",
     .doc = "volume constraint: det F - 1, or the trace of R^T F - I"},
    {.name = "rotation",
     .type = EB_OPTION_CHOICE,
     .fallback = "spin",
     .choices = EB_ROTATION_CHOICES,
     .unit = "",
     .doc = "estimator of the elements' rotations, once a step"},
    {.name = "rotation_start",
     .type = EB_OPTION_CHOICE,
     .fallback = "warm",
     .choices = "warm|cold",
     .unit = "",
     .doc = "where estimators that track start: from the last step, or from the identity"},
    {.name = "order",
     .type = EB_OPTION_CHOICE,
     .fallback = "paper",
     .choices = "paper|symplectic",
     .unit = "",
     .doc = "what comes first: positions move, or forces change velocities"},
    SHARE("damping", "0", "share of each element's velocity beyond its rigid motion that is lost"),
    {.name = "bounded",
     .type = EB_OPTION_BOOL,
     .fallback = "true",
     .unit = "",
     .doc = "no projection raises its constraint or strains its element by more than 1"},
    {0}};

enum { MOMENTS = 9 + 6 }; /* three modes, inverse inertia */

typedef enum volume { NO_VOLUME, DETERMINANT, TRACE } volume;

typedef struct pbfe {
  eb_particles particles;
  eb_batches batches;
  eb_rotation_rests rests; /* of EB_ROTATION_OF_POSITIONS */
  eb_v4 *moments;          /* batches x MOMENTS, of EB_ROTATION_OF_MOMENTS: see make_moments */
  eb_rotation_method method;
  bool cold, forced, bounded, explicit_colliders;
  volume volume;
  int64_t iterations;
  double ks, khg, kv; /* with the half of energies */
  double damping;
  eb_v4 *q, *R;      /* batches x 4, x 9 */
  double *rotations; /* elements x 9: R, for the log */
  eb_state *state;   /* of the step, for those that sweep */
} pbfe;

/* ---- rotations ------------------------------------------------------------------------------- */

static void forget_rotations(pbfe *s) {
  for (int64_t k = 0; k < 4 * (int64_t)s->batches.batch_count; k++) s->q[k] = eb_v4_set(k % 4 == 0);
}

/* M = sum p0 x^T. Modes of corners are orthogonal to each other, and their squares are 8: M is the
 * sum of the products of those of p0 and x, over 8. Of p0, those along xi, eta and zeta are in P,
 * over 8, and the others are the skew, most often 0. In tetrahedra P are p0 of nodes 1 to 3. */
EB_INLINE void moments_of(int A, const eb_batch *e, const eb_v4 *P, eb_v4 M[9]) {
  for (int c = 0; c < 3; c++) {
    eb_v4 along[3];
    for (int k = 0; k < 3; k++)
      along[k] = A == EB_HEXAHEDRON ? e->mode[k + 1][c] : e->x[k + 1][c] - e->x[0][c];
    for (int i = 0; i < 3; i++)
      M[3 * i + c] = P[i] * along[0] + P[3 + i] * along[1] + P[6 + i] * along[2];
  }
  if (A != EB_HEXAHEDRON || !e->skew) return;
  for (int k = 0; k < EB_HOURGLASSES; k++)
    for (int i = 0; i < 9; i++) M[i] += 0.125 * e->skew[3 * k + i / 3] * e->mode[4 + k][i % 3];
}

/* Those that take F have that of the constraints, of hexahedra at the centre. */
EB_INLINE void rotate_batch(pbfe *s, int A, int64_t b) {
  eb_rotation_input input = eb_rotations[s->method].input;
  const eb_v4 *inverse_inertia = NULL;
  eb_batch e;
  eb_v4 M_or_F[9];
  eb_load(A, &s->batches, b, s->particles.at, &e);
  if (input == EB_ROTATION_OF_POSITIONS) {
    const eb_rotation_rest rest = eb_rotation_rest_of(&s->rests, (int32_t)b);
    eb_v4 x[EB_HEXAHEDRON][3];
    for (int a = 0; a < A; a++) memcpy(x[a], e.x[a], sizeof x[a]);
    eb_rotate4(s->method, A, &rest, (const eb_v4(*)[3])x, s->q + 4 * b, s->R + 9 * b);
    return;
  }
  if (input == EB_ROTATION_OF_MOMENTS) {
    const eb_v4 *moments = s->moments + MOMENTS * b;
    moments_of(A, &e, moments, M_or_F);
    inverse_inertia = moments + 9;
  } else
    eb_deformation(A, &e, M_or_F);
  eb_rotate_of4(s->method, M_or_F, inverse_inertia, s->q + 4 * b, s->R + 9 * b);
}

static void update_rotations(pbfe *s) {
  if (s->cold) forget_rotations(s);
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < s->batches.batch_count; b++)
    if (s->batches.nodes == EB_HEXAHEDRON)
      rotate_batch(s, EB_HEXAHEDRON, b);
    else
      rotate_batch(s, EB_TETRAHEDRON, b);
}

static void record_rotations(const pbfe *s) {
  for (int64_t k = 0; k < (int64_t)s->batches.batch_count * EB_LANES; k++)
    for (int64_t i = 0, e = s->batches.element[k]; e >= 0 && i < 9; i++)
      s->rotations[9 * e + i] = s->R[9 * (k / EB_LANES) + i][k % EB_LANES];
}

/* ---- elements -------------------------------------------------------------------------------- */

/* P = minus what the corotational constraint moves F by, before its mobility. */
EB_INLINE void solve_shape(const pbfe *s, const eb_v4 *M, const eb_v4 F[9], const eb_v4 R[9],
                           eb_v4 P[9]) {
  eb_v4 D[9], Q[9];
  for (int i = 0; i < 9; i++) D[i] = F[i] - R[i];
  eb_times_symmetric(3, D, M, Q);
  eb_v4 step = eb_linear_step(eb_v4_set(s->ks), eb_contract9(D, D), eb_contract9(D, Q),
                              eb_contract9(Q, Q), s->bounded);
  for (int i = 0; i < 9; i++) P[i] = -step * D[i];
}

/* Adds that of the volume constraint. */
EB_INLINE void solve_volume(const pbfe *s, volume kind, const eb_v4 *M, const eb_v4 F[9],
                            const eb_v4 R[9], eb_v4 P[9]) {
  eb_v4 C[9], Q[9], value;
  if (kind == DETERMINANT)
    value = eb_determinant(F, C) - 1;
  else {
    value = eb_contract9(R, F) - 3;
    for (int i = 0; i < 9; i++) C[i] = R[i];
  }
  eb_times_symmetric(3, C, M, Q);
  eb_v4 step =
      eb_newton_step(eb_v4_set(s->kv), value, eb_contract9(C, Q), eb_contract9(Q, Q), s->bounded);
  for (int i = 0; i < 9; i++) P[i] -= step * C[i];
}

EB_INLINE void solve_hourglass(const pbfe *s, const eb_batch *e, const eb_v4 F[9], eb_v4 (*H)[3]) {
  eb_v4 G[EB_HOURGLASSES][3], Q[EB_HOURGLASSES][3], N[EB_HOURGLASSES][EB_HOURGLASSES];
  eb_hourglass_modes(e, F, G);
  eb_hourglass_mobility(e, N);
  eb_times_hourglass_mobility(G, N, Q);
  eb_v4 step = eb_linear_step(eb_v4_set(s->khg), eb_contract_modes(G, G), eb_contract_modes(G, Q),
                              eb_contract_modes(Q, Q), s->bounded);
  for (int i = 0; i < EB_HOURGLASSES; i++)
    for (int d = 0; d < 3; d++) H[i][d] = -step * G[i][d];
}

EB_INLINE void project(int A, volume kind, const pbfe *s, int32_t begin, int32_t end) {
  for (int64_t b = begin; b < end; b++) {
    eb_batch e;
    eb_v4 F[9], M[6], P[9], H[EB_HOURGLASSES][3];
    const eb_v4 *R = s->R + 9 * b;
    eb_load(A, &s->batches, b, s->particles.at, &e);
    eb_deformation(A, &e, F);
    eb_mobility(A, &e, M);
    solve_shape(s, M, F, R, P);
    if (kind != NO_VOLUME) solve_volume(s, kind, M, F, R, P);
    if (A == EB_HEXAHEDRON) solve_hourglass(s, &e, F, H);
    eb_move(A, P, A == EB_HEXAHEDRON ? H : NULL, &e);
    eb_store(A, &e, s->particles.at);
  }
}

#define VISIT(name, A, kind)                                                                       \
  static void name(void *context, int32_t begin, int32_t end) {                                    \
    project(A, kind, context, begin, end);                                                         \
  }
VISIT(tetrahedra, EB_TETRAHEDRON, NO_VOLUME)
VISIT(tetrahedra_determinant, EB_TETRAHEDRON, DETERMINANT)
VISIT(tetrahedra_trace, EB_TETRAHEDRON, TRACE)
VISIT(hexahedra, EB_HEXAHEDRON, NO_VOLUME)
VISIT(hexahedra_determinant, EB_HEXAHEDRON, DETERMINANT)
VISIT(hexahedra_trace, EB_HEXAHEDRON, TRACE)
static eb_batches_visit *const visits[2][3] = {
    {tetrahedra, tetrahedra_determinant, tetrahedra_trace},
    {hexahedra, hexahedra_determinant, hexahedra_trace}};

/* ---- collisions ------------------------------------------------------------------------------ */

/* A particle that has come from `start` to x, and must be out of the collider. */
static void put_out(const eb_collider *collider, double mu, double time, double dt,
                    const double start[3], double x[3]) {
  double n[3], velocity[3], slip[3];
  double depth = collider->margin - eb_collider_distance(collider, time, x, n, velocity);
  if (!(depth > 0)) return;
  /* Some roundings farther, so that none leaves it inside. */
  double out = depth + 8 * DBL_EPSILON * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + depth);
  eb_add3(out, n, x);
  for (int d = 0; d < 3; d++) slip[d] = x[d] - start[d] - dt * velocity[d];
  eb_add3(-eb_dot3(slip, n), n, slip);
  double way = sqrt(eb_dot3(slip, slip)), allowed = mu * depth;
  if (way > 0 && allowed > 0) eb_add3(-fmin(1, allowed / way), slip, x);
}

static void solve_collisions(pbfe *s, double dt, eb_step_log *log) {
  const eb_scene *scene = s->particles.scene;
  if (scene->contacts.collider_count == 0) return;
  eb_log_begin(log, EB_PHASE_RESOLVE);
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < s->particles.surface_count; k++) {
    int64_t i = s->particles.surface[k];
    if (s->particles.fixed[i]) continue;
    eb_particle *at = eb_particle_of(&s->particles, i);
    double x[3] = {(*at)[0], (*at)[1], (*at)[2]};
    for (int32_t c = 0; c < scene->contacts.collider_count; c++)
      put_out(&scene->contacts.colliders[c],
              eb_collider_friction(&scene->contacts.friction, &scene->contacts.colliders[c], i),
              s->state->time + dt, dt, s->state->x + 3 * i, x);
    for (int d = 0; d < 3; d++) (*at)[d] = x[d];
  }
  eb_log_end(log, EB_PHASE_RESOLVE);
}

/* ---- damping --------------------------------------------------------------------------------- */

/* w = inv(I) L; 0 where I is singular. I: 00 11 22 12 02 01. */
static void spin_of(const double I[6], const double L[3], double w[3]) {
  const double rows[3][3] = {{I[0], I[5], I[4]}, {I[5], I[1], I[3]}, {I[4], I[3], I[2]}};
  double cross[3][3], size = I[0] + I[1] + I[2];
  for (int i = 0; i < 3; i++) eb_cross3(rows[(i + 1) % 3], rows[(i + 2) % 3], cross[i]);
  double determinant = eb_dot3(rows[0], cross[0]);
  bool regular = determinant > 1e-12 * size * size * size;
  for (int i = 0; i < 3; i++) {
    w[i] = 0;
    for (int j = 0; regular && j < 3; j++) w[i] += cross[j][i] * L[j] / determinant;
  }
}

/* Takes a share of what the velocities of an element are beyond its rigid motion. Momenta of all
 * its nodes make that motion; those of held ones are their supports'. */
static void damp_element(const pbfe *s, const int32_t *node) {
  const double *mass = eb_scene_mass(s->particles.scene), *x = s->state->x;
  double *v = s->state->v, centre[3] = {0}, V[3] = {0}, L[3] = {0}, I[6] = {0}, w[3], total = 0;
  for (int a = 0; a < s->batches.nodes; a++) {
    int64_t i = node[a];
    total += mass[i];
    eb_add3(mass[i], x + 3 * i, centre);
    eb_add3(mass[i], v + 3 * i, V);
  }
  for (int d = 0; d < 3; d++) centre[d] /= total, V[d] /= total;
  for (int a = 0; a < s->batches.nodes; a++) {
    int64_t i = node[a];
    double r[3], l[3];
    for (int d = 0; d < 3; d++) r[d] = x[3 * i + d] - centre[d];
    eb_cross3(r, v + 3 * i, l);
    eb_add3(mass[i], l, L);
    double r2 = eb_dot3(r, r);
    for (int d = 0; d < 3; d++) {
      I[d] += mass[i] * (r2 - r[d] * r[d]);
      I[3 + d] -= mass[i] * r[(d + 1) % 3] * r[(d + 2) % 3];
    }
  }
  spin_of(I, L, w);
  for (int a = 0; a < s->batches.nodes; a++) {
    int64_t i = node[a];
    double r[3], turn[3];
    if (s->particles.fixed[i]) continue;
    for (int d = 0; d < 3; d++) r[d] = x[3 * i + d] - centre[d];
    eb_cross3(w, r, turn);
    for (int d = 0; d < 3; d++) v[3 * i + d] += s->damping * (V[d] + turn[d] - v[3 * i + d]);
  }
}

static void damp(void *context, int32_t begin, int32_t end) {
  const pbfe *s = context;
  const int32_t *elements = s->particles.scene->mesh->elements;
  for (int64_t k = (int64_t)begin * EB_LANES; k < (int64_t)end * EB_LANES; k++)
    if (s->batches.element[k] >= 0)
      damp_element(s, elements + (int64_t)s->batches.element[k] * s->batches.nodes);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static eb_error step(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                     eb_reason *reason) {
  pbfe *s = solver->data;
  log->equation = EB_EQUATION_POSITION_BASED;
  log->residual_norm = EB_NORM_NO_TOLERANCE;
  *reason = EB_DIVERGED_NAN;
  s->state = state;
  if (!eb_particles_begin(&s->particles, state, dt, log)) return EB_OK;
  eb_log_begin(log, EB_PHASE_PROJECT);
  if (s->damping > 0) eb_batches_sweep(&s->batches, damp, s);
  eb_particles_predict(&s->particles, state, dt, s->forced);
  eb_log_end(log, EB_PHASE_PROJECT);
  eb_log_begin(log, EB_PHASE_ROTATIONS);
  update_rotations(s);
  eb_log_end(log, EB_PHASE_ROTATIONS);
  eb_log_begin(log, EB_PHASE_IO);
  record_rotations(s);
  log->rotations = s->rotations;
  eb_log_end(log, EB_PHASE_IO);
  for (; log->iterations < s->iterations; log->iterations++) {
    solve_collisions(s, dt, log);
    eb_log_begin(log, EB_PHASE_LOCAL);
    eb_batches_sweep(&s->batches, visits[s->batches.nodes == EB_HEXAHEDRON][s->volume], s);
    eb_log_end(log, EB_PHASE_LOCAL);
    eb_log_count(log, EB_COUNT_ELEMENT_EVALUATIONS, s->particles.scene->mesh->element_count);
  }
  if (s->explicit_colliders) solve_collisions(s, dt, log);
  eb_log_begin(log, EB_PHASE_PROJECT);
  bool finite = eb_particles_finish(&s->particles, state, dt, s->forced);
  eb_log_end(log, EB_PHASE_PROJECT);
  if (finite) *reason = EB_CONVERGED_ITS;
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void release(pbfe *s) {
  eb_particles_clear(&s->particles);
  eb_batches_clear(&s->batches);
  eb_rotation_rests_clear(&s->rests);
  free(s->moments);
  free(s->q);
  free(s->R);
  free(s->rotations);
  free(s);
}

static void destroy(eb_solver *solver) {
  release(solver->data);
}

/* Of every batch the three modes of the places at rest, over 8, that moments_of takes, and its
 * inverse inertia. */
static eb_error make_moments(pbfe *s) {
  const int A = s->batches.nodes;
  EB_TRY(EB_NEW(s->moments, MOMENTS * (int64_t)s->batches.batch_count));
  for (int32_t b = 0; b < s->batches.batch_count; b++) {
    const eb_rotation_rest rest = eb_rotation_rest_of(&s->rests, b);
    eb_v4 *out = s->moments + MOMENTS * (int64_t)b, mode[EB_CORNERS] = {0};
    for (int i = 0; i < 3; i++) {
      for (int a = 0; a < A; a++) mode[a] = rest.p0[3 * a + i] * (A == EB_HEXAHEDRON ? 0.125 : 1);
      if (A == EB_HEXAHEDRON) eb_corner_modes(mode);
      for (int k = 0; k < 3; k++) out[3 * k + i] = mode[k + 1];
    }
    memcpy(out + 9, rest.inverse_inertia, 6 * sizeof *out);
  }
  return EB_OK;
}

/* What the estimator needs to know of the shape at rest. */
static eb_error prepare_rotations(pbfe *s, const eb_mesh *mesh) {
  eb_rotation_input input = eb_rotations[s->method].input;
  if (input == EB_ROTATION_OF_GRADIENT) return EB_OK;
  EB_TRY(eb_rotation_rests_create(mesh, s->batches.batch_count, s->batches.element, &s->rests));
  if (input == EB_ROTATION_OF_POSITIONS) return EB_OK;
  EB_TRY(make_moments(s));
  eb_rotation_rests_clear(&s->rests);
  return EB_OK;
}

static double rotation_bytes(const pbfe *s) {
  static const int of_input[] = {[EB_ROTATION_OF_MOMENTS] = MOMENTS, [EB_ROTATION_OF_GRADIENT] = 0};
  eb_rotation_input input = eb_rotations[s->method].input;
  int rest = input == EB_ROTATION_OF_POSITIONS ? 6 * s->batches.nodes + 3 : of_input[input];
  return (double)s->batches.batch_count * (4 + 9 + rest) * sizeof(eb_v4);
}

static eb_error prepare(pbfe *s, const eb_solver *solver) {
  const eb_mesh *mesh = solver->scene->mesh;
  eb_log_begin(solver->setup_log, EB_PHASE_ORDER);
  EB_TRY(eb_batches_create(solver->scene, &s->batches));
  eb_log_end(solver->setup_log, EB_PHASE_ORDER);
  EB_TRY(eb_particles_create(solver, &s->batches, &s->particles));
  EB_TRY(prepare_rotations(s, mesh));
  EB_TRY(EB_NEW(s->q, 4 * (int64_t)s->batches.batch_count));
  EB_TRY(EB_NEW(s->R, 9 * (int64_t)s->batches.batch_count));
  EB_TRY(EB_NEW(s->rotations, 9 * (int64_t)mesh->element_count));
  forget_rotations(s);
  eb_log_memory(solver->setup_log, EB_MEMORY_ELEMENTS,
                (double)eb_batches_bytes(&s->batches) + rotation_bytes(s));
  for (int32_t c = 0; c < solver->scene->contacts.collider_count; c++)
    s->explicit_colliders |= !solver->scene->contacts.colliders[c].implicit;
  return EB_OK;
}

static bool chosen(const eb_values *values, const char *name, const char *value) {
  return strcmp(eb_values_text(values, name), value) == 0;
}

static eb_error create(eb_solver *solver, const eb_scene *scene) {
  const eb_values *values = solver->options;
  pbfe *s = NULL;
  (void)scene;
  EB_TRY(EB_NEW(s, 1));
  double share = chosen(values, "constraint", "energy") ? 0.5 : 1;
  s->iterations = eb_values_int(values, "iterations");
  s->method = eb_rotation_find(eb_values_text(values, "rotation"));
  s->cold = chosen(values, "rotation_start", "cold");
  s->forced = chosen(values, "order", "symplectic");
  s->bounded = eb_values_bool(values, "bounded");
  s->volume = chosen(values, "volume", "none")          ? NO_VOLUME
              : chosen(values, "volume", "determinant") ? DETERMINANT
                                                        : TRACE;
  s->ks = share * eb_values_real(values, "ks");
  s->khg = share * eb_values_real(values, "khg");
  s->kv = (s->volume == TRACE ? share : 1) * eb_values_real(values, "kv");
  if (s->kv == 0) s->volume = NO_VOLUME;
  s->damping = eb_values_real(values, "damping");
  eb_error error = prepare(s, solver);
  if (error) {
    release(s);
    return error;
  }
  solver->data = s;
  return EB_OK;
}

static eb_update update_of(const eb_values *values) {
  return chosen(values, "order", "paper") ? EB_UPDATE_LATE_FORCE : EB_UPDATE_END_VELOCITY;
}

const eb_solver_ops eb_solver_pbfe = {
    .name = "pbfe",
    .summary = "position-based finite elements: corotational, hourglass and volume constraints",
    .citation = "Lewin 2016, Section 5.3; Mueller et al. 2007",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_ONE_POINT | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_IMPLICIT_PENALTY,
    .options = options,
    .accuracy_options = "iterations=1..100",
    .update = EB_UPDATE_LATE_FORCE,
    .update_of = update_of,
    .create = create,
    .step = step,
    .destroy = destroy};
