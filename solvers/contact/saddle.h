/* The saddle point system of a contact problem some of whose rows are equations, and conjugate
 * residuals on it (Verschoor and Jalba 2019, Equations 11 and 20, Algorithm 1). Rows that are not
 * active have a constant force f: 0 or kinetic friction. With L the active rows of H
 *
 *   B y = d,   B = [A  L^T]   y = ( v )   d = (b + f)
 *                  [L   0 ]       (-r )       (  c  )
 *
 * y, d and residuals have entries of all rows; those that are not active are 0. B is indefinite;
 * conjugate residuals make d - B y small in the norm of the preconditioner (Section 3.4), with
 * A_d = diag(A), S_d = diag(Z L A_d^-1 L^T), Z the number of near repeats of a constraint:
 *
 *   diag   C^-1 = [A_d^-1  0     ]   positive definite: the residual falls
 *                 [0       S_d^-1]
 *   full   C^-1 = [A_d^-1 - G^T S_d G   G^T    ],   G = S_d^-1 L A_d^-1,  Equation 22, indefinite:
 *                 [G                    -S_d^-1]    steps may go backwards, alpha < 0
 *
 * Internal to solvers/contact. */
#ifndef EB_CONTACT_SADDLE_H
#define EB_CONTACT_SADDLE_H

#include "problems/contact/problem.h"
#include "solvers/contact/product.h"
#include "solvers/solver.h"

typedef struct eb_saddle {
  const eb_contact_problem *problem;
  int64_t n, m, room; /* n: 3 rows of A; m: 3 contacts; room: of m */
  bool full;
  eb_contact_product product;
  uint8_t *active;  /* m: the rows of L, set by the caller */
  double *diagonal; /* n: A_d^-1 */
  double *schur;    /* m: S_d^-1; 0 for rows that move nothing */
  double *work;     /* n */
  eb_step_log *log; /* of the present solve: products, visits, EB_PHASE_PRECONDITION; or NULL */
} eb_saddle;

/* For matrices with this pattern, with the preconditioner full or diag. On failure nothing stays
 * allocated. */
EB_MUST eb_error eb_saddle_create(const eb_block_matrix *pattern, bool full, eb_saddle *out);
void eb_saddle_clear(eb_saddle *saddle);
/* Takes a problem, with no row active; grows when there are more contacts than ever.
 * EB_ERR_INVALID when a diagonal entry of A is not positive. */
EB_MUST eb_error eb_saddle_begin(eb_saddle *saddle, const eb_contact_problem *problem);
/* By = B y, one product with A; Ay (n; or NULL) is the product. */
void eb_saddle_multiply(const eb_saddle *saddle, const double *y, double *Ay, double *By);
/* z = C^-1 r. */
void eb_saddle_precondition(eb_saddle *saddle, const double *r, double *z);

/* Conjugate residuals: y and residual as they develop; n + m entries. */
typedef struct eb_saddle_cr {
  int64_t room;
  double *y, *r;                 /* r = d - B y */
  double *z, *p, *Bz, *Bp, *CBp; /* z = C^-1 r */
  double *Ay, *Az, *Ap;          /* n: the split residual; NULL without */
  double zBz, alpha;             /* alpha: of the last iteration */
  bool anew;                     /* p = z: no direction yet */
} eb_saddle_cr;

/* Room for systems of n + m unknowns; y is lost when it grows. */
EB_MUST eb_error eb_saddle_cr_reserve(eb_saddle_cr *cr, int64_t n, int64_t m, bool split);
void eb_saddle_cr_clear(eb_saddle_cr *cr);
/* Poses the system of the present states, from forces r (m, N): y_c of active rows in cr->y, those
 * of the others in constant (m, N), and d (n + m). */
void eb_saddle_cr_pose(eb_saddle_cr *cr, const eb_saddle *saddle, const double *r, double *constant,
                       double *d);
/* r of active rows, N, by y; the others stay. */
void eb_saddle_cr_forces(const eb_saddle_cr *cr, const eb_saddle *saddle, double *r);
/* Starts from cr->y, or anew after a change of the active rows or of d: two products. */
void eb_saddle_cr_start(eb_saddle_cr *cr, eb_saddle *saddle, const double *d);
/* The same with A y as it has been carried along: r = (b - A v) + (f - L^T y_c), of which a change
 * of states leaves the first part as it is (Section 3.5). One product. Only when split. */
void eb_saddle_cr_restart(eb_saddle_cr *cr, eb_saddle *saddle, const double *d);
/* An iteration is both of these: a step, with one application of the preconditioner, then the next
 * direction, with one product; in place of the latter a restart where states have changed. False:
 * breakdown; y and r are those before it. */
bool eb_saddle_cr_advance(eb_saddle_cr *cr, eb_saddle *saddle);
void eb_saddle_cr_renew(eb_saddle_cr *cr, eb_saddle *saddle);

#endif
