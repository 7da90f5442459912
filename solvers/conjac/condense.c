/* The condensation: the factor of H_qq and what it gives, J, p and c; derived in conjac.h.
 *
 *   X = -inv(H_qq) H_qn B,   p = inv(H_qq) f_q,   c_q = inv(H_qq) (k P w - H_qs v_s)
 *
 * H_qq is factored in the pattern of H, with the identity (times the mean diagonal) in the rows and
 * columns of the other nodes: one symbolic factorization serves every partition. Right-hand sides
 * are 0 there, and so are solutions until B and v_s are written in. The rows of H that are about to
 * be cleared are kept: H_qn is their transpose.
 *
 * Equation 4 of the paper is f = f0 - h H v at the nodes q and n. Its lower row with f_q = f_q0
 * gives J (Equation 6): the forces on quasistatic nodes do not change. With f_q = 0 instead it has
 * p / h beside J v_n (b_q of Equation 12): what brings them to 0. The paper keeps b_q out of the
 * velocities and puts gamma p into the positions (Equation 13), for a correction is no momentum.
 *
 * p is in m, J has no unit at dynamic nodes and m/rad at joints, c is in m/s.
 *
 * Reference: Weidner, Kim and Sueda 2020, Equations 1 to 7, 12 and 13.
 * Needs: H positive semi-definite element by element, no rigid mode left.
 * Workspace: two matrices of nodes x unknowns.
 * Fails: EB_NOT_POSITIVE_DEFINITE, as the factorization does. */
#include "solvers/conjac/conjac.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

#include <stdio.h>
#include <string.h>

enum { LANES = 8 }; /* of a row of J */

/* ---- memory ---- */

void eb_conjac_release_columns(eb_conjac *c) {
  eb_reduced_system *r = &c->reduced;
  eb_partition_clear(&c->part);
  free(c->rhs);
  free(c->jacobian);
  free(r->inertia);
  free(r->stiffness);
  free(r->factor);
  free(r->floor);
  free(r->rhs);
  free(r->y);
  free(r->rows);
  free(r->packed);
  *r = (eb_reduced_system){0};
  c->rhs = c->jacobian = NULL;
}

eb_error eb_conjac_allocate_columns(eb_conjac *c) {
  eb_reduced_system *r = &c->reduced;
  EB_TRY(eb_partition_create(c->work.scene, &c->chosen, &c->part));
  int64_t unknowns = eb_partition_most_unknowns(&c->part), moving = c->part.room;
  c->stride = (unknowns + 2 + LANES - 1) / LANES * LANES;
  /* J of all nodes of a mesh is a full matrix: it is asked for before the machine is brought to its
   * knees. */
  char what[96];
  double numbers = 2 * (double)c->stride * (double)c->work.size +
                   3 * (double)unknowns * (double)(unknowns + moving);
  snprintf(what, sizeof what, "conjac: the Jacobian of %d dynamic nodes of %d", c->chosen.count,
           c->part.nodes);
  EB_TRY(eb_memory_require(numbers * sizeof(double), what,
                           "use fewer dynamic nodes or a smaller scene"));
  EB_TRY(EB_NEW(c->rhs, c->stride * c->work.size));
  EB_TRY(EB_NEW(c->jacobian, c->stride * c->work.size));
  c->factor_valid = false;
  c->rhs_stale = true;
  EB_TRY(EB_NEW(r->inertia, unknowns * unknowns));
  EB_TRY(EB_NEW(r->stiffness, unknowns * unknowns));
  EB_TRY(EB_NEW(r->factor, unknowns * unknowns));
  EB_TRY(EB_NEW(r->floor, unknowns));
  EB_TRY(EB_NEW(r->rhs, unknowns));
  EB_TRY(EB_NEW(r->y, unknowns));
  EB_TRY(EB_NEW(r->rows, 3 * moving * unknowns));
  return EB_NEW(r->packed, c->stride * EB_PACKED_ROWS);
}

void eb_conjac_partition(eb_conjac *c, const double *angles) {
  if (!eb_partition_update(&c->part, &c->chosen, c->work.fixed, angles)) return;
  c->factor_valid = false;
  c->rhs_stale = true;
}

/* ---- the factor ---- */

void eb_conjac_collider_force(const eb_conjac *c, double *to) {
  memset(to, 0, (size_t)c->work.size * sizeof *to);
  eb_touches_carry(c->work.touches, c->work.touch_count, 1, to);
}

eb_error eb_conjac_factor(eb_conjac *c, bool keep, eb_step_log *log, eb_reason *reason) {
  const eb_block_matrix *H = c->work.matrix;
  eb_log_begin(log, EB_PHASE_RHS);
  eb_touches_matrix(c->work.touches, c->work.touch_count, 1, c->work.matrix);
  for (int32_t i = 0; keep && i < H->rows; i++)
    if (c->part.class[i] != EB_NODE_QUASISTATIC)
      memcpy(c->rows->values + 9 * (int64_t)H->start[i], H->values + 9 * (int64_t)H->start[i],
             9 * (size_t)(H->start[i + 1] - H->start[i]) * sizeof *H->values);
  eb_block_constrain(c->work.matrix, c->part.class, NULL, NULL);
  eb_log_end(log, EB_PHASE_RHS);
  eb_log_begin(log, EB_PHASE_FACTOR);
  eb_error error = eb_multifrontal_factor(c->factor, c->work.matrix, log, reason);
  eb_log_end(log, EB_PHASE_FACTOR);
  return error;
}

/* ---- right-hand sides ---- */

/* c = k P w - H_qs v_s, the right-hand side in its place: the force per velocity by which what is
 * known to move pulls at the quasistatic nodes. H_qs is the transpose of the kept rows of scripted
 * nodes, block by block, as H is symmetric. */
