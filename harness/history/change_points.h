/* Where the level of a series of figures changes: steps between constant levels, in noise.
 *
 * Deterministic: no permutations, nothing is drawn at random. Of each interval of a fixed system
 * the place is found where two levels explain its logarithms best, by the largest two-sample t of
 * Student's; p-values count how many places were looked at in all intervals (Bonferroni's bound),
 * so that a series of independent Gaussian noise without a step is given one with a probability of
 * at most `p`. Noise that is correlated from one record to the next does not raise that as long as
 * its correlation is at most the one declared, nor do heavy tails, since what is far off its
 * neighbours is first drawn towards them. What does is disturbance in bursts: `shortest` records in
 * a row that are off are a level. Where one record in 50 is off by ten times the noise the
 * probability stays below p, of one in 20 it was 3 p in 150 records, of one in 10 it was 2 %. */
#ifndef EB_HISTORY_CHANGE_POINTS_H
#define EB_HISTORY_CHANGE_POINTS_H

#include "problems/base/error.h"

typedef struct eb_change_options {
  double p;           /* most that a change may be due to noise with */
  double least;       /* least relative size of a change */
  double correlation; /* declared, of noise from one record to the next: 0 <= it < 1 */
  int shortest;       /* least number of records of a level */
} eb_change_options;
/* 0.001, 2 %, 0.3 and 5. */
extern const eb_change_options eb_change_usual;

typedef struct eb_level {
  int first, last; /* entries of the series */
  int count;       /* of those between that are numbers */
  double value;    /* geometric mean, without outliers */
} eb_level;

typedef struct eb_change {
  int at;      /* first entry of the new level */
  double size; /* new level over the old one, less 1 */
  double p;    /* at most: the probability of such a step by noise alone, anywhere in the series */
} eb_change;

typedef struct eb_change_points {
  eb_level *levels; /* change_count + 1, or none of a series without numbers */
  eb_change *changes;
  int level_count, change_count;
  double noise; /* relative standard deviation about the levels; NAN below 3 entries */
  double
      correlation; /* of that, from one entry to the next; NAN below 4 entries or without noise */
  /* Of a last level that drifts, as a line through it says with the same p: how far, relative, from
   * its first to its last entry; else 0. */
  double drift;
} eb_change_points;

/* Entries that are not positive numbers are passed over. EB_ERR_USAGE for options out of range: 0 <
 * p < 1, least >= 0, shortest >= 2. The caller clears *out also after an error. */
EB_MUST eb_error eb_change_points_find(const double *values, int count,
                                       const eb_change_options *options, eb_change_points *out);
void eb_change_points_clear(eb_change_points *points);

#endif
