/* The equation of motion of the unknowns, and friction on them; derived in conjac.h.
 *
 *   J^T (M + beta h^2 H) J y = J^T (M (v0 - c) + h f) - beta h^2 B^T (H c - b)_n
 *
 * The right-hand side has J^T M v0 with the velocities that all nodes had, and not J^T M J y0. With
 * v0 = J0 y0 of the step before,
 *
 *   J^T M (J y - J0 y0) = J^T M J (y - y0) + J^T M (J - J0) y0,
 *
 * the last term is h times J^T M dJ/dt y of Equation 9: it need not be formed.
 *
 * y are velocities (m/s) and rates of joints (rad/s), the equation is one of momenta: N s, or N m s
 * at joints. beta scales only the stiffness in the matrix, not f: it damps, and leaves equilibria
 * where they are.
 *
 * J^T M J is the sum of products of blocks of rows of M^1/2 J, each packed into the cache: J is
 * read once. Sums run in the order of nodes: the same bits for any number of threads.
 *
 * The penalty of problems/contact/implicit_penalty.h is linear in v, k depth n - (scale / h) k P
 * (v - w), so its springs are part of H and its force is part of f: J knows the colliders. What
 * moving colliders bring, b = k P w, goes with the script's velocities into c. With
 * predict_contact=true the contacts of a step include nodes that are about to arrive, with a w that
 * slows them down to it, so that c is not 0 in a fall.
 *
 * Friction changes v to vf = v + d, d = 0 but at contacts (Bridson et al. 2002), and the unknowns
 * follow by least squares, weighted with the matrix of the step (Section 4 of the paper, "Bunny"):
 *   min |vf - J y - c|^2 in M + beta h^2 H
 *   =>  A dy = J^T (M + beta h^2 H) d = J^T M d + beta h^2 (J^T H J) d_d,
 * as J^T H vanishes on quasistatic nodes. There an impulse moves all that hangs on the node: a
 * projection leaves most of the slip, and a body at rest would creep down any slope. Further passes
 * repeat both on what is left, with impulses that add up within Coulomb's bound; the first pass is
 * the paper's.
 *
 * Reference: Weidner, Kim and Sueda 2020, Equations 9 to 11; Bridson, Fedkiw and Anderson 2002.
 * Needs: J, p, c and the rows of H of this step or of the one whose factor is kept.
 * Workspace: three matrices unknowns x unknowns.
 * Fails: EB_DIVERGED_NAN, EB_NOT_POSITIVE_DEFINITE. */
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

/* J^T H J = B^T (H J)_n. (H J)_q = H_qn B + H_qq X = 0 by the choice of X, so that only the rows of
 * moving nodes n are left, and scripted ones have no rows in B. It is the Schur complement of H_qq
 * in H: the stiffness of the body as its moving nodes feel it when the others have come to rest. By
 * rows. */
