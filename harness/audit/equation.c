/* The residual of the equation that a step declares, and how much better the step is than none.
 *
 * Implicit Euler and statics: grad W(x1), as audit.c has it. Linearized, with the scales a (mass)
 * and s (stiffness) of eb_linearization:
 *
 *   r = M (a v1 - v0) / h + g(x0) + s h K(x0) v1 - f_ext - f_c - f_s - r_contact,
 *   f_c = k depth n - s h k P (v1 - w) at touches (implicit_penalty.h)
 *   f_s = k (p - x0 - h v1) of springs, which are linear: s is not theirs
 *
 * Friction of implicit colliders is what the step declares. Coulomb's: as in audit.c, at v1. None:
 * none is taken out of r. Filtered: the equation has none and is that of velocities v*
 * (unfiltered); v1 = F(v*), but for rounding, where F takes from the slip of every node that is
 * pushed by r_n at most h mu r_n / m of it. A step that ends otherwise has filtered nothing, and
 * is held to Coulomb's law.
 *
 * Reduced: a Galerkin method leaves a residual that is orthogonal to its subspace, in which its own
 * velocities are. What is measured is the power of the residual, v1 . r, over the sum of the powers
 * of inertia, g and f_ext node by node and of the rounding floor u; the basis need not be known.
 * That asks that held nodes stand still and nothing is carried by joints; otherwise the residual of
 * all free nodes is taken. Position-based: forces between the nodes of a body neither push nor turn
 * it; what is measured is, over bodies that nothing holds, sum_i M (x1 - xt) / h^2 - f_ext and its
 * moment about the centre, over their terms (grad W where all bodies are held).
 * Where f_ext moves positions a step late, it is M (v1 - v0) / h - f_ext. Bodies that meet a
 * collider count as held, as what projects them out of it is nobody's force.
 *
 * In a subspace: of implicit Euler or statics, subspace.c.
 *
 * Doing nothing is to stop (v1 = 0) or to go on (v1 = v0): their residuals in the same equation,
 * and, with d = h v1 and r_s the residual when stopped, the quadratic model
 *   Q(d) = (r_s + r(d)) . d / 2
 * of a linearized step (what colliders do on their way is left out of r_s) or the true potential W
 * otherwise, tell whether a step is better than either. Bodies that joints carry along are left
 * out: their nodes alone do not tell. */
#include <math.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "problems/base/vector3.h"

/* What rounding2 has been raised to 1e-8 for, back to 45 roundings. */
static const double roundings = 1e-6;

/* External and contact force on coordinate k, N. */
static double loads_on(const eb_audit *audit, size_t k) {
  return audit->force[k] + (audit->push ? audit->push[k] : 0);
}

/* The springs' force there, at the end of the step. */
static double pull_on(const eb_audit *audit, size_t k) {
  return audit->pull ? audit->pull[k] : 0;
}

/* Sizes and sums of an equation's terms over free nodes. */
typedef struct terms {
  double residual2, scale2; /* N^2 */
} terms;

static terms sum_terms(const eb_audit *audit, terms own) {
  double sums[] = {own.residual2, own.scale2};
  eb_ranks_sum(audit->ranks, 2, sums);
  return (terms){sums[0], sums[1]};
}

static bool linear(const eb_declaration *declared) {
  return declared->equation == EB_EQUATION_LINEARIZED ||
         (declared->equation == EB_EQUATION_REDUCED && declared->linearization.stiffness > 0);
}

/* A filter is one of velocities that are told; a step that tells none is held to Coulomb's law. */
static bool filtered(const eb_declaration *declared) {
  return declared->friction == EB_FRICTION_FILTERED && declared->unfiltered;
}

/* Whether friction is in the equation. */
static bool rubs(const eb_declaration *declared) {
  return declared->friction != EB_FRICTION_NONE && !filtered(declared);
}

static bool is_late(const eb_declaration *declared) {
  return declared->update == EB_UPDATE_LATE_FORCE && declared->equation != EB_EQUATION_STATIC;
}

/* ---- friction behind the equation ------------------------------------------------------------ */

