/* CHOLMOD as a peer: supernodal factor, solve, and updates of low rank, in an order that is
 * given. */
#ifndef EB_BENCH_CHOLMOD_H
#define EB_BENCH_CHOLMOD_H

#include <stdbool.h>

#include "problems/elasticity/block_matrix.h"
#include "problems/mesh/mesh.h"

/* How many threads its libraries may use. */
typedef enum eb_bench_threads {
  EB_BENCH_ONE,  /* one, as OMP_THREAD_LIMIT=1 has it: by far its fastest on one core */
  EB_BENCH_PAIR, /* teams of at most two, in OpenBLAS and its own loops: OMP_THREAD_LIMIT=2 */
  EB_BENCH_AS_IS /* OpenBLAS on two, teams of four in its own loops, as it comes */
} eb_bench_threads;

typedef struct eb_bench_cholmod eb_bench_cholmod;

/* order[k]: the node eliminated k-th, up to a postordering. Takes the values of A. */
EB_MUST eb_error eb_bench_cholmod_create(const eb_block_matrix *A, const int32_t *order,
                                         eb_bench_cholmod **out);
void eb_bench_cholmod_destroy(eb_bench_cholmod *peer);

/* Operations of the numeric factorization and entries of L, without what supernodes add. */
double eb_bench_cholmod_flops(const eb_bench_cholmod *peer);
double eb_bench_cholmod_entries(const eb_bench_cholmod *peer);

void eb_bench_cholmod_factor(eb_bench_cholmod *peer, eb_bench_threads threads);
/* `count` right-hand sides, columns of n entries, one after the other; x receives the solutions in
 * CHOLMOD's order. */
void eb_bench_cholmod_solve(eb_bench_cholmod *peer, int32_t count, const double *b, double *x);

/* Prepares a change of the stiffness of the chosen elements by `scale` B^T D B V with E = 1e6 Pa
 * and nu = 0.45, of rank 6 an element, and a factor L D L^T for it. */
EB_MUST eb_error eb_bench_cholmod_prepare_update(eb_bench_cholmod *peer, const eb_mesh *mesh,
                                                 const uint8_t *chosen, double scale);
/* Adds the change to what is factored, or takes it away again. */
void eb_bench_cholmod_update(eb_bench_cholmod *peer, bool add);

#endif
