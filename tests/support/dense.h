/* A sparse matrix of 3 x 3 blocks as a dense one. */
#ifndef EB_TESTS_DENSE_H
#define EB_TESTS_DENSE_H

#include "problems/base/memory.h"
#include "problems/elasticity/block_matrix.h"
#include "tests/tap.h"

/* 3 rows x 3 rows, row-major; the caller frees it. */
static inline double *dense_of_blocks(const eb_block_matrix *m) {
  double *dense;
  int size = 3 * m->rows;
  tap_require(EB_NEW(dense, (size_t)size * (size_t)size), "dense matrix");
  for (int i = 0; i < m->rows; i++)
    for (int b = m->start[i]; b < m->start[i + 1]; b++)
      for (int k = 0; k < 9; k++)
        dense[size * (3 * i + k / 3) + 3 * m->column[b] + k % 3] = m->values[9 * b + k];
  return dense;
}

#endif
