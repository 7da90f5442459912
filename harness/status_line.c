#include "harness/status_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/print.h"
#include "problems/base/clock.h"

/* Back to the start of the line, which is cleared. */
static const char wipe[] = "\r\033[K";

eb_status_line eb_status_line_of_terminal(void) {
  return (eb_status_line){.terminal = isatty(STDERR_FILENO) == 1};
}

/* A line that fills the last column makes some terminals go to the next. */
int eb_status_line_columns(void) {
  enum { USUAL = 80 };
  struct winsize size = {0};
  bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (told ? size.ws_col : USUAL) - 1;
}

void eb_status_line_show(eb_status_line *line, const char *format, ...) {
  static const double interval = 0.1; /* s: nobody reads faster */
  char text[1000];
  double now = eb_wall_seconds();
  va_list arguments;
  if (!line->terminal || (line->shown && now - line->drawn < interval)) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fputs(wipe, stderr);
  eb_print(stderr, "%.*s", eb_status_line_columns(), text);
  fflush(stderr);
  line->drawn = now;
  line->shown = true;
}

void eb_status_line_wipe(eb_status_line *line) {
  if (!line->shown) return;
  fputs(wipe, stderr);
  fflush(stderr);
  line->shown = false;
}
