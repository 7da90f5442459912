/* Products with the matrix of contact problems. Internal to solvers/contact. */
#ifndef EB_CONTACT_PRODUCT_H
#define EB_CONTACT_PRODUCT_H

#include "problems/contact/problem.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/symmetric.h"

/* Of a matrix that is too large for the cache half is read (linalg/symmetric.h). */
typedef struct eb_contact_product {
  const eb_block_matrix *A; /* of the present problem, not owned */
  eb_symmetric *half;       /* of it, or NULL */
  int64_t matrix;           /* names the values that half has, as in the problem; 0: none */
  eb_pieces pieces;         /* of the 3 A->rows entries */
} eb_contact_product;

/* For problems with this pattern. The caller clears *out, also after failure. */
EB_MUST eb_error eb_contact_product_create(const eb_block_matrix *pattern, eb_contact_product *out);
void eb_contact_product_clear(eb_contact_product *product);
/* Takes the problem's matrix, which must stay until the next one is taken. */
void eb_contact_product_set(eb_contact_product *product, const eb_contact_problem *problem);
/* y = A x in a piece of the rows. Between calls for other products each member goes through all
 * pieces of its eb_symmetric_share, ascending. */
void eb_contact_product_piece(const eb_contact_product *product, int piece, const double *x,
                              double *y);
/* y = A x by all threads. */
void eb_contact_product_whole(const eb_contact_product *product, const double *x, double *y);

#endif
