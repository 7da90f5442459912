/* Operations on 3x3-block matrices: product, norms, Dirichlet rows. Deterministic for any number of
 * threads. */
#ifndef EB_LINALG_BLOCK_OPS_H
#define EB_LINALG_BLOCK_OPS_H

#include "problems/elasticity/block_matrix.h"
#include "problems/ranks/ranks.h"

/* y = A x; both 3 rows long, not overlapping. */
void eb_block_multiply(const eb_block_matrix *A, const double *x, double *y);
/* Rows from .. to-1 of it alone, on the calling thread. */
void eb_block_multiply_rows(const eb_block_matrix *A, int32_t from, int32_t to, const double *x,
                            double *y);
/* Replaces rows and columns of the nodes with fixed[i] != 0 by the identity times the mean of the
 * free diagonal, so that the matrix stays symmetric and well scaled. When `rhs` is not NULL, it
 * first subtracts A_free,fixed value_fixed from the free rows and sets the fixed rows so that the
 * solution there is value (3 rows; NULL for zeros). */
void eb_block_constrain(eb_block_matrix *A, const uint8_t *fixed, const double *value, double *rhs);
/* The same with a diagonal of the fixed rows that is given. */
void eb_block_constrain_to(eb_block_matrix *A, const uint8_t *fixed, const double *value,
                           double *rhs, double diagonal);
/* The mean diagonal of the free rows among the first `own` of all ranks (collective), 1 where it is
 * not positive and finite. */
double eb_block_free_diagonal(const eb_block_matrix *A, int32_t own, const uint8_t *fixed,
                              const eb_ranks *ranks);
/* rhs_free -= A_free,fixed value_fixed: what eb_block_constrain does to the free rows, for a matrix
 * that is kept whole. */
void eb_block_lift(const eb_block_matrix *A, const uint8_t *fixed, const double *value,
                   double *rhs);
/* Dot product and norm of 3 rows entries, summed in a fixed order by blocks, for any thread count.
 */
double eb_dot(int64_t n, const double *x, const double *y);
double eb_norm(int64_t n, const double *x);

/* The same sums for loops that do more than a sum: piece c, entries c length .. (c + 1) length - 1
 * of n, is summed by whoever has them at hand, and ends between nodes. */
enum { EB_PIECES = 256 };

typedef struct eb_pieces {
  int64_t length; /* of all but the last, which is the shorter one */
  int count;      /* at most EB_PIECES */
} eb_pieces;

eb_pieces eb_pieces_of(int64_t n);
double eb_dot_piece(int64_t n, const double *x, const double *y);
double eb_pieces_sum(eb_pieces pieces, const double *piece);
/* |x| where (x, x) = square is known: the root, where the square is within the range of doubles. */
double eb_norm_from(double square, int64_t n, const double *x);

#endif
