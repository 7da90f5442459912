/* The elements of a mesh in the order in which projections sweep over them: in batches of four that
 * share no node (one a lane), in chunks that fit a cache, memory in that order.
 *
 * Gauss-Seidel over elements is a sequence, and the sequence is the result. It is fixed once.
 * Chunks are those of the scene's elasticity, compact runs along a curve through space, sorted so
 * that neighbours are far apart in the order; in a chunk, elements are sorted by colours of no
 * common node, so that batches that follow each other do not wait for each other's results, and
 * what is left of each colour is put together where it finds room. Threads take chunks
 * (problems/elasticity/schedule.h): one waits for the last earlier one at each of its nodes and for
 * no barrier, and results have the same bits for any number of threads.
 *
 * Internal to solvers/position_based. */
#ifndef EB_POSITION_BASED_BATCHES_H
#define EB_POSITION_BASED_BATCHES_H

#include "problems/elasticity/schedule.h"
#include "problems/elasticity/simd.h"
#include "problems/scene_impl.h"

/* A particle as kernels take it: x y z, and the inverse of its mass (1/kg), 0 where it is held. */
typedef eb_v4 eb_particle;

typedef struct eb_batches {
  int nodes; /* A: of an element, 4 or 8 */
  int32_t node_count, batch_count, chunk_count;
  int32_t *chunk_start; /* chunk_count + 1, into batches */
  int32_t *element;     /* batches x 4; -1: the lane has none */
  int32_t *particle;    /* node_count: of the nodes, numbered as batches first meet them */
  int32_t *node;        /* batches x A x 4: particles; where the lane has none,
                         * node_count + its chunk */
  /* Per batch; of lanes without an element 0. */
  eb_v4 *frame;  /* 9: inv J, J = dX/dxi of a tetrahedron, of a hexahedron at its centre, 1/m */
  eb_v4 *volume; /* m^3; of a hexahedron det J */
  /* 4 x 3: H_i . X of hexahedra (position_constraints.h), m; NULL in tetrahedra, and where all are
   * 0: parallelepipeds */
  eb_v4 *skew;
  eb_schedule *schedule;
} eb_batches;

/* Tetrahedra or hexahedra, EB_ERR_UNSUPPORTED for others. The caller clears *out, also after
 * failure. */
EB_MUST eb_error eb_batches_create(const eb_scene *scene, eb_batches *out);
void eb_batches_clear(eb_batches *batches);
/* Bytes it holds. */
int64_t eb_batches_bytes(const eb_batches *batches);

/* Calls visit(context, begin, end) for batches begin .. end-1, all of them in their order as far as
 * nodes can tell, on the threads that omp_set_num_threads has set. */
typedef void eb_batches_visit(void *context, int32_t begin, int32_t end);
void eb_batches_sweep(const eb_batches *batches, eb_batches_visit *visit, void *context);

#endif
