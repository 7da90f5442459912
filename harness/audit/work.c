/* Energy that a step gains from nowhere:
 *
 *   (K + E + P + V)_1 - (K + E + P + V)_0 - W
 *
 * with kinetic and elastic energy, the penalty P of implicit colliders, and the potential V of
 * gravity, joints and limits; E_0 with the fibres as active as in the step. W is the work of
 * everything else: of f_ext beyond gravity, which is constant in the step, of what keeps scripted
 * nodes on their way, of colliders that move; contact forces between bodies have none of their own:
 * what they take is lost. Most implicit steps lose energy. Of what is gained, equation.c tells the
 * part that is not the equation's own. */
#include <math.h>

#include "harness/audit/audit_data.h"
#include "problems/base/vector3.h"

/* Of implicit colliders that move, by the push at the end of the step. */
static double colliders_work(const eb_audit *audit, const eb_state *after, double dt) {
  double work = 0;
  for (int32_t c = 0; c < audit->scene->collider_count; c++) {
    const eb_collider *collider = &audit->scene->colliders[c];
    for (size_t i = 0; collider->implicit && collider->motion && i < audit->nodes; i++) {
      double normal[3], velocity[3];
      double depth = collider->margin - eb_collider_distance(collider, after->time,
                                                             after->x + 3 * i, normal, velocity);
      if (depth > 0)
        work += dt * collider->stiffness * audit->scene->node_area[i] * depth *
                eb_dot3(normal, velocity);
    }
  }
  return work;
}

/* Energies of a state before the step, as audit.c has them of the one after it. */
static eb_audit_row energies_of(const eb_audit *audit, const eb_state *state, double elastic) {
  eb_audit_row row = {.elastic = elastic};
  double gravitational = 0, limits = 0;
  eb_audit_add_motion(audit, state, &row);
  if (audit->bodies) eb_audit_bodies(audit->bodies, audit->scene->gravity, state, &row);
  if (audit->scene->articulation) {
    eb_articulation_energy(audit->scene->articulation, state->q, state->u, &row.joint_kinetic,
                           &gravitational, &limits);
    row.joint_potential = gravitational + limits;
  }
  return row;
}

static void add_up(const eb_audit *audit, const eb_state *state, const eb_audit_row *row,
                   double *sum, double *size) {
  double moving = row->kinetic + row->elastic + row->joint_kinetic +
                  eb_audit_penalty_energy(audit, state->time, state->x);
  *sum = moving + row->gravitational + row->joint_potential;
  *size = moving;
}

/* Work of forces on nodes that no potential has. */
static double work_done(const eb_audit *audit, const eb_state *before, const eb_state *after) {
  const double *gravity = audit->scene->gravity;
  double work = 0;
  for (size_t k = 0; k < 3 * audit->nodes; k++) {
    double way = after->x[k] - before->x[k];
    double load = audit->force[k] - audit->mass[k / 3] * gravity[k % 3];
    if (audit->fixed[k / 3] == EB_AUDIT_SCRIPTED) load += audit->residual[k];
    work += load * way;
  }
  return work;
}

void eb_audit_work(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                   eb_audit_row *row) {
  double start, end, start_size, end_size;
  double work = work_done(audit, before, after) + colliders_work(audit, after, dt);
  eb_audit_row was = energies_of(audit, before, audit->start.energy);
  add_up(audit, before, &was, &start, &start_size);
  add_up(audit, after, row, &end, &end_size);
  row->energy_excess = end - start - work;
  row->energy_scale = fmax(start_size, end_size) + fabs(work);
}
