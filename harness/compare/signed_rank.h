/* Wilcoxon's signed-rank test and what inverts it: paired differences that need be symmetric about
 * their centre, not normal. Exact for any number of pairs, with ties and zeros. */
#ifndef EB_SIGNED_RANK_H
#define EB_SIGNED_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "problems/base/error.h"

/* One-sided: the probability, were the centre of differences y at `centre`, of a sum of the ranks
 * above it that is as large as the one seen (`above`), or as small. Exact given the ties of
 * |y - centre|, which share their mean rank; differences of 0 are left out (Pratt's ranks are not
 * used), and without any other the probability is 1. */
EB_MUST eb_error eb_signed_rank_test(const double *y, size_t count, double centre, bool above,
                                     double *probability);

/* The centre by Hodges and Lehmann (1963), the median of the means of all pairs, and the interval
 * that holds it with a probability of 1 - alpha at least (Tukey's, from the test inverted);
 * infinite where so few differences cannot say. Differences are finite; one at least. */
EB_MUST eb_error eb_signed_rank_interval(const double *y, size_t count, double alpha,
                                         double *centre, double *low, double *high);

/* Holm (1979): which of several hypotheses are rejected so that the probability of any false
 * rejection among them is at most alpha. */
EB_MUST eb_error eb_holm(const double *probability, int count, double alpha, bool *rejected);

/* How much of alpha may be spent when a share of the data is in, `share` in 0 .. 1: Lan and DeMets'
 * (1983) function of Pocock's kind, alpha ln(1 + (e - 1) share). What looks spend in between, added
 * up, bounds the error of them all whatever their dependence. */
double eb_alpha_spent(double alpha, double share);

#endif
