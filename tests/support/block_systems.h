/* Block systems for the tests of the linear algebra: random ones and a linear elastic bar,
 * assembled here without the code under test. */
#ifndef EB_TESTS_BLOCK_SYSTEMS_H
#define EB_TESTS_BLOCK_SYSTEMS_H

#include "problems/elasticity/block_matrix.h"

/* Uniform in [-1, 1]; a small linear congruential generator with its state in *seed. */
double eb_test_random(uint64_t *seed);
/* A vector of n such numbers; ends the program when memory is gone. free() it. */
double *eb_test_random_vector(int64_t n, uint64_t *seed);
/* Mirrors the blocks above the diagonal to those below, then lets each diagonal entry exceed the
 * sum of its row: symmetric positive definite. */
void eb_test_make_dominant(eb_block_matrix *A);
/* A symmetric matrix of random blocks over a random connected graph of `rows` nodes, made positive
 * definite by diagonal dominance. */
eb_block_matrix *eb_test_random_matrix(int32_t rows, uint64_t seed);
/* M / h^2 + K of a linear elastic bar of cubes (six tetrahedra each), its face x = 0 clamped: edge
 * `side` m, E = 1e6 Pa, rho = 1000 kg/m^3, h = 1/60 s. With `positions` not NULL, also its nodes
 * (rows x 3), to be freed. */
eb_block_matrix *eb_test_bar(int nx, int ny, int nz, double side, double nu, double **positions);
/* LAPACK's dposv on a symmetric matrix of order n: overwrites it with its factor and b with the
 * solution. Returns LAPACK's info: 0, or the first minor that is not positive definite. */
int eb_test_dense_solve(int n, double *matrix, double *b);

#endif
