/* Factors as sparse matrices, for the tests of the multifrontal factor: its own, exported, and
 * CHOLMOD's in the same elimination order. */
#ifndef EB_TESTS_SPARSE_FACTOR_H
#define EB_TESTS_SPARSE_FACTOR_H

#include "solvers/linalg/multifrontal.h"
#include "tests/support/owned.h"

/* Compressed columns, rows ascending within each. */
typedef struct eb_test_factor {
  int32_t columns;
  int64_t *start; /* columns + 1 */
  int32_t *row;
  double *value;
} eb_test_factor;

/* A factor of A; ends the program on an error and when A is refused. */
eb_multifrontal *eb_test_factored(const eb_multifrontal_settings *settings,
                                  const eb_block_matrix *A);

eb_test_factor eb_test_export(const eb_multifrontal *factor);
/* CHOLMOD's supernodal factor of A with its rows in the order of `tree`; ends the program when it
 * fails. */
eb_test_factor eb_test_cholmod(const eb_block_matrix *A, const eb_supernodes *tree);
void eb_test_factor_clear(eb_test_factor *factor);
OWNED(eb_test_factor, eb_test_factor_clear)

/* The largest difference of two entries, relative to the norm of its column; entries that only one
 * has count as 0 in the other. */
double eb_test_factor_distance(const eb_test_factor *a, const eb_test_factor *b);
/* Same pattern and same bits. */
bool eb_test_factor_same(const eb_test_factor *a, const eb_test_factor *b);

/* A mesh of nx x ny x nz cubes (six tetrahedra each), every block random, positive definite. */
eb_block_matrix *eb_test_grid(int nx, int ny, int nz, uint64_t seed);
/* Such a cube of edge^3 cubes; under sanitizers, ten times as slow, one with a tenth of the
 * operations of a factorization. */
eb_block_matrix *eb_test_solid(int edge, uint64_t seed);
/* `copies` such grids that are not connected and `alone` nodes that touch nothing. */
eb_block_matrix *eb_test_islands(int nx, int ny, int nz, int copies, int alone, uint64_t seed);
/* `leaves` cliques of `leaf` nodes that are not connected to each other, but all of them to a
 * clique of `root` nodes. */
eb_block_matrix *eb_test_arrow(int32_t root, int32_t leaf, int32_t leaves, uint64_t seed);
/* Calls `test`, which destroys its matrix, for a sheet, a bar, a solid, graphs in several parts and
 * others. */
void eb_test_graphs(void (*test)(eb_block_matrix *A, const char *name));

#endif
