/* A symmetric block matrix of which most of one half is stored, for products that come from memory.
 * Inside solvers/linalg only. */
#ifndef EB_LINALG_SYMMETRIC_H
#define EB_LINALG_SYMMETRIC_H

#include "problems/elasticity/block_matrix.h"

typedef struct eb_symmetric eb_symmetric;

/* The rows fall into so many contiguous parts, whatever the number of threads: a thread takes whole
 * parts. */
enum { EB_SYMMETRIC_PARTS = 8 };

/* `part`: where each begins, and the number of rows. */
EB_MUST eb_error eb_symmetric_create(const eb_block_matrix *pattern,
                                     const int32_t part[EB_SYMMETRIC_PARTS + 1],
                                     eb_symmetric **out);
void eb_symmetric_destroy(eb_symmetric *symmetric);
/* Takes the values of A's blocks on and above the diagonal, and of those below it that cross from
 * part to part. */
void eb_symmetric_set(eb_symmetric *symmetric, const eb_block_matrix *A);
/* Rows from .. to-1 of y = A x. Between calls for other products, each part is gone through once
 * from its first row to its last, by one thread. */
void eb_symmetric_multiply_rows(eb_symmetric *symmetric, int32_t from, int32_t to, const double *x,
                                double *y);

#endif
