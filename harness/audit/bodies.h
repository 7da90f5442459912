/* The free rigid bodies' part of the audit. Internal to harness/audit. */
#ifndef EB_AUDIT_BODIES_H
#define EB_AUDIT_BODIES_H

#include "harness/audit/audit.h"

typedef struct eb_mass_points eb_mass_points;

/* *out is NULL when the scene has no free bodies. */
EB_MUST eb_error eb_mass_points_create(const eb_scene *scene, eb_mass_points **out);
void eb_mass_points_destroy(eb_mass_points *points);
/* Adds kinetic and gravitational energy, momentum and angular momentum of the bodies at `state`. */
void eb_audit_bodies(const eb_mass_points *points, const double gravity[3], const eb_state *state,
                     eb_audit_row *row);

#endif
