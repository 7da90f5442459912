/* The iteration shared by the files of the Newton solver; not a public interface. */
#ifndef EB_NEWTON_H
#define EB_NEWTON_H

#include "solvers/common/implicit.h"
#include "solvers/common/incremental_potential.h"
#include "solvers/common/support_layer.h"

typedef enum eb_projection { EB_PROJECT_AUTO, EB_PROJECT_ALWAYS, EB_PROJECT_NEVER } eb_projection;

typedef struct eb_newton {
  eb_implicit work; /* unknown: the direction p; prescribed: its values at scripted nodes */
  eb_potential potential;
  eb_support_layer layer;
  double *x, *trial; /* iterate and line-search point, 3 nodes */
  double *predicted; /* xt */
  double *descent;   /* -grad W at x */

  /* options */
  double rtol, atol;
  int64_t max_iterations;
  bool statics;
  eb_projection projection;

  /* the Hessian's treatment: see direction.c */
  bool exact;        /* the next matrix is taken without projection; kept from step to step */
  int64_t wait;      /* iterations before the exact Hessian is tried again after a refusal */
  int64_t patience;  /* the next such wait */
  double shift;      /* multiple of shift_unit M that is added */
  double shift_unit; /* trace H / trace M, 1/s^2 */

  /* the iterate */
  bool lifting;      /* scripted nodes are not yet at their place */
  bool has_value;    /* `value` is W(x) */
  bool has_gradient; /* `descent` and `residual` belong to x */
  bool expects_end;  /* the next residual is likely below the tolerance */
  eb_potential_value value;
  eb_potential_residual residual;
  double previous_norm; /* of the iterate before, 0 when there is none */
  double floor;         /* change of grad W when x is rounded to double, N */
} eb_newton;

/* Assembles the matrix (and dE/dx) at x as the present treatment says; sets floor and shift_unit.
 */
void eb_newton_assemble(eb_newton *newton, eb_step_log *log);
/* Sets descent and residual from dE/dx at x. */
void eb_newton_residual(eb_newton *newton, const double *x);
/* Solves A p = -grad W for a descent direction, assembling and factoring again with a safer matrix
 * when the present one is not positive definite. *reason is negative when none was found. */
EB_MUST eb_error eb_newton_direction(eb_newton *newton, eb_step_log *log, eb_reason *reason);

/* Guesses the iterate from the state at the start of the step: x0 or x0 + h v0, whichever has the
 * lower W, and sets `lifting` when scripted nodes still have to be moved. */
void eb_newton_guess(eb_newton *newton, const eb_state *state, double dt, eb_step_log *log);
/* Moves x along p. *reason stays EB_RUNNING when the step was taken. */
void eb_newton_search(eb_newton *newton, eb_step_log *log, eb_reason *reason);

#endif
