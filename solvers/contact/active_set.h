/* Which constraints a contact step has: warm-started from the last step, activated by collisions,
 * relinearized where the bodies have moved on, and dropped. Internal to solvers/contact. */
#ifndef EB_CONTACT_ACTIVE_SET_H
#define EB_CONTACT_ACTIVE_SET_H

#include "solvers/contact/constraints.h"

typedef struct eb_active_set {
  eb_constraints constraints; /* between the steps those of the last one */
  const eb_contact_surface *surface;
  const eb_contact_system *system;
  double gap; /* distance that constraints ask for, m */
  /* Constraints that push are linearized anew until their features are within so much of the
   * distance asked for, m, their normals turning by at most 15 degrees at once (Verschoor and Jalba
   * 2019, Section 3.3); 0: not so. Set by the caller. */
  double end_test;
  int64_t iteration; /* outer iteration of the step, from 1; set by the caller */
  int32_t room;
  uint8_t *changed;  /* room: activated or relinearized in this outer iteration */
  uint8_t *distant;  /* room, of those that have not changed: the force acts at a distance */
  double *first_hit; /* surface vertices: when each hits its first face, beyond 1 when none */
} eb_active_set;

/* Surface and system outlive the set. On failure nothing stays allocated. */
EB_MUST eb_error eb_active_set_create(const eb_contact_surface *surface,
                                      const eb_contact_system *system, double gap,
                                      eb_active_set *out);
void eb_active_set_clear(eb_active_set *active);

/* At the start of a step: keeps the constraints of the last one whose features are still close,
 * with their forces, linearized anew, and activates those of vertices close to faces. */
EB_MUST eb_error eb_active_set_warm_start(eb_active_set *active);
/* Detects what the motion that the last solve gave collides with, and activates, relinearizes and
 * drops constraints; *accepted when there was nothing to do. */
EB_MUST eb_error eb_active_set_update(eb_active_set *active, eb_step_log *log, bool *accepted);
/* After a solve that stagnated away from the constraints, u (3 count, m) its contact velocities:
 * lowers the target gaps of those that are violated by more than eps2 to what the method could
 * give. One that would end with less than a small part of the gap is dropped; it comes back,
 * linearized where the next motion hits. Returns whether there were such. */
bool eb_active_set_relax(eb_active_set *active, const double *u, double eps2);

#endif
