/* Wilcoxon's signed-rank test, its interval and what goes with it, against published tables, worked
 * examples and enumeration of all signs. */
#include "harness/compare/signed_rank.h"
#include "problems/base/random.h"
#include "tests/tap.h"

/* ---- published tables ------------------------------------------------------------------------ */

/* Largest sums of ranks w with P(W <= w) <= a: Wilcoxon, Katti and Wilcox, Selected Tables in
 * Mathematical Statistics 1 (1970); -1 where there is none. n = 5 .. 30. */
static const struct {
  double a;
  int critical[26];
} tables[] = {{0.05, {0,  2,  3,  5,  8,  10, 13, 17,  21,  25,  30,  35,  41,
                      47, 53, 60, 67, 75, 83, 91, 100, 110, 119, 130, 140, 151}},
              {0.025, {-1, 0,  2,  3,  5,  8,  10, 13, 17, 21,  25,  29,  34,
                       40, 46, 52, 58, 65, 73, 81, 89, 98, 107, 116, 126, 137}},
              {0.01, {-1, -1, 0,  1,  3,  5,  7,  9,  12, 15, 19,  23,  27,
                      32, 37, 43, 49, 55, 62, 69, 76, 84, 92, 101, 110, 120}},
              {0.005, {-1, -1, -1, 0,  1,  3,  5,  7,  9,  12, 15, 19,  23,
                       27, 32, 37, 42, 48, 54, 61, 68, 75, 83, 91, 100, 109}}};

/* P(W <= w) for n ranks, through numbers +-1 .. +-n whose positive ones sum to w. */
static double lower_tail(int n, int w) {
  double y[30], p = NAN;
  if (w < 0) return 0;
  for (int r = n; r >= 1; r--) {
    bool plus = w >= r;
    y[r - 1] = plus ? r : -r;
    w -= plus ? r : 0;
  }
  tap_require(eb_signed_rank_test(y, (size_t)n, 0, false, &p), "test");
  return p;
}

static void test_tables(void) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    int wrong = 0;
    for (int n = 5; n <= 30; n++) {
      int w = tables[t].critical[n - 5];
      bool good = lower_tail(n, w) <= tables[t].a && lower_tail(n, w + 1) > tables[t].a;
      if (!good)
        printf("#   n = %d: P(W <= %d) = %g, P(W <= %d) = %g\n", n, w, lower_tail(n, w), w + 1,
               lower_tail(n, w + 1));
      wrong += !good;
    }
    tap_ok(wrong == 0, "critical values of n = 5 to 30 at %g", tables[t].a);
  }
}

/* Hollander and Wolfe, Nonparametric Statistical Methods (1973), table 3.1: Hamilton's depression
 * scale of nine patients, second visit less first. Theirs: T+ = 5, P = 0.0195, estimate -0.46, and
 * -0.786 .. -0.010 with 96.1 %. */
static const double hamilton[] = {-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01};

static void test_example(void) {
  double p, centre, low, high;
  tap_require(eb_signed_rank_test(hamilton, 9, 0, false, &p), "test");
  tap_near(p, 10.0 / 512, 1e-15, "Hollander and Wolfe's example: 10 of 512 signs are as extreme");
  tap_require(eb_signed_rank_interval(hamilton, 9, 1 - 0.96, &centre, &low, &high), "interval");
  /* Printed with two and three digits. */
  tap_near(centre, -0.46, 5e-3, "its estimate");
  tap_near(low, -0.786, 5e-4, "its interval's lower end");
  tap_near(high, -0.010, 5e-4, "and the upper one");
}

/* By scipy.stats.wilcoxon of scipy 1.10.1, with mode = 'exact'; the estimate by numpy's median of
 * all means of pairs. */
