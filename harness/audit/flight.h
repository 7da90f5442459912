/* The momentum of bodies that nothing holds, over as many steps as nothing unknown pushes them. */
#ifndef EB_AUDIT_FLIGHT_H
#define EB_AUDIT_FLIGHT_H

#include "harness/audit/audit.h"

typedef struct eb_flight eb_flight;

typedef struct eb_flight_row {
  /* kg m/s: largest momentum that the step gives a body and no force explains, by velocities or
   * by positions */
  double balance;
  /* the largest such sum over a body's flight so far, over what is allowed (flight.c): 1 is the
   * bound */
  double excess;
  double held_excess; /* the same of bodies that something holds */
} eb_flight_row;

/* `audit` must outlive it; another is made when the mesh is cut. */
EB_MUST eb_error eb_flight_create(const eb_audit *audit, eb_flight **out);
void eb_flight_destroy(eb_flight *flight);

/* The step that the audit has seen last. */
void eb_flight_step(eb_flight *flight, const eb_state *before, const eb_state *after, double dt,
                    const eb_declaration *declared, eb_flight_row *row);

#endif
