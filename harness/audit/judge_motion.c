/* Momentum of a step with contact.
 *
 * A linearly implicit step solves A v1 = M v0 + h (f_ext - g) + H^T r to a residual of norm eps1.
 * Over the nodes of a body without scripted nodes the forces of its elements and their derivatives
 * sum to 0, so that what remains of
 *   sum_i m_i (v1_i - v0_i) - h f_i - h sum_k w_ki R_k^T r_k
 * is a sum of residuals, at most sqrt(nodes) eps1 of them. A rigid body has one row for that, with
 * its own velocity, and one for its spin about its centre,
 *   I0 (W1 - W0) + h W0 x I0 W0 - h sum_i arm_i x (f_i - m_i g + sum_k w_ki R_k^T r_k),
 * I0 and the arms those before the step. */
#include <math.h>
#include <string.h>

#include "harness/audit/judge_data.h"
#include "problems/base/vector3.h"

/* ---- momentum -------------------------------------------------------------------------------- */

enum { MOMENTUM = 0, SPIN = 3 };

/* Adds scale a to what a part's motion and forces leave. */
static void add_term(eb_judge *judge, int32_t part, int what, double scale, const double a[3]) {
  eb_add3(scale, a, judge->sum + 6 * (size_t)part + what);
  judge->scale[2 * (size_t)part + (size_t)what / 3] += fabs(scale) * sqrt(eb_dot3(a, a));
}

static void add_soft_node(eb_judge *judge, const eb_state *before, const eb_state *after, size_t i,
                          double mass) {
  add_term(judge, judge->part[i], MOMENTUM, mass, after->v + 3 * i);
  add_term(judge, judge->part[i], MOMENTUM, -mass, before->v + 3 * i);
}

/* What acts on a riding node turns its body. */
static void add_moment(eb_judge *judge, const eb_state *before, double dt, size_t i,
                       const double force[3], double mass) {
  int32_t part = judge->part[i];
  double arm[3], load[3], moment[3];
  memcpy(arm, before->x + 3 * i, sizeof arm);
  memcpy(load, force, sizeof load);
  eb_add3(-1, before->pose + 7 * (size_t)judge->rider[part], arm);
  eb_add3(-mass, judge->scene->gravity, load);
  eb_add3(1, judge->push + 3 * i, load);
  eb_cross3(arm, load, moment);
  add_term(judge, part, SPIN, -dt, moment);
}

static void add_rigid(eb_judge *judge, const eb_state *before, const eb_state *after, double dt,
                      int32_t part) {
  size_t b = (size_t)judge->rider[part];
  const eb_free_body *body = &judge->scene->free_bodies->body[b];
  const double *start = before->twist + 6 * b, *end = after->twist + 6 * b;
  double inertia[9], spin[3], gyroscopic[3];
  add_term(judge, part, MOMENTUM, body->mass, end);
  add_term(judge, part, MOMENTUM, -body->mass, start);
  eb_free_body_inertia(body, before->pose + 7 * b, inertia);
  eb_turn3(inertia, end + 3, spin);
  add_term(judge, part, SPIN, 1, spin);
  eb_turn3(inertia, start + 3, spin);
  add_term(judge, part, SPIN, -1, spin);
  eb_cross3(start + 3, spin, gyroscopic);
  add_term(judge, part, SPIN, dt, gyroscopic);
}

static void sum_parts(eb_judge *judge, const eb_state *before, const eb_state *after, double dt) {
  eb_audit_nodes audited = eb_audit_last(judge->audit);
  memset(judge->held, 0, (size_t)judge->parts);
  memset(judge->sum, 0, 6 * (size_t)judge->parts * sizeof *judge->sum);
  memset(judge->scale, 0, 2 * (size_t)judge->parts * sizeof *judge->scale);
  for (size_t i = 0; i < (size_t)judge->nodes; i++) {
    int32_t part = judge->part[i];
    judge->held[part] |= audited.fixed[i] == 1;
    if (judge->rider[part] < 0)
      add_soft_node(judge, before, after, i, audited.mass[i]);
    else
      add_moment(judge, before, dt, i, audited.force + 3 * i, audited.mass[i]);
    add_term(judge, part, MOMENTUM, -dt, audited.force + 3 * i);
    add_term(judge, part, MOMENTUM, -dt, judge->push + 3 * i);
  }
  for (int32_t s = 0; s < judge->parts; s++)
    if (judge->rider[s] >= 0) add_rigid(judge, before, after, dt, s);
}

static void compare(double size, double allowed, eb_judgement *judgement) {
  if (size > 0) judgement->balance_excess = fmax(judgement->balance_excess, size / allowed);
}

void eb_judge_balance(eb_judge *judge, const eb_state *before, const eb_state *after, double dt,
                      eb_judgement *judgement) {
  static const double rounding = 1e-10;
  sum_parts(judge, before, after, dt);
  for (int32_t s = 0; s < judge->parts; s++) {
    const double *left = judge->sum + 6 * (size_t)s, *scale = judge->scale + 2 * (size_t)s;
    if (judge->held[s]) continue;
    double momentum = sqrt(eb_dot3(left, left)), spin = sqrt(eb_dot3(left + SPIN, left + SPIN));
    double rows = judge->rider[s] < 0 ? judge->size[s] : 1;
    double allowed = judge->scene->contact_bounds.momentum;
    judgement->balance = fmax(judgement->balance, momentum);
    compare(momentum, sqrt(rows) * allowed + rounding * scale[0], judgement);
    compare(spin, allowed + rounding * scale[1], judgement);
  }
}
