/* Whether forces are what an energy says: by Taylor's theorem, and under rigid motions.
 *
 * With s the step, E(x + s d) - E - s g.d is O(s^2) only when g is right, and E(x + s d) - E -
 * s g.d - s^2/2 d.H d is O(s^3) only when H is right too. The order is observed between two steps,
 * far above rounding. A remainder that is rounding itself (E quadratic or nearly so) counts as
 * exact.
 *
 * One remainder c s^n + d s^(n+1) has any order near s where c and d s nearly cancel, as they do
 * along a direction in which the derivative of order n happens to be small. The root of the sum of
 * squares of those at s and -s, s^n sqrt(2 (c^2 + d^2 s^2)), has order n or more whatever c and d
 * are, and is as sensitive to a wrong derivative of either sign. */
#ifndef EB_CHECK_FORCES_H
#define EB_CHECK_FORCES_H

#include "problems/clusters.h"

typedef struct eb_taylor {
  double value, slope, curvature; /* E, its derivative and its second one by s, at s = 0 */
  double
      rounding; /* what rounding may leave of the remainder at the larger steps, over d.H d s^2 */
} eb_taylor;

enum { EB_TAYLOR_STEPS = 4 }; /* two sizes, each ahead and back */
double eb_taylor_step(int i);
/* Order between the two sizes, from E at all steps; INFINITY when the remainder is rounding at the
 * larger one already. */
double eb_taylor_order(eb_taylor at, const double value[EB_TAYLOR_STEPS], bool second);

/* What the two orders are, and what a rigid motion changes: reasons of figures (check.h). */
extern const char eb_gradient_reason[], eb_hessian_reason[], eb_turn_reason[];

/* Forces of a scene's elements and clusters at x, and along d: for the caller to fill. */
typedef struct eb_forces {
  const eb_scene *scene;
  eb_clusters clusters;
  int64_t size; /* 3 a node */
  double *x, *d, *g;
  double *product, *moved; /* workspace */
  eb_block_matrix *H;
  double rounding; /* of eb_taylor: 0, unless the caller says otherwise */
} eb_forces;

/* The caller clears *out also after an error. */
EB_MUST eb_error eb_forces_create(const eb_scene *scene, eb_forces *out);
void eb_forces_clear(eb_forces *forces);

/* Energy at x, J; eb_forces_gradient puts its gradient into g. */
double eb_forces_energy(const eb_forces *forces, const double *x);
double eb_forces_gradient(const eb_forces *forces, const double *x, double *g);
/* The observed orders of gradient and Hessian. */
void eb_forces_orders(eb_forces *forces, double orders[2]);
/* How much energy and gradient at x change, relative to themselves, when all is turned and moved,
 * in its plane where it has one. */
void eb_forces_turn(eb_forces *forces, double change[2]);

#endif