/* F on its way from touch to touch. A rounding of a place changes a push by the stiffness, and so a
 * velocity by `gain` of it over h. */
typedef struct filter {
  double *v; /* nodes x 3 */
  double gain;
} filter;

/* audit->stopped is its workspace. */
static filter filter_of(const eb_audit *audit, const eb_declaration *declared) {
  memcpy(audit->stopped, declared->unfiltered, 3 * audit->nodes * sizeof *audit->stopped);
  return (filter){.v = audit->stopped, .gain = 1};
}

/* `push`, N: along the normal. */
static void brake(const eb_audit *audit, const eb_touch *touch, double dt, double push, filter *f) {
  size_t at = 3 * (size_t)touch->node;
  double slip[3], rate = dt * touch->friction / audit->mass[touch->node];
  for (size_t d = 0; d < 3; d++) slip[d] = f->v[at + d] - touch->velocity[d];
  eb_audit_take_tangential(rate * fmax(0, push), touch->normal, slip, f->v + at);
  f->gain = fmax(f->gain, 1 + dt * rate * touch->stiffness);
}

static void measure_filter(const eb_audit *audit, const eb_state *after, double dt, const filter *f,
                           eb_audit_row *row) {
  for (size_t i = 0; i < audit->own_nodes; i++)
    if (!audit->fixed[i])
      eb_audit_raise_at(dt * sqrt(eb_squared_distance3(after->v + 3 * i, f->v + 3 * i)),
                        eb_audit_node(i), &row->filter);
  row->filter.error = eb_audit_most_at(audit, row->filter.error, &row->filter.spot);
  row->filter.allowed = eb_audit_most(audit, f->gain) * row->update.allowed;
}

/* ---- linearized ------------------------------------------------------------------------------ */

/* The penalty of implicit colliders and their friction at velocities v, taken out of r: on the
 * nodes that the step says are pushed. A step that says so falsely leaves the push on the others in
 * r. `behind`: the filter that friction is instead, or NULL. */
static void take_touches(eb_audit *audit, const eb_state *before, double dt,
                         const eb_declaration *declared, const double *v, filter *behind, double *r,
                         terms *sum) {
  double scale = declared->linearization.stiffness;
  int32_t count = declared->touching == EB_TOUCHING_PRESENT
                      ? eb_implicit_touches(audit->scene, before->time, before->x,
                                            audit->touch_room, audit->touches)
                      : eb_implicit_step_touches(audit->scene, before->time, dt, before->x,
                                                 before->v, audit->touch_room, audit->touches);
  for (int32_t t = 0; t < count && t < audit->touch_room; t++) {
    const eb_touch *touch = &audit->touches[t];
    size_t at = 3 * (size_t)touch->node;
    double relative[3], push[3];
    for (size_t d = 0; d < 3; d++) relative[d] = v[at + d] - touch->velocity[d];
    double along = (1 - touch->isotropy) * eb_dot3(touch->normal, relative);
    for (int d = 0; d < 3; d++)
      push[d] = touch->stiffness *
                (touch->depth * touch->normal[d] -
                 scale * dt * (along * touch->normal[d] + touch->isotropy * relative[d]));
    eb_add3(-1, push, r + at);
    if (!audit->fixed[touch->node]) sum->scale2 += eb_audit_squared(push);
    double pushed = eb_dot3(push, touch->normal);
    if (rubs(declared))
      eb_audit_take_friction(touch->friction * fmax(0, pushed),
                             audit->mass[touch->node] / dt + dt * touch->stiffness, touch->normal,
                             relative, r + at);
    if (behind) brake(audit, touch, dt, pushed, behind);
  }
}

/* The springs' force on nodes that go by v, taken out of r; its squared size on free nodes.
 * audit->stretch is workspace. */
static double take_springs(const eb_audit *audit, const eb_state *before, double dt,
                           const double *v, double *r) {
  if (audit->spring_count == 0) return 0;
  for (size_t k = 0; k < 3 * audit->nodes; k++) audit->stretch[k] = before->x[k] + dt * v[k];
  return eb_audit_add_springs(audit, audit->stretch, r);
}

