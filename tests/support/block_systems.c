#include "tests/support/block_systems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

static void require(eb_error error) {
  if (!error) return;
  printf("Bail out! %s\n", eb_error_message(error));
  exit(1);
}

double eb_test_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

double *eb_test_random_vector(int64_t n, uint64_t *seed) {
  double *x;
  require(EB_NEW(x, n));
  for (int64_t i = 0; i < n; i++) x[i] = eb_test_random(seed);
  return x;
}

void eb_test_make_dominant(eb_block_matrix *A) {
  for (int32_t i = 0; i < A->rows; i++) {
    double sum[3] = {0, 0, 0};
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      double *a = A->values + 9 * (int64_t)b;
      const double *t = A->values + 9 * (int64_t)eb_block_matrix_find(A, j, i);
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++) {
          if (j < i || (j == i && s < r)) a[3 * r + s] = t[3 * s + r];
          sum[r] += fabs(a[3 * r + s]);
        }
    }
    for (int r = 0; r < 3; r++)
      A->values[9 * (int64_t)A->diagonal[i] + 4 * r] = sum[r] * (1.01 + 0.1 * (i % 3));
  }
}

eb_block_matrix *eb_test_random_matrix(int32_t rows, uint64_t seed) {
  int32_t *edges;
  int32_t count = 4 * rows;
  require(EB_NEW(edges, 2 * (size_t)count));
  for (int32_t e = 0; e < count; e++) {
    double at = 0.5 * (eb_test_random(&seed) + 1);
    edges[2 * e] = e % rows;
    edges[2 * e + 1] = e < rows ? (e + 1) % rows : (int32_t)(at * (rows - 1));
  }
  eb_block_matrix *A;
  require(eb_block_matrix_create(rows, edges, count, 2, &A));
  free(edges);
  for (int64_t k = 0; k < 9 * (int64_t)A->start[rows]; k++) A->values[k] = eb_test_random(&seed);
  eb_test_make_dominant(A);
  return A;
}

/* Gradients of the four shape functions of a tetrahedron; returns its volume. */
static double shape_gradients(const double *X, const int32_t *tet, double g[4][3]) {
  double d[3][3];
  for (int k = 0; k < 3; k++)
    for (int r = 0; r < 3; r++) d[k][r] = X[3 * tet[k + 1] + r] - X[3 * tet[0] + r];
  memset(g[0], 0, sizeof g[0]);
  double six = 0;
  for (int k = 0; k < 3; k++) {
    const double *u = d[(k + 1) % 3], *v = d[(k + 2) % 3];
    for (int r = 0; r < 3; r++)
      g[k + 1][r] = u[(r + 1) % 3] * v[(r + 2) % 3] - u[(r + 2) % 3] * v[(r + 1) % 3];
    if (k == 0) six = d[0][0] * g[1][0] + d[0][1] * g[1][1] + d[0][2] * g[1][2];
  }
  for (int k = 1; k < 4; k++)
    for (int r = 0; r < 3; r++) {
      g[k][r] /= six;
      g[0][r] -= g[k][r];
    }
  return six / 6;
}

/* V (lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) I), and a quarter of the mass on the
 * diagonal. */
static void add_tet(eb_block_matrix *A, const double *X, const int32_t *tet, double lambda,
                    double mu, double rho_h2) {
  double g[4][3];
  double volume = shape_gradients(X, tet, g);
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      double *k = A->values + 9 * (int64_t)eb_block_matrix_find(A, tet[a], tet[b]);
      double dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
      for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++)
          k[3 * r + s] += volume * (lambda * g[a][r] * g[b][s] + mu * g[b][r] * g[a][s]);
        k[4 * r] += volume * mu * dot + (a == b ? 0.25 * volume * rho_h2 : 0);
      }
    }
}

static int32_t node_of(int nx, int ny, int i, int j, int k) {
  return i + (nx + 1) * (j + (ny + 1) * k);
}

/* Kuhn's six tetrahedra of each cube: one for each order of walking the three axes. */
static int32_t *kuhn(int nx, int ny, int nz) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
  int32_t *tets, *out;
  require(EB_NEW(tets, 24 * (size_t)nx * (size_t)ny * (size_t)nz));
  out = tets;
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++)
        for (int t = 0; t < 6; t++) {
          int at[3] = {i, j, k}, even = t < 3;
          int32_t walk[4] = {node_of(nx, ny, i, j, k), 0, 0, 0};
          for (int s = 0; s < 3; s++) {
            at[orders[t][s]]++;
            walk[s + 1] = node_of(nx, ny, at[0], at[1], at[2]);
          }
          *out++ = walk[0];
          *out++ = walk[even ? 1 : 2];
          *out++ = walk[even ? 2 : 1];
          *out++ = walk[3];
        }
  return tets;
}

eb_block_matrix *eb_test_bar(int nx, int ny, int nz, double side, double nu, double **positions) {
  const double E = 1e6, rho_h2 = 1000 * 60.0 * 60.0;
  const double lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = 0.5 * E / (1 + nu);
  int32_t nodes = (nx + 1) * (ny + 1) * (nz + 1), count = 6 * nx * ny * nz;
  int32_t *tets = kuhn(nx, ny, nz);
  double *X;
  uint8_t *fixed;
  eb_block_matrix *A;
  require(EB_NEW(X, 3 * (size_t)nodes));
  require(EB_NEW(fixed, nodes));
  require(eb_block_matrix_create(nodes, tets, count, 4, &A));
  for (int32_t v = 0; v < nodes; v++) {
    X[3 * v] = side * (v % (nx + 1));
    X[3 * v + 1] = side * (v / (nx + 1) % (ny + 1));
    X[3 * v + 2] = side * (v / ((nx + 1) * (ny + 1)));
    fixed[v] = v % (nx + 1) == 0;
  }
  for (int32_t t = 0; t < count; t++) add_tet(A, X, tets + 4 * (int64_t)t, lambda, mu, rho_h2);
  eb_block_constrain(A, fixed, NULL, NULL);
  free(tets);
  free(fixed);
  if (positions)
    *positions = X;
  else
    free(X);
  return A;
}

/* LAPACK's Fortran interface, part of OpenBLAS. */
extern void dposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda,
                   double *b, const int *ldb, int *info, size_t uplo_length);

int eb_test_dense_solve(int n, double *matrix, double *b) {
  int info = 0, one = 1;
  if (n > 0) dposv_("L", &n, &one, matrix, &n, b, &n, &info, 1);
  return info;
}
