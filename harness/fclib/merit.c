/* How good a solution of FCLib's problems is, with M, H, W and w as the file has them. */
#include <math.h>
#include <string.h>

#include "harness/fclib/fclib.h"
#include "problems/base/memory.h"
#include "solvers/linalg/block_ops.h"

/* The natural map of frictional contact as a second-order cone complementarity (De Saxce and Feng
 * 1998): with u^ = u + (mu |u_t|, 0, 0),
 *
 *   K* contains u^  perp  r in K   if and only if   r = P_K(r - u^),   K = {|r_t| <= mu r_n}.
 *
 * The nearest point of K to x: x inside; 0 where mu |x_t| <= -x_n; else along the border, ((x_n +
 * mu |x_t|) / (1 + mu^2)) (1, mu x_t / |x_t|). */

static void project(double mu, double x[3]) {
  double friction = hypot(x[1], x[2]);
  if (friction <= mu * x[0]) return;
  double normal = (x[0] + mu * friction) / (1 + mu * mu);
  if (normal <= 0) {
    x[0] = x[1] = x[2] = 0;
    return;
  }
  x[0] = normal;
  x[1] *= mu * normal / friction;
  x[2] *= mu * normal / friction;
}

static double natural_map(const eb_fclib *p, const double *u, const double *r) {
  double square = 0;
  for (int64_t k = 0; k < p->contacts; k++) {
    const double *v = u + 3 * k, *f = r + 3 * k;
    double x[3] = {f[0] - v[0] - p->mu[k] * hypot(v[1], v[2]), f[1] - v[1], f[2] - v[2]};
    project(p->mu[k], x);
    for (int d = 0; d < 3; d++) square += (f[d] - x[d]) * (f[d] - x[d]);
  }
  return sqrt(square) / (1 + eb_norm(3 * (int64_t)p->contacts, p->w));
}

/* y += m x, or m^T x. */
static void add_product(const eb_fclib_matrix *m, bool transposed, double factor, const double *x,
                        double *y) {
  const int32_t *row = transposed ? m->column : m->row;
  const int32_t *column = transposed ? m->row : m->column;
  for (int32_t k = 0; k < m->count; k++) y[row[k]] += factor * m->value[k] * x[column[k]];
}

double eb_fclib_residual(const eb_fclib *p, const double *v, const double *r, double *rest) {
  memcpy(rest, p->f, (size_t)p->size * sizeof *rest);
  add_product(&p->H, false, 1, r, rest);
  add_product(&p->M, false, -1, v, rest);
  return eb_norm(p->size, rest);
}

/* work: n + 3 contacts */
static double merit_of(const eb_fclib *p, const double *v, const double *r, double *work) {
  double *u = work + p->size;
  memcpy(u, p->w, 3 * (size_t)p->contacts * sizeof *u);
  if (!p->global) {
    add_product(&p->M, false, 1, r, u);
    return natural_map(p, u, r);
  }
  add_product(&p->H, true, 1, v, u);
  return natural_map(p, u, r) + eb_fclib_residual(p, v, r, work) / (1 + eb_norm(p->size, p->f));
}

eb_error eb_fclib_merit(const eb_fclib *problem, const double *v, const double *r, double *merit) {
  double *work;
  EB_TRY(EB_NEW(work, (size_t)problem->size + 3 * (size_t)problem->contacts));
  *merit = merit_of(problem, v, r, work);
  free(work);
  return EB_OK;
}
