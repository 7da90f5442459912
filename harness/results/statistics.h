/* Figures over the steps of a run. The first step, with its cold caches, is kept apart: medians, means and maxima are over
 * the others, or over the first when there is no other. NaN when there are no steps. */
#ifndef EB_RESULTS_STATISTICS_H
#define EB_RESULTS_STATISTICS_H

#include "harness/results/read.h"

EB_MUST eb_error eb_statistics_first(const eb_results *results, int run, eb_column column,
                                     double *out);
EB_MUST eb_error eb_statistics_median(const eb_results *results, int run, eb_column column,
                                      double *out);
EB_MUST eb_error eb_statistics_mean(const eb_results *results, int run, eb_column column,
                                    double *out);
EB_MUST eb_error eb_statistics_max(const eb_results *results, int run, eb_column column,
                                   double *out);

#endif
