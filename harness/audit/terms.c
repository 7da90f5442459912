/* Terms that several parts of the audit add up: energies and momenta of nodes, and what implicit
 * colliders do to them. */
#include <math.h>

#include "harness/audit/audit_data.h"
#include "problems/base/vector3.h"

void eb_audit_add_motion(const eb_audit *audit, const eb_state *state, eb_audit_row *row) {
  const double *gravity = audit->scene->gravity;
  const eb_free_bodies *bodies = audit->scene->free_bodies;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    if (bodies && bodies->of_node[i] >= 0) continue;
    const double *x = state->x + 3 * i, *v = state->v + 3 * i;
    double m = audit->mass[i];
    row->kinetic += 0.5 * m * eb_audit_squared(v);
    for (int d = 0; d < 3; d++) {
      int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      row->gravitational -= m * gravity[d] * x[d];
      row->momentum[d] += m * v[d];
      row->angular_momentum[d] += m * (x[d1] * v[d2] - x[d2] * v[d1]);
    }
  }
}

void eb_audit_within_cone(double bound, const double normal[3], double r[3]) {
  double along = eb_dot3(r, normal), tangential[3];
  for (int d = 0; d < 3; d++) tangential[d] = r[d] - along * normal[d];
  double size = sqrt(eb_audit_squared(tangential));
  double share = size > bound ? bound / size : 1;
  for (int d = 0; d < 3; d++) r[d] -= share * tangential[d];
}

double eb_audit_add_penalty(const eb_audit *audit, double time, const double *x, bool moving,
                            double *residual) {
  const eb_scene *scene = audit->scene;
  double scale2 = 0;
  for (int32_t c = 0; c < scene->collider_count; c++) {
    const eb_collider *collider = &scene->colliders[c];
    for (size_t i = 0; collider->implicit && i < audit->nodes; i++) {
      double normal[3], velocity[3], push[3], *r = residual + 3 * i;
      double depth =
          collider->margin - eb_collider_distance(collider, time, x + 3 * i, normal, velocity);
      double pressure = depth > 0 ? collider->stiffness * depth : 0;
      for (int d = 0; d < 3; d++) {
        push[d] = pressure * scene->node_area[i] * normal[d];
        r[d] -= push[d];
      }
      if (moving)
        eb_audit_within_cone(collider->friction * pressure * scene->node_area[i], normal, r);
      if (!audit->fixed[i]) scale2 += eb_audit_squared(push);
    }
  }
  return scale2;
}

double eb_audit_penalty_energy(const eb_audit *audit, double time, const double *x) {
  double energy = 0;
  for (int32_t c = 0; c < audit->scene->collider_count; c++) {
    const eb_collider *collider = &audit->scene->colliders[c];
    for (size_t i = 0; collider->implicit && i < audit->nodes; i++) {
      double normal[3], velocity[3];
      double depth =
          collider->margin - eb_collider_distance(collider, time, x + 3 * i, normal, velocity);
      if (depth > 0)
        energy += 0.5 * collider->stiffness * audit->scene->node_area[i] * depth * depth;
    }
  }
  return energy;
}
