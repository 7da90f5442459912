/* A symmetric block matrix of which most of one half is stored, for products that come from memory.
 * Inside
 * solvers only. */
#ifndef EB_LINALG_SYMMETRIC_H
#define EB_LINALG_SYMMETRIC_H

#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/spin_team.h"

typedef struct eb_symmetric eb_symmetric;

/* The rows fall into so many contiguous parts, whatever the number of threads: a thread takes whole
 * parts. */
enum { EB_SYMMETRIC_PARTS = 8 };

/* `part`: where each begins, and the number of rows. */
EB_MUST eb_error eb_symmetric_create(const eb_block_matrix *pattern,
                                     const int32_t part[EB_SYMMETRIC_PARTS + 1],
                                     eb_symmetric **out);
/* In parts that end between pieces of the 3 rows; NULL where A is small enough for the cache. */
EB_MUST eb_error eb_symmetric_create_large(const eb_block_matrix *pattern, eb_pieces pieces,
                                           eb_symmetric **out);
/* The piece that such a part begins with. */
static inline int eb_symmetric_piece(eb_pieces pieces, int64_t part) {
  return (int)(pieces.count * part / EB_SYMMETRIC_PARTS);
}
/* A member's pieces first .. last-1: whole parts, or where `half` is NULL any. */
void eb_symmetric_share(const eb_symmetric *half, const eb_spin_member *member, eb_pieces pieces,
                        int *first, int *last);
void eb_symmetric_destroy(eb_symmetric *symmetric);
/* Takes the values of A's blocks on and above the diagonal, and of those below it that cross from
 * part to part. */
void eb_symmetric_set(eb_symmetric *symmetric, const eb_block_matrix *A);
/* Rows from .. to-1 of y = A x. Between calls for other products, each part is gone through once
 * from its first row to its last, by one thread. */
void eb_symmetric_multiply_rows(eb_symmetric *symmetric, int32_t from, int32_t to, const double *x,
                                double *y);

#endif
