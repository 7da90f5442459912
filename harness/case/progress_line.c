#include "harness/case/progress_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/print.h"

enum { TEXT = 1000 };
static const double plain_interval = 30; /* s between plain lines */

eb_progress_line eb_progress_line_of(const char *name) {
  return (eb_progress_line){
      .name = name, .status = eb_status_line_of_terminal(), .next = plain_interval};
}

/* ---- what is left ---------------------------------------------------------------------------- */

/* A step's time, of some that were done since the last look: a mean that forgets what is older than
 * a third of the case. */
static void take_pace(eb_progress_line *line, double a_step, double seconds) {
  double kept = exp(-3 * (seconds - line->last_at) / fmax(seconds, 3));
  bool other = line->last > line->first;
  line->pace = other ? kept * line->pace + (1 - kept) * a_step : a_step;
}

void eb_progress_line_note(eb_progress_line *line, const eb_child_end *end, double seconds) {
  if (end->stage < EB_STAGE_STEPS || end->step == 0) line->last_at = seconds;
  if (end->step <= line->last) return;
  take_pace(line, (seconds - line->last_at) / (double)(end->step - line->last), seconds);
  if (line->last == 0) line->first = end->step;
  line->last = end->step;
  line->last_at = seconds;
}

double eb_progress_line_left(const eb_progress_line *line, const eb_child_end *end,
                             double seconds) {
  if (line->last == 0) return NAN;
  double done = fmin(seconds - line->last_at, line->pace); /* of the step that is at work */
  return fmax(0, (double)(end->steps - line->last) * line->pace - done);
}

/* Of all cases; NAN when nothing tells. Those behind are taken to last as long as those before, or
 * as this one when it is the first. */
static double all_left(const eb_progress_line *line, double left, double seconds) {
  double each = line->usual_seconds > 0 ? line->usual_seconds : seconds + left;
  return left + line->cases_left * each;
}

/* ---- in words -------------------------------------------------------------------------------- */

typedef struct words {
  char text[40];
} words;

/* "42 s", "12 min", "3.5 h": no more digits than an estimate has. */
static words duration(double seconds) {
  words out;
  if (seconds < 99.5)
    snprintf(out.text, sizeof out.text, "%.0f s", ceil(seconds));
  else if (seconds < 99.5 * 60)
    snprintf(out.text, sizeof out.text, "%.0f min", seconds / 60);
  else
    snprintf(out.text, sizeof out.text, "%.3g h", seconds / 3600);
  return out;
}

/* ", about 40 s left, 12 min for all", or nothing. */
static void describe_left(const eb_progress_line *line, const eb_child_end *end, double seconds,
                          char out[120]) {
  double left = eb_progress_line_left(line, end, seconds);
  *out = '\0';
  if (end->stage != EB_STAGE_STEPS || isnan(left)) return;
  int length = snprintf(out, 120, ", about %s left", duration(left).text);
  if (line->cases_left > 0)
    snprintf(out + length, 120 - (size_t)length, ", %s for all",
             duration(all_left(line, left, seconds)).text);
}

/* What a case is at, and for how long: a step that takes long, for how long that one. */
static void describe_stage(const eb_progress_line *line, const eb_child_end *end, double seconds,
                           char out[120]) {
  static const double long_step = 3; /* s */
  static const char *const stages[] = {[EB_STAGE_START] = "starts",
                                       [EB_STAGE_SCENE] = "builds the scene",
                                       [EB_STAGE_SETUP] = "sets the solver up",
                                       [EB_STAGE_CLOSING] = "writes its results",
                                       [EB_STAGE_WRITTEN] = "ends"};
  double at_work = seconds - line->last_at;
  if (end->stage != EB_STAGE_STEPS)
    snprintf(out, 120, "%s, %.0f s", stages[end->stage], seconds);
  else if (at_work > long_step && end->step < end->steps)
    snprintf(out, 120, "step %lld/%lld, at the next for %s", (long long)end->step,
             (long long)end->steps, duration(at_work).text);
  else
    snprintf(out, 120, "step %lld/%lld, %.0f s", (long long)end->step, (long long)end->steps,
             seconds);
}

void eb_progress_line_text(const eb_progress_line *line, const eb_child_end *end, double seconds,
                           int columns, char *out, size_t bytes) {
  char stage[120], left[120], behind[300];
  describe_stage(line, end, seconds, stage);
  describe_left(line, end, seconds, left);
  int room = columns - snprintf(behind, sizeof behind, "  %s%s", stage, left);
  int length = (int)strlen(line->name), kept = room > 12 ? room : 12;
  if (length <= kept)
    snprintf(out, bytes, "%s%s", line->name, behind);
  else
    snprintf(out, bytes, "%.*s...%s%s", (kept - 3) / 2, line->name,
             line->name + length - (kept - 3 - (kept - 3) / 2), behind);
  if (columns > 0 && (size_t)columns < bytes) out[columns] = '\0';
}

/* ---- on the error stream --------------------------------------------------------------------- */

void eb_progress_line_show(void *context, const eb_child_end *end, double seconds) {
  eb_progress_line *line = context;
  char text[TEXT];
  eb_progress_line_note(line, end, seconds);
  if (line->status.terminal) {
    eb_progress_line_text(line, end, seconds, eb_status_line_columns(), text, sizeof text);
    eb_status_line_show(&line->status, "%s", text);
  } else if (seconds >= line->next) {
    char left[120];
    describe_left(line, end, seconds, left);
    eb_print(stderr, "%s: step %lld/%lld after %.0f s%s\n", line->name, (long long)end->step,
             (long long)end->steps, seconds, left);
    line->next = seconds + plain_interval;
  }
}