static void test_scipy(void) {
  static const double y[] = {0.31,  -0.12,  0.57,  0.044, -0.26,  0.83, 0.19,  -0.071,
                             0.42,  0.66,   -0.35, 0.015, 0.91,   0.23, -0.49, 0.38,
                             0.105, -0.022, 0.72,  0.275, -0.165, 0.54, 0.087, 0.61};
  double z[40], p, centre, low, high;
  for (int k = 1; k <= 40; k++) z[k - 1] = (k * 37 % 41 - 15) / 7. + 0.001 * k;
  /* Sums of 2^24 and 2^40 equal parts, printed to 16 digits. */
  tap_require(eb_signed_rank_test(y, 24, 0, true, &p), "test");
  tap_near(p, 0.005758047103881836, 1e-15, "scipy: 24 numbers, above");
  tap_require(eb_signed_rank_test(y, 24, 0, false, &p), "test");
  tap_near(p, 0.9947460889816284, 1e-15, "scipy: below");
  tap_require(eb_signed_rank_test(y, 24, 0.1, true, &p), "test");
  tap_near(p, 0.07575047016143799, 1e-15, "scipy: about another centre");
  tap_require(eb_signed_rank_test(z, 40, 0, true, &p), "test");
  tap_near(p, 0.003185872325047967, 1e-15, "scipy: 40 numbers");
  tap_require(eb_signed_rank_interval(y, 24, 0.05, &centre, &low, &high), "interval");
  tap_near(centre, 0.2275, 1e-15, "numpy: the median of the means of pairs");
}

/* ---- enumeration ----------------------------------------------------------------------------- */

/* Twice the mean rank of |y_k|. */
static int doubled_rank(const double *y, int n, int k) {
  int below = 0, equal = 0;
  for (int i = 0; i < n; i++) {
    below += fabs(y[i]) < fabs(y[k]);
    equal += fabs(y[i]) == fabs(y[k]);
  }
  return 2 * below + equal + 1;
}

/* The share of all 2^n signs whose positive ranks sum to as much or more. */
static double enumerate_above(const double *y, int n) {
  int rank[16], seen = 0, extreme = 0;
  for (int k = 0; k < n; k++) {
    rank[k] = doubled_rank(y, n, k);
    seen += y[k] > 0 ? rank[k] : 0;
  }
  for (int signs = 0; signs < 1 << n; signs++) {
    int sum = 0;
    for (int k = 0; k < n; k++) sum += signs >> k & 1 ? rank[k] : 0;
    extreme += sum >= seen;
  }
  return extreme / (double)(1 << n);
}

static void test_enumeration(void) {
  uint64_t random = 5;
  double worst = 0;
  for (int n = 1; n <= 12; n++)
    for (int tried = 0; tried < 8; tried++) {
      double y[16], mirrored[16], above, below;
      for (int k = 0; k < n; k++) {
        /* Few values, so that many are tied. */
        y[k] = floor(eb_random_uniform(&random, 1, 5)) * (eb_random_word(&random) & 1 ? 1 : -1);
        mirrored[k] = -y[k];
      }
      tap_require(eb_signed_rank_test(y, (size_t)n, 0, true, &above), "test");
      tap_require(eb_signed_rank_test(mirrored, (size_t)n, 0, false, &below), "test");
      worst = fmax(worst, fabs(above - enumerate_above(y, n)));
      worst = fmax(worst, fabs(above - below));
    }
  /* Sums of at most 2^12 powers of a half are exact. */
  tap_near(worst, 0, 1e-15, "all signs of tied ranks, in both directions");
}

/* A centre is inside the interval as long as neither test rejects it, and outside else. */
static void test_inversion(void) {
  uint64_t random = 9;
  int wrong = 0;
  for (int n = 1; n <= 14; n++) {
    double y[16], centre, low, high, above, below;
    static const double alpha = 0.1;
    for (int k = 0; k < n; k++) y[k] = eb_random_uniform(&random, -1, 2);
    tap_require(eb_signed_rank_interval(y, (size_t)n, alpha, &centre, &low, &high), "interval");
    for (int at = -200; at <= 300; at++) {
      double c = at / 100. + 1e-7;
      tap_require(eb_signed_rank_test(y, (size_t)n, c, true, &above), "test");
      tap_require(eb_signed_rank_test(y, (size_t)n, c, false, &below), "test");
      wrong += (c > low && c < high) != (fmin(above, below) > alpha / 2);
    }
    wrong += !(low <= centre && centre <= high);
  }
  tap_ok(wrong == 0, "the interval holds what the test does not reject, for 1 to 14 numbers");
}

