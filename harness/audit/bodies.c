/* A body at p with velocity V, angular velocity W and inertia I about its centre of mass, in world axes:
 *
 *   kinetic = m |V|^2 / 2 + W . I W / 2,   potential = -m g . p,   momentum = m V,   angular momentum = m p x V + I W */
#include "harness/audit/bodies.h"

static void add_body(const eb_free_body *body, const double gravity[3], const double pose[7],
                     const double twist[6], eb_audit_row *row) {
  double inertia[9];
  eb_free_body_inertia(body, pose, inertia);
  for (int d = 0; d < 3; d++) {
    int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
    const double *I = inertia + 3 * d;
    double spin = I[0] * twist[3] + I[1] * twist[4] + I[2] * twist[5];
    row->kinetic += 0.5 * (body->mass * twist[d] * twist[d] + spin * twist[3 + d]);
    row->gravitational -= body->mass * gravity[d] * pose[d];
    row->momentum[d] += body->mass * twist[d];
    row->angular_momentum[d] += spin + body->mass * (pose[d1] * twist[d2] - pose[d2] * twist[d1]);
  }
}

void eb_audit_bodies(const eb_scene *scene, const eb_state *state, eb_audit_row *row) {
  for (size_t b = 0; b < (size_t)scene->free_bodies->count; b++)
    add_body(&scene->free_bodies->body[b], scene->gravity, state->pose + 7 * b,
             state->twist + 6 * b, row);
}
