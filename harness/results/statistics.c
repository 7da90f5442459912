#include "harness/results/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* The first entry that counts. */
static size_t first_of(size_t count, size_t skip) {
  return skip < count ? skip : 0;
}

double eb_median(const double *values, size_t count, size_t skip) {
  double *sorted = eb_calloc(count, sizeof *sorted), median = NAN;
  size_t kept = 0;
  for (size_t i = first_of(count, skip); sorted && i < count; i++)
    if (isfinite(values[i])) sorted[kept++] = values[i];
  if (kept > 0) {
    qsort(sorted, kept, sizeof *sorted, ascending);
    median = 0.5 * (sorted[(kept - 1) / 2] + sorted[kept / 2]);
  }
  free(sorted);
  return median;
}

double eb_mean(const double *values, size_t count, size_t skip) {
  size_t first = first_of(count, skip);
  double sum = 0;
  for (size_t i = first; i < count; i++) sum += values[i];
  return count > 0 ? sum / (double)(count - first) : NAN;
}

double eb_largest(const double *values, size_t count, size_t skip) {
  double most = NAN;
  for (size_t i = first_of(count, skip); i < count; i++) most = fmax(most, values[i]);
  return most;
}

double eb_least(const double *values, size_t count, size_t skip) {
  double least = NAN;
  for (size_t i = first_of(count, skip); i < count; i++) least = fmin(least, values[i]);
  return least;
}
