/* What a user sees of a case while it runs, on the error stream: on a terminal one line that is
 * rewritten in place; elsewhere, in logs and pipes, plain lines far apart. */
#ifndef EB_CASE_PROGRESS_LINE_H
#define EB_CASE_PROGRESS_LINE_H

#include "harness/case/child.h"
#include "harness/status_line.h"

typedef struct eb_progress_line {
  const char *name; /* of the case, with its number */
  /* Cases behind this one, and what those before took, s: 0 when there were none. */
  int cases_left;
  double usual_seconds;
  eb_status_line status;
  double next;         /* s of the case at which a plain line is due */
  int64_t first, last; /* steps that were done when the first was seen to be, and now */
  double last_at;      /* s of the case: when the last one was seen done, or steps began */
  double pace;         /* s that a step takes: those of late count more */
} eb_progress_line;

/* `cases_left` and `usual_seconds` may be set behind it. */
eb_progress_line eb_progress_line_of(const char *name);

/* An eb_progress (child.h); context is the line. */
void eb_progress_line_show(void *context, const eb_child_end *end, double seconds);

/* Notes where a case is after so many seconds. */
void eb_progress_line_note(eb_progress_line *line, const eb_child_end *end, double seconds);
/* Seconds until the case ends, at the pace of its steps, of which the first does not count when
 * there are others; NAN while no step is done. */
double eb_progress_line_left(const eb_progress_line *line, const eb_child_end *end, double seconds);
/* The line in no more than `columns` characters: of a longer one, the name loses its middle. */
void eb_progress_line_text(const eb_progress_line *line, const eb_child_end *end, double seconds,
                           int columns, char *out, size_t bytes);

#endif
