/* What the tests of `conjac` share: a solver that is kept from step to step, and slow dense algebra
 * to compare with. */
#ifndef EB_TESTS_CONJAC_FIXTURE_H
#define EB_TESTS_CONJAC_FIXTURE_H

#include "problems/base/memory.h"
#include "solvers/conjac/conjac.h"
#include "tests/support/solver_fixture.h"
#include "tests/support/lapack.h"

__attribute__((unused)) static eb_solver *solver_open(const fixture *f, const char *options,
                                                      int threads) {
  eb_solver *solver = NULL;
  tap_require(eb_solver_create(eb_solver_find("conjac"), options, f->scene, threads, 1, &solver),
              options);
  return solver;
}

__attribute__((unused)) static eb_reason solver_step(eb_solver *solver, fixture *f) {
  eb_stepper s = {.scene = f->scene, .solver = solver, .state = f->state, .log = f->log};
  tap_require(eb_stepper_step(&s), "a step");
  return f->reason = s.reason;
}

/* The node of the block nearest to a rest position. */
__attribute__((unused)) static int32_t node_near(const eb_scene *scene, double x, double y,
                                                 double z) {
  const double *X = scene->mesh->X, at[3] = {x, y, z};
  double least = INFINITY;
  int32_t nearest = -1;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double square = 0;
    for (int d = 0; d < 3; d++) square += (X[3 * i + d] - at[d]) * (X[3 * i + d] - at[d]);
    if (square < least) least = square, nearest = i;
  }
  return nearest;
}

/* ---- dense algebra: square matrices of `size` = 3 nodes, column-major ---- */

__attribute__((unused)) static double *dense_hessian(const eb_scene *scene, const double *x,
                                                     bool project, double *g) {
  eb_block_matrix *H;
  int64_t size = 3 * (int64_t)scene->mesh->node_count;
  double *dense = eb_calloc((size_t)(size * size), sizeof *dense);
  tap_require(eb_block_matrix_like(eb_elasticity_pattern(scene->elasticity), &H), "a matrix");
  eb_elasticity_matrix(scene->elasticity, x, 0, 1, project, H, g);
  for (int32_t i = 0; i < H->rows; i++)
    for (int32_t b = H->start[i]; b < H->start[i + 1]; b++)
      for (int k = 0; k < 9; k++)
        dense[(3 * (int64_t)H->column[b] + k % 3) * size + 3 * (int64_t)i + k / 3] =
            H->values[9 * (int64_t)b + k];
  eb_block_matrix_destroy(H);
  return dense;
}

/* Solves the equations of the `count` rows with part[k] == 0 for `columns` right-hand sides of
 * `size` entries, whose other entries stay as they are. */
__attribute__((unused)) static void dense_solve(int64_t size, const double *A, const uint8_t *part,
                                                int columns, double *b) {
  int n = 0, info = -1, *row = malloc((size_t)size * sizeof *row);
  for (int64_t k = 0; k < size; k++)
    if (!part[k]) row[n++] = (int)k;
  double *small = malloc((size_t)n * (size_t)n * sizeof *small + 8);
  double *rhs = malloc((size_t)n * (size_t)columns * sizeof *rhs + 8);
  int *pivots = malloc((size_t)n * sizeof *pivots + 8);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) small[(int64_t)j * n + i] = A[row[j] * size + row[i]];
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < n; i++) rhs[(int64_t)j * n + i] = b[j * size + row[i]];
  openblas_set_num_threads(1);
  if (n) dgesv_(&n, &columns, small, &n, pivots, rhs, &n, &info);
  if (n && info) printf("Bail out! dgesv: %d\n", info), exit(1);
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < n; i++) b[j * size + row[i]] = rhs[(int64_t)j * n + i];
  free(row), free(small), free(rhs), free(pivots);
}

#endif
