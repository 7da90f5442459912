/* The equation of motion of the unknowns; derived in conjac.h.
 *
 * J^T M J is the sum of products of blocks of rows of M^1/2 J, each packed into the cache: J is read once. Sums run in the
 * order of nodes: the same bits for any number of threads. */
#include "solvers/conjac/conjac.h"

#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- products of J ---- */

static const double *row_of(const eb_conjac *c, int64_t k) {
  return c->jacobian + k * c->stride;
}

/* -J^T M J: the sign that the kernel has. */
static void inertia_product(eb_conjac *c) {
  int64_t n = c->part.unknowns;
  for (int64_t from = 0; from < c->work.size; from += EB_PACKED_ROWS) {
    int64_t count = c->work.size - from < EB_PACKED_ROWS ? c->work.size - from : EB_PACKED_ROWS;
    for (int64_t k = 0; k < count; k++) {
      double *restrict to = c->reduced.packed + k * c->stride;
      const double *restrict row = row_of(c, from + k);
      double scale = c->root_mass[(from + k) / 3];
      for (int64_t j = 0; j < n; j++) to[j] = scale * row[j];
    }
    eb_syrk_d(n, count, c->reduced.packed, c->stride, c->reduced.inertia, n, from > 0);
  }
}

/* J^T w */
static void transposed_product(const eb_conjac *c, const double *w, double *product) {
  int64_t n = c->part.unknowns;
  for (int64_t j = 0; j < n; j++) product[j] = 0;
  for (int64_t k = 0; k < c->work.size; k++)
    for (int64_t j = 0; j < n; j++) product[j] += w[k] * row_of(c, k)[j];
}

/* 3 rows of H J, of a moving node: 3 x unknowns, row-major. */
static void multiply_rows(const eb_conjac *c, int32_t node, double *rows) {
  const eb_block_matrix *H = c->rows;
  int64_t n = c->part.unknowns;
  memset(rows, 0, (size_t)(3 * n) * sizeof *rows);
  for (int32_t b = H->start[node]; b < H->start[node + 1]; b++)
    for (int r = 0; r < 9; r++) {
      double a = H->values[9 * (int64_t)b + r], *to = rows + r / 3 * n;
      const double *row = row_of(c, 3 * (int64_t)H->column[b] + r % 3);
      for (int64_t j = 0; j < n; j++) to[j] += a * row[j];
    }
}

/* (H J) of the moving nodes, and B^T of it, by rows. */
static void stiffness_product(eb_conjac *c) {
  eb_reduced *r = &c->reduced;
  int64_t n = c->part.unknowns;
  memset(r->stiffness, 0, (size_t)(n * n) * sizeof *r->stiffness);
  for (int32_t m = 0; m < c->part.moving; m++) {
    const eb_moving_node *move = &c->part.move[m];
    double *rows = r->rows + 3 * n * m;
    multiply_rows(c, move->node, rows);
    for (int32_t k = 0; k < move->count; k++)
      for (int axis = 0; axis < 3; axis++)
        for (int64_t j = 0; j < n; j++)
          r->stiffness[(move->first + k) * n + j] +=
              move->rows[axis * move->count + k] * rows[axis * n + j];
  }
}

/* rhs -= scale B^T (H c - b) of one moving node. */
static void subtract_constant(eb_conjac *c, const eb_moving_node *move, const double b_n[3],
                              double scale) {
  const eb_block_matrix *H = c->rows;
  double sum[3] = {-b_n[0], -b_n[1], -b_n[2]};
  for (int32_t b = H->start[move->node]; b < H->start[move->node + 1]; b++)
    for (int r = 0; r < 9; r++)
      sum[r / 3] += H->values[9 * (int64_t)b + r] * c->constant[3 * (int64_t)H->column[b] + r % 3];
  for (int32_t k = 0; k < move->count; k++)
    for (int axis = 0; axis < 3; axis++)
      c->reduced.rhs[move->first + k] -= scale * move->rows[axis * move->count + k] * sum[axis];
}

/* ---- rigid bodies ---- */

/* Their equation, into the last rows; see conjac.h. */
static void add_joints(eb_conjac *c, const eb_state *state, double dt) {
  eb_reduced *r = &c->reduced;
  const eb_articulation *bodies = c->part.scene->articulation;
  int32_t joints = c->part.joints, n = c->part.unknowns, first = n - joints;
  if (!joints) return;
  eb_articulation_mass(bodies, state->q, r->joint_mass);
  eb_articulation_force(bodies, state->q, state->u, r->joint_force, r->joint_stiffness,
                        r->joint_damping);
  for (int32_t i = 0; i < joints; i++) {
    double damping = dt * r->joint_damping[i];
    r->rhs[first + i] += dt * r->joint_force[i] + damping * state->u[i];
    for (int32_t j = 0; j < joints; j++) {
      r->rhs[first + i] += r->joint_mass[i * joints + j] * state->u[j];
      r->factor[(int64_t)(first + j) * n + first + i] += r->joint_mass[i * joints + j];
    }
    r->factor[(int64_t)(first + i) * (n + 1)] += damping + dt * dt * r->joint_stiffness[i];
  }
}

