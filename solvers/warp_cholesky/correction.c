/* Conjugate gradients on the exact matrix with a preconditioner that is out of date: correction.h.
 *
 * With the rotations frozen g is affine, so that K p = g(x + p) - g(x) needs no exact matrix: one
 * evaluation of the forces an iteration, which is little beside the two triangular solves. Rows of
 * scripted nodes are the identity in the factor; residual and directions are zero there, and their
 * velocities, which are in the unknown from the start, act through A v. */
#include "solvers/warp_cholesky/correction.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>

enum { MOST_ITERATIONS = 1000 };

eb_error eb_correction_create(const eb_mesh *mesh, eb_correction *out) {
  size_t size = 3 * (size_t)mesh->node_count;
  *out = (eb_correction){0};
  EB_TRY(EB_NEW(out->b, size));
  EB_TRY(EB_NEW(out->r, size));
  EB_TRY(EB_NEW(out->z, size));
  EB_TRY(EB_NEW(out->p, size));
  return EB_NEW(out->q, size);
}

void eb_correction_clear(eb_correction *correction) {
  free(correction->b);
  free(correction->r);
  free(correction->z);
  free(correction->p);
  free(correction->q);
  *correction = (eb_correction){0};
}

/* The step's system. */
typedef struct exact {
  const eb_implicit *work;
  const eb_corotation *corotation;
  const double *x;
  double mass_scale, stiffness_scale;
} exact;

/* q = A p, zero at scripted nodes; `moved` is workspace. */
static void multiply(const exact *A, const double *p, double *moved, double *q, eb_step_log *log) {
  const eb_implicit *work = A->work;
  const double *mass = eb_elasticity_mass(work->scene->elasticity);
  for (int64_t k = 0; k < work->size; k++) moved[k] = A->x[k] + p[k];
  eb_corotation_gradient(A->corotation, moved, q);
  for (int64_t k = 0; k < work->size; k++)
    q[k] = work->fixed[k / 3] ? 0
                              : A->mass_scale * mass[k / 3] * p[k] +
                                    A->stiffness_scale * (q[k] - work->gradient[k]);
  eb_log_count(log, EB_COUNT_MATVECS, 1);
}

static eb_error precondition(const eb_corotation *corotation, eb_multifrontal *factor,
                             const eb_implicit *work, const double *r, double *z, eb_step_log *log,
                             eb_reason *reason) {
  eb_corotation_turn(corotation, true, r, z);
  EB_TRY(eb_multifrontal_solve(factor, 1, z, z, log, reason));
  if (*reason < 0) return EB_OK;
  eb_corotation_turn(corotation, false, z, z);
  for (int64_t k = 0; k < work->size; k++)
    if (work->fixed[k / 3]) z[k] = 0;
  return EB_OK;
}

eb_error eb_correction_apply(eb_correction *c, eb_implicit *work, const eb_corotation *corotation,
                             eb_multifrontal *factor, const double *x, double mass_scale,
                             double stiffness_scale, double tolerance, eb_step_log *log,
                             eb_reason *reason) {
  EB_ASSERT(tolerance > 0 && factor);
  const exact A = {work, corotation, x, mass_scale, stiffness_scale};
  const int64_t n = work->size;
  double before = 1;
  multiply(&A, work->unknown, c->z, c->q, log);
  for (int64_t k = 0; k < n; k++) c->r[k] = work->fixed[k / 3] ? 0 : c->b[k] - c->q[k];
  for (int64_t k = 0; k < n; k++) c->p[k] = 0;
  *reason = EB_CONVERGED_DIRECT;
  for (int i = 0; i < MOST_ITERATIONS; i++) {
    double norm = eb_norm(n, c->r);
    if (norm <= tolerance) return EB_OK;
    if (!isfinite(norm)) break;
    EB_TRY(precondition(corotation, factor, work, c->r, c->z, log, reason));
    if (*reason < 0) return EB_OK;
    double product = eb_dot(n, c->r, c->z);
    for (int64_t k = 0; k < n; k++) c->p[k] = c->z[k] + product / before * c->p[k];
    multiply(&A, c->p, c->z, c->q, log);
    double step = product / eb_dot(n, c->p, c->q);
    for (int64_t k = 0; k < n; k++) work->unknown[k] += step * c->p[k];
    for (int64_t k = 0; k < n; k++) c->r[k] -= step * c->q[k];
    before = product;
    eb_log_count(log, EB_COUNT_LINEAR_ITERATIONS, 1);
  }
  *reason = isfinite(eb_norm(n, c->r)) ? EB_DIVERGED_MAX_IT : EB_DIVERGED_NAN;
  return EB_OK;
}
