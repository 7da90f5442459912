#include "harness/results/statistics.h"

#include <math.h>
#include <stdlib.h>

typedef double (*figure)(double *values, size_t count);

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double first_of(double *values, size_t count) {
  (void)count;
  return values[0];
}

static size_t warm(size_t count) {
  return count > 1 ? 1 : 0;
}

static double median_of(double *values, size_t count) {
  size_t skip = warm(count), n = count - skip;
  double *v = values + skip;
  qsort(v, n, sizeof *v, ascending);
  return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static double mean_of(double *values, size_t count) {
  double sum = 0;
  size_t skip = warm(count);
  for (size_t i = skip; i < count; i++) sum += values[i];
  return sum / (double)(count - skip);
}

static double max_of(double *values, size_t count) {
  double max = -INFINITY;
  for (size_t i = warm(count); i < count; i++) max = fmax(max, values[i]);
  return max;
}

static eb_error compute(const eb_results *results, int run, eb_column column, figure f,
                        double *out) {
  double *values;
  size_t count;
  EB_TRY(eb_results_steps(results, run, column, &values, &count));
  *out = count ? f(values, count) : NAN;
  free(values);
  return EB_OK;
}

eb_error eb_statistics_first(const eb_results *results, int run, eb_column column, double *out) {
  return compute(results, run, column, first_of, out);
}

eb_error eb_statistics_median(const eb_results *results, int run, eb_column column, double *out) {
  return compute(results, run, column, median_of, out);
}

eb_error eb_statistics_mean(const eb_results *results, int run, eb_column column, double *out) {
  return compute(results, run, column, mean_of, out);
}

eb_error eb_statistics_max(const eb_results *results, int run, eb_column column, double *out) {
  return compute(results, run, column, max_of, out);
}