/* ---- the system ---- */

static void matrix(eb_conjac *c, double scale) {
  eb_reduced *r = &c->reduced;
  int64_t n = c->part.unknowns;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++)
      r->factor[j * n + i] = -r->inertia[j * n + i] +
                             0.5 * scale * (r->stiffness[j * n + i] + r->stiffness[i * n + j]);
}

/* J^T (M (v0 - c) + h f) - scale B^T (H c - b)_n */
static void right_hand_side(eb_conjac *c, const eb_state *state, double dt, double scale) {
  eb_implicit *work = &c->work;
  const double *mass = eb_elasticity_mass(work->scene->elasticity);
  for (int64_t k = 0; k < work->size; k++) {
    double v = state->v[k] - (c->inhomogeneous ? c->constant[k] : 0);
    work->rhs[k] = mass[k / 3] * v + dt * work->rhs[k];
  }
  transposed_product(c, work->rhs, c->reduced.rhs);
  if (!c->inhomogeneous) return;
  eb_conjac_carry(c, c->trial);
  for (int32_t m = 0; m < c->part.moving; m++)
    subtract_constant(c, &c->part.move[m], c->trial + 3 * (int64_t)c->part.move[m].node, scale);
}

void eb_conjac_back_substitute(const eb_conjac *c, double *y) {
  int64_t n = c->part.unknowns;
  eb_forward_d(n, 0, c->reduced.factor, n, 1, y, 1, NULL, 1);
  eb_backward_d(n, 0, c->reduced.factor, n, 1, y, 1, NULL, 1);
}

static eb_reason solve(eb_conjac *c) {
  eb_reduced *r = &c->reduced;
  int64_t n = c->part.unknowns;
  double finite = 0; /* stays 0 unless an entry is infinite or NaN */
  for (int64_t j = 0; j < n; j++) {
    finite += 0 * r->rhs[j];
    for (int64_t i = j; i < n; i++) finite += 0 * r->factor[j * n + i];
    r->floor[j] = DBL_EPSILON * fmax(r->factor[j * (n + 1)], 0);
    r->y[j] = r->rhs[j];
  }
  if (finite != 0) return EB_DIVERGED_NAN;
  if (eb_potrf_d(n, r->factor, n, r->floor) >= 0) return EB_NOT_POSITIVE_DEFINITE;
  eb_conjac_back_substitute(c, r->y);
  return EB_CONVERGED_DIRECT;
}

/* work.unknown = J y + c */
static void expand(eb_conjac *c) {
  const double *y = c->reduced.y;
  int64_t n = c->part.unknowns;
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < c->work.size; k++) {
    double v = c->inhomogeneous ? c->constant[k] : 0;
    for (int64_t j = 0; j < n; j++) v += row_of(c, k)[j] * y[j];
    c->work.unknown[k] = v;
  }
}

static eb_reason solve_motion(eb_conjac *c, const eb_state *state, double dt, double scale,
                              bool fresh) {
  if (fresh) {
    inertia_product(c);
    stiffness_product(c);
  }
  right_hand_side(c, state, dt, scale);
  matrix(c, scale);
  add_joints(c, state, dt);
  return solve(c);
}

void eb_conjac_reduce(eb_conjac *c, const eb_state *state, double dt, bool fresh, eb_step_log *log,
                      eb_reason *reason) {
  double scale = c->settings.beta * dt * dt;
  eb_log_begin(log, EB_PHASE_PROJECT);
  *reason =
      EB_CONVERGED_ITS; /* without unknowns no equation is solved: nodes follow what is held */
  if (c->part.unknowns) *reason = solve_motion(c, state, dt, scale, fresh);
  eb_log_end(log, EB_PHASE_PROJECT);
  if (*reason < 0) return;
  eb_conjac_friction(c, dt, scale, log);
  eb_log_begin(log, EB_PHASE_PROJECT);
  expand(c);
  eb_log_end(log, EB_PHASE_PROJECT);
  eb_log_count(log, EB_COUNT_REDUCED_UNKNOWNS, c->part.unknowns);
}
