/* A carried node a has no equation of its own: x_a = p_a(q), and d'Alembert's principle lets all
 * that acts on it act on the joints. With g_a - f_a its internal less its external force at the end
 * of the step, implicit Euler for the angles reads
 *
 *   r = M(q1) (u1 - u0) / h - tau(q1, u1)
 *       + sum_a J_a(q1)^T (m_a (J_a(q1) u1 - J_a(q0) u0) / h + g_a - f_a) = 0,
 *
 * in statics without inertia and with tau(q1, 0). The nodes' inertia is that of their velocities:
 * (x1 - x0 - h v0) / h^2, which is the same for free nodes, has only half the centripetal
 * acceleration of a node on a circle. */
#include "harness/audit/joints.h"

#include <math.h>

/* r += M (u1 - u0) / h; returns the squared size of that. */
static double add_inertia(const eb_articulation *articulation, const eb_state *before,
                          const eb_state *after, double dt, double *r) {
  double mass[EB_MAX_JOINTS * EB_MAX_JOINTS], size2 = 0;
  int joints = eb_articulation_joints(articulation);
  eb_articulation_mass(articulation, after->q, mass);
  for (int i = 0; i < joints; i++) {
    double sum = 0;
    for (int j = 0; j < joints; j++)
      sum += mass[joints * i + j] * (after->u[j] - before->u[j]) / dt;
    r[i] += sum;
    size2 += sum * sum;
  }
  return size2;
}

/* r -= tau; likewise. */
static double add_torques(const eb_articulation *articulation, const double *q, const double *u,
                          double *r) {
  double tau[EB_MAX_JOINTS], size2 = 0;
  eb_articulation_force(articulation, q, u, tau, NULL, NULL);
  for (int i = 0; i < eb_articulation_joints(articulation); i++) {
    r[i] -= tau[i];
    size2 += tau[i] * tau[i];
  }
  return size2;
}

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

/* r += sum_a J_a^T (inertia_a + load_a), inertia per kg times `inertial`; likewise, node by
 * node. */
static double add_nodes(const eb_articulation *articulation, const double *mass, const double *load,
                        const eb_state *before, const eb_state *after, double inertial, double *r) {
  double jacobian[3 * EB_MAX_JOINTS], f[3], v[3], size2 = 0;
  int joints = after->joint_count;
  for (int32_t k = 0; k < eb_articulation_attached(articulation); k++) {
    size_t node = (size_t)eb_articulation_node(articulation, k);
    carried_velocity(articulation, k, before, jacobian, v);
    carried_velocity(articulation, k, after, jacobian, f);
    for (int d = 0; d < 3; d++)
      f[d] = inertial * mass[node] * (f[d] - v[d]) + load[3 * node + (size_t)d];
    for (int j = 0; j < joints; j++) {
      double torque =
          jacobian[j] * f[0] + jacobian[joints + j] * f[1] + jacobian[2 * joints + j] * f[2];
      r[j] += torque;
      size2 += torque * torque;
    }
  }
  return size2;
}

void eb_audit_joints(const eb_articulation *articulation, const double *mass, const double *load,
                     const eb_state *before, const eb_state *after, double dt, eb_equation equation,
                     eb_audit_row *row) {
  static const double still[EB_MAX_JOINTS];
  double r[EB_MAX_JOINTS] = {0}, gravitational, limits, sum2 = 0;
  bool moving = equation != EB_EQUATION_STATIC;
  eb_articulation_energy(articulation, after->q, after->u, &row->joint_kinetic, &gravitational,
                         &limits);
  row->joint_potential = gravitational + limits;
  eb_articulation_momentum(articulation, after->q, after->u, row->momentum, row->angular_momentum);
  double scale2 = moving ? add_inertia(articulation, before, after, dt, r) : 0;
  scale2 += add_torques(articulation, after->q, moving ? after->u : still, r);
  scale2 += add_nodes(articulation, mass, load, before, after, moving ? 1 / dt : 0, r);
  for (int j = 0; j < after->joint_count; j++) sum2 += r[j] * r[j];
  row->joint_residual = sqrt(sum2);
  row->joint_residual_relative = scale2 > 0 ? sqrt(sum2 / scale2) : 0;
}
