/* Static modal derivatives: a difference of stiffnesses, times a mode, and a solve.
 *
 * One factor, of K + shift M with a thousandth of the lowest eigenvalue that is not 0, serves free
 * and held bodies alike: refinement with it contracts by a thousand in what deforms, and what is
 * without strain is taken out before and after.
 *
 * Workspace: three stiffnesses, the factor, and what is returned. Fails: a factor that breaks down,
 * solves that do not contract. */
#include "solvers/subspace/derivatives.h"

#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"
#include "solvers/linalg/multifrontal.h"

#include <math.h>
#include <string.h>

static const double STRAIN = 1e-4, REFINED = 1e-10, WITHOUT_STRAIN = 1e-8;
enum { REFINEMENTS = 30 };

typedef struct derivation {
  const eb_elasticity *elasticity;
  const double *X, *mass;
  const uint8_t *pinned;
  const eb_skinning *linear;
  int32_t rigid;                     /* modes without strain, the first ones */
  int64_t n;                         /* 3 nodes */
  eb_block_matrix *K, *ahead, *back; /* at rest (pinned rows cut off), and along a mode */
  eb_multifrontal *factor;
  double *x, *r, *left; /* n */
} derivation;

static const double *mode_of(const derivation *d, int32_t k) {
  return d->linear->weight + k * d->n;
}

