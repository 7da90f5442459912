/* The contact problem of a single contact, solved exactly.
 *
 *   u = W r + q,   0 <= u_n perp r_n >= 0,   |r_t| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / |u_t|
 *
 * One of three: it opens (r = 0) when q_n >= 0; it sticks (u = 0) when that force is in the cone; or it slides, u_n = 0 and u_t = -a r_t with a > 0. With
 * u_n = 0 the normal force is r_n = -(q_n + W_nt r_t) / W_nn, and the tangential rows become
 *
 *   (S + a I) r_t = -p,   S = W_tt - W_tn W_nt / W_nn,   p = q_t - W_tn q_n / W_nn,
 *
 * which leaves g(a) = |r_t| - mu r_n = 0. Outside the cone g(0) > 0, and g tends to mu q_n / W_nn < 0: a root is there, and is found by false position
 * in the Illinois manner (Dowell and Jarratt 1971). W need not be symmetric. */
#include "solvers/contact/delassus.h"

#include <float.h>
#include <math.h>

typedef struct sliding {
  const double *W, *q;
  double mu;
  double S[4], p[2];
} sliding;

static sliding sliding_of(const double W[9], const double q[3], double mu) {
  sliding s = {.W = W, .q = q, .mu = mu};
  for (int i = 0; i < 2; i++) {
    double ratio = W[3 * (i + 1)] / W[0];
    for (int j = 0; j < 2; j++) s.S[2 * i + j] = W[3 * (i + 1) + j + 1] - ratio * W[j + 1];
    s.p[i] = q[i + 1] - ratio * q[0];
  }
  return s;
}

/* r of sliding with a; returns g(a). */
static double slide(const sliding *s, double a, double r[3]) {
  double S0 = s->S[0] + a, S3 = s->S[3] + a, determinant = S0 * S3 - s->S[1] * s->S[2];
  r[1] = (s->S[1] * s->p[1] - S3 * s->p[0]) / determinant;
  r[2] = (s->S[2] * s->p[0] - S0 * s->p[1]) / determinant;
  r[0] = -(s->q[0] + s->W[1] * r[1] + s->W[2] * r[2]) / s->W[0];
  return hypot(r[1], r[2]) - s->mu * r[0];
}

/* From g(low) > 0 at low = 0 on; r becomes that of the root. */
static void find_sliding(const sliding *s, double at_low, double r[3]) {
  enum { DOUBLINGS = 200, REFINEMENTS = 100 };
  double low = 0, high = s->S[0] + s->S[3], at_high = slide(s, high, r);
  for (int i = 0; i < DOUBLINGS && at_high > 0; i++) {
    low = high, at_low = at_high;
    at_high = slide(s, high *= 4, r);
  }
  int side = 0;
  for (int i = 0; i < REFINEMENTS && high - low > 4 * DBL_EPSILON * high && at_high != 0; i++) {
    double a = isfinite(at_low) ? (low * at_high - high * at_low) / (at_high - at_low) : NAN;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
    double g = slide(s, a, r);
    if (g > 0) {
      low = a, at_low = g;
      if (side == 1) at_high *= 0.5;
      side = 1;
    } else {
      high = a, at_high = g;
      if (side == -1) at_low *= 0.5;
      side = -1;
    }
  }
  slide(s, high, r);
}

void eb_contact_solve_local(const double W[9], const double q[3], double mu, double r[3]) {
  r[0] = r[1] = r[2] = 0;
  if (q[0] >= 0) return;
  if (mu == 0) {
    r[0] = -q[0] / W[0];
    return;
  }
  sliding s = sliding_of(W, q, mu);
  double g = slide(&s, 0, r);
  if (g <= 0) return;
  find_sliding(&s, g, r);
  double friction = hypot(r[1], r[2]), scale = friction > 0 ? mu * r[0] / friction : 0;
  r[1] *= scale;
  r[2] *= scale;
}
