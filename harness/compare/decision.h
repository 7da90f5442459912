/* From log ratios of times to a verdict.
 *
 * A pair of builds gives one number a round, y = ln (time of HEAD / time of BASE), and what is
 * asked is where the centre c of these numbers lies: beyond the margin m on either side, or within.
 *
 *   regressed     c > m        slower by more than the margin
 *   improved      c < -m       faster by more than it
 *   equivalent    -m < c < m   no difference that matters
 *   inconclusive  the rounds do not say
 *
 * Tests. Wilcoxon's signed-rank test, exact (signed_rank.h), of the four hypotheses c <= m, c >= -m
 * (rejected: regressed, improved) and c <= -m, c >= m (both rejected: equivalent; Schuirmann,
 * 1987). That c = 0 is never tested: two processes of one binary differ by some tenths of a per
 * cent, for their memory is laid out differently, and enough rounds would show it. What A/A pairs
 * have is to stay below the margin, whose default of 2 % is wide enough for that and leaves 3 % to
 * find an injected delay of 5 % by.
 *
 * Looks. Rounds are looked at when there are 40, 80 and 160. Look j may spend
 *   a_j = a(t_j) - a(t_(j-1)),   t_j = rounds_j / rounds_last,
 * of an error a, with a(t) of Lan and DeMets (1983): whatever the dependence between looks, the
 * errors add up to a(1) = a at most.
 *
 * Cases. A suite of n cases has n hypotheses "|c| <= m", each with the probability p_i = 2
 * min(p_up, p_down). At look j those that are not rejected yet go through Holm's (1979) procedure
 * at level a_j; cases that were found equivalent are counted and not tested again. The probability
 * of *any* false alarm, over all looks and cases, is a at most: before the first one, n0 true
 * hypotheses or more are still counted, so that a true one falls at look j only if its p is <= a_j
 * / n0, and sum_j n0 a_j / n0 = a. Equivalence, which lets a change pass, is held to its own error,
 * b a case.
 *
 * Defaults: a = 0.01 a suite, b = 0.05 a case. */
#ifndef EB_COMPARE_DECISION_H
#define EB_COMPARE_DECISION_H

#include "problems/base/error.h"

typedef enum eb_change {
  EB_CHANGE_INCONCLUSIVE,
  EB_CHANGE_REGRESSED,
  EB_CHANGE_IMPROVED,
  EB_CHANGE_EQUIVALENT
} eb_change;
/* "regressed", ... */
const char *eb_change_name(eb_change change);

enum { EB_MAX_LOOKS = 3 };

typedef struct eb_decision_rule {
  double margin;            /* a log ratio, > 0 */
  double alpha, beta;       /* a and b above */
  int looks;                /* how many there are */
  int rounds[EB_MAX_LOOKS]; /* at each, rising */
} eb_decision_rule;

/* Looks at 40 and 80 rounds where those are less than `most`, and at all of them; a and b as above.
 * `margin` is a share: 0.02 makes ln 1.02. */
eb_decision_rule eb_decision_plan(double margin, int most);

/* The fewest rounds of which a change, however large, can be found in any of so many cases at the
 * last look. With n of one sign p is 2^(1 - n), which Holm's procedure wants below a share of a. */
int eb_decision_least(const eb_decision_rule *rule, int cases);

/* The rounds of one case, and what they say. Start from {0}. */
typedef struct eb_series {
  double *y; /* log ratios; owned */
  int count;
  eb_change change;
  double probability; /* p of "|c| <= m" at the last look */
  /* Hodges and Lehmann's estimate of c, and the interval whose errors are those of equivalence, 2 b
   * over all looks: 90 %. It lies within the margin when the verdict is equivalent, beyond it when
   * that is regressed or improved. */
  double centre, low, high;
} eb_series;

EB_MUST eb_error eb_series_add(eb_series *series, double y);
void eb_series_clear(eb_series *series);

/* Look number `look`, from 0 on, at the series of all cases of a suite: settles those that are
 * inconclusive and brings their figures up to date. Series without rounds stay as they are. */
EB_MUST eb_error eb_series_judge(const eb_decision_rule *rule, int look, eb_series *const *series,
                                 int count);

#endif
