/* Nested dissection of the node graph by METIS.
 *
 * Fill of a mesh of n nodes ordered so is O(n log n) in the plane and O(n^(4/3)) in space, its
 * factorization O(n^(3/2)) and O(n^2) operations: optimal up to constants (George 1973, "Nested
 * dissection of a regular finite element mesh", SIAM J. Numer. Anal. 10(2); Lipton, Rose and Tarjan
 * 1979). Finding the smallest fill is NP-complete (Yannakakis 1981), so this is a heuristic.
 *
 * Workspace: the graph again, and what METIS allocates. Fails when memory is gone. */
#include "solvers/linalg/ordering.h"

#include <metis.h>

#include "problems/base/memory.h"
#include "solvers/linalg/one_thread.h"

/* work: 2 rows + 1 + blocks entries. METIS wants the graph without its diagonal. */
static eb_error dissect(const eb_block_matrix *A, int32_t *order, idx_t *work) {
  idx_t nodes = A->rows, count = 0, options[METIS_NOPTIONS];
  idx_t *inverse = work, *start = inverse + nodes, *edges = start + nodes + 1;
  for (int32_t i = 0; i < A->rows; i++) {
    start[i] = count;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      if (A->column[b] != i) edges[count++] = A->column[b];
  }
  start[nodes] = count;
  if (count == 0) { /* METIS wants at least one edge */
    for (int32_t k = 0; k < nodes; k++) order[k] = k;
    return EB_OK;
  }
  /* METIS' default seed is a constant: the same graph gets the same order in every run, and with
   * it the same factor to the last bit. */
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  eb_one_thread before = eb_one_thread_begin();
  int status = METIS_NodeND(&nodes, start, edges, NULL, options, order, inverse);
  eb_one_thread_end(before);
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
