/* The momentum of bodies that nothing holds, over as many steps as nothing unknown pushes them. */
#ifndef EB_AUDIT_MOMENTUM_BALANCE_H
#define EB_AUDIT_MOMENTUM_BALANCE_H

#include "harness/audit/audit.h"

typedef struct eb_momentum_balance eb_momentum_balance;

typedef struct eb_momentum_row {
  /* kg m/s: largest momentum that the step gives a body and no force explains, by velocities or
   * by positions */
  double balance;
  /* the largest such sum over a body's flight so far, over what is allowed (momentum_balance.c): 1
   * is the bound */
  double excess;
  double held_excess;      /* the same of bodies that something holds */
  eb_spot spot, held_spot; /* those bodies */
} eb_momentum_row;

/* `audit` must outlive it; another is made when the mesh is cut. */
EB_MUST eb_error eb_momentum_balance_create(const eb_audit *audit, eb_momentum_balance **out);
void eb_momentum_balance_destroy(eb_momentum_balance *balance);

/* The step that the audit has seen last. */
void eb_momentum_balance_step(eb_momentum_balance *balance, const eb_state *before,
                              const eb_state *after, double dt, const eb_declaration *declared,
                              eb_momentum_row *row);

#endif