static void constant_rhs(eb_conjac *c) {
  const eb_block_matrix *H = c->rows;
  eb_conjac_collider_force(c, c->constant);
  for (int64_t k = 0; k < c->work.size; k++)
    if (c->part.class[k / 3] != EB_NODE_QUASISTATIC) c->constant[k] = 0;
  for (int32_t i = 0; i < H->rows; i++) {
    const double *v = c->work.prescribed + 3 * (int64_t)i;
    if (c->part.class[i] != EB_NODE_SCRIPTED) continue;
    for (int32_t b = H->start[i]; b < H->start[i + 1]; b++) {
      if (c->part.class[H->column[b]] != EB_NODE_QUASISTATIC) continue;
      const double *a = H->values + 9 * (int64_t)b;
      double *to = c->constant + 3 * (int64_t)H->column[b];
      for (int r = 0; r < 3; r++) to[r] -= a[r] * v[0] + a[3 + r] * v[1] + a[6 + r] * v[2];
    }
  }
}

/* Sets -H_qi B to 0, of one moving node i, or adds it.
 *
 * Moving nodes have quasistatic neighbours in common, and attached ones share their columns:
 * sums are added after all of these entries, and only these, have been set to 0. What lies
 * outside them is 0 since the partition was made, so that a step does not clear a matrix of
 * nodes x unknowns. */
static void set_column(const eb_conjac *c, const eb_moving_node *move, bool add) {
  const eb_block_matrix *H = c->rows;
  for (int32_t b = H->start[move->node]; b < H->start[move->node + 1]; b++) {
    if (c->part.class[H->column[b]] != EB_NODE_QUASISTATIC) continue;
    const double *a = H->values + 9 * (int64_t)b;
    for (int r = 0; r < 3; r++) {
      double *to = c->rhs + (3 * (int64_t)H->column[b] + r) * c->stride + move->first;
      for (int32_t k = 0; k < move->count; k++) {
        double sum = 0;
        for (int axis = 0; axis < 3; axis++)
          sum += a[3 * axis + r] * move->rows[axis * move->count + k];
        to[k] = add ? to[k] - sum : 0;
      }
    }
  }
}

/* ---- solutions ---- */

eb_error eb_conjac_condense(eb_conjac *c, bool fresh, eb_step_log *log, eb_reason *reason) {
  fresh = fresh && c->part.unknowns > 0;
  eb_log_begin(log, EB_PHASE_RHS);
  if (c->inhomogeneous) constant_rhs(c);
  /* The columns of J (Equation 6, -H_qn B), and behind them f_q for p and the right-hand side of c:
   * one factor, one pass over it for all of them, which is why p is taken at the start of the step
   * and used at its end (Equation 13). With the same partition the same entries are not 0. */
  if (fresh) {
    int32_t last = c->part.unknowns;
    if (c->rhs_stale) memset(c->rhs, 0, (size_t)(c->work.size * c->stride) * sizeof *c->rhs);
    c->rhs_stale = false;
    for (int32_t m = 0; m < c->part.moving; m++) set_column(c, &c->part.move[m], false);
    for (int32_t m = 0; m < c->part.moving; m++) set_column(c, &c->part.move[m], true);
    for (int64_t k = 0; k < c->work.size; k++) {
      c->rhs[k * c->stride + last] = c->correction[k];
      if (c->inhomogeneous) c->rhs[k * c->stride + last + 1] = c->constant[k];
    }
  }
  eb_log_end(log, EB_PHASE_RHS);
  int32_t count = (fresh ? c->part.unknowns : 0) + (c->inhomogeneous ? 2 : 1);
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error =
      fresh ? eb_multifrontal_solve_rows(c->factor, count, c->stride, c->rhs, c->jacobian, log,
                                         reason)
            : eb_multifrontal_solve(c->factor, count, c->correction, c->correction, log, reason);
  eb_log_end(log, EB_PHASE_SOLVE);
  eb_log_count(log, EB_COUNT_SOLVES, count);
  EB_TRY(error);
  if (*reason < 0) return EB_OK;
  eb_log_begin(log, EB_PHASE_RHS);
  /* p and c from their columns; B's rows of J. */
  if (fresh) {
    int32_t last = c->part.unknowns;
    for (int64_t k = 0; k < c->work.size; k++) {
      c->correction[k] = c->jacobian[k * c->stride + last];
      if (c->inhomogeneous) c->constant[k] = c->jacobian[k * c->stride + last + 1];
    }
    for (int32_t m = 0; m < c->part.moving; m++) {
      const eb_moving_node *move = &c->part.move[m];
      for (int axis = 0; axis < 3; axis++)
        memcpy(c->jacobian + (3 * (int64_t)move->node + axis) * c->stride + move->first,
               move->rows + axis * move->count, (size_t)move->count * sizeof *move->rows);
    }
  }
  /* c of scripted nodes is v_s, which is 0 elsewhere. */
  for (int64_t k = 0; c->inhomogeneous && k < c->work.size; k++)
    c->constant[k] += c->work.prescribed[k];
  eb_log_end(log, EB_PHASE_RHS);
  return EB_OK;
}

eb_error eb_conjac_correct(eb_conjac *c, eb_step_log *log, eb_reason *reason) {
  EB_ASSERT(c->factor);
  eb_log_begin(log, EB_PHASE_SOLVE);
  eb_error error = eb_multifrontal_solve(c->factor, 1, c->correction, c->correction, log, reason);
  eb_log_end(log, EB_PHASE_SOLVE);
  eb_log_count(log, EB_COUNT_SOLVES, 1);
  return error;
}
