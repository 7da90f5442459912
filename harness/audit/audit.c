/* Residual of the incremental potential, by plain loops over elements:
 *
 *   grad W(x1) = M (x1 - xt) / h^2 + sum_e sum_q w_q P(F_q) grad N - f_c(x1) - f_s(x1)
 *                - f_ext(x0, v0) - r,
 *   xt = x0 + h v0,
 *
 * with f_c the penalty of implicit colliders, f_s the pull of springs and r the contact forces that
 * a solver reports. Friction of implicit colliders is Coulomb's at the end of the step
 * (eb_audit_take_friction). */
#include "harness/audit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

enum { HEXAHEDRON_POINTS = 8 };

/* ---- set-up ---------------------------------------------------------------------------------- */

static double sum_shear(const eb_audit *audit) {
  double sum = 0;
  for (size_t b = 0; b < audit->batch_count; b++) {
    const eb_audit_batch *batch = &audit->batches[b];
    for (int k = 0; k < batch->count && batch->owned; k++) {
      int64_t element = (batch->first + k) / audit->points;
      const eb_material *m = &audit->scene->materials[audit->scene->mesh->region[element]];
      sum += batch->weight[k] * m->young / (2 * (1 + m->poisson));
    }
  }
  return sum;
}

static eb_error allocate(eb_audit *audit) {
  size_t nodes = audit->nodes;
  double **const vectors[] = {&audit->force,   &audit->residual, &audit->target, &audit->start.x,
                              &audit->start.g, &audit->end.x,    &audit->end.g};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    EB_TRY(EB_TAKE(&audit->owned, *vectors[k], 3 * nodes));
  EB_TRY(EB_TAKE(&audit->owned, audit->mass, nodes));
  EB_TRY(EB_TAKE(&audit->owned, audit->distance, nodes));
  EB_TRY(EB_TAKE(&audit->owned, audit->part, nodes));
  EB_TRY(EB_TAKE(&audit->owned, audit->fixed, nodes));
  audit->touch_room = eb_implicit_room(audit->scene);
  if (audit->touch_room > 0) EB_TRY(EB_TAKE(&audit->owned, audit->touches, audit->touch_room));
  EB_TRY(eb_audit_components(audit->scene, audit->part, &audit->parts));
  EB_TRY(EB_TAKE(&audit->owned, audit->part_sums, EB_AUDIT_PART_SUMS * (size_t)audit->parts));
  EB_TRY(eb_audit_springs_create(audit));
  EB_TRY(eb_audit_rest_shapes(audit));
  audit->shear = sum_shear(audit);
  return eb_audit_mass_points(audit);
}

eb_error eb_audit_create(const eb_scene *scene, eb_audit **out) {
  *out = NULL;
  eb_audit *audit;
  EB_TRY(EB_NEW(audit, 1));
  audit->scene = scene;
  audit->nodes = (size_t)scene->mesh->node_count;
  audit->ranks = eb_scene_ranks(scene);
  audit->own_nodes = (size_t)eb_scene_own_nodes(scene);
  audit->own_elements = eb_scene_own_elements(scene);
  bool gauss = scene->materials[0].integration == EB_INTEGRATION_GAUSS;
  audit->points = scene->mesh->type == EB_HEXAHEDRON && gauss ? HEXAHEDRON_POINTS : 1;
  eb_error error = allocate(audit);
  if (error)
    eb_audit_destroy(audit);
  else
    *out = audit;
  return error;
}

void eb_audit_share(eb_audit *audit, eb_team *team) {
  audit->team = team;
}

void eb_audit_destroy(eb_audit *audit) {
  if (!audit) return;
  eb_audit_drop_shapes(audit);
  eb_arena_clear(&audit->owned);
  free(audit);
}

/* ---- joints ----------------------------------------------------------------------------------
 *
 * A carried node a has no equation of its own: x_a = p_a(q), and d'Alembert's principle lets all
 * that acts on it act on the joints. With g_a - f_a its internal less its external force at the end
 * of the step, implicit Euler for the angles reads
 *
 *   r = M(q1) (u1 - u0) / h - tau(q1, u1)
 *       + sum_a J_a(q1)^T (m_a (J_a(q1) u1 - J_a(q0) u0) / h + g_a - f_a) = 0,
 *
 * in statics without inertia and with tau(q1, 0). The nodes' inertia is that of their velocities:
 * (x1 - x0 - h v0) / h^2, which is the same for free nodes, has only half the centripetal
 * acceleration of a node on a circle. */

