/* Verification: what `elastobench check` runs on a user's machine, and the tests in small.
 *
 * A check measures a figure and holds it against a bound whose reason is stated; nothing is
 * compared with stored results. Groups are functions that emit any number of figures. */
#ifndef EB_CHECK_H
#define EB_CHECK_H

#include "solvers/solver.h"

#include <stdio.h>

typedef struct eb_check_figure {
  const char *name; /* "group/subject/what" */
  double measured;
  bool at_least; /* measured >= bound, else measured <= bound */
  double bound;
  const char *reason; /* what was measured and why the bound */
  bool passed;        /* false also when measured is not a number */
} eb_check_figure;

typedef struct eb_check {
  const eb_solver_ops *solver; /* the solver under test; NULL in groups without one */
  bool quick;                  /* smaller sizes, for tests */
  void (*emit)(void *context, const eb_check_figure *figure);
  void *context;
} eb_check;

/* Emit a figure; `format` makes its name. */
void eb_check_below(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void eb_check_above(const eb_check *check, double measured, double bound, const char *reason,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Runs one function for each of the groups that apply: those without a solver when check->solver is
 * NULL, those of that solver otherwise. An error of a group is emitted as a failed figure that
 * carries its message. */
void eb_check_groups(const eb_check *check);

/* `elastobench check [SOLVER]`: everything, or what concerns one solver; one line a figure, or JSON
 * (where an order that is infinite, of a remainder that is exactly zero, is null).
 * *failed counts figures out of bounds. An unknown solver is EB_ERR_USAGE. */
EB_MUST eb_error eb_check_run(const char *solver_or_null, bool json, FILE *out, int *failed);

/* ---- the groups ---- */
EB_MUST eb_error eb_check_materials(const eb_check *check);    /* Taylor slopes of psi, P, dP/dF */
EB_MUST eb_error eb_check_assembly(const eb_check *check);     /* Taylor slopes of E, g, H */
EB_MUST eb_error eb_check_invariance(const eb_check *check);   /* rigid motion */
EB_MUST eb_error eb_check_patch(const eb_check *check);        /* patch test */
EB_MUST eb_error eb_check_manufactured(const eb_check *check); /* order 2 in L2 */
EB_MUST eb_error eb_check_cantilever(const eb_check *check);   /* tetrahedra to the beam */
EB_MUST eb_error eb_check_bar(const eb_check *check);          /* static bar under its weight */
EB_MUST eb_error eb_check_newton_tail(const eb_check *check);  /* quadratic convergence */
EB_MUST eb_error eb_check_equilibrium(const eb_check *check);  /* statics = end of dynamics */
EB_MUST eb_error eb_check_momentum(const eb_check *check);     /* free flight */
EB_MUST eb_error eb_check_script(const eb_check *check);       /* scripted nodes land */
EB_MUST eb_error eb_check_threads(const eb_check *check);      /* same bits for 1 and 2 threads */
EB_MUST eb_error eb_check_cutting(const eb_check *check);      /* cut = never whole */
EB_MUST eb_error eb_check_friction(const eb_check *check);     /* Coulomb on a slope */
EB_MUST eb_error eb_check_contact(const eb_check *check);      /* constraints against mechanics */
EB_MUST eb_error eb_check_linear(const eb_check *check);       /* CG = Cholesky = PETSc */
EB_MUST eb_error eb_check_time_order(const eb_check *check);   /* first order in h */
EB_MUST eb_error eb_check_energy(const eb_check *check);       /* dissipation */
EB_MUST eb_error eb_check_condensation(const eb_check *check); /* conjac's J */
EB_MUST eb_error eb_check_all_dynamic(const eb_check *check);  /* conjac = semi-implicit */
EB_MUST eb_error eb_check_statics(const eb_check *check);      /* conjac at rest = newton */

#endif
