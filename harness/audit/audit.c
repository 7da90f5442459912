/* Residual of the incremental potential, by plain loops over elements:
 *
 *   grad W(x1) = M (x1 - xt) / h^2 + sum_e sum_q w_q P(F_q) grad N - f_c(x1) - f_ext(x0, v0) - r,
 *   xt = x0 + h v0,
 *
 * with f_c the penalty of implicit colliders and r the contact forces that a solver reports.
 * Friction of implicit colliders is whatever tangential force at a pushed node brings the residual
 * nearest to 0 within Coulomb's cone. */
#include "harness/audit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/joints.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

enum { HEXAHEDRON_POINTS = 8 };

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error allocate_elastic(size_t nodes, eb_audit_elastic *out) {
  EB_TRY(EB_NEW(out->x, 3 * nodes));
  return EB_NEW(out->g, 3 * nodes);
}

static eb_error allocate_nodes(eb_audit *audit) {
  size_t nodes = audit->nodes;
  EB_TRY(EB_NEW(audit->mass, nodes));
  EB_TRY(EB_NEW(audit->distance, nodes));
  EB_TRY(EB_NEW(audit->part, nodes));
  EB_TRY(EB_NEW(audit->force, 3 * nodes));
  EB_TRY(EB_NEW(audit->residual, 3 * nodes));
  EB_TRY(EB_NEW(audit->target, 3 * nodes));
  EB_TRY(EB_NEW(audit->own, 3 * nodes));
  EB_TRY(EB_NEW(audit->stretch, 3 * nodes));
  EB_TRY(EB_NEW(audit->trial, 3 * nodes));
  EB_TRY(EB_NEW(audit->stopped, 3 * nodes));
  EB_TRY(allocate_elastic(nodes, &audit->start));
  EB_TRY(allocate_elastic(nodes, &audit->end));
  return EB_NEW(audit->fixed, nodes);
}

static eb_error allocate(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  EB_TRY(allocate_nodes(audit));
  audit->touch_room = eb_implicit_room(audit->scene);
  if (audit->touch_room > 0) EB_TRY(EB_NEW(audit->touches, audit->touch_room));
  audit->parts = eb_mesh_components(mesh, audit->part);
  EB_TRY(EB_NEW(audit->part_sums, EB_AUDIT_PART_SUMS * (size_t)audit->parts));
  EB_TRY(eb_audit_cut_lanes(audit));
  return eb_mass_points_create(audit->scene, &audit->bodies);
}

eb_error eb_audit_create(const eb_scene *scene, eb_audit **out) {
  *out = NULL;
  eb_audit *audit;
  EB_TRY(EB_NEW(audit, 1));
  audit->scene = scene;
  audit->nodes = (size_t)scene->mesh->node_count;
  audit->points = scene->mesh->type == EB_HEXAHEDRON ? HEXAHEDRON_POINTS : 1;
  eb_error error = allocate(audit);
  if (error) {
    eb_audit_destroy(audit);
    return error;
  }
  eb_audit_rest_shapes(audit);
  *out = audit;
  return EB_OK;
}

void eb_audit_share(eb_audit *audit, eb_team *team) {
  audit->team = team;
}

static void release_elastic(eb_audit_elastic *elastic) {
  free(elastic->x);
  free(elastic->g);
}

void eb_audit_destroy(eb_audit *audit) {
  if (!audit) return;
  for (int l = 0; l < EB_AUDIT_LANES; l++)
    for (int m = 0; m < EB_AUDIT_MOTIONS; m++) free(audit->lanes[l].g[m]);
  free(audit->batches);
  free(audit->corners);
  free(audit->mass);
  free(audit->distance);
  free(audit->part);
  eb_mass_points_destroy(audit->bodies);
  free(audit->force);
  free(audit->residual);
  free(audit->target);
  free(audit->own);
  free(audit->stretch);
  free(audit->trial);
  free(audit->stopped);
  release_elastic(&audit->start);
  release_elastic(&audit->end);
  free(audit->fixed);
  free(audit->touches);
  free(audit->part_sums);
  free(audit);
}

/* ---- the terms of the residual --------------------------------------------------------------- */

