/* What a motion is, from runs of it at steps h, h/2, h/4, ..: Richardson's extrapolation with a
 * stated error.
 *
 * Implicit Euler's error has an expansion in all powers of h (Hairer, Norsett and Wanner 1993,
 * "Solving ordinary differential equations I", II.8), so that column c of the Aitken-Neville table
 *
 *   T[0][j] = the run at h / 2^j,   T[c][j] = T[c-1][j] + (T[c-1][j] - T[c-1][j-1]) / (2^c - 1)
 *
 * is of order c + 1 in h - where h resolves the motion, which nobody knows beforehand. Nothing is
 * taken on trust: the order of a column is observed from its last three entries, log2 of the ratio
 * of their two differences, and the next column is made only when that is what it should be within
 * half an order. The stated error of a column is its last difference times a safety factor (Roache
 * 1994, who also divides by 2^(c+1) - 1, which is done here only where less than order 1 is
 * observed). The estimate is the last entry of the column that states the least. */
#ifndef EB_PRECISION_EXTRAPOLATION_H
#define EB_PRECISION_EXTRAPOLATION_H

#include <stdbool.h>
#include <stddef.h>

#include "problems/base/error.h"

enum { EB_MOST_LEVELS = 12 };

/* How far apart two vectors of the quantity are; context is the caller's. */
typedef double eb_distance_of(const void *context, const double *a, const double *b);

typedef struct eb_extrapolation {
  int levels;
  int columns;                  /* that were made: 1 to levels - 1 */
  double order[EB_MOST_LEVELS]; /* observed, of each column; NAN with fewer than three entries */
  double last[EB_MOST_LEVELS];  /* difference of the last two entries of each column */
  bool converges; /* the last entries of column 0 approach each other, by half an order at least */
  int column;     /* that the estimate is from */
  double error;   /* stated, as a distance; INFINITY when the levels do not converge */
} eb_extrapolation;

/* level[j] is the quantity at h / 2^j, `size` numbers each, of 2 to EB_MOST_LEVELS levels; `out`
 * receives the estimate. Distances up to `rounding` are none: with all of them below it the
 * quantity is known. Two levels alone never converge otherwise. */
EB_MUST eb_error eb_extrapolate(const double *const *level, int levels, size_t size,
                                eb_distance_of *distance, const void *context, double rounding,
                                double *out, eb_extrapolation *found);

/* Motions that no level shows. Implicit Euler damps a mode of angular frequency w by about
 * exp(-w^2 h t / 2): one beyond sqrt(2 / (h t)) is all but gone from all levels, which then agree
 * on a motion without it. Its energy is not gone unseen: `lost` (J) is what the levels' numerical
 * dissipation comes to as h goes to 0, and modes of that energy and those frequencies move a body
 * of that mass (kg) by no more than this root mean square, m; their speed is sqrt(2 lost / mass).
 * h is the finest step, t the simulated time, s. */
double eb_damped_motion(double lost, double mass, double h, double t);

#endif
