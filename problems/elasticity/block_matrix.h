/* Symmetric sparse matrices of 3x3 blocks over the node graph (block compressed rows).
 *
 * Both triangles are stored: row i's blocks are start[i] .. start[i+1]-1, columns ascending, block
 * b at values + 9 b, row-major. The pattern always holds the diagonal. Assembly lives beside the
 * elements (problems/), the operations on the matrix in solvers/linalg/. */
#ifndef EB_BLOCK_MATRIX_H
#define EB_BLOCK_MATRIX_H

#include <stdint.h>

#include "problems/base/error.h"

typedef struct eb_block_matrix {
  int32_t rows;       /* nodes; the scalar size is 3 rows */
  int32_t *start;     /* rows + 1 */
  int32_t *column;    /* start[rows] */
  int32_t *diagonal;  /* rows: index of block (i, i) */
  double *values;     /* 9 start[rows] */
  int shares_pattern; /* start, column and diagonal belong to another matrix that outlives this */
} eb_block_matrix;

/* The pattern of a mesh, without values: block (i, j) exists when an element holds nodes i and j.
 * `elements` is count x arity. Fails when there are more than 2^31 - 1 blocks. */
EB_MUST eb_error eb_block_matrix_pattern(int32_t rows, const int32_t *elements, int32_t count,
                                         int arity, eb_block_matrix **out);
/* The same with values, zero. */
EB_MUST eb_error eb_block_matrix_create(int32_t rows, const int32_t *elements, int32_t count,
                                        int arity, eb_block_matrix **out);
/* A zero matrix that shares the pattern of another, which must outlive it. */
EB_MUST eb_error eb_block_matrix_like(const eb_block_matrix *pattern, eb_block_matrix **out);
void eb_block_matrix_destroy(eb_block_matrix *matrix);

/* Index of block (row, column), or -1 when it is not in the pattern. */
int32_t eb_block_matrix_find(const eb_block_matrix *matrix, int32_t row, int32_t column);

#endif