static void test_ends(void) {
  const double zeros[] = {0, 0, 0}, mixed[] = {0, 1, 0, 2}, one = 3;
  double p, centre, low, high;
  tap_require(eb_signed_rank_test(zeros, 3, 0, true, &p), "test");
  tap_near(p, 1, 0, "differences of 0 say nothing");
  tap_require(eb_signed_rank_test(mixed, 4, 0, true, &p), "test");
  tap_near(p, 0.25, 0, "and are left out beside others");
  tap_require(eb_signed_rank_test(&one, 1, 0, true, &p), "test");
  tap_near(p, 0.5, 0, "one difference has one of two signs");
  tap_require(eb_signed_rank_interval(&one, 1, 0.01, &centre, &low, &high), "interval");
  tap_ok(centre == 3 && low == -INFINITY && high == INFINITY, "and bounds nothing");
}

/* 160 ranks: sums stay probabilities, and their normal approximation holds. */
static void test_many(void) {
  double y[160], up, down, sum = 0, n = 160;
  for (int k = 0; k < 160; k++) {
    y[k] = (k + 1) * (k % 5 < 3 ? 1 : -1);
    sum += y[k] > 0 ? y[k] : 0;
  }
  tap_require(eb_signed_rank_test(y, 160, 0, true, &up), "test");
  tap_require(eb_signed_rank_test(y, 160, 0, false, &down), "test");
  double mean = n * (n + 1) / 4, sd = sqrt(n * (n + 1) * (2 * n + 1) / 24);
  /* With correction for continuity it is good to some 1e-4 where n is so large. */
  tap_near(up, 0.5 * erfc((sum - 0.5 - mean) / sd / sqrt(2)), 2e-4, "160 ranks are nearly normal");
  tap_ok(up + down > 1 && up + down < 1.01, "the tails share what was seen alone");
}

/* ---- several tests --------------------------------------------------------------------------- */

static void test_holm(void) {
  /* Holm (1979) by hand, at 0.05: 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2: there it ends. */
  const double p[] = {0.03, 0.01, 0.04, 0.013}, tied[] = {0.02, 0.02}, none[] = {0.2};
  bool rejected[4];
  tap_require(eb_holm(p, 4, 0.05, rejected), "Holm");
  tap_ok(!rejected[0] && rejected[1] && !rejected[2] && rejected[3],
         "Holm's steps end where one fails");
  tap_require(eb_holm(tied, 2, 0.05, rejected), "Holm");
  tap_ok(rejected[0] && rejected[1], "equal probabilities fall together");
  tap_require(eb_holm(none, 1, 0.05, rejected), "Holm");
  tap_ok(!rejected[0], "one hypothesis is held to alpha");
  tap_require(eb_holm(NULL, 0, 0.05, rejected), "Holm");
  tap_ok(true, "no hypothesis is none to reject");
}

static void test_spending(void) {
  tap_near(eb_alpha_spent(0.05, 0), 0, 0, "nothing is spent before the first look");
  tap_near(eb_alpha_spent(0.05, 1), 0.05, 1e-16, "all of it at the last");
  /* Lan and DeMets (1983): 0.05 ln(1 + (e - 1) t) at a half, 0.031. */
  tap_near(eb_alpha_spent(0.05, 0.5), 0.0310, 5e-5, "Pocock's kind at a half");
}

int main(void) {
  test_tables();
  test_example();
  test_scipy();
  test_enumeration();
  test_inversion();
  test_ends();
  test_many();
  test_holm();
  test_spending();
  return tap_done();
}