/* What 1e-8 of a node's place is in inertia, squared, N^2. */
static double unknown_inertia(double mass, double dt, const double *x) {
  static const double resolution = 1e-8;
  double size = resolution * mass / (dt * dt);
  return size * size * eb_audit_squared(x);
}

/* Inertia (carried nodes': audit/joints.c), external and contact force on node i; returns the
 * squared size of the first two, over free nodes. */
static double add_node(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       eb_equation equation, size_t i) {
  double inertia[3] = {0}, *r = audit->residual + 3 * i, scale2 = 0;
  bool moving = equation != EB_EQUATION_STATIC && audit->fixed[i] != EB_AUDIT_CARRIED;
  for (size_t d = 3 * i; moving && d < 3 * i + 3; d++)
    inertia[d - 3 * i] =
        audit->mass[i] * (after->x[d] - before->x[d] - dt * before->v[d]) / (dt * dt);
  if (moving) scale2 = unknown_inertia(audit->mass[i], dt, after->x + 3 * i);
  for (size_t d = 0; d < 3; d++) {
    r[d] += inertia[d] - audit->force[3 * i + d];
    if (audit->push) r[d] -= audit->push[3 * i + d];
  }
  return audit->fixed[i]
             ? 0
             : scale2 + eb_audit_squared(inertia) + eb_audit_squared(audit->force + 3 * i);
}

static void add_penetration(const eb_audit *audit, const eb_state *state, eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    double deepest = 0, normal[3], velocity[3];
    for (int32_t c = 0; c < scene->collider_count; c++)
      deepest = fmax(deepest, -eb_collider_distance(&scene->colliders[c], state->time,
                                                    state->x + 3 * i, normal, velocity));
    row->contacts += deepest > 0;
    row->max_penetration = fmax(row->max_penetration, deepest);
  }
}

/* ---- a step ---------------------------------------------------------------------------------- */