static eb_error factor_shifted(derivation *d, int threads, eb_step_log *log) {
  double shift = 1e-3 * d->linear->eigenvalue[d->rigid];
  const eb_multifrontal_settings settings = {.threads = threads};
  eb_reason reason;
  eb_elasticity_matrix(d->elasticity, d->X, 0, 1, false, d->K, NULL);
  eb_elasticity_matrix(d->elasticity, d->X, shift, 1, false, d->ahead, NULL);
  if (d->pinned) {
    eb_block_constrain(d->K, d->pinned, NULL, NULL);
    eb_block_constrain(d->ahead, d->pinned, NULL, NULL);
  }
  EB_TRY(eb_multifrontal_create(&settings, d->ahead, log, &d->factor));
  EB_TRY(eb_multifrontal_factor(d->factor, d->ahead, log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID,
                    "modal derivatives: the stiffness at rest is not positive definite (%s): none "
                    "of the modes deforms (ask for more), or an element is flat",
                    eb_reason_name(reason));
  return EB_OK;
}

/* Stiffnesses on both sides of rest along mode j; returns the distance between them. */
static double displace(derivation *d, int32_t j) {
  const double *mode = mode_of(d, j);
  double steepest = 0;
  for (int32_t i = 0; i < d->K->rows; i++)
    for (int32_t b = d->K->start[i]; b < d->K->start[i + 1]; b++) {
      double apart = 0, along = 0;
      for (int k = 0; k < 3; k++) {
        int64_t p = 3 * (int64_t)i + k, q = 3 * (int64_t)d->K->column[b] + k;
        apart += (d->X[p] - d->X[q]) * (d->X[p] - d->X[q]);
        along += (mode[p] - mode[q]) * (mode[p] - mode[q]);
      }
      if (apart > 0) steepest = fmax(steepest, along / apart);
    }
  double step = STRAIN / sqrt(steepest);
  for (int side = -1; side <= 1; side += 2) {
    for (int64_t k = 0; k < d->n; k++) d->x[k] = d->X[k] + side * step * mode[k];
    eb_elasticity_matrix(d->elasticity, d->x, 0, 1, false, side < 0 ? d->back : d->ahead, NULL);
  }
  return 2 * step;
}

/* v -= R R^T M v, or its transpose v -= M R R^T v for forces. */
static void take_out_rigid(const derivation *d, bool force, double *v) {
  for (int32_t m = 0; m < d->rigid; m++) {
    const double *mode = mode_of(d, m);
    double sum = 0;
    for (int64_t k = 0; k < d->n; k++) sum += mode[k] * v[k] * (force ? 1 : d->mass[k / 3]);
    for (int64_t k = 0; k < d->n; k++) v[k] -= sum * mode[k] * (force ? d->mass[k / 3] : 1);
  }
}

/* out = K^+ r. */
static eb_error solve_refined(derivation *d, const double *r, double *out) {
  double whole = eb_norm(d->n, r), size = whole;
  eb_reason reason;
  memset(out, 0, (size_t)d->n * sizeof *out);
  memcpy(d->left, r, (size_t)d->n * sizeof *out);
  for (int round = 0; round < REFINEMENTS && size > REFINED * whole; round++) {
    EB_TRY(eb_multifrontal_solve(d->factor, 1, d->left, d->left, NULL, &reason));
    if (reason < 0) break;
    for (int64_t k = 0; k < d->n; k++) out[k] += d->left[k];
    take_out_rigid(d, false, out);
    eb_block_multiply(d->K, out, d->left);
    for (int64_t k = 0; k < d->n; k++) d->left[k] = r[k] - d->left[k];
    take_out_rigid(d, true, d->left);
    size = eb_norm(d->n, d->left);
  }
  if (!(size <= REFINED * whole))
    return EB_ERROR(EB_ERR_LIBRARY, "modal derivatives: a solve is off by %.1e", size / whole);
  return EB_OK;
}

static eb_error derive_all(derivation *d, double *out) {
  for (int32_t j = d->rigid; j < d->linear->modes; j++) {
    double apart = displace(d, j);
    for (int32_t i = d->rigid; i <= j; i++, out += d->n) {
      eb_block_multiply(d->ahead, mode_of(d, i), d->r);
      eb_block_multiply(d->back, mode_of(d, i), d->left);
      for (int64_t k = 0; k < d->n; k++)
        d->r[k] = d->pinned && d->pinned[k / 3] ? 0 : (d->left[k] - d->r[k]) / apart;
      take_out_rigid(d, true, d->r);
      EB_TRY(solve_refined(d, d->r, out));
    }
  }
  return EB_OK;
}

eb_error eb_modal_derivatives(const eb_elasticity *elasticity, const double *X,
                              const uint8_t *pinned, const eb_skinning *linear, int threads,
                              eb_step_log *log, int32_t *count, double **out) {
  const eb_block_matrix *pattern = eb_elasticity_pattern(elasticity);
  derivation d = {.elasticity = elasticity,
                  .X = X,
                  .mass = eb_elasticity_mass(elasticity),
                  .pinned = pinned,
                  .linear = linear,
                  .n = 3 * (int64_t)pattern->rows};
  *out = NULL;
  while (d.rigid < linear->modes &&
         linear->eigenvalue[d.rigid] <= WITHOUT_STRAIN * linear->eigenvalue[linear->modes - 1])
    d.rigid++;
  int64_t deforming = linear->modes - d.rigid;
  if (deforming < 1)
    return EB_ERROR(EB_ERR_USAGE, "modal derivatives: none of %d modes deforms; ask for more",
                    (int)linear->modes);
  *count = (int32_t)(deforming * (deforming + 1) / 2);
  eb_error error = EB_NEW(*out, (size_t)*count * (size_t)d.n);
  if (!error) error = EB_NEW(d.x, d.n);
  if (!error) error = EB_NEW(d.r, d.n);
  if (!error) error = EB_NEW(d.left, d.n);
  if (!error) error = eb_block_matrix_like(pattern, &d.K);
  if (!error) error = eb_block_matrix_like(pattern, &d.ahead);
  if (!error) error = eb_block_matrix_like(pattern, &d.back);
  if (!error) error = factor_shifted(&d, threads, log);
  if (!error) error = derive_all(&d, *out);
  eb_multifrontal_destroy(d.factor);
  eb_block_matrix_destroy(d.K);
  eb_block_matrix_destroy(d.ahead);
  eb_block_matrix_destroy(d.back);
  free(d.x);
  free(d.r);
  free(d.left);
  if (error) {
    free(*out);
    *out = NULL;
  }
  return error;
}
