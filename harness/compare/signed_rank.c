/* Wilcoxon (1945), Hodges and Lehmann (1963), Holm (1979), Lan and DeMets (1983).
 *
 * With n differences and no preference for a sign, each of the 2^n ways to give signs to the ranks
 * 1 .. n is as likely as any other. The sum of those with a plus has the generating function
 * prod_r (1 + z^r) / 2^n, multiplied out one rank at a time: n^3 / 4 additions, exact in double
 * precision but for rounding of sums of positive numbers. Tied ranks are halves of whole numbers:
 * everything is counted in halves. */
#include "harness/compare/signed_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

static int ascending(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* ---- the distribution of the sum of ranks ---------------------------------------------------- */

/* Of twice the ranks `doubled`: *out[s] is the probability that those with a plus sum to s, for
 * s = 0 .. their sum. The caller frees it. */
static eb_error rank_sum_distribution(const int *doubled, size_t count, double **out) {
  size_t most = 0, reached = 0;
  for (size_t k = 0; k < count; k++) most += (size_t)doubled[k];
  EB_TRY(EB_NEW(*out, most + 1));
  double *p = *out;
  p[0] = 1;
  for (size_t k = 0; k < count; k++) {
    size_t rank = (size_t)doubled[k];
    reached += rank;
    /* From above, so that what is added has not met this rank yet. */
    for (size_t s = reached + 1; s-- > 0;) p[s] = 0.5 * (p[s] + (s >= rank ? p[s - rank] : 0));
  }
  return EB_OK;
}

typedef struct ranked {
  double size;
  bool plus;
} ranked;

static int by_size(const void *a, const void *b) {
  return ascending(&((const ranked *)a)->size, &((const ranked *)b)->size);
}

/* Twice the mean rank of each, in the order of size. */
static void share_ranks(const ranked *sorted, size_t count, int *doubled) {
  for (size_t first = 0, end; first < count; first = end) {
    end = first + 1;
    while (end < count && sorted[end].size == sorted[first].size) end++;
    for (size_t k = first; k < end; k++) doubled[k] = (int)(first + 1 + end);
  }
}

static eb_error test_ranked(ranked *sorted, size_t count, bool above, int *doubled,
                            double *probability) {
  double *p;
  size_t plus = 0, all = 0, sum;
  qsort(sorted, count, sizeof *sorted, by_size);
  share_ranks(sorted, count, doubled);
  for (size_t k = 0; k < count; k++) {
    all += (size_t)doubled[k];
    plus += sorted[k].plus ? (size_t)doubled[k] : 0;
  }
  EB_TRY(rank_sum_distribution(doubled, count, &p));
  /* The distribution is symmetric: sums from below lose nothing to rounding in either tail. */
  sum = above ? all - plus : plus;
  *probability = 0;
  for (size_t s = 0; s <= sum; s++) *probability += p[s];
  *probability = fmin(1, *probability);
  free(p);
  return EB_OK;
}

eb_error eb_signed_rank_test(const double *y, size_t count, double centre, bool above,
                             double *probability) {
  ranked *sorted;
  int *doubled;
  size_t kept = 0;
  *probability = 1;
  EB_TRY(EB_NEW(sorted, count));
  for (size_t k = 0; k < count; k++)
    if (y[k] != centre)
      sorted[kept++] = (ranked){.size = fabs(y[k] - centre), .plus = y[k] > centre};
  eb_error error = EB_NEW(doubled, kept);
  if (!error && kept > 0) error = test_ranked(sorted, kept, above, doubled, probability);
  free(doubled);
  free(sorted);
  return error;
}

/* ---- the interval ---------------------------------------------------------------------------- */

/* How many of the lowest pair means may lie below the interval: the most with P(W < that many) <=
 * alpha / 2; 0 where even the lowest may not be passed. */
static eb_error means_below(size_t count, double alpha, size_t *out) {
  int *doubled;
  double *p, sum = 0;
  EB_TRY(EB_NEW(doubled, count));
  for (size_t k = 0; k < count; k++) doubled[k] = 2 * (int)(k + 1);
  eb_error error = rank_sum_distribution(doubled, count, &p);
  free(doubled);
  if (error) return error;
  *out = 0;
  for (size_t s = 0; s <= count * (count + 1) / 2; s++) {
    sum += p[2 * s];
    if (sum > 0.5 * alpha) break;
    *out = s + 1;
  }
  free(p);
  return EB_OK;
}

eb_error eb_signed_rank_interval(const double *y, size_t count, double alpha, double *centre,
                                 double *low, double *high) {
  double *mean;
  size_t means = count * (count + 1) / 2, at = 0, below;
  EB_TRY(means_below(count, alpha, &below));
  EB_TRY(EB_NEW(mean, means));
  for (size_t i = 0; i < count; i++)
    for (size_t k = i; k < count; k++) mean[at++] = 0.5 * (y[i] + y[k]);
  qsort(mean, means, sizeof *mean, ascending);
  *centre = 0.5 * (mean[(means - 1) / 2] + mean[means / 2]);
  *low = below > 0 ? mean[below - 1] : -INFINITY;
  *high = below > 0 ? mean[means - below] : INFINITY;
  free(mean);
  return EB_OK;
}

/* ---- several tests --------------------------------------------------------------------------- */

eb_error eb_holm(const double *probability, int count, double alpha, bool *rejected) {
  double *sorted;
  int passed = 0;
  EB_TRY(EB_NEW(sorted, count));
  if (count > 0) memcpy(sorted, probability, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  while (passed < count && sorted[passed] <= alpha / (count - passed)) passed++;
  for (int k = 0; k < count; k++) rejected[k] = passed > 0 && probability[k] <= sorted[passed - 1];
  free(sorted);
  return EB_OK;
}

double eb_alpha_spent(double alpha, double share) {
  return alpha * log1p((exp(1) - 1) * share);
}
