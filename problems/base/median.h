/* Halving points by their median along the longest axis, the step from which trees of boxes are
 * built. */
#ifndef EB_BASE_MEDIAN_H
#define EB_BASE_MEDIAN_H

#include <float.h>
#include <stdint.h>

/* A point with a name. */
typedef struct eb_named_point {
  double at[3];
  int32_t index;
} eb_named_point;

/* Hoare's selection: reorders the points so that none of the first `half` lies beyond one of the
 * others along the axis on which all of them reach farthest. */
static inline void eb_median_halve(eb_named_point *points, int32_t count, int32_t half) {
  double least[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, most[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      double at = points[i].at[d];
      least[d] = at < least[d] ? at : least[d];
      most[d] = at > most[d] ? at : most[d];
    }
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (most[d] - least[d] > most[axis] - least[axis]) axis = d;
  int32_t lo = 0, hi = count - 1;
  while (lo < hi) {
    double pivot = points[lo + (hi - lo) / 2].at[axis];
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (points[i].at[axis] < pivot) i++;
      while (points[j].at[axis] > pivot) j--;
      if (i > j) break;
      eb_named_point swap = points[i];
      points[i++] = points[j];
      points[j--] = swap;
    }
    if (half <= j)
      hi = j;
    else if (half >= i)
      lo = i;
    else
      return;
  }
}

#endif
