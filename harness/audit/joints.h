/* The joints' part of the audit. Internal to harness/audit. */
#ifndef EB_AUDIT_JOINTS_H
#define EB_AUDIT_JOINTS_H

#include "harness/audit/audit.h"

/* Energies and momenta of the bodies at `after`, and the residual of the joints' equation.
 * `mass` (nodes) and `load` (nodes x 3: internal less external forces, N) are read at the
 * carried nodes. */
void eb_audit_joints(const eb_articulation *articulation, const double *mass, const double *load,
                     const eb_state *before, const eb_state *after, double dt, eb_equation equation,
                     eb_audit_row *row);

#endif
