/* The three cases of Coulomb's law at one contact, u = q + W r, tried in this order.
 *
 * Separation: q_n >= 0 and r = 0. Sticking: r = -W^-1 q, when it lies in the cone. Sliding: r = r_n (1, mu d) with |d| = 1, where u_n = 0 gives
 * r_n = -q_n / (W_nn + mu W_nt d), and d is the fixed point of the projection onto the disc,
 *
 *   d = t / |t|,   t = r_t - u_t / rho,   rho >= W_tt:
 *
 * there r_t is a multiple of -u_t, so that friction opposes the motion: maximum dissipation holds, which an impulse that is scaled back
 * radially into the cone does not give. The iteration is ended early, as the sweeps around it go on from where it ended. */
#include "solvers/contact/coulomb.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "problems/base/vector3.h"

static const double regularization = 1e-12; /* of the largest diagonal entry: parallel rows */
static const double settled = 1e-6;         /* radians, of the direction of sliding */
enum { TURNS = 20 };                        /* of that direction in one visit */

eb_coulomb_state eb_coulomb_state_of(const double r[3], double mu) {
  const double inside = 1 - 1e-6;
  if (!(r[0] > 0)) return EB_COULOMB_APART;
  return hypot(r[1], r[2]) < inside * mu * r[0] ? EB_COULOMB_STICKS : EB_COULOMB_SLIDES;
}

int32_t eb_coulomb_changes(int32_t count, const double *r, const double *mu, uint8_t *state) {
  int32_t changes = 0;
  for (int32_t k = 0; k < count; k++) {
    uint8_t now = (uint8_t)eb_coulomb_state_of(r + 3 * (int64_t)k, mu[k]);
    changes += now != state[k];
    state[k] = now;
  }
  return changes;
}

/* Cofactors over the determinant; W is positive definite here. */
static void invert(const double W[9], double inverse[9]) {
  eb_cross3(W + 3, W + 6, inverse);
  eb_cross3(W + 6, W, inverse + 3);
  eb_cross3(W, W + 3, inverse + 6);
  double determinant = eb_dot3(W, inverse);
  for (int k = 0; k < 9; k++) inverse[k] = determinant > 0 ? inverse[k] / determinant : 0;
}

void eb_coulomb_set(eb_coulomb *contact, const double W[9], double mu) {
  double raised[9], largest = fmax(W[0], fmax(W[4], W[8]));
  double mean = 0.5 * (W[4] + W[8]);
  memcpy(contact->W, W, sizeof contact->W);
  memcpy(raised, W, sizeof raised);
  for (int k = 0; k < 9; k += 4) raised[k] += regularization * largest;
  invert(raised, contact->inverse);
  contact->tangential = mean + hypot(0.5 * (W[4] - W[8]), W[5]);
  contact->mu = mu;
}

/* The sliding impulse of direction d. */
static void slide_along(const eb_coulomb *k, const double q[3], const double d[2], double r[3]) {
  const double *W = k->W;
  double resistance = W[0] + k->mu * (W[1] * d[0] + W[2] * d[1]);
  if (!(resistance > 0)) resistance = W[0]; /* wedged: friction along d pushes inwards */
  r[0] = -q[0] / resistance;
  r[1] = k->mu * r[0] * d[0];
  r[2] = k->mu * r[0] * d[1];
}

/* Turns d once towards the opposite of the motion; returns by how much, radians. */
static double turn(const eb_coulomb *k, const double q[3], const double r[3], double d[2]) {
  double W_r[3], t[2];
  eb_turn3(k->W, r, W_r);
  for (int i = 0; i < 2; i++) t[i] = k->tangential * r[1 + i] - (q[1 + i] + W_r[1 + i]);
  double length = hypot(t[0], t[1]);
  if (!(length > 0)) return 0;
  double cross = (d[0] * t[1] - d[1] * t[0]) / length, along = (d[0] * t[0] + d[1] * t[1]) / length;
  d[0] = t[0] / length;
  d[1] = t[1] / length;
  return along > 0 ? fabs(cross) : 1;
}

/* Starts in the direction of `from`. */
static void slide(const eb_coulomb *k, const double q[3], const double from[3], double r[3]) {
  double length = hypot(from[1], from[2]);
  double d[2] = {length > 0 ? from[1] / length : 1, length > 0 ? from[2] / length : 0};
  slide_along(k, q, d, r);
  for (int i = 0; i < TURNS && k->mu > 0 && turn(k, q, r, d) > settled; i++)
    slide_along(k, q, d, r);
}

void eb_coulomb_solve(const eb_coulomb *contact, const double u[3], double r[3], double change[3]) {
  double q[3], next[3] = {0}, stop[3];
  eb_turn3(contact->W, r, q);
  for (int i = 0; i < 3; i++) q[i] = u[i] - q[i];
  if (q[0] < 0 && contact->W[0] > 0) {
    /* From the present impulse on, so that what the raised diagonal leaves out vanishes at the solution. */
    eb_turn3(contact->inverse, u, stop);
    for (int i = 0; i < 3; i++) stop[i] = r[i] - stop[i];
    bool sticks = stop[0] > 0 && hypot(stop[1], stop[2]) < contact->mu * stop[0];
    if (sticks)
      memcpy(next, stop, sizeof next);
    else
      slide(contact, q, hypot(r[1], r[2]) > 0 ? r : stop, next);
  }
  for (int i = 0; i < 3; i++) change[i] = next[i] - r[i];
  memcpy(r, next, 3 * sizeof *r);
}
