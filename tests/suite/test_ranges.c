/* Ranges of steps as users write them. */
#include <string.h>

#include "harness/ranges.h"
#include "tests/tap.h"

static void test_reading(void) {
  static const struct {
    const char *text;
    eb_range range;
    bool single;
    int64_t count;
  } good[] = {{"20", {20, 20, 1}, true, 1},
              {"0", {0, 0, 1}, true, 1},
              {"20..40", {20, 40, 1}, false, 21},
              {"20..20", {20, 20, 1}, false, 1},
              {"20..40/7", {20, 34, 7}, false, 3}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    eb_range range = {0};
    bool single = false;
    tap_require(eb_range_parse("from", good[i].text, &range, &single), good[i].text);
    tap_ok(range.first == good[i].range.first && range.last == good[i].range.last &&
               range.stride == good[i].range.stride && single == good[i].single,
           "%s", good[i].text);
    tap_ok(eb_range_count(range) == good[i].count, "  and how many steps it has");
  }
  static const char *const bad[] = {"",       "x",     "..",     "3..", "..3",
                                    "3.4",    "3...5", "5..3",   "-1",  "3..5/0",
                                    "3/2",    "3..5/", "3..5/x", "1e3", "99999999999999999999",
                                    "1..2..3"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    eb_range range;
    bool single;
    tap_fails(eb_range_parse("from", bad[i], &range, &single), EB_ERR_USAGE, "from", bad[i]);
  }
  char longest[200];
  eb_range range;
  bool single;
  memset(longest, '1', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  tap_fails(eb_range_parse("from", longest, &range, &single), EB_ERR_USAGE, "too long",
            "a text that is too long");
}

static bool prints(const eb_ranges *ranges, const char *wanted) {
  eb_text text = {0};
  tap_require(eb_ranges_print(ranges, &text), "to print");
  bool same = strcmp(text.data ? text.data : "", wanted) == 0;
  if (!same) printf("# %s\n", text.data);
  eb_text_clear(&text);
  return same;
}

static void test_sets(void) {
  eb_ranges ranges, more = {0};
  tap_require(eb_ranges_parse("checkpoints", "20..40/10, 5 7 5", &ranges), "several");
  tap_ok(prints(&ranges, "5,7,20..40/10"), "are sorted, none twice");
  tap_ok(eb_ranges_hold(&ranges, 30) && eb_ranges_hold(&ranges, 7), "hold their steps");
  tap_ok(!eb_ranges_hold(&ranges, 35) && !eb_ranges_hold(&ranges, 50) &&
             !eb_ranges_hold(&ranges, 0),
         "and no others");
  tap_require(eb_ranges_add(&more, (eb_range){5, 5, 1}), "one");
  tap_require(eb_ranges_add(&more, (eb_range){1, 3, 1}), "another");
  tap_require(eb_ranges_add_all(&ranges, &more), "together");
  tap_ok(prints(&ranges, "1..3,5,7,20..40/10"), "in one order, whoever comes first");
  eb_ranges_clear(&more);
  eb_ranges_clear(&ranges);
  tap_ok(prints(&ranges, ""), "none are no text");
  tap_fails(eb_ranges_parse("checkpoints", " , ", &ranges), EB_ERR_USAGE, "wants steps",
            "nothing but separators");
  tap_fails(eb_ranges_parse("checkpoints", "1,2,x", &ranges), EB_ERR_USAGE, "checkpoints",
            "one that is no step");
  tap_ok(ranges.count == 0, "leaves nothing");
}

int main(void) {
  test_reading();
  test_sets();
  return tap_done();
}
