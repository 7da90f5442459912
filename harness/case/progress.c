#include "harness/case/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/print.h"

/* Back to the start of the line, which is cleared. */
static const char wipe[] = "\r\033[K";

void eb_progress_name(const eb_case *work, int number, int count, char *out, size_t bytes) {
  char of[16] = "";
  if (count > 0) snprintf(of, sizeof of, "/%d", count);
  snprintf(out, bytes, "[%s%d%s] %s%s%s %s%s%s r%d", count > 0 ? "" : "trial ", number, of,
           work->scene->name, work->parameters ? ":" : "", work->parameters ? work->parameters : "",
           work->solver->name, work->options ? ":" : "", work->options ? work->options : "",
           work->repetition);
}

void eb_progress_begin(eb_progress_line *line, const char *name) {
  *line = (eb_progress_line){.name = name, .terminal = isatty(STDERR_FILENO) == 1, .next = 30};
}

void eb_progress_show(void *context, int64_t step, int64_t steps, double seconds) {
  static const double interval = 30; /* s between plain lines */
  eb_progress_line *line = context;
  if (line->terminal) {
    fputs(wipe, stderr);
    eb_print(stderr, "%s  step %lld/%lld  %.1f s", line->name, (long long)step, (long long)steps,
             seconds);
    fflush(stderr);
    line->shown = true;
  } else if (seconds >= line->next) {
    eb_print(stderr, "%s: step %lld/%lld after %.0f s\n", line->name, (long long)step,
             (long long)steps, seconds);
    line->next = seconds + interval;
  }
}

void eb_progress_end(eb_progress_line *line) {
  if (line->shown) fputs(wipe, stderr);
  line->shown = false;
}

void eb_progress_result(const char *name, const eb_run *run) {
  eb_print(stderr, "%s: %s, %lld of %lld steps, %.2f s%s%s%s%s\n", name, run->outcome,
           (long long)run->steps_done, (long long)run->steps_wanted, run->total_seconds,
           *run->detail ? ": " : "", run->detail,
           strcmp(run->audit, "failed") == 0 ? "; audit failed: " : "",
           strcmp(run->audit, "failed") == 0 ? run->audit_detail : "");
}
