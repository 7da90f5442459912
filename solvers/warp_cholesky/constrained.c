/* Dirichlet rows beside the matrix they were taken from; see constrained.h. */
#include "solvers/warp_cholesky/constrained.h"

#include "solvers/linalg/block_ops.h"

#include <string.h>

void eb_constrained_renew(const eb_block_matrix *A, const uint8_t *fixed,
                          eb_block_matrix *constrained) {
  memcpy(constrained->values, A->values, 9 * (size_t)A->start[A->rows] * sizeof *A->values);
  eb_block_constrain(constrained, fixed, NULL, NULL);
}

/* A block of an element lies in the row of one of its nodes. */
void eb_constrained_follow(const eb_block_matrix *A, const eb_mesh *mesh, const uint8_t *changed,
                           const uint8_t *fixed, uint8_t *touched, eb_block_matrix *constrained) {
  const int corners = (int)mesh->type;
  memset(touched, 0, (size_t)A->rows);
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int a = 0; a < corners && changed[e]; a++)
      touched[mesh->elements[corners * (int64_t)e + a]] = 1;
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < A->rows; i++) {
    if (!touched[i] || fixed[i]) continue;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      if (!fixed[A->column[b]])
        memcpy(constrained->values + 9 * (int64_t)b, A->values + 9 * (int64_t)b,
               9 * sizeof *A->values);
  }
}

double eb_constrained_scale(const eb_block_matrix *constrained, int32_t i) {
  return constrained->values[9 * (int64_t)constrained->diagonal[i]];
}
