/* The system of a Newton step of contact-al where A consists of its diagonal blocks. Internal to
 * solvers/contact. */
#ifndef EB_CONTACT_AL_DIRECT_H
#define EB_CONTACT_AL_DIRECT_H

#include <stdbool.h>

#include "problems/contact/problem.h"

/* K = A + H^T D H couples the rows that contacts act on alone: of rigid bodies some hundred, too
 * densely for an iteration to pay. These are factored, K = L L^T. */
typedef struct eb_al_direct {
  int32_t rows, room; /* block rows that contacts act on */
  int32_t *row;       /* rows: their block rows of A, ascending */
  int32_t *place;     /* a block row of A: its place among them, or -1 */
  double *K, *x;      /* (3 rows)^2, column-major, lower; 3 rows */
} eb_al_direct;

/* For matrices of so many block rows. The caller clears *out, also after failure. */
EB_MUST eb_error eb_al_direct_create(int32_t rows, eb_al_direct *out);
void eb_al_direct_clear(eb_al_direct *direct);
/* Takes the rows that the problem's contacts act on; *worth: whether they are few enough. */
EB_MUST eb_error eb_al_direct_begin(eb_al_direct *direct, const eb_contact_problem *problem,
                                    bool *worth);
/* K x = g with D (9 a contact) and the inverses of the diagonal blocks (9 a block row); g and x
 * have 3 entries a block row of A. False when K is not positive definite. */
bool eb_al_direct_solve(eb_al_direct *direct, const eb_contact_problem *problem, const double *D,
                        const double *diagonal, const double *g, double *x);

#endif