static bool all_finite(const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static void find_fixed(eb_audit *audit, double time) {
  const eb_scene *scene = audit->scene;
  memset(audit->fixed, 0, audit->nodes);
  eb_scene_boundary(scene, time, audit->fixed, audit->target);
  for (size_t i = 0; i < audit->nodes; i++) audit->fixed[i] = audit->fixed[i] != 0;
  for (int32_t k = 0; scene->articulation && k < eb_articulation_attached(scene->articulation); k++)
    audit->fixed[eb_articulation_node(scene->articulation, k)] = EB_AUDIT_CARRIED;
  for (size_t i = 0; scene->free_bodies && i < audit->nodes; i++)
    if (scene->free_bodies->of_node[i] >= 0) audit->fixed[i] = EB_AUDIT_CARRIED;
}

/* Materials, scripted and carried nodes, and external forces of the step. The nodes that were fixed
 * are left in audit->own when they are others now. */
static bool prepare_step(eb_audit *audit, const eb_state *before, const eb_state *after,
                         eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  uint8_t *old = (uint8_t *)audit->own;
  memcpy(old, audit->fixed, audit->nodes);
  memcpy(audit->materials, scene->materials, sizeof audit->materials);
  if (scene->ops->activation) row->activation = scene->ops->activation(scene, after->time);
  for (int32_t r = 0; scene->ops->activation && r < scene->material_count; r++)
    audit->materials[r].activation = row->activation;
  memset(audit->residual, 0, 3 * audit->nodes * sizeof *audit->residual);
  find_fixed(audit, after->time);
  eb_scene_force(scene, before->time, before->x, before->v, audit->force);
  return memcmp(old, audit->fixed, audit->nodes) == 0;
}

static void fill_elastic(const eb_audit *audit, const eb_state *state, double activation,
                         eb_audit_elastic *out) {
  memcpy(out->x, state->x, 3 * audit->nodes * sizeof *out->x);
  eb_audit_elements(audit, state->x, out);
  out->activation = activation;
  out->current = true;
}

/* The end of the last step is the start of this one, as long as nodes are fixed and fibres active
 * as they were. */
static void take_over(eb_audit *audit, const eb_state *before, bool same_fixed, double activation) {
  eb_audit_elastic last = audit->end;
  audit->end = audit->start;
  audit->start = last;
  audit->start.current = last.current && same_fixed && last.activation == activation &&
                         memcmp(last.x, before->x, 3 * audit->nodes * sizeof *last.x) == 0;
}

void eb_audit_need_start(eb_audit *audit, const eb_state *before) {
  if (!audit->start.current) fill_elastic(audit, before, audit->end.activation, &audit->start);
}

static eb_error check_states(const eb_audit *audit, const eb_state *before, const eb_state *after) {
  const eb_scene *scene = audit->scene;
  int32_t joints = scene->articulation ? eb_articulation_joints(scene->articulation) : 0;
  if ((size_t)scene->mesh->node_count != audit->nodes)
    return EB_ERROR(EB_ERR_INVALID,
                    "the mesh of '%s' has been cut since its audit was made; make another",
                    scene->ops->name);
  if ((size_t)before->node_count != audit->nodes || (size_t)after->node_count != audit->nodes)
    return EB_ERROR(EB_ERR_INVALID, "the audit of '%s' wants states of %zu nodes, not %d and %d",
                    scene->ops->name, audit->nodes, before->node_count, after->node_count);
  int32_t bodies = scene->free_bodies ? scene->free_bodies->count : 0;
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

static bool row_is_finite(const eb_audit_row *row) {
  const double values[] = {row->residual,        row->residual_relative,
                           row->joint_residual,  row->joint_residual_relative,
                           row->kinetic,         row->elastic,
                           row->gravitational,   row->joint_kinetic,
                           row->joint_potential, row->min_volume_ratio,
                           row->max_penetration};
  return all_finite(values, sizeof values / sizeof *values) && all_finite(row->momentum, 3) &&
         all_finite(row->angular_momentum, 3);
}

eb_error eb_audit_step(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       eb_equation equation, eb_audit_row *row) {
  const eb_articulation *articulation = audit->scene->articulation;
  EB_TRY(check_states(audit, before, after));
  *row = (eb_audit_row){.residual = NAN, .residual_relative = NAN};
  row->finite = is_finite(after);
  if (!row->finite) return EB_OK;
  bool same_fixed = prepare_step(audit, before, after, row);
  take_over(audit, before, same_fixed, row->activation);
  fill_elastic(audit, after, row->activation, &audit->end);
  row->elastic = audit->end.energy;
  row->min_volume_ratio = audit->end.min_volume_ratio;
  row->inverted = audit->end.inverted;
  memcpy(audit->residual, audit->end.g, 3 * audit->nodes * sizeof *audit->residual);
  double scale2 = audit->end.scale2 + audit->end.rounding2, sum2 = 0;
  for (size_t i = 0; i < audit->nodes; i++)
    scale2 += add_node(audit, before, after, dt, equation, i);
  scale2 += eb_audit_add_penalty(audit, after->time, after->x, equation != EB_EQUATION_STATIC,
                                 audit->residual);
  for (size_t i = 0; i < audit->nodes; i++)
    if (!audit->fixed[i]) sum2 += eb_audit_squared(audit->residual + 3 * i);
  row->residual = sqrt(sum2);
  row->scale = sqrt(scale2);
  row->residual_relative = !isfinite(scale2) ? NAN : sum2 > 0 ? sqrt(sum2 / scale2) : 0;
  eb_audit_add_motion(audit, after, row);
  if (audit->bodies) eb_audit_bodies(audit->bodies, audit->scene->gravity, after, row);
  if (articulation)
    eb_audit_joints(articulation, audit->mass, audit->residual, before, after, dt, equation, row);
  add_penetration(audit, after, row);
  row->finite = row_is_finite(row);
  return EB_OK;
}

void eb_audit_declared(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       const eb_declaration *declared, eb_audit_row *row) {
  if (!row->finite) return;
  eb_audit_need_start(audit, before);
  eb_audit_motion(audit, before, after, dt, declared, row);
  eb_audit_work(audit, before, after, dt, row);
  eb_audit_equation(audit, before, after, dt, declared, row);
  const double values[] = {row->equation_residual_relative,
                           row->update_error,
                           row->held_error,
                           row->energy_excess,
                           row->energy_scale,
                           row->residual_work};
  row->finite = all_finite(values, sizeof values / sizeof *values);
}

void eb_audit_contact_forces(eb_audit *audit, const double *push) {
  audit->push = push;
}

eb_audit_nodes eb_audit_last(const eb_audit *audit) {
  return (eb_audit_nodes){audit->residual, audit->force, audit->mass, audit->fixed};
}
