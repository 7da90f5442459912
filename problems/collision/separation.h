/* Two features, of which a test tells whether they meet and, where they do not, by how much.
 * Internal to problems/. */
#ifndef EB_SEPARATION_H
#define EB_SEPARATION_H

#include "problems/collision/continuous.h"

typedef struct eb_separation {
  bool meets;        /* collides on the way, or is nearer at x1 than was asked */
  double value;      /* the time of the collision, 0 .. 1, or the distance at x1, m */
  double apart;      /* how far the features are told apart at x1, m; 0: they are not */
  double throughout; /* the same, by a plane that tells them apart at x0 too */
} eb_separation;

/* The linear motion from x0 to x1; vertices in the order of continuous.h, m. */
eb_separation eb_separation_of_motion(eb_pair_kind kind, const double x0[4][3],
                                      const double x1[4][3]);
/* Their distance at x1, whether it is below `within`, m. */
eb_separation eb_separation_within(double within, eb_pair_kind kind, const double x0[4][3],
                                   const double x1[4][3]);

#endif
