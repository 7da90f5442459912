/* The two quadratic programs of Staggered Projections, solved by conjugate residuals. Internal to solvers/contact.
 *
 *   normal    min 1/2 v^T A v - (b + H_t^T r_t)^T v   subject to H_n v >= c_n,                      r_t frozen
 *   friction  min 1/2 v^T A v - (b + H_n^T r_n)^T v + sum_k s_k |H_t,k v - c_t,k|,  s = mu r_n,     r_n frozen
 *
 * Rows that are held are equations of the system of saddle.h; the others push with a frozen force: r_n = 0 of open contacts, r_t = s d of sliding ones. */
#ifndef EB_CONTACT_SP_QP_H
#define EB_CONTACT_SP_QP_H

#include "solvers/contact/method.h"
#include "solvers/contact/saddle.h"

typedef struct eb_sp_friction {
  bool sticks;
  double d[2];      /* direction of the force while it slides, unit */
  double response;  /* m/N: how far a unit force is taken to move the contact when d is turned */
  double last_turn; /* sine of the last turn of d */
} eb_sp_friction;

typedef struct eb_sp {
  bool dynamic; /* states change at intervals, not only at convergence */
  double share; /* of eps1, eps2 and the angle: what a program is solved to */
  int32_t room; /* of contacts */
  eb_saddle saddle;
  eb_saddle_cr cr;
  double *rhs;              /* rows and contact rows */
  double *r, *frozen, *u;   /* 3 a contact */
  double *work;             /* of the measure */
  eb_sp_friction *friction; /* a contact */
  /* of the solve under way */
  const eb_contact_problem *problem;
  const eb_contact_tolerance *tolerance;
  eb_step_log *log;
  eb_contact_outcome *outcome;
} eb_sp;

typedef enum eb_sp_program { EB_SP_NORMAL, EB_SP_FRICTION } eb_sp_program;

/* Friction's states from the forces r, share 1/2; saddle and cr.y hold the problem and v. */
void eb_sp_begin(eb_sp *sp);
/* Solves one program from cr.y and r, which become its solution. EB_RUNNING when it has; otherwise why not. */
eb_reason eb_sp_solve_program(eb_sp *sp, eb_sp_program program);

#endif
