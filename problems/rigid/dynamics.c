/* The reduced equations of motion of an articulation (Wang et al. 2019, REDMAX):
 *   J^T M J u' = J^T (f - M Jdot u) + tau_r,
 * where J stacks the rows of eb_body_jacobian at the centres of mass, M is block diagonal with m I and the inertia about the centre, f is
 * gravity and the gyroscopic moment -w x I w, and tau_r is the joints' own: damping and limits.
 *
 * Jdot u is what the bodies accelerate at u' = 0, found from the world outwards. With p the parent of b, w and a the angular velocity and
 * acceleration, s the axis of the joint and r the arm from one pivot to the next or to the centre:
 *   a_b = a_p + w_p x s_b u_b,   every point: acceleration of the pivot + a x r + w x (w x r). */
#include <string.h>

#include "problems/base/vector3.h"
#include "problems/rigid/articulation_data.h"

typedef struct motion {
  double spin[3], velocity[3];  /* of the body, of its pivot */
  double angular[3], linear[3]; /* their accelerations at u' = 0 */
  double centre_velocity[3], centre_acceleration[3];
} motion;

/* Velocity and acceleration of a body's point at `arm` from its pivot. */
static void point_motion(const motion *m, const double arm[3], double velocity[3],
                         double acceleration[3]) {
  double swing[3], turn[3], inward[3];
  eb_cross3(m->spin, arm, swing);
  eb_cross3(m->angular, arm, turn);
  eb_cross3(m->spin, swing, inward);
  for (int d = 0; d < 3; d++) {
    velocity[d] = m->velocity[d] + swing[d];
    acceleration[d] = m->linear[d] + turn[d] + inward[d];
  }
}

static void motions(const eb_articulation *articulation, const double *q, const double *u,
                    eb_pose *pose, motion *out) {
  eb_articulation_poses(articulation, q, pose);
  for (int32_t b = 0; b < articulation->count; b++) {
    int32_t p = articulation->body[b].parent;
    motion *m = &out[b];
    double arm[3], turn[3];
    memset(m, 0, sizeof *m);
    if (p >= 0) {
      for (int d = 0; d < 3; d++) arm[d] = pose[b].pivot[d] - pose[p].pivot[d];
      point_motion(&out[p], arm, m->velocity, m->linear);
      memcpy(m->spin, out[p].spin, sizeof m->spin);
      memcpy(m->angular, out[p].angular, sizeof m->angular);
      eb_cross3(out[p].spin, pose[b].axis, turn);
      eb_add3(u[b], turn, m->angular);
    }
    eb_add3(u[b], pose[b].axis, m->spin);
    for (int d = 0; d < 3; d++) arm[d] = pose[b].centre[d] - pose[b].pivot[d];
    point_motion(m, arm, m->centre_velocity, m->centre_acceleration);
  }
}

void eb_articulation_mass(const eb_articulation *articulation, const double *q, double *mass) {
  int32_t n = articulation->count;
  eb_pose pose[EB_MAX_JOINTS];
  double linear[3 * EB_MAX_JOINTS], angular[3 * EB_MAX_JOINTS];
  eb_articulation_poses(articulation, q, pose);
  memset(mass, 0, (size_t)n * (size_t)n * sizeof *mass);
  for (int32_t b = 0; b < n; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    eb_body_jacobian(articulation, pose, b, pose[b].centre, linear, angular);
    for (int32_t i = b; i >= 0; i = articulation->body[i].parent) {
      double turned[3];
      eb_body_inertia(body, &pose[b], pose[i].axis, turned);
      for (int32_t j = b; j >= 0; j = articulation->body[j].parent)
        for (int d = 0; d < 3; d++)
          mass[i * n + j] +=
              body->mass * linear[d * n + i] * linear[d * n + j] + turned[d] * angular[d * n + j];
    }
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) mass[i * n + j] = mass[j * n + i];
}

