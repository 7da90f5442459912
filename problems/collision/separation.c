/* Whether two features meet, and how far a plane tells them apart.
 *
 * A plane across the line of their middles, or of their closest points, is cheap to try; where
 * there is none, motions are tested continuously and places by the closest points. */
#include "problems/collision/separation.h"

#include <math.h>

#include "problems/base/vector3.h"
#include "problems/collision/bounds.h"

/* From the second feature's middle to the first one's, at any length. */
static void between_middles(eb_pair_kind kind, const double x[4][3], double n[3]) {
  for (int d = 0; d < 3; d++) {
    double rest = x[2][d] + x[3][d];
    n[d] = kind == EB_VERTEX_FACE ? x[0][d] - (x[1][d] + rest) / 3 : x[0][d] + x[1][d] - rest;
  }
}

/* How far the features are apart along n, in its length; 0 or less: not. Less than what rounding,
 * here or in the continuous test, could hide: `origin` is near them. */
static double room_between(eb_pair_kind kind, const double n[3], const double origin[3],
                           const double x[4][3]) {
  double at[4], most = 0;
  for (int k = 0; k < 4; k++) {
    at[k] = 0;
    for (int d = 0; d < 3; d++) {
      double term = n[d] * (x[k][d] - origin[d]);
      at[k] += term;
      most = eb_larger(most, fabs(term));
    }
  }
  double lo = kind == EB_VERTEX_FACE || at[0] < at[1] ? at[0] : at[1];
  double hi = eb_larger(at[2], at[3]);
  if (kind == EB_VERTEX_FACE) hi = eb_larger(hi, at[1]);
  return lo - hi - 1e-9 * most;
}

/* The distance at x1. *throughout: what a plane across the line of the closest points tells the
 * features apart by at x1, which tells them apart at x0 too; 0: there is none. */
static double closest(eb_pair_kind kind, const double x0[4][3], const double x1[4][3],
                      double *throughout) {
  double n[3], weight[4], distance = eb_closest_points(kind, x1, weight);
  for (int d = 0; d < 3; d++)
    n[d] = weight[1] * (x1[1][d] - x1[0][d]) + weight[2] * (x1[2][d] - x1[0][d]) +
           weight[3] * (x1[3][d] - x1[0][d]);
  double room = room_between(kind, n, x1[0], x1);
  bool stays = room > 0 && room_between(kind, n, x1[0], x0) > 0;
  *throughout = stays ? room / sqrt(eb_dot3(n, n)) : 0;
  return distance;
}

/* With parallel planes between the features at x0 and at x1 there is one all the way, since motion
 * is linear. Features that are near have none across the line of their middles: of these the
 * closest points are asked, so that the next tests need not be made. */
eb_separation eb_separation_of_motion(eb_pair_kind kind, const double x0[4][3],
                                      const double x1[4][3]) {
  double n[3];
  eb_separation v = {0};
  between_middles(kind, x0, n);
  double room = room_between(kind, n, x0[0], x1);
  if (room > 0 && room_between(kind, n, x0[0], x0) > 0) {
    v.apart = v.throughout = room / sqrt(eb_dot3(n, n));
    return v;
  }
  v.meets = eb_continuous_collision(kind, x0, x1, &v.value);
  if (!v.meets) v.apart = closest(kind, x0, x1, &v.throughout);
  return v;
}

eb_separation eb_separation_within(double within, eb_pair_kind kind, const double x0[4][3],
                                   const double x1[4][3]) {
  double n[3];
  eb_separation v = {0};
  between_middles(kind, x1, n);
  double room = room_between(kind, n, x1[0], x1);
  if (room > 0 && room * room > within * within * eb_dot3(n, n)) {
    v.apart = room / sqrt(eb_dot3(n, n));
    if (room_between(kind, n, x1[0], x0) > 0) v.throughout = v.apart;
    return v;
  }
  v.value = v.apart = closest(kind, x0, x1, &v.throughout);
  v.meets = v.value < within;
  return v;
}
