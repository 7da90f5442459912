#include "solvers/linalg/ordering.h"

#include <metis.h>

#include "problems/base/memory.h"

/* The node graph without its diagonal, as METIS wants it; edges has room for every block. */
static void node_graph(const eb_block_matrix *A, idx_t *start, idx_t *edges) {
  idx_t count = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    start[i] = count;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      if (A->column[b] != i) edges[count++] = A->column[b];
  }
  start[A->rows] = count;
}

/* work: 2 rows + 1 + blocks entries. */
static eb_error dissect(const eb_block_matrix *A, int32_t *order, idx_t *work) {
  idx_t nodes = A->rows, options[METIS_NOPTIONS];
  idx_t *inverse = work, *start = inverse + nodes, *edges = start + nodes + 1;
  node_graph(A, start, edges);
  if (start[nodes] == 0) { /* METIS wants at least one edge */
    for (int32_t k = 0; k < nodes; k++) order[k] = k;
    return EB_OK;
  }
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  int status = METIS_NodeND(&nodes, start, edges, NULL, options, order, inverse);
  if (status == METIS_ERROR_MEMORY)
    return EB_ERROR(EB_ERR_MEMORY, "METIS is out of memory; use a smaller scene or cg");
  if (status != METIS_OK)
    return EB_ERROR(EB_ERR_LIBRARY, "METIS could not order the node graph (status %d)", status);
  return EB_OK;
}

eb_error eb_order_nodes(const eb_block_matrix *pattern, int32_t *order) {
  idx_t *work;
  EB_TRY(EB_NEW(work, 2 * (size_t)pattern->rows + 1 + (size_t)pattern->start[pattern->rows]));
  eb_error error = dissect(pattern, order, work);
  free(work);
  return error;
}
