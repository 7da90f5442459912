/* Eigenmodes of the stiffness at rest: of its traces, one row a node, or of itself.
 *
 * The first guess at the shift (eigen.h) is a hundredth of the slowest mode that the softest
 * stiffness could have over the body's length, which keeps theta of the constant mode within a few
 * digits of the next ones. */
#include "solvers/subspace/skinning.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/subspace/eigen.h"
#include "solvers/subspace/scalar.h"

#include <math.h>
#include <string.h>

/* E / rho at a node is, about, the Laplacian of |X|^2 / 2 there over its mass: the sum over
 * neighbours of their stiffness times their distance^2. */
static double guess_shift(const eb_scalar_matrix *L, const double *X, const double *mass) {
  double lo[3], hi[3], length2 = 0, slowest = INFINITY;
  eb_mesh_bounds(X, L->rows, lo, hi);
  for (int d = 0; d < 3; d++) length2 += (hi[d] - lo[d]) * (hi[d] - lo[d]);
  for (int32_t i = 0; i < L->rows; i++) {
    double nearest = 0;
    for (int32_t b = L->start[i]; b < L->start[i + 1]; b++) {
      double apart = 0;
      for (int d = 0; d < 3; d++) {
        double off = X[3 * (int64_t)i + d] - X[3 * (int64_t)L->column[b] + d];
        apart += off * off;
      }
      nearest -= L->value[b] * apart;
    }
    if (nearest > 0) slowest = fmin(slowest, nearest / mass[i]);
  }
  return 1e-2 * (isfinite(slowest) ? slowest : 1) / length2;
}

/* Weights out of vectors with a row for every scalar row of the blocks. */
static eb_error take_weights(const eb_eigenpairs *pairs, const int32_t *row, eb_skinning *out) {
  EB_TRY(EB_NEW(out->weight, (size_t)out->modes * (size_t)out->nodes));
  for (int32_t k = 0; k < out->modes; k++)
    for (int32_t i = 0; i < out->nodes; i++)
      out->weight[(int64_t)k * out->nodes + i] = pairs->vector[k * pairs->unknowns + row[i]];
  return EB_OK;
}

static eb_error solve_packed(const eb_scalar_matrix *L, const double *X, const double *mass,
                             const uint8_t *pinned, int threads, struct eb_step_log *log,
                             eb_skinning *out) {
  eb_block_matrix *matrix;
  int32_t *row, *origin;
  double *root = NULL;
  eb_eigenpairs pairs = {0};
  EB_TRY(eb_scalar_pack(L, &matrix, &row, &origin));
  eb_error error = EB_NEW(root, 3 * (size_t)matrix->rows);
  for (int32_t i = 0; !error && i < out->nodes; i++)
    root[row[i]] = pinned && pinned[i] ? 0 : sqrt(mass[i]);
  const eb_eigenproblem problem = {.what = "skinning modes",
                                   .matrix = matrix,
                                   .root = root,
                                   .shift = guess_shift(L, X, mass),
                                   .count = out->modes,
                                   .threads = threads};
  if (!error) error = eb_lowest_eigenpairs(&problem, log, &pairs);
  if (!error) error = take_weights(&pairs, row, out);
  if (!error) {
    out->eigenvalue = pairs.value;
    out->residual = pairs.residual;
    pairs.value = NULL;
  }
  free(pairs.vector);
  free(pairs.value);
  eb_block_matrix_destroy(matrix);
  free(row);
  free(origin);
  free(root);
  return error;
}

static eb_error finish(eb_error error, eb_skinning *out) {
  if (error) eb_skinning_clear(out);
  return error;
}

eb_error eb_skinning_eigenmodes(const eb_elasticity *elasticity, const double *X,
                                const uint8_t *pinned, int32_t modes, int threads,
                                struct eb_step_log *log, eb_skinning *out) {
  EB_ASSERT(modes > 0);
  eb_scalar_matrix L;
  *out = (eb_skinning){.nodes = eb_elasticity_pattern(elasticity)->rows, .modes = modes, .axes = 1};
  EB_TRY(eb_scalar_stiffness(elasticity, X, &L));
  eb_error error = solve_packed(&L, X, eb_elasticity_mass(elasticity), pinned, threads, log, out);
  eb_scalar_clear(&L);
  return finish(error, out);
}

eb_error eb_skinning_uniform(const eb_mesh *mesh, const double *mass, const uint8_t *pinned,
                             int32_t modes, int threads, struct eb_step_log *log,
                             eb_skinning *out) {
  EB_ASSERT(modes > 0);
  eb_scalar_matrix L;
  *out = (eb_skinning){.nodes = mesh->node_count, .modes = modes, .axes = 1};
  EB_TRY(eb_scalar_laplacian(mesh, 1, &L));
  eb_error error = solve_packed(&L, mesh->X, mass, pinned, threads, log, out);
  eb_scalar_clear(&L);
  return finish(error, out);
}

/* K's own shift: that of its traces, which are about three times as stiff. */
static eb_error solve_blocks(const eb_elasticity *elasticity, const double *X,
                             const uint8_t *pinned, int threads, struct eb_step_log *log,
                             eb_skinning *out) {
  const double *mass = eb_elasticity_mass(elasticity);
  eb_block_matrix *K;
  eb_scalar_matrix L;
  double *root = NULL, shift;
  eb_eigenpairs pairs = {0};
  EB_TRY(eb_scalar_stiffness(elasticity, X, &L));
  shift = guess_shift(&L, X, mass) / 3;
  eb_scalar_clear(&L);
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(elasticity), &K));
  eb_error error = EB_NEW(root, 3 * (size_t)out->nodes);
  for (int32_t i = 0; !error && i < 3 * out->nodes; i++)
    root[i] = pinned && pinned[i / 3] ? 0 : sqrt(mass[i / 3]);
  eb_elasticity_matrix(elasticity, X, 0, 1, false, K, NULL);
  const eb_eigenproblem problem = {.what = "linear modes",
                                   .matrix = K,
                                   .root = root,
                                   .shift = shift,
                                   .count = out->modes,
                                   .threads = threads};
  if (!error) error = eb_lowest_eigenpairs(&problem, log, &pairs);
  eb_block_matrix_destroy(K);
  free(root);
  if (error) return error;
  out->weight = pairs.vector;
  out->eigenvalue = pairs.value;
  out->residual = pairs.residual;
  return EB_OK;
}

eb_error eb_skinning_linear(const eb_elasticity *elasticity, const double *X, const uint8_t *pinned,
                            int32_t modes, int threads, struct eb_step_log *log, eb_skinning *out) {
  EB_ASSERT(modes > 0);
  *out = (eb_skinning){.nodes = eb_elasticity_pattern(elasticity)->rows, .modes = modes, .axes = 3};
  return finish(solve_blocks(elasticity, X, pinned, threads, log, out), out);
}

void eb_skinning_clear(eb_skinning *skinning) {
  free(skinning->weight);
  free(skinning->eigenvalue);
  *skinning = (eb_skinning){0};
}
