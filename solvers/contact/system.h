/* The linear system of a contact step, linearly implicit Euler. Its unknown velocities are those of
 * the nodes, then the linear and the angular velocity of every free rigid body.
 *
 *   nodes    A = M + h^2 K(x0),      b = M v0 + h (f - g(x0))
 *   bodies   A = diag(m 1, I(q0)),   b = (m V0 + h F, I W0 + h (T - W0 x I W0))
 *
 * Scripted nodes have their velocity as value and the identity, scaled, as row
 * (eb_block_constrain). So have nodes that are attached to a free body, with value 0: no other row
 * refers to them. Force and torque on a body are those of its nodes, but for gravity, which acts at
 * its centre. contact_step.c assembles it and moves the bodies by its solution. Internal to
 * solvers/contact. */
#ifndef EB_CONTACT_SYSTEM_H
#define EB_CONTACT_SYSTEM_H

#include "solvers/common/implicit.h"

typedef struct eb_contact_system {
  eb_implicit implicit;         /* its matrix is A, with the rows of bodies behind those of nodes */
  const eb_free_bodies *bodies; /* NULL without */
  int32_t nodes, body_count, rows;
  uint8_t *known;        /* rows: scripted, or attached to a body */
  double *value;         /* 3 rows: velocity of scripted nodes, m/s; 0 elsewhere */
  double *b;             /* 3 rows, kg m/s and kg m^2/s */
  const eb_state *state; /* at the start of the step */
  double dt;
  double *x;    /* 3 nodes: at the end of the step, for the velocities given last, m */
  double *pose; /* 7 a body: likewise */
} eb_contact_system;

/* The free body that a node is attached to, or -1. */
static inline int32_t eb_contact_system_body(const eb_contact_system *system, int32_t node) {
  return system->bodies ? system->bodies->of_node[node] : -1;
}

#endif
