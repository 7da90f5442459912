/* Bounded biharmonic weights (Jacobson, Baran, Popovic and Sorkine 2011): smooth, local weights of
 * handles, blind to the material; what trusty2023 compares its eigenmodes with (Figure 8).
 *
 *   min 1/2 w^T Q w,   Q = L inv(M) L,   0 <= w <= 1,   w = 1 at its handle and 0 at the others,
 *
 * L the Laplacian of the rest shape and M the volumes of the nodes, for every handle by itself. The
 * weights are then divided by their sum: without that partition of unity, whose constraint would
 * couple all problems to one, no constant is in their span, and a free body could not turn. Pinned
 * nodes count as one more handle, with a weight that takes part in the sum and is then left out. */
#ifndef EB_SUBSPACE_BIHARMONIC_H
#define EB_SUBSPACE_BIHARMONIC_H

#include "solvers/subspace/scalar.h"
#include "solvers/subspace/skinning.h"

/* Weights of `handles` handles, each the node that is farthest along edges from the pins and the
 * handles before it (the first without pins: farthest from node 0), parts of the body that none has
 * reached first; tetrahedra. out->eigenvalue is NULL. EB_ERR_USAGE for fewer handles than unpinned
 * bodies or more than free nodes. The same bits for any number of threads. The caller clears *out.
 */
EB_MUST eb_error eb_skinning_biharmonic(const eb_mesh *mesh, const uint8_t *pinned, int32_t handles,
                                        int threads, eb_step_log *log, eb_skinning *out);

/* Writes the nodes of the handles (handles entries), and to owner (nodes) that of every node's
 * nearest one, or -1 for the pins. */
EB_MUST eb_error eb_biharmonic_handles(const eb_mesh *mesh, const uint8_t *pinned, int32_t handles,
                                       int32_t *handle, int32_t *owner);

/* A quadratic program min 1/2 w^T Q w, 0 <= w <= 1 with some entries given; solves many with the
 * same given entries. */
typedef struct eb_bounded eb_bounded;
/* fixed: rows, != 0 where w is given. Q is kept by reference, and positive definite on the others.
 */
EB_MUST eb_error eb_bounded_create(const eb_scalar_matrix *Q, const uint8_t *fixed, int threads,
                                   eb_step_log *log, eb_bounded **out);
void eb_bounded_destroy(eb_bounded *bounded);
/* w (rows): the given entries, 0 to 1; becomes the solution. Its g = Q w is 0 between the bounds,
 * >= 0 where w = 0 and <= 0 where w = 1, to 1e-11 of the largest diagonal entry of Q;
 * EB_ERR_LIBRARY when that is not reached. `iterations` may be NULL. */
EB_MUST eb_error eb_bounded_solve(eb_bounded *bounded, eb_step_log *log, double *w,
                                  int *iterations);

#endif
