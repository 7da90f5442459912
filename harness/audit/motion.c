/* Whether positions follow from velocities as a solver declares, and nodes that are held or carried
 * are in their places.
 *
 * With the state's numbers known to some roundings, x1 - x0 - h v1 of implicit Euler is nought to
 *   64 eps (|x0| + |x1| + h |v1|),
 * each the largest over the nodes: a velocity may be made of positions, or positions of a velocity.
 * Free bodies follow their twist, joints their rates, likewise; their unit quaternions and angles
 * add 1 + the largest entry of q and of the poses. Scripted nodes are held to it too: what moves
 * them has their velocity. Late force: x1 - x0 - h v1 + h^2 f_ext / m of free nodes, for which
 * h^2 |f_ext| / m counts too.
 *
 * Substeps: in parts of a step, velocities are not known. By the energy that a body can have in it
 * - what it has at the start, and what forces and scripts give it on its way -
 *   |x1 - x0|_M <= h sqrt(2) (sqrt(K0 + E0 + S + |f_ext . (x1 - x0)|) + sum sqrt(Y)),
 * the M-norm being the root of sum_i m_i |x_i|^2, S the energy of springs at x0, as they are at the
 * start or at the end, whichever is more, and Y as script.c has it. Corrected: c = x1 - x0 - h v1
 * may move nodes anywhere that lowers E + S - f_ext . x, and moves no body as a whole. */
#include <float.h>
#include <math.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/four.h"
#include "problems/base/vector3.h"

static const double roundings = 64 * DBL_EPSILON;

