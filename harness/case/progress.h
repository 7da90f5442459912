/* What the user sees while cases run, on the error stream: one line that changes on a terminal,
 * plain lines elsewhere. */
#ifndef EB_CASE_PROGRESS_H
#define EB_CASE_PROGRESS_H

#include <stdbool.h>

#include "harness/case/case.h"

typedef struct eb_progress_line {
  const char *name;
  bool terminal, shown;
  double next; /* seconds of the case at which a plain line is due */
} eb_progress_line;

/* "[3/12] conjac2020/twist newton" with what tells the case from its neighbours. */
void eb_progress_name(const eb_case *work, int number, int count, char *out, size_t bytes);
void eb_progress_begin(eb_progress_line *line, const char *name);
/* An eb_progress (child.h); context is the line. */
void eb_progress_show(void *context, int64_t step, int64_t steps, double seconds);
/* Wipes the line. */
void eb_progress_end(eb_progress_line *line);
/* One line on how a case ended. */
void eb_progress_result(const char *name, const eb_run *run);

#endif
