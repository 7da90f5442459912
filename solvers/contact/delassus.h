/* Reduced contact problems: the unknown v is eliminated, contact forces remain.
 *
 *   u = W r + q,   W = H A^-1 H^T (the Delassus operator),   q = H A^-1 b - c,   with the contact law of problems/contact/problem.h.
 *
 * W is stored densely: (3 count)^2 numbers, as many solves with A as it has columns. That, and not the iterations on it, is what limits the reduced form for
 * deformable bodies. For solvers/contact/delassus*.c and for problems that are given in the reduced form. */
#ifndef EB_CONTACT_DELASSUS_H
#define EB_CONTACT_DELASSUS_H

#include "solvers/contact/method.h"

typedef struct eb_reduced {
  int32_t count, room;
  const double *mu; /* count; not owned */
  double *
      W; /* 3 count x 3 count, row-major; problems given as such may have one that is not symmetric */
  double *q;     /* 3 count */
  double *r, *u; /* 3 count: the guess and then the result; u = W r + q of it */
  double *work;  /* 15 room */
  /* The contacts that contact k is coupled with, in runs run[2 i] .. run[2 i + 1] - 1 for i from run_start[k] on: bodies that do not touch are not. */
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
/* u = W r + q of forces r. */
void eb_reduced_velocity(const eb_reduced *reduced, const double *r, double *u);

/* Solve from reduced->r until violation, active, sliding, cone and angle are within the tolerance, until outcome->iterations has
 * grown to tolerance->max_iterations. Log residuals (the largest of violation, active and sliding). EB_DIVERGED_MAX_IT, also when there is no solution;
 * EB_DIVERGED_NAN.
 *
 * Sweeps of block Gauss-Seidel that solve every contact exactly (delassus_local.c); an iteration is a sweep. */
void eb_reduced_gauss_seidel(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                             eb_step_log *log, eb_contact_outcome *outcome);
/* Newton's method on the functions of Alart and Curnier, sweeps where it fails; an iteration is a Newton step or a sweep. */
EB_MUST eb_error eb_reduced_newton(eb_reduced *reduced, const eb_contact_tolerance *tolerance,
                                   eb_step_log *log, eb_contact_outcome *outcome);
/* Whether it is over with forces r, at which reduced->u is taken; sets the outcome's reason, logs a residual. */
bool eb_reduced_judge(const eb_reduced *reduced, const double *r,
                      const eb_contact_tolerance *tolerance, eb_step_log *log,
                      eb_contact_outcome *outcome);
/* One sweep; changes r, and leaves in u what every contact met before its turn. */
void eb_reduced_sweep(eb_reduced *reduced);

/* r of one contact with u = W r + q and the contact law (W 3x3, positive definite, row-major). */
void eb_contact_solve_local(const double W[9], const double q[3], double mu, double r[3]);

/* A^-1, kept as a factor as long as A stays the same. */
typedef struct eb_delassus {
  int threads;
  struct eb_multifrontal *factor;
  int32_t rows, blocks; /* of the A that was factored */
  int32_t *start, *column;
  double *values;
  eb_reason reason;         /* of the factorization */
  double *solution, *sides; /* 3 rows; 3 rows x DELASSUS_SIDES */
} eb_delassus;

enum { EB_DELASSUS_CONTACTS = 8, EB_DELASSUS_SIDES = 3 * EB_DELASSUS_CONTACTS };

void eb_delassus_clear(eb_delassus *delassus);
/* Factors A unless it is the A of the last call. */
EB_MUST eb_error eb_delassus_factor(eb_delassus *delassus, const eb_block_matrix *A,
                                    eb_step_log *log, eb_reason *reason);
/* W and q of the problem. Counts the solves. */
EB_MUST eb_error eb_delassus_reduce(eb_delassus *delassus, const eb_contact_problem *problem,
                                    eb_reduced *reduced, eb_step_log *log, eb_reason *reason);
/* v = A^-1 (b + H^T r), refined once. */
EB_MUST eb_error eb_delassus_expand(eb_delassus *delassus, const eb_contact_problem *problem,
                                    const double *r, double *v, eb_step_log *log,
                                    eb_reason *reason);

#define EB_DELASSUS_OPTIONS                                                                        \
  {                                                                                                \
    .name = "delassus_solver", .type = EB_OPTION_CHOICE, .fallback = "newton",                     \
    .choices = "pgs|newton", .unit = "",                                                           \
    .doc = "on the reduced problem: projected Gauss-Seidel or Newton (Alart-Curnier)"              \
  }

#endif
