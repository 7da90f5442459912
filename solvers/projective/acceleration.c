/* Anderson's and Chebyshev's extrapolation.
 *
 * Anderson (Peng et al. 2018, "Anderson acceleration for geometry optimization and physics
 * simulation", Algorithm 1): with G_k = x_k + d_k, and changes over the last m iterations,
 *
 *   x_(k+1) = G_k - sum_j theta_j (G_(k-j+1) - G_(k-j)),
 *   theta = argmin |d_k - sum_j theta_j (d_(k-j+1) - d_(k-j))|,
 *
 * from the normal equations in columns of unit length, which are shifted by `ridge`: columns that
 * hardly differ get small weights instead of large ones that cancel.
 *
 * Chebyshev (Wang 2015, "A Chebyshev semi-iterative approach for accelerating projective and
 * position-based dynamics"): with spectral radius r of the iteration, from its `delay`-th step on,
 *
 *   x_(k+1) = w_(k+1) (G_k - x_(k-1)) + x_(k-1),   w: 1, 2 / (2 - r^2), 4 / (4 - r^2 w_k), ..
 *
 * r is what |d| falls by in the steps before. Neither knows the energy: who calls checks it.
 *
 * Workspace: 2 + 2 m vectors. Cannot fail. */
#include "solvers/projective/acceleration.h"

#include <math.h>
#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

static const double ridge = 1e-12;
static const double largest_rate = 0.9999;
enum { DELAY = 10 };

eb_error eb_acceleration_create(eb_acceleration_kind kind, int64_t size, int window,
                                eb_acceleration *out) {
  EB_ASSERT(size >= 0 && window >= 0);
  *out = (eb_acceleration){.kind = kind, .size = size, .window = window};
  if (kind == EB_ACCELERATION_NONE) return EB_OK;
  EB_TRY(EB_NEW(out->x, size));
  EB_TRY(EB_NEW(out->d, size));
  if (kind != EB_ACCELERATION_ANDERSON) return EB_OK;
  EB_TRY(EB_NEW(out->dx, window * size));
  return EB_NEW(out->dd, window * size);
}

void eb_acceleration_clear(eb_acceleration *a) {
  free(a->x);
  free(a->d);
  free(a->dx);
  free(a->dd);
  *a = (eb_acceleration){0};
}

void eb_acceleration_restart(eb_acceleration *a) {
  a->steps = 0;
}

static void remember(eb_acceleration *a, const double *x, const double *d) {
  memcpy(a->x, x, (size_t)a->size * sizeof *x);
  memcpy(a->d, d, (size_t)a->size * sizeof *d);
  a->steps++;
}

/* ---- Anderson -------------------------------------------------------------------------------- */

/* Solves G theta = b by Cholesky, G (n x n, row stride EB_LARGEST_WINDOW) overwritten. */
static void solve_small(int n, double (*G)[EB_LARGEST_WINDOW], double *b) {
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++) G[j][j] -= G[j][k] * G[j][k];
    G[j][j] = sqrt(fmax(G[j][j], ridge));
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++) G[i][j] -= G[i][k] * G[j][k];
      G[i][j] /= G[j][j];
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= G[i][k] * b[k];
    b[i] /= G[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= G[k][i] * b[k];
    b[i] /= G[i][i];
  }
}

/* theta from the `count` columns that there are. */
static void weights(const eb_acceleration *a, int count, const double *d,
                    double theta[EB_LARGEST_WINDOW]) {
  double G[EB_LARGEST_WINDOW][EB_LARGEST_WINDOW], length[EB_LARGEST_WINDOW];
  for (int i = 0; i < count; i++)
    length[i] = sqrt(fmax(a->gram[i * EB_LARGEST_WINDOW + i], 1e-300));
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++)
      G[i][j] = a->gram[i * EB_LARGEST_WINDOW + j] / (length[i] * length[j]) + (i == j) * ridge;
    theta[i] = eb_dot(a->size, a->dd + i * a->size, d) / length[i];
  }
  solve_small(count, G, theta);
  for (int i = 0; i < count; i++) theta[i] /= length[i];
}

static bool anderson(eb_acceleration *a, const double *x, const double *d, double *next) {
  double theta[EB_LARGEST_WINDOW];
  for (int64_t k = 0; k < a->size; k++) next[k] = x[k] + d[k];
  if (a->steps == 0) return false;
  int slot = (int)((a->steps - 1) % a->window);
  int count = a->steps < a->window ? (int)a->steps : a->window;
  double *dx = a->dx + slot * a->size, *dd = a->dd + slot * a->size;
  for (int64_t k = 0; k < a->size; k++) {
    dx[k] = x[k] - a->x[k];
    dd[k] = d[k] - a->d[k];
  }
  for (int i = 0; i < count; i++)
    a->gram[slot * EB_LARGEST_WINDOW + i] = a->gram[i * EB_LARGEST_WINDOW + slot] =
        eb_dot(a->size, dd, a->dd + i * a->size);
  weights(a, count, d, theta);
  for (int i = 0; i < count; i++)
    for (int64_t k = 0; k < a->size; k++)
      next[k] -= theta[i] * (a->dx[i * a->size + k] + a->dd[i * a->size + k]);
  return true;
}

/* ---- Chebyshev ------------------------------------------------------------------------------- */

static bool chebyshev(eb_acceleration *a, const double *x, const double *d, double *next) {
  double norm = eb_norm(a->size, d);
  if (a->steps > 0 && a->steps <= DELAY && a->norm > 0)
    a->rate = fmin(norm / a->norm, largest_rate);
  a->norm = norm;
  if (a->steps < DELAY)
    a->omega = 1;
  else
    a->omega =
        a->steps == DELAY ? 2 / (2 - a->rate * a->rate) : 4 / (4 - a->rate * a->rate * a->omega);
  bool extrapolate = a->omega != 1;
  for (int64_t k = 0; k < a->size; k++)
    next[k] = extrapolate ? a->omega * (x[k] + d[k] - a->x[k]) + a->x[k] : x[k] + d[k];
  return extrapolate;
}

bool eb_acceleration_propose(eb_acceleration *a, const double *x, const double *d, double *next) {
  EB_ASSERT(a->kind != EB_ACCELERATION_NONE && x != next && d != next);
  bool proposed =
      a->kind == EB_ACCELERATION_ANDERSON ? anderson(a, x, d, next) : chebyshev(a, x, d, next);
  remember(a, x, d);
  return proposed;
}
