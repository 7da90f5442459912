/* Reduced contact problems: the velocities v are eliminated, contact forces remain.
 *
 *   u = W r + q,   W = H A^-1 H^T (the Delassus operator),   q = H A^-1 b - c,
 *
 * with the contact law of problems/contact/problem.h. W is stored densely: (3 count)^2 numbers.
 * That, and as many solves with A as it has columns, is what limits the reduced form for deformable
 * bodies, and not the iterations on it. For solvers/contact and for problems that are given in the
 * reduced form. */
#ifndef EB_CONTACT_REDUCED_H
#define EB_CONTACT_REDUCED_H

#include "solvers/contact/method.h"

typedef struct eb_reduced {
  int32_t count, room;
  const double *mu; /* count; not owned */
  double *W;        /* 3 count x 3 count, row-major; one that is given may be unsymmetric */
  double *q;        /* 3 count */
  double *r, *u;    /* 3 count: the guess and then the result; u = W r + q of it */
  double *work;     /* 15 room */
  /* The contacts that contact k is coupled with, in runs run[2 i] .. run[2 i + 1] - 1 for i from
   * run_start[k] on: bodies that do not touch are not coupled. */
  int32_t *run_start; /* count + 1 */
  int32_t *run;       /* room (room + 1) */
  double *jacobian;   /* (3 room)^2, once a Newton step was asked for */
  int32_t newton_room;
  int *pivots; /* 3 newton_room */
} eb_reduced;

/* Makes room for `count` contacts and takes count and mu; contents are undefined after that. */
EB_MUST eb_error eb_reduced_reserve(eb_reduced *reduced, int32_t count, const double *mu);
void eb_reduced_clear(eb_reduced *reduced);
/* Once W is filled: finds what is coupled. */
void eb_reduced_couple(eb_reduced *reduced);

/* Both solve from reduced->r until violation, active, sliding, cone and angle are within the
 * tolerance, or outcome->iterations has grown to tolerance->max_iterations. They log residuals (the
 * largest of violation, active and sliding). EB_DIVERGED_MAX_IT, also when there is no solution;
 * EB_DIVERGED_NAN.
 *
 * Projected Gauss-Seidel: sweeps that solve every contact exactly; an iteration is a sweep. */
void eb_reduced_gauss_seidel(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                             eb_step_log *log, eb_contact_outcome *outcome);
/* Newton's method on the functions of Alart and Curnier, sweeps where it fails; an iteration is a
 * Newton step or a sweep. */
EB_MUST eb_error eb_reduced_newton(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                                   eb_step_log *log, eb_contact_outcome *outcome);

/* r of one contact with u = W r + q and the contact law (W 3x3, positive definite, row-major). */
void eb_contact_solve_local(const double W[9], const double q[3], double mu, double r[3]);

#endif