/* How far beyond its limits a joint is, with sign. */
static double excess(const eb_rigid_body *body, double angle) {
  if (angle > body->upper) return angle - body->upper;
  return angle < body->lower ? angle - body->lower : 0;
}

/* tau += J_b^T (f - M Jdot u) of one body. */
static void add_body_force(const eb_articulation *articulation, const eb_pose *pose, int32_t b,
                           const motion *m, double *tau) {
  int32_t n = articulation->count;
  const eb_rigid_body *body = &articulation->body[b];
  double linear[3 * EB_MAX_JOINTS], force[3], moment[3], spun[3], turned[3];
  for (int d = 0; d < 3; d++)
    force[d] = body->mass * (articulation->gravity[d] - m->centre_acceleration[d]);
  eb_body_inertia(body, &pose[b], m->spin, spun);
  eb_body_inertia(body, &pose[b], m->angular, turned);
  eb_cross3(spun, m->spin, moment);
  eb_add3(-1, turned, moment);
  eb_body_jacobian(articulation, pose, b, pose[b].centre, linear, NULL);
  for (int32_t j = b; j >= 0; j = articulation->body[j].parent) {
    tau[j] += eb_dot3(pose[j].axis, moment);
    for (int d = 0; d < 3; d++) tau[j] += linear[d * n + j] * force[d];
  }
}

void eb_articulation_force(const eb_articulation *articulation, const double *q, const double *u,
                           double *tau, double *stiffness, double *damping) {
  eb_pose pose[EB_MAX_JOINTS];
  motion moving[EB_MAX_JOINTS];
  motions(articulation, q, u, pose, moving);
  for (int32_t j = 0; j < articulation->count; j++) {
    const eb_rigid_body *body = &articulation->body[j];
    double beyond = excess(body, q[j]);
    tau[j] = -body->damping * u[j] - (beyond != 0 ? body->limit_stiffness * beyond : 0);
    if (stiffness) stiffness[j] = beyond != 0 ? body->limit_stiffness : 0;
    if (damping) damping[j] = body->damping;
  }
  for (int32_t b = 0; b < articulation->count; b++)
    add_body_force(articulation, pose, b, &moving[b], tau);
}

void eb_articulation_energy(const eb_articulation *articulation, const double *q, const double *u,
                            double *kinetic, double *gravitational, double *limits) {
  eb_pose pose[EB_MAX_JOINTS];
  motion moving[EB_MAX_JOINTS];
  motions(articulation, q, u, pose, moving);
  *kinetic = *gravitational = *limits = 0;
  for (int32_t b = 0; b < articulation->count; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    const motion *m = &moving[b];
    double spun[3], beyond = excess(body, q[b]);
    eb_body_inertia(body, &pose[b], m->spin, spun);
    *kinetic += 0.5 * (body->mass * eb_dot3(m->centre_velocity, m->centre_velocity) +
                       eb_dot3(spun, m->spin));
    *gravitational -= body->mass * eb_dot3(articulation->gravity, pose[b].centre);
    *limits += 0.5 * body->limit_stiffness * beyond * beyond;
  }
}

void eb_articulation_momentum(const eb_articulation *articulation, const double *q, const double *u,
                              double momentum[3], double angular[3]) {
  eb_pose pose[EB_MAX_JOINTS];
  motion moving[EB_MAX_JOINTS];
  motions(articulation, q, u, pose, moving);
  for (int32_t b = 0; b < articulation->count; b++) {
    const eb_rigid_body *body = &articulation->body[b];
    double spun[3], orbital[3];
    eb_body_inertia(body, &pose[b], moving[b].spin, spun);
    eb_cross3(pose[b].centre, moving[b].centre_velocity, orbital);
    eb_add3(body->mass, moving[b].centre_velocity, momentum);
    eb_add3(body->mass, orbital, angular);
    eb_add3(1, spun, angular);
  }
}
