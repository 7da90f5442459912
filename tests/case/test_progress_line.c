/* What is shown of a case while it runs: time left, and a line that fits the terminal. */
#include <math.h>
#include <string.h>

#include "harness/case/progress_line.h"
#include "tests/tap.h"

static eb_child_end at(eb_stage stage, int64_t step) {
  return (eb_child_end){.stage = stage, .step = step, .steps = 100};
}

/* A case whose set-up takes 5 s, its first step 10 s, and step k after that `first` growing to
 * `last` seconds; seconds at which `steps` are done. */
static double run_to(eb_progress_line *line, int64_t steps, double first, double last) {
  double seconds = 5;
  eb_child_end end = at(EB_STAGE_SETUP, 0);
  eb_progress_line_note(line, &end, 0);
  end = at(EB_STAGE_STEPS, 0);
  eb_progress_line_note(line, &end, seconds);
  for (int64_t k = 1; k <= steps; k++) {
    seconds += k == 1 ? 10 : first + (last - first) * (double)(k - 2) / 98;
    end = at(EB_STAGE_STEPS, k);
    eb_progress_line_note(line, &end, seconds);
  }
  return seconds;
}

static void test_left(void) {
  eb_progress_line line = eb_progress_line_of("case");
  eb_child_end end = at(EB_STAGE_STEPS, 0);
  eb_progress_line_note(&line, &end, 5);
  tap_ok(isnan(eb_progress_line_left(&line, &end, 7)), "nothing is known before the first step");
  line = eb_progress_line_of("case");
  double now = run_to(&line, 1, 2, 2);
  end = at(EB_STAGE_STEPS, 1);
  tap_near(eb_progress_line_left(&line, &end, now), 990, 1e-9,
           "after the first it is all there is to go by, without the set-up");
  line = eb_progress_line_of("case");
  now = run_to(&line, 20, 2, 2);
  end = at(EB_STAGE_STEPS, 20);
  tap_near(eb_progress_line_left(&line, &end, now), 160, 1e-9, "later it does not count");
  tap_near(eb_progress_line_left(&line, &end, now + 1.5), 158.5, 1e-9,
           "a step at work counts down");
  tap_near(eb_progress_line_left(&line, &end, now + 50), 158, 1e-9, "but by no more than itself");
}

/* Steps that slow down from 1 to 3 s: at the middle the mean of those before says 75 s, the last
 * one 100, and 126 are to come. */
static void test_slowing(void) {
  eb_progress_line line = eb_progress_line_of("case");
  double now = run_to(&line, 50, 1, 3);
  const eb_child_end end = at(EB_STAGE_STEPS, 50);
  double left = eb_progress_line_left(&line, &end, now);
  tap_ok(left > 85 && left < 100, "steps of late count more");
}

static bool shows(const eb_progress_line *line, const eb_child_end *end, double seconds,
                  int columns, const char *wanted) {
  char text[400];
  eb_progress_line_text(line, end, seconds, columns, text, sizeof text);
  bool same = strcmp(text, wanted) == 0;
  if (!same) printf("# '%s'\n", text);
  return same;
}

static void test_text(void) {
  eb_progress_line line = eb_progress_line_of("[1/3] some/scene newton r0");
  eb_child_end end = at(EB_STAGE_SCENE, 0);
  tap_ok(shows(&line, &end, 1.2, 99, "[1/3] some/scene newton r0  builds the scene, 1 s"),
         "stages have words");
  line.cases_left = 2;
  double now = run_to(&line, 20, 2, 2);
  end = at(EB_STAGE_STEPS, 20);
  tap_ok(shows(&line, &end, now, 99,
               "[1/3] some/scene newton r0  step 20/100, 53 s, about 3 min left, 10 min for all"),
         "steps, time, what is left of this case and of all, as if all were alike");
  line.usual_seconds = 7200;
  tap_ok(shows(&line, &end, now, 99,
               "[1/3] some/scene newton r0  step 20/100, 53 s, about 3 min left, 4.04 h for all"),
         "or as those before");
  line.cases_left = 0;
  tap_ok(shows(&line, &end, now + 20, 99,
               "[1/3] some/scene newton r0  step 20/100, at the next for 20 s, about 3 min left"),
         "a long step says so");
  tap_ok(
      shows(&line, &end, now, 60, "[1/3] some... newton r0  step 20/100, 53 s, about 3 min left"),
      "a line that is too long loses the middle of the name");
  tap_ok(shows(&line, &end, now, 20, "[1/3...on r0  step 2"), "and then its end");
  end = at(EB_STAGE_CLOSING, 100);
  tap_ok(shows(&line, &end, now, 99, "[1/3] some/scene newton r0  writes its results, 53 s"),
         "the end has no steps left");
}

int main(void) {
  test_left();
  test_slowing();
  test_text();
  return tap_done();
}