static double largest(size_t count, const double *values) {
  eb_four most = eb_four_of(0);
  size_t i = 0;
  for (; i + EB_FOUR <= count; i += EB_FOUR) {
    eb_four size = eb_four_abs((eb_four){values[i], values[i + 1], values[i + 2], values[i + 3]});
    most = eb_four_where((eb_four_mask)(size > most), size, most);
  }
  double of_four = fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
  for (; i < count; i++) of_four = fmax(of_four, fabs(values[i]));
  return of_four;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* How much farther than its energy carries it the body has gone, over the root of its mass: m. */
static double beyond_energy(const eb_audit *audit, const eb_state *before, const eb_state *after,
                            double dt, double script_root) {
  double way2 = 0, work = 0, mass = 0;
  double stored = audit->start.energy + fmax(eb_audit_springs_before(audit, before->x),
                                             eb_audit_springs_energy(audit, before->x));
  double energy = eb_audit_once(audit, stored);
  for (size_t i = 0; i < audit->own_nodes; i++) {
    double way[3];
    if (audit->fixed[i]) continue;
    for (size_t d = 0; d < 3; d++) way[d] = after->x[3 * i + d] - before->x[3 * i + d];
    way2 += audit->mass[i] * eb_audit_squared(way);
    energy += 0.5 * audit->mass[i] * eb_audit_squared(before->v + 3 * i);
    work += eb_dot3(audit->force + 3 * i, way);
    mass += audit->mass[i];
  }
  double sums[] = {way2, energy, work, mass};
  eb_ranks_sum(audit->ranks, 4, sums);
  double reach = dt * sqrt(2) * (sqrt(fmax(0, sums[1]) + fabs(sums[2])) + script_root);
  return sums[3] > 0 ? fmax(0, sqrt(sums[0]) - reach) / sqrt(sums[3]) : 0;
}

/* By how much the correction raises E + P + S - f . x, P the penalty of implicit colliders on the
 * nodes that the step takes contact of, J; 0 when it lowers it. */
static double uphill(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                     const eb_declaration *declared) {
  eb_audit_elastic without = {.g = audit->stretch};
  double work = 0;
  for (size_t k = 0; k < 3 * audit->nodes; k++) {
    audit->trial[k] = audit->fixed[k / 3] ? after->x[k] : before->x[k] + dt * after->v[k];
    if (k < 3 * audit->own_nodes) work += audit->force[k] * (after->x[k] - audit->trial[k]);
  }
  work = eb_audit_sum(audit, work);
  eb_audit_elements(audit, audit->trial, &without);
  double end = audit->end.energy +
               eb_audit_taken_penalty_energy(audit, declared, before, after->time, after->x) +
               eb_audit_springs_energy(audit, after->x);
  double start = without.energy +
                 eb_audit_taken_penalty_energy(audit, declared, before, after->time, audit->trial) +
                 eb_audit_springs_energy(audit, audit->trial);
  return fmax(0, end - start - work);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Free bodies against the pose that their twist leads to, and riding nodes against the pose; joints
 * against their rates. */
static void follow_bodies(const eb_state *before, const eb_state *after, double dt,
                          eb_audit_row *row) {
  for (size_t b = 0; b < (size_t)after->body_count; b++) {
    const eb_spot body = {EB_SPOT_FREE_BODY, (int32_t)b, -1};
    double pose[7];
    eb_free_body_advance(before->pose + 7 * b, after->twist + 6 * b, dt, pose);
    for (size_t k = 0; k < 3; k++)
      eb_audit_raise_at(fabs(after->pose[7 * b + k] - pose[k]), body, &row->update);
    double dot = 0;
    for (size_t k = 3; k < 7; k++) dot += pose[k] * after->pose[7 * b + k];
    for (size_t k = 3; k < 7; k++)
      eb_audit_raise_at(fabs(after->pose[7 * b + k] - copysign(1, dot) * pose[k]), body,
                        &row->update);
  }
  for (int32_t j = 0; j < after->joint_count; j++)
    eb_audit_raise_at(fabs(after->q[j] - before->q[j] - dt * after->u[j]), (eb_spot){0},
                      &row->update);
}

static void measure_held(eb_audit *audit, const eb_state *after, eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  const eb_articulation *joints = scene->rigid.articulation;
  double *carried = audit->trial;
  for (int32_t k = 0; joints && k < eb_articulation_attached(joints); k++)
    eb_articulation_place(joints, after->q, k,
                          carried + 3 * (size_t)eb_articulation_node(joints, k), NULL);
  if (scene->rigid.free_bodies)
    eb_free_bodies_place(scene->rigid.free_bodies, scene->mesh->X, after->pose, after->twist,
                         carried, NULL);
  for (size_t i = 0; i < audit->own_nodes; i++) {
    double off[3];
    const double *place = (audit->fixed[i] == EB_AUDIT_CARRIED ? carried : audit->target) + 3 * i;
    if (!audit->fixed[i]) continue;
    for (size_t d = 0; d < 3; d++) off[d] = after->x[3 * i + d] - place[d];
    eb_audit_raise_at(sqrt(eb_audit_squared(off)), eb_audit_node(i), &row->held);
  }
}

/* Of nodes that no body carries, from x0 + h (a v0 + b v1), or h^2 f_ext / m short of it. */
static void follow_velocities(const eb_audit *audit, const eb_state *before, const eb_state *after,
                              double dt, eb_update update, eb_audit_row *row) {
  bool mean = update == EB_UPDATE_MEAN_VELOCITY, late = update == EB_UPDATE_LATE_FORCE;
  double a = mean ? 0.5 : 0, b = mean ? 0.5 : 1, off[3], most_lag = 0;
  for (size_t i = 0; i < audit->own_nodes; i++) {
    double yields = late && !audit->fixed[i] ? dt * dt / audit->mass[i] : 0;
    for (size_t d = 0, k = 3 * i; d < 3; d++, k++) {
      double lag = yields * audit->force[k];
      off[d] = after->x[k] - before->x[k] - dt * (a * before->v[k] + b * after->v[k]) + lag;
      most_lag = fmax(most_lag, fabs(lag));
    }
    if (audit->fixed[i] != EB_AUDIT_CARRIED)
      eb_audit_raise_at(sqrt(eb_audit_squared(off)), eb_audit_node(i), &row->update);
  }
  row->update.allowed += roundings * eb_audit_most(audit, most_lag);
}

void eb_audit_motion(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                     const eb_declaration *declared, eb_audit_row *row) {
  size_t size = 3 * audit->own_nodes;
  double most[] = {largest(size, before->x), largest(size, after->x), largest(size, after->v)};
  eb_ranks_max(audit->ranks, 3, most);
  double reach = most[0] + most[1];
  double turned = 1 + largest((size_t)after->joint_count, after->q) +
                  largest(7 * (size_t)after->body_count, after->pose);
  row->held.error = 0;
  row->held.allowed = roundings * reach;
  row->update.allowed = roundings * (reach + dt * most[2] + turned);
  measure_held(audit, after, row);
  row->held.error = eb_audit_most_at(audit, row->held.error, &row->held.spot);
  row->update.error = 0;
  if (declared->equation == EB_EQUATION_STATIC) {
    for (size_t i = 0; i < audit->own_nodes; i++)
      eb_audit_raise_at(dt * sqrt(eb_audit_squared(after->v + 3 * i)), eb_audit_node(i),
                        &row->update);
  } else if (declared->update == EB_UPDATE_SUBSTEPS) {
    row->update.error = beyond_energy(audit, before, after, dt, row->script.root);
  } else if (declared->update == EB_UPDATE_CORRECTED) {
    row->work.raised = uphill(audit, before, after, dt, declared);
  } else {
    follow_velocities(audit, before, after, dt, declared->update, row);
  }
  if (declared->equation != EB_EQUATION_STATIC) follow_bodies(before, after, dt, row);
  row->update.error = eb_audit_most_at(audit, row->update.error, &row->update.spot);
}
