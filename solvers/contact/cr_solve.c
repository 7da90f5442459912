/* Preconditioned conjugate residuals on K x = g (Verschoor and Jalba 2019, Algorithm 1, lines 7 to 17), K symmetric positive definite:
 *
 *   alpha = z.K z / K p.C^-1 K p,   x += alpha p,   r -= alpha K p,   z -= alpha C^-1 K p,
 *   beta = z+.K z+ / z.K z,   p = z + beta p,   K p = K z + beta K p.
 *
 * One product and one application of the preconditioner an iteration. A x and H x develop beside x by the same recurrences, so that energies and contact
 * velocities along x cost no product (the split residual of Section 3.5). */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "solvers/contact/cr.h"
#include "solvers/linalg/block_ops.h"

enum { MAIN_VECTORS = 10, CONTACT_VECTORS = 3 };

static void main_vectors(eb_cr_solve *cr, double **all[MAIN_VECTORS]) {
  double **list[MAIN_VECTORS] = {&cr->x,  &cr->Ax, &cr->r,  &cr->z,  &cr->p,
                                 &cr->Ap, &cr->Kp, &cr->Az, &cr->Kz, &cr->CKp};
  memcpy(all, list, sizeof list);
}

void eb_cr_solve_clear(eb_cr_solve *cr) {
  double **all[MAIN_VECTORS];
  main_vectors(cr, all);
  for (int i = 0; i < MAIN_VECTORS; i++) free(*all[i]);
  free(cr->Hx);
  free(cr->Hp);
  free(cr->Hz);
  *cr = (eb_cr_solve){0};
}

eb_error eb_cr_solve_reserve(eb_cr_solve *cr, int64_t n, int64_t m) {
  if (cr->Hz && cr->n == n && m <= cr->room) return EB_OK;
  eb_cr_solve_clear(cr);
  double **all[MAIN_VECTORS];
  main_vectors(cr, all);
  for (int i = 0; i < MAIN_VECTORS; i++) EB_TRY(EB_NEW(*all[i], n));
  int64_t room = m + m / 2 + 16;
  EB_TRY(EB_NEW(cr->Hx, room));
  EB_TRY(EB_NEW(cr->Hp, room));
  EB_TRY(EB_NEW(cr->Hz, room));
  cr->n = n;
  cr->room = room;
  return EB_OK;
}

bool eb_cr_solve_start(eb_cr_solve *cr, eb_cr_system *system, const double *g) {
  size_t n = (size_t)system->n * sizeof(double), m = (size_t)system->m * sizeof(double);
  memcpy(cr->r, g, n);
  memset(cr->x, 0, n);
  memset(cr->Ax, 0, n);
  memset(cr->Hx, 0, m);
  eb_cr_precondition(system, cr->r, cr->z);
  cr->norm = eb_norm(system->n, cr->r);
  if (!(eb_dot(system->n, cr->r, cr->z) > 0)) return false;
  eb_cr_multiply(system, cr->z, cr->Az, cr->Hz, cr->Kz);
  cr->zKz = eb_dot(system->n, cr->z, cr->Kz);
  memcpy(cr->p, cr->z, n);
  memcpy(cr->Ap, cr->Az, n);
  memcpy(cr->Kp, cr->Kz, n);
  memcpy(cr->Hp, cr->Hz, m);
  return true;
}

static void add_scaled(int64_t n, double scale, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] += scale * x[i];
}

/* p = z + beta p. */
static void follow(int64_t n, double beta, const double *z, double *p) {
  for (int64_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
}

bool eb_cr_solve_iterate(eb_cr_solve *cr, eb_cr_system *system) {
  int64_t n = system->n, m = system->m;
  eb_cr_precondition(system, cr->Kp, cr->CKp);
  double curvature = eb_dot(n, cr->Kp, cr->CKp), alpha = cr->zKz / curvature;
  if (!(curvature > 0) || !(cr->zKz > 0) || !isfinite(alpha)) return false;
  add_scaled(n, alpha, cr->p, cr->x);
  add_scaled(n, alpha, cr->Ap, cr->Ax);
  add_scaled(m, alpha, cr->Hp, cr->Hx);
  add_scaled(n, -alpha, cr->Kp, cr->r);
  add_scaled(n, -alpha, cr->CKp, cr->z);
  cr->norm = eb_norm(n, cr->r);
  eb_cr_multiply(system, cr->z, cr->Az, cr->Hz, cr->Kz);
  double next = eb_dot(n, cr->z, cr->Kz), beta = next / cr->zKz;
  cr->zKz = next;
  follow(n, beta, cr->z, cr->p);
  follow(n, beta, cr->Az, cr->Ap);
  follow(n, beta, cr->Kz, cr->Kp);
  follow(m, beta, cr->Hz, cr->Hp);
  return true;
}
