/* A body and the rigid bodies that carry some of its nodes, stepped together in full space with
 * dense algebra: the reference for a solver that condenses. All free coordinates and all joints are
 * unknowns y of a linearly implicit step, v = B y with v_a = J_a(q0) u on carried nodes:
 *
 *   (B^T (M + beta h^2 H) B + [0; M_r + h D + h^2 K]) y
 *     = B^T (M v0 + h f) + [0; M_r u0 + h tau + h D u0]
 *
 * H is the projected matrix at x0, f gravity and scripts less the gradient. Then x += h v, q += h
 * u, and carried nodes are placed. */
#ifndef EB_TESTS_COUPLED_ORACLE_H
#define EB_TESTS_COUPLED_ORACLE_H

#include <cblas.h>

#include "problems/scene_impl.h"
#include "tests/support/owned.h"
#include "tests/support/lapack.h"
#include "tests/tap.h"

typedef struct oracle {
  const eb_scene *scene;
  int size, unknowns, joints, axes;           /* size: 3 nodes; joints are the last unknowns */
  int32_t *first;                             /* nodes: first unknown; -1: carried */
  double *B, *A, *product, *system, *f, *rhs; /* column-major */
  int *pivots;
  eb_block_matrix *H;
} oracle;

static void *oracle_room(size_t count, size_t size) {
  void *room = calloc(count, size);
  if (!room) exit(1);
  return room;
}

static oracle oracle_open(const eb_scene *scene) {
  oracle o = {.scene = scene, .joints = eb_articulation_joints(scene->rigid.articulation)};
  int32_t nodes = scene->mesh->node_count;
  o.size = 3 * nodes;
  o.axes = scene->mesh->type == EB_TRIANGLE ? 2 : 3;
  o.first = oracle_room((size_t)nodes, sizeof *o.first);
  for (int32_t k = 0; k < eb_articulation_attached(scene->rigid.articulation); k++)
    o.first[eb_articulation_node(scene->rigid.articulation, k)] = -1;
  for (int32_t i = 0; i < nodes; i++)
    if (o.first[i] == 0) {
      o.first[i] = o.unknowns;
      o.unknowns += o.axes;
    }
  o.unknowns += o.joints;
  size_t size = (size_t)o.size, unknowns = (size_t)o.unknowns;
  o.B = oracle_room(size * unknowns, sizeof(double));
  o.A = oracle_room(size * size, sizeof(double));
  o.product = oracle_room(size * unknowns, sizeof(double));
  o.system = oracle_room(unknowns * unknowns, sizeof(double));
  o.f = oracle_room(2 * size, sizeof(double));
  o.rhs = oracle_room(unknowns, sizeof(double));
  o.pivots = oracle_room(unknowns, sizeof(int));
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &o.H), "H");
  return o;
}

static void oracle_close(oracle *o) {
  free(o->first);
  free(o->B);
  free(o->A);
  free(o->product);
  free(o->system);
  free(o->f);
  free(o->rhs);
  free(o->pivots);
  eb_block_matrix_destroy(o->H);
}
OWNED(oracle, oracle_close)

/* The velocities of all nodes are B y. */
static void oracle_mapping(oracle *o, const double *q) {
  double place[3], J[3 * EB_MAX_JOINTS];
  size_t size = (size_t)o->size;
  memset(o->B, 0, size * (size_t)o->unknowns * sizeof *o->B);
  for (int32_t i = 0; i < o->size / 3; i++)
    for (int d = 0; d < o->axes && o->first[i] >= 0; d++)
      o->B[(size_t)(o->first[i] + d) * size + 3 * (size_t)i + (size_t)d] = 1;
  for (int32_t k = 0; k < eb_articulation_attached(o->scene->rigid.articulation); k++) {
    size_t row = 3 * (size_t)eb_articulation_node(o->scene->rigid.articulation, k);
    eb_articulation_place(o->scene->rigid.articulation, q, k, place, J);
    for (int d = 0; d < 3; d++)
      for (int j = 0; j < o->joints; j++)
        o->B[(size_t)(o->unknowns - o->joints + j) * size + row + (size_t)d] = J[d * o->joints + j];
  }
}