/* The residual at velocities v into r (nodes x 3), which holds K v; kv_scale2: squares of the terms
 * of that. `behind`: as in take_touches. */
static terms linear_residual(eb_audit *audit, const eb_state *before, double dt,
                             const eb_declaration *declared, const double *v, double kv_scale2,
                             filter *behind, double *r) {
  const eb_linearization *l = &declared->linearization;
  terms sum = {.scale2 = audit->start.scale2 + audit->start.rounding2};
  double stiff = l->stiffness * dt;
  sum.scale2 += stiff * stiff * kv_scale2;
  sum.scale2 = eb_audit_once(audit, sum.scale2);
  for (size_t k = 0; k < 3 * audit->own_nodes; k++) {
    double inertia = audit->fixed[k / 3] == EB_AUDIT_CARRIED
                         ? 0
                         : audit->mass[k / 3] * (l->mass * v[k] - before->v[k]) / dt;
    r[k] = inertia + audit->start.g[k] + stiff * r[k] - loads_on(audit, k);
    if (!audit->fixed[k / 3]) sum.scale2 += inertia * inertia + audit->force[k] * audit->force[k];
  }
  take_touches(audit, before, dt, declared, v, behind, r, &sum);
  sum.scale2 += take_springs(audit, before, dt, v, r);
  for (size_t i = 0; i < audit->own_nodes; i++)
    if (!audit->fixed[i]) sum.residual2 += eb_audit_squared(r + 3 * i);
  return sum_terms(audit, sum);
}

/* Sum over free nodes of a . b. */
static double product(const eb_audit *audit, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < audit->own_nodes; i++)
    if (!audit->fixed[i]) sum += eb_dot3(a + 3 * i, b + 3 * i);
  return eb_audit_sum(audit, sum);
}

/* Q(h v) from the residuals when stopped and at v. */
static double model(const eb_audit *audit, double dt, const double *stopped, const double *r,
                    const double *v) {
  return 0.5 * dt * (product(audit, stopped, v) + product(audit, r, v));
}

/* audit->own holds the residual at v1, audit->trial that at v0, whose sums are `going`. When
 * everything stops, x1 = x0 and v1 = 0, colliders push as they do at the start. */
static void compare_linear(eb_audit *audit, const eb_state *before, const eb_state *after,
                           double dt, const eb_declaration *declared, const terms *going,
                           eb_audit_row *row) {
  double *stopped = audit->stopped, rate = 1 / dt;
  for (size_t k = 0; k < 3 * audit->own_nodes; k++)
    stopped[k] = -rate * audit->mass[k / 3] * before->v[k] + audit->start.g[k] - loads_on(audit, k);
  eb_audit_add_springs(audit, before->x, stopped);
  bool sticks = declared->friction != EB_FRICTION_NONE;
  eb_audit_add_penalty(audit, before->time, before->x, sticks ? before->x : NULL, dt, stopped);
  double still = sqrt(product(audit, stopped, stopped));
  double gained = -model(audit, dt, stopped, audit->own, after->v);
  double without = fmin(0, model(audit, dt, stopped, audit->trial, before->v));
  row->idle = fmin(still, sqrt(going->residual2));
  row->progress = gained + without;
  row->compared = row->step_residual;
}

/* ---- position-based -------------------------------------------------------------------------- */

enum { PUSH, TURN = 3, PUSHES = 6, TURNS, MASS, CENTRE, HELD = 12 };

/* Sums that are of all ranks already, from `from` on, stay what they are. */
static void sum_parts(const eb_audit *audit, int from) {
  if (!audit->ranks) return;
  for (int64_t k = 0; k < (int64_t)audit->parts * EB_AUDIT_PART_SUMS; k++)
    if (k % EB_AUDIT_PART_SUMS >= from)
      audit->part_sums[k] = eb_audit_once(audit, audit->part_sums[k]);
  eb_ranks_sum(audit->ranks, audit->parts * EB_AUDIT_PART_SUMS, audit->part_sums);
}

