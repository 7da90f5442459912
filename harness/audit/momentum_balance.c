/* Over the nodes of a body without scripted or carried nodes, internal forces cancel:
 *
 *   P1 - P0 = h F,   P = sum_i m_i v_i,   F = sum_i f_ext,i + r_i + k_i (p_i - x1_i);
 *   sum_i m_i (x1 - x0)_i = h P1   (or h (P0 + P1) / 2, or h (P1 - h F)),
 *
 * m V for a free rigid body. Positions that are corrected down the potential may move a body
 * against its nodes' inertia; where they may go is motion.c's. What is left of either, B, is summed
 * over a flight, so that a part of the weight that is missing in every step shows, however small it
 * is beside the momentum, and errors of iterative solvers, which have no direction, do not:
 *
 *   |sum B| <= 10 % of sum h (sum of the sizes of the forces)
 *              + 0.1 % of the largest sum_i m_i |v_i| + rounding,
 *
 * the last the sum of what a step's roundings may leave: 64 eps sum_i m_i |x1_i| / h, and h times
 * 45 roundings of the elastic forces (equation.c). Without it a body at rest where nothing pulls
 * would have to keep the momentum of its roundings.
 *
 * Bodies that something holds are pushed by what holds them, through the elements at the held
 * nodes. With r the residual of the declared equation, in which those forces are, and g_j the
 * elastic forces on held nodes,
 *
 *   |sum h sum_free r_i| <= 10 % of sum h (|weight| + sum |pushes| + sum_held |g_j|)
 *                           + 0.1 % of the largest sum_i m_i |v_i| + sum (e sqrt(nodes) + h u),
 *
 * over the run, for equations whose residual is that of all free nodes; e is the scene's bound on
 * momentum where contacts are constraints (contact_audit.c), u what rounding leaves unknown. In it
 * a step that claims nothing cannot forget the weight of a clamped body.
 *
 * A tenth is where errors are of order one (harness/results/accuracy.h). A linearized step with a
 * declared mass scale a > 1 (damping) takes (a - 1) P1 from the momentum, at most a tenth of it in
 * a step. Where parts of a step are not known (substeps), or forces of its end act (implicit
 * colliders, all where steps are position-based), a flight ends when a node of the body is pushed,
 * and begins anew behind it. */
#include "harness/audit/momentum_balance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

/* Of one body. */
typedef struct course {
  double left_v[3], left_x[3]; /* sum B, kg m/s */
  double impulses;             /* sum h |f|, N s */
  double unknown;              /* of roundings, kg m/s */
  double momentum;             /* the largest sum_i m_i |v_i| */
  double known; /* kg m/s: what tolerances of contact and rounding may leave of held bodies */
} course;

/* Of one body in one step. */
typedef struct sums {
  double p0[3], p1[3], way[3]; /* P, and sum_i m_i (x1 - x0) / h */
  double force[3], weight[3];  /* without and by gravity */
  double size;                 /* sum_i m_i (|v1| + |v0|) / 2 */
  double pushes;               /* N: sizes of forces beyond gravity */
  double reach;                /* sum_i m_i |x1|, kg m */
  double left[3], holds; /* N: residual on free nodes, sizes of the elastic forces on held ones */
  int32_t nodes;
  bool held, pushed;
  int32_t rider; /* or -1 */
} sums;

struct eb_momentum_balance {
  const eb_audit *audit;
  course *course; /* parts */
  sums *sums;     /* parts */
};

eb_error eb_momentum_balance_create(const eb_audit *audit, eb_momentum_balance **out) {
  eb_momentum_balance *balance;
  *out = NULL;
  EB_TRY(EB_NEW(balance, 1));
  balance->audit = audit;
  eb_error error = EB_NEW(balance->course, audit->parts);
  if (!error) error = EB_NEW(balance->sums, audit->parts);
  if (error)
    eb_momentum_balance_destroy(balance);
  else
    *out = balance;
  return error;
}

