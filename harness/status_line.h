/* A line on the error stream that tells what is at work, where that stream is a terminal: it is
 * rewritten in place, and taken away before anything that stays. Logs and pipes never see it. */
#ifndef EB_STATUS_LINE_H
#define EB_STATUS_LINE_H

#include <stdbool.h>

typedef struct eb_status_line {
  bool terminal, shown;
  double drawn; /* when, on the clock of eb_wall_seconds */
} eb_status_line;

eb_status_line eb_status_line_of_terminal(void);
/* How many characters a line of the terminal takes; 79 when nobody says. */
int eb_status_line_columns(void);
/* Draws it, cut to the terminal's width, unless that was done a moment ago. */
void eb_status_line_show(eb_status_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void eb_status_line_wipe(eb_status_line *line);

#endif