/* v = J_k(q) u of the k-th carried node, whose J comes back. */
static void carried_velocity(const eb_articulation *articulation, int32_t k, const eb_state *state,
                             double *jacobian, double v[3]) {
  double place[3];
  eb_articulation_place(articulation, state->q, k, place, jacobian);
  for (int d = 0; d < 3; d++) {
    v[d] = 0;
    for (int j = 0; j < state->joint_count; j++)
      v[d] += jacobian[state->joint_count * d + j] * state->u[j];
  }
}

/* The residual of the joints' equation; a step is `moving` or static. audit->residual holds
 * internal less external forces of the carried nodes. */
static void add_joints(const eb_audit *audit, const eb_state *before, const eb_state *after,
                       double dt, bool moving, eb_audit_row *row) {
  static const double still[EB_MAX_JOINTS];
  const eb_articulation *articulation = audit->scene->rigid.articulation;
  int joints = after->joint_count;
  double r[EB_MAX_JOINTS] = {0}, tau[EB_MAX_JOINTS], mass[EB_MAX_JOINTS * EB_MAX_JOINTS];
  double inertia2 = 0, torques2 = 0, nodes2 = 0, sum2 = 0;
  if (moving) eb_articulation_mass(articulation, after->q, mass);
  for (int i = 0; moving && i < joints; i++) {
    double sum = 0;
    for (int j = 0; j < joints; j++)
      sum += mass[joints * i + j] * (after->u[j] - before->u[j]) / dt;
    r[i] += sum;
    inertia2 += sum * sum;
  }
  eb_articulation_force(articulation, after->q, moving ? after->u : still, tau, NULL, NULL);
  for (int i = 0; i < joints; i++) {
    r[i] -= tau[i];
    torques2 += tau[i] * tau[i];
  }
  for (int32_t k = 0; k < eb_articulation_attached(articulation); k++) {
    size_t node = (size_t)eb_articulation_node(articulation, k);
    double jacobian[3 * EB_MAX_JOINTS], f[3], v[3], inertial = moving ? 1 / dt : 0;
    carried_velocity(articulation, k, before, jacobian, v);
    carried_velocity(articulation, k, after, jacobian, f);
    for (size_t d = 0; d < 3; d++)
      f[d] = inertial * audit->mass[node] * (f[d] - v[d]) + audit->residual[3 * node + d];
    for (int j = 0; j < joints; j++) {
      double torque =
          jacobian[j] * f[0] + jacobian[joints + j] * f[1] + jacobian[2 * joints + j] * f[2];
      r[j] += torque;
      nodes2 += torque * torque;
    }
  }
  double scale2 = inertia2 + torques2 + nodes2;
  for (int j = 0; j < joints; j++) sum2 += r[j] * r[j];
  row->joints.norm = sqrt(sum2);
  row->joints.scale = sqrt(scale2);
  row->joints.relative = scale2 > 0 ? sqrt(sum2 / scale2) : 0;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void add_penetration(const eb_audit *audit, const eb_state *state, eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    double deepest = 0, normal[3], velocity[3];
    for (int32_t c = 0; c < scene->contacts.collider_count; c++)
      deepest = fmax(deepest, -eb_collider_distance(&scene->contacts.colliders[c], state->time,
                                                    state->x + 3 * i, normal, velocity));
    row->contacts += deepest > 0;
    if (deepest > row->max_penetration) row->deepest = eb_audit_node(i);
    row->max_penetration = fmax(row->max_penetration, deepest);
  }
}