/* Of all bodies that nothing holds together; false when there are none. */
static bool net_forces(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       bool late, terms *out) {
  bool any = false;
  memset(audit->part_sums, 0, EB_AUDIT_PART_SUMS * (size_t)audit->parts * sizeof *audit->part_sums);
  for (size_t i = 0; i < audit->own_nodes; i++) {
    double *sum = audit->part_sums + EB_AUDIT_PART_SUMS * (size_t)audit->part[i];
    sum[HELD] += audit->fixed[i] != 0 || eb_audit_meets(audit->scene, before, after, dt, true, i);
    sum[MASS] += audit->mass[i];
    eb_add3(audit->mass[i], after->x + 3 * i, sum + CENTRE);
  }
  sum_parts(audit, EB_AUDIT_PART_SUMS);
  for (size_t i = 0; i < audit->own_nodes; i++) {
    double *sum = audit->part_sums + EB_AUDIT_PART_SUMS * (size_t)audit->part[i], arm[3], f[3],
           moment[3];
    for (size_t d = 0; d < 3; d++) {
      size_t k = 3 * i + d;
      double way = late ? dt * after->v[k] : after->x[k] - before->x[k];
      f[d] = audit->mass[i] * (way - dt * before->v[k]) / (dt * dt) - loads_on(audit, k) -
             pull_on(audit, k);
      arm[d] = after->x[k] - sum[CENTRE + d] / sum[MASS];
    }
    eb_cross3(arm, f, moment);
    eb_add3(1, f, sum + PUSH);
    eb_add3(1, moment, sum + TURN);
    double pulled2 = audit->pull ? eb_audit_squared(audit->pull + 3 * i) : 0;
    double load = sqrt(eb_audit_squared(audit->force + 3 * i)) + sqrt(pulled2);
    sum[PUSHES] += sqrt(eb_audit_squared(f)) + load;
    sum[TURNS] += sqrt(eb_audit_squared(moment)) + sqrt(eb_audit_squared(arm)) * load;
  }
  sum_parts(audit, MASS);
  *out = (terms){0};
  for (int32_t p = 0; p < audit->parts; p++) {
    const double *sum = audit->part_sums + EB_AUDIT_PART_SUMS * (size_t)p;
    if (sum[HELD] > 0 || sum[PUSHES] == 0) continue;
    double turned = sum[TURNS] > 0 ? sum[PUSHES] / sum[TURNS] : 0; /* moments as forces */
    out->residual2 += eb_audit_squared(sum + PUSH) + turned * turned * eb_audit_squared(sum + TURN);
    out->scale2 += 2 * sum[PUSHES] * sum[PUSHES];
    any = true;
  }
  return any;
}

/* ---- reduced --------------------------------------------------------------------------------- */

/* Sets the residual to the power of r along the velocities, over that of its terms, times the
 * scale. False when held nodes move, so that velocities of the step are no motions of the subspace:
 * their places tell, which are the script's, since velocities are the solver's. */
