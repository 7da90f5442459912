/* Statistics of samples: the one home of mean, median, extremes, intervals and lines. What is not a
 * number makes a mean, an extreme and a line none. */
#ifndef EB_RESULTS_SAMPLE_H
#define EB_RESULTS_SAMPLE_H

#include <stddef.h>

/* How many leading values figures of times leave out: a warm-up of that many, when there are
 * others. */
size_t eb_sample_warmup(size_t count, size_t warmup);

/* Each of one value at least. */
double eb_sample_sum(const double *y, size_t count);
double eb_sample_mean(const double *y, size_t count);
double eb_sample_min(const double *y, size_t count);
double eb_sample_max(const double *y, size_t count);
/* Sorts y. */
double eb_sample_median(double *y, size_t count);

/* The root of the sum of squares about the mean over count - 1; 0 of a single value. */
double eb_sample_deviation(const double *y, size_t count);

/* The 97.5 % quantile of Student's t. */
double eb_sample_student(size_t freedom);
/* The probability that |t| is larger than this, of Student's t with that many degrees of freedom;
 * to 1e-13, and 0 where it is less. */
double eb_sample_student_tails(double t, size_t freedom);
/* The mean of two samples or more and the half-width of its 95 % interval by Student's t. */
void eb_sample_interval(const double *y, size_t count, double *mean, double *half_width);

/* The least-squares line through (x, y): its slope, and R^2 = 1 - |y - line|^2 / |y - mean|^2; NaN
 * with fewer than three points. */
void eb_sample_line(const double *x, const double *y, size_t count, double *slope, double *r2);

/* ---- series of steps ------------------------------------------------------------------------- */

/* The first step of a run is kept apart: its caches and workspaces are cold. */
enum { EB_WARM_UP = 1 };

/* Of a series without its first `skip` entries, or of all when there are no others; NAN without
 * any. The median is that of the finite entries, the mean of the middle two where their number is
 * even, and NAN when memory is gone. Series are not changed. */
double eb_median(const double *values, size_t count, size_t skip);
double eb_mean(const double *values, size_t count, size_t skip);
double eb_largest(const double *values, size_t count, size_t skip);
double eb_least(const double *values, size_t count, size_t skip);

#endif
