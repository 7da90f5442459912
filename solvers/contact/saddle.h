/* The system of a contact problem with chosen rows active, and conjugate residuals on it.
 *
 *   B y = d,   B = [A  L^T]   y = ( v )   d = (b + f)
 *                  [L   0 ]       (-r )       (  c  )
 *
 * L: the active rows of H, f: constant forces of rows that are not active (sliding friction). Rows
 * that are not active are 0 in r and in every residual. B is indefinite; conjugate residuals
 * minimize |d - B y| in the norm of the preconditioner (Verschoor and Jalba 2019, Algorithm 1). The
 * preconditioner is the diagonal one of Equation 22, with A_d = diag(A), S_d = diag(Z L A_d^-1
 * L^T):
 *
 *   C^-1 = [A_d^-1 0; 0 S_d^-1],   positive definite: the residual decreases.
 *
 * Workspace: see the structs. Nothing is allocated after create and reserve.
 * Fails: a breakdown (a denominator of 0, or what is not a number) is returned. */
#ifndef EB_CONTACT_SADDLE_H
#define EB_CONTACT_SADDLE_H

#include <stdbool.h>

#include "problems/contact/problem.h"

typedef struct eb_saddle {
  const eb_contact_problem *problem;
  int64_t n, m;     /* 3 rows of A, 3 contacts */
  int64_t room;     /* of m */
  uint8_t *active;  /* m: set by the caller */
  double *diagonal; /* n: 1 / A_d */
  double *schur;    /* m: 1 / S_d */
} eb_saddle;

EB_MUST eb_error eb_saddle_create(int32_t rows, eb_saddle *out);
void eb_saddle_clear(eb_saddle *saddle);
/* Takes a problem: A_d, S_d, no row active. Grows when there are more contacts than ever.
 * EB_ERR_INVALID when a diagonal entry of A is not positive. */
EB_MUST eb_error eb_saddle_begin(eb_saddle *saddle, const eb_contact_problem *problem);

/* y, By, r, z: n + m. */
void eb_saddle_multiply(const eb_saddle *saddle, const double *y, double *By);
void eb_saddle_precondition(eb_saddle *saddle, const double *r, double *z);

/* Conjugate residuals: y and residual as they develop. */
typedef struct eb_saddle_cr {
  int64_t room;
  double *y, *r;                 /* n + m */
  double *z, *p, *Bz, *Bp, *CBp; /* z = C^-1 r */
  double zBz, alpha;
} eb_saddle_cr;

EB_MUST eb_error eb_saddle_cr_reserve(eb_saddle_cr *cr, int64_t entries);
void eb_saddle_cr_clear(eb_saddle_cr *cr);
/* Starts, or starts again after a change of active rows or of d, from cr->y: one product. Entries
 * of y of inactive rows are set to 0. */
void eb_saddle_cr_start(eb_saddle_cr *cr, eb_saddle *saddle, const double *d);
/* One iteration: one product and one application of the preconditioner. False: breakdown; y and r
 * are then those before it. */
bool eb_saddle_cr_iterate(eb_saddle_cr *cr, eb_saddle *saddle);

#endif
