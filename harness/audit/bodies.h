/* The free rigid bodies' part of the audit. Internal to harness/audit. */
#ifndef EB_AUDIT_BODIES_H
#define EB_AUDIT_BODIES_H

#include "harness/audit/audit.h"

/* Adds energies and momenta of the bodies at `state`, whose masses are those of the solids, not of their nodes. */
void eb_audit_bodies(const eb_scene *scene, const eb_state *state, eb_audit_row *row);

#endif
