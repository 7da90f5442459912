#include "harness/results/sample.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "problems/base/memory.h"

size_t eb_sample_warmup(size_t count, size_t warmup) {
  return count > warmup ? warmup : 0;
}

double eb_sample_sum(const double *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += y[i];
  return sum;
}

double eb_sample_mean(const double *y, size_t count) {
  return eb_sample_sum(y, count) / (double)count;
}

double eb_sample_max(const double *y, size_t count) {
  double most = y[0];
  for (size_t i = 1; i < count && !isnan(most); i++)
    if (!(y[i] <= most)) most = y[i];
  return most;
}

double eb_sample_min(const double *y, size_t count) {
  double least = y[0];
  for (size_t i = 1; i < count && !isnan(least); i++)
    if (!(y[i] >= least)) least = y[i];
  return least;
}

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

double eb_sample_median(double *y, size_t count) {
  qsort(y, count, sizeof *y, ascending);
  return 0.5 * (y[(count - 1) / 2] + y[count / 2]);
}

/* Beyond the table by Cornish and Fisher's expansion about the normal one, right to 1e-4. */
double eb_sample_student(size_t freedom) {
  static const double table[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571,
                                 2.447, 2.365,  2.306, 2.262, 2.228};
  static const double z = 1.959964;
  if (freedom < sizeof table / sizeof *table) return table[freedom];
  double n = (double)freedom, z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

/* Abramowitz and Stegun, 26.7.3 and 26.7.4: with tan a = |t| / sqrt(n), the probability that |t|
 * is smaller is, of even n, sin a (1 + 1/2 cos^2 a + 1.3/(2.4) cos^4 a + .. cos^(n-2) a), and of
 * odd n, 2/pi (a + sin a (cos a + 2/3 cos^3 a + .. cos^(n-2) a)). */
double eb_sample_student_tails(double t, size_t freedom) {
  double n = (double)freedom, angle = atan(fabs(t) / sqrt(n)), c = cos(angle), sum = 0, term;
  bool odd = freedom % 2 == 1;
  term = odd ? c : 1;
  for (size_t k = odd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= c * c * (double)(k - 1) / (double)k;
  }
  double inside = odd ? M_2_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
  return fmax(0, 1 - inside);
}

double eb_sample_deviation(const double *y, size_t count) {
  double squares = 0, mean = eb_sample_mean(y, count);
  for (size_t i = 0; i < count; i++) squares += (y[i] - mean) * (y[i] - mean);
  return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

void eb_sample_interval(const double *y, size_t count, double *mean, double *half_width) {
  *mean = eb_sample_mean(y, count);
  *half_width = eb_sample_student(count - 1) * eb_sample_deviation(y, count) / sqrt((double)count);
}

void eb_sample_line(const double *x, const double *y, size_t count, double *slope, double *r2) {
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  *slope = *r2 = NAN;
  if (count < 3) return;
  for (size_t i = 0; i < count; i++) {
    mx += x[i] / (double)count;
    my += y[i] / (double)count;
  }
  for (size_t i = 0; i < count; i++) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  *slope = xy / xx;
  *r2 = xy * xy / (xx * yy);
}

/* ---- series of steps ------------------------------------------------------------------------- */

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
