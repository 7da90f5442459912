/* Statistics of series, by hand. */
#include "harness/results/sample.h"
#include "tests/tap.h"

static void test_values(void) {
  const double values[] = {100, 3, 1, 2, 8};
  tap_near(eb_median(values, 5, 0), 3, 0, "the median of five");
  tap_near(eb_median(values, 5, EB_WARM_UP), 2.5, 0, "and without the first, between two");
  tap_near(eb_mean(values, 5, 0), 22.8, 1e-14, "the mean");
  tap_near(eb_mean(values, 5, EB_WARM_UP), 3.5, 0, "and without the first");
  tap_near(eb_largest(values, 5, EB_WARM_UP), 8, 0, "the largest without the first");
  tap_near(eb_least(values, 5, 3), 2, 0, "the least of the last two");
  tap_ok(values[0] == 100 && values[1] == 3 && values[4] == 8, "the series is as it was");
}

static void test_ends(void) {
  const double one[] = {7}, holes[] = {1, NAN, 5, INFINITY, 3};
  tap_near(eb_median(one, 1, EB_WARM_UP), 7, 0, "where there is only the first, it counts");
  tap_near(eb_mean(one, 1, EB_WARM_UP), 7, 0, "in means as well");
  tap_ok(isnan(eb_median(one, 0, 0)) && isnan(eb_mean(one, 0, 0)) && isnan(eb_least(one, 0, 0)) &&
             isnan(eb_largest(one, 0, 0)),
         "nothing has no statistics");
  tap_near(eb_median(holes, 5, 0), 3, 0, "a median is that of the finite entries");
  tap_ok(isnan(eb_mean(holes, 5, 0)), "a mean with an entry that is no number is none");
}

int main(void) {
  test_values();
  test_ends();
  return tap_done();
}