static bool reduce(const eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                   const eb_declaration *declared, double held_allowed, terms *out) {
  const double *v = after->v, *r = audit->declared;
  double mass = linear(declared) ? declared->linearization.mass : 1;
  double sum = 0, size = 0, speed2 = product(audit, v, v);
  if (audit->scene->rigid.articulation) return false;
  bool moves = false;
  for (size_t k = 0; k < 3 * audit->own_nodes && !moves; k++)
    moves = audit->fixed[k / 3] && !(fabs(after->x[k] - before->x[k]) <= held_allowed);
  if (eb_ranks_any(audit->ranks, moves)) return false;
  for (size_t i = 0; i < audit->own_nodes; i++) {
    if (audit->fixed[i]) continue;
    double inertia[3];
    for (size_t d = 0; d < 3; d++)
      inertia[d] = audit->mass[i] * (mass * v[3 * i + d] - before->v[3 * i + d]) / dt;
    sum += eb_dot3(r + 3 * i, v + 3 * i);
    size += fabs(eb_dot3(inertia, v + 3 * i)) + fabs(eb_dot3(audit->force + 3 * i, v + 3 * i)) +
            fabs(eb_dot3(audit->start.g + 3 * i, v + 3 * i));
    if (audit->pull) size += fabs(eb_dot3(audit->pull + 3 * i, v + 3 * i));
  }
  sum = eb_audit_sum(audit, sum);
  size = eb_audit_sum(audit, size);
  double unknown2 = linear(declared) ? audit->start.rounding2 : audit->end.rounding2;
  double floor = sqrt(unknown2 * speed2);
  double share = size + floor > 0 ? fabs(sum) / (size + floor) : 0;
  out->residual2 = share * share * out->scale2;
  return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Elastic energies, penalties and springs, J, of doing nothing - free nodes stay, or go on as they
 * are; those that are fixed are where they belong at the end - and of the step. */
typedef struct energies {
  double stopped, going, end;
} energies;

/* W of a step that stops or of one that goes on, whichever is lower, less W of x1. In statics (dt =
 * 0) nothing goes on, and there is no inertia. Where forces are late, inertia and work are those of
 * the way h v1 that they have set out on. */
static double potential_gain(const eb_audit *audit, const eb_state *before, const eb_state *after,
                             double dt, bool late, const energies *stored) {
  static const double known = 1e-12; /* of the energies: rounding of some thousand terms */
  double inertia = dt > 0 ? 1 / (2 * dt * dt) : 0;
  double stopped = eb_audit_once(audit, stored->stopped),
         going = dt > 0 ? eb_audit_once(audit, stored->going) : INFINITY,
         end = eb_audit_once(audit, stored->end);
  for (size_t i = 0; i < audit->own_nodes; i++)
    for (size_t k = 3 * i; k < 3 * i + 3 && !audit->fixed[i]; k++) {
      double m = inertia * audit->mass[i],
             way = late ? dt * after->v[k] : after->x[k] - before->x[k], coast = dt * before->v[k],
             f = loads_on(audit, k);
      stopped += m * coast * coast;
      end += m * (way - coast) * (way - coast) - f * way;
      going -= f * coast;
    }
  double sums[] = {stopped, going, end};
  eb_ranks_sum(audit->ranks, 3, sums);
  double least = fmin(sums[0], sums[1]);
  return least - sums[2] - known * (fabs(least) + fabs(sums[2]));
}

/* The free nodes of a step to audit->trial that go `share` of the way h v. */
static void go_by(const eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                  double share, const double *v) {
  for (size_t k = 0; k < 3 * audit->nodes; k++)
    audit->trial[k] = audit->fixed[k / 3] ? after->x[k] : before->x[k] + share * dt * v[k];
}

/* Of a step that ends at audit->trial: grad W into g (nodes x 3), with Coulomb's friction or
 * without any; returns its elastic energy and penalty with that of the springs. In statics (dt = 0)
 * there is no inertia. */
static double end_at_trial(eb_audit *audit, const eb_state *before, const eb_state *after,
                           double dt, bool rubbed, double *g) {
  eb_audit_elastic at = {.g = g};
  const double *x = audit->trial;
  double rate = dt > 0 ? 1 / (dt * dt) : 0;
  eb_audit_elements(audit, x, &at);
  for (size_t k = 0; k < 3 * audit->own_nodes; k++)
    g[k] +=
        rate * audit->mass[k / 3] * (x[k] - before->x[k] - dt * before->v[k]) - loads_on(audit, k);
  eb_audit_add_springs(audit, x, g);
  eb_audit_add_penalty(audit, after->time, x, dt > 0 && rubbed ? before->x : NULL, dt, g);
  return at.energy + eb_audit_penalty_energy(audit, after->time, x) +
         eb_audit_springs_energy(audit, x);
}

/* The same of one whose free nodes go `share` of the way that their velocities take them, and in
 * *residual |grad W|. */
static double without_forces(eb_audit *audit, const eb_state *before, const eb_state *after,
                             double dt, double share, bool rubbed, double *residual) {
  double *g = audit->stretch;
  go_by(audit, before, after, dt, share, before->v);
  double energy = end_at_trial(audit, before, after, dt, rubbed, g);
  *residual = sqrt(product(audit, g, g));
  return energy;
}

/* The residual of implicit Euler without friction, which is filtered behind or is none, into
 * audit->own, and its square into *sum. */
static void frictionless(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                         const eb_declaration *declared, terms *sum, eb_audit_row *row) {
  double *r = audit->own;
  bool behind = filtered(declared);
  if (behind)
    go_by(audit, before, after, dt, 1, declared->unfiltered);
  else
    memcpy(audit->trial, after->x, 3 * audit->nodes * sizeof *audit->trial);
  end_at_trial(audit, before, after, dt, false, r);
  sum->residual2 = product(audit, r, r);
  if (!behind) return;
  filter f = filter_of(audit, declared);
  int32_t count = eb_implicit_touches(audit->scene, after->time, audit->trial, audit->touch_room,
                                      audit->touches);
  for (int32_t t = 0; t < count && t < audit->touch_room; t++)
    brake(audit, &audit->touches[t], dt, audit->touches[t].stiffness * audit->touches[t].depth, &f);
  measure_filter(audit, after, dt, &f, row);
}

static void compare_full(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                         const eb_declaration *declared, eb_audit_row *row) {
  bool still = declared->equation == EB_EQUATION_STATIC, late = is_late(declared);
  bool rubbed = linear(declared) || declared->friction != EB_FRICTION_NONE;
  double stopped, going = INFINITY, h = still ? 0 : dt;
  energies stored = {.stopped = without_forces(audit, before, after, h, 0, rubbed, &stopped),
                     .end = audit->end.energy +
                            eb_audit_penalty_energy(audit, after->time, after->x) +
                            eb_audit_springs_energy(audit, after->x)};
  if (!still) stored.going = without_forces(audit, before, after, h, 1, rubbed, &going);
  row->idle = fmin(stopped, going);
  row->progress = potential_gain(audit, before, after, h, late, &stored);
  row->compared = linear(declared) ? row->implicit_euler.norm : row->step_residual;
  /* Nodes that follow quasistatically lower the potential of the forces, whatever their inertia. */
  if (declared->equation == EB_EQUATION_REDUCED)
    row->progress = fmax(row->progress, potential_gain(audit, before, after, 0, false, &stored));
  /* Constraints are not the material, and may be softer: nodes that go where forces want them. */
  if (declared->equation == EB_EQUATION_POSITION_BASED)
    row->progress =
        fmax(row->progress, potential_gain(audit, before, after, h, late, &(energies){0}));
}

/* The equation's residual, node by node in audit->declared; in row->step_residual that of all free
 * nodes, which is more where the equation asks for less than theirs. With `compared`, *going is
 * that of going on, v1 = v0, by the same tangent, and audit->trial holds it node by node. */
static terms residual_of(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                         const eb_declaration *declared, bool compared, eb_audit_row *row,
                         terms *going) {
  terms own = {row->implicit_euler.norm * row->implicit_euler.norm,
               row->implicit_euler.scale * row->implicit_euler.scale},
        net;
  bool still = declared->equation == EB_EQUATION_STATIC;
  bool apart = !rubs(declared) && !still && audit->touch_room > 0;
  audit->declared = linear(declared) || apart ? audit->own : audit->residual;
  if (linear(declared)) {
    const eb_linearization *l = &declared->linearization;
    filter f, *behind = filtered(declared) ? &f : NULL;
    if (behind) f = filter_of(audit, declared);
    const double *const v[EB_AUDIT_MOTIONS] = {behind ? declared->unfiltered : after->v, before->v};
    double *const r[EB_AUDIT_MOTIONS] = {audit->own, audit->trial};
    double kv_scale2[EB_AUDIT_MOTIONS];
    eb_audit_tangent(audit, before->x, l->tangent, compared ? 2 : 1, v, r, kv_scale2);
    own = linear_residual(audit, before, dt, declared, v[0], kv_scale2[0], behind, r[0]);
    if (behind) measure_filter(audit, after, dt, behind, row);
    if (compared)
      *going = linear_residual(audit, before, dt, declared, v[1], kv_scale2[1], NULL, r[1]);
  } else if (apart) {
    frictionless(audit, before, after, dt, declared, &own, row);
  }
  row->step_residual = sqrt(own.residual2);
  bool reduced = declared->equation == EB_EQUATION_REDUCED &&
                 reduce(audit, before, after, dt, declared, row->held.allowed, &own);
  bool based = declared->equation == EB_EQUATION_POSITION_BASED &&
               net_forces(audit, before, after, dt, is_late(declared), &net);
  row->stands_in = !reduced && !based &&
                   (declared->equation == EB_EQUATION_REDUCED ||
                    declared->equation == EB_EQUATION_POSITION_BASED);
  return based ? net : own;
}

/* What f_ext will do on the way h^2 f_ext / m that positions are short of where velocities are. */
static double work_of_lag(const eb_audit *audit, double dt) {
  double work = 0;
  for (size_t i = 0; i < audit->own_nodes; i++)
    if (!audit->fixed[i]) work += dt * dt / audit->mass[i] * eb_audit_squared(audit->force + 3 * i);
  return eb_audit_sum(audit, work);
}

/* What of a gain or loss is more than may be unknown of it, J. */
static double beyond(double unknown, double gain) {
  return copysign(fmax(0, fabs(gain) - unknown), gain);
}

/* The residual is a force that is not there: what it does on the way of the step is energy from
 * nowhere; in a subspace, on what of the way is in it. All other gain is the equation's own - a
 * linearized step is given energy by its linearization, implicit Euler where bodies under pressure
 * turn - and belongs to the column energy_excess. Steps in parts follow no residual that could be
 * told: all their gain is theirs, but for what is not known of a script's work, and so it is where
 * forces are late, less what velocities are ahead. Of position-based steps it is the gain of all
 * energies but those of elements and colliders, since nobody knows what constraints have stored;
 * verdict.c sums it over the whole run. What roundings of the forces may do on that way is no work,
 * nor what they leave of a difference of energies: of a body at rest it would be all there is. */
static double work_of(const eb_audit *audit, const eb_state *before, const eb_state *after,
                      double dt, const eb_declaration *declared, double in_subspace,
                      eb_audit_row *row) {
  const double *r = audit->declared;
  double work = 0, most = 0, of_node = 0, way2 = 0, rounding = row->work.rounding,
         excess = row->work.excess;
  double raised = beyond(rounding, row->work.raised);
  /* What holds scripted nodes in a reduced equation cannot be told either. */
  if (row->stands_in) return raised;
  if (declared->update == EB_UPDATE_SUBSTEPS) return beyond(rounding + row->script.unknown, excess);
  if (declared->update == EB_UPDATE_MEAN_VELOCITY) return beyond(rounding, excess);
  if (is_late(declared)) excess -= work_of_lag(audit, dt);
  if (declared->equation == EB_EQUATION_POSITION_BASED)
    return beyond(rounding, excess - row->work.stored_gain);
  if (is_late(declared)) return beyond(rounding, excess);
  for (size_t k = 0; k < 3 * audit->own_nodes; k++) {
    double way = audit->fixed[k / 3] ? 0 : after->x[k] - before->x[k];
    work += r[k] * way;
    way2 += way * way;
    of_node = (k % 3 ? of_node : 0) + r[k] * way;
    if (k % 3 == 2 && of_node > most) {
      most = of_node;
      row->work.spot = eb_audit_node(k / 3);
    }
  }
  (void)eb_audit_most_at(audit, most, &row->work.spot);
  work = eb_audit_sum(audit, work);
  way2 = eb_audit_sum(audit, way2);
  if (declared->subspace) {
    work = in_subspace;
    row->work.spot = (eb_spot){0};
  }
  return raised + beyond(row->rounding * sqrt(way2), work);
}

static double mean_way(const eb_audit *audit, const eb_state *before, const eb_state *after) {
  double sum = 0, mass = 0;
  for (size_t i = 0; i < audit->own_nodes; i++) {
    sum += audit->mass[i] * eb_squared_distance3(after->x + 3 * i, before->x + 3 * i);
    mass += audit->mass[i];
  }
  return sqrt(eb_audit_sum(audit, sum) / eb_audit_sum(audit, mass));
}

/* Every step of a small mesh; one in eight of a large one, chosen by the bits of where it ends, on
 * rank 0. */
static bool looked_at(const eb_audit *audit, const eb_state *after) {
  enum { SMALL = 2000, SHARE = 8 };
  uint64_t bits = 0;
  for (size_t k = 0; k < 3 * audit->nodes; k += 1 + audit->nodes / 64) {
    uint64_t word;
    memcpy(&word, after->x + k, sizeof word);
    bits = (bits ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  }
  int64_t elements[2] = {audit->own_elements,
                         eb_ranks_self(audit->ranks) == 0 && (bits >> 40) % SHARE == 0};
  eb_ranks_sum_whole(audit->ranks, 2, elements);
  return elements[0] <= SMALL || after->step <= 2 || elements[1] > 0;
}

/* Whether colliders may have moved nodes that no force would: what doing nothing would leave inside
 * them, forces do not tell. */
static bool is_put_out(const eb_audit *audit, const eb_state *before, const eb_state *after,
                       double dt, const eb_declaration *declared) {
  bool based = declared->equation == EB_EQUATION_POSITION_BASED;
  bool meets = false;
  for (size_t i = 0; based && !meets && i < audit->own_nodes; i++)
    meets = eb_audit_meets(audit->scene, before, after, dt, true, i);
  return eb_ranks_any(audit->ranks, meets);
}

void eb_audit_add_force(eb_audit_row *row, double force, double scale) {
  double left = row->declared.norm = hypot(row->declared.norm, force);
  if (row->declared.scale == 0) row->declared.scale = scale;
  row->declared.relative = !isfinite(row->declared.scale) ? NAN
                           : left == 0                    ? 0
                                                          : left / row->declared.scale;
}

eb_error eb_audit_equation(eb_audit *audit, const eb_state *before, const eb_state *after,
                           double dt, const eb_declaration *declared, eb_audit_row *row) {
  bool looked = !audit->scene->rigid.articulation && looked_at(audit, after) &&
                !is_put_out(audit, before, after, dt, declared);
  double idle = NAN, in_subspace = 0;
  bool linearly = linear(declared) && declared->update != EB_UPDATE_CORRECTED;
  terms going,
      own = residual_of(audit, before, after, dt, declared, looked && linearly, row, &going);
  eb_declaration coulomb = *declared;
  if (!(row->filter.error <= row->filter.allowed)) {
    coulomb.friction = EB_FRICTION_COULOMB;
    declared = &coulomb;
    own = residual_of(audit, before, after, dt, declared, looked && linearly, row, &going);
  }
  if (declared->subspace && audit->ranks)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "a subspace of a scene in parts cannot be audited");
  if (declared->subspace) {
    eb_audit_subspace_row reduced = {0};
    bool statics = declared->equation == EB_EQUATION_STATIC;
    row->subspace_unsound = !eb_audit_subspace_sound(audit, declared->subspace);
    if (!row->subspace_unsound)
      EB_TRY(eb_audit_subspace(audit, before, after, dt, statics, looked, declared->subspace,
                               &reduced));
    own = (terms){reduced.residual2, reduced.scale2};
    row->step_residual = sqrt(own.residual2);
    row->subspace_unit = reduced.unit;
    idle = reduced.nothing;
    in_subspace = reduced.work;
    row->subspace.error = reduced.outside;
    row->subspace.allowed = reduced.outside_allowed;
  }
  row->declared.norm = sqrt(own.residual2);
  row->declared.scale = sqrt(own.scale2);
  eb_audit_add_force(row, 0, 0);
  row->rounding =
      roundings * sqrt(linear(declared) ? audit->start.rounding2 : audit->end.rounding2);
  row->work.of_residual = work_of(audit, before, after, dt, declared, in_subspace, row);
  row->idle = row->progress = row->compared = NAN;
  row->displacement = mean_way(audit, before, after);
  if (!looked) return EB_OK;
  if (declared->subspace) {
    row->idle = idle;
    row->compared = row->step_residual;
    row->progress = 0;
    return EB_OK;
  }
  if (linearly)
    compare_linear(audit, before, after, dt, declared, &going, row);
  else
    compare_full(audit, before, after, dt, declared, row);
  return EB_OK;
}
