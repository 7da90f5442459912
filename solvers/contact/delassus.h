/* The Delassus operator of a contact problem: from the full form to the reduced one (reduced.h) and
 * back.
 *
 *   W = H A^-1 H^T,   q = H A^-1 b - c,   v = A^-1 (b + H^T r)
 *
 * For solvers/contact. */
#ifndef EB_CONTACT_DELASSUS_H
#define EB_CONTACT_DELASSUS_H

#include "solvers/contact/reduced.h"

/* A^-1, kept as a factor as long as A stays the same. */
typedef struct eb_delassus {
  int threads;
  struct eb_multifrontal *factor;
  int32_t rows, blocks; /* of the A that was factored */
  int32_t *start, *column;
  double *values;
  eb_reason reason;         /* of the factorization */
  double *solution, *sides; /* 6 rows; 3 rows x EB_DELASSUS_SIDES: right-hand sides */
} eb_delassus;

enum { EB_DELASSUS_CONTACTS = 8, EB_DELASSUS_SIDES = 3 * EB_DELASSUS_CONTACTS };

void eb_delassus_clear(eb_delassus *delassus);
/* Factors A unless it is the A of the last call. */
EB_MUST eb_error eb_delassus_factor(eb_delassus *delassus, const eb_block_matrix *A,
                                    eb_step_log *log, eb_reason *reason);
/* W and q of the problem. Counts the solves. */
EB_MUST eb_error eb_delassus_reduce(eb_delassus *delassus, const eb_contact_problem *problem,
                                    eb_reduced *reduced, eb_step_log *log, eb_reason *reason);

#endif