void eb_momentum_balance_destroy(eb_momentum_balance *balance) {
  if (!balance) return;
  free(balance->course);
  free(balance->sums);
  free(balance);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void add_node(const eb_audit *audit, const eb_state *before, const eb_state *after,
                     double dt, size_t i, sums *s) {
  double m = audit->mass[i], beyond[3];
  eb_add3(m, before->v + 3 * i, s->p0);
  eb_add3(m, after->v + 3 * i, s->p1);
  eb_add3(m, audit->scene->gravity, s->weight);
  for (size_t d = 0; d < 3; d++) {
    size_t k = 3 * i + d;
    s->way[d] += m * (after->x[k] - before->x[k]) / dt;
    beyond[d] = audit->force[k] - m * audit->scene->gravity[d] +
                (audit->push ? audit->push[k] : 0) + (audit->pull ? audit->pull[k] : 0);
  }
  s->size += 0.5 * m *
             (sqrt(eb_audit_squared(before->v + 3 * i)) + sqrt(eb_audit_squared(after->v + 3 * i)));
  s->pushes += sqrt(eb_audit_squared(beyond));
  s->reach += m * sqrt(eb_audit_squared(after->x + 3 * i));
  eb_add3(1, beyond, s->force);
}

/* The residual whose sum over free nodes is what is left of a held body's momentum; NULL where it
 * is not known of single nodes. */
static const double *residual_of(const eb_audit *audit, const eb_declaration *declared) {
  bool whole = declared->update == EB_UPDATE_END_VELOCITY;
  /* What holds nodes of a subspace acts on all of it. */
  bool single = declared->equation == EB_EQUATION_LINEARIZED ||
                (declared->equation == EB_EQUATION_IMPLICIT_EULER && !declared->subspace);
  return whole && single ? audit->declared : NULL;
}

/* The sums of all ranks. A body without riders: scenes with rigid bodies have no parts. */
static void sum_ranks(eb_momentum_balance *balance) {
  enum { VECTORS = 6, NUMBERS = 7, WIDTH = 3 * VECTORS + NUMBERS };
  const eb_audit *audit = balance->audit;
  for (int32_t p = 0; p < audit->parts; p++) {
    sums *s = &balance->sums[p];
    double *const vectors[VECTORS] = {s->p0, s->p1, s->way, s->force, s->weight, s->left};
    double all[WIDTH] = {s->size, s->pushes, s->reach, s->holds, s->nodes, s->held, s->pushed};
    for (int k = 0; k < VECTORS; k++) memcpy(all + NUMBERS + 3 * k, vectors[k], 3 * sizeof *all);
    eb_ranks_sum(audit->ranks, WIDTH, all);
    for (int k = 0; k < VECTORS; k++) memcpy(vectors[k], all + NUMBERS + 3 * k, 3 * sizeof *all);
    s->size = all[0];
    s->pushes = all[1];
    s->reach = all[2];
    s->holds = all[3];
    s->nodes = (int32_t)all[4];
    s->held = all[5] > 0;
    s->pushed = all[6] > 0;
  }
}

static void sum_bodies(eb_momentum_balance *balance, const eb_state *before, const eb_state *after,
                       double dt, const eb_declaration *declared) {
  bool every =
      declared->update == EB_UPDATE_SUBSTEPS || declared->equation == EB_EQUATION_POSITION_BASED;
  const double *residual = residual_of(balance->audit, declared);
  const eb_audit *audit = balance->audit;
  const eb_free_bodies *bodies = audit->scene->rigid.free_bodies;
  for (int32_t p = 0; p < audit->parts; p++) balance->sums[p] = (sums){.rider = -1};
  for (size_t i = 0; i < audit->own_nodes; i++) {
    sums *s = &balance->sums[audit->part[i]];
    if (bodies && bodies->of_node[i] >= 0)
      s->rider = bodies->of_node[i];
    else
      s->held |= audit->fixed[i] != 0;
    if (!s->held && !s->pushed)
      s->pushed = eb_audit_meets(audit->scene, before, after, dt, every, i);
    add_node(audit, before, after, dt, i, s);
    if (!residual) continue;
    s->nodes++;
    if (audit->fixed[i])
      s->holds += sqrt(eb_audit_squared(audit->end.g + 3 * i));
    else
      eb_add3(1, residual + 3 * i, s->left);
  }
  if (audit->ranks) sum_ranks(balance);
  /* A rigid body moves as its centre does, whose mass is that of the solid and not of the nodes. */
  for (int32_t p = 0; p < audit->parts; p++) {
    sums *s = &balance->sums[p];
    size_t b = (size_t)s->rider;
    if (s->rider < 0) continue;
    double m = bodies->body[b].mass;
    for (size_t d = 0; d < 3; d++) {
      s->p0[d] = m * before->twist[6 * b + d];
      s->p1[d] = m * after->twist[6 * b + d];
      s->way[d] = m * (after->pose[7 * b + d] - before->pose[7 * b + d]) / dt;
      s->weight[d] = m * audit->scene->gravity[d];
    }
    s->size = 0.5 * (sqrt(eb_dot3(s->p0, s->p0)) + sqrt(eb_dot3(s->p1, s->p1)));
  }
}

/* Of impulses, and of the largest momentum: what may be left. */
static const double of_impulses = 0.1, of_momentum = 1e-3;
static const double roundings = 1e-6; /* of rounding2, back to 45 */

static void go_on(course *c, const sums *s, double dt, double unknown,
                  const eb_declaration *declared, eb_spot body, eb_momentum_row *row) {
  static const double most_mass = 1.1; /* the mass scale that momentum may be lost by */
  bool linear =
      declared->equation == EB_EQUATION_LINEARIZED || declared->equation == EB_EQUATION_REDUCED;
  double mass = linear ? declared->linearization.mass : 1, v[3], x[3];
  mass = mass >= 1 ? fmin(mass, most_mass) : 1;
  bool mean = declared->update == EB_UPDATE_MEAN_VELOCITY,
       bracketed = declared->update == EB_UPDATE_SUBSTEPS;
  double lag = declared->update == EB_UPDATE_LATE_FORCE ? dt : 0;
  for (int d = 0; d < 3; d++) {
    v[d] = mass * s->p1[d] - s->p0[d] - dt * (s->force[d] + s->weight[d]);
    double middle = 0.5 * (s->p0[d] + s->p1[d]), half = 0.5 * fabs(s->p1[d] - s->p0[d]);
    x[d] = s->way[d] - (mean || bracketed ? middle : s->p1[d] - lag * (s->force[d] + s->weight[d]));
    if (declared->update == EB_UPDATE_CORRECTED) x[d] = 0;
    if (bracketed) x[d] = copysign(fmax(0, fabs(x[d]) - half), x[d]);
  }
  eb_add3(1, v, c->left_v);
  eb_add3(1, x, c->left_x);
  c->impulses += dt * (sqrt(eb_audit_squared(s->weight)) + s->pushes);
  c->momentum = fmax(c->momentum, s->size);
  c->unknown += unknown + 64 * DBL_EPSILON * s->reach / dt;
  double allowed = of_impulses * c->impulses + of_momentum * c->momentum + c->unknown;
  double left = sqrt(fmax(eb_audit_squared(c->left_v), eb_audit_squared(c->left_x)));
  eb_audit_raise(sqrt(fmax(eb_audit_squared(v), eb_audit_squared(x))), &row->balance);
  if (left > 0 && !(left / allowed <= row->excess)) {
    row->excess = left / allowed;
    row->spot = body;
  }
}

static void go_on_held(const eb_audit *audit, course *c, const sums *s, double dt, eb_spot body,
                       eb_momentum_row *row) {
  eb_add3(dt, s->left, c->left_v);
  c->impulses += dt * (sqrt(eb_audit_squared(s->weight)) + s->pushes + s->holds);
  c->momentum = fmax(c->momentum, s->size);
  c->known += (audit->push ? audit->scene->contacts.bounds.momentum * sqrt(s->nodes) : 0) +
              dt * roundings * sqrt(audit->start.rounding2 + audit->end.rounding2);
  double left = sqrt(eb_audit_squared(c->left_v));
  double allowed = of_impulses * c->impulses + of_momentum * c->momentum + c->known;
  if (left > 0 && left / allowed > row->held_excess) {
    row->held_excess = left / allowed;
    row->held_spot = body;
  }
}

void eb_momentum_balance_step(eb_momentum_balance *balance, const eb_state *before,
                              const eb_state *after, double dt, const eb_declaration *declared,
                              eb_momentum_row *row) {
  bool every = declared->update == EB_UPDATE_SUBSTEPS;
  *row = (eb_momentum_row){0};
  if (declared->equation == EB_EQUATION_STATIC) return;
  double rounding = dt * roundings * sqrt(balance->audit->end.rounding2);
  sum_bodies(balance, before, after, dt, declared);
  for (int32_t p = 0; p < balance->audit->parts; p++) {
    const sums *s = &balance->sums[p];
    const eb_spot body = {EB_SPOT_BODY, p, -1};
    bool unknown = s->pushed || (every && s->pushes > 1e-9 * sqrt(eb_audit_squared(s->weight)));
    if (s->held && residual_of(balance->audit, declared) &&
        !balance->audit->scene->rigid.articulation)
      go_on_held(balance->audit, &balance->course[p], s, dt, body, row);
    else if (s->held || unknown)
      balance->course[p] = (course){0};
    else
      go_on(&balance->course[p], s, dt, rounding, declared, body, row);
  }
}
