/* Extrapolation of a fixed-point iteration x <- x + d(x), by Anderson (Peng et al. 2018) or
 * Chebyshev (Wang 2015); acceleration.c has the formulas. */
#ifndef EB_PROJECTIVE_ACCELERATION_H
#define EB_PROJECTIVE_ACCELERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"

typedef enum eb_acceleration_kind {
  EB_ACCELERATION_NONE,
  EB_ACCELERATION_ANDERSON,
  EB_ACCELERATION_CHEBYSHEV
} eb_acceleration_kind;

#define EB_ACCELERATION_CHOICES "none|anderson|chebyshev"

enum { EB_LARGEST_WINDOW = 20 };

typedef struct eb_acceleration {
  eb_acceleration_kind kind;
  int64_t size;
  int window;                                         /* of Anderson's */
  int64_t steps;                                      /* iterations since the last restart */
  double *x, *d;                                      /* the last iterate and its d */
  double *dx, *dd;                                    /* window x size: their changes, in a ring */
  double gram[EB_LARGEST_WINDOW * EB_LARGEST_WINDOW]; /* of dd */
  double rate, omega, norm; /* Chebyshev: spectral radius, weight, |d| before */
} eb_acceleration;

/* `size` numbers an iterate; `window`, 1 to EB_LARGEST_WINDOW, is Anderson's. The caller clears
 * *out, also after failure. */
EB_MUST eb_error eb_acceleration_create(eb_acceleration_kind kind, int64_t size, int window,
                                        eb_acceleration *out);
void eb_acceleration_clear(eb_acceleration *a);
/* Forgets what was. */
void eb_acceleration_restart(eb_acceleration *a);
/* Where to go from x instead of x + d; into `next`, which is neither. False: there is nothing to
 * extrapolate from yet, and `next` is x + d. */
bool eb_acceleration_propose(eb_acceleration *a, const double *x, const double *d, double *next);

#endif
