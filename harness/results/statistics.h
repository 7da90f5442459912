/* Statistics of series: one home for every table, figure and claim. */
#ifndef EB_RESULTS_STATISTICS_H
#define EB_RESULTS_STATISTICS_H

#include <stddef.h>

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
