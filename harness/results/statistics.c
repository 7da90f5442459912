#include "harness/results/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "harness/results/sample.h"
#include "problems/base/memory.h"

double eb_median(const double *values, size_t count, size_t skip) {
  double *sorted = eb_calloc(count, sizeof *sorted), median = NAN;
  size_t kept = 0;
  for (size_t i = eb_sample_warmup(count, skip); sorted && i < count; i++)
    if (isfinite(values[i])) sorted[kept++] = values[i];
  if (kept > 0) median = eb_sample_median(sorted, kept);
  free(sorted);
  return median;
}

double eb_mean(const double *values, size_t count, size_t skip) {
  size_t first = eb_sample_warmup(count, skip);
  return count > 0 ? eb_sample_mean(values + first, count - first) : NAN;
}

double eb_largest(const double *values, size_t count, size_t skip) {
  double most = NAN;
  for (size_t i = eb_sample_warmup(count, skip); i < count; i++) most = fmax(most, values[i]);
  return most;
}

double eb_least(const double *values, size_t count, size_t skip) {
  double least = NAN;
  for (size_t i = eb_sample_warmup(count, skip); i < count; i++) least = fmin(least, values[i]);
  return least;
}