static void stiffness_product(eb_conjac *c) {
  eb_reduced_system *r = &c->reduced;
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

/* rhs -= scale B^T (H c - b) of one moving node: the force per velocity at which script and
 * colliders pull at it through the quasistatic nodes, which is stiffness times a velocity, as J^T H
 * J y is. */
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

/* ---- joints of rigid bodies ---- */

/* Their equation, into the last rows; see conjac.h. M_r is the mass matrix of the linkage at q0,
 * tau its gravity, limits and Coriolis forces; springs of limits and dampers are implicit, K and D
 * >= 0, so that the matrix stays definite however stiff they are. */
static void add_joints(eb_conjac *c, const eb_state *state, double dt) {
  eb_reduced_system *r = &c->reduced;
  const eb_articulation *bodies = c->part.scene->rigid.articulation;
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

/* B^T (H J)_n is symmetric as the Schur complement is, up to the rounding of H_qq's solves: the
 * mean of both halves is what the factorization sees. -inertia: the kernel has subtracted. */
static void matrix(eb_conjac *c, double scale) {
  eb_reduced_system *r = &c->reduced;
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
  /* J^T w: momenta of all nodes as the unknowns feel them. */
  int64_t n = c->part.unknowns;
  for (int64_t j = 0; j < n; j++) c->reduced.rhs[j] = 0;
  for (int64_t k = 0; k < c->work.size; k++)
    for (int64_t j = 0; j < n; j++) c->reduced.rhs[j] += work->rhs[k] * row_of(c, k)[j];
  if (!c->inhomogeneous) return;
  eb_conjac_collider_force(c, c->trial);
  for (int32_t m = 0; m < c->part.moving; m++)
    subtract_constant(c, &c->part.move[m], c->trial + 3 * (int64_t)c->part.move[m].node, scale);
}

/* y = inv(system) y. */
static void back_substitute(const eb_conjac *c, double *y) {
  int64_t n = c->part.unknowns;
  eb_forward_d(n, 0, c->reduced.factor, n, 1, y, 1, NULL, 1);
  eb_backward_d(n, 0, c->reduced.factor, n, 1, y, 1, NULL, 1);
}

static eb_reason solve(eb_conjac *c) {
  eb_reduced_system *r = &c->reduced;
  int64_t n = c->part.unknowns;
  /* A pivot below rounding of its diagonal entry means a mode without inertia and stiffness. */
  double finite = 0; /* stays 0 unless an entry is infinite or NaN */
  for (int64_t j = 0; j < n; j++) {
    finite += 0 * r->rhs[j];
    for (int64_t i = j; i < n; i++) finite += 0 * r->factor[j * n + i];
    r->floor[j] = DBL_EPSILON * fmax(r->factor[j * (n + 1)], 0);
    r->y[j] = r->rhs[j];
  }
  if (finite != 0) return EB_DIVERGED_NAN;
  if (eb_potrf_d(n, r->factor, n, r->floor) >= 0) return EB_NOT_POSITIVE_DEFINITE;
  back_substitute(c, r->y);
  return EB_CONVERGED_DIRECT;
}

/* ---- friction -------------------------------------------------------------------------------- */

/* v of node i with the present unknowns. */
static void velocity_at(const eb_conjac *c, int64_t i, double v[3]) {
  for (int64_t k = 3 * i; k < 3 * i + 3; k++) {
    const double *row = c->jacobian + k * c->stride;
    v[k - 3 * i] = c->inhomogeneous ? c->constant[k] : 0;
    for (int64_t j = 0; j < c->part.unknowns; j++) v[k - 3 * i] += row[j] * c->reduced.y[j];
  }
}

/* What the friction of one contact still gives to its node in this pass: change of velocity. Keeps
 * the sum of its impulses within mu times the normal one.
 *
 * On a node of mass m the impulse that stops its slip is -m slip_t. Together with what friction
 * has given before it is brought back into the disc of radius mu p_n, p_n the normal impulse of
 * the step: Coulomb's law for the sum over all passes, and what the node gets now is the
 * difference. So later passes may also take back what was too much. */
static void friction_change(const eb_touch *touch, eb_friction *friction, double mass,
                            const double v[3], double change[3]) {
  double slip[3], along = 0, size = 0;
  for (int d = 0; d < 3; d++) slip[d] = v[d] - touch->velocity[d];
  for (int d = 0; d < 3; d++) along += slip[d] * touch->normal[d];
  for (int d = 0; d < 3; d++) {
    change[d] = friction->impulse[d] - mass * (slip[d] - along * touch->normal[d]);
    size += change[d] * change[d];
  }
  double shrink = size > 0 ? fmin(1, friction->bound / sqrt(size)) : 0;
  for (int d = 0; d < 3; d++) {
    double wanted = shrink * change[d];
    change[d] = (wanted - friction->impulse[d]) / mass;
    friction->impulse[d] = wanted;
  }
}

/* to += J^T (M + beta h^2 H) d of one node. */
static void add_change(const eb_conjac *c, int64_t i, double mass, double scale,
                       const double change[3], double *to) {
  const eb_reduced_system *r = &c->reduced;
  int64_t n = c->part.unknowns;
  for (int64_t k = 0; k < 3; k++) {
    const double *row = c->jacobian + (3 * i + k) * c->stride;
    for (int64_t j = 0; j < n; j++) to[j] += mass * change[k] * row[j];
  }
  if (c->part.class[i] != EB_NODE_DYNAMIC) return;
  /* A dynamic node's rows of J are unit vectors: d is the change of some unknowns. */
  for (int64_t m = 0; m < n; m++) {
    double d = 0;
    for (int64_t k = 0; k < 3; k++) d += c->jacobian[(3 * i + k) * c->stride + m] * change[k];
    for (int64_t j = 0; d != 0 && j < n; j++)
      to[j] += 0.5 * scale * d * (r->stiffness[m * n + j] + r->stiffness[j * n + m]);
  }
}

/* One filter, contact by contact where a node has several, and one projection. Returns the largest
 * change of a velocity.
 *
 * A node that is in two colliders at once has its contacts next to each other: v follows from
 * one to the next, which is Gauss-Seidel within the node. Between nodes the pass is Jacobi: they
 * meet in the projection. */
static double friction_pass(eb_conjac *c, double scale) {
  const eb_implicit *work = &c->work;
  const double *mass = eb_elasticity_mass(work->scene->elasticity);
  double *dy = c->reduced.rhs, most = 0, v[3] = {0, 0, 0}, change[3];
  int64_t n = c->part.unknowns;
  for (int64_t j = 0; j < n; j++) dy[j] = 0;
  for (int32_t k = 0; k < work->touch_count; k++) {
    const eb_touch *at = &work->touches[k];
    if (c->part.class[at->node] == EB_NODE_SCRIPTED) continue;
    if (k == 0 || at[-1].node != at->node) velocity_at(c, at->node, v);
    friction_change(at, &c->friction[k], mass[at->node], v, change);
    add_change(c, at->node, mass[at->node], scale, change, dy);
    for (int d = 0; d < 3; d++) {
      v[d] += change[d];
      most = fmax(most, fabs(change[d]));
    }
  }
  back_substitute(c, dy);
  for (int64_t j = 0; j < n; j++) c->reduced.y[j] += dy[j];
  return most;
}

static void add_friction(eb_conjac *c, double dt, double scale, eb_step_log *log) {
  const eb_implicit *work = &c->work;
  const double negligible = 1e-9; /* m/s */
  if (work->touch_count == 0 || c->part.unknowns == 0) return;
  eb_log_begin(log, EB_PHASE_RESOLVE);
  for (int32_t k = 0; k < work->touch_count; k++) {
    const eb_touch *at = &work->touches[k];
    double v[3];
    velocity_at(c, at->node, v);
    c->friction[k] = (eb_friction){.bound = at->friction * eb_touch_impulse(at, dt, scale, v)};
  }
  for (int64_t k = 0; k < c->settings.friction_passes; k++)
    if (friction_pass(c, scale) <= negligible) break;
  eb_log_end(log, EB_PHASE_RESOLVE);
}

/* ---- velocities ---- */

void eb_conjac_reduce(eb_conjac *c, const eb_state *state, double dt, bool fresh, eb_step_log *log,
                      eb_reason *reason) {
  double scale = c->settings.beta * dt * dt;
  eb_log_begin(log, EB_PHASE_PROJECT);
  /* Without unknowns no equation is solved: nodes follow the script. */
  *reason = EB_CONVERGED_ITS;
  if (c->part.unknowns) {
    if (fresh) {
      inertia_product(c);
      stiffness_product(c);
    }
    right_hand_side(c, state, dt, scale);
    matrix(c, scale);
    add_joints(c, state, dt);
    *reason = solve(c);
  }
  eb_log_end(log, EB_PHASE_PROJECT);
  if (*reason < 0) return;
  add_friction(c, dt, scale, log);
  eb_log_begin(log, EB_PHASE_PROJECT);
  /* work.unknown = J y + c */
  const double *y = c->reduced.y;
  int64_t n = c->part.unknowns;
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < c->work.size; k++) {
    double v = c->inhomogeneous ? c->constant[k] : 0;
    for (int64_t j = 0; j < n; j++) v += row_of(c, k)[j] * y[j];
    c->work.unknown[k] = v;
  }
  eb_log_end(log, EB_PHASE_PROJECT);
  eb_log_count(log, EB_COUNT_REDUCED_UNKNOWNS, c->part.unknowns);
}