static bool all_finite(const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

/* Materials, scripted and carried nodes, springs, and external forces of the step. The end of the
 * last step is the start of this one, as long as nodes are fixed, fibres active and springs stiff
 * as they were. */
static void prepare_step(eb_audit *audit, const eb_state *before, const eb_state *after,
                         eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  const eb_articulation *joints = scene->rigid.articulation;
  uint8_t *old = (uint8_t *)audit->own;
  memcpy(old, audit->fixed, audit->nodes);
  memcpy(audit->materials, scene->materials, sizeof audit->materials);
  if (scene->ops->activation) row->activation = scene->ops->activation(scene, after->time);
  for (int32_t r = 0; scene->ops->activation && r < scene->material_count; r++)
    audit->materials[r].activation = row->activation;
  memset(audit->fixed, 0, audit->nodes);
  eb_scene_boundary(scene, after->time, audit->fixed, audit->target);
  for (size_t i = 0; i < audit->nodes; i++) audit->fixed[i] = audit->fixed[i] != 0;
  for (int32_t k = 0; joints && k < eb_articulation_attached(joints); k++)
    audit->fixed[eb_articulation_node(joints, k)] = EB_AUDIT_CARRIED;
  for (size_t i = 0; scene->rigid.free_bodies && i < audit->nodes; i++)
    if (scene->rigid.free_bodies->of_node[i] >= 0) audit->fixed[i] = EB_AUDIT_CARRIED;
  eb_scene_force(scene, before->time, before->x, before->v, audit->force);
  bool as_stiff = eb_audit_springs_prepare(audit, before->time, after->time);
  eb_audit_elastic last = audit->end;
  audit->end = audit->start;
  audit->start = last;
  bool same = last.current && as_stiff && memcmp(old, audit->fixed, audit->nodes) == 0 &&
              last.activation == row->activation &&
              memcmp(last.x, before->x, 3 * audit->nodes * sizeof *last.x) == 0;
  audit->start.current = eb_ranks_all(audit->ranks, same);
}

static void fill_elastic(const eb_audit *audit, const eb_state *state, double activation,
                         eb_audit_elastic *out) {
  memcpy(out->x, state->x, 3 * audit->nodes * sizeof *out->x);
  eb_audit_elements(audit, state->x, out);
  out->rounding2 += eb_audit_springs_rounding2(audit, state->x);
  out->activation = activation;
  out->current = true;
}

static eb_error check_states(const eb_audit *audit, const eb_state *before, const eb_state *after) {
  const eb_scene *scene = audit->scene;
  int32_t joints =
      scene->rigid.articulation ? eb_articulation_joints(scene->rigid.articulation) : 0;
  if ((size_t)scene->mesh->node_count != audit->nodes)
    return EB_ERROR(EB_ERR_INVALID,
                    "the mesh of '%s' has been cut since its audit was made; make another",
                    scene->ops->name);
  if ((size_t)before->node_count != audit->nodes || (size_t)after->node_count != audit->nodes)
    return EB_ERROR(EB_ERR_INVALID, "the audit of '%s' wants states of %zu nodes, not %d and %d",
                    scene->ops->name, audit->nodes, before->node_count, after->node_count);
  int32_t bodies = scene->rigid.free_bodies ? scene->rigid.free_bodies->count : 0;
  if (before->body_count != bodies || after->body_count != bodies)
    return EB_ERROR(EB_ERR_INVALID,
                    "the audit of '%s' wants states of %d free bodies, not %d and %d",
                    scene->ops->name, bodies, before->body_count, after->body_count);
  if (before->joint_count != joints || after->joint_count != joints)
    return EB_ERROR(EB_ERR_INVALID, "the audit of '%s' wants states of %d joints, not %d and %d",
                    scene->ops->name, joints, before->joint_count, after->joint_count);
  return EB_OK;
}

static bool is_finite(const eb_state *state) {
  size_t nodes = 3 * (size_t)state->node_count, joints = (size_t)state->joint_count,
         bodies = (size_t)state->body_count;
  return all_finite(state->x, nodes) && all_finite(state->v, nodes) &&
         all_finite(state->q, joints) && all_finite(state->u, joints) &&
         all_finite(state->pose, 7 * bodies) && all_finite(state->twist, 6 * bodies);
}

eb_error eb_audit_step(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       eb_equation equation, eb_audit_row *row) {
  static const double resolution = 1e-8; /* of places: audit.h */
  EB_TRY(check_states(audit, before, after));
  *row = (eb_audit_row){.implicit_euler = {.norm = NAN, .relative = NAN}};
  row->finite = eb_ranks_all(audit->ranks, is_finite(after));
  if (!row->finite) return EB_OK;
  prepare_step(audit, before, after, row);
  fill_elastic(audit, after, row->activation, &audit->end);
  row->totals.elastic = audit->end.energy;
  row->totals.springs = eb_audit_springs_energy(audit, after->x);
  row->min_volume_ratio = audit->end.min_volume_ratio;
  row->inverted = audit->end.inverted;
  row->hourglass = audit->hourglass ? sqrt(audit->end.hourglass / audit->volume) : 0;
  double *r = audit->residual, sums[2] = {0}; /* of squares: residual and scale */
  double scale2 = eb_audit_once(audit, audit->end.scale2 + audit->end.rounding2);
  memcpy(r, audit->end.g, 3 * audit->nodes * sizeof *r);
  bool moving = equation != EB_EQUATION_STATIC;
  for (size_t i = 0; i < audit->own_nodes; i++) {
    /* The inertia of carried nodes is the joints' and the bodies'. */
    double inertia[3] = {0}, unknown2 = 0;
    bool inert = moving && audit->fixed[i] != EB_AUDIT_CARRIED;
    for (size_t d = 3 * i; inert && d < 3 * i + 3; d++)
      inertia[d - 3 * i] =
          audit->mass[i] * (after->x[d] - before->x[d] - dt * before->v[d]) / (dt * dt);
    if (inert) {
      double size = resolution * audit->mass[i] / (dt * dt);
      unknown2 = size * size * eb_audit_squared(after->x + 3 * i);
    }
    for (size_t d = 0; d < 3; d++) {
      r[3 * i + d] += inertia[d] - audit->force[3 * i + d];
      if (audit->push) r[3 * i + d] -= audit->push[3 * i + d];
    }
    if (!audit->fixed[i])
      scale2 += unknown2 + eb_audit_squared(inertia) + eb_audit_squared(audit->force + 3 * i);
  }
  if (audit->pull) {
    memset(audit->pull, 0, 3 * audit->nodes * sizeof *audit->pull);
    scale2 += eb_audit_add_springs(audit, after->x, audit->pull);
    for (size_t k = 0; k < 3 * audit->nodes; k++) {
      r[k] += audit->pull[k];
      audit->pull[k] = -audit->pull[k];
    }
  }
  scale2 += eb_audit_add_penalty(audit, after->time, after->x, moving ? before->x : NULL, dt, r);
  for (size_t i = 0; i < audit->own_nodes; i++)
    if (!audit->fixed[i]) sums[0] += eb_audit_squared(r + 3 * i);
  sums[1] = scale2;
  eb_ranks_sum(audit->ranks, 2, sums);
  row->implicit_euler.norm = sqrt(sums[0]);
  row->implicit_euler.scale = sqrt(sums[1]);
  row->implicit_euler.relative = !isfinite(sums[1]) ? NAN
                                 : sums[0] > 0      ? sqrt(sums[0] / sums[1])
                                                    : 0;
  eb_audit_energies(audit, after, &row->totals);
  if (audit->scene->rigid.articulation) add_joints(audit, before, after, dt, moving, row);
  add_penetration(audit, after, row);
  const double values[] = {row->implicit_euler.norm,
                           row->implicit_euler.relative,
                           row->joints.norm,
                           row->joints.relative,
                           row->totals.kinetic,
                           row->totals.elastic,
                           row->totals.springs,
                           row->totals.gravitational,
                           row->totals.joint_kinetic,
                           row->totals.joint_potential,
                           row->min_volume_ratio,
                           row->max_penetration,
                           row->hourglass};
  row->finite = all_finite(values, sizeof values / sizeof *values) &&
                all_finite(row->totals.momentum, 3) && all_finite(row->totals.angular_momentum, 3);
  return EB_OK;
}

eb_error eb_audit_declared(eb_audit *audit, const eb_state *before, const eb_state *after,
                           double dt, const eb_declaration *declared, eb_audit_row *row) {
  if (!row->finite) return EB_OK;
  if (!audit->start.current) fill_elastic(audit, before, audit->end.activation, &audit->start);
  if (declared->update == EB_UPDATE_SUBSTEPS) eb_audit_script(audit, before, dt, row);
  eb_audit_motion(audit, before, after, dt, declared, row);
  eb_audit_work(audit, before, after, dt, declared, row);
  EB_TRY(eb_audit_equation(audit, before, after, dt, declared, row));
  const double values[] = {row->declared.relative, row->update.error, row->held.error,
                           row->work.excess,       row->work.scale,   row->work.of_residual};
  row->finite = all_finite(values, sizeof values / sizeof *values);
  return EB_OK;
}

void eb_audit_contact_forces(eb_audit *audit, const double *push) {
  audit->push = push;
}

eb_audit_nodes eb_audit_last(const eb_audit *audit) {
  return (eb_audit_nodes){audit->residual, audit->force, audit->mass, audit->fixed};
}