/* A = M + scale H; f = the net force on every node. */
static void oracle_forces(oracle *o, const eb_state *state, double scale) {
  double *gradient = o->f + o->size;
  size_t size = (size_t)o->size;
  eb_elasticity_matrix(o->scene->elasticity, state->x, 1, scale, true, o->H, gradient);
  memset(o->A, 0, size * size * sizeof *o->A);
  for (int32_t i = 0; i < o->H->rows; i++)
    for (int32_t b = o->H->start[i]; b < o->H->start[i + 1]; b++)
      for (int r = 0; r < 9; r++)
        o->A[(3 * (size_t)o->H->column[b] + (size_t)(r % 3)) * size + 3 * (size_t)i +
             (size_t)(r / 3)] = o->H->values[9 * (size_t)b + (size_t)r];
  eb_scene_force(o->scene, state->time, state->x, state->v, o->f);
  for (int k = 0; k < o->size; k++) o->f[k] -= gradient[k];
}

static void oracle_joints(oracle *o, const eb_state *state, double h) {
  double mass[EB_MAX_JOINTS * EB_MAX_JOINTS], tau[EB_MAX_JOINTS];
  double stiffness[EB_MAX_JOINTS], damping[EB_MAX_JOINTS];
  int n = o->joints, first = o->unknowns - n;
  eb_articulation_mass(o->scene->rigid.articulation, state->q, mass);
  eb_articulation_force(o->scene->rigid.articulation, state->q, state->u, tau, stiffness, damping);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      o->system[(size_t)(first + j) * (size_t)o->unknowns + (size_t)(first + i)] += mass[i * n + j];
      o->rhs[first + i] += mass[i * n + j] * state->u[j];
    }
    o->system[(size_t)(first + i) * (size_t)(o->unknowns + 1)] +=
        h * damping[i] + h * h * stiffness[i];
    o->rhs[first + i] += h * tau[i] + h * damping[i] * state->u[i];
  }
}

static void oracle_advance(oracle *o, eb_state *state, double h) {
  cblas_dgemv(CblasColMajor, CblasNoTrans, o->size, o->unknowns, 1, o->B, o->size, o->rhs, 1, 0,
              state->v, 1);
  for (int k = 0; k < o->size; k++) state->x[k] += h * state->v[k];
  for (int j = 0; j < o->joints; j++) {
    state->u[j] = o->rhs[o->unknowns - o->joints + j];
    state->q[j] += h * state->u[j];
  }
  for (int32_t k = 0; k < eb_articulation_attached(o->scene->rigid.articulation); k++)
    eb_articulation_place(
        o->scene->rigid.articulation, state->q, k,
        state->x + 3 * (size_t)eb_articulation_node(o->scene->rigid.articulation, k), NULL);
  state->time += h;
  state->step++;
}

static void oracle_step(oracle *o, eb_state *state, double h, double beta) {
  const double *mass = eb_elasticity_mass(o->scene->elasticity);
  oracle_mapping(o, state->q);
  oracle_forces(o, state, beta * h * h);
  for (int k = 0; k < o->size; k++) o->f[k] = mass[k / 3] * state->v[k] + h * o->f[k];
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, o->size, o->unknowns, o->size, 1, o->A,
              o->size, o->B, o->size, 0, o->product, o->size);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, o->unknowns, o->unknowns, o->size, 1, o->B,
              o->size, o->product, o->size, 0, o->system, o->unknowns);
  cblas_dgemv(CblasColMajor, CblasTrans, o->size, o->unknowns, 1, o->B, o->size, o->f, 1, 0, o->rhs,
              1);
  oracle_joints(o, state, h);
  if (lapack_solve(o->unknowns, o->system, o->rhs, o->pivots) != 0) o->rhs[0] = NAN;
  oracle_advance(o, state, h);
}

#endif
